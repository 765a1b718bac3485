"""The SDK in process and against a real server: the same answers and the same errors."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lowtide.answers import ScheduleAnswer
from lowtide.certificate import Certificate
from lowtide.wire import parse_graph
from lowtide_client import (
    AsyncLowtide,
    GraphBuilder,
    GraphError,
    Lowtide,
    UnknownCertificateError,
)
from lowtide_client.certificate_shelf import CertificateShelf

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
