"""Are our answers right wherever something is known? `python -m benchmarks.reference_check`.

Every answer is held against the reference, and its certificate goes through the independent
checker. An answer below what the reference calls proved is no fault when the order is valid and the
checker accepts its peak: an order is its own proof, so the reference is refuted, which is listed.
Exit status: 0 when nothing fails, 1 when something does, 2 for bad input.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter_ns

from lowtide.answers import VerifyAnswer
from lowtide.build import build_graph
from lowtide.checker import check
from lowtide.memory import OrderError, evaluate
from lowtide.schedule import Limits, Schedule, schedule
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks.graph_files import InputError
from benchmarks.machine import this_machine
from benchmarks.reference_cases import Case, peer_cases, reference_cases

TIME_LIMIT_SECONDS = 60.0
LEAST_PROVED = (200, 204)
"""The aim: this share of the reference graphs proved."""
LEAST_BY_BOUNDS = (95, 100)
"""The aim: this share of the proved ones by bounds alone, without a search."""
_UNDECIDED = ("recomputation-limit", "time-limit")
"""Reasons of the checker that are no verdict. The bound of an unproved answer may end so."""
_BY_BOUNDS = ("working-set", "trap-forward", "trap-reverse")


@dataclass(frozen=True, slots=True)
class Result:
    """One case's answer, the checker's verdict on it, and what is wrong with either.

    `refuted`: what the answer shows to be wrong with the reference.
    """

    case: Case
    answer: Schedule
    verdict: VerifyAnswer
    check_seconds: float
    faults: tuple[str, ...]
    refuted: tuple[str, ...]


def main() -> int:
    """Runs the campaign and prints one line per graph, then the counts."""
    arguments = _parse_arguments()
    console = Console(width=160)
    try:
        results, faults = [], []
        if arguments.graphs is not None:
            results += _run(console, reference_cases(arguments.graphs, arguments.reference))
            faults += _missed_shares(console, results)
        if arguments.peers is not None:
            results += _run(console, peer_cases(arguments.peers))
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    console.print(this_machine().describe(), highlight=False)
    for result in results:
        faults += [f"{result.case.name}: {fault}" for fault in result.faults]
        for refuted in result.refuted:
            console.print(
                f"REFUTED {escape(result.case.name)}: {refuted}", highlight=False, soft_wrap=True
            )
    for fault in faults:
        console.print(f"[red]FAULT[/red] {escape(fault)}", highlight=False, soft_wrap=True)
    console.print("nothing wrong" if not faults else f"{len(faults)} faults")
    return 1 if faults else 0


def check_case(case: Case) -> Result:
    """Solves one case and looks for everything that can be wrong with the answer."""
    graph = build_graph(case.wire)
    answer = schedule(graph, Limits(time_seconds=TIME_LIMIT_SECONDS))
    start = perf_counter_ns()
    verdict = check(case.wire, answer.certificate, time_limit_seconds=TIME_LIMIT_SECONDS)
    check_seconds = (perf_counter_ns() - start) / 1e9
    faults = [*_against_reference(case, answer), *_against_checker(answer, verdict)]
    try:
        peak = evaluate(graph, answer.order).peak_bytes
    except OrderError as error:
        faults.append(f"the order is none: {error}")
    else:
        if peak != answer.peak_bytes:
            faults.append(f"the order needs {peak} bytes, not {answer.peak_bytes}")
    below = list(_below_reference(case, answer))
    if faults:
        return Result(case, answer, verdict, check_seconds, (*faults, *below), ())
    return Result(case, answer, verdict, check_seconds, (), tuple(below))


def _against_reference(case: Case, answer: Schedule) -> Iterator[str]:
    given = answer.given_order_peak_bytes
    peak, bound = answer.peak_bytes, answer.lower_bound_bytes
    if case.given_peak is not None and given != case.given_peak:
        yield f"the given order needs {given} bytes here, {case.given_peak} in the reference"
    if (answer.status == "OPTIMAL") != (peak == bound):
        yield f"{answer.status} with peak {peak} and bound {bound}"
    if peak > given:
        yield f"peak {peak} is worse than the given order's {given}"
    if case.best_known is not None and peak > case.best_known:
        yield f"peak {peak} is worse than the best known, {case.best_known}"
    if case.best_known is not None and bound > case.best_known:
        yield f"bound {bound} is above the best known peak, {case.best_known}"
    if case.optimum is not None and peak > case.optimum:
        yield f"peak {peak} is above the known optimum, {case.optimum}"
    if case.optimum is not None and answer.status != "OPTIMAL":
        yield f"not proved (bound {bound}), though {case.optimum} is known to be optimal"


def _against_checker(answer: Schedule, verdict: VerifyAnswer) -> Iterator[str]:
    if verdict.accepted:
        if (verdict.status, verdict.peak_bytes) != (answer.status, answer.peak_bytes):
            yield f"the checker accepts {verdict.status} at {verdict.peak_bytes}"
    elif answer.status == "OPTIMAL" or verdict.reason not in _UNDECIDED:
        yield f"the checker refuses it: {verdict.reason}: {verdict.detail}"


def _below_reference(case: Case, answer: Schedule) -> Iterator[str]:
    peak = answer.peak_bytes
    if case.optimum is not None and peak < case.optimum:
        yield f"an order with peak {peak} exists, {case.optimum} is no optimum"
    if case.proved_bound is not None and peak < case.proved_bound:
        yield f"an order with peak {peak} exists, {case.proved_bound} is no bound"


def _run(console: Console, cases: Iterable[Case]) -> list[Result]:
    """Checks every case, a line each as soon as it is known; then the counts."""
    results = []
    for case in cases:
        with console.status(case.name):
            results.append(check_case(case))
        console.print(_line(results[-1]), highlight=False, soft_wrap=True)
    console.print(_counts(results))
    return results


def _line(result: Result) -> str:
    answer = result.answer
    word = "[red]wrong[/red]" if result.faults else "right"
    return (
        f"{word} {result.case.name:<48} {len(answer.order):>5} ops {answer.status:<8} "
        f"peak {answer.peak_bytes:>11} bound {answer.lower_bound_bytes:>11} "
        f"{answer.certificate.witness.kind:<12} {answer.solve_seconds:>7.3f} s, "
        f"checked by {result.verdict.method} {result.check_seconds:.2f} s"
    )


def _counts(results: Sequence[Result]) -> Table:
    table = Table(title=f"{len(results)} cases")
    for column in ("what", "count"):
        table.add_column(column, justify="right" if column == "count" else "left")
    proved = _proved(results)
    table.add_row("right", str(sum(not r.faults for r in results)))
    table.add_row("proved optimal", str(len(proved)))
    table.add_row("  by bounds alone", str(len(_by_bounds(proved))))
    table.add_row("  accepted by the checker", str(sum(r.verdict.accepted for r in proved)))
    for method in sorted({r.verdict.method for r in proved}):
        table.add_row(f"    by {method}", str(sum(r.verdict.method == method for r in proved)))
    undecided = sum(r.verdict.reason in _UNDECIDED for r in results)
    table.add_row("not decided by the checker in time", str(undecided))
    better = sum(
        r.case.best_known is not None and r.answer.peak_bytes < r.case.best_known for r in results
    )
    table.add_row("lower than the best known", str(better))
    return table


def _missed_shares(console: Console, results: Sequence[Result]) -> list[str]:
    """The aims over all reference graphs that are missed."""
    proved = _proved(results)
    faults = []
    for what, part, whole, (numerator, denominator) in (
        ("proved", len(proved), len(results), LEAST_PROVED),
        ("proved by bounds alone", len(_by_bounds(proved)), len(proved), LEAST_BY_BOUNDS),
    ):
        aim = f"{what}: {part} of {whole}; the aim is {numerator} of {denominator}"
        console.print(aim, highlight=False)
        if part * denominator < numerator * whole:
            faults.append(aim)
    return faults


def _proved(results: Sequence[Result]) -> list[Result]:
    return [result for result in results if result.answer.status == "OPTIMAL"]


def _by_bounds(results: Sequence[Result]) -> list[Result]:
    return [r for r in results if r.answer.certificate.witness.kind in _BY_BOUNDS]


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reference_check")
    parser.add_argument("--graphs", type=Path, metavar="DIR", help="directory of graphs (*.json)")
    parser.add_argument("--reference", type=Path, metavar="TSV", help="what is known of them")
    parser.add_argument(
        "--peers", type=Path, metavar="DIR", help="other systems' graphs/ and results.tsv"
    )
    arguments = parser.parse_args()
    if (arguments.graphs is None) != (arguments.reference is None):
        parser.error("--graphs and --reference go together")
    if arguments.graphs is None and arguments.peers is None:
        parser.error("name graphs with --graphs and --reference, or with --peers")
    return arguments


if __name__ == "__main__":
    sys.exit(main())
