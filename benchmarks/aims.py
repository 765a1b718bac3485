"""What was aimed at, beside what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.schedule_rows import ScheduleRow
from benchmarks.service_latency import ServiceLatency
from benchmarks.statistics_of_runs import percentile

GIBIBYTE = 2**30
COMMAND_LIMIT_SECONDS = 0.4


@dataclass(frozen=True, slots=True)
class Aim:
    """One aim: `measured` should not exceed `limit`, both in `unit`; `detail` says over what."""

    name: str
    limit: float
    measured: float
    unit: str
    detail: str

    @property
    def is_met(self) -> bool:
        return self.measured <= self.limit

    def verdict(self) -> str:
        """`met`, or by how much it is missed."""
        return "met" if self.is_met else f"missed, {self.measured / self.limit:.1f} times the aim"


def compare_with_aims(
    rows: Sequence[ScheduleRow], headline_group: str, service: ServiceLatency | None
) -> list[Aim]:
    """The aims this run can speak to; kernel medians are over the graphs of `headline_group`."""
    headline = [row for row in rows if row.group == headline_group]
    aims = [*_kernel_aims(headline), *_named_aims(rows)]
    if rows:
        slowest = max(rows, key=lambda row: row.command_seconds)
        commands = [row.command_seconds for row in rows]
        over = sum(seconds > COMMAND_LIMIT_SECONDS for seconds in commands)
        detail = f"{len(rows)} graphs, {over} over it; slowest {slowest.name}, "
        detail += f"{slowest.command_seconds:.2f} s"
        aims.append(
            Aim(
                "cold command line, median",
                COMMAND_LIMIT_SECONDS * 1e3,
                median(commands) * 1e3,
                "ms",
                detail,
            )
        )
        largest = max(rows, key=lambda row: row.resident_bytes)
        aims.append(
            Aim(
                "peak resident memory, largest",
                1.0,
                largest.resident_bytes / GIBIBYTE,
                "GiB",
                f"{len(rows)} graphs; {largest.name}",
            )
        )
    if service is not None:
        for name, limit, latency in (
            ("service, not cached, p50", 15, service.uncached),
            ("service, cached, p50", 3, service.cached),
        ):
            detail = f"{latency.requests} requests; p90 {latency.p90_seconds * 1e3:.1f} ms"
            aims.append(Aim(name, limit, latency.p50_seconds * 1e3, "ms", detail))
    return aims


def _kernel_aims(rows: Sequence[ScheduleRow]) -> Iterable[Aim]:
    if not rows:
        return
    seconds = [row.kernel_seconds for row in rows]
    detail = f"{len(rows)} graphs"
    yield Aim("kernel, median", 2, median(seconds) * 1e3, "ms", detail)
    slowest = max(rows, key=lambda row: row.kernel_seconds)
    detail += f"; slowest {slowest.name}, {slowest.kernel_seconds:.2f} s"
    yield Aim("kernel, 99th percentile", 1, percentile(seconds, 99), "s", detail)


def _named_aims(rows: Sequence[ScheduleRow]) -> Iterable[Aim]:
    for row in rows:
        name = row.name.replace("_", "-")
        if name == "swiftnet-vwwc224":
            limit = 2
        elif name == "hmcos-nasnet-cifar":
            limit = 50
        else:
            continue
        detail = f"{row.status} by {row.proof}"
        yield Aim(f"kernel, {row.name}", limit, row.kernel_seconds * 1e3, "ms", detail)
