"""Every problem of a document that is not a valid graph: the slow way, once validation has failed.

Each tensor and op is looked at by itself, so that one wrong field hides nothing elsewhere. Then the
rules between fields are checked on what could be read; what would only repeat a problem is muted.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from lowtide.wire import FORMAT, MAX_NAME_CHARACTERS, MAX_RUNS, GraphFields, WireOp, WireTensor
from lowtide.wire_checks import check_rules
from lowtide.wire_errors import (
    EnoughProblemsError,
    GraphError,
    ProblemList,
    placeholder_name,
    pointer_to,
    quoted,
)

_Model = TypeVar("_Model", bound=BaseModel)

_PLACEHOLDERS: dict[str, object] = {"format": FORMAT, "bytes": 0, "inputs": (), "outputs": ()}
_RANGES = {
    "bytes": "from 0 to 2^62",
    "workspace_bytes": "from 0 to 2^62",
    "cost": "from 0 to 2^62",
    "max_runs": f"from 1 to {MAX_RUNS}",
}
_MAX_SHOWN_BITS = 200
_EMPTY: tuple[object, ...] = ()
# What an unreadable field makes of the rules: these codes would only repeat that it is unreadable.
_MUTED_BY_FIELD: dict[str, tuple[str, ...]] = {
    "tensors.name": ("unknown_tensor",),
    "tensors.view_of": ("never_made", "input_view", "in_place_same_storage"),
    "ops.name": ("unknown_op",),
    "ops.inputs": ("in_place_input", "mutates_not_input"),
    "ops.outputs": ("never_made", "in_place_output"),
    "inputs": ("never_made", "input_view", "pinned_not_input"),
    "tensors": ("unknown_tensor",),
    "ops": ("never_made",),
}


def find_problems(document: Mapping[str, object]) -> GraphError:
    """All problems of a document that WireGraph refuses."""
    problems = ProblemList()
    with suppress(EnoughProblemsError):
        check_rules(_readable_part(document, problems), problems)
    return problems.error()


def _readable_part(document: Mapping[str, object], problems: ProblemList) -> GraphFields:
    """The graph without what cannot be read, which is reported; positions in lists are kept."""
    items = {field: document.get(field) for field in ("tensors", "ops")}
    lists = {field: value for field, value in items.items() if isinstance(value, list | tuple)}
    frame = _read(GraphFields, {**document, **dict.fromkeys(lists, _EMPTY)}, "", "", problems)
    tensors = tuple(
        _read(WireTensor, item, "tensors", f"tensors/{i}", problems)
        for i, item in enumerate(lists.get("tensors", _EMPTY))
    )
    ops = tuple(
        _read(WireOp, item, "ops", f"ops/{v}", problems)
        for v, item in enumerate(lists.get("ops", _EMPTY))
    )
    return frame.model_copy(update={"tensors": tensors, "ops": ops})


def _read(
    model: type[_Model], value: object, kind: str, where: str, problems: ProblemList
) -> _Model:
    """The value as a model; what cannot be read is reported and replaced by something harmless.

    Args:
        kind: `tensors`, `ops`, or empty for the graph itself.
        where: where the value stands, as a pointer without its first slash.
    """
    if not isinstance(value, Mapping) or len(value) <= len(model.model_fields):
        with suppress(ValidationError):
            return model.model_validate(value)
    readable: Mapping[str, object] = {}
    if isinstance(value, Mapping):
        readable = _readable_fields(model, value, kind, where, problems)
    else:
        problems.add("wrong_type", f"expected an object, not {_shown(value)}", f"/{where}")
    for field in model.model_fields.keys() - readable.keys():
        # A field that is merely absent and optional is as good as read.
        if (
            not isinstance(value, Mapping)
            or field in value
            or model.model_fields[field].is_required()
        ):
            problems.mute(_MUTED_BY_FIELD.get(f"{kind}.{field}" if kind else field, ()))
    placeholders = {**_PLACEHOLDERS, "name": placeholder_name(where)} if kind else _PLACEHOLDERS
    filled = {**placeholders, **readable}
    return model.model_construct(
        None, **{field: value for field, value in filled.items() if field in model.model_fields}
    )


def _readable_fields(
    model: type[BaseModel],
    value: Mapping[str, object],
    kind: str,
    where: str,
    problems: ProblemList,
) -> dict[str, object]:
    """The fields that are right by themselves; what is wrong with the others is reported."""
    steps = where.split("/") if where else []
    subject = _usable_name(value) if kind else None
    owner = _title(kind, where, subject)
    known = {key: member for key, member in value.items() if key in model.model_fields}
    for key in value:
        if key not in known:
            text = key if isinstance(key, str) else repr(key)
            message = f"{owner} has an unknown field {quoted(text)}; remove it or correct its name"
            problems.add("unknown_field", message, pointer_to(*steps, text), subject)
    try:
        model.model_validate(known)
    except ValidationError as error:
        for details in error.errors(include_url=False):
            known.pop(str(details["loc"][0]), None)
            code, message = _explained(details)
            at = pointer_to(*steps, *details["loc"])
            problems.add(code, f"{owner}: {message}", at, subject)
    return known


def _usable_name(item: Mapping[str, object]) -> str | None:
    name = item.get("name")
    if not isinstance(name, str) or not name or len(name) > MAX_NAME_CHARACTERS:
        return None
    return None if any("\ud800" <= character <= "\udfff" for character in name) else name


def _title(kind: str, where: str, name: str | None) -> str:
    if not kind:
        return "the graph"
    return where if name is None else f"{kind.removesuffix('s')} {quoted(name)}"


def _explained(details: ErrorDetails) -> tuple[str, str]:
    """Code and message for one of pydantic's errors."""
    location = details["loc"]
    field = f'"{location[0]}"'
    shown = _shown(details["input"])
    if location[0] == "in_place" and details["type"] in ("missing", "too_long", "tuple_type"):
        return "wrong_type", f"{field} is a list of pairs [output, input]"
    match details["type"]:
        case "missing":
            return "missing_field", f"{field} is missing; add it"
        case "literal_error":
            return "unknown_format", f"{field} is {shown}; this reader knows {quoted(FORMAT)}"
        case "greater_than_equal" | "less_than_equal":
            return (
                "out_of_range",
                f"{field} must be an integer {_RANGES[str(location[0])]}, not {shown}",
            )
        case "int_type":
            return "wrong_type", f"{field} must be an integer, not {shown}"
        case "string_type":
            return "wrong_type", f"{field} must hold text, not {shown}"
        case "string_too_short":
            return "empty_name", f"{field} holds an empty name; every tensor and op needs one"
        case "string_too_long":
            return (
                "name_too_long",
                f"{field} holds a text of {len(details['input'])} characters; "
                f"the limit is {MAX_NAME_CHARACTERS}",
            )
        case "string_unicode":
            return "not_unicode", f"{field} holds text that is not Unicode; replace it"
        case "tuple_type":
            return "wrong_type", f"{field} must be a list, not {shown}"
        case _:
            return "wrong_type", f"{field}: {details['msg']}"


def _shown(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, int) and value.bit_length() > _MAX_SHOWN_BITS:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        return "an object"
    return "a list" if isinstance(value, list | tuple) else f"a {type(value).__name__}"
