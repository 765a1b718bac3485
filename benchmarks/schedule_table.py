"""Our times and peaks beside what a user would take instead, in one run: `python -m
benchmarks.schedule_table`.

docs/results.md says what the columns mean and holds the figures of the last full run.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.progress import Progress

from benchmarks.aims import Aim, compare_with_aims
from benchmarks.graph_files import (
    EXAMPLES,
    GraphFile,
    InputError,
    Reference,
    read_graph_files,
    read_references,
)
from benchmarks.machine import Machine, this_machine
from benchmarks.schedule_rows import (
    ExactPeerRow,
    ScheduleRow,
    choose_for_exact_peers,
    measure_command,
    measure_olla,
    measure_row,
    measure_tflite_tools,
)
from benchmarks.schedule_view import aims_table, gains, schedule_table
from benchmarks.service_latency import ServiceLatency, measure_service

MAX_SERVICE_OPS = 199
HEADLINE_GROUP = "graphs"

MeasuredRow = TypeVar("MeasuredRow")


@dataclass(frozen=True, slots=True)
class Effort:
    """How long things may take."""

    time_limit_seconds: float
    exact_peer_graphs: int
    exact_peer_seconds: float


FULL = Effort(time_limit_seconds=60.0, exact_peer_graphs=12, exact_peer_seconds=60.0)
QUICK = Effort(time_limit_seconds=10.0, exact_peer_graphs=3, exact_peer_seconds=10.0)


@dataclass(frozen=True, slots=True)
class Run:
    """Everything one run measured; exact peers' answers by graph name."""

    machine: Machine
    effort: Effort
    rows: list[ScheduleRow]
    olla: dict[str, ExactPeerRow]
    tflite_tools: dict[str, ExactPeerRow]
    service: ServiceLatency | None
    aims: list[Aim]


def main() -> int:
    """Exit status: 0 done, 2 bad input."""
    arguments = _parse_arguments()
    try:
        _require_extras()
        files = _graph_files(arguments)
        references = {} if arguments.reference is None else read_references(arguments.reference)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    run = measure(files, QUICK if arguments.quick else FULL)
    _print_run(run, references)
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(asdict(run), indent=1), encoding="utf-8")
    return 0


def measure(files: Sequence[GraphFile], effort: Effort) -> Run:
    """Measures everything, one thing after the other; progress goes to standard error."""
    machine = this_machine()
    file_of = {file.name: file for file in files}
    smallest = min(files, key=lambda file: len(file.data))
    # The first command of a run compiles modules and fills the page cache.
    measure_command(smallest.path, effort.time_limit_seconds)
    rows = _with_progress(
        "schedules", files, lambda file: measure_row(file, effort.time_limit_seconds)
    )
    # An answer that is not proved would only show the time limit.
    service_files = [
        file_of[row.name]
        for row in rows
        if row.op_count <= MAX_SERVICE_OPS and row.status == "OPTIMAL"
    ]
    service = measure_service(service_files) if service_files else None
    exact = [file_of[row.name] for row in choose_for_exact_peers(rows, effort.exact_peer_graphs)]
    tflite_tools = _with_progress(
        "tflite-tools", exact, lambda file: measure_tflite_tools(file, effort.exact_peer_seconds)
    )
    olla = _with_progress("OLLA", exact, lambda file: measure_olla(file, effort.exact_peer_seconds))
    names = [file.name for file in exact]
    return Run(
        machine=machine,
        effort=effort,
        rows=rows,
        olla=dict(zip(names, olla, strict=True)),
        tflite_tools=dict(zip(names, tflite_tools, strict=True)),
        service=service,
        aims=compare_with_aims(rows, HEADLINE_GROUP, service),
    )


def _with_progress(
    label: str, files: Sequence[GraphFile], measure_one: Callable[[GraphFile], MeasuredRow]
) -> list[MeasuredRow]:
    rows = []
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=len(files))
        for file in files:
            progress.update(task, description=f"{label}: {file.name}")
            rows.append(measure_one(file))
            progress.advance(task)
    return rows


def _print_run(run: Run, references: dict[str, Reference]) -> None:
    console = Console()
    if not console.is_terminal:
        console.width = 270
    console.print(schedule_table(run.rows, run.olla, run.tflite_tools, references))
    console.print(gains(run.rows, run.olla, run.tflite_tools))
    console.print(aims_table(run.aims))
    console.print(run.machine.describe(), highlight=False)


def _require_extras() -> None:
    missing = [name for name in ("torch", "highspy", "lowtide_service") if not find_spec(name)]
    if missing:
        names = ", ".join(missing)
        raise InputError(
            f"{names} not installed: pip install 'lowtide[benchmarks]' (docs/results.md)"
        )


def _graph_files(arguments: argparse.Namespace) -> list[GraphFile]:
    only = None if arguments.only is None else set(arguments.only)
    directory = arguments.graphs or EXAMPLES
    files = read_graph_files(directory, HEADLINE_GROUP, only)
    if arguments.peers is not None:
        known = {file.name for file in files}
        peers = read_graph_files(arguments.peers / "graphs", "peers", only)
        files += [file for file in peers if file.name not in known]
    if only is not None and (unknown := only - {file.name for file in files}):
        raise InputError(f"no such graph: {', '.join(sorted(unknown))}")
    if not files:
        raise InputError("no graphs to measure")
    return files


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.schedule_table")
    parser.add_argument("--graphs", type=Path, metavar="DIR", help="directory of graphs (*.json)")
    parser.add_argument(
        "--reference", type=Path, metavar="TSV", help="what is known of them, for the last column"
    )
    parser.add_argument(
        "--peers", type=Path, metavar="DIR", help="directory whose graphs/ hold more graphs"
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="only the graphs of these names")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="the graphs of examples/ unless --graphs, shorter limits",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write everything as JSON")
    arguments = parser.parse_args()
    if arguments.graphs is None and not arguments.quick:
        parser.error("name a directory with --graphs, or take --quick for the examples")
    return arguments


if __name__ == "__main__":
    sys.exit(main())
