"""`lowtide schedule`: before, after, and why nothing better exists."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lowtide_client.cli.exit_codes import DONE, FAILED, INTERRUPTED, OVER_BUDGET
from lowtide_client.cli.failures import CommandError
from lowtide_client.cli.files import check_distinct, check_writable, replacing, write_whole
from lowtide_client.cli.parameters import Seconds, budget_option, json_option, server_option
from lowtide_client.cli.streams import complain, print_json
from lowtide_client.cli.watch import Watch, run_watched
from lowtide_client.wording import exact

if TYPE_CHECKING:
    from lowtide.answers import ScheduleAnswer

    from lowtide_client.cli.solving import Solved, Told


@click.command("schedule", short_help="Find the order with the lowest peak memory.")
@click.argument("graph")
@click.option("--time-limit", type=Seconds(), help="Seconds the search may take. [default: 60]")
@json_option
@click.option(
    "--certificate", type=click.Path(path_type=Path), help="Write the certificate to this file."
)
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    help="Write a report to this file, as one HTML page.",
)
@budget_option
@server_option
def schedule_command(
    graph: str,
    time_limit: float | None,
    as_json: bool,
    certificate: Path | None,
    report: Path | None,
    budget_bytes: int | None,
    server: str | None,
) -> int:
    """Find the order of GRAPH's ops with the lowest peak memory.

    GRAPH is a file in lowtide.graph/1, - for standard input.

    Ctrl-C ends the search and prints the best order so far.
    """
    for path in (certificate, report):
        if path is not None:
            check_writable(path)
    check_distinct({"GRAPH": Path(graph), "--certificate": certificate, "--report": report})
    write_report = None if report is None else _report_writer()
    talkative = report is not None or not as_json

    def work(watch: Watch) -> tuple[Solved, Told | None]:
        from lowtide_client.cli.solving import solve_here, solve_there, tell

        if server is None:
            solved = solve_here(graph, time_limit, watch)
        else:
            wanted = talkative or certificate is not None
            solved = solve_there(graph, time_limit, server, watch, with_certificate=wanted)
        return solved, tell(solved, watch) if talkative else None

    solved, told = run_watched(work)
    if certificate is not None:
        write_whole(certificate, _certificate_json(solved))
    if report is not None and write_report is not None and told is not None:
        with replacing(report) as draft:
            write_report(
                draft,
                graph=solved.graph,
                given=told.given,
                best=told.best,
                best_order=told.best.order,
                answer=solved.answer,
                explanation=told.explanation,
            )
    if as_json:
        print_json(solved.answer)
    elif told is not None:
        from lowtide_client.cli.schedule_text import print_schedule

        print_schedule(solved, told)
    return _exit_code(solved.answer, budget_bytes)


def _report_writer() -> Callable[..., None]:
    try:
        from lowtide_client.report import write_report
    except ModuleNotFoundError as error:
        raise CommandError(FAILED, [f"lowtide: --report: {error}"]) from None
    return write_report


def _certificate_json(solved: Solved) -> bytes:
    if solved.certificate is None:
        name = solved.answer.certificate_id
        line = f"lowtide: the server no longer has certificate {name}; ask again to have it made"
        raise CommandError(FAILED, [line])
    return solved.certificate.model_dump_json().encode() + b"\n"


def _exit_code(answer: ScheduleAnswer, budget_bytes: int | None) -> int:
    if answer.limit == "cancelled":
        return INTERRUPTED
    if budget_bytes is None or answer.peak_bytes <= budget_bytes:
        return DONE
    over = exact(answer.peak_bytes - budget_bytes)
    if answer.lower_bound_bytes > budget_bytes:
        reason = "no order of these ops fits"
    else:
        reason = "a better order may exist: allow more time with --time-limit"
    complain(f"lowtide: {over} over the budget of {exact(budget_bytes)}; {reason}")
    return OVER_BUDGET
