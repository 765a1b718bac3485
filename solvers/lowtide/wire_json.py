"""JSON text to plain Python values, strictly: UTF-8, one value per key."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple

from lowtide.wire_errors import (
    EnoughProblemsError,
    GraphError,
    Problem,
    ProblemList,
    pointer_to,
    quoted,
)

_MAX_INTEGER_CHARACTERS = 40  # enough to see that a number is past every limit of the format


class _DuplicateKeyError(Exception):
    """Some object of the document has a key twice."""


def parse_json(data: bytes | bytearray | str) -> object:
    """The value of a JSON document, in dicts, lists, strings and numbers.

    Duplicate keys are refused: which of the two values counts would depend on the reader. NaN and
    the infinities come out as floats, so that whoever reads the field can say where they stand.

    Raises:
        GraphError: not UTF-8, not JSON, nested too deeply, or an object with the same key twice.
    """
    text = data if isinstance(data, str) else _decoded(data)
    try:
        return _loaded(text, parse_int=None)
    except GraphError:
        raise
    except ValueError:
        # The interpreter refuses integers of thousands of digits without saying where they stand:
        # cut short they are still past every limit, and the field they belong to gets the blame.
        return _loaded(text, parse_int=lambda digits: int(digits[:_MAX_INTEGER_CHARACTERS]))


def _decoded(data: bytes | bytearray) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"not UTF-8 text: byte {error.start} cannot be read; save it as UTF-8 JSON"
        raise GraphError([Problem("not_json", message, "")]) from None


def _loaded(text: str, parse_int: Callable[[str], int] | None) -> object:
    try:
        return json.loads(text, object_pairs_hook=_unique_members, parse_int=parse_int)
    except _DuplicateKeyError:
        raise _duplicate_keys(text) from None
    except json.JSONDecodeError as error:
        message = f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        raise GraphError([Problem("not_json", message, "")]) from None
    except RecursionError:
        message = "nested too deeply: no part of a graph needs more than six levels"
        raise GraphError([Problem("not_json", message, "")]) from None


def _unique_members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _DuplicateKeyError
    return members


class _Object(dict[str, object]):
    """A JSON object that remembers which of its keys came more than once."""

    repeated: frozenset[str]


def _object_with_repeats(pairs: list[tuple[str, object]]) -> _Object:
    members = _Object(pairs)
    counts = Counter(key for key, _ in pairs)
    members.repeated = frozenset(key for key, count in counts.items() if count > 1)
    return members


def _duplicate_keys(text: str) -> GraphError:
    """Where the repeated keys are: a second, slower reading that the fast one need not pay for."""
    document: object = json.loads(
        text,
        object_pairs_hook=_object_with_repeats,
        parse_int=lambda digits: int(digits[:_MAX_INTEGER_CHARACTERS]),
    )
    problems = ProblemList()
    with suppress(EnoughProblemsError):
        for path, key in _repeated_keys(document):
            message = f"the key {quoted(key)} appears more than once in this object; keep one"
            problems.add("duplicate_key", message, pointer_to(*_steps(path), key))
    return problems.error()


class _Path(NamedTuple):
    """Where a value stands. Paths share their beginnings, so that a long key is held once."""

    parent: _Path | None
    step: str | int


def _repeated_keys(document: object) -> Iterator[tuple[_Path | None, str]]:
    """Every repeated key with the path of its object, in document order."""
    waiting: list[tuple[_Path | None, object]] = [(None, document)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, _Object):
            for key in sorted(value.repeated):
                yield path, key
            waiting.extend((_Path(path, key), value[key]) for key in reversed(value))
        elif isinstance(value, list):
            indices = reversed(range(len(value)))
            waiting.extend((_Path(path, index), value[index]) for index in indices)


def _steps(path: _Path | None) -> list[str | int]:
    steps = []
    while path is not None:
        steps.append(path.step)
        path = path.parent
    return steps[::-1]
