"""The canonical form: blind to names and listing, sharp on everything that decides a schedule."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from lowtide.build import build_graph
from lowtide.canonical import CanonicalForm
from lowtide.graph_identity import graph_canonical_form
from lowtide.memory import evaluate
from lowtide.wire import parse_graph

from tests.hard_graphs import relisted
from tests.oracles.random_graphs import random_wire

EXAMPLES = Path(__file__).parent.parent / "examples"


def _form(wire: dict[str, Any]) -> CanonicalForm:
    return graph_canonical_form(build_graph(parse_graph(wire)))


def _mapped_peaks(wire: dict[str, Any], other: dict[str, Any]) -> tuple[int, int]:
    """Peaks of the given order here and of the same order mapped by canonical position there."""
    graph, other_graph = build_graph(parse_graph(wire)), build_graph(parse_graph(other))
    form, other_form = graph_canonical_form(graph), graph_canonical_form(other_graph)
    order = range(len(graph.ops))
    mapped = [other_form.op_at[form.op_position[op]] for op in order]
    return evaluate(graph, order).peak_bytes, evaluate(other_graph, mapped).peak_bytes


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.json")), ids=lambda path: path.stem)
def test_renaming_and_relisting_a_real_graph_changes_nothing(path: Path) -> None:
    wire = json.loads(path.read_bytes())
    other = relisted(wire, random.Random(3))
    assert _form(wire).graph_hash == _form(other).graph_hash
    here, there = _mapped_peaks(wire, other)
    assert here == there


def test_renaming_and_relisting_random_graphs_changes_nothing() -> None:
    compared = 0
    for seed in range(400):
        wire = random_wire(seed)
        if any(op.get("mutates") for op in wire["ops"]):
            continue
        other = relisted(wire, random.Random(seed))
        assert _form(wire).graph_hash == _form(other).graph_hash, seed
        here, there = _mapped_peaks(wire, other)
        assert here == there, seed
        compared += 1
    assert compared > 100


def _base() -> dict[str, Any]:
    return {
        "format": "lowtide.graph/1",
        "name": "base",
        "tensors": [
            {"name": "x", "bytes": 8},
            {"name": "y", "bytes": 8},
            {"name": "z", "bytes": 8},
            {"name": "w", "bytes": 4},
        ],
        "ops": [
            {"name": "a", "kind": "K", "inputs": ["x"], "outputs": ["y"]},
            {"name": "b", "kind": "K", "inputs": ["x"], "outputs": ["z"]},
            {"name": "c", "kind": "K", "inputs": ["y", "z"], "outputs": ["w"]},
        ],
        "inputs": ["x"],
        "outputs": ["w"],
    }


def _changed(path: list[str | int], value: object) -> dict[str, Any]:
    wire = _base()
    spot: Any = wire
    for step in path[:-1]:
        spot = spot[step]
    spot[path[-1]] = value
    return wire


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["tensors", 1, "bytes"], 9),
        (["ops", 0, "workspace_bytes"], 1),
        (["ops", 1, "after"], ["a"]),
        (["ops", 0, "in_place"], [["y", "x"]]),
        (["pinned"], ["x"]),
        (["outputs"], ["w", "z"]),
        (["ops", 2, "inputs"], ["y"]),
        (["ops", 1, "mutates"], ["x"]),
    ],
)
def test_whatever_decides_a_schedule_changes_the_hash(path: list[str | int], value: object) -> None:
    assert _form(_base()).graph_hash != _form(_changed(path, value)).graph_hash


@pytest.mark.parametrize(
    ("path", "value"),
    [(["ops", 0, "kind"], "Other"), (["ops", 0, "cost"], 7), (["name"], "other")],
)
def test_what_does_not_decide_a_schedule_is_left_out(path: list[str | int], value: object) -> None:
    assert _form(_base()).graph_hash == _form(_changed(path, value)).graph_hash


def test_an_input_that_nobody_uses_is_left_out() -> None:
    wire = _base()
    wire["tensors"].append({"name": "unused", "bytes": 100})
    wire["inputs"].append("unused")
    assert _form(wire).graph_hash == _form(_base()).graph_hash


def test_many_equal_branches_are_told_apart_quickly() -> None:
    width = 5000  # quadratic work would take minutes
    wire = {
        "format": "lowtide.graph/1",
        "name": "branches",
        "tensors": [{"name": "x", "bytes": 4}]
        + [{"name": f"y{i}", "bytes": 4} for i in range(width)]
        + [{"name": "z", "bytes": 4}],
        "ops": [
            {"name": f"o{i}", "kind": "K", "inputs": ["x"], "outputs": [f"y{i}"]}
            for i in range(width)
        ]
        + [
            {
                "name": "join",
                "kind": "K",
                "inputs": [f"y{i}" for i in range(width)],
                "outputs": ["z"],
            }
        ],
        "inputs": ["x"],
        "outputs": ["z"],
    }
    form = _form(wire)
    assert sorted(form.op_at) == list(range(width + 1))
    assert sorted(form.storage_at) == list(range(width + 2))
