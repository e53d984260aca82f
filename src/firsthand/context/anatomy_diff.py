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
    gone = {pointer for one in merged for pointer in one.markers}
    into = {one.into for one in merged}
    return Difference(
        before=before,
        after=after,
        changes=_changes(before, after),
        events_compared=compared,
        came=tuple(item for item in new.items if item.id not in had),
        left=tuple(item for item in old.items if item.id not in has),
        resized=tuple(item for item in new.items if item.id in had and had[item.id].tokens != item.tokens),
        markers_came=tuple(one for one in after.markers if one not in before.markers and one not in into),
        markers_left=tuple(one for one in before.markers if one not in after.markers and one not in gone),
        merged=merged,
    )


def _changes(before: Anatomy, after: Anatomy) -> tuple[Change, ...]:
    changes = []
    for name in PARTS:
        old, new = before.share(name), after.share(name)
        if (old.bytes, old.tokens) != (new.bytes, new.tokens):
            change = Change(name, new.bytes - old.bytes, new.tokens - old.tokens, old.tokens, new.tokens)
            changes.append(change)
    return tuple(sorted(changes, key=lambda one: (-abs(one.tokens), -abs(one.bytes))))


def _merged(old: tuple[Marker, ...], new: tuple[Marker, ...]) -> Iterator[Merged]:
    """Yield each new marker whose range takes in markers that stood there before."""
    for marker in new:
        within = [
            one.pointer
            for one in old
            if marker.first_position <= one.first_position and one.last_position <= marker.last_position
        ]
        if within and within != [marker.pointer]:
            yield Merged(marker.pointer, tuple(within))


# sentences -----------------------------------------------------------------------------------------


def _sentences(found: Difference) -> Iterator[str]:
    before, after = found.before, found.after
    named = _largest_changes(found)
    yield _sum(found, named)
    for change in found.changes:
        events = _events_of(change.name, found)
        if events and change not in named:
            yield f"{change.name} {change.tokens:+,} tokens{events}."
    yield from _about_markers(found)
    if found.compactions:
        receipt = f", receipt of the last {after.receipt}" if after.receipt and found.compactions > 0 else ""
        times = "1 compaction" if abs(found.compactions) == 1 else f"{abs(found.compactions):,} compactions"
        yield f"{times} between them (cycle {before.cycle:,} to {after.cycle:,}){receipt}."
    if before.topic != after.topic:
        yield f"The topic was {before.topic or 'not clear'}, then {after.topic or 'not clear'}."
    for name in ("budget_tokens", "model", "format", "counter"):
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            warning = ": tokens of the two calls were not counted alike" if name == "counter" else ""
            yield f"{name.replace('_', ' ')} was {old or 'not named'}, then {new or 'not named'}{warning}."
    if not found.events_compared:
        same = before.session == after.session
        why = "the windows of both calls could not be had as they were" if same else "the calls are of two sessions"
        yield f"Events and merged markers were not compared: {why}."


def _largest_changes(found: Difference) -> list[Change]:
    return [change for change in found.changes if change.tokens][:PARTS_NAMED_MAX]


def _sum(found: Difference, named: list[Change]) -> str:
    before, after = found.before, found.after
    parts = ", ".join(f"{change.name} {change.tokens:+,}{_events_of(change.name, found)}" for change in named)
    rest = found.tokens - sum(change.tokens for change in named)
    what = "no tokens more or less" if not found.tokens else f"{found.tokens:+,} tokens"
    return (
        f"Call {before.call:,} to call {after.call:,}: {what}"
        f"{f': {parts}' if parts else ''}{f', all else {rest:+,}' if rest else ''}; "
        f"{before.utilisation_percent:g} % of the budget, then {after.utilisation_percent:g} %."
    )


def _events_of(part: str, found: Difference) -> str:
    """Say which events of a part came and left; the newest user message is part of the history later on."""
    kinds = [kind for kind, name in HISTORY_PARTS.items() if name == part]
    if not kinds or not found.events_compared:
        return ""
    came = [item for item in found.came if item.kind is kinds[0]]
    left = [item for item in found.left if item.kind is kinds[0]]
    resized = [item for item in found.resized if item.kind is kinds[0]]
    said = []
    if came:
        said.append(f"{len(came):,} new, {_largest(came)}")
    if left:
        said.append(f"{len(left):,} left, {_largest(left)}")
    if resized:
        said.append(f"{len(resized):,} shown at another length, {_largest(resized)}")
    return f" ({'; '.join(said)})" if said else ""


def _largest(items: list[Item]) -> str:
    one = max(items, key=lambda item: item.tokens)
    return f"largest fh:{one.id} with {one.tokens:,}" if len(items) > 1 else f"fh:{one.id} with {one.tokens:,}"


def _about_markers(found: Difference) -> Iterator[str]:
    for one in found.merged:
        yield f"{_markers(one.markers)} now part of {one.into}."
    if found.markers_came:
        yield f"{_markers(found.markers_came)} new: {_named(found.markers_came)}."
    if found.markers_left:
        yield f"{_markers(found.markers_left)} no longer there: {_named(found.markers_left)}."


def _markers(pointers: tuple[str, ...]) -> str:
    return "1 marker is" if len(pointers) == 1 else f"{len(pointers):,} markers are"


def _named(pointers: tuple[str, ...]) -> str:
    more = f" and {len(pointers) - NAMED_MAX:,} more" if len(pointers) > NAMED_MAX else ""
    return ", ".join(pointers[:NAMED_MAX]) + more
