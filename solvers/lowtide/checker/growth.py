"""Does the forward trap from a state stall within a threshold (design, sections 2 and 3)?"""

from __future__ import annotations

from lowtide.checker.dead_end import ExitCosts
from lowtide.checker.refusal import Deadline
from lowtide.checker.states import State, StateSpace

_MAX_REMEMBERED_BYTES = 128 * 2**20


class TrapGrowth:
    """Grows traps from states and remembers those that grew to all ops.

    A trap met again is not grown again: it may stall from another start, but saying that it does
    not is always safe.
    """

    def __init__(self, space: StateSpace, threshold_bytes: int, deadline: Deadline) -> None:
        self._space = space
        self._threshold = threshold_bytes
        self._exit_costs = ExitCosts(space, threshold_bytes, deadline)
        self._leads_to_end: set[int] = set()
        self._max_remembered = space.entries_within(_MAX_REMEMBERED_BYTES)

    def stalls(self, start: State) -> bool:
        """Whether a trap of `start` is found that leaves ops outside and has no affordable exit.

        The trap grows by what a real run reaches, then by exits that some state within it can
        afford. True proves that no order within the threshold passes through `start`; False proves
        nothing.
        """
        trap = start
        met = []
        while trap.ready and trap.done not in self._leads_to_end:
            met.append(trap.done)
            op = self._next(start, trap)
            if op is None:
                return True
            trap = self._space.after(trap, op)
        if len(self._leads_to_end) + len(met) > self._max_remembered:
            self._leads_to_end.clear()
        self._leads_to_end.update(met)
        return False

    def _next(self, start: State, trap: State) -> int | None:
        space = self._space
        affordable = [v for v in trap.ready if space.step_cost(trap, v) <= self._threshold]
        if affordable:
            return min(affordable, key=lambda v: (space.growth(trap.done, v), v))
        cheap = (v for v in trap.ready if not self._exit_costs.is_too_dear(start, trap.done, v))
        return next(cheap, None)
