"""Answers: the library's values in the caller's names."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from lowtide.answer_builder import evaluate_answer, schedule_answer
from lowtide.answers import BindingStep, EvaluateAnswer, LiveTensor, ScheduleAnswer, Step
from lowtide.build import build_graph
from lowtide.certificate import Certificate, WorkingSetWitness
from lowtide.memory import evaluate
from lowtide.wire import FORMAT, parse_graph

if TYPE_CHECKING:
    from lowtide.schedule import Schedule


def test_an_evaluate_answer_says_what_binds_the_peak() -> None:
    graph = build_graph(
        parse_graph(
            {
                "format": FORMAT,
                "tensors": [
                    {"name": "x", "bytes": 10},
                    {"name": "y", "bytes": 40},
                    {"name": "z", "bytes": 30},
                    {"name": "z_flat", "bytes": 30, "view_of": "z"},
                ],
                "ops": [
                    {"name": "wide", "inputs": ["x"], "outputs": ["y"]},
                    {
                        "name": "narrow",
                        "inputs": ["y"],
                        "outputs": ["z"],
                        "workspace_bytes": 7,
                        "in_place": [["z", "y"]],
                    },
                    {"name": "join", "inputs": ["x", "z_flat"], "outputs": []},
                ],
                "inputs": ["x"],
                "outputs": [],
            }
        )
    )
    assert evaluate_answer(graph, evaluate(graph, (0, 1, 2))) == EvaluateAnswer(
        peak_bytes=57,
        steps=(
            Step(op="wide", live_before_bytes=10, step_bytes=50, live_after_bytes=50),
            Step(op="narrow", live_before_bytes=50, step_bytes=57, live_after_bytes=40),
            Step(op="join", live_before_bytes=40, step_bytes=40, live_after_bytes=0),
        ),
        binding=BindingStep(
            step=1,
            op="narrow",
            workspace_bytes=7,
            saved_in_place_bytes=30,
            tensors=(
                LiveTensor(tensor="y", bytes=40, idle=False),
                LiveTensor(tensor="z", bytes=30, idle=False),
                LiveTensor(tensor="x", bytes=10, idle=True),
            ),
        ),
    )


def test_a_graph_without_ops_binds_nowhere() -> None:
    graph = build_graph(
        parse_graph({"format": FORMAT, "tensors": [], "ops": [], "inputs": [], "outputs": []})
    )
    answer = evaluate_answer(graph, evaluate(graph, ()))
    assert answer == EvaluateAnswer(peak_bytes=0, steps=(), binding=None)


@pytest.mark.parametrize(("peak", "lower_bound", "gap"), [(40, 30, 0.25), (7, 7, 0.0), (0, 0, 0.0)])
def test_a_schedule_answer_speaks_in_the_callers_names(
    peak: int, lower_bound: int, gap: float
) -> None:
    ops: list[dict[str, object]] = [
        {"name": name, "inputs": [], "outputs": []} for name in ("first", "second")
    ]
    graph = build_graph(
        parse_graph({"format": FORMAT, "tensors": [], "ops": ops, "inputs": [], "outputs": []})
    )
    certificate = Certificate(
        graph_hash="00",
        status="FEASIBLE",
        peak_bytes=peak,
        lower_bound_bytes=lower_bound,
        order=(0, 1),
        witness=WorkingSetWitness(op=0),
    )
    schedule = SimpleNamespace(
        status="FEASIBLE",
        order=(1, 0),
        peak_bytes=peak,
        lower_bound_bytes=lower_bound,
        given_order_peak_bytes=50,
        certificate=certificate,
        solve_seconds=1.5,
        limit="states",
    )
    answer = schedule_answer(graph, cast("Schedule", schedule), cached=True)
    assert answer == ScheduleAnswer(
        status="FEASIBLE",
        peak_bytes=peak,
        lower_bound_bytes=lower_bound,
        gap=gap,
        given_order_peak_bytes=50,
        order=("second", "first"),
        proof="working-set",
        certificate_id=certificate.identifier(),
        cached=True,
        solve_seconds=1.5,
        limit="states",
    )
