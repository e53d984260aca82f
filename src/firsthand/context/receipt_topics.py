"""What a compaction asks of itself: exact strings of what left, which must be found again (total-recall 9.1).

The invariant: every question is a string that stands in its event character for
character, on one line; the same texts give the same questions; they come from all
along the texts, and a text without an exact string gives none.

This module asks nothing: who has the store recalls and expands, and records what
came of it in the receipt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from firsthand.value import value

STRING_CHARACTERS_MIN, STRING_CHARACTERS_MAX = 6, 100
READ_CHARACTERS_MAX = 4_000  # of the head, the middle and the tail of a text each
_OF_ONE_TEXT = 3  # the best strings of a text that are compared with those of the others
_MATCHES_MAX = 200  # of one part of a text

# Each repetition is bounded, so that a text without a space takes linear time. The number is what a string of that
# sort is worth: how likely it is that it stands in one place only and that a summary would lose it.
_SORTS = (
    # hashes and ids
    (
        4.0,
        re.compile(
            r"(?<![\w-])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=[a-f]{0,40}\d)[0-9a-f]{7,64})(?![\w-])"
        ),
    ),
    # addresses: with a scheme, or a host and its port
    (
        3.0,
        re.compile(
            r"\b[a-z][a-z0-9+.-]{1,15}://[^\s\"'`<>()\[\]{}|\\]{3,80}"
            r"|(?<![\w.:-])(?:[A-Za-z0-9][\w-]{0,40}\.){1,6}[A-Za-z0-9][\w-]{0,40}:\d{2,5}\b"
        ),
    ),
    (3.0, re.compile(r"(?<![\w/.~-])(?:[\w.@~+-]{1,64})?(?:/[\w.@+-]{1,64}){2,16}|\b[A-Z]:(?:\\[\w.@+-]{1,64}){2,16}")),
    (2.5, re.compile(r"\b(?:[A-Z]{2,12}[-_]\d{1,8}|[A-Z]{1,4}\d{3,8}|[A-Z][A-Za-z]{2,40}(?:Error|Exception))\b")),
    (2.0, re.compile(r"\b\d[\d.,:]{0,20}\d? ?(?:ms|s|min|h|[KMGT]i?B|B|%|px|USD|EUR|°C|Hz|kHz|MHz|GHz|rpm|tokens)\b")),
    (1.8, re.compile(r"\b[A-Za-z]{1,40}(?:_[A-Za-z0-9]{1,40}){1,8}\b|\b[a-z]{2,30}(?:[A-Z][a-z0-9]{1,30}){1,6}\b")),
    # quoted; an apostrophe within a word opens and ends nothing
    (1.2, re.compile(r"\"[^\"\n]{4,80}\"|(?<!\w)'[^\s'](?:[^'\n]|(?<=\w)'(?=\w)){3,80}'(?!\w)|`[^`\n]{4,80}`")),
)


@value
class Question:
    """One string that must be found again.

    Attributes:
        id: of the event that it stands in.
        string: as it stands there.
    """

    id: str
    string: str


def questions(texts: Iterable[tuple[str, str]], count: int) -> tuple[Question, ...]:
    """Draw at most ``count`` exact strings from texts, given as id and text in order; the most distinctive first."""
    by_text: list[list[tuple[float, Question]]] = []
    seen: dict[str, int] = {}
    for identifier, text in texts:
        strings = _strings(text)
        for _, string in strings:
            seen[string] = seen.get(string, 0) + 1
        if strings:
            by_text.append([(worth, Question(identifier, string)) for worth, string in strings])
    drawn: list[tuple[float, Question]] = []
    used: set[str] = set()
    parts = min(max(count, 0), len(by_text))
    for part in range(parts):
        options = [
            (worth / seen[question.string], question)
            for strings in by_text[part * len(by_text) // parts : (part + 1) * len(by_text) // parts]
            for worth, question in strings
            if question.string not in used
        ]
        if options:
            best = max(options, key=lambda option: option[0])  # of equal ones the first
            used.add(best[1].string)
            drawn.append(best)
    drawn.sort(key=lambda option: -option[0])
    return tuple(question for _, question in drawn)


def _strings(text: str) -> list[tuple[float, str]]:
    """Give the best exact strings of a text, with what they are worth."""
    worth: dict[str, float] = {}
    for part in _parts(text):
        for value_of_sort, pattern in _SORTS:
            for number, match in enumerate(pattern.finditer(part)):
                if number == _MATCHES_MAX:
                    break
                string = match[0].strip("\"'`.,:")
                if STRING_CHARACTERS_MIN <= len(string) <= STRING_CHARACTERS_MAX and string.isprintable():
                    worth[string] = max(worth.get(string, 0.0), value_of_sort * (1 + min(len(string), 40) / 40))
    best = sorted(worth, key=lambda string: (-worth[string], string))[:_OF_ONE_TEXT]
    return [(worth[string], string) for string in best]


def _parts(text: str) -> list[str]:
    """Take a text, or head, middle and tail of a long one, without the words that the cuts went through."""
    size = READ_CHARACTERS_MAX
    if len(text) <= 3 * size:
        return [text]
    middle = (len(text) - size) // 2
    cut = [text[:size], text[middle : middle + size], text[-size:]]
    head, rest = cut[0].rsplit(None, 1)[0], [part.split(None, 1)[-1] for part in cut[1:]]
    return [head, rest[0].rsplit(None, 1)[0], rest[1]]
