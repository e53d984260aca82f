"""The commands that copy: export, restore, backup.

A file that is there is never written over, and a copy that failed leaves none.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO

from firsthand import Exported, environment, export_salvage
from firsthand.cli.display import count, shown, size
from firsthand.cli.exits import DAMAGED, DONE, NOTHING_FOUND, USAGE
from firsthand.cli.output import Output
from firsthand.cli.stores import to_read, to_write
from firsthand.value import asdict


def export(chosen: argparse.Namespace, out: Output) -> int:
    """Write events to a new file, or to standard output."""
    to_output = chosen.file == "-"
    if to_output and out.terminal:
        out.warn("firsthand: an export is made for files; name one, or pipe it: firsthand export FILE")
        return USAGE
    if chosen.salvage:
        done = _into_file(chosen, out, partial(_salvage, chosen))
    else:
        with to_read(chosen) as memory:
            if chosen.session is not None and all(session.name != chosen.session for session in memory.sessions()):
                out.warn(f"firsthand: no session {shown(chosen.session)!r} here; see them all: firsthand sessions")
                return NOTHING_FOUND
            done = _into_file(chosen, out, partial(memory.export, session=chosen.session, everything=chosen.all))
    if out.as_json and not to_output:
        damaged = {"damaged": done.damaged} if chosen.salvage else {}
        out.json({"file": chosen.file, "events": done.events, "artifacts": done.artifacts} | damaged)
    else:
        where = "" if to_output else f" to {shown(chosen.file)}"
        out.remark(f"exported {count(done.events, 'event')} and {count(done.artifacts, 'artifact')}{where}")
    if done.damaged:
        out.warn(
            f"firsthand: {count(done.damaged, 'damaged event')} left out, each named in a line of its own; what was "
            "exported can be read, but not restored"
        )
        return DAMAGED
    return DONE


def _salvage(chosen: argparse.Namespace, file: BinaryIO) -> Exported:
    """Write what is whole of a store that may not even open."""
    namespace = None if chosen.all else chosen.namespace or environment.default_namespace()
    return export_salvage(
        Path(chosen.store or environment.default_store()), file, namespace=namespace, session=chosen.session
    )


def _into_file(chosen: argparse.Namespace, out: Output, write: Callable[[BinaryIO], Exported]) -> Exported:
    """Write into the new file that was named, or to standard output."""
    if chosen.file == "-":
        done = write(out.binary)
        out.binary.flush()
        return done
    with _new_file(Path(chosen.file).expanduser()) as file:
        return write(file)


@contextmanager
def _new_file(path: Path) -> Iterator[BinaryIO]:
    """Make a file that must not be there yet, synced at the end; on an error it is removed again."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        path.unlink()
        raise


def restore(chosen: argparse.Namespace, out: Output) -> int:
    """Take an export in."""
    with _source(chosen.file) as source, to_write(chosen, create=True) as memory:
        done = memory.restore(source)
        store = str(memory.path)
    if out.as_json:
        out.json(asdict(done) | {"store": store})
    else:
        out.line(
            f"restored into {shown(store)}: {count(done.events, 'event')} ({done.new:,} new) and "
            f"{count(done.artifacts, 'artifact')}"
        )
    return DONE


@contextmanager
def _source(name: str) -> Iterator[BinaryIO]:
    if name == "-":
        yield sys.stdin.buffer
    else:
        with Path(name).expanduser().open("rb") as file:
            yield file


def backup(chosen: argparse.Namespace, out: Output) -> int:
    """Copy the whole store."""
    with to_read(chosen) as memory:
        done = memory.backup(Path(chosen.folder).expanduser())
    if out.as_json:
        out.json(asdict(done) | {"path": str(done.path)})
    else:
        out.line(
            f"copied to {shown(str(done.path))}: {count(done.events, 'event')}, {count(done.artifacts, 'artifact')}, "
            f"{size(done.size_bytes)}"
        )
        wrong = [f"wrong  {damage}" for damage in done.damage]
        out.line("\n".join(map(shown, [*(f"head  {head}  {name}" for name, head in done.heads.items()), *wrong])))
    return DAMAGED if done.damage else DONE
