"""Recomputation certificates changed at random, and whether what they claim happens to be true."""

from __future__ import annotations

import random
from typing import Any

from lowtide.build import build_graph
from lowtide.graph_identity import graph_canonical_form
from lowtide.recomputation.certificate import NO_CAP, RecomputationCertificate
from lowtide.recomputation.model import Caps, recomputation_model
from lowtide.recomputation.plan import PlanError, replay
from lowtide.wire import WireGraph

from tests.oracles.plans_by_brute_force import Front, plans_front

_MOST_RUNS = 3


def mutated(rng: random.Random, certificate: RecomputationCertificate) -> RecomputationCertificate:
    """One to three fields changed, most of them by little."""
    fields = certificate.model_dump()
    for _ in range(rng.randint(1, 3)):
        rng.choice(_CHANGES)(rng, fields)
    return RecomputationCertificate.model_validate(fields)


def _change_amount(rng: random.Random, fields: dict[str, Any]) -> None:
    names = ("peak_bytes", "extra_cost", "lower_bound_bytes", "least_extra_cost", "budget_bytes")
    name = rng.choice((*names, "max_extra_cost"))
    fields[name] = (fields[name] or 0) + rng.choice((-2, -1, 1, 2))


def _change_claim(rng: random.Random, fields: dict[str, Any]) -> None:
    fields["status"] = rng.choice(("OPTIMAL", "FEASIBLE", "INFEASIBLE", "UNKNOWN"))
    if fields["status"] in ("INFEASIBLE", "UNKNOWN"):
        fields |= {"runs": None, "peak_bytes": None, "extra_cost": None}
        fields |= {"objective": "cost", "budget_bytes": fields["lower_bound_bytes"]}
        fields["lower_bound_bytes"] += rng.choice((0, 1))


def _change_bound(rng: random.Random, fields: dict[str, Any]) -> None:
    exhausted = {"kind": "exhausted", "states": 1}
    change = rng.choice((-1, 1, 2))
    if rng.random() < 0.5:
        fields["lower_bound_bytes"] += change
        fields["bound_witness"] = exhausted
        fields["status"] = "FEASIBLE"
    else:
        fields["least_extra_cost"] += change
        fields["cost_witness"] = exhausted
        fields["status"] = "FEASIBLE"


def _change_witness(rng: random.Random, fields: dict[str, Any]) -> None:
    op = rng.randrange(-1, len(fields["caps"]) + 1)
    fields["bound_witness"] = {"kind": "companions", "op": op}


def _change_runs(rng: random.Random, fields: dict[str, Any]) -> None:
    runs = list(fields["runs"] or ())
    place = rng.randint(0, len(runs))
    if runs and rng.random() < 0.3:
        runs.pop(place % len(runs))
    elif rng.random() < 0.5:
        rng.shuffle(runs)
    else:
        runs.insert(place, rng.randrange(len(fields["caps"])))
    fields["runs"] = tuple(runs)


def _change_caps(rng: random.Random, fields: dict[str, Any]) -> None:
    caps = list(fields["caps"])
    caps[rng.randrange(len(caps))] = rng.randint(-1, _MOST_RUNS)
    fields["caps"] = tuple(caps)


def _change_scope(rng: random.Random, fields: dict[str, Any]) -> None:
    first_runs = list(dict.fromkeys(fields["runs"] or range(len(fields["caps"]))))
    if rng.random() < 0.3:
        rng.shuffle(first_runs)
    fields |= {"scope": "given-order", "first_runs": tuple(first_runs)}


def _ask_for_cost(rng: random.Random, fields: dict[str, Any]) -> None:
    budget = (fields["peak_bytes"] or 0) + rng.choice((-1, 0, 0, 1, 3))
    fields |= {"objective": "cost", "budget_bytes": budget}


_CHANGES = (
    _change_amount,
    _change_claim,
    _change_bound,
    _change_witness,
    _change_runs,
    _change_caps,
    _change_scope,
    _ask_for_cost,
)


def is_true(wire: WireGraph, certificate: RecomputationCertificate) -> bool:
    """Whether all that is claimed holds, by replaying the plan and by brute force over plans."""
    graph = build_graph(wire)
    form = graph_canonical_form(graph)
    asked = {
        wire.ops[v].name: None if cap == NO_CAP else cap
        for v, cap in zip(form.op_at, certificate.caps, strict=True)
    }
    model = recomputation_model(wire, graph, Caps(None, asked))
    if certificate.graph_hash != form.graph_hash or model.caps != tuple(
        asked[op.name] for op in wire.ops
    ):
        return False
    if certificate.runs is not None:
        runs = tuple(form.op_at[p] for p in certificate.runs)
        try:
            plan = replay(model, runs)
        except PlanError:
            return False
        kept = tuple(form.op_at[p] for p in certificate.first_runs)
        if (plan.peak_bytes, plan.extra_cost) != (certificate.peak_bytes, certificate.extra_cost):
            return False
        if certificate.scope == "given-order" and tuple(dict.fromkeys(runs)) != kept:
            return False
    return _bounds_hold(certificate, _front(wire, certificate, form.op_at, asked))


def _front(
    wire: WireGraph,
    certificate: RecomputationCertificate,
    op_at: tuple[int, ...],
    asked: dict[str, int | None],
) -> Front:
    caps = {name: _MOST_RUNS if cap is None else cap for name, cap in asked.items()}
    if certificate.scope == "free":
        return plans_front(wire, caps, keeps_given_order=False)
    ops = tuple(wire.ops[op_at[p]] for p in certificate.first_runs)
    ordered = wire.model_copy(update={"ops": ops})
    return plans_front(ordered, caps, keeps_given_order=True)


def _bounds_hold(certificate: RecomputationCertificate, front: Front) -> bool:
    limit, budget = certificate.max_extra_cost, certificate.budget_bytes
    bound, least = certificate.lower_bound_bytes, certificate.least_extra_cost
    peak = certificate.peak_bytes if certificate.objective == "peak" else budget
    lowest = min(p for p, c in front if limit is None or c <= limit)
    costs = [c for p, c in front if peak is not None and p <= peak]
    if bound > lowest or (costs and least > min(costs)):
        return False
    if certificate.status == "OPTIMAL":
        return certificate.extra_cost == min(costs) and (
            certificate.objective == "cost" or certificate.peak_bytes == lowest
        )
    if certificate.status == "INFEASIBLE":
        return budget is not None and lowest > budget
    return True
