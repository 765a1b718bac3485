"""From a stored certificate to an answer about the caller's graph, re-checked on that graph."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from lowtide.canonical import CanonicalForm
from lowtide.checker import check
from lowtide.graph import Graph
from lowtide.graph_identity import graph_canonical_form
from lowtide.memory import OrderError, evaluate
from lowtide.schedule import Schedule
from lowtide.wire import WireGraph

from lowtide_service.labelled_graph import labelled_digest
from lowtide_service.store.certificate_store import CertificateStore, StoredSolve

_RECHECK_SECONDS = 0.5


@dataclass(frozen=True)
class KnownGraph:
    """A graph and its identity: `form` has the hash, equal `digest`s prove two graphs the same."""

    wire: WireGraph
    graph: Graph

    @cached_property
    def form(self) -> CanonicalForm:
        """Hash and canonical positions."""
        return graph_canonical_form(self.graph)

    @cached_property
    def digest(self) -> str:
        """The labelled digest."""
        return labelled_digest(self.graph, self.form)

    @cached_property
    def given_order_peak_bytes(self) -> int:
        """The peak of the order in which the caller lists the ops."""
        return evaluate(self.graph, range(len(self.graph.ops))).peak_bytes


def find_cached(
    store: CertificateStore, known: KnownGraph, time_limit_seconds: float
) -> tuple[Schedule | None, str | None]:
    """The best stored answer that holds for this graph; a line for the log on any that does not.

    Raises:
        sqlalchemy.exc.SQLAlchemyError: the store does not answer.
    """
    refuted: list[str] = []
    for stored in store.candidates(known.form.graph_hash, time_limit_seconds):
        order = _order_that_holds(known, stored)
        if order is not None and _bound_holds(known, stored):
            return _as_schedule(known, stored, order), _warning(refuted)
        refuted.append(stored.certificate_id)
    return None, _warning(refuted)


def _order_that_holds(known: KnownGraph, stored: StoredSolve) -> tuple[int, ...] | None:
    """The stored order on the caller's ops, if it is valid there and has the promised peak."""
    positions = stored.certificate.order
    if sorted(positions) != list(range(len(known.graph.ops))):
        return None
    order = tuple(known.form.op_at[position] for position in positions)
    try:
        profile = evaluate(known.graph, order)
    except OrderError:
        return None
    return order if profile.peak_bytes == stored.certificate.peak_bytes else None


def _bound_holds(known: KnownGraph, stored: StoredSolve) -> bool:
    """Whether the stored bound is one of the caller's graph too.

    Graphs of one hash need not be the same, and an order that fits both says nothing about what
    else fits one of them. Equal digests prove them the same; otherwise the checker decides.
    """
    if stored.labelled_digest == known.digest:
        return True
    verdict = check(known.wire, stored.certificate, time_limit_seconds=_RECHECK_SECONDS)
    return verdict.accepted


def _as_schedule(known: KnownGraph, stored: StoredSolve, order: tuple[int, ...]) -> Schedule:
    certificate = stored.certificate
    return Schedule(
        status=certificate.status,
        order=order,
        peak_bytes=certificate.peak_bytes,
        lower_bound_bytes=certificate.lower_bound_bytes,
        given_order_peak_bytes=known.given_order_peak_bytes,
        certificate=certificate,
        fallback=None,
        solve_seconds=stored.solve_seconds,
        kernel_seconds=stored.kernel_seconds,
        limit=stored.limit,
    )


def _warning(refuted: list[str]) -> str | None:
    if not refuted:
        return None
    return "stored certificates do not hold for a graph with their hash: " + ", ".join(refuted)
