"""Connections whose other end is slow, silent or gone before it has asked for anything."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.server_process import ServerProcess, running_server
from tests.service_graphs import hard

HEADER_SECONDS = 0.3
SECONDS = 30.0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that is quick to hang up."""
    path: Path = tmp_path_factory.mktemp("connections") / "certificates.sqlite3"
    with running_server(
        path, header_seconds=HEADER_SECONDS, short_workers=1, long_workers=1
    ) as server:
        yield server
        assert not [line for line in server.log if line["level"] in ("ERROR", "CRITICAL")]


def connected(server: ServerProcess) -> socket.socket:
    url = httpx.URL(server.url)
    assert url.port is not None
    return socket.create_connection((url.host, url.port), timeout=SECONDS)


@pytest.mark.parametrize("sent", [b"", b"POST /sch", b"GET /healthz HTTP/1.1\r\nHost: x\r\n"])
def test_half_a_request_is_hung_up_on(server: ServerProcess, sent: bytes) -> None:
    with connected(server) as connection:
        connection.sendall(sent)
        assert connection.recv(1) == b""


def test_half_a_second_request_is_hung_up_on(server: ServerProcess) -> None:
    with connected(server) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /he")
        answer = connection.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert answer.count(b"HTTP/1.1") == 1


def test_a_long_answer_is_waited_for_on_a_connection_used_before(server: ServerProcess) -> None:
    body = {"graph": hard(300, 3), "time_limit_seconds": 4 * HEADER_SECONDS}
    with server.client() as client:
        assert client.get("/healthz").status_code == 200
        response = client.post("/schedule", json=body)
    assert response.status_code == 200
    assert response.elapsed.total_seconds() > 2 * HEADER_SECONDS
