"""A store taken back to a point in time (docs/backup-postgres.md): by pgBackRest where it is installed, and by hand."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from log_suite import NAMESPACE, user
from postgres_server import OWNER, PostgresServer, installations

from firsthand.log.postgres.log import PostgresLog, make

CONFIGURATION = """
[global]
repo1-path={folder}/repository
repo1-retention-full=2
lock-path={folder}/lock
log-path={folder}/log
spool-path={folder}/spool
log-level-console=warn
log-level-file=off
compress-type=gz
start-fast=y

[main]
pg1-path={data}
pg1-socket-path={socket}
pg1-user=postgres
"""


class Archive(ABC):
    """A server whose log is archived, its backup, and what is restored of both."""

    def __init__(self, programs: Path) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="firsthand-archive-"))
        if os.geteuid() == 0:
            shutil.chown(self.folder, "nobody")
        self.server = PostgresServer(programs, fsync="off", wal_level="replica", archive_mode="on", **self.archiving())
        self.programs = programs

    @abstractmethod
    def archiving(self) -> dict[str, str]:
        """Give the settings by which the server archives its log."""

    @abstractmethod
    def backup(self) -> None:
        """Take a backup of all."""

    @abstractmethod
    def restore(self, target: str) -> Path:
        """Lay the files of the backup out, to go on to a point in time when they are started."""

    def finish(self) -> None:
        """Wait until all of the log that there is lies in the archive."""
        with psycopg.connect(self.server.dsn("postgres"), autocommit=True) as db:
            (last,) = db.execute("SELECT pg_walfile_name(pg_switch_wal() - 1)").fetchone()
            for _ in range(600):
                if db.execute("SELECT last_archived_wal >= %s FROM pg_stat_archiver", (last,)).fetchone() == (True,):
                    return
                time.sleep(0.05)
        raise AssertionError("the log was not archived")

    def run(self, *command: str | Path) -> None:
        """Run a program as the server's user."""
        run = subprocess.run(command, user=self.server._user, cwd="/", capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stdout + run.stderr

    def close(self) -> None:
        """Stop the server and remove what was kept."""
        self.server.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class ByHand(Archive):
    """pg_basebackup, and a command that copies each file of the log."""

    def archiving(self) -> dict[str, str]:
        return {"archive_command": f"'cp %p {self.folder}/%f'"}

    def backup(self) -> None:
        self.files = self.server.backup()

    def restore(self, target: str) -> Path:
        with (self.files / "postgresql.auto.conf").open("a", encoding="utf-8") as out:
            out.write(f"restore_command = 'cp {self.folder}/%f %p'\nrecovery_target_time = '{target}'\n")
            out.write("recovery_target_action = 'promote'\n")
        (self.files / "recovery.signal").touch()
        return self.files


class PgBackRest(Archive):
    """As docs/backup-postgres.md says."""

    def archiving(self) -> dict[str, str]:
        return {"archive_command": f"'pgbackrest --config={self.folder}/pgbackrest.conf --stanza=main archive-push %p'"}

    def backup(self) -> None:
        data = self.server.folder / "data"
        text = CONFIGURATION.format(folder=self.folder, data=data, socket=self.server.folder)
        (self.folder / "pgbackrest.conf").write_text(text, encoding="utf-8")
        for verb in ("stanza-create", "check", "backup"):
            self.pgbackrest(verb)
        time.sleep(1.1)  # it knows when a backup ended to the second, and looks for one that ended before the target

    def restore(self, target: str) -> Path:
        files = self.folder / "restored"
        fetch = f'pgbackrest --config={self.folder}/pgbackrest.conf --stanza=main --pg1-path="$PWD" archive-get %f "%p"'
        self.pgbackrest(
            "restore", "--type=time", f"--target={target}", "--target-action=promote", f"--pg1-path={files}",
            f"--recovery-option=restore_command={fetch}",
        )  # fmt: skip
        return files

    def pgbackrest(self, verb: str, *options: str) -> None:
        self.run("pgbackrest", f"--config={self.folder}/pgbackrest.conf", "--stanza=main", *options, verb)


@pytest.fixture(params=[ByHand, PgBackRest])
def archive(request) -> Iterator[Archive]:
    there = installations()
    if request.param is PgBackRest and ("15" not in there or shutil.which("pgbackrest") is None):
        pytest.skip("Debian's pgbackrest is not installed")
    archive = request.param(there["15" if request.param is PgBackRest else "embedded"])
    yield archive
    archive.close()


def restored(archive: Archive, target: str) -> PostgresServer:
    """Start a server on a backup, and wait until it has come to the point in time and takes writes."""
    server = PostgresServer(archive.programs, copy_of=archive.restore(target), archive_mode="off", archive_command="''")
    with psycopg.connect(server.dsn("postgres"), autocommit=True) as db:
        for _ in range(600):
            if db.execute("SELECT pg_is_in_recovery()").fetchone() == (False,):
                return server
            time.sleep(0.05)
    raise AssertionError((server.folder / "log").read_text(encoding="utf-8")[-2_000:])


def test_a_head_that_was_kept_shows_what_a_restore_lost(archive, tmp_path) -> None:
    """Up to the point in time all is there and whole; who has seen a later head learns that it is gone."""
    keys = str(tmp_path / "keys")
    make(archive.server.dsn(OWNER), encrypted=True)
    with psycopg.connect(archive.server.dsn("postgres"), autocommit=True) as db:
        db.execute("GRANT firsthand_application TO application")
    log = PostgresLog(archive.server.dsn(), keys=keys)
    log.append([user("in the backup")], namespace=NAMESPACE, session="s")
    archive.backup()
    (secret,) = log.append([user("secret")], namespace=NAMESPACE, session="s")
    log.append([user("in the archive")], namespace=NAMESPACE, session="s")
    before = log.verify(namespace=NAMESPACE).head
    with psycopg.connect(archive.server.dsn("postgres"), autocommit=True) as db:
        (target,) = db.execute("SELECT clock_timestamp()::text").fetchone()
    time.sleep(0.1)
    log.append([user("too late")], namespace=NAMESPACE, session="s")
    log.erase(NAMESPACE, [secret.id])
    after = log.verify(namespace=NAMESPACE).head
    archive.finish()
    log.close()
    server = restored(archive, target)
    try:
        back = PostgresLog(server.dsn(), keys=keys)
        texts = [event.text for event in back.reader.events(NAMESPACE)]
        assert texts == ["in the backup", "", "in the archive"]
        verified = back.verify(namespace=NAMESPACE, heads=[before])
        assert (verified.head, [problem.id for problem in verified.problems]) == (before, [secret.id])
        lost = [str(problem) for problem in back.verify(namespace=NAMESPACE, heads=[after]).problems]
        assert any("ends before it" in problem for problem in lost)
        back.append([user("another")], namespace=NAMESPACE, session="s")
        assert back.reader.event_at(NAMESPACE, 4).text == "another"
        back.close()
    finally:
        server.close()
