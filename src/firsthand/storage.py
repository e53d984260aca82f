"""What a store takes on disk, part by part, and how what can be made again is removed.

The invariant: nothing here touches an event, an artifact that an event holds, or a call that waits to be recorded.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from firsthand import environment
from firsthand.errors import InvalidArgument
from firsthand.log.disk import open_private
from firsthand.space import Space
from firsthand.value import value

_DATABASE = "firsthand.db"
WAITING = ("late", "set-aside")
"""Folders below ``hooks`` with calls that are not recorded; see `agents.waiting_calls`."""
CALL_HEAD_BYTES = 65_548
_FOLDERS = {
    "artifacts": "outputs and files too large for the log",
    "index": "the words of all events",
    "agents": "files of agents: knowledge, entities, rubrics",
    "hooks": "calls that wait, jobs, switches of sessions",
    "damaged": "copies of files that were found damaged",
}
PRUNABLE = {
    "index": "recall reads the log until it is built again: firsthand store rebuild",
    "vectors": "made anew where an embedder is named: firsthand store follow",
    "pages": "empty pages of the database, as erasures leave them",
    "payloads": "outputs and files that no event came to hold, left by a crash more than a day ago",
    "damaged": "copies of damaged files, from which nothing more can be brought back then",
    "replicas": "of stores in PostgreSQL, that nobody has open; made again when they are asked for",
}
"""What can be removed by its name, and what that costs."""


@value
class Part:
    """A part of a store's folder: its name, what it is, its bytes and files."""

    name: str
    what: str
    bytes: int
    files: int


def waiting_calls(space: Space) -> str:
    """Say how many calls of hooks on this machine are not in a namespace's log yet; empty for none."""
    folder = space.log.home / "hooks"
    paths = [path for name in WAITING for path in (folder / name).glob("*.call")]
    calls = sum(_namespace_of(path) in (space.namespace, "") for path in paths)
    if not calls:
        return ""
    waits = "1 call of a hook waits" if calls == 1 else f"{calls:,} calls of hooks wait"
    return f"{waits} on this machine to be recorded: firsthand agent jobs --run"


def _namespace_of(path: Path) -> str:
    """Read of what namespace a call is (see `server.frames`); empty where that cannot be read."""
    try:
        with os.fdopen(open_private(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            fields = file.read(CALL_HEAD_BYTES)[12:].split(b"\0")
    except OSError:
        return ""
    return fields[4].decode("utf-8", "surrogateescape") if len(fields) > 5 else ""


def parts_of(root: Path) -> tuple[Part, ...]:
    """Measure a store's folder; every file is in one part, whatever it is."""
    elsewhere = is_at_address(root)
    names = ("agents", "hooks") if elsewhere else ("log", *_FOLDERS)
    sizes: dict[str, list[int]] = {name: [] for name in (*names, "other")}
    for path, size in _files(root):
        first = path.relative_to(root).parts[0]
        sizes["log" if first.startswith(_DATABASE) else first if first in sizes else "other"].append(size)
    if elsewhere:
        sizes["replicas"] = [size for _, size in _files(environment.replicas_folder())]
    named = {"log": "events, and what embedders made of them", **_FOLDERS, "other": "settings, locks, marks",
             "replicas": "what answers on this machine for stores in PostgreSQL, of all of them"}  # fmt: skip
    return tuple(Part(name, named[name], sum(part), len(part)) for name, part in sizes.items())


def over_budget(root: Path, budget_mb: int) -> str:
    """Say that a store takes more than its budget of disk; empty while it does not, or without one (0)."""
    used = sum(size for _, size in _files(root)) / 1e6
    if not budget_mb or used <= budget_mb:
        return ""
    return f"the store takes {used:,.0f} MB, more than its budget of {budget_mb:,} MB (disk_budget_mb in settings.json)"


def prune(space: Space, names: Sequence[str]) -> int:
    """Remove what was named of `PRUNABLE`; give how many bytes the store's folder takes less.

    Raises:
        InvalidArgument: one of the names is none of them; nothing was removed.
    """
    if wrong := [name for name in names if name not in PRUNABLE]:
        raise InvalidArgument(f"expected any of {', '.join(PRUNABLE)}; got {wrong[0]!r}. Events go by: firsthand store "
                              "erase")  # fmt: skip
    roots = {space.path, environment.replicas_folder()} if is_at_address(space.path) else {space.path}
    before = sum(size for root in roots for _, size in _files(root))
    space.log.prune(names)
    if "replicas" in names and len(roots) > 1:
        from firsthand.log.postgres.replicas import prune as prune_replicas  # noqa: PLC0415 - an extra

        prune_replicas(environment.replicas_folder(), 0)
    return before - sum(size for root in roots for _, size in _files(root))


def is_at_address(root: Path) -> bool:
    """Say whether a folder stands for a store in PostgreSQL, and holds what is this machine's own of it."""
    return (root / environment.ADDRESS_FILE).is_file()


def _files(root: Path) -> Iterator[tuple[Path, int]]:
    """Give the files below a folder with their sizes; one that goes meanwhile is left out."""
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            try:
                yield path, path.lstat().st_size
            except FileNotFoundError:  # removed since it was listed
                continue
