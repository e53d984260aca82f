"""Bad inputs through the public door: what docs/how-tested.md lists and no one room can show alone."""

from __future__ import annotations

import base64
import json
import os
import tracemalloc

import pytest

from firsthand import (
    Draft,
    InvalidArgument,
    Kind,
    Memory,
)

GOOD = b'{"role":"user","content":"good"}\n'
ODD_VALUES = {
    "duplicate keys": b'{"role":"user","content":"a","content":"b"}',
    "lone surrogate": b'{"role":"user","content":"\\ud800"}',
    "surrogate bytes": b'{"role":"user","content":"\xed\xa0\x80"}',
    "NaN and Infinity": b'{"role":"user","content":"a","n":[NaN,Infinity,-Infinity]}',
    "1e400": b'{"role":"user","content":"a","n":1e400}',
    "5,000 digits": b'{"role":"user","content":"a","n":' + b"9" * 5_000 + b"}",
    "2**63 and 2**53+1": b'{"role":"user","content":"a","n":[9223372036854775808,9007199254740993]}',
    "100,000 brackets": b'{"role":"user","content":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "control signs": b'{"role":"user","content":"a\x01\x1b[2Jb"}',
    "NUL in a text": b'{"role":"user","content":"a\\u0000b"}',
    "invalid UTF-8": b'{"role":"user","content":"\xc0\xaf\xff\xfe"}',
    "NFC and NFD": '{"role":"user","content":"é e\u0301 ß \u0131 \u212a"}'.encode(),
    "reserved keys": b'{"role":"user","content":"a","__proto__":{"x":1},"lc":1,"$ref":"#","__class__":"os"}',
    "blanks": b'{"role":"user","content":" \\t "}',
    "empty": b'{"role":"user","content":""}',
    "combining marks": '{"role":"user","content":"\u0301\u0302"}'.encode(),
    "numbers as written": b'{"role":"user","content":"a","n":[-0.0,1.0,1,1.50,1E5]}',
    "a list for a text": b'{"role":"user","content":["a",{"b":null}]}',
    "a null id": b'{"role":"user","content":"a","id":null}',
    "10,000 keys": b'{"role":"user","content":"a",' + b",".join(b'"k%d":1' % k for k in range(10_000)) + b"}",
    "a key of 1 MB": b'{"role":"user","content":"a","' + b"k" * 1_000_000 + b'":1}',
    "only a number": b"17",
    "U+2028 and its like": '{"role":"user","content":"a\u2028b\u2029c\u0085d"}'.encode(),
}


def sources(memory):
    """Give the source records of all events, in order."""
    return [memory.expand(f"fh:{one.id}#source") for one in memory.events() if one.part == 0]


@pytest.mark.parametrize("line", ODD_VALUES.values(), ids=ODD_VALUES)
def test_an_odd_value_in_a_transcript_is_kept_and_harms_no_neighbour(memory, tmp_path, line):
    """A line with an odd value comes back byte for byte, and so do the good lines beside it."""
    file = tmp_path / "odd.jsonl"
    file.write_bytes(GOOD + line + b"\n" + GOOD)
    report = memory.import_paths([file])
    assert sources(memory) == [GOOD, line + b"\n", GOOD]
    assert memory.import_paths([file]).events_new == 0
    assert report.events_new >= 3


def test_a_large_image_becomes_an_artifact_of_its_bytes(memory):
    """A data URI of megabytes is kept once, decoded, and the message comes back as it was."""
    image = os.urandom(3_000_000)
    url = "data:image/png;base64," + base64.b64encode(image).decode()
    message = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}
    session = memory.session("s")
    appended = session.append_messages([message], format="openai-chat")
    attached = [one for one in session.events() if one.kind is Kind.ATTACHMENT]
    assert [one.size_bytes for one in attached] == [len(image)]
    assert memory.expand(f"fh:{attached[0].id}") == image
    assert session.messages() == [message]
    assert all(one.new for one in appended)


@pytest.mark.parametrize("wrong", [{"read_only": "false"}, {"read_only": None}, {"read_only": 0}, {"create": "no"},
    {"timeout_ms": -1}, {"timeout_ms": "5"}, {"timeout_ms": 1.5}, {"timeout_ms": True},
    {"timeout_ms": float("nan")}, {"timeout_ms": 10**12}], ids=str)  # fmt: skip
def test_a_store_is_not_opened_by_a_wrong_argument(tmp_path, wrong):
    """Switches are True or False and the timeout a time within a day; else nothing is opened or made."""
    (name,) = wrong
    with pytest.raises(InvalidArgument, match=name):
        Memory.open(tmp_path / "store", **wrong)
    assert not (tmp_path / "store").exists()
    with Memory.open(tmp_path / "store", timeout_ms=0) as opened:
        opened.session("s").note("x")


def test_parents_that_are_missing_or_in_a_ring_are_only_data(memory, tmp_path):
    """Records that name a parent that is not there, or each other, are events in the order of their file."""
    ring = [("user", "a", "b"), ("assistant", "b", "a"), ("user", "c", "gone"), ("user", "d", "d")]
    lines = [
        {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s1", "timestamp": "2026-01-01T00:00:00Z",
         "message": {"role": kind, "content": uuid}}
        for kind, uuid, parent in ring
    ]  # fmt: skip
    file = tmp_path / "s1.jsonl"
    file.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    memory.import_paths([file])
    assert [one.text for one in memory.events()] == ["a", "b", "c", "d"]
    assert b"".join(sources(memory)) == file.read_bytes()


def test_a_long_session_is_read_in_pages_of_bounded_memory(memory):
    """4,000 events of one session are read one after the other, and from the middle, in the memory of a page."""
    total = 4_000
    memory.append([Draft(Kind.NOTE, b"%d" % k) for k in range(total)], session="s")
    tracemalloc.start()
    assert sum(1 for _ in memory.events("s")) == total
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_500_000
    assert [one.text for one in memory.events("s", after=2_000, limit=2)] == ["2000", "2001"]
    assert [one.text for one in memory.events("s", limit=1, newest_first=True)] == ["3999"]
