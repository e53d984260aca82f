"""Where the commands of ``eval`` keep what they found, and how far they are."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path

from firsthand import InvalidArgument, environment
from firsthand.cli.output import Output


def folder_kept(chosen: argparse.Namespace) -> Path | None:
    """Give the folder that results are kept in; None without one: an evaluation makes no store."""
    if chosen.out is not None:
        return Path(chosen.out).expanduser()
    store = Path(chosen.store).expanduser() if chosen.store else environment.default_store()
    if not (store / "firsthand.db").is_file():
        return None
    os.umask(0o077)  # what is in a store is its owner's alone
    return store


def can_be_written(chosen: argparse.Namespace, *names: str) -> None:
    """Refuse files, and a folder of results, that could not be written at the end, before anything is asked.

    Args:
        names: options that name a file.
    """
    given = {name: getattr(chosen, name) for name in names if getattr(chosen, name) is not None}
    places = {name: Path(told).expanduser() for name, told in given.items()}
    for name, place in places.items():
        folder = place.parent
        if not given[name] or place.is_dir():
            raise InvalidArgument(f"--{name} names a file; got {given[name]!r}, which is none")
        if not folder.is_dir():
            raise InvalidArgument(f"--{name} {given[name]}: the folder {folder} is not there; make it first")
        if not os.access(place if place.exists() else folder, os.W_OK):
            raise InvalidArgument(f"--{name} {given[name]} cannot be written here; name a file that can")
    if len({one.resolve() for one in places.values()}) < len(places):
        raise InvalidArgument(f"{', '.join(f'--{name}' for name in places)} want a file each; got the same one twice")
    if chosen.out is not None:
        folder = Path(chosen.out).expanduser()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidArgument(
                f"--out {chosen.out}: expected a folder or a place for one; {error.strerror}. Name another one."
            ) from error
        if not os.access(folder, os.W_OK):
            raise InvalidArgument(f"--out {chosen.out} cannot be written here; name a folder that can")


def progress(out: Output, about: str, noun: str = "prompts") -> Callable[[int, int], None]:
    """Give what is called with how many are done of how many."""

    def told(done: int, whole: int) -> None:
        out.progress(lambda: f"{about} {done:,} of {whole:,} {noun}", last=done == whole)

    return told
