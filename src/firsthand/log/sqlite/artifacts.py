"""Payloads too large for the database: one compressed file each, addressed by its SHA-256.

    artifacts/<namespace key>/<first two hex digits>/<sha256 in hex>.zst
    artifacts/incoming/      files that are being written, or being destroyed

The invariant: a file that stands at an address was whole and on the medium
before it got that name; it is never written to again. A crash leaves at most a
file in ``incoming``, which `ArtifactStore.sweep` removes. Only integers and hex
digits of a hash become part of a path, never a name that a user chose. No folder
of them is a link: what is swept or destroyed lies in the store.

The file format is `seekable`. This module knows no events: which of them hold an
artifact, and when it may be removed, the caller knows. Putting and removing the
same payload at once needs the caller's lock and `ArtifactStore.present`.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from firsthand.errors import FirsthandError, InvalidDraft, StoreDamaged, StoreFailed
from firsthand.event import Artifact, ByteSource
from firsthand.log.disk import Disk
from firsthand.log.payload import check_range, head_of, pieces_of
from firsthand.log.preview import Previewer
from firsthand.log.seekable import FRAME_BYTES, Frames, FrameWriter, Unreadable
from firsthand.value import value

FOLDER, INCOMING = "artifacts", "incoming"
ARTIFACT_BYTES_MAX = 64 * 1024**3
_ADDRESS = re.compile(r"([0-9a-f]{64})\.zst\Z")
_DOOMED = "doomed-"  # was at an address and is being destroyed: never waited for


@value
class _Staged:
    """A payload written out and synced, not yet at its address."""

    path: Path
    artifact: Artifact


class ArtifactStore:
    """The artifacts of one store.

    Args:
        root: the store's folder; artifacts lie in its folder ``artifacts``.
        disk: the file system, or one that fails on purpose.

    Memory: a few MiB for a payload of any size, in and out. Safe to share
    between threads and processes.
    """

    bytes_max = ARTIFACT_BYTES_MAX

    def __init__(self, root: Path, disk: Disk) -> None:
        self._folder = root / FOLDER
        self._disk = disk
        self._made: set[Path] = set()
        self._checked: set[Path] = set()

    def put(self, namespace_key: int, source: bytes | ByteSource) -> Artifact:
        """Keep a payload; on return it is durable at its address.

        A payload that is there already is read through first: if it is whole it
        stays the only file, if it is damaged it is replaced.

        Raises:
            InvalidDraft: the source gives something else than bytes, or over 64 GiB.
            StoreFull, StoreReadOnly, StoreFailed: see `disk`; nothing was kept.
        """
        return self._put(namespace_key, b"", source)

    def take(self, namespace_key: int, source: ByteSource, inline_max: int) -> bytes | Artifact:
        """Read a source once: give it back as bytes if it is short, else keep it as an artifact.

        Raises:
            As `put` does.
        """
        head = head_of(source, inline_max)
        return head if len(head) <= inline_max else self._put(namespace_key, head, source)

    def present(self, namespace_key: int, digest: bytes) -> bool:
        """Say whether something stands at the address: one look, nothing is read."""
        return self._disk.size(self._path(namespace_key, digest)) is not None

    def pieces(self, namespace_key: int, artifact: Artifact, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield a payload, or the bytes from ``start`` up to ``end``, in pieces of at most 1 MiB.

        Only the frames that hold the range are read; each is checked as it is
        read, and a whole payload against its SHA-256 before the iterator ends.
        An end beyond the payload means its end.

        Raises:
            ValueError: the range is negative or runs backwards.
            StoreDamaged: the file is missing, cut off, changed or another payload.
        """
        return self._pieces(namespace_key, artifact, start, check_range(start, end, artifact.size_bytes))

    def verify(self, namespace_key: int, artifact: Artifact) -> str | None:
        """Read a whole artifact and every byte of its file; None if all is as written, else what is wrong."""
        try:
            for _ in self._pieces(namespace_key, artifact, 0, artifact.size_bytes):
                pass
            with self._opened(namespace_key, artifact) as frames:
                frames.check_stored()
        except (StoreDamaged, StoreFailed) as error:
            return str(error)
        return None

    def remove(self, namespace_key: int, digest: bytes) -> bool:
        """Destroy an artifact; False if there was none. On return the removal is durable.

        The file first loses its address, then its bytes are overwritten with
        zeros and synced, then it is unlinked. Overwriting defeats undeletion on
        a plain disk with a file system that writes in place. It is worth little
        on SSDs, which write elsewhere and keep old cells for a while, and
        nothing on copy-on-write file systems and snapshots: there only
        encryption below the store, or the end of the snapshot, destroys bytes.
        """
        path = self._path(namespace_key, digest)
        doomed = self._incoming(_DOOMED)
        if not self._disk.rename(path, doomed):
            return False
        # Both names, before a byte is overwritten: power loss must not bring the address back with zeros.
        self._disk.sync_folder(doomed.parent)
        self._disk.sync_folder(path.parent)
        self._destroy(doomed)
        return True

    def listing(self, namespace_key: int) -> Iterator[bytes]:
        """Yield the digests of the namespace's artifacts, in order."""
        folder = self._checked_folder(self._folder / str(int(namespace_key)))
        for part in self._disk.names(folder):
            for name in self._disk.names(self._checked_folder(folder / part)) if len(part) == 2 else ():
                match = _ADDRESS.match(name)
                if match is not None and match[1][:2] == part:
                    yield bytes.fromhex(match[1])

    def copy_to(self, target: ArtifactStore, namespace_key: int, digest: bytes) -> bool:
        """Copy the file of an artifact as it is into another store; False if it is gone, or goes meanwhile."""
        source = self._disk.open(self._path(namespace_key, digest))
        if source is None:
            return False
        try:
            path = target._incoming("copy-")
            with _new_file(target._disk, path) as write:
                at = 0
                while piece := self._disk.read(source, FRAME_BYTES, at):
                    write(piece)
                    at += len(piece)
        finally:
            self._disk.close(source)
        if not self.present(namespace_key, digest):  # it may have been overwritten while it was read
            target._destroy(path)
            return False
        target._place(path, namespace_key, digest)
        return True

    def sweep(self, older_than_seconds: float) -> int:
        """Destroy what crashes left in ``incoming`` and return how many files.

        A file younger than that may still be written by another process and
        stays; one that was on its way out goes at any age.
        """
        removed = 0
        folder = self._checked_folder(self._folder / INCOMING)
        for name in self._disk.names(folder):
            path = folder / name
            modified = self._disk.modified(path)
            if modified is None or (not name.startswith(_DOOMED) and time.time() - modified < older_than_seconds):
                continue
            removed += self._destroy(path)
        return removed

    def remove_old(self, namespace_key: int, digests: Sequence[bytes], older_than_seconds: float) -> None:
        """Destroy those of some artifacts that are so old."""
        for digest in digests:
            modified = self._disk.modified(self._path(namespace_key, digest))
            if modified is not None and time.time() - modified >= older_than_seconds:
                self.remove(namespace_key, digest)

    # writing -------------------------------------------------------------------------------------

    def _put(self, namespace_key: int, first: bytes, source: bytes | ByteSource) -> Artifact:
        staged = self._stage(first, source)
        artifact = staged.artifact
        try:
            if self._holds(namespace_key, artifact):
                self._disk.unlink(staged.path)
                folder = self._path(namespace_key, artifact.digest).parent
                self._make(folder)
                self._disk.sync_folder(folder)  # whoever put it there may not have synced the name yet
            else:
                self._place(staged.path, namespace_key, artifact.digest)
        except FirsthandError as error:
            _tidy(self._disk, staged.path, error)
            raise
        return artifact

    def _stage(self, first: bytes, source: bytes | ByteSource) -> _Staged:
        digest, previewer, size = hashlib.sha256(), Previewer(), 0
        path = self._incoming("put-")
        with _new_file(self._disk, path) as write:
            frames = FrameWriter(write)
            for piece in pieces_of(first, source):
                size += len(piece)
                if size > ARTIFACT_BYTES_MAX:
                    raise InvalidDraft(f"a payload has at most {ARTIFACT_BYTES_MAX:,} bytes; split it into several")
                digest.update(piece)
                previewer.feed(piece)
                frames.feed(piece)
            frames.finish()
        return _Staged(path, Artifact(digest.digest(), size, previewer.finish()))

    def _place(self, path: Path, namespace_key: int, digest: bytes) -> None:
        """Give a synced file its address; on return the name is durable."""
        address = self._path(namespace_key, digest)
        self._make(address.parent)
        if not self._disk.rename(path, address):
            raise StoreFailed(f"{path} was removed before it could be named {address.name}. Append the payload again.")
        self._disk.sync_folder(address.parent)

    def _holds(self, namespace_key: int, artifact: Artifact) -> bool:
        """Say whether a whole file stands at the address; a damaged one does not hold the payload."""
        if not self.present(namespace_key, artifact.digest):
            return False
        try:
            for _ in self._pieces(namespace_key, artifact, 0, artifact.size_bytes):
                pass
        except (StoreDamaged, StoreFailed):  # not hidden: the caller has the right bytes in hand and replaces it
            return False
        return True

    def _destroy(self, path: Path) -> bool:
        descriptor = self._disk.open(path, write=True)
        if descriptor is None:
            return False
        try:
            rest = self._disk.length(descriptor)
            while rest > 0:
                self._disk.write(descriptor, bytes(min(rest, FRAME_BYTES)))
                rest -= FRAME_BYTES
            self._disk.sync_open(descriptor)
        finally:
            self._disk.close(descriptor)
        removed = self._disk.unlink(path)
        self._disk.sync_folder(path.parent)
        return removed

    # reading -------------------------------------------------------------------------------------

    def _pieces(self, namespace_key: int, artifact: Artifact, start: int, end: int) -> Iterator[bytes]:
        whole = start == 0 and end == artifact.size_bytes
        digest = hashlib.sha256()
        with self._opened(namespace_key, artifact) as frames:
            for piece in frames.payload(start, end):
                if whole:
                    digest.update(piece)
                yield piece
            if whole and digest.digest() != artifact.digest:
                raise Unreadable(f"its payload has the SHA-256 {digest.hexdigest()}")

    @contextmanager
    def _opened(self, namespace_key: int, artifact: Artifact) -> Iterator[Frames]:
        """Open an artifact's file; what turns out to be wrong with it is told with its digest."""
        descriptor = self._disk.open(self._path(namespace_key, artifact.digest))
        if descriptor is None:
            raise _damaged(artifact, "its file is missing")
        try:
            length = self._disk.length(descriptor)
            yield Frames(lambda size, at: self._disk.read(descriptor, size, at), length, artifact.size_bytes)
        except Unreadable as error:
            raise _damaged(artifact, str(error)) from error
        finally:
            self._disk.close(descriptor)

    # paths ---------------------------------------------------------------------------------------

    def _path(self, namespace_key: int, digest: bytes) -> Path:
        name = bytes(digest).hex()
        assert len(name) == 64, "an artifact's address is a SHA-256"
        return self._checked_folder(self._folder / str(int(namespace_key)) / name[:2]) / f"{name}.zst"

    def _checked_folder(self, folder: Path) -> Path:
        """Give a folder of the artifacts, once in the life of this object after a look that no link leads there.

        Raises:
            StoreFailed: one does.
        """
        if folder not in self._checked:
            at = folder
            while at != self._folder.parent:
                if self._disk.is_link(at):
                    raise StoreFailed(f"{at} is a link, and a store keeps its payloads in itself. Put a folder there.")
                at = at.parent
            self._checked.add(folder)
        return folder

    def _incoming(self, prefix: str) -> Path:
        folder = self._checked_folder(self._folder / INCOMING)
        self._make(folder)
        return folder / f"{prefix}{os.urandom(16).hex()}"

    def _make(self, folder: Path) -> None:
        """Make a folder and sync its way up, once in the life of this object.

        A folder that is there is synced too: the process that made it may have
        been killed, or be about to be, before its own sync.
        """
        if folder in self._made:
            return
        self._disk.make_folder(folder)
        at = folder
        while at != self._folder.parent:
            at = at.parent
            self._disk.sync_folder(at)
        self._made.add(folder)


@contextmanager
def _new_file(disk: Disk, path: Path) -> Iterator[Callable[[bytes], None]]:
    """Make a file to write to that is synced when the block ends well, and removed when it does not."""
    descriptor = disk.create(path)
    try:
        try:
            yield lambda data: disk.write(descriptor, data)
            disk.sync_open(descriptor)
        finally:
            disk.close(descriptor)
    except BaseException as error:
        _tidy(disk, path, error)
        raise


def _damaged(artifact: Artifact, wrong: str) -> StoreDamaged:
    return StoreDamaged(
        f"the artifact {artifact.digest.hex()} of {artifact.size_bytes:,} bytes is not as it was written: {wrong}. "
        "Restore its file from a backup, or append the payload again."
    )


def _tidy(disk: Disk, path: Path, error: BaseException) -> None:
    """Remove a file after an error; if that fails too, the error says what was left."""
    try:
        disk.unlink(path)
    except FirsthandError as second:
        error.add_note(f"{path} was left behind ({second}); the next sweep removes it.")
