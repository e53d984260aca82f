"""The library that knows more vendors' secrets than `secrets` does: Kingfisher, behind the extra ``secrets``.

It runs in this process and asks no network: nothing of its validation is called. Its 488
rules take three seconds to compile, once a store: they are kept in a folder of ours, and
loading them takes a quarter of a second, once a process. The invariant: what it finds is
added to what the shapes find, never taken from it.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .secrets import Finder, Secret, find, merged, outside_marks

EXTRA = "firsthand[secrets]"
RULES_FOLDER = "secret-rules"
"""In the store's folder: the compiled rules."""


def is_installed() -> bool:
    """Say whether the extra is there."""
    return find_spec("kingfisher_sdk") is not None


def ready(folder: Path) -> Finder:
    """Give what finds secrets without a wait: shapes and library where that was loaded in this process, else shapes."""
    return _library(str(folder)).finder


def load(folder: Path) -> Finder:
    """Give shapes and library, loading that first; the shapes alone where the extra is not installed.

    Args:
        folder: where the compiled rules are kept, for this user alone.
    """
    return _library(str(folder)).load()


class _Library:
    """The library with its rules in one folder, loaded once a process."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        self._lock = threading.Lock()
        self.finder: Finder = find
        self._is_loaded = False

    def load(self) -> Finder:
        with self._lock:
            if not self._is_loaded:
                library = alone(self._folder)
                if library is not None:
                    self.finder = joined(library)
                self._is_loaded = True
        return self.finder


@cache
def _library(folder: str) -> _Library:
    return _Library(folder)


def alone(folder: Path) -> Finder | None:
    """Load the library by itself; None where the extra is not installed."""
    if not is_installed():
        return None
    import kingfisher_sdk  # noqa: PLC0415 - an extra is imported when it is used

    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    rules = kingfisher_sdk.Rules(confidence="medium", cache_dir=str(folder))
    scanner: Any = kingfisher_sdk.Scanner(rules, base64=False)

    def finder(text: str) -> tuple[Secret, ...]:
        data = text.encode("utf-8", "replace")  # a lone surrogate becomes one sign, as long as it was
        places = [
            (finding.location["start_offset"], finding.location["end_offset"], _sort_of(finding.rule_id))
            for finding in scanner.scan(data)
        ]
        return merged(_in_characters(data, places))

    return finder


def joined(library: Finder) -> Finder:
    """Give a finder of what the shapes or the library see."""
    return lambda text: outside_marks(text, merged([*find(text), *library(text)]))


def _sort_of(rule: str) -> str:
    """Give a rule's name without whose it is: ``betterleaks.github-pat`` is ``github-pat``."""
    return re.sub(r"[^a-z0-9]+", "-", rule.rpartition(".")[2].casefold()).strip("-") or "secret"


def _in_characters(data: bytes, places: Iterable[tuple[int, int, str]]) -> Iterator[Secret]:
    """Turn places in bytes into places in the text that the bytes encode."""
    if data.isascii():
        yield from (Secret(start, end, sort) for start, end, sort in places)
        return
    read = characters = 0
    for start, end, sort in sorted(places):
        characters += len(data[read:start].decode("utf-8", "ignore"))
        yield Secret(characters, characters + len(data[start:end].decode("utf-8", "ignore")), sort)
        read = start
