"""The certificate store: what it serves, what it drops, and that it survives others and crashes."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.util import CommandError
from lowtide.answers import Limit
from lowtide.certificate import Certificate, WorkingSetWitness
from lowtide_service.store.certificate_store import CertificateStore, StoredSolve
from lowtide_service.store.engine import open_engine
from lowtide_service.store.migrate import migrate
from lowtide_service.store.tables import metadata
from sqlalchemy import Engine, text
from sqlalchemy.exc import OperationalError

MANY = 1_000_000


class Clock:
    """Unix time in nanoseconds that only moves when told to."""

    def __init__(self) -> None:
        self.nanoseconds = 10**18

    def __call__(self) -> int:
        return self.nanoseconds

    def advance(self, seconds: int) -> None:
        self.nanoseconds += seconds * 10**9


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = open_engine(tmp_path / "certificates.sqlite3", 5.0)
    migrate(engine, 30.0)
    yield engine
    engine.dispose()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(engine: Engine, clock: Clock) -> CertificateStore:
    return CertificateStore(engine, MANY, MANY, clock)


def solve(
    peak_bytes: int,
    lower_bound_bytes: int,
    graph_hash: str = "graph",
    limit: Limit | None = None,
) -> StoredSolve:
    """A made-up certificate."""
    status: Literal["OPTIMAL", "FEASIBLE"] = (
        "OPTIMAL" if peak_bytes == lower_bound_bytes else "FEASIBLE"
    )
    certificate = Certificate(
        graph_hash=graph_hash,
        status=status,
        peak_bytes=peak_bytes,
        lower_bound_bytes=lower_bound_bytes,
        order=(0, 1, 2),
        witness=WorkingSetWitness(op=0),
    )
    return StoredSolve(certificate.identifier(), certificate, "0" * 64, 0.25, 0.125, limit)


def test_what_is_put_comes_back_whole(store: CertificateStore) -> None:
    kept = solve(2**62, 2**62 - 1, limit="time")
    assert store.put(kept, 10.0)
    assert store.candidates("graph", 10.0) == [kept]
    assert store.text_of(kept.certificate_id) == kept.certificate.model_dump_json()
    assert store.candidates("another graph", 10.0) == []
    assert store.text_of("0" * 32) is None


def test_optimal_serves_every_time_limit(store: CertificateStore) -> None:
    kept = solve(5, 5)
    store.put(kept, 1.0)
    assert store.candidates("graph", 1000.0) == [kept]


def test_feasible_serves_no_longer_search_than_its_own(store: CertificateStore) -> None:
    kept = solve(9, 5)
    store.put(kept, 2.0)
    assert store.candidates("graph", 2.0) == [kept]
    assert store.candidates("graph", 0.5) == [kept]
    assert store.candidates("graph", 2.0001) == []


def test_the_same_certificate_from_a_longer_search_serves_longer_ones(
    store: CertificateStore,
) -> None:
    kept = solve(9, 5)
    store.put(kept, 2.0)
    store.put(kept, 8.0)
    store.put(kept, 4.0)
    assert store.candidates("graph", 8.0) == [kept]
    assert store.candidates("graph", 9.0) == []


@pytest.mark.parametrize("optimal_first", [True, False])
def test_better_comes_first_whatever_was_put_last(
    store: CertificateStore, optimal_first: bool
) -> None:
    optimal, close, far, loose = solve(6, 6), solve(7, 5), solve(8, 5), solve(8, 4)
    known = [optimal, close, far, loose]
    for each in known if optimal_first else reversed(known):
        store.put(each, 10.0)
    assert store.candidates("graph", 5.0) == known


def test_a_luckier_short_search_beats_the_long_one_that_makes_it_eligible(
    store: CertificateStore,
) -> None:
    lucky, long = solve(7, 5), solve(8, 5)
    store.put(lucky, 1.0)
    assert store.candidates("graph", 60.0) == []
    store.put(long, 60.0)
    assert store.candidates("graph", 60.0) == [lucky, long]


def test_least_recently_used_go_when_there_are_too_many(engine: Engine, clock: Clock) -> None:
    store = CertificateStore(engine, 10, MANY, clock)
    kept = [solve(5, 5, f"graph {i}") for i in range(10)]
    for each in kept:
        store.put(each, 1.0)
        clock.advance(1)
    clock.advance(1000)
    assert store.candidates("graph 0", 1.0) == [kept[0]]  # used again
    clock.advance(1)
    newest = solve(5, 5, "graph 10")
    store.put(newest, 1.0)
    left = [each for each in [*kept, newest] if store.text_of(each.certificate_id) is not None]
    assert newest in left
    assert kept[0] in left
    assert kept[1] not in left
    assert len(left) == 9  # a tenth below the bound


def test_least_recently_used_go_when_they_are_too_large(engine: Engine, clock: Clock) -> None:
    size_bytes = len(solve(5, 5, "graph 00").certificate.model_dump_json())
    store = CertificateStore(engine, MANY, 20 * size_bytes, clock)
    kept = [solve(5, 5, f"graph {i:02}") for i in range(50)]
    for each in kept:
        store.put(each, 1.0)
        clock.advance(1)
        with engine.connect() as connection:
            total_bytes = connection.execute(
                text("SELECT SUM(size_bytes) FROM certificates")
            ).scalar_one()
        assert total_bytes <= 20 * size_bytes
        assert store.text_of(each.certificate_id) is not None
    assert store.text_of(kept[0].certificate_id) is None


def test_larger_than_the_whole_cache_is_not_kept(engine: Engine) -> None:
    kept = solve(5, 5)
    store = CertificateStore(engine, MANY, len(kept.certificate.model_dump_json()) - 1)
    assert not store.put(kept, 1.0)
    assert store.candidates("graph", 1.0) == []


@pytest.mark.parametrize("damage", ["{}", "not JSON", '{"peak_bytes": 1}'])
def test_a_damaged_certificate_is_never_served(
    store: CertificateStore, engine: Engine, damage: str
) -> None:
    kept = solve(5, 5)
    store.put(kept, 1.0)
    with engine.connect() as connection:
        connection.execute(
            text("UPDATE certificates SET certificate = :damage"), {"damage": damage}
        )
    assert store.candidates("graph", 1.0) == []
    assert store.text_of(kept.certificate_id) is None


def test_migrations_make_exactly_the_tables(engine: Engine) -> None:
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        assert connection.execute(text("PRAGMA journal_mode")).scalar_one() == "wal"
    migrate(engine, 30.0)  # nothing left to do
    store = CertificateStore(engine, MANY, MANY)
    store.put(solve(5, 5), 1.0)
    migrate(engine, 30.0)
    assert store.candidates("graph", 1.0) == [solve(5, 5)]


def test_a_locked_database_is_waited_for_and_then_given_up(tmp_path: Path) -> None:
    path = tmp_path / "locked.sqlite3"
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    holder.execute("CREATE TABLE something (x)")
    engine = open_engine(path, 0.1)
    with pytest.raises(OperationalError, match="locked"):
        migrate(engine, 0.1)
    holder.execute("ROLLBACK")
    holder.close()
    migrate(engine, 0.1)
    CertificateStore(engine, MANY, MANY).ping()
    engine.dispose()


def test_a_database_of_a_newer_version_is_refused_and_left_alone(engine: Engine) -> None:
    with engine.connect() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(CommandError, match="9999"):
        migrate(engine, 30.0)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one() == (
            "9999"
        )


PROGRAM = """
import sys
from pathlib import Path
from lowtide_service.store.certificate_store import CertificateStore
from lowtide_service.store.engine import open_engine
from lowtide_service.store.migrate import migrate
from tests.test_service_store import MANY, solve

engine = open_engine(Path(sys.argv[1]), 30.0)
migrate(engine, 30.0)
store = CertificateStore(engine, 40, MANY)
start, count = int(sys.argv[2]), int(sys.argv[3])
for i in range(start, start + count):
    store.put(solve(i + 1, i + 1, f"graph {i % 7}"), 1.0)
    store.candidates(f"graph {i % 7}", 1.0)
    print(i, flush=True)
"""


def writer(database_path: Path, start: int, count: int) -> subprocess.Popen[str]:
    """A process that migrates, then puts and reads certificates, and reports each."""
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(path for path in sys.path if path))
    command = [sys.executable, "-c", PROGRAM, str(database_path), str(start), str(count)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def test_many_processes_migrate_and_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "shared.sqlite3"
    writers = [writer(path, start, 60) for start in (0, 60, 120)]
    for each in writers:
        each.communicate(timeout=60)
    assert [each.returncode for each in writers] == [0, 0, 0]
    with sqlite3.connect(path) as connection:
        count, damaged = connection.execute(
            "SELECT COUNT(*), SUM(size_bytes != LENGTH(certificate)) FROM certificates"
        ).fetchone()
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    assert 30 <= count <= 40
    assert damaged == 0


def test_a_writer_killed_at_work_leaves_a_sound_database(tmp_path: Path) -> None:
    path = tmp_path / "crash.sqlite3"
    process = writer(path, 0, MANY)
    assert process.stdout is not None
    for _ in range(25):
        assert process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    engine = open_engine(path, 5.0)
    store = CertificateStore(engine, MANY, MANY)
    assert store.text_of(solve(21, 21, "graph 6").certificate_id) is not None
    store.put(solve(MANY + 1, MANY + 1), 1.0)
    assert store.candidates("graph", 1.0)
    with engine.connect() as connection:
        assert connection.execute(text("PRAGMA integrity_check")).scalar_one() == "ok"
    engine.dispose()
