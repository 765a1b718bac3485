"""What is known of each graph beforehand, as cases: references and other systems' results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lowtide.wire import WireGraph, parse_graph

from benchmarks.graph_files import (
    GraphFile,
    InputError,
    read_graph_files,
    read_references,
    read_rows,
    whole_number,
)

PLAIN = "plain"
IN_PLACE = "in-place"


@dataclass(frozen=True, slots=True)
class Case:
    """A graph and what its answer must be, in bytes; None where nothing is known.

    Attributes:
        optimum: the least peak, known to be proved: the answer has to be OPTIMAL at it.
        best_known: no answer may be worse.
        proved_bound: no peak may be lower.
        given_peak: the peak of the given order.
    """

    name: str
    wire: WireGraph
    optimum: int | None
    best_known: int | None
    proved_bound: int | None
    given_peak: int | None


def reference_cases(directory: Path, reference: Path) -> Iterator[Case]:
    """One case per graph of a directory, against its row of the reference table.

    Raises:
        InputError: a graph without a row, a row without a graph, or a file that cannot be read.
    """
    files = read_graph_files(directory, "graphs")
    references = read_references(reference)
    unmatched = references.keys() ^ {file.name for file in files}
    if unmatched:
        names = ", ".join(sorted(unmatched))
        raise InputError(f"not both in {directory} and in {reference}: {names}")
    for file in files:
        known = references[file.name]
        yield Case(
            name=file.name,
            wire=parse_graph(file.data),
            optimum=known.best_known if known.is_proved else None,
            best_known=known.best_known,
            proved_bound=known.lower_bound,
            given_peak=known.given_order_peak,
        )


def peer_cases(directory: Path) -> Iterator[Case]:
    """One case per graph that other systems were run on, two where it has in-place pairs.

    Raises:
        InputError: a graph without a row, a row without a graph, or a file that cannot be read.
    """
    files = {file.name: file for file in read_graph_files(directory / "graphs", "peers")}
    table = directory / "results.tsv"
    columns = (
        "graph",
        "file_order_peak",
        "single_op_bound",
        "plain_optimum",
        "in_place_optimum",
        "hmcos_peak(in_place)",
        "inductor_best(plain)",
    )
    rows = read_rows(table, columns)
    unmatched = files.keys() ^ {row["graph"] for row in rows}
    if unmatched:
        raise InputError(f"not both in {directory} and in {table}: {', '.join(sorted(unmatched))}")
    for row in rows:
        yield from _cases_of(table, row, files[row["graph"]])


def _cases_of(table: Path, row: dict[str, str], file: GraphFile) -> Iterator[Case]:
    def known(column: str) -> int | None:
        return whole_number(table, row, column) if row[column] else None

    as_given: dict[str, Any] = json.loads(file.data)
    plain, has_pairs = _without_in_place(as_given)
    yield Case(
        name=f"{file.name} ({PLAIN})",
        wire=parse_graph(plain),
        optimum=known("plain_optimum"),
        best_known=known("inductor_best(plain)"),
        proved_bound=known("single_op_bound"),
        given_peak=known("file_order_peak"),
    )
    if has_pairs:
        yield Case(
            name=f"{file.name} ({IN_PLACE})",
            wire=parse_graph(as_given),
            optimum=known("in_place_optimum"),
            best_known=known("hmcos_peak(in_place)"),
            proved_bound=None,
            given_peak=None,
        )


def _without_in_place(wire: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """The graph without its in-place pairs, and whether there were any."""
    pairs = [pair for op in wire["ops"] for pair in op.get("in_place", [])]
    ops = [{key: op[key] for key in op if key != "in_place"} for op in wire["ops"]]
    return {**wire, "ops": ops}, bool(pairs)
