"""Where the commands of ``eval`` keep what they found, and how far they are."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from firsthand import environment
from firsthand.doors.output import Output


def folder_kept(chosen: argparse.Namespace) -> Path | None:
    """Give the folder that results are kept in; None without one: an evaluation makes no store."""
    if chosen.out is not None:
        return Path(chosen.out).expanduser()
    store = Path(chosen.store).expanduser() if chosen.store else environment.default_store()
    return store if (store / "firsthand.db").is_file() else None


def progress(out: Output, about: str, noun: str = "prompts") -> Callable[[int, int], None]:
    """Give what is called with how many are done of how many."""

    def told(done: int, whole: int) -> None:
        out.progress(lambda: f"{about} {done:,} of {whole:,} {noun}", last=done == whole)

    return told
