"""Keys, grants and limits of a server for teams, as they stand in the database.

The application asks about one key or one principal; what writes, and what lists everything, takes the owner's role.
The statements that write may be run twice: they are handed to `PostgresLog.append_with`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any

import psycopg
from psycopg.rows import dict_row

from firsthand.value import value

from .connection import Connections
from .deadline import QUIET_S
from .reader import number_of

LIMITS = ("events_max", "bytes_max", "day_events_max", "day_bytes_max")
Act = Callable[[psycopg.Connection], Any]
Row = Mapping[str, Any]


@value
class StoredKey:
    """What is kept of a key.

    Attributes:
        digest: SHA-256 of its text.
        state: why it no longer holds; empty while it does.
        is_used: its use was noted within the last minute.
    """

    digest: bytes
    principal: str
    state: str
    is_used: bool


def key_of(connections: Connections, prefix: str) -> StoredKey | None:
    """Read a key by its beginning; None where there is none."""
    with connections.within(QUIET_S), connections.use() as db:
        row = db.execute("SELECT hash, principal, state, is_used FROM api_key_1(%s)", (prefix,)).fetchone()
    return None if row is None else StoredKey(bytes(row[0]), *row[1:])


def note_use(connections: Connections, prefix: str) -> None:
    """Note that a key is used now; a crash of the server may lose that."""
    with connections.use() as db, db.transaction():
        db.execute("SET LOCAL synchronous_commit = off")
        db.execute("SELECT use_api_key_1(%s)", (prefix,))


def rights_of(connections: Connections, principal: str) -> dict[str, list[str]]:
    """Give what a principal may do, by namespace."""
    with connections.within(QUIET_S), connections.use() as db:
        return dict(db.execute("SELECT namespace, rights FROM access_1(%s)", (principal,)).fetchall())


def granted_in(connections: Connections, namespace: str) -> list[Row]:
    """List who may do what in a namespace."""
    return _rows(connections, "SELECT principal, rights FROM granted_1(%s)", namespace)


# of the owner --------------------------------------------------------------------------------------------


def role_of(connections: Connections) -> str:
    """Name the role of the database."""
    return str(_rows(connections, "SELECT current_user AS role")[0]["role"])


def keys(connections: Connections) -> list[Row]:
    """List the keys."""
    sql = "SELECT prefix, principal, made, expires, revoked, used FROM api_key ORDER BY made, prefix"
    return _rows(connections, sql)


def grants(connections: Connections) -> list[Row]:
    """List who may do what."""
    return _rows(
        connections,
        "SELECT principal, namespace, array_agg(allowed ORDER BY allowed) AS rights FROM access "
        "GROUP BY principal, namespace ORDER BY principal, namespace",
    )


def usage(connections: Connections) -> list[Row]:
    """List the namespaces with what they hold and may hold."""
    return _rows(
        connections,
        "SELECT name, position AS events, bytes, day_events * today AS day_events, day_bytes * today AS day_bytes, "
        "events_max, bytes_max, day_events_max, day_bytes_max FROM namespace, "
        "LATERAL (SELECT (day = floor(extract(epoch FROM now()) / 86400))::integer AS today) AS clock ORDER BY name",
    )


def add_key(prefix: str, digest: bytes, principal: str, expires: datetime | None) -> Act:
    """Keep a key."""
    sql = "INSERT INTO api_key (prefix, hash, principal, expires) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING"
    return lambda db: db.execute(sql, (prefix, digest, principal, expires))


def revoke_key(prefix: str) -> Act:
    """Revoke a key for good."""
    sql = "UPDATE api_key SET revoked = coalesce(revoked, now()) WHERE prefix = %s"
    return lambda db: db.execute(sql, (prefix,))


def grant(principal: str, namespace: str, rights: Collection[str]) -> Act:
    """Allow a principal something."""
    sql = "INSERT INTO access SELECT %s, %s, unnest(%s::text[]) ON CONFLICT DO NOTHING"
    return lambda db: db.execute(sql, (principal, namespace, [*rights]))


def withdraw(principal: str, namespace: str, rights: Collection[str]) -> Act:
    """Take back what a principal may do."""
    sql = "DELETE FROM access WHERE principal = %s AND namespace = %s AND allowed = ANY (%s)"
    return lambda db: db.execute(sql, (principal, namespace, [*rights]))


def limit(namespace: str, limits: Mapping[str, int | None]) -> Act:
    """Limit what a namespace takes, whether or not it has an event."""
    assert limits.keys() <= set(LIMITS)
    sql = (
        f"INSERT INTO namespace (namespace, name, position, head, {', '.join(limits)}) "  # noqa: S608 - of LIMITS
        f"VALUES (%s, %s, 0, %s, {', '.join(['%s'] * len(limits))}) ON CONFLICT (namespace) DO UPDATE SET "
        + ", ".join(f"{column} = excluded.{column}" for column in limits)
    )
    return lambda db: db.execute(sql, (number_of(namespace), namespace, bytes(32), *limits.values()))


def _rows(connections: Connections, sql: Any, *values: Any) -> list[Row]:
    with connections.use() as db:
        return db.cursor(row_factory=dict_row).execute(sql, values or None).fetchall()  # type: ignore[return-value]
