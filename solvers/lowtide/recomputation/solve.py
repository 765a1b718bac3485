"""The road to a plan: order -> bound -> search in scope free -> search in scope given-order."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from lowtide._kernel import CancelToken, RecomputationGoal
from lowtide.answers import Limit
from lowtide.checked_schedule import checked_schedule
from lowtide.graph import Graph
from lowtide.graph_identity import graph_canonical_form
from lowtide.recomputation.bounds import CompanionBound, companion_bound
from lowtide.recomputation.certificate import Objective, PlanStatus, Scope
from lowtide.recomputation.certify_plan import Claim, certify_plan
from lowtide.recomputation.kernel_search import Found, PlanSearch
from lowtide.recomputation.model import RecomputationModel, recomputation_model
from lowtide.recomputation.plan import Plan, replay
from lowtide.recomputation.question import Point, Question, Recomputation
from lowtide.schedule import Limits
from lowtide.wire import WireGraph

ON_DEMAND_STATES = 20_000
SCHEDULE_SHARE = 3
"""The certified order may take one in so many seconds of the time limit."""


def recompute(
    wire: WireGraph, graph: Graph, question: Question, *, cancel: CancelToken | None = None
) -> Recomputation:
    """The best plan of the asked scope under the caps, with what is proved of it.

    Args:
        wire, graph: the same graph in both forms.
        question: objective, caps and limits.
        cancel: set it from any thread to stop within 50 ms; the best so far is returned.

    Raises:
        GraphError: a cap for an unknown op, or out of range.
        RefusedCertificateError: the certified order's certificate does not hold.
    """
    started = time.perf_counter()
    model = recomputation_model(wire, graph, question.caps)
    limits = Limits(question.time_seconds / SCHEDULE_SHARE)
    order = checked_schedule(wire, graph, limits, cancel=cancel)
    plan = replay(model, order.order)
    work = _Work(model, question, plan, started, cancel)
    if order.status == "OPTIMAL" and all(cap == 1 for cap in model.caps):
        work.raise_bound("free", order.lower_bound_bytes)
    claim, front = work.run()
    form = graph_canonical_form(graph)
    return Recomputation(
        status=claim.status,
        scope=claim.scope,
        plan=claim.plan,
        lower_bound_bytes=claim.lower_bound_bytes,
        least_extra_cost=claim.least_extra_cost,
        order_peak_bytes=plan.peak_bytes,
        front=front,
        certificate=certify_plan(model, form, claim),
        states=work.states,
        solve_seconds=time.perf_counter() - started,
        limit=work.limit,
    )


@dataclass(frozen=True, slots=True)
class _Finding:
    """What one scope gave: its plan, what is proved, and every trade-off met on the way."""

    scope: Scope
    status: PlanStatus
    plan: Plan | None
    lower_bound_bytes: int
    least_extra_cost: int
    front: tuple[Point, ...]


class _Work:
    def __init__(
        self,
        model: RecomputationModel,
        question: Question,
        order_plan: Plan,
        started: float,
        cancel: CancelToken | None,
    ) -> None:
        self._model = model
        self._question = question
        self._order_plan = order_plan
        self._deadline = started + question.time_seconds
        self._cancel = cancel
        self._companions: CompanionBound = companion_bound(model)
        self._bounds: dict[Scope, int] = {
            "free": self._companions.bytes,
            "given-order": self._companions.bytes,
        }
        self.states = 0
        self.limit: Limit | None = None

    def raise_bound(self, scope: Scope, bound_bytes: int) -> None:
        """A bound of every plan bounds those of a given order too."""
        scopes: tuple[Scope, ...] = ("free", "given-order") if scope == "free" else (scope,)
        for each in scopes:
            self._bounds[each] = max(self._bounds[each], bound_bytes)

    def run(self) -> tuple[Claim, tuple[Point, ...]]:
        finding = self._in_scopes()
        objective: Objective = "cost" if self._question.objective == "cost" else "peak"
        claim = Claim(
            scope=finding.scope,
            first_runs=self._order_plan.runs,
            objective=objective,
            budget_bytes=self._question.budget_bytes,
            max_extra_cost=self._question.max_extra_cost,
            status=finding.status,
            plan=finding.plan,
            lower_bound_bytes=finding.lower_bound_bytes,
            least_extra_cost=finding.least_extra_cost,
            companions=self._companions,
            states=self.states,
        )
        return claim, finding.front

    def _in_scopes(self) -> _Finding:
        asked = self._question.scope
        if asked != "auto":
            return self._in_scope(asked, self._deadline)
        now = time.perf_counter()
        free = self._in_scope("free", now + (self._deadline - now) / 2)
        if free.status in ("OPTIMAL", "INFEASIBLE") or self.limit == "cancelled":
            return free
        self.limit = None
        given = self._in_scope("given-order", self._deadline)
        return _better(free, given, self._bounds["free"])

    def _in_scope(self, scope: Scope, deadline: float) -> _Finding:
        search = PlanSearch(self._model, self._order_plan.runs if scope == "given-order" else None)
        run = _ScopeRun(self, search, scope, deadline)
        if self._question.objective == "cost":
            return run.least_cost()
        if self._question.objective == "front":
            return run.whole_front()
        return run.least_peak()

    # What a run in one scope needs.
    @property
    def model(self) -> RecomputationModel:
        return self._model

    @property
    def question(self) -> Question:
        return self._question

    @property
    def order_plan(self) -> Plan:
        return self._order_plan

    @property
    def cancel(self) -> CancelToken | None:
        return self._cancel

    def bound(self, scope: Scope) -> int:
        return self._bounds[scope]

    def took(self, found: Found) -> None:
        self.states += found.states
        if found.limit is not None:
            self.limit = found.limit
        elif found.runs is None and not found.is_exhausted:
            self.limit = "states"


class _ScopeRun:
    """One objective in one scope."""

    def __init__(self, work: _Work, search: PlanSearch, scope: Scope, deadline: float) -> None:
        self._work = work
        self._search = search
        self._scope: Scope = scope
        self._deadline = deadline

    def least_peak(self) -> _Finding:
        plan = self._plan_on_demand()
        decided = True
        while plan.peak_bytes > self._work.bound(self._scope):
            found = self._ask(RecomputationGoal.ANY, plan.peak_bytes - 1)
            if found.runs is not None:
                plan = replay(self._work.model, found.runs)
            elif found.is_exhausted:
                self._work.raise_bound(self._scope, plan.peak_bytes)
            else:
                decided = False
                break
        least_extra_cost = 0
        if plan.extra_cost > 0:
            found = self._ask(RecomputationGoal.CHEAPEST, plan.peak_bytes)
            least_extra_cost = found.least_extra_cost
            if found.runs is not None:
                cheaper = replay(self._work.model, found.runs)
                if (cheaper.extra_cost, cheaper.peak_bytes) < (plan.extra_cost, plan.peak_bytes):
                    plan = cheaper
            decided = decided and found.is_least
        return self._finding("OPTIMAL" if decided else "FEASIBLE", plan, least_extra_cost)

    def _plan_on_demand(self) -> Plan:
        """The lowest plan that runs again only what the next op lacks; cheap to look for."""
        plan = self._work.order_plan
        low = self._work.bound(self._scope)
        target = low
        while target < plan.peak_bytes:
            found = self._try_on_demand(target)
            if found is not None:
                plan = found
                target = low
            else:
                low = target + 1
                target = (target + plan.peak_bytes) // 2 + 1
        return plan

    def _try_on_demand(self, budget_bytes: int) -> Plan | None:
        work = self._work
        found = self._search.run(
            RecomputationGoal.ON_DEMAND,
            budget_bytes,
            work.question.max_extra_cost,
            ON_DEMAND_STATES,
            self._deadline - time.perf_counter(),
            work.cancel,
        )
        work.states += found.states
        return None if found.runs is None else replay(work.model, found.runs)

    def least_cost(self) -> _Finding:
        budget = self._work.question.budget_bytes
        assert budget is not None  # Question requires it
        if self._work.order_plan.peak_bytes <= budget:
            return self._finding("OPTIMAL", self._work.order_plan, 0)
        if self._work.bound(self._scope) > budget:
            return self._finding("INFEASIBLE", None, 0)
        candidate = self._try_on_demand(budget)
        found = self._ask(RecomputationGoal.CHEAPEST, budget)
        if found.is_exhausted:
            self._work.raise_bound(self._scope, budget + 1)
            return self._finding("INFEASIBLE", None, 0)
        if found.runs is not None:
            plan = replay(self._work.model, found.runs)
            status: PlanStatus = "OPTIMAL" if found.is_least else "FEASIBLE"
            return self._finding(status, plan, found.least_extra_cost)
        if candidate is not None:
            return self._finding("FEASIBLE", candidate, found.least_extra_cost)
        return self._finding("UNKNOWN", None, found.least_extra_cost)

    def whole_front(self) -> _Finding:
        points = [Point(self._work.order_plan, "FEASIBLE", self._scope)]
        candidates = self._plans_on_demand()
        least_extra_cost = 0
        decided = True
        while points[-1].plan.peak_bytes > self._work.bound(self._scope):
            found = self._ask(RecomputationGoal.CHEAPEST, points[-1].plan.peak_bytes - 1)
            if found.runs is None:
                decided = found.is_exhausted
                if decided:
                    self._work.raise_bound(self._scope, points[-1].plan.peak_bytes)
                break
            plan = replay(self._work.model, found.runs)
            # The search before showed that a lower peak than its budget costs this much; the one
            # that now finds a higher cost shows that no lower peak has it.
            if points[-1].plan.extra_cost == plan.extra_cost:
                points.pop()
            elif found.is_least:
                points[-1] = replace(points[-1], status="OPTIMAL")
            points.append(Point(plan, "FEASIBLE", self._scope))
            least_extra_cost = found.least_extra_cost
            decided = found.is_least
            if not decided:
                break
        if decided:
            points[-1] = replace(points[-1], status="OPTIMAL")
            return self._finding("OPTIMAL", points[-1].plan, least_extra_cost, tuple(points))
        for plan in candidates:
            if plan.peak_bytes < points[-1].plan.peak_bytes:
                points.append(Point(plan, "FEASIBLE", self._scope))
        return self._finding("FEASIBLE", points[-1].plan, 0, tuple(points))

    def _plans_on_demand(self) -> list[Plan]:
        """Trade-offs that are cheap to look for, from the highest peak to the lowest, each dearer
        than the one before.
        """
        plans = [self._work.order_plan]
        while plans[-1].peak_bytes > self._work.bound(self._scope):
            plan = self._try_on_demand(plans[-1].peak_bytes - 1)
            if plan is None:
                break
            while plans and plans[-1].extra_cost >= plan.extra_cost:
                plans.pop()
            plans.append(plan)
        return plans

    def _finding(
        self,
        status: PlanStatus,
        plan: Plan | None,
        least_extra_cost: int,
        front: tuple[Point, ...] = (),
    ) -> _Finding:
        return _Finding(
            scope=self._scope,
            status=status,
            plan=plan,
            lower_bound_bytes=self._work.bound(self._scope),
            least_extra_cost=least_extra_cost,
            front=front,
        )

    def _ask(self, goal: RecomputationGoal, budget_bytes: int) -> Found:
        question = self._work.question
        found = self._search.run(
            goal,
            budget_bytes,
            question.max_extra_cost,
            question.max_states,
            self._deadline - time.perf_counter(),
            self._work.cancel,
        )
        self._work.took(found)
        return found


def _better(free: _Finding, given: _Finding, free_bound: int) -> _Finding:
    """What to answer when scope free was not decided: the better plan, in the scope where most is
    known of it.
    """
    if given.plan is None or (free.plan is not None and _merit(free.plan) < _merit(given.plan)):
        return free
    meets_free_bounds = (
        given.plan.peak_bytes == free_bound and given.plan.extra_cost == free.least_extra_cost
    )
    if given.status == "OPTIMAL" and meets_free_bounds and not given.front:
        return replace(given, scope="free")
    return given


def _merit(plan: Plan) -> tuple[int, int]:
    return plan.peak_bytes, plan.extra_cost
