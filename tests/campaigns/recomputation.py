"""Recomputation plans against brute force: `python -m tests.campaigns.recomputation --graphs 1000`.

`--reference FILE` holds fronts of graphs that may run every op twice: a JSON list of objects with
`graph` and `answers`.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import click
from lowtide.build import build_graph
from lowtide.recomputation.model import Caps
from lowtide.recomputation.question import Question
from lowtide.recomputation.solve import recompute
from lowtide.wire import parse_graph
from rich.progress import track

from tests.oracles.recomputation_claims import check_recomputation, front_of


@click.command()
@click.option("--graphs", default=1000, show_default=True, help="How many random graphs.")
@click.option("--first-seed", default=0, show_default=True)
@click.option("--reference", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def main(graphs: int, first_seed: int, reference: Path | None) -> None:
    """Stops at the first wrong claim and names its graph."""
    started = time.perf_counter()
    points = 0
    for seed in track(range(first_seed, first_seed + graphs), transient=True):
        try:
            points += check_recomputation(seed)
        except AssertionError as error:
            raise click.ClickException(f"seed {seed}: {error!r}") from error
    seconds = time.perf_counter() - started
    click.echo(f"{graphs} random graphs, {points} points, every claim right; {seconds:.0f} s")
    if reference is not None:
        _check_reference(reference)


def _check_reference(path: Path) -> None:
    started = time.perf_counter()
    cases = json.loads(path.read_bytes())
    for case in cases:
        wire = parse_graph(case["graph"])
        found = recompute(wire, build_graph(wire), Question("front", Caps(2), scope="free"))
        wanted = [(p["peak_bytes"], p["extra_cost"]) for p in case["answers"]["front_cap2"]]
        if front_of(found) != wanted or found.status != "OPTIMAL":
            raise click.ClickException(f"{wire.name}: {front_of(found)}, not {wanted}")
    seconds = time.perf_counter() - started
    click.echo(f"{len(cases)} of {len(cases)} reference fronts exactly right; {seconds:.1f} s")


if __name__ == "__main__":
    main()
