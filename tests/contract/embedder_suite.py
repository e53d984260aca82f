"""What every embedder must hold to, as a suite that an embedder's test inherits."""

from __future__ import annotations

import math

import numpy as np
import pytest

from firsthand.index.embed.port import Embedder, accepted, asked, embedded

ODD = ("", " ", "\x00", "\ud800 lone", "é" * 50, "日本語", "🙂", "a" * 5_000, "word " * 3_000, "\r\n\u2028\ufffe")


class EmbedderSuite:
    """Inherit it, name the class ``Test...`` and give the embedder as a fixture of that name."""

    @pytest.fixture
    def embedder(self) -> Embedder:
        raise AssertionError("an embedder's test gives the embedder")

    def test_it_says_what_it_is(self, embedder):
        """Its identity is a short line, and its dimension is that of its vectors, or 0 where only they tell."""
        assert accepted(embedder) is embedder
        assert embedder.dimension in {0, embedded(embedder, ["a text"]).shape[1]}

    def test_a_text_has_one_vector(self, embedder):
        """There are as many vectors as texts, in the order of the texts, all finite, whatever the texts are."""
        together = embedded(embedder, ODD)
        assert together.shape[0] == len(ODD)
        for text, one in zip(ODD, together, strict=True):
            (alone,) = embedded(embedder, [text])
            assert np.allclose(alone, one, atol=1e-4)

    def test_the_same_text_has_the_same_vector(self, embedder):
        """A vector depends on nothing but its text: not on what stands beside it, nor on what was asked before."""
        first = embedded(embedder, ["the red car", "something else"])[0]
        again = embedded(embedder, ["another thing altogether", "the red car"])[1]
        assert np.array_equal(first, again)

    def test_a_question_has_a_vector_of_the_same_space(self, embedder):
        """A question's vector has the size of a text's, and is nearest to the text that it repeats."""
        texts = ["the red car", "an invoice of march", "how to sail a boat"]
        table, query = embedded(embedder, texts), asked(embedder, "an invoice of march")
        cosines = [float(one @ query) / math.dist(one, [0] * len(one)) for one in table]
        assert query.shape == table[0].shape
        assert max(range(3), key=cosines.__getitem__) == 1

    def test_no_texts_have_no_vectors(self, embedder):
        """Nothing to embed is no fault."""
        assert len(embedder.embed([])) == 0
