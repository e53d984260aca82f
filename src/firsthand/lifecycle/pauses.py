"""Off the record: one prompt, one session or one project, by command or by a word that the user chose.

    STORE/hooks/pause.json             projects and sessions that are paused, and projects whose next prompt is
    STORE/hooks/paused/<session>.json  from when to when a session was off the record, for who reads its transcript

The invariant: of what is said in a pause nothing is kept, here least of all: the files hold
names, folders and times. A transcript that the host itself writes is left alone, and what
stands in it from within a pause is passed over.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from firsthand.errors import InvalidArgument, StoreFailed
from firsthand.hosts.hook import HookCall, HookEvent
from firsthand.intake.rules import Interval
from firsthand.lifecycle import small_files
from firsthand.lifecycle.settings import project_of, session_file
from firsthand.moment import Moment

EARLIER_US = 2_000_000
"""A pause begins so much before its first hook: the host may have written the prompt's line before it asked."""
INTERVALS_MAX = 200
SESSION, PROJECT, PROMPT = "this session", "this project", "this prompt"


def pause(store: Path, *, session: str = "", project: Path | None = None, prompt: bool = False) -> None:
    """Take a session, a project, or the next prompt in a project, off the record.

    Raises:
        InvalidArgument: neither or both of session and project are named, or the next prompt of a session.
        StoreError: it cannot be written.
    """
    _turn(store, session, project, prompt=prompt, on=True)


def resume(store: Path, *, session: str = "", project: Path | None = None) -> None:
    """Put a session or a project on the record again; a pause of its next prompt is over too.

    Raises:
        InvalidArgument: neither or both are named.
        StoreError: it cannot be written.
    """
    _turn(store, session, project, prompt=False, on=False)


def off_record(store: Path, call: HookCall, session: str, word: str, now: Moment) -> str:
    """Say what of a call is off the record: ``this prompt``, ``this session``, ``this project``; empty for nothing.

    Args:
        word: with which a prompt that is off the record begins; empty for none.

    Raises:
        StoreError: it cannot be read or kept; then it must not be recorded.
    """
    state, spans = _state(store), intervals(store, session)
    project = _folder(Path(call.cwd)) if call.cwd else ""
    is_open = bool(spans) and spans[-1][1] is None
    why = ""
    if session in state["sessions"]:
        why = SESSION
    elif project in state["projects"]:
        why = PROJECT
    elif call.event is HookEvent.PROMPT:
        if project in state["prompts"]:
            state["prompts"].remove(project)
            _write(store, state)
            why = PROMPT
        elif word and _begins(call.prompt, word):
            why = PROMPT
    elif is_open and call.event is not HookEvent.SESSION_START:
        why = PROMPT
    if bool(why) != is_open:
        at = now.microseconds
        spans = [*spans, (at - EARLIER_US, None)] if why else [*spans[:-1], (spans[-1][0], at)]
        small_files.write(_spans_file(store, session), json.dumps(spans[-INTERVALS_MAX:]).encode())
    return why


def intervals(store: Path, session: str) -> Sequence[Interval]:
    """Give from when to when a session was off the record, in order."""
    data = small_files.read(_spans_file(store, session))
    try:
        spans = [] if data is None else json.loads(data)
        return [(int(start), None if end is None else int(end)) for start, end in spans]
    except (ValueError, TypeError, RecursionError) as error:
        raise _unreadable(_spans_file(store, session)) from error


def _begins(prompt: str, word: str) -> bool:
    said = prompt.lstrip().casefold()
    rest = said[len(word) :]
    return said.startswith(word.casefold()) and not rest[:1].isalnum()


def _turn(store: Path, session: str, project: Path | None, *, prompt: bool, on: bool) -> None:
    if bool(session) == (project is not None) or (session and prompt):
        raise InvalidArgument("expected a session, a project, or the next prompt of a project")
    state = _state(store)
    kind, name = ("sessions", session) if project is None else ("prompts" if prompt else "projects", _folder(project))
    for each in [kind] if on or session else ["projects", "prompts"]:
        names = [one for one in state[each] if one != name]
        state[each] = [*names, name] if on else names
    _write(store, state)


def _folder(cwd: Path) -> str:
    return str(project_of(cwd.resolve()))


def _state(store: Path) -> dict[str, list[str]]:
    data = small_files.read(store / "hooks" / "pause.json")
    try:
        told: dict[str, Any] = {} if data is None else json.loads(data)
        return {kind: [str(name) for name in told.get(kind, [])] for kind in ("sessions", "projects", "prompts")}
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise _unreadable(store / "hooks" / "pause.json") from error


def _unreadable(path: Path) -> StoreFailed:
    return StoreFailed(f"{path} does not say what is off the record, so nothing is recorded. Remove it to go on.")


def _write(store: Path, state: dict[str, list[str]]) -> None:
    small_files.write(store / "hooks" / "pause.json", json.dumps(state).encode())


def _spans_file(store: Path, session: str) -> Path:
    return store / "hooks" / "paused" / session_file(store, session).name
