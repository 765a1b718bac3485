"""Work that stops when nobody waits for it any more."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
from starlette.requests import ClientDisconnect, Request

from lowtide_service.problems import ServiceError

Result = TypeVar("Result")


async def until_disconnect(request: Request, work: Callable[[], Awaitable[Result]]) -> Result:
    """The result of the work, cancelled when the client goes away. The body must have been read.

    Raises:
        starlette.requests.ClientDisconnect: the client went away first.
        ServiceError: from the work.
    """
    outcome: Result | ServiceError | ClientDisconnect = ClientDisconnect()
    async with anyio.create_task_group() as group:

        async def watch() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                continue
            group.cancel_scope.cancel()

        group.start_soon(watch)
        try:
            outcome = await work()
        except ServiceError as error:
            # Carried out as a value: a task group would wrap it.
            outcome = error
        group.cancel_scope.cancel()
    if isinstance(outcome, ServiceError | ClientDisconnect):
        raise outcome
    return outcome
