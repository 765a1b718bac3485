"""Proofs as the kernel gives them, by op and storage index, before a certificate names them
canonically.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lowtide._kernel import FamilyState


@dataclass(frozen=True, slots=True)
class WorkingSetProof:
    """Running `op` alone needs the bound."""

    op: int


Triple = tuple[int, int, int]
ExitFlow = tuple[int, int, Sequence[Triple], Sequence[Triple]]
"""An exit op, one of its in-place modes, and the flow on storages and on dependencies."""


@dataclass(frozen=True, slots=True)
class TrapProof:
    """`trap` is a forward or reverse trap; `exits` shows each exit to need at least the bound."""

    forward: bool
    trap: Sequence[int]
    exits: Sequence[ExitFlow]


@dataclass(frozen=True, slots=True)
class SearchProof:
    """A closed family of states at one byte less than the bound."""

    family: Sequence[FamilyState]


Proof = WorkingSetProof | TrapProof | SearchProof
