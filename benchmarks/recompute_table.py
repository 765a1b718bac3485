"""Recomputation on graphs whose best order needs more than any one op: `python -m
benchmarks.recompute_table GRAPHS --seconds 60`.

For every graph of a directory whose optimal peak exceeds its largest working set: the best plan
under a cap, the bound, the gap, seconds.
"""

from __future__ import annotations

import time
from pathlib import Path

import click
from lowtide.build import build_graph
from lowtide.recomputation.model import Caps, recomputation_model
from lowtide.recomputation.question import Question, Recomputation
from lowtide.recomputation.solve import recompute
from lowtide.schedule import Limits, schedule
from lowtide.wire import parse_graph


@click.command()
@click.argument("graphs", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--seconds", default=60.0, show_default=True, help="Per graph.")
@click.option("--cap", default=2, show_default=True)
@click.option("--only", multiple=True, help="Names of graphs, without .json.")
def main(graphs: Path, seconds: float, cap: int, only: tuple[str, ...]) -> None:
    """Prints one row per graph and a summary."""
    click.echo("graph | order | plan | extra cost | bound | status | scope | seconds")
    results = []
    for path in sorted(graphs.glob("*.json")):
        if only and path.stem not in only:
            continue
        found = _solved(path, seconds, cap)
        if found is not None:
            results.append(found)
    decided = sum(found.status == "OPTIMAL" for found in results)
    better = sum(
        found.plan is not None and found.plan.peak_bytes < found.order_peak_bytes
        for found in results
    )
    click.echo(f"{len(results)} graphs: {decided} OPTIMAL, {better} with a lower peak")


def _solved(path: Path, seconds: float, cap: int) -> Recomputation | None:
    wire = parse_graph(path.read_bytes())
    graph = build_graph(wire)
    order = schedule(graph, Limits(seconds))
    if order.certificate.witness.kind == "working-set" and order.status == "OPTIMAL":
        return None
    started = time.perf_counter()
    found = recompute(wire, graph, Question("peak", Caps(cap), time_seconds=seconds))
    took = time.perf_counter() - started
    total = recomputation_model(wire, graph, Caps(cap)).total_cost
    assert found.plan is not None  # no budget was asked for
    extra = f"{100 * found.plan.extra_cost / total:.2f}%" if total else str(found.plan.extra_cost)
    click.echo(
        f"{path.stem} | {found.order_peak_bytes} | {found.plan.peak_bytes} | {extra} | "
        f"{found.lower_bound_bytes} | {found.status} | {found.scope} | {took:.2f}"
    )
    return found


if __name__ == "__main__":
    main()
