"""Every claim of the solver against brute force: `python -m tests.campaigns.brute_force --graphs
5000`.
"""

from __future__ import annotations

import time
from collections import Counter

import click
from rich.progress import track

from tests.oracles.claims_of_the_kernel import check_claims


@click.command()
@click.option("--graphs", default=5000, show_default=True, help="How many random graphs.")
@click.option("--first-seed", default=0, show_default=True)
def main(graphs: int, first_seed: int) -> None:
    """Stops at the first wrong claim and names its seed."""
    started = time.perf_counter()
    totals: Counter[str] = Counter()
    for seed in track(range(first_seed, first_seed + graphs), transient=True):
        try:
            totals += check_claims(seed)
        except AssertionError as error:
            raise click.ClickException(f"seed {seed}: {error!r}") from error
    seconds = time.perf_counter() - started
    tight = ", ".join(f"{name} {totals[name]}" for name in ("working_set", "forward", "reverse"))
    click.echo(
        f"{totals['graphs']} graphs, every claim right; bound tight: {tight}; {seconds:.0f} s"
    )


if __name__ == "__main__":
    main()
