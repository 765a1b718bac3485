"""The solvers against answers that a textbook programme knows."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from lowtide.build import build_graph
from lowtide.recomputation.certificate import Scope
from lowtide.recomputation.knapsack import (
    CAP,
    CoverInstance,
    cover_question,
    least_cover_cost,
    random_cover,
)
from lowtide.recomputation.model import Caps
from lowtide.recomputation.question import Question, Recomputation
from lowtide.recomputation.solve import recompute

SCOPES: Final[tuple[Scope, ...]] = ("free", "given-order")
SECONDS_PER_INSTANCE = 60.0


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An instance on which a search in `scope` and the programme differ, or the search gave up."""

    instance: CoverInstance
    scope: Scope
    wanted_cost: int
    found: Recomputation


def knapsack_selftest(instances: int, seed: int, max_items: int) -> Iterator[Disagreement | None]:
    """One value per random instance and scope: None where both agree.

    Instances have 1 to `max_items` items and are a function of `seed`.
    """
    rng = random.Random(seed)
    for _ in range(instances):
        instance = random_cover(rng, rng.randint(1, max_items))
        wanted_cost = least_cover_cost(instance)
        asked = cover_question(instance)
        graph = build_graph(asked.wire)
        for scope in SCOPES:
            question = Question(
                "cost",
                Caps(CAP),
                budget_bytes=asked.budget_bytes,
                scope=scope,
                time_seconds=SECONDS_PER_INSTANCE,
            )
            found = recompute(asked.wire, graph, question)
            agrees = (
                found.status == "OPTIMAL"
                and found.plan is not None
                and found.plan.extra_cost == wanted_cost
                and found.plan.peak_bytes <= asked.budget_bytes
            )
            yield None if agrees else Disagreement(instance, scope, wanted_cost, found)
