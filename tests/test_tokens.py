"""The estimate of tokens."""

from __future__ import annotations

import pytest

from firsthand.tokens import estimate


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0), ("a", 1), ("sixsix", 1), ("sevenss", 2), ("two words", 2), ("1234567", 3), ("a\nb", 3), ("a  b", 3),
     ("(x)", 3), ("日本", 4), ("é", 2), ("\ud800", 2)],
)  # fmt: skip
def test_what_counts(text, expected):
    """Words, digits, signs, line ends and signs outside ASCII count as the docstring says."""
    assert estimate(text) == expected


def test_it_grows_with_the_text():
    """Two texts together, apart from each other, count what both count and their break."""
    one, other = "some words and 12345 (numbers)", "日本語 é ..."
    assert estimate(f"{one}\n{other}") == estimate(one) + 1 + estimate(other)


def test_it_is_linear_in_the_text():
    """A text of a million signs is counted as its parts are."""
    assert estimate("word " * 200_000) == 200_000
