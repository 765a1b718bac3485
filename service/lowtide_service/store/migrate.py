"""Brings a database to the newest shape, once, however many servers start at the same time."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import OperationalError

_RETRY_SECONDS = 0.02
_MIGRATIONS = Path(__file__).parent / "migrations"


def alembic_config(connection: Connection) -> Config:
    """Alembic's configuration for the packaged migrations, on an open connection."""
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def migrate(engine: Engine, busy_seconds: float) -> None:
    """Puts the file into write-ahead mode and runs the migrations that are missing, all or none.

    The write lock is taken before looking: a second server waits, then finds nothing left to do.

    Raises:
        alembic.util.CommandError: the database was written by a newer version.
        sqlalchemy.exc.SQLAlchemyError: the file is no database, or stayed locked for so long.
    """
    with engine.connect() as connection:
        _switch_to_write_ahead_mode(connection, busy_seconds)
        connection.execute(text("BEGIN IMMEDIATE"))
        try:
            command.upgrade(alembic_config(connection), "head")
        except BaseException:
            connection.execute(text("ROLLBACK"))
            raise
        connection.execute(text("COMMIT"))


def _switch_to_write_ahead_mode(connection: Connection, busy_seconds: float) -> None:
    # SQLite refuses the switch at once while another process looks at the file: unlike for every
    # other lock, it does not wait by itself. Once made, the switch stays with the file.
    deadline = time.monotonic() + busy_seconds
    while True:
        try:
            connection.execute(text("PRAGMA journal_mode = WAL"))
            return
        except OperationalError as error:
            code = getattr(error.orig, "sqlite_errorcode", None)
            if code != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_SECONDS)
