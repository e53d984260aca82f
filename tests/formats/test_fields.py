"""Fields of any shape, and what of them fits into meta."""

from __future__ import annotations

import json

from hypothesis import given
from messages import JSON

from firsthand.formats.fields import META_TEXT_MAX, picked, small, to_name


@given(JSON)
def test_what_is_small_is_json_and_bounded(value):
    """A value that is kept is JSON without NaN, in bounds."""
    assert len(json.dumps(small(value), allow_nan=False)) < 64 * 64 * META_TEXT_MAX


def test_small_keeps_what_fits_and_leaves_out_the_rest():
    """Long texts, deep values, infinities and empties are left out; huge integers become text."""
    kept = {"a": 1, "b": False, "c": {"d": ["e"]}, "f": str(1 << 60)}
    dropped = {"g": "x" * (META_TEXT_MAX + 1), "h": float("inf"), "i": {}, "j": [[[1]]], "k": None, "l": ""}
    given_values = {**kept, "f": 1 << 60, **dropped}
    assert picked(given_values, *given_values) == kept


def test_a_name_is_printable_and_within_its_limit():
    """Control signs and surrogates go, length is cut at a whole character; what is no text is empty."""
    assert to_name(" a\nb\x1b[0m\u202ec ") == "ab[0mc"
    assert to_name("é" * 1_000) == "é" * 224
    assert [to_name(value) for value in ("\ud800", None, 3)] == ["", "", ""]
