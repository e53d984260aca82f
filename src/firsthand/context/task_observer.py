"""The fold that keeps a task state up: one event of the session in, the state after it out.

    user message      the last request, verbatim
    tool call         an open call, and the files that its arguments name
    tool result       the call is closed; a command is remembered, with its exit code when it failed

The invariant: the state is a function of the session's events up to a position, and of
what callers set; nothing is read out of sentences. Words of tool results, of recalled
text and of untrusted writers never enter; those of an erased event leave.

It does not know who keeps the state, nor when it is written down.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from firsthand.context.task_state import (
    CALL_CHARACTERS_MAX,
    CHARACTERS_MAX,
    FIELDS,
    MEDIA,
    SEEN,
    Call,
    Entry,
    TaskState,
    called,
    from_json,
    line,
    seen,
)
from firsthand.event import BEHIND, INJECTED, Event, Kind, Trust
from firsthand.fence import blanked
from firsthand.formats import commands
from firsthand.value import replace

READ_CHARACTERS = 20_000  # of a message


def observe(state: TaskState, event: Event) -> TaskState:
    """Take one event of the session into the state.

    An event of kind TASK_STATE that this package wrote is taken over; when other events came between what its
    writer saw and it, only what it sets is.

    Raises:
        FormatError: a task state of this package is damaged, or of a newer version.
    """
    if event.position <= state.through:
        return state
    after = replace(state, through=event.position, turn=max(state.turn, event.turn))
    is_ours = event.meta.get(INJECTED) is True and event.kind is not Kind.TOOL_RESULT
    if event.erased or is_ours or BEHIND in event.meta:
        return after
    if event.kind is Kind.TASK_STATE:
        return _task_state(after, event, state.through)
    reading = _READINGS.get(event.kind)
    return after if reading is None else reading(after, event)


def _task_state(state: TaskState, event: Event, through: int) -> TaskState:
    if event.media != MEDIA or event.content is None:
        return state  # another program's
    written = from_json(event.content)
    if written.through < through:  # its writer had not seen all that was seen here
        return replace(state, **{name: getattr(written, name) or getattr(state, name) for name in FIELDS})
    names = ("request", "calls", *SEEN)  # what version 1 does not have
    observed = {name: getattr(written, name) or getattr(state, name) for name in names}
    return replace(written, **observed, through=state.through, turn=max(written.turn, state.turn))


def _user_message(state: TaskState, event: Event) -> TaskState:
    text = blanked(event.text[:READ_CHARACTERS])
    another_part = event.part > 0 and state.request is not None and state.request.turn == max(event.turn, 0)
    if event.trust is not Trust.TRUSTED or not text.strip() or another_part:
        return state
    return replace(state, request=_entry("request", text, event))


def _tool_call(state: TaskState, event: Event) -> TaskState:
    for path in commands.paths(event.text):
        state = seen(state, "files", _entry("files", path, event))
    if not (call_id := _meta(event, "call_id")):
        return state
    lines = [line(text, CALL_CHARACTERS_MAX) for text in (call_id, _meta(event, "tool"), commands.doing(event.text))]
    return called(state, Call(lines[0], lines[1], lines[2], f"fh:{event.id}"))


def _tool_result(state: TaskState, event: Event) -> TaskState:
    call_id = line(_meta(event, "call_id"), CALL_CHARACTERS_MAX)
    call = next((call for call in state.calls if call_id and call.call_id == call_id), None)
    if call is None:
        return state
    state = replace(state, calls=tuple(other for other in state.calls if other is not call))
    if event.meta.get(INJECTED) is True:
        return state  # an answer of a recall, which is answered now
    failed = commands.failure(event.meta, event.text, call.said)
    if failed is None and (not call.said or any(entry.text == call.said for entry in state.files)):
        return state  # a file that was read or written stands among the files
    # The same command again is told once, as of now.
    before = tuple(command for command in state.commands if not _is_run(command, call))
    code = "" if failed is None else f" (exit code {failed.code})" if failed.code else " (failed)"
    return seen(replace(state, commands=before), "commands", _entry("commands", f"{_name(call)}{code}", event))


def _is_run(entry: Entry, call: Call) -> bool:
    return entry.text == _name(call) or entry.text.startswith((f"{_name(call)} (exit code ", f"{_name(call)} (failed)"))


def _name(call: Call) -> str:
    return call.said or call.tool or "a tool"


def _erasure(state: TaskState, event: Event) -> TaskState:
    """Drop what quotes an erased event, and the words of calls that wait."""
    try:
        record = json.loads(event.text)
    except ValueError:
        return state  # none of the log's own: those are JSON
    erased = record.get("erased") if isinstance(record, dict) else None
    gone = {f"fh:{name}" for name in erased} if isinstance(erased, list) else set()
    for name in (*FIELDS, "request", *SEEN):
        entries = getattr(state, name)
        if isinstance(entries, tuple):
            state = replace(state, **{name: tuple(entry for entry in entries if not _cites(entry, gone))})
        elif entries is not None and _cites(entries, gone):
            state = replace(state, **{name: None})
    return replace(state, calls=tuple(call for call in state.calls if call.pointer not in gone))


def _cites(entry: Entry, pointers: set[str]) -> bool:
    return entry.pointer.partition("@")[0] in pointers


def _entry(name: str, text: str, event: Event) -> Entry:
    return Entry(line(text, CHARACTERS_MAX[name]) or "(no words)", f"fh:{event.id}", max(event.turn, 0))


def _meta(event: Event, name: str) -> str:
    fact = event.meta.get(name)
    return fact if isinstance(fact, str) else ""


_READINGS: Mapping[Kind, Callable[[TaskState, Event], TaskState]] = {
    Kind.USER_MESSAGE: _user_message,
    Kind.TOOL_CALL: _tool_call,
    Kind.TOOL_RESULT: _tool_result,
    Kind.ERASURE: _erasure,
}
