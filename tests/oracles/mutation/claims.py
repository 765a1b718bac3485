"""Damage to what a certificate says itself: hash, status, peak, bound, order."""

from __future__ import annotations

from tests.oracles.mutation.draft import Draft, Mutator, Useless


def _change_hash(draft: Draft) -> bool:
    digits = list(draft.fields["graph_hash"])
    place = draft.rng.randrange(len(digits))
    digits[place] = draft.rng.choice([c for c in "0123456789abcdefS" if c != digits[place]])
    draft.fields["graph_hash"] = "".join(digits)
    return True


def _change_peak(draft: Draft) -> bool:
    draft.fields["peak_bytes"] = draft.off_by_some(draft.fields["peak_bytes"])
    return True


def _change_bound(draft: Draft) -> bool:
    draft.fields["lower_bound_bytes"] = draft.off_by_some(draft.fields["lower_bound_bytes"])
    return bool(draft.fields["status"] == "OPTIMAL")


def _raise_bound_towards_peak(draft: Draft) -> bool:
    room = draft.fields["peak_bytes"] - draft.fields["lower_bound_bytes"]
    if room < 1:
        raise Useless
    draft.fields["lower_bound_bytes"] += draft.rng.randint(1, room)
    if draft.fields["lower_bound_bytes"] == draft.fields["peak_bytes"]:
        draft.fields["status"] = "OPTIMAL"
    return False


def _weaken(draft: Draft) -> bool:
    """Still true: the bound is lower and nobody says that it is optimal."""
    draft.fields["lower_bound_bytes"] -= draft.rng.randint(1, 3)
    draft.fields["status"] = "FEASIBLE"
    return False


def _change_status(draft: Draft) -> bool:
    flipped = {"OPTIMAL": "FEASIBLE", "FEASIBLE": "OPTIMAL"}
    draft.fields["status"] = flipped[draft.fields["status"]]
    return True


def _shift_all(draft: Draft) -> bool:
    shift = draft.off_by_some(0)
    draft.fields["peak_bytes"] += shift
    draft.fields["lower_bound_bytes"] += shift
    return True


def _swap_ops(draft: Draft) -> bool:
    order = list(draft.fields["order"])
    one = draft.pick(order)
    other = draft.pick(order) if draft.rng.random() < 0.5 else min(one + 1, len(order) - 1)
    order[one], order[other] = order[other], order[one]
    draft.fields["order"] = tuple(order)
    return False


def _spoil_order(draft: Draft) -> bool:
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


CLAIM_MUTATORS: dict[str, Mutator] = {
    "claim.hash": _change_hash,
    "claim.peak": _change_peak,
    "claim.bound": _change_bound,
    "claim.bound_towards_peak": _raise_bound_towards_peak,
    "claim.weaken": _weaken,
    "claim.status": _change_status,
    "claim.shift": _shift_all,
    "order.swap": _swap_ops,
    "order.spoil": _spoil_order,
}
