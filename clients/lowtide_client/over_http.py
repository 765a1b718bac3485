"""A server's answers over HTTP, with httpx: blocking, and for asyncio."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import quote

import httpx
from lowtide.answers import EvaluateAnswer, ScheduleAnswer, VerifyAnswer

from lowtide_client.errors import ServiceConnectionError, ServiceTimeoutError
from lowtide_client.http_messages import (
    MAX_RESPONSE_BYTES,
    Reply,
    evaluate_request,
    read_answer,
    read_certificate_reply,
    schedule_request,
    verify_request,
)
from lowtide_client.inputs import GraphSource, read_certificate, read_graph

if TYPE_CHECKING:
    from lowtide.certificate import Certificate

    from lowtide_client.inputs import CertificateSource

_CONNECT_SECONDS = 5.0
_CONNECT_RETRIES = (
    2  # of connections only: nothing has been sent yet, so no request is ever sent twice
)
_JSON_HEADERS = {"Content-Type": "application/json"}


class HttpServer:
    """Asks a server; waits in the calling thread. Any number of threads may ask at once."""

    def __init__(self, url: str, wait_seconds: float) -> None:
        self._url = checked_url(url)
        self._wait_seconds = wait_seconds
        transport = httpx.HTTPTransport(retries=_CONNECT_RETRIES)
        self._client = httpx.Client(base_url=self._url, transport=transport)

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def schedule(self, graph: GraphSource, time_limit_seconds: float | None) -> ScheduleAnswer:
        """`POST /schedule`."""
        body = schedule_request(read_graph(graph), time_limit_seconds)
        return read_answer(self._ask("schedule", body, time_limit_seconds or 0.0), ScheduleAnswer)

    def evaluate(self, graph: GraphSource, order: Sequence[str] | None) -> EvaluateAnswer:
        """`POST /evaluate`."""
        return read_answer(
            self._ask("evaluate", evaluate_request(read_graph(graph), order)), EvaluateAnswer
        )

    def verify(self, graph: GraphSource, certificate: CertificateSource) -> VerifyAnswer:
        """`POST /verify`."""
        body = verify_request(read_graph(graph), read_certificate(certificate))
        return read_answer(self._ask("verify", body), VerifyAnswer)

    def certificate(self, certificate_id: str) -> Certificate:
        """`GET /certificates/{id}`."""
        reply = self._ask(_certificate_path(certificate_id))
        return read_certificate_reply(reply, certificate_id)

    def _ask(self, path: str, body: bytes | None = None, solve_seconds: float = 0.0) -> Reply:
        seconds = self._wait_seconds + solve_seconds
        with _clear_errors(self._url, seconds):
            request = _request(self._client, path, body, seconds)
            response = self._client.send(request, stream=True)
            try:
                received = bytearray()
                for chunk in response.iter_bytes():
                    received += _counted(chunk, len(received))
                return Reply(response.status_code, bytes(received))
            finally:
                response.close()


class AsyncHttpServer:
    """The same for asyncio; large graphs are read and written off the event loop.

    Cancelling a task closes its connection, and the server stops its solve.
    """

    def __init__(self, url: str, wait_seconds: float) -> None:
        self._url = checked_url(url)
        self._wait_seconds = wait_seconds
        transport = httpx.AsyncHTTPTransport(retries=_CONNECT_RETRIES)
        self._client = httpx.AsyncClient(base_url=self._url, transport=transport)

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.aclose()

    async def schedule(
        self, graph: GraphSource, time_limit_seconds: float | None
    ) -> ScheduleAnswer:
        """`POST /schedule`."""
        body = await to_thread(lambda: schedule_request(read_graph(graph), time_limit_seconds))
        reply = await self._ask("schedule", body, time_limit_seconds or 0.0)
        return await to_thread(read_answer, reply, ScheduleAnswer)

    async def evaluate(self, graph: GraphSource, order: Sequence[str] | None) -> EvaluateAnswer:
        """`POST /evaluate`."""
        body = await to_thread(lambda: evaluate_request(read_graph(graph), order))
        return await to_thread(read_answer, await self._ask("evaluate", body), EvaluateAnswer)

    async def verify(self, graph: GraphSource, certificate: CertificateSource) -> VerifyAnswer:
        """`POST /verify`."""
        body = await to_thread(
            lambda: verify_request(read_graph(graph), read_certificate(certificate))
        )
        return await to_thread(read_answer, await self._ask("verify", body), VerifyAnswer)

    async def certificate(self, certificate_id: str) -> Certificate:
        """`GET /certificates/{id}`."""
        reply = await self._ask(_certificate_path(certificate_id))
        return await to_thread(read_certificate_reply, reply, certificate_id)

    async def _ask(self, path: str, body: bytes | None = None, solve_seconds: float = 0.0) -> Reply:
        seconds = self._wait_seconds + solve_seconds
        with _clear_errors(self._url, seconds):
            request = _request(self._client, path, body, seconds)
            response = await self._client.send(request, stream=True)
            try:
                received = bytearray()
                async for chunk in response.aiter_bytes():
                    received += _counted(chunk, len(received))
                return Reply(response.status_code, bytes(received))
            finally:
                await response.aclose()


def checked_url(url: str) -> str:
    """The base URL of a server.

    Raises:
        ValueError: not an http or https URL.
    """
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, TypeError):
        parsed = httpx.URL()
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise ValueError(f"a server is given as http://HOST:PORT or https://HOST, not {url!r}")
    return url


def _certificate_path(certificate_id: str) -> str:
    return f"certificates/{quote(certificate_id, safe='')}"


def _request(
    client: httpx.Client | httpx.AsyncClient, path: str, body: bytes | None, seconds: float
) -> httpx.Request:
    timeout = httpx.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS))
    if body is None:
        return client.build_request("GET", path, timeout=timeout)
    return client.build_request("POST", path, content=body, headers=_JSON_HEADERS, timeout=timeout)


def _counted(chunk: bytes, received_bytes: int) -> bytes:
    if received_bytes + len(chunk) > MAX_RESPONSE_BYTES:
        raise httpx.DecodingError(f"the response is larger than {MAX_RESPONSE_BYTES} bytes")
    return chunk


@contextmanager
def _clear_errors(url: str, seconds: float) -> Iterator[None]:
    try:
        yield
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        reason = str(error) or "no answer to the connection attempt"
        raise ServiceConnectionError(
            f"no Lowtide server could be reached at {url}: {reason}; is it running there?"
        ) from error
    except httpx.TimeoutException as error:
        raise ServiceTimeoutError(
            f"the server at {url} was silent for {seconds:g} seconds; it may be busy: "
            "try again later"
        ) from error
    except httpx.HTTPError as error:
        reason = str(error) or type(error).__name__
        raise ServiceConnectionError(f"the server at {url} broke off: {reason}") from error
