"""What the bench asks of every method, and the words of it that they share.

A method is fed the session's messages step by step, as an agent's loop would, and
keeps its context within one budget. Asked a question, it gives what it would put
before the model: its context, and what its own search finds for the question. Every
method gets the same budget, marks, token count and room for what it pulls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from . import reader
from .values import Message, Step, count, text_of_all, tokens_of_all

HIGH, LOW = 0.9, 0.6  # of the budget: where a compaction begins, and what it goes down to
SUMMARY_SHARE = 1 / 15  # of the budget: a summary, or a core memory
PULL_SHARE = 2 / 15  # of the budget: what one question may pull in, all hops together
HOPS_MAX = 2
PULL_TOKENS_MIN = 800  # with less, a search can hardly say anything; in the smallest windows it is half of them


@dataclass(frozen=True, slots=True)
class Shown:
    """What a method puts before the model for one question.

    Attributes:
        context: what is carried anyway, as text.
        pulled: what its search found for this question; empty when it has none.
        said_absent: True when its search itself says that it found nothing to go by.
    """

    context: str
    pulled: str = ""
    said_absent: bool = False

    @property
    def pulled_tokens(self) -> int:
        return count(self.pulled) if self.pulled else 0


class Method(Protocol):
    """One way to keep a session within a budget.

    Attributes:
        searches: True when it has a search of its own.
        compactions: how often something was thrown out, summarised or evicted so far.
    """

    name: str
    searches: bool
    compactions: int

    def feed(self, messages: Step) -> None:
        """Take in what is new, as before a model call; then hold what would be sent."""
        ...

    def carried_tokens(self) -> int:
        """Count what would be sent now."""
        ...

    def ask(self, question: str, *, hops: int = 1) -> Shown:
        """Give what would stand before the model for this question; asking changes nothing."""
        ...

    def close(self) -> None:
        """Let go of what it holds."""
        ...


def pull_tokens(window_tokens: int) -> int:
    """Give the room that is set aside in the window for what one question pulls in."""
    return max(int(window_tokens * PULL_SHARE), min(PULL_TOKENS_MIN, window_tokens // 2))


class Search(Protocol):
    """A search of a method's own store."""

    def __call__(self, query: str, tokens_max: int, /) -> Found: ...


@dataclass(frozen=True, slots=True)
class Found:
    """What one search gave.

    Attributes:
        absent: the search itself says that nothing it found is to be relied on.
    """

    text: str
    absent: bool = False


def pull(search: Search, question: str, tokens_max: int, hops: int) -> Found:
    """Search with the question, and again with the exact strings that the first hop brought up.

    The second query is made by a rule, for all methods the same: a capable model would make a better one.
    """
    first = search(question, tokens_max // hops)
    if hops == 1:
        return first
    query = reader.second(question, first.text)
    if not query:
        return first
    again = search(query, tokens_max - tokens_max // hops)
    return Found(f"{first.text}\n\n{again.text}", first.absent and again.absent)


class Kept:
    """A list of messages that is cut from the front by whole steps; the base of most methods."""

    name = "messages"
    searches = False

    def __init__(self, window_tokens: int) -> None:
        self.window_tokens = window_tokens
        self.compactions = 0
        self._steps: list[tuple[Step, int]] = []
        self._text: str | None = None  # of the context, as long as it stays the same

    def feed(self, messages: Step) -> None:
        self._text = None
        self._steps.append((messages, tokens_of_all(messages)))
        if self.carried_tokens() > int(self.window_tokens * HIGH):
            self.compact()

    def compact(self) -> None:
        """Bring the context below the low mark."""
        self._leave(int(self.window_tokens * LOW) - self.head_tokens())
        self.compactions += 1

    def head(self) -> list[Message]:
        """Give what stands before the newest messages: a summary, a core memory."""
        return []

    def head_tokens(self) -> int:
        return tokens_of_all(self.head())

    def carried_tokens(self) -> int:
        return self.head_tokens() + sum(tokens for _, tokens in self._steps)

    def context(self) -> list[Message]:
        return [*self.head(), *(message for step, _ in self._steps for message in step)]

    def text(self) -> str:
        """Write the context as a model reads it."""
        if self._text is None:
            self._text = text_of_all(self.context())
        return self._text

    def ask(self, question: str, *, hops: int = 1) -> Shown:  # noqa: ARG002 (the port's shape)
        return Shown(self.text())

    def close(self) -> None:
        self._steps.clear()

    def _leave(self, tokens_max: int) -> list[Message]:
        """Take the oldest steps out until the rest is within the limit; the newest stays."""
        held = sum(tokens for _, tokens in self._steps)
        gone: list[Message] = []
        while held > tokens_max and len(self._steps) > 1:
            step, tokens = self._steps.pop(0)
            held -= tokens
            gone += step
        return gone
