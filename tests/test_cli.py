"""The command line: what it prints, in process and against a real server."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from lowtide.answers import EvaluateAnswer, ScheduleAnswer, VerifyAnswer
from lowtide.certificate import Certificate
from lowtide_client import Lowtide
from lowtide_client.cli import run

from tests.command_line import (
    SWIFTNET,
    SWIFTNET_BEST,
    SWIFTNET_GIVEN,
    fields,
    saved,
)
from tests.server_process import ServerProcess, running_server
from tests.service_graphs import EXAMPLES, chain, example, hard


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """One server for the whole file; it takes no graph of more than 2,000 ops."""
    folder = tmp_path_factory.mktemp("server")
    with running_server(folder / "db.sqlite3", max_ops=2000, short_workers=1, long_workers=1) as it:
        yield it


@pytest.fixture(params=["in process", "server"])
def where(request: pytest.FixtureRequest) -> list[str]:
    """The arguments that choose between both worlds."""
    if request.param == "in process":
        return []
    return ["--server", request.getfixturevalue("server").url]


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.json")))
def test_schedule_says_before_after_bound_what_binds_and_why(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = EXAMPLES / f"{name}.json"
    assert run(["schedule", str(path), "--json"]) == 0
    answer = ScheduleAnswer.model_validate_json(capsys.readouterr().out)
    assert answer.status == "OPTIMAL"
    assert run(["schedule", str(path)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    text = " ".join(out.split())
    assert f"{len(answer.order)} ops" in text
    for label, amount in (
        ("given order", answer.given_order_peak_bytes),
        ("this order", answer.peak_bytes),
        ("lower bound", answer.lower_bound_bytes),
    ):
        assert re.search(rf"{label} [\d,.]+ (KiB|MiB) {amount:,} bytes", text)
    assert "OPTIMAL: no order peaks lower" in text
    assert f"No order of these ops peaks below {answer.peak_bytes:,} bytes." in text
    assert_binding_adds_up(out, answer.peak_bytes)
    binding = Lowtide().evaluate(path, answer.order).binding
    assert binding is not None
    assert f"step {binding.step + 1} of {len(answer.order)}, op " in text


def assert_binding_adds_up(out: str, peak_bytes: int) -> None:
    """The table of the binding step lists amounts that come to the peak."""
    rows = re.findall(r"^ *(-?[\d,]+) bytes?  (in use|idle|in place|peak|) ", out, re.MULTILINE)
    amounts = [int(amount.replace(",", "")) for amount, _ in rows]
    assert rows[-1][1] == "peak"
    assert amounts[-1] == peak_bytes == sum(amounts[:-1])


def test_swiftnet_reads_as_it_should(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schedule", SWIFTNET]) == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines[:6] == [
        "swiftnet-cell2: 28 ops, 29 storages",
        "",
        "  given order  343.00 KiB  351,232 bytes",
        "  this order   269.50 KiB  275,968 bytes",
        "  lower bound  269.50 KiB  275,968 bytes",
        "  gain              21.4%  75,264 bytes less",
    ]
    assert "  Idle: 75,264 bytes that this op does not touch and later ops need." in lines


def test_both_worlds_print_the_same(
    server: ServerProcess, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = []
    for extra in ([], ["--server", server.url], ["--server", server.url]):
        assert run(["schedule", SWIFTNET, *extra]) == 0
        out = capsys.readouterr().out
        printed.append(re.sub(r"\((solved in [\d.]+ m?s|known already)\)", "(took)", out))
        assert run(["schedule", SWIFTNET, "--json", *extra]) == 0
        printed.append(json.dumps(fields(capsys.readouterr().out)))
    assert printed[0::2] == [printed[0]] * 3
    assert printed[1::2] == [printed[1]] * 3


def test_json_is_the_services_answer_and_nothing_else(
    server: ServerProcess, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["schedule", SWIFTNET, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    with server.client() as client:
        reply = client.post("/schedule", json={"graph": example("swiftnet-cell2")})
    assert list(json.loads(out)) == list(reply.json())
    assert fields(out) == fields(reply.text)


def test_certificate_verifies_and_is_the_one_named(
    where: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "certificate.json"
    assert run(["schedule", SWIFTNET, "--json", "--certificate", str(path), *where]) == 0
    name = json.loads(capsys.readouterr().out)["certificate_id"]
    assert Certificate.model_validate_json(path.read_bytes()).identifier() == name
    assert run(["verify", SWIFTNET, str(path), *where]) == 0
    out = capsys.readouterr().out
    assert out.startswith("ACCEPTED")
    assert f"No order peaks below {SWIFTNET_BEST:,} bytes." in out
    assert run(["verify", SWIFTNET, str(path), "--json", *where]) == 0
    assert VerifyAnswer.model_validate_json(capsys.readouterr().out).accepted


def test_report_is_written(
    where: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "report.html"
    assert run(["schedule", SWIFTNET, "--json", "--report", str(path), *where]) == 0
    assert fields(capsys.readouterr().out)["peak_bytes"] == SWIFTNET_BEST
    page = path.read_text()
    assert page.lower().startswith("<!doctype html>")
    assert "Whatever the order, the program starts in a set of" in page
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]


def test_report_without_its_extra_is_a_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.startswith("lowtide_client.report")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.partition(".")[0] == "plotly"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "plotly", None)
    assert run(["schedule", SWIFTNET, "--report", str(tmp_path / "r.html")]) == 4
    out, err = capsys.readouterr()
    assert out == ""
    assert "pip install 'lowtide[report]'" in err
    assert list(tmp_path.iterdir()) == []


def test_feasible_says_what_struck(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = saved(tmp_path, hard(300, 7))
    assert run(["schedule", graph, "--time-limit", "0.3"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "FEASIBLE: at most" in text
    assert "stopped by the time limit after" in text
    assert "What is proved" in text
    assert "Why nothing better exists" not in text
    assert "Give the search more time" in text


@pytest.mark.parametrize("budget", [str(SWIFTNET_BEST), "270K", "1MiB"])
def test_within_budget(budget: str, where: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schedule", SWIFTNET, "--json", "--budget", budget, *where]) == 0
    assert capsys.readouterr().err == ""


def test_over_budget_is_exit_3_after_the_answer(
    where: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    over = str(SWIFTNET_BEST - 1)
    assert run(["schedule", SWIFTNET, "--json", "--budget", over, *where]) == 3
    out, err = capsys.readouterr()
    assert fields(out)["peak_bytes"] == SWIFTNET_BEST
    assert err == "lowtide: 1 byte over the budget of 275,967 bytes; no order of these ops fits\n"
    assert run(["evaluate", SWIFTNET, "--json", "--budget", over, *where]) == 3
    out, err = capsys.readouterr()
    assert json.loads(out)["peak_bytes"] == SWIFTNET_GIVEN
    assert "lowtide schedule" in err


def test_over_budget_but_undecided_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = saved(tmp_path, hard(300, 7))
    assert run(["schedule", graph, "--json", "--time-limit", "0.3"]) == 0
    bound = json.loads(capsys.readouterr().out)["lower_bound_bytes"]
    budget = str(bound + 1000)
    assert run(["schedule", graph, "--time-limit", "0.3", "--budget", budget]) == 3
    assert "a better order may exist" in capsys.readouterr().err


def test_a_graph_without_ops(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = saved(tmp_path, chain(0))
    for arguments in (["schedule", graph], ["evaluate", graph]):
        assert run(arguments) == 0
        assert "0 ops" in capsys.readouterr().out


def test_evaluate_takes_the_given_order_a_list_or_an_answer(
    where: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["evaluate", SWIFTNET, *where]) == 0
    out = capsys.readouterr().out
    assert f"The given order peaks at {SWIFTNET_GIVEN:,} bytes (343.00 KiB)" in out
    assert_binding_adds_up(out, SWIFTNET_GIVEN)
    assert run(["schedule", SWIFTNET, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    whole = saved(tmp_path, answer, "answer.json")
    names = tmp_path / "order.json"
    names.write_text(json.dumps(answer["order"]))
    printed = []
    for order in (whole, str(names)):
        assert run(["evaluate", SWIFTNET, "--order", order, "--json", *where]) == 0
        printed.append(EvaluateAnswer.model_validate_json(capsys.readouterr().out))
    assert printed[0] == printed[1]
    assert printed[0].peak_bytes == SWIFTNET_BEST
    assert [step.op for step in printed[0].steps] == answer["order"]


def test_binding_shows_workspace_and_savings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = chain(2)
    graph["ops"][1] |= {"workspace_bytes": 50, "in_place": [["t2", "t1"]]}
    graph["pinned"] = ["t0"]
    assert run(["evaluate", saved(tmp_path, graph), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["peak_bytes"] == 250
    assert run(["evaluate", saved(tmp_path, graph)]) == 0
    out = capsys.readouterr().out
    assert_binding_adds_up(out, 250)
    assert "(workspace of the op)" in out
    assert "-100 bytes  in place" in out


def test_many_live_tensors_are_summed_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs = [{"name": f"x{i}", "bytes": 1000 - i} for i in range(40)]
    graph = {
        "format": "lowtide.graph/1",
        "tensors": [*inputs, {"name": "y", "bytes": 5}],
        "ops": [
            {"name": "first", "inputs": ["x0"], "outputs": ["y"]},
            {"name": "last", "inputs": [each["name"] for each in inputs[1:]], "outputs": []},
        ],
        "inputs": [each["name"] for each in inputs],
        "outputs": ["y"],
    }
    assert run(["evaluate", saved(tmp_path, graph)]) == 0
    out = capsys.readouterr().out
    assert "smaller tensors" in out
    assert_binding_adds_up(out, sum(1000 - i for i in range(40)) + 5)


def test_names_cannot_control_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = json.loads(
        json.dumps(chain(3)).replace("op1", "[red]\\u001b]0;evil\\u0007\\u202e:boom:")
    )
    graph["name"] = "\x1b[2J[bold]"
    for command in ("schedule", "evaluate"):
        assert run([command, saved(tmp_path, graph)]) == 0
        out = capsys.readouterr().out
        assert out.replace("\n", "").isprintable()
        assert r"\x1b[2J[bold]" in out


def test_refused_is_exit_1_with_the_reason(
    where: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Lowtide() as lowtide:
        answer = lowtide.schedule(Path(SWIFTNET))
        certificate = lowtide.certificate(answer.certificate_id)
    lie = certificate.model_copy(update={"peak_bytes": certificate.peak_bytes - 1})
    path = saved(tmp_path, lie.model_dump(mode="json"), "lie.json")
    assert run(["verify", SWIFTNET, path, *where]) == 1
    assert capsys.readouterr().out.startswith("REFUSED (")
    assert run(["verify", SWIFTNET, path, "--json", *where]) == 1
    verdict = VerifyAnswer.model_validate_json(capsys.readouterr().out)
    assert not verdict.accepted
    assert verdict.reason
