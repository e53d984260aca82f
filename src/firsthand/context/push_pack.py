"""The push pack: what is put into a context unasked, under a fixed number of tokens (total-recall 3.2, 7.2).

    preamble, markers, task state, [what is not here], hot tail, cues, recall

Stable parts come first and volatile ones last, so that a provider's prompt cache
keeps its prefix; a stable part that is cut has its share, whatever room the tail
leaves, so that its text stays the same from call to call. The invariant: the layout
never has more tokens than asked for; the newest user message and the newest step
are always in it, cut where they are large; what did not fit is counted and named; a
tool call is shown with its results or not at all. However long the session is, only
its window is looked at.

Pure: it lays out sizes. It knows no texts but those of markers, and no provider.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from firsthand.errors import InvalidArgument
from firsthand.event import Kind
from firsthand.tokens import TokenCounter, estimate
from firsthand.value import value
from firsthand.window import BUDGET_TOKENS_MAX, CUES, PREAMBLE, RECALL, TASK, Item, Marker, Window

from .pack_markers import Fitted, fitted
from .pack_units import pieces, units

TOKENS_MAX = 2_000
ITEM_TOKENS_MIN = 64  # of an item that is cut: some words of it, what is left out, and its pointer
ITEM_TOKENS_LEAST = 4  # where even that is too much; with less room there is no pack
ITEM_SHARE = 0.2  # of the pack: the most that one item of the hot tail has while others want room
NEWEST_SHARE = 0.4  # what the newest turn may have before the others got theirs
MARKERS_SHARE = 0.15
SECTION_SHARES = {TASK: 0.2, PREAMBLE: 0.25, RECALL: 0.2, CUES: 0.05}
"""Sections in the order in which they are given room, with the most each has while others want it too."""
SECTION_TOKENS_MIN = 16  # a section cut to less is left out
STABLE, VOLATILE = (PREAMBLE, TASK), (CUES, RECALL)


@value
class Section:
    """A text that wants to be in the pack.

    Attributes:
        name: one of `SECTION_SHARES`.
        tokens: that it has.
        pointer: where it can be read whole, when it is an event.
    """

    name: str
    tokens: int
    pointer: str = ""


@value
class Granted:
    """What one section gets; it is cut when that is less than it has."""

    section: Section
    tokens: int


@value
class Shown:
    """An item of the hot tail, cut when ``tokens_max`` is less than it has."""

    item: Item
    tokens_max: int

    @property
    def tokens(self) -> int:
        """Tokens that it has in the pack."""
        return min(self.item.tokens, self.tokens_max)


@value
class Missing:
    """What is not in the pack, or only in part.

    Attributes:
        what: in words, one of it.
        count: how many of it.
        tokens: that are not in the pack.
        pointer: where they are; empty for a section that is no event.
    """

    what: str
    count: int
    tokens: int
    pointer: str

    @property
    def text(self) -> str:
        """It as a reader is told."""
        where = f': expand("{self.pointer}")' if self.pointer else ""
        named = f"the {self.what}" if self.what in SECTION_SHARES else f"{self.count:,} {self.what}"
        return f"{named}{'' if self.count == 1 else 's'}, {self.tokens:,} tokens{where}"


@value
class Layout:
    """Who is in the pack, and how large.

    Attributes:
        sections: those that got room, in the order of the pack.
        markers: as they stand in the pack: shorter, or several as one, when they are many.
        tail: items in order of position; the newest turn at the end.
        missing: what is wholly left out; `notice` says it in the pack.
        notice: the line that stands before the tail; empty when nothing is left out.
        tokens: of all of it.
    """

    sections: tuple[Granted, ...]
    markers: tuple[Marker, ...]
    tail: tuple[Shown, ...]
    missing: tuple[Missing, ...]
    notice: str
    tokens: int

    @property
    def cut(self) -> tuple[Missing, ...]:
        """What is in the pack in part: there the text itself says what is left out."""
        items = [
            Missing(f"part of a {item.item.kind.replace('_', ' ')}", 1, item.item.tokens - item.tokens,
                    f"fh:{item.item.id}")
            for item in self.tail if item.tokens < item.item.tokens
        ]  # fmt: skip
        sections = [
            Missing(
                f"part of the {section.section.name}",
                1,
                section.section.tokens - section.tokens,
                section.section.pointer,
            )
            for section in self.sections
            if section.tokens < section.section.tokens
        ]
        return (*sections, *items)

    def granted(self, name: str) -> int:
        """Say how many tokens a section gets; 0 when it is not in the pack."""
        return next((section.tokens for section in self.sections if section.section.name == name), 0)


def layout(
    window: Window,
    sections: Sequence[Section] = (),
    *,
    tokens_max: int = TOKENS_MAX,
    count: TokenCounter = estimate,
) -> Layout:
    """Lay out the push pack of a window.

    Args:
        sections: the preamble, task state, cues and recall there are.
        tokens_max: of the whole pack.
        count: of the markers' texts and the notice.

    Raises:
        InvalidArgument: ``tokens_max`` is no number of tokens, or smaller than the newest turn needs; a section
            is named twice or is none of `SECTION_SHARES`.
    """
    return Making(window, sections, tokens_max, count).within()


class Making:
    """One pack in the making: what wants to be in it. The arguments are those of `layout`."""

    def __init__(self, window: Window, sections: Sequence[Section], tokens_max: int, count: TokenCounter) -> None:
        _check(sections, tokens_max)
        self._window, self._tokens_max, self._count = window, tokens_max, count
        names = [*SECTION_SHARES]
        self._sections = sorted(
            (section for section in sections if section.tokens), key=lambda section: names.index(section.name)
        )
        self._units = units(window.items)
        self._all = (
            sum(item.tokens for unit in self._units for item in unit.items)
            + sum(count(marker.text) for marker in window.markers)
            + sum(section.tokens for section in sections)
        )

    def within(self, reserve: int = 0) -> Layout:
        """Lay the pack out, with so many tokens of it left free for what a writer puts around its parts."""
        notice_tokens = 0
        while True:  # what is left out depends on the room that the line about it takes; that only grows
            made = self._layout(self._tokens_max - reserve - notice_tokens)
            needed = self._count(made.notice) if made.notice else 0
            if needed <= notice_tokens:
                assert made.tokens + reserve <= self._tokens_max, "every part was given what was left"
                return made
            notice_tokens = needed

    def _layout(self, room: int) -> Layout:
        """Give room to the newest turn, then to each section its share, then to the tail; then what is left over."""
        if room < 0:
            raise self._too_small(self._tokens_max - room)
        share = 1.0 if self._all <= room else None  # when all of it fits, nobody has to be held to a share
        newest, beside = self._newest(room, share)
        left = room - sum(newest.values())
        granted: dict[Section, int] = {}
        left = self._grant(STABLE, granted, left, share)
        marked = fitted(self._window, min(left, int(self._tokens_max * (share or MARKERS_SHARE))), self._count)
        left = self._grant(VOLATILE, granted, left - marked.tokens, share)
        tail = self._tail(newest, beside, left, share)
        left = _grow(newest, left - sum(tail.values()))
        left = self._grant(VOLATILE, granted, left, 1.0)
        _grow(tail, left)
        late = [item for items in beside for item in items if item not in tail]
        return self._made(granted, marked, newest | tail, late)

    def _named(self, names: Collection[str]) -> list[Section]:
        return [section for section in self._sections if section.name in names]

    def _grant(self, names: Collection[str], granted: dict[Section, int], left: int, share: float | None) -> int:
        """Give sections as much of their shares as there is room for, beside what they have; say what is left."""
        for section in self._named(names):
            before = granted.get(section, 0)
            most = int(self._tokens_max * (share or SECTION_SHARES[section.name]))
            tokens = max(before, min(section.tokens, most, before + left))
            useful = tokens == section.tokens or tokens >= SECTION_TOKENS_MIN
            granted[section] = tokens if useful else 0
            left -= granted[section] - before
        return left

    def _newest(self, room: int, share: float | None) -> tuple[dict[Item, int], list[tuple[Item, ...]]]:
        """Give the newest user message and the newest step their room; also say what of them has none yet."""
        if not self._units:
            return {}, []
        users = [(unit.asked, unit) for unit in self._units if unit.user]
        asking = [max(users, key=lambda part: part[0])[1]] if users else []
        parts = [piece for unit in dict.fromkeys((*asking, self._units[-1])) for piece in pieces(unit)]
        users_items = [item for piece in parts if piece.user for item in piece.items]
        rest = [piece.items for piece in reversed(parts) if not piece.user]
        asked = [item for item in users_items if item.kind is Kind.USER_MESSAGE]
        first = ([item for item in asked if not item.part] or asked)[-1:]  # a message begins with its part 0
        must = [*first, *(rest[0] if rest else ())]
        needed = sum(min(item.tokens, ITEM_TOKENS_LEAST) for item in must)
        if needed > room:
            raise self._too_small(self._tokens_max - room + needed)
        least = max(ITEM_TOKENS_LEAST, min(ITEM_TOKENS_MIN, room // len(must)))
        granted = {item: min(item.tokens, least) for item in must}
        most = max(int(self._tokens_max * (share or NEWEST_SHARE)), sum(granted.values()))
        others: list[tuple[Item, ...]] = [
            *((item,) for item in reversed(users_items) if item not in granted),
            *rest[1:],
        ]
        beside: list[tuple[Item, ...]] = []
        for items in others:
            wanted = {item: min(item.tokens, ITEM_TOKENS_MIN) for item in items}
            if beside or sum(granted.values()) + sum(wanted.values()) > min(most, room):
                beside.append(items)
            else:
                granted |= wanted
        _grow(granted, min(most, room) - sum(granted.values()))
        return granted, beside

    def _too_small(self, needed: int) -> InvalidArgument:
        return InvalidArgument(
            f"a pack holds the newest turn and says what it leaves out, which takes at least {needed:,} tokens here; "
            f"got {self._tokens_max:,}"
        )

    def _tail(
        self, newest: Mapping[Item, int], beside: Sequence[tuple[Item, ...]], left: int, share: float | None
    ) -> dict[Item, int]:
        """Take what is left of the newest turn and then units into the tail, up to the first that has no room."""
        cap = max(ITEM_TOKENS_MIN, int(self._tokens_max * (share or ITEM_SHARE)))
        tail: dict[Item, int] = {}
        for items in (*beside, *(unit.items for unit in reversed(self._units))):
            wanted = {item: min(item.tokens, cap) for item in items if item not in newest and item not in tail}
            if sum(wanted.values()) > left:
                break
            tail |= wanted
            left -= sum(wanted.values())
        return tail

    def _made(
        self, granted: Mapping[Section, int], marked: Fitted, tail: Mapping[Item, int], beside: Sequence[Item]
    ) -> Layout:
        missing = [*self._missing(granted, marked, tail, beside)]
        notice = f"[Not in this pack: {'; '.join(piece.text for piece in missing)}]" if missing else ""
        items = tuple(Shown(item, tail[item]) for item in sorted(tail, key=lambda item: item.position))
        tokens = sum(granted.values()) + marked.tokens + sum(item.tokens for item in items)
        order = (*STABLE, *VOLATILE)
        sections = sorted(
            (section for section in granted if granted[section]), key=lambda section: order.index(section.name)
        )
        return Layout(
            tuple(Granted(section, granted[section]) for section in sections), marked.markers, items, tuple(missing),
            notice,
            tokens + (self._count(notice) if notice else 0),
        )  # fmt: skip

    def _missing(
        self, granted: Mapping[Section, int], marked: Fitted, tail: Mapping[Item, int], beside: Sequence[Item]
    ) -> Iterator[Missing]:
        """Name what is wholly left out, in the order of the pack."""
        for section, tokens in granted.items():
            if not tokens:
                yield Missing(section.name, 1, section.tokens, section.pointer)
        markers = self._window.markers
        if markers and not marked.markers:
            tokens = sum(self._count(marker.text) for marker in markers)
            yield Missing("marker", len(markers), tokens, _span(markers[0].first, markers[-1].last))
        late = {item.id for item in beside}
        left_out = [item for unit in self._units for item in unit.items if item not in tail]
        for what, items in (
            ("earlier event", [item for item in left_out if item.id not in late]),
            ("event of the newest turn", [item for item in left_out if item.id in late]),
        ):
            if items:
                ends = sorted(items, key=lambda item: item.position)
                tokens = sum(item.tokens for item in items)
                yield Missing(what, len(items), tokens, _span(ends[0].id, ends[-1].id))


def _grow(granted: dict[Item, int], left: int) -> int:
    """Share out tokens among items that are cut, as equally as may be; say what is left then."""
    wants = sorted(
        (item.tokens - tokens, item.position, item) for item, tokens in granted.items() if tokens < item.tokens
    )
    for number, (wanted, _, item) in enumerate(wants):
        more = min(wanted, max(0, left) // (len(wants) - number))
        granted[item] += more
        left -= more
    return left


def _span(first: str, last: str) -> str:
    return f"fh:{first}" if first == last else f"fh:{first}..{last}"


def _check(sections: Sequence[Section], tokens_max: object) -> None:
    if isinstance(tokens_max, bool) or not isinstance(tokens_max, int) or not 1 <= tokens_max <= BUDGET_TOKENS_MAX:
        raise InvalidArgument(f"tokens_max is a whole number from 1 to {BUDGET_TOKENS_MAX:,}; got {tokens_max!r}")
    names = [section.name for section in sections]
    if len(set(names)) < len(names) or not set(names) <= set(SECTION_SHARES):
        raise InvalidArgument(f"the sections of a pack are {', '.join(SECTION_SHARES)}, each at most once; got {names}")
