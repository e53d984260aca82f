"""Makes the hits of an answer: places with previews that share a budget of tokens.

The invariant: all previews together, with what stands around them as the reader writes
it, keep to the budget; where there is text to show the budget is used. What one preview
does not need goes to the others. It ranks nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

from firsthand.answer import Hit
from firsthand.event import Event, to_bytes
from firsthand.pointer import Pointer
from firsthand.tokens import TokenCounter, estimate
from firsthand.value import replace, value

from .snippets import Mark, Marks, Reading, Snippet, all_of, cut

LEAST_TOKENS = 100
"""Of a preview that is cut: with less room there are fewer hits."""
SHORT_TOKENS = 80
"""Most tokens of what stands beside the hits: companions, and what the user said."""
KNOWN_SHARE, KNOWN_CHARACTERS_MIN = 0.15, 12
"""What a word weighs in a line that stands in a preview above; a shorter line stands in many texts."""
SPARE_SHARE = 0.03
"""Of the budget: with less left over no preview is cut again."""


@value
class Layout:
    """How a reader will write an answer, and what it does not want in it.

    Attributes:
        count: counts the tokens of a preview as it will be written.
        lines: counts what is written beside each preview; the hits that it is given have none yet.
        in_view: ids of events that the reader sees anyway: they take no place, and their hits have no preview.
        leaves_out: says of an event that it is no answer, as the question itself.
    """

    count: TokenCounter = estimate
    lines: Callable[[Sequence[Hit]], Sequence[int]] = lambda hits: [0] * len(hits)
    in_view: Collection[str] = frozenset()
    leaves_out: Callable[[Event], bool] | None = None


@value
class Item:
    """One event that is to be shown.

    Attributes:
        hit: all of it but the preview.
        readings: the stretches of its content to cut the preview from, the best first; none of what is no text.
        label: what is shown of a content that is no text; empty for text.
        short: it stands beside the hits, and has at most `SHORT_TOKENS`.
        shown: False for what has no preview.
    """

    hit: Hit
    readings: Sequence[Reading]
    label: str = ""
    short: bool = False
    shown: bool = True


_NOTHING = Snippet("", (), 0)


@value(frozen=False)
class _Cutting:
    """An item on its way to a hit: all of its text, what it needs, what it is granted, what was cut."""

    item: Item
    whole: Snippet
    needed: int
    granted: int = 0
    snippet: Snippet = _NOTHING


def hits_of(items: Sequence[Item], marks: Marks, tokens_max: int, layout: Layout) -> list[Hit]:
    """Give the hits of the items, in their order, as many of them as have room; at least one.

    Args:
        marks: finds the words of the question in a text.
        tokens_max: of all previews and what stands beside them together.
    """
    cuttings: list[_Cutting] = []
    room = left = tokens_max
    lines = layout.lines([item.hit for item in items])
    for item, line in zip(items, lines, strict=True):
        whole = _whole(item, tokens_max, layout.count)
        needed = min(whole.tokens, SHORT_TOKENS if item.short else tokens_max)
        least = line + min(needed, LEAST_TOKENS)
        if least > room and cuttings:
            if item.short:
                continue
            break
        room -= least
        left = max(0, left - line)
        cuttings.append(_Cutting(item, whole, needed))
    for cutting, granted in zip(cuttings, shares([cutting.needed for cutting in cuttings], left), strict=True):
        cutting.granted = granted
    _cut(cuttings, marks, left, layout.count)
    return [_hit(cutting) for cutting in cuttings]


def shares(needed: Sequence[int], tokens: int) -> list[int]:
    """Share tokens out: what the short ones do not need, the long ones get, all alike."""
    granted = [0] * len(needed)
    for done, at in enumerate(sorted(range(len(needed)), key=lambda at: needed[at])):
        granted[at] = min(needed[at], max(0, tokens) // (len(needed) - done))
        tokens -= granted[at]
    return granted


def _whole(item: Item, tokens_max: int, count: TokenCounter) -> Snippet:
    """Give all of an item's text, with its tokens as far as it may have them."""
    if item.label:
        return Snippet(item.label, (), count(item.label))
    most = min(tokens_max, SHORT_TOKENS) if item.short else tokens_max
    return all_of(item.readings, count, most) if item.readings else _NOTHING


def _cut(cuttings: Sequence[_Cutting], marks: Marks, left: int, count: TokenCounter) -> None:
    """Cut the previews; what one leaves over goes to the next, and at the end to the first that was cut."""
    spare = 0
    known: set[bytes] = set()  # lines that stand in a preview above: the same file is often read many times
    for cutting in cuttings:
        if cutting.item.readings:
            most = max(1, min(cutting.granted + spare, cutting.needed))
            cutting.snippet = cut(cutting.item.readings, partial(_fresh, marks, known), most, count, cutting.whole)
            spare += cutting.granted - cutting.snippet.tokens
            known.update(_lines(cutting.snippet.text))
        else:
            cutting.snippet = cutting.whole
    for cutting in cuttings:
        if spare <= SPARE_SHARE * left:
            break
        if cutting.item.readings and cutting.snippet.tokens < cutting.needed and not cutting.item.short:
            most = min(cutting.needed, cutting.snippet.tokens + spare)
            longer = cut(cutting.item.readings, marks, most, count, cutting.whole)
            spare -= longer.tokens - cutting.snippet.tokens
            cutting.snippet = longer


def _fresh(marks: Marks, known: Collection[bytes], data: bytes) -> list[Mark]:
    """Find words in a text; those in lines that are known already weigh little."""
    return [
        replace(mark, weight=mark.weight * KNOWN_SHARE) if _line(data, mark.start) in known else mark
        for mark in marks(data)
    ]


def _line(data: bytes, at: int) -> bytes:
    """Give the line that a place stands in."""
    return data[data.rfind(b"\n", 0, at) + 1 : (data.find(b"\n", at) + 1 or len(data) + 1) - 1].strip()


def _lines(text: str) -> Iterator[bytes]:
    """Yield the lines of a preview that are long enough to be told from others."""
    for line in text.split("\n"):
        if len(line.strip()) >= KNOWN_CHARACTERS_MIN:
            yield to_bytes(line.strip())


def _hit(cutting: _Cutting) -> Hit:
    hit, snippet = cutting.item.hit, cutting.snippet
    first = hit.pointer.removeprefix("fh:")
    spans = (str(Pointer(first, unit="bytes", start=part.start, end=part.end)) for part in snippet.ranges)
    return replace(hit, preview=snippet.text, spans=tuple(spans))
