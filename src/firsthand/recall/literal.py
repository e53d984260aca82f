"""Finds events by the words they hold, and nothing else: what a command needs that is about to run.

A recall answers a question; whether the same command was run before is none. So no row
is ranked, matched or previewed here: the rarest words are looked up in the index, and
what holds enough of them is read, the newest first, or the shortest that hold the most.

The invariant: what is given is in the scope; an event in it that holds all of the words
but so many is given, unless `Holding.whole` says that the look-up was bounded. What the
caller makes of an event is the caller's: it may hold the words for another reason.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

from firsthand.answer import Scope
from firsthand.event import Event
from firsthand.index.reach import reach
from firsthand.index.tokenizer import tokenizer
from firsthand.index.words import without_spaceless
from firsthand.log.read import Reader
from firsthand.log.rows import key_of
from firsthand.value import value

from .candidates import best_of, sums
from .lexical import Deadline, Lexical, where
from .rank import Frequencies, by_words

POSTINGS_MAX = 6_000
"""Rows looked at for all words together, of the last word the newest: two milliseconds."""
WORDS_MAX = 32
LOOKED_MAX = 1_024
"""Rows of which it is looked up whether they are in the scope, where so many hold enough of the words."""
READ_MAX = 256
"""Events that are read of those that hold the words."""
TAIL_MAX = 64
"""Events that the index does not reach yet, the newest first."""
_PAGE = 16


@value
class _Token:
    """What a word is looked up by: how the index is asked for it, and in how many rows it stands, 0 for few."""

    match: str
    rows: int


class Holding:
    """The events of one scope of one namespace.

    Attributes:
        fault: why the index cannot be asked; empty when it can. Then only the newest events are looked at.
        whole: False when a bound or the deadline left something out.
    """

    def __init__(self, reader: Reader, namespace: str, scope: Scope, deadline_ms: float) -> None:
        self._reader, self._namespace, self._scope = reader, namespace, scope
        self._key, self._head = reader.namespace_key(namespace), reader.head(namespace)[0]
        self._deadline = Deadline(deadline_ms)
        self._tokenize = tokenizer(reader.db)
        self.whole = True
        self.fault = ""
        self._index: Lexical | None = None
        self._through = 0
        if self._key:
            with reader.at_one_moment(self._key) as db:
                reached = reach(reader, self._key, self._head)
                self._through, self.fault = reached.through, reached.fault
                self._index = Lexical(db, self._key, scope, self._deadline) if self._through else None

    def newest(self, words: Sequence[str], lacking_max: int) -> Iterator[Event]:
        """Yield events that hold all words but so many, the newest first; those not indexed yet whatever they hold."""
        yield from self._tail()
        if self._index is None:
            return
        if lacking_max == 0:  # the index joins the words, however common they are, and stops at the limit
            match = " AND ".join(one.match for one in self._rarest(words))
            rows = self._index.newest_rows(match, LOOKED_MAX) if match else []
            self.whole = self.whole and len(rows) < LOOKED_MAX and not self._deadline.passed
        else:
            lists = self._lists(words)
            counts = Counter(itertools.chain.from_iterable(lists))
            enough = max(1, len(lists) - lacking_max)
            rows = sorted((row for row, count in counts.items() if count >= enough), reverse=True)
        yield from self._read(self._index, rows)

    def best(self, words: Sequence[str], count: int) -> list[Event]:
        """Give the events that hold the most of the words by rarity, a short one before a long one; with the tail."""
        if self._index is None:
            return list(self._tail())
        frequencies = Frequencies(self._index.size.rows, self._index.size.tokens_mean, {})
        worth = sums((rows, frequencies.idf(len(rows))) for rows in self._lists(words))
        kept: list[int] = []
        taken, asked = 0, 8 * count
        while len(kept) < 4 * count and taken < min(LOOKED_MAX, len(worth)) and not self._deadline():
            kept += self._index.inside(best_of(worth, asked)[taken:])
            taken, asked = asked, asked * 4
        self.whole = self.whole and taken >= len(worth)
        lengths = self._index.lengths(kept)
        unit = Frequencies(1, self._index.size.tokens_mean, {})
        share = {row: by_words({"": 1}, lengths.get(row, 0), unit) for row in kept}
        kept.sort(key=lambda row: (worth[row] * share[row], row), reverse=True)
        return [*self._tail(), *self._events(kept[:count])]

    def _lists(self, words: Sequence[str]) -> list[list[int]]:
        """Give the rows that hold each word, the rarest words first, as far as the bound allows."""
        assert self._index is not None, "asked for only with an index"
        lists: list[list[int]] = []
        left = POSTINGS_MAX
        for one in self._rarest(words):
            if lists and one.rows > left:
                break  # it would only narrow: the rows that hold the rarer words are there
            rows = self._index.newest_rows(one.match, left)
            self.whole = self.whole and len(rows) < left and not self._deadline.passed
            lists.append(rows)
            left -= len(rows)
            if left <= 0 or self._deadline():
                break
        return lists

    def _rarest(self, words: Sequence[str]) -> list[_Token]:
        """Give a token of each word, the rarest first: of a word of several its rarest, of equals its longest."""
        assert self._index is not None, "asked for only with an index"
        cut = [self._cut(word) for word in dict.fromkeys(words)][:WORDS_MAX]
        common = self._index.common({key for tokens in cut for key in tokens})
        found: dict[str, _Token] = {}
        for tokens in cut:
            if tokens:
                key = min(tokens, key=lambda key: (common.get(key, 0), -len(key)))
                found[key] = _Token(f'"{tokens[key]}"', common.get(key, 0))
        return sorted(found.values(), key=lambda one: one.rows)

    def _cut(self, word: str) -> dict[str, str]:
        """Give the tokens of a word, by the stem that the index has of each."""
        data = without_spaceless(word).encode("utf-8", "replace")
        return {stem: data[start:end].decode("utf-8", "replace") for start, end, stem in self._tokenize(data)}

    def _tail(self) -> Iterator[Event]:
        if self._key and self._through < self._head:
            limits, base = where(self._reader.db, self._key, self._scope), key_of(self._key, 0)
            rows = self._reader.db.execute(
                f"SELECT e.key - {base} FROM event e WHERE e.key > ? AND e.key >= ? AND e.key < ? "  # noqa: S608
                f"{limits.sql} ORDER BY e.key DESC LIMIT ?",
                (base + self._through, base + limits.low, base + limits.high, *limits.values, TAIL_MAX),
            ).fetchall()
            yield from self._events([int(str(position)) for (position,) in rows])

    def _read(self, index: Lexical, rows: Sequence[int]) -> Iterator[Event]:
        """Read the rows of the scope, some at a time: the caller stops when one will do."""
        at, size, read = 0, 4 * _PAGE, 0
        while at < len(rows):
            if read >= READ_MAX or at >= LOOKED_MAX or self._deadline():
                self.whole = False
                return
            inside = index.inside(rows[at : at + size])
            for start in range(0, len(inside), _PAGE):
                yield from self._events(inside[start : start + _PAGE])
            at, size, read = at + size, size * 4, read + len(inside)

    def _events(self, positions: Sequence[int]) -> Iterator[Event]:
        for event in self._reader.events_at(self._namespace, positions):
            if not event.erased:
                yield event
