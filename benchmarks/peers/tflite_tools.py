"""The memoised programme of tflite-tools (Liberis and Lane, "Neural networks on microcontrollers:
saving memory at inference via operator reordering", 2019), on our memory model without in-place.

`mem(X)` is the least peak of computing the tensors X: un-run the op that made one of them, any that
no other tensor of X was computed from, and recurse on what was needed before it; results are
remembered per X. There is no pruning. X and the set of ops that compute it determine one another,
so here X is named by that set, as the bits of an integer, and the recursion keeps its own stack:
the same states in the same order, faster than sets of tensors.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from lowtide.graph import Graph

from benchmarks.peers.answer import Outcome, PeerAnswer

MAX_STATES = 5_000_000
"""About one gigabyte of remembered results."""
_STATES_BETWEEN_CLOCKS = 1024


def tflite_tools_order(graph: Graph, time_limit_seconds: float) -> PeerAnswer:
    """The optimal order of `graph` without in-place; no order at all when a limit strikes."""
    start = time.perf_counter()
    programme = _Programme(graph)
    outcome = programme.run(start + time_limit_seconds)
    order = programme.order() if outcome == "optimal" else None
    return PeerAnswer(outcome, order, time.perf_counter() - start)


class _Programme:
    """States are sets of ops closed under predecessors, as integers with bit v for op v."""

    def __init__(self, graph: Graph) -> None:
        self._op_count = len(graph.ops)
        self._everything = (1 << self._op_count) - 1
        self._predecessors = [op.predecessors for op in graph.ops]
        self._successors = [0] * self._op_count
        for v, op in enumerate(graph.ops):
            for predecessor in op.predecessors:
                self._successors[predecessor] |= 1 << v
        storages = graph.storages
        users = [sum(1 << v for v in storage.users) for storage in storages]
        is_held = [storage.is_output or storage.is_pinned for storage in storages]
        self._own_bytes = [
            op.workspace_bytes + sum(storages[s].size_bytes for s in op.creates) for op in graph.ops
        ]
        # Un-running v takes away what it created and brings back what it was the last to use. A
        # storage that is held is there anyway; every other one is live exactly when a user is still
        # to run.
        self._held_created = [
            sum(storages[s].size_bytes for s in op.creates if is_held[s]) for op in graph.ops
        ]
        self._created = [
            [(storages[s].size_bytes, users[s]) for s in op.creates if not is_held[s]]
            for op in graph.ops
        ]
        self._touched = [
            [(storages[s].size_bytes, users[s]) for s in op.touches if not is_held[s]]
            for op in graph.ops
        ]
        self._final_live = sum(
            storage.size_bytes for storage, held in zip(storages, is_held, strict=True) if held
        )
        self._peaks: dict[int, int] = {0: 0}

    def run(self, deadline: float) -> Outcome:
        """Fills the table for the whole graph, unless a limit strikes."""
        if not self._op_count:
            return "optimal"
        peaks = self._peaks
        last_ops = self._last_ops_of_everything()
        stack = [_Frame(self._everything, self._final_live, last_ops)]
        count = 0
        while stack:
            frame = stack[-1]
            v = next(frame.candidates, None)
            if v is None:
                stack.pop()
                assert frame.best is not None, "a set of ops without a last one"
                peaks[frame.ops] = frame.best
                if stack:
                    stack[-1].offer(frame.best)
                continue
            before = frame.ops ^ (1 << v)
            live_before = self._live_before(frame.ops, frame.live_bytes, v)
            frame.step_bytes = live_before + self._own_bytes[v]
            if before in peaks:
                frame.offer(peaks[before])
                continue
            count += 1
            if count > MAX_STATES:
                return "state limit"
            if count % _STATES_BETWEEN_CLOCKS == 0 and time.perf_counter() > deadline:
                return "time limit"
            last_before = self._last_ops_before(before, frame.last_ops, v)
            stack.append(_Frame(before, live_before, last_before))
        return "optimal"

    def order(self) -> tuple[int, ...]:
        """An optimal order, read backwards from the filled table."""
        reversed_order = []
        ops = self._everything
        live_bytes = self._final_live
        last_ops = self._last_ops_of_everything() if ops else 0
        while ops:
            peak, v, live_before = min(
                self._step_back(ops, live_bytes, v) for v in _members(last_ops)
            )
            assert peak == self._peaks[ops]
            reversed_order.append(v)
            ops ^= 1 << v
            last_ops = self._last_ops_before(ops, last_ops, v)
            live_bytes = live_before
        return tuple(reversed(reversed_order))

    def _step_back(self, ops: int, live_bytes: int, v: int) -> tuple[int, int, int]:
        live_before = self._live_before(ops, live_bytes, v)
        peak = max(self._peaks[ops ^ (1 << v)], live_before + self._own_bytes[v])
        return peak, v, live_before

    def _live_before(self, ops: int, live_bytes: int, v: int) -> int:
        """Bytes live before v ran, given what is live after it, at `ops`."""
        live = live_bytes - self._held_created[v]
        to_run = ~ops
        for size, users in self._created[v]:
            if users & to_run:
                live -= size
        for size, users in self._touched[v]:
            if not users & to_run:
                live += size
        return live

    def _last_ops_of_everything(self) -> int:
        return sum(1 << v for v in range(self._op_count) if not self._successors[v])

    def _last_ops_before(self, before: int, last_ops: int, v: int) -> int:
        """The ops of `before` that nothing in it depends on, given those of `before` with v."""
        found = last_ops ^ (1 << v)
        for predecessor in self._predecessors[v]:
            if not self._successors[predecessor] & before:
                found |= 1 << predecessor
        return found


class _Frame:
    """One call of `mem`: the ops that compute its tensors, those still to be un-run, and the best
    found so far.

    `step_bytes` is the cost of the op that is being un-run.
    """

    __slots__ = ("best", "candidates", "last_ops", "live_bytes", "ops", "step_bytes")

    def __init__(self, ops: int, live_bytes: int, last_ops: int) -> None:
        self.ops = ops
        self.live_bytes = live_bytes
        self.last_ops = last_ops
        self.candidates = _members(last_ops)
        self.step_bytes = 0
        self.best: int | None = None

    def offer(self, peak_before: int) -> None:
        """The least peak of what comes before the op that is being un-run."""
        peak = max(peak_before, self.step_bytes)
        if self.best is None or peak < self.best:
            self.best = peak


def _members(ops: int) -> Iterator[int]:
    while ops:
        lowest = ops & -ops
        yield lowest.bit_length() - 1
        ops ^= lowest
