"""The parts of the checker against brute force: its model of memory, its cuts, its own search."""

from __future__ import annotations

import ast
import random
from itertools import combinations
from pathlib import Path

import lowtide.checker
import pytest
from lowtide.build import build_graph
from lowtide.checker.derive import derive_model
from lowtide.checker.growth import TrapGrowth
from lowtide.checker.live_cut import LiveCut
from lowtide.checker.max_flow import FlowNetwork
from lowtide.checker.model import GRAPH_INPUT
from lowtide.checker.modes import maximal_matchings
from lowtide.checker.order import peak_of
from lowtide.checker.recompute import refute_by_search
from lowtide.checker.refusal import Deadline, Refusal, shown
from lowtide.checker.states import State, StateSpace, members
from lowtide.wire import parse_graph

from tests.oracles.brute_force import Oracle
from tests.oracles.random_graphs import random_wire

FOREVER = Deadline(float("inf"))


def test_the_checker_imports_nothing_of_the_solver() -> None:
    allowed = {
        "lowtide.answers",
        "lowtide.canonical",
        "lowtide.certificate",
        "lowtide.recomputation.certificate",
        "lowtide.wire",
    }
    folder = Path(lowtide.checker.__file__).parent
    imported: set[str] = set()
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                imported.add(node.module or "")
    ours = {name for name in imported if name.startswith("lowtide")}
    assert {name for name in ours if not name.startswith("lowtide.checker")} == allowed
    assert imported - ours <= {
        "__future__",
        "bisect",
        "collections",
        "collections.abc",
        "dataclasses",
        "heapq",
        "itertools",
        "pydantic",
        "time",
        "typing",
    }


@pytest.mark.parametrize("seed", range(400))
def test_model_agrees_with_brute_force(seed: int) -> None:
    wire = random_wire(seed, 9)
    oracle, model = Oracle(wire), derive_model(parse_graph(wire))
    assert model.op_names == tuple(op["name"] for op in wire["ops"])
    assert model.storage_names == tuple(block.name for block in oracle.blocks)
    assert model.size_bytes == tuple(block.size for block in oracle.blocks)
    assert model.is_output == tuple(block.is_output for block in oracle.blocks)
    assert model.is_pinned == tuple(block.is_pinned for block in oracle.blocks)
    assert [None if c == GRAPH_INPUT else c for c in model.creator] == [
        block.creator for block in oracle.blocks
    ]
    assert list(model.users) == [tuple(members(block.users)) for block in oracle.blocks]
    space = StateSpace(model)
    for v in range(oracle.op_count):
        # Hazards that follow from others may be left out: what counts is what has to run before.
        assert space.ancestors_outside(0, v) == oracle.ancestors(v)
        modes = {frozenset((p.output, p.input) for p in mode) for mode in model.modes[v]}
        assert modes == oracle.modes(v)
        for mode in model.modes[v]:
            pairs = frozenset((p.output, p.input) for p in mode)
            assert model.working_set(v, mode) == oracle.working_set_in_mode(v, pairs)
    order = oracle.random_order(random.Random(seed))
    assert peak_of(model, order)[0] == oracle.order_peak(order)


@pytest.mark.parametrize("seed", range(200))
def test_model_has_the_dependencies_that_the_hash_is_made_of(seed: int) -> None:
    wire = parse_graph(random_wire(seed, 12))
    graph, model = build_graph(wire), derive_model(wire)
    assert model.predecessors == tuple(op.predecessors for op in graph.ops)


@pytest.mark.parametrize("seed", range(200))
def test_states_agree_with_brute_force(seed: int) -> None:
    wire = random_wire(seed, 8)
    oracle, space = Oracle(wire), StateSpace(derive_model(parse_graph(wire)))
    state = space.empty()
    for v in oracle.random_order(random.Random(seed)):
        assert state.live_bytes == oracle.live(state.done)
        assert sorted(state.ready) == oracle.ready(state.done)
        for u in state.ready:
            assert space.step_cost(state, u) == oracle.step_cost(state.done, u)
            grown = oracle.live(state.done | 1 << u) - oracle.live(state.done)
            assert space.growth(state.done, u) == grown
        state = space.after(state, v)
    assert state == State(space.everything, oracle.live(space.everything), ())


def _random_interval(oracle: Oracle, rng: random.Random) -> tuple[int, int]:
    downsets = oracle.downsets()
    lower, upper = rng.choice(downsets), rng.choice(downsets)
    return lower & upper, upper


@pytest.mark.parametrize("seed", range(300))
def test_least_live_bytes_between_two_downsets(seed: int) -> None:
    rng = random.Random(seed)
    wire = random_wire(seed, 8)
    oracle, space = Oracle(wire), StateSpace(derive_model(parse_graph(wire)))
    lower, upper = _random_interval(oracle, rng)
    between = oracle.downsets(lower, upper)
    least = min(oracle.live(done) for done in between)

    def cut() -> LiveCut:
        return LiveCut(space, lower, oracle.live(lower), upper)

    assert cut().reaches(least, FOREVER)
    assert not cut().reaches(least + 1, FOREVER)
    largest = max((done for done in between if oracle.live(done) == least), key=int.bit_count)
    assert cut().largest_minimiser(FOREVER) == largest


@pytest.mark.parametrize("seed", range(300))
def test_least_step_cost_between_two_downsets(seed: int) -> None:
    rng = random.Random(seed)
    wire = random_wire(seed, 8)
    oracle, space = Oracle(wire), StateSpace(derive_model(parse_graph(wire)))
    lower, upper = _random_interval(oracle, rng)
    for v in oracle.ready(upper):
        bottom = lower | oracle.ancestors(v)
        for mode in space.model.modes[v]:
            pairs = frozenset((p.output, p.input) for p in mode)
            least = oracle.min_step_cost(v, bottom, upper, pairs)
            assert least is not None
            live = oracle.live(bottom)
            for needed, expected in ((least, True), (least + 1, False)):
                cut = LiveCut(space, bottom, live, upper, exit_op=v, mode=mode)
                assert cut.reaches(needed, FOREVER) == expected


@pytest.mark.parametrize("seed", range(300))
def test_search_of_its_own_finds_the_optimum(seed: int) -> None:
    wire = random_wire(seed, 10)
    optimum = Oracle(wire).optimal_peak()
    model = derive_model(parse_graph(wire))
    refute_by_search(model, optimum - 1, FOREVER)
    with pytest.raises(Refusal) as caught:
        refute_by_search(model, optimum, FOREVER)
    assert caught.value.reason == "bound-refuted"


def test_states_given_up_by_a_commit_are_not_taken_for_dead() -> None:
    # The search runs q1 first and comes by {q1, x1, x2} to a state with fewer live bytes than
    # the start, where it sees that {x1, x2} was better. From there the only way on is q1, back to
    # {q1, x1, x2}: it was met before, but gave up nothing but its place on the path.
    sizes = {"i": 3, "q": 10, "x": 12, "t": 0, "r": 1, "z": 2, "w": 4}
    wire = {
        "format": "lowtide.graph/1",
        "tensors": [{"name": name, "bytes": size} for name, size in sizes.items()],
        "ops": [
            {"name": "q1", "inputs": [], "outputs": ["q"]},
            {"name": "x1", "inputs": [], "outputs": ["x"]},
            {"name": "x2", "inputs": ["x", "i"], "outputs": ["t"]},
            {"name": "r1", "inputs": ["t"], "outputs": ["r"], "after": ["q1"]},
            {"name": "q2", "inputs": ["q", "r"], "outputs": ["z"]},
            {"name": "end", "inputs": ["z"], "outputs": ["w"]},
        ],
        "inputs": ["i"],
        "outputs": ["w"],
    }
    with pytest.raises(Refusal) as caught:
        refute_by_search(derive_model(parse_graph(wire)), 40, FOREVER)
    assert caught.value.reason == "bound-refuted"


def test_traps_that_stall_show_states_to_be_dead() -> None:
    stalled = 0
    for seed in range(200):
        wire = random_wire(seed, 8)
        oracle, space = Oracle(wire), StateSpace(derive_model(parse_graph(wire)))
        threshold = oracle.optimal_peak() + random.Random(seed).choice((-1, 0, 1))
        traps = TrapGrowth(space, threshold, FOREVER)
        state = space.empty()
        for v in oracle.random_order(random.Random(seed)):
            if traps.stalls(state):
                assert oracle.best_completion_peak(state.done) > threshold
                stalled += 1
            state = space.after(state, v)
        assert not traps.stalls(state)
    assert stalled > 100


def test_maximal_matchings_are_all_found() -> None:
    rng = random.Random(7)
    for _ in range(300):
        possible = [(y, x) for y in range(3) for x in range(10, 14)]
        pairs = rng.sample(possible, rng.randint(0, 7))
        matchings = [
            frozenset(chosen)
            for size in range(len(pairs) + 1)
            for chosen in combinations(pairs, size)
            if len({y for y, _ in chosen}) == len({x for _, x in chosen}) == size
        ]
        maximal = {m for m in matchings if not any(m < other for other in matchings)}
        found = maximal_matchings(pairs)
        assert len(found) == len(maximal)
        assert {frozenset(matching) for matching in found} == maximal


def test_maximal_matchings_of_many_pairs_are_found_fast() -> None:
    # y may go over any x; each x has a storage of its own that may go over it instead.
    spider = [(0, 100 + leg) for leg in range(60)] + [(1 + leg, 100 + leg) for leg in range(60)]
    assert len(maximal_matchings(spider)) == 61
    apart = [(leg, 1000 + leg) for leg in range(500)]
    assert maximal_matchings(apart) == (tuple(apart),)


def test_flow_stops_when_enough_is_sent() -> None:
    network = FlowNetwork(4)
    for tail, head, capacity in ((0, 1, 5), (0, 2, 5), (1, 3, 4), (2, 3, 9), (1, 2, 9)):
        network.add_arc(tail, head, capacity)
    assert network.send(0, 3, 3, FOREVER) == 3
    assert network.send(0, 3, 100, FOREVER) == 7
    assert network.side_of_sink(3) == [False, True, True, True]


def test_values_are_shown_short_and_printable() -> None:
    values: dict[int | str, str] = {
        0: "0",
        -12: "-12",
        10**5000: "about 2^16609",
        -(10**5000): "about -2^16609",
        "conv/\N{GREEK SMALL LETTER LAMDA} 1": '"conv/\N{GREEK SMALL LETTER LAMDA} 1"',
        "a\x00\ud800": '"a\\x00\\ud800"',
        "x" * 300: '"' + "x" * 200 + '..."',
    }
    for value, text in values.items():
        assert shown(value) == text


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan")])
def test_time_that_is_over_is_over(seconds: float) -> None:
    with pytest.raises(Refusal) as caught:
        Deadline(seconds, "too-late").check()
    assert caught.value.reason == "too-late"


def test_bit_sets_of_a_huge_graph_are_refused() -> None:
    count = 33_000
    wire = {
        "format": "lowtide.graph/1",
        "tensors": [{"name": f"t{v}", "bytes": 1} for v in range(count)],
        "ops": [{"name": f"o{v}", "inputs": [], "outputs": [f"t{v}"]} for v in range(count)],
        "inputs": [],
        "outputs": [],
    }
    with pytest.raises(Refusal) as caught:
        StateSpace(derive_model(parse_graph(wire)))
    assert caught.value.reason == "search-too-large"
