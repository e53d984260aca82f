"""How far the text index of a namespace reaches, and why it does not follow."""

from __future__ import annotations

import apsw

from firsthand.log.sqlite.append import BACKLOG_EVENTS
from firsthand.log.sqlite.read import Reader
from firsthand.value import value

from .text import NAME, VERSION, erased_in, state_of

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
    state = state_of(db, namespace)
    if state is None:
        return Reach(0, MISSING)
    if state.version != VERSION:
        return Reach(0, f"the text index is of version {state.version}, not {VERSION}")
    try:
        newest = db.execute(f"SELECT max(id) FROM text_{namespace}_docsize").get  # noqa: S608 - a number
        lost = newest is None and state.rows and not erased_in(db, namespace, state.position)
    except (apsw.SQLError, apsw.CorruptError) as error:
        return Reach(0, f"the text index cannot be read ({error})")
    if lost:
        return Reach(0, "the text index has lost its rows")
    return Reach(min(reached.position, head), "")
