"""Knapsack covers as recomputation questions: a textbook programme knows the answer (design,
section 5).
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from lowtide.wire import FORMAT, WireGraph, parse_graph

CAP = 2


@dataclass(frozen=True, slots=True)
class CoverInstance:
    """Items (size, cost), of which some with `needed` size together are wanted at the least cost.

    `needed` is at least 1 and at most the size of all items.
    """

    items: tuple[tuple[int, int], ...]
    needed: int


@dataclass(frozen=True, slots=True)
class CoverQuestion:
    """A graph whose least extra cost within the budget, under CAP, is the least cost of a cover."""

    wire: WireGraph
    budget_bytes: int


def random_cover(rng: random.Random, item_count: int) -> CoverInstance:
    """Sizes from 1 to 12, costs from 0 to 20, any need that can be met."""
    items = tuple((rng.randint(1, 12), rng.randint(0, 20)) for _ in range(item_count))
    return CoverInstance(items, rng.randint(1, sum(size for size, _ in items)))


def least_cover_cost(instance: CoverInstance) -> int:
    """The answer, by the textbook programme over sizes. O(items * needed)."""
    infinite = sum(cost for _, cost in instance.items) + 1
    least = [0] + [infinite] * instance.needed
    for size, cost in instance.items:
        for covered in range(instance.needed, 0, -1):
            least[covered] = min(least[covered], least[max(covered - size, 0)] + cost)
    return least[instance.needed]


def cover_question(instance: CoverInstance) -> CoverQuestion:
    """The series-parallel reduction with nested skips.

    `make_i` reads token i - 1 and makes item i; `pass_i` reads it and makes token i; `bulk` needs
    much workspace; `use_i`, from the last item to the first, reads item i and the running token.
    Items take `scale` bytes per size and tokens one byte each; there are fewer than `scale` tokens.

    While `bulk` runs, the items that are not there have to be made again, at their cost; each can
    be, for all tokens fit. The budget leaves room for the tokens and for items of total size
    sum - needed, less than one size more: so the missing ones cover `needed`. Missing items of a
    cover can be made again right before their use, for then the workspace, as large as `needed`
    and the largest item, is free. So the least extra cost is that of the cheapest cover.
    """
    count = len(instance.items)
    tokens = 2 * count + 2
    scale = tokens + 1
    total = sum(size for size, _ in instance.items)
    largest = max(size for size, _ in instance.items)
    workspace = (instance.needed + largest) * scale + tokens
    tensors = [{"name": f"token{i}", "bytes": 1} for i in range(count + 1)]
    tensors += [{"name": f"item{i}", "bytes": size * scale} for i, (size, _) in _numbered(instance)]
    tensors += [{"name": f"used{i}", "bytes": 1} for i in range(1, count + 2)]
    ops: list[dict[str, object]] = []
    for i, (_, cost) in _numbered(instance):
        ops.append(_op(f"make{i}", [f"token{i - 1}"], f"item{i}", cost))
        ops.append(_op(f"pass{i}", [f"item{i}"], f"token{i}"))
    ops.append(_op("bulk", [f"token{count}"], f"used{count + 1}") | {"workspace_bytes": workspace})
    for i in range(count, 0, -1):
        ops.append(_op(f"use{i}", [f"item{i}", f"used{i + 1}"], f"used{i}"))
    wire = parse_graph(
        {
            "format": FORMAT,
            "name": f"knapsack-cover-{count}",
            "tensors": tensors,
            "ops": ops,
            "inputs": ["token0"],
            "outputs": ["used1"],
        }
    )
    return CoverQuestion(wire, workspace + (total - instance.needed) * scale + tokens)


def _numbered(instance: CoverInstance) -> list[tuple[int, tuple[int, int]]]:
    return list(enumerate(instance.items, start=1))


def _op(name: str, inputs: list[str], output: str, cost: int = 0) -> dict[str, object]:
    return {"name": name, "inputs": inputs, "outputs": [output], "cost": cost}
