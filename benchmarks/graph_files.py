"""Graphs and reference tables from directories and files named on the command line."""

from __future__ import annotations

import csv
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from lowtide.wire import parse_graph
from lowtide.wire_errors import GraphError

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


class InputError(Exception):
    """A directory or table that is missing or not what it should be."""


@dataclass(frozen=True, slots=True)
class GraphFile:
    """A graph as it lies on disk: `group` says which directory it came from."""

    name: str
    group: str
    path: Path
    data: bytes


@dataclass(frozen=True, slots=True)
class Reference:
    """What is known of a graph beforehand, in bytes."""

    given_order_peak: int
    lower_bound: int
    best_known: int
    is_proved: bool


def read_graph_files(
    directory: Path, group: str, only: Collection[str] | None = None
) -> list[GraphFile]:
    """The graphs of a directory, by name; those of `only` if given.

    Raises:
        InputError: no such directory, no graph in it, or a file that is not one.
    """
    paths = sorted(directory.glob("*.json"))
    if not paths:
        raise InputError(f"{directory} holds no graphs (*.json)")
    wanted = [path for path in paths if only is None or path.stem in only]
    return [_read_graph_file(path, group) for path in wanted]


def _read_graph_file(path: Path, group: str) -> GraphFile:
    data = path.read_bytes()
    try:
        parse_graph(data)
    except GraphError as error:
        raise InputError(f"{path}: {error}") from error
    return GraphFile(path.stem, group, path, data)


def read_references(path: Path) -> dict[str, Reference]:
    """Per graph name, the row of a reference table (docs/results.md names its columns).

    Raises:
        InputError: the table cannot be read.
    """
    columns = ("name", "given_order_peak", "lower_bound", "best_known", "proved")
    return {
        row["name"]: Reference(
            given_order_peak=whole_number(path, row, "given_order_peak"),
            lower_bound=whole_number(path, row, "lower_bound"),
            best_known=whole_number(path, row, "best_known"),
            is_proved=row["proved"] == "yes",
        )
        for row in read_rows(path, columns)
    }


def read_rows(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """The rows of a tab-separated table with a header.

    Raises:
        InputError: no such file, or one of `columns` is missing.
    """
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file, delimiter="\t", restval="")
            missing = set(columns) - set(reader.fieldnames or ())
            if missing:
                raise InputError(f"{path} lacks the columns {', '.join(sorted(missing))}")
            return list(reader)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error


def whole_number(path: Path, row: dict[str, str], column: str) -> int:
    """A cell as an integer.

    Raises:
        InputError: it is not one.
    """
    try:
        return int(row[column])
    except ValueError:
        name = next(iter(row.values()))
        message = f"{path}, row {name}: {column} is {row[column]!r}, not a whole number"
        raise InputError(message) from None
