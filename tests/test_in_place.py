"""In-place modes: all inclusion-maximal matchings, or a refusal, in bounded time."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from lowtide.graph import InPlacePair
from lowtide.in_place import MAX_MODES, Mode, TooManyModesError, modes


def brute_force_modes(pairs: list[InPlacePair]) -> set[frozenset[InPlacePair]]:
    """Every subset that is a matching and to which no pair can be added."""
    matchings = [
        frozenset(chosen)
        for size in range(len(pairs) + 1)
        for chosen in combinations(pairs, size)
        if len({p.output for p in chosen}) == len({p.input for p in chosen}) == size
    ]
    return {m for m in matchings if not any(m < other for other in matchings)}


def keys(mode: Mode) -> list[tuple[int, int]]:
    return [(pair.output, pair.input) for pair in mode]


def test_an_op_without_pairs_has_one_empty_mode() -> None:
    assert modes(()) == ((),)


def test_modes_of_a_path_of_pairs() -> None:
    pairs = [InPlacePair(1, 10), InPlacePair(1, 11), InPlacePair(2, 11)]
    assert modes(pairs) == (
        (InPlacePair(1, 10), InPlacePair(2, 11)),
        (InPlacePair(1, 11),),
    )


def test_modes_are_all_maximal_matchings_sorted_whatever_the_order_of_the_pairs() -> None:
    several = 0
    for seed in range(600):
        rng = random.Random(seed)
        possible = [InPlacePair(y, x) for y in range(4) for x in range(10, 15)]
        pairs = rng.sample(possible, rng.randint(0, 9))
        found = modes(pairs)
        assert {frozenset(mode) for mode in found} == brute_force_modes(pairs)
        assert [keys(mode) for mode in found] == sorted(sorted(keys(mode)) for mode in found)
        assert modes(pairs[::-1] + pairs) == found
        several += len(found) > 1
    assert several > 300


def star(count: int) -> list[InPlacePair]:
    return [InPlacePair(0, x) for x in range(1, count + 1)]


def complete(outputs: int, inputs: int) -> list[InPlacePair]:
    return [InPlacePair(y, 1000 + x) for y in range(outputs) for x in range(inputs)]


def forks(count: int) -> list[InPlacePair]:
    """Separate outputs, each with a choice of two inputs: 2^count modes."""
    return [InPlacePair(y, 10_000 + 2 * y + side) for y in range(count) for side in (0, 1)]


@pytest.mark.parametrize(
    ("pairs", "count"),
    [
        (star(MAX_MODES), MAX_MODES),
        (forks(6), 64),
        (complete(4, 4), 24),
        (complete(2, 8), 56),
        ([InPlacePair(y, 10_000 + y) for y in range(5000)], 1),
    ],
)
def test_up_to_the_limit_all_modes_are_listed(pairs: list[InPlacePair], count: int) -> None:
    assert len(modes(pairs)) == count


@pytest.mark.parametrize(
    "pairs", [star(MAX_MODES + 1), forks(7), forks(2000), complete(5, 5), complete(60, 60)]
)
def test_past_the_limit_the_op_is_refused_at_once(pairs: list[InPlacePair]) -> None:
    with pytest.raises(TooManyModesError):
        modes(pairs)
