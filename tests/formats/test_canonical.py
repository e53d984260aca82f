"""Messages as bytes."""

from __future__ import annotations

import json
from types import MappingProxyType

import pytest
from hypothesis import given
from messages import JSON

from firsthand.errors import FormatError
from firsthand.event import to_bytes
from firsthand.formats.canonical import decoded, dump, message_from, value_in
from firsthand.record import cut


class Block:
    """A value of a provider's package, as far as it matters here."""

    def model_dump(self, *, mode: str, exclude_unset: bool) -> dict:
        return {"mode": mode, "exclude_unset": exclude_unset}


def test_keys_keep_their_order_and_signs_are_not_escaped():
    """Bytes are compact UTF-8 in the order of the keys, lone surrogates included."""
    assert dump({"z": "é\ud800", "a": [1, None, 1.5]}) == to_bytes(
        '{"z":"é\\ud800","a":[1,null,1.5]}'.replace("\\ud800", "\ud800")
    )


def test_a_providers_own_types_are_written_as_they_would_be_sent():
    """An object with model_dump is dumped by it, in JSON mode and without defaults; mappings are objects."""
    assert (
        dump({"a": Block(), "b": MappingProxyType({"c": 1})})
        == b'{"a":{"mode":"json","exclude_unset":true},"b":{"c":1}}'
    )


@pytest.mark.parametrize(
    "value", [{"a": {1}}, {"a": b"x"}, {1: "a"}, {"a": [{2: 3}]}, {"a": float("nan")}, [1], "x", None]
)
def test_what_json_does_not_have_is_refused(value):
    """Sets, bytes, keys that are no text, NaN, and what is no object: a FormatError."""
    with pytest.raises(FormatError):
        dump(value)


def test_a_message_that_holds_itself_is_refused():
    """A cycle is a FormatError, not a crash."""
    cycle: dict = {}
    cycle["a"] = cycle
    with pytest.raises(FormatError):
        dump(cycle)


def test_an_envelope_that_makes_no_message_is_refused():
    """Damaged envelopes, missing contents and JSON of another shape are a FormatError."""
    for envelope, contents in (
        (b"\x07", []),
        (cut(b'{"a":"hello"}', [b"hello"]), []),
        (cut(b"[1]", []), []),
        (b"", []),
    ):
        with pytest.raises(FormatError):
            message_from(envelope, contents)


@given(JSON)
def test_a_value_is_written_as_it_stands_in_its_record(value):
    """Spaces, escapes and sort of writing are the record's own, so that it can be cut out of it."""
    for spelling in ({}, {"ensure_ascii": False}, {"separators": (",", ":")}, {"indent": 1}):
        raw = to_bytes(json.dumps({"x": "input", "input": value}, **spelling))
        written = value_in(raw, value, "input")
        assert written in raw
        assert json.loads(written.decode("utf-8", "surrogatepass")) == value


def test_numbers_keep_the_writing_of_their_host():
    """1e-7 and 1.0E2 are not written as Python would; without a key to look under, Python's writing is taken."""
    raw = b'{"input":{"a":1e-7,"b":1.0E2}}'
    value = json.loads(raw)["input"]
    assert value_in(raw, value, "input") == b'{"a":1e-7,"b":1.0E2}'
    assert value_in(raw, value) == b'{"a":1e-07,"b":100.0}'


def test_base64_is_decoded_only_where_it_is_base64():
    """Other text, bytes that are no text, nothing: None."""
    assert decoded("aGk=") == b"hi"
    assert [decoded(value) for value in ("hi!", "aG!k=", "aGk", "é", "", None, 3)] == [None] * 7
