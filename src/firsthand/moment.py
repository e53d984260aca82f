"""Points in time as data: microseconds since 1970 UTC and the offset they were told in.

Clocks never order events (a position does), so a moment may lie in 1970 or in
9999, run backwards or be missing. What cannot be read as a time is no moment;
the caller keeps the text.
"""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta, timezone
from functools import cache

from firsthand.errors import InvalidArgument
from firsthand.value import value

MICROSECONDS = 1_000_000
_EARLIEST = -62_135_596_800 * MICROSECONDS  # 0001-01-01T00:00:00Z
_LATEST = 253_402_300_799_999_999  # 9999-12-31T23:59:59.999999Z
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@cache  # compiled when the first text is read
def _iso() -> re.Pattern[str]:
    return re.compile(
        r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?\s*"
        r"(Z|z|[+-]\d\d(?::?\d\d)?)?\Z",
        re.ASCII,
    )


@value(order=True)
class Moment:
    """One point in time.

    Attributes:
        microseconds: since 1970-01-01T00:00:00Z; years 1 to 9999.
        offset_minutes: of the clock it was read from, -1,439 to 1,439; 0 is UTC.

    Raises:
        ValueError: outside those ranges, or no whole numbers.
    """

    microseconds: int
    offset_minutes: int = 0

    def __post_init__(self) -> None:
        if type(self.microseconds) is not int or type(self.offset_minutes) is not int:
            raise ValueError(
                f"a moment is made of whole numbers, not {self.microseconds!r} and {self.offset_minutes!r}"
            )
        if not _EARLIEST <= self.microseconds <= _LATEST:
            raise ValueError(f"a moment lies in the years 1 to 9999, not at {self.microseconds} us")
        if not -1440 < self.offset_minutes < 1440:
            raise ValueError(f"an offset is under 24 hours, not {self.offset_minutes} minutes")

    def __repr__(self) -> str:
        return f"Moment({str(self)!r})"

    def __str__(self) -> str:
        """Write it as ISO 8601 with its offset; the inverse of `parse`."""
        instant = _EPOCH + timedelta(microseconds=self.microseconds)
        try:
            local = instant.astimezone(timezone(timedelta(minutes=self.offset_minutes)))
        except OverflowError:  # the local year would be 0 or 10000: UTC says the same instant
            local = instant
        text = local.isoformat(timespec="microseconds" if self.microseconds % 1000 else "milliseconds")
        return text.replace("+00:00", "Z")

    @property
    def milliseconds(self) -> int:
        return self.microseconds // 1000


def now() -> Moment:
    """Read the system clock, with the machine's own offset.

    Raises:
        InvalidArgument: it stands at no time of the years 1 to 9999.
    """
    try:
        nanoseconds = time.time_ns()
        local = time.localtime(nanoseconds // 1_000_000_000)
        return Moment(nanoseconds // 1000, (local.tm_gmtoff or 0) // 60)
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidArgument(
            f"expected a clock that stands in the years 1 to 9999; this machine's does not ({error}). Nothing was "
            "written; set the clock (date -s, or its time service) and try again"
        ) from error


def clock(moment: Moment | None) -> str:
    """Write a time for a reader, to the second and with its offset, or that it is unknown."""
    if moment is None:
        return "time unknown"
    text = str(moment)
    return text[:19].replace("T", " ") + (text[-6:] if text[-6] in "+-" else "Z")


def parse(value: object) -> Moment | None:
    """Read a time as hosts write it; None where it is no time.

    Takes ISO 8601 text with or without offset (none means UTC), and epoch
    numbers in seconds or, from 1e11 on, milliseconds. A leap second reads as
    the second after it.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return _from_epoch(value)
    if not isinstance(value, str):
        return None
    match = _iso().match(value.strip())
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    offset = _offset_minutes(zone)
    leap = second == "60"
    try:
        clock = datetime(
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), 59 if leap else int(second or 0),
            tzinfo=UTC,
        )  # fmt: skip
        micros = round((clock - _EPOCH) / timedelta(microseconds=1)) - offset * 60 * MICROSECONDS
        micros += MICROSECONDS if leap else int(((fraction or "") + "000000")[:6])
        return Moment(micros, offset)
    except ValueError:
        return None


def _from_epoch(value: float) -> Moment | None:
    try:
        seconds_scale = 1 if abs(value) < 1e11 else 1000
        return Moment(round(value * MICROSECONDS) // seconds_scale)
    except (ValueError, OverflowError):  # NaN, infinity, year 10000
        return None


def _offset_minutes(zone: str | None) -> int:
    if zone is None or zone in "Zz":
        return 0
    digits = zone[1:].replace(":", "").ljust(4, "0")
    minutes = int(digits[:2]) * 60 + int(digits[2:])
    return -minutes if zone[0] == "-" else minutes
