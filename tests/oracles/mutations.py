"""Random damage to a certificate or its graph, to see whether a checker notices.

Each mutation knows whether it breaks the letter of the certificate: then it has to be refused. The others may leave a
true statement with a valid proof behind, say another order that is as good.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lowtide.certificate import Certificate, FamilyState, family_digest
from lowtide.wire import GraphError

from tests.oracles.canonical_positions import canonical_positions

_FAR_TOO_MUCH = 2**62


@dataclass(frozen=True)
class Mutation:
    """A damaged certificate and the graph it is now shown with.

    Attributes:
        name: the kind of damage.
        must_be_refused: whether what is left cannot be a valid certificate, whatever the graph.
    """

    name: str
    wire: dict[str, Any]
    certificate: Certificate
    must_be_refused: bool


class _Draft:
    """The graph and the certificate as plain data, to be changed in place."""

    def __init__(self, wire: dict[str, Any], certificate: Certificate, rng: random.Random) -> None:
        self.original = wire
        self.wire = wire
        self.fields = certificate.model_dump()
        self.rng = rng

    @property
    def witness(self) -> dict[str, Any]:
        fields: dict[str, Any] = self.fields["witness"]
        return fields

    def own_wire(self) -> dict[str, Any]:
        """The graph, copied so that it can be changed."""
        self.wire = copy.deepcopy(self.original)
        return self.wire

    def off_by_some(self, amount: int) -> int:
        return amount + self.rng.choice((-1, 1)) * self.rng.choice((1, 1, 2, 1000))

    def position(self, real: bool) -> int:
        """A position of an op, or one that is none."""
        count = len(self.wire["ops"])
        return self.rng.randrange(count) if real else self.rng.choice((-1, count, -count, 2**70))

    def pick(self, items: Any) -> int:
        """An index into a list; raises _Useless if it is empty."""
        if not items:
            raise _Useless
        return self.rng.randrange(len(items))


class _Useless(Exception):  # noqa: N818 - not an error
    """This mutation does not apply here."""


_Mutator = Callable[[_Draft], bool]
"""Changes the draft; returns whether the outcome must be refused."""


def mutate(wire: dict[str, Any], certificate: Certificate, rng: random.Random) -> Mutation:
    """One random mutation that changes something. `certificate` has to be valid for `wire`."""
    groups = _groups_for(certificate)
    while True:
        # The witness is where damage is least easily seen.
        group = groups[-1] if rng.random() < 0.6 else rng.choice(groups)
        name = rng.choice([name for name in MUTATORS if name.startswith(group)])
        draft = _Draft(wire, certificate, rng)
        try:
            must_be_refused = MUTATORS[name](draft)
        except _Useless:
            continue
        mutated = Certificate.model_validate(draft.fields)
        if mutated != certificate or draft.wire != wire:
            return Mutation(name, draft.wire, mutated, must_be_refused)


def _groups_for(certificate: Certificate) -> tuple[str, ...]:
    witness = {"working-set": "working_set.", "search": "search."}
    return "claim.", "order.", "graph.", witness.get(certificate.witness.kind, "trap.")


# Claims.


def _change_hash(draft: _Draft) -> bool:
    digits = list(draft.fields["graph_hash"])
    place = draft.rng.randrange(len(digits))
    digits[place] = draft.rng.choice([c for c in "0123456789abcdefS" if c != digits[place]])
    draft.fields["graph_hash"] = "".join(digits)
    return True


def _change_peak(draft: _Draft) -> bool:
    draft.fields["peak_bytes"] = draft.off_by_some(draft.fields["peak_bytes"])
    return True


def _change_bound(draft: _Draft) -> bool:
    draft.fields["lower_bound_bytes"] = draft.off_by_some(draft.fields["lower_bound_bytes"])
    return bool(draft.fields["status"] == "OPTIMAL")


def _raise_bound_towards_peak(draft: _Draft) -> bool:
    room = draft.fields["peak_bytes"] - draft.fields["lower_bound_bytes"]
    if room < 1:
        raise _Useless
    draft.fields["lower_bound_bytes"] += draft.rng.randint(1, room)
    if draft.fields["lower_bound_bytes"] == draft.fields["peak_bytes"]:
        draft.fields["status"] = "OPTIMAL"
    return False


def _weaken(draft: _Draft) -> bool:
    """Still true: the bound is lower and nobody says that it is optimal."""
    draft.fields["lower_bound_bytes"] -= draft.rng.randint(1, 3)
    draft.fields["status"] = "FEASIBLE"
    return False


def _change_status(draft: _Draft) -> bool:
    flipped = {"OPTIMAL": "FEASIBLE", "FEASIBLE": "OPTIMAL"}
    draft.fields["status"] = flipped[draft.fields["status"]]
    return True


def _shift_all(draft: _Draft) -> bool:
    shift = draft.off_by_some(0)
    draft.fields["peak_bytes"] += shift
    draft.fields["lower_bound_bytes"] += shift
    return True


# The order.


def _swap_ops(draft: _Draft) -> bool:
    order = list(draft.fields["order"])
    one = draft.pick(order)
    other = draft.pick(order) if draft.rng.random() < 0.5 else min(one + 1, len(order) - 1)
    order[one], order[other] = order[other], order[one]
    draft.fields["order"] = tuple(order)
    return False


def _spoil_order(draft: _Draft) -> bool:
    order = list(draft.fields["order"])
    place = draft.pick(order)
    match draft.rng.randrange(4):
        case 0:
            del order[place]
        case 1:
            order.insert(place, draft.position(real=True))
        case 2:
            order[place] = draft.position(real=False)
        case _:
            order[place] = order[place - 1]
    draft.fields["order"] = tuple(order)
    # With one op, the one before it is itself.
    return len(order) != 1 or order[0] != 0


# Working sets.


def _other_op(draft: _Draft) -> bool:
    real = draft.rng.random() < 0.8
    draft.witness["op"] = draft.position(real)
    return not real


# Traps.


def _change_trap(draft: _Draft) -> bool:
    trap = list(draft.witness["trap"])
    if draft.rng.random() < 0.5:
        del trap[draft.pick(trap)]
    else:
        trap.append(draft.position(real=True))
    draft.witness["trap"] = tuple(trap)
    return len(set(trap)) < len(trap)


def _spoil_trap(draft: _Draft) -> bool:
    if draft.rng.random() < 0.5:
        draft.witness["trap"] = tuple(range(len(draft.wire["ops"])))
    else:
        draft.witness["trap"] = (*draft.witness["trap"], draft.position(real=False))
    return True


def _turn_trap(draft: _Draft) -> bool:
    turned = {"trap-forward": "trap-reverse", "trap-reverse": "trap-forward"}
    draft.witness["kind"] = turned[draft.witness["kind"]]
    if draft.rng.random() < 0.5:
        everything = range(len(draft.wire["ops"]))
        draft.witness["trap"] = tuple(v for v in everything if v not in draft.witness["trap"])
    return False


def _spoil_exits(draft: _Draft) -> bool:
    exits = list(draft.witness["exits"])
    place = draft.pick(exits)
    match draft.rng.randrange(3):
        case 0:
            del exits[place]
        case 1:
            exits.append(exits[place])
        case _:
            renamed = {**exits[place], "op": draft.position(draft.rng.random() < 0.8)}
            if renamed == exits[place]:
                raise _Useless
            exits[place] = renamed
    draft.witness["exits"] = tuple(exits)
    return True


def _spoil_mode(draft: _Draft) -> bool:
    exits = draft.witness["exits"]
    chosen = exits[draft.pick(exits)]
    pairs = list(chosen["in_place"])
    if pairs and draft.rng.random() < 0.7:
        del pairs[draft.pick(pairs)]
    else:
        pairs.append((draft.rng.randrange(4), draft.rng.randrange(4)))
    chosen["in_place"] = tuple(pairs)
    return True


def _flow(draft: _Draft, field: str) -> tuple[dict[str, Any], list[tuple[int, int, int]], int]:
    """An exit with such a flow, its flow, and a place in it."""
    having = [entry for entry in draft.witness["exits"] if entry[field]]
    chosen = having[draft.pick(having)]
    flow = list(chosen[field])
    return chosen, flow, draft.pick(flow)


def _change_amount(draft: _Draft) -> bool:
    field = draft.rng.choice(("storage_flow", "order_flow"))
    chosen, flow, place = _flow(draft, field)
    tail, head, amount = flow[place]
    changed = draft.rng.choice(
        (amount + 1, amount - 1, amount + _FAR_TOO_MUCH, -amount, -_FAR_TOO_MUCH, 10**6000)
    )
    flow[place] = tail, head, changed
    chosen[field] = tuple(flow)
    # More or less along one order arc does not add up at its ends; one storage may have room for a byte more.
    return field == "order_flow" or not 0 <= changed < _FAR_TOO_MUCH


def _change_arc(draft: _Draft) -> bool:
    field = draft.rng.choice(("storage_flow", "order_flow"))
    chosen, flow, place = _flow(draft, field)
    tail, head, amount = flow[place]
    real = draft.rng.random() < 0.8
    other = draft.position(real)
    turned = [(tail, other, amount), (other, head, amount), (head, tail, amount)]
    flow[place] = draft.rng.choice(turned if real else turned[:2])
    chosen[field] = tuple(flow)
    if flow[place][1] == -1:
        return field == "order_flow"
    return not real


def _drop_flow(draft: _Draft) -> bool:
    field = draft.rng.choice(("storage_flow", "order_flow"))
    chosen, flow, place = _flow(draft, field)
    match draft.rng.randrange(3):
        case 0:
            del flow[place]
        case 1:
            flow.append(flow[place])
        case _:
            flow = []
    chosen[field] = tuple(flow)
    return False


# Search.


def _spoil_search(draft: _Draft) -> bool:
    witness = draft.witness
    if witness["states"] is None:
        raise _Useless
    match draft.rng.randrange(3):
        case 0:
            witness["count"] = draft.off_by_some(witness["count"])
        case 1:
            witness["digest"] = witness["digest"][::-1] + "0"
        case _:
            witness["states"] = ()
    return True


def _change_state(draft: _Draft) -> bool:
    """Changes one state; the digest is made to match or not."""
    witness = draft.witness
    states = [dict(state) for state in witness["states"] or ()]
    place = draft.pick(states)
    state = states[place]
    spoiled = _CHANGES_OF_STATE[draft.rng.choice(list(_CHANGES_OF_STATE))](draft, state, place)
    return _put_states(draft, states) or spoiled


def _drop_state(draft: _Draft) -> bool:
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


def _put_states(draft: _Draft, states: list[dict[str, Any]]) -> bool:
    """Puts the states in; returns whether count or digest are left as they were for other states."""
    witness = draft.witness
    if states == list(witness["states"]):
        raise _Useless
    witness["states"] = tuple(states)
    if draft.rng.random() < 0.2:
        return True
    witness["count"] = len(states)
    witness["digest"] = family_digest(FamilyState.model_validate(state) for state in states)
    return False


def _change_then(draft: _Draft, state: dict[str, Any], place: int) -> bool:
    state["then"] = draft.rng.choice(("branch", "commit", "dead"))
    if state["then"] == "branch" and draft.rng.random() < 0.8:
        state["then_run"] = ()
    return False


def _change_then_run(draft: _Draft, state: dict[str, Any], place: int) -> bool:
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


def _change_run(draft: _Draft, state: dict[str, Any], place: int) -> bool:
    run = list(state["run"])
    if draft.rng.random() < 0.5:
        del run[draft.pick(run)]
    else:
        run.append(draft.position(real=True))
    state["run"] = tuple(run)
    return False


def _spoil_ops(draft: _Draft, state: dict[str, Any], place: int) -> bool:
    field = draft.rng.choice(("run", "then_run"))
    state[field] = (*state[field], draft.position(real=False))
    return True


def _change_parent(draft: _Draft, state: dict[str, Any], place: int) -> bool:
    count = len(draft.witness["states"])
    state["parent"] = draft.rng.choice((None, place, draft.rng.randrange(count), count, -1))
    none_allowed = place == 0 and state["parent"] is None
    return not none_allowed and (state["parent"] is None or not 0 <= state["parent"] < place)


_CHANGES_OF_STATE: dict[str, Callable[[_Draft, dict[str, Any], int], bool]] = {
    "then": _change_then,
    "then_run": _change_then_run,
    "run": _change_run,
    "ops": _spoil_ops,
    "parent": _change_parent,
}


# The graph.


def _change_graph(draft: _Draft) -> bool:
    """Another graph, the certificate as it was: the hash has to tell, unless the graphs mean the same."""
    before = draft.fields["graph_hash"]
    return _hash_of_changed_graph(draft) != before


def _change_graph_and_hash(draft: _Draft) -> bool:
    """Another graph, and a certificate that says it is for that one."""
    draft.fields["graph_hash"] = _hash_of_changed_graph(draft)
    return False


def _hash_of_changed_graph(draft: _Draft) -> str:
    wire = draft.own_wire()
    _CHANGES_OF_GRAPH[draft.rng.choice(list(_CHANGES_OF_GRAPH))](draft, wire)
    try:
        return canonical_positions(wire).graph_hash
    except GraphError:
        raise _Useless from None


def _change_size(draft: _Draft, wire: dict[str, Any]) -> None:
    tensor = wire["tensors"][draft.pick(wire["tensors"])]
    tensor["bytes"] = max(0, draft.off_by_some(tensor["bytes"]))


def _change_workspace(draft: _Draft, wire: dict[str, Any]) -> None:
    op = wire["ops"][draft.pick(wire["ops"])]
    op["workspace_bytes"] = max(0, draft.off_by_some(op.get("workspace_bytes", 0)))


def _change_dependency(draft: _Draft, wire: dict[str, Any]) -> None:
    ops = wire["ops"]
    later = draft.pick(ops)
    after = list(ops[later].get("after", ()))
    if after and draft.rng.random() < 0.5:
        del after[draft.pick(after)]
    else:
        after.append(ops[draft.rng.randrange(later + 1)]["name"])
    ops[later]["after"] = after


def _change_reads(draft: _Draft, wire: dict[str, Any]) -> None:
    op = wire["ops"][draft.pick(wire["ops"])]
    if op["inputs"] and draft.rng.random() < 0.6:
        del op["inputs"][draft.pick(op["inputs"])]
    else:
        op["inputs"].append(wire["tensors"][draft.pick(wire["tensors"])]["name"])


def _change_list(field: str) -> Callable[[_Draft, dict[str, Any]], None]:
    """Adds an input or a made tensor to the graph outputs or the pinned inputs, or takes one out."""

    def change(draft: _Draft, wire: dict[str, Any]) -> None:
        names = list(wire.get(field, ()))
        if names and draft.rng.random() < 0.5:
            del names[draft.pick(names)]
        else:
            made = [name for op in wire["ops"] for name in op["outputs"]]
            possible = wire["inputs"] + (made if field == "outputs" else [])
            names.append(possible[draft.pick(possible)])
        wire[field] = names

    return change


def _drop_from_op(field: str) -> Callable[[_Draft, dict[str, Any]], None]:
    def drop(draft: _Draft, wire: dict[str, Any]) -> None:
        having = [op for op in wire["ops"] if op.get(field)]
        op = having[draft.pick(having)]
        del op[field][draft.pick(op[field])]

    return drop


_CHANGES_OF_GRAPH: dict[str, Callable[[_Draft, dict[str, Any]], None]] = {
    "size": _change_size,
    "workspace": _change_workspace,
    "dependency": _change_dependency,
    "reads": _change_reads,
    "outputs": _change_list("outputs"),
    "pinned": _change_list("pinned"),
    "in_place": _drop_from_op("in_place"),
    "mutates": _drop_from_op("mutates"),
}

MUTATORS: dict[str, _Mutator] = {
    "claim.hash": _change_hash,
    "claim.peak": _change_peak,
    "claim.bound": _change_bound,
    "claim.bound_towards_peak": _raise_bound_towards_peak,
    "claim.weaken": _weaken,
    "claim.status": _change_status,
    "claim.shift": _shift_all,
    "order.swap": _swap_ops,
    "order.spoil": _spoil_order,
    "working_set.op": _other_op,
    "trap.set": _change_trap,
    "trap.spoil_set": _spoil_trap,
    "trap.turn": _turn_trap,
    "trap.exits": _spoil_exits,
    "trap.mode": _spoil_mode,
    "trap.amount": _change_amount,
    "trap.arc": _change_arc,
    "trap.drop_flow": _drop_flow,
    "search.claims": _spoil_search,
    "search.state": _change_state,
    "search.drop_state": _drop_state,
    "graph.other": _change_graph,
    "graph.other_and_hash": _change_graph_and_hash,
}
