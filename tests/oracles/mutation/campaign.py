"""Damages certificates of graphs of any size and counts what the checker says.

    python -m tests.oracles.mutation.campaign --count 2000 --seed 1 GRAPH.json...

Each graph is scheduled first; its certificate has to be accepted. Ends with 1 if a mutation was
accepted that had to be refused, or whose claim is known to be false.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lowtide.build import build_graph
from lowtide.certificate import Certificate
from lowtide.checker import check
from lowtide.graph_identity import graph_canonical_form
from lowtide.memory import OrderError, evaluate
from lowtide.schedule import Limits, schedule
from lowtide.wire import parse_graph

from tests.oracles.mutation import Mutation, mutate


@dataclass
class Tally:
    """What came of a campaign.

    Attributes:
        outcomes: per kind of damage and reason of refusal (None: accepted) how often.
        faults: mutations that were accepted and should not have been.
        undecided: accepted mutations of a graph whose new optimum is not known.
    """

    outcomes: Counter[tuple[str, str | None]] = field(default_factory=Counter)
    faults: list[Mutation] = field(default_factory=list)
    undecided: int = 0

    def add(self, other: Tally) -> None:
        """Takes in what came of another campaign."""
        self.outcomes.update(other.outcomes)
        self.faults += other.faults
        self.undecided += other.undecided


def attack(wire: dict[str, Any], count: int, seed: int, seconds: float = 30.0) -> Tally:
    """Damages the certificate of one graph `count` times.

    Args:
        wire: the graph, as the dict that its JSON stands for.
        seconds: limit for finding an order, and for each check.
    """
    graph = parse_graph(wire)
    certificate = schedule(build_graph(graph), Limits(time_seconds=seconds)).certificate
    answer = check(graph, certificate, time_limit_seconds=seconds)
    assert answer.accepted, (
        f"the undamaged certificate is refused: {answer.reason}: {answer.detail}"
    )
    rng = random.Random(seed)
    tally = Tally()
    for _ in range(count):
        mutation = mutate(wire, certificate, rng)
        answer = check(parse_graph(mutation.wire), mutation.certificate, time_limit_seconds=seconds)
        tally.outcomes[mutation.name, answer.reason] += 1
        if answer.accepted:
            truth = not mutation.must_be_refused and claim_holds(mutation, certificate, seconds)
            tally.undecided += truth is None
            if truth is False:
                tally.faults.append(mutation)
    return tally


def claim_holds(mutation: Mutation, original: Certificate, seconds: float) -> bool | None:
    """Whether an accepted claim is true, given that the original is; None if nobody knows."""
    claim = mutation.certificate
    graph = build_graph(parse_graph(mutation.wire))
    form = graph_canonical_form(graph)
    order = [form.op_at[position] for position in claim.order]
    try:
        peak = evaluate(graph, order).peak_bytes
    except OrderError:
        return False
    if claim.graph_hash != form.graph_hash or claim.peak_bytes != peak:
        return False
    if (claim.status == "OPTIMAL") != (claim.lower_bound_bytes == peak):
        return False
    # A bound is false if some order beats it, and true if it was proved before or is proved again.
    known_bound, known_peak = original.lower_bound_bytes, original.peak_bytes
    if claim.graph_hash != original.graph_hash:
        again = schedule(graph, Limits(time_seconds=seconds))
        known_bound, known_peak = again.lower_bound_bytes, again.peak_bytes
    if claim.lower_bound_bytes > known_peak:
        return False
    return True if claim.lower_bound_bytes <= known_bound else None


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("graphs", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=2000, help="mutations over all graphs")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    total = Tally()
    for index, path in enumerate(options.graphs):
        # The same for all, the remainder for the first ones.
        count, rest = divmod(options.count, len(options.graphs))
        wire = json.loads(path.read_bytes())
        tally = attack(wire, count + (index < rest), options.seed + index)
        for fault in tally.faults:
            print(f"FAULT {path}: {fault.name} is accepted")
        total.add(tally)
    for (name, reason), times in sorted(total.outcomes.items(), key=str):
        print(f"{times:7d}  {name:26s} {reason or 'accepted, and true'}")
    accepted = sum(times for (_, reason), times in total.outcomes.items() if reason is None)
    print(
        f"{total.outcomes.total()} mutations, {accepted} accepted, of these "
        f"{len(total.faults)} wrongly and {total.undecided} undecided"
    )
    return 1 if total.faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
