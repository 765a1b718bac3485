"""The OpenAPI document: request bodies are read by workers, so their schemas are added by hand."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from lowtide.certificate import Certificate
from lowtide.wire import WireGraph
from pydantic.json_schema import models_json_schema

from lowtide_service.problems import ProblemDocument
from lowtide_service.request_models import EvaluateRequest, ScheduleRequest, VerifyRequest

_REQUESTS = {model.__name__ for model in (ScheduleRequest, EvaluateRequest, VerifyRequest)}
_PARTS = {"graph": WireGraph.__name__, "certificate": Certificate.__name__}
_BODIES = (WireGraph, ScheduleRequest, EvaluateRequest, VerifyRequest, ProblemDocument)


def install_api_docs(app: FastAPI) -> None:
    """Makes `/openapi.json` and `/docs` describe every body."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]


def _document(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes
    )
    _, bodies = models_json_schema(
        [(model, "validation") for model in _BODIES],
        ref_template="#/components/schemas/{model}",
    )
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    for name, schema in bodies["$defs"].items():
        for field, described in schema.get("properties", {}).items():
            if name in _REQUESTS and field in _PARTS:
                described.clear()
                described["$ref"] = f"#/components/schemas/{_PARTS[field]}"
        schemas.setdefault(name, schema)
    return document
