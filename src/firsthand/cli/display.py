"""How stored text is laid out for people: columns, tables, sizes, times, marks.

The invariant: what `firsthand.printable` made safe stays as it is, so stored text
can never drive a terminal; `cut` and `table` take text that was shown before.

Pure: it knows signs and widths, no terminal and no store.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

from firsthand.moment import clock
from firsthand.printable import shown

__all__ = ["clock", "columns", "count", "cut", "first_line", "matcher", "shown", "size", "table"]

_WORD = re.compile(r"\w+")
_STEM_MIN = 4


def columns(text: str) -> int:
    """Count the columns that a shown text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(_columns_of(sign) for sign in text)


@lru_cache(maxsize=4096)
def _columns_of(sign: str) -> int:
    if unicodedata.category(sign) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1


def cut(text: str, columns_max: int) -> str:
    """Cut a shown text to a width; what was cut shows as ``…``."""
    if columns_max <= 0 or columns(text) <= columns_max:
        return text
    width = 0
    for place, sign in enumerate(text):
        width += _columns_of(sign)
        if width > columns_max - 1:
            return text[:place] + "…"
    raise AssertionError("a text that is too wide has a place to cut it at")


def table(rows: Sequence[Sequence[str]], right: frozenset[int] = frozenset()) -> Iterator[str]:
    """Yield rows as lines with aligned columns; the last column is as long as it is.

    Args:
        right: numbers of the columns that are aligned to the right.
    """
    if not rows:
        return
    widths = [max(columns(row[number]) for row in rows) for number in range(len(rows[0]))]
    for row in rows:
        cells: list[str] = []
        for number, cell in enumerate(row):
            space = " " * (widths[number] - columns(cell))
            last = number == len(row) - 1
            cells.append(space + cell if number in right else cell if last else cell + space)
        yield "  ".join(cells).rstrip()


def size(number: int) -> str:
    """Write a size in bytes for people: ``512 B``, ``1.4 MB``."""
    amount = float(number)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            return f"{number} B" if unit == "B" else f"{amount:,.1f} {unit}"
        amount /= 1000
    raise AssertionError("the last unit takes every number")


def count(number: int, noun: str) -> str:
    """Write a number with its noun: ``1 event``, ``2,000 events``."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number:,} {noun if number == 1 else plural}"


def first_line(text: str) -> str:
    """Give a text's first line that says something, ready to be shown."""
    line = next((line for line in text[:10_000].splitlines() if line.strip()), "")
    return shown(line.strip())


def matcher(query: str, exact: Sequence[str] = ()) -> re.Pattern[str]:
    """Give what matches a query in a shown text: its exact strings, and words that begin as its words do.

    A word may have another ending of up to three letters, as a stemmer would take off.
    """
    words = _WORD.findall(query)
    ends = [rf"{re.escape(word[: max(_STEM_MIN, len(word) - 3)])}\w{{0,6}}" for word in words if len(word) >= _STEM_MIN]
    whole = [rf"\b{word}\b" for word in (*ends, *(re.escape(word) for word in words))]
    return re.compile("|".join([*(re.escape(string) for string in exact if string), *whole]) or r"(?!)", re.IGNORECASE)
