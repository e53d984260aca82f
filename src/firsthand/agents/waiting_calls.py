"""Calls that hooks kept on disk since nobody took them: which wait, which were set aside, and trying those again.

    STORE/hooks/late/MOMENT_NS-NONCE.TRIES.call        waits; the server records them, oldest first
    STORE/hooks/set-aside/MOMENT_NS-NONCE.TRIES.call   failed `TRIES_MAX` times

The invariant: a call leaves these folders when it is recorded or erased, and never otherwise; one that
fails goes behind those that were tried less, so that it holds up no other.

It knows the names of the files, and not what is in them.
"""

from __future__ import annotations

import time
from pathlib import Path

from firsthand.agents import small_files

TRIES_MAX = 5
SET_ASIDE_MAX = 1_000
LISTED_MAX = 2_000
ASKS_NS = 2_000_000_000
"""So long the hook that kept a call may itself still be asking for its answer."""
ENDS = ".call"
_PART, _PART_SECONDS = ".part", 600.0


class KeptCalls:
    """The calls that were kept in a store. What the operating system refuses is a `StoreError`."""

    def __init__(self, store: Path) -> None:
        self.folder = store / "hooks" / "late"
        self.aside_folder = store / "hooks" / "set-aside"

    def waiting(self, *, before_ns: int | None = None) -> list[Path]:
        """Give the calls that wait, those that were tried least first, then the oldest.

        Args:
            before_ns: leaves out those that were made after it, in nanoseconds since 1970.
        """
        names = small_files.names(self.folder, ENDS, LISTED_MAX)
        named = (name for name in names if before_ns is None or (_number(name.partition("-")[0]) or 0) < before_ns)
        return [self.folder / name for name in sorted(named, key=lambda name: (_tries(name), name))]

    def set_aside(self) -> list[Path]:
        """Give the calls that were set aside, the oldest first."""
        return [self.aside_folder / name for name in small_files.names(self.aside_folder, ENDS, LISTED_MAX)]

    def count_try(self, path: Path) -> Path | None:
        """Count a try before it begins, as it may end the process; None when another process has the call."""
        return _renamed(path, _numbered(path, _tries(path.name) + 1))

    def uncount_try(self, path: Path) -> None:
        """Take back a try that failed by no fault of the call."""
        _renamed(path, _numbered(path, max(0, _tries(path.name) - 1)))

    def is_tried_out(self, path: Path) -> bool:
        """Say whether a call was tried as often as it may be."""
        return _tries(path.name) >= TRIES_MAX

    def put_aside(self, path: Path) -> Path | None:
        """Move a call out of the way of the others; None when there is no room, and it waits on untried."""
        return None if len(self.set_aside()) >= SET_ASIDE_MAX else _renamed(path, self.aside_folder / path.name)

    def retry(self) -> int:
        """Let the calls that were set aside wait again, as if they had never been tried; say how many."""
        moved = [_renamed(path, self.folder / _numbered(path, 0).name) for path in self.set_aside()]
        return len(moved) - moved.count(None)

    def sweep(self) -> None:
        """Remove what killed hooks left half written."""
        for name in small_files.names(self.folder, _PART, LISTED_MAX):
            path = self.folder / name
            with small_files.ours(f"remove {path}"):
                try:
                    old = time.time() - path.stat().st_mtime > _PART_SECONDS
                except FileNotFoundError:  # it was finished meanwhile
                    continue
                if old:
                    path.unlink(missing_ok=True)


def _tries(name: str) -> int:
    """Say how often a call was tried, by its name; a foreign name was never tried."""
    return _number(name.removesuffix(ENDS).rpartition(".")[2]) or 0


def _numbered(path: Path, number: int) -> Path:
    stem = path.name.removesuffix(ENDS)
    before, _, last = stem.rpartition(".")
    return path.with_name(f"{stem if not before or _number(last) is None else before}.{number}{ENDS}")


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 20 else None


def _renamed(path: Path, new: Path) -> Path | None:
    with small_files.ours(f"rename {path}"):
        new.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            return path.replace(new)
        except FileNotFoundError:  # another process has it
            return None
