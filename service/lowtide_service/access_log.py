"""One log line per request, and its number, which problem documents repeat. Never contents."""

from __future__ import annotations

import logging
import time
import uuid

from starlette.types import ASGIApp, Message, Receive, Scope, Send

logger = logging.getLogger(__name__)

_SCOPE_KEY = "lowtide.request_number"


def request_number(scope: Scope) -> str:
    """The request's own URN, as in its log line."""
    number = scope[_SCOPE_KEY]
    assert isinstance(number, str)
    return number


class AccessLog:
    """ASGI middleware that numbers and logs requests."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on; logs its method, path, status and duration when it is done."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope[_SCOPE_KEY] = f"urn:uuid:{uuid.uuid4()}"
        started = time.perf_counter()
        status = 0

        async def noting_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting_status)
        finally:
            logger.info(
                "request",
                extra={
                    "request": scope[_SCOPE_KEY],
                    "method": scope["method"],
                    "path": scope["path"],
                    "status": status,
                    "milliseconds": round((time.perf_counter() - started) * 1000, 3),
                },
            )
