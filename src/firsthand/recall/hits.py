"""Makes the hits of an answer: places with previews that share a budget of tokens.

First comes room for each hit, then for the best windows of all of them: places where words
of the question stand close together. In an answer whose pages nobody turns a hit behind the
first ones has to have such a window. What is left over goes to all alike.

The invariant: all previews together, with what stands around them as the reader writes
it, keep to the budget; where there is text to show the budget is used. It ranks nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from firsthand.answer import Hit
from firsthand.event import Event, to_text
from firsthand.pointer import Pointer
from firsthand.tokens import TokenCounter, estimate
from firsthand.value import field, replace, value

from .snippets import Marks, Reading, Snippet, Window, all_of, cut, windows

LEAST_TOKENS, LEAST_TOKENS_MAX = 60, 100
"""Of a preview that has room in any case, by its best window: with less there are fewer hits."""
SHORT_TOKENS = 80
"""Most tokens of what stands beside the hits: companions, and what the user said."""
LEADING_HITS, FIRST_HITS = 2, 8
"""So many hits have room before what stands beside them; the second where pages are turned."""
BESIDE_SHARE = 0.35
"""Of all tokens, the most that messages of the user have beside the hits, and companions as much."""
LINE_CHARACTERS_MIN = 12
"""A shorter line stands in many texts: it says nothing of whether a window repeats one above."""
WINDOW_TOKENS_MIN, GAP_TOKENS = 16, 3
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

    @property
    def turns(self) -> bool:
        """Say whether a reader may ask for the next page: then no hit is left out before one that is shown."""
        return self.leaves_out is None


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


@value(frozen=False, eq=False)
class _Cutting:
    """An item on its way to a hit.

    Attributes:
        whole: its text, with the tokens that it ``needed``.
        line: tokens of what is written beside it.
        windows: of its text, the best first; those that are ``chosen`` have room within what is ``granted``.
        is_in: whether it is on the page.
    """

    item: Item
    whole: Snippet
    needed: int
    line: int
    windows: Sequence[Window] = ()
    chosen: list[Window] = field(default_factory=list)
    granted: int = 0
    is_in: bool = False
    snippet: Snippet = _NOTHING

    def cut(self, count: TokenCounter, tokens: int) -> None:
        """Cut the preview out of the text."""
        readings = self.item.readings
        self.snippet = cut(readings, self.chosen, max(1, tokens), count, self.whole) if readings else self.whole


def hits_of(items: Sequence[Item], marks: Marks, tokens_max: int, layout: Layout) -> list[Hit]:
    """Give the hits of the items, in their order, as many of them as have room; at least one.

    Args:
        marks: finds the words of the question in a text.
        tokens_max: of all previews and what stands beside them together.
    """
    lines = layout.lines([item.hit for item in items])
    cuttings = [_cutting(item, line, marks, tokens_max, layout) for item, line in zip(items, lines, strict=True)]
    room = _Room(tokens_max, layout.count)
    hits = [cutting for cutting in cuttings if cutting.item.shown and not cutting.item.short]
    companions = [cutting for cutting in cuttings if cutting.item.hit.companion_of]
    messages = [cutting for cutting in cuttings if cutting.item.short and cutting not in companions]
    room.have(cutting for cutting in cuttings if not cutting.item.shown)
    # 1) the first hits, what stands beside them, and all hits where pages are turned
    first = FIRST_HITS if layout.turns else LEADING_HITS
    has_room = room.have(hits[:first])
    room.have(sorted(messages, key=lambda cutting: -cutting.item.hit.score), within=BESIDE_SHARE)
    if layout.turns and has_room:
        room.have(hits[first:])
    room.have(companions, within=BESIDE_SHARE)
    # 2) the best windows, and what is left over
    room.show([cutting for cutting in hits if cutting.is_in or not layout.turns])
    cuttings = [cutting for cutting in cuttings if cutting.is_in]
    room.share(cuttings)
    for cutting in cuttings:
        cutting.cut(layout.count, cutting.granted)
    _fill(cuttings, tokens_max, layout)
    return [_hit(cutting) for cutting in cuttings]


class _Room:
    """The tokens of an answer, as they are handed out."""

    def __init__(self, tokens: int, count: TokenCounter) -> None:
        self._all = self._left = tokens
        self._count = count
        self._is_empty = True
        self._lines: set[bytes] = set()  # of the windows that have room: the same file is often read many times

    def have(self, cuttings: Iterable[_Cutting], *, within: float = 1.0) -> bool:
        """Give each the least that it takes, up to the first that has no room; the first of all has it anyway.

        Args:
            within: a share of all tokens that they have together; what is too large for it is left out.
        """
        beside = int(within * self._all)
        for cutting in cuttings:
            best = [window for window in cutting.windows if not self._repeats(window)][:1] or cutting.windows[:1]
            tokens = max(LEAST_TOKENS, min(LEAST_TOKENS_MAX, sum(map(self._tokens, best))))
            least = min(cutting.needed, tokens) + cutting.line
            if least <= min(self._left, beside) or self._is_empty:
                beside -= least
                self._enter(cutting, best, tokens)
            elif within == 1:
                return False
        return True

    def show(self, cuttings: Sequence[_Cutting]) -> None:
        """Give the best windows of all room, those that repeat lines of better ones last."""
        pairs = [
            (cutting, window) for cutting in cuttings for window in cutting.windows if window not in cutting.chosen
        ]
        repeated: list[tuple[_Cutting, Window]] = []
        for turn in (sorted(pairs, key=lambda pair: -pair[1].weight), repeated):
            for cutting, window in turn:
                if self._left < WINDOW_TOKENS_MIN:
                    return
                if turn is not repeated and self._repeats(window):
                    repeated.append((cutting, window))
                    continue
                tokens = self._tokens(window)
                if tokens + (not cutting.is_in) * cutting.line <= self._left:
                    self._enter(cutting, [window], tokens)

    def share(self, cuttings: Iterable[_Cutting]) -> None:
        """Share out what is left: what the short previews do not need, the long ones get."""
        wanting = sorted(cuttings, key=lambda cutting: cutting.needed - cutting.granted)
        for number, cutting in enumerate(wanting):
            more = min(cutting.needed - cutting.granted, max(0, self._left) // (len(wanting) - number))
            cutting.granted += more
            self._left -= more

    def _enter(self, cutting: _Cutting, chosen: Sequence[Window], tokens: int) -> None:
        more = min(cutting.needed - cutting.granted, tokens)
        self._left -= more + (not cutting.is_in) * cutting.line
        cutting.granted += more
        cutting.is_in, self._is_empty = True, False
        cutting.chosen += chosen
        self._lines.update(*map(_lines, chosen))

    def _repeats(self, window: Window) -> bool:
        """Say whether all lines of a window stand in others that have room."""
        lines = {*_lines(window)}
        return bool(lines) and lines <= self._lines

    def _tokens(self, window: Window) -> int:
        return self._count(to_text(window.data)) + GAP_TOKENS


def _cutting(item: Item, line: int, marks: Marks, tokens_max: int, layout: Layout) -> _Cutting:
    most = min(tokens_max, SHORT_TOKENS) if item.short else tokens_max
    whole = Snippet(item.label, (), layout.count(item.label)) if item.label else _NOTHING
    if item.readings:
        whole = all_of(item.readings, layout.count, most)
    return _Cutting(item, whole, min(whole.tokens, most), line, windows(item.readings, marks) if item.readings else ())


def _fill(cuttings: Sequence[_Cutting], tokens_max: int, layout: Layout) -> None:
    """Cut the first previews anew, longer, where tokens are left over: now it is known what stands beside each."""
    lines = layout.lines([_hit(cutting) for cutting in cuttings])
    spare = tokens_max - sum(lines) - sum(cutting.snippet.tokens for cutting in cuttings)
    for cutting in cuttings:
        if spare <= SPARE_SHARE * tokens_max:
            break
        if cutting.item.readings and cutting.snippet.tokens < cutting.needed and not cutting.item.short:
            spare += cutting.snippet.tokens
            cutting.cut(layout.count, min(cutting.needed, spare))
            spare -= cutting.snippet.tokens


def _lines(window: Window) -> Iterator[bytes]:
    """Yield the lines of a window that are long enough to be told from others."""
    return (line for part in window.data.split(b"\n") if len(line := part.strip()) >= LINE_CHARACTERS_MIN)


def _hit(cutting: _Cutting) -> Hit:
    hit, snippet = cutting.item.hit, cutting.snippet
    first = hit.pointer.removeprefix("fh:")
    spans = (str(Pointer(first, unit="bytes", start=part.start, end=part.end)) for part in snippet.ranges)
    return replace(hit, preview=snippet.text, spans=tuple(spans))
