"""Before an action: a command or an edit that failed the last time it ran.

The invariant: what is shown is evidence, not likeness alone: a like command whose last
recorded run failed, in one line, with its pointer. What ran well last brings nothing up,
and neither does what the session's window still holds.

Nothing here allows or forbids a call; it only says what is known.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from firsthand.agent_space import AgentSpace
from firsthand.agents import command_lines, validity
from firsthand.agents.injections import shown
from firsthand.agents.reminders import Reminder
from firsthand.agents.settings import Settings
from firsthand.event import Event, Kind
from firsthand.formats.commands import doing, failure
from firsthand.hosts.hook import HookCall
from firsthand.moment import clock
from firsthand.recall.lookup import Lookup
from firsthand.space import Space
from firsthand.unasked.volunteer import Piece
from firsthand.value import replace

DEADLINE_MS = 30
SAME_READ_MAX = 64
"""Calls with all words of a command that are read to find the very same one."""
RESULTS_READ_MAX = 30
ALIKE_MIN = 0.75
"""Of the words of two commands, flags left out, that are the same: else they are two commands."""
LINE_CHARACTERS_MAX = 240
_PIPED = re.compile(r"\s*(?:2>&1|[|>]).*\Z", re.DOTALL)


def warn(
    agent: AgentSpace,
    call: HookCall,
    session: str,
    settings: Settings,
    *,
    deadline_ms: int = DEADLINE_MS,
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
    failure = _failed(space, calls, call, action)
    if not failure:
        return Reminder(skipped=calls.fault or "nothing is known against it")
    funnel, address = validity.funnel(space), failure[-1].pointers[0]
    if address in shown(space, session):
        return Reminder(skipped="shown before in this session")
    if len(funnel.passed(failure)) < len(failure):
        return Reminder(skipped="what is known against it was taken back")
    return Reminder(funnel.written(failure, _line).text, pointers=(address,))


def _line(pieces: Sequence[Piece]) -> str:
    first = pieces[0]
    return f"{pieces[-1].pointers[0]}  {clock(first.time)}: {first.head}{first.words}"


def _failed(space: Space, calls: Lookup, call: HookCall, action: str) -> tuple[Piece, ...]:
    """Give the failure of the last like call that has a result, if it failed; the same words go before like ones."""
    mine = _words(action)
    missing_max = int((1 - ALIKE_MIN) * len(set(mine)))
    same = (event for event in itertools.islice(calls.newest(mine, 0), SAME_READ_MAX) if set(_ran(event)) == set(mine))
    like = (event for event in calls.newest(mine, missing_max) if _is_alike(mine, _ran(event)))
    for event in itertools.chain(same, like):
        result = _result(space, event) if event.meta.get("tool", call.tool) == call.tool else None
        if result is None:
            continue
        failed = failure(result.meta, result.text, action)
        if failed is None:
            return ()
        ran = Piece(
            _short(doing(event.text)), (f"fh:{event.id}",), head="failed the last time it ran: ", time=result.time
        )
        return ran, Piece("", (f"fh:{result.id}",))
    return ()


def _result(space: Space, call: Event) -> Event | None:
    identity = call.meta.get("call_id")
    for event in space.events(call.session, after=call.position, kind=Kind.TOOL_RESULT, limit=RESULTS_READ_MAX):
        if identity and event.meta.get("call_id") == identity and not event.erased:
            return event
    return None


def _ran(call: Event) -> tuple[str, ...]:
    return _words(doing(call.text))


def _words(action: str) -> tuple[str, ...]:
    """Give the words of a command without flags, settings before it, and without where its output goes."""
    return tuple(word for word in _PIPED.sub("", command_lines.line(action)).split() if not word.startswith("-"))


def _is_alike(mine: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Say whether one command has the words of the other and few more: with a word in another's place it is another."""
    if not mine or not other or mine[0] != other[0]:
        return False
    less, more = sorted((set(mine), set(other)), key=len)
    return less <= more and len(less) >= ALIKE_MIN * len(more)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LINE_CHARACTERS_MAX else f"{line[:LINE_CHARACTERS_MAX]} [cut]"
