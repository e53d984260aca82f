"""What an event is called by, as tokens for the index: so a name is told from a mention without reading the event.

In a numbered series everybody mentions the others: `case 32` says "as in case 31" twice, and
`case 31` says its own number once. An event is *called* by what stands in its session's last name,
in the names that its meta holds, and in the first clause of its text. Of those, each exact string
gives one token, and each number one with each of the few words before it (``medqa 31``).

The invariant: the same rules make the tokens of a document and of a question; a first clause that
numbers what the event's own name numbers otherwise is a mention, and gives none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from .words import META_NAMES, dates, exact_strings, token

LEAD_CHARACTERS = 64
"""So much of the beginning of a text is read as its name."""
LEAD_NUMBERS_MAX = 2
"""A first clause with more numbers than these is no name but a list."""
NAMES_CHARACTERS_MAX = 256
WORDS_BEFORE = 3
"""So many words before a number may be what it numbers: ``proving-medqa-031``."""
WORDS_ASKED = 6
"""So many words on either side of a question's number are tried."""
_META_NAMES = frozenset(META_NAMES)
_DIGIT = re.compile(r"\d")
_CLAUSE = re.compile(r"[.:;,!?]\s|\n")
_PIECE = re.compile(r"(?a:(?<![0-9])[0-9]{1,9}(?![0-9A-Za-z]))|[^\W\d_]+")
_NO_PLACE = re.compile(
    r"(?a:\b[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?\b|[0-9]+(?:[.:][0-9]+)+|\b[0-9]+[A-Za-z]\w*|\b[A-Za-z]+[0-9]+[A-Za-z]\w*)"
)
"""Numbers that are no place in a series: of a date, a version, an address, a hash."""

Pair = tuple[str, str]


def name_tokens(session: str, meta: Mapping[str, Any] | None, text: str) -> tuple[str, ...]:
    """Give the tokens of what an event is called by.

    Args:
        text: its beginning; empty for a passage that is not its first.
    """
    names: tuple[str, ...] = (session.rstrip("/").rpartition("/")[2],)
    if meta and not _META_NAMES.isdisjoint(meta):
        names += tuple(value[:NAMES_CHARACTERS_MAX] for key in META_NAMES if isinstance(value := meta.get(key), str))
    own, numbered = _of_names(names)
    lead = text[:LEAD_CHARACTERS]
    if not _DIGIT.search(lead) or not _DIGIT.search(lead := _CLAUSE.split(lead, maxsplit=1)[0]):
        return own
    pairs = list(_pairs(lead))
    if any(word in numbered for word, _ in pairs) or len({number for _, number in pairs}) > LEAD_NUMBERS_MAX:
        return own
    return (*own, *_tokens(exact_strings(lead), pairs))


def asked_tokens(text: str) -> list[str]:
    """Give the tokens of all that a question may name: its exact strings, numbers with the words around each."""
    pieces = _PIECE.findall(_NO_PLACE.sub(" ", without_dates(text)))
    pairs = [
        (word.casefold(), piece.lstrip("0"))
        for at, piece in enumerate(pieces)
        if piece.isdigit()
        for word in pieces[max(0, at - WORDS_ASKED) : at + WORDS_ASKED + 1]
        if not word.isdigit()
    ]
    return list(dict.fromkeys(_tokens(exact_strings(text), pairs)))


def without_dates(text: str) -> str:
    """Leave out the days and months that a text spells out."""
    for spelled, _ in dates(text):
        text = text.replace(spelled, " ")
    return text


@lru_cache(maxsize=1_024)  # a session has many events
def _of_names(names: tuple[str, ...]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Give the tokens of names, and the words in them that have a number."""
    tokens = tuple(token for name in names for token in _tokens(exact_strings(name), _pairs(name)))
    return tokens, frozenset(word for name in names for word, _ in _pairs(name))


def _tokens(strings: Iterable[str], pairs: Iterable[Pair]) -> Iterator[str]:
    for string in strings:
        yield token("=" + string.casefold())
    for word, number in pairs:
        yield token(f"={word} {number}")


def _pairs(name: str) -> Iterator[Pair]:
    pieces = _PIECE.findall(_NO_PLACE.sub(" ", name))
    for at, piece in enumerate(pieces):
        if piece.isdigit():
            for word in [word for word in pieces[:at] if not word.isdigit()][-WORDS_BEFORE:]:
                yield word.casefold(), piece.lstrip("0")
