"""The whole proof of a store, and the proof of an erasure.

A store: the log derived again, then its text index and vectors against the log. The
invariant: what is damaged is reported once, by the log's own check, and hides nothing
about the rest; it cannot be indexed, so the index is compared without it.

An erasure: whole source records go, since what stands around one content may hold words
of the others. Strings drawn from the content beforehand are recalled afterwards and lead to
no erased event, the pointers expand to nothing, and the chain still verifies.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import apsw

from firsthand import environment
from firsthand.answer import Query
from firsthand.errors import Erased, StoreDamaged
from firsthand.event import Event, Kind
from firsthand.index import vector_check
from firsthand.index.check import check, deep_check
from firsthand.index.text import NAME
from firsthand.ledger.ledger_recall import recall
from firsthand.log.results import Problem, Verification
from firsthand.log.rows import POSITION_MAX
from firsthand.log.sqlite.log import Log
from firsthand.log.sqlite.mend import Lack
from firsthand.log.sqlite.read import Reader
from firsthand.space import Space
from firsthand.value import replace, value

DEEP_EVENTS_MAX = 20_000
STRINGS_MAX = 12
_STRING = re.compile(r"[^\s\"'<>(){}\[\],;]{4,80}")
_READ_BYTES = 1 << 20  # of an event, to draw strings from


def accept_head(store: str | Path | None = None) -> tuple[Lack, ...]:
    """Take a store as it is for what it acknowledged, as after a backup was restored on purpose.

    Returns what it lacks of that; those positions are used again. Stores that were at its path before are forgotten.

    Raises:
        NotAStore, StoreReadOnly: there is no store to write to.
    """
    root = Path(store) if store is not None else environment.default_store()
    log = Log(root, create=False, heads=environment.heads_folder(), mend=False)
    try:
        return log.accept_head()
    finally:
        log.close()


def verify(
    log: Log,
    namespace: str,
    *,
    heads: Sequence[str] = (),
    deep: bool | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Verification:
    """Verify a store, and heads of one of its namespaces, whose head alone is given; see `Memory.verify`."""
    verified = log.verify(namespace=namespace, heads=heads, progress=progress)
    problems, notes = [*verified.problems], [*verified.notes]
    deep = verified.events <= DEEP_EVENTS_MAX if deep is None else deep
    if deep and any(problem.where == "database" for problem in problems):
        deep = False
        notes.append("the text index was not derived again, since other things are wrong")
    with log.snapshot() as db:
        of_vectors = vector_check.check(db)
        problems += [Problem("index", fault) for fault in of_vectors]
        namespaces = _namespaces(db)
    left_out = 0
    for key, name in namespaces:
        damaged = {
            problem.position
            for problem in verified.problems
            if problem.where in {"event", "artifact"} and problem.namespace == name
        }
        left_out += len(damaged)
        faults = _check(log.reader, key, damaged, deep=deep, vectors=not of_vectors)
        problems += [Problem("index", f"namespace {name!r}: {fault}") for fault in faults]
    if deep and left_out:
        notes.append(f"the text index was compared with the log without {left_out:,} damaged events")
    own = {name: head for name, head in verified.heads.items() if name == namespace}  # the others are no one's to name
    return replace(verified, problems=tuple(problems), notes=tuple(notes), heads=own)


def _check(reader: Reader, key: int, damaged: Collection[int], *, deep: bool, vectors: bool) -> list[str]:
    """Compare what is derived of one namespace with the log, both as they are at one moment: others may be writing.

    Args:
        deep: also derive it again.
        vectors: also the vectors.
    """
    with reader.at_one_moment(key) as db:
        try:
            reached = reader.reached(key, NAME)
            faults = check(db, key, reached, damaged)
        except (StoreDamaged, apsw.CorruptError) as error:  # of the log's own pages, which it has said already
            return [f"the text index cannot be compared with the log ({error})"]
        if not deep or faults:
            return faults
        through = reached.position
        faults += deep_check(db, key, reader.batches(key, through) if through else (), reader, damaged)
        if vectors:
            faults += vector_check.deep_check(db, key, reader.batches(key, POSITION_MAX), reader, damaged)
        return faults


def _namespaces(db: apsw.Connection) -> list[tuple[int, str]]:
    rows: list[Any] = db.execute("SELECT key, name FROM namespace ORDER BY key").fetchall()
    return [(key, name) for key, name in rows if isinstance(key, int) and isinstance(name, str)]


# an erasure -----------------------------------------------------------------------------------------


@value
class Proof:
    """What was looked for after an erasure.

    Attributes:
        strings: drawn from the content before it went.
        leads: those of them that still led to an erased event; none, if all is well.
        elsewhere: pointers of events that were not erased and hold one of the strings.
        expands: pointers of erased events that still expand; none, if all is well.
        scanned: events that still hold the text asked for.
        calls: files of calls that hooks kept and that still hold the text asked for.
        chain: True when the store verifies.
    """

    strings: int
    leads: tuple[str, ...]
    elsewhere: tuple[str, ...]
    expands: tuple[str, ...]
    scanned: tuple[str, ...]
    calls: tuple[str, ...]
    chain: bool

    @property
    def ok(self) -> bool:
        """True when nothing is left and the chain holds."""
        return not (self.leads or self.expands or self.scanned or self.calls) and self.chain


def whole_records(space: Space, events: Iterable[Event]) -> list[Event]:
    """Give the events of all source records that some events were cut from, those erased before left out."""
    whole: dict[int, Event] = {}
    for event in events:
        if event.position not in whole:
            whole |= {part.position: part for part in _record(space, event)}
    return [event for _, event in sorted(whole.items()) if not event.erased]


def _record(space: Space, event: Event) -> Iterator[Event]:
    yield event
    before = space.events(event.session, before=event.position, newest_first=True, limit=event.part)
    first = event
    for first in before if event.part else ():
        yield first
    part = event.part
    for later in space.events(event.session, after=event.position) if first.envelope or event.part else ():
        if later.part != part + 1:
            return
        part = later.part
        yield later


def drawn(space: Space, events: Sequence[Event]) -> list[str]:
    """Draw strings from the content that is to go: the longest, from all of it."""
    strings: dict[str, None] = {}
    for event in events:
        data = bytearray()
        for piece in space.stream(event.pointer):
            data += piece
            if len(data) >= _READ_BYTES:
                break
        words = set(_STRING.findall(data.decode("utf-8", "ignore")))
        longest = sorted(words, key=lambda string: (-len(string), string))
        strings |= dict.fromkeys(longest[: max(1, STRINGS_MAX // len(events))])
        if len(strings) >= STRINGS_MAX:
            break
    return list(strings)


def proof_of(
    space: Space,
    erased: Iterable[str],
    strings: Sequence[str],
    *,
    scanned: tuple[str, ...] = (),
    calls: tuple[str, ...] = (),
    progress: Callable[[int, int], None] | None = None,
) -> Proof:
    """Look for what must not be there any more.

    Args:
        erased: ids of the erased events.
        scanned, calls: what a scan of everything for a text has found.
    """
    gone = {f"fh:{identifier}" for identifier in erased}
    leads: list[str] = []
    elsewhere: dict[str, None] = {}
    for string in strings:
        for hit in recall(space, Query(string, hits_max=100)):
            if hit.pointer in gone:
                leads.append(hit.pointer)
            elif string in hit.exact and hit.kind is not Kind.ERASURE:
                elsewhere[hit.pointer] = None
    expands = tuple(address for address in sorted(gone) if not _is_erased(space, address))
    verified = verify(space.log, space.namespace, progress=progress)
    return Proof(len(strings), tuple(leads), tuple(elsewhere), expands, scanned, calls, verified.ok)


def _is_erased(space: Space, address: str) -> bool:
    """Say whether a pointer is known as erased, and gives not one byte."""
    try:
        next(iter(space.stream(address)), None)
    except Erased:
        return True
    return False
