"""Brings a database to the newest shape, once, however many servers start at the same time."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine, text

_MIGRATIONS = Path(__file__).parent / "migrations"


def alembic_config(connection: Connection) -> Config:
    """Alembic's configuration for the packaged migrations, on an open connection."""
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def migrate(engine: Engine) -> None:
    """Runs the migrations that are missing, all or none of them.

    The write lock is taken before looking: a second server waits, then finds nothing left to do.

    Raises:
        alembic.util.CommandError: the database was written by a newer version.
        sqlalchemy.exc.OperationalError: the file cannot be opened or stayed locked.
    """
    with engine.connect() as connection:
        connection.execute(text("BEGIN IMMEDIATE"))
        try:
            command.upgrade(alembic_config(connection), "head")
        except BaseException:
            connection.execute(text("ROLLBACK"))
            raise
        connection.execute(text("COMMIT"))
