"""Edits of JSON documents: by pointer where a test knows what it breaks, else at random."""

from __future__ import annotations

import copy
import random
from collections.abc import Mapping
from typing import Any

REMOVE = object()
"""As a new value: take the old one out."""


def steps_of(pointer: str) -> list[str]:
    """The keys and indices of a JSON pointer (RFC 6901)."""
    assert pointer == "" or pointer.startswith("/"), pointer
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def value_at(document: Any, pointer: str) -> Any:
    """The value a pointer leads to; KeyError or IndexError when there is none."""
    for step in steps_of(pointer):
        document = document[int(step)] if isinstance(document, list) else document[step]
    return document


def edited(document: Any, edits: Mapping[str, Any]) -> Any:
    """A copy with new values at some pointers; an index one past the end appends."""
    document = copy.deepcopy(document)
    for pointer, value in edits.items():
        parent_pointer, _, _ = pointer.rpartition("/")
        parent = value_at(document, parent_pointer)
        step = steps_of(pointer)[-1]
        key: Any = int(step) if isinstance(parent, list) else step
        if value is REMOVE:
            del parent[key]
        elif isinstance(parent, list) and key == len(parent):
            parent.append(value)
        else:
            parent[key] = value
    return document


def randomly_edited(rng: random.Random, document: Any, count: int) -> Any:
    """A copy with `count` random edits: values replaced, removed, repeated, moved or copied."""
    document = copy.deepcopy(document)
    for _ in range(count):
        spots = list(_spots(document))
        if not spots:
            return document
        parent, key = rng.choice(spots)
        choice = rng.randrange(5)
        if choice == 0:
            del parent[key]
        elif choice == 1:
            other_parent, other_key = rng.choice(spots)
            parent[key] = copy.deepcopy(other_parent[other_key])
        elif choice == 2 and isinstance(parent, list):
            parent.insert(rng.randrange(len(parent) + 1), copy.deepcopy(parent[key]))
        elif choice == 3 and isinstance(parent, list):
            parent.insert(rng.randrange(len(parent)), parent.pop(key))
        elif choice == 3 and isinstance(parent, dict):
            parent[rng.choice(_KEYS)] = copy.deepcopy(parent[key])
        else:
            parent[key] = copy.deepcopy(rng.choice(_VALUES))
    return document


_VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    1,
    -1,
    2**62,
    2**62 + 1,
    10**40,
    1.0,
    float("nan"),
    float("-inf"),
    "",
    "t0",
    "\ud800",
    "x" * 5000,
    [],
    ["t0", "t0"],
    [["t0", "t1"]],
    [[[]]],
    {},
    {"name": "t0", "bytes": 1},
)
_KEYS = ("view_of", "in_place", "mutates", "after", "pinned", "max_runs", "a/b~c", "", "\ud800")


def _spots(document: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) below a document."""
    found: list[tuple[Any, Any]] = []
    waiting = [document]
    while waiting:
        value = waiting.pop()
        keys: list[Any] = []
        if isinstance(value, dict):
            keys = list(value)
        elif isinstance(value, list):
            keys = list(range(len(value)))
        for key in keys:
            found.append((value, key))
            waiting.append(value[key])
    return found
