"""Everything that fails becomes a problem document: the handlers, and entries for the docs."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from lowtide_service import problems
from lowtide_service.access_log import request_number
from lowtide_service.problems import PROBLEM_MEDIA_TYPE, ProblemDocument, ServiceError

_CLIENT_CLOSED_REQUEST = 499  # nobody reads it; it only shows in the log


def install_problem_handlers(app: FastAPI) -> None:
    """Makes every failure of the application an RFC 9457 response."""
    app.add_exception_handler(ServiceError, _service_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(ClientDisconnect, _client_gone)
    app.add_exception_handler(Exception, _unexpected_error)


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """OpenAPI entries for these problem statuses."""
    schema = {"$ref": "#/components/schemas/ProblemDocument"}
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {PROBLEM_MEDIA_TYPE: {"schema": schema}},
        }
        for status in statuses
    }


def problem_response(request: Request, error: ServiceError) -> Response:
    """The error as a response to this request."""
    document = error.document.model_copy(update={"instance": request_number(request.scope)})
    return Response(
        document.model_dump_json(exclude_unset=True),
        status_code=document.status,
        headers=error.headers,
        media_type=PROBLEM_MEDIA_TYPE,
    )


async def _service_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ServiceError)
    return problem_response(request, error)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    detail = {
        404: f"Nothing is served at {request.url.path}.",
        405: f"{request.method} is not possible at {request.url.path}.",
    }.get(error.status_code, str(error.detail))
    document = ProblemDocument(
        type="about:blank",
        title=HTTPStatus(error.status_code).phrase,
        status=error.status_code,
        detail=detail,
    )
    return problem_response(request, ServiceError(document, error.headers))


async def _client_gone(request: Request, error: Exception) -> Response:
    return Response(status_code=_CLIENT_CLOSED_REQUEST)


async def _unexpected_error(request: Request, error: Exception) -> Response:
    return problem_response(request, problems.internal_error())
