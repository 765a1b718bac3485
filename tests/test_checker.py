"""The checker: valid certificates of every kind are accepted; limits hold."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from lowtide.build import build_graph
from lowtide.certificate import (
    Certificate,
    FamilyState,
    SearchWitness,
)
from lowtide.checker import check
from lowtide.schedule import Limits, schedule
from lowtide.wire import parse_graph

from tests.oracles.canonical_positions import canonical_positions
from tests.oracles.certificates import CertificateMaker
from tests.oracles.random_graphs import random_wire

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.json"))


@pytest.mark.parametrize("block", range(20))
def test_valid_certificates_of_every_kind_are_accepted(block: int) -> None:
    methods: Counter[str] = Counter()
    for seed in range(100 * block, 100 * block + 100):
        wire = random_wire(seed, 8)
        graph = parse_graph(wire)
        maker = CertificateMaker(wire, random.Random(seed))
        for certificate in (
            maker.working_set(),
            maker.forward_trap(),
            maker.reverse_trap(),
            maker.random_trap(forward=True),
            maker.random_trap(forward=False),
            maker.family(),
            maker.recomputation(),
        ):
            answer = check(graph, certificate)
            assert answer.accepted, (seed, certificate.witness.kind, answer)
            assert answer.reason is None
            assert answer.status == certificate.status
            assert answer.peak_bytes == certificate.peak_bytes
            assert answer.lower_bound_bytes == certificate.lower_bound_bytes
            methods[answer.method] += 1
    assert methods == {"working-set": 100, "flow": 400, "family": 100, "recomputation": 100}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_certificates_of_the_solver_are_accepted_on_real_graphs(path: Path) -> None:
    wire = parse_graph(path.read_bytes())
    certificate = schedule(build_graph(wire), Limits(time_seconds=30)).certificate
    answer = check(wire, certificate)
    assert answer.accepted, answer
    assert answer.status == "OPTIMAL"


@pytest.mark.parametrize("seed", range(300))
def test_certificates_of_the_solver_are_accepted_on_random_graphs(seed: int) -> None:
    wire = parse_graph(random_wire(seed + 50_000, 14))
    certificate = schedule(build_graph(wire)).certificate
    answer = check(wire, certificate)
    assert answer.accepted, answer
    assert answer.status == "OPTIMAL"


def test_a_graph_without_ops_needs_no_proof() -> None:
    wire: dict[str, Any] = {
        "format": "lowtide.graph/1",
        "tensors": [{"name": "x", "bytes": 7}],
        "ops": [],
        "inputs": ["x"],
        "outputs": ["x"],
    }
    graph = parse_graph(wire)
    certificate = schedule(build_graph(graph)).certificate
    assert check(graph, certificate).accepted
    claims = {"status": "FEASIBLE", "peak_bytes": 7}
    assert check(graph, certificate.model_copy(update=claims)).reason == "peak-mismatch"


def test_a_large_family_of_wide_states_is_bounded() -> None:
    count = 15_000
    wire = {
        "format": "lowtide.graph/1",
        "tensors": [{"name": f"t{v}", "bytes": v} for v in range(count)],
        "ops": [{"name": f"o{v}", "inputs": [], "outputs": [f"t{v}"]} for v in range(count)],
        "inputs": [],
        "outputs": [f"t{v}" for v in range(count)],
    }
    graph = parse_graph(wire)
    states = (FamilyState(parent=None, run=(), then="branch"),) + 2000 * (
        FamilyState(parent=0, run=(0,), then="branch"),
    )
    certificate = Certificate(
        graph_hash=canonical_positions(wire).graph_hash,
        status="OPTIMAL",
        peak_bytes=sum(range(count)),
        lower_bound_bytes=sum(range(count)),
        order=tuple(range(count)),
        witness=SearchWitness(count=len(states), digest="", states=states),
    )
    assert check(graph, certificate).reason == "family-too-large"
