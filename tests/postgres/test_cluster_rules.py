"""The schema keeps to what a cluster distributed by namespace can do, and no function touches another tenant's rows."""

from __future__ import annotations

import re
from collections.abc import Iterator

import psycopg
import pytest
from postgres_server import OWNER

from firsthand.errors import InvalidArgument
from firsthand.event import Draft, Kind
from firsthand.log.postgres import citus
from firsthand.log.postgres.log import PostgresLog, distribute
from firsthand.log.postgres.reader import number_of
from firsthand.log.postgres.roles import SCHEMA
from firsthand.log.postgres.schema import REFERENCE

TABLES = f"SELECT oid, relname FROM pg_class WHERE relnamespace = '{SCHEMA}'::regnamespace AND relkind IN ('r', 'p')"
COLUMNS = """SELECT attname, atttypid::regtype::text, attidentity <> '', coalesce(pg_get_expr(adbin, adrelid), '')
  FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped ORDER BY attnum"""
INDEXES = """SELECT i.indexrelid::regclass::text, a.attname FROM pg_index i
  LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] WHERE i.indrelid = %s"""
FOREIGN_KEYS = "SELECT conname FROM pg_constraint WHERE conrelid = %s AND contype = 'f'"
POLICIES = """SELECT relrowsecurity, relforcerowsecurity, coalesce(string_agg(pg_get_expr(polqual, polrelid), ' '), '')
  FROM pg_class LEFT JOIN pg_policy ON polrelid = pg_class.oid WHERE pg_class.oid = %s GROUP BY 1, 2"""
FUNCTIONS = f"""SELECT proname, coalesce(proargnames[1] = 'of_namespace' AND proargtypes[0] = 'bigint'::regtype, false),
    prosrc, prosecdef, coalesce(proconfig::text, ''), coalesce(proacl::text, '=X')
  FROM pg_proc WHERE pronamespace = '{SCHEMA}'::regnamespace"""
NOT_ON_NODES = re.compile(r"\b(nextval|currval|txid_\w+|pg_current_\w+|pg_snapshot\w*|xmin|xmax|ctid)\b")
"""What has another value on each node."""


def violations(db: psycopg.Connection) -> Iterator[str]:
    """Yield what a cluster could not keep to."""
    tables = db.execute(TABLES).fetchall()
    tenants = [name for _, name in tables if name not in REFERENCE]
    for oid, name in tables:
        columns = db.execute(COLUMNS, (oid,)).fetchall()
        if any(identity or NOT_ON_NODES.search(default) for _, _, identity, default in columns):
            yield f"{name}: numbers itself"
        if any(kind in {"xid", "xid8", "pg_snapshot", "tid"} for _, kind, _, _ in columns):
            yield f"{name}: depends on a node's transactions"
        if db.execute(FOREIGN_KEYS, (oid,)).fetchall():
            yield f"{name}: refers to rows that may be on another node"
        if name in REFERENCE:
            continue
        if columns[0][:2] != ("namespace", "bigint"):
            yield f"{name}: does not begin with the namespace, and is not a reference table"
        for index, first in db.execute(INDEXES, (oid,)).fetchall():
            if first != "namespace":
                yield f"{name}: its index {index} does not begin with the namespace"
        enabled, forced, policy = db.execute(POLICIES, (oid,)).fetchone()
        if not enabled or "firsthand.namespace" not in policy:
            yield f"{name}: is not bound to one namespace"
        if forced:
            yield f"{name}: binds its owner, whose moves of shards would lose rows"
    for name, is_tenants, source, definer, settings, rights in db.execute(FUNCTIONS).fetchall():
        if NOT_ON_NODES.search(source):
            yield f"{name}: depends on a node"
        if not is_tenants and re.search(rf"\b(FROM|JOIN|INTO|UPDATE) ({'|'.join(tenants)})\b", source):
            yield f"{name}: reads tenants, and does not take the namespace first"
        if definer and "search_path" not in settings:
            yield f"{name}: runs as its owner with the caller's search_path"
        if re.search(r"(^|[{,])=X", rights):
            yield f"{name}: anybody may call it"


def test_the_schema_can_be_distributed_by_namespace(server, database) -> None:
    """Each key, index, policy and function begins with the namespace, and nothing depends on one node's counters."""
    with psycopg.connect(server.dsn(OWNER, database)) as db:
        assert list(violations(db)) == []


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("CREATE UNIQUE INDEX of_ids ON event (id)", "event: its index of_ids does not begin with the namespace"),
        ("CREATE TABLE rogue (id bigint PRIMARY KEY)", "rogue: does not begin with the namespace"),
        ("ALTER TABLE session ADD COLUMN number bigserial", "session: numbers itself"),
        (
            "ALTER TABLE event ADD FOREIGN KEY (namespace, session) REFERENCES session (namespace, session)",
            "event: refers to rows",
        ),
        ("ALTER TABLE event ADD COLUMN made xid8 DEFAULT pg_current_xact_id()", "event: depends on a node's"),
        ("ALTER TABLE artifact DISABLE ROW LEVEL SECURITY", "artifact: is not bound to one namespace"),
        ("ALTER TABLE artifact FORCE ROW LEVEL SECURITY", "artifact: binds its owner"),
        (
            "CREATE FUNCTION count_all() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM event'",
            "count_all: reads tenants",
        ),
        ("CREATE FUNCTION free(of_namespace bigint) RETURNS int LANGUAGE sql AS 'SELECT 1'", "free: anybody may"),
    ],
)  # fmt: skip
def test_each_rule_of_the_schema_is_watched(server, database, fault, expected) -> None:
    """A migration that breaks a rule is named."""
    with psycopg.connect(server.dsn(OWNER, database)) as db:
        db.execute(f"SET search_path = {SCHEMA}")
        db.execute(fault)
        named = list(violations(db))
        assert any(violation.startswith(expected) for violation in named), named
        db.rollback()


def test_no_function_touches_another_namespace(server, database) -> None:
    """Each writing function, called for one namespace with positions and digests of another, changes no row of that."""
    log = PostgresLog(server.dsn(database=database), inline_max=8)
    for namespace in ("ours", "theirs"):
        log.append([Draft(Kind.NOTE, b"a payload beside the row")], namespace=namespace, session="s")
    theirs = [event.content for event in log.reader.events("theirs")]
    digest = next(log.artifacts.listing(number_of("theirs")))
    before = {namespace: log.reader.head(namespace) for namespace in ("ours", "theirs")}
    with psycopg.connect(server.dsn(database=database), autocommit=True) as db:
        db.execute(f"SET search_path = {SCHEMA}")
        ours = number_of("ours")
        db.execute(f"SET firsthand.namespace = '{ours}'")
        rows = db.execute("SELECT gone_digest FROM erase_1(%s, %s)", (ours, [1, 2])).fetchall()
        assert rows == [(digest,)]
        db.execute("SELECT put_piece_1(%s, %s, 0, 'x', NULL, NULL), keep_1(%s, %s)", (ours, digest, ours, digest))
        assert len(db.execute("SELECT FROM sweep_1(%s, now())", (ours,)).fetchall()) == 1
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            db.execute("DELETE FROM event")
        assert db.execute("SELECT count(*) FROM event").fetchone() == (1,)
        db.execute("SET firsthand.namespace = ''")
        assert db.execute("SELECT count(*) FROM event").fetchone() == (0,)
    assert {namespace: log.reader.head(namespace) for namespace in ("ours", "theirs")} == before
    assert [log.reader.content(event) for event in log.reader.events("theirs")] == [b"a payload beside the row"]
    assert theirs == [event.content for event in log.reader.events("theirs")]
    assert log.verify(namespace="theirs").ok
    log.close()


def test_a_server_without_citus_says_so(server, database) -> None:
    """`store distribute` without the extension names it, and changes nothing."""
    with pytest.raises(InvalidArgument, match="the database has no Citus"):
        distribute(server.dsn(OWNER, database))
    with psycopg.connect(server.dsn(OWNER, database)) as db:
        assert not citus.is_distributed(db)
