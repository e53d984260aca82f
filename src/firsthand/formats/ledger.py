"""Counts every byte of a body for the source that it comes from, while the body is built.

The invariant: the bytes of all sources and the framing sum to the canonical JSON of
the body. It knows no provider.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firsthand.event import Kind
from firsthand.formats.blocks import Block, Source, size_of
from firsthand.formats.pieces import Piece, contributor
from firsthand.window import FRAMING, Share, together

_JOINT_TEXT, _JOINT_LIST = 4, 1  # \n\n in a JSON string, and a comma


class Ledger:
    """What each source has in the body so far.

    Attributes:
        framing: bytes that belong to no source: punctuation between them, and texts that a valid order needs.
        total: of all that was added.
    """

    def __init__(self) -> None:
        self.framing = 0
        self.total = 0
        self._sources: dict[int, Source] = {}

    def add(self, value: dict[str, Any], blocks: Sequence[Block], *, joined: bool = False) -> dict[str, Any]:
        """Enter a message, or another object of a list; what surrounds its blocks belongs to the first of them.

        Args:
            joined: its plain texts were joined to one.
        """
        size = size_of(value)
        first = blocks[0].source
        if all(block.source is first for block in blocks):
            self._enter(size, first)
            return value
        rest = size
        before = first
        for block in blocks:
            share = _size_in(block, joined=joined)
            between = (
                0 if block.source is before else _JOINT_TEXT if joined and isinstance(block.value, str) else _JOINT_LIST
            )
            before = block.source
            if block.source is not first:
                self._enter(share, block.source)
                rest -= share
            self.framing += between
            self.total += between
            rest -= between
        self._enter(rest, first)
        return value

    def enter_whole(self, source: Source) -> None:
        """Enter a provider's own message that goes out as it came."""
        self._enter(source.size_bytes, source)

    def shares(self) -> list[Share]:
        """Give the share of each contributor."""
        found = [share for source in self._sources.values() for share in _shares(source)]
        return [*together([*found, Share(FRAMING, self.framing, 0)])]

    def _enter(self, size: int, source: Source) -> None:
        assert size >= 0, f"a share has no negative size; got {size}"
        self.total += size
        if source.pieces:
            source.bytes += size
            self._sources[id(source)] = source
        else:
            self.framing += size


def as_it_came(blocks: Sequence[Block], ledger: Ledger) -> dict[str, Any] | None:
    """Give the provider's own message where these are its blocks, unchanged; else None."""
    source = blocks[0].source
    if not source.whole or source.message is None or source.natives != list(blocks):
        return None
    ledger.enter_whole(source)
    return dict(source.message)


def _size_in(block: Block, *, joined: bool) -> int:
    """Measure a block where it stands: in a joined text, or as an object of a list."""
    if not isinstance(block.value, str):
        return size_of(block.value)
    return size_of(block.value) - 2 if joined else size_of({"type": "text", "text": block.value})


def _shares(source: Source) -> list[Share]:
    pieces = [piece for number, piece in enumerate(source.pieces) if number not in source.dropped]
    names = [contributor(piece, newest=source.newest) for piece in pieces]
    sizes = _split(pieces, source.bytes) if len(set(names)) > 1 else [source.bytes, *[0] * (len(pieces) - 1)]
    return [Share(name, size, piece.tokens) for name, size, piece in zip(names, sizes, pieces, strict=True)]


def _split(pieces: Sequence[Piece], total: int) -> list[int]:
    """Split the bytes of one message: later pieces have what their content takes, the first all else."""
    sizes = []
    for piece in pieces[1:]:
        is_file = piece.kind is Kind.ATTACHMENT and piece.content is not None
        wanted = -(-len(piece.content or b"") // 3) * 4 if is_file else size_of(piece.text) - 2
        sizes.append(min(wanted, total))
        total -= sizes[-1]
    return [total, *sizes]
