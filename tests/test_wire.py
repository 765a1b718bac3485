"""Graphs in: every way to be wrong is one problem with its pointer and its subject."""

from __future__ import annotations

import json
import random
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lowtide.wire import FORMAT, WireGraph, dump_graph, parse_graph
from lowtide.wire_errors import MAX_COUNTED_PROBLEMS, MAX_REPORTED_PROBLEMS, GraphError, Problem
from lowtide.wire_json import parse_json
from pydantic import ValidationError

from tests.oracles.broken_graphs import ONE_WRONG, small_graph
from tests.oracles.json_edits import REMOVE, edited, randomly_edited, value_at
from tests.oracles.random_graphs import random_wire

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.json"))


def problems_of(document: Any) -> list[tuple[str, str, str | None]]:
    """Code, pointer and subject of everything that is wrong."""
    with pytest.raises(GraphError) as caught:
        parse_graph(document)
    assert all(problem.message for problem in caught.value.problems)
    return [(p.code, p.pointer, p.subject) for p in caught.value.problems]


@pytest.mark.parametrize("case", ONE_WRONG)
def test_one_wrong_thing_is_one_problem(case: str) -> None:
    edits, expected = ONE_WRONG[case]
    assert problems_of(edited(small_graph(), edits)) == [expected]


@pytest.mark.parametrize("case", [case for case in ONE_WRONG if "thousand" not in case])
def test_json_text_is_judged_like_its_value(case: str) -> None:
    edits, expected = ONE_WRONG[case]
    assert problems_of(json.dumps(edited(small_graph(), edits))) == [expected]


def test_everything_wrong_is_reported_together() -> None:
    document = edited(
        small_graph(),
        {
            "/surplus": 1,
            "/tensors/0/bytes": -1,
            "/tensors/4/view_of": "z_flat",
            "/tensors/5": {"name": "q", "bytes": float("nan"), "shape": []},
            "/ops/0/inputs/1": "nowhere",
            "/ops/1/in_place/0/1": "x",
            "/ops/2/inputs/0": "z",
            "/ops/2/after/0": "c",
            "/outputs/1": "q",
        },
    )
    assert problems_of(document) == [
        ("unknown_field", "/surplus", None),
        ("out_of_range", "/tensors/0/bytes", "x"),
        ("unknown_field", "/tensors/5/shape", "q"),
        ("wrong_type", "/tensors/5/bytes", "q"),
        ("view_cycle", "/tensors/4/view_of", "z_flat"),
        ("never_made", "/outputs/1", "q"),
        ("unknown_tensor", "/ops/0/inputs/1", "nowhere"),
        ("in_place_input", "/ops/1/in_place/0/1", "x"),
        ("cycle", "/ops/2/after/0", "c"),
    ]


def test_messages_name_both_ends_and_say_what_to_do() -> None:
    late = edited(
        small_graph(),
        {"/ops/0/after": ["d"], "/ops/3": {"name": "d", "inputs": ["x"], "outputs": []}},
    )
    with pytest.raises(GraphError) as caught:
        parse_graph(late)
    (problem,) = caught.value.problems
    assert problem.message == (
        'op "a" is listed before op "d", which it depends on; '
        "list the ops in an order in which they can run"
    )
    assert str(caught.value) == f"/ops/0/after/0: {problem.message} [not_an_order]"


def test_a_cycle_names_its_ops_and_every_tangle_is_reported() -> None:
    ops = [
        {"name": name, "inputs": [], "outputs": [], "after": after}
        for name, after in [
            ("a", ["c"]),
            ("b", ["a"]),
            ("c", ["b"]),
            ("p", ["q"]),
            ("q", ["p"]),
            ("late", ["last"]),
            ("last", []),
        ]
    ]
    with pytest.raises(GraphError) as caught:
        parse_graph(
            edited(small_graph(), {"/ops": ops, "/outputs": [], "/tensors": [], "/inputs": []})
        )
    problems = caught.value.problems
    assert [(p.code, p.subject) for p in problems] == [
        ("cycle", "a"),
        ("cycle", "p"),
        ("not_an_order", "late"),
    ]
    assert '"a" -> "b" -> "c" -> "a"' in problems[0].message
    assert '"p" -> "q" -> "p"' in problems[1].message


def test_many_problems_are_counted_not_listed() -> None:
    tensors = [{"name": f"t{i}", "bytes": -1} for i in range(5000)]
    with pytest.raises(GraphError) as caught:
        parse_graph(edited(small_graph(), {"/tensors": [*small_graph()["tensors"], *tensors]}))
    assert len(caught.value.problems) == MAX_REPORTED_PROBLEMS
    assert caught.value.omitted == 5000 - MAX_REPORTED_PROBLEMS
    assert str(caught.value).endswith("... and 4900 more problems")


def test_nobody_looks_for_problems_without_end() -> None:
    for broken in ({"/tensors": [0] * 50_000}, {"/ops/0/inputs": [str(i) for i in range(50_000)]}):
        with pytest.raises(GraphError) as caught:
            parse_graph(edited(small_graph(), broken))
        assert len(caught.value.problems) == MAX_REPORTED_PROBLEMS
        assert caught.value.omitted == MAX_COUNTED_PROBLEMS - MAX_REPORTED_PROBLEMS
        assert str(caught.value).endswith("... and at least 9900 more problems")


def test_a_pointer_stops_before_a_key_without_end() -> None:
    document = edited(small_graph(), {"/ops/1/" + "k" * 1_000_000: 1})
    assert problems_of(document) == [("unknown_field", "/ops/1", "b")]
    inner = '{"k": 1, "k": 2}'
    text = '{"a": {"' + "n" * 1_000_000 + '": [' + ", ".join([inner] * 1000) + "]}}"
    with pytest.raises(GraphError) as caught:
        parse_graph(text)
    assert {(p.code, p.pointer) for p in caught.value.problems} == {("duplicate_key", "/a")}
    assert caught.value.omitted == 900


def test_an_unreadable_name_hides_nothing_and_adds_nothing() -> None:
    document = edited(
        small_graph(),
        {"/tensors/0/name": 5, "/ops/0/name": REMOVE, "/ops/1/cost": -1, "/ops/2/after": REMOVE},
    )
    assert problems_of(document) == [
        ("wrong_type", "/tensors/0/name", None),
        ("missing_field", "/ops/0/name", None),
        ("out_of_range", "/ops/1/cost", "b"),
    ]


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ("", ""),
        ("{", ""),
        ("[1, 2", ""),
        ('{"format": "lowtide.graph/1",}', ""),
        (b"\xff\xfe", ""),
        ('{"a": ' * 100_000, ""),
        ("[" * 100_000, ""),
    ],
)
def test_what_is_not_json_is_one_problem(text: str | bytes, pointer: str) -> None:
    assert problems_of(text) == [("not_json", pointer, None)]


@pytest.mark.parametrize("document", ["[]", "3", "null", '"graph"', b"true"])
def test_what_is_not_an_object_is_one_problem(document: str | bytes) -> None:
    assert problems_of(document) == [("wrong_type", "", None)]


def test_nested_text_with_a_huge_integer_is_still_one_problem() -> None:
    assert problems_of("[" * 100_000 + "9" * 10_000) == [("not_json", "", None)]


def test_repeated_keys_are_refused_where_they_are() -> None:
    text = json.dumps(small_graph())
    text = text.replace('"name": "y", "bytes": 6', '"name": "y", "bytes": 6, "bytes": 7')
    text = text.replace('{"format"', '{"a/b": 1, "a/b": 1, "format"')
    assert problems_of(text) == [
        ("duplicate_key", "/a~1b", None),
        ("duplicate_key", "/tensors/2/bytes", None),
    ]


@pytest.mark.parametrize("rest", [", x", ", " + "[" * 100_000, ', {"a"', ""])
def test_what_is_broken_after_a_repeated_key_is_one_problem(rest: str) -> None:
    assert problems_of('[{"a": 1, "a": 2}' + rest) == [("not_json", "", None)]
    assert problems_of('[{"a": 1, "a": 2}, ' + "9" * 10_000 + rest) == [("not_json", "", None)]


def test_repeated_keys_without_end_cost_no_more_than_the_document() -> None:
    tracemalloc.start()
    try:
        with pytest.raises(GraphError) as caught:
            parse_graph("[" + ",".join(['{"a": 1, "a": 1}'] * 100_000) + "]")
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert caught.value.problems[99].pointer == "/99/a"
    assert caught.value.omitted == MAX_COUNTED_PROBLEMS - MAX_REPORTED_PROBLEMS
    assert peak_bytes < 60_000_000  # 100,000 dicts of one member take some 25 MB


def test_an_integer_of_ten_thousand_digits_is_out_of_range_where_it_is() -> None:
    text = json.dumps(small_graph()).replace('"bytes": 8', f'"bytes": {"9" * 10_000}')
    assert problems_of(text) == [("out_of_range", "/tensors/0/bytes", "x")]
    negative = json.dumps(small_graph()).replace('"bytes": 8', f'"bytes": -{"9" * 10_000}')
    assert problems_of(negative) == [("out_of_range", "/tensors/0/bytes", "x")]


def test_messages_stay_short_and_printable() -> None:
    name = "\x1b[31m" + "n" * 4000
    document = edited(small_graph(), {"/ops/0/inputs/1": name, "/\ud800\x1b": 1})
    with pytest.raises(GraphError) as caught:
        parse_graph(document)
    for problem in caught.value.problems:
        assert len(problem.message) < 600
        assert problem.message.isprintable()
        str(problem).encode()


def test_a_graph_value_is_a_valid_graph() -> None:
    with pytest.raises(ValidationError, match="unknown_tensor"):
        WireGraph.model_validate(edited(small_graph(), {"/inputs/0": "q"}))


def test_optional_fields_have_their_defaults() -> None:
    graph = parse_graph(edited(small_graph(), {"/name": REMOVE}))
    assert graph.name == ""
    assert graph.pinned == ()
    op = graph.ops[1]
    assert (op.kind, op.cost, op.workspace_bytes, op.mutates, op.after) == ("", 0, 0, (), ())
    assert op.max_runs is None
    assert op.in_place == (("z", "y"),)


@pytest.mark.parametrize(
    "edits",
    [
        {"/tensors/0/bytes": 2**62 - 100},
        {"/tensors/4/bytes": 2**62},  # the bytes of a view count for nothing
        {"/tensors/0/view_of": None, "/ops/0/max_runs": None},
        {"/ops/0/inputs/2": "s"},  # an op may read a tensor twice
        {"/tensors/5": {"name": "unused", "bytes": 1}},
        {
            "/tensors/5": {"name": "u", "bytes": 1},
            "/tensors/6": {"name": "v", "bytes": 1, "view_of": "u"},
        },
        {"/outputs/1": "z_flat"},
        {"/outputs/1": "x"},
        {"/outputs": []},
        {
            "/tensors/5": {"name": "v", "bytes": 1, "view_of": "x"},
            "/inputs/2": "v",
            "/pinned": ["v"],
        },
        {"/tensors/5": {"name": "v", "bytes": 1, "view_of": "y"}, "/ops/0/outputs/1": "v"},
        {"/ops/2/name": "x"},  # an op and a tensor may share a name
        {"/ops/0/cost": 2**62},
    ],
)
def test_what_is_allowed(edits: dict[str, Any]) -> None:
    graph = parse_graph(edited(small_graph(), edits))
    assert parse_graph(dump_graph(graph)) == graph


def test_a_graph_without_ops() -> None:
    document = {"format": FORMAT, "tensors": [], "ops": [], "inputs": [], "outputs": []}
    graph = parse_graph(document)
    assert graph.ops == ()
    assert json.loads(dump_graph(graph)) == document
    too_large = edited(
        document, {"/tensors": [{"name": "t", "bytes": 2**62}, {"name": "u", "bytes": 1}]}
    )
    assert problems_of(too_large) == [("total_bytes", "/tensors/0/bytes", "t")]


def test_a_byte_order_mark_is_skipped() -> None:
    text = b"\xef\xbb\xbf" + json.dumps(small_graph()).encode()
    assert parse_graph(text) == parse_graph(small_graph())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_survive_a_round_trip(path: Path) -> None:
    graph = parse_graph(path.read_bytes())
    assert parse_graph(dump_graph(graph)) == graph
    assert json.loads(dump_graph(graph)) == _without_defaults(json.loads(path.read_bytes()))


def _without_defaults(document: dict[str, Any]) -> dict[str, Any]:
    ops = [
        {field: value for field, value in op.items() if field in ("inputs", "outputs") or value}
        for op in document["ops"]
    ]
    return {**document, "ops": ops}


def test_there_are_examples() -> None:
    assert EXAMPLES


@given(st.integers(0, 10**9))
def test_random_graphs_survive_a_round_trip(seed: int) -> None:
    wire = random_wire(seed)
    graph = parse_graph(json.dumps(wire))
    assert graph == parse_graph(wire)
    assert parse_graph(dump_graph(graph)) == graph
    assert len(dump_graph(graph)) <= len(json.dumps(wire, ensure_ascii=False).encode())


@settings(max_examples=500)
@given(st.integers(0, 10**9), st.integers(1, 6))
def test_a_damaged_graph_is_a_graph_or_a_list_of_problems(seed: int, edits: int) -> None:
    document = randomly_edited(random.Random(seed), random_wire(seed), edits)
    from_value, from_text = _outcome(document), _outcome(json.dumps(document))
    assert from_value == from_text
    if isinstance(from_value, WireGraph):
        assert parse_graph(dump_graph(from_value)) == from_value
    else:
        assert from_value
        for problem in from_value:
            _assert_points_into(document, problem)


def _outcome(form: Any) -> WireGraph | tuple[Problem, ...]:
    try:
        return parse_graph(form)
    except GraphError as error:
        return error.problems


def _assert_points_into(document: Any, problem: Problem) -> None:
    """What a problem points at is there; only a missing field is pointed at where it should be."""
    problem.message.encode()
    pointer = problem.pointer
    try:
        value_at(document, pointer)
    except (KeyError, IndexError):
        parent = value_at(document, pointer.rpartition("/")[0])
        assert problem.code == "missing_field" or "in_place" in pointer or "\ud800" in parent


@given(st.binary(max_size=64))
def test_arbitrary_bytes_are_no_graph(data: bytes) -> None:
    with pytest.raises(GraphError):
        parse_graph(data)


@given(st.integers(0, 10**9), st.data())
def test_truncated_text_is_no_graph(seed: int, data: st.DataObject) -> None:
    text = json.dumps(random_wire(seed))
    cut = data.draw(st.integers(0, len(text) - 1))
    assert problems_of(text[:cut]) == [("not_json", "", None)]


def test_parse_json_keeps_what_json_says() -> None:
    assert parse_json('{"a": [1, 2.5, null, true, "x"]}') == {"a": [1, 2.5, None, True, "x"]}


def test_a_long_chain_of_ops_and_views_needs_no_recursion() -> None:
    count = 20_000
    tensors: list[dict[str, Any]] = [{"name": "v0", "bytes": 1}]
    tensors += [{"name": f"v{i}", "bytes": 1, "view_of": f"v{i - 1}"} for i in range(1, count)]
    ops: list[dict[str, Any]] = [
        {"name": f"o{i}", "inputs": [], "outputs": [], "after": [f"o{i - 1}"] if i else []}
        for i in range(count)
    ]
    document = {"format": FORMAT, "tensors": tensors, "ops": ops, "inputs": ["v0"], "outputs": []}
    assert len(parse_graph(document).ops) == count
    turned = edited(
        document, {"/ops/0/after/0": f"o{count - 1}", "/tensors/0/view_of": f"v{count - 1}"}
    )
    assert [code for code, _, _ in problems_of(turned)] == ["view_cycle", "cycle"]
