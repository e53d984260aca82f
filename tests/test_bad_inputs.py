"""Bad inputs through the public door: what docs/how-tested.md lists and no one room can show alone."""

from __future__ import annotations

import base64
import io
import json
import os
import time
import tracemalloc

import pytest

from firsthand import (
    Draft,
    Erased,
    FormatError,
    InvalidArgument,
    Kind,
    Memory,
    Outcome,
    Query,
    QueryError,
    Unresolvable,
    moment,
)
from firsthand.errors import IdConflict, InvalidDraft, MalformedPointer, StaleExpectation

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
HOSTILE_NAMES = [
    "../x",
    "/etc/passwd",
    "..%2f",
    "C:\\x",
    "\\\\host\\x",
    "CON",
    "x. ",
    "a/../b",
    "%_\\",
    "x') OR '1'='1",
]


@pytest.fixture
def memory(tmp_path):
    """Give a memory; whatever a test did to it, it verifies afterwards."""
    with Memory.open(tmp_path / "store") as opened:
        yield opened
        assert opened.verify().problems == ()


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


@pytest.mark.parametrize("content", ODD_VALUES.values(), ids=ODD_VALUES)
def test_an_odd_content_comes_back_to_the_byte(memory, content):
    """Content is bytes: nothing in it is read, so nothing in it is changed."""
    appended = memory.session("s").tool_result("call", content)
    assert memory.expand(appended) == content
    assert memory.event(appended).content == content or len(content) > 16_384


def test_integers_that_no_float_holds_come_back_in_a_message(memory):
    """Numbers of a message are kept as they are written."""
    message = {"role": "user", "content": "a", "n": [2**63, 2**53 + 1, -(2**70)]}
    session = memory.session("s")
    session.append_messages([message], format="openai-chat")
    assert session.messages() == [message]


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


@pytest.mark.parametrize(
    "fields",
    [
        {"content": ["a"]}, {"content": None}, {"content": "text"}, {"content": 1}, {"content": bytearray(b"x")},
        {"kind": "x"}, {"kind": 4}, {"kind": None}, {"trust": 1}, {"trust": "trust"}, {"meta": []},
        {"meta": {"x": {1, 2}}}, {"meta": {"k": "v" * 300_000}}, {"meta": {f"k{k}": "v" * 30 for k in range(10_000)}},
        {"media": None}, {"media": "a\nb"}, {"agent": 7}, {"agent": "x" * 513}, {"agent": "\ud800"}, {"origin": b"x"},
        {"part": -1}, {"part": 1.5}, {"part": 70_000}, {"part": True}, {"turn": -1}, {"turn": 2**40}, {"turn": 1.0},
        {"time": "2026-01-01"}, {"time": 5}, {"envelope": "text"}, {"id": ""}, {"id": "x" * 300}, {"id": "../../etc"},
        {"id": "01J8ZQ4T9M6V3K2N7P5R8S1W\0Y"}, {"id": "8" * 26}, {"id": 5},
    ],
    ids=lambda fields: f"{next(iter(fields))}-{str(next(iter(fields.values())))[:12]!a}",
)  # fmt: skip
def test_a_field_of_the_wrong_type_or_size_is_refused(memory, fields):
    """A draft with one bad field is refused by name, and the store is as it was."""
    head = memory.head()
    good = {"kind": Kind.NOTE, "content": b"x"}
    with pytest.raises(InvalidDraft):
        memory.append([Draft(**good), Draft(**(good | fields))], session="s")
    assert memory.head() == head


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_a_name_is_never_a_path(tmp_path, name):
    """A session, agent or namespace of any name is data: found under its name, and no file is made of it."""
    with Memory.open(tmp_path / "store", namespace=name) as memory:
        big = memory.session(name, agent=name).agent("word " * 10_000)
        assert [info.name for info in memory.sessions()] == [name]
        assert [hit.session for hit in memory.recall("word", sessions=[name], agents=[name])] == [name]
        assert memory.event(big).namespace == name
        assert memory.verify().ok
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


def test_ids_of_two_machines_never_overwrite_each_other(memory, tmp_path):
    """An export that holds another event under an id that is here is refused, and nothing of it is taken."""
    identifier = "01J8ZQ4T9M6V3K2N7P5R8S1WXY"
    memory.append([Draft(Kind.NOTE, b"mine", id=identifier)], session="s")
    out = io.BytesIO()
    with Memory.open(tmp_path / "other") as other:
        other.append([Draft(Kind.NOTE, b"theirs", id=identifier)], session="s")
        other.export(out)
    with pytest.raises((IdConflict, FormatError)):
        memory.restore(io.BytesIO(out.getvalue()))
    assert [one.content for one in memory.events()] == [b"mine"]


def test_a_stale_expectation_is_refused_and_can_be_retried(memory):
    """Whoever appends after a position that is no longer the last learns it, and nothing is added."""
    (first,) = memory.append([Draft(Kind.NOTE, b"1")], session="s", expected_position=0)
    memory.append([Draft(Kind.NOTE, b"2")], session="s", expected_position=first.position)
    with pytest.raises(StaleExpectation):
        memory.append([Draft(Kind.NOTE, b"3")], session="s", expected_position=first.position)
    assert [one.content for one in memory.events()] == [b"1", b"2"]


TIMES = [
    "2026-01-31T12:00:00Z", "1970-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "0001-01-01T00:00:00Z",
    "2016-12-31T23:59:60Z", "2025-10-26T02:30:00+02:00", "2025-10-26T02:30:00+01:00", "1969-12-31T23:59:59Z",
]  # fmt: skip


def test_a_clock_of_any_sort_does_not_order_events(memory):
    """Times that run back, stand still or lie at the ends of the calendar are kept; position orders."""
    moments = [moment.parse(text) for text in TIMES] + [None]
    assert None not in moments[:-1]
    for number, when in enumerate(moments):
        memory.session("s").note(str(number), time=when)
    assert [(one.text, one.time) for one in memory.events()] == [(str(n), when) for n, when in enumerate(moments)]


def test_what_is_no_time_is_unknown(memory):
    """Numbers and texts that are no time read as none, and a query by one is refused."""
    odd = [1e20, float("nan"), float("inf"), "yesterday", "2026-13-01", "", True, [], "2026-01-01T25:00:00Z", -1e20]
    assert [moment.parse(value) for value in odd] == [None] * len(odd)
    with pytest.raises(QueryError):
        memory.recall("x", since="yesterday")


def test_times_of_mixed_spellings_are_compared_as_times(memory):
    """Spellings that sort wrongly as text are one order as times."""
    texts = [
        "2026-01-01T00:00:00.5Z",
        "2026-01-01T00:00:00+00:00",
        "2026-01-01T00:00:01Z",
        "2026-01-01T02:00:00.7+02:00",
    ]
    for text in texts:
        memory.session("s").note(f"word {text}", time=moment.parse(text))
    found = memory.recall("word", since="2026-01-01T00:00:00.4Z", until="2026-01-01T00:00:00.6Z")
    assert [hit.position for hit in found] == [1]


def test_a_store_without_its_last_events_is_found_out_by_a_head(tmp_path):
    """An older copy of the store verifies by itself, and not against a head that was kept."""
    with Memory.open(tmp_path / "store") as memory:
        memory.session("s").note("1")
        memory.backup(tmp_path / "old")
        memory.session("s").note("2")
        head = memory.head()
        assert memory.verify(heads=[head]).ok
    with Memory.open(tmp_path / "old") as old:
        assert old.verify().ok
        assert not old.verify(heads=[head]).ok


@pytest.mark.parametrize("limits", [{"hits_max": -1}, {"hits_max": 0}, {"hits_max": 10**12}, {"hits_max": True},
    {"hits_max": float("nan")}, {"hits_max": "10"}, {"skip": -1}, {"skip": 10**9}, {"budget_tokens_max": 0},
    {"budget_tokens_max": "false"}])  # fmt: skip
def test_a_limit_out_of_its_range_is_refused(memory, limits):
    """Limits of a recall are whole numbers within named bounds."""
    with pytest.raises(QueryError):
        memory.recall("x", **limits)


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


@pytest.mark.parametrize("wrong", [{"kinds": ["crow"]}, {"kinds": [9]}, {"sessions": [5]}, {"sessions": "s"},
    {"sessions": ["\ud800"]}, {"agents": [None]}, {"agents": 7}, {"since": []}], ids=str)  # fmt: skip
def test_a_scope_of_the_wrong_type_is_refused(memory, wrong):
    """What no session, agent, kind or time can be is a `QueryError`, whatever is in the store."""
    memory.session("s").note("crow")
    with pytest.raises(QueryError):
        memory.recall("crow", **wrong)


def test_kinds_may_be_given_by_their_words(memory):
    """A kind's word asks for the same as its member, and as many names as a scope may hold can be asked for."""
    memory.session("s").note("crow")
    memory.session("s").user("crow too")
    by_word = memory.recall("crow", kinds=("note",))
    assert [hit.kind for hit in by_word] == [Kind.NOTE]
    assert by_word == memory.recall("crow", kinds=[Kind.NOTE])
    names = ["s", *(f"no {n}*" for n in range(199))]
    assert len(memory.recall("crow", sessions=names, agents=["", *names[1:]])) == 2


def test_a_long_query_and_a_pattern_are_answered_in_time(memory):
    """60 kB of words, thousands of brackets and a pattern that backtracks are literal text, and quick."""
    memory.session("s").user("aaaaaaaaaaaaaaaaaaaaaaaaaa! crow")
    began = time.process_time()
    for query in ("(a+)+$ " * 5_000, "(" * 3_000, "crow " * 12_000, "x" * 99_999, "%" * 60_000):
        assert memory.recall(Query(query, deadline_ms=500)).outcome in {*Outcome}
    assert time.process_time() - began < 10


def test_a_pointer_that_leads_nowhere_says_so(memory):
    """What is missing, erased, of another tenant or past the end is an error of its own, never other bytes."""
    kept, gone = memory.session("s").note("kept\nsecond"), memory.session("s").note("gone")
    memory.erase([gone])
    with pytest.raises(Erased):
        memory.expand(gone)
    for text in ("fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY", f"fh:{kept.id}..01J8ZQ4T9M6V3K2N7P5R8S1WXY"):
        with pytest.raises(Unresolvable):
            memory.expand(text)
    for text in ("", "fh:", "x", f"fh:{kept.id}@9-1", f"fh:{kept.id}@L0-1", "fh:" + "x" * 10_000, f"{kept.pointer}#x"):
        with pytest.raises(MalformedPointer):
            memory.expand(text)
    assert memory.expand(f"fh:{kept.id}@0-4") == b"kept"
    assert memory.expand(f"fh:{kept.id}@L2-2") == b"second"
    for past in (f"fh:{kept.id}@5000-6000", f"fh:{kept.id}@L50-60"):
        with pytest.raises(Unresolvable):
            memory.expand(past)


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
