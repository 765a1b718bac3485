"""`lowtide selftest`: the installed solvers against answers known from elsewhere."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from lowtide_client.cli.exit_codes import DONE, FAILED
from lowtide_client.cli.streams import complain
from lowtide_client.cli.watch import Watch, run_watched

if TYPE_CHECKING:
    from lowtide.recomputation.selftest import Disagreement

_MAX_SHOWN = 5


@click.group("selftest", short_help="Hold the solvers against answers known from elsewhere.")
def selftest_command() -> None:
    """Hold the installed solvers against answers known from elsewhere."""


@selftest_command.command("knapsack")
@click.option("--instances", type=click.IntRange(1, 1_000_000), default=100, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--max-items", type=click.IntRange(1, 60), default=8, show_default=True)
def knapsack_command(instances: int, seed: int, max_items: int) -> int:
    """Random knapsack covers as recomputation questions; a textbook programme knows the answers.

    Exits with 4 when any search disagrees or gives up.
    """
    started = time.perf_counter()

    def work(watch: Watch) -> tuple[int, list[Disagreement]]:
        from lowtide.recomputation.selftest import knapsack_selftest

        done, wrong = 0, []
        for found in knapsack_selftest(instances, seed, max_items):
            done += 1
            watch.phase = f"solved {done:,} questions"
            if found is not None:
                wrong.append(found)
        return done, wrong

    done, wrong = run_watched(work)
    seconds = time.perf_counter() - started
    for each in wrong[:_MAX_SHOWN]:
        cost = None if each.found.plan is None else each.found.plan.extra_cost
        complain(
            f"lowtide: {each.instance} in scope {each.scope}: {each.found.status}, "
            f"extra cost {cost}, not {each.wanted_cost}"
        )
    click.echo(
        f"{instances:,} instances in both scopes, {done:,} questions: {len(wrong):,} disagreements "
        f"({seconds:.1f} s)"
    )
    return FAILED if wrong else DONE
