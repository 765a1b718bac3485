"""In-place modes of an op: the maximal matchings of its pairs (docs/memory-model.md)."""

from __future__ import annotations

from collections.abc import Iterable

Pair = tuple[int, int]
"""(created storage, storage it takes over)."""


def maximal_matchings(pairs: Iterable[Pair]) -> tuple[tuple[Pair, ...], ...]:
    """Every inclusion-maximal matching of the pairs, each sorted; without pairs the empty one.

    Any maximal matching holds a given pair or one of its rivals (pairs that share a storage with
    it), so branching over these finds all of them, and every branch ends in one.
    """
    everything = frozenset(pairs)
    rivals = {p: frozenset(q for q in everything if _compete(p, q)) for p in everything}
    found: dict[frozenset[Pair], None] = {}
    visited: set[tuple[frozenset[Pair], frozenset[Pair]]] = set()
    waiting: list[tuple[frozenset[Pair], frozenset[Pair]]] = [(frozenset(), everything)]
    while waiting:
        chosen, candidates = waiting.pop()
        free = frozenset(p for p in candidates if not rivals[p] & candidates)
        chosen, candidates = chosen | free, candidates - free
        if (chosen, candidates) in visited:
            continue
        visited.add((chosen, candidates))
        if not candidates:
            found[chosen] = None
            continue
        pivot = min(candidates, key=lambda p: (len(rivals[p] & candidates), p))
        for pair in (pivot, *(rivals[pivot] & candidates)):
            waiting.append((chosen | {pair}, candidates - rivals[pair] - {pair}))
    return tuple(sorted(tuple(sorted(matching)) for matching in found))


def _compete(one: Pair, other: Pair) -> bool:
    return one != other and (one[0] == other[0] or one[1] == other[1])
