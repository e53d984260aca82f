"""Ids for the events of source records, so that the same record read again is the same event.

An id comes from the host, what makes the record the same (`hosts.port.key`), the
number of its occurrence in the source, and the part. The occurrence is counted
over the whole source: two equal lines are two events, and reading on in a grown
file must count from where it stopped, so what was seen is kept in the cursor.

Keys are remembered as 32-bit hashes, 4 bytes a record. Two records that share
one are counted as occurrences of each other, the same way at every reading.
"""

from __future__ import annotations

import base64
import hashlib
import sys
from array import array
from bisect import bisect_left
from collections import Counter

from firsthand.event import Draft, derived_id
from firsthand.hosts.transcript import Host, key
from firsthand.record import Record
from firsthand.value import replace

SEEN_KEPT_MAX = 250_000  # records whose keys a cursor keeps: 1.3 MB of text
_RECENT_MAX = 32_768
_WORD = "I" if array("I").itemsize == 4 else "L"


class Seen:
    """Counts how often each key came, in about 4 bytes a key."""

    def __init__(self, packed: str = "") -> None:
        once, _, again = packed.partition(".")
        self._sorted = _unpacked(once)
        self._recent: set[int] = set()
        self._repeats: dict[int, int] = dict(Counter(_unpacked(again)))
        self._size = len(self._sorted) + sum(self._repeats.values())

    def count(self, key_fields: tuple[bytes, ...]) -> int:
        """Say how often a key came before, and count it."""
        digest = hashlib.sha256(b"\0".join(key_fields)).digest()
        return self._count(int.from_bytes(digest[:4], "little"))

    def to_text(self) -> str:
        """Write what was seen for a cursor; empty when it is over `SEEN_KEPT_MAX`."""
        if self._size > SEEN_KEPT_MAX:
            return ""
        self._merge()
        again = array(_WORD)
        for number, times in sorted(self._repeats.items()):
            again.extend([number] * times)
        return f"{_packed(self._sorted)}.{_packed(again)}"

    def _count(self, number: int) -> int:
        self._size += 1
        if number in self._recent or self._is_sorted(number):
            self._repeats[number] = self._repeats.get(number, 0) + 1
            return self._repeats[number]
        self._recent.add(number)
        if len(self._recent) >= _RECENT_MAX:
            self._merge()
        return 0

    def _merge(self) -> None:
        self._sorted, self._recent = array(_WORD, sorted((*self._sorted, *self._recent))), set()

    def _is_sorted(self, number: int) -> bool:
        at = bisect_left(self._sorted, number)
        return at < len(self._sorted) and self._sorted[at] == number


def identified(host: Host, record: Record, session: str, seen: Seen, branch: int) -> Record:
    """Give a record's events their ids, and say in their meta which rewriting of the file brought them."""
    fields = key(host, record, session)
    keyed = (*fields, str(seen.count(fields)).encode())
    drafts = tuple(
        replace(draft, id=derived_id(draft.time, *keyed, str(draft.part).encode()), meta=_meta(draft, branch))
        for draft in record.drafts
    )
    return replace(record, drafts=drafts)


def _meta(draft: Draft, branch: int) -> dict[str, object]:
    return {**draft.meta, "branch": branch} if branch else dict(draft.meta)


def _packed(numbers: array[int]) -> str:
    little = array(_WORD, numbers)
    if sys.byteorder == "big":
        little.byteswap()
    return base64.b64encode(little.tobytes()).decode("ascii")


def _unpacked(packed: str) -> array[int]:
    numbers = array(_WORD)
    numbers.frombytes(base64.b64decode(packed))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
