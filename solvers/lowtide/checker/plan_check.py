"""The checker of recomputation plans: does a `lowtide.recomputation/1` certificate hold?

In this order; the first thing that does not hold is the reason given (docs/recomputation-
certificates.md has every reason code and why this is enough): hash, claims (`plan_claims`), caps
(`plan_model`), the order first runs keep, the plan itself (`plan_replay`), the proof of the lower
bound, the proof of the least extra cost. The proofs are the op's companions (`plan_bound`) or a
search of the checker's own (`plan_search`); nothing rests on the solver's word.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from lowtide.checker.derive import derive_model
from lowtide.checker.identity import check_hash, form_of
from lowtide.checker.plan_bound import bytes_with_companions
from lowtide.checker.plan_claims import check_plan_claims, plan_budget
from lowtide.checker.plan_model import PlanModel, plan_model
from lowtide.checker.plan_replay import check_first_runs, replay
from lowtide.checker.plan_search import has_plan
from lowtide.checker.positions import Positions
from lowtide.checker.recompute import refute_by_search
from lowtide.checker.refusal import Deadline, Refusal, shown
from lowtide.recomputation.certificate import (
    CompanionsWitness,
    NoWitness,
    PlanStatus,
    RecomputationCertificate,
)
from lowtide.wire import WireGraph

PlanMethod = Literal["companions", "recomputation", "none"]


class PlanVerdict(BaseModel):
    """The verdict on a recomputation certificate.

    `reason` is a short code when refused, None when accepted. `method` says how the bounds were
    checked: from an op's companions, by a search of the checker's own, or nothing needed a proof
    (or none was reached). What the certificate claims is repeated only when accepted.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    accepted: bool
    reason: str | None
    detail: str
    method: PlanMethod
    status: PlanStatus | None
    peak_bytes: int | None
    extra_cost: int | None
    lower_bound_bytes: int | None
    least_extra_cost: int | None


def check_plan(
    wire: WireGraph, certificate: RecomputationCertificate, *, time_limit_seconds: float = 60.0
) -> PlanVerdict:
    """Whether the certificate is true of the graph, from the graph and the certificate alone.

    Never raises, whatever the certificate holds: what does not hold is refused with a reason code,
    and so is what cannot be decided within the time limit (`time-limit`, `undecided`). Nearly
    linear in the graph and the plan, but for searches, which are bounded by time and states.
    """
    checking = _Checking(wire, certificate, Deadline(time_limit_seconds))
    try:
        detail = checking.run()
    except Refusal as refusal:
        return PlanVerdict(
            accepted=False,
            reason=refusal.reason,
            detail=refusal.detail,
            method=checking.method,
            status=None,
            peak_bytes=None,
            extra_cost=None,
            lower_bound_bytes=None,
            least_extra_cost=None,
        )
    return PlanVerdict(
        accepted=True,
        reason=None,
        detail=detail,
        method=checking.method,
        status=certificate.status,
        peak_bytes=certificate.peak_bytes,
        extra_cost=certificate.extra_cost,
        lower_bound_bytes=certificate.lower_bound_bytes,
        least_extra_cost=certificate.least_extra_cost,
    )


class _Checking:
    """One certificate. `method` tells how far its proofs were looked at."""

    def __init__(
        self, wire: WireGraph, certificate: RecomputationCertificate, deadline: Deadline
    ) -> None:
        self.method: PlanMethod = "none"
        self._wire = wire
        self._certificate = certificate
        self._deadline = deadline

    def run(self) -> str:
        """What was found to be true; raises Refusal."""
        certificate = self._certificate
        self._deadline.check()
        model = derive_model(self._wire)
        form = form_of(model)
        check_hash(form, certificate.graph_hash)
        check_plan_claims(certificate)
        plan = plan_model(self._wire, model, form.op_at, certificate.caps)
        positions = Positions(form.op_at, form.storage_at)
        first_runs = self._first_runs(plan, positions)
        text = self._check_runs(plan, positions, first_runs)
        self._prove_bound(plan, positions, first_runs)
        self._prove_least_cost(plan, first_runs)
        return f"{text}; no plan of scope {certificate.scope} peaks below " + (
            f"{certificate.lower_bound_bytes} bytes"
        )

    def _first_runs(self, plan: PlanModel, positions: Positions) -> tuple[int, ...] | None:
        if self._certificate.scope == "free":
            return None
        reason = "first-runs-not-a-permutation"
        first_runs = tuple(positions.ops(self._certificate.first_runs, reason))
        check_first_runs(plan, first_runs)
        return first_runs

    def _check_runs(
        self, plan: PlanModel, positions: Positions, first_runs: tuple[int, ...] | None
    ) -> str:
        certificate = self._certificate
        if certificate.runs is None:
            return "no plan is given"
        runs = positions.ops(certificate.runs, "run-unknown-op")
        found = replay(plan, runs, self._deadline)
        if first_runs is not None and found.first_runs != first_runs:
            names = plan.model.op_names
            pairs = zip(found.first_runs, first_runs, strict=True)
            op, wanted = next(pair for pair in pairs if pair[0] != pair[1])
            text = f"op {shown(names[op])} first runs where first_runs has {shown(names[wanted])}"
            raise Refusal("first-runs-not-kept", text)
        where = ""
        if found.peak_step >= 0:
            name = shown(plan.model.op_names[runs[found.peak_step]])
            where = f" at step {found.peak_step}, op {name}"
        if certificate.peak_bytes != found.peak_bytes:
            text = f"the plan peaks at {found.peak_bytes} bytes{where}, not as claimed"
            raise Refusal("peak-mismatch", text)
        if certificate.extra_cost != found.extra_cost:
            text = f"the plan's extra cost is {found.extra_cost}, not as claimed"
            raise Refusal("extra-cost-mismatch", text)
        return f"the plan peaks at {found.peak_bytes} bytes{where}, extra cost {found.extra_cost}"

    def _prove_bound(
        self, plan: PlanModel, positions: Positions, first_runs: tuple[int, ...] | None
    ) -> None:
        certificate = self._certificate
        witness, bound = certificate.bound_witness, certificate.lower_bound_bytes
        if isinstance(witness, CompanionsWitness):
            self.method = "companions"
            op = positions.op(witness.op, "witness-unknown-op")
            held = bytes_with_companions(plan, op)
            if held < bound:
                text = (
                    f"op {shown(plan.model.op_names[op])} with its companions needs {held} bytes, "
                    f"less than the lower bound {shown(bound)}"
                )
                raise Refusal("witness-companions-too-small", text)
        elif bound == 0:
            return
        elif isinstance(witness, NoWitness):
            raise Refusal("bound-without-witness", f"nothing shows the lower bound {shown(bound)}")
        else:
            self.method = "recomputation"
            self._search_below_bound(plan, first_runs)

    def _search_below_bound(self, plan: PlanModel, first_runs: tuple[int, ...] | None) -> None:
        budget = self._certificate.lower_bound_bytes - 1
        if first_runs is None and plan.makes_nothing_again:
            # Dropping all reruns leaves an order that is no higher.
            _refute_orders(plan, budget, self._deadline)
        elif has_plan(plan, first_runs, budget, self._certificate.max_extra_cost, self._deadline):
            raise Refusal("bound-refuted", f"there is a plan within {shown(budget)} bytes")

    def _prove_least_cost(self, plan: PlanModel, first_runs: tuple[int, ...] | None) -> None:
        certificate = self._certificate
        least, budget = certificate.least_extra_cost, plan_budget(certificate)
        if least == 0 or budget is None:
            return
        if certificate.cost_witness.kind != "exhausted":
            text = f"no witness that can shows the least extra cost {shown(least)}"
            raise Refusal("least-cost-without-witness", text)
        self.method = "recomputation"
        if has_plan(plan, first_runs, budget, least - 1, self._deadline):
            text = f"there is a plan within {shown(budget)} bytes that costs less"
            raise Refusal("least-cost-refuted", f"{text} than {shown(least)}")


def _refute_orders(plan: PlanModel, budget_bytes: int, deadline: Deadline) -> None:
    try:
        refute_by_search(plan.model, budget_bytes, deadline)
    except Refusal as refusal:
        if refusal.reason == "bound-refuted":
            raise
        raise Refusal("undecided", refusal.detail) from refusal
