"""One small graph, and every way to break it, each with the one problem that must be reported."""

from __future__ import annotations

from typing import Any

from tests.oracles.json_edits import REMOVE


def small_graph() -> dict[str, Any]:
    """Two ops in a row and a third beside them; `s` is read by two of them."""
    return {
        "format": "lowtide.graph/1",
        "name": "small",
        "tensors": [
            {"name": "x", "bytes": 8},
            {"name": "s", "bytes": 4},
            {"name": "y", "bytes": 6},
            {"name": "z", "bytes": 6},
            {"name": "z_flat", "bytes": 6, "view_of": "z"},
        ],
        "ops": [
            {"name": "a", "kind": "Conv", "inputs": ["x", "s"], "outputs": ["y"]},
            {"name": "b", "inputs": ["y", "s"], "outputs": ["z"], "in_place": [["z", "y"]]},
            {"name": "c", "inputs": ["z_flat"], "outputs": [], "after": ["a"]},
        ],
        "inputs": ["x", "s"],
        "outputs": ["z"],
    }


def many(count: int, prefix: str) -> list[dict[str, Any]]:
    """This many tensors of one byte."""
    return [{"name": f"{prefix}{i}", "bytes": 1} for i in range(count)]


ONE_WRONG: dict[str, tuple[dict[str, Any], tuple[str, str, str | None]]] = {
    # The document.
    "other format": ({"/format": "lowtide.graph/2"}, ("unknown_format", "/format", None)),
    "format of another kind": ({"/format": 1}, ("unknown_format", "/format", None)),
    "no format": ({"/format": REMOVE}, ("missing_field", "/format", None)),
    "no tensors": ({"/tensors": REMOVE}, ("missing_field", "/tensors", None)),
    "no ops": ({"/ops": REMOVE}, ("missing_field", "/ops", None)),
    "no inputs": ({"/inputs": REMOVE}, ("missing_field", "/inputs", None)),
    "no outputs": ({"/outputs": REMOVE}, ("missing_field", "/outputs", None)),
    "unknown field": ({"/extra": 1}, ("unknown_field", "/extra", None)),
    "unknown field to escape": ({"/a~1b~0c": 1}, ("unknown_field", "/a~1b~0c", None)),
    "graph name not text": ({"/name": 3}, ("wrong_type", "/name", None)),
    "tensors not a list": ({"/tensors": {}}, ("wrong_type", "/tensors", None)),
    "ops not a list": ({"/ops": "a"}, ("wrong_type", "/ops", None)),
    "inputs not a list": ({"/inputs": "x"}, ("wrong_type", "/inputs", None)),
    "input not a name": ({"/inputs/0": 7}, ("wrong_type", "/inputs/0", None)),
    "outputs null": ({"/outputs": None}, ("wrong_type", "/outputs", None)),
    # Fields of tensors and ops.
    "tensor not an object": ({"/tensors/0": "x"}, ("wrong_type", "/tensors/0", None)),
    "tensor without bytes": (
        {"/tensors/0/bytes": REMOVE},
        ("missing_field", "/tensors/0/bytes", "x"),
    ),
    "tensor without name": (
        {"/tensors/0/name": REMOVE},
        ("missing_field", "/tensors/0/name", None),
    ),
    "tensor with unknown field": (
        {"/tensors/1/dtype": "int8"},
        ("unknown_field", "/tensors/1/dtype", "s"),
    ),
    "negative size": ({"/tensors/0/bytes": -1}, ("out_of_range", "/tensors/0/bytes", "x")),
    "absurd size": ({"/tensors/0/bytes": 2**62 + 1}, ("out_of_range", "/tensors/0/bytes", "x")),
    "size of a thousand digits": (
        {"/tensors/0/bytes": 10**1000},
        ("out_of_range", "/tensors/0/bytes", "x"),
    ),
    "size not a number": (
        {"/tensors/0/bytes": float("nan")},
        ("wrong_type", "/tensors/0/bytes", "x"),
    ),
    "infinite size": (
        {"/tensors/0/bytes": float("inf")},
        ("wrong_type", "/tensors/0/bytes", "x"),
    ),
    "size with a point": ({"/tensors/0/bytes": 8.0}, ("wrong_type", "/tensors/0/bytes", "x")),
    "size true": ({"/tensors/0/bytes": True}, ("wrong_type", "/tensors/0/bytes", "x")),
    "size in quotes": ({"/tensors/0/bytes": "8"}, ("wrong_type", "/tensors/0/bytes", "x")),
    "size null": ({"/tensors/0/bytes": None}, ("wrong_type", "/tensors/0/bytes", "x")),
    "empty tensor name": ({"/tensors/0/name": ""}, ("empty_name", "/tensors/0/name", None)),
    "tensor name too long": (
        {"/tensors/0/name": "n" * (4096 + 1)},
        ("name_too_long", "/tensors/0/name", None),
    ),
    "tensor name not Unicode": (
        {"/tensors/0/name": "\ud800"},
        ("not_unicode", "/tensors/0/name", None),
    ),
    "op not an object": ({"/ops/2": ["c"]}, ("wrong_type", "/ops/2", None)),
    "op without name": ({"/ops/2/name": REMOVE}, ("missing_field", "/ops/2/name", None)),
    "op without inputs": ({"/ops/0/inputs": REMOVE}, ("missing_field", "/ops/0/inputs", "a")),
    "op without outputs": ({"/ops/1/outputs": REMOVE}, ("missing_field", "/ops/1/outputs", "b")),
    "op with unknown field": ({"/ops/1/inplace": []}, ("unknown_field", "/ops/1/inplace", "b")),
    "empty op name": ({"/ops/1/name": ""}, ("empty_name", "/ops/1/name", None)),
    "kind not text": ({"/ops/1/kind": 5}, ("wrong_type", "/ops/1/kind", "b")),
    "input of an op not a name": (
        {"/ops/0/inputs/1": 3},
        ("wrong_type", "/ops/0/inputs/1", "a"),
    ),
    "negative cost": ({"/ops/0/cost": -5}, ("out_of_range", "/ops/0/cost", "a")),
    "cost with a point": ({"/ops/0/cost": 1.5}, ("wrong_type", "/ops/0/cost", "a")),
    "negative workspace": (
        {"/ops/0/workspace_bytes": -1},
        ("out_of_range", "/ops/0/workspace_bytes", "a"),
    ),
    "absurd workspace": (
        {"/ops/0/workspace_bytes": 2**63},
        ("out_of_range", "/ops/0/workspace_bytes", "a"),
    ),
    "no run allowed": ({"/ops/0/max_runs": 0}, ("out_of_range", "/ops/0/max_runs", "a")),
    "in-place triple": (
        {"/ops/1/in_place/0": ["z", "y", "s"]},
        ("wrong_type", "/ops/1/in_place/0", "b"),
    ),
    "in-place single": (
        {"/ops/1/in_place/0": ["z"]},
        ("wrong_type", "/ops/1/in_place/0/1", "b"),
    ),
    "in-place not a pair": ({"/ops/1/in_place/0": "zy"}, ("wrong_type", "/ops/1/in_place/0", "b")),
    # Names.
    "duplicate tensor": (
        {"/tensors/5": {"name": "x", "bytes": 1}},
        ("duplicate_tensor", "/tensors/5/name", "x"),
    ),
    "duplicate op": (
        {"/ops/3": {"name": "a", "inputs": [], "outputs": []}},
        ("duplicate_op", "/ops/3/name", "a"),
    ),
    "unknown input of an op": (
        {"/ops/0/inputs/1": "q"},
        ("unknown_tensor", "/ops/0/inputs/1", "q"),
    ),
    "unknown output of an op": (
        {"/ops/2/outputs/0": "q"},
        ("unknown_tensor", "/ops/2/outputs/0", "q"),
    ),
    "view of unknown": ({"/tensors/4/view_of": "q"}, ("unknown_tensor", "/tensors/4/view_of", "q")),
    "unknown graph input": ({"/inputs/2": "q"}, ("unknown_tensor", "/inputs/2", "q")),
    "unknown graph output": ({"/outputs/1": "q"}, ("unknown_tensor", "/outputs/1", "q")),
    "unknown pinned": ({"/pinned": ["q"]}, ("unknown_tensor", "/pinned/0", "q")),
    "unknown mutated": ({"/ops/0/mutates": ["q"]}, ("unknown_tensor", "/ops/0/mutates/0", "q")),
    "unknown made in place": (
        {"/ops/1/in_place/0/0": "q"},
        ("unknown_tensor", "/ops/1/in_place/0/0", "q"),
    ),
    "unknown taken over": (
        {"/ops/1/in_place/0/1": "q"},
        ("unknown_tensor", "/ops/1/in_place/0/1", "q"),
    ),
    "after unknown": ({"/ops/2/after/0": "q"}, ("unknown_op", "/ops/2/after/0", "q")),
    "graph input twice": ({"/inputs/2": "x"}, ("duplicate_entry", "/inputs/2", "x")),
    "graph output twice": ({"/outputs/1": "z"}, ("duplicate_entry", "/outputs/1", "z")),
    "pinned twice": ({"/pinned": ["x", "x"]}, ("duplicate_entry", "/pinned/1", "x")),
    "made twice by one op": (
        {"/ops/0/outputs/1": "y"},
        ("duplicate_entry", "/ops/0/outputs/1", "y"),
    ),
    "mutated twice": (
        {"/ops/0/mutates": ["s", "s"]},
        ("duplicate_entry", "/ops/0/mutates/1", "s"),
    ),
    "after twice": ({"/ops/2/after/1": "a"}, ("duplicate_entry", "/ops/2/after/1", "a")),
    "pair twice": (
        {"/ops/1/in_place/1": ["z", "y"]},
        ("duplicate_entry", "/ops/1/in_place/1", "z"),
    ),
    # Who makes what.
    "two producers": ({"/ops/2/outputs/0": "y"}, ("two_producers", "/ops/2/outputs/0", "y")),
    "produced graph input": (
        {"/ops/2/outputs/0": "x"},
        ("produced_input", "/ops/2/outputs/0", "x"),
    ),
    "read but never made": (
        {"/tensors/5": {"name": "q", "bytes": 1}, "/ops/0/inputs/2": "q"},
        ("never_made", "/ops/0/inputs/2", "q"),
    ),
    "view of what is never made is read": (
        {
            "/tensors/5": {"name": "q", "bytes": 1},
            "/tensors/6": {"name": "q_flat", "bytes": 1, "view_of": "q"},
            "/ops/0/inputs/2": "q_flat",
        },
        ("never_made", "/ops/0/inputs/2", "q_flat"),
    ),
    "view of what is never made is made": (
        {
            "/tensors/5": {"name": "q", "bytes": 1},
            "/tensors/6": {"name": "q_flat", "bytes": 1, "view_of": "q"},
            "/ops/2/outputs/0": "q_flat",
        },
        ("never_made", "/ops/2/outputs/0", "q_flat"),
    ),
    "output that nobody makes": (
        {"/tensors/5": {"name": "q", "bytes": 1}, "/outputs/1": "q"},
        ("never_made", "/outputs/1", "q"),
    ),
    "graph input that is a view of what an op makes": (
        {"/inputs/2": "z_flat"},
        ("input_view", "/inputs/2", "z_flat"),
    ),
    "view of itself": (
        {"/tensors/4/view_of": "z_flat"},
        ("view_cycle", "/tensors/4/view_of", "z_flat"),
    ),
    "pinned but not an input": ({"/pinned": ["y"]}, ("pinned_not_input", "/pinned/0", "y")),
    "view of an input pinned": (
        {"/tensors/5": {"name": "x_flat", "bytes": 8, "view_of": "x"}, "/pinned": ["x_flat"]},
        ("pinned_not_input", "/pinned/0", "x_flat"),
    ),
    "mutates what it does not read": (
        {"/ops/0/mutates": ["y"]},
        ("mutates_not_input", "/ops/0/mutates/0", "y"),
    ),
    "mutates another name of its input": (
        {"/ops/2/mutates": ["z"]},
        ("mutates_not_input", "/ops/2/mutates/0", "z"),
    ),
    # In place.
    "in place: not its output": (
        {"/ops/1/in_place/0": ["x", "y"]},
        ("in_place_output", "/ops/1/in_place/0/0", "x"),
    ),
    "in place: a view": (
        {
            "/tensors/5": {"name": "y_flat", "bytes": 6, "view_of": "y"},
            "/ops/1/outputs/1": "y_flat",
            "/ops/1/in_place/0": ["y_flat", "s"],
        },
        ("in_place_output", "/ops/1/in_place/0/0", "y_flat"),
    ),
    "in place: not its input": (
        {"/ops/1/in_place/0": ["z", "x"]},
        ("in_place_input", "/ops/1/in_place/0/1", "x"),
    ),
    "in place: an output of its own": (
        {
            "/tensors/5": {"name": "w", "bytes": 6},
            "/ops/1/outputs/1": "w",
            "/ops/1/in_place/0": ["z", "w"],
        },
        ("in_place_input", "/ops/1/in_place/0/1", "w"),
    ),
    "in place: too many ways": (
        {
            "/tensors": [*small_graph()["tensors"], *many(65, "i")],
            "/inputs": ["x", "s", *(f"i{i}" for i in range(65))],
            "/ops/1/inputs": ["y", "s", *(f"i{i}" for i in range(65))],
            "/ops/1/in_place": [["z", f"i{i}"] for i in range(65)],
        },
        ("too_many_modes", "/ops/1/in_place", "b"),
    ),
    # Order.
    "an op reads what it makes": ({"/ops/0/inputs/1": "y"}, ("cycle", "/ops/0/inputs/1", "a")),
    "an op runs after itself": ({"/ops/2/after/0": "c"}, ("cycle", "/ops/2/after/0", "c")),
    "a cycle through data": ({"/ops/0/inputs/1": "z_flat"}, ("cycle", "/ops/0/inputs/1", "a")),
    "a cycle through after": ({"/ops/0/after": ["b"]}, ("cycle", "/ops/0/after/0", "a")),
    "listed before its producer": (
        {
            "/tensors/5": {"name": "w", "bytes": 1},
            "/ops/2/outputs/0": "w",
            "/ops/3": {"name": "d", "inputs": ["v"], "outputs": []},
            "/tensors/6": {"name": "v", "bytes": 1},
            "/ops/4": {"name": "e", "inputs": ["w"], "outputs": ["v"]},
        },
        ("not_an_order", "/ops/3/inputs/0", "d"),
    ),
    "listed before what it runs after": (
        {"/ops/0/after": ["d"], "/ops/3": {"name": "d", "inputs": ["x"], "outputs": []}},
        ("not_an_order", "/ops/0/after/0", "a"),
    ),
    "makes a view before its base is there": (
        {
            "/tensors/5": {"name": "v", "bytes": 1},
            "/tensors/6": {"name": "v_flat", "bytes": 1, "view_of": "v"},
            "/ops/2/outputs/0": "v_flat",
            "/ops/3": {"name": "d", "inputs": ["x"], "outputs": ["v"]},
        },
        ("not_an_order", "/ops/2/outputs/0", "c"),
    ),
    # Totals.
    "sizes past 2^62": (
        {"/tensors/0/bytes": 2**61, "/tensors/1/bytes": 2**61},
        ("total_bytes", "/tensors/1/bytes", "s"),
    ),
    "workspace past 2^62": (
        {"/ops/1/workspace_bytes": 2**62},
        ("total_bytes", "/ops/1/workspace_bytes", "b"),
    ),
    "costs past 2^62": (
        {"/ops/0/cost": 2**62, "/ops/2/cost": 1},
        ("total_cost", "/ops/0/cost", "a"),
    ),
}
