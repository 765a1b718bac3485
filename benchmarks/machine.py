"""The machine and the versions behind a set of measurements (Linux)."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

_PACKAGES = ("lowtide", "torch", "highspy", "fastapi", "uvicorn", "httpx")


@dataclass(frozen=True, slots=True)
class Machine:
    """`cores`: those this process may use; `load`: of the minute before it was looked at."""

    cpu: str
    cores: int
    memory_bytes: int
    system: str
    python: str
    packages: dict[str, str]
    load: float

    def describe(self) -> str:
        """One paragraph for people."""
        packages = ", ".join(f"{name} {version}" for name, version in self.packages.items())
        return (
            f"{self.cpu}, {self.cores} cores, {self.memory_bytes / 2**30:.1f} GiB, {self.system}, "
            f"load {self.load:.2f} at the start; Python {self.python}; {packages}"
        )


def this_machine() -> Machine:
    """What this process runs on, now."""
    return Machine(
        cpu=_cpu_model(),
        cores=len(os.sched_getaffinity(0)),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        system=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        packages={name: version for name in _PACKAGES if (version := _version(name))},
        load=os.getloadavg()[0],
    )


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
