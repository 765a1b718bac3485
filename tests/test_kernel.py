"""The kernel against brute force on a fixed sample; the campaign runs thousands."""

from __future__ import annotations

import pytest
from lowtide._kernel import CancelToken, Problem, SearchStatus, Stop
from lowtide.build import build_graph
from lowtide.kernel_problem import kernel_problem
from lowtide.wire import parse_graph

from tests.oracles.claims_of_the_kernel import check_claims
from tests.oracles.random_graphs import random_wire

SAMPLE = 2000
CHUNK = 200


@pytest.mark.parametrize("first", range(0, SAMPLE, CHUNK))
def test_every_claim_holds_against_brute_force(first: int) -> None:
    for seed in range(first, first + CHUNK):
        assert check_claims(seed)["graphs"] == 1


def test_a_trap_closure_does_not_remember_the_one_before() -> None:
    """Found by the campaign: an earlier closure's flows had an op absorbed twice later on."""
    problem = kernel_problem(build_graph(parse_graph(random_wire(736))))
    _, result = problem.search(_optimum(problem) - 1, 1000, 1 << 28, None, 60.0)
    assert result.family
    for state in result.family:
        assert len(set(state.then_run)) == len(state.then_run)


def _optimum(problem: Problem) -> int:
    for peak_bytes in range(1 << 20):
        _, result = problem.search(peak_bytes, 1000, 1 << 28, None, 60.0)
        if result.status is SearchStatus.FOUND:
            return peak_bytes
    raise AssertionError("a peak of a megabyte is beyond these graphs")


def test_a_kernel_call_without_time_left_says_so() -> None:
    problem = _layered_problem()
    stop, _ = problem.beam_order(8, 1 << 62, None, 0.0)
    assert stop is Stop.TIME


def test_a_cancelled_call_says_so() -> None:
    token = CancelToken()
    token.cancel()
    stop, _ = _layered_problem().beam_order(8, 1 << 62, token, 60.0)
    assert stop is Stop.CANCELLED
    assert token.cancelled


def test_an_order_that_is_not_one_is_refused() -> None:
    problem = kernel_problem(build_graph(parse_graph(random_wire(5))))
    order = list(range(problem.op_count))
    with pytest.raises(ValueError, match="lists every op once"):
        problem.peak(order[:-1])
    with pytest.raises(ValueError, match="twice or before"):
        problem.peak([order[0]] * len(order))


def test_a_bound_that_does_not_hold_is_not_certified() -> None:
    problem = _layered_problem()
    top = 1 + sum(problem.working_set(op) for op in range(problem.op_count))
    with pytest.raises(RuntimeError, match="does not hold"):
        problem.exit_flows([0], True, top, None, 60.0)


def _layered_problem() -> Problem:
    """Two layers of six ops, every op of the second reading two of the first."""
    tensors = [{"name": f"t{i}", "bytes": 10 + i} for i in range(12)]
    first = [{"name": f"a{i}", "outputs": [f"t{i}"]} for i in range(6)]
    second = [
        {"name": f"b{i}", "inputs": [f"t{i}", f"t{(i + 1) % 6}"], "outputs": [f"t{6 + i}"]}
        for i in range(6)
    ]
    graph = {
        "format": "lowtide.graph/1",
        "name": "layers",
        "tensors": tensors,
        "ops": [{"inputs": [], **op} for op in first + second],
        "inputs": [],
        "outputs": [f"t{6 + i}" for i in range(6)],
    }
    return kernel_problem(build_graph(parse_graph(graph)))
