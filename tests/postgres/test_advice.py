"""What commands of a store in PostgreSQL refuse on a server: what was expected, what came, and what to type next."""

from __future__ import annotations

import itertools
import json
import logging
import shlex

import psycopg
import pytest
from postgres_server import APPLICATION, OWNER
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from firsthand import Memory
from firsthand.cli.cli import main
from firsthand.errors import StoreNewer, StoreReadOnly
from firsthand.log.postgres.roles import address as address_of
from firsthand.log.postgres.roles import check_member
from firsthand.log.postgres.schema import VERSION, check_version

_numbers = itertools.count()


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run a command as a user whose folders are empty; give its exit code and what it said."""
    for name in ("DATA", "CACHE", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))

    def command(*words: str) -> tuple[int, str]:
        code = main(words)
        said = capsys.readouterr()
        return code, said.out + said.err

    return command


@pytest.fixture
def bare(server) -> str:
    """The name of a database without a store."""
    name = f"bare{next(_numbers)}"
    with psycopg.connect(server.dsn("postgres"), autocommit=True) as db:
        db.execute(f"CREATE DATABASE {name} OWNER {OWNER}")
    return name


def address(server, database: str, role: str = OWNER) -> str:
    return f"postgresql://{role}@/{database}?host={server.folder}"


@pytest.mark.parametrize(
    "words",
    [
        ("migrate",), ("distribute",), ("key", "--postgres"), ("grant", "--postgres"), ("limit", "--postgres"),
        ("key", "ann", "--postgres"), ("move", "shop", "--to", "postgresql:///x", "--from"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_what_the_owner_does_names_the_owner_to_another_role(server, database, run, words) -> None:
    """The application's role gets no empty list and no word of tables, but the owner's address."""
    code, said = run("store", *words, address(server, database, APPLICATION))
    assert code == 5, said
    assert f"expected the role that owns the store, '{OWNER}'; '{APPLICATION}' asked" in said
    assert address(server, database) in said


def test_a_role_that_is_no_member_reads_how_the_owner_lets_it_in(server, database, run) -> None:
    """The command that grants is there as a whole."""
    with psycopg.connect(server.dsn("postgres"), autocommit=True) as db:
        db.execute(f"REVOKE firsthand_application FROM {APPLICATION}")
    try:
        code, said = run("--store", address(server, database, APPLICATION), "recall", "lamp")
    finally:
        with psycopg.connect(server.dsn("postgres"), autocommit=True) as db:
            db.execute(f"GRANT firsthand_application TO {APPLICATION}")
    assert code == 5
    assert f"psql '{address(server, database)}' -c 'GRANT firsthand_application TO \"{APPLICATION}\"'" in said


@pytest.mark.parametrize("name", ['we"ird', "a/b c"])
def test_a_role_of_any_name_reads_commands_that_work(server, database, name) -> None:
    """Names are quoted as SQL and addresses want it, and how the connection is secured stays in the address."""
    quoted = name.replace('"', '""')
    with psycopg.connect(server.dsn("postgres", database), autocommit=True) as db:
        db.execute(f'CREATE ROLE "{quoted}" LOGIN')
    given = make_conninfo(server.dsn("postgres", database), user=name, password="hush", sslmode="disable")
    with psycopg.connect(given) as db, pytest.raises(StoreReadOnly) as caught:
        check_member(db)
    psql, owner, _, grant = shlex.split(str(caught.value).partition("run: ")[2])
    assert psql == "psql"
    assert conninfo_to_dict(owner)["sslmode"] == "disable"
    assert "hush" not in str(caught.value)
    with psycopg.connect(owner) as db:
        assert db.info.user == OWNER
    with psycopg.connect(server.dsn("postgres", database), autocommit=True) as db:
        db.execute(grant)
    with psycopg.connect(given) as db:
        check_member(db)
        with psycopg.connect(address_of(db, name)) as again:
            assert again.info.user == name


class Info:
    """What a connection over IPv6 says of itself, on any machine."""

    host, port, dbname = "fe80::1", 5433, "a/b"

    def get_parameters(self):
        return {"sslmode": "verify-full", "sslpassword": "hush", "options": "-c x=y", "sslrootcert": "/etc/my ca.pem"}


def test_an_address_of_ipv6_is_one_that_libpq_reads() -> None:
    """Its host is bracketed; no secret is in it."""

    class Connection:
        info = Info()

    assert conninfo_to_dict(address_of(Connection(), "ann")) == {
        "host": "fe80::1", "port": "5433", "dbname": "a/b", "user": "ann", "sslmode": "verify-full",
        "sslrootcert": "/etc/my ca.pem",
    }  # fmt: skip


def test_a_database_without_a_store_is_told_the_command_that_makes_one(server, bare, run) -> None:
    """Whoever asks, the command names the database's owner."""
    code, said = run("--store", address(server, bare, APPLICATION), "recall", "lamp")
    assert code == 5
    assert f"'{bare}'; it holds no store. As its owner, run: firsthand store migrate '{address(server, bare)}'" in said


def test_a_store_that_wants_a_newer_version_says_which(server, database) -> None:
    """What counts is the version that reading it takes, which is not that of the store."""
    with psycopg.connect(server.dsn(OWNER, database), autocommit=True) as db:
        wanted = (VERSION + 3).to_bytes(8, "big")
        db.execute("UPDATE firsthand.store SET value = %s WHERE key = 'reader_min'", (wanted,))
        db.execute("INSERT INTO firsthand.version VALUES (%s, now())", (VERSION + 5,))
        said = f"version {VERSION} can read; this one, of version {VERSION + 5}, wants version {VERSION + 3}"
        with pytest.raises(StoreNewer, match=said):
            check_version(db)


def test_a_move_says_how_its_target_is_made(server, database, bare, other_dsn, run) -> None:
    """A target without a store, with one of its own, the source itself, and an unknown namespace are told apart."""
    source, target = address(server, database), address(server, bare)
    words = "store", "move", "shop", "--from", source, "--to"
    assert f"firsthand store migrate '{target}' --beside '{source}'" in run(*words, target)[1]
    assert "expected two primaries" in run(*words, source)[1]
    other = other_dsn.replace(f"user={APPLICATION}", f"user={OWNER}")
    assert "has a store of its own" in run(*words, other)[1]
    assert "has a store of its own" in run("store", "migrate", other, "--beside", source)[1]
    assert run("store", "migrate", target, "--beside", source)[0] == 0
    code, said = run(*words, target)
    assert code == 1
    assert f"firsthand store limit --postgres '{source}'" in said


def test_what_a_migration_chooses_is_told(server, bare, run) -> None:
    """A choice that changes no version is not answered as if nothing had been done."""
    code, said = run("store", "migrate", address(server, bare), "--encrypt", "--retention-days", "30")
    assert code == 0
    assert "encrypted" in said
    assert "30 days" in run("store", "migrate", address(server, bare), "--retention-days", "30")[1]


def test_a_grant_and_a_limit_say_what_they_lack(server, database, run) -> None:
    """Options are named as they are typed."""
    owner = "--postgres", address(server, database)
    assert "firsthand store grant ann NAMESPACE read" in run("store", "grant", "ann", *owner)[1]
    assert "--day-events N" in run("store", "limit", "shop", *owner)[1]
    assert "firsthand store key --postgres" in run("store", "key", "--revoke", "fhk_1", *owner)[1]


def test_copies_and_sizes_at_an_address_say_what_they_hold(server, database, run, tmp_path) -> None:
    """A backup names its one namespace and the way to the whole; a size counts no log that is elsewhere."""
    named = address(server, database, APPLICATION)
    store = "--store", named
    assert run(*store, "session", "append", "the lamp is green", "--session", "s")[0] == 0
    code, said = run(*store, "store", "backup", str(tmp_path / "copy"))
    assert code == 0
    assert "copied namespace default alone" in said
    assert "pg_dump" in said
    code, said = run(*store, "store", "size")
    assert f"store       {named}" in said
    assert "what PostgreSQL takes is not counted here" in said
    names = {part["name"] for part in json.loads(run(*store, "--json", "store", "size")[1])["parts"]}
    assert names == {"agents", "hooks", "other", "replicas"}
    code, said = run(*store, "store", "export", str(tmp_path / "all"), "--all")
    assert "pg_dump" in said
    code, said = run(*store, "store", "export", str(tmp_path / "some"), "--salvage")
    assert code == 5
    assert "is in PostgreSQL" in said
    assert f"of {named}; it may" in run(*store, "show", "fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY")[1]
    assert run(*store, "store", "verify")[0] == 0


def test_the_driver_prints_nothing_of_its_own(server, database, tmp_path, monkeypatch, capsys) -> None:
    """What psycopg and its pool log of a server that is away reaches no terminal; a program's own handlers get it."""
    for name in ("DATA", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    with Memory(address(server, database, APPLICATION), embedder="none"):
        logger = logging.getLogger("psycopg")
        assert any(isinstance(handler, logging.NullHandler) for handler in logger.handlers)
        assert logger.propagate
    assert capsys.readouterr().err == ""
