"""The bodies of requests: the envelope around a graph, read strictly, with pointers to errors."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar

from lowtide.certificate import Certificate
from lowtide.wire import WireGraph, parse_graph
from lowtide.wire_errors import GraphError, Problem, ProblemList, pointer_to, quoted
from lowtide.wire_json import parse_json
from pydantic import BaseModel, ConfigDict, Field, Strict, ValidationError

_Document = dict[str, Any]


class _Request(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class ScheduleRequest(_Request):
    """Which order of the ops has the lowest peak? The time limit is on the search alone."""

    graph: _Document
    time_limit_seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None


class EvaluateRequest(_Request):
    """How much memory does this order (by op name; absent: the given one) need, step by step?"""

    graph: _Document
    order: Annotated[tuple[str, ...], Strict(False), Field(fail_fast=True)] | None = None


class VerifyRequest(_Request):
    """Does this certificate hold for this graph?"""

    graph: _Document
    certificate: _Document


RequestModel = TypeVar("RequestModel", bound=BaseModel)


def read_request(model: type[RequestModel], body: bytes) -> RequestModel:
    """The envelope of a request.

    Raises:
        GraphError: the body is not JSON, not an object, or a field other than the graph's is wrong.
    """
    document = parse_json(body)
    if not isinstance(document, dict):
        message = "the body must be a JSON object with the fields " + ", ".join(model.model_fields)
        raise GraphError([Problem("wrong_type", message, "")])
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise _described(error, model, document) from None


def read_graph(document: Mapping[str, object], max_ops: int, max_tensors: int) -> WireGraph:
    """The graph of a request; sizes are looked at before anything else is.

    Raises:
        GraphError: with pointers into the request (`/graph/...`).
    """
    too_many = [
        Problem(
            f"too_many_{field}",
            f"the graph lists {len(listed)} {field}; this server takes at most {most}",
            pointer_to("graph", field),
        )
        for field, most in (("ops", max_ops), ("tensors", max_tensors))
        if isinstance(listed := document.get(field), Sequence) and len(listed) > most
    ]
    if too_many:
        raise GraphError(too_many)
    try:
        return parse_graph(document)
    except GraphError as error:
        raise GraphError(
            [
                Problem(each.code, each.message, "/graph" + each.pointer, each.subject)
                for each in error.problems
            ],
            error.omitted,
        ) from None


def read_certificate(document: Mapping[str, object]) -> Certificate:
    """The certificate of a request: well formed, whatever it claims.

    Raises:
        GraphError: with pointers into the request (`/certificate/...`).
    """
    try:
        # In JSON mode a list is a tuple; in Python mode the strict model would refuse it.
        return Certificate.model_validate_json(json.dumps(document))
    except ValidationError as error:
        raise _described(error, Certificate, document, "certificate") from None


_CODES = {
    "extra_forbidden": "unknown_field",
    "missing": "missing_field",
    "greater_than": "out_of_range",
    "finite_number": "out_of_range",
}


def _described(
    error: ValidationError, model: type[BaseModel], document: object, *prefix: str
) -> GraphError:
    """Pydantic's errors about a document, as problems."""
    found = ProblemList()
    for details in error.errors(include_url=False):
        steps = _steps_within(document, details["loc"])
        code = _CODES.get(details["type"], "wrong_type")
        field = quoted(str(steps[-1])) if steps else "the document"
        if code == "unknown_field":
            message = f"unknown field {field}; remove it or correct its name"
            if len(steps) == 1:
                message += " (known are " + ", ".join(model.model_fields) + ")"
        elif code == "missing_field":
            message = f"{field} is missing; add it"
        else:
            message = f"{field}: {details['msg']}"
        found.add(code, message, pointer_to(*prefix, *steps))
    return found.error()


def _steps_within(document: object, location: Sequence[str | int]) -> list[str | int]:
    """The location without the steps that pydantic adds to name a member of a union."""
    steps: list[str | int] = []
    here: Any = document
    for place, step in enumerate(location):
        inside_list = isinstance(here, list) and isinstance(step, int) and step < len(here)
        if inside_list or (isinstance(here, Mapping) and step in here):
            here = here[step]
        elif place < len(location) - 1:
            continue
        steps.append(step)
    return steps
