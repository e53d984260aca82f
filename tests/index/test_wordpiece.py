"""Word pieces: the same numbers as the library that the vocabulary was trained with."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from firsthand.index.embed.minilm import vocabulary
from firsthand.index.embed.wordpiece import WordPieces

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
PIECES += [
    *"abcdeno.,!?-_'$€→日本é",
    "an",
    "and",
    "no",
    "ca",
    "deaf",
    "##a",
    "##b",
    "##c",
    "##d",
    "##e",
    "##nd",
    "##no",
    "##s",
]
NUMBERS = {piece: number for number, piece in enumerate(PIECES)}
OURS = WordPieces(NUMBERS)
THEIRS = Tokenizer(models.WordPiece(NUMBERS, unk_token="[UNK]", max_input_chars_per_word=100))
THEIRS.normalizer = normalizers.BertNormalizer(lowercase=True)
THEIRS.pre_tokenizer = pre_tokenizers.BertPreTokenizer()

SIGNS = st.sampled_from(
    "abcdeno ABCDENO.,!?-_'$€→日本éÉñ\u0301\t\n\r\x00\x07\x7f\u200b\u00a0\u3000\u00ad\ufffd|~^`<>=+"
)


# Beyond these blocks the library's tables of Unicode are older than Python's: 503 newer signs are classed otherwise.
COMMON = st.characters(max_codepoint=0x5FF) | st.characters(min_codepoint=0x2000, max_codepoint=0x2BFF)
HAN = st.characters(min_codepoint=0x3400, max_codepoint=0x9FFF)


@given(st.one_of(st.text(alphabet=COMMON | HAN), st.text(alphabet=SIGNS), st.text(alphabet="abcdeno ", max_size=200)))
def test_the_numbers_are_those_of_the_library(text):
    """Every text is cut as `tokenizers` cuts it with BERT's rules and the same vocabulary."""
    plain = text.encode("utf-8", "ignore").decode()
    assert OURS(plain, 10_000) == [NUMBERS["[CLS]"], *THEIRS.encode(plain).ids, NUMBERS["[SEP]"]]


@pytest.mark.parametrize("most", [2, 3, 7])
def test_a_long_text_is_cut_off(most):
    """A text has at most as many pieces as asked for, with those that begin and end it."""
    cut = OURS("and no deaf and no deaf and no deaf", most)
    assert len(cut) == most
    assert (cut[0], cut[-1]) == (NUMBERS["[CLS]"], NUMBERS["[SEP]"])


def test_a_vocabulary_file_is_read():
    """Words that begin behind a space are whole ones, others continue one; the special ones are in upper case."""
    words = [" [unk]", " [cls]", " the", "ing", " ü"]
    packed = [word.encode() for word in words]
    begins = [0]
    for word in packed:
        begins.append(begins[-1] + len(word))
    data = bytes(96) + struct.pack(f"<I{len(begins)}I", len(words), *begins) + b"".join(packed)
    assert vocabulary(data) == {"[UNK]": 0, "[CLS]": 1, "the": 2, "##ing": 3, "ü": 4}
