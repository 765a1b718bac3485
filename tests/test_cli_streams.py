"""The command line in odd surroundings: streams closed, full or not UTF-8, tiny terminals."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from lowtide.answers import ScheduleAnswer
from lowtide_client.cli import run

from tests.command_line import COMMAND, SWIFTNET, SWIFTNET_BEST, environment, saved
from tests.service_graphs import chain


def in_shell(
    redirections: str, *arguments: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    """A command, its streams redirected by a shell."""
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {redirections}', "sh", *COMMAND, *arguments],
        env=environment() | variables,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("redirections", [">&-", ">&- 2>&-", ">&- 2>&- <&-"])
def test_closed_streams_are_the_null_device(redirections: str, tmp_path: Path) -> None:
    certificate = tmp_path / "certificate.json"
    done = in_shell(redirections, "schedule", SWIFTNET, "--certificate", str(certificate))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    # No print has landed in the file that could have taken the closed stream's number.
    assert json.loads(certificate.read_text())["peak_bytes"] == SWIFTNET_BEST


def test_closed_standard_input_is_an_empty_document() -> None:
    done = in_shell("<&-", "schedule", "-")
    assert done.returncode == 2
    assert done.stderr.startswith("standard input: (document): not JSON")


@pytest.mark.parametrize("arguments", [(), ("--json",)])
def test_output_on_a_full_disk_is_exit_4(arguments: tuple[str, ...]) -> None:
    done = in_shell(">/dev/full", "schedule", SWIFTNET, *arguments)
    assert done.returncode == 4
    assert done.stderr == ("lowtide: standard output cannot be written: No space left on device\n")


def test_a_full_disk_does_not_look_like_a_refused_certificate(tmp_path: Path) -> None:
    certificate = str(tmp_path / "certificate.json")
    assert run(["schedule", SWIFTNET, "--certificate", certificate]) == 0
    assert in_shell(">/dev/full", "verify", SWIFTNET, certificate).returncode == 4


@pytest.mark.parametrize("arguments", [("schedule", "missing.json"), ("schedule",), ("nothing",)])
def test_with_nowhere_to_complain_the_exit_code_stays(arguments: tuple[str, ...]) -> None:
    assert in_shell("2>/dev/full", *arguments).returncode == 2


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_names_that_the_terminal_cannot_show_do_not_stop_the_answer(
    encoding: str, tmp_path: Path
) -> None:
    graph = chain(1)
    graph["name"] = "\u0394-net"
    graph["ops"][0]["name"] = "\u0394-op"
    path = saved(tmp_path, graph)
    done = in_shell("", "schedule", path, PYTHONIOENCODING=encoding)
    name = "\u0394" if encoding == "utf-8" else "\\u0394"
    assert done.returncode == 0
    assert f"{name}-net: 1 op" in done.stdout
    as_json = in_shell("", "schedule", path, "--json", PYTHONIOENCODING=encoding)
    assert ScheduleAnswer.model_validate_json(as_json.stdout).order == ("\u0394-op",)


@pytest.mark.parametrize("columns", ["0", "32", "40", "71", "200"])
def test_a_narrow_terminal_cuts_no_number(columns: str) -> None:
    done = in_shell("", "schedule", SWIFTNET, COLUMNS=columns)
    assert done.returncode == 0
    if int(columns):
        assert max(map(len, done.stdout.splitlines())) <= int(columns)
    assert re.search(r"275,968\s*bytes", done.stdout)
    for number in ("351,232", "275,968", "75,264", "343.00", "269.50"):
        assert number in done.stdout


@pytest.mark.parametrize("option", ["--certificate", "--report"])
def test_no_output_overwrites_the_graph(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = saved(tmp_path, chain(2))
    link = tmp_path / "link.json"
    link.symlink_to(path)
    assert run(["schedule", path, option, str(link)]) == 2
    assert f"is both GRAPH and {option}; name two files" in capsys.readouterr().err
    assert json.loads(Path(path).read_text()) == chain(2)


def test_certificate_and_report_are_two_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "output"
    arguments = ["--certificate", str(output), "--report", f"{tmp_path}/./output"]
    assert run(["schedule", SWIFTNET, *arguments]) == 2
    assert "is both --certificate and --report" in capsys.readouterr().err
    assert not output.exists()
    assert run(["schedule", SWIFTNET, "--certificate", "/dev/null", "--report", "/dev/null"]) == 0
