"""Names of episodes: a date, and words of what the session was asked first (recall-problem 8.4, 9.3).

    2026-11-21-cold-start-bootstrap

A name is the cue by which an agent remembers that there is something to recall, so two names that differ by a number
alone are one name for that purpose ("temporal aliasing", recall-problem 7.6). The invariant: a name is none of those
that are taken, is a file name on every system (small letters, digits and hyphens of any script, NFC, at most
`NAME_CHARACTERS_MAX` characters and `NAME_BYTES_MAX` bytes), and is the same for the same arguments.

Pure.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable

from firsthand.recall.stop_words import STOP_WORDS
from firsthand.unasked import secrets

NAME_CHARACTERS_MAX = 80
NAME_BYTES_MAX = 200  # a file system takes 255, and an ending follows
WORDS_MAX = 6
WORD_CHARACTERS = range(2, 25)
READ_CHARACTERS = 600
_DATE = re.compile(r"(?:\d{4}-\d\d-\d\d|undated)-?")
_PATH = re.compile(r"(?:https?://\S{1,300}|\bfh:\w{1,26}|\S{0,200}/)(?=\S|\Z|\s)")


def name_of(date: str, request: str, taken: Collection[str]) -> str:
    """Name an episode by the first words of a request, those first that stand in the fewest names.

    Args:
        date: ``2026-11-21``.
        request: what was asked; empty where nothing was that says something.
        taken: the names of the other episodes.
    """
    plain = _PATH.sub(" ", secrets.mask(request[:READ_CHARACTERS], mark=lambda _sort, _secret: " "))
    words = [word for word in dict.fromkeys(words_of(plain)) if word not in STOP_WORDS]
    common = Counter(word for other in taken for word in slug_of(other).split("-"))
    name = date
    for word in sorted(sorted(words, key=lambda word: common[word])[:WORDS_MAX], key=words.index):
        more = f"{name}-{word}"
        if len(more) <= NAME_CHARACTERS_MAX - 4 and len(more.encode()) <= NAME_BYTES_MAX - 4:
            name = more
    name = f"{date}-session" if name == date else name
    folded, number, numbered = {_folded(other) for other in taken}, 1, name
    while _folded(numbered) in folded:
        number += 1
        numbered = f"{name}-{number}"
    return numbered


def words_of(text: str) -> tuple[str, ...]:
    """Cut a text into the words that a name may hold: folded, NFC, letters and digits of any script."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    marks = (sign if sign.isalnum() or unicodedata.category(sign) in {"Mn", "Mc"} else " " for sign in folded)
    return tuple(word for word in "".join(marks).split() if len(word) in WORD_CHARACTERS and word[0].isalnum())


def topic_of(name: str) -> str:
    """Give the words of a name, without its date, as a query: ``cold start bootstrap``."""
    return " ".join(slug_of(name).split("-"))


def slug_of(name: str) -> str:
    """Give a name without its date: ``cold-start-bootstrap``."""
    return _DATE.sub("", name, count=1)


def aliases(names: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """Give the groups of names that have the same words but for numbers, each in order; others are left out."""
    groups: dict[frozenset[str], list[str]] = {}
    for name in sorted(set(names)):
        words = frozenset(word for word in words_of(slug_of(name)) if not word.isnumeric())
        groups.setdefault(words, []).append(name)
    return tuple(sorted(tuple(group) for group in groups.values() if len(group) > 1))


def _folded(name: str) -> str:
    """Fold a name as the most forgiving file system does."""
    return unicodedata.normalize("NFKD", name).casefold()
