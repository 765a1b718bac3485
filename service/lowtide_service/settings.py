"""Everything an operator can set, as `LOWTIDE_...` in the environment (docs/service.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

MEBIBYTE = 1024 * 1024

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Settings(BaseSettings):
    """Settings of one server process; the defaults suit two cores and a few gibibytes of memory."""

    model_config = SettingsConfigDict(env_prefix="LOWTIDE_", frozen=True)

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8000, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    log_level: str = Field(
        "INFO",
        pattern="^(DEBUG|INFO|WARNING|ERROR|CRITICAL)$",
        description="Least severe level that is logged.",
    )
    shutdown_seconds: int = Field(
        10, ge=0, description="How long a stopping server lets running requests finish."
    )

    database_path: Path = Field(
        Path("lowtide.sqlite3"), description="SQLite file that keeps the certificates."
    )
    database_busy_seconds: Seconds = Field(
        5.0, description="How long a writer waits for another one."
    )
    cache_max_entries: int = Field(
        10_000, ge=1, description="Certificates kept; the least recently used go first."
    )
    cache_max_bytes: int = Field(
        512 * MEBIBYTE, ge=1, description="Bytes of certificates kept; likewise."
    )

    max_body_bytes: int = Field(
        32 * MEBIBYTE, ge=1, description="Largest request body, counted as it arrives."
    )
    header_seconds: Seconds = Field(
        10.0, description="How long a connection may take to send a request's head."
    )
    body_seconds: Seconds = Field(30.0, description="How long a request body may take.")
    max_ops: int = Field(100_000, ge=1, description="Most ops in a graph.")
    max_tensors: int = Field(400_000, ge=1, description="Most tensors in a graph.")
    default_time_limit_seconds: Seconds = Field(
        10.0, description="Time limit of a request that names none."
    )
    max_time_limit_seconds: Seconds = Field(
        60.0, description="Largest time limit a request may ask for; more is refused."
    )
    verify_time_limit_seconds: Seconds = Field(
        60.0, description="Time a check of a certificate may take."
    )

    max_requests: int = Field(
        64, ge=1, description="Requests being read, waiting or running; more get a 503."
    )
    short_workers: int = Field(
        2, ge=1, description="Processes for cached answers, evaluations, easy graphs and checks."
    )
    long_workers: int = Field(
        2, ge=1, description="Processes for long solves, long checks and large graphs."
    )
    max_waiting: int = Field(
        16, ge=0, description="Requests waiting for a long worker; more get a 503."
    )
    short_solve_seconds: Seconds = Field(
        0.1, description="A solve or check longer than this moves to a long worker."
    )
    short_body_bytes: int = Field(
        MEBIBYTE, ge=0, description="A larger body goes to a long worker at once."
    )
    retry_after_seconds: int = Field(5, ge=1, description="Retry-After of a 503.")
    kill_grace_seconds: Seconds = Field(
        20.0,
        description="Beyond its time limit, what a worker may take (reading the graph included) "
        "before it is killed.",
    )
    worker_memory_bytes: int = Field(
        2048 * MEBIBYTE,
        ge=512 * MEBIBYTE,
        description="Address space of one worker process (RLIMIT_AS).",
    )

    @model_validator(mode="after")
    def _default_is_allowed(self) -> Self:
        if self.default_time_limit_seconds > self.max_time_limit_seconds:
            raise ValueError("default_time_limit_seconds is larger than max_time_limit_seconds")
        return self
