"""Time words of a question, resolved to spans of time (total-recall 4.3; DESIGN, "Gate and ladder").

Reads English time words ("last Tuesday", "two weeks before 3 August", "since May 2023"),
dates in digits, and what is named as a point in time by what happened then
("before the deploy"). What can be read in several ways gives several spans, the
likeliest first.

The invariant: a span is a reading, never a command: whoever narrows a search by one has
searched without it before. The same text and moment give the same spans, in time linear
in the text. This module knows no store: what happened when is not its to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from firsthand.moment import Moment
from firsthand.value import value

from .clockwords import BREAK, NUMBERS, UNITS, Words, cut
from .periods import DAY, TICK, Clock, Period, Reading, periods

CHARACTERS_MAX = 8_000
"""Time words further on in a text are not looked for."""
SAID_MAX = 8
ANCHORS_MAX = 4
ANCHOR_WORDS_MAX = 8

_ENDS = " .,;:!?)"
# Patterns over signs; `re` compiles each when it is first used, and keeps it: few processes ever climb so far.
_CONTEXT_WORDS = 6  # in front of a period
_COUNTED = r"d?(A?[ND]|A?FO?|A)?([UP])(bT?|a)d?\Z"
_SIDE = r"(bT?|a)d?\Z"
_OPENED = r"(bT?|u|B|cO|s|a)d?\Z"
_IN = r"[ijf]d?\Z"
_JOINED = r"([nTu])d?\Z"
_JOINED_BEFORE = r"[wf]d?\Z"
_ANCHOR = r"[basu]"
_ANCHOR_ENDS = frozenset(
    (
        "did", "does", "do", "will", "would", "what", "who", "how", "why", "where", "which", "and", "but", "because",
        "then", "or", "if", "when",
    )
)  # fmt: skip

_Readings = Iterator[tuple[datetime | None, datetime | None]]


@value
class Span:
    """A stretch of event time, both ends inclusive; None is open."""

    since: Moment | None
    until: Moment | None


@value
class Said:
    """Time words and what they may mean.

    Attributes:
        words: as they stand in the text.
        spans: the likeliest first.
    """

    words: str
    spans: tuple[Span, ...]


@value
class Anchor:
    """Something that happened, named to say when.

    Attributes:
        words: of the whole phrase, as it stands in the text.
        side: ``before`` or ``after``.
        event: what happened, in the words of the text.
    """

    words: str
    side: str
    event: str


@value
class Times:
    """What a text says of time.

    Attributes:
        said: in order of the text.
        anchors: in order of the text.
        rest: the text without the words of ``said``.
    """

    said: tuple[Said, ...]
    anchors: tuple[Anchor, ...]
    rest: str


def read(text: str, now: Moment) -> Times:
    """Find the time words of a text and resolve them.

    Args:
        now: what "yesterday" is counted from; its offset says when a day begins.
    """
    words, clock = cut(text[:CHARACTERS_MAX]), Clock(now)
    named = list(periods(words, clock))
    said: list[Said] = []
    rest: list[str] = []
    at = number = 0
    while number < len(named) and len(said) < SAID_MAX:
        following = named[number + 1] if number + 1 < len(named) else None
        found = _in_context(words, at, named[number], following)
        number += 2 if following is not None and found.end == following.end else 1
        spans = tuple(dict.fromkeys(_spans(found.readings, clock)))
        if spans:
            said.append(Said(words.said(found.start, found.end).strip(_ENDS), spans))
            rest.append(words.said(at, found.start))
            at = found.end
    kept = " ".join(" ".join([*rest, words.said(at, len(words.words)), text[CHARACTERS_MAX:]]).split())
    return Times(tuple(said), tuple(_anchors(words, named)), kept)


@value
class _InContext:
    """Which words say a time together, from and up to which, and its readings; None is an open end."""

    start: int
    end: int
    readings: _Readings


def _in_context(words: Words, at: int, first: Period, second: Period | None) -> _InContext:
    """Read a period with the words around it: what is counted from it, what it opens, what it is joined to."""
    low = max(at, first.start - _CONTEXT_WORDS)
    before = words.signs[low : first.start]
    if second is not None:
        gap = words.signs[first.end : second.start]
        side, joint, opening = re.match(_SIDE, gap), re.match(_JOINED, gap), re.search(_JOINED_BEFORE, before)
        if first.weekday is not None and side is not None:
            return _InContext(first.start, second.end, _weekday_from(first.weekday, side[1], second.readings))
        if joint is not None and (opening is not None or joint[1] != "n"):
            start = low + opening.start() if opening is not None else first.start
            return _InContext(start, second.end, _between(first.readings, second.readings))
    for pattern, make in ((_COUNTED, _counted_from), (_OPENED, _opened), (_IN, _as_it_is)):
        found = re.search(pattern, before)
        if found is not None:
            spoken = words.words[low + found.start() : first.start]
            return _InContext(low + found.start(), first.end, make(found, spoken, first.readings))
    return _InContext(first.start, first.end, iter(first.readings))


def _spans(readings: _Readings, clock: Clock) -> Iterator[Span]:
    for start, end in readings:
        try:
            since = None if start is None else clock.moment(start)
            until = None if end is None else clock.moment(end - TICK)
        except (ValueError, OverflowError):  # before the year 1, or after 9999
            continue
        yield Span(since, until)


def _as_it_is(_found: re.Match[str], _words: Sequence[str], readings: Sequence[Reading]) -> _Readings:
    yield from readings


def _opened(found: re.Match[str], _words: Sequence[str], readings: Sequence[Reading]) -> _Readings:
    """Read "before X", "until X", "since X", "after X"."""
    for start, end in readings:
        match found[1][0]:
            case "b":
                yield None, start
            case "u" | "B" | "c":
                yield None, end
            case "a":
                yield end, None
            case _:
                yield start, None


def _counted_from(found: re.Match[str], words: Sequence[str], readings: Sequence[Reading]) -> _Readings:
    """Read "two weeks before X": as wide as the unit around that time; "the week before X" touches X."""
    spoken = dict(zip(found[0], words, strict=True))
    unit = spoken[found[2]]
    unit = unit if unit in UNITS else unit[:-1]
    days, backwards = timedelta(days=UNITS[unit]), found[3][0] == "b"
    number = next((spoken[sign] for sign in "NDFA" if sign in spoken), "")
    for start, end in readings:
        try:
            if number:
                away = (NUMBERS[number] if number in NUMBERS else int(number)) * days
                middle = start - away if backwards else start + away
                yield (middle, middle + DAY) if days <= DAY else (middle - days / 2, middle + days / 2)
            elif unit == "weekend":
                ((saturday, _),) = _weekday_from(5, found[3], [(start, end)])
                yield saturday, saturday + 2 * DAY
            else:
                yield (start - days, start) if backwards else (end, end + days)
        except OverflowError:  # before the year 1, or after 9999
            continue


def _weekday_from(weekday: int, side: str, readings: Sequence[Reading]) -> Iterator[Reading]:
    """Read "the Monday before X": the nearest one on that side."""
    for start, end in readings:
        if side[0] == "b":
            day = start - ((start.weekday() - weekday - 1) % 7 + 1) * DAY
        else:
            day = end + (weekday - end.weekday()) % 7 * DAY
        yield day, day + DAY


def _between(first: Sequence[Reading], second: Sequence[Reading]) -> Iterator[Reading]:
    """Join two ends: each second one with the latest first one that begins before it."""
    for start, end in second:
        begins = [one for one, _ in first if one <= start]
        if begins:
            yield max(begins), end


def _anchors(words: Words, named: Sequence[Period]) -> Iterator[Anchor]:
    """Find what is named as a point in time by what happened then: the words up to the end of the phrase."""
    times = {number for period in named for number in range(period.start, period.end)}
    count = 0
    for found in re.finditer(_ANCHOR, words.signs):
        first = found.end()
        if words.signs[first : first + 1] == "T":
            first += 1
        if found.start() in times or first in times or (words.signs[first : first + 1] == "d" and first + 1 in times):
            continue
        last = first
        while last < min(first + ANCHOR_WORDS_MAX, len(words.words)):
            if words.signs[last] == BREAK or words.words[last] in _ANCHOR_ENDS:
                break
            last += 1
        event = words.said(first, last).strip(_ENDS)
        if event:
            yield Anchor(words.said(found.start(), last).strip(_ENDS), "after" if found[0] in "as" else "before", event)
            count += 1
        if count == ANCHORS_MAX:
            return
