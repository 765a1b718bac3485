"""Do the claims of a recomputation certificate agree with each other?

What each status promises, and what has to be said for it:

- OPTIMAL, objective peak: no plan of the scope peaks lower (lower bound = peak), none with this
  peak costs less (least extra cost = extra cost). Objective cost: none within the budget costs less
  (least extra cost = extra cost); the lower bound may be anything up to the peak.
- FEASIBLE: a plan, and not what OPTIMAL says.
- INFEASIBLE: no plan, and a reason: the lower bound is above the budget, or the least extra cost
  within the budget is above the limit. Only a budget can be too small: without one the program's
  own order is a plan, and it costs nothing extra.
- UNKNOWN: no plan, and no such reason.
"""

from __future__ import annotations

from lowtide.checker.refusal import Refusal, shown
from lowtide.recomputation.certificate import RecomputationCertificate


def check_plan_claims(certificate: RecomputationCertificate) -> None:
    """Accepts claims that can hold together; raises Refusal otherwise. Constant time."""
    _check_question(certificate)
    _check_bounds(certificate)
    if certificate.status in ("OPTIMAL", "FEASIBLE"):
        _check_with_plan(certificate)
    else:
        _check_without_plan(certificate)


def plan_budget(certificate: RecomputationCertificate) -> int | None:
    """Up to which peak `least_extra_cost` speaks: the budget, or the plan's peak; None without."""
    if certificate.objective == "cost":
        return certificate.budget_bytes
    return certificate.peak_bytes


def _check_question(certificate: RecomputationCertificate) -> None:
    budget, limit = certificate.budget_bytes, certificate.max_extra_cost
    if certificate.objective == "cost" and budget is None:
        raise Refusal("budget-missing", "objective cost speaks of plans within a budget; none is")
    if certificate.objective == "peak" and budget is not None:
        raise Refusal("budget-unasked", f"objective peak has no budget; one is {shown(budget)}")
    if budget is not None and budget < 0:
        raise Refusal("budget-negative", f"the budget is {shown(budget)} bytes")
    if limit is not None and limit < 0:
        raise Refusal("max-extra-cost-negative", f"max_extra_cost is {shown(limit)}")
    if certificate.scope == "free" and certificate.first_runs:
        text = "in scope free no order is kept, but first_runs is not empty"
        raise Refusal("first-runs-in-scope-free", text)


def _check_bounds(certificate: RecomputationCertificate) -> None:
    bound, least = certificate.lower_bound_bytes, certificate.least_extra_cost
    if bound < 0:
        raise Refusal("bound-negative", f"the lower bound is {shown(bound)}")
    if least < 0:
        raise Refusal("least-cost-negative", f"the least extra cost is {shown(least)}")
    if least and plan_budget(certificate) is None:
        text = f"least extra cost {shown(least)} is said of plans up to no peak"
        raise Refusal("least-cost-without-peak", text)


def _check_with_plan(certificate: RecomputationCertificate) -> None:
    peak, extra = certificate.peak_bytes, certificate.extra_cost
    if certificate.runs is None or peak is None or extra is None:
        text = f"status {certificate.status} needs runs, peak_bytes and extra_cost"
        raise Refusal("plan-missing", text)
    budget, limit = certificate.budget_bytes, certificate.max_extra_cost
    bound, least = certificate.lower_bound_bytes, certificate.least_extra_cost
    claim = (
        f"peak {shown(peak)}, lower bound {shown(bound)}, extra cost {shown(extra)}, "
        f"least extra cost {shown(least)}, status {certificate.status}"
    )
    if budget is not None and peak > budget:
        raise Refusal("peak-above-budget", f"{claim}: the budget is {shown(budget)}")
    if limit is not None and extra > limit:
        raise Refusal("extra-cost-above-limit", f"{claim}: the limit is {shown(limit)}")
    if bound > peak:
        raise Refusal("bound-above-peak", claim)
    if least > extra:
        raise Refusal("least-cost-above-extra-cost", claim)
    is_optimal = least == extra and (certificate.objective == "cost" or bound == peak)
    if certificate.status == "OPTIMAL" and not is_optimal:
        raise Refusal("status-overclaims", f"{claim}: not shown to be optimal")
    if certificate.status == "FEASIBLE" and is_optimal:
        raise Refusal("status-underclaims", f"{claim}: that is optimal")


def _check_without_plan(certificate: RecomputationCertificate) -> None:
    plan = certificate.runs, certificate.peak_bytes, certificate.extra_cost
    if any(part is not None for part in plan):
        text = f"status {certificate.status} goes without runs, peak_bytes and extra_cost"
        raise Refusal("plan-unasked", text)
    budget, limit = certificate.budget_bytes, certificate.max_extra_cost
    bound, least = certificate.lower_bound_bytes, certificate.least_extra_cost
    is_impossible = budget is not None and (bound > budget or (limit is not None and least > limit))
    claim = f"lower bound {shown(bound)}, least extra cost {shown(least)}"
    if certificate.status == "INFEASIBLE" and not is_impossible:
        raise Refusal("status-overclaims", f"{claim}: not shown to be out of the question")
    if certificate.status == "UNKNOWN" and is_impossible:
        raise Refusal("status-underclaims", f"{claim}: that is out of the question")
