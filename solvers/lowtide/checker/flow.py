"""A flow that shows an exit to be expensive: arcs, capacities, conservation; nothing is searched.

The network is the one of docs/memory-model.md, "The cut for an exit"; docs/certificates.md has the
proof that a flow in it is a lower bound.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence

from lowtide.certificate import END_OF_PROGRAM
from lowtide.checker.model import GRAPH_INPUT, Mode, Model
from lowtide.checker.refusal import Deadline, Refusal, shown

LOWER, FREE, BEYOND = 0, 1, 2
"""Where an op stands when an exit runs: it has run; it may have run; it has not run."""

_ARCS_BETWEEN_CHECKS = 4096


class ExitFlow:
    """The network of one exit in one mode, and what flows in it.

    Args:
        region: per op LOWER, FREE or BEYOND.
    """

    def __init__(
        self, model: Model, exit_op: int, mode: Mode, region: Sequence[int], deadline: Deadline
    ) -> None:
        self._model = model
        self._exit_op = exit_op
        self._region = region
        self._deadline = deadline
        self._lost_saving = {pair.input: pair.size_bytes for pair in mode}
        self._name = f"exit {shown(model.op_names[exit_op])}"
        self._into: defaultdict[int, int] = defaultdict(int)
        self._out_of: defaultdict[int, int] = defaultdict(int)
        self._through: defaultdict[int, int] = defaultdict(int)
        self._value = 0

    def value(
        self,
        storage_flow: Iterable[tuple[int, int, int]],
        order_flow: Iterable[tuple[int, int, int]],
    ) -> int:
        """Bytes that reach the sink.

        Args:
            storage_flow: (storage, op or END_OF_PROGRAM, amount).
            order_flow: (op, predecessor, amount). Indices are those of the model and in range.

        Raises:
            Refusal: an arc that is not in the network, an amount below zero, a storage over its
            capacity, an op that
                does not pass on exactly what it receives.
        """
        for count, (storage, user, amount) in enumerate(storage_flow):
            if count % _ARCS_BETWEEN_CHECKS == 0:
                self._deadline.check()
            self._add_storage_flow(storage, user, amount)
        for count, (op, predecessor, amount) in enumerate(order_flow):
            if count % _ARCS_BETWEEN_CHECKS == 0:
                self._deadline.check()
            self._add_order_flow(op, predecessor, amount)
        self._check_capacities()
        self._check_conservation()
        return self._value

    def _add_storage_flow(self, storage: int, user: int, amount: int) -> None:
        model = self._model
        if amount < 0:
            name = shown(model.storage_names[storage])
            raise self._refusal("flow-negative", f"storage {name} carries {shown(amount)} bytes")
        self._check_takes_part(storage)
        if user == END_OF_PROGRAM:
            if not model.is_output[storage]:
                name = shown(model.storage_names[storage])
                raise self._refusal("flow-bad-arc", f"storage {name} is not a graph output")
            self._value += amount
        else:
            self._check_is_user(storage, user)
            if self._region[user] == FREE:
                self._into[user] += amount
            else:
                self._value += amount
        self._through[storage] += amount
        creator = model.creator[storage]
        if creator != GRAPH_INPUT and self._region[creator] == FREE:
            self._out_of[creator] += amount

    def _check_takes_part(self, storage: int) -> None:
        """A storage takes part if it may be there when the exit runs without the exit's doing."""
        if storage in self._lost_saving:
            return
        model = self._model
        creator = model.creator[storage]
        if creator == self._exit_op or _contains(model.touches[self._exit_op], storage):
            why = "belongs to the working set"
        elif model.is_pinned[storage]:
            why = "is a pinned input, which the working set counts"
        elif creator != GRAPH_INPUT and self._region[creator] == BEYOND:
            why = f"is created by op {shown(model.op_names[creator])}, which has not run"
        else:
            return
        raise self._refusal("flow-bad-arc", f"storage {shown(model.storage_names[storage])} {why}")

    def _check_is_user(self, storage: int, user: int) -> None:
        model = self._model
        if user == self._exit_op:
            why = "is the exit itself"
        elif not _contains(model.users[storage], user):
            why = "does not use it"
        elif self._region[user] == LOWER:
            why = "has run"
        else:
            return
        names = shown(model.storage_names[storage]), shown(model.op_names[user])
        raise self._refusal("flow-bad-arc", f"storage {names[0]} to op {names[1]}, which {why}")

    def _add_order_flow(self, op: int, predecessor: int, amount: int) -> None:
        if amount < 0:
            reason, why = "flow-negative", f"carries {shown(amount)} bytes"
        elif not _contains(self._model.predecessors[op], predecessor):
            reason, why = "flow-bad-arc", "is no dependency"
        elif self._region[op] != FREE or self._region[predecessor] != FREE:
            reason, why = "flow-bad-arc", "does not join two free ops"
        else:
            reason = ""
        if reason:
            names = shown(self._model.op_names[op]), shown(self._model.op_names[predecessor])
            raise self._refusal(reason, f"op {names[0]} to op {names[1]} {why}")
        self._out_of[op] += amount
        self._into[predecessor] += amount

    def _check_capacities(self) -> None:
        for storage, amount in self._through.items():
            capacity = self._lost_saving.get(storage, self._model.size_bytes[storage])
            if amount > capacity:
                name = shown(self._model.storage_names[storage])
                text = f"storage {name} carries {shown(amount)} bytes, its capacity is {capacity}"
                raise self._refusal("flow-over-capacity", text)

    def _check_conservation(self) -> None:
        for op in self._into.keys() | self._out_of.keys():
            received, passed_on = self._into[op], self._out_of[op]
            if received != passed_on:
                name = shown(self._model.op_names[op])
                text = f"receives {shown(received)} bytes and passes on {shown(passed_on)}"
                raise self._refusal("flow-not-conserved", f"op {name} {text}")

    def _refusal(self, reason: str, text: str) -> Refusal:
        return Refusal(reason, f"{self._name}: {text}")


def _contains(ascending: Sequence[int], item: int) -> bool:
    place = bisect_left(ascending, item)
    return place < len(ascending) and ascending[place] == item
