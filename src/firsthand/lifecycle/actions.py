"""Before an action: a command or an edit that matches a recorded failure, a rule of the user, or a decision.

The invariant: what is shown is evidence, not likeness alone: a like command whose last
recorded run failed, a user's sentence that forbids what is being done, or a decision
for something else than what is being run; one line, with its pointer. What ran well
last brings nothing up, and neither does what the session's window still holds.

Nothing here allows or forbids a call; it only says what is known.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from firsthand.answer import Scope
from firsthand.event import Event, Kind, Trust
from firsthand.hosts.hook import HookCall
from firsthand.lifecycle import standing
from firsthand.lifecycle.implicit import Reminder
from firsthand.lifecycle.shown import shown
from firsthand.moment import clock
from firsthand.task import sentences as spoken
from firsthand.task.constraints import rules
from firsthand.task.signs import doing, failure
from firsthand.value import replace
from firsthand.volunteer import Piece

if TYPE_CHECKING:
    from firsthand.lifecycle.agent import Agent
    from firsthand.lifecycle.settings import Settings
    from firsthand.memory import Memory
    from firsthand.recall.holding import Holding

EDITS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit", "apply_patch", "write_file", "replace", "edit_file"})
READS = frozenset(
    """
    ls cat head tail less grep egrep rg ag find fd pwd cd echo printf wc which type stat file tree diff du df ps env
    date whoami uname sed awk sort uniq cut jq
    """.split()  # noqa: SIM905 - so many quoted words are harder to read
)
"""Commands that look and change nothing, the commonest of all: nothing is asked for them."""
_JOINS = re.compile(r"[;&|>`]|\$\(|\s-(?:i|delete|exec)\b")
DEADLINE_MS = 30
SAME_READ_MAX = 64
"""Calls with all words of a command that are read to find the very same one."""
SAID_MAX = 16
"""Messages and notes that are read for a rule or a decision."""
RESULTS_READ_MAX = 30
ALIKE_MIN = 0.75
"""Of the words of two commands, flags left out, that are the same: else they are two commands."""
COVERED_MIN = 0.66
"""Of the words of a rule that must stand in the action."""
WORDS_MIN = 2
LINE_CHARACTERS_MAX = 240
_PIPED = re.compile(r"\s*(?:2>&1|[|>]).*\Z", re.DOTALL)
_SET = re.compile(r"[A-Za-z_]\w*=")
_TOKEN = re.compile(r"[^\W_]+", re.ASCII)
_FORBIDS = re.compile(
    r"\b(?:never|not|don't|dont|mustn't|avoid|forbidden|prohibited|without|niemals|nie|nicht|kein\w*|jamais|nunca)\b",
    re.IGNORECASE,
)
_DECIDED = re.compile(
    r"\b(?:instead of|rather than|no longer (?:use|run)|(?:we|i) dropped|stopped using|moved away from|switched from"
    r"|not) `?([\w.+-]{2,40})",
    re.IGNORECASE,
)
_CHOSE = re.compile(r"\b(?:use|using|chose|decided|switched|moved|agreed|dropped|stopped|no longer)\b", re.IGNORECASE)
_CHANGES = frozenset({"touch", "edit", "change", "modify", "write", "rewrite", "alter"})
_DELETES = frozenset({"delete", "remove", "erase", "drop"})
_EMPTY = frozenset(
    """
    a an the this that these those it its is are be to of in on at for from with and or any anything ever never not do
    don dont t must mustn should shall can may you we i please always only no under circumstances directly again my our
    your file files folder directory code run use using avoid without make sure allowed
    """.split()  # noqa: SIM905 - so many quoted words are harder to read
)


def warn(agent: Agent, call: HookCall, session: str, settings: Settings, *, deadline_ms: int = DEADLINE_MS) -> Reminder:
    """Bring up what the log knows against a tool call.

    Raises:
        StoreError: the log cannot be read.
    """
    action = doing(call.tool_input)
    if not action:
        return Reminder(skipped="no command and no file")
    if action.split(maxsplit=1)[0] in READS and not _JOINS.search(action):
        return Reminder(skipped="it only reads")
    # What the session itself said stands in its window.
    scope = replace(agent.scope(across=settings.across), without_sessions=(session, f"{session}/agent-*"))
    memory, until = agent.memory, time.monotonic() + deadline_ms / 1000
    calls = _holding(memory, replace(scope, kinds=(Kind.TOOL_CALL,)), deadline_ms)
    found = _failed(memory, calls, call, action)
    if not found:
        left_ms = max(1.0, (until - time.monotonic()) * 1000)
        said = _holding(memory, replace(scope, kinds=(Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.NOTE)), left_ms)
        found = _said(said, call, action)
        if not found:
            return Reminder(skipped=said.fault or calls.fault or "nothing is known against it")
    funnel, address = standing.funnel(memory), found[-1].pointers[0]
    if address in shown(memory, session):
        return Reminder(skipped="shown before in this session")
    if len(funnel.passed(found)) < len(found):
        return Reminder(skipped="what is known against it was taken back")
    return Reminder(funnel.written(found, _line).text, pointers=(address,))


def _line(pieces: Sequence[Piece]) -> str:
    first = pieces[0]
    return f"{pieces[-1].pointers[0]}  {clock(first.time)}: {first.head}{first.words}"


def _holding(memory: Memory, scope: Scope, deadline_ms: float) -> Holding:
    from firsthand.recall.holding import Holding

    return Holding(memory._log.reader, memory.namespace, scope, deadline_ms)  # noqa: SLF001 - one room


def _failed(memory: Memory, calls: Holding, call: HookCall, action: str) -> tuple[Piece, ...]:
    """Give the failure of the last like call that has a result, if it failed; the same words go before like ones."""
    mine = _words(action)
    missing_max = int((1 - ALIKE_MIN) * len(set(mine)))
    same = (one for one in itertools.islice(calls.newest(mine, 0), SAME_READ_MAX) if set(_ran(one)) == set(mine))
    like = (one for one in calls.newest(mine, missing_max) if _is_alike(mine, _ran(one)))
    for one in itertools.chain(same, like):
        result = _result(memory, one) if one.meta.get("tool", call.tool) == call.tool else None
        if result is None:
            continue
        failed = failure(result.meta, result.text, action)
        if failed is None:
            return ()
        ran = Piece(_short(doing(one.text)), (f"fh:{one.id}",), head="failed the last time it ran: ", time=result.time)
        return ran, Piece("", (f"fh:{result.id}",))
    return ()


def _said(said: Holding, call: HookCall, action: str) -> tuple[Piece, ...]:
    """Give the newest rule of the user that forbids an action, or decision for something else."""
    words = {word.casefold() for word in _TOKEN.findall(action)}
    words |= _CHANGES if call.tool in EDITS else set()
    words |= _DELETES if {"rm", "rmdir", "unlink"} & words else set()
    program = action.split(maxsplit=1)[0].rpartition("/")[2].casefold()
    for one in sorted(said.best(_TOKEN.findall(action), SAID_MAX), key=lambda one: -one.position):
        if one.trust is Trust.UNTRUSTED:  # who could write there could forbid what they like
            continue
        by_user = one.kind is Kind.USER_MESSAGE and one.trust is Trust.TRUSTED  # a subagent's is its agent's
        for rule in rules(one.text) if by_user and _FORBIDS.search(one.text) else ():
            if _FORBIDS.search(rule.said) and _covers(rule.said, words):
                return (Piece(_short(rule.text), (f"fh:{one.id}",), head="the user said: "),)
        for sentence in spoken.said(one.text) if call.tool not in EDITS and _DECIDED.search(one.text) else ():
            gone = _DECIDED.search(sentence.said)
            if (
                gone
                and gone[1].rstrip(".").casefold() == program
                and _CHOSE.search(sentence.said)
                and "?" not in sentence.said
            ):
                return (Piece(_short(sentence.text), (f"fh:{one.id}",), head=f"decided against {program}: "),)
    return ()


def _covers(rule: str, words: set[str]) -> bool:
    told = {word.casefold() for word in _TOKEN.findall(rule)} - _EMPTY
    own = told - _CHANGES - _DELETES
    both = told & words
    return bool(own & words) and len(both) >= min(WORDS_MIN, len(told)) and len(both) >= COVERED_MIN * len(told)


def _result(memory: Memory, call: Event) -> Event | None:
    identity = call.meta.get("call_id")
    for one in memory.events(call.session, after=call.position, kind=Kind.TOOL_RESULT, limit=RESULTS_READ_MAX):
        if identity and one.meta.get("call_id") == identity and not one.erased:
            return one
    return None


def _ran(call: Event) -> tuple[str, ...]:
    return _words(doing(call.text))


def _words(action: str) -> tuple[str, ...]:
    """Give the words of a command without flags, settings before it, and without where its output goes."""
    words = itertools.dropwhile(_SET.match, _PIPED.sub("", action).split())
    return tuple(word for word in words if not word.startswith("-"))


def _is_alike(mine: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Say whether one command has the words of the other and few more: with a word in another's place it is another."""
    if not mine or not other or mine[0] != other[0]:
        return False
    less, more = sorted((set(mine), set(other)), key=len)
    return less <= more and len(less) >= ALIKE_MIN * len(more)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LINE_CHARACTERS_MAX else f"{line[:LINE_CHARACTERS_MAX]} [cut]"
