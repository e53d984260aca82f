"""Writes a push pack as one text, for hosts that take text and no messages.

    ## Before this session
    ...
    ## Evicted turns
    [Turns 1-40 evicted, nothing lost: ...]
    ## Task
    ...
    ## Newest events
    [Not in this pack: 12 earlier events, 3,204 tokens: expand("fh:...")]
    user message, turn 41
    | what was said
    ## Reminders
    ...
    ## Recalled
    ...

The invariant: at most the tokens asked for, by the counter given, headings
included; the words of events stand after a bar, so none of them can pass for a
heading or a line of ours. Whoever hands the text to a host fences it.

It knows texts and sizes; where they come from is the caller's business.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from firsthand.event import Kind
from firsthand.tokens import TokenCounter, estimate
from firsthand.value import replace, value
from firsthand.window import CUES, PREAMBLE, RECALL, TASK, Item, Window

from .pack_units import OUTSIDE
from .push_pack import ITEM_SHARE, ITEM_TOKENS_MIN, TOKENS_MAX, Granted, Layout, Making, Section, Shown
from .short_text import quote, quoted, shorten

TITLES = {PREAMBLE: "Before this session", TASK: "Task", CUES: "Reminders", RECALL: "Recalled"}
MARKERS_TITLE, TAIL_TITLE = "Evicted turns", "Newest events"


@value
class Part:
    """A text that wants to be in the pack, and where it can be read whole when it is an event."""

    text: str
    pointer: str = ""


@value
class PackText:
    """A push pack as text, and its layout."""

    text: str
    layout: Layout


def pack_text(
    window: Window,
    read: Callable[[Item], str],
    parts: Mapping[str, Part] | None = None,
    *,
    tokens_max: int = TOKENS_MAX,
    count: TokenCounter = estimate,
) -> PackText:
    """Write the push pack of a window.

    Args:
        read: gives the text of an item; called for the newest ones only.
        parts: texts by the name of their section (`push.SECTION_SHARES`).

    Raises:
        InvalidArgument: as `push.layout`.
    """
    writing = _Writing(window, read, parts or {}, tokens_max, count)
    making = Making(writing.window, writing.sections, tokens_max, count)
    reserve = 0
    while True:
        made = making.within(reserve)
        text = writing.text(made)
        excess = count(text) - tokens_max
        if excess <= 0:
            return PackText(text, made)
        reserve += excess  # of headings and line ends, which the layout knows nothing of


class _Writing:
    """One pack as text: its parts, as long as they are when written."""

    def __init__(
        self,
        window: Window,
        read: Callable[[Item], str],
        parts: Mapping[str, Part],
        tokens_max: int,
        count: TokenCounter,
    ) -> None:
        self._count, self._parts = count, {name: part for name, part in parts.items() if part.text}
        self.sections = [Section(name, count(part.text), part.pointer) for name, part in self._parts.items()]
        self._texts: dict[str, str] = {}
        cap, left = max(ITEM_TOKENS_MIN, int(tokens_max * ITEM_SHARE)), tokens_max
        items = list(window.items)
        asked = False  # the newest user message is in the pack, wherever it stands
        for place in range(len(items) - 1, -1, -1):
            item = items[place]
            asks = item.kind is Kind.USER_MESSAGE and not asked
            if item.kind in OUTSIDE or (left < 0 and not asks):
                continue
            asked = asked or asks
            self._texts[item.id] = read(item)
            tokens = count(_entry(item, quote(self._texts[item.id]))) + 1
            items[place] = replace(item, tokens=tokens)
            left -= min(tokens, cap)
        self.window = replace(window, items=tuple(items))
        self._read = read

    def text(self, made: Layout) -> str:
        """Write a layout."""
        of = {section.section.name: self._section(section) for section in made.sections}
        markers = _heading(MARKERS_TITLE) + "\n".join(marker.text for marker in made.markers)
        lines = [*([made.notice] if made.notice else []), *map(self._item, made.tail)]
        tail = _heading(TAIL_TITLE) + "\n".join(lines)
        parts = [
            of.get(PREAMBLE), markers if made.markers else None, of.get(TASK), tail if lines else None,
            of.get(CUES), of.get(RECALL),
        ]  # fmt: skip
        return "\n".join(part for part in parts if part)

    def _section(self, granted: Granted) -> str:
        name = granted.section.name
        part = self._parts[name]
        return _heading(TITLES[name]) + shorten(part.text, granted.tokens, self._count, part.pointer)

    def _item(self, entry: Shown) -> str:
        item = entry.item
        text = self._texts[item.id] if item.id in self._texts else self._read(item)
        room = entry.tokens - 1
        body = quoted(text, room, lambda part: self._count(_entry(item, part)), f"fh:{item.id}")
        return _entry(item, body) if body else shorten(_entry(item, ""), room, self._count)


def _heading(title: str) -> str:
    return f"## {title}\n"


def _entry(item: Item, text: str) -> str:
    title = f"{item.kind.replace('_', ' ')}, turn {item.turn}"
    return f"{title}\n{text}" if text else title
