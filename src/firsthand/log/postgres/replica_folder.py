"""A folder that follows one namespace of an engine: an ordinary store of SQLite, its header, and who uses it.

    ENGINE/NUMBER/          the store, and its header
    ENGINE/NUMBER.use       locked, shared, by whoever has it open; its time is that of the last use
    ENGINE/NUMBER.follow    locked by whoever opens, follows or discards it: one at a time, of all processes
    ENGINE/NUMBER.notice    why it was begun anew, until somebody has taken note

The invariant: the store holds a prefix of the engine's namespace, each event chained as there, with the head that the
engine has at its end. One that does not is moved away, removed, and begun anew when it is opened next, saying why.
What was erased there is erased here before its erasure is in this log.
"""

from __future__ import annotations

import fcntl
import gc
import json
import math
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from firsthand import moment
from firsthand.errors import AppendError, NotAStore, StoreDamaged, StoreFailed, StoreFull, StoreNewer, StoreReplaced
from firsthand.event import Artifact, Kind, Trust, decode_body, genesis, id_text, link
from firsthand.log.disk import make_private, open_locked, open_private, translated
from firsthand.log.expansion import PieceSource
from firsthand.log.prepare import Batch, Prepared, Restored
from firsthand.log.rows import body_of, header_of
from firsthand.log.sqlite.log import Log
from firsthand.log.sqlite.prune import sweep
from firsthand.moment import Moment
from firsthand.value import replace, value

from .log import PostgresLog
from .reader import number_of

HEADER_FILE = "replica.json"
IDENTITY_FILE = "firsthand.uuid"
"""Beside the address in a machine's folder: the identity of the store that was last reached there."""
STEP_EVENTS = 2_000
HEADER_EVENTS = 20_000
"""Between two headers, while a folder follows from far behind."""
FULL = (
    "the disk of this machine's replicas (~/.cache/firsthand/replicas, or under $XDG_CACHE_HOME) is full: free space "
    "there, or firsthand store prune replicas; the store in PostgreSQL takes writes, and has what it acknowledged"
)
_DAMAGED = (StoreDamaged, NotAStore, StoreNewer, AppendError)


@value
class Header:
    """What a replica's folder says of itself.

    Attributes:
        engine: uuid of the store that it follows, hexadecimal.
        position, head: up to where it had followed when this was written.
        bytes: of its files, then.
    """

    engine: str
    namespace: str
    position: int
    head: str
    bytes: int


class ReplicaFolder:
    """The replica of a namespace on this machine, opened; made where there is none.

    Args:
        options: of the folder's `Log`: its indexes and followers.

    Attributes:
        new: it was begun by this opening.
    """

    def __init__(self, engine: PostgresLog, namespace: str, root: Path, options: Mapping[str, Any]) -> None:
        self.root, self.namespace, self.engine, self._options = root, namespace, engine, options
        self._identity, self._number, self.new = engine.reader.uuid(), number_of(namespace), False
        with _translating(root.parent):
            make_private(root.parent)
            self._use = open_locked(root.with_suffix(".use"), fcntl.LOCK_SH)
        try:
            with self._alone():
                self.log = self._opened()
                self._keep_header()
        except BaseException as error:
            os.close(self._use)
            if isinstance(error, StoreFull):
                raise StoreFull(FULL) from error
            raise

    def close(self) -> None:
        """Let it go; from here on it may be removed."""
        with suppress(StoreFailed):  # replaced, perhaps; an older header does as well
            self._keep_header()
        try:
            with suppress(StoreFull):  # its WAL is moved when there is room
                self.log.close()
        finally:
            os.utime(self._use)
            os.close(self._use)

    # opening -----------------------------------------------------------------------------------------

    def _opened(self) -> Log:
        header, log, why = header_at(self.root), None, ""
        try:
            if header is not None and (header.engine, header.namespace) == (self._identity.hex(), self.namespace):
                log = Log(self.root, heads=None, create=False, **self._options)
                why = self._fault(log, header)
            elif header is not None:
                why = f"its header was that of namespace {header.namespace!r} of store {header.engine}"
        except _DAMAGED as error:
            why = f"it was damaged ({error})"
        if log is not None and not why:
            log.exclusively(partial(sweep, artifacts=log.artifacts, older_than_s=0))  # left by a kill
            return log
        if log is not None:
            log.close()
        self._discard(why)  # one without a header, too: its maker was killed
        self.new, log = True, Log(self.root, heads=None, **self._options)
        reader = self.engine.reader
        log.adopt(self._identity, moment.now().microseconds)
        log.exclusively(
            lambda db: db.execute("UPDATE store SET value = ? WHERE key = 'fence_key'", (reader.fence_key(),)).get
        )
        return log

    def _fault(self, log: Log, header: Header) -> str:
        """Say why what the folder holds is no prefix of the namespace; empty where it is one."""
        position, head = log.reader.head(self.namespace)
        if position < header.position:
            return f"it was damaged (it held {header.position:,} events, and has {position:,})"
        end, there = self.engine.reader.heads(self.namespace, position)
        return "" if there == head else self._difference(position, head, end)

    def _difference(self, position: int, head: bytes, end: int) -> str:
        seen = f"{position}:{head.hex()}, up to which this machine had followed"
        if end < position:
            return f"the store ends at {end} and has lost head {seen}: it was restored from an older copy"
        return f"the store has another past than head {seen}: it was restored from an older copy, and written to"

    def _discard(self, why: str) -> None:
        """Move the folder away and remove it; who else has it open finds it replaced."""
        if why:
            leave_notice(self.root, f"the replica in {self.root} was begun anew: {why}")
        if self.root.exists():
            gone = self.root.with_suffix(f".gone-{os.urandom(4).hex()}")
            self.root.rename(gone)
            shutil.rmtree(gone, ignore_errors=True)

    def _keep_header(self) -> None:
        self.log.folder()
        position, head = self.log.reader.head(self.namespace)
        size = sum(file.stat().st_size for file in self.root.rglob("*") if file.is_file())
        fields = {
            "engine": self._identity.hex(), "namespace": self.namespace, "position": position, "head": head.hex(),
            "bytes": size,
        }  # fmt: skip
        with suppress(StoreFull):  # then the one before it stands, which is true of less
            _write(self.root / HEADER_FILE, json.dumps(fields))

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with _translating(self.root):
            lock = open_locked(self.root.with_suffix(".follow"), fcntl.LOCK_EX)
        try:
            yield
        finally:
            os.close(lock)

    # following ---------------------------------------------------------------------------------------

    def follow(self, until: float) -> int:
        """Take in what the engine has and the folder has not; give how many events of it are left.

        Args:
            until: a moment of the monotonic clock at which it ends, with at least one step done.

        Raises:
            StoreReplaced: what the folder holds is not what the engine has; it was discarded, or removed by hand.
            StoreFull: the disk of replicas takes no more; what was erased is not in the folder for that.
        """
        if not self.root.is_dir():
            raise StoreReplaced(f"the replica in {self.root} was removed while it was open; open the store again")
        last, head = self.log.reader.head(self.namespace)
        end, there = self.engine.reader.heads(self.namespace, last)
        if there != head:
            self.discard(self._difference(last, head, end))
        if end == last:
            return 0
        with self._alone(), _without_collections(end - last > STEP_EVENTS):
            if end - last > STEP_EVENTS and self.engine.reader.erases(self.namespace, last):
                until = math.inf  # nothing that was erased is shown meanwhile
            kept = last
            while rows := self.engine.reader.stored(self.namespace, self._position(), STEP_EVENTS):
                try:
                    self._take(rows)
                except StoreFull as error:
                    if self.engine.reader.erases(self.namespace, self._position()):
                        self._discard("")
                        self.discard("its disk is full, and what was erased has to go from it")
                    raise StoreFull(FULL) from error
                last = rows[-1][0]
                if last - kept >= HEADER_EVENTS:
                    self._keep_header()
                    kept = last
                if time.monotonic() > until:
                    break
        return max(0, end - self._position())

    def discard(self, why: str) -> None:
        """Discard the folder, of which a part is wrong, and say so.

        Raises:
            StoreReplaced: always.
        """
        with suppress(StoreFull):  # no room for the notice: it stays until it is opened, and goes then
            self._discard(why)
        raise StoreReplaced(f"this machine's replica of namespace {self.namespace!r} is begun anew, since {why}. Open "
                            "the store again.")  # fmt: skip

    def _position(self) -> int:
        return self.log.reader.head(self.namespace)[0]

    def _take(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Append rows of the engine in one transaction; what they say was erased goes with it."""
        events = [self._with_payload(prepared(row)) for row in rows]
        runs = groupby(zip(rows, events, strict=True), key=lambda pair: str(pair[0][20]))
        batches = tuple(Batch(self.namespace, session, tuple(event for _, event in run)) for session, run in runs)
        try:
            self.log.submit(batches)
            if self.log.reader.head(self.namespace) != (rows[-1][0], bytes(rows[-1][21])):
                raise StoreDamaged(f"the head at {rows[-1][0]} is another one")
        except _DAMAGED as error:
            self._check(rows)
            self.discard(f"it was damaged ({error})")

    def _with_payload(self, event: Prepared) -> Prepared:
        """Copy the large payload of an event; one that was erased since its row was read, or is damaged, stays away."""
        key = self.log.namespace_key(self.namespace)
        if event.artifact is None or self.log.artifacts.present(key, event.artifact.digest):
            return event
        try:
            self.log.artifacts.put(key, PieceSource(self.engine.artifacts.pieces(self._number, event.artifact)))
        except StoreDamaged:
            return replace(event, artifact=None)
        return event

    def complete(self) -> None:
        """Copy the large payloads that stayed away and can be read now."""
        key = self.log.namespace_key(self.namespace)
        used = "SELECT position FROM artifact_use WHERE namespace = ?"
        with self._alone():  # nothing is erased here meanwhile
            whole = {position for (position,) in self.log.reader.rows(used, (key,))}
            for event in self.log.reader.events(self.namespace):
                if (artifact := event.artifact) is None or (
                    event.position in whole and self.log.artifacts.present(key, artifact.digest)
                ):
                    continue
                with suppress(StoreDamaged):  # still away, as verify says
                    self.log.artifacts.put(key, PieceSource(self.engine.artifacts.pieces(self._number, artifact)))
                    self.log.exclusively(partial(_use, row=(key, artifact.digest, event.position)))

    def _check(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Check that the engine's own rows hang together.

        Raises:
            StoreDamaged: they do not, so it is not this folder that is wrong.
        """
        for row in rows:
            before = genesis(self.namespace, row[20]) if row[4] == 0 else row[19]
            if before is None or link(before, header_of(row, row[9], row[10]), row[16]) != row[15]:
                raise StoreDamaged(f"event {row[0]} of namespace {self.namespace!r} in PostgreSQL is not what was "
                                   "written; run 'firsthand store verify'")  # fmt: skip


def _use(db: Any, row: tuple[int, bytes, int]) -> None:
    db.execute("INSERT OR IGNORE INTO artifact_use VALUES (?, ?, ?)", row)


@contextmanager
def _without_collections(of_many: bool) -> Iterator[None]:
    """Keep the collector from looking through thousands of rows again and again: a tenth of what following takes."""
    was_enabled = gc.isenabled()
    if of_many:
        gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def header_at(root: Path) -> Header | None:
    """Read the header of a replica's folder; None where there is none that can be read."""
    try:
        return Header(**json.loads((root / HEADER_FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def remember(home: Path, identity: bytes) -> None:
    """Note which store is at the address of a machine's folder, and leave word where it is another than before."""
    file, now = home / IDENTITY_FILE, identity.hex()
    before = file.read_text(encoding="ascii") if file.is_file() else ""
    if before == now:
        return
    if before:
        leave_notice(
            file,
            f"another store than before is at this address: it was {before}, and is {now}. If nobody put it there on "
            "purpose, the address or the database is wrong; if somebody did, run firsthand store accept-head",
        )
    new = file.with_name(f"{file.name}.{os.getpid()}")
    new.write_text(now, encoding="ascii")
    new.replace(file)


def leave_notice(root: Path, text: str) -> None:
    """Leave word, with today's time, until somebody takes note."""
    _write(root.with_suffix(".notice"), f"{moment.now()}: {text}")


def notice_of(root: Path) -> str:
    """Give the word that was left, where nobody has taken note; else empty."""
    notice = root.with_suffix(".notice")
    return notice.read_text(encoding="utf-8") if notice.exists() else ""


def _write(path: Path, text: str) -> None:
    new = path.with_name(f"{path.name}.new")
    with _translating(path):
        with os.fdopen(open_private(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w", encoding="utf-8") as file:
            file.write(text)
        new.replace(path)


@contextmanager
def _translating(path: Path) -> Iterator[None]:
    """Turn the operating system's errors into ours."""
    try:
        yield
    except OSError as error:
        full = translated(error, f"write {path}")
        raise (StoreFull(FULL) if isinstance(full, StoreFull) else full) from error


def prepared(row: tuple[Any, ...]) -> Prepared:
    """Give a row as what the log appends; what is not what was written is taken as it is, and said when it is read."""
    body = parts = None
    with suppress(StoreDamaged):
        body = body_of(row)
        parts = None if body is None else decode_body(body)
    header = header_of(row, row[9], row[10])
    artifact = parts.payload if parts is not None and isinstance(parts.payload, Artifact) else None
    return Prepared(
        row[1], Kind.of(row[7]), row[5], row[6], Trust.of(row[8]), header.time, row[9], row[10], row[17], row[16],
        body, row[18], artifact, id_text(row[1]), parts, Restored(Moment(row[13], row[14]), row[15], row[0]),
    )  # fmt: skip
