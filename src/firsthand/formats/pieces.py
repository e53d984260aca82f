"""What a prompt is composed of, and what it was composed to: values shared by all formats.

A piece is one event as it is shown, one marker, or one text of ours. An entry is
what became one message in the log, or one piece that stands alone. The invariant:
a piece names its contributor, so that of every prompt it can be said what in it
came from where. Nothing here knows a provider.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from firsthand.errors import InvalidArgument
from firsthand.event import Kind
from firsthand.value import field, value
from firsthand.window import HISTORY_PARTS, NEWEST, PARTS, PERSONA, SYSTEM, Share

_NAMES = {**HISTORY_PARTS, Kind.SYSTEM: SYSTEM, Kind.PERSONA: PERSONA}
_RENAMED = {HISTORY_PARTS[Kind.SYSTEM]: SYSTEM, HISTORY_PARTS[Kind.PERSONA]: PERSONA}
_PLAIN_USER = ("", HISTORY_PARTS[Kind.USER_MESSAGE], HISTORY_PARTS[Kind.ATTACHMENT])
_KNOWN = frozenset(PARTS)


@value
class Piece:
    """One event, one marker, or one text of ours, as it goes into a message.

    Attributes:
        kind: of the event; `Kind.NOTE` for what Firsthand adds.
        text: as it is shown; of an event its text, whole or shortened.
        media: media type of the content.
        meta: of the event: ``call_id``, ``tool``, ``is_error``, ``name``, ``url`` ...
        content: the exact bytes, needed of attachments only.
        id: of the event; empty when it has none.
        tokens: as the window counts them.
        name: its contributor, one of `window.PARTS`; empty takes it from the kind.
    """

    kind: Kind
    text: str = ""
    media: str = "text/plain"
    meta: Mapping[str, Any] = field(default_factory=dict)
    content: bytes | None = None
    id: str = ""
    tokens: int = 0
    name: str = ""

    @property
    def pointer(self) -> str:
        """The address of the event; empty when it has none."""
        return f"fh:{self.id}" if self.id else ""


@value
class Entry:
    """What stands together in the window: the pieces of one message, or one piece of ours.

    Attributes:
        message: the provider's own, when it is of the format composed for and every piece of it
            is shown whole; it is then sent as it is. None builds a message out of the pieces.
        pieces: at least one, in order of their parts.
    """

    message: Mapping[str, Any] | None
    pieces: tuple[Piece, ...]


@value
class Composed:
    """A request's body, and what in it came from where.

    Attributes:
        body: what goes to the provider: ``messages`` or ``input``, and ``tools`` and ``system`` if there are any.
        shares: by contributor; the bytes sum to `canonical.dump` of the body, the tokens to those of its pieces.
        notes: what could not be sent as it was, one sentence each; empty when all could.
        size_bytes: of the body's canonical JSON.
    """

    body: dict[str, Any]
    shares: tuple[Share, ...]
    notes: tuple[str, ...] = ()
    size_bytes: int = 0


def contributor(piece: Piece, *, newest: bool = False) -> str:
    """Name the part of the prompt that a piece belongs to.

    Args:
        newest: it belongs to the newest user message.

    Raises:
        InvalidArgument: the piece has no name and its kind gives none, or there is no such part.
    """
    if newest and piece.kind in (Kind.USER_MESSAGE, Kind.ATTACHMENT) and piece.name in _PLAIN_USER:
        return NEWEST
    name = _RENAMED.get(piece.name, piece.name) or _NAMES.get(piece.kind, "")
    if name not in _KNOWN:
        raise InvalidArgument(f"a piece is named for its part of the prompt, one of {', '.join(PARTS)}; got {name!r}")
    return name


def pointers(pieces: Sequence[Piece]) -> str:
    """Name the first event of some pieces, for a sentence; empty when none has an id."""
    return next((piece.pointer for piece in pieces if piece.id), "")
