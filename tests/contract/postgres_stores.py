"""Every store that a test makes by a path, in PostgreSQL instead: one database a path, which holds its address."""

from __future__ import annotations

import atexit
import itertools
import os
import shutil
from pathlib import Path
from typing import Any

import psycopg
from postgres_server import APPLICATION, OWNER, PostgresServer, installations

from firsthand import environment
from firsthand.log.disk import make_private
from firsthand.log.postgres.log import make
from firsthand.space import Space

_numbers = itertools.count()
_server: list[PostgresServer] = []


def install() -> None:
    """Let `Space` open its stores in PostgreSQL for the rest of the process."""
    server = PostgresServer(installations()[os.environ["FIRSTHAND_TEST_POSTGRES"]], fsync="off")
    _server.append(server)
    atexit.register(server.close)
    make(server.dsn(OWNER))
    with psycopg.connect(server.dsn("postgres"), autocommit=True) as db:
        db.execute(f"GRANT firsthand_application TO {APPLICATION}")

    os.environ["XDG_CACHE_HOME"] = str(server.folder.with_suffix(".cache"))
    atexit.register(shutil.rmtree, os.environ["XDG_CACHE_HOME"], ignore_errors=True)
    plainly = Space._opened

    def opened(self: Space, path: Any, *, create: bool = True, **options: Any) -> Any:
        home = path if isinstance(path, (str, os.PathLike)) and str(path) and "\0" not in str(path) else None
        if home is not None and not environment.is_address(home) and create and not options.get("read_only"):
            home = Path(home)
            if not home.exists() or (home.is_dir() and not any(home.iterdir())):
                make_private(home)
                (home / environment.ADDRESS_FILE).write_text(_new_database(server), encoding="utf-8")
        return plainly(self, path, create=create, **options)

    Space._opened = opened  # type: ignore[method-assign]


def _new_database(server: PostgresServer) -> str:
    name = f"store{next(_numbers)}"
    with psycopg.connect(server.dsn("postgres"), autocommit=True) as db:
        db.execute(f"CREATE DATABASE {name} OWNER {OWNER} TEMPLATE store")
    with psycopg.connect(server.dsn("postgres", name), autocommit=True) as db:
        db.execute("UPDATE firsthand.store SET value = decode(md5(%s), 'hex') WHERE key = 'uuid'", (name,))
    return server.dsn(database=name)
