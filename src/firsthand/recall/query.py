"""Cuts a question into the terms that the index is asked for.

Any text is a question, and no character of it is an operator. What the index cuts a
document into, a question is cut into too, by the index's own rules: stemmed words, exact
strings, pairs of signs in scripts without spaces. A word in camel case is also looked up by
its parts. What is asked has a deadline, too.

The invariant: linear time, and the same text gives the same terms. It knows no storage.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from firsthand.index import words
from firsthand.value import value

from .stop_words import STOP_WORDS

LEADING_MAX = 512
"""Most terms whose frequency is looked up; of a longer question the longest words are taken."""
STRINGS_MAX = 16
LIGHT_MAX = 32

_WORD = re.compile(r"[^\W_]+")
_HUMPS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

Stems = Callable[[str], list[str]]


@value
class Term:
    """One thing that the index is asked for: the token in the index, and the word as the question spells it."""

    key: str
    word: str


@value
class Question:
    """A question, cut up.

    Attributes:
        words: the terms that find something by themselves.
        parts: of words in camel case.
        strings: exact strings, by the token that the index has of each.
        light: stop words, which only count where nothing else is asked; none where an exact string alone is asked.
        cut: how many distinct words were left aside because there were too many.
    """

    text: str
    words: tuple[Term, ...]
    parts: tuple[Term, ...]
    strings: tuple[Term, ...]
    light: tuple[Term, ...]
    cut: int = 0

    @property
    def leading(self) -> tuple[Term, ...]:
        """Give the terms that may find something by themselves: stop words only where there is nothing else."""
        return (*self.words, *self.parts) or self.light


def ask(text: str, stems: Stems) -> Question:
    """Cut a text into its terms."""
    plain = words.without_spaceless(text)
    spelled = _WORD.findall(plain + words.unpadded(plain))
    leads: dict[str, str] = {}
    light: dict[str, str] = {}
    parts: dict[str, str] = {}
    strings = words.exact_strings(text)[:STRINGS_MAX]
    alone = strings == [text.strip()]
    for word in dict.fromkeys(spelled):
        into = light if word.lower() in STOP_WORDS and not alone else leads
        for stem in stems(word):
            into.setdefault(stem, word)
        for part in _HUMPS.sub(" ", word).split() if not word.islower() and not word.isupper() else ():
            if part != word and len(part) > 1 and part.lower() not in STOP_WORDS:
                parts.update((stem, part) for stem in stems(part))
    for pair in words.spaceless_pairs(text):
        leads.setdefault(words.token(pair), pair)
    for day, iso in words.dates(plain):
        leads.setdefault(words.token(iso), day)
    chosen = sorted(leads, key=lambda key: (-len(leads[key]), key))[:LEADING_MAX] if len(leads) > LEADING_MAX else leads
    return Question(
        text,
        tuple(Term(key, leads[key]) for key in chosen),
        tuple(Term(key, word) for key, word in parts.items() if key not in leads),
        tuple(Term(words.token(string.casefold()), string) for string in strings),
        tuple(Term(key, word) for key, word in light.items())[:LIGHT_MAX],
        len(leads) - len(chosen),
    )


class Deadline:
    """Counts down from the moment it is made.

    Attributes:
        passed: True once a look at the clock came too late.
    """

    def __init__(self, milliseconds: float) -> None:
        self._at = time.monotonic() + milliseconds / 1000
        self.passed = False

    def __call__(self) -> bool:
        """Say whether it is time to stop."""
        self.passed = self.passed or time.monotonic() >= self._at
        return self.passed
