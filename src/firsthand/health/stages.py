"""Checks of the stages inside a store: clock, log, index, vectors, recall, agents' files.

Each takes what is looked at and yields findings, none when all is well. The invariant:
each costs a few look-ups and at most some hundred events, so that a store of a million is
looked at in a tenth of a second; what was not looked at is not called healthy (`deep`
verifies the whole log).
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from firsthand.agent_space import AgentSpace
from firsthand.agents import files, health_line
from firsthand.answer import Outcome, Query, Scope
from firsthand.errors import StoreDamaged
from firsthand.event import Event, Kind
from firsthand.health.report import Finding, Severity, Stage, broken, degraded, note
from firsthand.health.surroundings import Look
from firsthand.index.check import lacking
from firsthand.index.reach import reach
from firsthand.index.text import NAME
from firsthand.index.verification import verify
from firsthand.log.sqlite.mend import FOLDER
from firsthand.moment import Moment
from firsthand.recall.search import recall
from firsthand.space import Space
from firsthand.value import field, value

NEWEST_EVENTS = 200
"""Read again with their hashes in each look, and asked of the index."""
CLOCK_SLACK_S = 300
TIME_AHEAD_S = 2 * 86_400
VECTORS_BEHIND_MAX = 256
"""The same as recall takes for a stage that is behind."""
PROBLEMS_NAMED_MAX = 5
AGENTS_MAX = 20
AGENTS_S = 4.0
"""For all agents' folders or measures, in a look that is not deep."""
EDIT_WAITS_S = 3_600
"""After so long an edit should have been followed: each session's start leaves the job to do it."""
VERIFY, REBUILD = "firsthand store verify", "firsthand store rebuild"
_MISSING = "the next write brings back what can be read and records the rest; or firsthand store accept-head"
_QUERY_CHARACTERS = 300
_WORD = re.compile(r"\w{4,}")
_KINDS = (Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.TOOL_RESULT, Kind.DOCUMENT, Kind.NOTE, Kind.EPISODE)


@value
class Inside:
    """An opened store that is looked at; a check adds what it measured to the figures, by name."""

    space: Space
    now: Moment
    look: Look = Look()
    figures: dict[str, str] = field(default_factory=dict)

    @property
    def head(self) -> int:
        """The last position."""
        return self.space.log.reader.head(self.space.namespace)[0]

    @property
    def names(self) -> list[str]:
        """The agents to look at, those that did something last first."""
        return [self.look.agent] if self.look.agent else _agents(self.space)

    def agents(self) -> Iterator[AgentSpace]:
        """Yield those of them that there is time for."""
        begun = time.monotonic()
        for number, name in enumerate(self.names):
            if not self.look.deep and (number >= AGENTS_MAX or time.monotonic() - begun > AGENTS_S):
                return
            yield AgentSpace(self.space, name)


def clock(seen: Inside) -> Iterator[Finding]:
    """Look whether the clock runs behind what the log has, or events are told from the future."""
    ingested, happened = seen.space.census().clocks(NEWEST_EVENTS)
    now = seen.now.microseconds
    ago = "" if ingested is None else f" ({health_line.age((now - ingested) / 1e6)} ago)"
    seen.figures["events"] = f"{seen.head:,}"
    seen.figures["last event"] = "none" if ingested is None else f"{Moment(ingested)}{ago}"
    if ingested is not None and ingested > now + CLOCK_SLACK_S * 1_000_000:
        what = f"the clock says {seen.now}, but the last event was taken in at {Moment(ingested)}"
        yield degraded(Stage.STORE, what, "set the clock; order in the log is not touched")
    if happened is not None and happened > now + TIME_AHEAD_S * 1_000_000:
        what = f"an event says that it happened at {Moment(happened)}, which is in the future"
        mend = "look at the clock of the machine that wrote it; recall with --until leaves it out"
        yield note(Stage.STORE, what, mend)


def server(seen: Inside) -> Iterator[Finding]:
    """Look at the server that keeps the log, where it is one of PostgreSQL."""
    engine = getattr(seen.space.log, "engine", None)
    for concern in engine.concerns(seen.space.namespace) if engine is not None else ():
        yield Finding(Stage.STORE, Severity(concern.severity), concern.what, concern.remedy)


def log(seen: Inside) -> Iterator[Finding]:
    """Read the newest events again, with their hashes; deep, verify every hash, chain, artifact and index."""
    if seen.look.deep:
        for problem in verify(seen.space.log, seen.space.namespace).problems[:PROBLEMS_NAMED_MAX]:
            of_index = problem.where == "index"
            stage = Stage.INDEX if of_index else Stage.LOG
            yield broken(stage, str(problem), REBUILD if of_index else VERIFY)
        return
    damaged: list[str] = []
    try:
        for _ in seen.space.log.reader.events(
            seen.space.namespace, newest_first=True, limit=NEWEST_EVENTS,
            damaged=lambda _, error: damaged.append(str(error)),
        ):  # fmt: skip
            pass
    except StoreDamaged as error:
        damaged.append(str(error))
    if damaged:
        what = f"{len(damaged):,} of the newest {NEWEST_EVENTS:,} events are not what was written: {damaged[0]}"
        yield broken(Stage.LOG, what, VERIFY)


def marks(seen: Inside) -> Iterator[Finding]:
    """Compare the log with what it acknowledged last, and note what it has recorded as lost."""
    compared = seen.space.log.compared()
    for what in (*map(str, compared.lacks), *([compared.rot] if compared.rot else [])):
        yield broken(Stage.LOG, what, _MISSING)
    for what in compared.notes:
        yield note(Stage.LOG, what, VERIFY)
    folder: Path = seen.space.path / FOLDER
    if folder.is_dir():
        what = f"damaged files of the store were set aside in {folder}"
        yield note(Stage.LOG, what, "firsthand store verify names what was lost; then remove the folder")


def index(seen: Inside) -> Iterator[Finding]:
    """Look how far the text index reaches, and whether it has the rows that it should have."""
    reader, head = seen.space.log.reader, seen.head
    key = reader.namespace_key(seen.space.namespace)
    faults = reader.index_faults(seen.space.namespace) if head and key else {}
    at = reach(reader, key, head) if key else None
    seen.figures["text index"] = f"through {at.through if at is not None else 0:,} of {head:,}"
    if at is not None and at.fault and not faults:
        faults = {NAME: (at.through, at.fault)}
    for name, (position, fault) in faults.items():
        yield broken(Stage.INDEX, f"the {name} index stopped at position {position:,} of {head:,}: {fault}", REBUILD)
    if faults or at is None or not head:
        return
    asked = seen.space.census().spread(at.through, NEWEST_EVENTS)
    gone = lacking(reader, seen.space.namespace, asked)
    if gone:
        what = f"the text index lacks {len(gone):,} of {len(asked):,} events asked for, the first at {min(gone):,}"
        yield broken(Stage.INDEX, f"{what}: it says that it has them", REBUILD)


def vectors(seen: Inside) -> Iterator[Finding]:
    """Look how far vectors reach, and whether they are by the embedder at hand."""
    try:
        spaces = seen.space.vectors()
    except StoreDamaged as error:
        yield broken(Stage.VECTORS, str(error), REBUILD)
        return
    current = next((each for each in spaces if each.current), None)
    others = [each for each in spaces if not each.current and each.vectors]
    for each in spaces:
        seen.figures[f"vectors by {each.embedder}"] = f"through {each.through:,} of {seen.head:,}"
    if current is not None and seen.head - current.through > VECTORS_BEHIND_MAX:
        what = f"vectors by {current.embedder} reach position {current.through:,} of {seen.head:,}"
        if others:
            what = f"the embedder was {others[-1].embedder} and is now {current.embedder}; its {what}"
        yield degraded(Stage.VECTORS, what, "firsthand store follow")
        return
    for each in others:
        if current is None:
            what = f"vectors by {each.embedder} are kept, but no embedder is named: events are found by words alone"
            yield note(Stage.VECTORS, what, "name it in FIRSTHAND_EMBEDDER")
        else:
            what = f"vectors by {each.embedder} are not used any more: the embedder is now {current.embedder}"
            yield note(Stage.VECTORS, what, "firsthand store follow drops them once all events have new ones")


def asked(seen: Inside) -> Iterator[Finding]:
    """Ask for a newest event by its own words, and see whether it comes."""
    event = _to_ask_for(seen.space)
    if event is None:
        return
    # Between the positions around it there is nothing else: no twin can stand in for it.
    here = Scope(after_position=event.position - 1, before_position=event.position + 1)
    answer = recall(seen.space, Query(event.text[:_QUERY_CHARACTERS], here, hits_max=1))
    if not any(hit.position == event.position for hit in answer.hits):
        why = "; ".join(answer.notes) or answer.outcome
        what = f"event fh:{event.id} is in the log, but its own words do not find it: {why}"
        yield broken(Stage.RECALL, what, REBUILD)
    elif answer.outcome is Outcome.DEGRADED:
        yield degraded(Stage.RECALL, f"recall answers, but says: {'; '.join(answer.notes)}", "firsthand store follow")


def _to_ask_for(space: Space) -> Event | None:
    """Give the newest event that has words enough to be asked for; None without one."""
    events = space.log.reader.events(
        space.namespace, newest_first=True, limit=NEWEST_EVENTS, damaged=lambda _position, _error: None
    )
    with suppress(StoreDamaged):  # `log` names it
        for event in events:
            text = event.text[:_QUERY_CHARACTERS]
            if event.kind in _KINDS and event.is_searchable and len(set(_WORD.findall(text))) > 3:
                return event
    return None


def agents_files(seen: Inside) -> Iterator[Finding]:
    """Compare the files that people write with the log: edits that wait, and what cannot be followed."""
    for agent in seen.agents():
        if not agent.folder.is_dir():
            continue
        followed = files.follow(agent, record=False)
        late = [each for each in followed.changes if seen.now.microseconds / 1e6 - each.time_s > EDIT_WAITS_S]
        if late:
            at = Moment(int(late[0].time_s * 1e6))
            what = f"{len(late):,} edits are not in the log, such as {late[0].file}, changed {at}"
            yield degraded(Stage.FILES, what, f"firsthand agent files --agent {agent.name}", agent.name)
        lost = [file for file in followed.left_out if f"{files.SUFFIX} " in file and " is a link" not in file]
        others = [file for file in followed.left_out if file not in lost]
        if lost:
            what = f"{len(lost):,} files cannot be followed into the log: {lost[0]}"
            yield degraded(Stage.FILES, what, "save it as text in UTF-8, or take it away", agent.name)
        if others:
            yield note(Stage.FILES, f"{len(others):,} files are not followed: {others[0]}", agent=agent.name)


def _agents(space: Space) -> list[str]:
    """Name the agents of the namespace, those that did something last first."""
    sessions = sorted(space.sessions(), key=lambda info: -info.last_position)
    return [info.name.removeprefix("agent:") for info in sessions if info.name.startswith("agent:")]
