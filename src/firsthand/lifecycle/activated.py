"""The flag that puts a reconciler on the hot path of every store that is opened (total-recall 8.6).

    FIRSTHAND_RECONCILE=add-all              asked about each whole turn, and keeps all
    FIRSTHAND_RECONCILE=size-aware:500MB     leaves out small talk once the store is larger than that

The invariant: while the variable is not set nobody is asked but who is set on
`Memory.hot_path`; what is set there takes the place of what the variable names. With
``add-all`` a store has the bytes of one without it. What the flag says is read once,
when a store is opened, and a word that says nothing is an error and no default.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from firsthand.consolidate.reconcile import AddAll, HotPath, SizeAware
from firsthand.errors import InvalidArgument
from firsthand.log.schema import DATABASE_FILE

if TYPE_CHECKING:
    from firsthand.memory import Memory

VARIABLE = "FIRSTHAND_RECONCILE"
_SIZE = re.compile(r"size-aware:(\d{1,12})(B|kB|MB|GB)")
_BYTES = {"B": 1, "kB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000}


def activate(memory: Memory, word: str) -> None:
    """Put the hot path that the flag names on a memory; where it names none, the memory is closed again.

    Raises:
        InvalidArgument: it names none.
    """
    try:
        memory.hot_path = hot_path(memory, word)
    except InvalidArgument:
        memory.close()
        raise


def hot_path(memory: Memory, word: str) -> HotPath:
    """Make the hot path that the flag names.

    Raises:
        InvalidArgument: it names none.
    """
    if word == "add-all":
        return HotPath(AddAll())
    size = _SIZE.fullmatch(word)
    if size is None:
        raise InvalidArgument(
            f"${VARIABLE} is add-all, or size-aware with a size such as size-aware:500MB; got {word!r:.60}. Unset it "
            "to have nobody asked."
        )
    return HotPath(SizeAware(int(size[1]) * _BYTES[size[2]], lambda: _used_bytes(memory)))


def _used_bytes(memory: Memory) -> int:
    """Say how large the store's file is now; payloads that lie beside it are never of a turn that is left out."""
    return (memory.path / DATABASE_FILE).stat().st_size
