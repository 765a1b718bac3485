"""Every claim the solver makes about one random graph, checked against brute force.

Shared by the tests (a fixed sample) and by the campaign (thousands): `python -m
tests.campaigns.brute_force`.
"""

from __future__ import annotations

from collections import Counter

from lowtide._kernel import GreedyRule, Problem, SearchStatus, Stop
from lowtide.build import build_graph
from lowtide.checker import check
from lowtide.kernel_problem import kernel_problem
from lowtide.schedule import Limits, schedule
from lowtide.wire import parse_graph

from tests.oracles.brute_force import Oracle
from tests.oracles.random_graphs import random_wire

PATIENCE_SECONDS = 60.0
MAX_STATES = 1_000_000
MAX_BYTES = 1 << 28


def check_claims(seed: int) -> Counter[str]:
    """Checks orders, bounds, witnesses and searches on the random graph of this seed.

    Returns:
        Counts: graphs, and how often the bounds alone were tight.

    Raises:
        AssertionError: a claim is wrong.
    """
    wire = random_wire(seed)
    graph = build_graph(parse_graph(wire))
    problem = kernel_problem(graph)
    oracle = Oracle(wire)
    optimum = oracle.optimal_peak()
    floor = _check_working_sets(problem, oracle, optimum)
    _check_orders(problem, oracle, optimum, floor)
    tight = Counter(graphs=1, working_set=int(floor == optimum))
    for forward in (True, False):
        bound = _check_traps(problem, forward, floor, optimum)
        tight["forward" if forward else "reverse"] += bound == optimum
    _check_search(problem, optimum)
    _check_schedule(wire, optimum)
    return tight


def _check_working_sets(problem: Problem, oracle: Oracle, optimum: int) -> int:
    sizes = [problem.working_set(op) for op in range(problem.op_count)]
    assert sizes == [oracle.working_set(op) for op in range(problem.op_count)]
    floor = max(sizes, default=0)
    assert floor <= optimum
    return floor


def _check_orders(problem: Problem, oracle: Oracle, optimum: int, floor: int) -> None:
    answers = [
        problem.greedy_order(rule, floor, None, PATIENCE_SECONDS)
        for rule in (
            GreedyRule.GIVEN,
            GreedyRule.LEAST_GROWTH,
            GreedyRule.LEAST_STEP,
            GreedyRule.NEWEST,
        )
    ]
    answers.append(problem.greedy_order_from_the_end(None, PATIENCE_SECONDS))
    answers.append(problem.beam_order(4, 1 << 62, None, PATIENCE_SECONDS))
    for stop, order in answers:
        assert stop is Stop.NONE
        assert problem.peak(order) == oracle.order_peak(order) >= optimum


def _check_traps(problem: Problem, forward: bool, floor: int, optimum: int) -> int:
    _, bound, trap = problem.best_trap(forward, floor, optimum, None, PATIENCE_SECONDS)
    assert floor <= bound <= optimum
    if bound > floor:
        _, exits = problem.exit_flows(trap, forward, bound, None, PATIENCE_SECONDS)
        assert exits
    _, found = problem.trap_at(forward, optimum + 1, None, PATIENCE_SECONDS)
    assert found is None, "a trap above the optimum"
    return bound


def _check_search(problem: Problem, optimum: int) -> None:
    _, found = problem.search(optimum, MAX_STATES, MAX_BYTES, None, PATIENCE_SECONDS)
    assert found.status is SearchStatus.FOUND
    assert problem.peak(found.order) == optimum
    if optimum == 0:
        return
    _, refuted = problem.search(optimum - 1, MAX_STATES, MAX_BYTES, None, PATIENCE_SECONDS)
    assert refuted.status is SearchStatus.EXHAUSTED
    assert optimum - 1 < refuted.lower_bound <= optimum


def _check_schedule(wire: dict[str, object], optimum: int) -> None:
    parsed = parse_graph(wire)
    answer = schedule(build_graph(parsed), Limits(time_seconds=PATIENCE_SECONDS))
    assert answer.status == "OPTIMAL"
    assert answer.peak_bytes == optimum
    assert answer.given_order_peak_bytes == Oracle(wire).order_peak(range(len(parsed.ops)))
    verdict = check(parsed, answer.certificate)
    assert verdict.accepted, verdict
