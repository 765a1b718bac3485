"""The real server as a process of its own, for tests: on a free port, ready when it says so."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

START_SECONDS = 60.0
STOP_SECONDS = 60.0
_CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


class ServerProcess:
    """A running `python -m lowtide_service` and everything it has logged."""

    def __init__(self, database_path: Path, settings: dict[str, str]) -> None:
        """Starts the process; `wait_until_ready` before the first request."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("LOWTIDE_")}
        # The interpreter's own search path: the packages need not be installed.
        environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        environment |= {f"LOWTIDE_{name.upper()}": value for name, value in settings.items()}
        command = [sys.executable, "-m", "lowtide_service", "--port", "0"]
        self.process = subprocess.Popen(
            [*command, "--database-path", str(database_path)],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.log: list[dict[str, Any]] = []
        self.url = ""
        self._logged = threading.Condition()
        self._ended = False
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """The server's process id."""
        return self.process.pid

    def wait_until_ready(self) -> None:
        """Waits for the line that names the port, then for `/readyz`."""
        line = self.wait_for_log(lambda each: "running on" in each["message"], START_SECONDS)
        match = re.search(r"http://[\d.]+:\d+", line["message"])
        assert match is not None
        self.url = match[0]
        with self.client() as client:
            assert client.get("/readyz").status_code == 200

    def wait_for_log(
        self, wanted: Callable[[dict[str, Any]], bool], seconds: float
    ) -> dict[str, Any]:
        """The first line logged that is wanted, already there or still to come."""

        def found() -> dict[str, Any] | None:
            return next((line for line in self.log if wanted(line)), None)

        with self._logged:
            self._logged.wait_for(lambda: found() is not None or self._ended, seconds)
            line = found()
        assert line is not None, f"not logged; the log is {self.log}"
        return line

    def client(self, timeout_seconds: float = 60.0) -> httpx.Client:
        """An HTTP client that speaks to this server."""
        return httpx.Client(base_url=self.url, timeout=timeout_seconds)

    def workers(self) -> list[int]:
        """Process ids of the server's living children (needs /proc)."""
        return children_of(self.pid)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Asks the server to stop, as an operator would; its exit status."""
        self.process.send_signal(how)
        return self._wait()

    def kill(self) -> None:
        """Ends the server without a chance to clean up."""
        self.process.kill()
        self._wait()

    def _wait(self) -> int:
        try:
            status = self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        self._reader.join(60)
        assert self.process.stderr is not None
        self.process.stderr.close()
        return status

    def _read_log(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._logged:
                try:
                    self.log.append(json.loads(line))
                except json.JSONDecodeError:
                    self.log.append({"message": line, "not_json": True})
                self._logged.notify_all()
        with self._logged:
            self._ended = True
            self._logged.notify_all()


@contextmanager
def running_server(database_path: Path, **settings: object) -> Iterator[ServerProcess]:
    """A server that is ready, stopped at the end; settings by their names in lower case."""
    server = ServerProcess(database_path, {name: str(value) for name, value in settings.items()})
    try:
        server.wait_until_ready()
        yield server
    finally:
        if server.process.returncode is None:
            server.stop()


def children_of(pid: int) -> list[int]:
    """Process ids of the living children of a process."""
    return sorted(
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and _parent_and_state(int(entry.name)) in ((pid, s) for s in "RSDT")
    )


def is_alive(pid: int) -> bool:
    """Whether a process still runs; a zombie does not."""
    return _parent_and_state(pid)[1] in ("R", "S", "D", "T")


def cpu_seconds(pid: int) -> float:
    """Processor time a process has used so far."""
    fields = _stat_fields(pid)
    return (int(fields[11]) + int(fields[12])) / _CLOCK_TICKS if fields else 0.0


def eventually(condition: Callable[[], bool], seconds: float) -> bool:
    """Whether the condition comes true within the time; looks again and again."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        os.sched_yield()
    return condition()


def _parent_and_state(pid: int) -> tuple[int, str]:
    fields = _stat_fields(pid)
    return (int(fields[1]), fields[0]) if fields else (0, "")


def _stat_fields(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the command name, none when the process is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return []
    return text.rpartition(")")[2].split()
