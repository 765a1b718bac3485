"""Traps that start at a state and that nothing leaves within the threshold (design, section 3)."""

from __future__ import annotations

from lowtide.checker.live_cut import LiveCut
from lowtide.checker.model import Mode
from lowtide.checker.refusal import Deadline
from lowtide.checker.states import State, StateSpace, members

_MAX_REMEMBERED_BYTES = 64 * 2**20
_MAX_STARTS_PER_EXIT = 8


class ExitCosts:
    """Decides whether an exit is too dear, at every state between a start and a trap.

    What was found too dear once stays so for later starts within the same trap: they leave fewer
    states to run from.
    """

    def __init__(self, space: StateSpace, threshold_bytes: int, deadline: Deadline) -> None:
        self._space = space
        self._threshold = threshold_bytes
        self._deadline = deadline
        self._dear_from: dict[tuple[int, int], list[int]] = {}
        self._max_remembered = space.entries_within(_MAX_REMEMBERED_BYTES)

    def is_too_dear(self, start: State, trap: int, exit_op: int) -> bool:
        """Whether the exit costs more than the threshold, whatever happened before within the trap.

        That is c(X, exit_op) > threshold for every downset X within `trap` that holds `start` and
        the ancestors of the exit. `trap` is a downset that holds them too, but not the exit.
        """
        self._deadline.check()
        known = self._dear_from.get((trap, exit_op), [])
        if any(not earlier & ~start.done for earlier in known):
            return True
        lower = start.done | self._space.ancestors_outside(start.done, exit_op)
        live = self._live_at(start, lower)
        modes = self._space.model.modes[exit_op]
        if not all(self._cut(exit_op, mode, lower, live, trap) for mode in modes):
            return False
        if len(self._dear_from) >= self._max_remembered:
            self._dear_from.clear()
        self._dear_from[trap, exit_op] = [*known[1 - _MAX_STARTS_PER_EXIT :], start.done]
        return True

    def _cut(self, exit_op: int, mode: Mode, lower: int, live: int, trap: int) -> bool:
        cut = LiveCut(self._space, lower, live, trap, exit_op=exit_op, mode=mode)
        return cut.reaches(self._threshold + 1, self._deadline)

    def _live_at(self, start: State, upper: int) -> int:
        live, done = start.live_bytes, start.done
        for op in members(upper & ~done):
            # Indices follow the given order, so ascending is an order in which they can run.
            live += self._space.growth(done, op)
            done |= 1 << op
        return live
