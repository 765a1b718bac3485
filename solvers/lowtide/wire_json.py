"""JSON text to plain Python values, strictly: UTF-8, one value per key."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress

from lowtide.wire_errors import (
    MAX_COUNTED_PROBLEMS,
    EnoughProblemsError,
    GraphError,
    Problem,
    ProblemList,
    pointer_to,
    quoted,
)

_MAX_INTEGER_CHARACTERS = 40  # enough to see that a number is past every limit of the format

ObjectMaker = Callable[[list[tuple[str, object]]], dict[str, object]]


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
        return _loaded(text, parse_int=_shortened)


def _decoded(data: bytes | bytearray) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"not UTF-8 text: byte {error.start} cannot be read; save it as UTF-8 JSON"
        raise GraphError([Problem("not_json", message, "")]) from None


def _loaded(text: str, parse_int: Callable[[str], int] | None) -> object:
    try:
        return _read(text, _unique_members, parse_int)
    except _DuplicateKeyError:
        raise _duplicate_keys(text) from None


def _read(text: str, make_object: ObjectMaker, parse_int: Callable[[str], int] | None) -> object:
    try:
        return json.loads(text, object_pairs_hook=make_object, parse_int=parse_int)
    except json.JSONDecodeError as error:
        message = f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        raise GraphError([Problem("not_json", message, "")]) from None
    except RecursionError:
        message = "nested too deeply: no part of a graph needs more than six levels"
        raise GraphError([Problem("not_json", message, "")]) from None


def _shortened(digits: str) -> int:
    return int(digits[:_MAX_INTEGER_CHARACTERS])


def _unique_members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _DuplicateKeyError
    return members


class _Object(dict[str, object]):
    """A JSON object some keys of which came more than once."""

    repeated: list[str]


class _RepeatFinder:
    """Makes objects that remember which of their keys were repeated, up to a number of keys."""

    def __init__(self, most: int) -> None:
        self._left = most

    def make_object(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        members = dict(pairs)
        if len(members) == len(pairs) or self._left == 0:
            return members
        counts = Counter(key for key, _ in pairs)
        found = _Object(members)
        found.repeated = [key for key, count in counts.items() if count > 1][: self._left]
        self._left -= len(found.repeated)
        return found


def _duplicate_keys(text: str) -> GraphError:
    """Where the repeated keys are: a second, slower reading that the fast one need not pay for.

    What follows the first repeat has not been read before, so this may be another error as well.
    """
    finder = _RepeatFinder(MAX_COUNTED_PROBLEMS)
    document = _read(text, finder.make_object, _shortened)
    problems = ProblemList()
    with suppress(EnoughProblemsError):
        for path, key in _repeated_keys(document):
            message = f"the key {quoted(key)} appears more than once in this object; keep one"
            problems.add("duplicate_key", message, pointer_to(*path, key))
    return problems.error()


def _repeated_keys(document: object) -> Iterator[tuple[list[str | int], str]]:
    """Every repeated key with the path of its object, in document order."""
    path: list[str | int] = []
    open_values = [_members(document)]
    if isinstance(document, _Object):
        yield from ((path, key) for key in document.repeated)
    while open_values:
        step, value = next(open_values[-1], (None, None))
        if step is None:
            open_values.pop()
            if path:
                path.pop()
        elif isinstance(value, dict | list):
            path.append(step)
            if isinstance(value, _Object):
                yield from ((path, key) for key in value.repeated)
            open_values.append(_members(value))


def _members(value: object) -> Iterator[tuple[str | int, object]]:
    if isinstance(value, dict):
        return iter(value.items())
    return iter(enumerate(value)) if isinstance(value, list) else iter(())
