"""Makes the hits of a page: what was ranked, with previews that share a budget of tokens.

The invariant: all previews together keep to the budget, and a preview is a run of the
content at the place where it matches. It ranks nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from firsthand.answer import Hit
from firsthand.index import words
from firsthand.index.tokenizer import Tokenize
from firsthand.tokens import estimate
from firsthand.value import value

from . import preview
from .evidence import Row
from .rank import Frequencies, Match

PREVIEW_TOKENS_MIN = 24
NEEDED_BYTES = 2
"""Of a passage for each token that it is thought to need, at the most."""
EXACT_WEIGHT = 100.0
"""Of an exact string among the matches that a preview is to show: more than any words together."""


@value
class Shown:
    """What one hit is made of.

    Attributes:
        match: what of the question stands in the row.
        companion_of: pointer of the hit it belongs with; empty for a hit of its own.
        replaced_by: see `Hit`.
    """

    row: Row
    match: Match
    score: float
    parts: dict[str, float]
    found_by: dict[str, float]
    companion_of: str = ""
    replaced_by: str = ""


def fit(tokens_max: int) -> int:
    """Say how many hits a budget of tokens has room for."""
    return max(1, tokens_max // PREVIEW_TOKENS_MIN)


def make(shown: Sequence[Shown], frequencies: Frequencies, tokenize: Tokenize, tokens_max: int) -> list[Hit]:
    """Make hits, the budget shared out by need.

    Args:
        tokens_max: of all previews together.
    """
    hits: list[Hit] = []
    left = tokens_max
    for one, granted in zip(shown, _shared([len(one.row.data) for one in shown], tokens_max), strict=True):
        cut = _preview(one.row, one.match, frequencies, tokenize, max(1, min(granted, left)))
        left -= cut.tokens
        event = one.row.event
        hits.append(
            Hit(
                f"fh:{event.id}", one.score, one.parts, cut.text, cut.start,
                tuple(dict.fromkeys(wanted.string for wanted in one.match.exact)), event.position, event.kind,
                event.session, event.turn, event.agent, event.origin, event.trust, event.time, event.size_bytes,
                one.found_by, one.companion_of, one.replaced_by,
            )
        )  # fmt: skip
    return hits


def _preview(row: Row, found: Match, frequencies: Frequencies, tokenize: Tokenize, tokens_max: int) -> preview.Preview:
    if words.reading(row.data, row.event.media, row.event.kind)(row.data) == "" and row.data:
        label = f"[{row.event.media or 'binary'}, {row.event.size_bytes:,} bytes]"
        return preview.Preview(label, 0, estimate(label))

    def marks() -> dict[int, preview.Mark]:
        kinds = {stem: preview.Mark(stem, frequencies.idf(frequencies.df.get(stem, 0))) for stem in found.times}
        at_words = {start: kinds[stem] for start, _, stem in tokenize(row.data) if stem in kinds}
        for wanted in found.exact:
            at = row.data.find(wanted.string.encode("utf-8", "surrogatepass"))
            if at >= 0:
                at_words[at] = preview.Mark(wanted.string, EXACT_WEIGHT)
        return at_words

    return preview.cut(row.data, row.start, marks, max(1, tokens_max))


def _shared(sizes: Sequence[int], tokens: int) -> list[int]:
    """Share tokens out among passages of these sizes in bytes: what the short ones do not need, the long ones get."""
    granted = [0] * len(sizes)
    for done, at in enumerate(sorted(range(len(sizes)), key=lambda at: sizes[at])):
        share = max(0, tokens) // (len(sizes) - done)
        granted[at] = min(share, sizes[at] + 1)  # a token has at least a byte: so much is always enough
        tokens -= min(granted[at], sizes[at] // NEEDED_BYTES + 1)
    return granted
