"""Words of others on one line of ours: quoted, or as a code span that they cannot close; cut where a sentence ends.

The invariant: what stands between the marks is the text word for word, white space aside, up to a cut, which "..."
marks; it has no line end, so that it poses neither as a heading nor as a line of ours. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile

from firsthand.printable import shown

_SENTENCE_END = re.compile(
    r"(?:(?<![\s(]\d)(?<!\A\d)(?<![\s(]\d\d)\.|[!?\u2026\u3002\uff01\uff1f])[\"')\]*_`\u201d]*(?=\s|\Z)"
)
_TICKS = re.compile("`+")
TEMPLATE_CHARACTERS_MIN = 40
SENTENCE_SHARE = 0.3
"""A sentence that ends earlier leaves out too much: then the cut is between words."""


def quoted(text: str, characters_max: int, *, at_sentence: bool = True) -> str:
    """Quote what somebody said, on one line."""
    return f"\u201c{line(text, characters_max, at_sentence=at_sentence)}\u201d"


def code(text: str, characters_max: int) -> str:
    """Quote what a tool was told as a code span that its own backticks do not close."""
    plain = line(text, characters_max, at_sentence=False)
    ticks = "`" * (max((len(run) for run in _TICKS.findall(plain)), default=0) + 1)
    return f"{ticks} {plain} {ticks}" if len(ticks) > 1 else f"`{plain}`"


def line(text: str, characters_max: int, *, at_sentence: bool = True) -> str:
    """Make one line of a text; what is cut off is marked."""
    most = 4 * characters_max + 400
    flat = shown(" ".join(text[:most].split()))
    if len(flat) <= characters_max and len(text) <= most:
        return flat
    cut = flat[: characters_max - 4]
    ends = [end.end() for end in _SENTENCE_END.finditer(cut)] if at_sentence else []
    if ends and ends[-1] >= SENTENCE_SHARE * characters_max:
        return f"{cut[: ends[-1]]} ..."
    at_word = cut.rfind(" ", characters_max // 2)
    return (cut[:at_word] if at_word > 0 else cut).rstrip() + "..."


def without_template(text: str, others: Iterable[str]) -> str:
    """Leave out how a text begins where another one begins the same way, as what a template puts into each does."""
    shared = max((_shared(text, other) for other in others if other != text), default=0)
    if shared < TEMPLATE_CHARACTERS_MIN:
        return text
    at = text.rfind(" ", 0, shared) + 1
    return f"... {text[at:]}" if text[at:].strip() else text


def _shared(text: str, other: str) -> int:
    """Count the signs with which two texts begin alike."""
    return sum(1 for _ in takewhile(lambda signs: signs[0] == signs[1], zip(text, other, strict=False)))
