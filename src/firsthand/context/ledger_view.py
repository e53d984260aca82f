"""What the ledger leaves of the words that a window adds by itself: hints of markers, task state, and a pack's events.

The invariant: what a caller's own messages say stays as it is, since it is the session; what
stands for them, or is put before another context, is shown as the ledger leaves it now.

It decides nothing: `firsthand.ledger.effect` says what is out.
"""

from __future__ import annotations

from typing import Any

from firsthand.context.fold import Fold, Shown
from firsthand.context.task_state import Call, Entry, TaskState
from firsthand.event import to_text
from firsthand.ledger.effect import Effect
from firsthand.tokens import TokenCounter
from firsthand.value import replace
from firsthand.window import Marker, Window

_LISTS = ("open_loops", "premises", "key_events", "constraints", "files", "commands", "calls")
_ALONE = ("goal", "phase", "request")


def task_of(state: TaskState, effect: Effect) -> TaskState:
    """Give a task state without the entries that are out."""
    if not effect.decided:
        return state

    def stands(entry: Entry | Call | None) -> bool:
        words = entry.text if isinstance(entry, Entry) else entry.said if entry is not None else ""
        return entry is not None and not (entry.pointer and effect.is_out(entry.pointer, words))

    changes: dict[str, Any] = {name: tuple(filter(stands, getattr(state, name))) for name in _LISTS}
    changes |= {name: None for name in _ALONE if not stands(getattr(state, name))}
    return replace(state, **changes)


def markers_of(markers: tuple[Marker, ...], effect: Effect, count: TokenCounter) -> tuple[Marker, ...]:
    """Give markers without the hints that are known from what is out."""
    if not effect.decided:
        return markers
    return tuple(_marker(marker, effect, count) for marker in markers)


def _marker(marker: Marker, effect: Effect, count: TokenCounter) -> Marker:
    hints = tuple(hint for hint in marker.hints if not effect.hides(hint.position, hint.term))
    if hints == marker.hints:
        return marker
    less = replace(marker, hints=hints)
    return replace(less, text_tokens=count(less.text))


def window_of(fold: Fold, effect: Effect) -> tuple[Window, dict[str, Shown]]:
    """Give a window and its events for another context."""
    if not effect.decided:
        return fold.window, fold.shown
    shown = {name: _shown(entry, effect, fold) for name, entry in fold.shown.items()}
    items = tuple(replace(item, tokens=shown[item.id].tokens) for item in fold.window.items)
    markers = markers_of(fold.markers, effect, fold.counter)
    tokens = sum(marker.text_tokens for marker in markers)
    return replace(fold.window, items=items, markers=markers, markers_tokens=tokens), shown


def _shown(entry: Shown, effect: Effect, fold: Fold) -> Shown:
    event = effect.text(entry.event)
    if event is entry.event:
        return entry
    text = to_text(event.content or b"") if event is not None else f"[no longer holds: {effect.instead(entry.event)}]"
    around = max(0, entry.tokens - fold.counter(entry.text))
    return Shown(event or entry.event, text, None, fold.counter(text) + around, shortened=True)
