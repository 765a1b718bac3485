"""`lowtide evaluate`: the memory profile of an order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lowtide_client.cli.exit_codes import BAD_INPUT, DONE, OVER_BUDGET
from lowtide_client.cli.failures import CommandError, problems_of, service_failures
from lowtide_client.cli.files import STANDARD_INPUT, read_input, shown
from lowtide_client.cli.parameters import budget_option, json_option, server_option
from lowtide_client.cli.streams import complain, print_json
from lowtide_client.cli.watch import Watch, run_watched
from lowtide_client.wording import exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lowtide.answers import EvaluateAnswer
    from lowtide.wire import WireGraph


@click.command("evaluate", short_help="Say how much memory an order needs, and why.")
@click.argument("graph")
@click.option(
    "--order",
    "order_file",
    metavar="FILE",
    help="A JSON list of op names, or an answer of `schedule --json`. [default: the given order]",
)
@json_option
@budget_option
@server_option
def evaluate_command(
    graph: str,
    order_file: str | None,
    as_json: bool,
    budget_bytes: int | None,
    server: str | None,
) -> int:
    """Say how much memory GRAPH needs in some order, and what binds the peak.

    GRAPH is a file in lowtide.graph/1, - for standard input.
    """
    if graph == order_file == STANDARD_INPUT:
        raise click.UsageError("only one of GRAPH and --order can be standard input")

    def work(watch: Watch) -> tuple[str, EvaluateAnswer]:
        from lowtide_client.cli.solving import read_wire

        wire = read_wire(graph, watch)
        order = None if order_file is None else read_order(order_file)
        watch.phase = "evaluating"
        order_source = graph if order_file is None else order_file
        return wire.name, _evaluated(wire, order, shown(order_source), server)

    name, answer = run_watched(work)
    if as_json:
        print_json(answer)
    else:
        from lowtide_client.cli.evaluate_text import print_evaluation

        print_evaluation(name, answer, is_given=order_file is None)
    if budget_bytes is not None and answer.peak_bytes > budget_bytes:
        over = exact(answer.peak_bytes - budget_bytes)
        line = f"lowtide: {over} over the budget of {exact(budget_bytes)}"
        complain(f"{line}; `lowtide schedule` finds the best order")
        return OVER_BUDGET
    return DONE


def read_order(path: str) -> tuple[str, ...]:
    """Op names from a file: a JSON list of them, or an object whose `order` is one.

    Raises:
        CommandError: the file cannot be read or holds something else.
    """
    from lowtide.wire_json import parse_json

    data = read_input(path)
    with problems_of(shown(path)):
        document = parse_json(data)
    names = document.get("order") if isinstance(document, dict) else document
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        line = (
            f'{shown(path)}: an order is a JSON list of op names, or an object with one as "order"'
        )
        raise CommandError(BAD_INPUT, [line])
    return tuple(names)


def _evaluated(
    wire: WireGraph, order: Sequence[str] | None, order_source: str, server: str | None
) -> EvaluateAnswer:
    if server is None:
        from lowtide_client.in_process import InProcess

        with problems_of(order_source):
            return InProcess().evaluate(wire, order)
    from lowtide_client.cli.servers import connect

    with service_failures(), problems_of(order_source), connect(server) as lowtide:
        return lowtide.evaluate(wire, order)
