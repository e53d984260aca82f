"""Every store that a test makes by a path, in PostgreSQL instead: one database a path, followed into that folder."""

from __future__ import annotations

import atexit
import itertools
import os
from pathlib import Path
from typing import Any

import psycopg
from postgres_server import APPLICATION, OWNER, PostgresServer, installations

from firsthand import environment
from firsthand.errors import NotAStore
from firsthand.log.postgres.log import PostgresLog, make
from firsthand.log.postgres.replica import ReplicatedLog
from firsthand.space import Space

_numbers = itertools.count()
_databases: dict[Path, str] = {}
_server: list[PostgresServer] = []


def install() -> None:
    """Let `Space` open its stores in PostgreSQL for the rest of the process."""
    server = PostgresServer(installations()[os.environ["FIRSTHAND_TEST_POSTGRES"]], fsync="off")
    _server.append(server)
    atexit.register(server.close)
    make(server.dsn(OWNER))
    with psycopg.connect(server.dsn("postgres"), autocommit=True) as db:
        db.execute(f"GRANT firsthand_application TO {APPLICATION}")

    def opened(self: Space, path: Any, *, create: bool = True, **options: Any) -> Any:
        root = Path(path).absolute()
        if root not in _databases:
            if not create or options.get("read_only"):
                raise NotAStore(
                    f"there is no store in {root}; make one with 'firsthand import' or Memory({str(root)!r})."
                )
            name = _databases[root] = f"store{next(_numbers)}"
            with psycopg.connect(server.dsn("postgres"), autocommit=True) as db:
                db.execute(f"CREATE DATABASE {name} OWNER {OWNER} TEMPLATE store")
            with psycopg.connect(server.dsn("postgres", name), autocommit=True) as db:
                db.execute("UPDATE firsthand.store SET value = decode(md5(%s), 'hex') WHERE key = 'uuid'", (name,))
        return ReplicatedLog(PostgresLog(server.dsn(database=_databases[root])), self.namespace, root, **options)

    Space._opened = opened  # type: ignore[method-assign]
    environment.heads_folder()
