"""From wire to graph: aliases resolved, hazards turned into edges."""

from __future__ import annotations

from typing import Any

import pytest
from lowtide.build import build_graph
from lowtide.graph import Graph, InPlacePair, Op, Storage
from lowtide.wire import FORMAT, parse_graph

from tests.oracles.brute_force import Oracle, members
from tests.oracles.random_graphs import random_wire


def graph_of(
    tensors: list[dict[str, Any]],
    ops: list[dict[str, Any]],
    inputs: list[str],
    outputs: list[str],
    pinned: tuple[str, ...] = (),
) -> Graph:
    return build_graph(
        parse_graph(
            {
                "format": FORMAT,
                "name": "built",
                "tensors": tensors,
                "ops": ops,
                "inputs": inputs,
                "outputs": outputs,
                "pinned": list(pinned),
            }
        )
    )


def test_every_field_of_a_graph() -> None:
    graph = graph_of(
        tensors=[
            {"name": "flat", "bytes": 0, "view_of": "wide"},  # listed before its root
            {"name": "x", "bytes": 8},
            {"name": "ignored", "bytes": 100},
            {"name": "ignored_view", "bytes": 100, "view_of": "ignored"},
            {"name": "wide", "bytes": 0, "view_of": "y"},
            {"name": "y", "bytes": 6},
            {"name": "z", "bytes": 5},
            {"name": "kept", "bytes": 3},
        ],
        ops=[
            {
                "name": "conv",
                "kind": "Conv",
                "inputs": ["x", "kept", "x"],
                "outputs": ["y"],
                "workspace_bytes": 7,
                "cost": 11,
                "max_runs": 2,
                "in_place": [["y", "x"], ["y", "kept"]],
            },
            {"name": "reshape", "inputs": [], "outputs": ["wide"]},
            {
                "name": "relu",
                "inputs": ["flat", "y"],
                "outputs": ["z"],
                "in_place": [["z", "y"], ["z", "flat"]],
            },
        ],
        inputs=["x", "kept"],
        outputs=["z"],
        pinned=("kept",),
    )
    assert graph == Graph(
        name="built",
        ops=(
            Op("conv", "Conv", (), (1,), (0, 3), 7, (InPlacePair(1, 0),), 11, 2),
            # It lists no input, but what it makes is a view of y.
            Op("reshape", "", (0,), (), (1,), 0, (), 0, None),
            # Both pairs name one storage; `flat` is made by nobody and counts as `wide`.
            Op("relu", "", (0, 1), (2,), (1,), 0, (InPlacePair(2, 1),), 0, None),
        ),
        storages=(
            Storage("x", 8, None, (0,), False, False, ("x",)),
            Storage("y", 6, 0, (1, 2), False, False, ("y", "flat", "wide")),
            Storage("z", 5, 2, (), True, False, ("z",)),
            Storage("kept", 3, None, (0,), False, True, ("kept",)),
        ),
    )


def test_an_overwriting_op_follows_earlier_users_and_precedes_later_ones() -> None:
    def reader(name: str, **more: Any) -> dict[str, Any]:
        return {"name": name, "inputs": ["view"], "outputs": [], **more}

    graph = graph_of(
        tensors=[{"name": "s", "bytes": 1}, {"name": "view", "bytes": 1, "view_of": "s"}],
        ops=[
            reader("r0"),
            reader("r1"),
            {"name": "w2", "inputs": ["s"], "outputs": [], "mutates": ["s"]},
            reader("r3"),
            reader("w4", mutates=["view"]),
            reader("w5", mutates=["view"]),
            reader("r6"),
        ],
        inputs=["s"],
        outputs=[],
    )
    before = {op.name: [graph.ops[u].name for u in op.predecessors] for op in graph.ops}
    assert before == {
        "r0": [],
        "r1": [],
        "w2": ["r0", "r1"],
        "r3": ["w2"],
        "w4": ["w2", "r3"],
        "w5": ["w4"],
        "r6": ["w5"],
    }


def test_an_op_that_views_an_overwritten_storage_is_ordered_too() -> None:
    graph = graph_of(
        tensors=[{"name": "s", "bytes": 1}, {"name": "view", "bytes": 1, "view_of": "s"}],
        ops=[
            {"name": "w", "inputs": ["s"], "outputs": [], "mutates": ["s"]},
            {"name": "reshape", "inputs": [], "outputs": ["view"]},
        ],
        inputs=["s"],
        outputs=[],
    )
    assert graph.ops[1].predecessors == (0,)


def test_hazards_of_one_storage_take_linear_space() -> None:
    count = 4000
    overwriting = [
        {"name": f"w{i}", "inputs": ["s"], "outputs": [], "mutates": ["s"]} for i in range(count)
    ]
    reading = [{"name": f"r{i}", "inputs": ["s"], "outputs": []} for i in range(count)]
    last = [{"name": "last", "inputs": ["s"], "outputs": [], "mutates": ["s"]}]
    graph = graph_of([{"name": "s", "bytes": 1}], [*overwriting, *reading, *last], ["s"], [])
    edges = sum(len(op.predecessors) for op in graph.ops)
    assert edges == (count - 1) + count + (count + 1)


@pytest.mark.parametrize("first_seed", range(0, 2000, 200))
def test_random_graphs_are_built_as_the_oracle_reads_them(first_seed: int) -> None:
    for seed in range(first_seed, first_seed + 200):
        wire = random_wire(seed)
        graph, oracle = build_graph(parse_graph(wire)), Oracle(wire)
        assert len(graph.ops) == oracle.op_count
        for storage, block in zip(graph.storages, oracle.blocks, strict=True):
            assert (storage.name, storage.size_bytes) == (block.name, block.size)
            assert storage.creator == block.creator
            assert storage.users == tuple(members(block.users))
            assert (storage.is_output, storage.is_pinned) == (block.is_output, block.is_pinned)
            assert {oracle.block_of(name) for name in storage.tensors} == {
                oracle.block_of(block.name)
            }
            assert storage.tensors[0] == block.name
        for v, op in enumerate(graph.ops):
            assert op.name == wire["ops"][v]["name"]
            assert op.creates == tuple(sorted(oracle.creates[v]))
            assert op.touches == tuple(sorted(oracle.touches[v]))
            pairs = [(pair.output, pair.input) for pair in op.in_place]
            assert pairs == sorted(oracle.pairs[v])
            assert op.workspace_bytes == wire["ops"][v].get("workspace_bytes", 0)


@pytest.mark.parametrize("first_seed", range(0, 2000, 200))
def test_thinned_hazards_imply_all_of_them_and_nothing_else(first_seed: int) -> None:
    for seed in range(first_seed, first_seed + 200):
        wire = random_wire(seed)
        graph, oracle = build_graph(parse_graph(wire)), Oracle(wire)
        ancestors: list[int] = []
        for v, op in enumerate(graph.ops):
            assert list(op.predecessors) == sorted(set(op.predecessors))
            assert all(0 <= u < v for u in op.predecessors)
            assert all(oracle.predecessors[v] >> u & 1 for u in op.predecessors)
            found = 0
            for u in op.predecessors:
                found |= ancestors[u] | 1 << u
            ancestors.append(found)
            assert found == oracle.ancestors(v)
