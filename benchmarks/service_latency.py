"""Time to an answer of the real service over HTTP on loopback, cached and not."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter_ns

import httpx

from benchmarks.graph_files import GraphFile
from benchmarks.solver_process import child_environment
from benchmarks.statistics_of_runs import percentile

CACHED_ROUNDS = 5
WARM_UP_REQUESTS = 20
_TIMEOUT_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds from request to the last byte of the answer, over `requests` requests."""

    requests: int
    p50_seconds: float
    p90_seconds: float


@dataclass(frozen=True, slots=True)
class ServiceLatency:
    """`uncached`: one request per distinct graph; `cached`: CACHED_ROUNDS more of each."""

    uncached: Latency
    cached: Latency


def measure_service(graphs: Sequence[GraphFile]) -> ServiceLatency:
    """Posts every graph to a new server with an empty store, then all of them again.

    A graph that only repeats another one is answered from the store at once and does not count as
    uncached.

    Raises:
        RuntimeError: the server did not start, answered with an error, or had not kept an answer.
    """
    bodies = [b'{"graph":' + graph.data + b"}" for graph in graphs]
    uncached: list[float] = []
    cached: list[float] = []
    with _running_server() as url, httpx.Client(base_url=url, timeout=_TIMEOUT_SECONDS) as client:
        for number in range(WARM_UP_REQUESTS):
            _post(client, _warm_up_body(number))
        for body in bodies:
            seconds, from_store = _post(client, body)
            if not from_store:
                uncached.append(seconds)
        for _ in range(CACHED_ROUNDS):
            for graph, body in zip(graphs, bodies, strict=True):
                seconds, from_store = _post(client, body)
                if not from_store:
                    raise RuntimeError(f"the answer for {graph.name} was not kept")
                cached.append(seconds)
    return ServiceLatency(_summary(uncached), _summary(cached))


def _summary(seconds: Sequence[float]) -> Latency:
    return Latency(len(seconds), percentile(seconds, 50), percentile(seconds, 90))


def _post(client: httpx.Client, body: bytes) -> tuple[float, bool]:
    """Seconds until the whole answer is here, and whether it came from the store."""
    start = perf_counter_ns()
    response = client.post("/schedule", content=body, headers={"Content-Type": "application/json"})
    seconds = (perf_counter_ns() - start) / 1e9
    if response.status_code != httpx.codes.OK:
        raise RuntimeError(f"the service answered {response.status_code}: {response.text}")
    return seconds, bool(response.json()["cached"])


def _warm_up_body(number: int) -> bytes:
    """A small graph that no other warm-up has sent."""
    graph = {
        "format": "lowtide.graph/1",
        "name": "warm-up",
        "tensors": [{"name": "x", "bytes": number + 1}, {"name": "y", "bytes": 1}],
        "ops": [{"name": "op", "inputs": ["x"], "outputs": ["y"]}],
        "inputs": ["x"],
        "outputs": ["y"],
    }
    return json.dumps({"graph": graph}).encode()


@contextmanager
def _running_server() -> Iterator[str]:
    """The address of a server on a free port, with its own empty store."""
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, "-m", "lowtide_service", "--port", "0"]
        process = subprocess.Popen(
            [*command, "--database-path", str(Path(directory) / "store.sqlite3")],
            env=child_environment(),
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr is not None
        try:
            url = _address(process.stderr)
            # The server must never wait for somebody to read its log.
            reader = threading.Thread(target=process.stderr.read, daemon=True)
            reader.start()
            httpx.get(url + "/readyz", timeout=_TIMEOUT_SECONDS).raise_for_status()
            yield url
        finally:
            process.terminate()
            process.wait()


def _address(log: Iterator[str]) -> str:
    lines = []
    for line in log:
        lines.append(line)
        found = re.search(r"running on (http://[\d.]+:\d+)", line)
        if found:
            return found[1]
    raise RuntimeError("the service did not start:\n" + "".join(lines))
