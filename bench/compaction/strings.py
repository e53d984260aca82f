"""Exact strings in text, by class: what a summary loses first, and what an agent must not get wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator

CLASSES: dict[str, re.Pattern[str]] = {
    "path": re.compile(r"(?<![\w/.])(?:\.{0,2}/)?(?:[\w@.-]+/){1,12}[\w@-]+\.?[\w-]*(?<![.-])"),
    "hash": re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b"),
    "identifier": re.compile(
        r"\b(?:[A-Za-z]+(?:_[A-Za-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+|(?:[A-Z][a-z0-9]+){2,}|[A-Z]+-?\d{2,}\w*)\b"
        r"|\b(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{5,12}\b"
    ),
    "error": re.compile(
        r"(?<!\w)[^\n]{0,60}\b(?:[A-Z]\w*(?:Error|Exception)|error TS\d+|ENOENT|EACCES|fatal)\b[^\n]{0,60}(?!\w)"
    ),
    "number": re.compile(r"(?<![\w.:-])\d{3,12}(?:\.\d+)?(?![\w.:-])|(?<![\w.])\d{1,12}\.\d{2,12}(?![\w.])"),
}
"""Identifiers of code and of tickets; numbers of three digits and more; errors as the line around them."""
STRING_CHARACTERS_MIN, STRING_CHARACTERS_MAX = 3, 120
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def of(text: str, kind: str) -> Iterator[re.Match[str]]:
    """Yield where exact strings of a class stand in a text."""
    for match in CLASSES[kind].finditer(text):
        if STRING_CHARACTERS_MIN <= len(match[0].strip()) <= STRING_CHARACTERS_MAX:
            yield match


def count(text: str) -> int:
    """Count the exact strings of all classes."""
    return sum(1 for kind in CLASSES for _ in of(text, kind))


def stands(string: str, text: str) -> bool:
    """Say whether a string stands in a text for itself, not as a piece of a longer one."""
    at = text.find(string)
    while at >= 0:
        before = text[at - 1 : at] if at else ""
        after = text[at + len(string) : at + len(string) + 1]
        if not (before.isalnum() and string[0].isalnum()) and not (after.isalnum() and string[-1].isalnum()):
            return True
        at = text.find(string, at + 1)
    return False


def sentences(text: str) -> list[str]:
    """Cut a text into its lines and sentences."""
    return [one.strip() for one in _SENTENCE.split(text) if one and one.strip()]
