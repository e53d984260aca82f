"""What the owner of a store decides for a server for teams: keys, grants, limits. Each is recorded as it is done.

The invariant: an act and its record are one transaction; the record names the role of the database that did it,
and holds no key.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Self

from firsthand.errors import InvalidArgument, Unresolvable
from firsthand.log.postgres import access
from firsthand.log.postgres.access import Row
from firsthand.log.postgres.log import PostgresLog
from firsthand.log.postgres.roles import owner_connection
from firsthand.log.prepare import check_name
from firsthand.server.teams.audit import Audit
from firsthand.server.teams.grants import AUDIT, Right
from firsthand.server.teams.identity import new_key

DAYS_MAX = 36_500


class Administration:
    """The acts of a store's owner.

    Args:
        dsn: of the role that owns the store.
    """

    def __init__(self, dsn: str) -> None:
        with owner_connection(dsn):  # refuses any other role by its name
            self.log = PostgresLog(dsn)
        self._audit, self._who = Audit(self.log), f"owner:{access.role_of(self.log.connections)}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.log.close()

    def add_key(self, principal: str, days: int = 0) -> str:
        """Make a key for a principal and give its text, which is kept nowhere.

        Args:
            days: until it expires; 0 for never.
        """
        _check_principal(principal)
        if not 0 <= days <= DAYS_MAX:
            raise InvalidArgument(f"expected at most {DAYS_MAX:,} days; got {days}")
        key, expires = new_key(), datetime.now(UTC) + timedelta(days=days) if days else None
        act = access.add_key(key.prefix, key.digest, principal, expires)
        self._audit.act(self._who, "key added", act, of=principal, key=key.prefix)
        return key.text

    def revoke_key(self, prefix: str) -> None:
        """Revoke a key, by its beginning.

        Raises:
            Unresolvable: there is no such key.
        """
        if prefix not in {row["prefix"] for row in self.keys()}:
            raise Unresolvable(f"there is no key {prefix!r:.40}; list them: firsthand store key --postgres ADDRESS")
        self._audit.act(self._who, "key revoked", access.revoke_key(prefix), key=prefix)

    def keys(self) -> list[Row]:
        """List the keys."""
        return access.keys(self.log.connections)

    def grant(self, principal: str, namespace: str, rights: Collection[str]) -> None:
        """Allow a principal something in a namespace; what he may do there already stays.

        Raises:
            InvalidArgument: there is no such right, or it is of nobody in the audit log.
        """
        _check_principal(principal)
        if not namespace or not rights:
            raise InvalidArgument(
                f"expected a namespace and rights, of {', '.join(Right)}: firsthand store grant {principal} NAMESPACE "
                "read"
            )
        check_name(namespace, "namespace", empty=False)
        words = [str(_right(word)) for word in rights]
        if namespace == AUDIT and set(words) != {Right.READ}:
            raise InvalidArgument(f"{AUDIT} is the audit log: it can be granted to be read, and nothing else")
        act = access.grant(principal, namespace, words)
        self._audit.act(self._who, "granted", act, of=principal, namespace=namespace, rights=words)

    def withdraw(self, principal: str, namespace: str, rights: Collection[str] = ()) -> None:
        """Take back what a principal may do in a namespace; without rights, everything."""
        words = [str(_right(word)) for word in rights or Right]
        act = access.withdraw(principal, namespace, words)
        self._audit.act(self._who, "withdrawn", act, of=principal, namespace=namespace, rights=words)

    def grants(self) -> list[Row]:
        """List who may do what."""
        return access.grants(self.log.connections)

    def limit(self, namespace: str, limits: Mapping[str, int | None]) -> None:
        """Limit what a namespace takes; None takes a limit away, those not named stay.

        Raises:
            InvalidArgument: there is no such limit.
        """
        check_name(namespace, "namespace", empty=False)
        if namespace == AUDIT:
            raise InvalidArgument(
                f"{AUDIT} is the audit log: it has no limit, since nothing is done that it cannot take"
            )
        if not limits or limits.keys() - set(access.LIMITS):
            options = ", ".join(f"--{name.removesuffix('_max').replace('_', '-')} N" for name in access.LIMITS)
            raise InvalidArgument(f"expected at least one limit, of {options}; got {', '.join(limits) or 'none'}")
        act = access.limit(namespace, limits)
        self._audit.act(self._who, "limited", act, namespace=namespace, limits=dict(limits))

    def usage(self) -> list[Row]:
        """List the namespaces with what they hold and may hold."""
        return access.usage(self.log.connections)


def _check_principal(name: str) -> None:
    check_name(name, "principal", empty=False)


def _right(word: str) -> Right:
    try:
        return Right(word)
    except ValueError as error:
        raise InvalidArgument(f"expected a right of {', '.join(Right)}; got {word!r:.40}") from error
