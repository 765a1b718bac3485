"""The benchmarks' peers: what they return is an order; the exact ones agree with brute force."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from lowtide.build import build_graph
from lowtide.graph import Graph
from lowtide.memory import check_order
from lowtide.wire import parse_graph

from benchmarks.peers.answer import PeerAnswer
from benchmarks.peers.inductor import METHODS, inductor_orders
from benchmarks.peers.olla import olla_order
from benchmarks.peers.tflite_tools import tflite_tools_order
from tests.oracles.brute_force import Oracle
from tests.oracles.random_graphs import random_wire

SEEDS = range(60)
Exact = Callable[[Graph, float], PeerAnswer]


def wire_without_in_place(seed: int, max_ops: int) -> dict[str, Any]:
    """A random graph as the exact peers see it: they know nothing of in-place."""
    wire = random_wire(seed, max_ops)
    for op in wire["ops"]:
        op.pop("in_place", None)
    return wire


def assert_optimal(peer: Exact, wire: dict[str, Any]) -> None:
    oracle = Oracle(wire)
    answer = peer(build_graph(parse_graph(wire)), 60.0)
    assert answer.outcome == "optimal"
    assert answer.order is not None
    assert oracle.order_peak(answer.order) == oracle.optimal_peak()


@pytest.mark.parametrize("seed", SEEDS)
def test_tflite_tools_is_optimal(seed: int) -> None:
    assert_optimal(tflite_tools_order, wire_without_in_place(seed, 10))


@pytest.mark.parametrize("seed", SEEDS)
def test_olla_is_optimal(seed: int) -> None:
    pytest.importorskip("highspy")
    assert_optimal(olla_order, wire_without_in_place(seed, 9))


@pytest.mark.parametrize("seed", SEEDS)
def test_inductor_orders_are_orders(seed: int) -> None:
    pytest.importorskip("torch")
    wire = random_wire(seed, 12)
    graph = build_graph(parse_graph(wire))
    answer = inductor_orders(graph)
    assert set(answer.orders) == set(METHODS)
    for order in answer.orders.values():
        check_order(graph, order)
    assert answer.chosen in {*answer.orders.values(), tuple(range(len(graph.ops)))}


def test_inductor_reads_our_sizes() -> None:
    """Two chains from one input, the heavy one listed first: the light one first is cheaper."""
    pytest.importorskip("torch")
    wire = {
        "format": "lowtide.graph/1",
        "name": "two chains",
        "tensors": [{"name": name, "bytes": size} for name, size in _TWO_CHAINS.items()],
        "ops": [
            {"name": "heavy", "inputs": ["x"], "outputs": ["a"]},
            {"name": "light", "inputs": ["x"], "outputs": ["b"]},
            {"name": "less", "inputs": ["a"], "outputs": ["c"]},
            {"name": "join", "inputs": ["b", "c"], "outputs": ["y"]},
        ],
        "inputs": ["x"],
        "outputs": ["y"],
    }
    graph = build_graph(parse_graph(wire))
    answer = inductor_orders(graph)
    oracle = Oracle(wire)
    assert answer.orders["lpmf"] == (1, 0, 2, 3)
    assert oracle.order_peak(answer.chosen) == oracle.optimal_peak()


_TWO_CHAINS = {"x": 10, "a": 100, "b": 1, "c": 5, "y": 1}


def test_exact_peers_stop_at_their_time_limit() -> None:
    pytest.importorskip("highspy")
    graph = build_graph(parse_graph(_wide_graph(40)))
    for peer in (tflite_tools_order, olla_order):
        answer = peer(graph, 0.2)
        assert answer.outcome == "time limit"
        assert answer.seconds < 5.0
        if answer.order is not None:
            check_order(graph, answer.order)


def _wide_graph(width: int) -> dict[str, Any]:
    """`width` chains of two ops from one input into one op, all sizes different."""
    sizes = {"x": 1, "y": 1}
    sizes |= {f"a{i}": 100 + 7 * i for i in range(width)}
    sizes |= {f"b{i}": 10 + 5 * (i % 7) for i in range(width)}
    ops = [{"name": f"f{i}", "inputs": ["x"], "outputs": [f"a{i}"]} for i in range(width)]
    ops += [{"name": f"g{i}", "inputs": [f"a{i}"], "outputs": [f"b{i}"]} for i in range(width)]
    ops.append({"name": "join", "inputs": [f"b{i}" for i in range(width)], "outputs": ["y"]})
    return {
        "format": "lowtide.graph/1",
        "name": "wide",
        "tensors": [{"name": name, "bytes": size} for name, size in sizes.items()],
        "ops": ops,
        "inputs": ["x"],
        "outputs": ["y"],
    }
