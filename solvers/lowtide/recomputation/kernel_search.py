"""The kernel's exact search for plans, in the library's words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lowtide._kernel import (
    CancelToken,
    RecomputationGoal,
    RecomputationProblem,
    RecomputationStatus,
    Stop,
)
from lowtide.answers import Limit
from lowtide.in_place import modes
from lowtide.recomputation.model import RecomputationModel


class PlanSearch:
    """Searches for plans of one scope, one search at a time.

    In scope given-order, first runs keep `first_runs`, an order of the graph.
    """

    def __init__(self, model: RecomputationModel, first_runs: Sequence[int] | None) -> None:
        self._order = tuple(range(len(model.graph.ops)) if first_runs is None else first_runs)
        self._keeps_order = first_runs is not None
        self._problem = _kernel_problem(model, self._order)

    def run(
        self,
        goal: RecomputationGoal,
        budget_bytes: int,
        max_extra_cost: int | None,
        max_states: int,
        seconds: float,
        cancel: CancelToken | None,
    ) -> Found:
        """The cheapest plan within the budget, or any, or the proof that there is none.

        ON_DEMAND finds plans of large graphs, and proves nothing.
        """
        stop, result = self._problem.search(
            budget_bytes,
            max_extra_cost,
            goal,
            self._keeps_order,
            max_states,
            cancel,
            max(seconds, 0.0),
        )
        found = result.status is RecomputationStatus.FOUND
        return Found(
            runs=tuple(self._order[v] for v in result.runs) if found else None,
            is_least=result.is_least,
            least_extra_cost=result.least_extra_cost,
            is_exhausted=result.status is RecomputationStatus.EXHAUSTED,
            states=result.states,
            limit=None if stop is Stop.NONE else _LIMITS[stop],
        )


_LIMITS: dict[Stop, Limit] = {Stop.TIME: "time", Stop.CANCELLED: "cancelled"}


@dataclass(frozen=True, slots=True)
class Found:
    """What one search found.

    Attributes:
        runs: a plan within the budget, or None.
        is_least: no plan within the budget costs less.
        least_extra_cost: no plan within the budget costs less than this (of `cheapest`).
        is_exhausted: there is no plan within the budget.
        states: looked at.
        limit: a deadline or cancellation that struck.
    """

    runs: tuple[int, ...] | None
    is_least: bool
    least_extra_cost: int
    is_exhausted: bool
    states: int
    limit: Limit | None


def _kernel_problem(model: RecomputationModel, order: Sequence[int]) -> RecomputationProblem:
    """The kernel's problem, its ops listed in this order. Linear in the graph."""
    graph = model.graph
    position = [0] * len(order)
    for at, v in enumerate(order):
        position[v] = at
    sizes = [storage.size_bytes for storage in graph.storages]
    problem = RecomputationProblem(edit_count=len(model.edits))
    for v in order:
        op = graph.ops[v]
        problem.add_op(
            cost=op.cost,
            cap=model.caps[v] or 0,
            workspace_bytes=op.workspace_bytes,
            predecessors=[position[u] for u in op.predecessors],
            creates=op.creates,
            touches=op.touches,
            needed_edits=model.needed_edits[v],
            forbidden_edits=model.forbidden_edits[v],
            makes_edits=model.makes_edits[v],
            modes=[
                [
                    (pair.output, pair.input, min(sizes[pair.output], sizes[pair.input]))
                    for pair in mode
                ]
                for mode in modes(op.in_place)
            ],
        )
    edits_of: list[list[int]] = [[] for _ in graph.storages]
    for e, edit in enumerate(model.edits):
        edits_of[edit.storage].append(e)
    for s, storage in enumerate(graph.storages):
        problem.add_storage(
            size_bytes=storage.size_bytes,
            creator=-1 if storage.creator is None else position[storage.creator],
            is_output=storage.is_output,
            is_pinned=storage.is_pinned,
            users=[position[u] for u in storage.users],
            edits=edits_of[s],
            final_edits=model.final_edits[s],
        )
    return problem
