"""Graphs where recomputation matters, small enough to be followed by hand."""

from __future__ import annotations

from typing import Any


def training_chain(length: int) -> dict[str, Any]:
    """A chain of `length` forward ops and the backward ops that read them in reverse; all sizes and
    costs are 1.
    """
    count = 2 * length + 1
    ops = [
        {"name": f"f{i}", "inputs": [f"t{i - 1}"] if i else [], "outputs": [f"t{i}"], "cost": 1}
        for i in range(length)
    ]
    for i in range(length, count):
        back = 2 * length - i
        reads = [f"t{i - 1}"] if i == length else [f"t{back}", f"t{i - 1}"]
        ops.append({"name": f"b{i}", "inputs": reads, "outputs": [f"t{i}"], "cost": 1})
    return {
        "format": "lowtide.graph/1",
        "name": f"training-chain-{length}",
        "tensors": [{"name": f"t{i}", "bytes": 1} for i in range(count)],
        "ops": ops,
        "inputs": [],
        "outputs": [f"t{count - 1}"],
    }


def held_stem(blocks: int) -> dict[str, Any]:
    """A cheap stem whose large value waits for the end while `blocks` larger ops run in a row."""
    tensors = [{"name": "x", "bytes": 1}, {"name": "stem", "bytes": 40}]
    ops: list[dict[str, Any]] = [{"name": "stem", "inputs": ["x"], "outputs": ["stem"], "cost": 3}]
    last = "stem"
    for i in range(blocks):
        tensors.append({"name": f"y{i}", "bytes": 100})
        ops.append({"name": f"block{i}", "inputs": [last], "outputs": [f"y{i}"], "cost": 50})
        last = f"y{i}"
    tensors += [{"name": "small", "bytes": 10}, {"name": "out", "bytes": 10}]
    ops.append({"name": "pool", "inputs": [last], "outputs": ["small"], "cost": 5})
    ops.append({"name": "join", "inputs": ["stem", "small"], "outputs": ["out"], "cost": 7})
    return {
        "format": "lowtide.graph/1",
        "name": "held-stem",
        "tensors": tensors,
        "ops": ops,
        "inputs": ["x"],
        "outputs": ["out"],
    }
