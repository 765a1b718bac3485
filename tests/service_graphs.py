"""Graphs for the tests of the service, as `lowtide.graph/1` documents."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

GraphDocument = dict[str, Any]

EXAMPLES = Path(__file__).parent.parent / "examples"


def example(name: str) -> GraphDocument:
    """One of the graphs in `examples/`."""
    document: GraphDocument = json.loads((EXAMPLES / f"{name}.json").read_text())
    return document


def chain(ops: int, size_bytes: int = 100) -> GraphDocument:
    """Ops one after the other, every tensor of the same size."""
    tensors = [{"name": f"t{i}", "bytes": size_bytes} for i in range(ops + 1)]
    return {
        "format": "lowtide.graph/1",
        "tensors": tensors,
        "ops": [
            {"name": f"op{i}", "inputs": [f"t{i}"], "outputs": [f"t{i + 1}"]} for i in range(ops)
        ],
        "inputs": ["t0"],
        "outputs": [f"t{ops}"],
    }


def hard(ops: int, seed: int) -> GraphDocument:
    """A random graph in which ops read three of the sixty tensors before: no search ends soon."""
    random_numbers = random.Random(seed)
    tensors = [{"name": "t0", "bytes": 1000}]
    listed_ops = []
    for i in range(1, ops + 1):
        tensors.append({"name": f"t{i}", "bytes": random_numbers.randint(1, 1_000_000)})
        sources = {random_numbers.randint(max(0, i - 60), i - 1) for _ in range(3)}
        listed_ops.append(
            {"name": f"op{i}", "inputs": [f"t{j}" for j in sorted(sources)], "outputs": [f"t{i}"]}
        )
    return {
        "format": "lowtide.graph/1",
        "tensors": tensors,
        "ops": listed_ops,
        "inputs": ["t0"],
        "outputs": [f"t{ops}"],
    }


def reads_of_edges(edges: list[tuple[int, int]]) -> GraphDocument:
    """One op per vertex that makes a tensor, one op per edge that reads both of its ends.

    Colour refinement cannot tell regular graphs of one degree and size apart; their peaks differ.
    """
    vertices = sorted({vertex for edge in edges for vertex in edge})
    tensors = [{"name": f"t{vertex}", "bytes": 1000} for vertex in vertices]
    tensors += [{"name": f"e{i}", "bytes": 1} for i in range(len(edges))]
    makers = [{"name": f"make {v}", "inputs": [], "outputs": [f"t{v}"]} for v in vertices]
    readers = [
        {"name": f"read {i}", "inputs": [f"t{a}", f"t{b}"], "outputs": [f"e{i}"]}
        for i, (a, b) in enumerate(edges)
    ]
    return {
        "format": "lowtide.graph/1",
        "tensors": tensors,
        "ops": makers + readers,
        "inputs": [],
        "outputs": [],
    }


CUBE = reads_of_edges([(a, a | bit) for a in range(8) for bit in (1, 2, 4) if not a & bit])
TWO_TETRAHEDRA = reads_of_edges(
    [(a + k, b + k) for k in (0, 4) for a in range(4) for b in range(a + 1, 4)]
)


def renamed_and_shuffled(graph: GraphDocument, seed: int) -> tuple[GraphDocument, dict[str, str]]:
    """The same graph, renamed, its lists in another valid order; and old op name -> new."""
    random_numbers = random.Random(seed)
    tensor_names = {each["name"]: f"tensor {i}" for i, each in enumerate(graph["tensors"])}
    op_names = {each["name"]: f"op {i}" for i, each in enumerate(graph["ops"])}

    def renamed_op(op: dict[str, Any]) -> dict[str, Any]:
        renamed = dict(op, name=op_names[op["name"]])
        for field in ("inputs", "outputs", "mutates"):
            if field in op:
                renamed[field] = [tensor_names[name] for name in op[field]]
        if "in_place" in op:
            renamed["in_place"] = [[tensor_names[n] for n in pair] for pair in op["in_place"]]
        if "after" in op:
            renamed["after"] = [op_names[name] for name in op["after"]]
        return renamed

    def renamed_tensor(tensor: dict[str, Any]) -> dict[str, Any]:
        renamed = dict(tensor, name=tensor_names[tensor["name"]])
        if "view_of" in tensor:
            renamed["view_of"] = tensor_names[tensor["view_of"]]
        return renamed

    tensors = [renamed_tensor(each) for each in graph["tensors"]]
    random_numbers.shuffle(tensors)
    shuffled = {
        **graph,
        "tensors": tensors,
        "ops": [renamed_op(each) for each in _shuffled_order(graph, random_numbers)],
    }
    for field in ("inputs", "outputs", "pinned"):
        if field in graph:
            shuffled[field] = [tensor_names[name] for name in graph[field]]
            random_numbers.shuffle(shuffled[field])
    return shuffled, op_names


def _shuffled_order(graph: GraphDocument, random_numbers: random.Random) -> list[dict[str, Any]]:
    """A random topological order; for graphs without views, mutations and extra dependencies."""
    assert not any("view_of" in each for each in graph["tensors"])
    assert not any(each.get("mutates") or each.get("after") for each in graph["ops"])
    made = set(graph["inputs"])
    waiting = list(graph["ops"])
    order = []
    while waiting:
        ready = [op for op in waiting if made.issuperset(op["inputs"])]
        op = random_numbers.choice(ready)
        waiting.remove(op)
        made.update(op["outputs"])
        order.append(op)
    return order
