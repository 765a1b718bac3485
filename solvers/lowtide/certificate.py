"""What an answer promises, as data: the certificate (design, section 4; docs/certificates.md).

Ops and storages are named by *canonical position* (see `canonical.py`), so a certificate is blind
to names and listing order. All amounts are integers in bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

FORMAT: Final = "lowtide.certificate/1"
END_OF_PROGRAM = -1
"""Stands for "the caller, after the last op" where a flow leaves a graph output or a pinned input.
"""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Exit(_Frozen):
    """One exit of a trap under one in-place mode, with the flow that shows it is expensive.

    `in_place` is the mode: a maximal matching of the op's in-place pairs as `(output, input)`
    storages, sorted.
    `storage_flow` holds `(storage, user, amount)`: bytes that flow from a storage to an op that
    still needs it (END_OF_PROGRAM for outputs and pinned inputs). `order_flow` holds `(op,
    predecessor, amount)`.
    """

    op: int
    in_place: tuple[tuple[int, int], ...] = ()
    storage_flow: tuple[tuple[int, int, int], ...] = ()
    order_flow: tuple[tuple[int, int, int], ...] = ()


class WorkingSetWitness(_Frozen):
    """Running `op` alone needs the claimed bytes, whatever the order."""

    kind: Literal["working-set"] = "working-set"
    op: int


class TrapWitness(_Frozen):
    """`trap-forward`: `trap` is a downset every order must leave; `exits` are all its exits in all
    their modes.

    `trap-reverse`: `trap` is an upset; `exits` are all ops that can be the last one run outside it.
    """

    kind: Literal["trap-forward", "trap-reverse"]
    trap: tuple[int, ...]
    exits: tuple[Exit, ...]


class FamilyState(_Frozen):
    """One state of a closed family: the state of `parent` plus the ops of `run`, in that order.

    `then` says why nothing below the claimed bound continues from here:
    `branch`: every ready op is either too dear or leads to a state of the family;
    `commit`: the ops of `then_run`, all affordable, lead to a family state that is a safe commit;
    `dead`: the state plus the ops of `then_run` is a trap every exit of which is too dear.
    """

    parent: int | None
    run: tuple[int, ...]
    then: Literal["branch", "commit", "dead"]
    then_run: tuple[int, ...] = ()


def family_digest(states: Iterable[FamilyState]) -> str:
    """SHA-256 of the states, 64 hexadecimal digits. Per state one line `parent|run|then|then_run`
    in ASCII.

    `parent` is empty for None; ops are decimal, separated by commas; every line ends in a line
    feed.
    """
    digest = hashlib.sha256()
    for state in states:
        parent = "" if state.parent is None else str(state.parent)
        run, then_run = (",".join(map(str, ops)) for ops in (state.run, state.then_run))
        digest.update(f"{parent}|{run}|{state.then}|{then_run}\n".encode("ascii"))
    return digest.hexdigest()


class SearchWitness(_Frozen):
    """A closed family of states, first the empty one, none of them complete (design, sections 3 and
    4).

    `count` is their number, `digest` their `family_digest`.
    `states` is None when the family is past the size limit: then `count` and `digest` say what was
    exhausted, and a checker has to search for itself.
    """

    kind: Literal["search"] = "search"
    count: int
    digest: str
    states: tuple[FamilyState, ...] | None


Witness = Annotated[WorkingSetWitness | TrapWitness | SearchWitness, Field(discriminator="kind")]


class Certificate(_Frozen):
    """The promise: this order has this peak, and no order has a peak below `lower_bound_bytes`.

    OPTIMAL says the two are equal. `order` lists canonical op positions.
    """

    format: Literal["lowtide.certificate/1"] = FORMAT
    graph_hash: str
    status: Literal["OPTIMAL", "FEASIBLE"]
    peak_bytes: int
    lower_bound_bytes: int
    order: tuple[int, ...]
    witness: Witness

    def identifier(self) -> str:
        """Content hash of the certificate: 32 hexadecimal digits."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:32]
