"""The preamble: what a new session reads first, assembled under a token budget (recall-problem 3.2).

    health                         only when something is wrong
    # What is remembered
    ## Rubric | Rules | Knowledge | Entities and messages | Episodes | Open | Where it stands
    [Not in this preamble: 12 of episodes, 3 of rules; ...]

What changes least stands first, so that a provider's prompt cache keeps the beginning;
where the work stands comes last, next to what the user says. Each section has a share
of the budget; what it does not use flows on to the others in the order of `FLOW`.

The invariant: never more tokens than asked for, by the counter given; within a
section items are taken in the order given, whole up to the first that has no room,
which is cut at a sentence or left out with all behind it; what is left out is
counted; the index of knowledge names is always in. The same arguments give the same
text. Words of events stand after a bar, so that none of them can pass for a heading.

Pure: it knows texts and sizes, no agent and no store.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, partial

from firsthand.context.short_text import largest, quote, shorten
from firsthand.errors import InvalidArgument
from firsthand.printable import shown
from firsthand.tokens import TokenCounter, estimate
from firsthand.value import field, value
from firsthand.window import BUDGET_TOKENS_MAX

TOKENS_MAX = 1_500
LIVE, RUBRIC, COMMITMENTS, EPISODIC, PROCEDURAL, SEMANTIC, RELATIONAL = SECTIONS = (
    "live", "rubric", "commitments", "episodic", "procedural", "semantic", "relational",
)  # fmt: skip
SHARES: Mapping[str, float] = {
    LIVE: 0.10, RUBRIC: 0.05, COMMITMENTS: 0.10, EPISODIC: 0.25, PROCEDURAL: 0.10, SEMANTIC: 0.20, RELATIONAL: 0.20,
}  # fmt: skip
"""The paper's allocations; its "consciousness" is the live state."""
FLOW = (COMMITMENTS, LIVE, PROCEDURAL, EPISODIC, SEMANTIC, RUBRIC, RELATIONAL)
"""Who is offered what the others do not use: first what must be done and obeyed."""
ORDER = (RUBRIC, PROCEDURAL, SEMANTIC, RELATIONAL, EPISODIC, COMMITMENTS, LIVE)
"""The order in the text: what changes least comes first."""
TITLES: Mapping[str, str] = {
    RUBRIC: "Rubric: what the user had to correct",
    PROCEDURAL: "Rules",
    SEMANTIC: "Knowledge",
    RELATIONAL: "Entities and messages",
    EPISODIC: "Episodes",
    COMMITMENTS: "Open",
    LIVE: "Where it stands",
}
HEADING = "# What is remembered; fh: pointers open the source with expand"
INDEX = "Check before writing new knowledge"
INDEX_SHARE = 0.2
"""Of the budget, the most that the index of names has beside the semantic section's own share."""
HEALTH_SHARE = 0.2
CUT_TOKENS_MIN = 12
"""An item that would be cut to fewer is left out."""
ITEMS_MAX = 2_000
"""Of one section, that are looked at; what is behind them is counted."""
TITLE_CHARACTERS_MAX = 300
_SENTENCE_END = r"[.!?\u3002\uff01\uff1f][\"')\]]*(?=\s|\Z)|\n"
_compiled = cache(partial(re.compile))


@value
class Part:
    """One item that wants to be in the preamble.

    Attributes:
        section: one of `SECTIONS`.
        title: one line.
        text: what follows it; may be cut at a sentence.
        pointer: where it can be read whole.
        name: of a piece of knowledge; it stands in the index, even when the item itself has no room.
        when: the day that it is from.
    """

    section: str
    title: str
    text: str = ""
    pointer: str = ""
    name: str = ""
    when: str = ""


@value
class Granted:
    """An item that is in the preamble; ``cut`` when not whole."""

    part: Part
    cut: bool


@value
class Preamble:
    """What a new session reads first.

    Attributes:
        text: empty when there is nothing to say.
        tokens: that it has, by the counter it was made with.
        granted: the items in it, in the order of the text.
        left_out: how many items are not in it, by section.
        names: how many names of the index are in it.
        names_left_out: how many are only counted.
    """

    text: str = ""
    tokens: int = 0
    granted: tuple[Granted, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    names: int = 0
    names_left_out: int = 0


def preamble(
    sources: Sequence[Part],
    *,
    tokens_max: int,
    shares: Mapping[str, float] = SHARES,
    count: TokenCounter = estimate,
    health: str = "",
) -> Preamble:
    """Assemble the preamble of a session.

    Args:
        sources: items, of each section the most important first.
        tokens_max: of all of it.
        shares: of the budget by section, in any unit; a section that is not named has only what flows on to it.
        health: what is wrong with the memory, in a line; it comes first.

    Raises:
        InvalidArgument: ``tokens_max`` is no number of tokens, or too small for the lines that must be in it; a
            section is not known; a share is no number from 0 on, or all are 0.
    """
    _check(sources, tokens_max, shares)
    if not sources and not health:
        return Preamble()
    made = _Making(sources, tokens_max, count)
    made.frame(health)
    made.fill(shares)
    return made.done()


class _Making:
    """One preamble in the making."""

    def __init__(self, sources: Sequence[Part], tokens_max: int, count: TokenCounter) -> None:
        self._tokens_max, self._count = tokens_max, count
        self._all = {name: [part for part in sources if part.section == name] for name in SECTIONS}
        self._names = list(dict.fromkeys(_line(part.name) for part in sources if part.name))
        self._health, self._shown_names, self._room = "", 0, 0
        self._lines: dict[str, list[tuple[Granted, str]]] = {name: [] for name in SECTIONS}

    def frame(self, health: str) -> None:
        """Lay out what must be in it: the heading, health, the index of names, the line on what is left out."""
        most = max(CUT_TOKENS_MIN, int(self._tokens_max * HEALTH_SHARE))
        self._health = shorten(_line(health), most, self._count) if health else ""
        self._room = self._tokens_max - self._cost(self._text())
        if self._room < 0:  # the words of a fault give way before the fact that there is one
            self._health = shorten(self._health, max(1, self._cost(self._health) + self._room), self._count)
            self._room = self._tokens_max - self._cost(self._text())
        if self._room < 0:
            raise InvalidArgument(
                f"a preamble says at least what it is and what it leaves out, which takes "
                f"{self._tokens_max - self._room:,} tokens here; got {self._tokens_max:,}"
            )
        self._shown_names = self._names_within(min(self._room, int(self._tokens_max * INDEX_SHARE)))
        self._room = self._tokens_max - self._cost(self._text())

    def _names_within(self, room: int) -> int:
        """Say how many names of the index fit into so many tokens, beside those of the line without any."""
        bare = self._cost(self._index(0))
        return largest(lambda n: self._cost(self._index(n)) - bare <= room, 0, len(self._names)) or 0

    def fill(self, shares: Mapping[str, float]) -> None:
        """Give each section its share, then what is left over in the order of `FLOW`, and take items in."""
        room, total = self._room, sum(shares.values())
        wanted = {name: self._wanted(name, room) for name in SECTIONS}
        rooms = {name: min(wanted[name], int(room * shares.get(name, 0.0) / total)) for name in SECTIONS}
        spare = room - sum(rooms.values())
        for name in FLOW:
            more = min(wanted[name] - rooms[name], spare)
            rooms[name] += more
            spare -= more
        for name in FLOW:
            spare = self._take(name, rooms[name] + spare)

    def _wanted(self, name: str, room: int) -> int:
        """Say how many tokens a section would have with all its items; not counted further than there is room."""
        tokens = self._heading_cost(name) if self._all[name] else 0
        for part in self._all[name][:ITEMS_MAX]:
            if tokens > room:
                break
            tokens += self._cost(_item(part))
        return min(tokens, room)

    def _take(self, name: str, room: int) -> int:
        """Take items in, whole up to the first that has no room; say what is left."""
        heading = self._heading_cost(name)
        for part in self._all[name][:ITEMS_MAX]:
            before = 0 if self._lines[name] else heading
            item = _item(part)
            cost = before + self._cost(item)
            if cost > room:
                item = self._cut(part, room - before)
                if item:
                    self._lines[name].append((Granted(part, cut=True), item))
                    room -= before + self._cost(item)
                break
            self._lines[name].append((Granted(part, cut=False), item))
            room -= cost
        return room

    def _cut(self, part: Part, room: int) -> str:
        """Cut an item's text at the last sentence that has room; at least its title is whole, else it is empty."""
        if not part.text or room < CUT_TOKENS_MIN:
            return ""
        ends = [end.end() for end in _compiled(_SENTENCE_END).finditer(part.text)]
        ends = [end for end in ends if part.text[end:].strip()]
        fits = largest(lambda n: self._cost(_item(part, ends[n - 1] if n else 0)) <= room, 0, len(ends))
        return "" if fits is None else _item(part, ends[fits - 1] if fits else 0)

    def _heading_cost(self, name: str) -> int:
        has_index = name == SEMANTIC and self._names  # its heading stands there already
        return 0 if has_index else self._cost(f"## {TITLES[name]}")

    def _cost(self, text: str) -> int:
        return self._count(text + "\n")

    def done(self) -> Preamble:
        """Write it; where tokens of lines do not add up to those of the text, the last items go again."""
        text = self._text()
        while (tokens := self._count(text)) > self._tokens_max:
            name = next((section for section in reversed(FLOW) if self._lines[section]), None)
            if name is not None:
                self._lines[name].pop()
            elif self._shown_names:
                self._shown_names //= 2
            else:
                raise InvalidArgument(
                    f"a preamble takes at least {tokens:,} tokens here, by this counter; got {self._tokens_max:,}"
                )
            text = self._text()
        granted = tuple(granted for name in ORDER for granted, _ in self._lines[name])
        names_left = len(self._names) - self._shown_names
        return Preamble(text, tokens, granted, self._left_out(), self._shown_names, names_left)

    def _left_out(self) -> dict[str, int]:
        missing = {name: len(self._all[name]) - len(self._lines[name]) for name in ORDER}
        return {name: number for name, number in missing.items() if number}

    def _text(self) -> str:
        lines = [self._health] if self._health else []
        lines.append(HEADING)
        for name in ORDER:
            index = [self._index(self._shown_names)] if name == SEMANTIC and self._names else []
            if index or self._lines[name]:
                lines += [f"## {TITLES[name]}", *index, *(line for _, line in self._lines[name])]
        missing = self._left_out()
        if missing:
            numbers = ", ".join(f"{number:,} of {name}" for name, number in missing.items())
            lines.append(f"[Not in this preamble: {numbers}; recall(query) finds them]")
        return "\n".join(lines)

    def _index(self, number: int) -> str:
        """Write the index of names: so many of the newest, and how many more there are."""
        if not self._names:
            return ""
        behind = len(self._names) - number
        names = ", ".join(self._names[:number])
        if not behind:
            return f"{INDEX}: {names}"
        more = f"{behind:,} {'more ' if number else ''}name{'' if behind == 1 else 's'}"
        return f"{INDEX}: {names} and {more}" if number else f"{INDEX}: {more}"


def _item(part: Part, end: int | None = None) -> str:
    """Write an item, its text up to a place."""
    about = ", ".join(filter(None, (part.when, part.pointer)))
    where = f" ({about})" if about else ""
    line = f"- {_line(part.title)}{where}"
    text = part.text if end is None else part.text[:end].rstrip()
    if text:
        line += f"\n{quote(text)}"
    if end is None:
        return line
    return f'{line}\n[cut: expand("{part.pointer}")]' if part.pointer else f"{line}\n[cut]"


def _line(text: str) -> str:
    """Make one line of a text, in which nothing hides."""
    clean = shown(" ".join(text[: 4 * TITLE_CHARACTERS_MAX].split()))
    return clean if len(clean) <= TITLE_CHARACTERS_MAX else f"{clean[: TITLE_CHARACTERS_MAX - 3].rstrip()}..."


def _check(sources: Sequence[Part], tokens_max: object, shares: Mapping[str, float]) -> None:
    if isinstance(tokens_max, bool) or not isinstance(tokens_max, int) or not 1 <= tokens_max <= BUDGET_TOKENS_MAX:
        raise InvalidArgument(f"tokens_max is a whole number from 1 to {BUDGET_TOKENS_MAX:,}; got {tokens_max!r}")
    unknown = sorted({*(part.section for part in sources), *shares} - set(SECTIONS))
    if unknown:
        raise InvalidArgument(f"the sections of a preamble are {', '.join(SECTIONS)}; got {unknown[0]!r:.60}")
    wrong = [
        share for share in shares.values()
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share < float("inf")
    ]  # fmt: skip
    if wrong or not sum(shares.values()) > 0:
        raise InvalidArgument(f"shares are numbers from 0 on, not all of them 0; got {dict(shares)!r:.120}")
