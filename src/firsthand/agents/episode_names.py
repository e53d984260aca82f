"""Names of episodes: a date, and the few words that tell a session from its neighbours (recall-problem 8.4, 9.3).

    2026-11-21-cold-start-bootstrap

A name is the cue by which an agent remembers that there is something to recall, so two
names that differ by a number alone are one name for that purpose ("temporal aliasing",
recall-problem 7.6). The invariant: a name is unique among its neighbours whatever they
are, is a file name on every system (small letters, digits and hyphens of any script,
NFC, at most `NAME_CHARACTERS_MAX` characters and `NAME_BYTES_MAX` bytes), and is the
same for the same arguments.

Pure. It knows no store: how rare a word is there is in the weights that it is given.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

from firsthand.unasked import secrets
from firsthand.value import value

NAME_CHARACTERS_MAX = 80
NAME_BYTES_MAX = 200  # a file system takes 255, and an ending follows
WORDS_MIN, WORDS_MAX = 2, 5
FURTHER_WORDS_MAX = 3  # beyond those, to tell a name from one that it would be an alias of
SERIES_WORDS = 8
"""Of the weightiest words, among which one that a number follows is looked for."""
WORD_CHARACTERS = range(2, 25)
ALIKE = 0.75
"""Share of common words, numbers left out, from which two names are aliases."""

_DATE = re.compile(r"(?:\d{4}-\d\d-\d\d|undated)-?")
_STEM_MIN = 4


@value
class Word:
    """A word that a session is about.

    Attributes:
        text: folded, as `words_of` gives it.
        weight: how much it says; larger is better.
        place: where it first stood, to keep the words of a name in a readable order.
        number: what directly followed it where it first stood, such as ``0032``; empty for nothing.
    """

    text: str
    weight: float
    place: int = 0
    number: str = ""


def distinctive(words: Sequence[Word], date: str, neighbours: Collection[str], *, telling: Sequence[str] = ()) -> str:
    """Name an episode by its weightiest words; where that is an alias of a neighbour, by what tells it apart.

    Args:
        words: what the session is about; a word in many neighbours counts less.
        date: ``2026-11-21``.
        neighbours: names that are taken.
        telling: further words, the best first: files, outcomes, numbers.
    """
    taken = {_same(name): _plain(name) for name in neighbours}
    common = _counts(taken.values())
    ranked = sorted(words, key=lambda word: (-word.weight / (1 + common.get(word.text, 0)), word.place, word.text))
    chosen = _series(words)
    spare: list[Word] = []
    for word in ranked:
        (chosen if len(chosen) < WORDS_MAX - 1 and _adds(word.text, chosen) else spare).append(word)
    last = max((word.place for word in words), default=0)
    spare += [Word(text, 0.0, last + number) for number, line in enumerate(telling, 1) for text in words_of(line)]
    name = _joined(date, chosen)
    for word in spare[:200]:
        if len(chosen) >= WORDS_MIN and not _is_taken(name, taken):
            return name
        if len(chosen) >= WORDS_MAX + FURTHER_WORDS_MAX:
            break
        if _adds(word.text, chosen) and _joined(date, [*chosen, word]) != name:
            chosen.append(word)
            name = _joined(date, chosen)
    if not chosen:
        name = f"{date}-session"
    return _numbered(name, taken)


def words_of(text: str) -> tuple[str, ...]:
    """Cut a text into the words that a name may hold: folded, NFC, letters and digits of any script."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    words: list[str] = []
    run: list[str] = []
    for sign in (*folded, " "):
        if sign.isalnum() or (run and unicodedata.category(sign) in {"Mn", "Mc"}):
            run.append(sign)
        elif run:
            word = "".join(run)
            words += [word] if len(word) in WORD_CHARACTERS else []
            run = []
    return tuple(words)


def topic_of(name: str) -> str:
    """Give the words of a name, without its date, as a query: ``cold start bootstrap``."""
    return " ".join(_DATE.sub("", name, count=1).split("-"))


def slug_of(name: str) -> str:
    """Give a name without its date: ``cold-start-bootstrap``."""
    return _DATE.sub("", name, count=1)


def alike(name: str, other: str) -> bool:
    """Say whether two names are aliases: numbers left out, they have (nearly) the same words."""
    return _alike(_plain(name), _plain(other))


def aliases(names: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """Give the groups of names that are too alike to tell apart, each in order; names that stand alone are left out.

    Time grows with the names that share a word, not with all pairs of names.
    """
    listed = sorted(set(names))
    words = {name: _plain(name) for name in listed}
    common = _counts(words.values())
    group = {name: name for name in listed}

    def root(name: str) -> str:
        while group[name] != name:
            group[name] = group[group[name]]
            name = group[name]
        return name

    first: dict[frozenset[str], str] = {}
    for name in listed:  # names with the very same words are one for what follows
        group[name] = first.setdefault(words[name], name)
    holding: dict[str, list[str]] = {}
    for key, name in sorted(first.items(), key=lambda item: item[1]):
        # Two names of which 3 words in 4 are common share one of the rarest third (and one) of each.
        rarest = sorted(key, key=lambda word: (common[word], word))[: len(key) // 3 + 2]
        near = {other for word in rarest for other in holding.get(word, ())}
        for other in near:
            if _alike(key, words[other]):
                group[root(name)] = root(other)
        for word in key:
            holding.setdefault(word, []).append(name)
    groups: dict[str, list[str]] = {}
    for name in listed:
        groups.setdefault(root(name), []).append(name)
    return tuple(sorted(tuple(group) for group in groups.values() if len(group) > 1))


def _alike(words: frozenset[str], other: frozenset[str]) -> bool:
    return words == other or len(words & other) >= ALIKE * len(words | other)


@lru_cache(maxsize=8_192)  # each new name is held against all that are there
def _plain(name: str) -> frozenset[str]:
    """Give the words of a name that are no numbers."""
    return frozenset(word for word in words_of(_DATE.sub("", name, count=1)) if not word.isnumeric())


def _is_taken(name: str, taken: Mapping[str, frozenset[str]]) -> bool:
    words = _plain(name)
    return any(_alike(words, other) for other in taken.values())


def _same(name: str) -> str:
    """Fold a name as the most forgiving file system does."""
    return unicodedata.normalize("NFKD", name).casefold()


def _series(words: Sequence[Word]) -> list[Word]:
    """Give the word of a series, such as ``medqa 032``: it is what the session will be asked for by."""
    heavy = sorted(words, key=lambda word: (-word.weight, word.place, word.text))[:SERIES_WORDS]
    return [word for word in heavy if word.number and _adds(word.text, [])][:1]


def _adds(word: str, chosen: Sequence[Word]) -> bool:
    """Say whether a word says more than those that are there; no secret becomes part of a name."""
    if secrets.find(word):
        return False
    return not any(
        word == word_of_name.text
        or (
            min(len(word), len(word_of_name.text)) >= _STEM_MIN
            and (word.startswith(word_of_name.text) or word_of_name.text.startswith(word))
            and abs(len(word) - len(word_of_name.text)) <= 3
        )
        for word_of_name in chosen
    )


def _joined(date: str, chosen: Sequence[Word]) -> str:
    """Join words in the order they stood in, as many as a name holds."""
    name = date
    for candidate in sorted(chosen, key=lambda word: (word.place, word.text)):
        more = f"{name}-{candidate.text}" + (f"-{candidate.number}" if candidate.number else "")
        if len(more) <= NAME_CHARACTERS_MAX - 4 and len(more.encode()) <= NAME_BYTES_MAX - 4:
            name = more
    return name


def _numbered(name: str, taken: Mapping[str, frozenset[str]]) -> str:
    """Make a name unique by a number, when there is nothing else."""
    number, numbered = 1, name
    while _same(numbered) in taken:
        number += 1
        end = f"-{number}"
        numbered = name[: NAME_CHARACTERS_MAX - len(end)].rstrip("-") + end
    return numbered


def _counts(groups: Iterable[Collection[str]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for group in groups:
        for word in group:
            counts[word] = counts.get(word, 0) + 1
    return counts
