"""What is said to a server and what its words mean, apart from how they travel."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, TypeVar

from lowtide.build import build_graph
from lowtide.memory import order_from_names
from lowtide.wire import WireGraph, dump_graph
from lowtide.wire_errors import GraphError, Problem
from pydantic import BaseModel, ConfigDict, ValidationError

from lowtide_client.errors import ServiceError, UnknownCertificateError

if TYPE_CHECKING:
    from lowtide.certificate import Certificate

MAX_RESPONSE_BYTES = 512 * 1024 * 1024
_GRAPH_FIELD = "/graph"
_SHOWN_BODY_CHARACTERS = 200

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Reply:
    """A response, read to its end."""

    status: int
    body: bytes


def schedule_request(graph: WireGraph, time_limit_seconds: float | None) -> bytes:
    """Body of `POST /schedule`; without a time limit the server uses its own."""
    if time_limit_seconds is None:
        return b'{"graph":%b}' % dump_graph(graph)
    seconds = json.dumps(time_limit_seconds, allow_nan=False).encode()
    return b'{"graph":%b,"time_limit_seconds":%b}' % (dump_graph(graph), seconds)


def evaluate_request(graph: WireGraph, order: Sequence[str] | None) -> bytes:
    """Body of `POST /evaluate`. A wrong order fails here, as it does in process.

    Raises:
        lowtide.memory.OrderError: not an order of the graph.
    """
    if order is None:
        return b'{"graph":%b}' % dump_graph(graph)
    order_from_names(build_graph(graph), order)
    return b'{"graph":%b,"order":%b}' % (dump_graph(graph), json.dumps(list(order)).encode())


def verify_request(graph: WireGraph, certificate: Certificate) -> bytes:
    """Body of `POST /verify`."""
    return b'{"graph":%b,"certificate":%b}' % (
        dump_graph(graph),
        certificate.model_dump_json().encode(),
    )


def read_answer(reply: Reply, model: type[Model]) -> Model:
    """The answer in a response.

    Raises:
        GraphError: the server finds the graph wrong (or larger than it takes); pointers into the
            graph.
        ServiceError: any other problem, or a response that is not Lowtide's.
    """
    if reply.status != HTTPStatus.OK:
        raise _problem_of(reply)
    try:
        return model.model_validate_json(reply.body)
    except ValidationError:
        raise _unexpected(reply) from None


def read_certificate_reply(reply: Reply, certificate_id: str) -> Certificate:
    """The certificate in a response to `GET /certificates/{id}`.

    Raises:
        UnknownCertificateError: the server has none of that name.
        ServiceError: any other problem; or its content does not hash to its name.
    """
    from lowtide.certificate import Certificate

    if reply.status == HTTPStatus.NOT_FOUND and _read_problem(reply) is not None:
        raise UnknownCertificateError(certificate_id)
    certificate = read_answer(reply, Certificate)
    if certificate.identifier() != certificate_id:
        raise ServiceError(
            reply.status,
            "Unexpected response",
            f"the server sent certificate {certificate.identifier()} for {certificate_id}",
        )
    return certificate


class _InputProblem(BaseModel):
    # A newer server may say more than this; what is not understood is passed over.
    model_config = ConfigDict(extra="ignore")

    code: str
    message: str
    pointer: str
    subject: str | None = None


class _ProblemDocument(BaseModel):
    model_config = ConfigDict(extra="ignore")

    type: str = "about:blank"
    title: str
    detail: str = ""
    problems: tuple[_InputProblem, ...] = ()
    omitted: int | None = None


def _read_problem(reply: Reply) -> _ProblemDocument | None:
    try:
        return _ProblemDocument.model_validate_json(reply.body)
    except ValidationError:
        return None


def _problem_of(reply: Reply) -> Exception:
    document = _read_problem(reply)
    if document is None:
        return _unexpected(reply)
    found = [
        Problem(each.code, each.message, each.pointer, each.subject) for each in document.problems
    ]
    if found and all(_is_about_graph(problem) for problem in found):
        in_graph = [
            Problem(p.code, p.message, p.pointer.removeprefix(_GRAPH_FIELD), p.subject)
            for p in found
        ]
        return GraphError(in_graph, document.omitted or 0)
    return ServiceError(reply.status, document.title, document.detail, document.type, found)


def _is_about_graph(problem: Problem) -> bool:
    return problem.pointer == _GRAPH_FIELD or problem.pointer.startswith(_GRAPH_FIELD + "/")


def _unexpected(reply: Reply) -> ServiceError:
    start = reply.body[: 4 * _SHOWN_BODY_CHARACTERS].decode("utf-8", "replace")
    shown = ascii(start[:_SHOWN_BODY_CHARACTERS])
    return ServiceError(
        reply.status,
        "Unexpected response",
        f"this is not an answer of a Lowtide server; it starts with {shown}",
    )
