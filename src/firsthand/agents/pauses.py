"""Off the record: one prompt, one session or one project, by command or by a word that the user chose.

    STORE/hooks/pause.json             from when to when projects and sessions are paused, and whose next prompt is
    STORE/hooks/paused/<session>.json  from when to when a session was off the record, for who reads its transcript

The invariant: of what is said in a pause nothing is kept, here least of all: the files hold
names, folders and times. What counts is when a hook was called, since its call may be recorded
later. A transcript that the host itself writes is left alone, and what stands in it from within
a pause is passed over, also in that of a session which was forked and repeats the lines.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from hashlib import blake2s
from pathlib import Path
from typing import Any
from urllib.parse import quote

from firsthand import moment
from firsthand.agents import small_files
from firsthand.agents.settings import project_of
from firsthand.errors import InvalidArgument, StoreFailed
from firsthand.hosts.hook import HookCall, HookEvent
from firsthand.hosts.intake_rules import Interval
from firsthand.moment import Moment

EARLIER_US = 2_000_000
"""A pause begins so much before its first hook: the host may have written the prompt's line before it asked."""
INTERVALS_MAX, SESSIONS_MAX, NAME_CHARACTERS_MAX = 200, 2_000, 200
_CONTINUES = ("resume", "fork")
SESSION, PROJECT, PROMPT = "this session", "this project", "this prompt"


def pause(
    store: Path, *, session: str = "", project: Path | None = None, prompt: bool = False, now: Moment | None = None
) -> None:
    """Take a session, a project, or the next prompt in a project, off the record from now on.

    Raises:
        InvalidArgument: neither or both of session and project are named, or the next prompt of a session.
        StoreError: it cannot be written.
    """
    _turn(store, session, project, now, prompt=prompt, on=True)


def resume(store: Path, *, session: str = "", project: Path | None = None, now: Moment | None = None) -> None:
    """Put a session or a project on the record again; a pause of its next prompt is over too.

    Raises:
        InvalidArgument: neither or both are named.
        StoreError: it cannot be written.
    """
    _turn(store, session, project, now, prompt=False, on=False)


def off_record(store: Path, call: HookCall, session: str, word: str, now: Moment, *, is_new: bool = False) -> str:
    """Say what of a call is off the record: ``this prompt``, ``this session``, ``this project``; empty for nothing.

    Args:
        word: with which a prompt that is off the record begins; empty for none.
        now: when the call was made.
        is_new: True for a session of which nothing was recorded yet.

    Raises:
        StoreError: it cannot be read or kept; then it must not be recorded.
    """
    at = now.microseconds
    state, spans = _state(store), intervals(store, session)
    is_copy = is_new and not spans and call.event is HookEvent.SESSION_START and call.source in _CONTINUES
    if is_copy and (spans := _of_all(store, at)):
        _write_spans(store, session, spans)
    project = _folder(Path(call.cwd)) if call.cwd else ""
    is_open = _is_open(spans)
    why = ""
    if _holds(state["sessions"].get(session, ()), at):
        why = SESSION
    elif _holds(state["projects"].get(project, ()), at):
        why = PROJECT
    elif any(start <= at < end for start, end in spans if end is not None):
        return PROMPT  # a call that comes after the pause that it was made in
    elif call.event is HookEvent.PROMPT:
        if _holds(state["prompts"].get(project, ()), at):
            del state["prompts"][project]
            small_files.put_table(store / "hooks" / "pause.json", state)
            why = PROMPT
        elif (word and _begins(call.prompt, word)) or (is_open and spans[-1][0] == at - EARLIER_US):  # made again
            why = PROMPT
    elif is_open and call.event is not HookEvent.SESSION_START:
        why = PROMPT
    if bool(why) != is_open:
        spans = [*spans, (at - EARLIER_US, None)] if why else [*spans[:-1], (spans[-1][0], at)]
        _write_spans(store, session, spans)
    return why


def intervals(store: Path, session: str) -> Sequence[Interval]:
    """Give from when to when a session was off the record, in order."""
    if not os.path.lexists(f"{store}/hooks/paused"):  # asked for each record of an import: nothing was ever paused
        return ()
    return _spans(_spans_file(store, session))


def _spans(path: Path) -> Sequence[Interval]:
    data = small_files.read(path)
    try:
        return _as_intervals([] if data is None else json.loads(data))
    except (ValueError, TypeError, RecursionError) as error:
        raise StoreFailed(_unreadable(path)) from error


def _of_all(store: Path, by: int) -> list[Interval]:
    """Give the intervals of all sessions up to a moment: the lines of one may stand in another's transcript."""
    folder = store / "hooks" / "paused"
    spans = [span for name in small_files.names(folder, ".json", SESSIONS_MAX) for span in _spans(folder / name)]
    return sorted((start, by if end is None else min(end, by)) for start, end in spans if start < by)


def _write_spans(store: Path, session: str, spans: Sequence[Interval]) -> None:
    small_files.write(_spans_file(store, session), json.dumps(spans[-INTERVALS_MAX:]).encode())


def _spans_file(store: Path, session: str) -> Path:
    name = quote(session, safe="", errors="surrogateescape")
    if len(name) > NAME_CHARACTERS_MAX:  # no file may have it whole, and another session may begin like it
        name = f"{name[:NAME_CHARACTERS_MAX]}-{blake2s(session.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}"
    return store / "hooks" / "paused" / f"{name}.json"


def _as_intervals(pairs: Iterable[Any]) -> list[Interval]:
    return [(int(start), None if end is None else int(end)) for start, end in pairs]


def _holds(spans: Iterable[Interval], at: int) -> bool:
    return any(start <= at and (end is None or at < end) for start, end in spans)


def _is_open(spans: Sequence[Interval]) -> bool:
    return bool(spans) and spans[-1][1] is None


def _begins(prompt: str, word: str) -> bool:
    text = prompt.lstrip().casefold()
    return text.startswith(word.casefold()) and not text[len(word) :][:1].isalnum()


def _turn(store: Path, session: str, project: Path | None, now: Moment | None, *, prompt: bool, on: bool) -> None:
    if bool(session) == (project is not None) or (session and prompt):
        raise InvalidArgument("expected a session, a project, or the next prompt of a project")
    state = _state(store)
    kind, name = ("sessions", session) if project is None else ("prompts" if prompt else "projects", _folder(project))
    at = (now or moment.now()).microseconds
    for each in [kind] if on or session else ["projects", "prompts"]:
        spans = state[each].get(name, [])
        if on and not _is_open(spans):
            state[each][name] = [*spans, (at, None)][-INTERVALS_MAX:]
        elif not on and _is_open(spans):
            state[each][name] = [*spans[:-1], (spans[-1][0], at)]
    small_files.put_table(store / "hooks" / "pause.json", state)


def _folder(cwd: Path) -> str:
    return str(project_of(cwd.resolve()))


def _state(store: Path) -> dict[str, dict[str, list[Interval]]]:
    path = store / "hooks" / "pause.json"
    members = small_files.table(path, torn=_unreadable(path))
    try:
        return {
            kind: {name: _as_intervals(spans) for name, spans in members.get(kind, {}).items()}
            for kind in ("sessions", "projects", "prompts")
        }
    except (ValueError, TypeError, AttributeError) as error:
        raise StoreFailed(_unreadable(path)) from error


def _unreadable(path: Path) -> str:
    return f"{path} does not say what is off the record, so nothing is recorded. Remove it to go on."
