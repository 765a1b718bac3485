"""The memory of an order, step by step, as points of a plot: what each point shows and says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lowtide.graph import Graph
from lowtide.memory import Profile

from lowtide_client.report.lifetimes import Lifetime, live_by_step

MAX_STEPS_IN_FULL = 3_000
"""An order with more steps has one point per stretch of equal length: its highest step."""

MAX_STRETCHES = 1_000
"""So many stretches at most: each may name tensors of its own, and the page has to stay small."""

LISTED_TENSORS = 5
"""So many of the live tensors, the largest, are named when the pointer rests on a step."""


@dataclass(frozen=True, slots=True)
class Point:
    """One step of an order; it stands for `stretch_start` to `stretch_end`, none of them higher.

    Attributes:
        step, op: position in the order and index of the op that runs there.
        live_before_bytes, step_bytes, live_after_bytes: the profile at `step`.
        live_count: storages that are live while the op runs.
        largest: the largest of them, descending, at most LISTED_TENSORS storage indices.
    """

    step: int
    stretch_start: int
    stretch_end: int
    op: int
    live_before_bytes: int
    step_bytes: int
    live_after_bytes: int
    live_count: int
    largest: tuple[int, ...]


def stretch_steps(step_count: int) -> int:
    """How many steps one point of a plot stands for, at most."""
    return 1 if step_count <= MAX_STEPS_IN_FULL else -(-step_count // MAX_STRETCHES)


def points(graph: Graph, profile: Profile, spans: Sequence[Lifetime]) -> tuple[Point, ...]:
    """The points of an order's plot, by step, the binding step always among them."""
    order = profile.order
    stretch = stretch_steps(len(order))
    live_at = live_by_step(graph, order, spans)
    found = []
    for start in range(0, len(order), stretch):
        steps = range(start, min(start + stretch, len(order)))
        highest = max(steps, key=profile.step.__getitem__)
        for step in steps:
            live = next(live_at)
            if step == highest:
                count = len(live)
                largest = tuple(-negated for _, negated in reversed(live[-LISTED_TENSORS:]))
        found.append(
            Point(
                step=highest,
                stretch_start=start,
                stretch_end=steps[-1],
                op=order[highest],
                live_before_bytes=profile.live_before[highest],
                step_bytes=profile.step[highest],
                live_after_bytes=profile.live_after[highest],
                live_count=count,
                largest=largest,
            )
        )
    return tuple(found)
