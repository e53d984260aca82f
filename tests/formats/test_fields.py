"""Fields of any shape, and what of them fits into meta."""

from __future__ import annotations

import json

from hypothesis import given
from messages import JSON

from firsthand.formats.fields import META_TEXT_MAX, items, mapping, picked, small, text, to_name


@given(JSON)
def test_accessors_give_the_type_asked_for(value):
    """Whatever comes, text is a text, an object an object, a list a list; the right type is passed on."""
    assert text(value) == (value if isinstance(value, str) else "")
    assert mapping(value) == (value if isinstance(value, dict) else {})
    assert items(value) == (value if isinstance(value, list) else [])


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


def test_picked_renames_and_adds():
    """A name after the sign is the one kept; added values win; a source that is no object gives none."""
    assert picked({"callId": "x", "b": 1}, "callId=call_id", "b", b=2, c=None) == {"call_id": "x", "b": 2}
    assert picked([1], "a") == {}


def test_a_name_is_printable_and_within_its_limit():
    """Control signs and surrogates go, length is cut at a whole character; what is no text is empty."""
    assert to_name(" a\nb\x1b[0m\u202ec ") == "ab[0mc"
    assert to_name("é" * 1_000) == "é" * 224
    assert [to_name(value) for value in ("\ud800", None, 3)] == ["", "", ""]
