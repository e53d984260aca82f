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
LEADING_HITS = 2
"""So many hits have room first; then those of the very best passages, whatever place they have."""
FIRST_HITS = 8
"""So many hits have room before what stands beside them."""
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
        passages: how many of the best passages are its own: a preview of several has as many shares of the tokens.
        leads: one of the very best passages is its own, and it has room before what stands beside the hits.
    """

    hit: Hit
    readings: Sequence[Reading]
    label: str = ""
    short: bool = False
    shown: bool = True
    passages: int = 1
    leads: bool = False


_NOTHING = Snippet("", (), 0)


@value(frozen=False)
class _Cutting:
    """An item on its way to a hit: its text, the tokens it needs and those of its line, what it is granted, the cut."""

    item: Item
    whole: Snippet
    needed: int
    line: int
    granted: int = 0
    snippet: Snippet = _NOTHING

    @property
    def least(self) -> int:
        """How many tokens it takes at the least, with the line beside it."""
        return self.line + min(self.needed, LEAST_TOKENS)


def hits_of(items: Sequence[Item], marks: Marks, tokens_max: int, layout: Layout) -> list[Hit]:
    """Give the hits of the items, in their order, as many of them as have room; at least one.

    Args:
        marks: finds the words of the question in a text.
        tokens_max: of all previews and what stands beside them together.
    """
    lines = layout.lines([item.hit for item in items])
    cuttings = _with_room(items, lines, tokens_max, layout.count)
    _grant(cuttings, tokens_max - sum(cutting.line for cutting in cuttings))
    _cut(cuttings, marks, layout.count)
    _fill(cuttings, marks, tokens_max, layout)
    return [_hit(cutting) for cutting in cuttings]


def _with_room(items: Sequence[Item], lines: Sequence[int], tokens_max: int, count: TokenCounter) -> list[_Cutting]:
    """Choose the items that have room: the first hits, what the user said, further hits, then companions.

    Args:
        lines: tokens of what is written beside each.
    """
    cuttings: list[_Cutting] = []
    for item, line in zip(items, lines, strict=True):
        whole = _whole(item, tokens_max, count)
        cuttings.append(_Cutting(item, whole, min(whole.tokens, SHORT_TOKENS if item.short else tokens_max), line))
    numbers: dict[str, list[int]] = {"hits": [], "messages": [], "companions": []}
    for number, item in enumerate(items):
        numbers["companions" if item.hit.companion_of else "messages" if item.short else "hits"].append(number)
    hits, others = numbers["hits"][:LEADING_HITS], numbers["hits"][LEADING_HITS:]
    others.sort(key=lambda number: not items[number].leads)  # stable: else they stay in their order
    hits, further = [*hits, *others[: FIRST_HITS - LEADING_HITS]], others[FIRST_HITS - LEADING_HITS :]
    room, is_full = tokens_max, False
    chosen: list[int] = []
    for number in (*hits, *numbers["messages"], *further, *numbers["companions"]):
        is_short, least = items[number].short, cuttings[number].least
        if (least > room and chosen) or (is_full and not is_short):
            is_full |= not is_short
            continue
        room -= least
        chosen.append(number)
    return [cuttings[number] for number in sorted(chosen)]


def _grant(cuttings: Sequence[_Cutting], tokens: int) -> None:
    """Share tokens out by passages: what the short previews do not need, the long ones get."""
    passages = sum(cutting.item.passages for cutting in cuttings)
    for cutting in sorted(cuttings, key=lambda cutting: cutting.needed / cutting.item.passages):
        cutting.granted = min(cutting.needed, max(0, tokens) * cutting.item.passages // passages)
        tokens -= cutting.granted
        passages -= cutting.item.passages


def _whole(item: Item, tokens_max: int, count: TokenCounter) -> Snippet:
    """Give all of an item's text, with its tokens as far as it may have them."""
    if item.label:
        return Snippet(item.label, (), count(item.label))
    most = min(tokens_max, SHORT_TOKENS) if item.short else tokens_max
    return all_of(item.readings, count, most) if item.readings else _NOTHING


def _cut(cuttings: Sequence[_Cutting], marks: Marks, count: TokenCounter) -> None:
    """Cut the previews; what one leaves over goes to the next."""
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


def _fill(cuttings: Sequence[_Cutting], marks: Marks, tokens_max: int, layout: Layout) -> None:
    """Cut the first previews anew, longer, where tokens are left over: now it is known what stands beside each."""
    lines = layout.lines([_hit(cutting) for cutting in cuttings])
    spare = tokens_max - sum(lines) - sum(cutting.snippet.tokens for cutting in cuttings)
    for cutting in cuttings:
        if spare <= SPARE_SHARE * tokens_max:
            break
        if cutting.item.readings and cutting.snippet.tokens < cutting.needed and not cutting.item.short:
            most = min(cutting.needed, cutting.snippet.tokens + spare)
            longer = cut(cutting.item.readings, marks, most, layout.count, cutting.whole)
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
