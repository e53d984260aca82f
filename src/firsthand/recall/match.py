"""Sees what of one question stands in a row.

The invariant: what a match says is on the bytes of the row and the facts of its event,
never on what the index says. It reads nothing itself: `evidence` does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from firsthand.event import Event, to_text
from firsthand.index import words
from firsthand.index.tokenizer import Tokenize
from firsthand.value import replace, value

from .evidence import Evidence, Row
from .plan import Question, abbreviates
from .rank import Match, Wanted, match

LEAD_CHARACTERS = 64
"""So much of the beginning of a content is read as its name."""
SHOWN_CHARACTERS_MIN = 3
"""A shorter word or number stands somewhere in every longer text: it shows nothing."""
_CLAUSE = re.compile(r"[.:;,!?]\s|\n")
"""What ends a name at the beginning of a content: the next clause may name another."""
_DIGITS = re.compile(r"\d+")


@value
class _Called:
    """What an event's names say to a question.

    Attributes:
        held: keys of the question's numbers and exact strings in them.
        numbered: they hold a word of it and a number.
    """

    held: frozenset[str]
    numbered: bool


class Matcher:
    """Matches rows against one question.

    Attributes:
        wanted: what is looked for word for word.
        leading: keys of the terms that may find something by themselves.
        light: keys of the stop words beside them.
        pairs: the question holds signs of scripts without spaces.
    """

    def __init__(self, evidence: Evidence, question: Question, tokenize: Tokenize) -> None:
        self._evidence = evidence
        self.wanted = wanted(question, tokenize)
        asked = (*question.words, *question.stop_words)
        self._terms = {term.key: 0 for term in asked}
        self.pairs = any(term.key == words.token(term.word) for term in question.words)
        self.leading = frozenset(t.key for t in (question.stop_words if question.only_stop_words else question.words))
        self.light = frozenset(term.key for term in question.stop_words) - self.leading
        self._series, self._plain = _numbers(question)
        self._strings = {term.key for term in question.strings}
        self._contexts: dict[str, frozenset[str]] = {}
        self._agents: dict[str, bool] = {}
        self._called: dict[str, _Called] = {}

    def match(self, row: Row) -> Match | None:
        """See what of the question stands in a row; None when nothing that counts does."""
        event = row.event
        text = self._evidence.text(row)
        head = words.header(event)
        tokens: Sequence[str] = self._evidence.tokens(row) if self._terms else ()
        if self.pairs:
            tokens = [*tokens, *words.words_of(text, head).exact.split()]
        plain = to_text(row.data) if text else ""
        texts = (plain,) if text is plain or text == plain else (plain, text)
        around = self._context(event)
        named = self._named(row, plain, around)
        found = match(self._terms, self.wanted, tokens, texts, head, around, named)
        if named:
            held = {key.lstrip("0") for key in (*found.times, *named)}
            found = replace(found, lacking=tuple(sorted(key for key in self._series if key.lstrip("0") not in held)))
        counts = any(key in found.times for key in self.leading)
        return found if counts or found.exact or found.folded or found.named else None

    def _context(self, event: Event) -> frozenset[str]:
        text = words.context(event)
        if text not in self._contexts:
            self._contexts[text] = frozenset(self._evidence.stems(text))
        return self._contexts[text]

    def _named(self, row: Row, text: str, around: frozenset[str]) -> tuple[str, ...]:
        """Give the numbers and exact strings of the question that the event is called by.

        A content begins with its name as often as not, so its first words count as one. A number
        counts beside a word: in ``medqa 31`` it is a name, alone it may be any number.
        """
        if not (self._series or self._strings):
            return ()
        called = words.names(row.event)
        if called not in self._called:  # the same for most events of a session
            own = frozenset(self._evidence.stems(called + words.unpadded(called)))
            other = bool(self._plain & own) and any(map(str.isdigit, called))
            self._called[called] = _Called(self._name_in(called, own), other)
        own_name = self._called[called]
        found = (around & self._strings) | own_name.held
        # An event that goes by another number of the series is not called by what it mentions first.
        if row.number == 0 and not own_name.numbered:
            lead = _CLAUSE.split(text[:LEAD_CHARACTERS], maxsplit=1)[0]
            if self._strings or _DIGITS.search(lead):
                found |= self._name_in(lead, frozenset(self._evidence.stems(lead + words.unpadded(lead))))
        return tuple(sorted(found))

    def _name_in(self, name: str, stems: frozenset[str]) -> frozenset[str]:
        """Give the exact strings of the question that stand in a name, and its numbers if a word of it does too."""
        strings = self._strings.intersection(words.of_text(name).exact.split()) if self._strings else frozenset[str]()
        numbers = self._series & stems
        return frozenset(strings | numbers if not self._plain or self._plain & stems else strings)

    def names(self, agent: str) -> bool:
        """Say whether the question names an agent, by any of its names."""
        if agent not in self._agents:
            self._agents[agent] = not self.leading.isdisjoint(self._evidence.stems(agent)) if agent else False
        return self._agents[agent]


def wanted(question: Question, tokenize: Tokenize) -> tuple[Wanted, ...]:
    """List what is looked for word for word, the longest first."""
    known = {term.key for term in (*question.words, *question.stop_words)}

    def keys(string: str) -> tuple[str, ...]:
        stemmed = dict.fromkeys(stem for _, _, stem in tokenize(string.encode("utf-8", "replace")))
        return tuple(stem for stem in stemmed if stem in known)

    found = [Wanted(phrase, keys(phrase), "phrase") for phrase in question.phrases]
    found += [Wanted(term.word, (term.key,), "exact") for term in question.strings]
    for term in question.words:
        telling = any(map(str.isdigit, term.word)) or term.word[1:] != term.word[1:].lower()
        if (
            telling
            and len(term.word) >= SHOWN_CHARACTERS_MIN
            and not any(term.word in s.word for s in question.strings)
        ):
            if abbreviates(term.word):
                found.append(Wanted(term.word, (term.key,), "exact", opens=True))
            else:
                word = term.word.isascii() and term.word.isalnum()
                found.append(Wanted(term.word, (), "", stem=term.key if word else ""))
    if not found:
        wordless = not question.words and not question.stop_words
        found.append(Wanted(question.text.strip(), (), "exact" if wordless else ""))
    return tuple(dict.fromkeys(found))


def _numbers(question: Question) -> tuple[frozenset[str], frozenset[str]]:
    """Give the numbers of a question that may be a place in a series, and its other words.

    Those in a date, a version or an address are none: ``2.10`` of ``v2.10.3`` names nothing by itself.
    """
    parts = [spelled for spelled, _ in words.dates(question.text)]
    parts += [term.word for term in question.strings if len(_DIGITS.findall(term.word)) > 1]
    inside = {number.lstrip("0") for part in parts for number in _DIGITS.findall(part)}
    series = frozenset(
        term.key
        for term in question.words
        if (numbers := {number.lstrip("0") for number in _DIGITS.findall(term.word)}) and not numbers & inside
    )
    plain = frozenset(term.key for term in question.words if not any(map(str.isdigit, term.word)))
    return series, plain
