"""Why one prompt is larger or smaller than another: by part, by event, by marker (total-recall 9.6).

The invariant: the changes of the parts sum to the change of the whole, in bytes and in
tokens. What cannot be told is said: without the windows of both calls, events and
merges are not compared, and the sentences say so.

Pure: how a window of the past is made again is not known here.
"""

from __future__ import annotations

from collections.abc import Iterator

from firsthand.context.anatomy import Anatomy
from firsthand.errors import InvalidArgument
from firsthand.value import value
from firsthand.window import HISTORY_PARTS, PARTS, Item, Marker, Window

NAMED_MAX = 3  # events or markers that a sentence names; the others are counted
PARTS_NAMED_MAX = 3  # in the first sentence; a later one names others in which events changed


@value
class Change:
    """What became of one part.

    Attributes:
        name: of the part, one of `window.PARTS`.
        bytes, tokens: after less before.
        tokens_before, tokens_after: of the part in each call.
    """

    name: str
    bytes: int
    tokens: int
    tokens_before: int
    tokens_after: int


@value
class Merged:
    """One marker of the later call that took the place of markers of the earlier one."""

    into: str
    markers: tuple[str, ...]


@value
class Difference:
    """What lies between two calls.

    Attributes:
        before, after: the records of the calls.
        changes: the parts that differ, the largest change in tokens first.
        events_compared: both windows were there, of one session; otherwise nothing is said of events and merges.
        came, left: events that stand only in the later, only in the earlier one; in order of position.
        resized: of the later one, events that stand in both with other token counts, such as those
            shortened since.
        markers_came, markers_left: pointers that stand in one of them only, without those that were merged.
        merged: markers that became one.
        compactions: between the two calls.
    """

    before: Anatomy
    after: Anatomy
    changes: tuple[Change, ...]
    events_compared: bool
    came: tuple[Item, ...]
    left: tuple[Item, ...]
    resized: tuple[Item, ...]
    markers_came: tuple[str, ...]
    markers_left: tuple[str, ...]
    merged: tuple[Merged, ...]

    @property
    def tokens(self) -> int:
        """Tokens of the later call less those of the earlier one."""
        return self.after.tokens - self.before.tokens

    @property
    def bytes(self) -> int:
        """Bytes of the later call less those of the earlier one."""
        return self.after.bytes - self.before.bytes

    @property
    def compactions(self) -> int:
        """Compactions between the two calls; 0 when they are of two sessions."""
        return self.after.cycle - self.before.cycle if self.before.session == self.after.session else 0

    @property
    def sentences(self) -> tuple[str, ...]:
        """The difference as people read it: the sum first, then part by part, then what else changed."""
        return tuple(_sentences(self))


def diff(
    before: Anatomy, after: Anatomy, *, window_before: Window | None = None, window_after: Window | None = None
) -> Difference:
    """Compare two calls.

    Args:
        window_before, window_after: what the calls were composed from, as rebuilt from the log; None
            compares the parts and the markers' pointers only.

    Raises:
        InvalidArgument: a window is not the one of its call.
    """
    for anatomy, window in ((before, window_before), (after, window_after)):
        if window is not None and (len(window.items), window.cycle) != (anatomy.events, anatomy.cycle):
            raise InvalidArgument(
                f"expected the window of call {anatomy.call:,} with {anatomy.events:,} events in cycle "
                f"{anatomy.cycle:,}; got one with {len(window.items):,} in cycle {window.cycle:,}"
            )
    compared = window_before is not None and window_after is not None and before.session == after.session
    old, new = (window_before or Window(), window_after or Window()) if compared else (Window(), Window())
    had, has = {item.id: item for item in old.items}, {item.id: item for item in new.items}
    merged = tuple(_merged(old.markers, new.markers))
    gone = {pointer for merge in merged for pointer in merge.markers}
    into = {merge.into for merge in merged}
    return Difference(
        before=before,
        after=after,
        changes=_changes(before, after),
        events_compared=compared,
        came=tuple(item for item in new.items if item.id not in had),
        left=tuple(item for item in old.items if item.id not in has),
        resized=tuple(item for item in new.items if item.id in had and had[item.id].tokens != item.tokens),
        markers_came=tuple(marker for marker in after.markers if marker not in before.markers and marker not in into),
        markers_left=tuple(marker for marker in before.markers if marker not in after.markers and marker not in gone),
        merged=merged,
    )


def _changes(before: Anatomy, after: Anatomy) -> tuple[Change, ...]:
    changes = []
    for name in PARTS:
        old, new = before.share(name), after.share(name)
        if (old.bytes, old.tokens) != (new.bytes, new.tokens):
            change = Change(name, new.bytes - old.bytes, new.tokens - old.tokens, old.tokens, new.tokens)
            changes.append(change)
    return tuple(sorted(changes, key=lambda change: (-abs(change.tokens), -abs(change.bytes))))


def _merged(old: tuple[Marker, ...], new: tuple[Marker, ...]) -> Iterator[Merged]:
    """Yield each new marker whose range takes in markers that stood there before."""
    for marker in new:
        within = [
            marker_before.pointer
            for marker_before in old
            if marker.first_position <= marker_before.first_position
            and marker_before.last_position <= marker.last_position
        ]
        if within and within != [marker.pointer]:
            yield Merged(marker.pointer, tuple(within))


# sentences -----------------------------------------------------------------------------------------


def _sentences(difference: Difference) -> Iterator[str]:
    before, after = difference.before, difference.after
    named = _largest_changes(difference)
    yield _sum(difference, named)
    for change in difference.changes:
        events = _events_of(change.name, difference)
        if events and change not in named:
            yield f"{change.name} {change.tokens:+,} tokens{events}."
    yield from _about_markers(difference)
    if difference.compactions:
        receipt = f", receipt of the last {after.receipt}" if after.receipt and difference.compactions > 0 else ""
        times = "1 compaction" if abs(difference.compactions) == 1 else f"{abs(difference.compactions):,} compactions"
        yield f"{times} between them (cycle {before.cycle:,} to {after.cycle:,}){receipt}."
    if before.topic != after.topic:
        yield f"The topic was {before.topic or 'not clear'}, then {after.topic or 'not clear'}."
    for name in ("budget_tokens", "model", "format", "counter"):
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            warning = ": tokens of the two calls were not counted alike" if name == "counter" else ""
            yield f"{name.replace('_', ' ')} was {old or 'not named'}, then {new or 'not named'}{warning}."
    if not difference.events_compared:
        same = before.session == after.session
        why = "the windows of both calls could not be had as they were" if same else "the calls are of two sessions"
        yield f"Events and merged markers were not compared: {why}."


def _largest_changes(difference: Difference) -> list[Change]:
    return [change for change in difference.changes if change.tokens][:PARTS_NAMED_MAX]


def _sum(difference: Difference, named: list[Change]) -> str:
    before, after = difference.before, difference.after
    parts = ", ".join(f"{change.name} {change.tokens:+,}{_events_of(change.name, difference)}" for change in named)
    rest = difference.tokens - sum(change.tokens for change in named)
    what = "no tokens more or less" if not difference.tokens else f"{difference.tokens:+,} tokens"
    return (
        f"Call {before.call:,} to call {after.call:,}: {what}"
        f"{f': {parts}' if parts else ''}{f', all else {rest:+,}' if rest else ''}; "
        f"{before.utilisation_percent:g} % of the budget, then {after.utilisation_percent:g} %."
    )


def _events_of(part: str, difference: Difference) -> str:
    """Say which events of a part came and left; the newest user message is part of the history later on."""
    kinds = [kind for kind, name in HISTORY_PARTS.items() if name == part]
    if not kinds or not difference.events_compared:
        return ""
    came = [item for item in difference.came if item.kind is kinds[0]]
    left = [item for item in difference.left if item.kind is kinds[0]]
    resized = [item for item in difference.resized if item.kind is kinds[0]]
    sentences = []
    if came:
        sentences.append(f"{len(came):,} new, {_largest(came)}")
    if left:
        sentences.append(f"{len(left):,} left, {_largest(left)}")
    if resized:
        sentences.append(f"{len(resized):,} shown at another length, {_largest(resized)}")
    return f" ({'; '.join(sentences)})" if sentences else ""


def _largest(items: list[Item]) -> str:
    largest = max(items, key=lambda item: item.tokens)
    return (
        f"largest fh:{largest.id} with {largest.tokens:,}"
        if len(items) > 1
        else f"fh:{largest.id} with {largest.tokens:,}"
    )


def _about_markers(difference: Difference) -> Iterator[str]:
    for merge in difference.merged:
        yield f"{_markers(merge.markers)} now part of {merge.into}."
    if difference.markers_came:
        yield f"{_markers(difference.markers_came)} new: {_named(difference.markers_came)}."
    if difference.markers_left:
        yield f"{_markers(difference.markers_left)} no longer there: {_named(difference.markers_left)}."


def _markers(pointers: tuple[str, ...]) -> str:
    return "1 marker is" if len(pointers) == 1 else f"{len(pointers):,} markers are"


def _named(pointers: tuple[str, ...]) -> str:
    more = f" and {len(pointers) - NAMED_MAX:,} more" if len(pointers) > NAMED_MAX else ""
    return ", ".join(pointers[:NAMED_MAX]) + more
