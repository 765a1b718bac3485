"""The jobs of a worker process: a request's body in, the answer's body out.

Everything that grows with a graph happens here and not in the event loop: reading, hashing, looking
up, solving, writing.
"""

from __future__ import annotations

from dataclasses import dataclass

from lowtide.answer_builder import evaluate_answer, schedule_answer
from lowtide.build import build_graph
from lowtide.certificate import parse_certificate
from lowtide.checked_schedule import checked
from lowtide.checker import check
from lowtide.graph import Graph
from lowtide.memory import OrderError, evaluate, order_from_names
from lowtide.schedule import Limits, Schedule, schedule
from lowtide.wire_errors import GraphError, Problem
from sqlalchemy.exc import SQLAlchemyError

from lowtide_service.cached_answers import KnownGraph, find_cached
from lowtide_service.recent_results import RecentResults
from lowtide_service.replies import Answer, replying
from lowtide_service.request_models import (
    EvaluateRequest,
    ScheduleRequest,
    VerifyRequest,
    read_graph,
    read_request,
)
from lowtide_service.settings import MEBIBYTE
from lowtide_service.store.certificate_store import CertificateStore, StoredSolve
from lowtide_service.worker_setup import WorkerConfig, prepared_store


@dataclass(frozen=True, slots=True)
class Undecided:
    """The short attempt was not enough; `time_limit_seconds` is what the request allows."""

    time_limit_seconds: float


@dataclass(frozen=True, slots=True)
class _Question:
    known: KnownGraph
    allowed_seconds: float


_recent_questions: RecentResults[_Question] = RecentResults(4 * MEBIBYTE)
"""Build servers ask the same thing again; reading and hashing a graph is most of a cached answer.
What is remembered follows from the bytes alone: the store is still asked, its answer re-checked."""


def warm_up(config: WorkerConfig) -> None:
    """Loads everything a first request would have to wait for."""
    prepared_store(config).ping()


@replying
def schedule_job(
    config: WorkerConfig, body: bytes, longest_seconds: float | None
) -> Answer | Undecided:
    """`POST /schedule`: from the store when it can be, else by solving.

    With `longest_seconds` the search stops there, and unless it has decided the question by then,
    the answer is Undecided.
    """
    store = prepared_store(config)
    question = _recent_questions.get(body)
    if question is None:
        question = _read_question(config, body)
        _recent_questions.put(body, question)
    known, allowed_seconds = question.known, question.allowed_seconds
    graph = known.graph
    cached, warning = _look_up(store, known, allowed_seconds)
    if cached is not None:
        return Answer(_schedule_body(graph, cached, cached=True), warning)
    seconds = allowed_seconds if longest_seconds is None else min(allowed_seconds, longest_seconds)
    solved = schedule(graph, Limits(time_seconds=seconds))
    if solved.limit == "time" and seconds < allowed_seconds:
        return Undecided(allowed_seconds)
    solved = checked(known.wire, solved, seconds - solved.solve_seconds)
    warning = _keep(store, known, solved, allowed_seconds) or warning
    if solved.status == "FEASIBLE":
        # A shorter search may have been luckier before: never answer worse than what is known.
        best, _ = _look_up(store, known, allowed_seconds)
        if best is not None and best.certificate != solved.certificate:
            return Answer(_schedule_body(graph, best, cached=True), warning)
    return Answer(_schedule_body(graph, solved, cached=False), warning)


@replying
def evaluate_job(config: WorkerConfig, body: bytes) -> Answer:
    """`POST /evaluate`: the memory profile of the caller's order."""
    prepared_store(config)
    request = read_request(EvaluateRequest, body)
    graph = build_graph(read_graph(request.graph, config.max_ops, config.max_tensors))
    try:
        order = (
            tuple(range(len(graph.ops)))
            if request.order is None
            else order_from_names(graph, request.order)
        )
        profile = evaluate(graph, order)
    except OrderError as error:
        found = Problem(f"order_{error.fault}", str(error), "/order", error.op)
        raise GraphError([found]) from None
    return Answer(evaluate_answer(graph, profile).model_dump_json().encode())


@replying
def verify_job(
    config: WorkerConfig, body: bytes, longest_seconds: float | None
) -> Answer | Undecided:
    """`POST /verify`: what the independent checker says of a certificate.

    With `longest_seconds` the check stops there, and the answer is Undecided if more is allowed.
    """
    prepared_store(config)
    request = read_request(VerifyRequest, body)
    wire = read_graph(request.graph, config.max_ops, config.max_tensors)
    certificate = parse_certificate(request.certificate, "certificate")
    allowed_seconds = config.verify_time_limit_seconds
    seconds = allowed_seconds if longest_seconds is None else min(allowed_seconds, longest_seconds)
    verdict = check(wire, certificate, time_limit_seconds=seconds)
    if verdict.reason == "time-limit" and seconds < allowed_seconds:
        return Undecided(allowed_seconds)
    return Answer(verdict.model_dump_json().encode())


def _read_question(config: WorkerConfig, body: bytes) -> _Question:
    request = read_request(ScheduleRequest, body)
    allowed_seconds = _allowed_seconds(config, request)
    wire = read_graph(request.graph, config.max_ops, config.max_tensors)
    return _Question(KnownGraph(wire, build_graph(wire)), allowed_seconds)


def _allowed_seconds(config: WorkerConfig, request: ScheduleRequest) -> float:
    if request.time_limit_seconds is None:
        return config.default_time_limit_seconds
    if request.time_limit_seconds > config.max_time_limit_seconds:
        message = (
            f"time_limit_seconds is {request.time_limit_seconds!r}; "
            f"this server allows at most {config.max_time_limit_seconds!r}"
        )
        raise GraphError([Problem("time_limit_too_large", message, "/time_limit_seconds")])
    return request.time_limit_seconds


def _schedule_body(graph: Graph, solved: Schedule, *, cached: bool) -> bytes:
    return schedule_answer(graph, solved, cached=cached).model_dump_json().encode()


def _look_up(
    store: CertificateStore, known: KnownGraph, time_limit_seconds: float
) -> tuple[Schedule | None, str | None]:
    """A stored answer that holds for this graph, a line for the log. Failing to look is a miss."""
    try:
        return find_cached(store, known, time_limit_seconds)
    except SQLAlchemyError as error:
        return None, f"certificates could not be read: {_database_message(error)}"


def _keep(
    store: CertificateStore, known: KnownGraph, solved: Schedule, time_limit_seconds: float
) -> str | None:
    """Stores a new certificate; a line for the log when that failed: the answer stands anyway."""
    if solved.limit == "cancelled":
        return None
    name = solved.certificate.identifier()
    kept = StoredSolve(
        certificate_id=name,
        certificate=solved.certificate,
        labelled_digest=known.digest,
        solve_seconds=solved.solve_seconds,
        kernel_seconds=solved.kernel_seconds,
        limit=solved.limit,
    )
    try:
        if store.put(kept, time_limit_seconds):
            return None
        return f"certificate {name} is larger than the whole cache may be and was not kept"
    except SQLAlchemyError as error:
        return f"certificate {name} could not be kept: {_database_message(error)}"


def _database_message(error: SQLAlchemyError) -> str:
    # The full text quotes the statement's parameters, certificate included.
    return str(getattr(error, "orig", None) or type(error).__name__)
