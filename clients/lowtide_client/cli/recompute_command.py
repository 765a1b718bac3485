"""`lowtide recompute`: what to compute twice when the best order does not fit."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from lowtide_client.cli.exit_codes import DONE, INTERRUPTED, OVER_BUDGET
from lowtide_client.cli.failures import problems_of
from lowtide_client.cli.files import check_distinct, check_writable, shown, write_whole
from lowtide_client.cli.parameters import ByteSize, Seconds, json_option
from lowtide_client.cli.streams import complain, print_json
from lowtide_client.cli.watch import Watch, run_watched
from lowtide_client.wording import exact

if TYPE_CHECKING:
    from lowtide.recomputation.answer import RecomputeAnswer
    from lowtide.recomputation.certificate import RecomputationCertificate
    from lowtide.recomputation.model import RecomputationModel


class Cap(click.ParamType[int]):
    """How often an op may run: a positive number, or `none` for no cap (0 inside)."""

    name = "cap"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if value == "none":
            return 0
        try:
            cap = int(value)
        except ValueError:
            cap = 0
        if cap < 1:
            self.fail(f"{value!r} is neither a positive number nor none", param, ctx)
        return cap


class OpCap(click.ParamType[tuple[str, int]]):
    """A cap for one op: OP=CAP. The op's name may hold equals signs."""

    name = "op=cap"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int]:
        op, equals, cap = str(value).rpartition("=")
        if not equals:
            self.fail(f"{value!r} is not OP=CAP, as conv1=3 or conv1=none", param, ctx)
        return op, Cap().convert(cap, param, ctx)


class CostFraction(click.ParamType[Fraction]):
    """A fraction of the graph's cost, exactly: `0.05`, `5%`, `1/20`."""

    name = "fraction"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Fraction:
        text = str(value)
        percent = text.endswith("%")
        try:
            fraction = Fraction(text.removesuffix("%")) / (100 if percent else 1)
        except (ValueError, ZeroDivisionError):
            self.fail(f"{value!r} is not a fraction, as 0.05, 5% or 1/20", param, ctx)
        if fraction < 0:
            self.fail(f"{value!r} is negative", param, ctx)
        return fraction


@click.command("recompute", short_help="Find what to compute twice when no order fits.")
@click.argument("graph")
@click.option("--cap", type=Cap(), default="2", help="Runs per op, or none.  [default: 2]")
@click.option(
    "--cap-of", "caps", type=OpCap(), multiple=True, help="A cap for one op; may be repeated."
)
@click.option(
    "--budget",
    "budget_bytes",
    type=ByteSize(),
    help="Find the cheapest plan that fits: 262144, 256K, 1.5MiB. Exit with 3 when none does.",
)
@click.option("--front", is_flag=True, help="Find every trade-off between peak and extra cost.")
@click.option("--max-extra-cost", type=click.IntRange(min=0), help="Plans that cost more are out.")
@click.option(
    "--max-extra-fraction",
    type=CostFraction(),
    help="The same as a fraction of the graph's cost: 5%.",
)
@click.option(
    "--scope",
    type=click.Choice(["free", "given-order", "auto"]),
    default="auto",
    show_default=True,
    help="Plans of any order, or only those whose first runs keep the certified order.",
)
@click.option(
    "--time-limit", type=Seconds(), default=60.0, help="Seconds to search.  [default: 60]"
)
@json_option
@click.option(
    "--certificate", type=click.Path(path_type=Path), help="Write the certificate to this file."
)
def recompute_command(
    graph: str,
    cap: int,
    caps: tuple[tuple[str, int], ...],
    budget_bytes: int | None,
    front: bool,
    max_extra_cost: int | None,
    max_extra_fraction: Fraction | None,
    scope: Literal["free", "given-order", "auto"],
    time_limit: float,
    as_json: bool,
    certificate: Path | None,
) -> int:
    """Find the plan for GRAPH that computes some values twice to need less memory.

    GRAPH is a file in lowtide.graph/1, - for standard input. Without --budget or --front: the
    lowest peak, at the least extra cost.

    Ctrl-C ends the search and prints the best plan so far.
    """
    if front and budget_bytes is not None:
        raise click.UsageError("--front and --budget exclude each other")
    if max_extra_cost is not None and max_extra_fraction is not None:
        raise click.UsageError("--max-extra-cost and --max-extra-fraction exclude each other")
    if certificate is not None:
        check_writable(certificate)
    check_distinct({"GRAPH": Path(graph), "--certificate": certificate})

    def work(
        watch: Watch,
    ) -> tuple[RecomputationModel, RecomputeAnswer, RecomputationCertificate]:
        from lowtide._kernel import CancelToken
        from lowtide.build import build_graph
        from lowtide.recomputation.answer import recompute_answer
        from lowtide.recomputation.model import Caps, recomputation_model
        from lowtide.recomputation.question import Question
        from lowtide.recomputation.solve import recompute

        from lowtide_client.cli.solving import read_wire

        wire = read_wire(graph, watch)
        built = build_graph(wire)
        of = {op: each or None for op, each in caps}
        limit = max_extra_cost
        if max_extra_fraction is not None:
            total = sum(op.cost for op in built.ops)
            limit = int(max_extra_fraction * total)
        question = Question(
            objective="front" if front else "peak" if budget_bytes is None else "cost",
            caps=Caps(cap or None, of),
            budget_bytes=budget_bytes,
            max_extra_cost=limit,
            scope=scope,
            time_seconds=time_limit,
        )
        cancel = CancelToken()
        watch.phase = "solving"
        watch.solving(time_limit, cancel)
        with problems_of(shown(graph)):
            found = recompute(wire, built, question, cancel=cancel)
            model = recomputation_model(wire, built, question.caps)
        watch.stop = None
        return model, recompute_answer(model, found), found.certificate

    model, answer, proof = run_watched(work)
    if certificate is not None:
        write_whole(certificate, proof.model_dump_json().encode() + b"\n")
    if as_json:
        print_json(answer)
    else:
        from lowtide_client.cli.recompute_text import print_recomputation

        print_recomputation(model, answer, budget_bytes)
    return _exit_code(answer, budget_bytes)


def _exit_code(answer: RecomputeAnswer, budget_bytes: int | None) -> int:
    if answer.limit == "cancelled":
        return INTERRUPTED
    if answer.peak_bytes is not None:
        return DONE
    assert budget_bytes is not None  # only a budget leaves no plan
    if answer.status == "INFEASIBLE":
        reason = f"no plan of scope {answer.scope} fits"
    else:
        reason = "no plan was found in time: allow more with --time-limit"
    complain(f"lowtide: not within the budget of {exact(budget_bytes)}; {reason}")
    return OVER_BUDGET
