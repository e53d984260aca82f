"""Names the mode in which a memory failed an agent, by the taxonomy of recall-problem 7.

Given what the agent should have used (an event) and where it did not (a session, up to a
position), each mode has a sign that stands in the log:

| mode | sign |
|---|---|
| pipeline failure | the event does not come back, has no row in the index, or recall was degraded when it mattered |
| temporal aliasing | a look-alike or an older version of it was shown or recalled instead |
| query formulation | the agent asked, and its words do not find the event, whose own words do |
| positional decay | the event was shown in this window, `DECAYED_PROMPTS` or more messages before |
| protocol violation | the agent was told to consult its memory, had the means, and did not |
| recognition failure | nothing was shown or asked, or what came was not used: memory was not seen to matter |

They are looked for in this order: the paper notes that they overlap, and a mode further up
explains those below it. The invariant: a mode is named only by its sign, never by elimination,
but for the last one, whose sign is that there is none.
"""

from __future__ import annotations

import json
import re
from enum import StrEnum
from itertools import islice

from firsthand.agent_space import AgentSpace
from firsthand.agents.episode_names import aliases
from firsthand.agents.injections import fields_of
from firsthand.answer import Answer, Query, Scope
from firsthand.errors import PointerError, StoreDamaged
from firsthand.event import Event, Kind, texts
from firsthand.health import rows
from firsthand.recall.page import is_spoken
from firsthand.recall.search import recall
from firsthand.value import field, value

DECAYED_PROMPTS = 10
"""Messages of the user after which what was shown counts as far behind (the paper's case was at the fifteenth)."""
EVENTS_MAX = 2_000
"""Of the session, the newest ones before the failure."""
HITS_MAX = 10
QUERIES_MAX = 8
_TOP = 3
_OWN_WORDS = 300
_RECALL = re.compile(r"(?:\A|[_./:])recall\Z")
_CONSULT = re.compile(
    r"\b(?:search|check|consult|query|recall|look (?:in|into|through|at))\b[^.\n]{0,60}\bmemor(?:y|ies)\b",
    re.IGNORECASE,
)


class Mode(StrEnum):
    """The six modes of recall-problem 7.1 to 7.6."""

    RECOGNITION = "recognition failure"
    PIPELINE = "pipeline failure"
    DECAY = "positional decay"
    PROTOCOL = "protocol violation"
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
    told: str = ""  # the words that told the agent to consult its memory


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
        or _decay(wanted, seen)
        or _not_asked(seen)
    )


def _look(agent: AgentSpace, session: str, before: int | None) -> _Session:
    """Read a session backwards: prompts, what was shown, what was asked, what it was told of its memory."""
    seen = _Session()
    newest = agent.space.events(session, before=before, newest_first=True)
    for event in islice(newest, EVENTS_MAX):
        if event.erased:
            continue
        if event.kind is Kind.INJECTION:
            _injected(event, seen)
        elif event.kind is Kind.USER_MESSAGE:
            seen.prompts += 1
        elif event.kind is Kind.TOOL_CALL and _RECALL.search(str(event.meta.get("tool", ""))):
            seen.asked += [_asked(event)] if len(seen.asked) < QUERIES_MAX else []
        elif event.kind in (Kind.SYSTEM, Kind.PERSONA) and not seen.told:
            match = _CONSULT.search(event.text)
            seen.told = match.group() if match else ""
    return seen


def _injected(event: Event, seen: _Session) -> None:
    fields = fields_of(event)
    for pointer in (*texts(fields.get("shown")), *texts(fields.get("preamble"))):
        seen.shown.setdefault(pointer, seen.prompts)
    if fields.get("outcome") == "degraded" and not seen.degraded:
        seen.degraded = f"fh:{event.id}"


def _asked(event: Event) -> str:
    """Give the query of a call of recall; its arguments as text where they are of another shape."""
    try:
        fields = json.loads(event.text)
    except ValueError:
        return event.text
    return str(fields.get("query", fields)) if isinstance(fields, dict) else str(fields)


def _pipeline(agent: AgentSpace, wanted: Event, seen: _Session) -> Failure | None:
    """See whether the event could have been found at all; None if so."""
    reader = agent.space.log.reader
    mend = "firsthand doctor, then firsthand store rebuild"
    for name, (position, fault) in reader.index_faults(agent.space.namespace).items():
        if wanted.position > position:
            what = f"the {name} index stopped at position {position:,}, before fh:{wanted.id}: {fault}"
            return Failure(Mode.PIPELINE, what, mend)
    if rows.lacking(agent.space, [wanted.position]):
        return Failure(Mode.PIPELINE, f"fh:{wanted.id} is in the log and has no row in the text index", mend)
    if seen.degraded and f"fh:{wanted.id}" not in seen.shown:
        return Failure(Mode.PIPELINE, f"recall was degraded when it was asked unasked ({seen.degraded})", mend)
    return None


def _aliasing(agent: AgentSpace, wanted: Event, seen: _Session) -> Failure | None:
    """See whether a look-alike was shown or recalled in its place; None if not."""
    if f"fh:{wanted.id}" in seen.shown:
        return None
    instead = list(seen.shown)
    for query in seen.asked:
        hits = [hit.pointer for hit in _recalled(agent, query).hits if is_spoken(hit.parts)][:_TOP]
        instead += [] if f"fh:{wanted.id}" in hits else hits
    for pointer in instead:
        try:
            other = agent.space.event(pointer)
        except PointerError:
            continue  # of another namespace, or erased since
        if other.id != wanted.id and (how := _alike(wanted, other)):
            what = f"{pointer} came instead of fh:{wanted.id}: {how}"
            return Failure(Mode.ALIASING, what, "give sessions names that tell them apart: firsthand agent episodes")
    return None


def _alike(event: Event, other: Event) -> str:
    """Say in what two events are versions or look-alikes of each other; empty when they are not."""
    file, name, named = event.meta.get("file"), event.meta.get("name"), other.meta.get("name")
    if isinstance(file, str) and file == other.meta.get("file"):
        return f"another version of {file}"
    if isinstance(name, str) and isinstance(named, str):
        if name == named:
            return f"another version of {name}"
        return f"the names {named} and {name} are alike" if aliases([name, named]) else ""
    return ""


def _query(agent: AgentSpace, wanted: Event, seen: _Session) -> Failure | None:
    """See whether the agent asked in words that do not find the event; None if it did not ask, or they do."""
    pointer = f"fh:{wanted.id}"
    for query in seen.asked:
        if any(hit.pointer == pointer and is_spoken(hit.parts) for hit in _recalled(agent, query).hits):
            return None
    if not seen.asked:
        return None
    here = Scope(after_position=wanted.position - 1, before_position=wanted.position + 1)
    own = recall(agent.space, Query(wanted.text[:_OWN_WORDS], here, hits_max=1))
    if not own.hits:
        what = f"not even its own words find {pointer} ({own.outcome})"
        return Failure(Mode.PIPELINE, what, "firsthand doctor, then firsthand store rebuild")
    what = f"{seen.asked[0]!r:.120} does not find {pointer}, whose own words do"
    mend = "note the rule with the situations it is for: firsthand note add --rule --situation TEXT"
    return Failure(Mode.QUERY, what, mend)


def _decay(wanted: Event, seen: _Session) -> Failure | None:
    """See whether the event stands far behind in the window; None if not."""
    ago = seen.shown.get(f"fh:{wanted.id}")
    if ago is None or ago < DECAYED_PROMPTS:
        return None
    what = f"fh:{wanted.id} was shown {ago} messages before, and not again"
    return Failure(Mode.DECAY, what, "switch cues and recall on: they come with each message")


def _not_asked(seen: _Session) -> Failure:
    """Tell one that broke its rule from one that saw no need, or did not use what it was given."""
    if seen.asked:
        what = f"it asked {seen.asked[0]!r:.120}, which finds it, and did not use what came"
        return Failure(Mode.RECOGNITION, what, "look at how the answer reached it: firsthand recall --fenced")
    if seen.told:
        what = f"it was told {seen.told!r:.120}, and recalled nothing in {seen.prompts} messages"
        return Failure(Mode.PROTOCOL, what, "a rule that asks for remembering cannot be relied on: switch recall on")
    what = f"nothing about it was shown or asked for in {seen.prompts} messages"
    return Failure(Mode.RECOGNITION, what, "switch cues and recall on: firsthand agent switch recall on")


def _recalled(agent: AgentSpace, query: str) -> Answer:
    return recall(agent.space, Query(query or " ", agent.scope(), hits_max=HITS_MAX))
