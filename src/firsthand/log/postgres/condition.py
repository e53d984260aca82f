"""What of a server of PostgreSQL would break a promise of the store, asked over an application's own connection.

A store that is older than this program, or closed to its role, cannot be opened, and says so itself.
"""

from __future__ import annotations

from collections.abc import Iterator

import psycopg

from firsthand.value import value

from .roles import APPLICATION, SCHEMA
from .schema import VERSION, version_of

BEHIND_S, BEHIND_BYTES = 60, 1 << 30
"""A standby is far behind from here on."""
NO_KEYS = "mount or restore the keys, or set FIRSTHAND_KEYS (docs/postgres.md, Encrypted content)"

_SETTINGS = "SELECT name, reset_val FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit')"
_ROLE = """SELECT rolname, rolsuper, rolbypassrls, pg_has_role(oid, (
    SELECT nspowner FROM pg_namespace WHERE nspname = %s), 'USAGE') FROM pg_roles WHERE rolname = current_user"""
_SECURITY = """SELECT relname, relrowsecurity, relforcerowsecurity, rolbypassrls OR rolsuper
  FROM pg_class JOIN pg_roles r ON r.oid = relowner WHERE relnamespace = %s::regnamespace AND relkind = 'r'
    AND EXISTS (SELECT FROM pg_policy WHERE polrelid = pg_class.oid) ORDER BY relname"""
_STANDBYS = """SELECT coalesce(nullif(application_name, ''), client_addr::text, 'a standby'),
    extract(epoch FROM replay_lag), pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) FROM pg_stat_replication
  WHERE state = 'streaming' AND replay_lsn IS NOT NULL"""


@value
class Concern:
    """One thing that is not as it should be.

    Attributes:
        severity: ``broken`` (a promise of the store), ``degraded``, or ``note``.
        remedy: what to do.
    """

    severity: str
    what: str
    remedy: str


def concerns(db: psycopg.Connection) -> Iterator[Concern]:
    """Yield what is wrong with a server, its settings, the rights of this connection's role, and its standbys."""
    version = version_of(db)
    if version > VERSION:
        yield Concern(
            "degraded", f"the store is of version {version}, this one knows {VERSION}", "upgrade Firsthand here"
        )
    settings: dict[str, str] = dict(db.execute(_SETTINGS).fetchall())
    for name in ("fsync", "full_page_writes"):
        if settings.get(name) == "off":
            yield Concern(
                "broken", f"{name} is off: a power cut loses what was acknowledged", f"set {name} = on, restart"
            )
    if settings.get("synchronous_commit") == "off":
        yield Concern(
            "degraded", "synchronous_commit is off by default; Firsthand turns it on for its own connections alone",
            "set synchronous_commit = on",
        )  # fmt: skip
    yield from rights(db)
    is_citus = db.execute("SELECT FROM pg_extension WHERE extname = 'citus'").fetchone() is not None
    yield from _security(db, is_citus=is_citus)
    if db.execute("SELECT pg_is_in_recovery()").fetchone() == (True,):
        yield Concern("degraded", "the server is a standby: it takes no writes", "name the primary")
        return
    for name, seconds, size in db.execute(_STANDBYS).fetchall():
        if (seconds or 0) > BEHIND_S or (size or 0) > BEHIND_BYTES:
            late = f"{seconds or 0:,.0f} s and {(size or 0) / (1 << 20):,.0f} MiB"
            yield Concern("degraded", f"{name} is {late} behind: a failover to it would lose that", "look at its log")


def rights(db: psycopg.Connection) -> Iterator[Concern]:
    """Yield why row-level security does not bind this connection's role."""
    row = db.execute(_ROLE, (SCHEMA,)).fetchone()
    if row is None:
        return
    role, is_super, bypasses, is_owner = row
    why = "is a superuser" if is_super else "has BYPASSRLS" if bypasses else "owns the store" if is_owner else ""
    if why:
        yield Concern(
            "degraded", f"the role {role} {why}: no row-level security keeps it to one namespace",
            f"let servers connect as a role of their own: CREATE ROLE app LOGIN; GRANT {APPLICATION} TO app",
        )  # fmt: skip


def _security(db: psycopg.Connection, *, is_citus: bool) -> Iterator[Concern]:
    for table, enabled, forced, is_exempt in db.execute(_SECURITY, (SCHEMA,)).fetchall():
        if not enabled:
            yield Concern(
                "broken", f"row-level security of {SCHEMA}.{table} is off: a role reads every namespace",
                f"ALTER TABLE {SCHEMA}.{table} ENABLE ROW LEVEL SECURITY",
            )  # fmt: skip
        if forced and not is_exempt:
            moves = "; on Citus, an online move of a shard can lose acknowledged events" if is_citus else ""
            yield Concern(
                "broken", f"row-level security of {SCHEMA}.{table} binds its owner, whose functions write it{moves}",
                f"ALTER TABLE {SCHEMA}.{table} NO FORCE ROW LEVEL SECURITY",
            )  # fmt: skip
    if is_citus:
        yield Concern(
            "note", "the store is on Citus, whose default for moves of shards is not what was proven here",
            "move and rebalance with shard_transfer_mode => 'block_writes', and compare kept heads afterwards",
        )  # fmt: skip
