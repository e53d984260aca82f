"""Migrations: several at once are one, a busy server goes on, an older program works until what it needs is gone."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from postgres_server import APPLICATION, OWNER

import firsthand
from firsthand.cli.cli import main
from firsthand.errors import StoreBusy, StoreNewer, StoreOlder
from firsthand.event import Draft, Kind
from firsthand.log.postgres import schema
from firsthand.log.postgres.log import PostgresLog, make
from firsthand.log.postgres.schema import MIGRATIONS, Migration, check_version, migrate, version_of

_names = itertools.count()
NEXT = len(MIGRATIONS) + 1
APPEND = re.search(r"CREATE FUNCTION append_1\(.*?END \$\$;", "".join(step.sql for step in MIGRATIONS), re.DOTALL)[0]
EXPANSION = Migration(
    NEXT, "note",
    "ALTER TABLE event ADD COLUMN note text NOT NULL DEFAULT 'before';\n"
    + APPEND.replace("append_1", "append_2").replace("salt, body)\n", "salt, body, note)\n")
    .replace("salts[1], bodies[1])", "salts[1], bodies[1], 'after')")
    .replace("row.salt, row.body\n", "row.salt, row.body, 'after'\n")
    + "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA firsthand TO firsthand_application;",
)  # fmt: skip
CONTRACTION = Migration(
    NEXT + 1, "only_notes",
    f"{APPEND.split(' RETURNS')[0].replace('CREATE', 'DROP')};"
    f"UPDATE store SET value = '\\x{NEXT + 1:02x}' WHERE key = 'writer_min';",
)  # fmt: skip
NEWER = """
import sys
from firsthand.event import Draft, Kind
from firsthand.log.postgres.log import PostgresLog, make
make(sys.argv[1])
log = PostgresLog(sys.argv[2])
log.append([Draft(Kind.NOTE, b"by the newer one")], namespace="shop", session="s")
log.close()
"""


@pytest.fixture
def database(server) -> str:
    """A database of its own, in which there is no store yet."""
    name = f"empty{next(_names)}"
    with psycopg.connect(server.dsn("postgres"), autocommit=True) as db:
        db.execute(f"CREATE DATABASE {name} OWNER {OWNER}")
        if db.execute("SELECT FROM pg_roles WHERE rolname = 'firsthand_application'").fetchone() is None:
            db.execute("CREATE ROLE firsthand_application NOLOGIN")
        db.execute(f"GRANT firsthand_application TO {APPLICATION}")
    return name


@pytest.fixture
def newer(tmp_path) -> Callable[[str, str], None]:
    """A program that is this one but for a version more: it migrates a store and appends to it."""
    package = tmp_path / "newer" / "firsthand"
    shutil.copytree(Path(firsthand.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    folder = package / "log" / "postgres"
    (folder / "migrations" / f"{NEXT:04}_note.sql").write_text(EXPANSION.sql, encoding="utf-8")
    for file in folder.glob("*.py"):
        file.write_text(file.read_text(encoding="utf-8").replace("append_1", "append_2"), encoding="utf-8")

    def run(owner: str, application: str) -> None:
        environment = os.environ | {"PYTHONPATH": str(package.parent)}
        subprocess.run([sys.executable, "-c", NEWER, owner, application], env=environment, check=True)

    return run


def append(log: PostgresLog, text: str) -> int:
    return log.append([Draft(Kind.USER_MESSAGE, text.encode())], namespace="shop", session="s")[0].position


def test_an_older_program_goes_on_while_a_newer_one_migrates(server, database, newer) -> None:
    """Writers and readers that were open, and one opened later, work through an expansion, and lose nothing."""
    make(server.dsn(OWNER, database))
    log, texts, finished = PostgresLog(server.dsn(database=database)), [], threading.Event()

    def write() -> None:
        while not finished.is_set() or not texts:
            text = f"by the older one {len(texts)}"
            append(log, text)
            texts.append(text)
            assert text in [event.text for event in log.reader.events("shop", newest_first=True, limit=2)]

    with ThreadPoolExecutor(1) as pool:
        writer = pool.submit(write)
        try:
            newer(server.dsn(OWNER, database), server.dsn(database=database))
        finally:
            finished.set()
        writer.result()
    later = PostgresLog(server.dsn(database=database))
    append(later, "by an older one that came later")
    read = [event.text for event in log.reader.events("shop")]
    assert sorted(read) == sorted([*texts, "by the newer one", "by an older one that came later"])
    with psycopg.connect(server.dsn("postgres", database)) as db:
        assert version_of(db) == NEXT
        notes = db.execute("SELECT note, count(*) FROM firsthand.event GROUP BY note ORDER BY note").fetchall()
    assert notes == [("after", 1), ("before", len(read) - 1)]
    assert log.verify(namespace="shop").ok
    log.close()
    later.close()


def test_an_older_program_is_refused_in_words_after_a_contraction(server, database) -> None:
    """When its function is gone, an open handle's append says to upgrade; it reads on, and a new one only reads."""
    make(server.dsn(OWNER, database))
    log = PostgresLog(server.dsn(database=database))
    append(log, "early")
    with psycopg.connect(server.dsn(OWNER, database), autocommit=True) as db:
        done = list(migrate(db, {}, [*MIGRATIONS, EXPANSION, CONTRACTION]))
    assert [step.number for step in done] == [NEXT, NEXT + 1]
    later = PostgresLog(server.dsn(database=database))
    for handle in (log, later):
        with pytest.raises(StoreNewer, match=r"[Uu]pgrade it"):
            append(handle, "late")
        assert [event.text for event in handle.reader.events("shop")] == ["early"]
        assert handle.verify(namespace="shop").ok
    assert (log.newer, later.newer) == (False, True)
    with psycopg.connect(server.dsn(OWNER, database), autocommit=True) as db:
        db.execute("UPDATE firsthand.store SET value = %s WHERE key = 'reader_min'", (bytes([NEXT + 1]),))
    with pytest.raises(StoreNewer, match="Upgrade Firsthand"):
        PostgresLog(server.dsn(database=database))
    log.close()
    later.close()


def test_several_migrations_at_once_are_one(server, database) -> None:
    """Four that begin together do each step once, and all leave the store at the last version."""
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(make, [server.dsn(OWNER, database)] * 4))
    assert sorted(step.number for steps in done for step in steps) == [step.number for step in MIGRATIONS]
    with psycopg.connect(server.dsn(OWNER, database)) as db:
        assert not check_version(db)
        with pytest.raises(StoreOlder, match="firsthand store migrate"):
            check_version(db, NEXT)


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_of_another_encoding_is_refused(server, encoding, capsys) -> None:
    """A store is made in a database of UTF-8 alone, and the refusal says how to make one.

    Fails on: a store that is made, and cannot be opened, or cannot take a name of another language.
    """
    name = f"empty{next(_names)}"
    with psycopg.connect(server.dsn("postgres"), autocommit=True) as db:
        db.execute(f"CREATE DATABASE {name} OWNER {OWNER} TEMPLATE template0 ENCODING '{encoding}' LOCALE 'C'")
    assert main(["store", "migrate", server.dsn(OWNER, name)]) != 0
    assert f"is {encoding}" in (said := capsys.readouterr().err)
    assert "createdb -E UTF8 -T template0" in said
    with psycopg.connect(server.dsn(OWNER, name)) as db:
        assert version_of(db) == 0


def test_text_is_utf8_whatever_a_machine_is_set_to(server, database, monkeypatch) -> None:
    """Names of any language are taken and read whatever environment, database and address say of encodings.

    Fails on: a connection that takes its encoding from PGCLIENTENCODING.
    """
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    make(server.dsn(OWNER, database))
    with psycopg.connect(server.dsn("postgres"), autocommit=True) as db:
        db.execute(f"ALTER DATABASE {database} SET client_encoding = LATIN1")
    log = PostgresLog(f"{server.dsn(database=database)} client_encoding=SQL_ASCII")
    log.append([Draft(Kind.NOTE, "\u65e5\u672c".encode())], namespace="\u65e5\u672c", session="\u041f")
    assert [event.session for event in log.reader.events("\u65e5\u672c")] == ["\u041f"]
    log.close()


def test_a_step_that_fails_leaves_the_version_before_it(server, database) -> None:
    """A step whose last statement fails leaves nothing of itself, and can be run again."""
    make(server.dsn(OWNER, database))
    broken = Migration(NEXT, "broken", "CREATE TABLE half (a integer); SELECT 1 / 0;")
    with psycopg.connect(server.dsn(OWNER, database), autocommit=True) as db:
        with pytest.raises(psycopg.errors.DivisionByZero):
            list(migrate(db, {}, [*MIGRATIONS, broken]))
        assert version_of(db) == len(MIGRATIONS)
        assert db.execute("SELECT to_regclass('firsthand.half')").fetchone() == (None,)
        assert [step.number for step in migrate(db, {}, [*MIGRATIONS, EXPANSION])] == [NEXT]


def test_a_migration_does_not_freeze_a_busy_server(server, database, monkeypatch) -> None:
    """While a long read keeps a step from its table, appends go on between its attempts, and it gives up in words."""
    monkeypatch.setattr(schema, "LOCK_TIMEOUT_MS", 50)
    monkeypatch.setattr(schema, "TRIES_MAX", 3)
    make(server.dsn(OWNER, database))
    log = PostgresLog(server.dsn(database=database))
    append(log, "before")
    with (
        psycopg.connect(server.dsn("postgres", database)) as reader,
        psycopg.connect(server.dsn(OWNER, database), autocommit=True) as db,
        ThreadPoolExecutor(1) as pool,
    ):
        reader.execute("SELECT count(*) FROM firsthand.event")  # its transaction stays open
        migration = pool.submit(lambda: list(migrate(db, {}, [*MIGRATIONS, EXPANSION])))
        assert append(log, "meanwhile") == 2
        with pytest.raises(StoreBusy, match="at each of 3 attempts"):
            migration.result()
    assert append(log, "after") == 3
    assert log.verify(namespace="shop").ok
    log.close()


def test_the_command_says_what_it_did(server, database, capsys) -> None:
    """`store migrate` names each step, and says so when there is none; the application's role may not."""
    address = server.dsn(OWNER, database)
    assert main(["store", "migrate", address]) == 0
    expected = "".join(f"migrated to version {step.number}: {step.name}\n" for step in MIGRATIONS)
    assert capsys.readouterr().out == expected
    assert main(["store", "migrate", address]) == 0
    assert capsys.readouterr().out == "the store is of this version already\n"
