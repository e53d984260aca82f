"""Finds the recalls of a namespace in its log, and what followed each of them.

    a user's message in a session with hooks          implicit recall: what was shown stands in an injection
    a call of recall, with its result                 what the agent asked by itself
    the rest of that turn, the user's next message    what was used of it

The invariant: nothing is taken for work that Firsthand itself put there, and no string
counts that the session held before, or that a tool brought in between.

It judges nothing: that is `consolidate.recalls`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from firsthand import fence, pointer
from firsthand.answer import QUERY_CHARACTERS_MAX, Outcome
from firsthand.consolidate.recalls import Judged, Recalled, Work, are_users_words, judge, strings_of
from firsthand.errors import PointerError
from firsthand.event import INJECTED, REPEATS, Event, Kind, Trust, texts
from firsthand.hosts.hook import HookEvent
from firsthand.lifecycle.implicit import is_trivial
from firsthand.lifecycle.shown import told_of
from firsthand.notes.correction import correction_of
from firsthand.pull import EXPAND, RECALL, is_own
from firsthand.value import value

if TYPE_CHECKING:
    from firsthand.memory import Memory

EVENTS_MAX = 5_000
"""Of one session, its newest."""
WORK_EVENTS_MAX = 200
NEAR_US = 60_000_000
"""A message and what was shown with it are told of within this time, in microseconds."""
SAID_MESSAGES = 5
"""Of the user, newest: a query whose words stand in them is the user's."""
SHOWN_MAX = 10
_compiled = cache(re.compile)
_OUTCOME = rf"(?:{'|'.join(one.value for one in Outcome)}): "


@value
class Followed:
    """A recall and what followed it."""

    judged: Judged
    work: Work


def recalls_of(memory: Memory, session: str) -> list[Followed]:
    """Give the recalls of a session, judged by what followed, in order.

    Raises:
        StoreError: the session cannot be read.
    """
    # Most sessions have no recall in them: to see that costs a fraction of reading them.
    hooked = any(True for _ in memory.events(session, kind=Kind.INJECTION, limit=1))
    calls = memory.events(session, kind=Kind.TOOL_CALL, newest_first=True, limit=EVENTS_MAX)
    if not hooked and not any(_own_tool(one) == RECALL for one in calls):
        return []
    newest = memory.events(session, newest_first=True, limit=EVENTS_MAX)
    events = [one for one in newest if not one.erased][::-1]
    return [*_Session(memory, events, hooked=hooked).recalls()]


def _own_tool(one: Event) -> str:
    """Name the tool of Firsthand's that a call is of; empty for none."""
    tool = one.meta.get("tool")
    if one.kind is not Kind.TOOL_CALL or not is_own(tool):
        return ""
    return EXPAND if str(tool).endswith(EXPAND) else RECALL


class _Session:
    """The events of one session, walked through once."""

    def __init__(self, memory: Memory, events: Sequence[Event], *, hooked: bool) -> None:
        self._memory, self._events, self._hooked = memory, events, hooked
        self._key = memory._log.reader.fence_key()  # noqa: SLF001 - Memory and what acts on it are one room
        self._own_calls = {str(one.meta.get("call_id")) for one in events if _own_tool(one)} - {"None"}
        self._shown = self._injections()

    def recalls(self) -> Iterator[Followed]:
        before: set[str] = set()
        said: list[str] = []
        for at, one in enumerate(self._events):
            if _by_user(one):
                said.append(self._own(one))
                before |= strings_of(said[-1])
                if self._hooked and not is_trivial(one.text):
                    yield self._unasked(at, one, before)
            elif _own_tool(one) == RECALL:
                yield from self._asked(at, one, before, " ".join(said[-SAID_MESSAGES:]))
            elif not self._is_ours(one):
                before |= strings_of(self._own(one))

    def _unasked(self, at: int, one: Event, before: set[str]) -> Followed:
        told = told_of(self._shown[at]) if at in self._shown else {}
        shown = tuple(texts(told.get("shown")))
        outcome = str(told.get("outcome", ""))
        recalled = Recalled(
            f"fh:{one.id}", one.position, one.session, one.turn, one.text[:QUERY_CHARACTERS_MAX], True, True, outcome,
            shown, one.time or one.ingested,
        )  # fmt: skip
        return self._followed(recalled, at, before)

    def _asked(self, at: int, one: Event, before: set[str], said: str) -> Iterator[Followed]:
        asked = _query(one)
        if not asked.strip():
            return
        result = self._result(at, str(one.meta.get("call_id")))
        outcome, shown = _answered(result) if result is not None else self._again(one, asked)
        recalled = Recalled(
            f"fh:{one.id}", one.position, one.session, one.turn, asked[:QUERY_CHARACTERS_MAX], False,
            are_users_words(asked, said), outcome, shown, one.time or one.ingested,
        )  # fmt: skip
        yield self._followed(recalled, at, before | strings_of(asked))

    def _again(self, one: Event, asked: str) -> tuple[str, tuple[str, ...]]:
        """Ask as it was asked then, where the log does not hold the answer: a host's transcript has no copy of it."""
        from firsthand.answer import Query, Scope

        scope = Scope(before_position=one.position, without_sessions=(one.session,))
        answer = self._memory.recall(Query(asked[:QUERY_CHARACTERS_MAX], scope, hits_max=SHOWN_MAX))
        return answer.outcome.value, tuple(hit.pointer for hit in answer.hits)

    def _followed(self, recalled: Recalled, at: int, before: set[str]) -> Followed:
        work = self._work(recalled, at, before)
        shown = {name: text for name in recalled.shown[:SHOWN_MAX] if (text := self._text(name)) is not None}
        return Followed(judge(recalled, shown, work), work)

    def _text(self, address: str) -> str | None:
        """Give the text of what was shown; None where it is not to be had any more."""
        try:
            return self._memory.event(address).text
        except PointerError:
            return None

    # what followed -----------------------------------------------------------------------------------

    def _work(self, recalled: Recalled, at: int, before: set[str]) -> Work:
        known, named, wrote, said = set(before), set[str](), set[str](), set[str]()
        corrected = False
        for one in self._events[at + 1 : at + 1 + WORK_EVENTS_MAX]:
            if _by_user(one):
                said |= strings_of(self._own(one)) - known - wrote
                corrected = correction_of(one.text) is not None
                break
            if one.turn != recalled.turn:
                break
            if _own_tool(one) == EXPAND:
                named |= _pointers(one.text)
            if self._is_ours(one):
                continue
            text = self._own(one)
            if one.kind is Kind.AGENT_MESSAGE:
                named |= _pointers(text)
            if one.kind in (Kind.AGENT_MESSAGE, Kind.TOOL_CALL):
                wrote |= strings_of(text) - known
            elif one.kind is Kind.TOOL_RESULT:
                known |= strings_of(text) - wrote
        return Work(frozenset(named), frozenset(wrote), frozenset(said), corrected)

    def _own(self, one: Event) -> str:
        """Give the words of an event without what Firsthand put among them."""
        return fence.unwrap(one.text, self._key).text

    def _is_ours(self, one: Event) -> bool:
        """Say whether Firsthand put an event's words there, or it is a call of recall or its answer."""
        if one.meta.get(INJECTED) is True or one.meta.get(REPEATS) is True or not one.is_searchable:
            return True
        return bool(_own_tool(one)) or (
            one.kind is Kind.TOOL_RESULT and str(one.meta.get("call_id")) in self._own_calls
        )

    def _result(self, at: int, call_id: str) -> Event | None:
        """Find the answer of a call as it was given; None where the log has no copy of it."""
        for one in self._events[at + 1 : at + 1 + WORK_EVENTS_MAX]:
            if one.kind is Kind.TOOL_RESULT and str(one.meta.get("call_id")) == call_id:
                ours = one.meta.get(INJECTED) is True or fence.unwrap(one.text, self._key).only
                return one if ours else None
        return None

    def _injections(self) -> dict[int, Event]:
        """Give what was shown with each message of the user: the nearest in time, else the last one before it."""
        prompts = [at for at, one in enumerate(self._events) if _by_user(one)]
        found: dict[int, Event] = {}
        for place, one in enumerate(self._events):
            if one.kind is not Kind.INJECTION or one.meta.get("event") != HookEvent.PROMPT.value:
                continue
            free = [at for at in prompts if at not in found]
            near = [at for at in free if _apart(self._events[at], one) <= NEAR_US]
            if near:
                found[min(near, key=lambda at: (_apart(self._events[at], one), at > place, abs(at - place)))] = one
            elif any(at < place for at in free):
                found[max(at for at in free if at < place)] = one
        return found


def _apart(message: Event, injection: Event) -> int:
    """Give how far apart two events happened; further than near where a time is not known."""
    if message.time is None or injection.time is None:
        return NEAR_US + 1
    return abs(message.time.microseconds - injection.time.microseconds)


def _by_user(one: Event) -> bool:
    """Say whether the user said it, and not a page in the user's name, a host, or Firsthand."""
    ours = one.meta.get(INJECTED) is True or one.meta.get(REPEATS) is True
    return one.kind is Kind.USER_MESSAGE and one.trust is Trust.TRUSTED and not ours


def _query(one: Event) -> str:
    """Give the query of a call of recall; empty where its arguments hold none."""
    try:
        given: Any = json.loads(one.text)
    except (ValueError, RecursionError):
        return ""
    asked = given.get("query") if isinstance(given, dict) else None
    return asked if isinstance(asked, str) else ""


def _answered(result: Event) -> tuple[str, tuple[str, ...]]:
    """Read outcome and pointers of an answer as `pack.answers` writes it: stored text stands behind a bar there."""
    outcome, shown = "", []
    for line in result.text.splitlines():
        said = _compiled(_OUTCOME).match(line)
        if said is not None and not outcome:
            outcome = said[0].removesuffix(": ")
        elif line.startswith("fh:"):
            shown += [*_pointers(line.split(" ", 1)[0])]
    return outcome, tuple(dict.fromkeys(shown))


def _pointers(text: str) -> set[str]:
    """Give the events that a text names by pointer."""
    return {f"fh:{pointer.parse(one).first}" for one in pointer.find(text)}
