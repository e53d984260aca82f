"""Who answers a correction: deterministic readers that follow stated rules, or a language model.

A reader sees messages only: what it was told to do, what the memory carried, the
correction, and what it asked the memory for. It answers, or asks with a line
``RECALL: words or a pointer``. The invariant: a reader never sees the problem, the truth
or the policy; a deterministic one gives equal replies to equal messages.

They are validators (reclaim-evaluation 4): each can fail, and shows what a memory does
to a reader of its kind. They are no measure of any model.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

from firsthand.value import value
from firsthand_evals.endpoint import Model
from firsthand_evals.reclaim import reading
from firsthand_evals.reclaim.scoring import DECLINED, written
from firsthand_evals.reclaim.tasks import WORD

MEMORY_HEAD = "Memory of earlier sessions:"
RECALL, RECALLED = "RECALL:", "Recalled:"
NEW = "New purchase:"
REPLY_TOKENS_MAX = 300
YIELDING = "yielding"
PULLS_MAX = 4
SYSTEM = (
    "You answer questions from what stands before you. End with a line that begins with ANSWER: and holds the answer "
    f"alone. If what you have does not determine the answer, write ANSWER: {DECLINED}"
)
MAY_RECALL = (
    f"To look something up in the memory first, reply with one line only: {RECALL} and the words to look for, or a "
    "pointer (fh:...) that stands in the memory. At most {most} times."
)

Messages = Sequence[Mapping[str, str]]


class Reader(Protocol):
    """Answers messages.

    Attributes:
        name: for the report.
        costs: True when asking is paid for or slow, so that it is counted and capped.
        temperature: of a model; 0 of the others.
    """

    name: str
    costs: bool
    temperature: float

    def answer(self, messages: Messages) -> str:
        """Answer, or ask the memory with a line ``RECALL: ...``."""
        ...


@value
class Seen:
    """What stands in messages, told apart.

    Attributes:
        memory: what was carried; without any, the talk before the correction.
        recalled: what the memory answered; ``asked``: to which questions.
        new: lines that bring new source.
        correction: the last message that is neither.
    """

    memory: str
    recalled: tuple[str, ...]
    asked: tuple[str, ...]
    new: tuple[str, ...]
    correction: str
    may_recall: bool

    @property
    def evidence(self) -> str:
        """All that may hold the source."""
        return reading.joined([self.memory, *self.recalled, *self.new])

    @property
    def brought(self) -> int:
        """How many different statements the memory answered that it had not carried."""
        led = [one for one in self.recalled if not reading.leads_nowhere(one)]
        return len(set(reading.segments(reading.joined(led))) - set(reading.segments(self.memory)))

    @property
    def ask(self) -> str:
        """What is asked for."""
        return reading.asked_in(self.correction)


def seen(messages: Messages) -> Seen:
    """Tell apart what stands in messages."""
    system = messages[0]["content"] if messages and messages[0]["role"] == "system" else ""
    head, carried, memory = system.partition(MEMORY_HEAD)
    said = [message["content"] for message in messages if message["role"] == "user"]
    asked = [
        message["content"]
        for message in messages
        if message["role"] == "assistant" and message["content"].startswith(RECALL)
    ]
    recalled = [one.removeprefix(RECALLED).strip() for one in said if one.startswith(RECALLED)]
    talk = [one for one in said if not one.startswith(RECALLED)]
    new = [line.removeprefix(NEW).strip() for one in talk for line in one.splitlines() if line.startswith(NEW)]
    before = memory if carried else reading.joined(talk[:-1])
    return Seen(
        before.strip(), tuple(recalled), tuple(one.removeprefix(RECALL).strip() for one in asked), tuple(new),
        talk[-1] if talk else "", RECALL in head,
    )  # fmt: skip


class ByRule:
    """What deterministic readers have in common."""

    costs = False
    temperature = 0.0


class Recomputing(ByRule):
    """Recompute the answer from the source that stands in the context, and abstain without one.

    It asks a memory that can be asked for what the note points at, then for the question itself. What a correction
    claims is no source to it.

    Args:
        heeds_tag: False takes a source that says it is incomplete for the whole, as small models do (Table 11).
    """

    def __init__(self, *, heeds_tag: bool = True) -> None:
        self._heeds_tag = heeds_tag
        self.name = "recomputing" if heeds_tag else "recomputing-careless"

    def answer(self, messages: Messages) -> str:
        here = seen(messages)
        found = reading.recompute(here.evidence, here.ask)
        if here.new and not reading.items(reading.joined([here.memory, *here.recalled])):
            found = reading.carried_on(here.memory, here.new, here.ask)
        whole = self._whole(here, found)
        if here.may_recall and not (found.value is not None and whole):
            query = self._next(here)
            if query is not None:
                return f"{RECALL} {query}"
        if found.value is None or not whole:
            return answered(None)
        return answered(found.value)

    def _whole(self, here: Seen, found: reading.Found) -> bool:
        """Say whether what stands here is all of the source, as far as the note tells."""
        told = reading.tag(here.memory)
        if told is None or told[0] >= told[1] or not self._heeds_tag:
            return True
        if reading.kind_of(here.ask) == WORD and found.value is not None:
            return True  # fewer clues that leave one answer determine it all the same
        if not here.recalled or any(pointer not in here.asked for pointer in reading.pointers(here.memory)):
            return False
        if found.parts > reading.recompute(here.memory, here.ask).parts:
            return True
        return here.brought >= told[1] - told[0]  # what was left out may have been talk alone, without a new part

    def _next(self, here: Seen) -> str | None:
        """Give what to ask the memory for next; None when there is nothing left to ask."""
        pointers = [pointer for pointer in reading.pointers(here.memory) if pointer not in here.asked]
        if pointers:
            return pointers[0]
        return here.ask if here.ask not in here.asked else None


class Believing(ByRule):
    """Give the conclusion that stands in the memory, whatever else stands there; abstain when there is none."""

    name = "believing"

    def answer(self, messages: Messages) -> str:
        here = seen(messages)
        said = here.memory
        if not any(MEMORY_HEAD in message["content"] for message in messages if message["role"] == "system"):
            said = reading.joined([message["content"] for message in messages if message["role"] == "assistant"])
        return answered(reading.concluded(said, here.ask))


class Yielding(Recomputing):
    """Give whatever value the user insists on; recompute when he names none (Table 19's weak reader)."""

    def __init__(self) -> None:
        super().__init__()
        self.name = YIELDING

    def answer(self, messages: Messages) -> str:
        here = seen(messages)
        claimed = reading.claimed(here.correction, here.ask)
        return answered(claimed) if claimed is not None else super().answer(messages)


class Guessing(ByRule):
    """Guess one of the candidates that the memory names, by a hash of the messages; abstain when it names none."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self.name = f"guessing-{seed}"

    def answer(self, messages: Messages) -> str:
        named = re.search(r"one of ([^.]+)\.", seen(messages).memory)
        if named is None:
            return answered(None)
        options = named[1].split(", ")
        drawn = _drawn(repr((self._seed, [message["content"] for message in messages])))
        return answered(options[drawn % len(options)])


class Slipping(ByRule):
    """Add up what the user told, and leave an item out in about half of the cases: an agent that errs by itself.

    It is meant for the first session (`sweeps.endogenous`), where nobody plants an error.
    """

    name = "slipping"

    def answer(self, messages: Messages) -> str:
        told = reading.joined([message["content"] for message in messages if message["role"] == "user"])
        found = list(reading.items(told).values())
        if _drawn(told) % 2 and len(found) > 1:
            found.pop()
        whole = sum((count * price for count, price in found), start=Fraction(0))
        return answered(written(whole) if found else None)


class Asked:
    """A language model."""

    def __init__(
        self, model: Model, name: str, *, temperature: float = 0.0,
        tokens_max: int = REPLY_TOKENS_MAX,
    ) -> None:  # fmt: skip
        self.name, self.costs, self.temperature = name, True, temperature
        self.model, self._tokens_max = model, tokens_max

    def answer(self, messages: Messages) -> str:
        return self.model.complete(messages, max_tokens=self._tokens_max, temperature=self.temperature).text


def _drawn(text: str) -> int:
    """Draw a number by a text: the same for the same text, on every machine."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")


def answered(given: str | None) -> str:
    """Write a reply."""
    return f"ANSWER: {given if given is not None else DECLINED}"


TOOL = {
    "type": "function",
    "function": {
        "name": "recall",
        "description": f"Look something up in the memory of earlier sessions. At most {PULLS_MAX} times.",
        "parameters": {
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": "The words to look for, or a pointer (fh:...) that stands in the memory.",
                }
            },
            "required": ["query"],
        },
    },
}
NO_WORDS = "(no words)"


class Calling(Asked):
    """A language model that was taught to call tools."""

    def answer(self, messages: Messages) -> str:
        """Ask the model; a call becomes a line ``RECALL: ...``."""
        told = MAY_RECALL.format(most=PULLS_MAX)
        if not messages or told not in messages[0]["content"]:
            return super().answer(messages)
        reply = self.model.complete(
            as_calls(messages), tools=(TOOL,), max_tokens=self._tokens_max, temperature=self.temperature
        )
        return f"{RECALL} {query(reply.calls[0])}" if reply.calls else reply.text


def query(written: str) -> str:
    """Give what a call asks for, in one line: its query, or its arguments as they were written when they hold none."""
    try:
        arguments = json.loads(written)
    except ValueError:
        arguments = written  # what it wrote is asked as it stands, and the item shows it
    words = arguments.get("query", arguments) if isinstance(arguments, dict) else arguments
    return " ".join(str(words).split()) or NO_WORDS


def as_calls(messages: Messages) -> list[dict[str, Any]]:
    """Write a session as a model sees it that calls a tool."""
    told = MAY_RECALL.format(most=PULLS_MAX)
    said: list[dict[str, Any]] = []
    for number, message in enumerate(messages):
        before = messages[number - 1] if number else {}
        after = messages[number + 1] if number + 1 < len(messages) else {}
        if message["role"] == "system":
            said.append({"role": "system", "content": message["content"].replace(f" {told}", "")})
        elif _asks(message) and _tells(after):
            arguments = json.dumps({"query": message["content"].removeprefix(RECALL).strip()}, ensure_ascii=False)
            function = {"name": "recall", "arguments": arguments}
            made = {"id": f"call_{number}", "type": "function", "function": function}
            said.append({"role": "assistant", "content": None, "tool_calls": [made]})
        elif _tells(message) and _asks(before):
            text = message["content"].removeprefix(RECALLED).strip()
            said.append({"role": "tool", "tool_call_id": f"call_{number - 1}", "name": "recall", "content": text})
        else:
            said.append(dict(message))
    return said


def _asks(message: Mapping[str, str]) -> bool:
    return message.get("role") == "assistant" and message["content"].startswith(RECALL)


def _tells(message: Mapping[str, str]) -> bool:
    return message.get("role") == "user" and message["content"].startswith(RECALLED)
