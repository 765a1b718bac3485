"""A document as a pydantic model: what is wrong with it as problems, however much is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from lowtide.wire_errors import (
    GraphError,
    Problem,
    ProblemList,
    pointer_to,
    quoted,
)

Model = TypeVar("Model", bound=BaseModel)

_CODES = {
    "extra_forbidden": "unknown_field",
    "missing": "missing_field",
    "greater_than": "out_of_range",
    "finite_number": "out_of_range",
    "string_unicode": "not_unicode",
}
_MAX_DESCRIBED_ERRORS = 1000
"""Pydantic describes all its errors or none: of millions there is only the number to be told."""


def read_model(model: type[Model], document: object, *prefix: str | int) -> Model:
    """The document as a value of the model.

    Args:
        prefix: the steps to the document within what was sent, for the pointers.

    Raises:
        GraphError: with every problem; time and memory are linear in the document.
    """
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise _explained(error, model, document, prefix) from None


def _explained(
    error: ValidationError, model: type[BaseModel], document: object, prefix: Sequence[str | int]
) -> GraphError:
    count = error.error_count()
    if count > _MAX_DESCRIBED_ERRORS:
        message = f"{count} fields are wrong or unknown; known are {', '.join(model.model_fields)}"
        problem = Problem("too_many_problems", message, pointer_to(*prefix))
        return GraphError([problem])
    problems = ProblemList()
    for details in error.errors(include_url=False):
        steps = _steps_within(document, details["loc"])
        code = _CODES.get(details["type"], "wrong_type")
        pointer = pointer_to(*prefix, *steps)
        problems.add(code, _message(code, details, steps, model), pointer)
    return problems.error()


def _message(
    code: str, details: ErrorDetails, steps: Sequence[str | int], model: type[BaseModel]
) -> str:
    field = _title(steps)
    match code:
        case "unknown_field":
            known = f" (known are {', '.join(model.model_fields)})" if len(steps) == 1 else ""
            return f"unknown field {field}; remove it or correct its name{known}"
        case "missing_field":
            return f"{field} is missing; add it"
        case "not_unicode":
            return f"{field} holds text that is not Unicode; replace it"
    match details["type"]:
        case "tuple_type":
            return f"{field} must be a list"
        case "dict_type" | "model_type" | "model_attributes_type":
            return f"{field} must be an object"
        case "union_tag_invalid" | "union_tag_not_found":
            context = details.get("ctx", {})
            tag = str(context.get("discriminator", "")).strip("'")
            known = f" of the known ones: {context['expected_tags']}" if "tag" in context else ""
            return f'{field} needs a "{tag}"{known}'
    return f"{field}: {details['msg']}"


def _title(steps: Sequence[str | int]) -> str:
    """How a message calls the value at the end of the steps."""
    match steps:
        case []:
            return "the document"
        case [*_, str(key), int(index)]:
            return f"entry {index} of {quoted(key)}"
        case [*_, int(index)]:
            return f"entry {index} of a list"
        case [*_, str(key)]:
            return quoted(key)
    raise AssertionError(steps)


def _steps_within(document: object, location: Sequence[str | int]) -> list[str | int]:
    """The location without the steps that pydantic adds to name a member of a union."""
    steps: list[str | int] = []
    here: Any = document
    for place, step in enumerate(location):
        inside_list = isinstance(here, list | tuple) and isinstance(step, int) and step < len(here)
        if inside_list or (isinstance(here, Mapping) and step in here):
            here = here[step]
        elif place < len(location) - 1:
            continue
        steps.append(step)
    return steps
