"""The tables of a store in PostgreSQL, the functions that alone may write them, and how they come to be.

Every table, key and function begins with the namespace, so that a cluster can be distributed by it. The owner
makes tables and functions; the role of the application may read rows of the namespace that it has named
(`firsthand.namespace`), and call the functions. Nothing of an event can be changed but by `erase`.

Migrations are numbered and run forward only, each in one transaction with its number. They expand first and
contract one version later, so a server one version older goes on working while a newer one migrates.
"""

from __future__ import annotations

import psycopg
from psycopg import sql

from firsthand.errors import StoreNewer, StoreOlder

VERSION = 1
SCHEMA = "firsthand"
APPLICATION = "firsthand_application"
"""The role that an application's login is a member of: it reads by row-level security and writes by functions."""
_LOCK = 0x46_48_4E_44

_V1 = """
-- Facts of the store as a whole: uuid, created (microseconds since 1970), fence_key, reader_min. The same on every
-- node of a cluster.
CREATE TABLE store (key text PRIMARY KEY, value bytea NOT NULL);

-- The tenants. Their number is taken from the hash of their name, so that nothing has to be asked to know it.
CREATE TABLE namespace (
  namespace  bigint PRIMARY KEY,
  name       text NOT NULL,
  position   bigint NOT NULL,              -- of its last event
  head       bytea NOT NULL,               -- 32 bytes rolled over its events
  CHECK (octet_length(head) = 32)
);

CREATE TABLE session (
  namespace      bigint NOT NULL,
  session        bigint NOT NULL,          -- the position of its first event
  name           text NOT NULL,
  length         bigint NOT NULL,          -- events in it; the next event's sequence
  turn           bigint NOT NULL,          -- user messages so far
  last_position  bigint NOT NULL,
  first_time     bigint,                   -- least event time, microseconds since 1970; null when none is known
  last_time      bigint,
  head           bytea NOT NULL,           -- chain hash of its last event
  PRIMARY KEY (namespace, session),
  UNIQUE (namespace, name)
);

CREATE TABLE event (
  namespace  bigint NOT NULL,
  position   bigint NOT NULL,              -- 1, 2, 3 ... the namespace's one order
  id         bytea NOT NULL,               -- 16 bytes, sortable by time
  session    bigint NOT NULL,
  sequence   bigint NOT NULL,              -- 0, 1, 2 ... in its session
  part       integer NOT NULL,             -- k-th event of its source record
  turn       bigint NOT NULL,
  kind       smallint NOT NULL,
  trust      smallint NOT NULL,
  agent      text NOT NULL,
  origin     text NOT NULL,
  time       bigint,                       -- when it happened, microseconds since 1970; null unknown
  time_offset smallint,                    -- minutes
  ingested   bigint NOT NULL,              -- when the log took it
  ingested_offset smallint NOT NULL,
  chain      bytea NOT NULL,               -- 32 bytes
  commitment bytea NOT NULL,               -- 32 bytes
  head       bytea NOT NULL,               -- 32 bytes: the namespace's head here, so that one kept elsewhere is found
  salt       bytea,                        -- 16 bytes; null when erased
  body       bytea,                        -- codec byte and compressed body; null when erased
  PRIMARY KEY (namespace, position),
  UNIQUE (namespace, id),
  UNIQUE (namespace, session, sequence)
);
ALTER TABLE event ALTER COLUMN body SET STORAGE EXTERNAL;  -- it is compressed already

-- Which events hold which artifact: its bytes go when its last holder is erased.
CREATE TABLE artifact_use (
  namespace bigint NOT NULL,
  digest    bytea NOT NULL,
  position  bigint NOT NULL,
  PRIMARY KEY (namespace, digest, position)
);

-- Payloads that are too large for a row of their event, in pieces; larger ones lie in an object store.
CREATE TABLE artifact (
  namespace bigint NOT NULL,
  digest    bytea NOT NULL,
  piece     integer NOT NULL,
  bytes     bytea NOT NULL,
  PRIMARY KEY (namespace, digest, piece)
);
ALTER TABLE artifact ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- Add events behind the last one of a namespace, all or none. The writer has hashed them onto the head that it read:
-- the head is compared and set, and one that has moved gives false. What is known of sessions is right if the head is.
CREATE FUNCTION append(
  of_namespace bigint, of_name text, old_position bigint, old_head bytea, new_head bytea,
  ids bytea[], sessions bigint[], sequences bigint[], parts integer[], turns bigint[], kinds smallint[],
  trusts smallint[], agents text[], origins text[], times bigint[], time_offsets smallint[],
  ingests bigint[], ingested_offsets smallint[], chains bytea[], commitments bytea[], event_heads bytea[],
  salts bytea[], bodies bytea[],
  session_keys bigint[], session_names text[], lengths bigint[], session_turns bigint[], last_positions bigint[],
  first_times bigint[], last_times bigint[], heads bytea[], artifact_digests bytea[], artifact_positions bigint[]
) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  count bigint := cardinality(ids);
BEGIN
  IF old_position = 0 THEN
    INSERT INTO namespace VALUES (of_namespace, of_name, 0, old_head) ON CONFLICT DO NOTHING;
  END IF;
  UPDATE namespace SET position = old_position + count, head = new_head
    WHERE namespace.namespace = of_namespace AND name = of_name AND position = old_position AND head = old_head;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  INSERT INTO event
    SELECT of_namespace, old_position + row.number, row.id, row.session, row.sequence, row.part, row.turn, row.kind,
      row.trust, row.agent, row.origin, row.time, row.time_offset, row.ingested, row.ingested_offset, row.chain,
      row.commitment, row.head, row.salt, row.body
    FROM unnest(ids, sessions, sequences, parts, turns, kinds, trusts, agents, origins, times, time_offsets, ingests,
        ingested_offsets, chains, commitments, event_heads, salts, bodies) WITH ORDINALITY
      AS row (id, session, sequence, part, turn, kind, trust, agent, origin, time, time_offset, ingested,
        ingested_offset, chain, commitment, head, salt, body, number);
  INSERT INTO session AS known
    SELECT of_namespace, row.* FROM unnest(
      session_keys, session_names, lengths, session_turns, last_positions, first_times, last_times, heads) AS row
    ON CONFLICT (namespace, session) DO UPDATE SET length = excluded.length, turn = excluded.turn,
      last_position = excluded.last_position, first_time = excluded.first_time, last_time = excluded.last_time,
      head = excluded.head;
  INSERT INTO artifact_use
    SELECT of_namespace, row.* FROM unnest(artifact_digests, artifact_positions) AS row;
  RETURN true;
END $$;

-- Hold a namespace's head until the end of the transaction, and give it; nothing where it has no event yet.
CREATE FUNCTION hold(of_namespace bigint) RETURNS TABLE (at bigint, hash bytea)
LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
  SELECT position, head FROM namespace WHERE namespace.namespace = of_namespace FOR UPDATE
$$;

-- Destroy the content of events, and what held their payloads; the erasure itself is appended in the same transaction.
-- Gives the digests that no event holds any more.
CREATE FUNCTION erase(of_namespace bigint, positions bigint[]) RETURNS SETOF bytea
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  freed bytea[];
BEGIN
  UPDATE event SET salt = NULL, body = NULL WHERE namespace = of_namespace AND position = ANY (positions);
  WITH gone AS (
    DELETE FROM artifact_use WHERE namespace = of_namespace AND position = ANY (positions) RETURNING digest
  ) SELECT coalesce(array_agg(DISTINCT digest), '{}') INTO freed FROM gone;
  freed := ARRAY (
    SELECT each FROM unnest(freed) AS each WHERE NOT EXISTS (
      SELECT FROM artifact_use WHERE artifact_use.namespace = of_namespace AND artifact_use.digest = each));
  DELETE FROM artifact WHERE namespace = of_namespace AND digest = ANY (freed);
  RETURN QUERY SELECT unnest(freed);
END $$;

-- Keep a piece of a payload; the same piece again changes nothing.
CREATE FUNCTION put_piece(of_namespace bigint, of_digest bytea, number integer, content bytea) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
  INSERT INTO artifact VALUES (of_namespace, of_digest, number, content) ON CONFLICT DO NOTHING
$$;
"""

_TENANT_TABLES = ("namespace", "session", "event", "artifact_use", "artifact")
_FUNCTIONS = ("append", "hold", "erase", "put_piece")


def version_of(db: psycopg.Connection) -> int:
    """Read the version of a store; 0 where there is none."""
    found = db.execute("SELECT to_regclass(%s)", (f"{SCHEMA}.version",)).fetchone()
    if found is None or found[0] is None:
        return 0
    row = db.execute(sql.SQL("SELECT max(number) FROM {}.version").format(sql.Identifier(SCHEMA))).fetchone()
    return int(row[0] or 0) if row is not None else 0


def check_version(db: psycopg.Connection) -> None:
    """Refuse a store that this version cannot use.

    Raises:
        StoreOlder: it has to be migrated by its owner first.
        StoreNewer: it says that this version cannot use it.
    """
    version = version_of(db)
    if version < VERSION:
        raise StoreOlder(
            f"the store in PostgreSQL is of version {version}, this server needs {VERSION}; as the owner, run: "
            "firsthand store migrate"
        )
    if version > VERSION:
        row = db.execute(f"SELECT value FROM {SCHEMA}.store WHERE key = 'reader_min'").fetchone()  # noqa: S608 - a constant
        if row is None or int.from_bytes(row[0], "big") > VERSION:
            raise StoreNewer(
                f"the store in PostgreSQL is of version {version}, this server knows {VERSION}; upgrade it"
            )


def migrate(db: psycopg.Connection, uuid: bytes, created: int, fence_key: bytes) -> None:
    """Bring a store to the present version; as its owner. Several at once wait for each other."""
    with db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        version = version_of(db)
        for number in range(version + 1, VERSION + 1):
            MIGRATIONS[number](db)
            db.execute("INSERT INTO version VALUES (%s, now())", (number,))
        if version == 0:
            facts = {"uuid": uuid, "created": created.to_bytes(8, "big"), "fence_key": fence_key, "reader_min": b"\1"}
            db.cursor().executemany("INSERT INTO store VALUES (%s, %s)", list(facts.items()))


def _to_1(db: psycopg.Connection) -> None:
    schema, role = sql.Identifier(SCHEMA), sql.Identifier(APPLICATION)
    db.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(schema))
    db.execute(sql.SQL("SET LOCAL search_path = {}, pg_temp").format(schema))
    db.execute("CREATE TABLE version (number integer PRIMARY KEY, made timestamptz NOT NULL)")
    db.execute(_V1)
    if db.execute("SELECT FROM pg_roles WHERE rolname = %s", (APPLICATION,)).fetchone() is None:
        db.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(role))
    db.execute(sql.SQL("GRANT USAGE ON SCHEMA {} TO {}").format(schema, role))
    for table in ("version", "store", *_TENANT_TABLES):
        db.execute(sql.SQL("GRANT SELECT ON {} TO {}").format(sql.Identifier(table), role))
    for function in _FUNCTIONS:
        name = sql.Identifier(function)
        db.execute(sql.SQL("REVOKE ALL ON FUNCTION {} FROM PUBLIC").format(name))
        db.execute(sql.SQL("GRANT EXECUTE ON FUNCTION {} TO {}").format(name, role))
    for table in _TENANT_TABLES:  # not forced: an online move of a shard would lose rows of an owner that it binds
        name = sql.Identifier(table)
        db.execute(sql.SQL("ALTER TABLE {} ENABLE ROW LEVEL SECURITY").format(name))
        db.execute(
            sql.SQL(
                "CREATE POLICY tenant ON {} FOR SELECT "
                "USING (namespace = nullif(current_setting('firsthand.namespace', true), '')::bigint)"
            ).format(name)
        )


MIGRATIONS = {1: _to_1}
"""The step that leads to each version; a step is never changed once a version with it was released."""
