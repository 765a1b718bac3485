"""The storages of an order as bars over time: which are drawn, and where.

A bar is as wide as the storage's lifetime and as thick as its bytes. Its height above the axis says
nothing: bars are stacked so that none overlap, largest at the bottom. (Offsets in a real arena are
another question.)
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from lowtide.graph import Graph

from lowtide_client.report.lifetimes import Lifetime

MAX_BARS = 1_000
"""So many bars stay responsive in a browser; further storages are counted instead of drawn."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One drawn storage; it covers `bottom_bytes` to `bottom_bytes` plus its size."""

    lifetime: Lifetime
    bottom_bytes: int


@dataclass(frozen=True, slots=True)
class BarChart:
    """The drawn storages, largest first, and what was left out.

    `omitted_peak_bytes`: the most the omitted storages hold together at any one step.
    """

    bars: tuple[Bar, ...]
    omitted_count: int
    omitted_peak_bytes: int


def bar_chart(graph: Graph, spans: Sequence[Lifetime], emphasised: Collection[int]) -> BarChart:
    """Chooses and stacks at most MAX_BARS storages.

    Half the bars are for the emphasised storages first; within either half, and for what is left
    of it, those that hold the most bytes for the most steps win. Storages of 0 bytes have no bar.
    Quadratic in the number of bars at worst.
    """

    def weight(span: Lifetime) -> tuple[int, int]:
        size_bytes = graph.storages[span.storage].size_bytes
        return size_bytes * (span.last_step - span.first_step + 1), -span.storage

    visible = [span for span in spans if graph.storages[span.storage].size_bytes > 0]
    visible.sort(key=weight, reverse=True)
    first = [span for span in visible if span.storage in emphasised][: MAX_BARS // 2]
    reserved = {span.storage for span in first}
    ranked = first + [span for span in visible if span.storage not in reserved]
    omitted = ranked[MAX_BARS:]
    return BarChart(_stacked(graph, ranked[:MAX_BARS]), len(omitted), _peak_bytes(graph, omitted))


def _stacked(graph: Graph, spans: Sequence[Lifetime]) -> tuple[Bar, ...]:
    """First fit, largest first: each bar as low as the earlier ones with a common step allow."""
    placed: list[tuple[int, int, Bar]] = []  # (bottom, top, bar), by bottom
    bars = []
    for span in sorted(spans, key=lambda s: (-graph.storages[s.storage].size_bytes, s.storage)):
        size_bytes = graph.storages[span.storage].size_bytes
        bottom = 0
        for other_bottom, other_top, other in placed:
            if other_bottom >= bottom + size_bytes:
                break
            if (
                other.lifetime.first_step <= span.last_step
                and span.first_step <= other.lifetime.last_step
            ):
                bottom = max(bottom, other_top)
        bar = Bar(span, bottom)
        bars.append(bar)
        insort(placed, (bottom, bottom + size_bytes, bar), key=lambda entry: entry[0])
    return tuple(bars)


def _peak_bytes(graph: Graph, spans: Sequence[Lifetime]) -> int:
    change: dict[int, int] = {}
    for span in spans:
        size_bytes = graph.storages[span.storage].size_bytes
        change[span.first_step] = change.get(span.first_step, 0) + size_bytes
        change[span.last_step + 1] = change.get(span.last_step + 1, 0) - size_bytes
    held = peak = 0
    for step in sorted(change):
        held += change[step]
        peak = max(peak, held)
    return peak
