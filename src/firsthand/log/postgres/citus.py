"""A store over the nodes of a Citus cluster: what is of a namespace on one of them, and the rest on each.

The invariant: all rows of a namespace are on one node, so that an append, an erasure and a read of it are that node's
alone. What a later migration adds is distributed alike: tables by their column `namespace`, but for those named in
`schema.REFERENCE`, and functions by their first argument `of_namespace`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import psycopg

from firsthand.errors import InvalidArgument, StoreOlder

from .roles import SCHEMA, owner_address
from .schema import REFERENCE, version_of

SHARDS = 32
"""As Citus has it; a shard holds many namespaces, and moves as a whole."""
FIRST = "namespace"
"""The table that the others lie beside."""

_TABLES = """
SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind = 'r' ORDER BY relname <> %s, relname
"""
_FUNCTIONS = """
SELECT oid::regprocedure::text FROM pg_proc WHERE pronamespace = %s::regnamespace AND proargnames[1] = 'of_namespace'
    AND proargtypes[0] = 'bigint'::regtype
    AND oid NOT IN (SELECT objid FROM pg_dist_object WHERE distribution_argument_index IS NOT NULL) ORDER BY 1
"""
_BESIDE = "SELECT create_distributed_table(%s, 'namespace', colocate_with => %s)"
_DISTRIBUTED_FUNCTION = "SELECT create_distributed_function(%s, 'of_namespace', colocate_with => %s)"
_DISTRIBUTED_TABLES = """
SELECT c.relname FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid
  WHERE c.relnamespace = %s::regnamespace
"""


def is_distributed(db: psycopg.Connection) -> bool:
    """Say whether a store is distributed over a cluster."""
    row = db.execute("SELECT to_regclass('pg_dist_partition') IS NOT NULL").fetchone()
    return row == (True,) and FIRST in _distributed_tables(db)


def distribute(db: psycopg.Connection, shards: int = SHARDS) -> Iterator[str]:
    """Distribute what is not distributed yet, and yield its name when it is; as the owner, on the coordinator.

    Writers wait meanwhile, and what is there already moves: do it while the store is small.

    Raises:
        InvalidArgument: the database has no Citus.
        StoreOlder: it has no store.
    """
    if db.execute("SELECT FROM pg_extension WHERE extname = 'citus'").fetchone() is None:
        raise InvalidArgument(
            "the database has no Citus: add it to shared_preload_libraries on every node, run CREATE EXTENSION citus "
            "and citus_add_node; one PostgreSQL alone needs neither Citus nor this command"
        )
    if version_of(db) == 0:
        raise StoreOlder(
            f"expected a store in the database {db.info.dbname!r}; it holds none. Run: firsthand store migrate "
            f"{shlex.quote(owner_address(db))}"
        )
    there = _distributed_tables(db)
    for (table,) in db.execute(_TABLES, (SCHEMA, FIRST)).fetchall():
        if table in there:
            continue
        name = f"{SCHEMA}.{table}"
        if table in REFERENCE:
            db.execute("SELECT create_reference_table(%s)", (name,))
        elif table == FIRST:
            db.execute("SELECT create_distributed_table(%s, 'namespace', shard_count => %s)", (name, shards))
        else:
            db.execute(_BESIDE, (name, f"{SCHEMA}.{FIRST}"))
        yield f"table {name}"
    for (function,) in db.execute(_FUNCTIONS, (SCHEMA,)).fetchall():
        db.execute(_DISTRIBUTED_FUNCTION, (function, f"{SCHEMA}.{FIRST}"))
        yield f"function {function.partition('(')[0]}"


def _distributed_tables(db: psycopg.Connection) -> set[str]:
    return {name for (name,) in db.execute(_DISTRIBUTED_TABLES, (SCHEMA,))}
