"""Every way a request can be wrong is one RFC 9457 document, and costs the server nothing."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from lowtide.wire import parse_graph
from lowtide.wire_errors import GraphError

from tests.server_process import ServerProcess, running_server
from tests.service_graphs import chain

MAX_BODY_BYTES = 200_000
MAX_OPS = 50
JSON = {"content-type": "application/json"}
POSTS = ("/schedule", "/evaluate", "/verify")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    path = tmp_path_factory.mktemp("errors") / "certificates.sqlite3"
    with running_server(
        path,
        max_body_bytes=MAX_BODY_BYTES,
        body_seconds=1.0,
        max_ops=MAX_OPS,
        max_tensors=60,
        max_time_limit_seconds=20,
        short_workers=1,
        long_workers=1,
    ) as server:
        yield server
        assert not [line for line in server.log if "exception" in line]
        assert not [line for line in server.log if "worker_traceback" in line]


@pytest.fixture
def client(server: ServerProcess) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client


def check_problem(response: httpx.Response, status: int, type_suffix: str) -> dict[str, Any]:
    """The document of a response that must be a well-formed problem of this kind."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    document: dict[str, Any] = response.json()
    assert document["status"] == status
    assert document["type"].endswith(type_suffix)
    assert document["title"]
    assert document["detail"]
    assert document["instance"].startswith("urn:uuid:")
    assert "Traceback" not in response.text
    return document


def check_input_problem(
    response: httpx.Response, code: str, pointer: str, subject: str | None = None
) -> dict[str, Any]:
    """The one problem of a request that is wrong in one place."""
    document = check_problem(response, 422, ":invalid-input")
    (found,) = document["problems"]
    assert (found["code"], found["pointer"], found["subject"]) == (code, pointer, subject)
    assert found["message"] == document["detail"]
    return dict(found)


@pytest.mark.parametrize(
    "path", ["/", "/nothing", "/schedule/", "/certificates", "/jobs", "/certificates/..%2fetc"]
)
def test_unknown_paths(client: httpx.Client, path: str) -> None:
    document = check_problem(client.get(path), 404, "about:blank")
    assert document["detail"].startswith("Nothing is served at /")


def test_unknown_certificates(client: httpx.Client) -> None:
    for name in ("0" * 32, "x", "a" * 5000, "%00", "'; DROP TABLE certificates"):
        check_problem(client.get(f"/certificates/{name}"), 404, ":certificate-not-found")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"])
def test_wrong_methods(client: httpx.Client, method: str) -> None:
    for path in POSTS:
        response = client.request(method, path)
        assert response.status_code == 405
        assert response.headers["allow"] == "POST"
        assert response.headers["content-type"] == "application/problem+json"
    check_problem(client.post("/healthz"), 405, "about:blank")


@pytest.mark.parametrize(
    "headers",
    [
        {"content-type": "text/plain"},
        {"content-type": "application/x-www-form-urlencoded"},
        {"content-type": "application/jsonp"},
        {},
        {**JSON, "content-encoding": "gzip"},
    ],
)
def test_wrong_media_types(client: httpx.Client, headers: dict[str, str]) -> None:
    for path in POSTS:
        response = client.post(path, content=b"{}", headers=headers)
        check_problem(response, 415, ":unsupported-media-type")


def test_media_types_may_name_their_charset(client: httpx.Client) -> None:
    content = json.dumps({"graph": chain(2)})
    headers = {"content-type": "Application/JSON; charset=utf-8"}
    assert client.post("/schedule", content=content, headers=headers).status_code == 200


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b'{"graph": }', b"\xff\xfe", b"[" * 100_000, b'{"graph": {}} trailing', b"nul"],
)
def test_not_json(client: httpx.Client, body: bytes) -> None:
    for path in POSTS:
        document = check_problem(client.post(path, content=body, headers=JSON), 400, ":not-json")
        assert document["problems"][0]["code"] == "not_json"


@pytest.mark.parametrize("body", ["[]", "null", "3", '"graph"', "1e999", "NaN"])
def test_not_an_object(client: httpx.Client, body: str) -> None:
    for path in POSTS:
        check_input_problem(client.post(path, content=body, headers=JSON), "wrong_type", "")


def test_unknown_fields_are_refused_by_name(client: httpx.Client) -> None:
    response = client.post("/schedule", json={"graph": chain(2), "time_limit": 3})
    found = check_input_problem(response, "unknown_field", "/time_limit")
    assert '"time_limit"' in found["message"]
    assert "time_limit_seconds" in found["message"]
    response = client.post("/evaluate", json={"graph": chain(2), "a/b~c": 3})
    check_input_problem(response, "unknown_field", "/a~1b~0c")
    response = client.post("/verify", json={"graph": chain(2), "certificate": {}, "x": 1})
    check_input_problem(response, "unknown_field", "/x")


@pytest.mark.parametrize("path", POSTS)
def test_unknown_fields_without_end_are_counted(path: str, client: httpx.Client) -> None:
    unknown = {f"k{i}": 1 for i in range(5000)}
    parts = {"graph": chain(2)} | ({"certificate": {}} if path == "/verify" else {})
    found = check_input_problem(client.post(path, json=parts | unknown), "too_many_problems", "")
    assert found["message"].startswith("5000 fields are wrong or unknown; known are graph, ")


def test_what_is_broken_after_a_repeated_key_is_no_fault_of_the_service(
    client: httpx.Client,
) -> None:
    for body in (b'[{"a": 1, "a": 1}, x', b'[{"a": 1, "a": 1}, ' + b"[" * 100_000):
        check_problem(client.post("/schedule", content=body, headers=JSON), 400, ":not-json")


def test_missing_fields(client: httpx.Client) -> None:
    for path in ("/schedule", "/evaluate"):
        check_input_problem(client.post(path, json={}), "missing_field", "/graph")
    response = client.post("/verify", json={"graph": chain(2)})
    check_input_problem(response, "missing_field", "/certificate")


@pytest.mark.parametrize(
    ("literal", "code"),
    [
        ("0", "out_of_range"),
        ("-1", "out_of_range"),
        ("NaN", "out_of_range"),
        ("Infinity", "out_of_range"),
        ("1e999", "out_of_range"),
        ('"5"', "wrong_type"),
        ("true", "wrong_type"),
        ("[]", "wrong_type"),
        ("20.001", "time_limit_too_large"),
    ],
)
def test_time_limits(client: httpx.Client, literal: str, code: str) -> None:
    content = f'{{"graph": {json.dumps(chain(2))}, "time_limit_seconds": {literal}}}'
    response = client.post("/schedule", content=content, headers=JSON)
    check_input_problem(response, code, "/time_limit_seconds")


def test_every_problem_of_a_graph_with_pointers_into_the_request(client: httpx.Client) -> None:
    graph = chain(5)
    graph["tensors"][2]["bytes"] = -4
    graph["ops"][1]["inputs"] = ["nothing"]
    graph["ops"][3]["colour"] = "red"
    graph["outputs"].append("nobody")
    with pytest.raises(GraphError) as caught:
        parse_graph(graph)
    expected = [
        {
            "code": p.code,
            "pointer": f"/graph{p.pointer}",
            "message": p.message,
            "subject": p.subject,
        }
        for p in caught.value.problems
    ]
    assert len(expected) >= 4
    for path in POSTS:
        body = {"graph": graph, "certificate": {}} if path == "/verify" else {"graph": graph}
        document = check_problem(client.post(path, json=body), 422, ":invalid-input")
        assert document["problems"] == expected
        assert "omitted" not in document


def test_a_flood_of_problems_is_cut_and_counted(client: httpx.Client) -> None:
    graph = {**chain(2), "outputs": [f"nobody {i}" for i in range(500)]}
    document = check_problem(client.post("/schedule", json={"graph": graph}), 422, ":invalid-input")
    assert len(document["problems"]) == 100
    assert document["omitted"] == 400


def test_duplicate_keys(client: httpx.Client) -> None:
    content = f'{{"graph": {json.dumps(chain(2))}, "graph": {{}}}}'
    response = client.post("/schedule", content=content, headers=JSON)
    check_input_problem(response, "duplicate_key", "/graph")


def test_too_many_ops_or_tensors(client: httpx.Client) -> None:
    assert client.post("/schedule", json={"graph": chain(MAX_OPS)}).status_code == 200
    response = client.post("/schedule", json={"graph": chain(MAX_OPS + 1)})
    check_input_problem(response, "too_many_ops", "/graph/ops")
    graph = chain(10)
    graph["tensors"] += [{"name": f"unused {i}", "bytes": 1} for i in range(50)]
    response = client.post("/evaluate", json={"graph": graph})
    check_input_problem(response, "too_many_tensors", "/graph/tensors")


@pytest.mark.parametrize(
    ("order", "code", "subject"),
    [
        (["op0", "op2", "op1"], "order_too_early", "op2"),
        (["op0", "op1"], "order_missing", "op2"),
        (["op0", "op1", "op1"], "order_twice", "op1"),
        (["op0", "op1", "conv"], "order_unknown", "conv"),
        (["op0", "op1", "\ud800"], "order_unknown", "\\ud800"),
        ([], "order_missing", "op0"),
    ],
)
def test_orders_that_are_none(
    client: httpx.Client, order: list[str], code: str, subject: str
) -> None:
    content = json.dumps({"graph": chain(3), "order": order})
    response = client.post("/evaluate", content=content, headers=JSON)
    check_input_problem(response, code, "/order", subject)


def test_orders_of_something_else(client: httpx.Client) -> None:
    response = client.post("/evaluate", json={"graph": chain(3), "order": ["op0", 1, 2]})
    check_input_problem(response, "wrong_type", "/order/1")
    response = client.post("/evaluate", json={"graph": chain(3), "order": "op0"})
    check_input_problem(response, "wrong_type", "/order")


def test_certificates_that_are_none(client: httpx.Client) -> None:
    graph = chain(3)
    name = client.post("/schedule", json={"graph": graph}).json()["certificate_id"]
    certificate = client.get(f"/certificates/{name}").json()

    def verify(**changes: Any) -> httpx.Response:
        body = {"graph": graph, "certificate": {**certificate, **changes}}
        return client.post("/verify", json=body)

    assert verify().json()["accepted"] is True
    check_input_problem(verify(colour=1), "unknown_field", "/certificate/colour")
    check_input_problem(verify(peak_bytes=1.5), "wrong_type", "/certificate/peak_bytes")
    check_input_problem(verify(order=[0, "1", 2]), "wrong_type", "/certificate/order/1")
    check_input_problem(verify(status="PERFECT"), "wrong_type", "/certificate/status")
    check_input_problem(verify(witness={"kind": "oath"}), "wrong_type", "/certificate/witness")
    witness = {"kind": "working-set", "op": "conv"}
    check_input_problem(verify(witness=witness), "wrong_type", "/certificate/witness/op")
    trap = {"kind": "trap-forward", "trap": [], "exits": [{}] * 10_000}
    check_input_problem(verify(witness=trap), "missing_field", "/certificate/witness/exits/0/op")
    exit_ = {"op": 0, "storage_flow": [[]] * 10_000}
    problems = verify(witness={**trap, "exits": [exit_]}).json()["problems"]
    flow = "/certificate/witness/exits/0/storage_flow/0"
    assert [each["pointer"] for each in problems] == [f"{flow}/{i}" for i in range(3)]
    unknown = {f"k{i}": 1 for i in range(5000)}
    check_input_problem(verify(witness={**trap, **unknown}), "too_many_problems", "/certificate")
    check_input_problem(verify(order=["x"] * 10_000), "wrong_type", "/certificate/order/0")
    half = f'{{"graph": {json.dumps(graph)}, "certificate": {json.dumps(certificate)}}}'.replace(
        certificate["graph_hash"], "\\ud800"
    )
    response = client.post("/verify", content=half, headers=JSON)
    check_input_problem(response, "not_unicode", "/certificate/graph_hash")
    response = client.post("/verify", json={"graph": graph, "certificate": {}})
    document = check_problem(response, 422, ":invalid-input")
    assert "/certificate/witness" in [each["pointer"] for each in document["problems"]]


def test_declared_bodies_that_are_too_large(client: httpx.Client) -> None:
    for path in POSTS:
        response = client.post(path, content=b" " * (MAX_BODY_BYTES + 1), headers=JSON)
        check_problem(response, 413, ":too-large")
    body = json.dumps({"graph": chain(2)}).encode()
    padded = body + b" " * (MAX_BODY_BYTES - len(body))
    assert client.post("/schedule", content=padded, headers=JSON).status_code == 200


def test_chunked_bodies_that_are_too_large(client: httpx.Client) -> None:
    def long() -> Iterator[bytes]:
        for _ in range(500):
            yield b" " * 65_536

    response = client.post("/schedule", content=long(), headers=JSON)
    check_problem(response, 413, ":too-large")


def raw_exchange(server: ServerProcess, sent: bytes) -> bytes:
    """What comes back for these bytes until the server closes or the answer is whole."""
    address = httpx.URL(server.url)
    assert address.port is not None
    with socket.create_connection((address.host, address.port), timeout=30) as connection:
        connection.sendall(sent)
        received = b""
        while chunk := connection.recv(65_536):
            received += chunk
            head, _, body = received.partition(b"\r\n\r\n")
            length = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-l")]
            if length and len(body) >= int(length[0].split(b":")[1]):
                break
    return received


def test_the_body_counts_not_what_its_header_says(server: ServerProcess) -> None:
    # A length that promises too much is refused at once; a missing one is counted.
    head = b"POST /schedule HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    received = raw_exchange(server, head + b"Content-Length: 99999999999999999999\r\n\r\n{")
    assert received.startswith((b"HTTP/1.1 413", b"HTTP/1.1 400"))
    chunk = b"%x\r\n" % 100_000 + b" " * 100_000 + b"\r\n"
    received = raw_exchange(server, head + b"Transfer-Encoding: chunked\r\n\r\n" + 3 * chunk)
    assert received.startswith(b"HTTP/1.1 413")


def test_a_body_that_does_not_come_is_not_waited_for(server: ServerProcess) -> None:
    head = b"POST /schedule HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    received = raw_exchange(server, head + b'Content-Length: 100\r\n\r\n{"graph":')
    assert received.startswith(b"HTTP/1.1 408")
    assert b"application/problem+json" in received


def test_wrong_requests_are_logged_without_their_contents(
    server: ServerProcess, client: httpx.Client
) -> None:
    graph = {**chain(2), "name": "a secret name", "outputs": ["a secret tensor"]}
    document = client.post("/schedule", json={"graph": graph}).json()
    line = server.wait_for_log(lambda each: each.get("request") == document["instance"], 10.0)
    assert (line["method"], line["path"], line["status"]) == ("POST", "/schedule", 422)
    assert "secret" not in json.dumps(server.log)
