"""Who sends a request: an API key, of which the store keeps a hash alone, or a token of an OIDC issuer.

    Authorization: Bearer fhk_PREFIX_SECRET     looked up by its prefix, compared by its hash
    Authorization: Bearer eyJ...                a JWT: signature, issuer, audience and times are checked

The invariant: nobody is let in whom the store or the issuer has not named; what was read of them is asked again after
`FRESH_S`, which is how long a key or grant that was withdrawn still holds. No secret is kept here but by its hash.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from firsthand.log.postgres import access
from firsthand.log.postgres.connection import Connections
from firsthand.server.teams.grants import AUDIT, Principal, Refused, Right
from firsthand.server.teams.oidc import Issuer
from firsthand.value import value

MARK = "fhk_"
PREFIX_BYTES, SECRET_BYTES = 6, 32
TOKEN_CHARACTERS_MAX = 8_000
FRESH_S = 2.0
KNOWN_MAX = 10_000


@value
class NewKey:
    """A key as it is made: its text is shown once, its hash is kept."""

    text: str
    prefix: str
    digest: bytes


def new_key() -> NewKey:
    """Make a key of 256 random bits."""
    prefix = MARK + secrets.token_hex(PREFIX_BYTES)
    text = f"{prefix}_{secrets.token_hex(SECRET_BYTES)}"
    return NewKey(text, prefix, _digest(text))


class Identity:
    """Tells who sends a request.

    Args:
        issuer: of tokens that are no keys; None takes keys alone.
    """

    def __init__(
        self, connections: Connections, issuer: Issuer | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._connections, self._issuer, self._clock = connections, issuer, clock
        self._lock = threading.Lock()
        self._known: OrderedDict[bytes, tuple[float, Principal]] = OrderedDict()

    def known(self, token: str) -> Principal | None:
        """Give who sends a token that was looked at a moment ago; None has it looked at."""
        with self._lock:
            until, principal = self._known.get(_digest(token), (0.0, None))
        return principal if until > self._clock() else None

    def principal(self, token: str) -> Principal:
        """Look at a token.

        Raises:
            Refused: it is of nobody here.
        """
        name = self._name(token)
        principal = Principal(name, self._rights(name))
        with self._lock:
            self._known[_digest(token)] = self._clock() + FRESH_S, principal
            while len(self._known) > KNOWN_MAX:
                self._known.popitem(last=False)
        return principal

    def _name(self, token: str) -> str:
        if not token or len(token) > TOKEN_CHARACTERS_MAX:
            raise Refused(401, "expected 'Authorization: Bearer KEY'", "no token")
        if not token.startswith(MARK):
            if self._issuer is None:
                raise Refused(401, f"expected a key that begins with {MARK}", "no key")
            return f"oidc:{self._issuer.subject(token)}"
        prefix = token.rpartition("_")[0]
        key = access.key_of(self._connections, prefix)
        if key is None or not hmac.compare_digest(key.digest, _digest(token)):
            raise Refused(401, "this key is none of this server's", "unknown key")
        if key.state:
            raise Refused(401, f"this key {key.state}; ask for another one", f"key {key.state}")
        if not key.is_used:
            access.note_use(self._connections, prefix)
        return key.principal

    def _rights(self, name: str) -> dict[str, frozenset[Right]]:
        words = access.rights_of(self._connections, name)
        rights = {namespace: frozenset(map(Right, of_namespace)) for namespace, of_namespace in words.items()}
        if AUDIT in rights:
            rights[AUDIT] &= {Right.READ}
        return rights


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()
