"""Worker processes that die, overrun, are given up or orphaned: nothing else notices."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.server_process import (
    ServerProcess,
    cpu_seconds,
    eventually,
    is_alive,
    running_server,
)
from tests.service_graphs import chain, example, hard

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="looks for worker processes in /proc"
)

HARD = hard(2000, seed=1)
SECONDS = 30.0
"""How long anything may take that should happen soon; generous, because the machine may be busy."""
BUSY_SECONDS = 0.4
"""Processor time that shows a worker past reading the graph and past the short attempt."""


@pytest.fixture
def database_path(tmp_path: Path) -> Path:
    return tmp_path / "certificates.sqlite3"


@contextmanager
def long_solve(server: ServerProcess, time_limit_seconds: float = 60) -> Iterator[Future[Any]]:
    """A request for a hard graph, running in a thread; yields once a worker is at work on it."""
    at_rest = {pid: cpu_seconds(pid) for pid in server.workers()}

    def ask() -> httpx.Response:
        with server.client(120.0) as client:
            body = {"graph": HARD, "time_limit_seconds": time_limit_seconds}
            return client.post("/schedule", json=body)

    with ThreadPoolExecutor(1) as executor:
        future = executor.submit(ask)
        assert eventually(lambda: busiest(server, at_rest)[1] > BUSY_SECONDS, SECONDS)
        yield future


def busiest(server: ServerProcess, at_rest: dict[int, float]) -> tuple[int, float]:
    """The worker that has used most processor time since, and how much."""
    used = {pid: cpu_seconds(pid) - at_rest.get(pid, 0.0) for pid in server.workers()}
    return max(used.items(), key=lambda item: item[1], default=(0, 0.0))


def busy_worker(server: ServerProcess) -> int:
    """The worker that is computing right now."""
    at_rest = {pid: cpu_seconds(pid) for pid in server.workers()}
    assert eventually(lambda: busiest(server, at_rest)[1] > 0.1, SECONDS)
    return busiest(server, at_rest)[0]


def check_problem(response: httpx.Response, status: int, type_suffix: str) -> None:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["type"].endswith(type_suffix)
    assert "Traceback" not in response.text


def check_serves(server: ServerProcess, size_bytes: int) -> None:
    """The server answers a small graph it has not seen, in every lane."""
    graph = chain(5, size_bytes=size_bytes)
    with server.client() as client:
        response = client.post("/schedule", json={"graph": graph})
        assert response.status_code == 200, response.text
        assert response.json()["peak_bytes"] == 2 * size_bytes
        name = response.json()["certificate_id"]
        certificate = client.get(f"/certificates/{name}").json()
        body = {"graph": graph, "certificate": certificate}
        assert client.post("/verify", json=body).json()["accepted"] is True


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSEGV])
def test_a_worker_that_dies_takes_one_request_with_it(
    database_path: Path, how: signal.Signals
) -> None:
    with running_server(database_path, short_workers=1, long_workers=1) as server:
        before = server.workers()
        with long_solve(server) as future:
            victim = busy_worker(server)
            os.kill(victim, how)
            check_serves(server, 11)
            check_problem(future.result(SECONDS), 500, ":worker-died")
        assert not is_alive(victim)
        check_serves(server, 12)
        assert eventually(lambda: len(server.workers()) == len(before), SECONDS)
        assert victim not in server.workers()


def test_idle_workers_that_died_are_replaced(database_path: Path) -> None:
    with running_server(database_path, short_workers=1, long_workers=1) as server:
        for pid in server.workers():
            os.kill(pid, signal.SIGKILL)
        with server.client() as client:

            def answered() -> bool:
                response = client.post("/schedule", json={"graph": chain(3)})
                assert response.status_code in (200, 500)
                return response.status_code == 200

            assert eventually(answered, SECONDS)
        check_serves(server, 13)


def test_a_worker_that_does_not_stop_is_killed(database_path: Path) -> None:
    with running_server(
        database_path, short_workers=1, long_workers=1, kill_grace_seconds=1.5
    ) as server:
        with long_solve(server, time_limit_seconds=2) as future:
            victim = busy_worker(server)
            os.kill(victim, signal.SIGSTOP)  # no deadline of its own can stop it now
            check_problem(future.result(SECONDS), 504, ":worker-overran")
        assert eventually(lambda: not is_alive(victim), SECONDS)
        check_serves(server, 15)


def test_a_client_that_leaves_stops_its_solve(database_path: Path) -> None:
    with running_server(database_path, short_workers=1, long_workers=1) as server:
        at_rest = {pid: cpu_seconds(pid) for pid in server.workers()}
        body = httpx.Request("POST", "http://x", json={"graph": HARD, "time_limit_seconds": 60})
        address = httpx.URL(server.url)
        assert address.port is not None
        with socket.create_connection((address.host, address.port)) as connection:
            head = (
                "POST /schedule HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body.content)}\r\n\r\n"
            )
            connection.sendall(head.encode() + body.content)
            assert eventually(lambda: busiest(server, at_rest)[1] > BUSY_SECONDS, SECONDS)
            worker = busy_worker(server)
        assert eventually(lambda: not is_alive(worker), SECONDS)
        check_serves(server, 16)
        server.wait_for_log(lambda line: line.get("status") == 499, SECONDS)


def test_cached_and_easy_answers_do_not_wait_behind_long_solves(database_path: Path) -> None:
    with (
        running_server(database_path, short_workers=1, long_workers=1, max_waiting=0) as server,
        server.client() as client,
    ):
        assert client.post("/schedule", json={"graph": chain(9)}).status_code == 200
        with long_solve(server) as future:
            busy_worker(server)
            cached = client.post("/schedule", json={"graph": chain(9)})
            easy = client.post("/schedule", json={"graph": chain(10)})
            profile = client.post("/evaluate", json={"graph": HARD})
            assert [each.status_code for each in (cached, easy, profile)] == [200, 200, 200]
            assert cached.json()["cached"]
            assert not easy.json()["cached"]
            refused = client.post("/schedule", json={"graph": hard(2000, seed=2)})
            check_problem(refused, 503, ":overloaded")
            assert int(refused.headers["retry-after"]) >= 1
            assert not future.done()
            os.kill(busy_worker(server), signal.SIGKILL)
            check_problem(future.result(SECONDS), 500, ":worker-died")


def test_too_many_requests_are_turned_away_before_their_bodies_are_read(
    database_path: Path,
) -> None:
    with running_server(database_path, max_requests=2, body_seconds=60) as server:
        address = httpx.URL(server.url)
        assert address.port is not None
        head = (
            "POST /schedule HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            "Content-Length: 1000\r\n\r\n{"
        )
        with server.client() as client:
            slow = [socket.create_connection((address.host, address.port)) for _ in range(2)]
            for connection in slow:
                connection.sendall(head.encode())

            def turned_away() -> bool:
                response = client.post("/schedule", json={"graph": chain(2)})
                if response.status_code == 200:
                    return False
                check_problem(response, 503, ":overloaded")
                return True

            assert eventually(turned_away, SECONDS)
            assert client.get("/healthz").status_code == 200
            for connection in slow:
                connection.close()
            assert eventually(
                lambda: client.post("/schedule", json={"graph": chain(2)}).status_code == 200,
                SECONDS,
            )


def test_work_that_does_not_fit_into_memory_is_refused_alone(database_path: Path) -> None:
    with running_server(
        database_path,
        short_workers=1,
        long_workers=1,
        worker_memory_bytes=512 * 1024 * 1024,
        max_body_bytes=200 * 1024 * 1024,
    ) as server:
        # Lists of empty lists: fifty bytes of memory and more for each two of text.
        content = b'{"graph": {"tensors": [' + b"[]," * 12_000_000 + b"[]]}}"
        with server.client() as client:
            headers = {"content-type": "application/json"}
            response = client.post("/evaluate", content=content, headers=headers)
            assert response.status_code == 500, response.text
            assert response.json()["type"].endswith((":out-of-memory", ":worker-died"))
        check_serves(server, 17)


def test_a_large_graph_does_not_hold_up_others(database_path: Path) -> None:
    with running_server(database_path, short_workers=1, long_workers=1) as server:
        content = httpx.Request("POST", "http://x", json={"graph": chain(40_000)}).content

        def ask() -> int:
            with server.client(120.0) as client:
                headers = {"content-type": "application/json"}
                return client.post("/evaluate", content=content, headers=headers).status_code

        with ThreadPoolExecutor(1) as executor, server.client() as client:
            future = executor.submit(ask)
            durations = []
            while not future.done():
                response = client.get("/healthz")
                durations.append(response.elapsed.total_seconds())
            assert future.result() == 200
        assert len(durations) > 20
        assert max(durations) < 0.5


def test_a_stopped_server_leaves_no_process(database_path: Path) -> None:
    with running_server(
        database_path, short_workers=2, long_workers=2, shutdown_seconds=1
    ) as server:
        with long_solve(server) as future:
            workers = server.workers()
            assert len(workers) >= 4
            assert server.stop() == 0
            response = future.result(SECONDS)
            check_problem(response, 503, ":stopping")
            assert response.headers["retry-after"] == "5"
        assert not [line for line in server.log if "exception" in line]
        assert not [pid for pid in workers if is_alive(pid)]


def test_a_check_does_not_wait_for_long_solves(database_path: Path) -> None:
    with (
        running_server(database_path, short_workers=1, long_workers=1) as server,
        server.client() as client,
    ):
        body = {"graph": chain(3)}
        name = client.post("/schedule", json=body).json()["certificate_id"]
        certificate = client.get(f"/certificates/{name}").json()
        with long_solve(server) as future:
            answer = client.post("/verify", json={**body, "certificate": certificate}).json()
            assert not future.done()
            server.kill()
    assert answer["accepted"]


def test_a_check_that_the_short_attempt_leaves_open_is_finished(database_path: Path) -> None:
    with (
        running_server(database_path, short_solve_seconds=1e-9) as server,
        server.client() as client,
    ):
        body = {"graph": example("swiftnet-cell2")}
        name = client.post("/schedule", json=body).json()["certificate_id"]
        certificate = client.get(f"/certificates/{name}").json()
        answer = client.post("/verify", json={**body, "certificate": certificate}).json()
    assert answer["accepted"]


def test_running_requests_are_finished_before_a_stop(database_path: Path) -> None:
    with running_server(database_path, shutdown_seconds=30) as server:
        with long_solve(server, time_limit_seconds=2) as future:
            assert server.stop() == 0
            response = future.result(SECONDS)
        assert response.status_code == 200
        assert response.json()["limit"] == "time"


def test_an_interrupted_server_leaves_no_process(database_path: Path) -> None:
    with running_server(database_path) as server:
        workers = server.workers()
        assert workers
        assert server.stop(signal.SIGINT) == 0
        assert eventually(lambda: not any(map(is_alive, workers)), SECONDS)


def test_a_killed_server_takes_its_workers_along(database_path: Path) -> None:
    with running_server(database_path, short_workers=1, long_workers=1) as server:
        with long_solve(server) as future:
            workers = server.workers()
            assert len(workers) >= 2
            server.kill()
            with pytest.raises(httpx.HTTPError):
                future.result(SECONDS)
        assert eventually(lambda: not any(map(is_alive, workers)), SECONDS)
