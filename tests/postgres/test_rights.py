"""What the application's role may do in the database itself, by SQL of its own: its tenant's rows, and the functions.

Row-level security holds against forgetful code, and not against whoever runs SQL as the application: the role names
the tenant itself. What a person may do is decided by the server's grants (docs/teams.md).
"""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from empty_stores import make_database
from postgres_server import OWNER

from firsthand.event import Draft, Kind
from firsthand.log.postgres.log import PostgresLog
from firsthand.log.postgres.reader import number_of

OURS, THEIRS = "ours", "theirs"
CANARY = "canary of theirs"
WHOLE = {"store", "version"}
"""Tables of the store as a whole, which the application may read."""


@pytest.fixture(scope="module")
def filled(server) -> Iterator[str]:
    """A database in which two namespaces have events, a large payload and an erased one."""
    name = make_database(server)
    log = PostgresLog(server.dsn(database=name))
    for namespace in (OURS, THEIRS):
        appended = log.append(
            [
                Draft(Kind.USER_MESSAGE, f"canary of {namespace}".encode(), agent=f"agent of {namespace}"),
                Draft(Kind.TOOL_RESULT, f"canary of {namespace}".encode() * 5_000),
                Draft(Kind.NOTE, b"erased"),
            ],
            namespace=namespace, session=f"session of {namespace}",
        )  # fmt: skip
        log.erase(namespace, [appended[2].id])
    with psycopg.connect(server.dsn("postgres", name), autocommit=True) as db:
        db.execute("ANALYZE")
    yield name
    for namespace in (OURS, THEIRS):
        assert log.verify(namespace=namespace).problems == ()
    log.close()


@pytest.fixture
def db(server, filled) -> Iterator[psycopg.Connection]:
    """A connection of the application that has named no tenant."""
    with psycopg.connect(server.dsn(database=filled), autocommit=True) as connection:
        connection.execute("SET search_path = firsthand, pg_temp")
        yield connection


def tables(db: psycopg.Connection) -> list[str]:
    """Name every table, view and sequence of the store."""
    sql = (
        "SELECT relname FROM pg_class WHERE relnamespace = 'firsthand'::regnamespace "
        "AND relkind IN ('r', 'p', 'v', 'm', 'S')"
    )
    return sorted(row[0] for row in db.execute(sql).fetchall())


def readable(db: psycopg.Connection) -> list[str]:
    """Name those that the application may read."""
    sql = "SELECT has_table_privilege(current_user, %s, 'SELECT')"
    return [name for name in tables(db) if db.execute(sql, (f"firsthand.{name}",)).fetchone()[0]]


def rows(db: psycopg.Connection, table: str, where: str = "true") -> int:
    return db.execute(f"SELECT count(*) FROM {table} WHERE {where}").fetchone()[0]


def name_tenant(db: psycopg.Connection, namespace: str) -> None:
    db.execute(f"SET firsthand.namespace = '{number_of(namespace)}'")


def test_who_names_no_tenant_sees_no_row(db):
    """Every table that the application may read is empty where no tenant was named, but for those of the store.

    Fails on: a table without row-level security, a policy that takes no tenant for any.
    """
    assert {name for name in readable(db) if rows(db, name)} == WHOLE
    db.execute("SET firsthand.namespace = ''")
    assert {name for name in readable(db) if rows(db, name)} == WHOLE
    assert {"event", "session", "namespace", "artifact"} <= set(readable(db))


def test_who_names_a_tenant_sees_its_rows_alone(db):
    """Of every table only rows of the tenant that is named are there, also for a query that asks for another one's.

    Fails on: a policy on the wrong column, one that is missing on a table.
    """
    name_tenant(db, OURS)
    seen = [name for name in readable(db) if name not in WHOLE]
    for table in seen:
        assert rows(db, table, f"namespace <> {number_of(OURS)}") == 0
        assert CANARY not in str(db.execute(f"SELECT * FROM {table}").fetchall())
    assert {table for table in seen if rows(db, table)} >= {"event", "session", "namespace", "artifact", "artifact_use"}


LEAK = """
CREATE FUNCTION pg_temp.leak(word anyelement) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS
$$ BEGIN RAISE NOTICE 'leak: %', word; RETURN true; END $$
"""


def test_a_condition_is_not_shown_rows_of_others(db):
    """A cheap function in WHERE, and one that fails on a value, are run on the tenant's own rows only.

    Fails on: tables that are read by a view or a function without a barrier.
    """
    notices: list[str] = []
    db.add_notice_handler(lambda notice: notices.append(str(notice.message_primary)))
    name_tenant(db, OURS)
    db.execute(LEAK)
    assert rows(db, "session", "pg_temp.leak(name)") == 1
    assert notices
    assert not any("theirs" in notice for notice in notices)
    assert rows(db, "session", "1 / (CASE WHEN name LIKE '%theirs%' THEN 0 ELSE 1 END) = 1") == 1
    sql = "SELECT count(*) FROM pg_stats WHERE schemaname = 'firsthand' AND tablename <> ALL (%s)"
    assert db.execute(sql, ([*WHOLE],)).fetchone()[0] == 0


def test_nothing_is_changed_but_by_the_functions(db):
    """INSERT, UPDATE, DELETE and TRUNCATE are refused on every table, for the tenant that is named too.

    Fails on: a right that a table grants beside SELECT.
    """
    name_tenant(db, OURS)
    for table in tables(db):
        column = db.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum = 1", (f"firsthand.{table}",)
        ).fetchone()[0]
        for change in (
            f"INSERT INTO {table} DEFAULT VALUES", f"UPDATE {table} SET {column} = {column}", f"DELETE FROM {table}",
            f"TRUNCATE {table}", f"SELECT * FROM {table} FOR UPDATE",
        ):  # fmt: skip
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                db.execute(change)


@pytest.mark.parametrize(
    "statement",
    [
        f"SET ROLE {OWNER}", f"SET SESSION AUTHORIZATION {OWNER}", "SET ROLE postgres",
        "ALTER TABLE event DISABLE ROW LEVEL SECURITY", "ALTER TABLE event ADD COLUMN x int", "DROP TABLE event",
        "DROP POLICY tenant ON event", "CREATE POLICY p ON event USING (true)", "CREATE TABLE firsthand.x (y int)",
        "CREATE TABLE public.x (y int)", "ALTER ROLE application BYPASSRLS", "ALTER ROLE application SUPERUSER",
        "CREATE FUNCTION firsthand.x() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "ALTER FUNCTION hold_1 RESET ALL", "COPY event TO PROGRAM 'cat'", "COPY event TO '/tmp/x'",
        "COPY event FROM '/tmp/x'", "SELECT pg_read_file('/etc/passwd')", "SELECT lo_import('/etc/passwd')",
        "SELECT pg_ls_dir('.')", "CREATE EXTENSION dblink", "SELECT * FROM pg_authid", "SELECT * FROM pg_statistic",
        "REINDEX TABLE event", "CREATE TRIGGER t AFTER INSERT ON event EXECUTE FUNCTION x()",
    ],
)  # fmt: skip
def test_no_other_way_leads_around_the_rights(db, statement):
    """Other roles, other definitions, files and programs of the server are refused.

    Fails on: a role with more rights than its functions, a schema that others may create in.
    """
    with pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.InvalidParameterValue)):
        db.execute(statement)


def test_security_that_is_switched_off_shows_nothing(db):
    """With row_security = off a query is refused instead of answered with all rows."""
    name_tenant(db, OURS)
    db.execute("SET row_security = off")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        db.execute("SELECT * FROM event")


def test_functions_of_the_owner_read_no_table_of_the_callers(db):
    """Every function that runs with the owner's rights looks for names in the store's schema first, and nobody else's.

    Fails on: a function without a search_path of its own, which a temporary table could deceive.
    """
    sql = "SELECT proname, proconfig FROM pg_proc WHERE pronamespace = 'firsthand'::regnamespace AND prosecdef"
    functions = dict(db.execute(sql).fetchall())
    assert {"append_1", "erase_1", "hold_1"} <= functions.keys()
    assert {name: config for name, config in functions.items() if config[0] != "search_path=firsthand, pg_temp"} == {}
    assert {setting for config in functions.values() for setting in config[1:]} <= {"lock_timeout=200ms"}


def test_no_function_is_everybodys(server, filled):
    """A role that is no member of the application's may not even name the schema, nor call a function in it."""
    with psycopg.connect(server.dsn("postgres", filled), autocommit=True) as db:
        db.execute("DROP ROLE IF EXISTS stranger")
        db.execute("CREATE ROLE stranger LOGIN")
        sql = (
            "SELECT proname FROM pg_proc WHERE pronamespace = 'firsthand'::regnamespace "
            "AND has_function_privilege('stranger', oid, 'EXECUTE')"
        )
        assert db.execute(sql).fetchall() == []
        assert not db.execute("SELECT has_schema_privilege('stranger', 'firsthand', 'USAGE')").fetchone()[0]


def test_a_function_that_destroys_takes_the_tenant_that_was_named(db):
    """Erasing in a namespace other than the one that the transaction has named is refused, and in none that was.

    Fails on: code that mixes up two tenants in one call. (A head that is appended to has to be known: it is compared.)
    """
    for named in ("", str(number_of(OURS))):
        db.execute(f"SET firsthand.namespace = '{named}'")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            db.execute("SELECT * FROM erase_1(%s, %s)", (number_of(THEIRS), [1, 2]))
