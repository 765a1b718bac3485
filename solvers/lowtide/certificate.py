"""What an answer promises, as data: the certificate (design, section 4; docs/certificates.md).

Ops and storages are named by *canonical position* (see `canonical.py`), so a certificate is blind
to names and listing order. All amounts are integers in bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, Strict

from lowtide.read_model import read_model
from lowtide.wire_errors import GraphError, Problem, pointer_to
from lowtide.wire_json import parse_json

FORMAT: Final = "lowtide.certificate/1"
END_OF_PROGRAM = -1
"""Stands for "the caller, after the last op" where a flow leaves a graph output or a pinned input.
"""


# A JSON list is a Python list, which strict mode would refuse for a tuple. One bad entry speaks for
# its list: millions of them must not become millions of errors.
Positions = Annotated[tuple[int, ...], Strict(False), Field(fail_fast=True)]
Pair = Annotated[tuple[int, int], Strict(False)]
Pairs = Annotated[tuple[Pair, ...], Strict(False), Field(fail_fast=True)]
FlowEntry = Annotated[tuple[int, int, int], Strict(False)]
Flow = Annotated[tuple[FlowEntry, ...], Strict(False), Field(fail_fast=True)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def _require_kind(schema: dict[str, Any]) -> None:
    # The kind decides how a witness is read: only in Python can it be left to its default.
    schema["required"] = ["kind", *(each for each in schema["required"] if each != "kind")]


class _Witness(_Frozen):
    model_config = ConfigDict(json_schema_extra=_require_kind)


class Exit(_Frozen):
    """One exit of a trap under one in-place mode, with the flow that shows it is expensive.

    `in_place` is the mode: a maximal matching of the op's in-place pairs as `(output, input)`
    storages, sorted.
    `storage_flow` holds `(storage, user, amount)`: bytes that flow from a storage to an op that
    still needs it (END_OF_PROGRAM for outputs and pinned inputs). `order_flow` holds `(op,
    predecessor, amount)`.
    """

    op: int
    in_place: Pairs = ()
    storage_flow: Flow = ()
    order_flow: Flow = ()


class WorkingSetWitness(_Witness):
    """Running `op` alone needs the claimed bytes, whatever the order."""

    kind: Literal["working-set"] = "working-set"
    op: int


class TrapWitness(_Witness):
    """`trap-forward`: `trap` is a downset every order must leave; `exits` are all its exits in all
    their modes.

    `trap-reverse`: `trap` is an upset; `exits` are all ops that can be the last one run outside it.
    """

    kind: Literal["trap-forward", "trap-reverse"]
    trap: Positions
    exits: Annotated[tuple[Exit, ...], Strict(False), Field(fail_fast=True)]


class FamilyState(_Frozen):
    """One state of a closed family: the state of `parent` plus the ops of `run`, in that order.

    `then` says why nothing below the claimed bound continues from here:
    `branch`: every ready op is either too dear or leads to a state of the family;
    `commit`: the ops of `then_run`, all affordable, lead to a family state that is a safe commit;
    `dead`: the state plus the ops of `then_run` is a trap every exit of which is too dear.
    """

    parent: int | None
    run: Positions
    then: Literal["branch", "commit", "dead"]
    then_run: Positions = ()


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


class SearchWitness(_Witness):
    """A closed family of states, first the empty one, none of them complete (design, sections 3 and
    4).

    `count` is their number, `digest` their `family_digest`.
    `states` is None when the family is past the size limit: then `count` and `digest` say what was
    exhausted, and a checker has to search for itself.
    """

    kind: Literal["search"] = "search"
    count: int
    digest: str
    states: Annotated[tuple[FamilyState, ...], Strict(False), Field(fail_fast=True)] | None


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
    order: Positions
    witness: Witness

    def identifier(self) -> str:
        """Content hash of the certificate: 32 hexadecimal digits."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:32]


def parse_certificate(
    data: bytes | bytearray | str | Mapping[str, object], *prefix: str
) -> Certificate:
    """A certificate from JSON text, or from the dicts and lists that JSON text stands for.

    Well formed, whatever it claims. Time and memory are linear in the input, right or wrong.

    Args:
        prefix: the steps to the certificate within what was sent, for the pointers of problems.

    Raises:
        lowtide.wire_errors.GraphError: not a certificate, with every problem.
    """
    document = parse_json(data) if isinstance(data, bytes | bytearray | str) else dict(data)
    certificate = read_model(Certificate, document, *prefix)
    texts: dict[tuple[str, ...], str] = {("graph_hash",): certificate.graph_hash}
    if isinstance(certificate.witness, SearchWitness):
        texts["witness", "digest"] = certificate.witness.digest
    problems = [
        Problem("not_unicode", f'"{steps[-1]}" is not Unicode text', pointer_to(*prefix, *steps))
        for steps, text in texts.items()
        if not _is_unicode(text)
    ]
    if problems:
        raise GraphError(problems)
    return certificate


def _is_unicode(text: str) -> bool:
    # JSON may spell half a surrogate pair, which nothing can write down again.
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)
