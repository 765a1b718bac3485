"""Connections that send no request in time are closed: uvicorn would hold them open for ever.

Each one occupies a file descriptor, and without descriptors a server accepts nobody.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol


def protocol_with_header_deadline(header_seconds: float) -> type[H11Protocol]:
    """Uvicorn's HTTP protocol, with a deadline for each request's head.

    The time counts from the connection, or from the end of the previous request's answer.
    """

    class DeadlineProtocol(H11Protocol):
        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self._watch()

        def handle_events(self) -> None:
            super().handle_events()
            self._watch()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._watch()

        def _watch(self) -> None:
            cycle: Any = self.cycle  # None before the first request
            in_request = cycle is not None and not cycle.response_complete
            if in_request or self.transport.is_closing():
                if self._deadline is not None:
                    self._deadline.cancel()
                    self._deadline = None
            elif self._deadline is None:
                self._deadline = self.loop.call_later(header_seconds, self.transport.close)

    return DeadlineProtocol
