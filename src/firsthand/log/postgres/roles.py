"""Who may do what with a store, asked before it is tried, so that a refusal names the role and the next command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote, urlencode

import psycopg
from psycopg import errors

from firsthand.environment import without_password
from firsthand.errors import InvalidArgument, StoreBusy, StoreReadOnly

from .deadline import UNLIMITED, connect

SCHEMA = "firsthand"
APPLICATION = "firsthand_application"
"""The role that an application's login is a member of: it reads by row-level security and writes by functions."""

_SECURING = re.compile(
    r"(?!sslpassword=|sslcertmode=allow$)(ssl\w*|gss\w*|krb\w*|require\w*|channel_binding|hostaddr|passfile)=.*",
    re.DOTALL,
)
"""The options of an address that its advice repeats; libpq gives the usual sslcertmode as if it had been asked for."""
_STORE = """SELECT current_user, pg_get_userbyid(nspowner), pg_has_role(nspowner, 'USAGE'),
    has_schema_privilege(oid, 'USAGE') FROM pg_namespace WHERE nspname = %s"""
_DATABASE = """SELECT current_user, pg_get_userbyid(datdba), has_database_privilege(oid, 'CREATE'), true
  FROM pg_database WHERE datname = current_database()"""


def address(db: psycopg.Connection, role: str) -> str:
    """Give the address of a connection's database for a role, without a password; how it is secured stays as it is."""
    info = db.info
    options = {name: text for name, text in info.get_parameters().items() if _SECURING.fullmatch(f"{name}={text}")}
    port, place = "" if info.port == 5432 else f":{info.port}", ""
    if info.host.startswith(("/", "@")):
        options = {"host": info.host} | ({"port": port[1:]} if port else {}) | options
    else:
        place = (f"[{info.host}]" if ":" in info.host else info.host) + port
    query = f"?{urlencode(options, safe='/', quote_via=quote)}" if options else ""
    return f"postgresql://{quote(role, safe='')}@{place}/{quote(info.dbname, safe='')}{query}"


def owner_address(db: psycopg.Connection) -> str:
    """Give the address of a store, or of a database without one, for the role that owns it."""
    return address(db, _rights(db)[1])


def check_owner(db: psycopg.Connection) -> None:
    """Refuse a role that does not own the store, or where there is none, may make none in the database.

    Raises:
        StoreReadOnly: it names the owner.
    """
    role, owner, may, _ = _rights(db)
    if not may:
        raise StoreReadOnly(
            f"expected the role that owns the store, {owner!r}; {role!r} asked. Run it again with: "
            f"{shlex.quote(address(db, owner))}"
        )


def check_member(db: psycopg.Connection) -> None:
    """Refuse a role that may not use the store.

    Raises:
        StoreReadOnly: it says how the owner lets the role in.
    """
    role, owner, _, may = _rights(db)
    if not may:
        name = role.replace('"', '""')
        grant = f'GRANT {APPLICATION} TO "{name}"'
        raise StoreReadOnly(
            f"expected a role that is a member of {APPLICATION}; {role!r} is none. As the owner, run: "
            f"psql {shlex.quote(address(db, owner))} -c {shlex.quote(grant)}"
        )


def _rights(db: psycopg.Connection) -> tuple[str, str, bool, bool]:
    row = db.execute(_STORE, (SCHEMA,)).fetchone() or db.execute(_DATABASE).fetchone()
    assert row is not None, "a connection is to a database"
    role, owner, owns, uses = row
    return str(role), str(owner), bool(owns), bool(uses)


@contextmanager
def owner_connection(dsn: str, options: str = "") -> Iterator[psycopg.Connection]:
    """Open a connection of the store's owner for a block, each statement a transaction of its own."""
    with connecting(dsn):
        db = connect(dsn, autocommit=True, options=options or None)
    with db:
        db.execute(UNLIMITED)
        check_owner(db)
        yield db


@contextmanager
def connecting(dsn: str) -> Iterator[None]:
    """Say what is wrong with an address, or with the server there, while a connection is opened in a block.

    Raises:
        InvalidArgument: it is no address of a database.
        StoreBusy: no server answers there, or it refuses the role.
    """
    plain = without_password(dsn)
    try:
        yield
    except psycopg.ProgrammingError as error:
        raise InvalidArgument(
            f"expected the address of a database, such as postgresql://owner@db.example/store; got {plain!r:.120} "
            f"({_line(error, dsn, plain)}). A store in a folder comes to this version when it is next opened"
        ) from error
    except errors.OperationalError as error:
        raise StoreBusy(
            f"PostgreSQL: {_line(error, dsn, plain)}. Nothing was sent. See if the server runs and takes this role: "
            f"psql {shlex.quote(plain)} -c 'SELECT 1'"
        ) from error


def _line(error: Exception, dsn: str, plain: str) -> str:
    return str(error).splitlines()[0].replace(dsn, plain) if str(error) else type(error).__name__
