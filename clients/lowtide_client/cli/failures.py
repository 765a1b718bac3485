"""Everything a user can run into, as lines for standard error and an exit code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from lowtide_client.cli.exit_codes import BAD_INPUT, FAILED

_BAD_INPUT_STATUSES = (400, 413, 422)


class CommandError(Exception):
    """Ends a command: `lines` for people, `exit_code` for the shell."""

    def __init__(self, exit_code: int, lines: Sequence[str]) -> None:
        super().__init__("\n".join(lines))
        self.exit_code = exit_code
        self.lines = tuple(lines)


@contextmanager
def problems_of(shown_path: str) -> Iterator[None]:
    """Turns what is wrong with a file into a CommandError, a line per problem."""
    from lowtide.memory import OrderError
    from lowtide.wire_errors import GraphError

    from lowtide_client.errors import CertificateError

    try:
        yield
    except (GraphError, CertificateError, OrderError) as error:
        lines = [f"{shown_path}: {line}" for line in str(error).splitlines()]
        raise CommandError(BAD_INPUT, lines) from None


@contextmanager
def service_failures() -> Iterator[None]:
    """Turns what a server refuses, and a server that is not there, into a CommandError."""
    from lowtide_client.errors import LowtideClientError, ServiceError

    try:
        yield
    except ServiceError as error:
        code = BAD_INPUT if error.status in _BAD_INPUT_STATUSES else FAILED
        lines = [f"lowtide: {error}", *(f"request: {problem}" for problem in error.problems)]
        raise CommandError(code, lines) from None
    except LowtideClientError as error:
        raise CommandError(FAILED, [f"lowtide: {error}"]) from None
