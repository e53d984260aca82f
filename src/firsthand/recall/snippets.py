"""Cuts out of an event the passages that are shown: where the words of the question stand close together.

An event is read as text first: a tool call as the values of its JSON, everything else as
it stands. Its text is a row of *pieces*: lines, and of a long line its sentences. A snippet
is one to three runs of whole pieces around the best places, grown until the tokens granted
are used.

The invariant: every run is named by the byte range of the content that it shows, and a
piece is cut only where it alone is more than the tokens granted. This module knows no
storage.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from firsthand.event import Kind, to_text
from firsthand.tokens import TokenCounter
from firsthand.value import replace, value

PIECE_BYTES_MAX = 280
"""A longer line is cut at its sentences, a longer sentence between two words."""
CLOSE_BYTES = 320
"""Words of the question that stand within so many bytes count together."""
WINDOWS_MAX = 12
"""Of one stretch of a content."""
AROUND_BYTES = 150
"""A window is whole pieces of so many bytes together, unless the words of the question stand further apart."""
EXACT_WEIGHT = 100.0
"""Of an exact string: more than any words together, so that a quotation is shown whole."""
FILLED = 0.93
"""Of the tokens granted, from where on a snippet is full."""
GAP = "\n[...]\n"
TRIES_MAX = 3
SAMPLE_CHARACTERS = 2_000
CHARACTERS_A_TOKEN_MAX = 16
_LINE_END = 10

_SENTENCE_END = re.compile(rb"(?<=[.!?;:,])[ \t]+")
_SPACES = re.compile(rb"[ \t]+")
_JSON_VALUE = re.compile(
    rb'"(?P<text>(?:[^"\\]|\\.)*)"(?P<key>\s*:)?|(?P<plain>-?\d[\d.eE+-]*|true|false|null)', re.DOTALL
)
_ESCAPES = re.compile(rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL)


@value
class Range:
    """Bytes of a content, half open."""

    start: int
    end: int


@value
class Reading:
    """A stretch of a content as it is read.

    Attributes:
        data: its text, as UTF-8.
        places: where runs of `data` begin, in it and in the content, ascending; between two of them both go on alike.
        end: where the stretch ends in the content.
        matched: ranges of the content to look for words in; empty for all of it.
    """

    data: bytes
    places: tuple[tuple[int, int], ...]
    end: int
    matched: tuple[Range, ...] = ()

    def source(self, at: int, *, end: bool = False) -> int:
        """Say where a byte of the text stands in the content; of an end, where the byte before it ends there."""
        if at >= len(self.data):
            return self.end
        number = max(0, bisect_right(self.places, (at, -1 if end else 1 << 62)) - 1)
        begins, stands = self.places[number]
        place = stands + at - begins
        return min(place, self.places[number + 1][1]) if number + 1 < len(self.places) else min(place, self.end)

    def at(self, source: int) -> int:
        """Say where a byte of the content stands in the text."""
        number = max(0, bisect_right([stands for _, stands in self.places], source) - 1)
        begins, stands = self.places[number]
        return max(0, min(len(self.data), begins + source - stands))


@value
class Mark:
    """A word or phrase of the question in a text: where it stands, which one it is, and what it weighs.

    Attributes:
        is_phrase: an exact string, or two words that stand side by side in the question too.
    """

    start: int
    end: int
    word: str
    weight: float
    is_phrase: bool = False


@value
class Snippet:
    """What of an event is shown: its text, the ranges of the content that it is, and its tokens."""

    text: str
    ranges: tuple[Range, ...]
    tokens: int


class _Text:
    """A reading and its pieces."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.borders = _borders(reading.data)

    def before(self, at: int) -> int:
        """Give the border at or before a place."""
        return self.borders[max(0, bisect_right(self.borders, at) - 1)]

    def behind(self, at: int) -> int:
        """Give the border at or behind a place."""
        number = bisect_right(self.borders, at - 1)
        return self.borders[min(number, len(self.borders) - 1)]


@value(eq=False)
class Window:
    """Whole pieces of a text around words of the question that stand close together.

    Attributes:
        words: where the first of these words begins and the last ends.
        weight: of the words, each once.
    """

    text: _Text
    start: int
    end: int
    words: tuple[int, int]
    weight: float

    @property
    def data(self) -> bytes:
        return self.text.reading.data[self.start : self.end]


Marks = Callable[[bytes], Sequence[Mark]]
"""Gives the marks of a text, in order."""


def plain(data: bytes, start: int = 0, matched: Sequence[Range] = ()) -> Reading:
    """Read bytes of a content as they stand."""
    return Reading(data, ((0, start),), start + len(data), tuple(matched))


def part(data: bytes, start: int, kind: Kind) -> Reading:
    """Read a stretch of a large content: of a tool call with its escapes read."""
    if kind is not Kind.TOOL_CALL or b"\\" not in data:
        return plain(data, start)
    text = bytearray()
    places: list[tuple[int, int]] = []
    _unescape(data, 0, len(data), start, text, places)
    return Reading(bytes(text), tuple(places), start + len(data))


def read(data: bytes, kind: Kind, matched: Sequence[Range] = ()) -> Reading:
    """Read a whole content: of a tool call the values of its JSON, a line each."""
    if kind is Kind.TOOL_CALL and data[:1] in {b"{", b"["}:
        return _values(data, matched) or plain(data, 0, matched)
    return plain(data, 0, matched)


def all_of(readings: Sequence[Reading], count: TokenCounter, tokens_max: int) -> Snippet:
    """Give all of a content, its tokens counted only where they may be so many; what is longer has one more.

    Args:
        readings: stretches of it; none of them overlaps another.
    """
    ordered = sorted(readings, key=lambda reading: reading.places[0][1])
    ordered = [reading for reading in ordered if reading.data] or ordered[:1]
    text = GAP.join([to_text(reading.data) for reading in ordered])
    ranges = tuple(Range(reading.source(0), reading.source(len(reading.data), end=True)) for reading in ordered)
    return Snippet(text, ranges, count(text) if len(text) <= tokens_max * CHARACTERS_A_TOKEN_MAX else tokens_max + 1)


def cut(
    readings: Sequence[Reading],
    chosen: Sequence[Window],
    tokens_max: int,
    count: TokenCounter,
    whole: Snippet | None = None,
) -> Snippet:
    """Cut a snippet of at most so many tokens.

    Args:
        readings: stretches of the content, the best first; none of them overlaps another.
        chosen: windows of them, the best first: they are shown as far as they have room, and grow while there is any.
        count: counts the tokens of a text as it will be written.
        whole: what `all_of` gave of the readings, where it was asked.
    """
    whole = whole or all_of(readings, count, tokens_max)
    if whole.tokens <= tokens_max:
        return whole
    spare = [_Text(reading) for reading in readings if all(window.text.reading is not reading for window in chosen)]
    sample = whole.text[:SAMPLE_CHARACTERS]
    size = max(16, tokens_max * len(sample.encode("utf-8", "replace")) // max(1, count(sample)))
    best: Snippet | None = None
    for _ in range(TRIES_MAX):
        written = _written(_grown(chosen, spare, size))
        tokens = best.tokens if best is not None and written.text == best.text else count(written.text)
        if tokens <= tokens_max:
            if best is None or tokens > best.tokens:
                best = Snippet(written.text, written.ranges, tokens)
            if tokens >= FILLED * tokens_max:
                break
            size = max(size + 8, size * tokens_max // max(1, tokens))
        else:
            size = max(8, min(size - 8, size * tokens_max // tokens))
    if best is not None:
        return best
    first = chosen[0]
    return _begun(first.text.reading, first.words[0], tokens_max, count)


def _values(data: bytes, matched: Sequence[Range]) -> Reading | None:
    """Read JSON as its values, each on a line of its own behind its name; None when it holds none, or is cut off."""
    if data.rstrip()[-1:] not in {b"}", b"]"}:
        return None
    text = bytearray()
    places: list[tuple[int, int]] = []
    several = sum(value["key"] is None for value in _JSON_VALUE.finditer(data)) > 1
    for match in _JSON_VALUE.finditer(data):
        if match["key"] is not None:
            if several:
                places.append((len(text), match.start("text")))
                text += match["text"] + b": "
            continue
        start, end = match.span("text" if match["text"] is not None else "plain")
        _unescape(data, start, end, 0, text, places)
        text += b"\n"
    return Reading(bytes(text[:-1]), tuple(places), len(data), tuple(matched)) if places else None


def _unescape(data: bytes, start: int, end: int, base: int, text: bytearray, places: list[tuple[int, int]]) -> None:
    """Add what stands inside of a JSON string to a text, its escapes read, with where each stretch of it stands."""
    for escape in _ESCAPES.finditer(data, start, end):
        places.append((len(text), base + start))
        text += data[start : escape.start()]
        places.append((len(text), base + escape.start()))
        text += _escaped(escape[0])
        start = escape.end()
    places.append((len(text), base + start))
    text += data[start:end]


@lru_cache(maxsize=256)  # a text has the same few, many times
def _escaped(escape: bytes) -> bytes:
    """Read one escape; what is none stays as it is."""
    try:
        sign: str = json.loads(b'"' + escape + b'"')
    except ValueError:
        return escape
    return sign.encode("utf-8", "surrogatepass")


# where to look --------------------------------------------------------------------------------------


@value(frozen=False)
class _Run:
    """A run of whole pieces of a text, while it grows."""

    text: _Text
    start: int
    end: int
    steps: int = 0


def _borders(data: bytes) -> list[int]:
    """Give where pieces begin, and the end: lines, the sentences of long lines, and parts of long sentences."""
    borders = [0]
    at = 0
    while at < len(data):
        line_end = data.find(b"\n", at) + 1 or len(data)
        if line_end - at > PIECE_BYTES_MAX:
            borders += _inner(data, at, line_end)
        borders.append(line_end)
        at = line_end
    return borders if len(borders) > 1 else [0, len(data)]


def _inner(data: bytes, start: int, end: int) -> Iterator[int]:
    """Yield borders within a long line."""
    last = start
    for border in [*(match.end() for match in _SENTENCE_END.finditer(data, start, end)), end]:
        while border - last > PIECE_BYTES_MAX:
            reach = last + PIECE_BYTES_MAX
            space = max(data.rfind(b" ", last + 1, reach), data.rfind(b"\t", last + 1, reach))
            last = space + 1 if space > last else _sign_start(data, reach)
            yield last
        if border < end and border - last >= PIECE_BYTES_MAX // 4:
            last = border
            yield last


def windows(readings: Sequence[Reading], marks: Marks) -> list[Window]:
    """Find the places where words of the question stand close together, the best first; at least one.

    None of them overlaps another.
    """
    out: list[Window] = []
    for reading in readings:
        text, free = _Text(reading), _in_ranges(reading, marks)
        own: list[Window] = []
        while len(own) < WINDOWS_MAX:
            weight, close = _closest(free)
            if not close:
                break
            first, last = close[0].start, max(mark.end for mark in close)
            around = max(0, AROUND_BYTES - (last - first)) // 2
            start, end = text.before(max(0, first - around)), text.behind(min(len(reading.data), last + around))
            start = max([start, *(window.end for window in own if window.start <= first)])
            end = min([end, *(window.start for window in own if window.start > first)])
            own.append(Window(text, start, end, (first, last), weight))
            free = [mark for mark in free if not start <= mark.start < end]
        out += own
    if not out:
        text = _Text(readings[0])
        begin = text.reading.at(text.reading.matched[0].start) if text.reading.matched else 0
        out.append(Window(text, begin, begin, (begin, begin), 0.0))
    return sorted(out, key=lambda window: -window.weight)


def _in_ranges(reading: Reading, marks: Marks) -> list[Mark]:
    """Look for words in those ranges of a text that matched, else in all of it."""
    if not reading.matched:
        return list(marks(reading.data))
    places: dict[tuple[int, int, str], Mark] = {}
    for matched in reading.matched:
        start, end = reading.at(matched.start), reading.at(matched.end)
        for mark in marks(reading.data[start:end]):
            moved = replace(mark, start=start + mark.start, end=start + mark.end)
            places[moved.start, moved.end, mark.word] = moved
    return sorted(places.values(), key=lambda mark: (mark.start, mark.end))


def _closest(places: Sequence[Mark]) -> tuple[float, Sequence[Mark]]:
    """Find the marks within `CLOSE_BYTES` that weigh most, each word once: of equals the closest, then the first.

    A word that stands there ten times says no more than once.
    """
    inside: dict[str, int] = {}
    weight = best_weight = 0.0
    low, best, span = 0, (0, 0), 0
    for high, mark in enumerate(places):
        inside[mark.word] = inside.get(mark.word, 0) + 1
        if inside[mark.word] == 1:
            weight += mark.weight
        while mark.end - places[low].start > CLOSE_BYTES or inside[places[low].word] > 1:
            if low == high:
                break
            first = places[low]
            inside[first.word] -= 1
            if not inside[first.word]:
                weight -= first.weight
            low += 1
        width = mark.end - places[low].start
        if weight > best_weight + 1e-9 or (weight > best_weight - 1e-9 and width < span):
            best, best_weight, span = (low, high + 1), weight, width
    return best_weight, places[best[0] : best[1]]


# growing --------------------------------------------------------------------------------------------


def _grown(chosen: Sequence[Window], spare: Sequence[_Text], size: int) -> list[_Run]:
    """Take the windows that fit in so many bytes, else the pieces of their words, and grow them piece by piece."""
    runs: list[_Run] = []
    room = size
    for window in chosen:
        text, (first, last) = window.text, window.words
        start, end = window.start, window.end
        if end - start > room:
            start, end = text.before(first), text.behind(max(last, first + 1))
        if end - start > room and not runs:
            start, end = _within(_Run(text, first, last), size)
        if end - start <= room:
            runs.append(_Run(text, start, end))
            room -= end - start
    _grow(runs, size)
    for text in spare:
        runs.append(_Run(text, 0, 0))
        _grow(runs, size)
    return runs


def _grow(runs: Sequence[_Run], size: int) -> None:
    """Take in piece after piece, one run after the other, up to where the next run begins."""
    growing = [*runs]
    room = size - sum([run.end - run.start for run in runs])
    while growing:
        for run in growing[:]:
            others = [other for other in runs if other.text is run.text and other is not run]
            low = max([other.end for other in others if other.end <= run.start], default=0)
            high = min([other.start for other in others if other.start >= run.end], default=len(run.text.reading.data))
            gain = _step(run, room, low, high)
            room -= gain
            if not gain:
                growing.remove(run)


def _step(run: _Run, room: int, low: int, high: int) -> int:
    """Take one more piece into a run, mostly one behind it; 0 when none fits."""
    after = min(high, run.text.behind(run.end + 1))
    before = max(low, run.text.before(run.start - 1)) if run.start else 0
    run.steps += 1
    sides = [(run.start, after), (before, run.end)]
    for start, end in sides if run.steps % 3 else sides[::-1]:
        gain = (run.start - start) + (end - run.end)
        if 0 < gain <= room:
            run.start, run.end = start, end
            return gain
    return 0


def _within(run: _Run, size: int) -> tuple[int, int]:
    """Cut a run out of pieces that are too long for the room there is: between words, the place in it."""
    data, low, high = run.text.reading.data, run.text.before(run.start), run.text.behind(max(run.end, run.start + 1))
    lead = max(0, size - (run.end - run.start)) // 4
    start = max(low, min(run.start - lead, high - size))
    if start > low:
        space = _SPACES.search(data, start, run.start)
        start = space.end() if space else _sign_start(data, start)
    end = min(high, start + size)
    if end < high:
        word_end = data.rfind(b" ", max(start + 1, run.end), end)
        end = word_end if word_end > start else _sign_start(data, end)
    return start, end


def _begun(reading: Reading, start: int, tokens_max: int, count: TokenCounter) -> Snippet:
    """Give as many signs from a place on as fit; at least one."""
    text = to_text(reading.data[start : _sign_start(reading.data, start + 8 * tokens_max + 8)])
    number = len(text)
    while number > 1 and count(text[:number]) > tokens_max:
        number -= max(1, number // 4)
    end = start + len(text[:number].encode("utf-8", "surrogatepass"))
    window = Range(reading.source(start), reading.source(end, end=True))
    return Snippet(text[:number], (window,), count(text[:number]))


# writing --------------------------------------------------------------------------------------------


def _written(runs: Sequence[_Run]) -> Snippet:
    """Write runs in the order of the content, those that touch as one."""
    joined: list[_Run] = []
    filled = [run for run in runs if run.end > run.start] or runs[:1]
    for run in sorted(filled, key=lambda run: (run.text.reading.places[0][1], run.start)):
        last = joined[-1] if joined else None
        if last is not None and last.text is run.text and run.start <= last.end:
            last.end = max(last.end, run.end)
        else:
            joined.append(run)
    texts: list[str] = []
    ranges: list[Range] = []
    for run in joined:
        data, end = run.text.reading.data, run.end
        while end < len(data) and end > run.start and data[end - 1] == _LINE_END:
            end -= 1  # what follows is not shown, so its line break says nothing
        texts.append(to_text(data[run.start : end]))
        ranges.append(Range(run.text.reading.source(run.start), run.text.reading.source(end, end=True)))
    return Snippet(GAP.join(texts), tuple(ranges), 0)


def _sign_start(data: bytes, at: int) -> int:
    """Step back to the first byte of a sign."""
    low = max(0, at - 3)
    while at > low and at < len(data) and data[at] & 0xC0 == 0x80:
        at -= 1
    return at
