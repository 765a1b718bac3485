"""From a plan and what is known of it to a certificate by canonical position."""

from __future__ import annotations

from dataclasses import dataclass

from lowtide.canonical import CanonicalForm
from lowtide.recomputation.bounds import CompanionBound
from lowtide.recomputation.certificate import (
    FORMAT,
    NO_CAP,
    CompanionsWitness,
    ExhaustedWitness,
    NoWitness,
    Objective,
    PlanStatus,
    RecomputationCertificate,
    Scope,
    Witness,
)
from lowtide.recomputation.model import RecomputationModel
from lowtide.recomputation.plan import Plan


@dataclass(frozen=True, slots=True)
class Claim:
    """What is said of a graph's plans; the fields are those of the certificate.

    `first_runs` holds op indices and counts in scope given-order. The bound's witness is the
    companions' where that bound is as high, else an exhausted search.
    """

    scope: Scope
    first_runs: tuple[int, ...]
    objective: Objective
    budget_bytes: int | None
    max_extra_cost: int | None
    status: PlanStatus
    plan: Plan | None
    lower_bound_bytes: int
    least_extra_cost: int
    companions: CompanionBound
    states: int


def certify_plan(
    model: RecomputationModel, form: CanonicalForm, claim: Claim
) -> RecomputationCertificate:
    """The certificate of a claim. Linear in the plan."""
    position = form.op_position
    plan = claim.plan
    return RecomputationCertificate(
        format=FORMAT,
        graph_hash=form.graph_hash,
        caps=tuple(NO_CAP if (cap := model.caps[v]) is None else cap for v in form.op_at),
        scope=claim.scope,
        first_runs=tuple(position[v] for v in claim.first_runs)
        if claim.scope == "given-order"
        else (),
        objective=claim.objective,
        budget_bytes=claim.budget_bytes,
        max_extra_cost=claim.max_extra_cost,
        status=claim.status,
        runs=None if plan is None else tuple(position[v] for v in plan.runs),
        peak_bytes=None if plan is None else plan.peak_bytes,
        extra_cost=None if plan is None else plan.extra_cost,
        lower_bound_bytes=claim.lower_bound_bytes,
        least_extra_cost=claim.least_extra_cost,
        bound_witness=_bound_witness(form, claim),
        cost_witness=ExhaustedWitness(kind="exhausted", states=claim.states)
        if claim.least_extra_cost > 0
        else NoWitness(kind="none"),
    )


def _bound_witness(form: CanonicalForm, claim: Claim) -> Witness:
    if claim.lower_bound_bytes <= claim.companions.bytes:
        op = claim.companions.op
        if op is None:
            return NoWitness(kind="none")
        return CompanionsWitness(kind="companions", op=form.op_position[op])
    return ExhaustedWitness(kind="exhausted", states=claim.states)
