"""Settings: where they come from, what is refused, and that the handbook lists every one."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from lowtide_service.healthcheck import check
from lowtide_service.settings import Settings
from pydantic import ValidationError

from tests.server_process import running_server

HANDBOOK = Path(__file__).parent.parent / "docs" / "service.md"


def test_the_environment_sets_and_arguments_win(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOWTIDE_PORT", "9001")
    monkeypatch.setenv("LOWTIDE_HOST", "0.0.0.0")
    monkeypatch.setenv("LOWTIDE_MAX_OPS", "7")
    settings = Settings(port=9002)
    assert (settings.port, settings.host, settings.max_ops) == (9002, "0.0.0.0", 7)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "70000"),
        ("PORT", "http"),
        ("MAX_BODY_BYTES", "0"),
        ("SHORT_WORKERS", "0"),
        ("LOG_LEVEL", "LOUD"),
        ("WORKER_MEMORY_BYTES", "1000"),
        ("DEFAULT_TIME_LIMIT_SECONDS", "61"),
        ("MAX_TIME_LIMIT_SECONDS", "inf"),
    ],
)
def test_bad_settings_are_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"LOWTIDE_{name}", value)
    with pytest.raises(ValidationError) as caught:
        Settings()
    assert name.lower() in str(caught.value)


def test_the_handbook_lists_every_setting_with_its_default() -> None:
    rows = {}
    for line in HANDBOOK.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 3 and cells[0].startswith("`LOWTIDE_"):
            rows[cells[0].strip("`")] = (cells[1].strip("`"), cells[2])
    expected = {
        f"LOWTIDE_{name.upper()}": (str(field.default), field.description)
        for name, field in Settings.model_fields.items()
    }
    assert rows == expected


def run_server(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The server's command, which must end by itself."""
    search_path = os.pathsep.join(path for path in sys.path if path)
    return subprocess.run(
        [sys.executable, "-m", "lowtide_service", *arguments],
        env={**os.environ, "PYTHONPATH": search_path, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_command_names_a_bad_setting_and_fails() -> None:
    ended = run_server("--port", "99999", LOWTIDE_MAX_OPS="none")
    assert ended.returncode == 2
    assert "LOWTIDE_PORT" in ended.stderr
    assert "LOWTIDE_MAX_OPS" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_command_explains_itself() -> None:
    ended = run_server("--help")
    assert ended.returncode == 0
    for option in ("--host", "--port", "--database-path"):
        assert option in ended.stdout


def test_a_database_that_cannot_be_opened_stops_the_start(tmp_path: Path) -> None:
    ended = run_server("--port", "0", "--database-path", str(tmp_path / "none" / "x.sqlite3"))
    assert ended.returncode == 1
    assert "unable to open database file" in ended.stderr
    other = tmp_path / "other.sqlite3"
    other.write_bytes(b"not a database, whatever its name" * 100)
    ended = run_server("--port", "0", "--database-path", str(other))
    assert ended.returncode == 1
    assert "not a database" in ended.stderr


def test_a_port_in_use_stops_the_start(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        path = str(tmp_path / "certificates.sqlite3")
        ended = run_server("--port", port, "--database-path", path)
    assert ended.returncode == 1
    assert "address already in use" in ended.stderr


def test_the_health_check_tells_a_ready_server_from_none(tmp_path: Path) -> None:
    with running_server(tmp_path / "certificates.sqlite3") as server:
        port = int(server.url.rpartition(":")[2])
        assert check(Settings(host="0.0.0.0", port=port)) is None
    assert check(Settings(port=port)) is not None
