"""In-place modes: the ways an op's outputs can take over the memory of its dying inputs at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lowtide.graph import InPlacePair

MAX_MODES = 64
"""An op with more in-place modes is refused: each mode costs the bounds one minimum cut."""

Mode = tuple[InPlacePair, ...]


class TooManyModesError(ValueError):
    """An op has more than MAX_MODES in-place modes."""


def modes(pairs: Sequence[InPlacePair]) -> tuple[Mode, ...]:
    """The inclusion-maximal matchings of an op's in-place pairs (docs/memory-model.md).

    A matching uses every storage at most once. An op without pairs has one mode, the empty one.

    Args:
        pairs: the pairs that can ever apply, in any order; repeats count once.

    Returns:
        The modes in ascending order, each a sorted tuple of pairs.

    Raises:
        TooManyModesError: more than MAX_MODES of them. Decided in polynomial time.
    """
    if len(pairs) <= 1:
        return (tuple(pairs),)
    distinct = sorted(set(pairs), key=_sort_key)
    outputs = Counter(pair.output for pair in distinct)
    inputs = Counter(pair.input for pair in distinct)
    # A storage with k pairs alone makes for k modes.
    if max(max(outputs.values()), max(inputs.values())) > MAX_MODES:
        raise TooManyModesError
    # A pair that competes with no other is in every mode.
    free = [p for p in distinct if outputs[p.output] == 1 and inputs[p.input] == 1]
    contested = [p for p in distinct if outputs[p.output] > 1 or inputs[p.input] > 1]
    found = (tuple(sorted([*free, *mode], key=_sort_key)) for mode in _maximal_matchings(contested))
    return tuple(sorted(found, key=lambda mode: [_sort_key(pair) for pair in mode]))


def _sort_key(pair: InPlacePair) -> tuple[int, int]:
    return pair.output, pair.input


def _maximal_matchings(pairs: Sequence[InPlacePair]) -> set[frozenset[InPlacePair]]:
    """All maximal matchings, grown one pair at a time.

    Among the first i pairs, a maximal matching with pair i is one of the first i - 1 pairs, less
    what competes with pair i, plus pair i. Each maximal matching of fewer pairs extends to one of
    all pairs, different ones to different ones: growing past MAX_MODES settles the matter.
    """
    family: set[frozenset[InPlacePair]] = {frozenset()}
    for count, pair in enumerate(pairs, start=1):
        grown: set[frozenset[InPlacePair]] = set()
        for matching in family:
            rivals = {p for p in matching if p.output == pair.output or p.input == pair.input}
            if rivals:
                grown.add(matching)
            swapped = (matching - rivals) | {pair}
            if not rivals or _is_maximal(swapped, pairs[:count]):
                grown.add(swapped)
        if len(grown) > MAX_MODES:
            raise TooManyModesError
        family = grown
    return family


def _is_maximal(matching: frozenset[InPlacePair], pairs: Sequence[InPlacePair]) -> bool:
    outputs = {pair.output for pair in matching}
    inputs = {pair.input for pair in matching}
    return all(pair.output in outputs or pair.input in inputs for pair in pairs)
