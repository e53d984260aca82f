"""Cues: names shown to remind, not to inform; about 80 tokens a message in all (recall-problem 6.1, 11.5).

    Episodes (3 of 72): 2026-03-15-cold-start-bootstrap, ...; Knowledge: retry-policy

A window of the newest names covers k of n episodes, ever less of a growing memory
(8.5). So most of the room goes to names that share words with the message, weighed
by how few names share them, and a part of it to the newest names whatever they say.

The invariant: at most the tokens asked for, by the counter given; at least one name
when any name fits; the same arguments give the same line. No index and no network is
asked: what is broken behind it cannot break it (6.3).

Words match by their beginnings, up to a known ending; numbers and what is joined of
letters and digits match exactly, but for leading zeros. Time is linear in the text of
the names, with a factor for the words of the message, of which `TERMS_MAX` are taken.

Pure: it knows names, not where they come from.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import accumulate, islice
from math import log

from firsthand.errors import InvalidArgument
from firsthand.printable import shown
from firsthand.tokens import TokenCounter, estimate
from firsthand.value import value
from firsthand.window import BUDGET_TOKENS_MAX

TOKENS_MAX = 80
TERMS_MAX = 64
"""Words of a message that are looked for: the first and the last ones."""
NAMES_MAX = 32
"""In one line, whatever its budget."""
TRIED_MAX = 24
"""Names that are tried for room in a line, the best first."""
NAME_CHARACTERS_MAX = 120
ABOUT_CHARACTERS_MAX = 2_000
"""Of what a name is about, that are looked at."""
RECENT_EACH = 3
"""One name in so many is chosen because it is new, when others are chosen because they match."""
ABOUT_WEIGHT = 0.6
"""A word in what a name is about, beside one in the name itself."""
RECENCY_WEIGHT = 0.15
"""How much more the newest name counts than an old one that matches as well."""
STEM_MIN = 4
HOLDERS_SHARE, HOLDERS_MIN = 0.1, 50
"""A word that more of the names hold than this share, and this number, tells nothing apart and is not looked at."""
_WORD = r"[^\W_]+"
_JOINED = r"[^\W_]+(?:[-_./][^\W_]+)+"
_compiled = cache(partial(re.compile))
_ENDINGS = (
    "ations", "ation", "ments", "ment", "ings", "ing", "ions", "ion", "ers", "ies", "ied", "ed", "er", "es", "ly", "al",
    "or", "ors", "s", "e", "y", "en", "n",
)  # fmt: skip
_TAILS = frozenset({"", *_ENDINGS, "ated", "ating", "ate", "ates", "ator", "ators", "able", "ability", "ized", "izing",
                    "ize", "ization", "ity", "ive", "ance", "ence", "est", "ally", "ic", "ical"})  # fmt: skip


@value
class Named:
    """A name that can remind.

    Attributes:
        name: as it is shown, and as it can be asked for.
        group: what it names, as the line's label: ``Episodes``.
        about: further words of what it names, such as the topic; they are not shown.
    """

    name: str
    group: str
    about: str = ""


@value
class Cues:
    """The names chosen for a message.

    Attributes:
        names: the best first.
        text: the line that shows them; empty when there are none.
        matched: how many of the names were chosen since they share words with the message.
        of: how many names there were to choose from.
    """

    names: tuple[str, ...] = ()
    text: str = ""
    matched: int = 0
    of: int = 0


def terms(message: str, *, without: Collection[str] = ()) -> tuple[str, ...]:
    """Give the words of a message to look for, each once, in small letters; joined ones also whole.

    Args:
        without: words that say nothing.
    """
    small = message.casefold()
    words = dict.fromkeys(word for word in _compiled(_WORD).findall(small) if word not in without)
    plain = [word for word in words if len(word) > 1 or word.isdigit() or not word.isascii()]
    joined = [term for term in dict.fromkeys(_compiled(_JOINED).findall(small)) if any(map(str.isdigit, term))]
    plain = [*joined, *plain]
    return tuple(plain) if len(plain) <= TERMS_MAX else (*plain[: TERMS_MAX // 2], *plain[-TERMS_MAX // 2 :])


def cues(
    names: Sequence[Named], query_terms: Sequence[str], *, tokens_max: int = TOKENS_MAX, count: TokenCounter = estimate
) -> Cues:
    """Choose the names to show with a message.

    Args:
        names: the newest first.
        query_terms: of the message, as `terms` gives them.
        tokens_max: of the line.

    Raises:
        InvalidArgument: ``tokens_max`` is no number of tokens.
    """
    if isinstance(tokens_max, bool) or not isinstance(tokens_max, int) or not 1 <= tokens_max <= BUDGET_TOKENS_MAX:
        raise InvalidArgument(f"tokens_max is a whole number from 1 to {BUDGET_TOKENS_MAX:,}; got {tokens_max!r}")
    scores = relevances(names, query_terms)
    sizes = Counter(name.group for name in names)
    chosen: list[Named] = []
    text, matched = "", 0
    for at in islice(_in_turn(scores, len(names)), TRIED_MAX):
        longer = _text([*chosen, names[at]], sizes)
        if count(longer) > tokens_max:
            continue  # a shorter name may have room
        chosen.append(names[at])
        text, matched = longer, matched + (at in scores)
        if len(chosen) == NAMES_MAX:
            break
    return Cues(tuple(name.name for name in chosen), text, matched, len(names))


def relevances(names: Sequence[Named], query_terms: Sequence[str]) -> dict[int, float]:
    """Say how far each name that shares words with a message is what the message is about; the others are left out."""
    plain = [name.name.casefold()[:NAME_CHARACTERS_MAX] for name in names]
    about = [name.about.casefold()[:ABOUT_CHARACTERS_MAX] for name in names]
    where = [(_Text(plain), 1.0), (_Text(about), ABOUT_WEIGHT)]
    total = len(names)
    holders_max = max(HOLDERS_MIN, int(total * HOLDERS_SHARE))
    scores: dict[int, float] = {}
    for term in dict.fromkeys(map(stem, query_terms[:TERMS_MAX])):
        by_place: dict[int, float] = {}
        for texts, weight in where:
            for at in texts.holders(term, holders_max):
                by_place[at] = max(weight, by_place.get(at, 0.0))
        if not by_place or len(by_place) > holders_max:
            continue
        rare = log(1.0 + (total - len(by_place) + 0.5) / (len(by_place) + 0.5))
        for at, weight in by_place.items():
            scores[at] = scores.get(at, 0.0) + rare * weight
    return {at: score * (1.0 + RECENCY_WEIGHT / (1.0 + at / 10)) for at, score in scores.items()}


def stem(word: str) -> str:
    """Take one known ending off a word, if enough of it stays; numbers and mixed words stay as they are."""
    if not word.isalpha():
        return word.lstrip("0") or word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= STEM_MIN:
            bare = word[: -len(ending)]
            doubled = len(bare) > STEM_MIN and bare[-1] == bare[-2] and bare[-1] not in "aeiouls"
            return bare[:-1] if doubled else bare  # bootstrapping
    return word


class _Text:
    """Many short texts as one, in which a word is looked for."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._all = "\n".join(texts)
        self._starts = [0, *accumulate(len(text) + 1 for text in texts)]

    def holders(self, term: str, holders_max: int) -> set[int]:
        """Say which of the texts hold a word that begins with a stem and goes on with nothing but an ending.

        Goes no further than one holder over the number that counts.
        """
        holders: set[int] = set()
        text, exact = self._all, not term.isalpha()
        at = text.find(term)
        while at >= 0 and len(holders) <= holders_max:
            end = at + len(term)
            if self._begins(at, exact) and self._ends(end, exact):
                number = bisect_right(self._starts, at) - 1
                holders.add(number)
                end = self._starts[number + 1]  # this one is found
            at = text.find(term, max(end, at + 1))
        return holders

    def _begins(self, at: int, exact: bool) -> bool:
        text = self._all
        while exact and at and text[at - 1] == "0":
            at -= 1
        return not at or not text[at - 1].isalnum() or (exact and text[at].isdigit() != text[at - 1].isdigit())

    def _ends(self, at: int, exact: bool) -> bool:
        text, end = self._all, at
        if exact:
            return at >= len(text) or not text[at].isalnum()
        if at and not text[at - 1].isascii():  # a script whose endings, if it has any, are not known here
            return True
        while end < len(text) and end - at < 8 and text[end].isalpha():
            end += 1
        tail = text[at:end]
        known = tail in _TAILS or (tail[:1] == text[at - 1] and tail[1:] in _TAILS)
        return known and (end >= len(text) or not text[end].isalpha())


def _in_turn(scores: dict[int, float], total: int) -> Iterator[int]:
    """Yield the names by relevance, each few of them the newest one that was not yet."""
    best = sorted(scores, key=lambda at: (-scores[at], at))
    newest = iter(range(total))
    taken: set[int] = set()
    for number, at in enumerate(best, 1):
        if at not in taken:
            taken.add(at)
            yield at
        if number % RECENT_EACH == RECENT_EACH - 1:
            recent = next((number for number in newest if number not in taken), None)
            if recent is not None:
                taken.add(recent)
                yield recent
    yield from (at for at in newest if at not in taken)


def _text(chosen: Sequence[Named], sizes: Mapping[str, int]) -> str:
    """Write the line: by group, in the order in which their first names were chosen."""
    groups: dict[str, list[str]] = {}
    for name in chosen:
        groups.setdefault(name.group, []).append(_shown(name.name))
    parts = []
    for group, members in groups.items():
        of = f" ({len(members)} of {sizes[group]:,})" if len(members) < sizes[group] else ""
        parts.append(f"{group}{of}: {', '.join(members)}")
    return "; ".join(parts)


def _shown(name: str) -> str:
    clean = shown(" ".join(name.split()))
    return clean if len(clean) <= NAME_CHARACTERS_MAX else f"{clean[: NAME_CHARACTERS_MAX - 3]}..."
