"""`lowtide serve`: the service, started through its module entry point."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec

import click

from lowtide_client.cli.exit_codes import FAILED
from lowtide_client.cli.failures import CommandError

_SERVICE_EXTRA = (
    "alembic",
    "fastapi",
    "fastapi_offline",
    "pydantic_settings",
    "sqlalchemy",
    "uvicorn",
)


@click.command(
    "serve",
    short_help="Serve over HTTP.",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True},
    options_metavar="[--host ADDRESS] [--port PORT] ...",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def serve_command(arguments: tuple[str, ...]) -> int:
    """Serve over HTTP (`lowtide serve --help` lists the arguments)."""
    missing = [name for name in _SERVICE_EXTRA if find_spec(name) is None]
    if missing:
        line = f"lowtide: the service needs {', '.join(missing)}: pip install 'lowtide[service]'"
        raise CommandError(FAILED, [line])
    # The server takes this process over: signals, exit status and worker processes are its own from
    # here.
    os.execv(sys.executable, [sys.executable, "-m", "lowtide_service", *arguments])
