"""Estimates of tokens that need no tokenizer: a weight for each byte, each beginning of a run, each frequent pair.

A family of models has one table of weights, calibrated so that no real document of
100 tokens or more is under the truth by more than 5 % for any tokenizer of the
family; `bench/token_estimates.py` measures how far over it is. Text that no person
wrote (random letters, one sign a thousand times) may be under by more.

The invariants, for all texts: a text that is not empty counts at least 1, and
``count(a) + count(b) >= count(a + b)``, so that parts counted apart fit where their
sum fits. What a weight must satisfy for that is said beside it in `table.Weights`.

Nothing here knows a vocabulary, a model's name or how its messages are framed.
"""

from __future__ import annotations

from itertools import pairwise

from firsthand.tokens.table import UNIT, Weights
from firsthand.tokens.weights import FAMILIES
from firsthand.value import value

_LOWER, _UPPER = b"abcdefghijklmnopqrstuvwxyz", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGITS, _SIGNS = b"0123456789", b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
# First bytes in UTF-8 from which on the next weight of `wide` holds: Latin-1 signs, Latin-1 letters, Latin,
# Greek, Cyrillic, Hebrew, Arabic, Indic and Thai, Georgian to Vietnamese, punctuation and symbols, kana, CJK,
# Hangul, private and full-width, emoji.
_WIDE_FROM = (0xC2, 0xC3, 0xC4, 0xCA, 0xD0, 0xD5, 0xD8, 0xE0, 0xE1, 0xE2, 0xE3, 0xE4, 0xEA, 0xEE, 0xF0, 0x100)
_RUNS = b"lUdnspx"  # lower case, capitals, digits, line ends, spaces, signs, and all others


class Estimate:
    """Estimates tokens for one family of models.

    Attributes:
        family: a name of `weights.FAMILIES`.
        identity: what an anatomy says that it was counted with.
    """

    __slots__ = ("_tables", "family", "identity")

    def __init__(self, family: str) -> None:
        self.family = family
        self.identity = f"estimate ({family})"
        self._tables: _Tables | None = None

    def __repr__(self) -> str:
        return f"Estimate({self.family!r})"

    def __call__(self, text: str, /) -> int:
        """Estimate the tokens of a text; a lone surrogate counts as the three bytes that stand for it."""
        tables = self._tables
        if tables is None:
            tables = self._tables = _tables(self.family)
        data = text.encode("utf-8", "surrogatepass")
        # Counted by the methods of bytes: a loop over words costs ten times as much, and this runs for each event.
        total = sum(data.translate(tables.single))
        shape = b"." + data.translate(_SHAPE)
        for only, weight in tables.starts:
            total += weight * shape.translate(only).count(b".x")
        for pattern, weight in tables.joined:
            total += weight * shape.count(pattern)
        for letters, weight in tables.common:
            total += weight * data.count(letters)
        return -(-total // UNIT)


@value
class _Tables:
    """Weights in the form that counting needs; what is taken off is negative."""

    single: bytes
    starts: tuple[tuple[bytes, int], ...]
    joined: tuple[tuple[bytes, int], ...]
    common: tuple[tuple[bytes, int], ...]


def _tables(family: str) -> _Tables:
    weights = FAMILIES[family]
    single = [weights.control] * 128 + [0] * 128  # 0: the further bytes of a sign, whose first byte bears its weight
    for (low, high), weight in zip(pairwise(_WIDE_FROM), weights.wide, strict=True):
        single[low:high] = [weight] * (high - low)
    for weight, letters in weights.signs.items():
        for byte in letters.encode():
            single[byte] = weight
    for byte, weight in [*((b, weights.capital) for b in _UPPER), *((b, weights.digit) for b in _DIGITS)]:
        single[byte] = weight
    for byte, weight in zip(b" \t\n\r", _blank(weights), strict=True):
        single[byte] = weight
    return _Tables(
        bytes(single),
        tuple((_only(run), weight) for run, weight in weights.starts.items()),
        (*((run.encode(), -weight) for run, weight in weights.joined.items()), (b"UUUU", weights.capitals)),
        tuple((letters.encode(), -weight) for letters, weight in weights.common.items()),
    )


def _blank(weights: Weights) -> tuple[int, int, int, int]:
    return weights.space, weights.tab, weights.line_feed, weights.carriage_return


def _classes() -> bytes:
    """Map each byte to the letter of its class in `_RUNS`."""
    table = bytearray(b"x" * 256)
    for members, name in ((_LOWER, "l"), (_UPPER, "U"), (_DIGITS, "d"), (b"\n\r", "n"), (b" ", "s"), (_SIGNS, "p")):
        for byte in members:
            table[byte] = ord(name)
    return bytes(table)


def _only(run: str) -> bytes:
    """Map one class to x and the others to a point, so that a run's beginning is ``.x``."""
    assert run.encode() in _RUNS
    return bytes(ord("x") if byte == ord(run) else ord(".") for byte in range(256))


_SHAPE = _classes()

estimate = Estimate("any model")
"""Tokens as the most demanding of eleven tokenizers counts them (`weights.FAMILIES`): Claude to 4.6, GPT, Llama,
Mistral, Qwen, DeepSeek, Gemma, SmolLM2. Claude 4.7 and later count more: `CLAUDE`."""
OPENAI = Estimate("GPT")
"""Tokens of GPT-3.5 to GPT-5 and Llama 3."""
CLAUDE = Estimate("Claude 4.7 and later")
"""Tokens of Claude 4.7 and later, as far as a reconstruction from outside tells them."""
