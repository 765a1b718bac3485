"""What goes wrong in the SDK: the same errors in process and against a real server."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lowtide.answers import EvaluateAnswer
from lowtide.wire_errors import Problem
from lowtide_client import (
    AsyncLowtide,
    CertificateError,
    GraphBuilder,
    GraphError,
    Lowtide,
    LowtideClientError,
    OrderError,
    ServiceConnectionError,
    ServiceError,
    ServiceTimeoutError,
    UnknownCertificateError,
)
from lowtide_client.http_messages import Reply, read_answer
from lowtide_client.inputs import read_graph

from tests.server_process import ServerProcess, running_server
from tests.service_graphs import EXAMPLES, chain

SWIFTNET = EXAMPLES / "swiftnet-cell2.json"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """One server for the whole file; it takes no graph of more than 2,000 ops."""
    folder = tmp_path_factory.mktemp("server")
    with running_server(folder / "db.sqlite3", max_ops=2000, short_workers=1, long_workers=1) as it:
        yield it


@pytest.fixture(params=["in process", "server"])
def lowtide(request: pytest.FixtureRequest) -> Iterator[Lowtide]:
    """The SDK in both worlds."""
    url = None if request.param == "in process" else request.getfixturevalue("server").url
    with Lowtide(url) as client:
        yield client


WRONG_GRAPHS: dict[str, Any] = {
    "not JSON": b"{",
    "list": b"[]",
    "path as text": str(SWIFTNET),
    "cycle": {
        "format": "lowtide.graph/1",
        "tensors": [{"name": "a", "bytes": 1}, {"name": "b", "bytes": 1}],
        "ops": [
            {"name": "f", "inputs": ["b"], "outputs": ["a"]},
            {"name": "g", "inputs": ["a"], "outputs": ["b"]},
        ],
        "inputs": [],
        "outputs": [],
    },
    "several": {
        "format": "lowtide.graph/1",
        "tensors": [{"name": "a", "bytes": -1}],
        "ops": [{"name": "f", "inputs": ["q"], "outputs": ["a"], "colour": 1}],
        "inputs": [],
        "outputs": ["r"],
    },
}


@pytest.mark.parametrize("wrong", WRONG_GRAPHS)
def test_a_wrong_graph_raises_the_same_error_everywhere(wrong: str, lowtide: Lowtide) -> None:
    graph = WRONG_GRAPHS[wrong]
    with pytest.raises(GraphError) as expected:
        read_graph(graph)
    calls: list[Callable[[], object]] = [
        lambda: lowtide.schedule(graph),
        lambda: lowtide.evaluate(graph),
        lambda: lowtide.verify(graph, b"{}"),
    ]
    for call in calls:
        with pytest.raises(GraphError) as caught:
            call()
        assert caught.value.problems == expected.value.problems


def test_a_wrong_order_raises_the_same_error_everywhere(lowtide: Lowtide) -> None:
    faults = {}
    for order in (["op1", "op0"], ["op0"], ["op0", "op0"], ["op0", "nothing"]):
        with pytest.raises(OrderError) as caught:
            lowtide.evaluate(chain(2), order)
        faults[tuple(order)] = (caught.value.fault, caught.value.op)
    assert list(faults.values()) == [
        ("too_early", "op1"),
        ("missing", "op1"),
        ("twice", "op0"),
        ("unknown", "nothing"),
    ]


def test_what_is_no_certificate_raises_the_same_error_everywhere(lowtide: Lowtide) -> None:
    for wrong in (b"{", "[]", {"format": "lowtide.certificate/2"}, {"order": {1, 2}}):
        with pytest.raises(CertificateError) as caught:
            lowtide.verify(SWIFTNET, wrong)
        assert caught.value.problems


def test_an_unknown_certificate_raises_the_same_error_everywhere(lowtide: Lowtide) -> None:
    for name in ("0" * 32, "../healthz", "a b"):
        with pytest.raises(UnknownCertificateError) as caught:
            lowtide.certificate(name)
        assert caught.value.certificate_id == name


def test_a_wrong_time_limit_raises_the_same_error_everywhere(lowtide: Lowtide) -> None:
    for wrong in (0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="positive number of seconds"):
            lowtide.schedule(SWIFTNET, time_limit_seconds=wrong)
    with pytest.raises(TypeError, match="time_limit_seconds"):
        lowtide.schedule(SWIFTNET, time_limit_seconds="10")  # type: ignore[arg-type]


def test_arguments_of_the_wrong_kind_are_named(lowtide: Lowtide, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="pass what build"):
        lowtide.schedule(GraphBuilder("x"))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not int"):
        lowtide.verify(SWIFTNET, 7)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        lowtide.schedule(tmp_path / "nothing.json")


def test_what_only_the_server_refuses_comes_back_as_graph_error(server: ServerProcess) -> None:
    with Lowtide(server.url) as client, pytest.raises(GraphError) as caught:
        client.schedule(chain(2001))
    assert [(p.code, p.pointer) for p in caught.value.problems] == [("too_many_ops", "/ops")]


def test_a_time_limit_past_the_servers_is_a_service_error(server: ServerProcess) -> None:
    with Lowtide(server.url) as client, pytest.raises(ServiceError) as caught:
        client.schedule(SWIFTNET, time_limit_seconds=10_000)
    error = caught.value
    assert error.status == 422
    assert error.type == "urn:problem-type:lowtide:invalid-input"
    assert [p.pointer for p in error.problems] == ["/time_limit_seconds"]
    assert "allows at most" in str(error)


def test_problem_documents_become_errors_with_pointers_into_the_graph() -> None:
    def reply(*pointers: str) -> Reply:
        problems = [
            {"code": "c", "message": "m", "pointer": pointer, "subject": None, "new": 1}
            for pointer in pointers
        ]
        body = {"type": "t", "title": "T", "status": 422, "detail": "d", "problems": problems}
        return Reply(422, json.dumps(body | {"omitted": 3}).encode())

    with pytest.raises(GraphError) as graph_error:
        read_answer(reply("/graph/ops/0", "/graph"), EvaluateAnswer)
    assert graph_error.value.problems == (Problem("c", "m", "/ops/0"), Problem("c", "m", ""))
    assert graph_error.value.omitted == 3
    with pytest.raises(ServiceError) as mixed:
        read_answer(reply("/graph/ops/0", "/graphics"), EvaluateAnswer)
    assert [p.pointer for p in mixed.value.problems] == ["/graph/ops/0", "/graphics"]


@pytest.mark.parametrize(
    ("status", "body"),
    [(200, b"<html>proxy</html>"), (200, b"{}"), (502, b"<html>proxy</html>"), (404, b"\xff")],
)
def test_what_no_lowtide_server_says_is_a_service_error(status: int, body: bytes) -> None:
    with pytest.raises(ServiceError, match="not an answer of a Lowtide server") as caught:
        read_answer(Reply(status, body), EvaluateAnswer)
    assert caught.value.status == status


def test_no_server_is_a_connection_error() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with Lowtide(url) as client, pytest.raises(ServiceConnectionError, match=url) as caught:
            client.evaluate(SWIFTNET)
    assert isinstance(caught.value, ConnectionError)
    assert isinstance(caught.value, LowtideClientError)


def test_a_silent_server_is_a_timeout_and_the_request_is_sent_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with (
            Lowtide(url, wait_seconds=0.2) as client,
            pytest.raises(ServiceTimeoutError, match=r"silent for 0\.2 seconds"),
        ):
            client.evaluate(SWIFTNET)
        listener.setblocking(False)
        listener.accept()[0].close()
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_a_server_that_breaks_off_is_a_connection_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def break_off() -> None:
            connection, _ = listener.accept()
            connection.recv(10)
            connection.close()

        thread = threading.Thread(target=break_off)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with Lowtide(url) as client, pytest.raises(ServiceConnectionError, match="broke off"):
            client.evaluate(SWIFTNET)
        thread.join()


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://host", "http://", "", "http://a:x", "x"])
def test_what_is_no_url_is_refused_at_once(url: str) -> None:
    for kind in (Lowtide, AsyncLowtide):
        with pytest.raises(ValueError, match="http://HOST:PORT"):
            kind(url)
