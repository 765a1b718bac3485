"""A schedule whose certificate the independent checker has accepted before anyone sees it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from lowtide._kernel import CancelToken
from lowtide.checker import check
from lowtide.graph import Graph
from lowtide.schedule import Limits, Progress, Schedule, schedule
from lowtide.wire import WireGraph

LEAST_CHECK_SECONDS = 1.0
CHECK_SECONDS_PER_OP = 1e-4
"""Checking an order and a trap of a large graph takes this long at most, whatever is left of the
caller's time."""

_UNDECIDED = frozenset(
    {"time-limit", "recomputation-limit", "family-too-large", "search-too-large"}
)


class RefusedCertificateError(RuntimeError):
    """The checker refused what the solver claims: a fault in one of them. Nothing is answered."""


def checked_schedule(
    wire: WireGraph,
    graph: Graph,
    limits: Limits | None = None,
    *,
    on_progress: Callable[[Progress], None] | None = None,
    cancel: CancelToken | None = None,
) -> Schedule:
    """As `schedule`, and every claim checked: OPTIMAL only with an accepted certificate.

    A family of states too large to check within the time that is left is not claimed: the answer
    falls back on the best bound proved without a search.

    Args:
        wire, graph: the same graph in both forms.
        limits, on_progress, cancel: as for `schedule`.

    Raises:
        RefusedCertificateError: the certificate does not hold.
    """
    limits = limits or Limits()
    started = time.perf_counter()
    answer = schedule(graph, limits, on_progress=on_progress, cancel=cancel)
    answer = checked(wire, answer, limits.time_seconds - (time.perf_counter() - started))
    return replace(answer, solve_seconds=time.perf_counter() - started)


def checked(wire: WireGraph, answer: Schedule, seconds_left: float) -> Schedule:
    """The answer if its certificate is accepted, or the most of it that is.

    Raises:
        RefusedCertificateError: the certificate does not hold.
    """
    seconds = max(seconds_left, LEAST_CHECK_SECONDS + CHECK_SECONDS_PER_OP * len(answer.order))
    verdict = check(wire, answer.certificate, time_limit_seconds=seconds)
    if not verdict.accepted and verdict.reason in _UNDECIDED and answer.fallback is not None:
        answer = replace(
            answer,
            status=answer.fallback.status,
            lower_bound_bytes=answer.fallback.lower_bound_bytes,
            certificate=answer.fallback,
            limit=answer.limit or "time",
        )
        verdict = check(wire, answer.certificate, time_limit_seconds=seconds)
    if not verdict.accepted:
        raise RefusedCertificateError(f"{verdict.reason}: {verdict.detail}")
    return answer
