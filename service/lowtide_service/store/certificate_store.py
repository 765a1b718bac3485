"""The certificates by name and by graph, bounded in number and bytes."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from lowtide.answers import Limit
from lowtide.certificate import Certificate
from pydantic import ValidationError
from sqlalchemy import Engine, select

from lowtide_service.store import statements
from lowtide_service.store.tables import certificates

_MAX_CANDIDATES = 4
_TOUCH_MICROSECONDS = 60_000_000  # how stale a time of use may be: most hits write nothing
_EVICTION_TARGET_PERCENT = 90  # evict below the bound, so that not every insertion evicts


@dataclass(frozen=True, slots=True)
class StoredSolve:
    """A certificate and how it came about.

    Attributes:
        certificate_id: the certificate's name, its content hash.
        certificate: what was proved.
        labelled_digest: of the graph it was proved for (`labelled_graph.py`).
        solve_seconds, kernel_seconds: of the search that found it.
        limit: what stopped that search, if anything did.
    """

    certificate_id: str
    certificate: Certificate
    labelled_digest: str
    solve_seconds: float
    kernel_seconds: float
    limit: Limit | None


class CertificateStore:
    """Certificates in a database that other processes use too.

    Every method raises sqlalchemy.exc.SQLAlchemyError when the database does not answer.
    """

    def __init__(
        self,
        engine: Engine,
        max_entries: int,
        max_bytes: int,
        now_nanoseconds: Callable[[], int] = time.time_ns,
    ) -> None:
        """`max_bytes` bounds the certificates' texts together; `now_nanoseconds` is Unix time."""
        self._engine = engine
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._now_nanoseconds = now_nanoseconds

    def _now_microseconds(self) -> int:
        return self._now_nanoseconds() // 1000

    def close(self) -> None:
        """Closes every connection."""
        self._engine.dispose()

    def ping(self) -> None:
        """Returns when the database answers."""
        with self._engine.connect() as connection:
            connection.execute(select(certificates.c.id).limit(1)).all()

    def text_of(self, certificate_id: str) -> str | None:
        """The certificate's JSON, or None when it is not kept or no longer intact."""
        with self._engine.connect() as connection:
            stored = connection.execute(
                statements.BY_NAME, {"certificate_id": certificate_id}
            ).scalar_one_or_none()
        return stored if stored is not None and _is_intact(certificate_id, stored) else None

    def candidates(self, graph_hash: str, time_limit_seconds: float) -> list[StoredSolve]:
        """What is known of graphs with this hash, if good enough for the time limit; best first.

        Good enough: proved optimal, or no worse than what a search of at least that long has found.
        Equal hashes are candidates only; the caller checks them on its own graph.
        """
        with self._engine.connect() as connection:
            rows = connection.execute(
                statements.CANDIDATES,
                {
                    "graph_hash": graph_hash,
                    "time_limit_milliseconds": math.ceil(time_limit_seconds * 1000),
                    "max_candidates": _MAX_CANDIDATES,
                },
            ).all()
            found = []
            for row in rows:
                certificate = _intact_certificate(row.id, row.certificate)
                if certificate is not None:
                    found.append(
                        StoredSolve(
                            certificate_id=row.id,
                            certificate=certificate,
                            labelled_digest=row.labelled_digest,
                            solve_seconds=row.solve_seconds,
                            kernel_seconds=row.kernel_seconds,
                            limit=row.stopped_by,
                        )
                    )
            now = self._now_microseconds()
            if rows and rows[0].last_used_microseconds < now - _TOUCH_MICROSECONDS:
                connection.execute(statements.TOUCH, {"touched": rows[0].id, "used_at": now})
        return found

    def put(self, solve: StoredSolve, time_limit_seconds: float) -> bool:
        """Keeps a certificate found in this time; False when it alone is past the size bound."""
        stored = solve.certificate.model_dump_json()
        size_bytes = len(stored.encode())
        if size_bytes > self._max_bytes:
            return False
        with self._engine.connect() as connection:
            connection.execute(
                statements.PUT,
                {
                    "id": solve.certificate_id,
                    "graph_hash": solve.certificate.graph_hash,
                    "status": solve.certificate.status,
                    "peak_bytes": solve.certificate.peak_bytes,
                    "lower_bound_bytes": solve.certificate.lower_bound_bytes,
                    "time_limit_milliseconds": math.floor(time_limit_seconds * 1000),
                    "stopped_by": solve.limit,
                    "labelled_digest": solve.labelled_digest,
                    "solve_seconds": solve.solve_seconds,
                    "kernel_seconds": solve.kernel_seconds,
                    "certificate": stored,
                    "size_bytes": size_bytes,
                    "last_used_microseconds": self._now_microseconds(),
                },
            )
            entries, total_bytes = connection.execute(statements.TOTALS).one()
            if entries > self._max_entries or total_bytes > self._max_bytes:
                connection.execute(
                    statements.EVICT,
                    {
                        "keep_entries": max(1, _eviction_target(self._max_entries)),
                        "keep_bytes": max(size_bytes, _eviction_target(self._max_bytes)),
                    },
                )
        return True


def _eviction_target(bound: int) -> int:
    return bound * _EVICTION_TARGET_PERCENT // 100


def _is_intact(certificate_id: str, stored: str) -> bool:
    return hashlib.sha256(stored.encode()).hexdigest()[:32] == certificate_id


def _intact_certificate(certificate_id: str, stored: str) -> Certificate | None:
    if not _is_intact(certificate_id, stored):
        return None
    try:
        return Certificate.model_validate_json(stored)
    except ValidationError:
        return None  # written by another version of the format
