"""The preamble: what a new session reads first, laid out under a token budget (recall-problem 3.2).

    health                         only when something is wrong
    # On record from earlier sessions
    ## Rubric | Rules | Facts and names | Entities and messages | The last session | Open
    [Not in this preamble: 12 earlier sessions, 3 of rules]

What changes least stands first, so that a provider's prompt cache keeps the beginning. Each section has the paper's
share of the budget; what it does not use flows on to the others in the order of `FLOW`.

The invariant: never more tokens than asked for, by the counter given; a line is in it whole or not at all, and what is
left out is counted; the index of names is always in. The same arguments give the same text. Pure: it knows lines and
sizes, no agent and no store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from firsthand.context.short_text import largest, shorten
from firsthand.errors import InvalidArgument
from firsthand.printable import shown
from firsthand.tokens import TokenCounter, estimate
from firsthand.value import field, value
from firsthand.window import BUDGET_TOKENS_MAX

TOKENS_MAX = 1_500
EPISODIC, RUBRIC, COMMITMENTS, PROCEDURAL, SEMANTIC, RELATIONAL = SECTIONS = (
    "episodic", "rubric", "commitments", "procedural", "semantic", "relational",
)  # fmt: skip
SHARES: Mapping[str, float] = {
    EPISODIC: 0.35, RUBRIC: 0.05, COMMITMENTS: 0.10, PROCEDURAL: 0.10, SEMANTIC: 0.20, RELATIONAL: 0.20,
}  # fmt: skip
"""The paper's allocations; the last session has that of its "consciousness" too."""
FLOW = (EPISODIC, COMMITMENTS, PROCEDURAL, SEMANTIC, RUBRIC, RELATIONAL)
"""Who is offered what the others do not use: first where the work stands, and what must be obeyed."""
ORDER = (RUBRIC, PROCEDURAL, SEMANTIC, RELATIONAL, EPISODIC, COMMITMENTS)
"""The order in the text: what changes least comes first."""
TITLES: Mapping[str, str] = {
    RUBRIC: "Rubric: what the user had to correct",
    PROCEDURAL: "Rules",
    SEMANTIC: "Facts and names",
    RELATIONAL: "Entities and messages",
    EPISODIC: "The last session",
    COMMITMENTS: "Open",
}
HEADING = "# On record from earlier sessions"
INDEX = "Check before writing new knowledge"
INDEX_SHARE = 0.2
"""Of the budget, the most that the index of names has beside the semantic section's own share."""
HEALTH_SHARE = 0.2
LINES_MAX = 500
"""Of one section, that are looked at; what is behind them is counted."""
LINE_CHARACTERS_MAX = 1_000


@value
class Part:
    """One line that wants to be in the preamble.

    Attributes:
        section: one of `SECTIONS`.
        text: the line, with its pointer and day in it; empty for a name alone.
        pointers: of the events that it rests on.
        name: of a piece of knowledge; it stands in the index, even when the line itself has no room.
    """

    section: str
    text: str
    pointers: tuple[str, ...] = ()
    name: str = ""


@value
class Preamble:
    """What a new session reads first.

    Attributes:
        text: empty when there is nothing to say.
        tokens: that it has, by the counter it was made with.
        parts: the lines in it, in the order of the text.
        left_out: how many lines are not in it, by section.
        names: how many names of the index are in it.
        names_left_out: how many are only counted.
    """

    text: str = ""
    tokens: int = 0
    parts: tuple[Part, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    names: int = 0
    names_left_out: int = 0


def preamble(
    sources: Sequence[Part], *, tokens_max: int, count: TokenCounter = estimate, health: str = "", hint: str = "",
    session: str = "", earlier: int = 0,
) -> Preamble:  # fmt: skip
    """Lay the preamble of a session out.

    Args:
        sources: lines, of each section the most important first.
        tokens_max: of all of it.
        health: what is wrong with the memory, in a line; it comes first.
        hint: what the agent can do with it, in a line; it comes last.
        session: when the last session was, and how much was asked in it.
        earlier: how many sessions there are before it, which are counted and not told of.

    Raises:
        InvalidArgument: ``tokens_max`` is no number of tokens, or too small for the lines that must be in it; a
            section is not known.
    """
    if isinstance(tokens_max, bool) or not isinstance(tokens_max, int) or not 1 <= tokens_max <= BUDGET_TOKENS_MAX:
        raise InvalidArgument(f"tokens_max is a whole number from 1 to {BUDGET_TOKENS_MAX:,}; got {tokens_max!r}")
    unknown = sorted({part.section for part in sources} - set(SECTIONS))
    if unknown:
        raise InvalidArgument(f"the sections of a preamble are {', '.join(SECTIONS)}; got {unknown[0]!r:.60}")
    if not sources and not health:
        return Preamble()
    layout = _Layout(sources, tokens_max, count, hint, session, earlier)
    layout.frame(health)
    layout.fill()
    return layout.written()


class _Layout:
    """One preamble in the making."""

    def __init__(
        self, sources: Sequence[Part], tokens_max: int, count: TokenCounter, hint: str, session: str, earlier: int
    ) -> None:
        self._tokens_max, self._count, self._hint, self._health = tokens_max, count, hint, ""
        self._titles = {**TITLES, EPISODIC: f"{TITLES[EPISODIC]}: {session}" if session else TITLES[EPISODIC]}
        self._earlier = earlier
        self._wanted = {name: [part for part in sources if part.section == name and part.text] for name in SECTIONS}
        self._lines: dict[str, list[Part]] = {name: [] for name in SECTIONS}
        self._names = list(dict.fromkeys(_line(part.name) for part in sources if part.name))
        self._names_in = 0

    def frame(self, health: str) -> None:
        """Lay out what must be in it: the heading, health, the index of names, the line on what is left out."""
        self._health = shorten(_line(health), max(1, int(self._tokens_max * HEALTH_SHARE)), self._count)
        over = self._count(self._text()) - self._tokens_max
        if over > 0 and self._health:  # the words of a fault give way before the fact that there is one
            self._health = shorten(self._health, max(1, self._cost(self._health) - over), self._count)
            over = self._count(self._text()) - self._tokens_max
        if over > 0:
            raise InvalidArgument(
                f"a preamble says at least what it is and what it leaves out, which takes "
                f"{self._tokens_max + over:,} tokens here; got {self._tokens_max:,}"
            )
        room, bare = min(-over, int(self._tokens_max * INDEX_SHARE)), self._cost(self._index(0))
        self._names_in = largest(lambda n: self._cost(self._index(n)) - bare <= room, 0, len(self._names)) or 0

    def fill(self) -> None:
        """Take lines in: each section within its share, then within what the others leave, in the order of `FLOW`."""
        left = self._tokens_max - self._count(self._text())
        shares = {name: int(left * SHARES[name]) for name in FLOW}
        for name in FLOW:
            left -= self._take(name, shares[name])
        for name in FLOW:
            left -= self._take(name, left)

    def _take(self, name: str, room: int) -> int:
        """Take lines of a section in, in order, as far as there is room; give what they cost."""
        spent, lines = 0, self._lines[name]
        for part in self._wanted[name][len(lines) : LINES_MAX]:
            before = "" if lines or (name == SEMANTIC and self._names) else f"## {self._titles[name]}\n"
            cost = self._cost(f"{before}{_item(part)}")
            if spent + cost > room:
                break
            lines.append(part)
            spent += cost
        return spent

    def _cost(self, text: str) -> int:
        return self._count(text + "\n") if text else 0

    def written(self) -> Preamble:
        """Write it; where tokens of lines do not add up to those of the text, the last lines go again."""
        text = self._text()
        while (tokens := self._count(text)) > self._tokens_max:
            name = next((section for section in reversed(FLOW) if self._lines[section]), None)
            if name is not None:
                self._lines[name].pop()
            elif self._names_in:
                self._names_in //= 2
            else:
                raise InvalidArgument(
                    f"a preamble takes at least {tokens:,} tokens here, by this counter; got {self._tokens_max:,}"
                )
            text = self._text()
        parts = tuple(part for name in ORDER for part in self._lines[name])
        return Preamble(text, tokens, parts, self._left_out(), self._names_in, len(self._names) - self._names_in)

    def _left_out(self) -> dict[str, int]:
        missing = {name: len(self._wanted[name]) - len(self._lines[name]) for name in ORDER}
        return {name: number for name, number in missing.items() if number}

    def _text(self) -> str:
        lines = [self._health] if self._health else []
        lines.append(HEADING)
        for name in ORDER:
            index = [self._index(self._names_in)] if name == SEMANTIC and self._names else []
            lines += [f"## {self._titles[name]}", *index] if index or self._lines[name] else []
            lines += map(_item, self._lines[name])
        missing = [f"{number:,} of {TITLES[name].partition(':')[0].lower()}"
                   for name, number in self._left_out().items()]  # fmt: skip
        if self._earlier:
            missing.insert(0, f"{self._earlier:,} earlier session{'' if self._earlier == 1 else 's'}")
        lines += [f"[Not in this preamble: {', '.join(missing)}]"] if missing else []
        return "\n".join([*lines, *([self._hint] if self._hint else [])])

    def _index(self, number: int) -> str:
        """Write the index of names: so many of the newest, and how many more there are."""
        if not self._names:
            return ""
        behind = len(self._names) - number
        more = f"{behind:,} {'more ' if number else ''}name{'' if behind == 1 else 's'}" if behind else ""
        return f"{INDEX}: {' and '.join(filter(None, (', '.join(self._names[:number]), more)))}"


def _item(part: Part) -> str:
    return f"- {_line(part.text)}"


def _line(text: str) -> str:
    """Make one line of a text, in which nothing hides."""
    clean = shown(" ".join(text[: 4 * LINE_CHARACTERS_MAX].split()))
    return clean if len(clean) <= LINE_CHARACTERS_MAX else f"{clean[: LINE_CHARACTERS_MAX - 3].rstrip()}..."
