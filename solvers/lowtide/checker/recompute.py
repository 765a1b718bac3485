"""Search witnesses without their states: the checker searches for itself.

Depth first over downsets. What is left out, and why nothing is missed, is proved in
docs/certificates.md ("Recomputation"); nothing here comes from the certificate except the
threshold.
"""

from __future__ import annotations

from dataclasses import dataclass

from lowtide.checker.growth import TrapGrowth
from lowtide.checker.live_cut import LiveCut
from lowtide.checker.model import Model
from lowtide.checker.refusal import Deadline, Refusal
from lowtide.checker.states import State, StateSpace

_MAX_SEEN_BYTES = 256 * 2**20


def refute_by_search(model: Model, threshold_bytes: int, deadline: Deadline) -> None:
    """Shows that every order takes more than `threshold_bytes`.

    Raises:
        Refusal: `bound-refuted` if there is an order within the threshold, `recomputation-limit` if
            neither is shown in time or within the memory set aside (docs/certificates.md).
    """
    _Search(model, threshold_bytes, deadline.named("recomputation-limit")).run()


@dataclass(slots=True)
class _Frame:
    """A state on the path, the ops that led to it from the last one, the ops still to be tried."""

    state: State
    ran: list[int]
    pending: list[int]


class _Search:
    """Every state in `_seen` is on the path or cannot be completed within the threshold."""

    def __init__(self, model: Model, threshold_bytes: int, deadline: Deadline) -> None:
        self._space = StateSpace(model)
        self._threshold = threshold_bytes
        self._deadline = deadline
        self._traps = TrapGrowth(self._space, threshold_bytes, deadline)
        self._max_seen = self._space.entries_within(_MAX_SEEN_BYTES)
        self._seen: set[int] = set()
        self._path: list[_Frame] = []

    def run(self) -> None:
        self._enter(*self._settled(self._space.empty(), []))
        while self._path:
            self._deadline.check()
            frame = self._path[-1]
            if not frame.pending:
                self._path.pop()
                continue
            op = frame.pending.pop()
            child, ran = self._settled(self._space.after(frame.state, op), [op])
            while child.done not in self._seen:
                target = self._jump_back(child, ran)
                if target is None:
                    self._enter(child, ran)
                    break
                child, ran = target

    def _enter(self, state: State, ran: list[int]) -> None:
        """Puts a new state on the path, or notes that it is dead."""
        space = self._space
        if len(self._seen) >= self._max_seen:
            text = f"not decided within {self._max_seen} states"
            raise Refusal("recomputation-limit", text)
        self._seen.add(state.done)
        if self._traps.stalls(state):
            return
        affordable = [v for v in state.ready if space.step_cost(state, v) <= self._threshold]
        # The last one is tried first: least growth, so that a falling path is met early.
        affordable.sort(key=lambda v: (space.growth(state.done, v), v), reverse=True)
        self._path.append(_Frame(state, ran, affordable))

    def _settled(self, state: State, ran: list[int]) -> tuple[State, list[int]]:
        """Runs every op at once that fits and does not add live bytes: each is a safe commit.

        Raises Refusal (`bound-refuted`) if that completes an order.
        """
        space = self._space
        waiting = list(state.ready)
        while waiting:
            op = waiting.pop()
            if space.growth(state.done, op) <= 0 and space.step_cost(state, op) <= self._threshold:
                state = space.after(state, op)
                ran.append(op)
                waiting = list(state.ready)
        if state.done == space.everything:
            text = f"some order runs within {self._threshold} bytes"
            raise Refusal("bound-refuted", text)
        return state, ran

    def _jump_back(self, state: State, ran: list[int]) -> tuple[State, list[int]] | None:
        """Looks for a safe commit between an ancestor and `state`; gives up what it makes needless.

        Returns the state to go on with, or None if that is `state` itself. The way to a commit is
        the way to `state` without the ops outside the commit: no step of it is dearer.
        """
        depth = next(
            (d for d, f in enumerate(self._path) if f.state.live_bytes >= state.live_bytes),
            len(self._path),
        )
        if not any(frame.pending for frame in self._path[depth:]):
            return None
        ancestor = self._path[depth].state
        cut = LiveCut(self._space, ancestor.done, ancestor.live_bytes, state.done)
        target = cut.largest_minimiser(self._deadline)
        for frame in self._path[depth:]:
            if frame.state.done == target:
                return None
            frame.pending = []
        if target == state.done:
            return None
        way = [op for frame in self._path[depth + 1 :] for op in frame.ran] + ran
        way = [op for op in way if target >> op & 1]
        # What was given up is refuted only once the target is: it must not count as seen.
        for frame in self._path[depth + 1 :]:
            self._seen.discard(frame.state.done)
        del self._path[depth + 1 :]
        for op in way:
            ancestor = self._space.after(ancestor, op)
        return self._settled(ancestor, way)
