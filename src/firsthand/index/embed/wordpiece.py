"""Cuts a text into the word pieces of BERT's uncased vocabulary, and numbers them.

Words are cut at spaces, at punctuation and around Han characters, folded to lower
case without accents; a word is then the longest pieces of the vocabulary, from its
beginning on, or unknown as a whole. So the numbers are those that a model was
trained on; `tests/index/test_wordpiece.py` compares them with the library that
trained it.

The invariant: linear time in the text for words of bounded length, and never more
than a stated number of pieces. It reads no file.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import lru_cache

WORD_CHARACTERS_MAX = 100
WORDS_KEPT = 50_000
"""Words whose pieces are remembered: most words of a text were there before."""
_HAN = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


class WordPieces:
    """A vocabulary, and how texts are cut by it.

    Args:
        numbers: of each piece; one that continues a word begins with ``##``.
    """

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self._numbers, self._unknown = numbers, numbers["[UNK]"]
        self._first, self._last = numbers["[CLS]"], numbers["[SEP]"]
        self._of_word = lru_cache(WORDS_KEPT)(self._cut_word)

    def __call__(self, text: str, pieces_max: int) -> list[int]:
        """Number the pieces of a text, with those that begin and end it; what is beyond the bound is left out."""
        pieces: list[int] = [self._first]
        for word in _words(text):
            pieces += self._of_word(word)
            if len(pieces) >= pieces_max:
                break
        return [*pieces[: pieces_max - 1], self._last]

    def _cut_word(self, word: str) -> tuple[int, ...]:
        if len(word) > WORD_CHARACTERS_MAX:
            return (self._unknown,)
        pieces: list[int] = []
        start = 0
        while start < len(word):
            for end in range(len(word), start, -1):
                number = self._numbers.get(("##" if start else "") + word[start:end])
                if number is not None:
                    break
            else:
                return (self._unknown,)
            pieces.append(number)
            start = end
        return tuple(pieces)


def _words(text: str) -> list[str]:
    """Cut a text into words as the vocabulary was made for."""
    if text.isascii():
        table: Mapping[int, str | None] = _ASCII
        return text.lower().translate(table).split()
    spread = "".join([_spread(sign) for sign in text])
    plain = "".join([sign for sign in unicodedata.normalize("NFD", spread) if unicodedata.category(sign) != "Mn"])
    return "".join([f" {sign} " if _cuts(sign) else sign for sign in plain.lower()]).split()


def _spread(sign: str) -> str:
    """Leave out what is no sign, make every space one, and let Han characters stand alone."""
    code = ord(sign)
    if sign in "\t\n\r":
        return " "
    if code in {0, 0xFFFD} or unicodedata.category(sign) in {"Cc", "Cf", "Co", "Cs"}:
        return ""
    if sign.isspace():
        return " "
    return f" {sign} " if code >= 0x3400 and any(low <= code <= high for low, high in _HAN) else sign


def _cuts(sign: str) -> bool:
    """Say whether a sign is punctuation: of ASCII all that is no letter, digit or space."""
    if sign.isascii():
        return sign.isprintable() and not sign.isalnum() and sign != " "
    return unicodedata.category(sign).startswith("P")


_ASCII: dict[int, str | None] = {
    code: " " if chr(code) in "\t\n\r " else f" {chr(code)} " if _cuts(chr(code)) else None
    for code in range(128)
    if not chr(code).isalnum()
}
