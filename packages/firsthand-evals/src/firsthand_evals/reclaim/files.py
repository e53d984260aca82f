"""The files of a run: items as they come, then tables, report, JUnit, badge and what the list of experiments shows.

The invariant: items are in their file before anything is made of them, and a run before
is kept beside (``items.previous.jsonl``) until there is one more. One run at a time writes
into a folder.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from firsthand import InvalidArgument
from firsthand_evals import registry
from firsthand_evals.reclaim.figures import headline, lines
from firsthand_evals.reclaim.tables import Table, as_json
from firsthand_evals.reclaim.validators import Check

NAME = "reclaim"
ITEMS, PREVIOUS, PAGE = "items.jsonl", "items.previous.jsonl", "report.html"


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a folder for one run: two at once would put each other's items aside."""
    folder.mkdir(parents=True, exist_ok=True)
    opened = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the kernel frees it when this process ends
        except BlockingIOError as error:
            raise InvalidArgument(
                f"another run is writing into {folder}; wait until it ends, or name another folder (--out DIR)"
            ) from error
        yield
    finally:
        os.close(opened)


def begin(folder: Path, *, resume: bool) -> Path:
    """Give the file of items; without ``resume`` a new one, and the one before stands beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / ITEMS
    if file.is_file() and not resume:
        file.replace(folder / PREVIOUS)
    return file


def keep(
    out: Path, found: Sequence[Table], checks: Sequence[Check], names: Sequence[str], page: str, told: str
) -> None:
    """Write what was made of the items, and a line for the list of experiments.

    Args:
        out: the folder that results are kept in; ``told``: the reader, and what else the headlines want.
    """
    folder = registry.folder_of(out, NAME)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tables.json").write_text(
        json.dumps([as_json(table) for table in found], indent=1) + "\n", encoding="utf-8"
    )
    text = "\n\n".join("\n".join(lines(table)) for table in found)
    (folder / "tables.txt").write_text(f"{text}\n\n" + "".join(f"{check}\n" for check in checks), encoding="utf-8")
    (folder / PAGE).write_text(page, encoding="utf-8")
    for table in found:
        registry.keep(out, registry.of_reclaim(table.name), {"headline": f"{told}: {headline(table, names)}"})
