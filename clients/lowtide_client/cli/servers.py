"""The server a command asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lowtide_client.cli.exit_codes import BAD_INPUT
from lowtide_client.cli.failures import CommandError

if TYPE_CHECKING:
    from lowtide_client.sdk import Lowtide


def connect(server: str) -> Lowtide:
    """The SDK's view of the server at this URL.

    Raises:
        CommandError: it is not a URL of a server.
    """
    from lowtide_client.sdk import Lowtide

    try:
        return Lowtide(server)
    except ValueError as error:
        raise CommandError(BAD_INPUT, [f"--server: {error}"]) from None
