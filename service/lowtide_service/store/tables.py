"""The tables, as SQLAlchemy sees them; the migrations bring a database to this shape."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Float, Index, Integer, MetaData, String, Table, Text

metadata = MetaData()

certificates = Table(
    "certificates",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("graph_hash", String, nullable=False),
    Column("labelled_digest", String(64), nullable=False),
    Column("status", String, nullable=False),
    Column("peak_bytes", BigInteger, nullable=False),
    Column("lower_bound_bytes", BigInteger, nullable=False),
    # Rounded down when stored, up when asked for: rounding never serves too weak an answer.
    Column("time_limit_milliseconds", BigInteger, nullable=False),
    Column("stopped_by", String, nullable=True),
    Column("solve_seconds", Float, nullable=False),
    Column("kernel_seconds", Float, nullable=False),
    Column("certificate", Text, nullable=False),
    Column("size_bytes", Integer, nullable=False),
    Column("last_used_microseconds", BigInteger, nullable=False),
    # Covers the look-up's condition; the texts are only read for rows that are wanted.
    Index("certificates_by_graph", "graph_hash", "status", "time_limit_milliseconds"),
    # Covers the size bound, which is summed up after every insertion.
    Index("certificates_by_age", "last_used_microseconds", "size_bytes"),
)
"""One row per certificate, named by its content hash. A graph may have several: better ones are
preferred, worse ones stay readable by name until they are the least recently used.
`last_used_microseconds` is Unix time."""
