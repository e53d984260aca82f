"""Cuts a text into words, each with a sign for what it may be in the name of a time.

"two weeks ago" is ``NUo``: names of times are patterns over the signs, which are few,
short and linear; patterns over the words themselves took 70 ms to compile.

The invariant: one sign for each word, whatever the text. This module does not know
which times the signs name.
"""

from __future__ import annotations

import re
from functools import cache

from firsthand.value import value

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "couple": 2, "few": 3, "several": 4,
}  # fmt: skip
ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "last": -1}
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
HOURS = {"morning": (5, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (19, 30)}
UNITS = {
    "minute": 1 / 1440, "hour": 1 / 24, "morning": 1, "afternoon": 1, "evening": 1, "night": 1, "day": 1, "weekend": 7,
    "week": 7, "month": 30, "quarter": 91, "year": 365,
}  # fmt: skip
"""In days."""

NOTHING, BREAK = "x", "|"
_SIGNS = {
    "M": (*MONTHS, *(name[:3] for name in MONTHS), "sept"),
    "W": (*WEEKDAYS, "tues", "thurs"),
    "S": tuple(SEASONS),
    "P": tuple(HOURS),
    "U": tuple(name + end for name in UNITS if name not in HOURS for end in ("", "s")),
    "N": tuple(name for name, number in NUMBERS.items() if number > 1 and name not in {"couple", "few", "several"}),
    "A": ("a", "an", "one"), "F": ("couple", "few", "several"), "r": tuple(n for n in ORDINALS if n != "last"),
    "Q": ("q1", "q2", "q3", "q4"), "y": ("yesterday",), "t": ("today",), "g": ("tonight",), "o": ("ago",),
    "l": ("last",), "p": ("past", "previous"), "h": ("this", "current"), "e": ("early", "mid", "late"),
    "E": ("beginning", "start", "middle", "end"), "d": ("the",), "O": ("of",), "b": ("before", "prior"),
    "a": ("after", "following"), "s": ("since",), "u": ("until", "till"), "B": ("by",), "w": ("between",),
    "f": ("from",), "T": ("to", "through", "-", "\u2013", "\u2014"), "n": ("and",), "c": ("as",), "i": ("in",),
    "k": ("next", "coming", "upcoming"),
    "j": ("on", "during", "around", "for", "at", "within", "over"),
}  # fmt: skip
_AROUND = "\"'`.,;:!?()[]{}<>*_\u201c\u201d\u2018\u2019\u2026"
_ENDS = (".", ";", ":", "!", "?", ")", "]", "\u2026")
# Strings, which `re` compiles when they are first used: few processes ever climb so far.
_DAY = r"(?:0?[1-9]|[12][0-9]|3[01])(st|nd|rd|th)?\Z"
_NUMBER = r"[0-9]{1,4}\Z"
_DATE = (
    r"(?a:\d{4}-\d\d(?:-\d\d)?(?:[Tt]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:[Zz]|[+-]\d\d:?\d\d)?)?\Z"
    r"|\d{4}/\d\d?/\d\d?\Z|\d\d?([/.])\d\d?\1(?:19|20)\d\d\Z)"
)
_CLOCK = r"(?a:\d\d?:\d\d(?::\d\d)?\Z)"


@value
class Words:
    """A text cut into words.

    Attributes:
        text: with its runs of space evened out.
        words: in lower case, without the punctuation around them.
        places: where each begins and ends in the text, its punctuation included.
        signs: one for each word and one after each phrase's end; a sign's index is its word's.
    """

    text: str
    words: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    signs: str

    def said(self, start: int, end: int) -> str:
        """Give the words from one up to another as they stand in the text."""
        return self.text[self.places[start][0] : self.places[end - 1][1]] if start < end else ""


def cut(text: str) -> Words:
    """Cut a text into words and give each its sign; the end of a phrase counts as a word without letters."""
    plain = " ".join(text.split())
    known = _known()
    words: list[str] = []
    places: list[tuple[int, int]] = []
    signs: list[str] = []
    at = 0
    for piece in plain.split(" "):
        end = at + len(piece)
        for half in _halves(piece):
            word = half.strip(_AROUND).lower()
            word = word.rstrip("-") or word  # of "mid-May"; a lone dash joins two times
            word = word[:-2] if word.endswith(("'s", "\u2019s")) else word
            words.append(word)
            places.append((at, at + len(half)))
            signs.append(known.get(word) or _shape(word))
            at += len(half)
        if piece.endswith(_ENDS) and not (signs[-1] == "M" and piece.endswith(".")):
            words.append("")
            places.append((end, end))
            signs.append(BREAK)
        at = end + 1
    return Words(plain, tuple(words), tuple(places), "".join(signs))


def _halves(piece: str) -> list[str]:
    """Cut "mid-May" in two; everything else is one word."""
    first, joint, second = piece.partition("-")
    return [first + joint, second] if joint and second and first.lower() in {"early", "mid", "late"} else [piece]


def _shape(word: str) -> str:
    """Give the sign of a word by the signs in it."""
    if not word[:1].isdigit():
        return NOTHING
    if (day := re.match(_DAY, word)) is not None:
        return "R" if day[1] else "D"
    if re.match(_NUMBER, word):
        return "Y" if word[:2] in {"19", "20"} and len(word) == 4 else "N"
    if re.match(_DATE, word):
        return "I"
    return "H" if re.match(_CLOCK, word) else NOTHING


@cache
def _known() -> dict[str, str]:
    return {word: sign for sign, words in reversed(_SIGNS.items()) for word in words}
