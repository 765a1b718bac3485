"""The SQL of the certificate store, built once."""

from __future__ import annotations

from sqlalchemy import bindparam, case, delete, func, or_, select, update
from sqlalchemy.dialects.sqlite import insert

from lowtide_service.store.tables import certificates

_t = certificates.c

BY_NAME = select(_t.certificate).where(_t.id == bindparam("certificate_id"))

_eligible = certificates.alias("eligible")
CANDIDATES = (
    select(
        _t.id,
        _t.certificate,
        _t.labelled_digest,
        _t.solve_seconds,
        _t.kernel_seconds,
        _t.stopped_by,
        _t.last_used_microseconds,
    )
    .where(
        _t.graph_hash == bindparam("graph_hash"),
        select(_eligible.c.id)
        .where(
            _eligible.c.graph_hash == bindparam("graph_hash"),
            or_(
                _eligible.c.status == "OPTIMAL",
                _eligible.c.time_limit_milliseconds >= bindparam("time_limit_milliseconds"),
            ),
        )
        .exists(),
    )
    .order_by(
        case((_t.status == "OPTIMAL", 0), else_=1), _t.peak_bytes, _t.lower_bound_bytes.desc()
    )
    .limit(bindparam("max_candidates"))
)
"""A graph's certificates, best first; none unless one is proved or was given the time asked for."""

TOUCH = (
    update(certificates)
    .where(_t.id == bindparam("touched"))
    .values(last_used_microseconds=bindparam("used_at"))
)

_insert = insert(certificates)
PUT = _insert.on_conflict_do_update(
    index_elements=[_t.id],
    set_={
        # The same certificate found again: it now stands for the longer of the two searches.
        "time_limit_milliseconds": func.max(
            _t.time_limit_milliseconds, _insert.excluded.time_limit_milliseconds
        ),
        "last_used_microseconds": func.max(
            _t.last_used_microseconds, _insert.excluded.last_used_microseconds
        ),
    },
)

TOTALS = select(func.count(), func.coalesce(func.sum(_t.size_bytes), 0)).select_from(certificates)

_newest_first = (_t.last_used_microseconds.desc(), _t.id)
_ranked = select(
    _t.id,
    func.row_number().over(order_by=_newest_first).label("entries"),
    func.sum(_t.size_bytes).over(order_by=_newest_first, rows=(None, 0)).label("bytes"),
).subquery("ranked")
EVICT = delete(certificates).where(
    _t.id.in_(
        select(_ranked.c.id).where(
            or_(
                _ranked.c.entries > bindparam("keep_entries"),
                _ranked.c.bytes > bindparam("keep_bytes"),
            )
        )
    )
)
"""Drops what exceeds either bound, counted from the most recently used."""
