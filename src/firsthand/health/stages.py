"""Looks at the stages inside a store: room and clock, log, index, vectors, recall.

Each function takes an opened memory and gives findings, none when all is well. The
invariant: each costs a few look-ups and at most some hundred events, so that a store
of a million is looked at in a second; what was not looked at is not called healthy
(`deep` verifies the whole log).
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from firsthand.answer import Outcome, Query, Scope
from firsthand.errors import StoreDamaged
from firsthand.event import Event, Kind
from firsthand.health import rows
from firsthand.health.proof import verify
from firsthand.health.report import Finding, Severity, Stage
from firsthand.index.reach import reach
from firsthand.index.text import NAME
from firsthand.log.mend import FOLDER
from firsthand.moment import Moment
from firsthand.recall.search import recall
from firsthand.space import Space

NEWEST_EVENTS = 500
"""Read again with their hashes in each look."""
DISK_BROKEN_BYTES, DISK_LOW_BYTES = 16 << 20, 256 << 20
WAL_LARGE_BYTES = 512 << 20
CLOCK_SLACK_S = 300
TIME_AHEAD_S = 2 * 86_400
VECTORS_BEHIND_MAX = 256
"""The same as recall takes for a stage that is behind."""
PROBLEMS_NAMED_MAX = 5
_QUERY_CHARACTERS = 300
_REBUILD = "firsthand store rebuild"
_MISSING = "the next write brings back what can be read and records the rest; or firsthand store accept-head"
VERIFY = "firsthand store verify"
_MISSING = "the next write brings back what can be read and records the rest; or firsthand store accept-head"
_WORD = re.compile(r"\w{4,}")
_KINDS = (Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.TOOL_RESULT, Kind.DOCUMENT, Kind.NOTE, Kind.EPISODE)


def of_room(root: Path, free_bytes: int | None = None) -> list[Finding]:
    """Look at the disk below a store.

    Args:
        free_bytes: left on it; None asks the system.
    """
    free = shutil.disk_usage(root).free if free_bytes is None else free_bytes
    wal = root / "firsthand.db-wal"
    findings = []
    if free < DISK_LOW_BYTES:
        severity = Severity.BROKEN if free < DISK_BROKEN_BYTES else Severity.DEGRADED
        findings.append(
            Finding(Stage.STORE, severity, f"{free >> 20:,} MB are left on the disk of {root}", "free some space")
        )
    if wal.exists() and wal.stat().st_size > WAL_LARGE_BYTES:
        what = f"{wal.stat().st_size >> 20:,} MB wait to be moved into the database: a reader has it open for long"
        findings.append(Finding(Stage.STORE, Severity.NOTE, what, "end processes that were left over"))
    return findings


def of_clock(space: Space, now: Moment) -> list[Finding]:
    """Look whether the clock runs behind what the log has, or events are told from the future."""
    seen = rows.clocks(space, NEWEST_EVENTS)
    findings = []
    if seen.ingested is not None and seen.ingested > now.microseconds + CLOCK_SLACK_S * 1_000_000:
        what = f"the clock says {now}, but the last event was taken in at {Moment(seen.ingested)}"
        findings.append(Finding(Stage.STORE, Severity.DEGRADED, what, "set the clock; order in the log is not touched"))
    if seen.happened is not None and seen.happened > now.microseconds + TIME_AHEAD_S * 1_000_000:
        what = f"an event says that it happened at {Moment(seen.happened)}, which is in the future"
        mend = "look at the clock of the machine that wrote it; recall with --until leaves it out"
        findings.append(Finding(Stage.STORE, Severity.NOTE, what, mend))
    return findings


def of_log(space: Space) -> list[Finding]:
    """Read the newest events again, with their hashes."""
    damaged: list[str] = []
    reader = space.log.reader
    newest = reader.events(
        space.namespace, newest_first=True, limit=NEWEST_EVENTS, damaged=lambda _, error: damaged.append(str(error))
    )
    try:
        for _ in newest:
            pass
    except StoreDamaged as error:
        damaged.append(str(error))
    if not damaged:
        return []
    what = f"{len(damaged):,} of the newest {NEWEST_EVENTS:,} events are not what was written: {damaged[0]}"
    return [Finding(Stage.LOG, Severity.BROKEN, what, VERIFY)]


def of_marks(space: Space) -> list[Finding]:
    """Compare the log with what it acknowledged last, and note what it has recorded as lost."""
    log = space.log
    compared = log.compared()
    findings = [Finding(Stage.LOG, Severity.BROKEN, str(lack), _MISSING) for lack in compared.lacks]
    findings += [Finding(Stage.LOG, Severity.BROKEN, compared.rot, _MISSING)] if compared.rot else []
    findings += [Finding(Stage.LOG, Severity.NOTE, note, VERIFY) for note in compared.notes]
    folder = space.path / FOLDER
    if folder.is_dir():
        what = f"damaged files of the store were set aside in {folder}"
        mend = "firsthand store verify names what was lost; then remove the folder"
        findings.append(Finding(Stage.LOG, Severity.NOTE, what, mend))
    return findings


def of_whole_log(space: Space) -> list[Finding]:
    """Verify everything: every hash, every chain, every artifact, the indexes against the log."""
    verified = verify(space.log, space.namespace)
    named = verified.problems[:PROBLEMS_NAMED_MAX]
    return [
        Finding(
            Stage.INDEX if problem.where == "index" else Stage.LOG, Severity.BROKEN, str(problem),
            _REBUILD if problem.where == "index" else VERIFY,
        )
        for problem in named
    ]  # fmt: skip


def of_index(space: Space) -> list[Finding]:
    """Look how far the text index reaches, and whether it has the rows that it should have."""
    reader = space.log.reader
    head, key = reader.head(space.namespace)[0], reader.namespace_key(space.namespace)
    if not head or not key:
        return []
    findings = [
        Finding(Stage.INDEX, Severity.BROKEN, _stopped(name, position, head, fault), _REBUILD)
        for name, (position, fault) in reader.index_faults(space.namespace).items()
    ]
    at = reach(reader, key, head)
    if findings:
        return findings
    if at.fault:
        return [Finding(Stage.INDEX, Severity.BROKEN, _stopped(NAME, at.through, head, at.fault), _REBUILD)]
    asked = [position for position in rows.newest(space, NEWEST_EVENTS) if position <= at.through]
    asked = sorted({*asked, *rows.spread(space, at.through)})
    gone = rows.lacking(space, asked)
    if gone:
        what = f"the text index lacks {len(gone):,} of {len(asked):,} events asked for, the first at {min(gone):,}"
        return [Finding(Stage.INDEX, Severity.BROKEN, f"{what}: it says that it has them", _REBUILD)]
    return []


def _stopped(name: str, position: int, head: int, fault: str) -> str:
    return f"the {name} index stopped at position {position:,} of {head:,}: {fault}"


def of_vectors(space: Space) -> list[Finding]:
    """Look how far vectors reach, and whether they are by the embedder at hand."""
    try:
        spaces = space.vectors()
    except StoreDamaged as error:
        return [Finding(Stage.VECTORS, Severity.BROKEN, str(error), _REBUILD)]
    head = space.log.reader.head(space.namespace)[0]
    current = next((vectors for vectors in spaces if vectors.current), None)
    others = [vectors for vectors in spaces if not vectors.current and vectors.vectors]
    if current is None:
        what = "vectors by {} are kept, but no embedder is named: events are found by their words alone"
        mend = "name it in FIRSTHAND_EMBEDDER"
        return [Finding(Stage.VECTORS, Severity.NOTE, what.format(vectors.embedder), mend) for vectors in others]
    behind = head - current.through
    if behind <= VECTORS_BEHIND_MAX:
        what = "vectors by {} are not used any more: the embedder is now {}"
        mend = "firsthand store follow drops them once all events have new ones"
        return [
            Finding(Stage.VECTORS, Severity.NOTE, what.format(vectors.embedder, current.embedder), mend)
            for vectors in others
        ]
    reach_of = f"vectors by {current.embedder} reach position {current.through:,} of {head:,}"
    if others:
        reach_of = f"the embedder was {others[-1].embedder} and is now {current.embedder}; its {reach_of}"
    return [Finding(Stage.VECTORS, Severity.DEGRADED, reach_of, "firsthand store follow")]


def of_recall(space: Space) -> list[Finding]:
    """Ask for a newest event by its own words, and see whether it comes."""
    event = _to_ask_for(space)
    if event is None:
        return []
    # Between the positions around it there is nothing else: no twin can stand in for it.
    here = Scope(after_position=event.position - 1, before_position=event.position + 1)
    answer = recall(space, Query(event.text[:_QUERY_CHARACTERS], here, hits_max=1))
    if not any(hit.position == event.position for hit in answer.hits):
        why = "; ".join(answer.notes) or answer.outcome
        what = f"event fh:{event.id} is in the log, but its own words do not find it: {why}"
        return [Finding(Stage.RECALL, Severity.BROKEN, what, _REBUILD)]
    if answer.outcome is Outcome.DEGRADED:
        what = f"recall answers, but says: {'; '.join(answer.notes)}"
        return [Finding(Stage.RECALL, Severity.DEGRADED, what, "firsthand store follow")]
    return []


def _to_ask_for(space: Space) -> Event | None:
    """Give the newest event that has words enough to be asked for; None without one."""
    reader = space.log.reader
    try:
        for event in reader.events(space.namespace, newest_first=True, limit=NEWEST_EVENTS, damaged=_pass_over):
            text = event.text[:_QUERY_CHARACTERS]
            if event.kind in _KINDS and event.is_searchable and len(set(_WORD.findall(text))) > 3:
                return event
    except StoreDamaged:  # of the page itself: `of_log` says so
        return None
    return None


def _pass_over(_position: int, _error: StoreDamaged) -> None:
    """Leave a damaged event to `of_log`, which names it."""
