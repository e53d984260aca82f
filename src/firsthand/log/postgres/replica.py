"""A namespace of an engine as a store in a folder, which answers for it: every verb of `Log`, on two of them.

    write -> the engine, on its disk -> what came since is taken into the folder, link by link
    read  -> has the engine moved? -> what came is taken in -> the folder's log and indexes answer

The invariant: the folder holds a prefix of the engine's namespace, each event chained as there, with the head that
the engine had at its end; one of another engine, namespace or past is discarded and begun anew. What was erased
there is erased here before anything later is read. Losing the folder loses nothing.
"""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, BinaryIO

from firsthand.errors import InvalidArgument
from firsthand.event import Artifact, Draft, Kind, Trust, decode_body, id_text
from firsthand.log.export import Exported
from firsthand.log.prepare import Batch, DraftGroup, Prepared, Restored
from firsthand.log.results import Appended, Backup, EarlierStore, Erasure, Rebuilt, Verification
from firsthand.log.rows import body_of, erased_by, header_of
from firsthand.log.sqlite.log import Log
from firsthand.log.sqlite.mend import Comparison, Lack
from firsthand.log.sqlite.read import Reader
from firsthand.moment import Moment

from .log import PostgresLog
from .reader import number_of

HEADER_FILE = "replica.json"
FRESH_S = 0.02
"""What others wrote is seen after so long; what this handle wrote, at once."""
STEP_EVENTS = 1_000


class ReplicatedLog:
    """One namespace of a store in PostgreSQL, followed into a folder.

    Args:
        root: of the replica; made anew where it is of something else.
        options: of the folder's `Log`: its indexes and followers.
    """

    newer = False
    earlier: tuple[EarlierStore, ...] = ()

    def __init__(self, engine: PostgresLog, namespace: str, root: Path, **options: Any) -> None:
        self.engine, self.namespace = engine, namespace
        self._key, self._lock, self._followed = number_of(namespace), threading.RLock(), 0.0
        self.read_only = bool(options.pop("read_only", False))
        self._options = options
        self.local = self._opened(root.absolute())
        self.follow()

    def _opened(self, root: Path) -> Log:
        """Open the folder, or begin it anew where it does not hold a prefix of the namespace."""
        header = {"engine": self.engine.reader.uuid().hex(), "namespace": self.namespace}
        file = root / HEADER_FILE
        if root.exists() and any(root.iterdir()):
            if not file.exists():
                raise InvalidArgument(f"{root} is no replica; name a new or empty folder for it.")
            if json.loads(file.read_text(encoding="utf-8")) == header:
                local = Log(root, heads=None, **self._options)
                position, head = local.reader.head(self.namespace)
                if not position or self.engine.reader.head_at(self.namespace, position) == head:
                    return local
                local.close()
            shutil.rmtree(root)
        local = Log(root, heads=None, **self._options)
        file.write_text(json.dumps(header), encoding="utf-8")
        return local

    # following ---------------------------------------------------------------------------------------

    @property
    def reader(self) -> Reader:
        """The folder's reader, once it holds what the engine held a moment ago."""
        if time.monotonic() - self._followed > FRESH_S:
            self.follow()
        return self.local.reader

    def follow(self) -> int:
        """Take in what the engine has and the folder has not; give the last position."""
        with self._lock:
            while True:
                asked = time.monotonic()
                last = self.local.reader.head(self.namespace)[0]
                rows = self.engine.reader.stored(self.namespace, last, STEP_EVENTS)
                for batch in _batches(self.namespace, rows):
                    self._take(batch)
                if len(rows) < STEP_EVENTS:
                    self._followed = asked
                    return rows[-1][0] if rows else last

    def _take(self, batch: Batch) -> None:
        key = self.local.namespace_key(self.namespace)
        for event in batch.events:
            if event.artifact is not None:
                pieces = _Pieces(self.engine.artifacts.pieces(self._key, event.artifact))
                self.local.artifacts.put(key, pieces)
        self.local.submit((batch,))
        for event in batch.events:
            if event.kind is Kind.ERASURE and event.parts is not None:
                self.local.forget(self.namespace, erased_by(event.parts.payload))

    # writing -----------------------------------------------------------------------------------------

    def append(
        self, drafts: Sequence[Draft], *, namespace: str, session: str, expected_position: int | None = None
    ) -> tuple[Appended, ...]:
        """Append events to one session; on return they are on the engine's disk and can be found here."""
        self._check(namespace)
        appended = self.engine.append(drafts, namespace=namespace, session=session, expected_position=expected_position)
        self.follow()
        return appended

    def append_group(self, groups: Sequence[DraftGroup], *, namespace: str) -> tuple[Appended, ...]:
        """Append events to several sessions in one transaction, all or none."""
        self._check(namespace)
        appended = self.engine.append_group(groups, namespace=namespace)
        self.follow()
        return appended

    def submit(self, batches: object) -> tuple[Appended, ...]:
        """Append what was prepared before."""
        appended = self.engine.submit(batches)
        self.follow()
        return appended

    def erase(self, namespace: str, identifiers: Sequence[str], reason: str = "") -> Erasure:
        """Destroy the content of events on the engine, and here."""
        self._check(namespace)
        erasure = self.engine.erase(namespace, identifiers, reason)
        self.follow()
        return erasure

    def _check(self, namespace: str) -> None:
        if namespace != self.namespace:
            raise InvalidArgument(f"this handle is of namespace {self.namespace!r}; open another one for {namespace!r}")

    # what the engine answers ---------------------------------------------------------------------------

    @property
    def artifacts(self) -> Any:
        """The engine's large payloads."""
        return self.engine.artifacts

    def verify(
        self,
        *,
        namespace: str | None = None,
        heads: Sequence[str] = (),
        progress: Callable[[int, int], None] | None = None,  # noqa: ARG002 - as of a log in files
    ) -> Verification:
        """Derive every hash of the engine's namespace again."""
        return self.engine.verify(namespace=namespace or self.namespace, heads=heads)

    def export(self, out: BinaryIO, *, namespace: str | None = None, session: str | None = None) -> Exported:
        """Write the engine's namespace, or a session of it, as JSON Lines."""
        return self.engine.export(out, namespace=namespace or self.namespace, session=session)

    def namespace_key(self, namespace: str) -> int:
        """Give the namespace's number in the engine."""
        return self.engine.namespace_key(namespace)

    # what the folder answers ---------------------------------------------------------------------------

    @property
    def root(self) -> Path:
        """The folder, in which this machine also keeps files of its own."""
        return self.local.root

    def folder(self) -> Path:
        """Give the folder; `StoreReplaced` where it was moved since it was opened."""
        return self.local.folder()

    def flush_indexes(self, namespace: str) -> None:
        """Leave nothing to be indexed later."""
        self.follow()
        self.local.flush_indexes(namespace)

    def rebuild(self, progress: Callable[[int, int], None] | None = None) -> Rebuilt:
        """Build every index anew."""
        return self.local.rebuild(progress)

    def backup(self, target: Path) -> Backup:
        """Copy the folder, as it follows the engine's namespace; the engine is backed up where it runs."""
        self.follow()
        return self.local.backup(target)

    def prune(self, names: Collection[str]) -> None:
        """Remove what can be made again of the folder."""
        self.local.prune(names)

    def cursor(self, namespace: str, source: str) -> str | None:
        """Give how far a source on this machine was read."""
        return self.local.cursor(namespace, source)

    def save_cursors(self, namespace: str, cursors: Mapping[str, str]) -> None:
        """Keep how far sources on this machine were read."""
        self.local.save_cursors(namespace, cursors)

    def check_writable(self) -> None:
        """Nothing: the engine refuses what may not be written when it is."""

    def adopt(self, store_uuid: bytes, created: int) -> None:
        """Nothing: a store of many keeps its own identity, whatever is restored into it."""

    def exclusively(self, action: Callable[[Any], Any]) -> Any:
        """Do something with the folder's write connection under its lock."""
        return self.local.exclusively(action)

    def snapshot(self) -> AbstractContextManager[Any]:
        """Give a read connection to the folder of its own."""
        return self.local.snapshot()

    def compared(self) -> Comparison:
        """Compare the folder with the engine: it lacks nothing that the engine could not give again."""
        return Comparison((), ())

    def accept_head(self) -> tuple[Lack, ...]:
        """Nothing: what was acknowledged is the engine's."""
        return ()

    def unread(self, namespace: str) -> str:  # noqa: ARG002 - as of a log in files
        """Say what the folder cannot read; empty, since what is damaged here is taken anew."""
        return ""

    def close(self) -> None:
        """Let the folder and the engine's connections go."""
        self.local.close()
        self.engine.close()


def open_replica(dsn: str, namespace: str, folder: Path, **options: Any) -> ReplicatedLog:
    """Open a namespace of a store in PostgreSQL, followed into a folder of its own below one of a machine's caches."""
    options.pop("create", None)
    engine = PostgresLog(dsn)
    root = folder / f"{engine.reader.uuid().hex()}-{number_of(namespace):016x}"
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    return ReplicatedLog(engine, namespace, root, **options)


def _batches(namespace: str, rows: Sequence[tuple[Any, ...]]) -> Iterator[Batch]:
    """Give rows of the engine as batches of one session each, as an export would bring them."""
    pending: list[Prepared] = []
    session = ""
    for row in rows:
        if pending and row[20] != session:
            yield Batch(namespace, session, tuple(pending))
            pending = []
        session = row[20]
        pending.append(_prepared(row))
    if pending:
        yield Batch(namespace, session, tuple(pending))


def _prepared(row: tuple[Any, ...]) -> Prepared:
    """Give a row as what the log appends, checked against its commitment."""
    body = body_of(row)
    parts = None if body is None else decode_body(body)
    header = header_of(row, row[9], row[10])
    artifact = parts.payload if parts is not None and isinstance(parts.payload, Artifact) else None
    return Prepared(
        row[1], Kind.of(row[7]), row[5], row[6], Trust.of(row[8]), header.time, row[9], row[10], row[17], row[16],
        body, row[18], artifact, id_text(row[1]), parts, Restored(Moment(row[13], row[14]), row[15], row[0]),
    )  # fmt: skip


class _Pieces:
    """Pieces as something to read from."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._rest = pieces, b""

    def read(self, size: int, /) -> bytes:
        while not self._rest and (piece := next(self._pieces, None)) is not None:
            self._rest = piece
        piece, self._rest = self._rest[:size], self._rest[size:]
        return piece
