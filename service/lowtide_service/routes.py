"""The HTTP interface: each route reads a request, hands it to a worker and passes the answer on."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from lowtide.answers import EvaluateAnswer, ScheduleAnswer, VerifyAnswer
from lowtide.certificate import Certificate
from sqlalchemy.exc import SQLAlchemyError

from lowtide_service import problems
from lowtide_service.problem_responses import documented
from lowtide_service.service import Service

router = APIRouter()


def _json(body: bytes | str) -> Response:
    return Response(body, media_type="application/json")


def _service(request: Request) -> Service:
    service = request.app.state.service
    assert isinstance(service, Service)
    return service


def _body(name: str) -> dict[str, Any]:
    schema = {"$ref": f"#/components/schemas/{name}"}
    content = {"application/json": {"schema": schema}}
    return {"requestBody": {"required": True, "content": content}}


@router.post(
    "/schedule",
    response_model=ScheduleAnswer,
    responses=documented(400, 408, 413, 415, 422, 500, 503, 504),
    openapi_extra=_body("ScheduleRequest"),
)
async def schedule(request: Request) -> Response:
    """The order of lowest peak memory, with a certificate."""
    return _json(await _service(request).schedule(request))


@router.post(
    "/evaluate",
    response_model=EvaluateAnswer,
    responses=documented(400, 408, 413, 415, 422, 500, 503, 504),
    openapi_extra=_body("EvaluateRequest"),
)
async def evaluate(request: Request) -> Response:
    """The memory profile of the caller's order."""
    return _json(await _service(request).evaluate(request))


@router.post(
    "/verify",
    response_model=VerifyAnswer,
    responses=documented(400, 408, 413, 415, 422, 500, 503, 504),
    openapi_extra=_body("VerifyRequest"),
)
async def verify(request: Request) -> Response:
    """The independent checker's verdict on a certificate."""
    return _json(await _service(request).verify(request))


@router.head("/certificates/{certificate_id}", include_in_schema=False)
@router.get(
    "/certificates/{certificate_id}",
    response_model=Certificate,
    responses=documented(404, 422, 503),
)
async def certificate(request: Request, certificate_id: str) -> Response:
    """A certificate by its name, as `certificate_id` of a schedule."""
    store = _service(request).store
    try:
        text = await run_in_threadpool(store.text_of, certificate_id)
    except SQLAlchemyError:
        raise problems.store_unavailable() from None
    if text is None:
        raise problems.certificate_not_found()
    return _json(text)


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz", response_model=dict[str, str])
async def healthz() -> Response:
    """The process answers."""
    return _json(b'{"status":"ok"}')


@router.head("/readyz", include_in_schema=False)
@router.get("/readyz", response_model=dict[str, str], responses=documented(503))
async def readyz(request: Request) -> Response:
    """Requests can be served: the store answers, and workers are up (or nobody would listen)."""
    try:
        await run_in_threadpool(_service(request).store.ping)
    except SQLAlchemyError:
        raise problems.store_unavailable() from None
    return _json(b'{"status":"ready"}')
