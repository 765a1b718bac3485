"""The command line of `python -m lowtide_service`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pydantic import ValidationError

from lowtide_service.__main__ import main

_BAD_INPUT = 2


def run_command() -> None:
    """Reads the arguments and serves; a bad setting is one clear line and exit status 2."""
    parser = argparse.ArgumentParser(
        prog="python -m lowtide_service",
        description="Serve Lowtide over HTTP.",
        epilog="Everything else is set in the environment: LOWTIDE_..., see docs/service.md.",
    )
    parser.add_argument("--host", help="address to listen on (LOWTIDE_HOST)")
    parser.add_argument("--port", type=int, help="port to listen on (LOWTIDE_PORT)")
    parser.add_argument(
        "--database-path", type=Path, help="SQLite file of certificates (LOWTIDE_DATABASE_PATH)"
    )
    arguments = parser.parse_args()
    try:
        main(arguments.host, arguments.port, arguments.database_path)
    except ValidationError as error:
        for each in error.errors():
            field = "_".join(str(step) for step in each["loc"])
            print(f"LOWTIDE_{field.upper()}: {each['msg']}", file=sys.stderr)
        sys.exit(_BAD_INPUT)
