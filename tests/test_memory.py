"""The profile of an order, against brute force and by hand."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

import pytest
from lowtide.build import build_graph
from lowtide.graph import Graph
from lowtide.memory import LiveStorage, OrderError, evaluate, held_at_step, order_from_names
from lowtide.wire import FORMAT, parse_graph

from tests.oracles.brute_force import Oracle
from tests.oracles.random_graphs import random_wire

Wire = dict[str, Any]


def graph_of(wire: Wire) -> Graph:
    return build_graph(parse_graph(wire))


def residual_block() -> Wire:
    """x (10) -> wide: y (40) -> narrow: z (10); join makes out (8) in place of one; k kept."""
    return {
        "format": FORMAT,
        "tensors": [
            {"name": "x", "bytes": 10},
            {"name": "y", "bytes": 40},
            {"name": "z", "bytes": 10},
            {"name": "out", "bytes": 8},
            {"name": "k", "bytes": 3},
            {"name": "unused", "bytes": 1000},
        ],
        "ops": [
            {"name": "wide", "inputs": ["x"], "outputs": ["y"], "workspace_bytes": 5},
            {"name": "narrow", "inputs": ["y"], "outputs": ["z"], "in_place": [["z", "y"]]},
            {
                "name": "join",
                "inputs": ["x", "z"],
                "outputs": ["out"],
                "in_place": [["out", "x"], ["out", "z"]],
            },
            {"name": "side", "inputs": ["k"], "outputs": []},
        ],
        "inputs": ["x", "k", "unused"],
        "outputs": ["out"],
        "pinned": ["k"],
    }


def test_a_profile_by_hand() -> None:
    profile = evaluate(graph_of(residual_block()), (0, 1, 2, 3))
    assert profile.live_before == (13, 53, 23, 11)
    # wide: 13 + 40 + 5. narrow: 53 + 10 - 10 in place. join: 23 + 8 - 8, once for two pairs.
    assert profile.step == (58, 53, 23, 11)
    assert profile.live_after == (53, 23, 11, 11)
    assert profile.saved_in_place == (0, 10, 8, 0)
    assert profile.peak_bytes == 58
    assert profile.binding_step == 0


def test_what_is_held_at_a_step_by_hand() -> None:
    graph = graph_of(residual_block())
    assert held_at_step(graph, (0, 1, 2, 3), 1) == (
        LiveStorage(storage=1, idle=False),
        LiveStorage(storage=0, idle=True),
        LiveStorage(storage=2, idle=False),
        LiveStorage(storage=4, idle=True),
    )


def test_in_place_needs_the_input_to_die() -> None:
    wire = residual_block()
    wire["ops"].append({"name": "late", "inputs": ["y"], "outputs": []})
    graph = graph_of(wire)
    assert evaluate(graph, (0, 1, 2, 3, 4)).saved_in_place[1] == 0
    assert evaluate(graph, (0, 4, 1, 2, 3)).saved_in_place[2] == 10


def test_two_outputs_share_out_the_dying_inputs_as_well_as_possible() -> None:
    wire = {
        "format": FORMAT,
        "tensors": [
            {"name": "a", "bytes": 9},
            {"name": "b", "bytes": 5},
            {"name": "p", "bytes": 9},
            {"name": "q", "bytes": 7},
        ],
        "ops": [
            {
                "name": "op",
                "inputs": ["a", "b"],
                "outputs": ["p", "q"],
                # The dearest pair alone, [p, a], would save 9; the two others save 12.
                "in_place": [["p", "a"], ["p", "b"], ["q", "a"]],
            }
        ],
        "inputs": ["a", "b"],
        "outputs": ["p", "q"],
    }
    profile = evaluate(graph_of(wire), (0,))
    assert profile.saved_in_place == (12,)
    assert profile.step == (9 + 5 + 9 + 7 - 12,)


def test_a_graph_without_ops_has_peak_zero() -> None:
    wire = {
        "format": FORMAT,
        "tensors": [{"name": "x", "bytes": 4}],
        "ops": [],
        "inputs": ["x"],
        "outputs": ["x"],
    }
    profile = evaluate(graph_of(wire), ())
    assert profile.peak_bytes == 0
    assert profile.binding_step is None
    assert profile.step == ()


@pytest.mark.parametrize("first_seed", range(0, 2000, 200))
def test_profiles_agree_with_brute_force_step_by_step(first_seed: int) -> None:
    for seed in range(first_seed, first_seed + 200):
        wire = random_wire(seed)
        graph, oracle, rng = graph_of(wire), Oracle(wire), random.Random(seed)
        for order in (range(oracle.op_count), *(oracle.random_order(rng) for _ in range(3))):
            profile = evaluate(graph, order)
            steps = zip(profile.live_before, profile.step, profile.live_after, strict=True)
            assert list(steps) == oracle.profile(order)
            assert profile.peak_bytes == oracle.order_peak(order)
            assert profile.order == tuple(order)
            assert profile.binding_step is not None
            assert profile.step.index(profile.peak_bytes) == profile.binding_step


@pytest.mark.parametrize("first_seed", range(0, 400, 200))
def test_what_is_held_adds_up_to_the_step(first_seed: int) -> None:
    for seed in range(first_seed, first_seed + 200):
        wire = random_wire(seed)
        graph, oracle = graph_of(wire), Oracle(wire)
        order = oracle.random_order(random.Random(seed))
        profile = evaluate(graph, order)
        done = 0
        for step, v in enumerate(order):
            held = held_at_step(graph, order, step)
            sizes = [graph.storages[live.storage].size_bytes for live in held]
            assert sizes == sorted(sizes, reverse=True)
            own = graph.ops[v].workspace_bytes - profile.saved_in_place[step]
            assert sum(sizes) + own == profile.step[step]
            assert {live.storage for live in held} == oracle.creates[v] | {
                b for b in range(len(oracle.blocks)) if oracle.is_live(b, done)
            }
            for live in held:
                touched = live.storage in oracle.touches[v] | oracle.creates[v]
                assert live.idle is not touched
            done |= 1 << v


def _renamed(wire: Wire, rng: random.Random) -> Wire:
    """The same graph under other names."""
    wire = copy.deepcopy(wire)
    numbers = list(range(len(wire["tensors"])))
    rng.shuffle(numbers)
    new = {t["name"]: f"new{n}" for t, n in zip(wire["tensors"], numbers, strict=True)}
    for tensor in wire["tensors"]:
        tensor["name"] = new[tensor["name"]]
        if "view_of" in tensor:
            tensor["view_of"] = new[tensor["view_of"]]
    new_op = {op["name"]: f"op {len(wire['ops']) - v}" for v, op in enumerate(wire["ops"])}
    for op in wire["ops"]:
        op["name"] = new_op[op["name"]]
        for field in ("inputs", "outputs", "mutates"):
            op[field] = [new[name] for name in op.get(field, [])]
        op["in_place"] = [[new[y], new[x]] for y, x in op.get("in_place", [])]
        op["after"] = [new_op[name] for name in op.get("after", [])]
    for field in ("inputs", "outputs", "pinned"):
        wire[field] = [new[name] for name in wire.get(field, [])]
    return wire


def _lists_shuffled(wire: Wire, rng: random.Random) -> Wire:
    """The same graph with every list but that of the ops in another order."""
    wire = copy.deepcopy(wire)
    for field in ("tensors", "inputs", "outputs"):
        rng.shuffle(wire[field])
    for op in wire["ops"]:
        for field in ("inputs", "outputs", "in_place"):
            rng.shuffle(op.get(field, []))
    return wire


@pytest.mark.parametrize("change", [_renamed, _lists_shuffled])
def test_names_and_listings_change_no_profile(
    change: Callable[[Wire, random.Random], Wire],
) -> None:
    for seed in range(300):
        rng = random.Random(seed)
        wire = random_wire(seed)
        order = Oracle(wire).random_order(rng)
        original = evaluate(graph_of(wire), order)
        assert evaluate(graph_of(change(wire, rng)), order) == original


def test_ops_listed_in_another_valid_order_give_the_same_profile() -> None:
    for seed in range(300):
        rng = random.Random(seed)
        wire = random_wire(seed)
        oracle = Oracle(wire)
        listing, order = oracle.random_order(rng), oracle.random_order(rng)
        relisted = graph_of({**wire, "ops": [wire["ops"][v] for v in listing]})
        names = [wire["ops"][v]["name"] for v in order]
        profile = evaluate(relisted, order_from_names(relisted, names))
        assert profile.step == evaluate(graph_of(wire), order).step


@pytest.mark.parametrize(
    ("order", "fault", "op"),
    [
        ((0, 1, 2), "missing", "side"),
        ((), "missing", "wide"),
        ((0, 1, 1, 2, 3), "twice", "narrow"),
        ((0, 1, 2, 3, 3), "twice", "side"),
        ((1, 0, 2, 3), "too_early", "narrow"),
        ((0, 2, 1, 3), "too_early", "join"),
        ((0, 1, 2, 4), "unknown", "4"),
        ((-1, 0, 1, 2), "unknown", "-1"),
    ],
)
def test_what_is_not_an_order_is_refused(order: tuple[int, ...], fault: str, op: str) -> None:
    with pytest.raises(OrderError) as caught:
        evaluate(graph_of(residual_block()), order)
    assert (caught.value.fault, caught.value.op) == (fault, op)
    assert op in str(caught.value)


def test_an_op_too_early_names_what_it_depends_on() -> None:
    message = 'op "join" runs at step 1, before op "narrow", which it depends on'
    with pytest.raises(OrderError, match=message):
        evaluate(graph_of(residual_block()), (0, 2, 1, 3))


def test_orders_by_name() -> None:
    graph = graph_of(residual_block())
    assert order_from_names(graph, ["side", "wide", "narrow", "join"]) == (3, 0, 1, 2)
    with pytest.raises(OrderError) as unknown:
        order_from_names(graph, ["side", "wide", "nowhere", "join"])
    assert (unknown.value.fault, unknown.value.op) == ("unknown", "nowhere")
    with pytest.raises(OrderError) as twice:
        order_from_names(graph, ["side", "wide", "side", "narrow", "join"])
    assert (twice.value.fault, twice.value.op) == ("twice", "side")
