"""Methods without a model: truncation, a sliding window of messages, and search over everything.

The last is what anyone can build in thirty lines, and the strongest of them: all
messages in SQLite's FTS5, ranked by BM25, beside a truncated window.
"""

from __future__ import annotations

import re

import apsw

from .method import Found, Kept, Shown, pull, pull_tokens
from .values import Step, count, text_of

SLIDING_MESSAGES = 20  # the same number that LangChain's middleware keeps by default
CHUNK_CHARACTERS = 1_000
HITS = 40
_TERM = re.compile(r"\w+")


class Truncation(Kept):
    """Keep the newest messages that fit, at every call."""

    name = "truncation"

    def feed(self, messages: Step) -> None:
        super().feed(messages)
        if self._leave(self.window_tokens):
            self.compactions += 1

    def compact(self) -> None:
        """Do nothing early: the budget is used to the brim."""


class Sliding(Kept):
    """Keep the last messages, by number; of those, the newest that fit."""

    name = "sliding window"

    def feed(self, messages: Step) -> None:
        super().feed(messages)
        before = len(self._steps)
        while sum(len(step) for step, _ in self._steps) > SLIDING_MESSAGES and len(self._steps) > 1:
            self._steps.pop(0)
        self._leave(self.window_tokens)
        self.compactions += len(self._steps) < before

    def compact(self) -> None:
        """Do nothing early, as with truncation."""


class Chunks:
    """Texts in FTS5 in pieces, ranked by BM25, with stemming; nothing of Firsthand in it."""

    def __init__(self) -> None:
        self._db = apsw.Connection(":memory:")
        self._db.execute("CREATE VIRTUAL TABLE chunk USING fts5(text, tokenize='porter unicode61')")

    def add(self, text: str) -> None:
        pieces = [text[at : at + CHUNK_CHARACTERS] for at in range(0, len(text), CHUNK_CHARACTERS)]
        self._db.executemany("INSERT INTO chunk VALUES (?)", [(piece,) for piece in pieces])

    def search(self, query: str, tokens_max: int) -> Found:
        """Give the best pieces that fit, best first."""
        terms = " OR ".join(dict.fromkeys(f'"{term}"' for term in _TERM.findall(query)))
        if not terms:
            return Found("", absent=True)
        rows = self._db.execute(
            "SELECT text FROM chunk WHERE chunk MATCH ? ORDER BY bm25(chunk) LIMIT ?", (terms, HITS)
        )
        out: list[str] = []
        for (text,) in rows:
            tokens_max -= count(text)
            if tokens_max < 0:
                break
            out.append(text)
        return Found("\n---\n".join(out), absent=not out)

    def close(self) -> None:
        self._db.close()


class SearchOverAll(Truncation):
    """Truncation, and a BM25 search over all messages with the question as it is."""

    name = "truncation + BM25 over all messages"
    searches = True

    def __init__(self, window_tokens: int) -> None:
        # what is pulled must fit beside what is carried
        self._pull_tokens = pull_tokens(window_tokens)
        super().__init__(window_tokens - self._pull_tokens)
        self._chunks = Chunks()

    def feed(self, messages: Step) -> None:
        super().feed(messages)
        for message in messages:
            self._chunks.add(text_of(message))

    def ask(self, question: str, *, hops: int = 1) -> Shown:
        found = pull(self._chunks.search, question, self._pull_tokens, hops)
        return Shown(self.text(), found.text, found.absent)

    def close(self) -> None:
        super().close()
        self._chunks.close()
