"""Cuts the passage out of a content that shows best why it was found.

The invariant: a preview is a run of whole signs of the content, and its start is
their byte offset in it. This module knows no storage.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

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


@value
class Mark:
    """A match: what it is a match of, and what that is worth."""

    key: str
    weight: float


def cut(data: bytes, base: int, marks: Callable[[], Mapping[int, Mark]], tokens_max: int) -> Preview:
    """Cut the window that holds the heaviest matches, each word of the query counted once.

    Args:
        data: a passage of the content.
        base: byte offset of the passage in the content.
        marks: gives the matches by byte offset in the passage; asked for where not all of it is shown.
        tokens_max: most tokens of the preview.
    """
    size = max(16, tokens_max * BYTES_A_TOKEN)
    found: Mapping[int, Mark] | None = None
    while True:
        found = marks() if found is None and len(data) > size else found
        start = _best_start(data, found, size) if found is not None else 0
        end = _sign_start(data, min(len(data), start + size))
        text = to_text(data[start:end])
        tokens = estimate(text)
        if tokens <= tokens_max or size <= 16:
            return Preview(text, base + start, tokens)
        size = max(16, min(size * tokens_max // tokens, size - 16))


def _best_start(data: bytes, marks: Mapping[int, Mark], size: int) -> int:
    """Slide a window over the matches: the most worth wins, then the closest together, then the first.

    A word that stands there ten times says no more than once: where the query's words
    stand together is where it is answered.
    """
    places = sorted(marks)
    if not places:
        return 0
    reach = size - size // _LEAD
    here: dict[str, int] = {}
    low, weight = 0, 0.0
    best, best_weight, best_span = places[0], 0.0, 0
    for place in places:
        mark = marks[place]
        here[mark.key] = here.get(mark.key, 0) + 1
        weight += mark.weight if here[mark.key] == 1 else 0.0
        while place - places[low] > reach or here[marks[places[low]].key] > 1:
            first = marks[places[low]]
            here[first.key] -= 1
            weight -= 0.0 if here[first.key] else first.weight
            low += 1
        span = place - places[low]
        if weight > best_weight + 1e-9 or (weight > best_weight - 1e-9 and span < best_span):
            best, best_weight, best_span = places[low], weight, span
    start = max(0, min(best - size // _LEAD, len(data) - size))
    return _tidy_start(data, start, best)


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
