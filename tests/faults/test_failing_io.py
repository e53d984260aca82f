"""Each call to the medium failing once, below SQLite and below the artifacts."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import apsw
import pytest
from medium import Failing, FailingDisk, FailingVFS

from firsthand.errors import FirsthandError, StoreFailed, StoreFull, Unresolvable
from firsthand.event import Draft, Kind
from stores import SOAK, assert_whole, open_log

LARGE = b"".join(b"line %d of a large result\n" % number for number in range(60))


class Run:
    """A short life of a store, and what it acknowledged until something failed."""

    def __init__(self, root: Path, plan: Failing) -> None:
        self.root, self.plan = root, plan
        self.promised: dict[str, bytes] = {}
        self.tried: dict[str, bytes] = {}
        self.erased: set[str] = set()
        self.error: FirsthandError | None = None
        self.vfs = FailingVFS(f"failing {root}", plan)

    def go(self) -> None:
        """Open, append, checkpoint, read, erase; each step may fail with an error of our tree and nothing else."""
        try:
            self.log = open_log(self.root, vfs=self.vfs.name, disk=FailingDisk(self.plan), inline_max=500)
        except FirsthandError as error:
            self.error = error
            return
        self.log.writer.wal_autocheckpoint(6)
        for number in range(4):
            self.append(number, LARGE if number == 1 else b"a small one %d" % number)
        try:
            for identifier, content in self.promised.items():
                assert self.log.reader.content(self.log.reader.event("default", identifier)) == content
            if self.promised:
                first = next(iter(self.promised))
                self.log.erase("default", [first])
                self.erased.add(first)
        except FirsthandError as error:
            self.error = self.error or error
        self.append(9, b"the last")
        try:
            self.log.close()
        except FirsthandError as error:
            self.error = self.error or error

    def append(self, number: int, content: bytes) -> None:
        identifier = f"0000000000000000000000000{number}"
        self.tried[identifier] = content
        try:
            (one,) = self.log.append([Draft(Kind.NOTE, content, id=identifier)], namespace="default", session="s")
        except FirsthandError as error:
            self.error = self.error or error
            if self.plan.failed == "sync" and isinstance(error, StoreFailed):
                with pytest.raises(FirsthandError):
                    self.log.append([Draft(Kind.NOTE, b"x")], namespace="default", session="s")
        else:
            assert one.id == identifier
            self.promised[identifier] = content

    def assert_nothing_promised_is_lost(self) -> None:
        log = open_log(self.root)
        for identifier, content in self.tried.items():
            try:
                event = log.reader.event("default", identifier)
                found = log.reader.content(event)
            except Unresolvable:
                assert identifier not in self.promised
                continue
            if event.erased:
                assert identifier == min(self.promised)  # the one that was to be erased
                continue
            assert identifier not in self.erased
            assert found == content
        assert_whole(log)
        log.close()


@pytest.mark.parametrize("how", ["error", "full", "short"])
def test_no_failing_call_makes_a_wrong_promise(tmp_path, how):
    """Whichever call fails, what was acknowledged is there, the rest is whole or absent, and the store verifies."""
    calls = Failing(0, how)
    Run(tmp_path / "counted", calls).go()
    assert calls.calls > 60
    silent = []
    for at in range(1, calls.calls + 1, 1 if SOAK else 3):
        run = Run(tmp_path / f"at-{at}", Failing(at, how))
        run.go()
        run.assert_nothing_promised_is_lost()
        if run.error is None:
            silent.append(run.plan.failed)
        shutil.rmtree(run.root)
    # SQLite loses a read-ahead or a checkpoint without a word, and an index stays behind: they are done again.
    done_again = {
        "pread",
        "read",
        "write",
        "sync",
        "truncate",
        "stat",
        "open",
        "listdir",
        "fsync",
        "close",
        "delete",
        "fstat",
    }
    assert set(silent) <= done_again


def test_a_failed_sync_stops_the_handle(tmp_path):
    """After a sync that failed, this handle acknowledges nothing more, whatever is asked of it; a new one does."""
    plan = Failing(0, "error", only="sync")
    vfs = FailingVFS(f"sync {tmp_path}", plan)
    log = open_log(tmp_path / "store", vfs=vfs.name)
    log.append([Draft(Kind.NOTE, b"before")], namespace="default", session="s")
    plan.at = plan.calls + 1
    with pytest.raises(StoreFailed, match="sync failed"):
        log.append([Draft(Kind.NOTE, b"during")], namespace="default", session="s")
    for attempt in (
        lambda: log.append([Draft(Kind.NOTE, b"after")], namespace="default", session="s"),
        lambda: log.append([Draft(Kind.NOTE, b"after")], namespace="another", session="s"),
        lambda: log.erase("default", []),
        log.rebuild,
    ):
        with pytest.raises(StoreFailed, match="open the store again"):
            attempt()
    log.close()
    again = open_log(tmp_path / "store")
    again.append([Draft(Kind.NOTE, b"after")], namespace="default", session="s")
    assert_whole(again)
    again.close()


def test_a_failed_sync_while_the_disk_is_full_stops_the_handle_too(tmp_path):
    """A sync that fails for want of space is a failed sync, not a full disk: pages may be gone already."""

    class FullSync(FailingVFS):
        def xGetLastError(self):  # noqa: N802 - SQLite's name
            return errno.ENOSPC, "no space left"

        def xOpen(self, name, flags):  # noqa: N802 - SQLite's name
            return FullSyncFile(self.plan, name, flags)

    class FullSyncFile(apsw.VFSFile):
        def __init__(self, plan, name, flags) -> None:
            super().__init__("unix", name, flags)
            self.plan = plan

        def xSync(self, flags):  # noqa: N802 - SQLite's name
            if self.plan.at:
                raise apsw.exception_for(apsw.SQLITE_IOERR_FSYNC)

    plan = Failing(0, "full")
    vfs = FullSync(f"full sync {tmp_path}", plan)
    log = open_log(tmp_path / "store", vfs=vfs.name)
    log.append([Draft(Kind.NOTE, b"before")], namespace="default", session="s")
    plan.at = 1
    with pytest.raises(StoreFailed):
        log.append([Draft(Kind.NOTE, b"during")], namespace="default", session="s")
    plan.at = 0
    with pytest.raises(StoreFailed, match="open the store again"):
        log.append([Draft(Kind.NOTE, b"after")], namespace="default", session="s")
    log.close()


def test_an_artifact_that_cannot_be_written_leaves_no_event(tmp_path):
    """When the disk refuses a payload the append fails with that reason, and neither event nor payload is there."""
    for at in range(1, 40):
        plan = Failing(0, "full")
        log = open_log(tmp_path / f"{at}", disk=FailingDisk(plan), inline_max=100)
        log.append([Draft(Kind.NOTE, b"first")], namespace="default", session="s")
        plan.at = plan.calls + at
        try:
            log.append([Draft(Kind.NOTE, LARGE)], namespace="default", session="s")
        except (StoreFull, StoreFailed):
            assert [event.content for event in log.reader.events("default")] == [b"first"]
        assert_whole(log)
        log.close()
