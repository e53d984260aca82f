"""The values of the compaction bench: needles, questions, traces. They know no method and no model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Message = Mapping[str, Any]
Step = tuple[Message, ...]
"""What is added before the next model call: a user message, or a tool call together with its result."""

CYCLES = (1, 3, 5)
_SPEAKERS = {"user": "User", "assistant": "Agent", "tool": "Tool", "system": "System"}
CHARACTERS_A_TOKEN = 4
MESSAGE_TOKENS = 4
"""What a message costs around its text, in every method's count alike."""


class Ask(StrEnum):
    """The kinds of question."""

    EXACT = "exact"
    PARAPHRASED = "paraphrased"
    PERSONAL = "as a person asks"
    TWO_STEP = "two-step"
    NEVER = "never happened"


@dataclass(frozen=True, slots=True)
class Needle:
    """One exact string that is asked for later.

    Attributes:
        string: the answer; it stands once in the trace.
        sentence: the words it stands in, itself included.
        kind: hash, path, parameter and so on.
    """

    string: str
    sentence: str
    kind: str


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    Attributes:
        answer: the exact string; empty when nothing of the kind ever happened.
        through: the string of the first step of a two-step question; empty for the others.
    """

    text: str
    ask: Ask
    answer: str
    kind: str
    through: str = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """One session with its questions.

    Attributes:
        window_tokens: the budget that every method gets.
        checkpoints: number of steps after which the questions are asked, by cycle.
    """

    name: str
    window_tokens: int
    steps: tuple[Step, ...]
    needles: tuple[Needle, ...]
    questions: tuple[Question, ...]
    checkpoints: Mapping[int, int]


def count(text: str) -> int:
    """Count tokens for all methods alike: four characters each, as LangChain's own default counts them."""
    return -(-len(text) // CHARACTERS_A_TOKEN)


def text_of(message: Message) -> str:
    """Give all that a message says: its text and the arguments of its tool calls, as they are and not as JSON."""
    content = message.get("content")
    blocks = content if isinstance(content, list) else [{"text": content or ""}]
    calls = [call["function"] for call in message.get("tool_calls") or ()]
    said = [block["text"] for block in blocks if block.get("text")]
    return "\n".join([*said, *(f"{call['name']}({arguments_of(call['arguments'])})" for call in calls)])


def arguments_of(arguments: str) -> str:
    """Write the arguments of a call as names and values."""
    try:
        given = json.loads(arguments)
    except ValueError:  # as a model wrote it: shown as it stands
        return arguments
    if not isinstance(given, dict):
        return arguments
    return ", ".join(f"{name}={one if isinstance(one, str) else json.dumps(one)}" for name, one in given.items())


def text_of_all(messages: Iterable[Message]) -> str:
    """Write messages as a model reads them, one below the other."""
    return "\n\n".join(f"{_SPEAKERS.get(message['role'], message['role'])}: {text_of(message)}" for message in messages)


def tokens_of(message: Message) -> int:
    """Count a message's tokens, as every method here is charged for it."""
    return count(text_of(message)) + MESSAGE_TOKENS


def tokens_of_all(messages: Iterable[Message]) -> int:
    """Count the tokens of messages."""
    return sum(map(tokens_of, messages))


def user(text: str) -> Step:
    """Make a step of a user message."""
    return ({"role": "user", "content": text},)


def agent(text: str) -> Step:
    """Make a step of an agent message."""
    return ({"role": "assistant", "content": text},)


def tool(call_id: str, name: str, arguments: Mapping[str, Any], result: str, said: str = "") -> Step:
    """Make a step of a tool call and its result."""
    function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    return (
        {
            "role": "assistant",
            "content": said,
            "tool_calls": [{"id": call_id, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": call_id, "content": result},
    )


def checkpoints(steps: Sequence[Step], window_tokens: int) -> dict[int, int]:
    """Find where a cycle ends: when the session is a quarter of a window longer than that many windows."""
    found: dict[int, int] = {}
    total = 0
    for number, step in enumerate(steps, 1):
        total += tokens_of_all(step)
        for cycle in CYCLES:
            if cycle not in found and total >= (cycle + 0.25) * window_tokens:
                found[cycle] = number
    return found
