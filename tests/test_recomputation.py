"""Recomputation: the plans, what is claimed of them, and brute force as the judge."""

from __future__ import annotations

from typing import Any

import pytest
from lowtide._kernel import CancelToken
from lowtide.build import build_graph
from lowtide.recomputation.bounds import companion_bound
from lowtide.recomputation.model import Caps, RecomputationModel, recomputation_model
from lowtide.recomputation.plan import PlanError, replay
from lowtide.recomputation.question import Question, QuestionError, Recomputation
from lowtide.recomputation.solve import recompute
from lowtide.wire import parse_graph
from lowtide.wire_errors import GraphError

from tests.oracles.plans_by_brute_force import plans_front
from tests.oracles.recomputation_claims import check_recomputation, effective_caps, front_of
from tests.recomputation_graphs import held_stem, training_chain


def solved(document: dict[str, Any], question: Question) -> Recomputation:
    wire = parse_graph(document)
    return recompute(wire, build_graph(wire), question)


def model_of(document: dict[str, Any], caps: Caps) -> RecomputationModel:
    wire = parse_graph(document)
    return recomputation_model(wire, build_graph(wire), caps)


def named(model: RecomputationModel, *names: str) -> list[int]:
    index = {op.name: v for v, op in enumerate(model.graph.ops)}
    return [index[name] for name in names]


@pytest.mark.parametrize("seed", range(60))
def test_every_claim_agrees_with_brute_force(seed: int) -> None:
    assert check_recomputation(seed) >= 1


def test_the_front_of_a_training_chain() -> None:
    # At b5, t3, t4 and t5 are held; each of t0, t1, t2 not held as well costs at least one run.
    found = solved(training_chain(4), Question("front", Caps(None)))
    assert front_of(found) == [(6, 0), (5, 1), (4, 2), (3, 6)]
    assert (found.status, found.scope) == ("OPTIMAL", "free")


def test_oracle_and_solver_agree_on_a_training_chain() -> None:
    wire = parse_graph(training_chain(3))
    caps = Caps(2)
    front = plans_front(wire, effective_caps(wire, caps), keeps_given_order=False)
    assert front_of(solved(training_chain(3), Question("front", caps))) == front


def test_a_held_stem_is_made_again() -> None:
    # 100 + 100 + the stem's 40; without it, its input's 1 waits instead.
    found = solved(held_stem(3), Question())
    assert found.order_peak_bytes == 240
    assert found.plan is not None
    assert (found.plan.peak_bytes, found.plan.extra_cost) == (201, 3)
    assert (found.status, found.scope, found.lower_bound_bytes) == ("OPTIMAL", "free", 201)
    assert found.certificate.bound_witness.kind == "exhausted"


def test_what_nobody_can_make_again_proves_a_peak() -> None:
    found = solved(held_stem(3) | {"pinned": ["x"]}, Question())
    assert (found.status, found.scope, found.lower_bound_bytes) == ("OPTIMAL", "free", 201)
    assert found.certificate.bound_witness.kind == "companions"


def test_a_cap_of_one_forbids_it() -> None:
    for caps in (Caps(1), Caps(2, {"stem": 1})):
        found = solved(held_stem(3), Question(caps=caps))
        assert found.plan is not None
        assert (found.plan.peak_bytes, found.plan.extra_cost) == (240, 0)
        assert found.status == "OPTIMAL"


def test_a_budget_below_every_plan_is_infeasible() -> None:
    found = solved(held_stem(3), Question("cost", budget_bytes=200))
    assert (found.status, found.scope, found.plan) == ("INFEASIBLE", "free", None)
    assert found.lower_bound_bytes == 201


def test_a_limit_on_extra_cost_counts() -> None:
    tight = solved(held_stem(3), Question("cost", budget_bytes=210, max_extra_cost=2))
    assert tight.status == "INFEASIBLE"
    enough = solved(held_stem(3), Question("cost", budget_bytes=210, max_extra_cost=3))
    assert enough.plan is not None
    assert enough.plan.extra_cost == 3


def test_the_state_limit_leaves_a_plan_and_a_bound() -> None:
    question = Question("front", Caps(None), max_states=5)
    found = solved(training_chain(8), question)
    assert found.status == "FEASIBLE"
    assert found.limit == "states"
    assert found.plan is not None
    # Each backward op but the first touches two values and makes one.
    assert found.lower_bound_bytes == 3
    assert found.front[-1].plan.peak_bytes < found.order_peak_bytes


def test_a_cancelled_question_answers_with_the_order() -> None:
    wire = parse_graph(training_chain(8))
    cancel = CancelToken()
    cancel.cancel()
    found = recompute(wire, build_graph(wire), Question("peak", Caps(None)), cancel=cancel)
    assert (found.status, found.limit) == ("FEASIBLE", "cancelled")
    assert found.plan is not None


def test_the_answer_is_the_same_every_time() -> None:
    first = solved(training_chain(5), Question("front"))
    second = solved(training_chain(5), Question("front"))
    assert first.front == second.front
    assert first.certificate == second.certificate


def test_companions_of_a_working_set() -> None:
    bound = companion_bound(model_of(held_stem(3), Caps(1)))
    assert bound.bytes == 240
    assert companion_bound(model_of(held_stem(3), Caps(2))).bytes == 200
    assert companion_bound(model_of(held_stem(3) | {"pinned": ["x"]}, Caps(2))).bytes == 201


def test_views_and_overwrites_decide_what_a_run_reads() -> None:
    model = model_of(
        {
            "format": "lowtide.graph/1",
            "tensors": [
                {"name": "x", "bytes": 4},
                {"name": "a", "bytes": 8},
                {"name": "flat", "bytes": 0, "view_of": "a"},
                {"name": "b", "bytes": 2},
                {"name": "c", "bytes": 2},
            ],
            "ops": [
                {"name": "make", "inputs": ["x"], "outputs": ["a"]},
                {"name": "view", "inputs": ["a"], "outputs": ["flat"]},
                {"name": "before", "inputs": ["flat"], "outputs": ["b"]},
                {"name": "overwrite", "inputs": ["a"], "outputs": [], "mutates": ["a"]},
                {"name": "after", "inputs": ["a"], "outputs": ["c"]},
            ],
            "inputs": ["x"],
            "outputs": ["b", "c"],
        },
        Caps(2),
    )
    assert model.caps == (2, None, 2, 1, 2)
    once = named(model, "make", "view", "before", "overwrite", "after")
    assert replay(model, once).peak_bytes == 12
    again = named(model, "make", "view", "before", "overwrite", "after", "make", "view", "before")
    assert replay(model, again).extra_cost == 0
    with pytest.raises(PlanError, match='"before" runs at step 5, after op "overwrite"'):
        replay(model, [*once, *named(model, "before")])
    with pytest.raises(PlanError, match='"before" runs at step 6, before op "view"'):
        replay(model, [*once, *named(model, "make", "before")])
    with pytest.raises(PlanError, match='"after" runs at step 5, before op "overwrite"'):
        replay(model, [*once[:4], *named(model, "make", "after")])
    with pytest.raises(PlanError, match="its cap is 1"):
        replay(model, [*once, *named(model, "overwrite")])
    with pytest.raises(PlanError, match='"after" never runs'):
        replay(model, once[:4])
    with pytest.raises(PlanError, match='"view" runs at step 0, before op "make"'):
        replay(model, once[1:])
    with pytest.raises(PlanError, match="op index 9"):
        replay(model, [9])


def test_wrong_caps_are_named_together() -> None:
    with pytest.raises(GraphError) as caught:
        model_of(held_stem(2), Caps(0, {"nobody": 2, "stem": -1}))
    assert [problem.code for problem in caught.value.problems] == [
        "out_of_range",
        "unknown_op",
        "out_of_range",
    ]
    assert "nobody" in str(caught.value)
    assert "stem" in str(caught.value)


def test_questions_that_do_not_fit_together() -> None:
    with pytest.raises(QuestionError, match="needs budget_bytes"):
        Question("cost")
    with pytest.raises(QuestionError, match="takes no budget_bytes"):
        Question("peak", budget_bytes=4)
    with pytest.raises(QuestionError, match="negative"):
        Question("cost", budget_bytes=-1)
