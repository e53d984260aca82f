"""Server-sent events, cut anywhere."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.proxy.event_stream import Splitter, members, summed

LINES = st.sampled_from(['data: {"a": 1}', "data:x", "event: e", ": comment", "id: 3", "", "data: é\u2028b", "data"])


@given(st.lists(st.tuples(LINES, st.sampled_from(["\n", "\r\n", "\r"]))), st.lists(st.integers(1, 7)))
def test_no_byte_is_lost(lines, sizes):
    """However events are cut on their way, the raw bytes of the blocks are the bytes that came, in order."""
    data = "".join(text + end for text, end in lines).encode()
    splitter, blocks, rest = Splitter(), [], data
    for size in sizes:
        blocks += splitter.feed(rest[:size])
        rest = rest[size:]
    blocks += splitter.feed(rest)
    blocks += splitter.close()
    assert b"".join(block.raw for block in blocks) == data


def test_a_large_event():
    """An event that comes in many pieces is searched and copied once, not once for each piece."""
    data = b"data: " + b"x" * 1_000_000 + b"\n\n"
    splitter, blocks = Splitter(), []
    begun = time.process_time()
    for start in range(0, len(data), 1_000):
        blocks += splitter.feed(data[start : start + 1_000])
    assert time.process_time() - begun < 1.0
    assert [block.raw for block in blocks] == [data]


def test_fields_of_an_event():
    """Data of several lines is one text; what is no object gives no fields."""
    [block, other] = Splitter().feed(b'event: e\r\ndata: {"a":\r\ndata: 1}\r\n\r\ndata: [1]\n\n')
    assert (block.name, block.fields, other.fields) == ("e", {"a": 1}, {})


def test_usage_is_summed():
    """Numbers are added at every depth; what only one of them has stays."""
    assert summed({"a": 1, "b": {"c": 2}, "d": None, "e": "x"}, {"a": 2, "b": {"c": 3, "f": 1}, "d": 4, "e": "y"}) == {
        "a": 3, "b": {"c": 5, "f": 1}, "d": 4, "e": "y",
    }  # fmt: skip
    assert summed(None, {"a": 1}) == {"a": 1}


def test_members_as_they_came():
    """Each member of an object comes with its own text, and what is no JSON object is refused."""
    for text in ("{}", " { } ", ' {"a" : [1, {"b": "}"}] , "c":null}\n', '{"a": "\\ud83d", "a": 2}'):
        values, texts = members(text)
        assert values == json.loads(text) == {name: json.loads(each) for name, each in texts.items()}
    for text in ("", "[]", '{"a":1,}', '{"a" 1}', "{,}", '{"a":1}x', '{"a":1 "b":2}', "{1:2}", "{", '{"a"', '"x"'):
        with pytest.raises(ValueError, match="xpect"):
            members(text)
