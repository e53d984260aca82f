"""The guard before everything that the server answers over HTTP: who may speak to it at all, and as whom.

    Host, Origin -> of this machine -> the way's own proof: a token, or a cookie that a link was exchanged for

The invariant: it listens on loopback alone; a request whose Host or Origin is not of this
machine (a page that was rebound to it) is refused before anything else is looked at, and one
without token or cookie before anything is read. What changes something is sent by a page of
this server itself: same Origin, and a proof that the page was given. The token lies in a file
that only its owner can read, and stands in no address; a link holds for one use.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from firsthand.errors import StoreFailed
from firsthand.value import value

HOST = "127.0.0.1"
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
TOKEN_BYTES, TOKEN_FILE = 32, "token"
TOKEN_CHARACTERS_MAX = 200
LINK_S = 600.0
LINKS_MAX = 64
COOKIE_S = 30 * 86_400
BODY_BYTES_MAX, APPEND_BYTES_MAX = 4 << 20, 64 << 20
_OPEN = ("/healthz", "/open", "/static/")
"""What is answered without a proof of one's own."""
_BY_TOKEN = ("/mcp", "/v1/", "/metrics")
"""What programs ask for: the token alone is a proof, since a browser sends cookies by itself."""
_READS = frozenset({"GET", "HEAD"})
SAFE_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Refuse = Callable[[Scope, int, str], "tuple[bytes, str]"]
"""Writes a refusal: the body and its media type."""


@value
class Token:
    """What a client must send as ``Authorization: Bearer ...``.

    Attributes:
        kept: the file that holds it; None when it holds for this run only.
    """

    text: str
    kept: Path | None = None


def token_of(folder: Path) -> Token:
    """Read the token that a folder holds, or make one; one that others could have read is replaced.

    Raises:
        StoreFailed: the file cannot be read or written.
    """
    path = folder / TOKEN_FILE
    fresh = secrets.token_urlsafe(TOKEN_BYTES)
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
        raise StoreFailed(f"expected to keep the token of the server in {path}: {error}") from error
    return Token(fresh, path)


class Keys:
    """Proofs that are made of the token: cookies, links for one use, and what a form sends back."""

    def __init__(self, token: str, clock: Callable[[], float] = time.time) -> None:
        self._token, self._clock = token.encode(), clock
        self._links: dict[str, float] = {}

    def is_token(self, text: bytes) -> bool:
        """Say whether this is the token."""
        return hmac.compare_digest(text, self._token)

    def link(self) -> str:
        """Make what a link proves itself by: it holds for one use, ten minutes."""
        now = self._clock()
        self._links = {key: until for key, until in self._links.items() if until > now}
        while len(self._links) >= LINKS_MAX:
            del self._links[next(iter(self._links))]
        key = secrets.token_urlsafe(TOKEN_BYTES)
        self._links[key] = now + LINK_S
        return key

    def use(self, key: str) -> bool:
        """Say whether a link's key holds; it does not hold again."""
        until = self._links.pop(key, 0.0)
        return until > self._clock()

    def cookie(self) -> str:
        """Make a cookie: until when it holds, and the proof that it was made here."""
        until = str(int(self._clock()) + COOKIE_S)
        return f"{until}.{self._proof('cookie', until)}"

    def is_cookie(self, text: str) -> bool:
        """Say whether a cookie holds."""
        until, _, proof = text.partition(".")
        right = until.isascii() and until.isdigit() and hmac.compare_digest(proof, self._proof("cookie", until))
        return right and int(until) > self._clock()

    def form(self, cookie: str) -> str:
        """Make what a form sends back, so that it is known for a page of this server's to the same browser."""
        return self._proof("form", cookie)

    def _proof(self, what: str, text: str) -> str:
        return hmac.new(self._token, f"{what}\0{text}".encode(), hashlib.sha256).hexdigest()


class Guard:
    """An ASGI application that lets only this machine's clients with a proof through to another one.

    Args:
        refuse: writes a refusal for whoever asked.
    """

    def __init__(self, app: App, keys: Keys, refuse: Refuse | None = None) -> None:
        self._app, self._keys, self._refuse = app, keys, refuse or _plain

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = {bytes(name).lower().decode("latin-1"): bytes(text) for name, text in scope["headers"]}
        status, why = (403, "expected HTTP") if scope["type"] != "http" else self._refusal(scope, headers)
        if not status:
            await self._app(scope, receive, _safely(send))
            return
        body, media = self._refuse(scope, status, why)
        more = {"content-type": media, "content-length": str(len(body))}
        more |= {"www-authenticate": "Bearer"} if status == 401 else {}
        lines = [(name.encode(), text.encode()) for name, text in (SAFE_HEADERS | more).items()]
        await send({"type": "http.response.start", "status": status, "headers": lines})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    def _refusal(self, scope: Scope, headers: dict[str, bytes]) -> tuple[int, str]:
        """Say with which status and why a request is refused; 0 when it is not."""
        host = headers.get("host", b"").decode("latin-1")
        origin = headers.get("origin", b"").decode("latin-1")
        path, reads = scope["path"], scope["method"] in _READS
        if not is_local(host):
            return 421, "expected a Host of this machine, such as 127.0.0.1"
        if origin and not is_local_origin(origin):
            return 403, "expected no Origin, or one of this machine"
        if len(headers.get("content-length", b"")) > 18 or int(_number(headers)) > body_bytes_max(path):
            return 413, f"expected at most {body_bytes_max(path) >> 20} MiB"
        scheme, _, token = headers.get("authorization", b"").partition(b" ")
        if scheme.lower() == b"bearer" and self._keys.is_token(token.strip()):
            return 0, ""
        if path.startswith(_BY_TOKEN):
            return 401, "expected 'Authorization: Bearer TOKEN'; firsthand serve --status names the file it is in"
        if path.startswith(_OPEN):
            return (0, "") if reads else (405, "expected GET")
        scope["cookie"] = cookie = cookie_of(headers.get("cookie", b""), host)
        if not self._keys.is_cookie(cookie):
            return 401, "expected a browser that came by a link; make one with: firsthand inspect"
        if not reads and origin != f"http://{host}":
            return 403, "expected a form of this server's own pages"
        return 0, ""


def body_bytes_max(path: str) -> int:
    """Give how large a request may be: what appends or syncs brings the content of events."""
    return APPEND_BYTES_MAX if path.startswith(("/v1/append", "/v1/sync/")) else BODY_BYTES_MAX


def cookie_name(host: str) -> str:
    """Name the cookie of a server: browsers send cookies to every port of a host, so the port is in the name."""
    return f"firsthand_{urlsplit(f'//{host}').port or 80}"


def cookie_of(header: bytes, host: str) -> str:
    """Read the cookie of this server; empty when there is none."""
    try:
        morsel = SimpleCookie(header.decode("latin-1")).get(cookie_name(host))
    except CookieError:
        return ""
    return "" if morsel is None else morsel.value


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


def is_own_path(path: str) -> bool:
    """Say whether an address leads to a page of this server, and nowhere else."""
    return path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() and "\\" not in path


def _number(headers: dict[str, bytes]) -> str:
    length = headers.get("content-length", b"0").decode("latin-1")
    return length if length.isascii() and length.isdigit() else "0"


def _plain(_scope: Scope, _status: int, why: str) -> tuple[bytes, str]:
    return f"{why}\n".encode(), "text/plain; charset=utf-8"


def _safely(send: Send) -> Send:
    """Give every answer the headers that keep a page to itself; what names one of them keeps its own."""

    async def safe(message: Any) -> None:
        if message["type"] == "http.response.start":
            lines = list(message.get("headers", ()))
            named = {bytes(name).lower().decode("latin-1") for name, _ in lines}
            lines += [(name.encode(), text.encode()) for name, text in SAFE_HEADERS.items() if name not in named]
            message = message | {"headers": lines}
        await send(message)

    return safe
