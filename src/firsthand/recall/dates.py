"""The stretches of time that a question names: dates, and the few English words that stand for one.

    2023-05-08   2023-05   8 May 2023   May 8th   in May   in 2023
    today   yesterday   last night   this week   last month   two weeks ago   the past three days   on Tuesday
    before, until, after, since any of these

A stretch is a reading, never a command: what happened in it counts more, nothing else is left
out. The invariant: the same text and moment give the same stretches; what can be no time gives
none and raises nothing. It knows no storage.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import cache

from firsthand.moment import Moment
from firsthand.value import value

CHARACTERS_MAX = 8_000
SPANS_MAX = 8
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
            "nine": 9, "ten": 10, "couple": 2, "few": 3}  # fmt: skip
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = timedelta(days=1)
_TICK = timedelta(microseconds=1)


@value
class Span:
    """A stretch of time in microseconds since 1970, the end exclusive; None is open.

    Attributes:
        words: as they stand in the text.
    """

    since: int | None
    until: int | None
    words: str


_MAYBE = re.compile("[0-9]|ago|day|last|night|past|previous|this|" + "|".join(_MONTHS), re.IGNORECASE | re.ASCII)
"""What a text holds that names a time: one without is not looked through, and a process may do without the pattern."""


@cache  # compiled when the first such question is read
def _pattern() -> re.Pattern[str]:
    month = (
        r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
        r"|nov(?:ember)?|dec(?:ember)?)(?![a-z])\.?"
    )
    day = r"(?:[12][0-9]|3[01]|0?[1-9])(?:st|nd|rd|th)?(?![0-9:])"
    year = r"(?:19|20)[0-9]{2}(?![0-9])"
    count = "(?:[0-9]{1,3}|" + "|".join(_NUMBERS) + ")(?: of)?"
    unit = "(?:hour|day|week|month|year)s?"
    return re.compile(
        rf"(?:\b(?P<side>before|until|till|by|after|since)\s+(?:the\s+)?)?(?:"
        rf"(?<![\w-])(?P<iso>{year}-[01][0-9](?:-[0-3][0-9])?)(?![\w-])"
        rf"|\b(?P<day1>{day})\s+(?:of\s+)?(?P<month1>{month}),?(?:\s+(?P<year1>{year}))?\b"
        rf"|\b(?P<month2>{month})\s+(?P<day2>{day}),?(?:\s+(?P<year2>{year}))?\b"
        rf"|\b(?P<month3>{month}),?\s+(?:of\s+)?(?P<year3>{year})\b"
        rf"|\b(?:(?P<in>in|during|since|before|after|until|by|last|this|early|late|mid)[\s-]+)(?P<month4>{month})(?!,?\s+(?:of\s+)?{year})(?![\w.])"
        rf"|\b(?P<today>today|yesterday|tonight|last night|this (?:morning|afternoon|evening))\b"
        rf"|\b(?P<count>{count})\s+(?P<ago>{unit})\s+ago\b"
        rf"|\b(?:last|past|previous)\s+(?P<past>{count})\s+(?P<pastunit>{unit})\b"
        rf"|\b(?P<which>last|past|previous|this)\s+(?P<unit>week|weekend|month|year)\b"
        rf"|\b(?:last|on|this|since|before|after)\s+(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
        rf"|\b(?:in|during|of|since|before|after)\s+(?P<year>{year})(?!-[0-9])\b"
        r")",
        re.IGNORECASE | re.ASCII,
    )


def spans(text: str, now: Moment) -> tuple[Span, ...]:
    """Give the stretches of time that a text names.

    Args:
        now: what "yesterday" is counted from; its offset says when a day begins.
    """
    named: list[Span] = []
    if not _MAYBE.search(text):
        return ()
    for match in _pattern().finditer(text[:CHARACTERS_MAX]):
        try:
            since, until = _opened((match["side"] or _opening(match)).lower(), *_read(match, _Clock(now)))
        except (ValueError, OverflowError):  # 31 February, or 9,999 years ago: no time at all
            continue
        named.append(Span(since, until, match[0]))
    return tuple(named[:SPANS_MAX])


class _Clock:
    """The moment of asking as a local time, which is calculated with as if it were UTC."""

    def __init__(self, now: Moment) -> None:
        self.offset = timedelta(minutes=now.offset_minutes)
        self.now = _EPOCH + timedelta(microseconds=now.microseconds) + self.offset
        self.today = self.now.replace(hour=0, minute=0, second=0, microsecond=0)

    def micros(self, local: datetime) -> int:
        return (local - self.offset - _EPOCH) // _TICK


def _opening(match: re.Match[str]) -> str:
    """Give the word in front where it stands inside of the pattern: ``since May``."""
    first = match[0].split(None, 1)[0].lower()
    return first if first in {"before", "until", "by", "after", "since"} else ""


def _opened(side: str, since: int, until: int) -> tuple[int | None, int | None]:
    match side:
        case "before":
            return None, since
        case "until" | "till" | "by":
            return None, until
        case "after":
            return until, None
        case "since":
            return since, None
        case _:
            return since, until


def _read(match: re.Match[str], clock: _Clock) -> tuple[int, int]:
    start, end = _local(match, clock)
    return clock.micros(start), clock.micros(end)


def _local(match: re.Match[str], clock: _Clock) -> tuple[datetime, datetime]:
    """Give the first moment of what is named, and the first one behind it."""
    if match["iso"]:
        parts = [int(part) for part in match["iso"].split("-")]
        return _month(*parts) if len(parts) == 2 else _day(*parts)
    for number in "1234":
        if month_word := match[f"month{number}"]:
            month = _MONTHS.index(month_word[:3].lower()) + 1
            day_word = match[f"day{number}"] if number in "12" else None
            year_word = match[f"year{number}"] if number != "4" else None
            day = int(re.sub(r"\D", "", day_word)) if day_word else 0
            year = int(year_word) if year_word else _year_of(month, day or 1, clock)
            return _day(year, month, day) if day else _month(year, month)
    if word := match["today"]:
        start = clock.today - (_DAY if word.lower() in {"yesterday", "last night"} else 0 * _DAY)
        return start, start + _DAY
    if match["ago"]:
        return _ago(_number(match["count"]), match["ago"], clock)
    if match["past"]:
        return clock.now - _number(match["past"]) * _long(match["pastunit"]), clock.now + _TICK
    if match["unit"]:
        return _calendar(match["unit"].lower(), match["which"].lower() != "this", clock)
    if match["weekday"]:
        back = (clock.today.weekday() - _DAYS.index(match["weekday"][:3].lower())) % 7
        if not back and match[0].lower().startswith("last"):
            back = 7
        start = clock.today - back * _DAY
        return start, start + _DAY
    year = int(match["year"])
    return datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)


def _number(text: str) -> int:
    word = text.lower().removesuffix(" of")
    return _NUMBERS[word] if word in _NUMBERS else int(word)


def _long(unit: str) -> timedelta:
    return {"h": timedelta(hours=1), "d": _DAY, "w": 7 * _DAY, "m": 30 * _DAY, "y": 365 * _DAY}[unit[0].lower()]


def _ago(count: int, unit: str, clock: _Clock) -> tuple[datetime, datetime]:
    """Read "two weeks ago": people round, so it is as wide as the unit; a day is the calendar's."""
    long = _long(unit)
    middle = clock.now - count * long
    if long == _DAY:
        start = middle.replace(hour=0, minute=0, second=0, microsecond=0)
        return start, start + _DAY
    return middle - long / 2, min(clock.now + _TICK, middle + long / 2)


def _calendar(unit: str, last: bool, clock: _Clock) -> tuple[datetime, datetime]:
    today = clock.today
    if unit.startswith("week"):
        monday = today - (today.weekday() + 7 * last) * _DAY
        return (monday + 5 * _DAY, monday + 7 * _DAY) if unit == "weekend" else (monday, monday + 7 * _DAY)
    if unit == "month":
        return _month(*divmod(12 * today.year + today.month - 1 - last, 12)[:1], (today.month - 1 - last) % 12 + 1)
    return datetime(today.year - last, 1, 1, tzinfo=UTC), datetime(today.year - last + 1, 1, 1, tzinfo=UTC)


def _year_of(month: int, day: int, clock: _Clock) -> int:
    """Give the latest year in which a day of the year has begun."""
    return clock.today.year - ((month, day) > (clock.today.month, clock.today.day))


def _day(year: int, month: int, day: int) -> tuple[datetime, datetime]:
    start = datetime(year, month, day, tzinfo=UTC)
    return start, start + _DAY


def _month(year: int, month: int) -> tuple[datetime, datetime]:
    return datetime(year, month, 1, tzinfo=UTC), datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
