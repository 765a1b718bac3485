"""Damage to working-set and trap witnesses: the op, the trap, its exits, their modes and flows."""

from __future__ import annotations

from typing import Any

from tests.oracles.mutation.draft import Draft, Mutator, Useless

_FAR_TOO_MUCH = 2**62


def _other_op(draft: Draft) -> bool:
    real = draft.rng.random() < 0.8
    draft.witness["op"] = draft.position(real)
    return not real


def _change_trap(draft: Draft) -> bool:
    trap = list(draft.witness["trap"])
    if draft.rng.random() < 0.5:
        del trap[draft.pick(trap)]
    else:
        trap.append(draft.position(real=True))
    draft.witness["trap"] = tuple(trap)
    return len(set(trap)) < len(trap)


def _spoil_trap(draft: Draft) -> bool:
    if draft.rng.random() < 0.5:
        draft.witness["trap"] = tuple(range(len(draft.wire["ops"])))
    else:
        draft.witness["trap"] = (*draft.witness["trap"], draft.position(real=False))
    return True


def _turn_trap(draft: Draft) -> bool:
    turned = {"trap-forward": "trap-reverse", "trap-reverse": "trap-forward"}
    draft.witness["kind"] = turned[draft.witness["kind"]]
    if draft.rng.random() < 0.5:
        everything = range(len(draft.wire["ops"]))
        draft.witness["trap"] = tuple(v for v in everything if v not in draft.witness["trap"])
    return False


def _spoil_exits(draft: Draft) -> bool:
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
                raise Useless
            exits[place] = renamed
    draft.witness["exits"] = tuple(exits)
    return True


def _spoil_mode(draft: Draft) -> bool:
    exits = draft.witness["exits"]
    chosen = exits[draft.pick(exits)]
    pairs = list(chosen["in_place"])
    if pairs and draft.rng.random() < 0.7:
        del pairs[draft.pick(pairs)]
    else:
        pairs.append((draft.rng.randrange(4), draft.rng.randrange(4)))
    chosen["in_place"] = tuple(pairs)
    return True


def _flow(draft: Draft, field: str) -> tuple[dict[str, Any], list[tuple[int, int, int]], int]:
    """An exit with such a flow, its flow, and a place in it."""
    having = [entry for entry in draft.witness["exits"] if entry[field]]
    chosen = having[draft.pick(having)]
    flow = list(chosen[field])
    return chosen, flow, draft.pick(flow)


def _change_amount(draft: Draft) -> bool:
    field = draft.rng.choice(("storage_flow", "order_flow"))
    chosen, flow, place = _flow(draft, field)
    tail, head, amount = flow[place]
    changed = draft.rng.choice(
        (amount + 1, amount - 1, amount + _FAR_TOO_MUCH, -amount, -_FAR_TOO_MUCH, 10**6000)
    )
    flow[place] = tail, head, changed
    chosen[field] = tuple(flow)
    # More or less along one order arc does not add up at its ends; one storage may have room for a
    # byte more.
    return field == "order_flow" or not 0 <= changed < _FAR_TOO_MUCH


def _change_arc(draft: Draft) -> bool:
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


def _drop_flow(draft: Draft) -> bool:
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


TRAP_MUTATORS: dict[str, Mutator] = {
    "working_set.op": _other_op,
    "trap.set": _change_trap,
    "trap.spoil_set": _spoil_trap,
    "trap.turn": _turn_trap,
    "trap.exits": _spoil_exits,
    "trap.mode": _spoil_mode,
    "trap.amount": _change_amount,
    "trap.arc": _change_arc,
    "trap.drop_flow": _drop_flow,
}
