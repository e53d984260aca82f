"""Cuts the passage out of a content that shows best why it was found.

The invariant: a preview is a run of whole signs of the content, and its start is
their byte offset in it. This module knows no storage.
"""

from __future__ import annotations

from collections.abc import Mapping

from firsthand.event import to_text
from firsthand.tokens import estimate
from firsthand.value import value

BYTES_A_TOKEN = 4
_LEAD = 5  # one fifth of a preview stands before the first match


@value
class Preview:
    """A run of a content: its text, where it begins, and its tokens."""

    text: str
    start: int
    tokens: int


def cut(data: bytes, base: int, marks: Mapping[int, float], tokens_max: int) -> Preview:
    """Cut the window that holds the heaviest matches.

    Args:
        data: a passage of the content.
        base: byte offset of the passage in the content.
        marks: byte offset in the passage of each match, and its weight.
        tokens_max: most tokens of the preview.
    """
    size = max(16, tokens_max * BYTES_A_TOKEN)
    while True:
        start = 0 if len(data) <= size else _best_start(data, marks, size)
        end = _sign_start(data, min(len(data), start + size))
        text = to_text(data[start:end])
        tokens = estimate(text)
        if tokens <= tokens_max or size <= 16:
            return Preview(text, base + start, tokens)
        size = max(16, min(size * tokens_max // tokens, size - 16))


def _best_start(data: bytes, marks: Mapping[int, float], size: int) -> int:
    """Slide a window over the matches; of equal ones the first wins."""
    places = sorted(marks)
    best, best_weight, low, weight = 0, 0.0, 0, 0.0
    reach = size - size // _LEAD
    for high, place in enumerate(places):
        weight += marks[place]
        while place - places[low] > reach:
            weight -= marks[places[low]]
            low += 1
        if weight > best_weight + 1e-9:
            best, best_weight = low, weight
        assert high >= low
    if not places:
        return 0
    start = max(0, min(places[best] - size // _LEAD, len(data) - size))
    return _tidy_start(data, start, places[best])


def _tidy_start(data: bytes, start: int, match: int) -> int:
    """Begin at a line, else at a word, when one begins before the match."""
    if start == 0:
        return 0
    line = data.find(b"\n", start - 1, match)
    if line >= 0:
        return line + 1
    space = data.find(b" ", start - 1, match)
    return space + 1 if space >= 0 else _sign_start(data, start)


def _sign_start(data: bytes, at: int) -> int:
    """Step back to the first byte of a sign."""
    low = max(0, at - 3)
    while at > low and at < len(data) and data[at] & 0xC0 == 0x80:
        at -= 1
    return at
