"""What a name of a time stands for: days, months, seasons, hours, counted from a moment.

Each name has its readings, as local times, the likeliest first; ends are exclusive.
The invariant: what can be no time (31 February, 9,999 years ago) has no reading and
raises nothing. This module does not look at the words around a name, and knows no store.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import cache

from firsthand.moment import Moment
from firsthand.value import value

from .clockwords import HOURS, MONTHS, NUMBERS, ORDINALS, SEASONS, UNITS, WEEKDAYS, Words

YEARS_BACK = 5
"""A day or month without its year is read as the latest one that has begun, then as those of the years before."""
DAY = timedelta(days=1)
TICK = timedelta(microseconds=1)

Reading = tuple[datetime, datetime]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_YEAR = "(?:O?Y)?"
_COUNT = "(?:A?[ND]|A?FO?|A)"
_NAMES = {
    "iso": "IH?",
    "day_month": f"(?:[DR]O?|rO)M{_YEAR}",
    "month_day": f"M[DR]{_YEAR}",
    "share": f"d?[eE]O?d?M{_YEAR}",
    "nth": f"d?[lrR][UW][Oi]d?M{_YEAR}",
    "month": f"M{_YEAR}",
    "quarter": "QO?Y",
    "season": "SO?Y",
    "two_days": "dUby",
    "day": "[yt]P?",
    "night": "g|lP",
    "this": "hP",
    "ago": f"{_COUNT}Uo",
    "past": f"[lp]{_COUNT}U",
    "relative": "[lph][UWMS]P?",
    "weekday": "d?WP?",
    "on_day": "dR(?:O[lh]U)?",
    "year": "Y",
}
_NEEDS_BEFORE = {"month": "ijfsOBubaTwn", "year": "ijfsOBubaTwn", "on_day": "jsuBba"}
"""What must stand in front: "may" is a verb, 2024 a number, "the 3rd" a rank."""

_TO_COME = "k"
"""After "next" stands a time to come: events are told afterwards, so it bounds none."""


@value
class Period:
    """A stretch of time that a text names: its words, from and up to which, and its readings.

    Attributes:
        weekday: when it is a bare weekday, its number from Monday, 0.
    """

    start: int
    end: int
    readings: tuple[Reading, ...]
    weekday: int | None = None


class Clock:
    """The moment of asking, as a local date and time."""

    def __init__(self, now: Moment) -> None:
        self._offset_minutes = now.offset_minutes
        utc = _EPOCH + timedelta(microseconds=now.microseconds)
        try:
            self.now = utc + self.offset
        except OverflowError:  # local time would be of the year 0 or 10000: UTC says the same instant
            self._offset_minutes, self.now = 0, utc
        self.today = self.now.date()

    @property
    def offset(self) -> timedelta:
        return timedelta(minutes=self._offset_minutes)

    def moment(self, local: datetime) -> Moment:
        """Give the instant of a local time.

        Raises:
            ValueError, OverflowError: it lies outside the years 1 to 9999.
        """
        return Moment((local - self.offset - _EPOCH) // TICK, self._offset_minutes)


@cache  # compiled when the first text is read
def _names() -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _NAMES.items()))


def periods(words: Words, clock: Clock) -> Iterator[Period]:
    """Find every stretch of time that is named; what can be no time is left out."""
    for found in _names().finditer(words.signs):
        name = str(found.lastgroup)
        start, end = found.span()
        if words.signs[start - 1 : start] == _TO_COME:
            continue
        bare = name == "year" or (name == "month" and "Y" not in found[0]) or found[0] == "dR"
        if bare:
            before = words.signs[start - 1 : start]
            if not before or before not in _NEEDS_BEFORE[name]:
                continue
        named = _Named(name, found[0], words.words[start:end])
        try:
            readings = tuple(dict.fromkeys(_readings(named, clock)))
        except (ValueError, OverflowError):  # 31 February, or 9,999 years ago: no time at all
            continue
        if readings:
            alone = named.weekday if name == "weekday" and "P" not in found[0] else None
            yield Period(start, end, readings, alone)


class _Named:
    """One name of a time, taken apart."""

    def __init__(self, name: str, signs: str, words: Sequence[str]) -> None:
        self.name, self.signs, self.words = name, signs, words

    def word(self, signs: str) -> str:
        """Give the first word with one of some signs; empty when there is none."""
        return next((word for word, sign in zip(self.words, self.signs, strict=True) if sign in signs), "")

    @property
    def year(self) -> int | None:
        return int(self.word("Y")) if "Y" in self.signs else None

    @property
    def month(self) -> int:
        return next(number for number, name in enumerate(MONTHS, 1) if name.startswith(self.word("M")[:3]))

    @property
    def day(self) -> int:
        word = self.word("DRr")
        return int(word.rstrip("sthndr")) if word[:1].isdigit() else ORDINALS[word]

    @property
    def weekday(self) -> int:
        return next(number for number, name in enumerate(WEEKDAYS) if name.startswith(self.word("W")[:3]))

    @property
    def unit(self) -> str:
        word = self.word("UP")
        return word if word in UNITS else word[:-1]

    @property
    def count(self) -> int:
        word = self.word("NDF") or self.word("A")
        return NUMBERS[word] if word in NUMBERS else int(word)


def _readings(named: _Named, clock: Clock) -> Iterator[Reading]:
    """Say what a name may mean, the likeliest first."""
    match named.name:
        case "iso":
            yield from _written(named, clock)
        case "day_month" | "month_day":
            for year in _years(named, clock, named.day):
                yield from _day_if_there(year, named.month, named.day)
        case "share":
            for year in _years(named, clock):
                yield _share(named.word("eE"), *_month(year, named.month))
        case "nth":
            for year in _years(named, clock):
                yield _nth(named, *_month(year, named.month))
        case "month":
            for year in _years(named, clock):
                yield _month(year, named.month)
        case "quarter":
            first = 3 * int(named.word("Q")[1]) - 2
            yield _month(int(named.word("Y")), first)[0], _month(int(named.word("Y")), first + 2)[1]
        case "season":
            yield _season(named.word("S"), int(named.word("Y")))
        case "year":
            yield _year(int(named.word("Y")))
        case _:
            yield from _relative(named, clock)


def _relative(named: _Named, clock: Clock) -> Iterator[Reading]:
    """Read what is counted from the moment of asking."""
    today, part = clock.today, named.word("P")
    match named.name:
        case "two_days":
            yield from _hours(today - 2 * DAY, "") if named.unit == "day" else ()
        case "day":
            yield from _hours(today - DAY if "y" in named.signs else today, part)
        case "night":
            yield from _hours(today if "g" in named.signs else today - DAY, part or "night")
        case "this":
            yield from _hours(today, part)
        case "ago":
            yield _ago(named, clock)
        case "past":
            yield clock.now - timedelta(days=named.count * UNITS[named.unit]), clock.now + TICK
        case "relative":
            yield from _last_or_this(named, part, clock)
        case "weekday":
            back = (today.weekday() - named.weekday) % 7
            yield from _hours(today - back * DAY, part)
            if not back:  # asked on a Tuesday, "on Tuesday" may be today or a week ago
                yield from _hours(today - 7 * DAY, part)
        case "on_day":
            yield from _on_day(named, clock)


def _last_or_this(named: _Named, part: str, clock: Clock) -> Iterator[Reading]:
    last = named.signs[0] != "h"
    if "W" in named.signs:
        today = clock.today
        ago = (today.weekday() - named.weekday) % 7
        yield from _hours(today - ((ago or 7) if last else ago) * DAY, part)
        yield from _hours(today - (today.weekday() - named.weekday + 7 * last) * DAY, part)  # that of the week before
    elif "M" in named.signs:
        for year in _years(named, clock):
            if not last or (year, named.month) != (clock.today.year, clock.today.month):
                yield _month(year, named.month)
    elif "S" in named.signs:
        for year in range(clock.today.year, clock.today.year - 3, -1):
            start, end = _season(named.word("S"), year)
            if start <= clock.now and (not last or end <= clock.now):
                yield start, end
    else:
        yield from _calendar(named.unit, clock, last=last)


def _calendar(unit: str, clock: Clock, *, last: bool) -> Iterator[Reading]:
    """Read "last month": that of the calendar, or else the thirty days up to now."""
    today = clock.today
    monday = today - (today.weekday() + 7 * last) * DAY
    year, month = today.year, today.month
    match unit:
        case "week":
            yield _at(monday), _at(monday + 7 * DAY)
        case "weekend":
            yield _at(monday + 4 * DAY, 18), _at(monday + 7 * DAY)
        case "month":
            yield _month(*_earlier(year, month, last))
        case "quarter":
            first = _earlier(year, 3 * ((month - 1) // 3) + 1, 3 * last)
            yield _month(*first)[0], _month(first[0], first[1] + 2)[1]
        case "year":
            yield _year(year - last)
        case _:
            yield from _hours(today - last * DAY, "")
    if last and UNITS[unit] > 1:
        yield _at(today) - timedelta(days=UNITS[unit]), clock.now + TICK


def _written(named: _Named, clock: Clock) -> Iterator[Reading]:
    """Read a date in digits: 2023-05, 2023-05-08T14:30Z, 2023/5/8, 8.5.2023, and 5/8/2023 both ways."""
    word = named.word("I")
    digits = [int(number) for number in re.findall(r"\d+", word)]
    if word[4:5] in {"-", "/"}:
        if len(digits) == 2:
            yield _month(*digits)
            return
        day = _at(date(*digits[:3]))
        clocked = digits[3:5] or [int(number) for number in re.findall(r"\d+", named.word("H"))[:2]]
        if not clocked:
            yield day, day + DAY
            return
        start = day + timedelta(hours=clocked[0], minutes=clocked[1]) + _from_zone(word, clock)
        yield start, start + timedelta(minutes=1)
        return
    one, two, year = digits
    for month, day_number in [(two, one)] if "." in word else [(one, two), (two, one)]:  # the American way first
        yield from _day_if_there(year, month, day_number)


def _from_zone(word: str, clock: Clock) -> timedelta:
    """Say how far the local clock is before that of a date with a zone; nothing without one."""
    zone = re.search(r"(?:([Zz])|[Tt].*([+-])(\d\d):?(\d\d))\Z", word)
    if zone is None:
        return timedelta()
    if zone[1]:
        return clock.offset
    away = timedelta(hours=int(zone[3]), minutes=int(zone[4]))
    return clock.offset + (away if zone[2] == "-" else -away)


def _day_if_there(year: int, month: int, day: int) -> Iterator[Reading]:
    """Give a day, or nothing for 29 February of most years."""
    try:
        there = date(year, month, day)
    except ValueError:  # no such day in that month
        return
    yield from _hours(there, "")


def _years(named: _Named, clock: Clock, day: int = 1) -> Iterator[int]:
    if named.year is not None:
        yield named.year
        return
    begun = (named.month, day) <= (clock.today.month, clock.today.day)
    latest = clock.today.year if begun else clock.today.year - 1
    yield from range(latest, max(0, latest - YEARS_BACK), -1)


def _on_day(named: _Named, clock: Clock) -> Iterator[Reading]:
    """Read "the 3rd": of the month named beside it, or of the last months that have come so far."""
    said = named.word("lh")
    if said and named.unit != "month":
        return
    year, month = clock.today.year, clock.today.month
    if said == "last" or (not said and named.day > clock.today.day):
        year, month = _earlier(year, month, 1)
    for _ in range(1 if said else 3):
        yield from _day_if_there(year, month, named.day)
        year, month = _earlier(year, month, 1)


def _ago(named: _Named, clock: Clock) -> Reading:
    """Read "two weeks ago": people round, so it is as wide as the unit; a day is the calendar's."""
    unit = timedelta(days=UNITS[named.unit])
    middle = clock.now - named.count * unit
    if "F" in named.signs:  # a few, several: from half as many to twice as many
        return clock.now - 2 * named.count * unit, clock.now - named.count * unit / 2
    if unit == DAY:
        return _at(middle.date()), _at(middle.date() + DAY)
    return middle - unit / 2, min(clock.now + TICK, middle + unit / 2)


def _nth(named: _Named, start: datetime, end: datetime) -> Reading:
    """Read "the second week of November": the seven days from the 8th; a weekday or weekend is counted."""
    number = -1 if "l" in named.signs else named.day
    if "U" in named.signs and named.unit not in {"week", "weekend"}:
        raise ValueError(f"expected a week or weekend of a month; got {named.unit!r}")
    if "U" in named.signs and named.unit == "week":
        first = end - 7 * DAY if number < 0 else start + 7 * (number - 1) * DAY
        return first, first + 7 * DAY
    weekday = 5 if "U" in named.signs else named.weekday
    last = end - DAY
    first = start + ((weekday - start.weekday()) % 7 + 7 * (number - 1)) * DAY
    first = last - (last.weekday() - weekday) % 7 * DAY if number < 0 else first
    return first, first + (2 if "U" in named.signs else 1) * DAY


def _share(word: str, start: datetime, end: datetime) -> Reading:
    third = (end - start) / 3
    if word in {"early", "beginning", "start"}:
        return start, start + third
    return (end - third, end) if word in {"late", "end"} else (start + third, end - third)


def _season(name: str, year: int) -> Reading:
    """Give the three months of a northern season; a winter ends in the year after."""
    first = SEASONS[name]
    return _month(year, first)[0], _month(*_earlier(year, first, -2))[1]


def _year(year: int) -> Reading:
    return _at(date(year, 1, 1)), _at(date(year, 12, 31) + DAY)


def _month(year: int, month: int) -> Reading:
    return _at(date(year, month, 1)), _at(date(*_earlier(year, month, -1), 1))


def _earlier(year: int, month: int, months: int) -> tuple[int, int]:
    at = 12 * year + month - 1 - months
    return at // 12, at % 12 + 1


def _hours(day: date, part: str) -> Iterator[Reading]:
    low, high = HOURS[part] if part else (0, 24)
    yield _at(day, low), _at(day, high)


def _at(day: date, hours: float = 0) -> datetime:
    return datetime.combine(day, time(), UTC) + timedelta(hours=hours)
