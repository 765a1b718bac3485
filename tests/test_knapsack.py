"""Knapsack covers: the textbook programme against all subsets, the reduction against both."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from lowtide.build import build_graph
from lowtide.recomputation.knapsack import (
    CAP,
    CoverInstance,
    cover_question,
    least_cover_cost,
    random_cover,
)
from lowtide.recomputation.model import Caps
from lowtide.recomputation.question import Question
from lowtide.recomputation.solve import recompute


def by_subsets(instance: CoverInstance) -> int:
    return min(
        sum(cost for _, cost in chosen)
        for count in range(1, len(instance.items) + 1)
        for chosen in combinations(instance.items, count)
        if sum(size for size, _ in chosen) >= instance.needed
    )


@pytest.mark.parametrize("seed", range(200))
def test_the_textbook_programme_agrees_with_all_subsets(seed: int) -> None:
    rng = random.Random(seed)
    instance = random_cover(rng, rng.randint(1, 9))
    assert least_cover_cost(instance) == by_subsets(instance)


@pytest.mark.parametrize("scope", ["free", "given-order"])
@pytest.mark.parametrize("seed", range(100))
def test_the_least_extra_cost_is_the_least_cost_of_a_cover(seed: int, scope: str) -> None:
    rng = random.Random(seed)
    instance = random_cover(rng, rng.randint(1, 6))
    question = cover_question(instance)
    found = recompute(
        question.wire,
        build_graph(question.wire),
        Question(
            "cost",
            Caps(CAP),
            budget_bytes=question.budget_bytes,
            scope="free" if scope == "free" else "given-order",
        ),
    )
    assert found.status == "OPTIMAL"
    assert found.plan is not None
    assert found.plan.extra_cost == least_cover_cost(instance)
