"""The command line for tests: where the examples are, how to run it, on a terminal too."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.service_graphs import EXAMPLES

SWIFTNET = str(EXAMPLES / "swiftnet-cell2.json")
SWIFTNET_GIVEN, SWIFTNET_BEST = 351_232, 275_968
COMMAND = [sys.executable, "-m", "lowtide_client.cli"]


def environment() -> dict[str, str]:
    """For child processes: this interpreter's search path; nothing need be installed."""
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
