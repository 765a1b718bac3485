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


@dataclass(frozen=True, slots=True)
class TrapProof:
    """`trap` is a forward or reverse trap every exit of which needs at least the bound."""

    forward: bool
    trap: Sequence[int]


@dataclass(frozen=True, slots=True)
class SearchProof:
    """A closed family of states at one byte less than the bound."""

    family: Sequence[FamilyState]


Proof = WorkingSetProof | TrapProof | SearchProof
