"""Search witnesses with their states: a closed family (docs/certificates.md, "search").

An order within the threshold would lead from state to state of the family for ever, each larger
than the last; as there are finitely many, there is no such order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lowtide.certificate import FamilyState, SearchWitness, family_digest
from lowtide.checker.dead_end import ExitCosts
from lowtide.checker.live_cut import LiveCut
from lowtide.checker.model import Model
from lowtide.checker.positions import Positions
from lowtide.checker.refusal import Deadline, Refusal, shown
from lowtide.checker.states import State, StateSpace

_MAX_FAMILY_BYTES = 128 * 2**20
_BYTES_PER_READY_OP = 8


def check_family(
    model: Model,
    positions: Positions,
    witness: SearchWitness,
    threshold_bytes: int,
    deadline: Deadline,
) -> None:
    """Accepts a closed family that shows every order to take more than `threshold_bytes`.

    Raises Refusal otherwise, or for a family that would not fit in 128 MiB.
    """
    listed = witness.states
    if listed is None or not listed:
        raise Refusal("family-empty", "the family has no states")
    if witness.count != len(listed):
        text = f"the family is said to have {shown(witness.count)} states and has {len(listed)}"
        raise Refusal("family-count", text)
    family = _Family(model, positions, threshold_bytes, deadline)
    states = family.states_of(listed)
    # Only now is every index known to be small enough to be written out.
    if witness.digest != family_digest(listed):
        raise Refusal("family-digest", f"the digest of the family is not {shown(witness.digest)}")
    family.check_closed(listed, states)


class _Family:
    def __init__(
        self, model: Model, positions: Positions, threshold_bytes: int, deadline: Deadline
    ) -> None:
        self._space = StateSpace(model)
        self._positions = positions
        self._threshold = threshold_bytes
        self._deadline = deadline
        self._exit_costs = ExitCosts(self._space, threshold_bytes, deadline)
        self._members: set[int] = set()

    def states_of(self, listed: Sequence[FamilyState]) -> list[State]:
        """The downsets that the listed states stand for: the first empty, none complete."""
        states: list[State] = []
        taken_bytes = 0
        for index, entry in enumerate(listed):
            self._deadline.check()
            state = self._run_from_parent(index, entry, states)
            if state.done == self._space.everything:
                raise Refusal("family-complete-state", f"state {index} has run every op")
            self._positions.ops(entry.then_run, "family-unknown-op")
            taken_bytes += state.done.bit_length() // 8 + _BYTES_PER_READY_OP * len(state.ready)
            if taken_bytes > _MAX_FAMILY_BYTES:
                text = f"the family does not fit in {_MAX_FAMILY_BYTES} bytes"
                raise Refusal("family-too-large", text)
            states.append(state)
        self._members = {state.done for state in states}
        return states

    def _run_from_parent(self, index: int, entry: FamilyState, states: Sequence[State]) -> State:
        if index == 0:
            if entry.parent is not None or entry.run:
                raise Refusal("family-first-state", "the first state is not the empty one")
            return self._space.empty()
        if entry.parent is None or not 0 <= entry.parent < index:
            parent = "none" if entry.parent is None else shown(entry.parent)
            text = f"state {index}: its parent ({parent}) is not an earlier state"
            raise Refusal("family-bad-parent", text)
        return self._run(states[entry.parent], entry.run, index)

    def _run(self, state: State, positions: Iterable[int], index: int) -> State:
        for position in positions:
            self._deadline.check()
            op = self._positions.op(position, "family-unknown-op")
            if not self._space.is_ready(state.done, op):
                name = shown(self._space.model.op_names[op])
                raise Refusal("family-op-not-ready", f"state {index}: op {name} cannot run next")
            state = self._space.after(state, op)
        return state

    def check_closed(self, listed: Sequence[FamilyState], states: Sequence[State]) -> None:
        """Checks that an order within the threshold leads from every state to a larger one."""
        for index, (entry, state) in enumerate(zip(listed, states, strict=True)):
            self._deadline.check()
            if entry.then == "branch":
                self._check_branch(index, entry, state)
            elif entry.then == "commit":
                self._check_commit(index, entry, state)
            else:
                self._check_dead(index, entry, state)

    def _check_branch(self, index: int, entry: FamilyState, state: State) -> None:
        if entry.then_run:
            text = f"state {index} branches: it has no ops to run at once"
            raise Refusal("family-then-run", text)
        for op in state.ready:
            if state.done | 1 << op not in self._members:
                cost = self._space.step_cost(state, op)
                if cost <= self._threshold:
                    name = shown(self._space.model.op_names[op])
                    text = (
                        f"state {index}: op {name} takes {cost} bytes, within {self._threshold}, "
                        "and leads out of the family"
                    )
                    raise Refusal("family-not-closed", text)

    def _check_commit(self, index: int, entry: FamilyState, state: State) -> None:
        if not entry.then_run:
            text = f"state {index} commits to nothing: it has no ops to run"
            raise Refusal("family-then-run", text)
        # Ops that do not add live bytes are safe one by one; what follows them is safe as a whole
        # or not.
        safe = committed = state
        for position in entry.then_run:
            op = self._positions.op(position, "family-unknown-op")
            after = self._run(committed, (position,), index)
            cost = self._space.step_cost(committed, op)
            if cost > self._threshold:
                name = shown(self._space.model.op_names[op])
                text = f"state {index}: op {name} takes {cost} bytes, more than {self._threshold}"
                raise Refusal("family-commit-too-dear", text)
            if safe is committed and after.live_bytes <= committed.live_bytes:
                safe = after
            committed = after
        if committed.done not in self._members:
            text = f"state {index} commits to a state outside the family"
            raise Refusal("family-not-closed", text)
        if safe is not committed:
            cut = LiveCut(self._space, safe.done, safe.live_bytes, committed.done)
            if not cut.reaches(committed.live_bytes, self._deadline):
                text = (
                    f"state {index}: some state on the way to the one it commits to has less than "
                    f"{committed.live_bytes} live bytes"
                )
                raise Refusal("family-commit-not-safe", text)

    def _check_dead(self, index: int, entry: FamilyState, state: State) -> None:
        trap = self._run(state, entry.then_run, index)
        if trap.done == self._space.everything:
            raise Refusal("trap-is-everything", f"state {index}: its trap leaves no op outside")
        for op in trap.ready:
            if not self._exit_costs.is_too_dear(state, trap.done, op):
                name = shown(self._space.model.op_names[op])
                text = (
                    f"state {index} is said to be dead, but exit {name} of its trap can run within "
                    f"{self._threshold} bytes"
                )
                raise Refusal("family-not-dead", text)
