"""Counts every byte of a body for the source that it comes from, while the body is built.

The invariant: the bytes of all sources and the framing sum to the canonical JSON of
the body. It knows no provider.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from firsthand.event import Kind
from firsthand.formats.blocks import CALL, FILE, RESULT, TEXT, THOUGHT, Block, Source, size_of
from firsthand.formats.fields import items, mapping, text
from firsthand.formats.pieces import Piece, contributor
from firsthand.window import FRAMING, Share

_SORTS = {Kind.TOOL_CALL: CALL, Kind.TOOL_RESULT: RESULT, Kind.ATTACHMENT: FILE, Kind.REASONING: THOUGHT}
_JOINT_TEXT, _JOINT_LIST = 4, 1  # \n\n in a JSON string, and a comma


class Ledger:
    """What each source has in the body so far.

    Attributes:
        framing: bytes that belong to no source: punctuation between them, and texts that a valid order needs.
    """

    def __init__(self) -> None:
        self.framing = 0
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
            rest -= between
        self._enter(rest, first)
        return value

    def enter_whole(self, source: Source) -> None:
        """Enter a provider's own message that goes out as it came."""
        self._enter(source.size_bytes, source)

    def shares(self) -> list[Share]:
        """Give the share of each contributor."""
        sums: dict[str, list[int]] = {}
        for source in self._sources.values():
            _add_shares(sums, source)
        return [*(Share(name, *sizes) for name, sizes in sums.items()), Share(FRAMING, self.framing, 0)]

    def _enter(self, size: int, source: Source) -> None:
        assert size >= 0, f"a share has no negative size; got {size}"
        if source.pieces:
            source.bytes += size
            self._sources[id(source)] = source
        else:
            self.framing += size


def as_it_came(blocks: Sequence[Block], ledger: Ledger) -> dict[str, Any] | None:
    """Give the provider's own message where these are its blocks, unchanged; else None."""
    source = blocks[0].source
    if not source.whole or source.message is None or source.blocks != list(blocks):
        return None
    ledger.enter_whole(source)
    return dict(source.message)


def _size_in(block: Block, *, joined: bool) -> int:
    """Measure a block where it stands: in a joined text, or as an object of a list."""
    if not isinstance(block.value, str):
        return size_of(block.value)
    return size_of(block.value) - 2 if joined else size_of({"type": "text", "text": block.value})


def _add_shares(sums: dict[str, list[int]], source: Source) -> None:
    """Add what a source has to bytes, tokens and count of its contributors."""
    pieces = source.pieces
    if source.dropped:
        pieces = [piece for number, piece in enumerate(pieces) if number not in source.dropped]
    names = [contributor(piece, newest=source.newest and not _is_of_a_result(piece, pieces)) for piece in pieces]
    sizes = [source.bytes] if len(set(names)) == 1 else _split(source, pieces)
    for number, piece in enumerate(pieces):
        totals = sums.setdefault(names[number], [0, 0, 0])
        totals[0] += sizes[number] if number < len(sizes) else 0  # pieces of one contributor have all in the first
        totals[1] += piece.tokens
        totals[2] += 1


def _is_of_a_result(piece: Piece, pieces: Sequence[Piece]) -> bool:
    return piece.kind is Kind.ATTACHMENT and any(each.kind is Kind.TOOL_RESULT for each in pieces)


def _split(source: Source, pieces: Sequence[Piece]) -> list[int]:
    """Split the bytes of one message: later pieces have what their blocks take, the first all else."""
    taken: dict[str, deque[Any]] = {}
    for sort, value in _measurable(source.blocks):
        taken.setdefault(sort, deque()).append(value)
    sizes = [0]
    left = source.bytes
    for number, piece in enumerate(pieces):
        block = taken.get(_SORTS.get(piece.kind, TEXT))
        value = block.popleft() if block else None
        if number:
            sizes.append(0 if value is None else min(_size_of(value), left))
            left -= sizes[-1]
    return [left, *sizes[1:]]


def _measurable(blocks: Sequence[Block]) -> Iterator[tuple[str, Any]]:
    """Yield what the pieces of a message have in it; files that stand in a result are theirs, not the result's."""
    for block in blocks:
        if block.sort == RESULT:
            inside = items(block.value.get("content")) or items(block.value.get("output"))
            files = [part for part in inside if not text(mapping(part).get("type")).endswith("text")]
            yield RESULT, (block.value, files)
            yield from ((FILE, file) for file in files)
        else:
            yield block.sort if block.sort in (CALL, FILE, THOUGHT) else TEXT, block.value


def _size_of(value: Any) -> int:
    if isinstance(value, tuple):
        result, files = value
        return size_of(result) - sum(map(size_of, files))
    return size_of({"type": "text", "text": value} if isinstance(value, str) else value)
