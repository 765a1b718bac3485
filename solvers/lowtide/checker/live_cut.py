"""The least live bytes between two downsets, as one minimum cut (design, section 1)."""

from __future__ import annotations

from lowtide.checker.max_flow import FlowNetwork
from lowtide.checker.model import Mode
from lowtide.checker.refusal import Deadline
from lowtide.checker.states import StateSpace, members

_SOURCE, _SINK = 0, 1


class LiveCut:
    """min { live(X) : lower <= X <= upper }, or min { c_m(X, op) } with `exit_op` and its mode m.

    A downset X is the source side. It pays for every storage that it creates and somebody outside X
    needs; what is live at every X is a constant and takes no part. With an exit, it pays as well
    for every in-place saving that is lost because another user of the input is outside X. Only the
    neighbourhood of the free ops (upper without lower) is looked at.

    Args:
        lower, upper: downsets, lower within upper.
        lower_live_bytes: live at `lower`.
        exit_op, mode: an op outside `upper` with all predecessors in `lower`, and one of its modes.
    """

    def __init__(
        self,
        space: StateSpace,
        lower: int,
        lower_live_bytes: int,
        upper: int,
        *,
        exit_op: int | None = None,
        mode: Mode = (),
    ) -> None:
        self._space = space
        self._lower = lower
        self._upper = upper
        self._constant = lower_live_bytes
        self._free = list(members(upper & ~lower))
        self._node = {op: place + 2 for place, op in enumerate(self._free)}
        self._network = FlowNetwork(len(self._free) + 2)
        self._unlimited = 1
        self._unlimited_arcs: list[tuple[int, int]] = []
        self._add_storages()
        if exit_op is not None:
            model = space.model
            self._constant += model.added_bytes(exit_op)
            for pair in mode:
                self._constant -= pair.size_bytes
                needed_by = space.users[pair.input] & ~lower & ~(1 << exit_op)
                if needed_by & ~upper:
                    self._constant += pair.size_bytes
                elif needed_by:
                    self._add_supply(_SOURCE, pair.size_bytes, needed_by)
        for op in self._free:
            for before in space.model.predecessors[op]:
                if before in self._node:
                    self._unlimited_arcs.append((self._node[op], self._node[before]))
        for tail, head in self._unlimited_arcs:
            self._network.add_arc(tail, head, self._unlimited)

    def _add_storages(self) -> None:
        space, model = self._space, self._space.model
        seen: set[int] = set()
        for op in self._free:
            for storage in model.creates[op]:
                users = space.users[storage]
                if space.held[storage] or users & ~self._upper:
                    self._add_limited(self._node[op], _SINK, model.size_bytes[storage])
                elif users:
                    self._add_supply(self._node[op], model.size_bytes[storage], users)
            for storage in model.touches[op]:
                if storage in seen or model.creator[storage] in self._node:
                    continue
                seen.add(storage)
                needed_by = space.users[storage] & ~self._lower
                if not space.held[storage] and not needed_by & ~self._upper:
                    self._constant -= model.size_bytes[storage]
                    self._add_supply(_SOURCE, model.size_bytes[storage], needed_by)

    def _add_supply(self, tail: int, capacity: int, needed_by: int) -> None:
        """Arcs that cost `capacity` once when `tail` is in X and some op of `needed_by` is not."""
        if not needed_by & (needed_by - 1):
            self._add_limited(tail, self._node[needed_by.bit_length() - 1], capacity)
            return
        junction = self._network.add_node()
        self._add_limited(tail, junction, capacity)
        for user in members(needed_by):
            self._unlimited_arcs.append((junction, self._node[user]))

    def _add_limited(self, tail: int, head: int, capacity: int) -> None:
        if capacity:
            self._network.add_arc(tail, head, capacity)
            self._unlimited += capacity

    def reaches(self, needed_bytes: int, deadline: Deadline) -> bool:
        """Whether the minimum is at least `needed_bytes`. Ask once."""
        wanted = needed_bytes - self._constant
        if wanted <= 0:
            return True
        return self._network.send(_SOURCE, _SINK, wanted, deadline) == wanted

    def largest_minimiser(self, deadline: Deadline) -> int:
        """The largest downset at which the minimum is reached."""
        self._network.send(_SOURCE, _SINK, self._unlimited, deadline)
        to_sink = self._network.side_of_sink(_SINK)
        return self._lower | sum(1 << op for op in self._free if not to_sink[self._node[op]])
