"""Is what a certificate claims true? Decided by brute force, whatever its witness says."""

from __future__ import annotations

from typing import Any

from lowtide.certificate import Certificate

from tests.oracles.brute_force import Oracle
from tests.oracles.canonical_positions import canonical_positions


def claim_is_true(wire: dict[str, Any], certificate: Certificate) -> bool:
    """Hash, order, peak, bound and status of a certificate for a small graph."""
    oracle = Oracle(wire)
    names = canonical_positions(wire)
    if certificate.graph_hash != names.graph_hash:
        return False
    op_at = {position: v for v, position in enumerate(names.op_position)}
    order = [op_at.get(position, -1) for position in certificate.order]
    if sorted(order) != list(range(oracle.op_count)) or not _is_valid(oracle, order):
        return False
    peak = oracle.order_peak(order)
    return (
        peak == certificate.peak_bytes
        and 0 <= certificate.lower_bound_bytes <= oracle.optimal_peak()
        and (certificate.status == "OPTIMAL") == (certificate.lower_bound_bytes == peak)
    )


def _is_valid(oracle: Oracle, order: list[int]) -> bool:
    done = 0
    for v in order:
        if oracle.predecessors[v] & ~done:
            return False
        done |= 1 << v
    return True
