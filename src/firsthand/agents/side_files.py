"""The files that hooks and jobs keep beside the log, when something is erased.

    hooks/late, hooks/set-aside                 whole calls: a file that holds the text goes
    hooks/waiting                               whole calls: the lines that hold the text go
    hooks/faults.jsonl, hooks/known, hooks/jobs, health/status.json, RUNTIME/hooks.log
                                                sentences of ours, which may quote a part of it: all of them go
    half-written files of processes that ended  go

The invariant: after `erase` none of them holds the text, as it is or as JSON spells it. Agents' folders
are `withdrawing`'s, settings are the user's, and the rest holds no words (times, locks, marks).
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from firsthand import environment
from firsthand.agents import capture, faults, jobs, session_cache, small_files
from firsthand.agents.waiting_calls import KeptCalls
from firsthand.errors import FirsthandError
from firsthand.event import spellings
from firsthand.ledger.sweep import REPLIES_FILE
from firsthand.space import Space
from firsthand.value import asdict, replace

CALL_BYTES_MAX = 128 << 20
FILES_MAX = 100_000
ABANDONED_S = 60.0
ERASED_FILE = "erased"
"""Its time says when something was erased last: a server that has read the store before holds words of it."""
_HALF = re.compile(r"\.(\d+)\.(?:[0-9a-f]{8}|part)\Z")
_LOGS = ("hooks.log", "hooks.log.1")


def record_waiting(space: Space, text: str) -> Iterator[str]:
    """Take into the log now what jobs would take in later and may hold a text; yield why something could not be.

    Transcripts that are to be followed are read, and spools that hold the text are recorded without waiting longer
    for a transcript: what is in the log is erased there, and an import does not bring it back.

    Raises:
        StoreError: the jobs cannot be read.
    """
    for job in jobs.pending(space.path):
        if job.namespace != space.namespace or job.kind not in {jobs.FOLLOW, jobs.CLOSE, jobs.SPOOL}:
            continue
        try:
            if job.kind != jobs.SPOOL:
                capture.follow(space, job)
            elif _holds(_read(capture.spool_of(space, job.session)), spellings(text)):
                capture.settle(space, job)
        except FirsthandError as error:
            yield f"{job.path or job.session}: {error}"


def files_holding(store: Path, text: str) -> tuple[Path, ...]:
    """Name the files of calls in which a text stands."""
    return tuple(path for path in _calls(store) if _holds(_read(path), spellings(text)))


def erase(store: Path, needles: Collection[bytes]) -> tuple[str, ...]:
    """Take what holds one of the needles, and every sentence that may quote it, out of the files; name the calls.

    Raises:
        StoreError: a file cannot be changed or removed.
    """
    changed = []
    for path in _calls(store):
        data = _read(path)
        if not _holds(data, needles):
            continue
        changed.append(str(path))
        lines = [line for line in data.splitlines(keepends=True) if not _holds(line, needles)]
        if path.suffix == ".jsonl" and lines:
            small_files.write(path, b"".join(lines))
        else:
            small_files.remove(path)
    _forget_sentences(store)
    small_files.remove(store / REPLIES_FILE)
    for folder in ("hooks", "health", "agents"):
        _sweep(store / folder)
    _forget_log()
    return tuple(changed)


def mark_erased(store: Path) -> None:
    """Have servers that have read the store begin anew."""
    small_files.write(store / "hooks" / ERASED_FILE, b"")


def erased_at(store: Path) -> int:
    """Say when something was erased last, as a number that grows; 0 for never."""
    try:
        return (store / "hooks" / ERASED_FILE).stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def _calls(store: Path) -> Iterator[Path]:
    kept_calls = KeptCalls(store)
    yield from (*kept_calls.waiting(), *kept_calls.set_aside())
    waiting = store / "hooks" / "waiting"
    yield from (waiting / name for name in small_files.names(waiting, ".jsonl", FILES_MAX))


def _forget_sentences(store: Path) -> None:
    """Forget what faults said: they may quote a part of what goes, which no search would find."""
    faults.forget_words(store)
    session_cache.forget_told(store)
    folder = jobs.folder(store)
    for suffix in (jobs.WAITS, jobs.RUNS):
        for name in small_files.names(folder, suffix, jobs.JOBS_MAX):
            job = jobs.read(folder / name)
            if job is not None and job.why:
                small_files.put_table(folder / name, asdict(replace(job, why="an earlier try failed")))


def _forget_log() -> None:
    """Empty the log of hooks of this user; who writes to it goes on at its beginning."""
    folder = environment.runtime_folder()
    for path in (Path(folder) / name for name in _LOGS if folder):
        with small_files.ours(f"empty {path}"):
            try:
                os.truncate(path, 0)
            except (FileNotFoundError, NotADirectoryError):  # nothing was ever written there
                continue


def _sweep(folder: Path) -> None:
    """Remove what processes that ended have left half written."""
    with small_files.ours(f"look through {folder}"):
        for path in folder.rglob("*") if folder.is_dir() else ():
            half = _HALF.search(path.name)
            if half is not None and path.is_file() and _is_abandoned(path, int(half[1])):
                path.unlink(missing_ok=True)


def _is_abandoned(path: Path, process: int) -> bool:
    try:
        os.kill(process, 0)
        return time.time() - path.lstat().st_mtime > ABANDONED_S
    except (ProcessLookupError, OverflowError):
        return True
    except (PermissionError, FileNotFoundError):  # another user's, or finished meanwhile
        return False


def _read(path: Path) -> bytes:
    """Read a file of calls; nothing where it is gone, or no regular file."""
    try:
        return small_files.beginning(path, CALL_BYTES_MAX) or b""
    except OSError:  # a pipe, a link, a folder: nothing that a hook wrote
        return b""


def _holds(data: bytes, needles: Collection[bytes]) -> bool:
    """Say whether one of the needles stands in the bytes, or in a string of the JSON that they end with."""
    if any(needle in data for needle in needles):
        return True
    start = data.find(b"{")
    if start < 0 or b"\\" not in data:
        return False
    try:
        texts = "\0".join(_texts(json.loads(data[start:]))).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):  # several lines, or no JSON
        return False
    return any(needle in texts for needle in needles)


def _texts(member: Any) -> Iterator[str]:
    """Yield every string of a JSON value, and of JSON that such a string holds."""
    if isinstance(member, str):
        yield member
        with suppress(ValueError, RecursionError):  # it only begins like JSON
            yield from _texts(json.loads(member) if member[:1] in ("{", "[") else None)
    elif isinstance(member, (dict, list)):
        for inner in (*member, *member.values()) if isinstance(member, dict) else member:
            yield from _texts(inner)
