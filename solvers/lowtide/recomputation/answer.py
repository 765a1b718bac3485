"""What the outside is told of a plan (design, section 9)."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from lowtide.answers import Limit
from lowtide.recomputation.certificate import PlanStatus, Scope
from lowtide.recomputation.model import RecomputationModel
from lowtide.recomputation.plan import Plan
from lowtide.recomputation.question import Recomputation


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Run(_Answer):
    """The `run`-th run of an op, counted from 1."""

    op: str
    run: int


class FrontPoint(_Answer):
    """One trade-off. OPTIMAL: no plan of the scope with this peak or a lower one costs less, and
    none as cheap peaks lower.
    """

    peak_bytes: int
    extra_cost: int
    status: PlanStatus
    scope: Scope
    runs: tuple[Run, ...]


class RecomputeAnswer(_Answer):
    """Answer to "what has to be computed twice?".

    `extra_cost_fraction` is of the cost of running every op once, for display only. `runs`,
    `peak_bytes` and `extra_cost` are None when no plan was found or none exists. `front` is empty
    unless it was asked for.
    """

    status: PlanStatus
    scope: Scope
    peak_bytes: int | None
    lower_bound_bytes: int
    extra_cost: int | None
    extra_cost_fraction: float | None
    least_extra_cost: int
    order_peak_bytes: int
    runs: tuple[Run, ...] | None
    front: tuple[FrontPoint, ...]
    proof: str
    certificate_id: str
    solve_seconds: float
    limit: Limit | None


def recompute_answer(model: RecomputationModel, found: Recomputation) -> RecomputeAnswer:
    """The answer in the op names of the model's graph, of which `found` must be."""
    plan = found.plan
    total = model.total_cost
    return RecomputeAnswer(
        status=found.status,
        scope=found.scope,
        peak_bytes=None if plan is None else plan.peak_bytes,
        lower_bound_bytes=found.lower_bound_bytes,
        extra_cost=None if plan is None else plan.extra_cost,
        extra_cost_fraction=plan.extra_cost / total if plan is not None and total else None,
        least_extra_cost=found.least_extra_cost,
        order_peak_bytes=found.order_peak_bytes,
        runs=None if plan is None else _named_runs(model, plan),
        front=tuple(
            FrontPoint(
                peak_bytes=point.plan.peak_bytes,
                extra_cost=point.plan.extra_cost,
                status=point.status,
                scope=point.scope,
                runs=_named_runs(model, point.plan),
            )
            for point in found.front
        ),
        proof=found.certificate.bound_witness.kind,
        certificate_id=found.certificate.identifier(),
        solve_seconds=found.solve_seconds,
        limit=found.limit,
    )


def _named_runs(model: RecomputationModel, plan: Plan) -> tuple[Run, ...]:
    counts = [0] * len(model.graph.ops)
    runs = []
    for v in plan.runs:
        counts[v] += 1
        runs.append(Run(op=model.graph.ops[v].name, run=counts[v]))
    return tuple(runs)
