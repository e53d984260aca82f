"""Databases with an empty store in PostgreSQL, which the application may use."""

from __future__ import annotations

import itertools

import psycopg
from postgres_server import APPLICATION, OWNER, PostgresServer

from firsthand.log.postgres.log import make

_numbers = itertools.count()


def make_database(server: PostgresServer) -> str:
    """Make a database with an empty store in it."""
    name = f"store{next(_numbers)}"
    with psycopg.connect(server.dsn("postgres"), autocommit=True) as db:
        db.execute(f"CREATE DATABASE {name} OWNER {OWNER}")
    make(server.dsn(OWNER, name))
    with psycopg.connect(server.dsn("postgres"), autocommit=True) as db:
        db.execute(f"GRANT firsthand_application TO {APPLICATION}")
    return name
