"""`Lowtide` and `AsyncLowtide`: the same answers in process and from a server (docs/python.md)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from lowtide_client.inputs import GraphSource

if TYPE_CHECKING:
    from lowtide.answers import EvaluateAnswer, ScheduleAnswer, VerifyAnswer
    from lowtide.certificate import Certificate

    from lowtide_client.in_process import InProcess
    from lowtide_client.in_process_async import AsyncInProcess
    from lowtide_client.inputs import CertificateSource
    from lowtide_client.over_http import AsyncHttpServer, HttpServer

_WAIT_SECONDS = 300.0


class Lowtide:
    """Orders with the lowest peak memory, and certificates for them.

    `Lowtide()` solves in this process, `Lowtide("http://host:8000")` asks a server. Either way a
    graph may be a WireGraph (what `GraphBuilder.build` returns), a dict, JSON text (`str` or
    `bytes`) or a `pathlib.Path`, and is checked here before anything else. Any number of threads
    may share one object. It is a context manager; leaving it closes the connections to the server.

    Every method raises GraphError for a graph that is wrong, and with a server ServiceError,
    ServiceConnectionError and ServiceTimeoutError.
    """

    def __init__(self, server: str | None = None, *, wait_seconds: float = _WAIT_SECONDS) -> None:
        """`wait_seconds`: how long a server may be silent, on top of a request's time limit.

        Raises:
            ValueError: `server` is not an http or https URL, or `wait_seconds` is not a positive
                number.
        """
        _check_seconds("wait_seconds", wait_seconds)
        self._solver = _solver(server, wait_seconds)

    def schedule(
        self, graph: GraphSource, *, time_limit_seconds: float | None = None
    ) -> ScheduleAnswer:
        """The order with the lowest peak, or the best one found within the time limit.

        Args:
            time_limit_seconds: when None, 60 in process; a server has its own default, and a
                largest value.

        Raises:
            ValueError: the time limit is not a positive number.
        """
        _check_time_limit(time_limit_seconds)
        return self._solver.schedule(graph, time_limit_seconds)

    def evaluate(self, graph: GraphSource, order: Sequence[str] | None = None) -> EvaluateAnswer:
        """The memory profile of an order, given as op names; of the graph's own order when None.

        Raises:
            OrderError: not an order of the graph.
        """
        return self._solver.evaluate(graph, order)

    def verify(self, graph: GraphSource, certificate: CertificateSource) -> VerifyAnswer:
        """The independent checker's verdict; `accepted`: the certificate holds for the graph.

        Raises:
            CertificateError: not a certificate at all.
        """
        return self._solver.verify(graph, certificate)

    def certificate(self, certificate_id: str) -> Certificate:
        """The certificate of an earlier answer, by the answer's `certificate_id`.

        In process those of this object's last answers are kept.

        Raises:
            UnknownCertificateError: never made here, or dropped since.
        """
        return self._solver.certificate(certificate_id)

    def close(self) -> None:
        """Closes the connections to the server; nothing to do in process."""
        self._solver.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class AsyncLowtide:
    """`Lowtide` for asyncio: the same methods, to be awaited, and the same errors.

    In process, solves run on threads and the event loop stays free; cancelling the task of a
    `schedule` stops its solve. With a server, cancelling closes the connection and the server
    stops.
    """

    def __init__(self, server: str | None = None, *, wait_seconds: float = _WAIT_SECONDS) -> None:
        """As Lowtide."""
        _check_seconds("wait_seconds", wait_seconds)
        self._solver = _async_solver(server, wait_seconds)

    async def schedule(
        self, graph: GraphSource, *, time_limit_seconds: float | None = None
    ) -> ScheduleAnswer:
        """As Lowtide.schedule."""
        _check_time_limit(time_limit_seconds)
        return await self._solver.schedule(graph, time_limit_seconds)

    async def evaluate(
        self, graph: GraphSource, order: Sequence[str] | None = None
    ) -> EvaluateAnswer:
        """As Lowtide.evaluate."""
        return await self._solver.evaluate(graph, order)

    async def verify(self, graph: GraphSource, certificate: CertificateSource) -> VerifyAnswer:
        """As Lowtide.verify."""
        return await self._solver.verify(graph, certificate)

    async def certificate(self, certificate_id: str) -> Certificate:
        """As Lowtide.certificate."""
        return await self._solver.certificate(certificate_id)

    async def close(self) -> None:
        """Closes the connections to the server; nothing to do in process."""
        await self._solver.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()


# Each way is loaded only when it is taken: the solver is not needed to ask a server, nor httpx to
# solve.
def _solver(server: str | None, wait_seconds: float) -> InProcess | HttpServer:
    if server is None:
        from lowtide_client.in_process import InProcess

        return InProcess()
    from lowtide_client.over_http import HttpServer

    return HttpServer(server, wait_seconds)


def _async_solver(server: str | None, wait_seconds: float) -> AsyncInProcess | AsyncHttpServer:
    if server is None:
        from lowtide_client.in_process_async import AsyncInProcess

        return AsyncInProcess()
    from lowtide_client.over_http import AsyncHttpServer

    return AsyncHttpServer(server, wait_seconds)


def _check_time_limit(time_limit_seconds: float | None) -> None:
    if time_limit_seconds is not None:
        _check_seconds("time_limit_seconds", time_limit_seconds)


def _check_seconds(name: str, seconds: float) -> None:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise TypeError(f"{name} must be a number of seconds, not {type(seconds).__name__}")
    if not (math.isfinite(seconds) and seconds > 0):
        raise ValueError(f"{name} must be a positive number of seconds, not {seconds}")
