"""The artifact store: exact bytes at the address of their hash, durable or not there at all."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import random
import threading
import tracemalloc
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.errors import InvalidDraft, StoreDamaged, StoreFailed
from firsthand.event import CONTENT_INLINE_MAX, Artifact, Draft, Kind
from firsthand.log.disk import Disk
from firsthand.log.preview import preview
from firsthand.log.seekable import FRAME_BYTES
from firsthand.log.sqlite.artifacts import ArtifactStore
from stores import open_log

TEXT = b"".join(b"line %d of /srv/log/build.txt, with some words to compress\n" % k for k in range(40_000))
SMALL = TEXT[:20_000]
MEDIUM = TEXT[: FRAME_BYTES + 5_000]


@pytest.fixture
def store(tmp_path):
    return ArtifactStore(tmp_path, Disk())


def whole(store: ArtifactStore, artifact: Artifact, key: int = 1) -> bytes:
    return b"".join(store.pieces(key, artifact))


def files(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


def address(payload: bytes, key: int = 1) -> str:
    name = hashlib.sha256(payload).hexdigest()
    return f"artifacts/{key}/{name[:2]}/{name}.zst"


class Trickle:
    """A source that gives a few bytes at a time."""

    def __init__(self, payload: bytes, step: int) -> None:
        self._file, self._step = io.BytesIO(payload), step

    def read(self, size: int) -> bytes:
        return self._file.read(min(size, self._step))


@pytest.mark.parametrize("payload", [b"", b"x", SMALL, TEXT, random.Random(1).randbytes(FRAME_BYTES + 7)])
def test_round_trip(store, tmp_path, payload):
    """Bytes and a source of the same bytes give the same artifact, one file, and the same bytes back."""
    artifact = store.put(1, payload)
    assert artifact == Artifact(hashlib.sha256(payload).digest(), len(payload), preview([payload]))
    assert store.put(1, Trickle(payload, 70_001)) == artifact
    assert list(files(tmp_path)) == [address(payload)]
    assert (whole(store, artifact), store.verify(1, artifact)) == (payload, None)
    assert list(store.listing(1)) == [artifact.digest]
    assert store.present(1, artifact.digest)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_range(tmp_path_factory, data):
    """Every range of every payload is what a slice gives; an end beyond the payload is its end."""
    payload = random.Random(data.draw(st.integers(0, 5))).randbytes(data.draw(st.sampled_from([0, 5, 1_500_000])))
    store = ArtifactStore(tmp_path_factory.mktemp("s"), Disk())
    artifact = store.put(3, payload)
    start = data.draw(st.integers(0, len(payload) + 10))
    end = data.draw(st.integers(start, len(payload) + 20))
    assert b"".join(store.pieces(3, artifact, start, end)) == payload[start:end]
    assert b"".join(store.pieces(3, artifact, start)) == payload[start:]


def test_backward_range(store):
    """A range that is negative or runs backwards is refused at the call, before anything is read."""
    artifact = store.put(1, SMALL)
    for start, end in ((-1, 5), (10, 5), (10, -1)):
        with pytest.raises(ValueError, match="runs forward from 0"):
            store.pieces(1, artifact, start, end)


@pytest.mark.parametrize("step", [1, 100, 10**9])
def test_take(store, tmp_path, step):
    """A source within the limit comes back as bytes and leaves no file; one byte more makes an artifact."""
    limit = 1000
    assert store.take(1, Trickle(SMALL[:limit], step), limit) == SMALL[:limit]
    assert files(tmp_path) == {}
    artifact = store.take(1, Trickle(SMALL[: limit + 1], step), limit)
    assert isinstance(artifact, Artifact)
    assert whole(store, artifact) == SMALL[: limit + 1]


def test_namespaces_are_apart(store):
    """The same payload in two namespaces is two files: removing one leaves the other."""
    one, two = store.put(1, SMALL), store.put(2, SMALL)
    assert one == two
    assert store.remove(1, one.digest)
    assert (list(store.listing(1)), list(store.listing(2)), whole(store, two, 2)) == ([], [two.digest], SMALL)


@pytest.mark.parametrize("given_", ["text", None, bytearray(b"abc")])
def test_a_source_gives_bytes(store, tmp_path, given_):
    """A source of something else than bytes is refused by name, and leaves nothing behind."""

    class Odd:
        def read(self, size):
            return given_

    for attempt in (lambda: store.put(1, Odd()), lambda: store.take(1, Odd(), 10)):
        with pytest.raises(InvalidDraft, match=type(given_).__name__):
            attempt()
    assert files(tmp_path) == {}


def test_a_source_that_breaks(store, tmp_path):
    """An error of the source itself reaches the caller, and leaves nothing behind."""

    class Breaking(Trickle):
        def read(self, size):
            if self._file.tell() > 30_000:
                raise TimeoutError("the pipe is dry")
            return super().read(size)

    with pytest.raises(TimeoutError, match="the pipe is dry"):
        store.take(1, Breaking(TEXT, 9_000), CONTENT_INLINE_MAX)
    assert files(tmp_path) == {}


def test_over_long_answers_are_refused(store):
    """A source that gives more than it was asked for is refused: it cannot be held to a limit."""

    class Pushy:
        def read(self, size):
            return bytes(size + 1)

    with pytest.raises(InvalidDraft, match="at most the 11 bytes asked for"):
        store.take(1, Pushy(), 10)


def test_too_large(store, tmp_path, monkeypatch):
    """A payload over the limit is refused while it streams, and leaves nothing behind."""
    monkeypatch.setattr("firsthand.log.sqlite.artifacts.ARTIFACT_BYTES_MAX", 100_000)
    with pytest.raises(InvalidDraft, match="at most 100,000 bytes"):
        store.put(1, io.BytesIO(TEXT))
    assert files(tmp_path) == {}


# damage ------------------------------------------------------------------------------------------


def test_every_kind_of_damage(store, tmp_path):
    """A missing, cut, changed or exchanged file is StoreDamaged with its digest; verify says the same sentence."""
    artifact, other = store.put(1, TEXT), store.put(1, SMALL)
    file, swapped = tmp_path / address(TEXT), (tmp_path / address(SMALL)).read_bytes()
    good = file.read_bytes()
    same_size = ArtifactStore(tmp_path / "elsewhere", Disk())
    same_size.put(1, TEXT[::-1])
    reversed_ = (tmp_path / "elsewhere" / address(TEXT[::-1])).read_bytes()
    for bad, wrong in (
        (None, "missing"),
        (b"", "too few for a seek table"),
        (good[:-1], "cut off"),
        (good[: len(good) // 2], "cut off"),
        (bytes(len(good)), "cut off or overwritten"),
        (good[:5000] + b"\xff" * 9 + good[5009:], "frame 1 of 3 is damaged"),
        (swapped, "says a payload of 20,000 bytes"),
        (reversed_, "its payload has the SHA-256 " + hashlib.sha256(TEXT[::-1]).hexdigest()),
    ):
        file.unlink(missing_ok=True)
        if bad is not None:
            file.write_bytes(bad)
        with pytest.raises(StoreDamaged, match=artifact.digest.hex()) as caught:
            whole(store, artifact)
        assert wrong in str(caught.value)
        assert store.verify(1, artifact) == str(caught.value)
    assert store.verify(1, other) is None


def test_damage_does_not_hide_good_frames(store, tmp_path):
    """A range that does not touch the damaged frame is still read."""
    artifact = store.put(1, TEXT)
    file = tmp_path / address(TEXT)
    good = file.read_bytes()
    file.write_bytes(good[:5000] + b"\xff" * 9 + good[5009:])
    assert b"".join(store.pieces(1, artifact, FRAME_BYTES, FRAME_BYTES + 99)) == TEXT[FRAME_BYTES : FRAME_BYTES + 99]
    with pytest.raises(StoreDamaged):
        b"".join(store.pieces(1, artifact, 5, 9))


def test_putting_again_heals(store, tmp_path):
    """A payload whose file is damaged is written anew when it is put again."""
    artifact = store.put(1, SMALL)
    (tmp_path / address(SMALL)).write_bytes(b"rubbish")
    assert store.put(1, SMALL) == artifact
    assert (whole(store, artifact), list(files(tmp_path))) == (SMALL, [address(SMALL)])


# removal, sweep, copy ----------------------------------------------------------------------------


def test_remove(store, tmp_path):
    """A removed artifact is gone from its address and from incoming, and its bytes were overwritten first."""
    artifact = store.put(1, SMALL)
    witness = tmp_path / "witness"
    os.link(tmp_path / address(SMALL), witness)
    size = witness.stat().st_size
    assert store.remove(1, artifact.digest) is True
    assert store.remove(1, artifact.digest) is False
    assert files(tmp_path) == {"witness": bytes(size)}
    assert (store.present(1, artifact.digest), list(store.listing(1))) == (False, [])


def test_order_of_a_removal(tmp_path):
    """The address goes durably first, then zeros reach the medium, then the name goes durably."""
    done = []

    class Watched(Disk):
        def call(self, function, *args, **kwargs):
            if function in (os.rename, os.write, os.fsync, os.unlink):
                done.append(function.__name__)
            return super().call(function, *args, **kwargs)

    artifact = ArtifactStore(tmp_path, Disk()).put(1, SMALL)
    ArtifactStore(tmp_path, Watched()).remove(1, artifact.digest)
    made_folders = done[: done.index("rename")]
    assert set(made_folders) <= {"fsync"}
    assert done[len(made_folders) :] == ["rename", "fsync", "fsync", "write", "fsync", "unlink", "fsync"]


def test_sweep(store, tmp_path):
    """Old files in incoming go, young ones stay, and what was being destroyed goes at any age."""
    store.put(1, SMALL)
    incoming = tmp_path / "artifacts" / "incoming"
    for name, age in (("put-old", 1000), ("put-young", 0), ("doomed-young", 0)):
        (incoming / name).write_bytes(b"left over")
        moment = (incoming / name).stat().st_mtime - age
        os.utime(incoming / name, (moment, moment))
    assert store.sweep(older_than_seconds=500) == 2
    assert sorted(p.name for p in incoming.iterdir()) == ["put-young"]
    assert ArtifactStore(tmp_path / "nothing", Disk()).sweep(0) == 0


def test_copy_to(store, tmp_path):
    """A copy is the same file at the same address; what is not there is said to be gone."""
    artifact = store.put(7, TEXT)
    target = ArtifactStore(tmp_path / "backup", Disk())
    assert store.copy_to(target, 7, artifact.digest) is True
    assert store.copy_to(target, 7, bytes(32)) is False
    assert files(tmp_path / "backup") == {address(TEXT, 7): (tmp_path / address(TEXT, 7)).read_bytes()}
    assert whole(target, artifact, 7) == TEXT


def test_copy_of_what_is_removed_meanwhile(tmp_path):
    """An artifact that is removed while it is copied leaves nothing in the copy."""

    class Racing(Disk):
        def read(self, descriptor, size, offset):
            ArtifactStore(tmp_path, Disk()).remove(1, artifact.digest)
            return super().read(descriptor, size, offset)

    artifact = ArtifactStore(tmp_path, Disk()).put(1, SMALL)
    target = ArtifactStore(tmp_path / "backup", Disk())
    assert ArtifactStore(tmp_path, Racing()).copy_to(target, 1, artifact.digest) is False
    assert files(tmp_path / "backup") == {}


# faults ------------------------------------------------------------------------------------------


class Failing(Disk):
    """A disk whose n-th call fails; `lose` cuts unsynced files to nothing and takes unsynced names away again."""

    def __init__(self, at: int = 0) -> None:
        self._at = at
        self.calls = 0
        self._unsynced_files: set[str] = set()
        self._open: dict[int, str] = {}
        self._unsynced_names: list[tuple[str, str | None]] = []

    def call(self, function, *args, **kwargs):
        self.calls += 1
        if self.calls == self._at:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        result = super().call(function, *args, **kwargs)
        self._note(function, args, result)
        return result

    def _note(self, function, args, result) -> None:
        if function is os.open:
            self._open[result] = str(args[0])
            if args[1] & os.O_CREAT:
                self._unsynced_names.append((str(args[0]), None))
        elif function is os.write:
            self._unsynced_files.add(self._open[args[0]])
        elif function is os.rename:
            source, target = map(str, args)
            self._unsynced_names.append((target, source))
            self._unsynced_files = {target if path == source else path for path in self._unsynced_files}
        elif function is os.fsync:
            synced = self._open[args[0]]
            self._unsynced_files.discard(synced)
            self._unsynced_names = [n for n in self._unsynced_names if str(Path(n[0]).parent) != synced]

    def lose(self) -> None:
        for path in self._unsynced_files:
            if Path(path).exists():
                os.truncate(path, 0)
        for path, before in reversed(self._unsynced_names):
            if Path(path).exists():
                Path(path).unlink() if before is None else Path(path).rename(before)


def test_a_name_that_another_writer_did_not_sync(tmp_path):
    """What stands at the address, put there by one who failed before the sync, is synced before it is relied on."""
    count = Failing()
    ArtifactStore(tmp_path / "count", count).put(1, SMALL)
    for at in range(1, count.calls + 1):
        disk = Failing(at)
        with suppress(StoreFailed):
            ArtifactStore(tmp_path / str(at), disk).put(1, SMALL)
        artifact = ArtifactStore(tmp_path / str(at), disk).put(1, SMALL)
        disk.lose()
        assert ArtifactStore(tmp_path / str(at), Disk()).verify(1, artifact) is None, f"call {at}"


def test_threads_put_the_same(store, tmp_path):
    """Eight threads put the same payload at once: one file, whole, and the same answer for all."""
    got: list[Artifact] = []
    threads = [threading.Thread(target=lambda: got.append(store.put(1, io.BytesIO(TEXT)))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [store.put(1, TEXT)] * 8
    assert (list(files(tmp_path)), whole(store, got[0])) == ([address(TEXT)], TEXT)


def test_memory_does_not_grow_with_the_payload(store):
    """A payload of 24 MB goes in and comes out within 12 MB of memory."""

    class Long:
        left = 24_000_000

        def read(self, size):
            size = min(size, self.left)
            self.left -= size
            return TEXT[:size]

    Long.left -= Long.left % len(TEXT[:FRAME_BYTES])
    tracemalloc.start()
    artifact = store.take(1, Long(), CONTENT_INLINE_MAX)
    size = sum(len(piece) for piece in store.pieces(1, artifact))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size == artifact.size_bytes > 20_000_000
    assert peak < 12_000_000


def test_a_payload_that_no_event_came_to_hold_is_pruned_once_it_is_old(tmp_path):
    """Pruning removes what a crash left between a payload and its append, and nothing that is held or young."""
    log = open_log(tmp_path)
    (held,) = log.append([Draft(Kind.TOOL_RESULT, b"held" * 9_000)], namespace="n", session="s")
    key = log.namespace_key("n")
    old, young = (log.artifacts.put(key, text * 9_000).digest for text in (b"old", b"young"))
    path = next(tmp_path.rglob(f"{old.hex()}.zst"))
    os.utime(path, (path.stat().st_mtime - 90_000,) * 2)
    for digest in (log.reader.event("n", held.id).artifact.digest,):
        file = next(tmp_path.rglob(f"{digest.hex()}.zst"))
        os.utime(file, (file.stat().st_mtime - 90_000,) * 2)
    log.prune(["payloads"])
    assert (log.artifacts.present(key, old), log.artifacts.present(key, young)) == (False, True)
    assert log.verify().ok
    log.close()
