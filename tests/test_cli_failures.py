"""The command line when something is wrong: messages, exit codes, files left behind."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lowtide.answers import ScheduleAnswer
from lowtide.certificate import Certificate
from lowtide.wire import parse_graph
from lowtide_client import Lowtide
from lowtide_client.byte_sizes import parse_bytes
from lowtide_client.cli import run

from tests.command_line import (
    SWIFTNET,
    SWIFTNET_BEST,
    fields,
    saved,
)
from tests.server_process import ServerProcess, running_server
from tests.service_graphs import chain


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


def test_no_server_is_exit_4(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        assert run(["schedule", SWIFTNET, "--server", url]) == 4
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"lowtide: no Lowtide server could be reached at {url}")


def test_errors_cannot_control_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = saved(tmp_path, chain(2) | {"\x1b[2Jfield": 1}, "na\x1b[31mme.json")
    assert run(["schedule", graph]) == 2
    err = capsys.readouterr().err
    assert err.replace("\n", "").isprintable()
    assert r"na\x1b[31mme.json" in err
    assert r"\x1b[2Jfield" in err


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
        return answer.model_copy(update=changes[0])

    monkeypatch.setattr(Lowtide, "schedule", lie)
    changes: list[dict[str, Any]] = [
        {"peak_bytes": SWIFTNET_BEST - 1},
        {"order": tuple(op.name for op in parse_graph(Path(SWIFTNET).read_bytes()).ops)},
        {"order": ()},
    ]
    while changes:
        assert run(["schedule", SWIFTNET, "--server", server.url]) == 4
        assert "lowtide: the server's order" in capsys.readouterr().err
        changes.pop(0)


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


def test_serve_without_its_extra_is_a_clear_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = sys.modules["lowtide_client.cli.serve_command"]
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    assert run(["serve"]) == 4
    assert "pip install 'lowtide[service]'" in capsys.readouterr().err


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
