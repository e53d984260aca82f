"""Follows the log with vectors: reads events, has their texts embedded, writes what came.

Embedding happens outside the write lock; under it a batch is written in one
transaction, in milliseconds. Batches grow while they are quick, so that neither a
fast embedder waits for the disk nor a slow one keeps a whole batch in the air.

The invariant: the watermark moves only together with the vectors of every
searchable event up to it. A batch whose events were erased while it was embedded is
written without them; one that another process wrote first is thrown away. A space
of another embedder stays until this one's is complete, then goes.

It knows no model, no threads and no namespace but its own.
"""

from __future__ import annotations

import fcntl
import os
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum

import apsw

from firsthand.errors import ModelError, StoreDamaged
from firsthand.log.disk import make_private, open_private, translated
from firsthand.log.rows import POSITION, key_of
from firsthand.log.sqlite.database import translating
from firsthand.log.sqlite.local import LocalLog
from firsthand.value import value

from . import vectors
from .embed.port import Embedder, embedded
from .vector_texts import identity_of, texts_of
from .vectors import position_of

EVENTS_MAX = 10_000
"""Looked at in one step: of a namespace with few events that have words."""
TEXTS_MIN, TEXTS_MAX = 32, 4_096
QUICK_SECONDS, SLOW_SECONDS = 0.2, 1.0
"""After a batch that took less than the first the next one is twice as large; after more than the second, half."""
_ERASED = f"SELECT {POSITION} FROM event WHERE salt IS NULL AND key IN carray(?)"  # noqa: S608 - a constant


class Step(Enum):
    """What a step came to."""

    TOOK = "took"  # something was done, and there may be more to do
    ELSEWHERE = "elsewhere"  # another process is at it: what it writes, this one need not
    DONE = "done"  # the end of the log is reached


@value
class _Batch:
    """Texts that wait to be embedded, and how far the watermark moves with them."""

    after: int
    through: int
    rows: list[int]
    texts: list[str]


class VectorFollower:
    """Brings the vectors of one namespace by one embedder up to date, a step at a time. One thread may use it."""

    def __init__(self, log: LocalLog, namespace: str, embedder: Embedder) -> None:
        self._log, self._name, self._embedder = log, namespace, embedder
        self._identity = identity_of(embedder)
        self._texts_max = TEXTS_MIN

    @property
    def through(self) -> int:
        """The watermark: every searchable event up to this position has its vectors."""
        space = vectors.find(self._log.reader.db, self._namespace(), self._identity)
        return space.through if space is not None else 0

    def step(self) -> Step:
        """Take the next events in; when none are left, drop what other embedders made.

        Raises:
            ModelError: the embedder failed; nothing was written.
            StoreError: the store cannot be read or written.
        """
        with translating(self._log.root), self._mine() as mine:
            if not mine:
                return Step.ELSEWHERE
            begun = time.monotonic()
            batch = self._read(self.through)
            if batch is None:
                return Step.TOOK if self._drop_another() else Step.DONE
            self._log.exclusively(self._writing(batch))
            self._pace(len(batch.texts), time.monotonic() - begun)
            return Step.TOOK

    def _namespace(self) -> int:
        return self._log.reader.namespace_key(self._name)

    @contextmanager
    def _mine(self) -> Iterator[bool]:
        """Hold the lock that says which process is at it, unless another has it."""
        lock = self._log.root / "cache" / f"vectors-{self._namespace()}.lock"
        try:
            make_private(lock.parent)
            file = open_private(lock, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        except OSError as error:
            raise translated(error, f"open {lock}") from error
        mine = False
        try:
            with suppress(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                mine = True
            yield mine
        finally:
            if mine:  # a child forked in the meantime holds the same lock: closing is not enough
                fcntl.flock(file, fcntl.LOCK_UN)
            os.close(file)

    def _pace(self, texts: int, seconds: float) -> None:
        if seconds < QUICK_SECONDS and texts >= self._texts_max:
            self._texts_max = min(TEXTS_MAX, self._texts_max * 2)
        elif seconds > SLOW_SECONDS:
            self._texts_max = max(TEXTS_MIN, self._texts_max // 2)

    def _read(self, after: int) -> _Batch | None:
        """Read the next events until there are texts enough; None at the end of the log.

        A damaged event is passed over: no answer could show it, and `verify` names it.
        """
        rows: list[int] = []
        texts: list[str] = []
        through, namespace = after, self._namespace()
        while through - after < EVENTS_MAX:
            read = self._log.reader.entries(namespace, through, self._texts_max)
            if read.through == through:
                break
            for entry in read.entries:
                with suppress(StoreDamaged):  # in the middle of a payload: the passages before that are kept
                    for row, text in texts_of(entry.event, self._log.reader):
                        rows.append(row)
                        texts.append(text)
                if len(texts) >= self._texts_max:
                    return _Batch(after, entry.event.position, rows, texts)
            through = read.through
        return _Batch(after, through, rows, texts) if through > after else None

    def _writing(self, batch: _Batch) -> Callable[[apsw.Connection], None]:
        """Have a batch embedded; give what writes it, without the events that were erased meanwhile."""
        from . import codes  # noqa: PLC0415 - numpy

        table = embedded(self._embedder, batch.texts) if batch.texts else None
        made = codes.Codes((), ()) if table is None else codes.encode(codes.unit(table))
        dimension = self._embedder.dimension if table is None else table.shape[1]
        namespace = self._namespace()

        def write(db: apsw.Connection) -> None:
            with db:
                space = vectors.find(db, namespace, self._identity)
                if (space.through if space is not None else 0) != batch.after:
                    return
                if space is not None and not space.vectors and space.dimension != dimension:
                    vectors.drop(db, space.key)
                    space = None
                space = space or vectors.make(db, namespace, self._identity, dimension)
                if table is not None and space.dimension != dimension:
                    raise ModelError(vectors.resized(space, dimension))
                keys = array("q", sorted({key_of(namespace, position_of(row)) for row in batch.rows}))
                gone = {position for (position,) in db.execute(_ERASED, (apsw.carray(keys),))} if keys else ()
                staying = [at for at, row in enumerate(batch.rows) if position_of(row) not in gone]
                rows, coded = [batch.rows[at] for at in staying], made.only(staying)
                vectors.extend(db, space, batch.through, rows, coded.coded, coded.bits, coded.added_to(space.total))

        return write

    def _drop_another(self) -> bool:
        """Drop a space of another embedder, now that this one's is complete; say whether there was one."""
        spaces = vectors.spaces(self._log.reader.db, self._namespace())
        others = [space.key for space in spaces if space.identity != self._identity]
        if not others or not self.through:
            return False

        def drop(db: apsw.Connection) -> None:
            with db:
                vectors.drop(db, others[0])

        self._log.exclusively(drop)
        return True
