"""Trap witnesses: a set of ops every order has to leave or enter, a flow for every way to do it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lowtide.certificate import END_OF_PROGRAM, Exit, TrapWitness
from lowtide.checker.flow import BEYOND, FREE, LOWER, ExitFlow
from lowtide.checker.model import Mode, Model
from lowtide.checker.positions import Positions
from lowtide.checker.refusal import Deadline, Refusal, shown

_Pairs = tuple[tuple[int, int], ...]


def check_trap(
    model: Model, positions: Positions, witness: TrapWitness, bound_bytes: int, deadline: Deadline
) -> None:
    """Accepts a trap all exits of which take at least `bound_bytes`; raises Refusal otherwise.

    Linear in the graph and the flows, and once more in the graph for every exit that has a flow.
    """
    trap = _Trap(model, witness.kind == "trap-forward", _members(model, positions, witness))
    modes = {(op, _pairs_of(mode)): mode for op in trap.exit_ops() for mode in model.modes[op]}
    exit_ops = {op for op, _ in modes}
    shown_dear: set[tuple[int, _Pairs]] = set()
    for claim in witness.exits:
        deadline.check()
        op = positions.op(claim.op, "exit-unknown")
        name = shown(model.op_names[op])
        if op not in exit_ops:
            raise Refusal("exit-unknown", f"op {name} is not an exit of the trap")
        key = op, _claimed_pairs(positions, claim, name)
        if key not in modes:
            text = f"exit {name} does not have {_mode_text(model, key[1])}"
            raise Refusal("mode-unknown", text)
        if key in shown_dear:
            raise Refusal("exit-repeated", f"exit {name} is listed twice in one in-place mode")
        shown_dear.add(key)
        _check_exit(trap, op, modes[key], _flows_of(positions, claim), bound_bytes, deadline)
    for op, pairs in modes:
        if (op, pairs) not in shown_dear:
            text = f"exit {shown(model.op_names[op])} is not listed in {_mode_text(model, pairs)}"
            raise Refusal("exit-missing", text)


class _Trap:
    """A downset (forward) or an upset (reverse) that leaves some op outside."""

    def __init__(self, model: Model, forward: bool, members: set[int]) -> None:
        self.model = model
        self._forward = forward
        self._members = members
        self._inward = model.predecessors if forward else model.successors
        for op in members:
            for other in self._inward[op]:
                if other not in members:
                    before, after = (other, op) if forward else (op, other)
                    names = shown(model.op_names[before]), shown(model.op_names[after])
                    text = f"op {names[1]} depends on op {names[0]}"
                    raise Refusal("trap-not-closed", f"{text}; the trap holds only one of them")
        template = bytearray(model.op_count)
        for op in range(model.op_count):
            template[op] = FREE if op in members else (BEYOND if forward else LOWER)
        self._template = bytes(template)

    def exit_ops(self) -> Iterator[int]:
        """Forward: the ops that can be the first to run outside; reverse: the last."""
        for op in range(self.model.op_count):
            if op not in self._members and all(u in self._members for u in self._inward[op]):
                yield op

    def region(self, exit_op: int) -> Sequence[int]:
        """Where every op stands when the exit runs: in L, in U but not in L, or outside U."""
        region = bytearray(self._template)
        side = LOWER if self._forward else BEYOND
        region[exit_op] = BEYOND
        waiting = [exit_op]
        while waiting:
            for op in self._inward[waiting.pop()]:
                if region[op] == FREE:
                    region[op] = side
                    waiting.append(op)
        return region


def _members(model: Model, positions: Positions, witness: TrapWitness) -> set[int]:
    if len(witness.trap) >= model.op_count:
        raise Refusal("trap-is-everything", "the trap does not leave any op outside")
    members = set(positions.ops(witness.trap, "trap-unknown-op"))
    if len(members) < len(witness.trap):
        raise Refusal("trap-repeats-op", "the trap lists an op twice")
    return members


def _pairs_of(mode: Mode) -> _Pairs:
    return tuple(sorted((pair.output, pair.input) for pair in mode))


def _claimed_pairs(positions: Positions, claim: Exit, name: str) -> _Pairs:
    reason = "mode-unknown"
    pairs = [
        (positions.storage(y, reason), positions.storage(x, reason)) for y, x in claim.in_place
    ]
    return tuple(sorted(pairs))


def _mode_text(model: Model, pairs: _Pairs) -> str:
    if not pairs:
        return "the mode without in-place pairs"
    first = ", ".join(
        f"{shown(model.storage_names[y])} over {shown(model.storage_names[x])}"
        for y, x in pairs[:3]
    )
    return f"the in-place mode [{first}{', ...' if len(pairs) > 3 else ''}]"


_Flows = tuple[Iterator[tuple[int, int, int]], Iterator[tuple[int, int, int]]]


def _flows_of(positions: Positions, claim: Exit) -> _Flows | None:
    """The flows of an exit by model index, read while they are checked; None if there are none."""
    if not claim.storage_flow and not claim.order_flow:
        return None
    reason = "flow-bad-arc"

    def user_at(position: int) -> int:
        return position if position == END_OF_PROGRAM else positions.op(position, reason)

    return (
        ((positions.storage(s, reason), user_at(u), a) for s, u, a in claim.storage_flow),
        ((positions.op(v, reason), positions.op(u, reason), a) for v, u, a in claim.order_flow),
    )


def _check_exit(
    trap: _Trap, op: int, mode: Mode, flows: _Flows | None, bound_bytes: int, deadline: Deadline
) -> None:
    model = trap.model
    working_set = model.working_set(op, mode)
    value = 0
    if flows is not None:
        value = ExitFlow(model, op, mode, trap.region(op), deadline).value(*flows)
    if working_set + value < bound_bytes:
        text = (
            f"exit {shown(model.op_names[op])} in {_mode_text(model, _pairs_of(mode))}: "
            f"working set {working_set} and flow {value} make {working_set + value} bytes, "
            f"less than {bound_bytes}"
        )
        raise Refusal("flow-too-small", text)
