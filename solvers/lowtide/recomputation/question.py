"""What is asked of plans, and what is answered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from lowtide.answers import Limit
from lowtide.recomputation.certificate import PlanStatus, RecomputationCertificate, Scope
from lowtide.recomputation.model import Caps
from lowtide.recomputation.plan import Plan

Asked = Literal["peak", "cost", "front"]
AskedScope = Literal["free", "given-order", "auto"]


class QuestionError(ValueError):
    """The question does not fit together; the message says what to change."""


@dataclass(frozen=True, slots=True)
class Question:
    """Which plan is wanted.

    Attributes:
        objective: `peak`: the least peak, then the least extra cost at that peak; `cost`: the least
            extra cost within `budget_bytes`; `front`: every trade-off between the two.
        caps: how often ops may run.
        budget_bytes: for `cost`, which needs it.
        max_extra_cost: plans that cost more do not count.
        scope: `free`: plans of any order; `given-order`: those whose first runs keep the certified
            order; `auto`: free, and where that is not decided, given-order.
        time_seconds, max_states: limits of the whole call, and of each search.
    """

    objective: Asked = "peak"
    caps: Caps = field(default_factory=Caps)
    budget_bytes: int | None = None
    max_extra_cost: int | None = None
    scope: AskedScope = "auto"
    time_seconds: float = 60.0
    max_states: int = 1_000_000

    def __post_init__(self) -> None:
        if self.objective == "cost" and self.budget_bytes is None:
            raise QuestionError("objective cost needs budget_bytes: the memory the plan has to fit")
        if self.objective != "cost" and self.budget_bytes is not None:
            raise QuestionError(
                f"objective {self.objective} takes no budget_bytes; ask for objective cost"
            )
        for name, value in (
            ("budget_bytes", self.budget_bytes),
            ("max_extra_cost", self.max_extra_cost),
        ):
            if value is not None and value < 0:
                raise QuestionError(f"{name} is {value}; it must not be negative")


@dataclass(frozen=True, slots=True)
class Point:
    """A plan, with what is shown of it.

    `status` OPTIMAL: it is on the front of its scope: no plan of the scope with its peak or a lower
    one costs less.
    """

    plan: Plan
    status: PlanStatus
    scope: Scope


@dataclass(frozen=True, slots=True)
class Recomputation:
    """The answer to a question.

    Attributes:
        status, scope: of the claim; OPTIMAL and INFEASIBLE are said of plans in the scope.
        plan: the best found; None when INFEASIBLE or UNKNOWN.
        lower_bound_bytes: no plan of the scope within `max_extra_cost` peaks lower.
        least_extra_cost: no plan within the budget (objective peak: the plan's peak) costs less.
        order_peak_bytes: of the certified order, without recomputation.
        front: every trade-off found, from the highest peak to the lowest.
        certificate: what a checker needs.
        states: looked at in all searches.
        limit: what ended the work early, or None.
    """

    status: PlanStatus
    scope: Scope
    plan: Plan | None
    lower_bound_bytes: int
    least_extra_cost: int
    order_peak_bytes: int
    front: tuple[Point, ...]
    certificate: RecomputationCertificate
    states: int
    solve_seconds: float
    limit: Limit | None
