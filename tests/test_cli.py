"""The command line: what it prints, writes and exits with, in process and against a real server."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lowtide.answers import EvaluateAnswer, ScheduleAnswer, VerifyAnswer
from lowtide.certificate import Certificate
from lowtide.wire import parse_graph
from lowtide_client import Lowtide
from lowtide_client.byte_sizes import parse_bytes
from lowtide_client.cli import run

from tests.server_process import ServerProcess, running_server
from tests.service_graphs import EXAMPLES, chain, example, hard

SWIFTNET = str(EXAMPLES / "swiftnet-cell2.json")
SWIFTNET_GIVEN, SWIFTNET_BEST = 351_232, 275_968
COMMAND = [sys.executable, "-m", "lowtide_client.cli"]


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


def environment() -> dict[str, str]:
    """For child processes: the interpreter's own search path, the packages need not be installed."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def saved(folder: Path, document: Mapping[str, Any], name: str = "graph.json") -> str:
    """The path of a file with this JSON."""
    path = folder / name
    path.write_text(json.dumps(document))
    return str(path)


def fields(text: str) -> dict[str, Any]:
    """A printed answer without what changes from run to run."""
    document: dict[str, Any] = json.loads(text)
    return {k: v for k, v in document.items() if k not in ("solve_seconds", "cached")}


# --- schedule


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
    out = capsys.readouterr().out
    assert "FEASIBLE: at most" in out
    assert "stopped by the time limit" in out
    assert "What is proved" in out
    assert "Why nothing better exists" not in out
    assert "Give the search more time" in " ".join(out.split())


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


# --- evaluate


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


# --- verify


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


# --- bad input


def test_every_problem_of_a_graph_is_a_line_with_its_pointer(
    where: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = chain(3)
    graph["tensors"][1]["bytes"] = -5
    graph["ops"][2]["inputs"] = ["nothing"]
    path = saved(tmp_path, graph)
    other = saved(tmp_path, {}, "certificate.json")
    for arguments in (["schedule", path], ["evaluate", path], ["verify", path, other]):
        assert run([*arguments, *where]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        lines = err.splitlines()
        assert [line.split(": ")[:2] for line in lines] == [
            [path, "/tensors/1/bytes"],
            [path, "/ops/2/inputs/0"],
        ]
        assert '"t1"' in lines[0]
        assert '"op2"' in lines[1]


BAD_ARGUMENTS: dict[str, tuple[list[str], str]] = {
    "no command": (["fly"], "No such command"),
    "no graph": (["schedule"], "Missing argument 'GRAPH'"),
    "no file": (["schedule", "nothing.json"], "nothing.json: cannot be read"),
    "a directory": (["schedule", "."], "cannot be read"),
    "unknown option": (["schedule", SWIFTNET, "--fast"], "No such option"),
    "time limit 0": (["schedule", SWIFTNET, "--time-limit", "0"], "positive number of seconds"),
    "time limit NaN": (["schedule", SWIFTNET, "--time-limit", "nan"], "positive number"),
    "time limit inf": (["schedule", SWIFTNET, "--time-limit", "inf"], "positive number"),
    "budget": (["schedule", SWIFTNET, "--budget", "much"], "'much' is not a size"),
    "certificate nowhere": (
        ["schedule", SWIFTNET, "--certificate", "no/such/place.json"],
        "there is no directory",
    ),
    "report is a directory": (["schedule", SWIFTNET, "--report", "."], "is a directory"),
    "server": (["schedule", SWIFTNET, "--server", "localhost:80"], "http://HOST:PORT"),
    "no JSON": (["evaluate", __file__], "not JSON"),
    "no order": (["evaluate", SWIFTNET, "--order", SWIFTNET], "an order is a JSON list"),
    "order without JSON": (["evaluate", SWIFTNET, "--order", __file__], "not JSON"),
    "no certificate": (["verify", SWIFTNET, SWIFTNET], "/graph_hash"),
    "two from standard input": (["verify", "-", "-"], "only one of"),
    "order from standard input too": (["evaluate", "-", "--order", "-"], "only one of"),
}


@pytest.mark.parametrize("case", BAD_ARGUMENTS)
def test_bad_arguments_are_exit_2(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments, message = BAD_ARGUMENTS[case]
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert "Traceback" not in err


def test_a_wrong_order_names_its_file_and_the_op(
    where: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    order = tmp_path / "order.json"
    order.write_text('["op1", "op0"]')
    arguments = ["evaluate", saved(tmp_path, chain(2)), "--order", str(order), *where]
    assert run(arguments) == 2
    assert capsys.readouterr().err.startswith(f'{order}: op "op1" runs at step 0, before op "op0"')


def test_standard_input(
    where: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = Path(SWIFTNET).read_bytes()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=BytesIO(data)))
    assert run(["schedule", "-", "--json", *where]) == 0
    assert fields(capsys.readouterr().out)["peak_bytes"] == SWIFTNET_BEST
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=BytesIO(b"{")))
    assert run(["evaluate", "-", *where]) == 2
    assert capsys.readouterr().err.startswith("standard input: (document): not JSON")


# --- what cannot be done


def test_no_server_is_exit_4(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        assert run(["schedule", SWIFTNET, "--server", url]) == 4
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"lowtide: no Lowtide server could be reached at {url}")


def test_what_the_server_does_not_take_is_exit_2(
    server: ServerProcess, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    there = ["--server", server.url]
    assert run(["schedule", SWIFTNET, "--time-limit", "10000", *there]) == 2
    assert "this server allows at most" in capsys.readouterr().err
    large = saved(tmp_path, chain(2001))
    assert run(["schedule", large, *there]) == 2
    assert capsys.readouterr().err.startswith(f"{large}: /ops: ")


def test_a_servers_wrong_answer_is_not_believed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], server: ServerProcess
) -> None:
    honest = Lowtide.schedule

    def lie(self: Lowtide, graph: Any, **options: Any) -> ScheduleAnswer:
        answer = honest(self, graph, **options)
        return answer.model_copy(update=change)

    monkeypatch.setattr(Lowtide, "schedule", lie)
    changes: list[dict[str, Any]] = [
        {"peak_bytes": SWIFTNET_BEST - 1},
        {"order": tuple(op.name for op in parse_graph(Path(SWIFTNET).read_bytes()).ops)},
        {"order": ()},
    ]
    for change in changes:
        assert run(["schedule", SWIFTNET, "--server", server.url]) == 4
        assert "lowtide: the server's order" in capsys.readouterr().err


def test_a_server_that_lost_the_certificate_still_answers(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    server: ServerProcess,
) -> None:
    honest = Lowtide.schedule

    def forget(self: Lowtide, graph: Any, **options: Any) -> ScheduleAnswer:
        return honest(self, graph, **options).model_copy(update={"certificate_id": "f" * 32})

    monkeypatch.setattr(Lowtide, "schedule", forget)
    assert run(["schedule", SWIFTNET, "--server", server.url]) == 0
    assert "no longer has the certificate" in capsys.readouterr().out
    path = tmp_path / "certificate.json"
    there = ["--server", server.url, "--certificate", str(path)]
    assert run(["schedule", SWIFTNET, "--json", *there]) == 4
    assert not path.exists()


def test_outputs_replace_what_was_there_and_nothing_half_written_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, link = tmp_path / "certificate.json", tmp_path / "link.json"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    assert run(["schedule", SWIFTNET, "--json", "--certificate", str(link)]) == 0
    assert link.is_symlink()
    new = path.read_bytes()
    assert Certificate.model_validate_json(new)
    assert path.stat().st_mode & 0o777 == 0o640

    def disk_full(self: Path, data: bytes) -> int:
        with self.open("wb") as file:
            file.write(data[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", disk_full)
    assert run(["schedule", SWIFTNET, "--json", "--certificate", str(path)]) == 4
    assert "cannot be written: No space left on device" in capsys.readouterr().err
    assert path.read_bytes() == new
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["certificate.json", "link.json"]


def test_an_output_may_be_a_pipe(tmp_path: Path) -> None:
    command = [*COMMAND, "schedule", SWIFTNET, "--certificate", "/dev/fd/1", "--json"]
    done = subprocess.run(command, env=environment(), stdout=subprocess.PIPE, check=True)
    decoder = json.JSONDecoder()
    text = done.stdout.decode()
    certificate, end = decoder.raw_decode(text)
    assert certificate["format"] == "lowtide.certificate/1"
    assert json.loads(text[end:])["peak_bytes"] == SWIFTNET_BEST


def test_serve_without_its_extra_is_a_clear_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("lowtide_client.cli.serve_command.find_spec", lambda name: None)
    assert run(["serve"]) == 4
    assert "pip install 'lowtide[service]'" in capsys.readouterr().err


def test_serve_becomes_the_service(tmp_path: Path) -> None:
    arguments = ["serve", "--port", "0", "--database-path", str(tmp_path / "db.sqlite3")]
    process = subprocess.Popen(
        [*COMMAND, *arguments], env=environment(), stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        found = next(
            match for line in process.stderr if (match := re.search(r"http://[\d.:]+", line))
        )
        with Lowtide(found[0]) as lowtide:
            assert lowtide.evaluate(Path(SWIFTNET)).peak_bytes == SWIFTNET_GIVEN
    finally:
        process.send_signal(signal.SIGTERM)
        _, rest = process.communicate(timeout=60)
    assert process.returncode == 0, rest


# --- processes: start, pipes, terminals, Ctrl-C


def test_a_start_loads_nothing_heavy() -> None:
    program = (
        "import sys; from lowtide_client.cli import run; "
        f"code = run(['schedule', {SWIFTNET!r}]); "
        "loaded = {name.partition('.')[0] for name in sys.modules}; "
        "heavy = {'httpx', 'plotly', 'jinja2', 'fastapi', 'sqlalchemy', 'asyncio', 'logging'}; "
        "sys.exit(f'{code} {sorted(loaded & heavy)}')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True
    )
    assert done.stderr == "0 []\n"


def test_a_reader_that_leaves_is_exit_141() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    command = [*COMMAND, "schedule", SWIFTNET]
    done = subprocess.run(command, env=environment(), stdout=write_end, stderr=subprocess.PIPE)
    os.close(write_end)
    assert done.returncode == 141
    assert done.stderr == b""


class OnTerminal:
    """A command whose standard error is a terminal; standard output is a pipe."""

    def __init__(self, *arguments: str) -> None:
        self._terminal, its_end = pty.openpty()
        self.process = subprocess.Popen(
            [*COMMAND, *arguments],
            env=environment() | {"TERM": "xterm-256color", "COLUMNS": "200"},
            stdout=subprocess.PIPE,
            stderr=its_end,
        )
        os.close(its_end)
        self.seen = ""

    def wait_for(self, text: str) -> None:
        """Reads the terminal until it has shown this."""
        while text not in self.seen:
            self.seen += self._read()

    def finish(self) -> tuple[int, bytes]:
        """Exit code and standard output, once it has ended; the rest of the terminal is read."""
        assert self.process.stdout is not None
        out = self.process.stdout.read()
        self.process.stdout.close()
        code = self.process.wait(60)
        while select.select([self._terminal], [], [], 0)[0]:
            try:
                self.seen += self._read()
            except OSError:  # the other end is closed and everything read
                break
        os.close(self._terminal)
        return code, out

    def _read(self) -> str:
        assert select.select([self._terminal], [], [], 60)[0], self.seen
        return os.read(self._terminal, 65536).decode()


def test_long_work_shows_progress_on_the_terminal_and_ctrl_c_prints_the_best_so_far(
    tmp_path: Path,
) -> None:
    certificate = tmp_path / "certificate.json"
    graph = saved(tmp_path, hard(300, 7))
    command = OnTerminal("schedule", graph, "--json", "--certificate", str(certificate))
    command.wait_for("states")
    assert "solving" in command.seen
    command.process.send_signal(signal.SIGINT)
    code, out = command.finish()
    assert code == 130
    answer = ScheduleAnswer.model_validate_json(out)
    assert (answer.status, answer.limit) == ("FEASIBLE", "cancelled")
    assert Certificate.model_validate_json(certificate.read_bytes()).peak_bytes == answer.peak_bytes


def test_ctrl_c_while_a_server_works_prints_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        command = OnTerminal("schedule", SWIFTNET, "--json", "--server", url)
        command.wait_for("waiting for http")
        command.process.send_signal(signal.SIGINT)
        code, out = command.finish()
    assert (code, out) == (130, b"")
    assert "interrupted" in command.seen
    assert "Traceback" not in command.seen


def test_short_work_shows_no_progress() -> None:
    command = OnTerminal("schedule", SWIFTNET, "--json")
    code, out = command.finish()
    assert code == 0
    assert fields(out.decode())["peak_bytes"] == SWIFTNET_BEST
    assert command.seen == ""


# --- sizes


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("0", 0),
        ("262144", 262144),
        ("256K", 262144),
        ("256KiB", 262144),
        ("256kB", 256000),
        ("256KB", 256000),
        ("1.5M", 1572864),
        ("2 MiB", 2097152),
        ("1G", 2**30),
        ("0.1GB", 10**8),
        ("7B", 7),
    ],
)
def test_sizes(text: str, size_bytes: int) -> None:
    assert parse_bytes(text) == size_bytes


@pytest.mark.parametrize(
    "text", ["", "K", "-1", "1e3", "1k", "1.5", "0.3K", "1 Q", "1,000", "٣", "9" * 30, "1.", ".5M"]
)
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match="is not a"):
        parse_bytes(text)
