"""Proof and copies of the log in PostgreSQL: every hash derived again, and the one open text file.

Read in one transaction, namespace by namespace, a page of rows at a time, as they are stored: nothing is taken for
what it says it is.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import psycopg

from firsthand.errors import KeyMissing, StoreBusy, StoreDamaged, StoreError
from firsthand.event import Artifact, Kind, decode_body, genesis, id_text, link, roll
from firsthand.log.engine import Progress
from firsthand.log.export import Exported, end_line, event_lines, header_line
from firsthand.log.loss import loss_of, sentence
from firsthand.log.results import Problem, RecordedLoss, Verification, parse_head
from firsthand.log.rows import body_of, erased_by, header_of

from .payloads import FreedMeanwhile, Payloads
from .reader import STORED, number_of
from .seal import Seal

_PAGE = 1_000
_SQL = (
    f"SELECT {STORED}, s.name, e.head FROM event e "  # noqa: S608 - a constant
    "LEFT JOIN session s ON s.namespace = e.namespace AND s.session = e.session "
    "WHERE e.namespace = %s AND e.position > %s ORDER BY e.position LIMIT %s"
)
_MISSING = (
    "SELECT DISTINCT digest FROM artifact_use u WHERE namespace = %s AND NOT EXISTS (SELECT FROM artifact a "
    "WHERE a.namespace = u.namespace AND a.digest = u.digest AND a.piece <= 0) ORDER BY digest"
)
"""What no payload read whole can tell where the events that hold it cannot be read."""
_DAMAGED = (StoreDamaged, ArithmeticError, LookupError, UnicodeError, TypeError, ValueError, struct.error)


def rows_of(db: psycopg.Connection, namespace: int, after: int = 0) -> Iterator[tuple[Any, ...]]:
    """Yield a namespace's rows as they are stored, with the name of their session last."""
    while rows := db.execute(_SQL, (namespace, after, _PAGE), prepare=True, binary=True).fetchall():
        yield from rows
        after = rows[-1][0]


def verify(
    db: psycopg.Connection,
    payloads: Payloads,
    seal: Seal,
    namespace: str,
    heads: Sequence[str] = (),
    progress: Progress | None = None,
) -> Verification:
    """Derive every hash of a namespace again and compare; where a key is missing, all but contents.

    Args:
        heads: of it, kept earlier, as ``position:hash``.

    Raises:
        QueryError: a head is not of its form.
    """
    walk = _Walk(namespace, dict(parse_head(text) for text in heads), seal)
    key = number_of(namespace)
    row = db.execute("SELECT position, head FROM namespace WHERE namespace = %s", (key,)).fetchone()
    stored = (0, bytes(32)) if row is None else (row[0], row[1])
    for row in rows_of(db, key):
        walk.take(row)
        if progress is not None and row[0] % _PAGE == 0:
            progress(row[0], stored[0])
    if stored != (walk.position, walk.head):
        walk.add("head", f"it stands at position {stored[0]}, the events end at {walk.position}, or hash otherwise")
    for position in walk.kept:
        if position:
            what = "is not the one that this head was taken of" if position <= walk.position else "ends before it"
            walk.add("head", f"the log up to position {position} {what}", position)
    sql = "SELECT name, length, last_position, head FROM session WHERE namespace = %s ORDER BY session"
    for name, length, last, head in db.execute(sql, (key,)).fetchall():
        if walk.sessions.get(name) != (length, last, head):
            walk.add("session", f"{name!r}: its row is not what its events say")
    for digest, (artifact, position) in walk.artifacts.items():
        if wrong := payloads.verify(key, artifact):
            walk.add("artifact", f"{digest.hex()}: {wrong}", position)
    for (digest,) in db.execute(_MISSING, (key,)).fetchall() if walk.locked else ():
        walk.add("artifact", f"{digest.hex()}: it is held by an event, and is missing")
    for identifier, position in walk.erased.items():
        if identifier not in walk.accounted and not walk.locked:
            walk.add("event", "its content is gone, but no erasure in the log speaks of it", position, identifier)
    spare = sum(digest not in walk.artifacts for digest in payloads.listing(key))
    notes = [f"{spare} payloads belong to no event: left by a crash"] if spare and not walk.locked else []
    if walk.locked:
        notes.append(
            f"chains, head and sessions were checked; not the contents of {walk.locked:,} events, what their payloads "
            f"hold, nor whether erasures account for all that is erased: {walk.why}"
        )
    notes += _left(db, key, payloads)
    text = f"{walk.position}:{walk.head.hex()}"
    return Verification(
        tuple(walk.problems), walk.whole, len(walk.sessions), len(walk.erased), len(walk.artifacts), text, tuple(notes),
        {namespace: text}, tuple(walk.losses),
    )  # fmt: skip


def _left(db: psycopg.Connection, key: int, payloads: Payloads) -> list[str]:
    """Say what of a namespace is still to be removed, and which objects are of nothing that this database knows."""
    notes = []
    if left := db.execute("SELECT key FROM forgotten WHERE namespace = %s", (key,)).fetchall():
        notes.append(f"{len(left):,} keys of erased content are not forgotten yet; firsthand store prune payloads")
    sql = "SELECT name FROM pending_object WHERE namespace = %s AND size IS NULL"
    if left := db.execute(sql, (key,)).fetchall():
        notes.append(f"{len(left):,} objects of erased content are not removed yet; firsthand store prune payloads")
    try:
        if unknown := payloads.unknown(key):
            notes.append(
                f"{len(unknown):,} objects over a day old are not known to this database (the first: {unknown[0]}), "
                "and prune leaves them: another primary or a copy of the database may hold them; if none does, remove "
                "them from the object store yourself"
            )
    except StoreError as error:
        notes.append(f"whether the object store holds more than this database knows was not checked: {error}")
    return notes


class _Walk:
    """One namespace while its events are checked."""

    def __init__(self, namespace: str, kept: dict[int, bytes], seal: Seal) -> None:
        self._namespace, self.kept, self._seal = namespace, kept, seal
        self.locked, self.why = 0, ""
        self.position, self.head, self.whole = 0, bytes(32), 0
        self.sessions: dict[str, tuple[int, int, bytes]] = {}
        self.artifacts: dict[bytes, tuple[Artifact, int]] = {}
        self.erased: dict[str, int] = {}
        self.accounted: set[str] = set()
        self.losses: list[RecordedLoss] = []
        self.problems: list[Problem] = []

    def add(self, where: str, what: str, position: int = 0, identifier: str = "") -> None:
        self.problems.append(Problem(where, what, position, identifier, self._namespace if position else ""))

    def take(self, row: tuple[Any, ...]) -> None:
        """Check one row against the ones before it."""
        position, identifier, before = row[0], id_text(row[1]), len(self.problems)
        try:
            row, locked = self._seal.opened(row), False
        except KeyMissing as error:
            locked, self.locked, self.why = True, self.locked + 1, str(error)
        if (loss := loss_of(row)) is not None:
            self.losses.append(RecordedLoss(self._namespace, position, loss.missing))
            self.position, self.head = (loss.position, loss.head) if loss.missing else (self.position, self.head)
        if position != self.position + 1:
            self.add("event", sentence(self._namespace, [range(self.position + 1, position)]), position, identifier)
        try:
            if not locked:
                self._note(row, identifier)
        except _DAMAGED as error:
            self.add("event", str(error).split(": ", 1)[-1], position, identifier)
        length, _, chain = self.sessions.get(row[19], (0, 0, b""))
        try:
            previous = chain or genesis(self._namespace, row[19])
            fits = row[4] == length and link(previous, header_of(row, row[9], row[10]), row[16]) == row[15]
        except _DAMAGED:
            fits = False
        if not fits:
            self.add("event", "its header, commitment or chain hash is not what was written", position, identifier)
        self.sessions[row[19]] = row[4] + 1, position, row[15]
        self.position, self.head = position, roll(self.head, position, row[15])
        if row[20] != self.head:
            self.add(
                "head", "the head that is stored with the event is not the hash of the events", position, identifier
            )
        if self.kept.get(position) == self.head:
            del self.kept[position]
        self.whole += len(self.problems) == before

    def _note(self, row: tuple[Any, ...], identifier: str) -> None:
        body = body_of(row)
        if body is None:
            self.erased[identifier] = row[0]
            return
        payload = decode_body(body).payload
        if isinstance(payload, Artifact):
            self.artifacts.setdefault(payload.digest, (payload, row[0]))
        elif row[7] == Kind.ERASURE.number:
            self.accounted.update(erased_by(payload))


def export(
    db: psycopg.Connection, payloads: Payloads, seal: Seal, out: BinaryIO, namespace: str, session: str | None = None
) -> Exported:
    """Write a namespace, or one session of it, as `log.export` writes a store.

    Raises:
        StoreDamaged: an event or payload is not what was written; what was written until there is not whole.
        StoreBusy: an event was erased meanwhile, and its object is gone; what was written is not whole either.
    """
    facts: dict[str, bytes] = dict(db.execute("SELECT key, value FROM store").fetchall())
    out.write(header_line(facts["uuid"], int.from_bytes(facts["created"], "big"), [namespace], session))
    events, written, ends = 0, set[tuple[int, bytes]](), dict[str, bytes]()
    for row in rows_of(db, number_of(namespace)):
        if session not in {None, row[19]}:
            continue
        previous = ends.get(row[19]) or genesis(namespace, row[19])
        if link(previous, header_of(row, row[9], row[10]), row[16]) != row[15]:
            raise StoreDamaged(f"position {row[0]}: its header, commitment or chain hash is not what was written")
        ends[row[19]] = row[15]
        names = namespace, row[19], row[9], row[10]
        try:
            out.writelines(event_lines(seal.opened(row)[:19], payloads, names, written, skipped=False))
        except FreedMeanwhile as error:
            raise StoreBusy(
                f"position {row[0]} was erased while the export was written, which is not whole; export again"
            ) from error
        events += 1
    out.write(end_line(events, len(written)))
    return Exported(events, len(written), events)
