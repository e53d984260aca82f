r"""Reads dates and times where they begin: 2026-03-03, 3 March, 9:45 pm, quarter past nine, 14h30.

The invariant: each function looks from one place of a folded text on, and gives
what it read with the place where it ends, or None; a day that no calendar has is
None.

It does not know a clock: "tomorrow" stays relative, and a date without a year has none.
"""

from __future__ import annotations

import re
from datetime import date
from fractions import Fraction
from functools import cache
from typing import Literal

from firsthand.value import value
from firsthand_evals.probe import lexicon
from firsthand_evals.probe.numerals import chinese, small, year

_compiled = cache(re.compile)
NUMERALS = "".join({*lexicon.CHINESE_DIGITS, *lexicon.CHINESE_SCALES})

_ISO = r"(\d{4})([-/])(\d\d?)\2(\d\d?)(?!\d)"
_DOTTED = r"(\d\d?)\.(\d\d?)\.(\d{4}|\d\d)(?![\d.]\d)"
_SLASHED = r"(\d\d?)/(\d\d?)/(\d{4}|\d\d)(?![\d/]\d)"
_MONTH_OF_YEAR = r"(?<!\d/)(0[1-9]|1[0-2])/((?:19|20)\d\d)(?![\d/.]\d|\d)"
_FAR_DATE = r"(?:(\d{4})\s?[\u5e74\ub144]\s?)?(\d\d?)\s?[\u6708\uc6d4]\s?(\d\d?)\s?[\u65e5\u53f7\u865f\uc77c]"
_HALF = r"(?:\s?([ap])(?:\.\s?m\.|m\b))"
_CLOCK = rf"(\d\d?):(\d\d)(?::(\d\d)(?:\.\d+)?)?(?![\d:]){_HALF}?"
_STOPPED = r"(?:(\d\d?):)?(\d\d?):(\d\d\.\d{1,6})(?![\d:])"
_HOUR = rf"(\d\d?)(?:\.(\d\d))?(?:{_HALF}|\s?uhr\b(?:\s(\d\d)\b)?)"
_AFTER_HOUR = "[\u70b9\u9ede\u65f6\u6642\uc2dc]"
_FAR_CLOCK = (
    rf"(\d\d?|[{NUMERALS}]{{1,3}})\s?{_AFTER_HOUR}\s?(?:(\u534a)|(\d\d?|[{NUMERALS}]{{1,3}})\s?[\u5206\ubd84])?"
)
_LATE = ("\u4e0b\u5348", "\u665a\u4e0a", "\u508d\u665a", "\uc624\ud6c4")  # afternoon, evening
_PAST = (
    r"(half|quarter|[a-z]+(?:-[a-z]+)?|\d\d?)( minutes?)? (past|after|to|before) ([a-z]+|\d\d?)\b"
    r"(?![:.]\d)(?!\s*(?:%|percent|people|of\b))"
)
_PART_OF_DAY = r" (?:in the (morning|afternoon|evening)|at (night))\b"
_OCLOCK = r"([a-z]+|\d\d?) o'clock\b"
_GERMAN_PAST = r"(halb|viertel nach|viertel vor) ([a-z\u00e4\u00f6\u00fc]+|\d\d?)\b"
_MONTH = "|".join(sorted(lexicon.MONTHS, key=len, reverse=True))
_OF = r"\s?(?:st|nd|rd|th|er|\u00ba|\.)?,?\s(?:of\s|de\s)?"
_DAY_MONTH = rf"(\d\d?){_OF}({_MONTH})\b\.?(?:,?\s(?:de\s)?(\d{{4}})\b)?"
_DAY_MONTH_YEAR = rf"(\d\d?)[-. /]({_MONTH})\.?[-. /]['\u2019]?(\d{{4}}|\d\d)(?![\d:]|[.,]\d)"
_MONTH_DAY = rf"({_MONTH})\.?\s(\d\d?)(?:st|nd|rd|th)?(?![\d:]|[.,]\d)(?:,?\s(\d{{4}})\b)?"
_MONTH_YEAR = rf"({_MONTH})\.?,?\s(\d{{4}})\b"


@value
class Told:
    """A date or a time, and where it ends."""

    kind: Literal["time", "date", "duration"]
    amount: Fraction
    unit: str
    end: int


def date_at(low: str, start: int) -> Told | None:
    """Read the date that begins at a digit; None when none does."""
    match = _compiled(_ISO).match(low, start)
    if match is not None:
        return _date(int(match[1]), int(match[3]), int(match[4]), match.end())
    match = _compiled(_DOTTED).match(low, start)
    if match is not None:
        return _date(year(match[3]), int(match[2]), int(match[1]), match.end())
    match = _compiled(_SLASHED).match(low, start)
    if match is not None:
        one, two = int(match[1]), int(match[2])
        day, month = (one, two) if one > 12 else (two, one)  # month first, as most such dates are written
        return _date(year(match[3]), month, day, match.end())
    match = _compiled(_MONTH_OF_YEAR).match(low, start)
    if match is not None:
        return Told("date", Fraction(int(match[2]) * 12 + int(match[1])), "YYYY-MM", match.end())
    match = _compiled(_FAR_DATE).match(low, start)
    if match is not None:
        return _date(int(match[1] or 0), int(match[2]), int(match[3]), match.end())
    match = _compiled(_DAY_MONTH_YEAR).match(low, start)
    if match is not None:
        return _date(year(match[3]), lexicon.MONTHS[match[2]], int(match[1]), match.end())
    match = _compiled(_DAY_MONTH).match(low, start)
    if match is not None:
        return _date(int(match[3] or 0), lexicon.MONTHS[match[2]], int(match[1]), match.end())
    return None


def month_at(low: str, start: int) -> Told | None:
    """Read the date that begins with the name of a month; None when none does."""
    match = _compiled(_MONTH_DAY).match(low, start)
    if match is not None:
        return _date(int(match[3] or 0), lexicon.MONTHS[match[1]], int(match[2]), match.end())
    match = _compiled(_MONTH_YEAR).match(low, start)
    if match is None:
        return None
    return Told("date", Fraction(int(match[2]) * 12 + lexicon.MONTHS[match[1]]), "YYYY-MM", match.end())


def _date(years: int, month: int, day: int, end: int) -> Told | None:
    """Give a date, None when no calendar has it."""
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    if not years:
        return Told("date", Fraction(month * 100 + day), "MM-DD", end)
    try:
        return Told("date", Fraction(date(years, month, day).toordinal()), "", end)
    except ValueError:  # 31 June, year 0: what looks like a date is a number then, and this says None
        return None


def time_at(low: str, start: int) -> Told | None:
    """Read the time of day, or the 1h30, that begins at a digit; None when none does."""
    before = low[start - 1 : start]
    match = _compiled(_STOPPED).match(low, start) if before not in {":", "."} else None
    if match is not None:
        hours = int(match[1] or 0) * 3600
        return Told("duration", hours + int(match[2]) * 60 + Fraction(match[3]), "", match.end())
    match = _compiled(_CLOCK).match(low, start) if before != ":" else None
    if match is not None and match[4] is None and _compiled(r"\s?(?:h|hrs?|hours?|std)\b").match(low, match.end()):
        return Told("duration", Fraction(int(match[1]) * 3600 + int(match[2]) * 60), "", match.end())
    if match is not None:
        return _time(match[1], match[2], match[4], match.end(), seconds=match[3])
    match = _compiled(_HOUR).match(low, start) if before not in {".", ":"} else None
    if match is not None:
        return _time(match[1], match[2] or match[4], match[3], match.end())
    match = _compiled(r"(\d{1,3})(?:h(\d\d?)(?:m|min)|(?:m|min|')(\d\d)(?:s|sec|\"))(?!\w)").match(low, start)
    if match is not None:
        length = int(match[1]) * 3600 + int(match[2]) * 60 if match[2] else int(match[1]) * 60 + int(match[3])
        return Told("duration", Fraction(length), "", match.end())
    match = _compiled(r"(\d\d?)h(\d\d)?\b").match(low, start)
    if match is not None and (match[2] == "00" or word_before(low, start) in lexicon.BEFORE_A_TIME):
        return _time(match[1], match[2], None, match.end())
    if match is not None and match[2]:
        return Told("duration", Fraction(int(match[1]) * 3600 + int(match[2]) * 60), "", match.end())
    return far_time_at(low, start)


def far_time_at(low: str, start: int) -> Told | None:
    """Read a time written in Chinese, Japanese or Korean; None when none begins here."""
    match = _compiled(_FAR_CLOCK).match(low, start)
    if match is None:
        return None
    hour, minute = (chinese(one) if one and not one.isdecimal() else int(one or 0) for one in (match[1], match[3]))
    late = low[max(0, start - 3) : start].strip().endswith(_LATE)
    end = match.start() + len(match.group().rstrip())
    return _time(str(hour), str(30 if match[2] else minute), "p" if late and 0 < hour < 12 else None, end)


def _time(hour: str, minute: str | None, half: str | None, end: int, *, seconds: str | None = None) -> Told | None:
    hours, minutes = int(hour), int(minute or 0)
    if hours > 24 or minutes > 59 or (half and not 1 <= hours <= 12):
        return None
    if half:
        hours = hours % 12 + (12 if half == "p" else 0)
    return Told("time", hours * 60 + minutes + Fraction(int(seconds or 0), 60), "", end)


def past_at(low: str, start: int) -> Told | None:
    """Read a time told from its hour: half past nine (in the evening), halb zehn; None when none begins here."""
    told = _past(low, start)
    part = None if told is None else _compiled(_PART_OF_DAY).match(low, told.end)
    if told is None or part is None:
        return told
    late = part[1] in {"afternoon", "evening"} or (part[2] == "night" and told.amount > 360)
    amount = told.amount + (720 if late and told.amount < 720 else 0)
    return Told(told.kind, Fraction(0) if part[2] and amount == 720 else amount, told.unit, part.end())


def _past(low: str, start: int) -> Told | None:
    """Read a time told from its hour as if it were in the morning; None when none begins here."""
    match = _compiled(_PAST).match(low, start)
    if match is not None:
        off = {"half": 30, "quarter": 15}.get(match[1], small(match[1]))
        hour = small(match[4])
        if off is None or hour is None or not (0 < off < 60 and 1 <= hour <= 12):
            return None
        told = match[1] in {"half", "quarter"} or match[2] or match[3] == "past"
        if not told and (match[3] != "to" or off % 5):
            return None  # "four after nine" counts something, and so does "2 to 3"
        minutes = hour * 60 + (off if match[3] in {"past", "after"} else -off)
        return Told("time", Fraction(minutes % 1440), "", match.end())
    match = _compiled(_OCLOCK).match(low, start)
    hour = small(match[1]) if match is not None else None
    if match is not None and hour is not None:
        return _time(str(hour), None, None, match.end())
    match = _compiled(_GERMAN_PAST).match(low, start)
    hour = small(match[2]) if match is not None else None
    if match is None or hour is None or not 1 <= hour <= 24:
        return None
    off = {"halb": -30, "viertel nach": 15, "viertel vor": -15}[match[1]]
    return Told("time", Fraction(hour * 60 + off), "", match.end())


def word_before(low: str, start: int) -> str:
    """Give the word that stands before a place; empty when there is none."""
    words: list[str] = _compiled(r"[^\W\d_]+").findall(low[max(0, start - 16) : start])
    return words[-1] if words else ""
