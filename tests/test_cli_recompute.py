"""`lowtide recompute`."""

from __future__ import annotations

from pathlib import Path

import pytest
from lowtide.recomputation.answer import RecomputeAnswer
from lowtide.recomputation.certificate import RecomputationCertificate
from lowtide_client.cli import run

from tests.command_line import SWIFTNET, saved
from tests.recomputation_graphs import held_stem, training_chain


def answer_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> RecomputeAnswer:
    assert run(["recompute", *arguments, "--json"]) == 0
    return RecomputeAnswer.model_validate_json(capsys.readouterr().out)


def test_the_lowest_peak_and_its_certificate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = saved(tmp_path, held_stem(3))
    out = tmp_path / "certificate.json"
    answer = answer_of(capsys, path, "--certificate", str(out))
    assert (answer.status, answer.scope, answer.peak_bytes) == ("OPTIMAL", "free", 201)
    assert answer.extra_cost == 3
    assert answer.runs is not None
    assert [each.op for each in answer.runs if each.run == 2] == ["stem"]
    certificate = RecomputationCertificate.model_validate_json(out.read_bytes())
    assert certificate.identifier() == answer.certificate_id


def test_the_text_says_what_runs_again_and_what_is_proved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = saved(tmp_path, held_stem(3) | {"pinned": ["x"]})
    assert run(["recompute", path, "--front"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    for piece in (
        "best order 241 bytes",
        "this plan 201 bytes",
        "OPTIMAL in scope free",
        "What runs again: 1 run more",
        "stem cost +3 2 runs",
        "No plan of any order peaks below 201 bytes",
    ):
        assert piece in text


def test_a_budget_finds_the_cheapest_plan(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = saved(tmp_path, training_chain(4))
    assert answer_of(capsys, path, "--cap", "none", "--budget", "5").extra_cost == 1
    assert answer_of(capsys, path, "--cap", "none", "--budget", "6").extra_cost == 0


def test_a_budget_that_cannot_be_met_exits_with_3(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["recompute", saved(tmp_path, training_chain(4)), "--budget", "2"]) == 3
    out, err = capsys.readouterr()
    assert "INFEASIBLE in scope free" in out
    assert "not within the budget of 2 bytes; no plan of scope free fits" in err


def test_caps_and_limits_of_cost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = saved(tmp_path, held_stem(3))
    assert answer_of(capsys, path, "--cap-of", "stem=1").peak_bytes == 240
    assert answer_of(capsys, path, "--max-extra-cost", "2").peak_bytes == 240
    # 3 of 165 are 1.8%.
    assert answer_of(capsys, path, "--max-extra-fraction", "1.8%").peak_bytes == 240
    assert answer_of(capsys, path, "--max-extra-fraction", "2%").peak_bytes == 201
    assert answer_of(capsys, path, "--max-extra-fraction", "1/55").peak_bytes == 201


def test_a_real_graph_that_recomputation_cannot_help(capsys: pytest.CaptureFixture[str]) -> None:
    answer = answer_of(capsys, SWIFTNET, "--time-limit", "1")
    assert answer.peak_bytes is not None
    assert answer.lower_bound_bytes <= answer.peak_bytes <= answer.order_peak_bytes


@pytest.mark.parametrize(
    ("arguments", "piece"),
    [
        (["--cap", "0"], "neither a positive number nor none"),
        (["--cap-of", "stem"], "is not OP=CAP"),
        (["--max-extra-fraction", "1/0"], "is not a fraction"),
        (["--max-extra-fraction", "-1%"], "is negative"),
        (["--front", "--budget", "3"], "exclude each other"),
        (["--max-extra-cost", "3", "--max-extra-fraction", "0.1"], "exclude each other"),
        (["--cap-of", "nobody=2"], 'caps: "nobody" is not an op of the graph'),
    ],
)
def test_wrong_options_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], piece: str
) -> None:
    assert run(["recompute", saved(tmp_path, held_stem(2)), *arguments]) == 2
    assert piece in " ".join(capsys.readouterr().err.split())
