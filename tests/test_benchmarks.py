"""The benchmarks: peers return orders, the exact ones agree with brute force; checks can fail."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lowtide.build import build_graph
from lowtide.graph import Graph
from lowtide.memory import check_order
from lowtide.wire import parse_graph

from benchmarks.aims import compare_with_aims
from benchmarks.graph_files import EXAMPLES, InputError, read_graph_files
from benchmarks.peers.answer import PeerAnswer
from benchmarks.peers.inductor import METHODS, inductor_orders
from benchmarks.peers.olla import olla_order
from benchmarks.peers.tflite_tools import tflite_tools_order
from benchmarks.reference_cases import Case, reference_cases
from benchmarks.reference_check import check_case
from benchmarks.schedule_rows import choose_for_exact_peers, measure_row
from benchmarks.statistics_of_runs import percentile
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


TWO_CHAINS: dict[str, Any] = {
    "format": "lowtide.graph/1",
    "name": "two chains",
    "tensors": [
        {"name": "x", "bytes": 10},
        {"name": "a", "bytes": 100},
        {"name": "b", "bytes": 50},
        {"name": "c", "bytes": 5},
        {"name": "d", "bytes": 1},
        {"name": "y", "bytes": 1},
    ],
    "ops": [
        {"name": "heavy", "inputs": ["x"], "outputs": ["a"]},
        {"name": "light", "inputs": ["x"], "outputs": ["b"]},
        {"name": "less heavy", "inputs": ["a"], "outputs": ["c"]},
        {"name": "less light", "inputs": ["b"], "outputs": ["d"]},
        {"name": "join", "inputs": ["c", "d"], "outputs": ["y"]},
    ],
    "inputs": ["x"],
    "outputs": ["y"],
}
"""The light chain first needs 111 bytes, the given order 160, nothing less than 111."""


def test_inductor_reads_our_sizes() -> None:
    pytest.importorskip("torch")
    answer = inductor_orders(build_graph(parse_graph(TWO_CHAINS)))
    assert answer.orders["lpmf"] == (1, 3, 0, 2, 4)
    assert Oracle(TWO_CHAINS).order_peak(answer.chosen) == 111


def two_chains_case(**known: int | None) -> Case:
    """The two chains and what is known of them: the truth, unless `known` says otherwise."""
    truth = {"optimum": 111, "best_known": 111, "proved_bound": 111, "given_peak": 160}
    return Case(name="two chains", wire=parse_graph(TWO_CHAINS), **(truth | known))


def test_reference_check_accepts_the_truth() -> None:
    result = check_case(two_chains_case())
    assert result.answer.status == "OPTIMAL"
    assert (result.faults, result.refuted) == ((), ())


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({"optimum": 110}, "above the known optimum, 110"),
        ({"best_known": 110}, "worse than the best known, 110"),
        ({"given_peak": 161}, "161 in the reference"),
    ],
)
def test_reference_check_finds_what_is_wrong(known: dict[str, int], said: str) -> None:
    faults = check_case(two_chains_case(**known)).faults
    assert any(said in fault for fault in faults)


def test_reference_check_refutes_a_reference_above_the_truth() -> None:
    result = check_case(two_chains_case(optimum=112, best_known=112, proved_bound=112))
    assert result.faults == ()
    assert len(result.refuted) == 2


def test_reference_tables_are_read(tmp_path: Path) -> None:
    (tmp_path / "graphs").mkdir()
    (tmp_path / "graphs" / "two.json").write_text(json.dumps(TWO_CHAINS))
    table = tmp_path / "graphs.tsv"
    columns = "name\tgiven_order_peak\tlower_bound\tbest_known\tproved\n"
    table.write_text(columns + "two\t160\t111\t111\tyes\n")
    (case,) = reference_cases(tmp_path / "graphs", table)
    assert case == dataclasses.replace(two_chains_case(), name="two")
    table.write_text(columns + "two\t160\tmany\t111\tyes\n")
    with pytest.raises(InputError, match="row two: lower_bound is 'many'"):
        list(reference_cases(tmp_path / "graphs", table))
    table.write_text(columns + "three\t160\t111\t111\tyes\n")
    with pytest.raises(InputError, match="three, two"):
        list(reference_cases(tmp_path / "graphs", table))


def test_one_row_is_measured() -> None:
    pytest.importorskip("torch")
    (file,) = read_graph_files(EXAMPLES, "graphs", ["swiftnet-cell2"])
    row = measure_row(file, 10.0)
    assert (row.status, row.op_count) == ("OPTIMAL", 28)
    assert row.peak == row.lower_bound <= row.inductor.chosen_peak <= row.given_peak
    assert 0 < row.kernel_seconds < row.library_seconds < row.command_seconds
    assert 2**23 < row.resident_bytes < 2**30
    assert choose_for_exact_peers([row], 12) == [row]
    aims = {aim.name: aim for aim in compare_with_aims([row], "graphs", None)}
    assert aims["kernel, median"].measured == row.kernel_seconds * 1e3


def test_percentile_is_the_nearest_rank() -> None:
    assert percentile([3.0, 1.0, 2.0, 4.0], 50) == 2.0
    assert percentile(list(range(1, 205)), 99) == 202
    assert percentile([7.0], 99) == 7.0


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
