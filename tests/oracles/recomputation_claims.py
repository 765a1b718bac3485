"""What the solver claims of recomputation plans, held against brute force."""

from __future__ import annotations

import random
from collections.abc import Mapping
from fractions import Fraction

from lowtide.build import build_graph
from lowtide.recomputation.model import Caps, recomputation_model
from lowtide.recomputation.plan import replay
from lowtide.recomputation.question import Question, Recomputation
from lowtide.recomputation.solve import recompute
from lowtide.wire import WireGraph, parse_graph

from tests.oracles.plans_by_brute_force import Front, plans_front
from tests.oracles.random_graphs import random_wire

MAX_OPS = 4


def random_case(seed: int) -> tuple[WireGraph, Caps]:
    """A tiny graph with costs (some of them 0) and caps from 1 to 3."""
    rng = random.Random(seed)
    document = random_wire(seed, MAX_OPS)
    for op in document["ops"]:
        op["cost"] = rng.choice((0, 0, 1, 2, 3, 5, 8))
        op.pop("max_runs", None)
        if rng.random() < 0.1:
            op["max_runs"] = rng.randint(1, 3)
    wire = parse_graph(document)
    named = {op.name: rng.randint(1, 3) for op in wire.ops if rng.random() < 0.3}
    return wire, Caps(rng.choice((1, 2, 2, 2, 3)), named)


def effective_caps(wire: WireGraph, caps: Caps) -> Mapping[str, int]:
    """Caps as docs/recomputation.md states them. Pure views may run as often as what they view: at
    most three times.
    """
    created = {t.name for t in wire.tensors if t.view_of is None}
    most = 3  # each needs one run per instance of what it views
    found = {}
    for op in wire.ops:
        asked = (caps.of or {}).get(op.name, caps.default)
        if not created & set(op.outputs) and op.name not in (caps.of or {}):
            asked = most
        limit = most if op.max_runs is None else op.max_runs
        found[op.name] = (
            1 if op.mutates or not op.outputs else min(limit, most if asked is None else asked)
        )
    return found


def front_of(found: Recomputation) -> Front:
    """Peak and extra cost of each point."""
    return [(point.plan.peak_bytes, point.plan.extra_cost) for point in found.front]


def check_recomputation(seed: int) -> int:
    """Asserts every claim on the seed's graph in both scopes; returns the points of the front."""
    wire, caps = random_case(seed)
    graph = build_graph(wire)
    model = recomputation_model(wire, graph, caps)
    tried = effective_caps(wire, caps)
    assert [cap for cap in model.caps if cap is not None] == [
        tried[op.name] for op, cap in zip(graph.ops, model.caps, strict=True) if cap is not None
    ]
    free = plans_front(wire, tried, keeps_given_order=False)
    _check_free(wire, caps, free)
    for point in recompute(wire, graph, Question("front", caps, scope="free")).front:
        again = replay(model, point.plan.runs)
        assert (again.peak_bytes, again.extra_cost) == (
            point.plan.peak_bytes,
            point.plan.extra_cost,
        )
    given = recompute(wire, graph, Question("front", caps, scope="given-order"))
    assert given.status == "OPTIMAL"
    first_runs = list(dict.fromkeys(given.front[0].plan.runs))
    assert front_of(given) == _front_in_order(wire, tried, first_runs)
    return len(free)


def _check_free(wire: WireGraph, caps: Caps, front: Front) -> None:
    graph = build_graph(wire)
    found = recompute(wire, graph, Question("front", caps))
    assert (found.status, found.scope) == ("OPTIMAL", "free")
    assert front_of(found) == front, (front_of(found), front)
    assert all(point.status == "OPTIMAL" for point in found.front)
    lowest_peak, dearest = front[-1]
    peak = recompute(wire, graph, Question("peak", caps))
    assert peak.plan is not None
    assert peak.status == "OPTIMAL"
    assert (peak.plan.peak_bytes, peak.plan.extra_cost) == (lowest_peak, dearest)
    assert peak.lower_bound_bytes == lowest_peak
    for budget in {peak for peak, _ in front} | {peak + 1 for peak, _ in front}:
        cost = recompute(wire, graph, Question("cost", caps, budget_bytes=budget))
        assert cost.plan is not None
        assert cost.status == "OPTIMAL"
        assert cost.plan.extra_cost == min(c for p, c in front if p <= budget)
        assert cost.plan.peak_bytes <= budget
    if lowest_peak > 0:
        below = Question("cost", caps, budget_bytes=lowest_peak - 1)
        assert recompute(wire, graph, below).status == "INFEASIBLE"
    half = int(Fraction(dearest, 2))
    limited = recompute(wire, graph, Question("peak", caps, max_extra_cost=half))
    assert limited.plan is not None
    assert limited.plan.peak_bytes == min(p for p, c in front if c <= half)


def _front_in_order(wire: WireGraph, caps: Mapping[str, int], first_runs: list[int]) -> Front:
    """The front of plans whose first runs keep this order."""
    ops = [wire.ops[v] for v in first_runs]
    return plans_front(wire.model_copy(update={"ops": tuple(ops)}), caps, keeps_given_order=True)
