"""The SDK in process and against a real server: the same answers and the same errors."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lowtide.answers import EvaluateAnswer, ScheduleAnswer
from lowtide.certificate import Certificate
from lowtide.memory import OrderError
from lowtide.wire import parse_graph
from lowtide.wire_errors import GraphError, Problem
from lowtide_client import (
    AsyncLowtide,
    CertificateError,
    GraphBuilder,
    Lowtide,
    LowtideClientError,
    ServiceConnectionError,
    ServiceError,
    ServiceTimeoutError,
    UnknownCertificateError,
)
from lowtide_client.certificate_shelf import CertificateShelf
from lowtide_client.http_messages import Reply, read_answer
from lowtide_client.inputs import read_graph

from tests.server_process import ServerProcess, cpu_seconds, eventually, running_server
from tests.service_graphs import EXAMPLES, chain, example, hard

SWIFTNET = EXAMPLES / "swiftnet-cell2.json"
LONG_SECONDS = 50.0


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


def without_circumstances(answer: ScheduleAnswer) -> dict[str, Any]:
    """What of an answer is the same wherever and whenever it is given."""
    return answer.model_dump(exclude={"solve_seconds", "cached"})


@pytest.mark.parametrize("name", ["swiftnet-cell2", "mww_v2_okay_nabu", "light_shufflenet"])
def test_both_worlds_give_the_same_answers(name: str, server: ServerProcess) -> None:
    path = EXAMPLES / f"{name}.json"
    with Lowtide() as here, Lowtide(server.url) as there:
        answers = [client.schedule(path, time_limit_seconds=20) for client in (here, there)]
        assert without_circumstances(answers[0]) == without_circumstances(answers[1])
        assert answers[0].status == "OPTIMAL"
        certificate_id = answers[0].certificate_id
        assert here.certificate(certificate_id) == there.certificate(certificate_id)
        assert here.evaluate(path) == there.evaluate(path)
        order = answers[0].order
        assert here.evaluate(path, order) == there.evaluate(path, order)
        assert here.evaluate(path, order).peak_bytes == answers[0].peak_bytes
        certificate = here.certificate(certificate_id)
        assert here.verify(path, certificate) == there.verify(path, certificate)
        assert here.verify(path, certificate).accepted


def test_every_form_of_a_graph_is_the_same_graph(lowtide: Lowtide) -> None:
    data = SWIFTNET.read_bytes()
    forms = [SWIFTNET, data, data.decode(), json.loads(data), parse_graph(data)]
    answers = {lowtide.schedule(form).certificate_id for form in forms}
    assert len(answers) == 1


def test_every_form_of_a_certificate_is_the_same_certificate(
    lowtide: Lowtide, tmp_path: Path
) -> None:
    certificate = lowtide.certificate(lowtide.schedule(SWIFTNET).certificate_id)
    text = certificate.model_dump_json()
    path = tmp_path / "certificate.json"
    path.write_text(text)
    for form in (certificate, text, text.encode(), json.loads(text), path):
        assert lowtide.verify(SWIFTNET, form).accepted


def test_a_certificate_of_another_graph_is_refused_not_an_error(lowtide: Lowtide) -> None:
    certificate = lowtide.certificate(lowtide.schedule(SWIFTNET).certificate_id)
    verdict = lowtide.verify(chain(5), certificate)
    assert not verdict.accepted
    assert verdict.reason is not None


def test_a_built_graph_is_scheduled(lowtide: Lowtide) -> None:
    b = GraphBuilder("fork")
    x = b.input("x", 1)
    big = b.op("big", "", [x], out=("big", 100))
    other = b.op("other", "", [x], out=("other", 60))
    small = b.op("small", "", [big], out=("small", 1))
    b.output(b.op("join", "", [small, other], out=("y", 1)))
    answer = lowtide.schedule(b.build())
    # Given: x (or small), big and other together. The best frees big before other is made.
    assert answer.given_order_peak_bytes == 161
    assert answer.peak_bytes == answer.lower_bound_bytes == 102
    assert answer.order == ("big", "small", "other", "join")


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


def test_async_gives_the_same_answers(server: ServerProcess) -> None:
    async def ask(url: str | None) -> tuple[Any, ...]:
        async with AsyncLowtide(url) as client:
            answer = await client.schedule(SWIFTNET, time_limit_seconds=20)
            certificate = await client.certificate(answer.certificate_id)
            with pytest.raises(UnknownCertificateError):
                await client.certificate("nothing")
            with pytest.raises(GraphError):
                await client.schedule(b"{")
            return (
                without_circumstances(answer),
                certificate,
                await client.verify(SWIFTNET, certificate),
                await client.evaluate(SWIFTNET, answer.order),
            )

    here, there = asyncio.run(ask(None)), asyncio.run(ask(server.url))
    assert here == there
    with Lowtide() as client:
        assert here[0] == without_circumstances(client.schedule(SWIFTNET))


def test_the_event_loop_stays_free_and_cancelling_stops_the_solve() -> None:
    async def run() -> tuple[int, float]:
        loop = asyncio.get_running_loop()
        turns = 0
        async with AsyncLowtide() as client:
            task = asyncio.create_task(
                client.schedule(hard(400, 1), time_limit_seconds=LONG_SECONDS)
            )
            while turns < 200:
                await asyncio.wait([task], timeout=0.001)
                assert not task.done()
                turns += 1
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            started = loop.time()
            await loop.shutdown_default_executor()  # waits for the solver's thread
            return turns, loop.time() - started

    turns, seconds_to_stop = asyncio.run(run())
    assert turns == 200
    assert seconds_to_stop < 2


def test_cancelling_reaches_the_server(server: ServerProcess) -> None:
    async def run() -> None:
        async with AsyncLowtide(server.url) as client:
            before = {pid: cpu_seconds(pid) for pid in server.workers()}
            task = asyncio.create_task(
                client.schedule(hard(400, 2), time_limit_seconds=LONG_SECONDS)
            )

            def one_is_working() -> bool:
                return any(cpu_seconds(pid) > start + 1 for pid, start in before.items())

            assert await asyncio.to_thread(eventually, one_is_working, 30)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(run())
    # The only long worker is free again long before the cancelled solve's time limit.
    with Lowtide(server.url) as client:
        certificate = client.certificate(client.schedule(SWIFTNET).certificate_id)
        assert client.verify(SWIFTNET, certificate).accepted


def test_ctrl_c_stops_a_solve_in_process() -> None:
    before = threading.active_count()
    main_thread = threading.main_thread().ident
    assert main_thread is not None
    interrupt = threading.Timer(0.3, signal.pthread_kill, [main_thread, signal.SIGINT])
    interrupt.start()
    with Lowtide() as client, pytest.raises(KeyboardInterrupt):
        client.schedule(hard(400, 3), time_limit_seconds=LONG_SECONDS)
    interrupt.join()
    assert eventually(lambda: threading.active_count() == before, 5)


def test_threads_may_share_a_client(lowtide: Lowtide) -> None:
    graph = example("swiftnet-cell2")
    answers: list[str] = []
    threads = [
        threading.Thread(target=lambda: answers.append(lowtide.schedule(graph).certificate_id))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 4
    assert len(set(answers)) == 1


def test_the_shelf_of_certificates_is_bounded() -> None:
    with Lowtide() as client:
        certificates = [
            client.certificate(client.schedule(chain(ops)).certificate_id) for ops in (10, 11, 12)
        ]
    shelf = CertificateShelf(max_entries=30)
    for certificate in certificates:
        shelf.put(certificate.identifier(), certificate)
    kept = [is_kept(shelf, certificate) for certificate in certificates]
    assert kept == [False, True, True]
    tiny = CertificateShelf(max_entries=1)
    for certificate in certificates:
        tiny.put(certificate.identifier(), certificate)
    assert [is_kept(tiny, certificate) for certificate in certificates] == [False, False, True]


def is_kept(shelf: CertificateShelf, certificate: Certificate) -> bool:
    """Whether a shelf has this certificate."""
    try:
        return shelf.get(certificate.identifier()) == certificate
    except UnknownCertificateError:
        return False
