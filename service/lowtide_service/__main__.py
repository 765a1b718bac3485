"""`python -m lowtide_service`: the server. Each worker runs this file once more: keep it light."""

from __future__ import annotations

from os import PathLike
from typing import Any


def main(
    host: str | None = None,
    port: int | None = None,
    database_path: str | PathLike[str] | None = None,
) -> None:
    """Serves until told to stop; what is not given comes from the settings (`LOWTIDE_...`).

    Raises:
        pydantic.ValidationError: a setting is not valid.
        SystemExit: the server stopped, with status 0 unless it could not start.
    """
    from lowtide_service.server import serve
    from lowtide_service.settings import Settings

    given: dict[str, Any] = {"host": host, "port": port, "database_path": database_path}
    serve(Settings(**{name: value for name, value in given.items() if value is not None}))


if __name__ == "__main__":
    from lowtide_service.command import run_command

    run_command()
