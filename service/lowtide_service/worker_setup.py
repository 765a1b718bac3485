"""What a worker process does once, before its first job: limits, signals, watching its parent."""

from __future__ import annotations

import os
import resource
import signal
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from lowtide_service.settings import Settings
from lowtide_service.store.certificate_store import CertificateStore
from lowtide_service.store.engine import open_engine

_PARENT_CHECK_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class WorkerConfig:
    """What a worker needs to know; travels with every job, so that any worker can take any job."""

    server_process_id: int
    memory_bytes: int
    database_path: Path
    database_busy_seconds: float
    cache_max_entries: int
    cache_max_bytes: int
    max_ops: int
    max_tensors: int
    default_time_limit_seconds: float
    max_time_limit_seconds: float
    verify_time_limit_seconds: float

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The part of the settings that concerns workers of the calling process."""
        return cls(
            server_process_id=os.getpid(),
            memory_bytes=settings.worker_memory_bytes,
            database_path=settings.database_path,
            database_busy_seconds=settings.database_busy_seconds,
            cache_max_entries=settings.cache_max_entries,
            cache_max_bytes=settings.cache_max_bytes,
            max_ops=settings.max_ops,
            max_tensors=settings.max_tensors,
            default_time_limit_seconds=settings.default_time_limit_seconds,
            max_time_limit_seconds=settings.max_time_limit_seconds,
            verify_time_limit_seconds=settings.verify_time_limit_seconds,
        )


_store: CertificateStore | None = None


def prepared_store(config: WorkerConfig) -> CertificateStore:
    """Sets this process up on the first call; its connection to the certificates on every call."""
    global _store
    if _store is None:
        _ignore_interrupts()
        _limit_memory(config.memory_bytes)
        _end_with_parent(config.server_process_id)
        engine = open_engine(config.database_path, config.database_busy_seconds)
        _store = CertificateStore(engine, config.cache_max_entries, config.cache_max_bytes)
    return _store


def _ignore_interrupts() -> None:
    # Ctrl-C in a terminal reaches the whole process group; the server decides when workers end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _limit_memory(memory_bytes: int) -> None:
    _, hard_limit = resource.getrlimit(resource.RLIMIT_AS)
    if hard_limit != resource.RLIM_INFINITY:
        memory_bytes = min(memory_bytes, hard_limit)
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))


def _end_with_parent(server_process_id: int) -> None:
    """Ends this process when the server is gone, in the middle of a solve too.

    An idle worker sees its input end; a busy one has to look. So a server that is killed leaves no
    orphan that burns a core until its time limit.
    """

    def watch() -> None:
        while os.getppid() == server_process_id:
            time.sleep(_PARENT_CHECK_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()
