"""What the service answers, asked over HTTP from a real server with real workers."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from lowtide.answer_builder import evaluate_answer, schedule_answer
from lowtide.answers import EvaluateAnswer, ScheduleAnswer, VerifyAnswer
from lowtide.build import build_graph
from lowtide.certificate import Certificate
from lowtide.graph_identity import graph_canonical_form
from lowtide.memory import evaluate, order_from_names
from lowtide.schedule import schedule
from lowtide.wire import parse_graph
from lowtide_service.recent_results import RecentResults
from lowtide_service.store.certificate_store import CertificateStore, StoredSolve
from lowtide_service.store.engine import open_engine

from tests.oracles.random_graphs import random_wire
from tests.server_process import ServerProcess, running_server
from tests.service_graphs import (
    CUBE,
    TWO_TETRAHEDRA,
    chain,
    example,
    hard,
    renamed_and_shuffled,
)

NAMES = ["swiftnet-cell2", "mww_v2_okay_nabu", "light_shufflenet", "hmcos-nasnet-cifar"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    path = tmp_path_factory.mktemp("service") / "certificates.sqlite3"
    with running_server(path) as server:
        yield server


@pytest.fixture
def client(server: ServerProcess) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client


def ask(client: httpx.Client, graph: dict[str, Any], **fields: Any) -> ScheduleAnswer:
    response = client.post("/schedule", json={"graph": graph, **fields})
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/json"
    return ScheduleAnswer.model_validate_json(response.content)


def without_clock(answer: ScheduleAnswer) -> ScheduleAnswer:
    return answer.model_copy(update={"solve_seconds": 0.0})


@pytest.mark.parametrize("name", NAMES)
def test_from_graph_to_a_certificate_that_verifies(client: httpx.Client, name: str) -> None:
    graph = example(name)
    answer = ask(client, graph)
    assert answer.status == "OPTIMAL"
    assert answer.peak_bytes == answer.lower_bound_bytes <= answer.given_order_peak_bytes
    assert answer.limit is None
    response = client.get(f"/certificates/{answer.certificate_id}")
    assert response.status_code == 200
    certificate = Certificate.model_validate_json(response.content)
    assert certificate.identifier() == answer.certificate_id
    assert certificate.peak_bytes == answer.peak_bytes
    response = client.post("/verify", json={"graph": graph, "certificate": response.json()})
    assert response.status_code == 200, response.text
    verdict = VerifyAnswer.model_validate_json(response.content)
    assert verdict.accepted, verdict
    assert verdict.peak_bytes == answer.peak_bytes
    response = client.post("/evaluate", json={"graph": graph, "order": answer.order})
    assert response.status_code == 200, response.text
    assert response.json()["peak_bytes"] == answer.peak_bytes


@pytest.mark.parametrize("name", NAMES)
def test_the_same_answer_as_in_process(client: httpx.Client, name: str) -> None:
    document = example(name)
    document["name"] = "the same answer"
    graph = build_graph(parse_graph(document))
    expected = schedule_answer(graph, schedule(graph), cached=False)
    answer = ask(client, document)
    assert without_clock(answer) == without_clock(expected).model_copy(
        update={"cached": answer.cached}
    )


@pytest.mark.parametrize("seed", range(12))
def test_the_same_answer_as_in_process_on_random_graphs(client: httpx.Client, seed: int) -> None:
    document = random_wire(seed)
    graph = build_graph(parse_graph(document))
    expected = schedule_answer(graph, schedule(graph), cached=False)
    for time_limit_seconds in (5, None):
        answer = ask(client, document, time_limit_seconds=time_limit_seconds)
        assert answer.peak_bytes == expected.peak_bytes
        assert answer.given_order_peak_bytes == expected.given_order_peak_bytes
        order = order_from_names(graph, answer.order)
        assert evaluate(graph, order).peak_bytes == answer.peak_bytes


@pytest.mark.parametrize("seed", range(6))
def test_evaluate_tells_what_the_library_tells(client: httpx.Client, seed: int) -> None:
    document = random_wire(1000 + seed)
    graph = build_graph(parse_graph(document))
    given = tuple(range(len(graph.ops)))
    response = client.post("/evaluate", json={"graph": document})
    assert response.status_code == 200, response.text
    answer = EvaluateAnswer.model_validate_json(response.content)
    assert answer == evaluate_answer(graph, evaluate(graph, given))
    best = schedule(graph).order
    names = [graph.ops[v].name for v in best]
    response = client.post("/evaluate", json={"graph": document, "order": names})
    answer = EvaluateAnswer.model_validate_json(response.content)
    assert answer == evaluate_answer(graph, evaluate(graph, best))


@pytest.mark.parametrize("name", ["swiftnet-cell2", "swiftnet-vwwc224", "hmcos-nasnet-cifar"])
def test_renamed_and_shuffled_hits_the_cache_with_the_callers_names(
    client: httpx.Client, name: str
) -> None:
    graph = example(name)
    first = ask(client, graph)
    for seed in range(3):
        other, _ = renamed_and_shuffled(graph, seed)
        answer = ask(client, other)
        assert answer.cached
        assert answer.certificate_id == first.certificate_id
        assert answer.peak_bytes == first.peak_bytes
        values = build_graph(parse_graph(other))
        order = order_from_names(values, answer.order)
        assert evaluate(values, order).peak_bytes == answer.peak_bytes
        given = evaluate(values, range(len(values.ops))).peak_bytes
        assert answer.given_order_peak_bytes == given


def test_a_graph_that_differs_by_one_byte_misses_the_cache(client: httpx.Client) -> None:
    graph = chain(7, size_bytes=1_000_003)
    assert not ask(client, graph).cached
    assert ask(client, graph).cached
    graph["tensors"][3]["bytes"] += 1
    answer = ask(client, graph)
    assert not answer.cached
    assert answer.peak_bytes == 2 * 1_000_003 + 1


def test_feasible_answers_serve_shorter_searches_only(client: httpx.Client) -> None:
    graph = hard(2000, seed=5)
    first = ask(client, graph, time_limit_seconds=0.5)
    assert first.status == "FEASIBLE"
    assert first.limit == "time"
    assert first.lower_bound_bytes < first.peak_bytes
    assert not first.cached
    again = ask(client, graph, time_limit_seconds=0.5)
    assert again.cached
    assert again.certificate_id == first.certificate_id
    longer = ask(client, graph, time_limit_seconds=1.0)
    assert longer.peak_bytes <= first.peak_bytes
    shorter = ask(client, graph, time_limit_seconds=0.1)
    assert shorter.cached
    assert shorter.peak_bytes == longer.peak_bytes


def test_an_empty_graph_is_a_graph(client: httpx.Client) -> None:
    graph = {"format": "lowtide.graph/1", "tensors": [], "ops": [], "inputs": [], "outputs": []}
    for _ in range(2):
        answer = ask(client, graph)
        assert (answer.status, answer.peak_bytes, answer.order) == ("OPTIMAL", 0, ())
    assert client.post("/evaluate", json={"graph": graph}).json()["binding"] is None


def test_refused_certificates_say_why(client: httpx.Client) -> None:
    graph = example("swiftnet-cell2")
    name = ask(client, graph).certificate_id
    certificate = client.get(f"/certificates/{name}").json()
    wrong = {**certificate, "peak_bytes": certificate["peak_bytes"] - 1}
    verdict = client.post("/verify", json={"graph": graph, "certificate": wrong}).json()
    assert verdict["accepted"] is False
    assert verdict["reason"]
    other = chain(4)
    verdict = client.post("/verify", json={"graph": other, "certificate": certificate}).json()
    assert verdict["accepted"] is False


def test_many_clients_at_once_all_get_their_own_answer(server: ServerProcess) -> None:
    answers: dict[int, ScheduleAnswer] = {}

    def ask_one(index: int) -> None:
        with server.client() as client:
            answers[index] = ask(client, chain(20 + index, size_bytes=7 + index % 3))

    threads = [threading.Thread(target=ask_one, args=(index,)) for index in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(answers) == list(range(24))
    for index, answer in answers.items():
        assert answer.order == tuple(f"op{i}" for i in range(20 + index))
        assert answer.peak_bytes == 2 * (7 + index % 3)


def test_a_restarted_server_still_knows(tmp_path: Path) -> None:
    path = tmp_path / "kept.sqlite3"
    graph = example("swiftnet-cell2")
    with running_server(path) as server, server.client() as client:
        first = ask(client, graph)
        assert not first.cached
        server.kill()
    with running_server(path) as server, server.client() as client:
        answer = ask(client, graph)
        assert answer.cached
        assert without_clock(answer.model_copy(update={"cached": False})) == without_clock(first)
        assert client.get(f"/certificates/{first.certificate_id}").status_code == 200


def test_a_forged_cache_entry_is_a_miss_and_logged(tmp_path: Path) -> None:
    path = tmp_path / "forged.sqlite3"
    graph = chain(6)
    values = schedule(build_graph(parse_graph(graph)))
    with running_server(path) as server, server.client() as client:
        engine = open_engine(path, 5.0)
        store = CertificateStore(engine, 1000, 10**9)
        for forged in (
            values.certificate.model_copy(update={"peak_bytes": 1, "lower_bound_bytes": 1}),
            values.certificate.model_copy(update={"order": (5, 4, 3, 2, 1, 0)}),
            values.certificate.model_copy(update={"order": (0, 0, 0, 0, 0, 0)}),
            values.certificate.model_copy(update={"order": (0, 1, 2, 3, 4, 10**9)}),
        ):
            solve = StoredSolve(forged.identifier(), forged, "0" * 64, 0.1, 0.1, None)
            store.put(solve, 60.0)
        engine.dispose()
        answer = ask(client, graph)
        assert not answer.cached
        assert answer.peak_bytes == 200
        server.wait_for_log(lambda line: "do not hold" in line["message"], 10.0)
        assert ask(client, graph).peak_bytes == 200


def test_equal_hashes_of_different_graphs_do_not_share_answers(tmp_path: Path) -> None:
    hashes = {
        graph_canonical_form(build_graph(parse_graph(graph))).graph_hash
        for graph in (CUBE, TWO_TETRAHEDRA)
    }
    assert len(hashes) == 1
    for first, second in ((CUBE, TWO_TETRAHEDRA), (TWO_TETRAHEDRA, CUBE)):
        path = tmp_path / f"{first is CUBE}.sqlite3"
        with running_server(path) as server, server.client() as client:
            for graph in (first, second, first, second):
                answer = ask(client, graph)
                expected = schedule(build_graph(parse_graph(graph)))
                assert answer.status == "OPTIMAL"
                assert answer.peak_bytes == expected.peak_bytes
                name = answer.certificate_id
                certificate = client.get(f"/certificates/{name}").json()
                body = {"graph": graph, "certificate": certificate}
                assert client.post("/verify", json=body).json()["accepted"] is True


def test_a_stored_bound_that_is_false_is_not_served(tmp_path: Path) -> None:
    graph = build_graph(parse_graph(TWO_TETRAHEDRA))
    form = graph_canonical_form(graph)
    given = range(len(graph.ops))
    peak_bytes = evaluate(graph, given).peak_bytes
    honest = schedule(graph).certificate
    assert honest.peak_bytes < peak_bytes
    # A valid order with its true peak, and the claim that nothing is lower.
    forged = honest.model_copy(
        update={
            "order": tuple(form.op_position[v] for v in given),
            "peak_bytes": peak_bytes,
            "lower_bound_bytes": peak_bytes,
        }
    )
    path = tmp_path / "false.sqlite3"
    with running_server(path) as server, server.client() as client:
        engine = open_engine(path, 5.0)
        store = CertificateStore(engine, 1000, 10**9)
        store.put(StoredSolve(forged.identifier(), forged, "0" * 64, 0.1, 0.1, None), 60.0)
        engine.dispose()
        answer = ask(client, TWO_TETRAHEDRA)
        assert not answer.cached
        assert answer.peak_bytes == honest.peak_bytes
        server.wait_for_log(lambda line: "do not hold" in line["message"], 10.0)


def test_a_true_certificate_of_another_labelling_is_served(tmp_path: Path) -> None:
    graph = build_graph(parse_graph(TWO_TETRAHEDRA))
    honest = schedule(graph).certificate
    path = tmp_path / "relabelled.sqlite3"
    with running_server(path) as server, server.client() as client:
        engine = open_engine(path, 5.0)
        store = CertificateStore(engine, 1000, 10**9)
        store.put(StoredSolve(honest.identifier(), honest, "0" * 64, 0.1, 0.1, None), 60.0)
        engine.dispose()
        answer = ask(client, TWO_TETRAHEDRA)
        assert answer.cached
        assert answer.certificate_id == honest.identifier()


def test_health_and_readiness(client: httpx.Client) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"status": "ready"}
    for path in ("/healthz", "/readyz"):
        response = client.head(path)
        assert (response.status_code, response.content) == (200, b"")


def test_docs_describe_every_body(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    assert set(document["paths"]) == {
        "/schedule",
        "/evaluate",
        "/verify",
        "/certificates/{certificate_id}",
        "/healthz",
        "/readyz",
    }
    schemas = document["components"]["schemas"]
    assert schemas["ScheduleRequest"]["properties"]["graph"] == {
        "$ref": "#/components/schemas/WireGraph"
    }
    for witness in ("WorkingSetWitness", "TrapWitness", "SearchWitness"):
        assert schemas[witness]["required"][0] == "kind"
    assert not dangling_references(document, schemas)


def test_the_docs_page_asks_no_other_host(client: httpx.Client) -> None:
    page = client.get("/docs").text
    assert "SwaggerUIBundle(" in page
    assert '"validatorUrl": null' in page
    linked = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert len(linked) == 3
    for address in linked:
        assert address.startswith("/")
        assert client.get(address).status_code == 200
    assert not re.search(r"https?://", page)


def dangling_references(value: Any, schemas: dict[str, Any]) -> set[str]:
    """References of an OpenAPI document that lead nowhere."""
    if isinstance(value, list):
        return set().union(*(dangling_references(each, schemas) for each in value))
    if not isinstance(value, dict):
        return set()
    found = set().union(*(dangling_references(each, schemas) for each in value.values()))
    target = value.get("$ref")
    if isinstance(target, str) and target.removeprefix("#/components/schemas/") not in schemas:
        found.add(target)
    return found


def test_recent_results_are_bounded_by_the_size_of_their_bodies() -> None:
    recent: RecentResults[int] = RecentResults(10)
    recent.put(b"aaaa", 1)
    recent.put(b"bbbb", 2)
    assert (recent.get(b"aaaa"), recent.get(b"bbbb"), recent.get(b"a")) == (1, 2, None)
    assert recent.get(b"aaaa") == 1
    recent.put(b"cccc", 3)
    assert (recent.get(b"aaaa"), recent.get(b"bbbb"), recent.get(b"cccc")) == (1, None, 3)
    recent.put(b"d" * 11, 4)
    assert [recent.get(body) for body in (b"aaaa", b"cccc", b"d" * 11)] == [None, None, None]
    recent.put(b"eeee", 5)
    assert recent.get(b"eeee") == 5
