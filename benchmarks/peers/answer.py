"""What a peer answers, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["optimal", "time limit", "state limit"]


@dataclass(frozen=True, slots=True)
class PeerAnswer:
    """An exact peer's answer for one graph.

    Attributes:
        outcome: `optimal` when the peer says that it finished, otherwise what stopped it.
        order: op indices, or None when it stopped without any.
        seconds: wall time, building the peer's own model included.
    """

    outcome: Outcome
    order: tuple[int, ...] | None
    seconds: float
