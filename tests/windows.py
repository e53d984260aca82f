"""Makes windows out of a few letters, for the tests of compaction.

    "s uacr uaccrr u"   a space begins a turn; one letter is one item
    s system, p persona, u user, a agent, t reasoning, c call, r result, x result without a
    call, m summary, f attachment, o other; a + before a letter makes it a further part of the message before

A result answers the oldest call that has none, so "uac ur" has a late one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from firsthand.context.marker_merge import grouped
from firsthand.context.topic_hints import spread
from firsthand.event import Kind, id_text
from firsthand.moment import Moment
from firsthand.tokens import estimate
from firsthand.value import replace
from firsthand.window import Budget, Item, Marker, Plan, Window, joined

KINDS = {
    "s": Kind.SYSTEM, "p": Kind.PERSONA, "u": Kind.USER_MESSAGE, "a": Kind.AGENT_MESSAGE,
    "t": Kind.REASONING, "c": Kind.TOOL_CALL, "r": Kind.TOOL_RESULT, "x": Kind.TOOL_RESULT, "m": Kind.SUMMARY,
    "f": Kind.ATTACHMENT, "o": Kind.OTHER,
}  # fmt: skip
BEGIN = Moment(1_700_000_000_000_000)


def made_id(position: int) -> str:
    """The id of the event at a position."""
    return id_text(position.to_bytes(16, "big"))


def made_items(letters: str, *, tokens: int | Sequence[int] = 1_000, begin: int = 1, turn: int = 1) -> list[Item]:
    """Make the items that the letters stand for."""
    items: list[Item] = []
    waiting: list[str] = []
    part = 0
    for letter in letters:
        if letter == " ":
            turn += 1
            continue
        if letter == "+":
            part = items[-1].part + 1
            continue
        position = begin + len(items)
        call = ""
        if letter == "c":
            call = f"call-{position}"
            waiting.append(call)
        elif letter == "r":
            call = waiting.pop(0)
        elif letter == "x":
            call = f"nobody-{position}"
        size = tokens if isinstance(tokens, int) else tokens[len(items)]
        time = Moment(BEGIN.microseconds + position * 1_000_000)
        made = Item(made_id(position), position, turn, KINDS[letter], size, time, part, call)
        items.append(replace(made, terms=(f"topic{position}",)))
        part = 0
    return items


def made_window(letters: str, *, tokens: int | Sequence[int] = 1_000, begin: int = 1) -> Window:
    """Make a window of such items, without markers."""
    items = made_items(letters, tokens=tokens, begin=begin)
    return Window(tuple(items), through=items[-1].position if items else 0)


def made_marker(first: int, last: int, **options: object) -> Marker:
    """Make a marker of the events from one position to another."""
    marker = Marker(made_id(first), made_id(last), first, last, first, last, None, None, last - first + 1, 100)
    return replace(marker, **options)


def merge(markers: Iterable[Marker]) -> tuple[Marker, ...]:
    """Merge markers as a compaction does, with no events that stay inside."""
    return tuple(
        group.members[0] if len(group.members) == 1
        else joined(
            group.members, group.level, spread(group.hints, group.first_position, group.last_position),
            sum(marker.kept for marker in group.members),
        )
        for group in grouped(markers)
    )  # fmt: skip


def budget_for(window: Window, low_tokens: int, **options: float) -> Budget:
    """Make a budget that a window of at least so many tokens is above, with the low-water mark given."""
    size = 10 * low_tokens
    return Budget(size, high=min(1.0, max(0.1, (window.tokens - 1) / size)), low=0.1, **options)


def left(plan: Plan) -> list[list[int]]:
    """Give the positions of what leaves, run by run."""
    return [[item.position for item in departure.items] for departure in plan.leaves]


def rare(terms: Collection[str]) -> Mapping[str, float]:
    """Say that every term is rare."""
    return dict.fromkeys(terms, 0.001)


def count(text: str) -> int:
    """Count tokens as the tests do."""
    return estimate(text)
