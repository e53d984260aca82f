"""Doctor names what of a server of PostgreSQL would break a promise of the store."""

from __future__ import annotations

import psycopg
import pytest
from postgres_server import APPLICATION, OWNER, PostgresServer, installations

from firsthand import moment
from firsthand.health import stages
from firsthand.health.doctor import INSIDE
from firsthand.health.report import Severity, Stage
from firsthand.health.stages import Inside
from firsthand.log.postgres import condition
from firsthand.log.postgres.condition import concerns
from firsthand.log.postgres.log import make
from firsthand.log.postgres.schema import VERSION
from firsthand.space import Space


def named(dsn: str) -> list[tuple[str, str]]:
    with psycopg.connect(dsn, autocommit=True) as db:
        return [(concern.severity, concern.what) for concern in concerns(db)]


def test_a_server_as_it_should_be_is_healthy(server, dsn) -> None:
    """The application's role on a store of this version, with PostgreSQL's own settings: nothing to say."""
    assert named(dsn) == []


@pytest.mark.parametrize(
    ("fault", "severity", "expected"),
    [
        ("ALTER TABLE firsthand.event FORCE ROW LEVEL SECURITY", "broken", "firsthand.event binds its owner"),
        ("ALTER TABLE firsthand.event DISABLE ROW LEVEL SECURITY", "broken", "firsthand.event is off"),
        ("INSERT INTO firsthand.version VALUES (99, now())", "degraded", f"version 99, this one knows {VERSION}"),
        (f"ALTER ROLE {APPLICATION} BYPASSRLS", "degraded", f"the role {APPLICATION} has BYPASSRLS"),
        (f"ALTER ROLE {APPLICATION} SUPERUSER", "degraded", f"the role {APPLICATION} is a superuser"),
        (f"GRANT {OWNER} TO {APPLICATION}", "degraded", f"the role {APPLICATION} owns the store"),
        (
            f"ALTER ROLE {APPLICATION} SET synchronous_commit = off", "degraded", "synchronous_commit is off",
        ),
    ],
)  # fmt: skip
def test_each_fault_of_a_store_is_named(server, database, dsn, fault, severity, expected) -> None:
    """What was changed is named, with its severity, and nothing beside it."""
    with psycopg.connect(server.dsn("postgres", database), autocommit=True) as db:
        db.execute(fault)
        try:
            (concern,) = named(dsn)
        finally:
            db.execute(f"ALTER ROLE {APPLICATION} NOSUPERUSER NOBYPASSRLS")
            db.execute(f"ALTER ROLE {APPLICATION} RESET synchronous_commit")
            db.execute(f"REVOKE {OWNER} FROM {APPLICATION}")
    assert (concern[0], expected in concern[1]) == (severity, True), concern


def test_the_owner_is_told_apart(server, database) -> None:
    """A server that connects as the owner is told that no row-level security binds it."""
    ((severity, what),) = named(server.dsn(OWNER, database))
    assert (severity, what.split(":")[0]) == ("degraded", "the role owner owns the store")


def test_a_server_that_does_not_sync_is_broken() -> None:
    """Fsync and full_page_writes that are off are named: what is acknowledged there is not durable."""
    server = PostgresServer(installations()["embedded"], fsync="off", full_page_writes="off")
    try:
        make(server.dsn(OWNER))
        broken = [what.split(":")[0] for severity, what in named(server.dsn(OWNER)) if severity == "broken"]
    finally:
        server.close()
    assert sorted(broken) == ["fsync is off", "full_page_writes is off"]


def test_a_standby_far_behind_is_named(dsn, monkeypatch) -> None:
    """A standby beyond the bounds is named with how much a failover to it would lose."""
    standby = "SELECT 'left', 61.0, 5 * 1048576.0"
    monkeypatch.setattr(condition, "_STANDBYS", standby)
    assert named(dsn) == [("degraded", "left is 61 s and 5 MiB behind: a failover to it would lose that")]


def test_doctor_shows_them(server, database, tmp_path, monkeypatch) -> None:
    """What is wrong with the server stands among the findings of the stage store, with what to type."""
    for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    with psycopg.connect(server.dsn("postgres", database), autocommit=True) as db:
        db.execute("ALTER TABLE firsthand.session FORCE ROW LEVEL SECURITY")
    with Space(f"postgresql://{APPLICATION}@/{database}?host={server.folder}") as space:
        (finding,) = stages.server(Inside(space, moment.now()))
        assert (finding.stage, finding.severity) == (Stage.STORE, Severity.BROKEN)
        assert finding.mend == "ALTER TABLE firsthand.session NO FORCE ROW LEVEL SECURITY"
        assert (Stage.STORE, stages.server) in INSIDE
