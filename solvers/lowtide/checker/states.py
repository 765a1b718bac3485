"""States of a search: downsets as bit sets, with what running one more op needs to know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lowtide.checker.model import GRAPH_INPUT, Mode, Model
from lowtide.checker.refusal import Refusal

_MAX_BIT_SET_BYTES = 256 * 2**20
_BYTES_PER_SET_ENTRY = 100


class State(NamedTuple):
    """A downset.

    Attributes:
        done: the ops of the downset; bit v for op v.
        live_bytes: live at it.
        ready: the ops that can run next, in no particular order.
    """

    done: int
    live_bytes: int
    ready: tuple[int, ...]


class StateSpace:
    """The downsets of a graph.

    Attributes:
        model: the graph.
        everything: the downset of all ops.
        predecessors: per op the set of its predecessors.
        users: per storage the set of its users.
        held: per storage, whether it stays once it is there.
    """

    def __init__(self, model: Model) -> None:
        """Raises Refusal (`search-too-large`) if the graph's bit sets would not fit in 256 MiB."""
        rows = model.op_count + len(model.size_bytes)
        if rows * model.op_count > 8 * _MAX_BIT_SET_BYTES:
            text = f"search witnesses are not checked for graphs of {model.op_count} ops"
            raise Refusal("search-too-large", text)
        self.model = model
        self.everything = (1 << model.op_count) - 1
        self.predecessors = tuple(_bit_set(row) for row in model.predecessors)
        self.users = tuple(_bit_set(row) for row in model.users)
        self.held = tuple(model.is_held(s) for s in range(len(model.size_bytes)))
        self._added = tuple(model.added_bytes(op) for op in range(model.op_count))
        self._plain = tuple(modes == ((),) for modes in model.modes)

    def entries_within(self, size_bytes: int) -> int:
        """How many downsets, at least, fit into a set of this size."""
        return size_bytes // (_BYTES_PER_SET_ENTRY + self.model.op_count // 7)

    def empty(self) -> State:
        """The state before the first op."""
        model = self.model
        live = sum(
            model.size_bytes[s]
            for s, creator in enumerate(model.creator)
            if creator == GRAPH_INPUT and (self.users[s] or self.held[s])
        )
        ready = tuple(op for op, before in enumerate(self.predecessors) if not before)
        return State(0, live, ready)

    def step_cost(self, state: State, op: int) -> int:
        """Bytes held while the op runs at the state."""
        cost = state.live_bytes + self._added[op]
        if self._plain[op]:
            return cost
        return cost - max(self.saving(state.done, op, mode) for mode in self.model.modes[op])

    def saving(self, done: int, op: int, mode: Mode) -> int:
        """What in-place pairs of one mode save when the op runs at the downset `done`."""
        alone = 1 << op
        return sum(pair.size_bytes for pair in mode if self.users[pair.input] & ~done == alone)

    def step_cost_in_mode(self, state: State, op: int, mode: Mode) -> int:
        """Bytes held while the op runs at the state when only the pairs of the mode may apply."""
        return state.live_bytes + self._added[op] - self.saving(state.done, op, mode)

    def growth(self, done: int, op: int) -> int:
        """How much the live bytes change when the op runs at the downset `done`."""
        size = self.model.size_bytes
        rest = ~(done | 1 << op)
        growth = 0
        for storage in self.model.creates[op]:
            if self.users[storage] or self.held[storage]:
                growth += size[storage]
        for storage in self.model.touches[op]:
            if not self.users[storage] & rest and not self.held[storage]:
                growth -= size[storage]
        return growth

    def after(self, state: State, op: int) -> State:
        """The state once a ready op has run."""
        done = state.done | 1 << op
        opened = [
            successor
            for successor in self.model.successors[op]
            if not self.predecessors[successor] & ~done
        ]
        ready = (*(v for v in state.ready if v != op), *opened)
        return State(done, state.live_bytes + self.growth(state.done, op), ready)

    def is_ready(self, done: int, op: int) -> bool:
        """Whether the op can run next at the downset `done`."""
        return not done >> op & 1 and not self.predecessors[op] & ~done

    def ancestors_outside(self, done: int, op: int) -> int:
        """The ops outside the downset `done` that have to run before the op."""
        found = 0
        waiting = self.predecessors[op] & ~done
        while waiting:
            found |= waiting
            above = 0
            for v in members(waiting):
                above |= self.predecessors[v]
            waiting = above & ~done & ~found
        return found


def members(ops: int) -> Iterator[int]:
    """The ops of a set, ascending."""
    while ops:
        lowest = ops & -ops
        yield lowest.bit_length() - 1
        ops ^= lowest


def _bit_set(ops: tuple[int, ...]) -> int:
    """The set of some ops, in time linear in the largest."""
    if not ops:
        return 0
    bits = bytearray(ops[-1] // 8 + 1)
    for op in ops:
        bits[op // 8] |= 1 << op % 8
    return int.from_bytes(bits, "little")
