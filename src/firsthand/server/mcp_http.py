"""The guard before the MCP server's HTTP side: who may speak to it at all, and the token that says so.

The invariant: it listens on loopback alone; a request whose Host or Origin is not of
this machine (a page that was rebound to it) is refused before anything else is looked
at, and one without the token before anything is read. The token lies in a file that
only its owner can read.
"""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from firsthand.errors import StoreFailed
from firsthand.value import value

HOST = "127.0.0.1"
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
TOKEN_BYTES = 32
TOKEN_CHARACTERS_MAX = 200

_Scope = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[Any]]
_Send = Callable[[Any], Awaitable[None]]
_App = Callable[[_Scope, _Receive, _Send], Awaitable[None]]


@value
class Token:
    """What a client must send as ``Authorization: Bearer ...``.

    Attributes:
        kept: the file that holds it; None when it holds for this run only.
    """

    text: str
    kept: Path | None = None


def token_of(folder: Path, *, keep: bool = True) -> Token:
    """Read the token of a store, or make one; one that others could have read is replaced.

    Args:
        folder: the store's.
        keep: write a new one down; otherwise it holds for this run only.

    Raises:
        StoreFailed: the file cannot be read or written.
    """
    path = folder / "mcp" / "token"
    fresh = secrets.token_urlsafe(TOKEN_BYTES)
    if not keep:
        return Token(fresh)
    try:
        if path.is_file() and not path.stat().st_mode & 0o077:
            token = path.read_text(encoding="ascii").strip()
            if TOKEN_BYTES <= len(token) <= TOKEN_CHARACTERS_MAX:
                return Token(token, path)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.unlink(missing_ok=True)  # an open file of others stays theirs, with the old token
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(f"{fresh}\n")
    except (OSError, ValueError) as error:
        raise StoreFailed(f"expected to keep the token of the MCP server in {path}: {error}") from error
    return Token(fresh, path)


class Guard:
    """An ASGI application that lets only this machine's clients with the token through to another one."""

    def __init__(self, app: _App, token: str) -> None:
        self._app, self._token = app, token.encode()

    async def __call__(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        status, why = self._refusal({bytes(name).lower(): bytes(value) for name, value in scope["headers"]})
        if not status:
            await self._app(scope, receive, send)
            return
        headers = [(b"content-type", b"text/plain; charset=utf-8")]
        headers += [(b"www-authenticate", b"Bearer")] if status == 401 else []
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": f"{why}\n".encode()})

    def _refusal(self, headers: dict[bytes, bytes]) -> tuple[int, str]:
        """Say with which status and why a request is refused; 0 when it is not."""
        if not is_local(headers.get(b"host", b"").decode("latin-1")):
            return 421, "expected a Host of this machine, such as 127.0.0.1"
        origin = headers.get(b"origin", b"").decode("latin-1")
        if origin and not is_local_origin(origin):
            return 403, "expected no Origin, or one of this machine"
        scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
        if scheme.lower() != b"bearer" or not hmac.compare_digest(token.strip(), self._token):
            return (
                401,
                "expected 'Authorization: Bearer TOKEN'; the token is in the file that firsthand mcp --http names",
            )
        return 0, ""


def is_local(host: str) -> bool:
    """Say whether a Host header names this machine's loopback."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port  # raises for what is no port
    except ValueError:
        return False
    return parts.hostname in LOOPBACK and parts.username is None and not parts.path


def is_local_origin(origin: str) -> bool:
    """Say whether an Origin header is one of this machine's loopback."""
    scheme, separator, host = origin.partition("://")
    return scheme in {"http", "https"} and bool(separator) and is_local(host)
