"""GraphBuilder: what it builds, and that every mistake is refused by the line that makes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lowtide.build import build_graph
from lowtide.memory import evaluate
from lowtide.wire import MAX_AMOUNT, WireGraph, dump_graph, parse_graph
from lowtide_client import GraphBuilder, GraphError, OpRef, TensorRef, View


def everything() -> GraphBuilder:
    """A graph that uses every feature of the format."""
    b = GraphBuilder("everything")
    x = b.input("x", 100, pinned=True)
    state = b.input("state", 40)
    y = b.op("conv", "Conv", [x], out=("y", 80), workspace_bytes=7, cost=1000, max_runs=2)
    flat = b.op("flatten", "Reshape", [y], out=View("y_flat", of=y))
    left, right = b.op("split", "Split", [flat], outs=[("left", 30), ("right", 50)])
    update = b.op("update", "Assign", [left, state], mutates=[state])
    half = b.view("right_half", of=right)
    z = b.op("add", "Add", [left, half], out=("z", 50), in_place=[left, half], after=[update])
    b.output(z, state)
    return b


def test_every_feature_reaches_the_wire() -> None:
    assert dump_graph(everything().build()) == dump_graph(
        parse_graph(
            {
                "format": "lowtide.graph/1",
                "name": "everything",
                "tensors": [
                    {"name": "x", "bytes": 100},
                    {"name": "state", "bytes": 40},
                    {"name": "y", "bytes": 80},
                    {"name": "y_flat", "bytes": 80, "view_of": "y"},
                    {"name": "left", "bytes": 30},
                    {"name": "right", "bytes": 50},
                    {"name": "right_half", "bytes": 50, "view_of": "right"},
                    {"name": "z", "bytes": 50},
                ],
                "ops": [
                    {
                        "name": "conv",
                        "kind": "Conv",
                        "inputs": ["x"],
                        "outputs": ["y"],
                        "workspace_bytes": 7,
                        "cost": 1000,
                        "max_runs": 2,
                    },
                    {"name": "flatten", "kind": "Reshape", "inputs": ["y"], "outputs": ["y_flat"]},
                    {
                        "name": "split",
                        "kind": "Split",
                        "inputs": ["y_flat"],
                        "outputs": ["left", "right"],
                    },
                    {
                        "name": "update",
                        "kind": "Assign",
                        "inputs": ["left", "state"],
                        "outputs": [],
                        "mutates": ["state"],
                    },
                    {
                        "name": "add",
                        "kind": "Add",
                        "inputs": ["left", "right_half"],
                        "outputs": ["z"],
                        "in_place": [["z", "left"], ["z", "right_half"]],
                        "after": ["update"],
                    },
                ],
                "inputs": ["x", "state"],
                "outputs": ["z", "state"],
                "pinned": ["x"],
            }
        )
    )


def test_what_op_returns_follows_from_its_outputs() -> None:
    b = GraphBuilder()
    x = b.input("x", 1)
    assert isinstance(b.op("one", "", [x], out=("a", 1)), TensorRef)
    several = b.op("several", "", [x], outs=[("b", 1)])
    assert [ref.name for ref in several] == ["b"]
    assert isinstance(b.op("none", "", [x]), OpRef)
    assert several[0].op.name == "several"


def test_building_may_go_on_after_build() -> None:
    b = GraphBuilder()
    x = b.input("x", 5)
    assert b.build().ops == ()
    b.output(b.op("copy", "Copy", [x], out=("y", 5)))
    assert evaluate(build_graph(b.build()), (0,)).peak_bytes == 10


def test_other_libraries_integers_are_integers() -> None:
    class Sixteen:
        def __index__(self) -> int:
            return 16

    b = GraphBuilder()
    size: Any = Sixteen()
    assert b.input("x", size).size_bytes == 16


Line = Callable[[GraphBuilder, dict[str, Any]], object]

REFUSED: dict[str, tuple[Line, str, str]] = {
    "negative size": (lambda b, h: b.input("n", -1), "out_of_range", "/tensors/4/bytes"),
    "absurd size": (lambda b, h: b.input("n", 2**63), "out_of_range", "/tensors/4/bytes"),
    "size as float": (lambda b, h: b.input("n", 1.0), "wrong_type", "/tensors/4/bytes"),  # type: ignore[arg-type]
    "size as bool": (lambda b, h: b.input("n", True), "wrong_type", "/tensors/4/bytes"),
    "size as NaN": (lambda b, h: b.input("n", float("nan")), "wrong_type", "/tensors/4/bytes"),  # type: ignore[arg-type]
    "empty name": (lambda b, h: b.input("", 1), "empty_name", "/tensors/4/name"),
    "name no text": (lambda b, h: b.input(7, 1), "wrong_type", "/tensors/4/name"),  # type: ignore[arg-type]
    "input twice": (lambda b, h: b.input("x", 1), "duplicate_tensor", "/tensors/4/name"),
    "view under its own name": (
        lambda b, h: b.view("x", of=h["x"]),
        "duplicate_tensor",
        "/tensors/4/name",
    ),
    "op twice": (lambda b, h: b.op("f", "", [h["x"]]), "duplicate_op", "/ops/2/name"),
    "output of another op": (
        lambda b, h: b.op("g", "", [h["x"]], out=("y", 1)),
        "duplicate_tensor",
        "/tensors/4/name",
    ),
    "same output twice": (
        lambda b, h: b.op("g", "", [h["x"]], outs=[("a", 1), ("a", 2)]),
        "duplicate_tensor",
        "/tensors/5/name",
    ),
    "negative output": (
        lambda b, h: b.op("g", "", [h["x"]], outs=[("a", 1), ("b", -2)]),
        "out_of_range",
        "/tensors/5/bytes",
    ),
    "negative workspace": (
        lambda b, h: b.op("g", "", [h["x"]], workspace_bytes=-1),
        "out_of_range",
        "/ops/2/workspace_bytes",
    ),
    "negative cost": (
        lambda b, h: b.op("g", "", [h["x"]], cost=-1),
        "out_of_range",
        "/ops/2/cost",
    ),
    "no runs": (
        lambda b, h: b.op("g", "", [h["x"]], max_runs=0),
        "out_of_range",
        "/ops/2/max_runs",
    ),
    "mutates what it does not read": (
        lambda b, h: b.op("g", "", [h["x"]], mutates=[h["y"]]),
        "mutates_not_input",
        "/ops/2/mutates/0",
    ),
    "in place over what it does not read": (
        lambda b, h: b.op("g", "", [h["x"]], out=("a", 1), in_place=[h["y"]]),
        "in_place_input",
        "/ops/2/in_place/0/1",
    ),
    "in place for what it does not make": (
        lambda b, h: b.op("g", "", [h["y"]], out=("a", 1), in_place=[("z", h["y"])]),
        "in_place_output",
        "/ops/2/in_place",
    ),
    "in place into a view": (
        lambda b, h: b.op("g", "", [h["y"]], out=View("a", of=h["y"]), in_place=[h["y"]]),
        "in_place_output",
        "/ops/2/in_place/0/0",
    ),
    "in-place pair twice": (
        lambda b, h: b.op("g", "", [h["y"]], out=("a", 1), in_place=[h["y"], h["y"]]),
        "duplicate_entry",
        "/ops/2/in_place/1",
    ),
    "after twice": (
        lambda b, h: b.op("g", "", [], after=[h["f"], h["f"]]),
        "duplicate_entry",
        "/ops/2/after/1",
    ),
    "graph output twice": (lambda b, h: b.output(h["z"]), "duplicate_entry", "/outputs/1"),
    "all bytes": (
        lambda b, h: b.input("n", MAX_AMOUNT),
        "total_bytes",
        "/tensors/4/bytes",
    ),
    "all bytes with this op": (
        lambda b, h: b.op("g", "", [h["x"]], out=("a", 1), workspace_bytes=MAX_AMOUNT - 1),
        "total_bytes",
        "/ops/2",
    ),
    "this op's bytes": (
        lambda b, h: b.op("g", "", [h["x"]], out=("a", 1), workspace_bytes=MAX_AMOUNT),
        "total_bytes",
        "/ops/2/workspace_bytes",
    ),
    "all costs": (
        lambda b, h: b.op("g", "", [h["x"]], cost=MAX_AMOUNT),
        "total_cost",
        "/ops/2/cost",
    ),
    "another builder's tensor": (
        lambda b, h: b.op("g", "", [GraphBuilder().input("x", 10)]),
        "foreign_handle",
        "/ops/2/inputs",
    ),
    "another builder's op": (
        lambda b, h: b.op("g", "", [h["x"]], after=[everything().op("k", "", [])]),
        "foreign_handle",
        "/ops/2/after",
    ),
    "another builder's output": (
        lambda b, h: b.output(GraphBuilder().input("x", 10)),
        "foreign_handle",
        "/outputs/1",
    ),
}

MISUSED: dict[str, tuple[Line, str]] = {
    "name for a tensor": (lambda b, h: b.op("g", "", ["x"]), '"x" is of type str'),  # type: ignore[list-item]
    "tensor for a list": (lambda b, h: b.op("g", "", h["x"]), 'a list is wanted, not "x"'),
    "name for a list": (lambda b, h: b.op("g", "", "x"), 'a list is wanted, not "x"'),  # type: ignore[arg-type]
    "tensor for an op": (lambda b, h: b.op("g", "", [], after=[h["y"]]), "the .op of a tensor"),
    "op for a tensor": (lambda b, h: b.op("g", "", [h["f"]]), '"f" is of type OpRef'),
    "op for an output": (lambda b, h: b.output(h["f"]), '"f" is of type OpRef'),
    "output without size": (lambda b, h: b.op("g", "", [h["x"]], out="a"), "(name, bytes)"),  # type: ignore[call-overload]
    "tensor for a size": (lambda b, h: b.op("g", "", [h["x"]], out=("a", h["x"])), "View('a'"),
    "out and outs": (
        lambda b, h: b.op("g", "", [], out=("a", 1), outs=[("b", 1)]),  # type: ignore[call-overload]
        "not both",
    ),
    "in place without saying which": (
        lambda b, h: b.op("g", "", [h["x"]], outs=[("a", 1), ("b", 1)], in_place=[h["x"]]),
        "of the op's 2 outputs",
    ),
    "view of a name": (lambda b, h: b.view("v", of="x"), '"x" is of type str'),  # type: ignore[arg-type]
}


def small() -> tuple[GraphBuilder, dict[str, Any]]:
    """x -> f -> y -> h -> z; x and w (unused) are inputs, z is the output. The cost of f is 1."""
    b = GraphBuilder("small")
    x, w = b.input("x", 10), b.input("w", 10)
    y = b.op("f", "F", [x], out=("y", 10), cost=1)
    z = b.op("h", "H", [y], out=("z", 10))
    b.output(z)
    return b, {"x": x, "w": w, "y": y, "z": z, "f": y.op, "h": z.op}


@pytest.mark.parametrize("mistake", REFUSED)
def test_a_wrong_line_is_refused_and_changes_nothing(mistake: str) -> None:
    b, handles = small()
    before = b.build()
    line, code, pointer = REFUSED[mistake]
    with pytest.raises(GraphError) as caught:
        line(b, handles)
    assert [(p.code, p.pointer) for p in caught.value.problems][:1] == [(code, pointer)]
    assert b.build() == before


@pytest.mark.parametrize("mistake", MISUSED)
def test_what_is_no_handle_is_refused_with_what_to_pass(mistake: str) -> None:
    b, handles = small()
    before = b.build()
    line, hint = MISUSED[mistake]
    with pytest.raises(TypeError) as caught:
        line(b, handles)
    assert hint in str(caught.value)
    assert b.build() == before


def test_graph_name_is_checked() -> None:
    with pytest.raises(GraphError) as caught:
        GraphBuilder("n" * 5000)
    assert caught.value.problems[0].pointer == "/name"


def test_an_input_has_no_op() -> None:
    x = GraphBuilder().input("x", 1)
    with pytest.raises(ValueError, match='no op makes "x"'):
        x.op  # noqa: B018


def test_too_many_in_place_modes_wait_for_the_outputs() -> None:
    def wide(*, with_output: bool) -> GraphBuilder:
        b = GraphBuilder()
        xs = [b.op(f"make{i}", "", [], out=(f"x{i}", 1)) for i in range(70)]
        b.op("join", "", xs, out=("y", 1), in_place=xs)
        if with_output:
            b.output(*xs)
        return b

    with pytest.raises(GraphError) as caught:
        wide(with_output=False).build()
    assert [p.code for p in caught.value.problems] == ["too_many_modes"]
    assert len(wide(with_output=True).build().ops) == 71


@st.composite
def programs(draw: st.DrawFn) -> WireGraph:
    """Random calls with valid handles; some lines are refused and simply do not count."""
    b = GraphBuilder("random")
    tensors = [b.input("x", draw(st.integers(0, 20)), pinned=draw(st.booleans()))]
    ops: list[OpRef] = []
    for i in range(draw(st.integers(1, 8))):
        some = st.lists(st.sampled_from(tensors), max_size=3)
        inputs = draw(some)
        outs: list[tuple[str, int] | View] = [
            (f"t{i}.{k}", draw(st.integers(0, 20))) for k in range(draw(st.integers(1, 2)))
        ]
        if draw(st.booleans()):
            outs.append(View(f"v{i}", of=draw(st.sampled_from(tensors))))
        try:
            made = b.op(
                f"op{i}",
                "",
                inputs,
                outs=outs,
                in_place=[(f"t{i}.0", x) for x in draw(some)],
                mutates=draw(some),
                after=draw(st.lists(st.sampled_from(ops), max_size=2)) if ops else [],
            )
        except GraphError:
            continue
        tensors += made
        ops.append(made[0].op)
    b.output(*draw(st.lists(st.sampled_from(tensors), max_size=3, unique=True)))
    return b.build()


@settings(max_examples=150, deadline=None)
@given(programs())
def test_what_the_lines_accept_the_format_accepts(graph: WireGraph) -> None:
    assert parse_graph(dump_graph(graph)) == graph
    built = build_graph(graph)
    assert evaluate(built, range(len(built.ops))).peak_bytes >= 0
