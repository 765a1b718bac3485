"""Medians and percentiles of measured times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter_ns
from typing import TypeVar

MAX_RUNS = 7
RUNS_BUDGET_SECONDS = 2.0

Result = TypeVar("Result")


def repeated(run: Callable[[], Result], max_runs: int = MAX_RUNS) -> tuple[list[Result], float]:
    """The results of up to `max_runs` runs, at least one, and the median of their wall times in
    seconds.

    No run is started once RUNS_BUDGET_SECONDS are used up.
    """
    results: list[Result] = []
    nanoseconds: list[int] = []
    while len(results) < max_runs and sum(nanoseconds) < RUNS_BUDGET_SECONDS * 1e9:
        start = perf_counter_ns()
        results.append(run())
        nanoseconds.append(perf_counter_ns() - start)
    return results, median(nanoseconds) / 1e9


def percentile(values: Sequence[float], percent: int) -> float:
    """The smallest value that `percent` per cent of the values do not exceed (nearest rank)."""
    ordered = sorted(values)
    rank = -(-percent * len(ordered) // 100)
    return ordered[max(rank, 1) - 1]
