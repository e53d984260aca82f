"""Tokens of an OpenID Connect issuer: signed JWTs, checked with the keys that it publishes.

The invariant: the algorithms are asymmetric ones that stand here, whatever a token or a key says; a symmetric key is
no key; issuer, audience, subject and end must be there and right. Keys are read again when they are old or a token
names one that is not known, at most once in `AGAIN_S` and for `TIMEOUT_S` in all, so nobody can have the issuer asked
by sending tokens.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import httpx
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import JWKRegistry, KeySet

from firsthand.errors import InvalidArgument
from firsthand.server.teams.grants import Refused

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
KEY_TYPES = frozenset({"RSA", "EC", "OKP"})
OLD_S, AGAIN_S, TIMEOUT_S = 3_600.0, 30.0, 5.0
LEEWAY_S = 30
DOCUMENT_BYTES_MAX, KEYS_MAX, SUBJECT_CHARACTERS_MAX = 256 << 10, 100, 200
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_WHY = "this token is not valid here"
_WRONG = (JoseError, ValueError, KeyError, TypeError, AttributeError)
"""What a document or key that is not of its form raises."""


class Issuer:
    """An issuer whose tokens are taken.

    Args:
        address: its URL, as it stands in ``iss``.
        audience: what must stand in ``aud``: this server.
        clock: seconds since 1970.
    """

    def __init__(self, address: str, audience: str, clock: Callable[[], float] = time.time) -> None:
        if not _is_safe(address) or not audience:
            raise InvalidArgument(f"expected an issuer by https, and the audience of its tokens; got {address!r:.120}")
        self.address, self._audience, self._clock = address, audience, clock
        self._lock = threading.Lock()
        self._keys, self._read, self._tried = KeySet([]), float("-inf"), float("-inf")

    def subject(self, token: str) -> str:
        """Give whom a token is of.

        Raises:
            Refused: it is not valid, or the issuer's keys cannot be read and none are known.
        """
        try:
            claims = self._claims(token)
        except (JoseError, ValueError, TypeError) as error:
            raise Refused(401, f"{_WHY}: {_reason(error)}", f"token: {_reason(error)}") from error
        subject = claims["sub"]
        if not isinstance(subject, str) or not subject.isprintable() or len(subject) > SUBJECT_CHARACTERS_MAX:
            raise Refused(401, f"{_WHY}: its subject is no name", "token: sub")
        return subject

    def _claims(self, token: str) -> dict[str, Any]:
        if self._clock() - self._read > OLD_S:
            self._refresh()
        try:
            claims = jwt.decode(token, self._keys, algorithms=ALGORITHMS).claims
        except InvalidKeyIdError:
            self._refresh()
            claims = jwt.decode(token, self._keys, algorithms=ALGORITHMS).claims
        must: dict[str, Any] = {"iss": {"essential": True, "value": self.address}}
        must |= {"aud": {"essential": True, "value": self._audience}}
        must |= {"exp": {"essential": True}, "sub": {"essential": True}}
        jwt.JWTClaimsRegistry(lambda: int(self._clock()), LEEWAY_S, **must).validate(claims)
        return claims

    def _refresh(self) -> None:
        """Read the issuer's keys, unless they were asked for a moment ago; those that are known hold where it fails."""
        if not self._lock.acquire(blocking=not self._keys.keys):
            return  # another thread is at it
        try:
            now = self._clock()
            if now - self._tried >= AGAIN_S:
                self._tried = now
                with suppress(httpx.HTTPError, httpx.InvalidURL, OSError, *_WRONG):
                    self._keys, self._read = asyncio.run(asyncio.wait_for(self._published(), TIMEOUT_S)), now
            if not self._keys.keys:
                raise Refused(503, "the issuer of tokens cannot be reached", "", max(1.0, self._tried + AGAIN_S - now))
        finally:
            self._lock.release()

    async def _published(self) -> KeySet:
        async with httpx.AsyncClient(timeout=TIMEOUT_S, follow_redirects=False) as client:
            about = await _document(client, self.address.rstrip("/") + "/.well-known/openid-configuration")
            if about["issuer"] != self.address or not _is_safe(about["jwks_uri"]):
                raise ValueError(f"its document is of {about['issuer']!r:.120}")
            listed = (await _document(client, about["jwks_uri"]))["keys"][:KEYS_MAX]
        keys = []
        for fields in listed:
            with suppress(*_WRONG):  # a key of a kind that is unknown here leaves the others
                if fields.get("kty") in KEY_TYPES and fields.get("use", "sig") == "sig":
                    keys.append(JWKRegistry.import_key(fields))
        return KeySet(keys)


async def _document(client: httpx.AsyncClient, address: str) -> dict[str, Any]:
    data = b""
    async with client.stream("GET", address) as response:
        response.raise_for_status()
        async for piece in response.aiter_bytes():
            data += piece
            if len(data) > DOCUMENT_BYTES_MAX:
                raise ValueError(f"{address} gives more than {DOCUMENT_BYTES_MAX:,} bytes")
    document: dict[str, Any] = json.loads(data)
    return document


def _is_safe(address: str) -> bool:
    parts = urlsplit(address)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)


def _reason(error: Exception) -> str:
    """Name what is wrong with a token in a word, which repeats nothing of it."""
    return str(getattr(error, "error", "") or "malformed").replace("_", " ")
