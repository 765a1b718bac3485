"""How the service talks to SQLite: bounded waiting, statement by statement."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from sqlalchemy import URL, Engine, create_engine, event
from sqlalchemy.pool import ConnectionPoolEntry


def open_engine(database_path: Path, busy_seconds: float) -> Engine:
    """An engine on the file (created when missing), in autocommit: each statement is atomic.

    The migrations put the file into write-ahead mode, in which readers go on while another process
    writes, and which survives their crashes. NORMAL synchronisation may lose the last certificates
    to a power cut, never the database.
    """
    url = URL.create("sqlite", database=str(database_path))
    engine = create_engine(
        url, isolation_level="AUTOCOMMIT", connect_args={"timeout": busy_seconds}
    )

    @event.listens_for(engine, "connect")
    def _configure(connection: sqlite3.Connection, _entry: ConnectionPoolEntry) -> None:
        connection.execute("PRAGMA synchronous = NORMAL").close()

    return engine
