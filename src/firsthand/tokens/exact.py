"""Exact tokenizers, made of the bytes of their files: OpenAI's encodings and Hugging Face's tokenizer.json.

The extra ``firsthand[tokens]`` installs what understands them. The invariant: nothing
is ever downloaded, and what looks like a special token in a text is counted as the
text that it is. This module knows no file (`firsthand.tokens.tokenizers` reads them), no
model's name and no framing of messages.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from importlib import import_module
from typing import Any

from firsthand.errors import InvalidArgument

PIECE_CHARACTERS_MAX = 100_000
"""A longer text is counted in pieces of this size: tiktoken's pattern ends in a panic on a million spaces.
Each cut can add a token or two."""

_WORDS = r"(?:'s|'t|'re|'ve|'m|'ll|'d)"  # English contractions
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_BEFORE = r"[^\r\n\p{L}\p{N}]?"  # a word may take one sign before it

PATTERNS = {
    "cl100k_base": "|".join(
        (
            rf"(?i:{_WORDS})",
            rf"{_BEFORE}\p{{L}}+",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        )
    ),
    "o200k_base": "|".join(
        (
            rf"{_BEFORE}{_UPPER}*{_LOWER}+(?i:{_WORDS})?",
            rf"{_BEFORE}{_UPPER}+{_LOWER}*(?i:{_WORDS})?",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        )
    ),
}
"""How each encoding cuts a text before it merges bytes: a part of the encoding's definition, as its ranks are."""


class Tiktoken:
    """Counts as OpenAI's models do.

    Args:
        encoding: a key of `PATTERNS`.
        ranks: what its file holds: a token in base64 and its rank in each line.

    Raises:
        InvalidArgument: the bytes are no ranks, or the package is missing.
    """

    __slots__ = ("_encoding", "identity")

    def __init__(self, encoding: str, ranks: bytes) -> None:
        self._encoding = package("tiktoken").Encoding(
            encoding, pat_str=PATTERNS[encoding], mergeable_ranks=_ranks(ranks), special_tokens={}
        )
        self.identity = f"tiktoken {encoding} {_digest(ranks)}"

    def __call__(self, text: str, /) -> int:
        """Count the tokens of a text; a lone surrogate counts as U+FFFD."""
        return sum(len(self._encoding.encode_ordinary(piece)) for piece in _pieces(text))


class TokenizerJson:
    """Counts as the model does whose ``tokenizer.json`` is given (Hugging Face's format).

    What the file says of truncation, padding and tokens around a text is left out: it
    is the text that is counted.

    Raises:
        InvalidArgument: the bytes are no tokenizer, or the package is missing.
    """

    __slots__ = ("_tokenizer", "identity")

    def __init__(self, data: bytes) -> None:
        tokenizers = package("tokenizers")
        try:
            self._tokenizer = tokenizers.Tokenizer.from_buffer(data)
        except Exception as error:  # the package knows no narrower class
            raise InvalidArgument(
                f"expected the bytes of a tokenizer.json of Hugging Face's format: {error}; give another file"
            ) from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True
        self.identity = f"tokenizer.json {_digest(data)}"

    def __call__(self, text: str, /) -> int:
        """Count the tokens of a text; a lone surrogate counts as U+FFFD."""
        return sum(len(self._tokenizer.encode(p, add_special_tokens=False).ids) for p in _pieces(text))


def _pieces(text: str) -> list[str]:
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate, which neither package takes
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return [text[at : at + PIECE_CHARACTERS_MAX] for at in range(0, len(text), PIECE_CHARACTERS_MAX)]


def _ranks(data: bytes) -> dict[bytes, int]:
    try:
        split = (line.split() for line in data.splitlines() if line.strip())
        ranks = {base64.b64decode(token, validate=True): int(rank) for token, rank in split}
    except (ValueError, binascii.Error) as error:
        raise InvalidArgument(
            f"expected lines of a token in base64 and its rank: {error}; give another file"
        ) from error
    missing = sum(bytes([byte]) not in ranks for byte in range(256))
    if missing:
        raise InvalidArgument(f"expected a rank for each of 256 bytes, {missing} have none: the file is cut short")
    return ranks


def package(name: str) -> Any:
    """Import what the extra installs."""
    try:
        return import_module(name)
    except ImportError as error:
        raise InvalidArgument(
            f"counting this way needs {name}: pip install 'firsthand[tokens]', in a clone pip install -e '.[tokens]'"
        ) from error


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]
