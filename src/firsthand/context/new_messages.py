"""Finds what is new in a caller's whole list of messages, against the messages that the session has.

The invariant: a message that the session has is never appended again, and none of the
caller's is passed over. What cannot be told apart is refused.

A message that was erased, or that is damaged, cannot be compared: the caller's list
may still hold it, or no more. It does not know what messages say.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from firsthand.errors import Erased, FormatError, StoreDamaged
from firsthand.event import PART
from firsthand.formats import canonical
from firsthand.log.engine import LogReader
from firsthand.window import HISTORY

Digests = Sequence[bytes | None]
"""Of messages in order; None for one that cannot be compared any more."""

_DIGEST_BYTES = 16


class Given:
    """A list of messages that a caller gives again and again, as it was last time.

    It is kept as a copy that shares the caller's texts: comparing it costs next to nothing however long
    they are, and a message that was changed in its place is still seen.

    Args:
        held: what the session has, which the first list is compared with.
    """

    def __init__(self, digests: Digests) -> None:
        self._held = digests
        self._copy: list[Any] | None = None

    def first_new(self, messages: Sequence[Mapping[str, Any]]) -> int:
        """Say from where on a list has what the session has not.

        Raises:
            FormatError: the list is not that of before, grown; or it cannot be told what of it is new.
        """
        known = len(self._copy or ())
        if self._copy is not None and messages[:known] == self._copy:
            return known
        digests = self._held if self._copy is None else [digest(message) for message in self._copy]
        return first_new(digests, [digest(message) for message in messages])

    def took(self, messages: Sequence[Mapping[str, Any]], new: int) -> None:
        """Know a list, what is new of it included, now that it was appended."""
        known = len(self._copy or ())
        if self._copy is None or known != new:
            self._copy, known = [], 0
        self._copy += copy.deepcopy([*messages[known:]])


def digest(message: Mapping[str, Any]) -> bytes:
    """Give what two equal messages have in common."""
    return hashlib.sha256(canonical.dump(message)).digest()[:_DIGEST_BYTES]


def known(reader: LogReader, namespace: str, session: str, format: str | None) -> list[bytes | None]:  # noqa: A002
    """Give the digests of a session's messages of a format; None takes all that have one."""
    digests: list[bytes | None] = []

    def damaged(position: int, _: StoreDamaged) -> None:
        if reader.begins_message(namespace, position):
            digests.append(None)

    for event in reader.events(namespace, session=session, damaged=damaged):
        if event.part != 0 or event.kind not in HISTORY or event.meta.get(PART):
            continue
        if event.erased:
            digests.append(None)
        elif event.meta.get("format") and format in {None, event.meta["format"]}:
            try:
                digests.append(digest(json.loads(reader.source_of(event).decode("utf-8", "surrogatepass"))))
            except (Erased, StoreDamaged):  # a further part of it
                digests.append(None)
    return digests


def first_new(digests: Digests, new: Sequence[bytes]) -> int:
    """Say from where on a list has what the session has not.

    Raises:
        FormatError: the list is not that of the session, grown; or it cannot be told what of it is new.
    """
    at = loose = 0
    for old_digest in digests:
        if old_digest is None:
            loose += 1
            continue
        here = next((place for place in range(at, at + loose + 1) if new[place : place + 1] == [old_digest]), None)
        if here is None:
            raise FormatError(
                f"expected the list of messages as it was given before, grown; it differs from message {at} on "
                f"({len(new)} given now, {len(digests)} before). {_INSTEAD}, or begin another session"
            )
        at, loose = here + 1, 0
    if loose and at < len(new):
        raise FormatError(
            f"the newest {loose} messages of the session were erased or are damaged, so it cannot be told whether "
            f"the list still has them or goes on from message {at}. {_INSTEAD}"
        )
    return at


_INSTEAD = "Give what is new to add() and call request() without a list"
