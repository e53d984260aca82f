"""The window: what the model will see, as values with token counts (total-recall 3.1, 5).

An item is one event of the session as it stands in the window; a marker stands
where items were evicted. The invariant: every item and marker names what it stands
for by id, so whatever is not shown can be expanded; markers are in order, and no
two of their ranges overlap. Nothing here knows a store, a provider, or how the
next plan is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter

from firsthand.errors import InvalidArgument
from firsthand.event import Kind
from firsthand.moment import Moment
from firsthand.value import replace, value

ACCESSES_KEPT = 2  # K of LRU-K
TERMS_MAX = 4  # of one item
HINTS_MAX = 8  # of one marker
MARKER_TOKENS_MAX = 224  # of one marker's text: a plan keeps this much room, a compaction drops hints to stay in it
HINT_CHARACTERS_MAX = 40
BUDGET_TOKENS_MAX = 100_000_000
ITEM_TOKENS_MIN = 96  # less has no room for the pointer of what is left out

HISTORY = frozenset(
    {
        Kind.USER_MESSAGE,
        Kind.AGENT_MESSAGE,
        Kind.REASONING,
        Kind.TOOL_CALL,
        Kind.TOOL_RESULT,
        Kind.SYSTEM,
        Kind.PERSONA,
        Kind.SUMMARY,
        Kind.ATTACHMENT,
        Kind.OTHER,
    }
)
"""The kinds of event that stand in a window; the others are about the session, not part of it."""


@value
class Budget:
    """How large a window may become, and how far a compaction takes it back.

    Attributes:
        tokens_max: of everything that is sent: system, tools, history, markers, task state.
        high: share of ``tokens_max`` above which a compaction begins.
        low: share that it goes down to, and no further.
        cache: the most tokens that a provider which caches what requests have in common should have to read for each
            new one, over a long session: 1.5 compacts less often and takes more (a ``low`` of a third of ``high``);
            None leaves ``low`` as it is.
        hot_turns: the newest turns, which leave last.
        item_share: an item larger than this share of ``tokens_max`` is shown as its preview and pointer; system prompt
            and persona are always whole.

    Raises:
        InvalidArgument: a number is out of its range.
    """

    tokens_max: int
    high: float = 0.95
    low: float = 0.45
    hot_turns: int = 3
    item_share: float = 0.25
    cache: float | None = None

    def __post_init__(self) -> None:
        _whole(self.tokens_max, "tokens_max", 1, BUDGET_TOKENS_MAX)
        _whole(self.hot_turns, "hot_turns", 1, 1_000_000)
        for name in ("high", "low", "item_share"):
            share = getattr(self, name)
            if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share <= 1:
                raise InvalidArgument(f"{name} is a share of the budget, over 0 and at most 1; got {share!r}")
        if self.low > self.high:
            raise InvalidArgument(f"low is at most high; got low {self.low!r} and high {self.high!r}")
        if self.cache is not None and not (isinstance(self.cache, (int, float)) and 1 < self.cache < float("inf")):
            raise InvalidArgument(f"cache is tokens read anew for each new one, over 1, or None; got {self.cache!r}")

    @property
    def settled(self) -> Budget:
        """The same budget with the ``low`` that ``cache`` asks for."""
        low = self.low if self.cache is None else min(self.low, self.high * (1 - 1 / self.cache))
        return replace(self, low=low, cache=None)

    @property
    def high_tokens(self) -> int:
        """Tokens above which a compaction begins."""
        return max(1, int(self.tokens_max * self.high))

    @property
    def low_tokens(self) -> int:
        """Tokens that a compaction goes down to."""
        return max(1, int(self.tokens_max * self.low))

    @property
    def item_tokens_max(self) -> int:
        """Tokens from which on an item is shown as its preview and pointer."""
        return max(ITEM_TOKENS_MIN, int(self.tokens_max * self.item_share))


@value
class Item:
    """One event as it stands in the window.

    Attributes:
        tokens: as it is shown, with what its message costs around it.
        part: 0 begins a message; the parts of one message stay together.
        call_id: joins a tool call and its result; empty for other kinds.
        shortened: shown as preview and pointer, since it is larger than one item may be.
        terms: distinctive words of it, for topic hints; at most `TERMS_MAX`.
        accesses: positions of the session at which it was recalled, expanded or cited; newest first,
            at most `ACCESSES_KEPT`.
    """

    id: str
    position: int
    turn: int
    kind: Kind
    tokens: int
    time: Moment | None = None
    part: int = 0
    call_id: str = ""
    shortened: bool = False
    terms: tuple[str, ...] = ()
    accesses: tuple[int, ...] = ()


@value
class Hint:
    """One topic of an evicted span.

    Attributes:
        term: as it stood there; printable, at most `HINT_CHARACTERS_MAX` characters.
        position: of an event that it stands in, so that hints can be spread over the span.
        score: how distinctive it is there against the whole store; higher is more.
    """

    term: str
    position: int
    score: float


@value
class Marker:
    """What stands where a span was evicted: a directive to get it back, not a summary of it (total-recall 5.2).

    Attributes:
        first, last: ids of the first and last evicted event; `pointer` opens all between them.
        first_position, last_position: of these events.
        first_turn, last_turn: turns that it covers.
        start, end: least and greatest event time; None when no event has one. A clock may run backwards,
            so they say nothing about order.
        events: how many left.
        tokens: how many they had in the window.
        level: k when it was merged of 2**k spans, as in a binary counter.
        hints: topics from all along the range, in order of position.
        kept: events inside the range that did not leave and stand below it.
        text_tokens: of `text`, as the window counts them; 0 while it is not in a window.
    """

    first: str
    last: str
    first_position: int
    last_position: int
    first_turn: int
    last_turn: int
    start: Moment | None
    end: Moment | None
    events: int
    tokens: int
    level: int = 0
    hints: tuple[Hint, ...] = ()
    kept: int = 0
    text_tokens: int = 0

    @property
    def pointer(self) -> str:
        """The address that opens the whole range."""
        return f"fh:{self.first}" if self.first == self.last else f"fh:{self.first}..{self.last}"

    @property
    def text(self) -> str:
        """The marker as the model reads it."""
        turns = f"Turn {self.first_turn}" if self.first_turn == self.last_turn else self._turns()
        what = f"{self.events:,} event{'s' if self.events != 1 else ''}, {self.tokens:,} tokens"
        staying = f"; {self.kept:,} of this range stay below" if self.kept else ""
        topics = f" Topics: {', '.join(hint.term for hint in self.hints)}." if self.hints else ""
        return (
            f"[{turns} evicted, nothing lost: {what}{self._when()}{staying}.{topics} "
            f'To read: recall(query) or expand("{self.pointer}").]'
        )

    def _turns(self) -> str:
        return f"Turns {self.first_turn}-{self.last_turn}"

    def _when(self) -> str:
        """Write the range of times, as wide whatever it is: what a marker costs is not to depend on the clock."""
        if self.start is None or self.end is None:
            return ""
        start, end = str(self.start)[:16].replace("T", " "), str(self.end)[:16].replace("T", " ")
        return f", {start} to {end[11:] if start[:10] == end[:10] else end}"


def joined(markers: Sequence[Marker], level: int, hints: tuple[Hint, ...], staying: int) -> Marker:
    """Make the one marker that covers several, in the order in which they begin.

    Args:
        kept: events that stay inside its range.
    """
    last = max(markers, key=_LAST_POSITION)
    return Marker(
        first=markers[0].first,
        last=last.last,
        first_position=markers[0].first_position,
        last_position=last.last_position,
        first_turn=min([marker.first_turn for marker in markers]),
        last_turn=max([marker.last_turn for marker in markers]),
        start=earliest([marker.start for marker in markers if marker.start is not None]),
        end=latest([marker.end for marker in markers if marker.end is not None]),
        events=sum([marker.events for marker in markers]),
        tokens=sum([marker.tokens for marker in markers]),
        level=level,
        hints=hints,
        kept=staying,
    )


_LAST_POSITION, _MICROSECONDS = attrgetter("last_position"), attrgetter("microseconds")


def earliest(times: Iterable[Moment]) -> Moment | None:
    """Give the least of some times; None of none."""
    return min(times, key=_MICROSECONDS, default=None)


def latest(times: Iterable[Moment]) -> Moment | None:
    """Give the greatest of some times; None of none."""
    return max(times, key=_MICROSECONDS, default=None)


@value
class Window:
    """A session's window at one moment.

    Attributes:
        items: those shown, in the order in which they stand there: that of position, but for what came into the
            middle of the caller's list.
        markers: in order; each stands before the first item behind its ``first_position``.
        cycle: compactions so far.
        through: the session's last position that was looked at.
        markers_tokens: of all markers together.
    """

    items: tuple[Item, ...] = ()
    markers: tuple[Marker, ...] = ()
    cycle: int = 0
    through: int = 0
    markers_tokens: int = 0

    @property
    def tokens(self) -> int:
        """Tokens of the items and the markers."""
        return sum(item.tokens for item in self.items) + self.markers_tokens


@value
class Departure:
    """One contiguous run of items that leaves, and why."""

    items: tuple[Item, ...]
    reason: str


@value
class Plan:
    """What a compaction will do; nothing is done by making it.

    Attributes:
        leaves: the runs that leave, in order of position; empty when nothing can or needs to.
        tokens_before: of everything that would be sent, overhead included.
        tokens_after: as far as the plan can say: without what leaves, with room for its markers.
        tokens_target: what it aimed at (the low-water mark); 0 when the window is within its high-water mark.
        excess: every item that stays, when the target cannot be met: each is protected, or smaller than
            the marker that would stand for it.
    """

    leaves: tuple[Departure, ...]
    tokens_before: int
    tokens_after: int
    tokens_target: int
    excess: tuple[Item, ...] = ()


@value
class Share:
    """What one contributor has in one prompt: a part of the anatomy.

    Attributes:
        name: one of `PARTS`.
        bytes: of the canonical JSON that is sent.
        tokens: as the window counts them.
        count: entries that it is made of.
    """

    name: str
    bytes: int
    tokens: int
    count: int = 1


SYSTEM, PERSONA, PREAMBLE, FILES, SKILLS = "system", "persona", "preamble", "files", "skills"
TOOLS, MARKERS, TASK, CUES, RECALL = "tool schemas", "markers", "task state", "cues", "recall"
NEWEST, FRAMING = "user message", "framing"
HISTORY_PARTS = {kind: f"history: {kind.replace('_', ' ')}" for kind in Kind if kind in HISTORY}
PARTS = (
    SYSTEM, PERSONA, PREAMBLE, FILES, SKILLS, TOOLS, *HISTORY_PARTS.values(), MARKERS, TASK, CUES, RECALL, NEWEST,
    FRAMING,
)  # fmt: skip
"""The contributors to a prompt, by the name of their part; framing is the JSON between them."""


def together(shares: Iterable[Share]) -> tuple[Share, ...]:
    """Add up the shares of each contributor, in the order of `PARTS`."""
    sums: dict[str, list[int]] = {}
    for share in shares:
        sizes = sums.setdefault(share.name, [0, 0, 0])
        sizes[0] += share.bytes
        sizes[1] += share.tokens
        sizes[2] += share.count
    order = {name: number for number, name in enumerate(PARTS)}
    return tuple(Share(name, *sums[name]) for name in sorted(sums, key=lambda name: order.get(name, len(order))))


def _whole(number: object, name: str, low: int, high: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int) or not low <= number <= high:
        raise InvalidArgument(f"{name} is a whole number from {low:,} to {high:,}; got {number!r}")
