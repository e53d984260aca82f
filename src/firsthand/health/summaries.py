"""Whether what a host's own summary concludes can still be corrected: judged behind a compaction, and kept.

A host that compacts puts a summary of its own in the place of what was said. The log has
both, so the probe (DESIGN 2.7) says whether what the summary concludes rests on something
in it, or at least on the session behind it. ``<store>/health/summaries.jsonl`` has a line
a summary, and no word of it. The invariant: no hook waits for this, since jobs call it; a
summary is judged once while that file is there, and a session is read up to a bound that
the verdict tells.

It does not know what a model made of a summary, and refuses none: it is the host's.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from firsthand.errors import Unresolvable
from firsthand.event import REPEATS, Event, Kind
from firsthand.health.finding import Finding, Severity, Stage
from firsthand.lifecycle import small_files
from firsthand.value import asdict, value

if TYPE_CHECKING:
    from firsthand.memory import Memory

NEWEST_MAX = 4
"""Summaries of a session that are looked at by one job; it comes again with what comes."""
EVENTS_MAX, CHARACTERS_MAX = 4_000, 100_000
"""Of the session before a summary that are read, the newest; the second in bytes. The probe takes seconds at most."""
SUMMARY_CHARACTERS_MAX = 40_000
KEPT_BYTES_MAX = 1 << 18
COUNTED_MAX = 200
"""Summaries that `findings` counts, the newest."""
SILENT = "uncorrectable_silent"
_SAID = frozenset({Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT, Kind.DOCUMENT})


@value
class Judged:
    """What the probe says of one summary.

    Attributes:
        alone: a regime of the probe, by the summary's own text.
        behind: the same, by what was said before it in its session too.
        whole: all of that was read; else the newest part of it, or the beginning of the summary.
    """

    pointer: str
    session: str
    namespace: str
    alone: str
    behind: str
    whole: bool


def judge(memory: Memory, session: str) -> tuple[Judged, ...]:
    """Judge the newest summaries of a session that were not judged before, and keep what came of it.

    Raises:
        StoreError: the log cannot be read, or the file not be written.
    """
    newest = memory.events(session, kind=Kind.SUMMARY, newest_first=True, limit=NEWEST_MAX)
    found = [one for one in newest if not one.erased and REPEATS not in one.meta]
    known = {one.pointer for one in kept(memory.path)} if found else set()
    made = tuple(_judged(memory, one) for one in reversed(found) if f"fh:{one.id}" not in known)
    path = _file(memory.path)
    for one in made:
        small_files.add_line(
            path, json.dumps(asdict(one)).encode(), bytes_max=KEPT_BYTES_MAX, over=lambda: _shorten(path)
        )
    return made


def kept(store: Path) -> tuple[Judged, ...]:
    """Give the verdicts that are kept, oldest first; a line that a crash tore is passed over.

    Raises:
        StoreError: the file cannot be read.
    """
    found = []
    for line in (small_files.read(_file(store)) or b"").splitlines():
        try:
            found.append(Judged(**json.loads(line)))
        except (ValueError, TypeError, RecursionError):  # torn, or of another version: that summary is judged again
            continue
    return tuple(found)


def figure(memory: Memory) -> str:
    """Count the summaries by what they hold themselves; empty when none was judged.

    Raises:
        StoreError: what is kept, or the log, cannot be read.
    """
    counted = Counter(one.alone for one in _standing(memory))
    return ", ".join(f"{number} {regime}" for regime, number in sorted(counted.items()))


def findings(memory: Memory) -> list[Finding]:
    """Say which summaries conclude what they do not hold; a note, since the log has what they left out.

    Raises:
        StoreError: what is kept, or the log, cannot be read.
    """
    judged = _standing(memory)
    silent = [one for one in judged if one.alone == SILENT]
    if not silent:
        return []
    newest = silent[-1]
    lost = sum(one.behind == SILENT and one.whole for one in silent)
    what = (
        f"{len(silent):,} of {len(judged):,} summaries by hosts conclude what nothing in them bears out, the newest "
        f"{newest.pointer} in {newest.session}"
    )
    what += f"; of {lost:,} the session before them does not bear it out either" if lost else ""
    return [Finding(Stage.EPISODES, Severity.NOTE, what, "the session is in the log: firsthand recall, firsthand show")]


def _standing(memory: Memory) -> list[Judged]:
    """Give what is kept of this namespace and is still there: not erased, and in this log."""
    found = []
    own = {one.pointer: one for one in kept(memory.path) if one.namespace == memory.namespace}
    for one in [*own.values()][-COUNTED_MAX:]:  # two jobs may have judged one summary at the same time
        try:
            summary = memory.event(one.pointer)
        except Unresolvable:  # a copy of the folder beside another log
            continue
        if not summary.erased:
            found.append(one)
    return found


def _judged(memory: Memory, summary: Event) -> Judged:
    from firsthand.notes.probe import probe_alone  # noqa: PLC0415 - doctor counts without it
    from firsthand.noting import messages_of  # noqa: PLC0415 - the same

    before = list(memory.events(summary.session, before=summary.position, newest_first=True, limit=EVENTS_MAX))
    said: list[Event] = []
    left = CHARACTERS_MAX
    for one in (one for one in before if one.kind in _SAID):
        left -= one.size_bytes
        if left < 0:
            break
        said.append(one)
    whole = left >= 0 and len(before) < EVENTS_MAX and len(summary.text) <= SUMMARY_CHARACTERS_MAX
    text = summary.text[:SUMMARY_CHARACTERS_MAX]
    behind = probe_alone(text, messages_of(memory, said, turns=False)).regime
    alone = probe_alone(text).regime
    return Judged(f"fh:{summary.id}", summary.session, memory.namespace, alone, behind, whole)


def _file(store: Path) -> Path:
    return store / "health" / "summaries.jsonl"


def _shorten(path: Path) -> None:
    from firsthand.health.status import halve  # noqa: PLC0415 - seldom

    halve(path)
