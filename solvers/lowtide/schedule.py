"""The road: graph -> good orders -> bounds -> search for what they leave open -> certificate.

Same graph, same limits, same answer, unless the deadline strikes or the caller cancels: effort is
counted in states.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from lowtide._kernel import CancelToken, GreedyRule, Problem, SearchStatus, Stop
from lowtide.answers import Limit, Status
from lowtide.bounds import Proof, SearchProof, TrapProof, WorkingSetProof
from lowtide.certificate import Certificate
from lowtide.certify import certify
from lowtide.graph import Graph
from lowtide.graph_identity import graph_canonical_form
from lowtide.kernel_problem import kernel_problem

FIRST_SEARCH_STATES = 4096
SEARCH_GROWTH = 4
"""Each round of searches may visit this many times the states of the round before."""
FIRST_BEAM_WIDTH = 16
STATE_TABLE_BYTES = 256 * 1024 * 1024
"""What a search may hold in its table of states, whatever the limit on their number."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much to spend: seconds from the call, and states of any one search."""

    time_seconds: float = 60.0
    max_states: int = 2_000_000

    def __post_init__(self) -> None:
        if not (self.time_seconds >= 0 and math.isfinite(self.time_seconds)):
            raise ValueError(f"time_seconds must be finite and not negative: {self.time_seconds}")
        if self.max_states < 1:
            raise ValueError(f"max_states must be positive: {self.max_states}")


@dataclass(frozen=True, slots=True)
class Progress:
    """The best order and bound so far, in bytes; states searched; seconds since the call."""

    peak_bytes: int
    lower_bound_bytes: int
    states: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Schedule:
    """An order with its proof.

    Attributes:
        status: OPTIMAL when the peak equals the lower bound, else FEASIBLE.
        order: op indices.
        peak_bytes, lower_bound_bytes: of the order; of every order.
        given_order_peak_bytes: of the order the graph came in.
        certificate: what a checker needs.
        fallback: where the certificate rests on a search, one for the best bound without it.
        solve_seconds: the whole call. kernel_seconds: the part spent looking for orders and bounds.
        limit: what ended the work early, or None.
    """

    status: Status
    order: tuple[int, ...]
    peak_bytes: int
    lower_bound_bytes: int
    given_order_peak_bytes: int
    certificate: Certificate
    fallback: Certificate | None
    solve_seconds: float
    kernel_seconds: float
    limit: Limit | None


def schedule(
    graph: Graph,
    limits: Limits | None = None,
    *,
    on_progress: Callable[[Progress], None] | None = None,
    cancel: CancelToken | None = None,
) -> Schedule:
    """The order with the lowest peak, or the best found within the limits with the best proven
    bound.

    Args:
        graph: what to schedule.
        limits: time and states; 60 s and two million states when left out.
        on_progress: called in this thread between stages of the work.
        cancel: set it from any thread to stop within 50 ms; the best so far is returned.

    Returns:
        The schedule. OPTIMAL only with a proof in its certificate.
    """
    limits = limits or Limits()
    started = time.perf_counter()
    problem = kernel_problem(graph)
    work = _Work(problem, limits, started, on_progress, cancel)
    kernel_started = time.perf_counter()
    work.run()
    kernel_seconds = time.perf_counter() - kernel_started
    form = graph_canonical_form(graph)
    order = tuple(work.order)
    certificate = certify(graph, form, order, work.peak_bytes, work.lower_bound_bytes, work.proof)
    fallback = None
    if isinstance(work.proof, SearchProof):
        fallback = certify(graph, form, order, work.peak_bytes, *work.bound_without_search)
    return Schedule(
        status=certificate.status,
        order=order,
        peak_bytes=work.peak_bytes,
        lower_bound_bytes=work.lower_bound_bytes,
        given_order_peak_bytes=problem.peak(range(len(graph.ops))),
        certificate=certificate,
        fallback=fallback,
        solve_seconds=time.perf_counter() - started,
        kernel_seconds=kernel_seconds,
        limit=work.limit,
    )


class _LimitStruckError(Exception):
    """Ends the work with the best so far."""


class _Work:
    """The best order and bound so far, improved stage by stage until they meet."""

    def __init__(
        self,
        problem: Problem,
        limits: Limits,
        started: float,
        on_progress: Callable[[Progress], None] | None,
        cancel: CancelToken | None,
    ) -> None:
        self._problem = problem
        self._limits = limits
        self._started = started
        self._on_progress = on_progress
        self._cancel = cancel
        self._states = 0
        self.limit: Limit | None = None
        self.order: list[int] = list(range(problem.op_count))
        self.peak_bytes = problem.peak(self.order)
        sizes = [problem.working_set(op) for op in range(problem.op_count)]
        self.lower_bound_bytes = max(sizes, default=0)
        self.proof: Proof = WorkingSetProof(op=sizes.index(max(sizes)) if sizes else 0)
        self.bound_without_search: tuple[int, Proof] = (self.lower_bound_bytes, self.proof)

    def run(self) -> None:
        try:
            self._find_orders()
            self._find_traps()
            self._search()
        except _LimitStruckError:
            pass

    @property
    def _is_open(self) -> bool:
        return self.lower_bound_bytes < self.peak_bytes

    def _seconds_left(self) -> float:
        return self._limits.time_seconds - (time.perf_counter() - self._started)

    def _report(self) -> None:
        if self._on_progress is not None:
            seconds = time.perf_counter() - self._started
            self._on_progress(
                Progress(self.peak_bytes, self.lower_bound_bytes, self._states, seconds)
            )

    def _take(self, stop: Stop) -> None:
        """Goes on after a kernel call that was not interrupted."""
        if stop is Stop.NONE:
            self._report()
            return
        self.limit = "cancelled" if stop is Stop.CANCELLED else "time"
        raise _LimitStruckError

    def _offer(self, order: list[int]) -> None:
        peak_bytes = self._problem.peak(order)
        if peak_bytes < self.peak_bytes:
            self.order, self.peak_bytes = order, peak_bytes

    def _find_orders(self) -> None:
        for rule in (
            GreedyRule.GIVEN,
            GreedyRule.LEAST_STEP,
            GreedyRule.LEAST_GROWTH,
            GreedyRule.NEWEST,
        ):
            if not self._is_open:
                return
            stop, order = self._problem.greedy_order(
                rule, self.lower_bound_bytes, self._cancel, self._seconds_left()
            )
            self._take(stop)
            self._offer(order)
        if self._is_open:
            stop, order = self._problem.greedy_order_from_the_end(
                self._cancel, self._seconds_left()
            )
            self._take(stop)
            self._offer(order)

    def _find_traps(self) -> None:
        for forward in (True, False):
            if not self._is_open:
                return
            stop, trap = self._problem.trap_at(
                forward, self.peak_bytes, self._cancel, self._seconds_left()
            )
            self._take(stop)
            if trap is not None:
                self._adopt_trap(forward, trap, self.peak_bytes)
        for forward in (True, False):
            if not self._is_open:
                return
            stop, bound, trap = self._problem.best_trap(
                forward, self.lower_bound_bytes, self.peak_bytes, self._cancel, self._seconds_left()
            )
            self._take(stop)
            if bound > self.lower_bound_bytes:
                self._adopt_trap(forward, trap, bound)

    def _adopt_trap(self, forward: bool, trap: list[int], bound: int) -> None:
        """A bound counts only with the flows that prove it, so they are part of the work."""
        stop, exits = self._problem.exit_flows(
            trap, forward, bound, self._cancel, self._seconds_left()
        )
        self._take(stop)
        self.lower_bound_bytes = bound
        self.proof = TrapProof(forward, trap, exits)
        self.bound_without_search = (bound, self.proof)
        self._report()

    def _search(self) -> None:
        """Rounds of searches from both ends of what is open, and in the middle, each with more
        states than the last.
        """
        max_states = min(FIRST_SEARCH_STATES, self._limits.max_states)
        beam_width = FIRST_BEAM_WIDTH
        while self._is_open:
            while self._is_open and self._search_at(self.lower_bound_bytes, max_states):
                pass
            while self._is_open and self._search_at(self.peak_bytes - 1, max_states):
                pass
            if self._is_open:
                stop, order = self._problem.beam_order(
                    beam_width, self.peak_bytes, self._cancel, self._seconds_left()
                )
                self._take(stop)
                if order:
                    self._offer(order)
            while self._is_open and self._search_at(
                (self.lower_bound_bytes + self.peak_bytes) // 2, max_states
            ):
                pass
            if self._is_open and max_states >= self._limits.max_states:
                self.limit = "states"
                return
            max_states = min(max_states * SEARCH_GROWTH, self._limits.max_states)
            beam_width *= 2

    def _search_at(self, threshold: int, max_states: int) -> bool:
        """Whether a search at the threshold was decided; takes what it found."""
        stop, result = self._problem.search(
            threshold, max_states, STATE_TABLE_BYTES, self._cancel, self._seconds_left()
        )
        self._states += result.states
        self._take(stop)
        if result.status is SearchStatus.FOUND:
            self._offer(result.order)
        elif result.status is SearchStatus.EXHAUSTED:
            self.lower_bound_bytes = min(result.lower_bound, self.peak_bytes)
            self.proof = SearchProof(result.family)
        return result.status is not SearchStatus.STATE_LIMIT
