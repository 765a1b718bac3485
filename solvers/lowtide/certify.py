"""From an order and a proof by index to a certificate by canonical position."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Literal

from lowtide._kernel import Continuation
from lowtide.bounds import ExitFlow, Proof, SearchProof, TrapProof, WorkingSetProof
from lowtide.canonical import CanonicalForm
from lowtide.certificate import (
    END_OF_PROGRAM,
    Certificate,
    Exit,
    FamilyState,
    SearchWitness,
    TrapWitness,
    Witness,
    WorkingSetWitness,
    family_digest,
)
from lowtide.graph import Graph
from lowtide.in_place import modes

MAX_FAMILY_ENTRIES = 500_000
"""A family of states with more ops listed than this goes into the certificate as count and digest.
"""

_THEN: dict[Continuation, Literal["branch", "commit", "dead"]] = {
    Continuation.BRANCH: "branch",
    Continuation.COMMIT: "commit",
    Continuation.DEAD: "dead",
}


def certify(
    graph: Graph,
    form: CanonicalForm,
    order: Sequence[int],
    peak_bytes: int,
    lower_bound_bytes: int,
    proof: Proof,
) -> Certificate:
    """The certificate of an order and the proof of a lower bound."""
    return Certificate(
        graph_hash=form.graph_hash,
        status="OPTIMAL" if lower_bound_bytes == peak_bytes else "FEASIBLE",
        peak_bytes=peak_bytes,
        lower_bound_bytes=lower_bound_bytes,
        order=tuple(form.op_position[op] for op in order),
        witness=_witness(graph, form, proof),
    )


def _witness(graph: Graph, form: CanonicalForm, proof: Proof) -> Witness:
    match proof:
        case WorkingSetProof(op):
            return WorkingSetWitness(op=form.op_position[op] if graph.ops else 0)
        case TrapProof(forward, trap, exits):
            return TrapWitness(
                kind="trap-forward" if forward else "trap-reverse",
                trap=tuple(sorted(form.op_position[op] for op in trap)),
                exits=_exits(graph, form, exits),
            )
        case SearchProof():
            return _search_witness(form, proof)


def _exits(graph: Graph, form: CanonicalForm, flows: Sequence[ExitFlow]) -> tuple[Exit, ...]:
    op_at, storage_at = form.op_position, form.storage_position
    exits = [
        Exit(
            op=op_at[op],
            in_place=tuple(
                sorted(
                    (storage_at[pair.output], storage_at[pair.input])
                    for pair in modes(graph.ops[op].in_place)[mode]
                )
            ),
            storage_flow=tuple(
                sorted(
                    (storage_at[s], END_OF_PROGRAM if user < 0 else op_at[user], amount)
                    for s, user, amount in storage_flow
                )
            ),
            order_flow=tuple(
                sorted((op_at[after], op_at[before], n) for after, before, n in order_flow)
            ),
        )
        for op, mode, storage_flow, order_flow in flows
    ]
    return tuple(sorted(exits, key=lambda entry: (entry.op, entry.in_place)))


def _search_witness(form: CanonicalForm, proof: SearchProof) -> SearchWitness:
    at = form.op_position
    states = tuple(
        FamilyState(
            parent=None if state.parent < 0 else state.parent,
            run=tuple(at[op] for op in state.run),
            then=_THEN[state.then],
            then_run=tuple(at[op] for op in state.then_run),
        )
        for state in proof.family
    )
    entries = sum(len(part) for part in chain.from_iterable((s.run, s.then_run) for s in states))
    return SearchWitness(
        count=len(states),
        digest=family_digest(states),
        states=states if entries + len(states) <= MAX_FAMILY_ENTRIES else None,
    )
