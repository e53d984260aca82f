"""A namespace of an engine with its replica as one log: every verb of `Log`, on two of them.

    write -> the engine, on its disk
    read  -> has the engine moved? -> what came is taken into the replica -> its log and indexes answer

The invariant: what a read gives holds every event that the engine had acknowledged when the read, or the block of
`answering` around it, began; where that was not to be had in time, the block says so. Losing the folder loses nothing.
"""

from __future__ import annotations

import math
import shutil
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from firsthand.environment import ADDRESS_FILE, store_name
from firsthand.errors import InvalidArgument, KeyMissing, StoreBusy, StoreDamaged, StoreFull, StoreMoved, StoreReplaced
from firsthand.event import Draft
from firsthand.log.engine import Progress
from firsthand.log.export import Exported
from firsthand.log.prepare import DraftGroup
from firsthand.log.results import Appended, Backup, EarlierStore, Erasure, Rebuilt, Verification
from firsthand.log.sqlite.database import FreshReaders
from firsthand.log.sqlite.log import Log
from firsthand.log.sqlite.mend import Comparison, Lack
from firsthand.log.sqlite.read import Reader
from firsthand.value import replace

from .deadline import QUIET_S
from .log import PostgresLog
from .primaries import COMING_S, Engines
from .replica_folder import IDENTITY_FILE, ReplicaFolder, notice_of

_T = TypeVar("_T")
FRESH_S = 0.02
"""Outside of `answering`, what others wrote is seen after so long, or once this handle wrote or was refused."""
ANSWER_S = 2.0
"""So long a question waits for a replica that is far behind; then its answer says so."""

_STANDBY = (
    "the server of PostgreSQL is a standby, which may lack the newest events; name the primary, of several hosts by "
    "target_session_attrs=read-write"
)


class ReplicatedLog:
    """One namespace of a store in PostgreSQL, followed into a folder.

    Args:
        home: the machine's folder for the store: its own files, none of which is in the engine.
        root: the replica's folder.
        options: of its `Log`: its indexes and followers.
        shared: the engine is others' too, so that closing this closes it not.
        engines: the store's primaries, where there are several: a namespace that moves is followed.
    """

    newer = False
    earlier: tuple[EarlierStore, ...] = ()

    def __init__(
        self, engine: PostgresLog, namespace: str, home: Path, root: Path, *, shared: bool = False,
        engines: Engines | None = None, **options: Any,
    ) -> None:  # fmt: skip
        self.engine, self.namespace, self.home, self._engines = engine, namespace, home, engines
        self.read_only = bool(options.pop("read_only", False))
        self._lock, self._thread, self._followed, self._shared = threading.RLock(), threading.local(), 0.0, shared
        self._replica, self._closed = ReplicaFolder(engine, namespace, root, options), False
        local = self._replica.log
        fresh = FreshReaders(local._readers, self._refresh)  # noqa: SLF001 - the same connections
        self.reader = Reader(root, fresh, local.artifacts, local.reader.index_names)
        self.reader.store = store_name(home)

    @property
    def is_new(self) -> bool:
        """True where opening it began the replica."""
        return self._replica.new

    # following ---------------------------------------------------------------------------------------

    @property
    def local(self) -> Log:
        """The replica's own log."""
        return self._replica.log

    def _refresh(self) -> None:
        if not hasattr(self._thread, "behind") and time.monotonic() - self._followed > FRESH_S:
            with self.engine.connections.within(QUIET_S):
                self.follow()

    def follow(self, within_s: float = math.inf) -> int:
        """Take in what the engine has and the replica has not, for so long; give how many events are left."""
        with self._lock:
            asked = time.monotonic()
            try:
                left = self._on_engine(lambda _: self._replica.follow(asked + within_s))
            except StoreReplaced:  # who knows the store by its folder opens it anew: the file is another one
                address = self.home / ADDRESS_FILE
                with suppress(OSError):  # none, or no room for it
                    shutil.copy2(address, f"{address}.new")
                    Path(f"{address}.new").replace(address)
                raise
            if not left:
                self._followed = asked
            return left

    @contextmanager
    def answering(self) -> Iterator[str]:
        """Answer one question: all reads of this thread in the block are as of its beginning, or later.

        Gives what the answer has to say of that: how far the replica is behind; empty when it is not.
        """
        if hasattr(self._thread, "behind"):
            yield self._thread.behind
            return
        try:
            with self.engine.connections.within(QUIET_S):
                left = self.follow(ANSWER_S)
            behind = _STANDBY if self.engine.connections.standby else ""
            if left:
                behind = f"the newest {left:,} events are not in this machine's replica yet; ask again"
        except (StoreBusy, StoreDamaged, StoreFull, KeyMissing) as error:
            behind = behind_of(self.local.reader.head(self.namespace)[0], error)
        self._thread.behind = behind
        try:
            yield behind
        finally:
            del self._thread.behind

    # writing -----------------------------------------------------------------------------------------

    def append(
        self, drafts: Sequence[Draft], *, namespace: str, session: str, expected_position: int | None = None
    ) -> tuple[Appended, ...]:
        """Append events to one session; on return they are on the engine's disk and can be found here."""
        self._check(namespace)
        options: dict[str, Any] = {"namespace": namespace, "session": session, "expected_position": expected_position}
        return self._write(lambda engine: engine.append(drafts, **options), again=_are_whole(drafts))

    def append_group(self, groups: Sequence[DraftGroup], *, namespace: str) -> tuple[Appended, ...]:
        """Append events to several sessions in one transaction, all or none."""
        self._check(namespace)
        drafts = [draft for group in groups for draft in group.drafts]
        return self._write(lambda engine: engine.append_group(groups, namespace=namespace), again=_are_whole(drafts))

    def submit(self, batches: object) -> tuple[Appended, ...]:
        """Append what was prepared before."""
        return self._write(lambda engine: engine.submit(batches))

    def _write(self, action: Callable[[PostgresLog], _T], *, again: bool = True) -> _T:
        """Append on the engine; the next read follows, also to what another machine was quicker with."""
        try:
            return self._on_engine(action, again=again)
        finally:
            self._followed = 0.0  # an event that is acknowledged does not fail for a replica

    def erase(self, namespace: str, identifiers: Sequence[str], reason: str = "") -> Erasure:
        """Destroy the content of events on the engine, and here; other machines' replicas when they follow."""
        self._check(namespace)
        erasure = self._on_engine(lambda engine: engine.erase(namespace, identifiers, reason))
        try:
            self.follow()
        except StoreReplaced as error:  # the content went with the replica
            return replace(erasure, retained=" ".join(filter(None, (erasure.retained, str(error)))))
        return erasure

    def _on_engine(self, action: Callable[[PostgresLog], _T], *, again: bool = True) -> _T:
        """Do something on the engine that has the namespace; where it has moved, go there first.

        Args:
            again: it may be done a second time.
        """
        until = time.monotonic() + COMING_S
        while True:
            try:
                return action(self.engine)
            except StoreMoved as error:
                if self._engines is None:
                    raise
                self.engine = self._replica.engine = self._engines.after(error, until) or self.engine
                if not again:
                    raise

    def _check(self, namespace: str) -> None:
        if namespace != self.namespace:
            raise InvalidArgument(f"this handle is of namespace {self.namespace!r}; open another one for {namespace!r}")

    # what the engine answers ---------------------------------------------------------------------------

    @property
    def artifacts(self) -> Any:
        """The engine's large payloads."""
        return self.engine.artifacts

    def verify(
        self, *, namespace: str | None = None, heads: Sequence[str] = (), progress: Progress | None = None
    ) -> Verification:
        """Derive every hash of the engine's namespace again, and those of the replica, which goes if one is wrong."""
        with suppress(KeyMissing):  # the engine's chain, and what is here, can be derived without
            self.follow()
        options: dict[str, Any] = {"namespace": namespace or self.namespace, "heads": heads, "progress": progress}
        verified = self._on_engine(lambda engine: engine.verify(**options))
        here = self.local.verify(namespace=self.namespace)
        if verified.ok and here.problems:
            self._replica.discard(f"it was damaged ({here.problems[0]})")
        return replace(verified, notes=(*verified.notes, *self.compared().notes))

    def export(self, out: BinaryIO, *, namespace: str | None = None, session: str | None = None) -> Exported:
        """Write the engine's namespace, or a session of it, as JSON Lines.

        Raises:
            InvalidArgument: every namespace is asked for, which no role of an application may read.
        """
        if namespace is None:
            raise InvalidArgument(
                "expected one namespace: no role of an application may read all of a store in PostgreSQL. Export each "
                "by its name (firsthand store export FILE --namespace NAME), or copy all as the owner: pg_dump DSN"
            )
        self._on_engine(lambda engine: engine.reader.head(namespace))  # where it is, before a byte is written
        return self._on_engine(lambda engine: engine.export(out, namespace=namespace, session=session), again=False)

    def namespace_key(self, namespace: str) -> int:
        """Give the namespace's number in the engine."""
        return self.engine.namespace_key(namespace)

    # what the folder answers ---------------------------------------------------------------------------

    @property
    def root(self) -> Path:
        """The replica's folder."""
        return self._replica.root

    def folder(self) -> Path:
        """Give the folder in which this machine keeps files of its own; `StoreReplaced` where the replica was."""
        self.local.folder()
        return self.home

    def flush_indexes(self, namespace: str) -> None:
        """Leave nothing to be indexed later."""
        self.follow()
        self.local.flush_indexes(namespace)

    def rebuild(self, progress: Progress | None = None) -> Rebuilt:
        """Build every index anew, with the large payloads that could not be read when their events came."""
        self._on_engine(lambda _: self._replica.complete())
        return self.local.rebuild(progress)

    def backup(self, target: Path) -> Backup:
        """Copy the replica, as a store in files; the engine is backed up where it runs."""
        self.follow()
        return self.local.backup(target)

    def prune(self, names: Collection[str]) -> None:
        """Remove what can be made again of the replica, and payloads that no event of the engine came to hold."""
        self.local.prune(names)
        if "payloads" in names:
            self.engine.artifacts.sweep(self.engine.namespace_key(self.namespace))

    def cursor(self, namespace: str, source: str) -> str | None:
        """Give how far a source on this machine was read."""
        return self.local.cursor(namespace, source)

    def save_cursors(self, namespace: str, cursors: Mapping[str, str]) -> None:
        """Keep how far sources on this machine were read."""
        self.local.save_cursors(namespace, cursors)

    def check_writable(self) -> None:
        """Raise at once where nothing can be written."""
        self.engine.check_writable()

    def adopt(self, store_uuid: bytes, created: int) -> None:
        """Nothing: a store of many keeps its own identity, whatever is restored into it."""

    def exclusively(self, action: Callable[[Any], Any]) -> Any:
        """Do something with the replica's write connection under its lock."""
        return self.local.exclusively(action)

    def snapshot(self) -> AbstractContextManager[Any]:
        """Give a read connection to the replica of its own."""
        return self.local.snapshot()

    def compared(self) -> Comparison:
        """Say that the store is another one, or why the replica was begun anew, until `accept_head` takes note."""
        return Comparison((), tuple(filter(None, map(notice_of, (self.home / IDENTITY_FILE, self.root)))))

    def accept_head(self) -> tuple[Lack, ...]:
        """Take note of what `compared` says."""
        for noticed in (self.home / IDENTITY_FILE, self.root):
            noticed.with_suffix(".notice").unlink(missing_ok=True)
        return ()

    def unread(self, namespace: str) -> str:
        """Say what the replica cannot read."""
        return self.local.unread(namespace)

    def close(self) -> None:
        """Let the replica and, unless it is shared, the engine go."""
        if self._closed:
            return
        self._closed = True
        self._replica.close()
        if not self._shared:
            (self._engines or self.engine).close()


def behind_of(position: int, why: Exception) -> str:
    """Say that a replica's answer ends at a position."""
    return f"this machine's replica holds the store up to position {position:,}, and not what came after it: {why}"


def _are_whole(drafts: Sequence[Draft]) -> bool:
    """Say whether drafts can be appended a second time: none is read from a source."""
    return all(isinstance(draft.content, bytes) for draft in drafts)
