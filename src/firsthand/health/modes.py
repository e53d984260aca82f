"""Names the mode in which a memory failed an agent, by the taxonomy of recall-problem 7.

Given what the agent should have used (an event) and where it did not (a session, up to a
position), each mode has a sign that stands in the log:

| mode | sign |
|---|---|
| pipeline failure | the event does not come back, has no row in the index, or recall was degraded when it mattered |
| temporal aliasing | a look-alike or an older version of it was shown or recalled instead |
| query formulation | the agent asked, and its words do not find the event, whose own words do |
| positional decay | the event was shown in this window, `DECAYED_PROMPTS` or more messages before |
| recognition failure | nothing was shown or asked, or what came was not used: memory was not seen to matter |

They are looked for in this order: the paper notes that they overlap, and a mode further up
explains those below it. The invariant: a mode is named only by its sign, never by elimination,
but for the last one, whose sign is that there is none. The paper's protocol violation (7.4) is
not told from it: no rule here reads whether a prompt asked the agent to search its memory.
"""

from __future__ import annotations

import json
import re
from enum import StrEnum

from firsthand.agent_space import AgentSpace
from firsthand.agents.episode_names import aliases
from firsthand.agents.injections import fields_of
from firsthand.answer import Query, Scope
from firsthand.errors import PointerError, StoreDamaged
from firsthand.event import Event, Kind, texts
from firsthand.index.check import lacking
from firsthand.recall.page import is_spoken
from firsthand.recall.search import recall
from firsthand.value import field, value

DECAYED_PROMPTS = 10
"""Messages of the user after which what was shown counts as far behind (the paper's case was at the fifteenth)."""
EVENTS_MAX = 2_000
"""Of the session, the newest ones before the failure."""
HITS_MAX, QUERIES_MAX = 10, 8
_TOP = 3
_OWN_WORDS = 300
_RECALL = re.compile(r"(?:\A|[_./:])recall\Z")
_REBUILD = "firsthand doctor, then firsthand store rebuild"


class Mode(StrEnum):
    """The modes of recall-problem 7.1 to 7.6 that leave a sign in the log."""

    RECOGNITION = "recognition failure"
    PIPELINE = "pipeline failure"
    DECAY = "positional decay"
    QUERY = "query formulation failure"
    ALIASING = "temporal aliasing"


@value
class Failure:
    """A mode, the sign by which it was named, and what helps against it."""

    mode: Mode
    sign: str
    mend: str


@value(frozen=False)
class _Session:
    """What a session's log says of the time before the failure."""

    prompts: int = 0
    shown: dict[str, int] = field(default_factory=dict)  # pointer: how many prompts before the failure
    degraded: str = ""
    asked: list[str] = field(default_factory=list)
    recalled: list[list[str]] = field(default_factory=list)  # what each query finds, of what was said


def name_failure(agent: AgentSpace, session: str, target: str, *, before: int | None = None) -> Failure:
    """Name the mode in which an agent failed to use an event of its memory.

    Args:
        session: where it failed.
        target: pointer of the event that it should have used.
        before: the position at which it failed; None is the session's end.

    Raises:
        StoreError: the session cannot be read.
    """
    try:
        wanted = agent.space.event(target)
        agent.space.expand(target)
    except (PointerError, StoreDamaged) as error:
        return Failure(Mode.PIPELINE, f"{target} does not come back: {error}", "firsthand store verify")
    seen = _look(agent, session, before)
    return (
        _pipeline(agent, wanted, seen)
        or _aliasing(agent, wanted, seen)
        or _query(agent, wanted, seen)
        or _unused(wanted, seen)
    )


def _look(agent: AgentSpace, session: str, before: int | None) -> _Session:
    """Read a session backwards: prompts, what was shown, what was asked, what it was told of its memory."""
    seen = _Session()
    for event in agent.space.events(session, before=before, newest_first=True, limit=EVENTS_MAX):
        if event.erased:
            continue
        if event.kind is Kind.INJECTION:
            fields = fields_of(event)
            for pointer in (*texts(fields.get("shown")), *texts(fields.get("preamble"))):
                seen.shown.setdefault(pointer, seen.prompts)
            seen.degraded = seen.degraded or (event.pointer if fields.get("outcome") == "degraded" else "")
        elif event.kind is Kind.USER_MESSAGE:
            seen.prompts += 1
        elif event.kind is Kind.TOOL_CALL and _RECALL.search(str(event.meta.get("tool", ""))):
            seen.asked += [_asked(event)] if len(seen.asked) < QUERIES_MAX else []
    for query in seen.asked:
        hits = recall(agent.space, Query(query or " ", agent.scope(), hits_max=HITS_MAX)).hits
        seen.recalled.append([hit.pointer for hit in hits if is_spoken(hit.parts)])
    return seen


def _asked(event: Event) -> str:
    """Give the query of a call of recall; its arguments as text where they are of another shape."""
    try:
        fields = json.loads(event.text)
    except ValueError:
        return event.text
    return str(fields.get("query", fields)) if isinstance(fields, dict) else str(fields)


def _pipeline(agent: AgentSpace, wanted: Event, seen: _Session) -> Failure | None:
    """See whether the event could have been found at all; None if so."""
    for name, (position, fault) in agent.space.log.reader.index_faults(agent.space.namespace).items():
        if wanted.position > position:
            what = f"the {name} index stopped at position {position:,}, before {wanted.pointer}: {fault}"
            return Failure(Mode.PIPELINE, what, _REBUILD)
    if lacking(agent.space.log.reader, agent.space.namespace, [wanted.position]):
        what = f"{wanted.pointer} is in the log and has no row in the text index"
        return Failure(Mode.PIPELINE, what, _REBUILD)
    if seen.degraded and wanted.pointer not in seen.shown:
        return Failure(Mode.PIPELINE, f"recall was degraded when it was asked unasked ({seen.degraded})", _REBUILD)
    return None


def _aliasing(agent: AgentSpace, wanted: Event, seen: _Session) -> Failure | None:
    """See whether a look-alike was shown or recalled in its place; None if not."""
    if wanted.pointer in seen.shown:
        return None
    tops = [pointers[:_TOP] for pointers in seen.recalled if wanted.pointer not in pointers[:_TOP]]
    for pointer in [*seen.shown, *(pointer for top in tops for pointer in top)]:
        try:
            other = agent.space.event(pointer)
        except PointerError:
            continue  # of another namespace, or erased since
        if other.id != wanted.id and (how := _alike(wanted, other)):
            what = f"{pointer} came instead of {wanted.pointer}: {how}"
            return Failure(Mode.ALIASING, what, "give sessions names that tell them apart: firsthand agent episodes")
    return None


def _alike(event: Event, other: Event) -> str:
    """Say in what two events are versions or look-alikes of each other; empty when they are not."""
    for key in ("file", "name"):
        name, named = event.meta.get(key), other.meta.get(key)
        if isinstance(name, str) and name == named:
            return f"another version of {name}"
    if isinstance(name, str) and isinstance(named, str) and aliases([name, named]):
        return f"the names {named} and {name} are alike"
    return ""


def _query(agent: AgentSpace, wanted: Event, seen: _Session) -> Failure | None:
    """See whether the agent asked in words that do not find the event; None if it did not ask, or they do."""
    if not seen.asked or any(wanted.pointer in pointers for pointers in seen.recalled):
        return None
    here = Scope(after_position=wanted.position - 1, before_position=wanted.position + 1)
    own = recall(agent.space, Query(wanted.text[:_OWN_WORDS], here, hits_max=1))
    if not own.hits:
        return Failure(Mode.PIPELINE, f"not even its own words find {wanted.pointer} ({own.outcome})", _REBUILD)
    what = f"{seen.asked[0]!r:.120} does not find {wanted.pointer}, whose own words do"
    mend = "note the rule with the situations it is for: firsthand note add --rule --situation TEXT"
    return Failure(Mode.QUERY, what, mend)


def _unused(wanted: Event, seen: _Session) -> Failure:
    """Tell what stands far behind in the window, what came and was not used, and what nobody saw."""
    ago = seen.shown.get(wanted.pointer, 0)
    if ago >= DECAYED_PROMPTS:
        what = f"{wanted.pointer} was shown {ago} messages before, and not again"
        return Failure(Mode.DECAY, what, "switch cues and recall on: they come with each message")
    if seen.asked:
        what = f"it asked {seen.asked[0]!r:.120}, which finds it, and did not use what came"
        return Failure(Mode.RECOGNITION, what, "look at how the answer reached it: firsthand recall --fenced")
    what = f"nothing about it was shown or asked for in {seen.prompts} messages"
    return Failure(Mode.RECOGNITION, what, "switch cues and recall on: firsthand agent switch recall on")
