"""Reads the tuned values in force for each recall: from what is kept of them, or from the decisions in the log.

The invariant: what is in force is what the log's decisions say, never what was kept of
them at an earlier time: what is kept counts only while no decision came behind it, and
an erasure drops it. A store without a decision pays one look-up.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from firsthand.errors import StoreDamaged
from firsthand.event import Event, Kind, Trust, texts
from firsthand.index import learned
from firsthand.value import replace

if TYPE_CHECKING:
    import apsw

    from firsthand.log.log import Log
    from firsthand.log.read import Reader

    from .tuning import Tuned, TuningDecision

SESSION = "tuning"
"""The session of the decisions."""
MEDIA = "application/vnd.firsthand.tuning+json"
NAME = "tuning"
VERSION = 1
SOURCES = "sources"
"""The fact in a decision's meta that names what it rests on; with any of these it is erased."""
_LAST = "SELECT last_position FROM session WHERE namespace = ? AND name = ?"


def in_force(reader: Reader, namespace: str) -> Tuned | None:
    """Give the values in force in a namespace; None where nothing was ever decided, which most recalls see."""
    key = reader.namespace_key(namespace)
    last = reader.db.execute(_LAST, (key, SESSION)).get if key else None
    if last is None:
        return None
    kept = _kept(reader, key, last)
    return read_from_log(reader, namespace) if kept is None else kept


def tuned_of(reader: Reader, namespace: str) -> Tuned:
    """Give the values in force in a namespace; the defaults where nothing was decided."""
    from .tuning import UNTUNED  # noqa: PLC0415 - a recall where nothing was decided does not need it

    return in_force(reader, namespace) or UNTUNED


def _kept(reader: Reader, key: int, last: int) -> Tuned | None:
    """Give what is kept, if no decision came behind it; None where it cannot be used: then the log says it."""
    from .tuning import tuned_from_json  # noqa: PLC0415 - as above

    try:
        lesson = learned.read(reader.db, key, NAME)
        if lesson is None or lesson.position != last or lesson.version != str(VERSION):
            return None
        return tuned_from_json(lesson.json)
    except StoreDamaged:
        return None


def read_from_log(reader: Reader, namespace: str) -> Tuned:
    """Give the values in force by the decisions themselves; a damaged one is passed over, and told."""
    from .tuning import fold  # noqa: PLC0415 - as above

    damaged: list[int] = []
    events = reader.events(
        namespace, session=SESSION, kind=Kind.TUNING, newest_first=True, damaged=lambda at, _: damaged.append(at)
    )
    found = fold(decisions_of(events))
    if not damaged:
        return found
    return replace(found, note=f"decisions at {len(damaged):,} positions cannot be read: run 'firsthand verify'")


def keep_tuned(log: Log, namespace: str) -> None:
    """Keep the values in force, so that a recall reads them in one look-up.

    Raises:
        StoreBusy: another writer held the store for too long.
    """
    reader = log.reader
    key = reader.namespace_key(namespace)
    last = reader.db.execute(_LAST, (key, SESSION)).get if key else None
    if last is None or _kept(reader, key, last) is not None:
        return

    def write(db: apsw.Connection) -> None:
        # Nobody writes or erases meanwhile: what is read here is what is in force when it is kept.
        found = read_from_log(reader, namespace)
        with db:
            if not found.note:
                last = int(db.execute(_LAST, (key, SESSION)).get)
                learned.write(db, key, NAME, learned.Lesson(last, str(VERSION), found.to_json()))

    log.exclusively(write)


def decisions_of(events: Iterator[Event]) -> Iterator[TuningDecision]:
    """Read decisions; what was erased, or is another program's, is passed over."""
    return filter(None, map(from_event, events))


def from_event(event: Event) -> TuningDecision | None:
    """Read a decision; None for what was erased, is another program's, or is out of bounds."""
    from .tuning import TuningDecision, stands_in_bounds  # noqa: PLC0415 - as above

    if event.erased or event.kind is not Kind.TUNING or event.media != MEDIA or event.trust is not Trust.TRUSTED:
        return None  # what a tool or an import brought decides nothing
    try:
        told = json.loads(event.text)
        name, reason, by, basis, undoes = (told[key] for key in ("name", "reason", "by", "basis", "undoes"))
        if told["tuning"] != VERSION or not all(isinstance(one, str) for one in (name, reason, by, basis, undoes)):
            return None
        figures = told["figures"] if isinstance(told["figures"], dict) else {}
        sources = tuple(texts(event.meta.get(SOURCES)))
        one = TuningDecision(
            event.id, name, float(told["before"]), float(told["after"]), reason, by, basis, undoes, figures, sources,
            event.position, event.time,
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, RecursionError):
        return None  # `firsthand append --kind tuning` takes any text
    return one if stands_in_bounds(one) else None


def to_json(one: TuningDecision) -> str:
    """Write a decision as the content of its event."""
    told = {
        "tuning": VERSION, "name": one.name, "before": one.before, "after": one.after, "reason": one.reason,
        "by": one.by, "basis": one.basis, "undoes": one.undoes, "figures": dict(one.figures),
    }  # fmt: skip
    return json.dumps(told, ensure_ascii=False)
