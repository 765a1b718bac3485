"""From a stored certificate to an answer about the caller's graph, re-checked on that graph."""

from __future__ import annotations

from lowtide.canonical import CanonicalForm
from lowtide.graph import Graph
from lowtide.memory import OrderError, evaluate
from lowtide.schedule import Schedule

from lowtide_service.store.certificate_store import CertificateStore, StoredSolve


def find_cached(
    store: CertificateStore, graph: Graph, form: CanonicalForm, time_limit_seconds: float
) -> tuple[Schedule | None, str | None]:
    """The best stored answer that holds for this graph, and a line for the log about any that does not.

    Raises:
        sqlalchemy.exc.SQLAlchemyError: the store does not answer.
    """
    refuted = []
    for stored in store.candidates(form.graph_hash, time_limit_seconds):
        order = _order_that_holds(graph, form, stored)
        if order is not None:
            return _as_schedule(graph, stored, order), _warning(refuted)
        refuted.append(stored.certificate_id)
    return None, _warning(refuted)


def _order_that_holds(
    graph: Graph, form: CanonicalForm, stored: StoredSolve
) -> tuple[int, ...] | None:
    """The stored order on the caller's ops, if it is valid there and has the promised peak."""
    positions = stored.certificate.order
    if sorted(positions) != list(range(len(graph.ops))):
        return None
    order = tuple(form.op_at[position] for position in positions)
    try:
        profile = evaluate(graph, order)
    except OrderError:
        return None
    return order if profile.peak_bytes == stored.certificate.peak_bytes else None


def _as_schedule(graph: Graph, stored: StoredSolve, order: tuple[int, ...]) -> Schedule:
    certificate = stored.certificate
    return Schedule(
        status=certificate.status,
        order=order,
        peak_bytes=certificate.peak_bytes,
        lower_bound_bytes=certificate.lower_bound_bytes,
        given_order_peak_bytes=evaluate(graph, range(len(graph.ops))).peak_bytes,
        certificate=certificate,
        solve_seconds=stored.solve_seconds,
        limit=stored.limit,
    )


def _warning(refuted: list[str]) -> str | None:
    if not refuted:
        return None
    return "stored certificates do not hold for a graph with their hash: " + ", ".join(refuted)
