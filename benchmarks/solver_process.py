"""One graph scheduled in a fresh process, to see how much memory that takes: `python -m
benchmarks.solver_process`.

Prints the most memory the process ever held resident (VmHWM), in bytes. Unlike the resource usage
of a child, it starts from nothing when a program starts, whatever the parent holds.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from lowtide.build import build_graph
from lowtide.schedule import Limits, schedule
from lowtide.wire import parse_graph


def measure_resident_bytes(path: Path, time_limit_seconds: float) -> int:
    """Peak resident memory of a process that reads and schedules one graph."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.solver_process",
        str(path),
        str(time_limit_seconds),
    ]
    finished = subprocess.run(
        command, env=child_environment(), check=True, stdout=subprocess.PIPE, text=True
    )
    return int(finished.stdout)


def child_environment() -> dict[str, str]:
    """This process's environment, with its search path for packages that are not installed."""
    search_path = os.pathsep.join(path for path in sys.path if path)
    return {**os.environ, "PYTHONPATH": search_path}


def peak_resident_bytes() -> int:
    """The most memory this process ever held resident."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("/proc/self/status does not tell the peak resident memory (VmHWM)")


def main() -> None:
    """Schedules the graph of the first argument within the seconds of the second."""
    graph = build_graph(parse_graph(Path(sys.argv[1]).read_bytes()))
    schedule(graph, Limits(time_seconds=float(sys.argv[2])))
    print(peak_resident_bytes())


if __name__ == "__main__":
    main()
