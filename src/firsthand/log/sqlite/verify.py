"""Proof that the log is what was written: every hash and every chain derived again.

One damaged event never hides a good one: what cannot be read in passing is
asked for position by position. Each problem names the event and what is wrong
with it. A head kept elsewhere shows any later change of the past, even one that
rewrote every hash in the store.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

import apsw

from firsthand.errors import StoreDamaged
from firsthand.event import Artifact, Kind, decode_body, genesis, id_text, link, roll
from firsthand.log.loss import loss_of, sentence
from firsthand.log.results import Problem, RecordedLoss, Verification, parse_head
from firsthand.log.rows import POSITION, POSITION_MAX, body_of, check_event_types, erased_by, header_of
from firsthand.value import field, value

from .artifacts import ArtifactStore
from .index_files import transaction
from .mark import Mark
from .walk import Rows

_PAGE = 512
_ONLY_BY_PAGE = (
    "{:,} events were read page by page, since a page that leads to them is damaged; restore a backup, "
    "or take out what is whole with 'firsthand store export --salvage'"
)
PROBLEMS_MAX = 10_000
PAGE_PROBLEMS_SHOWN = 10


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
    losses: list[RecordedLoss] = field(default_factory=list)
    artifacts: dict[tuple[int, bytes], int] = field(default_factory=dict)
    uses: set[tuple[int, bytes, int]] = field(default_factory=set)  # namespace, digest, position
    namespace: str = ""  # of the events that are looked at

    def add(self, where: str, what: str, position: int = 0, identifier: str = "", *, namespace: str = "") -> None:
        if len(self.problems) < PROBLEMS_MAX:
            tenant = namespace or self.namespace if position else ""
            self.problems.append(Problem(where, what, position, identifier, tenant))


def verify(
    db: apsw.Connection,
    artifacts: ArtifactStore,
    *,
    namespace: str | None = None,
    heads: Sequence[str] = (),
    marks: Sequence[Mark] = (),
    pages: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Verification:
    """Derive every hash of the log again and compare.

    Args:
        db: a connection of its own; read in one snapshot.
        namespace: the one whose heads were kept elsewhere; None is the only one.
        heads: of it, kept earlier, as ``position:hash``.
        marks: what was acknowledged last, read before ``db`` began.
        pages: also have SQLite check its own pages and indexes.
        progress: called with events done and events in all.

    Raises:
        QueryError: a head is not of its form.
    """
    heads_kept, findings = dict(parse_head(text) for text in heads), _Findings()
    with transaction(db):
        rows = Rows(db)
        tables = _Tables(db, rows, findings)
        if pages:
            _check_pages(db, findings)
        totals = {key: max(tables.head(key)[0], rows.last_position(key)) for key in tables.tenants}
        derived: dict[str, str] = {}
        done, count = 0, sum(totals.values())
        if namespace is None:
            namespace = next(iter(tables.keys)) if len(tables.keys) == 1 else ""

        def report(position: int) -> None:
            if progress is not None and position % _PAGE == 0:
                progress(done + position, count)

        for key, total in totals.items():
            name = findings.namespace = tables.namespaces.get(key, "")
            marked = {(mark.position, mark.head) for mark in marks if mark.key == key}
            walk = _Walk(key, heads_kept if name == namespace else {}, marked)
            derived[name] = _check_namespace(rows, walk, total, tables, findings, report)
            done += total
        findings.namespace = ""
        _check_unknown(marks, tables, findings)
        _check_shared(db, tables, findings, heads_kept)
        for position in heads_kept:
            if position:
                _check_unmet(position, totals.get(tables.keys.get(namespace, 0), 0), namespace, findings)
        _check_sessions(tables, findings)
        checked = _check_artifacts(rows, artifacts, tables, findings)
        if rows.salvaged:
            findings.add("database", _ONLY_BY_PAGE.format(rows.salvaged))
        _check_erasures(tables, findings)
    return Verification(
        tuple(findings.problems), findings.events, len(tables.chains), len(findings.erased), checked,
        derived.get(namespace, f"0:{bytes(32).hex()}"), tuple(findings.notes), derived, tuple(findings.losses),
    )  # fmt: skip


def _check_namespace(
    rows: Rows, walk: _Walk, total: int, tables: _Tables, findings: _Findings, progress: Callable[[int], None]
) -> str:
    """Check the events of a namespace in order; give its head as derived from them."""
    rolled, last, key = bytes(32), 0, walk.key
    tables.missing = 0
    stored, head, shared = tables.head(key)
    for position, row in rows.read(key, total):
        if row is None:
            if position <= shared:  # it may be another namespace's: `_check_shared` looks for it there
                continue
            tables.missing += 1
            walk.missing.append(position)
            continue
        last = position
        _check_event(row, key, tables, findings)
        if (loss := loss_of(row)) is not None:
            findings.losses.append(RecordedLoss(findings.namespace, position, loss.missing))
            walk.lost.update(*loss.missing)
            if loss.missing:
                rolled = loss.head
                walk.meet(loss.position, rolled)
        rolled = roll(rolled, position, row[15]) if isinstance(row[15], bytes) else rolled
        walk.meet(position, rolled)
        progress(position)
    gone = [position for position in walk.missing if position not in walk.lost]
    for position in gone:
        findings.add("event", "is missing, or its page cannot be read", position)
    if stored != last:
        findings.add(
            "head",
            f"the head stands at position {stored}, the last event at {last}: "
            "events are missing at the end, or were added past the log",
            last,
        )
    elif not gone and head is not None and rolled != head:
        findings.add("head", "the head of the namespace is not the hash of its events", total)
    _check_marks(walk, last, findings.namespace, findings)
    return f"{last}:{rolled.hex()}"


@value(frozen=False)
class _Walk:
    """One namespace while its events are checked.

    Attributes:
        kept, marked: heads that were kept elsewhere, and marked, with their positions; those met are taken out.
        missing: positions without a row.
        lost: positions that a loss names.
    """

    key: int
    kept: dict[int, bytes]
    marked: set[tuple[int, bytes]]
    missing: list[int] = field(default_factory=list)
    lost: set[int] = field(default_factory=set)

    def meet(self, position: int, rolled: bytes) -> None:
        self.marked.discard((position, rolled))
        if self.kept.get(position) == rolled:
            del self.kept[position]


def _check_marks(walk: _Walk, last: int, namespace: str, findings: _Findings) -> None:
    """Say what was acknowledged and is gone, or stands there otherwise, and is not recorded as lost."""
    ahead = max((position for position, _ in walk.marked), default=0)
    if ahead > last:
        findings.add("mark", sentence(namespace, (range(last + 1, ahead + 1),)), namespace=namespace)
    for position in sorted({position for position, _ in walk.marked}):
        if position <= last:
            what = f"the log up to position {position} is not the one that was acknowledged: it was rolled back"
            findings.add("mark", f"namespace {namespace}: {what} and written anew", namespace=namespace)


def _check_unknown(marks: Sequence[Mark], tables: _Tables, findings: _Findings) -> None:
    """Name the namespaces that events were acknowledged in and that are not there at all."""
    unknown: dict[int, int] = {}
    for mark in marks:
        if mark.key not in tables.tenants:
            unknown[mark.key] = max(mark.position, unknown.get(mark.key, 0))
    for key, position in unknown.items():
        findings.add("mark", sentence(f"number {key}, which the store does not have", (range(1, position + 1),)))


def _check_shared(db: apsw.Connection, tables: _Tables, findings: _Findings, chain_heads: dict[int, bytes]) -> None:
    """Check the events that a store of version 1 counted over all its namespaces: positions and head."""
    if tables.shared_position is None:
        return
    sql = (
        f"SELECT {POSITION}, event.chain FROM namespace n JOIN event ON event.key > ((n.key - 1) << 40) "  # noqa: S608
        "AND event.key <= ((n.key - 1) << 40) + n.shared ORDER BY 1"
    )
    rolled, expected = bytes(32), 1
    try:
        rows: list[Any] = db.execute(sql).fetchall()
    except apsw.Error as error:
        findings.add("head", f"the order that its namespaces shared in version 1 cannot be read ({error})")
        return
    for position, chain in rows:
        for missing in range(expected, position):
            findings.add("event", "is missing in every namespace", missing)
        rolled = roll(rolled, position, chain) if isinstance(chain, bytes) else rolled
        expected = position + 1
        if chain_heads.get(position) == rolled:
            del chain_heads[position]
    if expected <= tables.shared_position:
        findings.add("event", f"and those up to {tables.shared_position} are missing in every namespace", expected)
    elif rolled != tables.shared_head:
        findings.add("head", "the head that the store had in version 1 is not the hash of its events")


def _check_unmet(position: int, total: int, namespace: str, findings: _Findings) -> None:
    """Say why a head that was kept elsewhere was not met again."""
    what = f"the log up to position {position} is not the one that this head was taken of"
    if position > total:
        what = f"the head given was taken at position {position}, the log ends at {total}: events were removed"
    findings.add("head", what, position, namespace=namespace)


class _Tables:
    """The small tables, read as far as they can be."""

    def __init__(self, db: apsw.Connection, rows: Rows, findings: _Findings) -> None:
        def read(sql: str) -> list[Any]:
            try:
                return db.execute(sql).fetchall()
            except (apsw.Error, UnicodeDecodeError) as error:
                findings.add("database", f"cannot be read ({error}): {sql}")
                return []

        facts = dict(read("SELECT key, value FROM store"))
        self.shared_position: int | None = facts.get("shared_head_position")
        self.shared_head = facts.get("shared_head")
        for key, kind in (("uuid", bytes), ("created", int), ("reader_min", int)):
            if not isinstance(facts.get(key), kind):
                findings.add("database", f"what the store says of itself lacks {key!r}")
        self.unfinished = "unfinished_erasure" in facts
        self.uses = read("SELECT namespace, digest, position FROM artifact_use")
        self.names = dict(read("SELECT key, text FROM name"))
        self._heads: dict[int, tuple[int, bytes | None, int]] = {}
        self.namespaces: dict[int, str] = {}
        for key, name, position, head, shared in read("SELECT key, name, head_position, head, shared FROM namespace"):
            if not isinstance(key, int) or not isinstance(name, str):
                findings.add("database", "the table of namespaces holds what is no namespace")
                continue
            self.namespaces[key] = name
            sound = isinstance(position, int) and 0 <= position <= POSITION_MAX and isinstance(head, bytes)
            if not sound:
                findings.add("head", f"the head of namespace {name!r} is missing or no head")
            self._heads[key] = (
                position if sound else 0,
                head if sound else None,
                shared if isinstance(shared, int) else 0,
            )
        self.keys = {name: key for key, name in self.namespaces.items()}
        self.tenants = sorted({*self.namespaces, *rows.namespaces()})
        self.sessions = {
            row[0]: row
            for row in read(
                "SELECT key, namespace, name, length, turn, first_position, last_position, first_time, last_time, head "
                "FROM session"
            )
        }
        self.chains: dict[int, _Chain] = {}
        self.missing = 0  # positions without a row that no session's sequence accounts for yet

    def head(self, key: int) -> tuple[int, bytes | None, int]:
        """Give a namespace's position and head as stored, and up to where its positions may be others'."""
        return self._heads.get(key, (0, None, 0))

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


def _check_event(row: tuple[Any, ...], key: int, tables: _Tables, findings: _Findings) -> None:
    position = row[0]
    identifier = id_text(row[1]) if isinstance(row[1], bytes) and len(row[1]) == 16 else ""
    before = len(findings.problems)
    chain = tables.chain(row[3])
    if chain is None:
        findings.add("event", f"belongs to session {row[3]!r}, which the store does not have", position, identifier)
        return
    if row[2] != key:
        findings.add("event", f"names namespace {row[2]!r}, it stands in that of number {key}", position, identifier)
        return
    if tables.namespaces.get(row[2]) != chain.namespace:
        findings.add(
            "event", f"names namespace {row[2]!r}, its session lies in {chain.namespace!r}", position, identifier
        )
    # 1) The body against its commitment.
    body: bytes | None = None
    try:
        body = body_of(row)
        if body is not None:
            _note_body(row, body, findings)
        else:
            findings.erased[identifier] = position
        check_event_types(row)
    except (StoreDamaged, ValueError) as error:
        findings.add("event", str(error).split(": ", 1)[-1], position, identifier)
    # 2) The header and the commitment against the chain.
    computed = _link(row, chain, tables)
    lacking = row[4] - chain.sequence if isinstance(row[4], int) else 0
    if 0 < lacking <= tables.missing:
        tables.missing -= lacking  # the gap was reported where it is; this event only stands behind it
    elif row[4] != chain.sequence:
        what = f"is number {row[4]!r} of its session; number {chain.sequence} was expected"
        findings.add("event", what, position, identifier)
    elif chain.links and row[15] not in computed:
        findings.add(
            "event", "its header, commitment or chain hash is not the one that was written", position, identifier
        )
    chain.links = tuple({row[15], *computed[:1]}) if isinstance(row[15], bytes) else tuple(computed[:1])
    _follow(chain, row)
    findings.events += len(findings.problems) == before


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


def _note_body(row: tuple[Any, ...], body: bytes, findings: _Findings) -> None:
    payload = decode_body(body).payload
    if isinstance(payload, Artifact):
        if isinstance(row[2], int):  # of what is no namespace it was said that its session lies in another one
            findings.artifacts.setdefault((row[2], payload.digest), row[0])
    elif row[7] == Kind.ERASURE.number:
        findings.accounted.update(erased_by(payload))
    if isinstance(payload, Artifact):
        findings.uses.add((row[2], payload.digest, row[0]))


def _check_sessions(tables: _Tables, findings: _Findings) -> None:
    for key, row in tables.sessions.items():
        chain = tables.chains.get(key)
        if chain is None:
            findings.add("session", f"{row[2]!r} has a row but no events")
            continue
        seen = (
            chain.sequence, chain.turn, chain.first_position, chain.last_position, chain.first_time, chain.last_time,
        )  # fmt: skip
        if tuple(row[3:9]) != seen:
            findings.add(
                "session", f"{row[2]!r}: its row says {tuple(row[3:9])}, its events say {seen}", chain.last_position
            )
        if row[9] not in chain.links:
            findings.add(
                "session", f"{row[2]!r}: its head is not the chain hash of its last event", chain.last_position
            )


def _check_artifacts(rows: Rows, artifacts: ArtifactStore, tables: _Tables, findings: _Findings) -> int:
    """Read every artifact file against its address."""
    good = 0
    for (namespace, digest), position in findings.artifacts.items():
        row = rows.at(namespace, position)
        body = body_of(row) if row is not None else None
        assert body is not None  # it was read a moment ago, in this snapshot
        payload = decode_body(body).payload
        assert isinstance(payload, Artifact)
        wrong = artifacts.verify(namespace, payload)
        if wrong:
            wrong = wrong if digest.hex() in wrong else f"{digest.hex()}: {wrong}"
            findings.add("artifact", wrong, position, namespace=tables.namespaces.get(namespace, ""))
        good += not wrong
    for use in sorted(findings.uses ^ set(tables.uses), key=repr):
        which = (
            "is not recorded, so an erasure would leave the file" if use in findings.uses else "is recorded and not so"
        )
        findings.add("artifact", f"that namespace {use[0]!r} holds {_hex(use[1])} {which}", _position(use[2]))
    for key in tables.namespaces:
        spare = sum((key, digest) not in findings.artifacts for digest in artifacts.listing(key))
        if spare:
            findings.notes.append(
                f"{spare} artifact files belong to no event: left by a crash, or by an erasure cut short"
            )
    return good


def _hex(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else repr(value)


def _position(value: object) -> int:
    return value if isinstance(value, int) else 0


def _check_erasures(tables: _Tables, findings: _Findings) -> None:
    if tables.unfinished:
        findings.notes.append("an erasure was cut short before all copies were destroyed; erase again to finish it")
    for identifier, position in findings.erased.items():
        if identifier not in findings.accounted:
            findings.add("event", "its content is gone, but no erasure in the log speaks of it", position, identifier)


def _check_pages(db: apsw.Connection, findings: _Findings) -> None:
    try:
        rows = db.execute("PRAGMA integrity_check(100)").fetchall()
    except apsw.Error as error:
        findings.add("database", f"its pages cannot be checked: {error}")
        return
    sentences = [line for (message,) in rows for line in str(message).splitlines() if not line.startswith("***")]
    for line in sentences[:PAGE_PROBLEMS_SHOWN]:
        if line != "ok":
            findings.add("database", line)
    if len(sentences) > PAGE_PROBLEMS_SHOWN:
        findings.add("database", f"and {len(sentences) - PAGE_PROBLEMS_SHOWN} more of SQLite's own findings")
