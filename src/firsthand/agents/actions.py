"""Before an action: a command or an edit that failed the last time it ran.

The invariant: what is shown is evidence, not likeness: the same words, flags and where its output goes aside, whose
last recorded run failed, in one line, with its pointer. What ran well last brings nothing up, and neither does what
the session's window still holds. Nothing here allows or forbids a call; it only says what is known.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from firsthand.agent_space import AgentSpace
from firsthand.agents import command_lines, quotation, validity
from firsthand.agents.injections import shown
from firsthand.agents.reminders import Reminder
from firsthand.agents.settings import Settings
from firsthand.event import Event, Kind
from firsthand.formats.commands import doing, failure
from firsthand.hosts.hook import HookCall
from firsthand.hosts.requests import is_refused
from firsthand.moment import clock
from firsthand.recall.lookup import Lookup
from firsthand.space import Space
from firsthand.unasked.volunteer import Piece
from firsthand.value import replace

DEADLINE_MS = 30
CALLS_READ_MAX, RESULTS_READ_MAX = 64, 30
LINE_CHARACTERS_MAX = 240
_PIPED = re.compile(r"\s*(?:2>&1|[|>]).*\Z", re.DOTALL)


def warn(
    agent: AgentSpace, call: HookCall, session: str, settings: Settings, *, deadline_ms: int = DEADLINE_MS
) -> Reminder:
    """Bring up what the log knows against a tool call.

    Raises:
        StoreError: the log cannot be read.
    """
    action = doing(call.tool_input)
    if not action:
        return Reminder(skipped="no command and no file")
    if command_lines.looks_only(action):
        return Reminder(skipped="it only reads")
    # What the session itself said stands in its window.
    scope = replace(agent.scope(across=settings.across), without_sessions=(session, f"{session}/agent-*"))
    space = agent.space
    calls = Lookup(space, replace(scope, kinds=(Kind.TOOL_CALL,)), deadline_ms)
    failed = _failed(space, calls, call, action)
    if failed is None:
        return Reminder(skipped=calls.fault or "nothing is known against it")
    if failed.facts[0] in shown(space, session):
        return Reminder(skipped="shown before in this session")
    text = validity.funnel(space).written([failed], _line)
    return Reminder(text, pointers=failed.facts) if text else Reminder(skipped="it was taken back")


def _line(pieces: Sequence[Piece]) -> str:
    (piece,) = pieces
    words = quotation.line(piece.words, LINE_CHARACTERS_MAX, at_sentence=False)
    return f"{piece.facts[0]}  {clock(piece.time)}: failed the last time it ran: {words}"


def _failed(space: Space, calls: Lookup, call: HookCall, action: str) -> Piece | None:
    """Give the last run of the same words that has a result, if it failed."""
    words = _words(action)
    for event in itertools.islice(calls.newest([*words], 0), CALLS_READ_MAX):
        same = _words(doing(event.text)) == words and event.meta.get("tool", call.tool) == call.tool
        result = _result(space, event) if same else None
        if result is not None:
            failed = failure(result.meta, result.text, action) is not None and not is_refused(result)
            return Piece(doing(event.text), (event.pointer,), (result.pointer,), time=result.time) if failed else None
    return None


def _result(space: Space, call: Event) -> Event | None:
    identity = call.meta.get("call_id")
    results = space.events(call.session, after=call.position, kind=Kind.TOOL_RESULT, limit=RESULTS_READ_MAX)
    same = (event for event in results if identity and event.meta.get("call_id") == identity)
    return next((event for event in same if not event.erased), None)


def _words(action: str) -> frozenset[str]:
    """Give the words of a command without flags, settings before it, and without where its output goes."""
    return frozenset(word for word in _PIPED.sub("", command_lines.line(action)).split() if not word.startswith("-"))
