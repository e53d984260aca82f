"""The files of a run: items as they come, then tables, report and what the list of experiments shows.

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
from firsthand_evals import pages, registry
from firsthand_evals.pages import Page
from firsthand_evals.reclaim.figures import headline
from firsthand_evals.reclaim.tables import Table, as_json

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


def keep(out: Path, tables: Sequence[Table], names: Sequence[str], page: Page, told: str) -> None:
    """Write what was made of the items, and a line for the list of experiments.

    Args:
        out: the folder that results are kept in; ``told``: the reader, and what else the headlines want.
    """
    folder = registry.folder_of(out, NAME)
    folder.mkdir(parents=True, exist_ok=True)
    made = json.dumps([as_json(table) for table in tables], indent=1) + "\n"
    for name, text in (("tables.json", made), (PAGE, pages.html(page)), ("report.md", pages.markdown(page))):
        (folder / name).write_text(text, encoding="utf-8")
    for table in tables:
        registry.keep(out, registry.of_reclaim(table.name), {"headline": f"{told}: {headline(table, names)}"})
