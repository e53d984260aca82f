"""Before an action: a command or an edit that matches a recorded failure, a rule of the user, or a decision.

The invariant: what is shown is evidence, not likeness alone: a like command whose last
recorded run failed, a user's sentence that forbids what is being done, or a decision
for something else than what is being run; one line, with its pointer. What ran well
last brings nothing up, and neither does what the session's window still holds.

Nothing here allows or forbids a call; it only says what is known.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from firsthand.answer import Query, Scope
from firsthand.event import Event, Kind, Trust
from firsthand.hosts.hook import HookCall
from firsthand.lifecycle.implicit import Reminder
from firsthand.lifecycle.shown import shown
from firsthand.moment import clock
from firsthand.task import sentences as spoken
from firsthand.task.constraints import rules
from firsthand.task.signs import doing, failure
from firsthand.value import replace

if TYPE_CHECKING:
    from firsthand.lifecycle.agent import Agent
    from firsthand.lifecycle.settings import Settings
    from firsthand.memory import Memory

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
CALLS_MAX, SAID_MAX = 12, 8
RESULTS_READ_MAX = 30
ALIKE_MIN = 0.75
"""Of the words of two commands, flags left out, that are the same: else they are two commands."""
COVERED_MIN = 0.66
"""Of the words of a rule that must stand in the action."""
WORDS_MIN = 2
LINE_CHARACTERS_MAX = 240
_PIPED = re.compile(r"\s*(?:2>&1|[|>]).*\Z", re.DOTALL)
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
    found = _failed(agent.memory, call, action, scope, deadline_ms) or _said(
        agent.memory, call, action, scope, deadline_ms
    )
    if found is None:
        return Reminder(skipped="nothing is known against it")
    if found[0] in shown(agent.memory, session):
        return Reminder(skipped="shown before in this session")
    return Reminder(f"{found[0]}  {found[1]}", skipped="")


def _asked(
    memory: Memory, text: str, scope: Scope, kinds: tuple[Kind, ...], most: int, deadline_ms: int
) -> list[Event]:
    query = Query(
        text[:1_000], replace(scope, kinds=kinds), hits_max=most, deadline_ms=max(1, deadline_ms), attempts_max=1
    )
    return [memory.event(hit.pointer) for hit in memory.recall(query) if hit.kind in kinds]


def _failed(memory: Memory, call: HookCall, action: str, scope: Scope, deadline_ms: int) -> tuple[str, str] | None:
    """Give the failure of the last like call, if the last one failed."""
    mine = _words(action)
    alike = [
        one
        for one in _asked(memory, action, scope, (Kind.TOOL_CALL,), CALLS_MAX, deadline_ms)
        if not one.erased and one.meta.get("tool", call.tool) == call.tool and _is_alike(mine, _words(doing(one.text)))
    ]
    for one in sorted(alike, key=lambda one: -one.position):
        result = _result(memory, one)
        if result is None:
            continue
        failed = failure(result.meta, result.text, action)
        if failed is None:
            return None
        return f"fh:{result.id}", (
            f"{clock(result.time)}: {_short(doing(one.text))!r} failed the last time it ran: {_short(result.text)}"
        )
    return None


def _said(memory: Memory, call: HookCall, action: str, scope: Scope, deadline_ms: int) -> tuple[str, str] | None:
    """Give a rule of the user that forbids an action, or a decision for something else."""
    words = {word.casefold() for word in _TOKEN.findall(action)}
    words |= _CHANGES if call.tool in EDITS else set()
    words |= _DELETES if {"rm", "rmdir", "unlink"} & words else set()
    program = action.split(maxsplit=1)[0].rpartition("/")[2].casefold()
    kinds = (Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.NOTE)
    for one in _asked(memory, action, scope, kinds, SAID_MAX, deadline_ms):
        if one.erased or one.trust is Trust.UNTRUSTED:  # who could write there could forbid what they like
            continue
        by_user = one.kind is Kind.USER_MESSAGE and one.trust is Trust.TRUSTED  # a subagent's is its agent's
        for rule in rules(one.text) if by_user else ():
            if _FORBIDS.search(rule.said) and _covers(rule.said, words):
                return f"fh:{one.id}", f"{clock(one.time)}: the user said: {_short(rule.text)}"
        for sentence in spoken.said(one.text) if call.tool not in EDITS else ():
            gone = _DECIDED.search(sentence.said)
            if gone and gone[1].casefold() == program and _CHOSE.search(sentence.said) and "?" not in sentence.said:
                return f"fh:{one.id}", f"{clock(one.time)}: decided against {program}: {_short(sentence.text)}"
    return None


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


def _words(action: str) -> tuple[str, ...]:
    """Give the words of a command without flags, and without where its output goes."""
    return tuple(word for word in _PIPED.sub("", action).split() if not word.startswith("-"))


def _is_alike(mine: tuple[str, ...], other: tuple[str, ...]) -> bool:
    if not mine or not other or mine[0] != other[0]:
        return False
    both = set(mine) & set(other)
    return len(both) >= ALIKE_MIN * len(set(mine) | set(other))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LINE_CHARACTERS_MAX else f"{line[:LINE_CHARACTERS_MAX]} [cut]"
