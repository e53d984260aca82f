"""Finding sources: in the folders that a user names, and in the usual places of the hosts.

The invariant: nothing outside the folder that was named is ever reached. A link
inside a folder is not followed: what it leads to is found at its own place when
it lies in the folder, and is refused when it lies outside. So there are no loops.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from firsthand.errors import SourceRejected
from firsthand.hosts.source import shown
from firsthand.hosts.transcript import Host
from firsthand.value import value

FILES_MAX = 1_000_000
DEPTH_MAX = 64


@value
class Found:
    """A file to look at.

    Attributes:
        path: to open.
        size_bytes: when it was found, for the progress.
        modified_ns: when it was written last; 0 for what is not read.
        asked: True when the user named this very file.
        refused: why it is not read; empty when it may be.
    """

    path: Path
    size_bytes: int = 0
    asked: bool = False
    refused: str = ""
    modified_ns: int = 0


def in_paths(paths: Iterable[str | os.PathLike[str]]) -> list[Found]:
    """Find the files of files and folders, each once; those of a folder in the order in which they were written last.

    The session that was at work last is then the last in the log.
    A link that the user names is followed: naming it is the permission.

    Raises:
        SourceRejected: there are more than `FILES_MAX`.
    """
    by_path: dict[Path, Found] = {}
    for named in paths:
        files = islice(_in_path(named), FILES_MAX + 1)
        for file in sorted(files, key=_modified):
            by_path.setdefault(file.path, file)
            if len(by_path) > FILES_MAX:
                raise SourceRejected(
                    f"{shown(os.fspath(named))} holds more than {FILES_MAX:,} files; import its folders one by one"
                )
    return list(by_path.values())


def in_usual_places(hosts: Sequence[Host], home: Path, folders: Mapping[str, Path]) -> list[Found]:
    """Find what the hosts keep in their usual places, in the order in which it was written last.

    Args:
        home: the user's home folder.
        folders: for the variable of a place, the folder that it names in place of the usual one.
    """
    by_path: dict[Path, Found] = {}
    for host in hosts:
        for place in host.places:
            root = Path(os.path.realpath(folders.get(place.variable) or home / place.home))
            if not root.is_dir():
                continue
            for path in sorted(root.glob(place.pattern)):
                file = _at_usual_place(path, root)
                if file is not None:
                    by_path.setdefault(file.path, file)
    return sorted(by_path.values(), key=_modified)


def _modified(file: Found) -> int:
    return file.modified_ns


def _at_usual_place(path: Path, root: Path) -> Found | None:
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(root):
        return Found(path, refused=f"{shown(path)} leads out of {shown(root)}; import {shown(real)} by its own name")
    if real != path or path.is_dir():
        return None  # a link to what is found at its own place; a folder that looks like a file's name
    return _file(path)


def _in_path(named: str | os.PathLike[str]) -> Iterator[Found]:
    try:
        root = Path(os.path.realpath(named))
        is_folder = root.is_dir()
        exists = root.exists()
    except (OSError, ValueError) as error:  # a NUL or 300 bytes in a name
        yield Found(Path(shown(os.fspath(named))), asked=True, refused=f"{shown(os.fspath(named))!r}: {error}")
        return
    if not exists:
        yield Found(root, asked=True, refused=f"{shown(root)} is not there; check the path")
    elif is_folder:
        yield from _in_folder(root, root, 0)
    else:
        file = _file(root)
        yield Found(file.path, file.size_bytes, asked=True, refused=file.refused, modified_ns=file.modified_ns)


def _in_folder(folder: Path, root: Path, depth: int) -> Iterator[Found]:
    if depth > DEPTH_MAX:
        yield Found(
            folder, refused=f"{shown(folder)} lies more than {DEPTH_MAX} folders deep; import it by its own name"
        )
        return
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: os.fsencode(entry.name))
    except OSError as error:
        yield Found(folder, refused=f"{shown(folder)} cannot be listed: {error.strerror}; check its permissions")
        return
    for entry in entries:
        path = Path(entry.path)
        if entry.is_symlink():
            if not Path(os.path.realpath(path)).is_relative_to(root):
                yield Found(path, refused=f"{shown(path)} is a link that leads out of {shown(root)}, or nowhere")
        elif entry.is_dir(follow_symlinks=False):
            yield from _in_folder(path, root, depth + 1)
        else:
            yield _file(path)


def _file(path: Path) -> Found:
    try:
        status = os.lstat(path)
    except OSError as error:
        return Found(path, refused=f"{shown(path)} cannot be looked at: {error.strerror}")
    size_bytes = status.st_size if stat.S_ISREG(status.st_mode) else 0
    return Found(path, size_bytes, modified_ns=status.st_mtime_ns)
