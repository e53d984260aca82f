"""An embedder behind any server that speaks OpenAI's embeddings (OpenAI, vLLM, llama.cpp, Ollama and so on).

The invariant: the key goes into one header of requests to the one address given,
and nowhere else: not into an error, not to where a server redirects, not through a
proxy that an environment variable names. What may be asked again is asked again, a
bounded number of times; a question of a recall is asked once, and briefly.

It uses the standard library alone. It knows no providers.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from firsthand.errors import InvalidArgument, ModelError, ModelRefused, ModelUnavailable

TEXTS_MAX = 128  # of one request
ATTEMPTS_MAX = 4
PAUSE_SECONDS = 0.5  # before the second attempt; doubled before each later one
TIMEOUT_SECONDS = 60.0
QUERY_TIMEOUT_SECONDS = 1.5
"""A recall waits for it, and has two seconds in all."""
ANSWER_BYTES_MAX = 64 << 20
EXCERPT_CHARACTERS = 300
_BUSY_OR_BROKEN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})


class Endpoint:
    """Asks a server for vectors; redirects and proxies are not followed.

    Args:
        url: what stands before ``/embeddings``, such as ``http://localhost:11434/v1``.
        model: as the server names it.
        key: sent as bearer token; None sends none.

    Raises:
        InvalidArgument: the address is none, no model is named, or the key cannot stand in a header.
    """

    dimension = 0  # its first answer tells

    def __init__(self, url: str, model: str, key: str | None = None) -> None:
        address = urlsplit(url.strip())
        if address.scheme not in {"http", "https"} or not address.hostname or address.query or address.username:
            raise InvalidArgument(f"an endpoint is endpoint:http(s)://HOST/...#MODEL without a query; got {url!r:.120}")
        if not model.strip():
            raise InvalidArgument(f"an endpoint needs its model's name after '#': endpoint:{url:.120}#MODEL")
        if key is not None and not (key and key.isascii() and key.isprintable() and " " not in key):
            raise InvalidArgument("a key is one word of printable ASCII; got something else (not shown here)")
        self._address, self._model, self._key = address, model.strip(), key or ""
        self._path = address.path.rstrip("/").removesuffix("/embeddings") + "/embeddings"
        self.url = f"{address.scheme}://{address.netloc}{self._path}"
        self.identity = f"endpoint:{self.url}#{self._model}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r}, {self._model!r})"

    def embed(self, texts: Sequence[str]) -> Any:
        """Embed texts, some at a time; a server that is busy or not there is asked `ATTEMPTS_MAX` times.

        Raises:
            ModelUnavailable: not reached, or still busy or broken after the last attempt.
            ModelRefused: the server does not take this request.
            ModelError: what came are no vectors.
        """
        embedded: list[Any] = []
        for start in range(0, len(texts), TEXTS_MAX):
            embedded += self._asked_again(list(texts[start : start + TEXTS_MAX]))
        return embedded

    def query(self, text: str) -> Any:
        """Embed a question: one attempt of at most `QUERY_TIMEOUT_SECONDS`."""
        (vector,) = self._asked([text], QUERY_TIMEOUT_SECONDS)
        return vector

    def _asked_again(self, texts: list[str]) -> list[Any]:
        for attempt in range(1, ATTEMPTS_MAX):
            try:
                return self._asked(texts, TIMEOUT_SECONDS)
            except ModelUnavailable:  # asked again; the last attempt below raises
                time.sleep(PAUSE_SECONDS * 2 ** (attempt - 1))
        return self._asked(texts, TIMEOUT_SECONDS)

    def _asked(self, texts: list[str], timeout: float) -> list[Any]:
        import http.client  # noqa: PLC0415 - slow to import, and only an endpoint needs it

        body = json.dumps({"model": self._model, "input": texts, "encoding_format": "float"}).encode()
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {self._key}"} if self._key else {})
        kind = http.client.HTTPSConnection if self._address.scheme == "https" else http.client.HTTPConnection
        connection = kind(str(self._address.hostname), self._address.port, timeout=timeout)
        try:
            connection.request("POST", self._path, body, headers)
            response = connection.getresponse()
            answered = response.read(ANSWER_BYTES_MAX + 1)
        except (OSError, http.client.HTTPException) as error:
            raise ModelUnavailable(
                f"{self.url} could not be asked ({type(error).__name__}: {self._said(str(error))}); is it running?"
            ) from error
        finally:
            connection.close()
        if response.status != 200:
            self._refused(response.status, answered)
        return self._vectors(answered, len(texts))

    def _refused(self, status: int, answered: bytes) -> None:
        message = self._said(answered[: 4 * EXCERPT_CHARACTERS].decode("utf-8", "replace"))
        what = f"{self.url} answered {status}: {message}"
        if status in _BUSY_OR_BROKEN:
            raise ModelUnavailable(what)
        advice = "check $FIRSTHAND_EMBEDDER_KEY" if status in {401, 403} else "check its address and the model's name"
        raise ModelRefused(f"{what}; {advice}")

    def _vectors(self, answered: bytes, count: int) -> list[Any]:
        if len(answered) > ANSWER_BYTES_MAX:
            raise ModelError(f"{self.url} gave more than {ANSWER_BYTES_MAX >> 20} MiB for {count} texts")
        try:
            data = json.loads(answered)["data"]
            by_index = {int(row["index"]): row["embedding"] for row in data}
            return [by_index[at] for at in range(count)]
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise ModelError(
                f"{self.url} answered what are no {count} vectors ({type(error).__name__}: {self._said(str(error))})"
            ) from error

    def _said(self, text: str) -> str:
        """Shorten what a server said, without the key, should it be in there."""
        text = text.replace(self._key, "(key)") if self._key else text
        return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())[:EXCERPT_CHARACTERS]
