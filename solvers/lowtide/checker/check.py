"""The checker: does a certificate hold for a graph (docs/certificates.md)?"""

from __future__ import annotations

from lowtide.answers import VerifyAnswer
from lowtide.certificate import Certificate
from lowtide.checker.derive import derive_model
from lowtide.checker.identity import check_hash, form_of
from lowtide.checker.model import Model
from lowtide.checker.order import peak_of
from lowtide.checker.positions import Positions
from lowtide.checker.refusal import Deadline, Refusal, shown
from lowtide.checker.witness import Method, check_witness, method_for
from lowtide.wire import WireGraph


def check(
    wire: WireGraph, certificate: Certificate, *, time_limit_seconds: float = 60.0
) -> VerifyAnswer:
    """Whether the certificate is true of the graph, from the graph and the certificate alone.

    Never raises, whatever the certificate holds: what does not hold, and what cannot be decided
    within the time limit or the memory set aside (docs/certificates.md), is refused with a reason
    code. Working-set and trap witnesses take time linear in the graph for each exit.
    """
    method: Method = "none"
    try:
        deadline = Deadline(time_limit_seconds)
        model = derive_model(wire)
        form = form_of(model)
        check_hash(form, certificate.graph_hash)
        _check_claims(certificate)
        positions = Positions(form.op_at, form.storage_at)
        step_text = _check_order(model, positions, certificate)
        method = method_for(certificate.witness)
        bound = certificate.lower_bound_bytes
        check_witness(model, positions, certificate.witness, bound, deadline)
    except Refusal as refusal:
        return VerifyAnswer(
            accepted=False,
            reason=refusal.reason,
            detail=refusal.detail,
            method=method,
            status=None,
            peak_bytes=None,
            lower_bound_bytes=None,
        )
    return VerifyAnswer(
        accepted=True,
        reason=None,
        detail=f"the order peaks at {certificate.peak_bytes} bytes{step_text}; "
        f"no order peaks below {bound} bytes",
        method=method,
        status=certificate.status,
        peak_bytes=certificate.peak_bytes,
        lower_bound_bytes=bound,
    )


def _check_claims(certificate: Certificate) -> None:
    peak, bound = certificate.peak_bytes, certificate.lower_bound_bytes
    claim = f"lower bound {shown(bound)}, peak {shown(peak)}, status {certificate.status}"
    if bound < 0:
        raise Refusal("bound-negative", claim)
    if bound > peak:
        raise Refusal("bound-above-peak", claim)
    if certificate.status == "OPTIMAL" and bound < peak:
        raise Refusal("status-overclaims", f"{claim}: not shown to be optimal")
    if certificate.status == "FEASIBLE" and bound == peak:
        raise Refusal("status-underclaims", f"{claim}: that is optimal")


def _check_order(model: Model, positions: Positions, certificate: Certificate) -> str:
    if len(certificate.order) != model.op_count:
        text = f"the order lists {len(certificate.order)} ops, the graph has {model.op_count}"
        raise Refusal("not-a-permutation", text)
    order = positions.ops(certificate.order, "not-a-permutation")
    ran: set[int] = set()
    for op in order:
        if op in ran:
            text = f"the order runs op {shown(model.op_names[op])} twice"
            raise Refusal("not-a-permutation", text)
        ran.add(op)
    peak, step = peak_of(model, order)
    where = "" if step < 0 else f" at step {step}, op {shown(model.op_names[order[step]])}"
    if peak != certificate.peak_bytes:
        text = f"the order peaks at {peak} bytes{where}, not at {shown(certificate.peak_bytes)}"
        raise Refusal("peak-mismatch", text)
    return where
