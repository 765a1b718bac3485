"""The bodies of requests: the envelope around a graph, read strictly, with pointers to errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar

from lowtide.read_model import read_model
from lowtide.wire import WireGraph, parse_graph
from lowtide.wire_errors import GraphError, Problem, pointer_to
from lowtide.wire_json import parse_json
from pydantic import BaseModel, ConfigDict, Field, Strict

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
    return read_model(model, document)


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
