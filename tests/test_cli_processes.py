"""The command line as a process: its start, pipes, terminals, Ctrl-C, `serve`."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

from lowtide.answers import ScheduleAnswer
from lowtide.certificate import Certificate
from lowtide_client import Lowtide

from tests.command_line import (
    COMMAND,
    SWIFTNET,
    SWIFTNET_BEST,
    SWIFTNET_GIVEN,
    OnTerminal,
    environment,
    fields,
    saved,
)
from tests.service_graphs import hard


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


def test_an_output_may_be_a_pipe(tmp_path: Path) -> None:
    command = [*COMMAND, "schedule", SWIFTNET, "--certificate", "/dev/fd/1", "--json"]
    done = subprocess.run(command, env=environment(), stdout=subprocess.PIPE, check=True)
    decoder = json.JSONDecoder()
    text = done.stdout.decode()
    certificate, end = decoder.raw_decode(text)
    assert certificate["format"] == "lowtide.certificate/1"
    assert json.loads(text[end:])["peak_bytes"] == SWIFTNET_BEST


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
