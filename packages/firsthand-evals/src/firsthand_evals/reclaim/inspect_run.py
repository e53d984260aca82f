"""The evaluation as a task of Inspect AI: each case a sample, each call of a model through its providers.

A sample runs `ask.ask` (or `cascade.ask`) in a thread of its own; where that asks a
model, the call is handed to Inspect's loop. So providers, retries, the number of
connections, logs and their viewer are Inspect's, and what a memory and a correction are
is said in one place. The invariant: a sample that fails is logged with its error and
stops no other one.

`Offline` is a model of Inspect's that runs in this process: a GGUF file or a
deterministic reader. It counts its own tokens: Inspect's default counter downloads an
encoding.

Nothing imports this module but `models`, when a model is asked: Inspect takes seconds.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio.from_thread
import anyio.to_thread
from inspect_ai import Task, eval  # noqa: A004 - its name
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    get_model,
    modelapi,
)
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo, ToolParams

from firsthand import InvalidArgument, llm
from firsthand.environment import without_folder_settings
from firsthand.errors import CapReached, ModelError, ModelUnavailable
from firsthand.llm.asked import LOCAL, URL
from firsthand.tokens import estimate
from firsthand.value import asdict, value
from firsthand_evals.reclaim import scoring
from firsthand_evals.reclaim.chosen import SCRIPTED, Chosen, scripted
from firsthand_evals.reclaim.corrections import correction
from firsthand_evals.reclaim.items import Case, Item, key
from firsthand_evals.reclaim.readers import REPLY_TOKENS_MAX, Reader

THREADS_MAX = 200
LOCAL_CONTEXT_TOKENS = 4_096
INTERRUPTED = "it was interrupted; what was made is kept: run again, and only the rest is asked"
NO_KEY = "none"
"""For a server that wants no key; the client that Inspect uses wants one."""
_FINISH = {"max_tokens": "length", "model_length": "length"}


def run(
    asked: Sequence[Case],
    reader: Reader,
    once: Callable[[Case], Item],
    fail: Callable[[Case, BaseException], None],
    *,
    bridge: Bridge,
    close: Callable[[], Awaitable[None]],
    logs: Path,
    stopped: Callable[[], str],
    connections: int | None,
    retries: int,
    timeout_seconds: int,
) -> Ended:
    """Ask cases.

    Args:
        once: asks one case; fail: is told why one has no item.
        bridge: to the model that the log is named for; close: is awaited behind the last case.
        stopped: says why no more is asked; empty while it is.
    """
    alone = 1 if bridge.one.served == LOCAL else connections
    # What runs in this process cannot be given up: its thread would go on, beside that of the next attempt.
    patience = None if bridge.one.served in {LOCAL, SCRIPTED} else timeout_seconds
    with without_folder_settings(INSPECT_LOG_DIR=str(logs)):
        logged = eval(
            task(asked, reader, once, fail, close, stopped), model=bridge.model(), log_dir=str(logs), display="none",
            fail_on_error=False, log_level="error", score_display=False, log_realtime=False, ctl_server=False,
            acp_server=False, max_retries=retries, attempt_timeout=patience, max_connections=alone,
            max_samples=alone,
        )  # fmt: skip
    if not logged:  # Inspect takes Ctrl-C for itself
        return Ended("", INTERRUPTED)
    log = logged[0]
    why = f": {log.error.message}" if log.error is not None else ""
    return Ended(str(log.location), "" if log.status == "success" else f"Inspect says {log.status}{why}")


def task(
    asked: Sequence[Case],
    reader: Reader,
    once: Callable[[Case], Item],
    fail: Callable[[Case, BaseException], None],
    close: Callable[[], Awaitable[None]],
    stopped: Callable[[], str],
) -> Task:
    """Write cases as a task."""
    by_key = {key(case, reader): case for case in asked}
    open_ = set(by_key)
    threads = anyio.CapacityLimiter(THREADS_MAX)

    @solver
    def fresh_session() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - theirs
            case = by_key[str(state.sample_id)]
            if stopped():
                return state
            try:
                item = await anyio.to_thread.run_sync(once, case, limiter=threads)
            except CapReached:
                return state  # it is counted as left, and the run says why
            except Exception as error:
                fail(case, error)
                raise
            state.store.set("item", asdict(item))
            said = [event for event in transcript().events if isinstance(event, ModelEvent)]
            if said:
                state.messages, state.output = [*said[-1].input, said[-1].output.message], said[-1].output
            return state

        return solve

    async def done(state: TaskState) -> None:
        open_.discard(str(state.sample_id))
        if not open_:
            await close()  # in the loop that the connections belong to

    return Task(
        dataset=MemoryDataset([_sample(name, case, reader) for name, case in by_key.items()], name="reclaim"),
        solver=fresh_session(), scorer=outcome(), cleanup=done, name="reclaim",
    )  # fmt: skip


@scorer(metrics={"*": [mean(), stderr(cluster="problem")]})
def outcome() -> Scorer:
    """Score each outcome as 0 or 1; what was not asked has no score."""

    async def score(state: TaskState, target: Target) -> Score | None:  # noqa: ARG001 - theirs
        item = state.store.get("item")
        if item is None:
            return None
        worth = {one: float(item["outcome"] == one) for one in scoring.OUTCOMES}
        return Score(value=worth, answer=item["given"] or item["outcome"], metadata={"item": item})  # type: ignore[arg-type]

    return score


def _sample(name: str, case: Case, reader: Reader) -> Sample:
    turns = correction(case.correction, case.problem).turns
    return Sample(id=name, input="\n\n".join(turns), target=case.problem.answer, metadata=case.parameters(reader))


@value
class Ended:
    """How a run of Inspect ended: its log, and why it broke off, empty when it did not."""

    log: str
    broke_off: str


# from here to Inspect ----------------------------------------------------------------------------------------


class Bridge:
    """A model of Inspect's, as Firsthand knows models; to be called from the thread of a sample.

    Args:
        key: for a server named by its URL.
    """

    def __init__(self, one: Chosen, key: str | None) -> None:
        self.one = one
        self._key = key
        self._model: Model | None = None

    def model(self) -> Model:
        """Open it, once.

        Raises:
            InvalidArgument: Inspect does not know it, or a package or key that it wants is missing.
        """
        if self._model is None:
            self._model = self._opened()
        return self._model

    async def close(self) -> None:
        """Give its connections back; a later call opens it again."""
        if self._model is not None:
            await self._model.api.aclose()
            self._model = None

    def _opened(self) -> Model:
        one = self.one
        if one.served in {LOCAL, SCRIPTED}:
            return Model(Offline(one.name, port=_port(one)), GenerateConfig(max_connections=1))
        try:
            if one.served == URL:
                return get_model(
                    f"openai-api/url/{one.name}", base_url=one.address, api_key=self._key or NO_KEY, memoize=False
                )
            return get_model(one.address, memoize=False)
        except Exception as error:  # each provider has errors of its own
            told = re.sub(r"\[/?[a-z ]+\]|\s+", " ", str(error))  # some are marked up for a terminal
            raise InvalidArgument(
                f"Inspect AI cannot ask {one.address!r}: {' '.join(told.split())}; a provider wants its package and "
                "its key as Inspect's pages say, and a server of one's own is typed URL#NAME"
            ) from error

    def complete(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        max_tokens: int = 256,
        temperature: float = 0.0,
        stop: Sequence[str] = (),
    ) -> llm.Reply:
        """Reply to messages; see `firsthand.llm.Model`.

        Raises:
            ModelUnavailable: there is no reply, after Inspect's retries.
            ModelError: what came is no reply.
        """
        config = GenerateConfig(max_tokens=max_tokens, temperature=temperature, stop_seqs=list(stop) or None)

        async def generate() -> ModelOutput:
            return await self.model().generate([_message(one) for one in messages], _tools(tools), config=config)

        begun = time.perf_counter()
        try:
            output = anyio.from_thread.run(generate)
        except ModelError:
            raise
        except Exception as error:  # each provider has errors of its own
            first = _first(error)
            raise ModelUnavailable(
                f"{self.one.name} gave no reply ({type(first).__name__}: {first!s:.300}); run again to ask only what "
                "is missing"
            ) from error
        return _reply(self.one, output, time.perf_counter() - begun)


def _first(error: BaseException) -> BaseException:
    """Give the error that others are about: those of Inspect begin with the whole request, or name none."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _reply(one: Chosen, output: ModelOutput, seconds: float) -> llm.Reply:
    if output.error is not None or not output.choices:
        raise ModelError(f"{one.name} gave no reply: {output.error or 'no choice in it'}")
    text = output.completion
    calls = tuple(
        llm.ToolCall(call.id, call.function, json.dumps(call.arguments, ensure_ascii=False))
        for call in output.message.tool_calls or ()
    )
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        made = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in calls
        ]
        message |= {"tool_calls": made}
    usage = output.usage
    return llm.Reply(
        text, message, calls, _prompt_tokens(usage) if usage else None, usage.output_tokens if usage else None, seconds,
        _FINISH.get(output.stop_reason, output.stop_reason),
    )  # fmt: skip


def _prompt_tokens(usage: ModelUsage) -> int:
    """Count a prompt whole: Inspect tells apart what the provider had in its cache."""
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    return int(usage.input_tokens) + cached


def _message(message: Mapping[str, Any]) -> ChatMessage:
    content = message.get("content") or ""
    match message["role"]:
        case "system":
            return ChatMessageSystem(content=content)
        case "assistant":
            calls = [
                ToolCall(id=call["id"], function=call["function"]["name"], arguments=_arguments(call))
                for call in message.get("tool_calls") or ()
            ]
            return ChatMessageAssistant(content=content, tool_calls=calls or None)
        case "tool":
            return ChatMessageTool(content=content, tool_call_id=message["tool_call_id"], function=message.get("name"))
        case _:
            return ChatMessageUser(content=content)


def _arguments(call: Mapping[str, Any]) -> dict[str, Any]:
    held = json.loads(call["function"]["arguments"])
    return held if isinstance(held, dict) else {"query": held}


def _tools(tools: Sequence[Mapping[str, Any]]) -> list[ToolInfo]:
    return [
        ToolInfo(
            name=one["function"]["name"], description=one["function"].get("description", ""),
            parameters=ToolParams.model_validate(one["function"]["parameters"]),
        )
        for one in tools
    ]  # fmt: skip


# from Inspect to here ----------------------------------------------------------------------------------------


@modelapi("firsthand")
class Offline(ModelAPI):
    """A model that runs in this process, as Inspect knows models."""

    def __init__(
        self, model_name: str, base_url: str | None = None, api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 - as all of Inspect's have it
        *, port: llm.Model,
    ) -> None:  # fmt: skip
        super().__init__(model_name, base_url, api_key, [], config)
        self._port = port

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice,  # noqa: A002, ARG002 - theirs
        config: GenerateConfig,
    ) -> ModelOutput:  # fmt: skip
        """Reply to messages."""
        messages = [{"role": one.role, "content": one.text} for one in input]
        most, temperature = config.max_tokens or REPLY_TOKENS_MAX, config.temperature or 0.0
        reply = await anyio.to_thread.run_sync(
            lambda: self._port.complete(messages, max_tokens=most, temperature=temperature)
        )
        output = ModelOutput.from_content(
            self.model_name, reply.text, stop_reason="max_tokens" if reply.finish == "length" else "stop"
        )
        prompt = reply.prompt_tokens if reply.prompt_tokens is not None else await self.count_tokens(input)
        said = reply.completion_tokens if reply.completion_tokens is not None else estimate(reply.text)
        output.usage = ModelUsage(input_tokens=prompt, output_tokens=said, total_tokens=prompt + said)
        return output

    async def count_text_tokens(self, text: str) -> int:
        """Estimate tokens without a download."""
        return estimate(text)


class _Script:
    """A deterministic reader, as Firsthand knows models."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def complete(self, messages: Sequence[Mapping[str, str]], **_: object) -> llm.Reply:
        """Reply to messages."""
        text = self._reader.answer(messages)
        return llm.Reply(text, {"role": "assistant", "content": text}, (), None, None, 0.0)


def _port(one: Chosen) -> llm.Model:
    if one.served == SCRIPTED:
        return _Script(scripted()[one.address])
    return llm.LocalModel(one.address or None, context_tokens=LOCAL_CONTEXT_TOKENS, threads=1)
