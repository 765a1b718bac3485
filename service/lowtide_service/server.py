"""Runs the application under uvicorn, and ends so that no worker is left behind."""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn
from alembic.util import CommandError
from sqlalchemy.exc import SQLAlchemyError

from lowtide_service.app import create_app
from lowtide_service.header_deadline import protocol_with_header_deadline
from lowtide_service.logging_setup import configure_logging
from lowtide_service.settings import Settings
from lowtide_service.store.engine import open_engine
from lowtide_service.store.migrate import migrate

logger = logging.getLogger(__name__)

_NOT_STARTED = 1


def serve(settings: Settings) -> None:
    """Serves until SIGTERM or SIGINT; running requests get `shutdown_seconds` to finish."""
    configure_logging(settings.log_level)
    _prepare_database(settings)
    # Uvicorn raises the signal again once it has shut down. By default that would end the process
    # before the event loop closes, which is when the worker processes are stopped.
    signal.signal(signal.SIGTERM, _exit)
    signal.signal(signal.SIGINT, _exit)
    with _plain_exit_status():
        _run(settings)


def _run(settings: Settings) -> None:
    uvicorn.run(
        create_app(settings),
        http=protocol_with_header_deadline(settings.header_seconds),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=settings.shutdown_seconds,
    )


@contextmanager
def _plain_exit_status() -> Iterator[None]:
    # Uvicorn ends with 3 where it could not start, which says "over budget" on the command line.
    try:
        yield
    except SystemExit as end:
        sys.exit(_NOT_STARTED if end.code else 0)


def _prepare_database(settings: Settings) -> None:
    engine = open_engine(settings.database_path, settings.database_busy_seconds)
    try:
        migrate(engine, settings.database_busy_seconds)
    except (SQLAlchemyError, CommandError) as error:
        reason = getattr(error, "orig", None) or error
        path = str(settings.database_path)
        logger.critical("the database cannot be used: %s", reason, extra={"database_path": path})
        sys.exit(_NOT_STARTED)
    finally:
        engine.dispose()


def _exit(_signal: int, _frame: FrameType | None) -> None:
    sys.exit(0)
