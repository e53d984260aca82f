"""What a model is to Firsthand: one verb, from messages to a reply.

The invariant: a request is checked, and is the same value for every model, before
any of them sees it; a reply is whole, or an error is raised. Nothing here knows a
wire, a file or a set of weights.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from firsthand.errors import InvalidArgument
from firsthand.value import value

MESSAGES_MAX = 100_000
TOOLS_MAX = 128
REPLY_TOKENS_MAX = 1_000_000
STOPS_MAX = 4  # what most providers take
TEMPERATURE_MAX = 2.0


@value
class ToolCall:
    """One call of a tool that a model makes.

    Attributes:
        id: joins it to its result; unique within a conversation.
        arguments: JSON text, as the model wrote it; it may hold a fault.
    """

    id: str
    name: str
    arguments: str


@value
class Reply:
    """What a model said.

    Attributes:
        text: its words; empty when it only calls tools.
        message: the whole message in OpenAI chat shape, to be appended to the messages as it is.
        tool_calls: in the order made.
        prompt_tokens, completion_tokens: as the model counted them; None when it does not say.
        seconds: from the request to the whole reply; of a recorded reply, those of the recording.
        finish: ``stop``, ``tool_calls``, or ``length`` when it was cut at ``max_tokens`` or at the end of the context;
            else the model's own word.
    """

    text: str
    message: Mapping[str, Any]
    tool_calls: tuple[ToolCall, ...]
    prompt_tokens: int | None
    completion_tokens: int | None
    seconds: float
    finish: str = "stop"


class Model(Protocol):
    """Says what comes next."""

    def complete(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        max_tokens: int = 256,
        temperature: float = 0.0,
        stop: Sequence[str] = (),
    ) -> Reply:
        """Reply to messages in OpenAI chat shape.

        Args:
            tools: in OpenAI chat shape, ``{"type": "function", "function": {"name": ..., ...}}``.
            max_tokens: of the reply.
            temperature: 0 for the likeliest words.
            stop: texts at which the reply ends; they are not part of it.

        Raises:
            InvalidArgument: a message, a tool or a number is none.
            ModelError: there is no reply; its subclass says why.
        """
        ...


@value
class Request:
    """One checked request; made of JSON values only."""

    messages: tuple[dict[str, Any], ...]
    tools: tuple[dict[str, Any], ...]
    max_tokens: int
    temperature: float
    stop: tuple[str, ...]


def checked(
    messages: Sequence[Mapping[str, Any]],
    tools: Sequence[Mapping[str, Any]],
    max_tokens: int,
    temperature: float,
    stop: Sequence[str],
) -> Request:
    """Check the arguments of `Model.complete`.

    Raises:
        InvalidArgument: a message, a tool or a number is none.
    """
    said = _objects(messages, "messages", MESSAGES_MAX)
    if not said:
        raise InvalidArgument("a model replies to at least one message; got none")
    for message in said:
        if not isinstance(message.get("role"), str) or not message["role"]:
            raise InvalidArgument(f"a message names its role; got {message!r:.120}")
    known = _objects(tools, "tools", TOOLS_MAX)
    for tool in known:
        function = tool.get("function")
        if not isinstance(function, dict) or not isinstance(function.get("name"), str) or not function["name"]:
            raise InvalidArgument(f'a tool is {{"type": "function", "function": {{"name": ...}}}}; got {tool!r:.120}')
    if isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or not 1 <= max_tokens <= REPLY_TOKENS_MAX:
        raise InvalidArgument(f"max_tokens is a whole number from 1 to {REPLY_TOKENS_MAX:,}; got {max_tokens!r}")
    is_number = isinstance(temperature, (int, float)) and not isinstance(temperature, bool)
    if not is_number or not 0 <= temperature <= TEMPERATURE_MAX:
        raise InvalidArgument(f"temperature is a number from 0 to {TEMPERATURE_MAX:g}; got {temperature!r}")
    if isinstance(stop, str) or len(stop) > STOPS_MAX or not all(isinstance(one, str) and one for one in stop):
        raise InvalidArgument(f"stop is at most {STOPS_MAX} texts that are not empty; got {stop!r:.120}")
    return Request(said, known, max_tokens, float(temperature), tuple(stop))


def _objects(given: Sequence[Mapping[str, Any]], what: str, most: int) -> tuple[dict[str, Any], ...]:
    """Copy a list of objects, as JSON has them: nothing of the caller's is kept, sent or changed later."""
    if isinstance(given, (str, bytes, Mapping)) or not all(isinstance(one, Mapping) for one in given):
        raise InvalidArgument(f"{what} are a list of objects; got {given!r:.120}")
    if len(given) > most:
        raise InvalidArgument(f"at most {most:,} {what} are taken at once; got {len(given):,}")
    try:
        copied: list[dict[str, Any]] = json.loads(json.dumps(list(map(dict, given)), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgument(f"{what} are made of JSON values only; {error}") from error
    return tuple(copied)
