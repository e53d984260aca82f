"""Proof that the log is what was written: every hash and every chain derived again.

One damaged event never hides a good one: what cannot be read in passing is
asked for position by position. Each problem names the event and what is wrong
with it. A head kept elsewhere shows any later change of the past, even one that
rewrote every hash in the store.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import apsw

from firsthand.errors import QueryError, StoreDamaged
from firsthand.event import Artifact, Kind, decode_body, genesis, id_text, link, roll
from firsthand.value import field, value

from .artifacts import ArtifactStore
from .rows import body_of, check_event_types, header_of
from .walk import Rows

_PAGE = 512
_ONLY_BY_PAGE = (
    "{:,} events were read page by page, since a page that leads to them is damaged; restore a backup, "
    "or take out what is whole with 'firsthand export --salvage'"
)
PROBLEMS_MAX = 10_000
PAGE_PROBLEMS_SHOWN = 10


@value
class Problem:
    """One thing that is not as it was written.

    Attributes:
        where: ``event``, ``session``, ``artifact``, ``index``, ``head`` or ``database``.
        what: a sentence.
        position, id: of the event concerned; 0 and empty when it is none.
    """

    where: str
    what: str
    position: int = 0
    id: str = ""

    def __str__(self) -> str:
        event = f" fh:{self.id}" if self.id else ""
        place = f" at position {self.position}" if self.position else ""
        return f"{self.where}{event}{place}: {self.what}"


@value
class Verification:
    """What a verification saw.

    Attributes:
        events: read and found whole; erased ones count when their chain holds.
        erased: of them, those without content.
        artifacts: files read and found whole.
        head: ``position:hash`` to keep elsewhere, as derived from the events, not as stored.
        notes: what is no damage but worth knowing.
    """

    problems: tuple[Problem, ...]
    events: int
    sessions: int
    erased: int
    artifacts: int
    head: str
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """True when nothing is wrong."""
        return not self.problems


def parse_head(text: str) -> tuple[int, bytes]:
    """Read a head as `Verification.head` writes it.

    Raises:
        QueryError: it is not one.
    """
    position, _, digest = text.strip().partition(":")
    try:
        parsed = int(position), bytes.fromhex(digest)
    except ValueError:
        parsed = -1, b""
    if parsed[0] < 0 or len(parsed[1]) != 32:
        raise QueryError(f"a head is position:hash, such as 42:9f86d0...; got {text[:80]!r}")
    return parsed


@value(frozen=False)
class _Chain:
    """A session's chain as far as it was followed."""

    namespace: str
    name: str
    sequence: int = 0
    turn: int = 0
    first_position: int = 0
    last_position: int = 0
    first_time: int | None = None
    last_time: int | None = None
    links: tuple[bytes, ...] = ()  # what the next event may be chained to; empty after a gap


@value(frozen=False)
class _Findings:
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    events: int = 0
    erased: dict[str, int] = field(default_factory=dict)
    accounted: set[str] = field(default_factory=set)
    artifacts: dict[tuple[int, bytes], int] = field(default_factory=dict)
    uses: set[tuple[int, bytes, int]] = field(default_factory=set)  # namespace, digest, position

    def add(self, where: str, what: str, position: int = 0, identifier: str = "") -> None:
        if len(self.problems) < PROBLEMS_MAX:
            self.problems.append(Problem(where, what, position, identifier))


def verify(
    db: apsw.Connection,
    artifacts: ArtifactStore,
    *,
    heads: Sequence[str] = (),
    pages: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Verification:
    """Derive every hash of the log again and compare.

    Args:
        db: a connection of its own; read in one snapshot.
        heads: kept elsewhere earlier, as ``position:hash``.
        pages: also have SQLite check its own pages and indexes.
        progress: called with events done and events in all.

    Raises:
        QueryError: a head is not of its form.
    """
    kept = dict(parse_head(text) for text in heads)
    found = _Findings()
    with _Snapshot(db):
        rows = Rows(db)
        tables = _Tables(db, rows, found)
        if pages:
            _check_pages(db, found)
        rolled, position = bytes(32), 0
        whole = True
        total = max(tables.head_position, tables.last_position)
        for position, row in rows.read(total):
            if row is None:
                whole = False
                tables.missing += 1
                unreadable = position in rows.unreadable
                found.add("event", "its page cannot be read" if unreadable else "is missing", position)
                continue
            _check_event(row, tables, found)
            rolled = roll(rolled, position, row[15]) if isinstance(row[15], bytes) else rolled
            if position in kept and rolled != kept.pop(position):
                found.add(
                    "head", f"the log up to position {position} is not the one that this head was taken of", position
                )
            if progress is not None and position % _PAGE == 0:
                progress(position, total)
        _check_sessions(tables, found)
        _check_heads(tables, found, rolled if whole else None, total, kept)
        checked = _check_artifacts(rows, artifacts, tables, found)
        if rows.salvaged:
            found.add("database", _ONLY_BY_PAGE.format(rows.salvaged))
        _check_erasures(found)
        if tables.unfinished:
            found.notes.append("an erasure was cut short before all copies were destroyed; erase again to finish it")
    return Verification(
        tuple(found.problems), found.events, len(tables.chains), len(found.erased), checked,
        f"{total}:{rolled.hex()}", tuple(found.notes),
    )  # fmt: skip


class _Snapshot:
    """One read transaction, ended without a word even when the database is damaged."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def __enter__(self) -> None:
        self._db.execute("BEGIN")

    def __exit__(self, *_: object) -> None:
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")


class _Tables:
    """The small tables, read as far as they can be."""

    def __init__(self, db: apsw.Connection, rows: Rows, found: _Findings) -> None:
        def read(sql: str) -> list[Any]:
            try:
                return db.execute(sql).fetchall()
            except (apsw.Error, UnicodeDecodeError) as error:
                found.add("database", f"cannot be read ({error}): {sql}")
                return []

        facts = dict(read("SELECT key, value FROM store"))
        self.head: bytes | None = facts.get("head")
        stored = facts.get("head_position")
        self.head_position = stored if isinstance(stored, int) and 0 <= stored < 1 << 48 else 0
        if not isinstance(self.head, bytes) or self.head_position != stored:
            found.add("head", "the store's head is missing or no head")
            self.head = None
        for key, kind in (("uuid", bytes), ("created", int), ("reader_min", int)):
            if not isinstance(facts.get(key), kind):
                found.add("database", f"what the store says of itself lacks {key!r}")
        self.last_position = rows.last_position()
        self.unfinished = "unfinished_erasure" in facts
        self.uses = read("SELECT namespace, digest, position FROM artifact_use")
        self.names = dict(read("SELECT key, text FROM name"))
        tenants = read("SELECT key, name FROM namespace")
        self.namespaces = {key: name for key, name in tenants if isinstance(key, int) and isinstance(name, str)}
        if len(self.namespaces) != len(tenants):
            found.add("database", "the table of namespaces holds what is no namespace")
        self.sessions = {
            row[0]: row
            for row in read(
                "SELECT key, namespace, name, length, turn, first_position, last_position, first_time, last_time, head "
                "FROM session"
            )
        }
        self.chains: dict[int, _Chain] = {}
        self.missing = 0  # positions without a row that no session's sequence accounts for yet

    def chain(self, key: int) -> _Chain | None:
        chain = self.chains.get(key)
        if chain is None:
            row = self.sessions.get(key)
            if row is None or not isinstance(row[2], str) or not isinstance(self.namespaces.get(row[1]), str):
                return None
            namespace = self.namespaces[row[1]]
            chain = self.chains[key] = _Chain(namespace, row[2], links=(_genesis(namespace, row[2]),))
        return chain


def _genesis(namespace: str, name: str) -> bytes:
    try:
        return genesis(namespace, name)
    except UnicodeEncodeError:  # a damaged name: its session's first event will not fit, and say so
        return bytes(32)


def _check_event(row: tuple[Any, ...], tables: _Tables, found: _Findings) -> None:
    position = row[0]
    identifier = id_text(row[1]) if isinstance(row[1], bytes) and len(row[1]) == 16 else ""
    before = len(found.problems)
    chain = tables.chain(row[3])
    if chain is None:
        found.add("event", f"belongs to session {row[3]!r}, which the store does not have", position, identifier)
        return
    if tables.namespaces.get(row[2]) != chain.namespace:
        found.add("event", f"names namespace {row[2]!r}, its session lies in {chain.namespace!r}", position, identifier)
    # 1) The body against its commitment.
    body: bytes | None = None
    try:
        body = body_of(row)
        if body is not None:
            _note_body(row, body, found)
        else:
            found.erased[identifier] = position
        check_event_types(row)
    except (StoreDamaged, ValueError) as error:
        found.add("event", str(error).split(": ", 1)[-1], position, identifier)
    # 2) The header and the commitment against the chain.
    computed = _link(row, chain, tables)
    lacking = row[4] - chain.sequence if isinstance(row[4], int) else 0
    if 0 < lacking <= tables.missing:
        tables.missing -= lacking  # the gap was reported where it is; this event only stands behind it
    elif row[4] != chain.sequence:
        what = f"is number {row[4]!r} of its session; number {chain.sequence} was expected"
        found.add("event", what, position, identifier)
    elif chain.links and row[15] not in computed:
        found.add("event", "its header, commitment or chain hash is not the one that was written", position, identifier)
    chain.links = tuple({row[15], *computed[:1]}) if isinstance(row[15], bytes) else tuple(computed[:1])
    _follow(chain, row)
    found.events += len(found.problems) == before


def _link(row: tuple[Any, ...], chain: _Chain, tables: _Tables) -> list[bytes]:
    """Derive the event's chain hash from each link it may hang on; empty when a field cannot be one."""
    try:
        header = header_of(row, tables.names[row[9]], tables.names[row[10]])
        return [link(previous, header, row[16]) for previous in chain.links]
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, struct.error):
        return []  # any field may hold anything: one that cannot be packed is a damaged one


def _follow(chain: _Chain, row: tuple[Any, ...]) -> None:
    chain.sequence = row[4] + 1 if isinstance(row[4], int) else chain.sequence + 1
    chain.turn = max(chain.turn, row[6]) if isinstance(row[6], int) else chain.turn
    chain.first_position = chain.first_position or row[0]
    chain.last_position = row[0]
    if isinstance(row[11], int):
        chain.first_time = row[11] if chain.first_time is None else min(chain.first_time, row[11])
        chain.last_time = row[11] if chain.last_time is None else max(chain.last_time, row[11])


def _note_body(row: tuple[Any, ...], body: bytes, found: _Findings) -> None:
    payload = decode_body(body).payload
    if isinstance(payload, Artifact):
        if isinstance(row[2], int):  # of what is no namespace it was said that its session lies in another one
            found.artifacts.setdefault((row[2], payload.digest), row[0])
    elif row[7] == Kind.ERASURE:
        found.accounted.update(_erased_by(payload))
    if isinstance(payload, Artifact):
        found.uses.add((row[2], payload.digest, row[0]))


def _erased_by(payload: bytes) -> Iterable[str]:
    """Read the ids that an erasure speaks of; none where it is not of its form, so that they count as unaccounted."""
    try:
        said = json.loads(payload)
        return [one for one in said["erased"] if isinstance(one, str)]
    except (ValueError, TypeError, LookupError, RecursionError):
        return ()


def _check_sessions(tables: _Tables, found: _Findings) -> None:
    for key, row in tables.sessions.items():
        chain = tables.chains.get(key)
        if chain is None:
            found.add("session", f"{row[2]!r} has a row but no events")
            continue
        seen = (
            chain.sequence, chain.turn, chain.first_position, chain.last_position, chain.first_time, chain.last_time,
        )  # fmt: skip
        if tuple(row[3:9]) != seen:
            found.add(
                "session", f"{row[2]!r}: its row says {tuple(row[3:9])}, its events say {seen}", chain.last_position
            )
        if row[9] not in chain.links:
            found.add("session", f"{row[2]!r}: its head is not the chain hash of its last event", chain.last_position)


def _check_heads(tables: _Tables, found: _Findings, rolled: bytes | None, total: int, kept: dict[int, bytes]) -> None:
    if tables.head_position != tables.last_position:
        found.add(
            "head",
            f"the head stands at position {tables.head_position}, the last event at {tables.last_position}: "
            "events are missing at the end, or were added past the log",
            tables.last_position,
        )
    elif rolled is not None and tables.head is not None and rolled != tables.head:
        found.add("head", "the store's head is not the hash of its events", total)
    for position in kept:
        if position == 0:
            continue
        what = "cannot be checked, since events before it are missing" if position <= total else (
            f"was taken at position {position}, the log ends at {total}: events were removed"
        )  # fmt: skip
        found.add("head", f"the head given {what}", position)


def _check_artifacts(rows: Rows, artifacts: ArtifactStore, tables: _Tables, found: _Findings) -> int:
    """Read every artifact file against its address."""
    good = 0
    for (namespace, digest), position in found.artifacts.items():
        row = rows.at(position)
        body = body_of(row) if row is not None else None
        assert body is not None  # it was read a moment ago, in this snapshot
        payload = decode_body(body).payload
        assert isinstance(payload, Artifact)
        wrong = artifacts.verify(namespace, payload)
        if wrong:
            found.add("artifact", wrong if digest.hex() in wrong else f"{digest.hex()}: {wrong}", position)
        good += not wrong
    for use in sorted(found.uses ^ set(tables.uses), key=repr):
        said = "is not recorded, so an erasure would leave the file" if use in found.uses else "is recorded and not so"
        found.add("artifact", f"that namespace {use[0]!r} holds {_hex(use[1])} {said}", _position(use[2]))
    for key in tables.namespaces:
        held = {digest for namespace, digest in found.artifacts if namespace == key}
        spare = sum(digest not in held for digest in artifacts.listing(key))
        if spare:
            found.notes.append(
                f"{spare} artifact files belong to no event: left by a crash, or by an erasure cut short"
            )
    return good


def _hex(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else repr(value)


def _position(value: object) -> int:
    return value if isinstance(value, int) else 0


def _check_erasures(found: _Findings) -> None:
    for identifier, position in found.erased.items():
        if identifier not in found.accounted:
            found.add("event", "its content is gone, but no erasure in the log speaks of it", position, identifier)


def _check_pages(db: apsw.Connection, found: _Findings) -> None:
    try:
        rows = db.execute("PRAGMA integrity_check(100)").fetchall()
    except apsw.Error as error:
        found.add("database", f"its pages cannot be checked: {error}")
        return
    said = [line for (message,) in rows for line in str(message).splitlines() if not line.startswith("***")]
    for line in said[:PAGE_PROBLEMS_SHOWN]:
        if line != "ok":
            found.add("database", line)
    if len(said) > PAGE_PROBLEMS_SHOWN:
        found.add("database", f"and {len(said) - PAGE_PROBLEMS_SHOWN} more of SQLite's own findings")
