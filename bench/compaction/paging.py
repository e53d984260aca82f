"""A self-paging agent in the manner of MemGPT: a core memory in the window, an archive outside it.

When the window fills, the oldest messages leave, and the agent decides what of them
goes into its core memory (always in the window, small) and what into its archive (of
any size, found by search). What it writes down nowhere is gone. MemGPT also keeps all
messages in a store with a search of its own; that is measured apart, by the method
that searches everything, which differs from it only in who asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from . import strings
from .method import LOW, SUMMARY_SHARE, Kept, Shown, pull, pull_tokens
from .plain import Chunks
from .summaries import telling
from .values import Message, count, text_of_all

ARCHIVED_SHARE = 0.15  # of what leaves: as much as the rule may write into the archive


class Keeping:
    """What is kept of messages that leave."""

    def __init__(self, core: Sequence[str] = (), archive: Sequence[str] = ()) -> None:
        self.core, self.archive = list(core), list(archive)


class Decider(Protocol):
    """Decides what is written down of what leaves."""

    name: str

    def __call__(self, core: str, messages: Sequence[Message], core_tokens: int, /) -> Keeping: ...


class RuleDecides:
    """A rule decides: the most telling sentences go into the archive, generously."""

    name = "rule decides"

    def __call__(self, core: str, messages: Sequence[Message], core_tokens: int, /) -> Keeping:  # noqa: ARG002
        text = text_of_all(messages)
        return Keeping(archive=telling(strings.sentences(text), int(count(text) * ARCHIVED_SHARE)))


class SelfPaging(Kept):
    """Core memory, the newest messages, and a searched archive of what was written down."""

    searches = True

    def __init__(self, window_tokens: int, decider: Decider) -> None:
        self._pull_tokens = pull_tokens(window_tokens)
        super().__init__(window_tokens - self._pull_tokens)
        self._decide = decider
        self._core: list[str] = []
        self._core_tokens = int(window_tokens * SUMMARY_SHARE)
        self._archive = Chunks()
        self.name = f"self-paging ({decider.name})"

    def head(self) -> list[Message]:
        return [{"role": "user", "content": "Core memory:\n" + "\n".join(self._core)}] if self._core else []

    def compact(self) -> None:
        gone = self._leave(int(self.window_tokens * LOW) - self._core_tokens)
        if not gone:
            return
        kept = self._decide("\n".join(self._core), gone, self._core_tokens)
        for fact in kept.archive:
            self._archive.add(fact)
        self._core += [fact for fact in kept.core if fact not in self._core]
        while self._core and count("\n".join(self._core)) > self._core_tokens:
            self._archive.add(self._core.pop(0))  # the oldest fact moves out of the core, and is not lost
        self.compactions += 1

    def ask(self, question: str, *, hops: int = 1) -> Shown:
        found = pull(self._archive.search, question, self._pull_tokens, hops)
        return Shown(self.text(), found.text, found.absent)

    def close(self) -> None:
        super().close()
        self._archive.close()
