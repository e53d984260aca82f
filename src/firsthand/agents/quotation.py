"""Words of others on one line of ours: quoted, or as a code span that they cannot close; cut where a sentence ends.

The invariant: what stands between the marks is the text word for word, white space aside, up to a cut, which "..."
marks; it has no line end, so that it poses neither as a heading nor as a line of ours. Pure.
"""

from __future__ import annotations

import re

from firsthand.agents.session_record import CHANGED, FAILED, OPEN, STRINGS
from firsthand.printable import shown
from firsthand.unasked.volunteer import Piece

ASKED_CHARACTERS, ANSWER_CHARACTERS, COMMAND_CHARACTERS = 280, 480, 160
_SENTENCE_END = re.compile(
    r"(?:(?<![\s(]\d)(?<!\A\d)(?<![\s(]\d\d)\.|[!?\u2026\u3002\uff01\uff1f])[\"')\]*_`\u201d]*(?=\s|\Z)"
)
_TICKS = re.compile("`+")
SENTENCE_SHARE = 0.6
"""A sentence that ends earlier leaves out too much: then the cut is between words."""


def piece_line(piece: Piece) -> str:
    """Write a piece of what is on record: what was said in quotes, what a tool was told as code."""
    if piece.withheld or not piece.words.strip():
        words = piece.title
    elif piece.section in (CHANGED, FAILED, OPEN, STRINGS):
        words = code(piece.words, COMMAND_CHARACTERS)
    else:
        words = quoted(piece.words, ANSWER_CHARACTERS if piece.head.startswith("the agent") else ASKED_CHARACTERS)
    return ": ".join(filter(None, (piece.head, words)))


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
