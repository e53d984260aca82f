"""The log beside its high-water mark: compared when a store is opened, verified and appended to.

Opening compares the last commit alone, and an append each namespace that it uses for the
first time, so neither costs more with more namespaces. A log that ends before its mark is
mended (`mend`) before anything is written: what can be read is brought back, what cannot is
recorded as lost.

The invariant: nothing is appended to a namespace at a position that was acknowledged before.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw

from firsthand.errors import StoreDamaged
from firsthand.event import Draft, IdMaker, Kind, Trust
from firsthand.log import loss
from firsthand.log.disk import Disk
from firsthand.log.loss import Loss
from firsthand.log.prepare import Batch, prepare

from .append import Appender
from .artifacts import ArtifactStore
from .mark import MARK_FILE, Mark, MarkFile, Marks
from .mend import Lack, height_of, lacking, readable, set_aside, write_back
from .queue import Ticket
from .schema import DATABASE_FILE
from .wal import parse


class Witness:
    """What was acknowledged, against what one writer's log holds.

    Args:
        exclusively: does something with the write connection under the write lock.
    """

    def __init__(
        self,
        root: Path,
        marks: Marks,
        db: apsw.Connection,
        appender: Appender,
        artifacts: ArtifactStore,
        disk: Disk,
        exclusively: Callable[[Callable[[apsw.Connection], Any]], Any],
    ) -> None:
        self._root, self._marks, self._db, self._appender = root, marks, db, appender
        self._artifacts, self._disk, self._exclusively = artifacts, disk, exclusively

    def compare(self) -> None:
        """Compare the last commit with its marks, and mend the log if it ends before them."""
        last = self._marks.last()
        if not last or self._marks.copied:
            self._exclusively(self._begin)
        elif any(mark.ahead_of(*height_of(self._db, mark.key)) for mark in last):
            self._exclusively(lambda _: self.mend())
        self._marks.settle()

    def _begin(self, _: apsw.Connection) -> None:
        """Mark what the log holds, where nothing was marked, or in a copy: what its original has since is not lost."""
        if rot_of(self._root):
            self.mend(marks=())
        marks = heights(self._db)
        if marks or self._marks.copied:
            self._marks.reset(marks)

    def mend(self, marks: tuple[Mark, ...] | None = None) -> None:
        """Bring back what can be read, and record what cannot; under the write lock.

        Args:
            marks: to compare with; None takes all that were kept.
        """
        set_aside(self._root, self._disk)
        reach = readable(self._db, self._root / DATABASE_FILE, self._marks.all() if marks is None else marks)
        tickets = [Ticket((self._batch(lack, lack.loss),), -1) for lack in reach if lack.loss is not None]
        self._appender.commit(tickets, mending=lambda: write_back(self._db, reach))
        for ticket in tickets:
            if ticket.error is not None:
                raise ticket.error
        with suppress(apsw.BusyError):  # a reader still needs the WAL: its damaged frames go with the next checkpoint
            self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        self._marks.sync()

    def _batch(self, lack: Lack, lost: Loss) -> Batch:
        content = lost.content()
        draft = Draft(Kind.LOSS, content, loss.MEDIA, origin="firsthand", trust=Trust.TRUSTED)
        event = prepare(draft, lack.key, self._artifacts, len(content), IdMaker(), by_log=True)
        return Batch(lack.namespace, loss.SESSION, (event,))

    def accept(self) -> tuple[Lack, ...]:
        """Take the log as it is for all that was acknowledged; give what it lacked of that."""

        def accept(db: apsw.Connection) -> tuple[Lack, ...]:
            lacked = lacking(db, self._marks.all())
            self._marks.reset(heights(db))
            return tuple(lacked)

        accepted: tuple[Lack, ...] = self._exclusively(accept)
        return accepted


def heights(db: apsw.Connection) -> list[Mark]:
    """Read how far each namespace of a log reaches."""
    rows: list[Any] = db.execute("SELECT key, head_position, head FROM namespace ORDER BY key").fetchall()
    return [Mark(*row) for row in rows if row[1]]


def rot_of(root: Path) -> str:
    """Say what the WAL of a store shows of its own damage; empty when nothing."""
    wal = root / f"{DATABASE_FILE}-wal"
    if not wal.exists() or not (read := parse(wal.read_bytes())).rotten:
        return ""
    return (
        f"the WAL is damaged at frame {read.accepted + 1:,}, and {read.commits_behind:,} commits stand behind it; "
        "the next append brings back what can be read"
    )


def unread(root: Path, db: apsw.Connection, marks: Marks, key: int) -> str:
    """Say what was acknowledged in a namespace, or last in any, and cannot be read; empty when all can be."""
    if marks.copied:
        return ""
    known = [*(marks.of(key) if key else ()), *marks.last()]
    lacks = lacking(db, known)
    return str(lacks[0]) if lacks else "" if known else rot_of(root)


def check_not_gone(root: Path) -> None:
    """Refuse to begin a new store where the mark of another says that it held events.

    Raises:
        StoreDamaged: it says so.
    """
    file = MarkFile.open(root / MARK_FILE, None, write=False)
    if file is None:
        return
    marks = list(file.marks())
    file.close()
    if marks:
        count = sum(mark.position for mark in marks)
        raise StoreDamaged(
            f"{root / DATABASE_FILE} is gone or empty; the high-water mark beside it says that the store held "
            f"{count:,} events in {len(marks):,} namespaces. Restore a backup into another folder, or, to begin anew "
            f"here, remove {root / MARK_FILE}."
        )
