"""The report in a few tiles: before, after, the bound, the gain, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass

from lowtide.answers import ScheduleAnswer

from lowtide_client.wording import exact, percentage, printable, rounded

_PROOFS = {
    "working-set": "one op alone needs that much, in any order",
    "trap-forward": "every order has to leave a set of ops; each way out costs that much",
    "trap-reverse": "every order has to enter a last set of ops; each way in costs that much",
    "search": "every other way was searched and found no better",
}
_LIMITS = {
    "time": "stopped by the time limit",
    "states": "stopped by the limit on states",
    "cancelled": "cancelled",
}


@dataclass(frozen=True, slots=True)
class Tile:
    """One fact: what it is, its value, a note below. `emphasis` is a class of page.css or empty."""

    label: str
    value: str
    note: str
    emphasis: str = ""


def tiles(answer: ScheduleAnswer) -> tuple[Tile, ...]:
    """The tiles of an answer, in reading order."""
    given, best, bound = (
        answer.given_order_peak_bytes,
        answer.peak_bytes,
        answer.lower_bound_bytes,
    )
    return (
        _amount_tile("Before (given order)", given),
        _amount_tile("After (new order)", best),
        _amount_tile("Lower bound", bound),
        _gain_tile(given, best),
        _status_tile(answer),
        Tile("Proof", printable(answer.proof), _PROOFS.get(answer.proof, "")),
        Tile("Certificate", printable(answer.certificate_id), "", "identifier"),
    )


def _amount_tile(label: str, amount_bytes: int) -> Tile:
    short = rounded(amount_bytes)
    in_full = exact(amount_bytes)
    return Tile(label, short, in_full if in_full != short else "")


def _gain_tile(given: int, best: int) -> Tile:
    if best == given:
        return Tile("Gain", "0%", "the given order has the same peak")
    if best > given:
        return Tile("Gain", "none", f"{exact(best - given)} more than the given order")
    return Tile("Gain", percentage(given - best, given), f"{exact(given - best)} less")


def _status_tile(answer: ScheduleAnswer) -> Tile:
    if answer.status == "OPTIMAL":
        return Tile("Status", "OPTIMAL", "no order has a lower peak", "optimal")
    gap = answer.peak_bytes - answer.lower_bound_bytes
    note = f"at most {exact(gap)} ({percentage(gap, answer.peak_bytes)}) above the best possible"
    if answer.limit is not None:
        note += f"; {_LIMITS[answer.limit]}"
    return Tile("Status", "FEASIBLE", note, "feasible")
