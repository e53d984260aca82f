"""How a page writes what is in the log: texts, times, sizes, pointers.

The invariant: stored text reaches a page through `linked` or Jinja's own escaping, never as
markup; control and bidirectional signs are visible escapes; a page's texts share a budget of
bytes, so that no content makes a page large. What is cut says how much it was cut of.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from markupsafe import Markup, escape

from firsthand.errors import MalformedPointer
from firsthand.event import Kind
from firsthand.moment import Moment
from firsthand.pointer import find, parse
from firsthand.printable import shown as printable
from firsthand.unasked import secrets
from firsthand.value import value

LINES_MAX = 12
LINE_CHARACTERS_MAX = 600
FIRST_LINE_CHARACTERS_MAX = 300
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NAMES = {
    Kind.USER_MESSAGE: "user", Kind.AGENT_MESSAGE: "agent", Kind.REASONING: "reasoning", Kind.TOOL_CALL: "call",
    Kind.TOOL_RESULT: "result", Kind.SUMMARY: "summary", Kind.RECEIPT: "compaction", Kind.TASK_STATE: "task state",
    Kind.INJECTION: "volunteered", Kind.ANATOMY: "model call",
}  # fmt: skip
"""Kinds as pages call them, where the log's word is longer."""
CLASSES = {
    Kind.USER_MESSAGE: "u", Kind.AGENT_MESSAGE: "a", Kind.REASONING: "t", Kind.TOOL_CALL: "c", Kind.TOOL_RESULT: "r",
    Kind.SUMMARY: "m", Kind.RECEIPT: "m", Kind.TASK_STATE: "k",
}  # fmt: skip
"""Letters of the style sheet; ``o`` for the other kinds, ``f`` for a failure."""


@value
class Cut:
    """A text as far as a page shows it, how many lines are left out, and whether nothing is."""

    text: str
    more: int = 0
    whole: bool = True


class Room:
    """The bytes that a page has left for texts."""

    def __init__(self, bytes_max: int) -> None:
        self.left = bytes_max

    def cut(self, text: str, *, lines_max: int = LINES_MAX, mask: bool = True) -> Cut:
        """Cut a text to some lines of some length, and to what the page has room for."""
        lines = text[: 4 * lines_max * LINE_CHARACTERS_MAX].split("\n")
        rest = text.count("\n") + 1 - lines_max
        cut: list[str] = []
        whole = rest <= 0
        for line in lines[:lines_max]:
            piece = printable(line[:LINE_CHARACTERS_MAX].expandtabs(4).rstrip("\r"))
            whole = whole and len(line) <= LINE_CHARACTERS_MAX
            piece = piece if len(line) <= LINE_CHARACTERS_MAX else f"{piece} … {len(line) - LINE_CHARACTERS_MAX:,} more"
            self.left -= len(str(escape(piece)).encode()) + 1
            if self.left < 0:
                return Cut("\n".join(cut), max(1, text.count("\n") + 1 - len(cut)), whole=False)
            cut.append(piece)
        joined = "\n".join(cut)
        return Cut(secrets.mask(joined) if mask else joined, max(0, rest), whole)


def first_line(text: str, characters_max: int = FIRST_LINE_CHARACTERS_MAX) -> str:
    """Give the beginning of a text on one line, secrets masked."""
    return printable(secrets.mask(" ".join(text[: 4 * characters_max].split())[:characters_max]))


def linked(text: str, base: str, brief: bool = False) -> Markup:
    """Write a text with its pointers as links, by their last six signs where it is to be brief."""
    parts, at = [], 0
    for pointer in find(text):
        start = text.index(pointer, at)
        parts += [escape(text[at:start]), link(pointer, base, short(pointer) if brief else "")]
        at = start + len(pointer)
    return Markup("").join([*parts, escape(text[at:])])


def link(pointer: str, base: str, text: str = "") -> Markup:
    """Write a pointer as a link to its source, under this text or its own; what is no pointer stays text."""
    try:
        parse(pointer)
    except MalformedPointer:
        return escape(pointer)
    address = f"{base}/event?pointer={query(pointer)}"
    return Markup('<a class="p" href="{}" title="{}">{}</a>').format(address, pointer, text or pointer)


def query(text: str) -> str:
    """Write a text as a value of an address's query."""
    return quote(text, safe=":~", errors="surrogatepass")


def short(pointer: str) -> str:
    """Give the last six signs of a pointer's id."""
    return pointer.partition("#")[0][-6:]


# times and sizes -------------------------------------------------------------------------------------


def local(moment: Moment | None) -> datetime | None:
    """Give a moment by this machine's clock; None without one."""
    if moment is None:
        return None
    try:
        return (_EPOCH + timedelta(microseconds=moment.microseconds)).astimezone()
    except (OverflowError, ValueError, OSError):  # a year that the local zone has no rule for
        return _EPOCH + timedelta(microseconds=moment.microseconds)


def when(moment: Moment | None, form: str = "full") -> Markup:
    """Write a time: ``full``, ``day`` or ``clock`` by the local zone, and UTC where one points at it."""
    at = local(moment)
    if at is None or moment is None:
        return Markup('<span class="q" title="time unknown">{}</span>').format(
            "time unknown" if form == "full" else "-"
        )
    words = {"clock": f"{at:%H:%M}", "day": f"{at.day} {at:%b}", "full": f"{at.day} {at:%b %Y %H:%M:%S}"}[form]
    stamp = f"{_EPOCH + timedelta(microseconds=moment.microseconds):%Y-%m-%dT%H:%M:%SZ}"
    return Markup('<time datetime="{0}" title="{0}">{1}</time>').format(stamp, words)


def zone() -> str:
    """Name the zone that times are written in."""
    return f"{time.strftime('%Z')} (UTC{time.strftime('%z')[:3]}:{time.strftime('%z')[3:]})"


def size(number: int) -> str:
    """Write a size in bytes for people: ``512 B``, ``1.4 MB``."""
    amount, unit = float(number), "B"
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 999.5 or unit == "GB":
            break
        amount /= 1000
    return f"{number} B" if unit == "B" else f"{amount:,.1f} {unit}"


def duration(microseconds: int) -> str:
    """Write how long something took: ``0.4 s``, ``12 s``, ``5 m``, ``2 h 45 m``."""
    seconds = microseconds / 1e6
    if seconds < 9.95:
        return f"{max(seconds, 0):.1f} s" if seconds >= 0.05 else "0 s"
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} m"
    return f"{minutes // 60} h {minutes % 60} m" if minutes < 60 * 48 else f"{minutes // 1440} days"


def count(number: int, noun: str) -> str:
    """Write a number with its noun: ``1 event``, ``2,000 events``."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}es" if noun.endswith(("s", "ch")) else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def kind_name(kind: Kind | str) -> str:
    """Give the word of pages for a kind of event."""
    return NAMES.get(Kind(kind), str(kind).replace("_", " "))


def kind_class(kind: Kind | str) -> str:
    """Give the letter of the style sheet for a kind of event."""
    return CLASSES.get(Kind(kind), "o")


def finalized(thing: Any) -> Any:
    """Make what a template writes fit to be seen: text shows every sign that it holds, and nothing is written None."""
    if isinstance(thing, Markup):
        return thing
    if isinstance(thing, str):
        return printable(thing, lines=True)
    return "" if thing is None else thing
