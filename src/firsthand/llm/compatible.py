"""A model behind any server that speaks OpenAI chat completions.

The invariant: the key goes into one header of requests to the one address given,
and nowhere else: not into an error, not to where a server redirects, not through
a proxy that an environment variable names. What may be asked again is asked again,
a bounded number of times; what was refused is not. It does not know providers.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, Self

from firsthand.errors import InvalidArgument, ModelError, ModelRefused, ModelUnavailable
from firsthand.llm.port import Reply, Request, ToolCall, checked

ATTEMPTS_MAX = 4
PAUSE_SECONDS = 0.5  # before the second attempt; doubled before each later one
PAUSE_SECONDS_MAX = 30.0  # a server that asks for a longer one is not waited for
TIMEOUT_SECONDS = 120.0
SECONDS_MAX = 900.0
REPLY_BYTES_MAX = 16 << 20
EXCERPT_CHARACTERS = 300

_BUSY_OR_BROKEN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_ADVICE = {
    400: "see what it says; some models want another field than max_tokens: fields={'max_tokens': None, ...}",
    401: "check the key",
    403: "check what the key may do",
    404: "check the address (it ends before /chat/completions) and the model's name",
    413: "send less: give the window a smaller budget",
    429: "ask less often, or raise the limit there",
}


class OpenAICompatible:
    """Ask a model over HTTP (OpenAI, vLLM, llama.cpp, Ollama, OpenRouter and so on).

    Proxies that environment variables name are not used, and redirects are not followed.

    Args:
        url: what stands before ``/chat/completions``, such as ``http://localhost:8080/v1``.
        key: sent as bearer token; None sends none.
        timeout_seconds: without a byte from the server.
        seconds_max: for a whole reply, also when its bytes never cease to come; no longer without a byte either.
        fields: more fields of the request's body, over ours; one that is None is left out.

    Raises:
        InvalidArgument: the address is none, or the key cannot stand in a header.
        ModelUnavailable: httpx is not installed.
    """

    def __init__(
        self,
        url: str,
        model: str,
        key: str | None = None,
        *,
        timeout_seconds: float = TIMEOUT_SECONDS,
        seconds_max: float = SECONDS_MAX,
        fields: Mapping[str, Any] | None = None,
    ) -> None:
        try:
            import httpx
        except ModuleNotFoundError as error:
            raise ModelUnavailable("asking a server needs httpx; run: pip install 'firsthand[llm]'") from error
        if not url.startswith(("http://", "https://")):
            raise InvalidArgument(f"a model's address begins with http:// or https://; got {url!r:.120}")
        if key is not None and not (key and key.isascii() and key.isprintable() and " " not in key):
            raise InvalidArgument("a key is one word of printable ASCII; got something else (not shown here)")
        self.url = url.rstrip("/").removesuffix("/chat/completions") + "/chat/completions"
        self.model = model
        self._key = key or ""
        self._fields = dict(fields or {})
        self._seconds_max = seconds_max
        self._transport_error = httpx.TransportError
        self._never_arrived = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
        self._client = httpx.Client(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=min(timeout_seconds, seconds_max),
            trust_env=False,
            follow_redirects=False,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r}, {self.model!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the connections back; asking again afterwards raises."""
        self._client.close()

    def complete(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        max_tokens: int = 256,
        temperature: float = 0.0,
        stop: Sequence[str] = (),
    ) -> Reply:
        """Reply to messages in OpenAI chat shape; see `firsthand.llm.port.Model`.

        A server that is busy, broken or not there is asked `ATTEMPTS_MAX` times. One that fell silent
        in the middle is not asked again, since it may have done, and charged for, the work.

        Raises:
            InvalidArgument: a message, a tool or a number is none.
            ModelUnavailable: not reached, or still busy or broken after the last attempt.
            ModelRefused: the server does not take this request.
            ModelError: what came is no reply.
        """
        body = self._body(checked(messages, tools, max_tokens, temperature, stop))
        begun = time.perf_counter()
        for attempt in range(1, ATTEMPTS_MAX + 1):
            try:
                status, answered, wait = self._post(body)
            except self._never_arrived as error:
                if attempt == ATTEMPTS_MAX:
                    raise ModelUnavailable(
                        f"{self.url} could not be reached {attempt} times ({self._said(str(error))}); is it running?"
                    ) from error
                wait = None
            except self._transport_error as error:
                raise ModelUnavailable(
                    f"{self.url} broke off or fell silent ({type(error).__name__}: {self._said(str(error))}); "
                    "the request may have been worked on, so it was not sent again; ask again or give more time"
                ) from error
            else:
                if status == 200:
                    return self._reply(answered, time.perf_counter() - begun)
                if status not in _BUSY_OR_BROKEN or attempt == ATTEMPTS_MAX or (wait or 0) > PAUSE_SECONDS_MAX:
                    raise self._error(status, answered, attempt, wait)
            time.sleep(PAUSE_SECONDS * 2 ** (attempt - 1) if wait is None else wait)
        raise AssertionError("the last attempt returns or raises")

    def _body(self, request: Request) -> bytes:
        fields: dict[str, Any] = {
            "model": self.model,
            "messages": list(request.messages),
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "stream": False,
        }
        fields |= {"tools": list(request.tools)} if request.tools else {}
        fields |= {"stop": list(request.stop)} if request.stop else {}
        fields |= self._fields
        return json.dumps({name: given for name, given in fields.items() if given is not None}).encode()

    def _post(self, body: bytes) -> tuple[int, bytes, float | None]:
        """Send a body; give the status, what came back, and the seconds that the server asks to wait."""
        answered, begun = bytearray(), time.monotonic()
        with self._client.stream(
            "POST", self.url, content=body, headers={"Content-Type": "application/json"}
        ) as response:
            for piece in response.iter_bytes():
                answered += piece
                if len(answered) > REPLY_BYTES_MAX:
                    raise ModelError(f"{self.url} sent more than {REPLY_BYTES_MAX:,} bytes; that is no reply")
                if time.monotonic() - begun > self._seconds_max:
                    raise ModelUnavailable(
                        f"{self.url} had not said all of its reply after {self._seconds_max:g} seconds; the request "
                        "may have been worked on, so it was not sent again; ask for less or give more time"
                    )
            after = response.headers.get("retry-after", "")
            return response.status_code, bytes(answered), float(after) if after.isdecimal() else None

    def _reply(self, answered: bytes, seconds: float) -> Reply:
        try:
            whole = json.loads(answered)
            choice = whole["choices"][0]
            message = choice["message"]
            calls = tuple(
                ToolCall(str(call["id"]), str(call["function"]["name"]), _arguments(call["function"].get("arguments")))
                for call in message.get("tool_calls") or ()
            )
            usage = whole.get("usage") or {}
            return Reply(
                _text(message.get("content")),
                {"role": "assistant", **message},
                calls,
                _count(usage.get("prompt_tokens")),
                _count(usage.get("completion_tokens")),
                seconds,
                str(choice.get("finish_reason") or "stop"),
            )
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
            raise ModelError(
                f"{self.url} answered with something that is no chat completion "
                f"({type(error).__name__}: {self._said(str(error))}): {self._said(_readable(answered))}"
            ) from error

    def _error(self, status: int, answered: bytes, attempts: int, wait: float | None) -> ModelError:
        asked = f", and asks to wait {wait:g} seconds" if wait else ""
        times = f" after {attempts} attempts" if attempts > 1 else ""
        advice = f"; {_ADVICE[status]}" if status in _ADVICE else ""
        said = f"{self.url} answered {status}{times}{asked}: {self._said(_readable(answered))}{advice}"
        return ModelUnavailable(said) if status in _BUSY_OR_BROKEN else ModelRefused(said)

    def _said(self, text: str) -> str:
        """Shorten what a server said, without the key, should it be in there."""
        return (text.replace(self._key, "(key)") if self._key else text)[:EXCERPT_CHARACTERS]


def _readable(answered: bytes) -> str:
    text = answered[: 4 * EXCERPT_CHARACTERS].decode("utf-8", "replace")
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split()) or "(nothing)"


def _text(content: object) -> str:
    if isinstance(content, list):
        return "".join(str(part["text"]) for part in content if part.get("type") == "text")
    if content is None or isinstance(content, str):
        return content or ""
    raise TypeError(f"content is a text or a list of parts; got {content!r:.80}")


def _arguments(given: object) -> str:
    return (
        given if isinstance(given, str) else json.dumps({} if given is None else given)
    )  # some servers send an object


def _count(count: object) -> int | None:
    return count if isinstance(count, int) else None
