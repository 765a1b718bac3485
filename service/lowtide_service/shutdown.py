"""What a stopping server tells the requests it can no longer finish."""

from __future__ import annotations

from asyncio import CancelledError

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lowtide_service import problems
from lowtide_service.problem_responses import problem_response


class AnswerWhenStopped:
    """ASGI middleware: a request that uvicorn cancels at its shutdown still gets an answer."""

    def __init__(self, app: ASGIApp, retry_after_seconds: int) -> None:
        self._app = app
        self._retry_after_seconds = retry_after_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on; answers for the application when it is cancelled."""
        answering = scope["type"] != "http"

        async def noting_start(message: Message) -> None:
            nonlocal answering
            answering = True
            await send(message)

        try:
            await self._app(scope, receive, noting_start)
        except CancelledError:
            if answering:
                raise
            error = problems.stopping(self._retry_after_seconds)
            await problem_response(Request(scope), error)(scope, receive, send)
