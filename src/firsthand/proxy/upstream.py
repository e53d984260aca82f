"""The provider behind the proxy: addresses and headers, as they are passed on.

The invariant: nothing of a header is kept; what concerns one connection alone, or the proxy,
is not passed on.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

import httpx

from firsthand.errors import InvalidArgument

CONNECT_S = 30.0
CONNECTIONS_MAX = 256
OURS = b"x-firsthand"
_OF_A_CONNECTION = frozenset(
    {b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"te", b"trailer",
     b"transfer-encoding", b"upgrade", b"host"}
)  # fmt: skip
_OF_A_BODY = frozenset({b"content-length", b"content-encoding"})
Headers = list[tuple[bytes, bytes]]


class Upstream:
    """Where requests go.

    Raises:
        InvalidArgument: the address is none.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
            raise InvalidArgument(f"expected the provider's address, such as https://api.openai.com; got {url!r:.120}")
        self.url, self.host = url.rstrip("/"), parts.hostname
        self._path = parts.path.rstrip("/")
        limits = httpx.Limits(max_connections=CONNECTIONS_MAX, max_keepalive_connections=32)
        self.client = httpx.AsyncClient(
            timeout=httpx.Timeout(None, connect=CONNECT_S), limits=limits, follow_redirects=False, trust_env=True
        )

    def address(self, path: str, query: bytes) -> str:
        """Give the address of a path; a version that both name (``/v1``) stands in it once."""
        if self._path and path.startswith(f"{self._path}/"):
            path = path[len(self._path) :]
        return f"{self.url}{path}{'?' if query else ''}{query.decode('latin-1')}"


def passed_on(headers: Iterable[tuple[bytes, bytes]], *, body: bool) -> Headers:
    """Give the headers that are passed on.

    Args:
        body: the body goes on as it came, so its length and its encoding do, too.
    """
    listed = [(name.lower(), text) for name, text in headers]
    named = {each.strip().lower() for name, text in listed if name == b"connection" for each in text.split(b",")}
    dropped = _OF_A_CONNECTION | named | (frozenset() if body else _OF_A_BODY | {b"accept-encoding"})
    return [(name, text) for name, text in listed if name not in dropped and not name.startswith(OURS)]
