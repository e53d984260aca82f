"""The log: the truth of one store, and the only way to its tables.

One folder: ``firsthand.db`` (events, sessions, the text index), ``artifacts/``
(large payloads), ``lock`` and ``queue/`` (who writes next), ``cache/`` (what can
be made again). What an append has returned is on disk; no verb edits or deletes
an event; erasure destroys content and leaves the chain.

The log knows bytes, hashes and order. It does not know its indexes (they come
through `engine.TransactionIndex`), formats or hosts.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import apsw

from firsthand import moment
from firsthand.errors import (
    InvalidDraft,
    StoreBusy,
    StoreClosed,
    StoreDamaged,
    StoreError,
    StoreFailed,
    StoreNewer,
    StoreReadOnly,
    StoreReplaced,
    Unresolvable,
)  # fmt: skip
from firsthand.event import CONTENT_INLINE_MAX, Event, IdMaker, Kind
from firsthand.fence import KEY_BYTES
from firsthand.log.disk import Disk, open_private
from firsthand.log.engine import TIMEOUT_MS
from firsthand.log.export import Exported
from firsthand.log.prepare import (
    Batch,
    check_erasure,
    decode_batch,
    encode_batch,
    erased_in,
)  # fmt: skip
from firsthand.log.results import Appended, Backup, EarlierStore, Erasure, Problem, Rebuilt, Verification
from firsthand.log.sqlite.export import export
from firsthand.log.verbs import AppendVerbs
from firsthand.moment import Moment
from firsthand.value import replace

from . import database, place
from .append import Appender, LogBehind
from .artifacts import ArtifactStore
from .backup import backup
from .erase import erase, follow
from .index_files import LEFT_OUT, IndexFiles
from .index_port import FollowingIndex, TransactionIndex
from .inodes import Inodes, inode_of
from .mark import Marks
from .mend import Comparison, Lack, drop_copies, lacking, set_aside
from .prune import prune, reset
from .queue import Ticket, WriterQueue
from .read import Reader
from .rebuild import rebuild
from .schema import DATABASE_FILE, VERSION, check_readable, migrate, version_of
from .verify import verify
from .witness import Witness, check_not_gone, heights, rot_of, unread

TIMEOUT_MS_MAX = 24 * 3_600_000
MAKING_S = 5.0  # a reader waits so long for a store that is being made
SWEEP_SECONDS = 3_600.0  # what a crash left of a payload is removed once it is this old


class Log(AppendVerbs):
    """One store, opened.

    Args:
        root: the store's folder.
        read_only: never write; also for folders that cannot be written.
        create: make the store when the folder is new or empty.
        timeout_ms: how long a write waits for other writers.
        indexes: those that are written in the log's transaction.
        followers: those that lie in its file and follow in their own time.
        inline_max: payloads over this many bytes become artifacts.
        clock: the time of ingest; for tests.
        disk, vfs: the file system below artifacts and SQLite; for fault tests.
        heads: the user's folder for the heads of all stores (`mark`); None keeps them in the store's alone.
        mend: bring back, or record as lost, what was acknowledged and is missing; False leaves it to `accept_head`.

    Attributes:
        earlier: stores that were at this path and are gone, where this handle made a new one in their place.

    Raises:
        StoreDamaged: the database is gone, and its mark says that it held events.
        NotAStore: the folder holds something else.
        StoreNewer: a newer version wrote it, and this one cannot read it.
        StoreReadOnly: it cannot be written here.
        InvalidArgument: ``read_only`` or ``create`` is not True or False, or the timeout no time.
    """

    artifacts: ArtifactStore

    def __init__(
        self,
        root: Path,
        *,
        read_only: bool = False,
        create: bool = True,
        timeout_ms: int = TIMEOUT_MS,
        indexes: Sequence[TransactionIndex] = (),
        followers: Sequence[FollowingIndex] = (),
        inline_max: int = CONTENT_INLINE_MAX,
        clock: Callable[[], Moment] = moment.now,
        disk: Disk | None = None,
        vfs: str | None = None,
        heads: Path | None = None,
        mend: bool = True,
    ) -> None:
        place.check_options(read_only, create, timeout_ms, TIMEOUT_MS_MAX)
        self.root = self.home = root.absolute()
        self.read_only = read_only
        self.newer = False
        self._create, self._timeout_ms = create, timeout_ms
        self._indexes, self._followers = tuple(indexes), tuple(followers)
        self._inline_max, self._clock = inline_max, clock
        self._disk, self._vfs, self._heads = disk or Disk(), vfs, heads
        self._mend = mend
        self.earlier: tuple[EarlierStore, ...] = ()
        self._ids = IdMaker()
        self._namespace_keys: dict[str, int] = {}
        self._failed = ""
        self._open()

    # opening and closing -----------------------------------------------------------------------------

    def _open(self) -> None:
        self._pid = os.getpid()
        self._closed = False
        self._writer: apsw.Connection | None = None
        self._queue: WriterQueue | None = None
        file = self.root / DATABASE_FILE
        if not file.exists() or not file.stat().st_size:
            check_not_gone(self.root)
        place.check(self.root, exists=file.exists(), create=self._create and not self.read_only)
        self.artifacts = ArtifactStore(self.root, self._disk)
        self._marks: Marks | None = None
        self._inodes: Inodes | None = None
        self._readers = database.Readers(file, self._vfs)
        self.reader = Reader(self.root, self._readers, self.artifacts, [index.name for index in self._indexes])
        if file.exists() and not self.read_only:
            database.recover(file, self._vfs)
        if file.exists() and file.stat().st_size:
            self._check_version(file)
        if not self.read_only:
            self._open_writer(file)

    def _check_version(self, file: Path) -> None:
        db = database.open_reader(file, self._vfs)
        try:
            with database.translating(file, db):
                version = version_of(db)
                until = time.monotonic() + min(self._timeout_ms / 1000, MAKING_S)
                while version == 0 and self.read_only and time.monotonic() < until:  # its maker is at work
                    time.sleep(0.01)
                    version = version_of(db)
                check_readable(db, version, read_only=self.read_only)
        finally:
            db.close()
        if version > VERSION and not self.read_only:
            # Readable, but its rows may carry what this version would not write: read it, never write it.
            self.read_only = self.newer = True

    def _open_writer(self, file: Path) -> None:
        place.check_writable(self.root)
        self._disk.make_folder(self.root)
        self._queue = WriterQueue(
            self.root,
            commit=self._commit,
            seal=lambda batches: encode_batch(batches[0]),
            unseal=lambda data: (decode_batch(data),),
            pack=lambda result: [
                [appended.position, appended.id, appended.new, appended.indexed] for appended in result
            ],
            unpack=lambda packed: tuple(Appended(*row) for row in packed),
            timeout_ms=self._timeout_ms,
        )
        new = not file.exists() or not file.stat().st_size
        if new:
            self._queue.exclusively(lambda: self._make(file))
        self._identity = inode_of(self.root)
        self._writer = database.open_writer(file, self._vfs)
        with database.translating(file, self._writer):
            version = version_of(self._writer)
            if version < VERSION:
                self._queue.exclusively(self._migrate)
        self.artifacts.sweep(SWEEP_SECONDS)
        self._inodes = Inodes(file)
        self._marks = Marks(self.root, self.reader.uuid(), self._heads, write=True)
        self.earlier = self._marks.earlier() if new else ()
        self.index_files = IndexFiles(self._writer, self.root, write=True)
        self._appender = Appender(
            self._writer,
            inodes=self._inodes,
            marks=self._marks,
            files=self.index_files,
            indexes=self._indexes,
            artifacts=self.artifacts,
            clock=self._clock,
            reader=self.reader,
        )
        self._witness = Witness(
            self.root, self._marks, self._writer, self._appender, self.artifacts, self._disk, self.exclusively
        )
        if self._mend:
            with database.translating(file, self._writer):
                self._witness.compare()

    def _make(self, file: Path) -> None:
        """Create the empty database file with the right rights; another process may have been first."""
        os.close(open_private(file, os.O_RDWR | os.O_CREAT))
        self._disk.sync_folder(self.root)

    def _migrate(self) -> None:
        assert self._writer is not None  # called while opening
        version = version_of(self._writer)  # again, under the lock: another process may have been first
        if version < VERSION:
            if rot_of(self.root):  # the migration moves the WAL, and drops what SQLite does not see of it
                set_aside(self.root, self._disk)
            migrate(self._writer, version, os.urandom(16), self._clock().microseconds, os.urandom(KEY_BYTES))
            self._checkpoint(apsw.SQLITE_CHECKPOINT_TRUNCATE)  # so that no loss of a WAL takes the identity along

    def close(self) -> None:
        """Move the WAL into the database if no other writer is at work, and let everything go."""
        if self._closed:
            return
        self._closed = True
        if self._pid != os.getpid():
            database.abandon((self._writer, self._queue, self._readers))
            return
        try:
            if self._queue is not None:
                self._queue.close(self._checkpoint_at_the_end)
        finally:
            self._readers.close()
            if self._marks is not None:
                self._marks.close()
            if self._writer is not None:
                self._writer.close()

    def _checkpoint_at_the_end(self) -> None:
        if self._inodes is None or self._failed:
            return
        with suppress(StoreReplaced):  # who opens the store next says what is missing
            self._checkpoint(apsw.SQLITE_CHECKPOINT_TRUNCATE)
            self.index_files.checkpoint()

    def _checkpoint(self, mode: int) -> None:
        assert self._writer is not None  # called by writers
        with self._writing(), suppress(apsw.BusyError):  # a reader still needs the WAL: the next one moves it
            self._writer.wal_checkpoint(mode=mode)

    def _ready(self) -> None:
        if self._closed:
            raise StoreClosed(f"{self.root} was closed; open it again.")
        if self._pid != os.getpid():  # after a fork: nothing of the parent's handles may be used here
            database.abandon(
                (self._writer, self._queue, self._readers, self.reader, self._appender if self._writer else None)
            )
            self._open()

    def _writable(self) -> WriterQueue:
        self._ready()
        if self.newer:
            raise StoreNewer(
                f"{self.root} was written by a newer version of Firsthand; this one only reads it. Upgrade to write."
            )
        if self._queue is None:
            raise StoreReadOnly(f"{self.root} is opened for reading; open it without read_only to write.")
        if self._failed:
            raise StoreFailed(
                f"{self.root}: an earlier write failed ({self._failed}), so nothing more is acknowledged through this "
                "handle. Check the disk, then open the store again."
            )
        self.folder()
        return self._queue

    def folder(self) -> Path:
        """Give the store's folder.

        Raises:
            StoreReplaced: it was moved, removed or replaced since it was opened to write.
        """
        if self._queue is not None and not self._closed:
            place.check_still(self.root, self._identity)
        return self.root

    # writing -----------------------------------------------------------------------------------------

    def _check_writer(self) -> None:
        self._writable()

    def _submit(self, batches: tuple[Batch, ...]) -> tuple[Appended, ...]:
        queue = self._writable()
        if going := [event for name in erased_in(batches) if (event := self._erasable(batches[0].namespace, name))]:
            return tuple(queue.exclusively(lambda: self._follow_erasures(batches, going)))
        return tuple(queue.submit(batches, batches[0].size_bytes if len(batches) == 1 else -1))

    def _erasable(self, namespace: str, identifier: str) -> Event | None:
        """Give an event that an erasure of another log names; None where nothing of it is left to destroy here."""
        try:
            event = self.reader.event(namespace, identifier)
        except (Unresolvable, InvalidDraft):
            return None
        return None if event.erased or event.kind in {Kind.ERASURE, Kind.LOSS} else event

    def _follow_erasures(self, batches: tuple[Batch, ...], going: Sequence[Event]) -> tuple[Appended, ...]:
        with self._writing():
            self._writable().wipe()
            drop_copies(self.root, self._disk)
            return follow(
                self.writer, self._appender, self.artifacts, self.index_files, self._indexes, self._followers,
                batches=batches, namespace_key=self.namespace_key(batches[0].namespace), events=going,
            )  # fmt: skip

    def namespace_key(self, namespace: str) -> int:
        """Give a namespace's number, making it on first use by a writer; 0 for a reader of an unknown one."""
        key = self._namespace_keys.get(namespace) or self.reader.namespace_key(namespace)
        if not key and self._queue is not None:
            key = int(self._writable().exclusively(lambda: self._make_namespace(namespace)))
        if key:
            self._namespace_keys[namespace] = key
        return key

    def _make_namespace(self, namespace: str) -> int:
        db = self.writer
        with self._writing():
            db.execute("INSERT OR IGNORE INTO namespace (name) VALUES (?)", (namespace,))
            key = db.execute("SELECT key FROM namespace WHERE name = ?", (namespace,)).get
        self._checkpoint(apsw.SQLITE_CHECKPOINT_PASSIVE)  # so that what is lost with a WAL is known by its namespace
        return int(key)

    @property
    def writer(self) -> apsw.Connection:
        """The write connection; for use under the write lock only."""
        if self._writer is None:
            raise StoreReadOnly(f"{self.root} is opened for reading; open it without read_only to write.")
        return self._writer

    def exclusively(self, action: Callable[[apsw.Connection], Any]) -> Any:
        """Do something with the write connection under the write lock; the caller brings its own transactions."""
        queue = self._writable()

        def run() -> Any:
            with self._writing():
                try:
                    return action(self.writer)
                finally:
                    self._appender.forget()  # whatever it wrote, it wrote behind the appender's back

        return queue.exclusively(run)

    def _commit(self, tickets: Sequence[Ticket]) -> None:
        try:
            try:
                self._appender.commit(tickets)
            except LogBehind:
                self._witness.mend()
                self._appender.commit(tickets)
        except (apsw.Error, StoreReplaced) as error:
            for ticket in tickets:
                ours = self._judged(error) if isinstance(error, apsw.Error) else StoreReplaced(*error.args)
                if isinstance(ours, StoreBusy):
                    ours.batch = ticket.batch
                ticket.settle(error=ours)
        except (StoreDamaged, UnicodeDecodeError) as error:  # of one batch: not to be told to the owners of the others
            if len(tickets) == 1:
                damaged = error if isinstance(error, StoreDamaged) else database.not_text(error, self.root)
                tickets[0].settle(error=damaged)
                return
            for ticket in tickets:
                self._commit((ticket,))

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Translate SQLite's errors while the write connection is used, on the files that were opened."""
        try:
            if self._inodes is not None:
                self._inodes.check(self.writer)
            yield
        except apsw.Error as error:
            raise self._judged(error) from error
        except UnicodeDecodeError as error:
            raise database.not_text(error, self.root) from error

    def _judged(self, error: apsw.Error) -> StoreError:
        """Translate an error of the write connection, by what it comes from where the files are not what they were."""
        try:
            if self._inodes is not None:
                self._inodes.check(self.writer)
        except StoreReplaced as replaced:
            return replaced
        except apsw.Error as second:
            error.add_note(f"then: {second}")
        ours = database.translated(error, self.root, database.system_errno(self._writer))
        if isinstance(ours, StoreFailed):
            # A failed write or sync may have left anything in the page cache: a retry could
            # succeed without the data. This handle acknowledges nothing more.
            self._failed = str(error) or type(error).__name__
        return ours

    def rebuild(self, progress: Callable[[int, int], None] | None = None) -> Rebuilt:
        """Build every index of every namespace anew from the log, in steps between which others may write.

        Until it is done the index counts as behind, and answers come from the log beyond it. What
        follows in its own time is dropped, and begins anew by itself.

        Args:
            progress: called with the events read and those there are.
        """
        self.exclusively(partial(reset, followers=self._followers))
        done = [rebuild(index, self.reader, self.index_files, self.exclusively, progress) for index in self._indexes]
        return Rebuilt(
            sum(rebuilt.events for rebuilt in done), tuple(sorted({at for rebuilt in done for at in rebuilt.damaged}))
        )

    def prune(self, names: Collection[str]) -> None:
        """Remove what can be made again; see `storage.PRUNABLE`."""
        parts = self.root, self.index_files, self._followers, self.artifacts, self._disk
        self.exclusively(lambda db: prune(db, names, *parts))

    def flush_indexes(self, namespace: str) -> None:
        """Leave nothing of a namespace's newest events to be indexed with later ones."""

        def flush() -> None:
            with self._writing():
                self._appender.commit((), namespace=namespace)

        self._writable().exclusively(flush)

    def cursor(self, namespace: str, source: str) -> str | None:
        """Give how far a source on this machine was read; None when that is not known."""
        key, sql = self.reader.namespace_key(namespace), "SELECT cursor FROM source WHERE namespace = ? AND key = ?"
        return next((text for (text,) in self.reader.rows(sql, (key, source)) if isinstance(text, str)), None)

    def save_cursors(self, namespace: str, cursors: Mapping[str, str]) -> None:
        """Keep how far sources were read; what was read of them is on disk already."""
        key = self.namespace_key(namespace)

        def save(db: apsw.Connection) -> None:
            rows = [(key, source, cursor) for source, cursor in cursors.items()]
            with db:
                db.executemany("INSERT OR REPLACE INTO source VALUES (?, ?, ?)", rows)

        self.exclusively(save)

    # erasure, copies, proof ----------------------------------------------------------------------------

    def erase(self, namespace: str, identifiers: Sequence[str], reason: str = "") -> Erasure:
        """Destroy the content of events and of the further parts of their source records.

        Raises:
            Unresolvable: an id is not in this namespace.
            InvalidDraft: more than 10,000 events, a reason over 1,000 characters, or the record of an erasure.
            StoreBusy: a reader still uses the pages that held the content; erase again when it is done.
        """
        queue = self._writable()
        check_erasure(identifiers, reason)
        key = self.namespace_key(namespace)

        def run() -> Erasure:
            # 1) Whole records, each event once, in order.
            wanted = {
                part.position: part
                for identifier in identifiers
                for part in self.reader.record_parts(self.reader.event(namespace, identifier))
            }
            events = [wanted[position] for position in sorted(wanted)]
            # 2) Content gone and recorded in one transaction; then what that freed.
            with self._writing():
                queue.wipe()
                drop_copies(self.root, self._disk)
                return erase(
                    self.writer, self._appender, self.artifacts, self.index_files,
                    self._indexes, self._followers, self._ids,
                    namespace=namespace, namespace_key=key, events=events, reason=reason,
                )  # fmt: skip

        result: Erasure = queue.exclusively(run)
        return result

    @contextmanager
    def answering(self) -> Iterator[str]:
        """Answer one question from what is here now, which is everything: see `ReplicatedLog.answering`."""
        yield ""

    @contextmanager
    def snapshot(self) -> Iterator[apsw.Connection]:
        """Give a read connection of its own for the length of a block."""
        self._ready()
        db = database.open_reader(self.root / DATABASE_FILE, self._vfs)
        try:
            with database.translating(self.root, db):
                yield db
        finally:
            db.close()

    def verify(
        self,
        *,
        namespace: str | None = None,
        heads: Sequence[str] = (),
        progress: Callable[[int, int], None] | None = None,
    ) -> Verification:
        """Derive every hash again; see `verify.verify`."""
        with self._marks_to_read() as marks, self.snapshot() as db:
            known = marks.known()
            verified = verify(db, self.artifacts, namespace=namespace, heads=heads, marks=known, progress=progress)
        rot = "" if known else rot_of(self.root)
        problems = (*verified.problems, Problem("mark", rot)) if rot else verified.problems
        return replace(verified, problems=problems, notes=(*verified.notes, *marks.notes()))

    @contextmanager
    def _marks_to_read(self) -> Iterator[Marks]:
        """Give the marks as they are now."""
        marks = Marks(self.root, self.reader.uuid(), self._heads, write=False)
        try:
            yield marks
        finally:
            marks.close()

    def accept_head(self) -> tuple[Lack, ...]:
        """Take the log as it is, as after a backup was restored on purpose; give what it lacked of its marks.

        Stores that were at its path before are forgotten.
        """
        self._writable()
        return self._witness.accept()

    def compared(self) -> Comparison:
        """Compare every namespace with its mark."""
        with self._marks_to_read() as marks, self.snapshot() as db:
            known = marks.known()
            rot = "" if known else rot_of(self.root)
            return Comparison(tuple(lacking(db, known)), (*marks.faults, *marks.notes()), rot)

    def unread(self, namespace: str) -> str:
        """Say what was acknowledged in a namespace, or last in any, and cannot be read; empty when all can be."""
        key = self.reader.namespace_key(namespace)
        with self._marks_to_read() as marks, self.snapshot() as db:
            lost = unread(self.root, db, marks, key)
        left_out = self.reader.reached(key, LEFT_OUT).position if key else 0
        why = f"event {left_out} could not be read when it was indexed; run: firsthand store verify"
        return lost or (why if left_out else "")

    def backup(self, target: Path) -> Backup:
        """Copy the store into a new folder while writers go on; see `backup.backup`."""
        with self.snapshot() as db:
            return backup(db, self.root, target, self._disk)

    def export(self, out: BinaryIO, *, namespace: str | None = None, session: str | None = None) -> Exported:
        """Write a store, a namespace or a session as JSON Lines; see `export`."""
        with self.snapshot() as db:
            return export(db, self.artifacts, out, namespace=namespace, session=session)

    def check_writable(self) -> None:
        """Raise at once where nothing can be written."""
        self.exclusively(lambda _db: None)

    def adopt(self, store_uuid: bytes, created: int) -> None:
        """Take over the identity of the store whose export is being restored, if this one is empty."""

        def write(db: apsw.Connection) -> None:
            assert self._marks is not None  # whoever may write has marks
            if db.execute("SELECT EXISTS (SELECT 1 FROM event)").get:
                return
            with db:
                db.execute("UPDATE store SET value = ? WHERE key = 'uuid'", (store_uuid,))
                db.execute("UPDATE store SET value = ? WHERE key = 'created'", (created,))
            if store_uuid != self._marks.home.uuid:
                self._marks.adopt(store_uuid, heights(db))

        self.exclusively(write)
