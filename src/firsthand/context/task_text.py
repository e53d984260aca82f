"""The block that the model reads of a task state: short labelled lines, each with its pointer.

The invariant: the block has at most the tokens given, the same state gives the same
bytes, and what did not fit is counted, by field where there is room. What is in it are words of the user,
the agent and the caller; no words of a tool's result.
"""

from __future__ import annotations

from collections.abc import Mapping

from firsthand.context.task_state import Call, Entry, TaskState
from firsthand.errors import InvalidArgument
from firsthand.tokens import TokenCounter

_HEADING = "[Task state, kept up from this session; fh: pointers open the source with expand]"
_LABELS: Mapping[str, str] = {
    "request": "The user's last request",
    "goal": "Goal",
    "constraints": "Rules",
    "phase": "Now",
    "open_loops": "Open",
    "calls": "Calls without a result",
    "premises": "Premises",
    "key_events": "Key events",
    "files": "Files",
    "commands": "Commands",
}
_ORDER = tuple(_LABELS)  # what matters most is first
_ALONE = frozenset({"request", "goal", "phase"})


def text(state: TaskState, *, tokens_max: int, count: TokenCounter) -> str:
    """Write the block; empty for an empty state.

    Raises:
        InvalidArgument: not even a line with the number of entries has room in ``tokens_max``.
    """
    if state.is_empty:
        return ""
    entries = [(name, entry) for name in _ORDER for entry in _by_importance(state, name)]
    if count(_block(state, entries, by_field=True)) > tokens_max:
        entries = _chosen(state, tokens_max, count)
    while entries:
        for by_field in (True, False):
            block = _block(state, entries, by_field=by_field)
            if count(block) <= tokens_max:
                return block
        entries = entries[:-1]  # tokens of lines do not always add up to those of the block
    return _only_counted(state, tokens_max, count)


def _only_counted(state: TaskState, tokens_max: int, count: TokenCounter) -> str:
    entries = sum(len(_by_importance(state, name)) for name in _ORDER)
    line = f"[Task state: {entries:,} entries, no room to show them; recall(query) finds them]"
    if count(line) > tokens_max:
        raise InvalidArgument(f"a task state needs {count(line)} tokens to say that it is there; got {tokens_max!r}")
    return line


def _chosen(state: TaskState, tokens_max: int, count: TokenCounter) -> list[tuple[str, Entry]]:
    """Choose entries by importance, within a field the newest first, while their lines have room."""
    spare = tokens_max - count(_HEADING) - count(_left_out(state, [], by_field=False)) - 2
    chosen: list[tuple[str, Entry]] = []
    for name in _ORDER:
        labelled = name in _ALONE
        for entry in _by_importance(state, name):
            cost = count(_line(name, entry)) + 1 + (0 if labelled else count(_LABELS[name]) + 2)
            if cost > spare:
                continue
            labelled = True
            spare -= cost
            chosen.append((name, entry))
    return chosen


def _entries(state: TaskState, name: str) -> tuple[Entry, ...]:
    if name in _ALONE:
        alone: Entry | None = getattr(state, name)
        return () if alone is None else (alone,)
    if name == "calls":
        return tuple(map(_of_call, state.calls))
    entries: tuple[Entry, ...] = getattr(state, name)
    return entries


def _of_call(call: Call) -> Entry:
    return Entry(f"{call.tool}: {call.said}" if call.said else call.tool or "a tool", call.pointer)


def _by_importance(state: TaskState, name: str) -> tuple[Entry, ...]:
    """Give the newest first; what is open as it was set, since a plan is read from its first item on."""
    entries = _entries(state, name)
    return entries if name == "open_loops" else entries[::-1]


def _block(state: TaskState, entries: list[tuple[str, Entry]], *, by_field: bool) -> str:
    lines = [_HEADING]
    for name in _ORDER:
        chosen = [entry for field, entry in entries if field == name]
        if not chosen:
            continue
        if name not in _ALONE:
            lines.append(f"{_LABELS[name]}:")
            chosen.sort(key=_entries(state, name).index)
        lines += [_line(name, entry) for entry in chosen]
    left_out = _left_out(state, entries, by_field=by_field)
    return "\n".join([*lines, left_out] if left_out else lines)


def _line(name: str, entry: Entry) -> str:
    where = ", ".join(part for part in (f"turn {entry.turn}" if entry.turn else "", entry.pointer) if part)
    start = f"{_LABELS[name]}: " if name in _ALONE else "- "
    return f"{start}{entry.text} ({where})" if where else f"{start}{entry.text}"


def _left_out(state: TaskState, entries: list[tuple[str, Entry]], *, by_field: bool) -> str:
    """Count what is not shown: what had no room here, and what the state itself had no room for."""
    missing = {
        name: len(_by_importance(state, name))
        - sum(1 for field, _ in entries if field == name)
        + state.dropped.get(name, 0)
        for name in _ORDER
    }
    if not any(missing.values()):
        return ""
    parts = [f"{number:,} of {_LABELS[name].lower()}" for name, number in missing.items() if number]
    what = ", ".join(parts) if by_field else f"{sum(missing.values()):,} entries"
    return f"[not shown: {what}; recall(query) finds them]"
