"""The receipt of one compaction: what left, why, where the bytes are, and the window that it left behind (A.2, 9.4).

The invariant: `from_json(to_json(receipt)) == receipt`; and with the events at the
positions that it names, a receipt gives back the window, so a compaction that is not
in the log did not happen. What a list has no room for is counted.

This module does not know how an event becomes an item, and reads no log.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any

from firsthand.context.receipt_topics import Question
from firsthand.errors import FormatError, InvalidArgument
from firsthand.moment import Moment
from firsthand.pointer import Pointer
from firsthand.value import field, fields, value
from firsthand.window import Budget, Departure, Hint, Item, Marker, Plan, Window

ENTRIES_MAX = 200  # of each list in a receipt; the rest is counted
MISSED_MAX = 20


@value
class Left:
    """One span that left.

    Attributes:
        pointer: opens it.
        reason: why it left.
    """

    pointer: str
    first_turn: int
    last_turn: int
    events: int
    tokens: int
    reason: str


@value
class Rest:
    """What a list in a receipt had no room for."""

    entries: int = 0
    events: int = 0
    tokens: int = 0


@value
class Reflection:
    """What came of asking for exact strings of what left.

    Attributes:
        drawn: strings that were asked for.
        recalled: of them, those whose event a recall found.
        expanded: of them, those that stand in the bytes that their pointer opens.
        missed: some that failed either way, at most `MISSED_MAX`.
        seconds: that it took.
    """

    drawn: int = 0
    recalled: int = 0
    expanded: int = 0
    missed: tuple[Question, ...] = ()
    seconds: float = 0.0

    def and_then(self, later: Reflection) -> Reflection:
        """Add up with a later one; of what was missed the latest stay."""
        return Reflection(
            self.drawn + later.drawn,
            self.recalled + later.recalled,
            self.expanded + later.expanded,
            (self.missed + later.missed)[-MISSED_MAX:],
            self.seconds + later.seconds,
        )


@value
class Receipt:
    """The record of one compaction.

    Attributes:
        cycle: which compaction of the session it was, from 1.
        overhead_tokens: of what is sent beside the window.
        tokens_before, tokens_after: of everything that is sent, overhead included.
        tokens_target: what it aimed at.
        left: the spans that left, in order; `left_rest` counts those beyond `ENTRIES_MAX`.
        excess: ids of the items that stay although the target is not met, largest first; `excess_rest`
            counts those beyond `ENTRIES_MAX`.
        unproven: ids that the log could not prove to have, so that they stay.
        reflection: on this compaction; None when nothing was asked.
        totals: of all reflections of the session so far.
        markers, through: of the window after it.
        kept: its items, as ranges of positions with both ends included; every position in them is an item's.
        accesses: positions at which an item was used, by the item's own position.
    """

    cycle: int
    budget: Budget
    overhead_tokens: int
    tokens_before: int
    tokens_after: int
    tokens_target: int
    left: tuple[Left, ...] = ()
    left_rest: Rest = Rest()
    excess: tuple[str, ...] = ()
    excess_rest: Rest = Rest()
    unproven: tuple[str, ...] = ()
    reflection: Reflection | None = None
    totals: Reflection = Reflection()
    markers: tuple[Marker, ...] = ()
    kept: tuple[tuple[int, int], ...] = ()
    accesses: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    through: int = 0

    @property
    def text(self) -> str:
        """The receipt as people and agents read it."""
        return "\n".join(_lines(self))


def make(
    plan: Plan,
    after: Window,
    budget: Budget,
    *,
    overhead_tokens: int = 0,
    earlier: Sequence[Left] = (),
    unproven: Iterable[str] = (),
    reflection: Reflection | None = None,
    totals: Reflection | None = None,
) -> Receipt:
    """Record a compaction that was carried out.

    Args:
        after: the window that it led to.
        earlier: spans that left before this plan and are in no receipt yet.
        totals: of the session's reflections before this one.
    """
    left = [*earlier, *spans(plan)]
    excess = sorted(plan.excess, key=lambda item: -item.tokens)
    more, over = left[ENTRIES_MAX:], excess[ENTRIES_MAX:]
    sums = totals or Reflection()
    return Receipt(
        cycle=after.cycle,
        budget=budget,
        overhead_tokens=overhead_tokens,
        tokens_before=plan.tokens_before,
        tokens_after=after.tokens + overhead_tokens,
        tokens_target=plan.tokens_target,
        left=tuple(left[:ENTRIES_MAX]),
        left_rest=Rest(len(more), sum(span.events for span in more), sum(span.tokens for span in more)),
        excess=tuple(item.id for item in excess[:ENTRIES_MAX]),
        excess_rest=Rest(len(over), len(over), sum(item.tokens for item in over)),
        unproven=tuple(sorted(unproven)),
        reflection=reflection,
        totals=sums if reflection is None else sums.and_then(reflection),
        markers=after.markers,
        kept=ranges(after.items),
        accesses={item.position: item.accesses for item in after.items if item.accesses},
        through=after.through,
    )


def spans(plan: Plan) -> tuple[Left, ...]:
    """Write what a plan lets leave as it stands in a receipt."""
    return tuple(_left(departure) for departure in plan.leaves)


def ranges(items: Iterable[Item]) -> tuple[tuple[int, int], ...]:
    """Write the positions of items, which ascend, as ranges with both ends included."""
    spans: list[tuple[int, int]] = []
    for item in items:
        if spans and spans[-1][1] + 1 == item.position:
            spans[-1] = (spans[-1][0], item.position)
        else:
            spans.append((item.position, item.position))
    return tuple(spans)


def _left(departure: Departure) -> Left:
    items = departure.items
    first, last = items[0].id, items[-1].id
    turns = [item.turn for item in items]
    pointer = str(Pointer(first, None if first == last else last))
    tokens = sum(item.tokens for item in items)
    return Left(pointer, min(turns), max(turns), len(items), tokens, departure.reason)


# text ----------------------------------------------------------------------------------------------

_SHOWN_MAX = 20  # spans that the text names


def _lines(receipt: Receipt) -> Iterable[str]:
    if receipt.left:
        yield (
            f"Compaction {receipt.cycle:,}: {receipt.tokens_before:,} tokens became {receipt.tokens_after:,} "
            f"(target {receipt.tokens_target:,} of {receipt.budget.tokens_max:,}). Nothing is lost: every pointer "
            "opens to the exact bytes."
        )
    else:
        yield f"Nothing left: {receipt.tokens_before:,} tokens (target {receipt.tokens_target:,})."
    yield from (_span(span) for span in receipt.left[:_SHOWN_MAX])
    more = receipt.left[_SHOWN_MAX:]
    spans = len(more) + receipt.left_rest.entries
    if spans:
        events = sum(span.events for span in more) + receipt.left_rest.events
        tokens = sum(span.tokens for span in more) + receipt.left_rest.tokens
        yield f"- {spans:,} more spans: {events:,} events, {tokens:,} tokens."
    if receipt.excess:
        over = receipt.tokens_after - receipt.tokens_target
        named = ", ".join(f"fh:{name}" for name in receipt.excess[:3])
        count = len(receipt.excess) + receipt.excess_rest.entries
        yield f"{over:,} tokens over the target: {count:,} items cannot leave, the largest are {named}."
    if receipt.unproven:
        named = ", ".join(f"fh:{name}" for name in receipt.unproven[:3])
        yield f"{len(receipt.unproven):,} items stay since the log does not prove that it has them: {named}."
    if receipt.reflection is not None:
        yield _reflected(receipt.reflection)


def _span(span: Left) -> str:
    turns = (
        f"turn {span.first_turn}" if span.first_turn == span.last_turn else f"turns {span.first_turn}-{span.last_turn}"
    )
    events = f"{span.events:,} event{'s' if span.events != 1 else ''}"
    return f"- {span.pointer}: {turns}, {events}, {span.tokens:,} tokens. {span.reason}."


def _reflected(reflection: Reflection) -> str:
    sentence = (
        f"Asked for {reflection.drawn:,} exact strings of what left: {reflection.recalled:,} recalled, "
        f"{reflection.expanded:,} expanded"
    )
    missed = _named(reflection.missed)
    return f"{sentence}; missed: {missed}." if missed else f"{sentence}."


def _named(missed: Sequence[Question]) -> str:
    return ", ".join(f"{question.string!r} of fh:{question.id}" for question in missed[:3])


# JSON ----------------------------------------------------------------------------------------------

VERSION = 1
_BUDGET = fields(Budget)[:5]  # what a settled budget has


def to_json(receipt: Receipt) -> bytes:
    """Write a receipt as JSON, lists in place of names where there are many of a kind."""
    budget = receipt.budget
    data: dict[str, Any] = {
        "receipt": VERSION,
        "cycle": receipt.cycle,
        "budget": [getattr(budget, name) for name in _BUDGET],
        "tokens": [receipt.tokens_before, receipt.tokens_after, receipt.tokens_target, receipt.overhead_tokens],
        "left": [[getattr(span, name) for name in fields(span)] for span in receipt.left],
        "left_rest": _rest_out(receipt.left_rest),
        "excess": list(receipt.excess),
        "excess_rest": _rest_out(receipt.excess_rest),
        "unproven": list(receipt.unproven),
        "reflection": None if receipt.reflection is None else _reflection_out(receipt.reflection),
        "totals": _reflection_out(receipt.totals),
        "markers": [_marker_out(marker) for marker in receipt.markers],
        "kept": [[first, last - first] for first, last in receipt.kept],
        "accesses": [[position, *used] for position, used in receipt.accesses.items()],
        "through": receipt.through,
    }
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def from_json(data: bytes) -> Receipt:
    """Read a receipt.

    Raises:
        FormatError: the bytes are no receipt, or one of a newer version.
    """
    try:
        return _receipt_in(json.loads(data))
    except (KeyError, TypeError, ValueError, RecursionError, InvalidArgument) as error:
        raise FormatError(
            "expected a receipt, which is the content of an event of that kind as a compaction wrote it; got "
            f"{bytes(data[:60])!r} ({type(error).__name__}: {error})"
        ) from error


def _receipt_in(read: dict[str, Any]) -> Receipt:
    if _number(read["receipt"]) != VERSION:
        raise ValueError(f"it is of version {read['receipt']}, not {VERSION}")
    before, after, target, overhead = map(_number, _list(read["tokens"]))
    return Receipt(
        cycle=_number(read["cycle"]),
        budget=Budget(*_list(read["budget"])[: len(_BUDGET)]),  # the first edition wrote one number more
        overhead_tokens=overhead,
        tokens_before=before,
        tokens_after=after,
        tokens_target=target,
        left=tuple(_left_in(*_list(span)) for span in _list(read["left"])),
        left_rest=Rest(*map(_number, _list(read["left_rest"]))),
        excess=tuple(map(_text, _list(read["excess"]))),
        excess_rest=Rest(*map(_number, _list(read["excess_rest"]))),
        unproven=tuple(map(_text, _list(read["unproven"]))),
        reflection=None if read["reflection"] is None else _reflection_in(*_list(read["reflection"])),
        totals=_reflection_in(*_list(read["totals"])),
        markers=tuple(_marker_in(*_list(marker)) for marker in _list(read["markers"])),
        kept=tuple((_number(first), first + _number(more)) for first, more in map(_list, _list(read["kept"]))),
        accesses={_number(at): tuple(map(_number, used)) for at, *used in map(_list, _list(read["accesses"]))},
        through=_number(read["through"]),
    )


def _rest_out(rest: Rest) -> list[int]:
    return [rest.entries, rest.events, rest.tokens]


def _reflection_out(reflection: Reflection) -> list[Any]:
    missed = [[miss.id, miss.string] for miss in reflection.missed]
    return [reflection.drawn, reflection.recalled, reflection.expanded, missed, reflection.seconds]


def _reflection_in(drawn: Any, recalled: Any, expanded: Any, missed: Any, seconds: Any) -> Reflection:
    questions = tuple(Question(_text(identifier), _text(string)) for identifier, string in map(_list, _list(missed)))
    return Reflection(_number(drawn), _number(recalled), _number(expanded), questions, _real(seconds))


def _left_in(pointer: Any, first_turn: Any, last_turn: Any, events: Any, tokens: Any, reason: Any) -> Left:
    return Left(
        _text(pointer), _number(first_turn), _number(last_turn), _number(events), _number(tokens), _text(reason)
    )


_MARKER_NUMBERS = (
    "first_position", "last_position", "first_turn", "last_turn", "events", "tokens", "level", "kept", "text_tokens",
)  # fmt: skip


def _marker_out(marker: Marker) -> list[Any]:
    numbers = [getattr(marker, name) for name in _MARKER_NUMBERS]
    hints = [[hint.term, hint.position, hint.score] for hint in marker.hints]
    return [marker.first, marker.last, _moment_out(marker.start), _moment_out(marker.end), numbers, hints]


def _marker_in(first: Any, last: Any, start: Any, end: Any, numbers: Any, hints: Any) -> Marker:
    named = {name: _number(number) for name, number in zip(_MARKER_NUMBERS, _list(numbers), strict=True)}
    read = (Hint(_text(term), _number(position), _real(score)) for term, position, score in map(_list, _list(hints)))
    times = _moment_in(start), _moment_in(end)
    return Marker(_text(first), _text(last), start=times[0], end=times[1], hints=tuple(read), **named)


def _moment_out(moment: Moment | None) -> list[int] | None:
    return None if moment is None else [moment.microseconds, moment.offset_minutes]


def _moment_in(read: Any) -> Moment | None:
    return None if read is None else Moment(*map(_number, _list(read)))


def _list(read: Any) -> list[Any]:
    if not isinstance(read, list):
        raise TypeError(f"a list, not {read!r}")
    return read


def _number(read: Any) -> int:
    if type(read) is not int:
        raise TypeError(f"a whole number, not {read!r}")
    return read


def _real(read: Any) -> float:
    if type(read) not in {int, float} or not isfinite(read):
        raise TypeError(f"a finite number, not {read!r}")
    return float(read)


def _text(read: Any) -> str:
    if not isinstance(read, str):
        raise TypeError(f"text, not {read!r}")
    return read
