"""Makes the push pack of a session: a few thousand tokens that stand for all of it (total-recall 3.2, 7.2).

The invariant: a pack has at most the tokens asked for however long the session is,
holds the newest turn, and names what it leaves out. It is made of the window, and
changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from firsthand.context import task_text
from firsthand.context.ledger_view import task_of, window_of
from firsthand.context.pack_text import Part, pack_text
from firsthand.context.push_pack import SECTION_SHARES, Layout, Missing, Section, layout
from firsthand.context.push_pack import Shown as Given
from firsthand.context.short_text import shorten
from firsthand.event import Kind
from firsthand.formats.compose import compose
from firsthand.formats.pieces import Entry, Piece
from firsthand.ledger.effect import Effect
from firsthand.value import value
from firsthand.window import CUES, HISTORY_PARTS, MARKERS, PREAMBLE, RECALL, TASK, Item, Share

from .fold import Fold, Shown

TASK_TOKENS_MIN = 32  # with less the task state cannot even say that it is there


@value
class Pack:
    """A push pack.

    Attributes:
        text: for a host that takes text; fence it (`Memory.fence`).
        body: for a client that takes messages, in the window's format.
        tokens: of the text.
        shares: of the body, by contributor.
        missing: what is left out, counted and named.
    """

    text: str
    body: dict[str, Any]
    tokens: int
    shares: tuple[Share, ...]
    missing: tuple[Missing, ...]


def pack(
    fold: Fold,
    format: str,  # noqa: A002 - the package's word
    texts: Mapping[str, str],
    tokens_max: int,
    effect: Effect,
) -> Pack:
    """Make the push pack of a session.

    Args:
        effect: what the ledger leaves of the session's events.
        texts: ``preamble``, ``cues`` and ``recall``, as far as there are any.

    Raises:
        InvalidArgument: ``tokens_max`` is no number, or less than the newest turn needs.
    """
    most = max(TASK_TOKENS_MIN, int(tokens_max * SECTION_SHARES[TASK]))  # what a pack gives it, so that it is not cut
    task = task_text.text(task_of(fold.task, effect), tokens_max=most, count=fold.counter)
    parts = {name: text for name, text in {**texts, TASK: task}.items() if text}
    (window, shown), count = window_of(fold, effect), fold.counter

    def read(item: Item) -> str:
        return shown[item.id].text

    written = pack_text(
        window, read, {name: Part(text) for name, text in parts.items()}, tokens_max=tokens_max, count=count
    )
    laid = layout(
        window, [Section(name, count(text)) for name, text in parts.items()], tokens_max=tokens_max, count=count
    )
    cut = {name: shorten(text, laid.granted(name), count) for name, text in parts.items() if laid.granted(name)}

    def piece(name: str) -> list[Piece]:
        return [Piece(Kind.NOTE, cut[name], tokens=count(cut[name]), name=name)] if cut.get(name) else []

    task_entries = (Entry(None, (task_piece,)) for task_piece in piece(TASK))
    composed = compose(
        [*_stable(laid, fold), *task_entries, *_tail(laid, shown, fold)], format,
        system=piece(PREAMBLE), tail=[*piece(CUES), *piece(RECALL)],
    )  # fmt: skip
    return Pack(written.text, composed.body, count(written.text), composed.shares, written.layout.missing)


def _stable(laid: Layout, fold: Fold) -> Iterator[Entry]:
    for marker in laid.markers:
        yield Entry(None, (Piece(Kind.NOTE, marker.text, tokens=fold.counter(marker.text), name=MARKERS),))


def _tail(laid: Layout, shown: Mapping[str, Shown], fold: Fold) -> Iterator[Entry]:
    """Give the hot tail; what is cut says so, and where the rest is."""
    if laid.notice:
        yield Entry(None, (Piece(Kind.NOTE, laid.notice, tokens=fold.counter(laid.notice), name=MARKERS),))
    for item in laid.tail:
        yield Entry(None, (_piece(item, shown[item.item.id], fold),))


def _piece(item: Given, entry: Shown, fold: Fold) -> Piece:
    event = entry.event
    whole = item.tokens == item.item.tokens
    around = max(0, entry.tokens - fold.counter(entry.text))
    text = entry.text if whole else shorten(entry.text, max(1, item.tokens - around), fold.counter, f"fh:{event.id}")
    return Piece(
        event.kind, text, media=event.media, meta=event.meta, content=entry.data if whole else None, id=event.id,
        tokens=item.tokens, name=HISTORY_PARTS[event.kind],
    )  # fmt: skip
