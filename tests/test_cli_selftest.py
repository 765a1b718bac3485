"""`lowtide selftest`."""

from __future__ import annotations

from dataclasses import replace

import pytest
from lowtide.recomputation import selftest
from lowtide.recomputation.knapsack import CoverInstance, CoverQuestion, cover_question
from lowtide_client.cli import run


def test_no_search_disagrees(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["selftest", "knapsack", "--instances", "40", "--seed", "3", "--max-items", "7"]
    assert run(arguments) == 0
    assert "40 instances in both scopes, 80 questions: 0 disagreements" in capsys.readouterr().out


def test_a_disagreement_fails_and_is_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_roomy(instance: CoverInstance) -> CoverQuestion:
        question = cover_question(instance)
        return replace(question, budget_bytes=question.budget_bytes * 2)

    monkeypatch.setattr(selftest, "cover_question", too_roomy)
    assert run(["selftest", "knapsack", "--instances", "5", "--max-items", "4"]) == 4
    out, err = capsys.readouterr()
    assert "disagreements" in out
    assert "OPTIMAL, extra cost 0, not" in err
