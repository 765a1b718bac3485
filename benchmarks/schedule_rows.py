"""One row of the schedule table, and how it is measured: our times and peak, and the peers'."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from lowtide.answers import Status
from lowtide.build import build_graph
from lowtide.graph import Graph
from lowtide.memory import evaluate
from lowtide.schedule import Limits, Schedule, schedule
from lowtide.wire import parse_graph

from benchmarks.graph_files import GraphFile
from benchmarks.peers.answer import Outcome, PeerAnswer
from benchmarks.peers.inductor import inductor_orders
from benchmarks.peers.olla import olla_order
from benchmarks.peers.tflite_tools import tflite_tools_order
from benchmarks.solver_process import child_environment, measure_resident_bytes
from benchmarks.statistics_of_runs import repeated

COMMAND_RUNS = 3


@dataclass(frozen=True, slots=True)
class InductorRow:
    """Peaks of Inductor's orders under our memory model; `chosen`: of the one it would run."""

    lpmf_peak: int
    bfs_peak: int
    dfs_peak: int
    chosen_peak: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ExactPeerRow:
    """An exact peer's answer; `peak` under our memory model, None when it had no order."""

    outcome: Outcome
    peak: int | None
    seconds: float


@dataclass(frozen=True, slots=True)
class ScheduleRow:
    """Everything measured for one graph. Peaks and bounds are bytes, times are medians.

    Attributes:
        kernel_seconds: what `Schedule.kernel_seconds` says: orders and bounds alone.
        library_seconds: from the bytes of the file to the answer with its certificate, in a
            process that is running already.
        command_seconds: the whole `lowtide schedule` command in a new process.
        resident_bytes: the most memory a process of its own held resident, interpreter included.
    """

    name: str
    group: str
    op_count: int
    has_in_place: bool
    status: Status
    proof: str
    peak: int
    lower_bound: int
    given_peak: int
    kernel_seconds: float
    library_seconds: float
    command_seconds: float
    resident_bytes: int
    inductor: InductorRow


def measure_row(file: GraphFile, time_limit_seconds: float) -> ScheduleRow:
    """Everything about one graph but the exact peers."""
    graph = build_graph(parse_graph(file.data))
    limits = Limits(time_seconds=time_limit_seconds)

    def whole_call() -> Schedule:
        return schedule(build_graph(parse_graph(file.data)), limits)

    schedules, library_seconds = repeated(whole_call)
    answer = schedules[0]
    peak = evaluate(graph, answer.order).peak_bytes
    if peak != answer.peak_bytes:
        raise RuntimeError(f"{file.name}: the order needs {peak} bytes, not {answer.peak_bytes}")
    return ScheduleRow(
        name=file.name,
        group=file.group,
        op_count=len(graph.ops),
        has_in_place=any(op.in_place for op in graph.ops),
        status=answer.status,
        proof=answer.certificate.witness.kind,
        peak=peak,
        lower_bound=answer.lower_bound_bytes,
        given_peak=evaluate(graph, range(len(graph.ops))).peak_bytes,
        kernel_seconds=median(each.kernel_seconds for each in schedules),
        library_seconds=library_seconds,
        command_seconds=measure_command(file.path, time_limit_seconds),
        resident_bytes=measure_resident_bytes(file.path, time_limit_seconds),
        inductor=_measure_inductor(graph),
    )


def measure_command(path: Path, time_limit_seconds: float) -> float:
    """Median wall time of `lowtide schedule`, from start to exit of a new process."""
    arguments = ["schedule", str(path), "--time-limit", str(time_limit_seconds)]

    def run() -> None:
        subprocess.run(
            [*_lowtide_command(), *arguments],
            env=child_environment(),
            check=True,
            stdout=subprocess.DEVNULL,
        )

    _, seconds = repeated(run, COMMAND_RUNS)
    return seconds


def measure_olla(file: GraphFile, time_limit_seconds: float) -> ExactPeerRow:
    """The OLLA-style ILP on one graph."""
    graph = build_graph(parse_graph(file.data))
    return _exact_row(graph, olla_order(graph, time_limit_seconds))


def measure_tflite_tools(file: GraphFile, time_limit_seconds: float) -> ExactPeerRow:
    """The tflite-tools-style memoised programme on one graph."""
    graph = build_graph(parse_graph(file.data))
    return _exact_row(graph, tflite_tools_order(graph, time_limit_seconds))


def choose_for_exact_peers(rows: Sequence[ScheduleRow], count: int) -> list[ScheduleRow]:
    """The graphs exact peers can hope to finish and that tell anything: the smallest ones where the
    order matters.

    Graphs with in-place pairs are left out: the exact peers know nothing of them.
    """
    candidates = [row for row in rows if row.peak < row.given_peak and not row.has_in_place]
    return sorted(candidates, key=lambda row: (row.op_count, row.name))[:count]


def _measure_inductor(graph: Graph) -> InductorRow:
    answers, _ = repeated(lambda: inductor_orders(graph))
    peaks = {
        method: evaluate(graph, order).peak_bytes for method, order in answers[0].orders.items()
    }
    return InductorRow(
        lpmf_peak=peaks["lpmf"],
        bfs_peak=peaks["bfs"],
        dfs_peak=peaks["dfs"],
        chosen_peak=evaluate(graph, answers[0].chosen).peak_bytes,
        seconds=median(each.seconds for each in answers),
    )


def _exact_row(graph: Graph, answer: PeerAnswer) -> ExactPeerRow:
    peak = None if answer.order is None else evaluate(graph, answer.order).peak_bytes
    return ExactPeerRow(answer.outcome, peak, answer.seconds)


def _lowtide_command() -> list[str]:
    """The installed command, or its module where the package is not installed."""
    installed = Path(sys.executable).with_name("lowtide")
    return [str(installed)] if installed.exists() else [sys.executable, "-m", "lowtide_client.cli"]
