"""Does the forward trap from a state stall within a threshold (design, sections 2 and 3)?"""

from __future__ import annotations

from lowtide.checker.dead_end import ExitCosts
from lowtide.checker.states import State, StateSpace


def stalls(space: StateSpace, exit_costs: ExitCosts, start: State, threshold_bytes: int) -> bool:
    """Whether some downset that holds `start`, short of all ops, has only exits beyond the threshold.

    The trap grows by what a real run reaches, then by exits that some state within it can afford. True proves that
    no order within the threshold passes through `start`.
    """
    trap = start
    blocked: list[int] = []
    while trap.ready:
        affordable = [op for op in trap.ready if space.step_cost(trap, op) <= threshold_bytes]
        if affordable:
            op = min(affordable, key=lambda v: (space.growth(trap.done, v), v))
            trap = space.after(trap, op)
            continue
        blocked = list(trap.ready)
        found = next(
            (op for op in blocked if not exit_costs.is_too_dear(start, trap.done, op)), None
        )
        if found is None:
            return True
        trap = space.after(trap, found)
    return False
