"""Damage to search witnesses: count and digest, states, what is said of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lowtide.certificate import FamilyState, family_digest

from tests.oracles.mutation.draft import Draft, Mutator, Useless


def _spoil_search(draft: Draft) -> bool:
    witness = draft.witness
    if witness["states"] is None:
        raise Useless
    match draft.rng.randrange(3):
        case 0:
            witness["count"] = draft.off_by_some(witness["count"])
        case 1:
            witness["digest"] = witness["digest"][::-1] + "0"
        case _:
            witness["states"] = ()
    return True


def _change_state(draft: Draft) -> bool:
    """Changes one state; the digest is made to match or not."""
    witness = draft.witness
    states = [dict(state) for state in witness["states"] or ()]
    place = draft.pick(states)
    state = states[place]
    spoiled = _CHANGES_OF_STATE[draft.rng.choice(list(_CHANGES_OF_STATE))](draft, state, place)
    return _put_states(draft, states) or spoiled


def _drop_state(draft: Draft) -> bool:
    """Leaves a state out; the ones it led to start from its own parent."""
    states = [dict(state) for state in draft.witness["states"] or ()]
    place = draft.pick(states)
    dropped = states.pop(place)
    for state in states[place:]:
        if state["parent"] == place:
            state["parent"] = dropped["parent"]
            state["run"] = dropped["run"] + state["run"]
        elif state["parent"] is not None and state["parent"] > place:
            state["parent"] -= 1
    return _put_states(draft, states)


def _put_states(draft: Draft, states: list[dict[str, Any]]) -> bool:
    """Puts the states in; returns whether count and digest are left as they were."""
    witness = draft.witness
    if states == list(witness["states"]):
        raise Useless
    witness["states"] = tuple(states)
    if draft.rng.random() < 0.2:
        return True
    witness["count"] = len(states)
    witness["digest"] = family_digest(FamilyState.model_validate(state) for state in states)
    return False


def _change_then(draft: Draft, state: dict[str, Any], place: int) -> bool:
    state["then"] = draft.rng.choice(("branch", "commit", "dead"))
    if state["then"] == "branch" and draft.rng.random() < 0.8:
        state["then_run"] = ()
    return False


def _change_then_run(draft: Draft, state: dict[str, Any], place: int) -> bool:
    run = list(state["then_run"])
    match draft.rng.randrange(3):
        case 0:
            del run[draft.pick(run) :]
        case 1:
            run.append(draft.position(real=True))
        case _:
            run = list(draft.rng.sample(run, len(run)))
    state["then_run"] = tuple(run)
    return False


def _change_run(draft: Draft, state: dict[str, Any], place: int) -> bool:
    run = list(state["run"])
    if draft.rng.random() < 0.5:
        del run[draft.pick(run)]
    else:
        run.append(draft.position(real=True))
    state["run"] = tuple(run)
    return False


def _spoil_ops(draft: Draft, state: dict[str, Any], place: int) -> bool:
    field = draft.rng.choice(("run", "then_run"))
    state[field] = (*state[field], draft.position(real=False))
    return True


def _change_parent(draft: Draft, state: dict[str, Any], place: int) -> bool:
    count = len(draft.witness["states"])
    state["parent"] = draft.rng.choice((None, place, draft.rng.randrange(count), count, -1))
    none_allowed = place == 0 and state["parent"] is None
    return not none_allowed and (state["parent"] is None or not 0 <= state["parent"] < place)


_CHANGES_OF_STATE: dict[str, Callable[[Draft, dict[str, Any], int], bool]] = {
    "then": _change_then,
    "then_run": _change_then_run,
    "run": _change_run,
    "ops": _spoil_ops,
    "parent": _change_parent,
}


SEARCH_MUTATORS: dict[str, Mutator] = {
    "search.claims": _spoil_search,
    "search.state": _change_state,
    "search.drop_state": _drop_state,
}
