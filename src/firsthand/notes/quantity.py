r"""Quantities as texts spell them: numbers, money, units, dates and times of day, in exact rationals.

    "7 notebooks at $4 each"  ->  7 (notebooks), 4 USD
    "done in 1.5 h"           ->  5400 s

The invariants: a literal is read only where it stands alone, so neither the 1 of
``eu-west-1`` nor the 2 of ``v1.2.3`` is one; a spelling with two readings (``1,234``)
gives both; time is linear in the text. A word behind a number that is no unit is its
label: what was counted. Words are not read for their meaning, in any language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

from firsthand.value import value

DIGITS_MAX = 30
"""A number of more digits is no literal."""

Dimension = tuple[tuple[str, int], ...]
"""Base units with their exponents, sorted; empty for a plain number. ``date`` and ``clock`` are points in time."""

_SECONDS = {
    "ns": Fraction(1, 10**9), "us": Fraction(1, 10**6), "\u00b5s": Fraction(1, 10**6), "ms": Fraction(1, 1000),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), Fraction(1)),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), Fraction(60)),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), Fraction(3600)),
    **dict.fromkeys(("d", "day", "days"), Fraction(86_400)), **dict.fromkeys(("week", "weeks"), Fraction(604_800)),
}  # fmt: skip
_BYTES = {
    **dict.fromkeys(("B", "byte", "bytes"), Fraction(1)), "kB": Fraction(1000), "KB": Fraction(1000),
    **{f"{letter}B": Fraction(1000**power) for power, letter in enumerate("MGTP", 2)},
    **{f"{letter}iB": Fraction(1024**power) for power, letter in enumerate("KMGTP", 1)},
}  # fmt: skip
_UNITS: dict[str, tuple[str, Fraction]] = {
    **{name: ("s", scale) for name, scale in _SECONDS.items()},
    **{name: ("B", scale) for name, scale in _BYTES.items()},
    "mm": ("m", Fraction(1, 1000)), "cm": ("m", Fraction(1, 100)), "m": ("m", Fraction(1)),
    "km": ("m", Fraction(1000)), "mg": ("g", Fraction(1, 1000)), "g": ("g", Fraction(1)), "kg": ("g", Fraction(1000)),
    **{code: (code, Fraction(1)) for code in ("USD", "EUR", "GBP", "JPY", "INR", "CHF", "CNY", "CAD", "AUD")},
}  # fmt: skip
_CURRENCIES = {"$": "USD", "\u20ac": "EUR", "\u00a3": "GBP", "\u00a5": "JPY", "\u20b9": "INR"}
_SIGN = "$\u20ac\u00a3\u00a5\u20b9"
_LITERAL = re.compile(
    rf"""(?<![\w.,:/\\@#_%+-])(?:
      (?P<date>\d{{4}}-\d\d-\d\d)(?:[T\ ](?P<at>\d\d:\d\d(?::\d\d)?)(?P<zone>Z|[+-]\d\d:\d\d)?)?
    | (?P<clock>[0-2]?\d:[0-5]\d(?::[0-5]\d)?)
    | (?P<minus>[-\u2212])?(?P<before>[{_SIGN}]|(?:USD|EUR|GBP|JPY|INR|CHF|CNY|CAD|AUD)\ ?)?
      (?P<number>\d{{1,3}}(?:[,'\u2019\u202f\u00a0]\d{{3}})+(?:\.\d+)?|\d{{1,3}}(?:\.\d{{3}})+,\d+|\d+(?:[.,]\d+)?)
      (?:(?P<times>[kM])(?!\w))?
      (?:(?P<percent>\ ?%)|\ ?(?P<behind>[{_SIGN}])|[\ -]?(?P<word>[^\W\d_]+)(?![\w@]|[./:\\-]\w))?
    )(?![\w@]|[.,:/\\-]\d)""",
    re.VERBOSE,
)
_EPOCH_DATE = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH = _EPOCH_DATE.toordinal()
_DAY = 86_400


@value
class Quantity:
    """An exact number with its unit.

    Attributes:
        number: in base units (seconds, bytes, metres, grams, whole currency); of a date seconds since 1970 in UTC, of
            a time of day seconds since midnight.
        label: what was counted, as spelled behind the number; empty for none, or for a unit that is known.
    """

    number: Fraction
    dimension: Dimension = ()
    label: str = ""

    def __str__(self) -> str:
        seconds = int(self.number)
        if self.dimension == (("date", 1),):
            return f"{_EPOCH_DATE + timedelta(seconds=seconds):%Y-%m-%d %H:%M}".removesuffix(" 00:00")
        if self.dimension == (("clock", 1),):
            return f"{seconds // 3600:02}:{seconds // 60 % 60:02}"
        units = " ".join(name if power == 1 else f"{name}^{power}" for name, power in self.dimension) or self.label
        number = self.number
        text = str(number.numerator) if number.denominator == 1 else decimal(number)
        return f"{text} {units}".rstrip()


@value
class Literal:
    """A quantity where it stands in a text.

    Attributes:
        readings: what it may mean, the likelier first: ``1,234`` is 1234 or 1.234.
        decimals: digits behind its decimal sign.
    """

    text: str
    start: int
    end: int
    readings: tuple[Quantity, ...]
    decimals: int = 0

    @property
    def quantity(self) -> Quantity:
        """The likelier reading."""
        return self.readings[0]


def decimal(number: Fraction) -> str:
    """Write a number as a decimal fraction of at most six digits, marked where that is not all of it."""
    text = f"{float(round(number, 6)):f}".rstrip("0").rstrip(".")
    return text if Fraction(text) == number else f"{text}..."


def literals(text: str) -> Iterator[Literal]:
    """Yield the quantities of a text, in order."""
    for match in _LITERAL.finditer(text):
        if (literal := _literal(match)) is not None:
            yield literal


def literal_at(text: str, start: int) -> Literal | None:
    """Read the quantity that begins at a place, whatever stands before it; None when there is none."""
    match = _LITERAL.match(text[start:])
    literal = _literal(match) if match is not None else None
    return literal and Literal(literal.text, start, start + literal.end, literal.readings, literal.decimals)


def _literal(match: re.Match[str]) -> Literal | None:
    if match["date"]:
        point = _moment(match["date"], match["at"] or "00:00", match["zone"] or "Z")
        return None if point is None else Literal(match[0], match.start(), match.end(), (point,))
    if match["clock"]:
        seconds = _clock(match["clock"])
        time = Quantity(Fraction(seconds), (("clock", 1),))
        return Literal(match[0], match.start(), match.end(), (time,)) if seconds < _DAY else None
    spelled = match["number"]
    if sum(sign.isdigit() for sign in spelled) > DIGITS_MAX:
        return None
    scale = Fraction({"k": 1000, "M": 1_000_000, None: 1}[match["times"]]) * (-1 if match["minus"] else 1)
    word, end, label = match["word"] or "", match.end(), ""
    dimension: Dimension = ()
    currency = (match["before"] or match["behind"] or "").strip()
    if match["percent"]:
        scale /= 100
    elif currency:
        dimension = ((_CURRENCIES.get(currency, currency), 1),)
        end = match.start("word") if word else end  # what stands behind money is no unit of it
    elif word in _UNITS:
        base, factor = _UNITS[word]
        dimension, scale = ((base, 1),), scale * factor
    else:
        label = word.casefold()
    text = match.string[match.start() : end].rstrip(" -")
    numbers, decimals = _numbers(spelled)
    readings = tuple(Quantity(number * scale, dimension, label) for number in numbers)
    return Literal(text, match.start(), match.start() + len(text), readings, decimals)


def _numbers(spelled: str) -> tuple[tuple[Fraction, ...], int]:
    """Give what a spelling may mean, the likelier first, and the decimals of the first."""
    plain = re.sub("['\u2019\u202f\u00a0]", "", spelled)
    head, _, tail = plain.rpartition(",")
    if head and "." in head:  # 1.234,56
        return (Fraction(f"{head.replace('.', '')}.{tail}"),), len(tail)
    if head and "." not in tail and (len(tail) != 3 or "," not in plain):
        return (Fraction(f"{head}.{tail}"),), len(tail)
    first = Fraction(plain.replace(",", ""))
    decimals = len(plain.rpartition(".")[2]) if "." in plain else 0
    if plain.count(",") == 1 and "." not in plain:
        return (first, Fraction(plain.replace(",", "."))), decimals
    if decimals == 3 and plain.count(".") == 1 and "," not in plain and len(plain) <= 7:
        return (first, Fraction(plain.replace(".", ""))), decimals
    return (first,), decimals


def _moment(day: str, at: str, zone: str) -> Quantity | None:
    try:
        days = date.fromisoformat(day).toordinal() - _EPOCH
    except ValueError:  # 2026-02-30: no literal, and the caller says that it stands in no quote
        return None
    offset = 0 if zone == "Z" else (_clock(zone[1:]) * (-1 if zone[0] == "-" else 1))
    return Quantity(Fraction(days * _DAY + _clock(at) - offset), (("date", 1),))


def _clock(text: str) -> int:
    hours, minutes, *seconds = map(int, text.split(":"))
    return hours * 3600 + minutes * 60 + sum(seconds)
