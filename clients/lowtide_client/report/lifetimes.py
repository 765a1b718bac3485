"""When each storage is live under an order (docs/memory-model.md, "Live")."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lowtide.graph import Graph


@dataclass(frozen=True, slots=True)
class Lifetime:
    """The storage with index `storage` is held from `first_step` to `last_step`, both included."""

    storage: int
    first_step: int
    last_step: int


def lifetimes(graph: Graph, order: Sequence[int]) -> tuple[Lifetime, ...]:
    """The lifetimes of all storages that are ever live, by storage index. Linear in the graph."""
    if not order:
        return ()
    step_of = [0] * len(order)
    for step, op in enumerate(order):
        step_of[op] = step
    end = len(order) - 1
    found = []
    for index, storage in enumerate(graph.storages):
        kept = storage.is_output or storage.is_pinned
        if storage.creator is None and not storage.users and not kept:
            continue
        first_step = 0 if storage.creator is None else step_of[storage.creator]
        last_use = max((step_of[user] for user in storage.users), default=first_step)
        found.append(Lifetime(index, first_step, end if kept else last_use))
    return tuple(found)


def live_by_step(
    graph: Graph, order: Sequence[int], spans: Sequence[Lifetime]
) -> Iterator[list[tuple[int, int]]]:
    """Yields per step the live storages as `(size in bytes, -storage)`, ascending.

    So the last are the largest, of equal ones those of lower index. The list is the same object
    each time, changed in place: copy what is to be kept.
    """
    starts: list[list[tuple[int, int]]] = [[] for _ in order]
    ends: list[list[tuple[int, int]]] = [[] for _ in order]
    for span in spans:
        entry = (graph.storages[span.storage].size_bytes, -span.storage)
        starts[span.first_step].append(entry)
        ends[span.last_step].append(entry)
    live: list[tuple[int, int]] = []
    for starting, ending in zip(starts, ends, strict=True):
        for entry in starting:
            insort(live, entry)
        yield live
        for entry in ending:
            del live[bisect_left(live, entry)]
