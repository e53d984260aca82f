"""How far the text index of a namespace reaches, and why it does not follow."""

from __future__ import annotations

import apsw

from firsthand.log.append import BACKLOG_EVENTS
from firsthand.log.read import Reader
from firsthand.value import value

from .passages import ROW_STEP
from .text import NAME, VERSION, size_of, version_of

MISSING = "it is missing, and is made anew as events come, or at once by 'firsthand store rebuild'"


@value
class Reach:
    """How far the text index of a namespace can be trusted.

    Attributes:
        through: every event of the namespace up to this position is in it.
        fault: why it does not follow; empty when what it lacks are only the newest few events.
    """

    through: int
    fault: str


def reach(reader: Reader, namespace: int, head: int) -> Reach:
    """Say how far the index of a namespace reaches. Costs a few look-ups."""
    reached = reader.reached(namespace, NAME)
    if reached.fault or not reached.position:
        missing = head > BACKLOG_EVENTS and not reached.fault and not reached.position
        return Reach(reached.position, reached.fault or (MISSING if missing else ""))
    db = reader.indexed(namespace)
    version = version_of(db, namespace)
    if version != VERSION:
        return Reach(0, f"the text index is of version {version}, not {VERSION}" if version else MISSING)
    try:
        size = size_of(db, namespace)
        newest = db.execute(f"SELECT max(id) FROM text_{namespace}_docsize WHERE id < {ROW_STEP}").get  # noqa: S608
    except (apsw.SQLError, apsw.CorruptError) as error:
        return Reach(0, f"the text index cannot be read ({error})")
    if size.rows and newest is None:
        return Reach(0, "the text index has lost its rows")
    return Reach(min(reached.position, head), "")
