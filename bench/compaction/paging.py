"""A self-paging agent in the manner of MemGPT: a core memory in the window, an archive outside it.

When the window fills, the oldest messages leave, and the agent decides what of them
goes into its core memory (always in the window, small) and what into its archive (of
any size, found by search). What it writes down nowhere is gone. MemGPT also keeps all
messages in a store with a search of its own; that is measured apart, by the method
that searches everything, which differs from it only in who asks.

The prompt says what is asked for later and shows the form; a line is read wherever it
stands, and whatever else the model says is not held against it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from firsthand.llm.port import Model

from . import strings
from .method import LOW, SUMMARY_SHARE, Kept, Shown, cut, pull, pull_tokens
from .plain import Chunks
from .summaries import READ_TOKENS_MAX, telling
from .values import Message, count, text_of_all

REPLY_SHARE, REPLY_TOKENS_MIN = 1 / 3, 96  # of what leaves: as much as the model may write down
ARCHIVED_SHARE = 0.15  # of what leaves: as much as the rule may write into the archive
_LINE = re.compile(r"^\W*(CORE|ARCHIVE)\W*[:\-]\s*(.+)$", re.MULTILINE | re.IGNORECASE)

PROMPT = """Core memory: {core}

{messages}

The messages above leave your window. What you do not write down now is lost, and you will be asked for exact strings: \
hashes, paths, numbers, parameters, times, names, causes of failures, what was tried without success. Write one fact a \
line, with its exact string to the letter and what it is about. Begin a line with ARCHIVE: for what can be searched \
later (no limit), or with CORE: for what must always be before you ({words} words in all)."""


class Keeping:
    """What is kept of messages that leave."""

    def __init__(self, core: Sequence[str] = (), archive: Sequence[str] = ()) -> None:
        self.core, self.archive = list(core), list(archive)


class Decider(Protocol):
    """Decides what is written down of what leaves."""

    name: str
    calls: int

    def __call__(self, core: str, messages: Sequence[Message], core_tokens: int, /) -> Keeping: ...


class ModelDecides:
    """The model decides, as in MemGPT."""

    name = "model decides"

    def __init__(self, model: Model) -> None:
        self._model = model
        self.calls = 0

    def __call__(self, core: str, messages: Sequence[Message], core_tokens: int, /) -> Keeping:
        kept = Keeping()
        for run in cut(messages, READ_TOKENS_MAX):
            text = text_of_all(run)[: READ_TOKENS_MAX * 4]
            prompt = PROMPT.format(core=core or "(empty)", messages=text, words=max(20, core_tokens * 2 // 3))
            reply_tokens = max(REPLY_TOKENS_MIN, int(count(text) * REPLY_SHARE))
            reply = self._model.complete([{"role": "user", "content": prompt}], max_tokens=reply_tokens)
            self.calls += 1
            for where, fact in _LINE.findall(reply.text):
                (kept.core if where.upper() == "CORE" else kept.archive).append(fact.strip())
        return kept


class RuleDecides:
    """A rule decides: the most telling sentences go into the archive, generously."""

    name = "rule decides"
    calls = 0

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
        self.model_calls = self._decide.calls

    def ask(self, question: str, *, hops: int = 1) -> Shown:
        found = pull(self._archive.search, question, self._pull_tokens, hops)
        return Shown(self.text(), found.text, found.absent)

    def close(self) -> None:
        super().close()
        self._archive.close()
