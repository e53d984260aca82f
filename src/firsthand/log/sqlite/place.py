"""Where a store may lie: checked before anything is opened or made."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from firsthand.errors import InvalidArgument, NotAStore, StoreFailed, StoreReadOnly, StoreReplaced

from .inodes import Inode, inode_of

NETWORK_FILE_SYSTEMS = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "fuse.sshfs", "fuse.rclone"})
# The first three are what a creation that was cut short leaves; the others may be there before the first event.
OURS = frozenset({"lock", "queue", "firsthand.db-journal", "run", "hooks", "settings.json"})
_MOUNTS = Path("/proc/self/mountinfo")


def check(root: Path, *, exists: bool, create: bool) -> None:
    """Check the folder of a store.

    Raises:
        NotAStore: there is none and none is to be made, or the folder holds something else.
        StoreFailed: everybody may write to it, or something of the store is a link that leads out of it.
    """
    if root.exists() and not root.is_dir():
        raise NotAStore(f"expected a folder for the store; {root} is a file. Choose another place.")
    if not exists and not create:
        raise NotAStore(f"there is no store in {root}; make one with 'firsthand import' or Memory({str(root)!r}).")
    if not root.exists():
        return
    with os.scandir(root) as listing:
        entries = list(listing)
    if not exists and {entry.name for entry in entries} - OURS:
        raise NotAStore(f"{root} holds files but no Firsthand store; choose a new or empty folder.")
    if root.stat().st_mode & stat.S_IWOTH:
        raise StoreFailed(f"{root} can be written by every user of this machine; make it yours: chmod 700 {root}")
    links = sorted(entry.name for entry in entries if entry.is_symlink())
    if links:
        raise StoreFailed(
            f"{root / links[0]} is a link, and what a store keeps lies in its own folder. Put what it leads to in its "
            "place, or move the whole store and name its new folder."
        )


def check_still(root: Path, opened: Inode | None) -> None:
    """Refuse to go on with a store whose folder is not at its path any more.

    Raises:
        StoreReplaced: it was moved, removed or replaced since it was opened.
    """
    now = inode_of(root)
    if now != opened:
        what = "another folder stands at its path" if now is not None else "its folder is gone from its path"
        raise StoreReplaced(
            f"{root} was moved, removed or replaced while it was open: {what}. Nothing was written; close this handle "
            "and open the store where it is now."
        )


def check_writable(root: Path) -> None:
    """Refuse to write where locks and syncs do not hold.

    Raises:
        StoreReadOnly: the folder, or its parent, cannot be written.
        StoreFailed: it lies on a network file system.
    """
    nearest = root
    while not nearest.exists():
        nearest = nearest.parent
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise StoreReadOnly(
            f"{nearest} cannot be written by this user; open the store with read_only=True, or move it."
        )
    kind = file_system(nearest)
    if kind in NETWORK_FILE_SYSTEMS:
        raise StoreFailed(
            f"{root} lies on a network file system ({kind}), where locks and syncs do not hold what the log promises. "
            "Put the store on a local disk."
        )


def file_system(path: Path, mounts: Path = _MOUNTS) -> str:
    """Name the type of file system a path lies on; empty where the system does not say."""
    try:
        table = mounts.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:  # not Linux
        return ""
    resolved = path.resolve()
    best, kind = "", ""
    for line in table.splitlines():
        fields, _, tail = line.partition(" - ")
        if not tail:
            continue
        point = fields.split(" ")[4].encode().decode("unicode_escape")
        if resolved.is_relative_to(point) and len(point) >= len(best):
            best, kind = point, tail.split(" ")[0]
    return kind


def check_options(read_only: object, create: object, timeout_ms: object, timeout_ms_max: int) -> None:
    """Raise `InvalidArgument` for values that are no options of opening a store."""
    for name, value in (("read_only", read_only), ("create", create)):
        if not isinstance(value, bool):  # the text "false" is true: a store would be opened the other way
            raise InvalidArgument(f"{name} is True or False; got {value!r}")
    if isinstance(timeout_ms, bool) or not isinstance(timeout_ms, int) or not 0 <= timeout_ms <= timeout_ms_max:
        raise InvalidArgument(f"timeout_ms is a whole number from 0 to {timeout_ms_max:,}; got {timeout_ms!r}")
