"""Bytes to lines to records."""

from __future__ import annotations

import itertools
import json
import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.event import Draft, Kind
from firsthand.hosts import lines
from firsthand.hosts.lines import Item, Line
from firsthand.hosts.transcript import Source
from firsthand.record import Record, assemble, whole


def convert(item: Item, state: dict) -> Record:
    state["objects"] = state.get("objects", 0) + 1
    return whole(item.raw, Draft(Kind.SYSTEM, b"", meta={"number": state["objects"]}))


def read(data: bytes, size: int = 1 << 20, *, final: bool = False):
    pieces = (data[at : at + size] for at in range(0, len(data), size))
    found = list(lines.read(pieces, Source("/x.jsonl", final=final), "h", convert))
    assert b"".join(reading.record.raw for reading in found) == data
    return found


def seen(data: bytes, **options):
    """Give each record as its bytes, whether it was understood, and its fault."""
    return [
        (r.record.raw, bool(r.record.drafts and r.record.drafts[0].kind == Kind.SYSTEM), r.record.fault)
        for r in read(data, **options)
    ]


@given(
    st.binary(max_size=200)
    | st.lists(st.sampled_from([b'{"a":1}', b"\n", b"\0", b'"', b"{", b"\r\n", b" "])).map(b"".join)
)
def test_any_bytes_come_back_and_nothing_raises(data):
    """Whatever the bytes and the pieces, the records joined are the source, and each gives its raw again."""
    for final, size in itertools.product((False, True), (1, 3, 1000)):
        for reading in read(data, size, final=final):
            drafts = reading.record.drafts
            if drafts:
                assert assemble(drafts[0].envelope, [d.content for d in drafts]) == reading.record.raw


def test_only_a_newline_byte_ends_a_line():
    """U+2028, U+2029, U+0085, VT, FS and a bare CR inside a record do not split it."""
    data = '{"a":"1\u2028\u2029\u0085\u000b2"}\n'.encode().replace(b"\x0b", b"\\u000b") + b'{"b":\r1}\r\n'
    first, second, _ = data.split(b"\n")
    assert seen(data) == [(first + b"\n", True, ""), (second + b"\n", True, "")]


def test_a_byte_order_mark_and_crlf_are_part_of_the_record():
    """A BOM at the very start and CRLF line ends are read over and kept."""
    assert seen(b'\xef\xbb\xbf{"a":1}\r\n{"b":2}\r\n') == [
        (b'\xef\xbb\xbf{"a":1}\r\n', True, ""), (b'{"b":2}\r\n', True, ""),
    ]  # fmt: skip


def test_a_missing_last_line_end_is_no_tear():
    """A whole object without a line end is a record; the line end that comes later is a blank."""
    assert [(r.torn, r.record.raw) for r in read(b'{"a":1}\n{"b":2}')] == [(False, b'{"a":1}\n'), (False, b'{"b":2}')]
    last = read(b'{"a":1}\n{"b":2}')[-1]
    source = Source("/x", offset_bytes=15, state=json.loads(json.dumps(last.state)))
    assert [(r.line, r.record.drafts) for r in lines.read([b"\n"], source, "h", convert)] == [(2, ())]


def test_a_torn_last_line_is_flagged_unless_the_file_is_final():
    """A line without its end is handed on as torn; of a final file it is kept with its fault."""
    (good, torn) = read(b'{"a":1}\n{"b":')
    assert (good.torn, torn.torn, torn.offset_bytes, torn.line) == (False, True, 8, 2)
    (_, kept) = read(b'{"a":1}\n{"b":', final=True)
    assert not kept.torn
    assert kept.record.fault.startswith("unparsed: ")
    assert kept.record.drafts[0].meta == {"quarantine": kept.record.fault}


def test_two_records_on_one_line_are_both_read():
    """Fused records are each parsed and each say so."""
    fault = "one of 2 records fused on one line"
    assert seen(b'{"a":1}{"b":2}\n') == [(b'{"a":1}', True, fault), (b'{"b":2}\n', True, fault)]


def test_a_whole_record_behind_a_torn_one_is_read():
    """A record written behind one that a crash cut off is not lost with it."""
    (torn, good) = seen(b'{"type":"user","text":"ab{"type":"user","text":{"x":1}}\n')
    assert (torn[0], torn[1]) == (b'{"type":"user","text":"ab', False)
    assert good == (b'{"type":"user","text":{"x":1}}\n', True, "")


def test_an_inner_object_of_a_broken_record_is_no_record():
    """An object within a broken line that does not run to its end is not read as a record: one fault, all bytes."""
    ((raw, good, fault),) = seen(b'{"a":"x","b":{"c":1},"d":\n')
    assert (raw, good, fault[:9]) == (b'{"a":"x","b":{"c":1},"d":\n', False, "unparsed:")


def test_a_block_of_nul_bytes_is_set_aside_and_reading_goes_on():
    """NUL bytes in front of a record are a record of their own with a fault; the record behind is read."""
    assert seen(b'{"a":1}\n' + bytes(300) + b'{"b":2}\n') == [
        (b'{"a":1}\n', True, ""), (bytes(300), False, "a block of 300 NUL bytes"), (b'{"b":2}\n', True, ""),
    ]  # fmt: skip


def test_a_literal_line_end_in_a_string_leaves_both_lines_kept():
    """A string broken by a raw newline gives two faults, verbatim, and harms no neighbour."""
    found = seen(b'{"a":"x\ny"}\n{"b":2}\n')
    assert [(raw, good) for raw, good, _ in found] == [(b'{"a":"x\n', False), (b'y"}\n', False), (b'{"b":2}\n', True)]


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "unparsed: nested too deeply"),
        (b'{"n":' + b"9" * 5_000 + b"}", "unparsed: Exceeds the limit"),
        (b'{"a":"\x01"}', "unparsed: Invalid control character"),
        (b"[1]", "a record is a JSON object, not of type list"),
        (b"12", "a record is a JSON object, not of type int"),
        (b"\xff\xfe{", "unparsed: "),
    ],
)
def test_what_cannot_be_parsed_is_kept_verbatim_with_its_reason(raw, fault):
    """Deep nesting, huge integers, control signs, other JSON and junk: one event of all bytes, and the reason."""
    found = read(raw + b"\n")
    assert b"".join(bytes(r.record.drafts[0].content) for r in found) == raw + b"\n"
    assert found[0].record.fault.startswith(fault)


def test_duplicate_keys_and_bytes_that_are_no_text_are_flagged():
    """Both parse; the flags stand in the first event's meta and the bytes are kept."""
    (one,) = read(b'{"a":1,"a":{"b":1,"b":2},"c":"\xff"}\n')
    assert one.record.drafts[0].meta == {"number": 1, "duplicate_keys": ["a", "b"], "invalid_utf8": True}


def test_blank_lines_say_nothing_and_count():
    """A blank line gives a record without events; line numbers and offsets go on."""
    found = read(b'\n  \r\n{"a":1}\n')
    assert [(r.line, r.offset_bytes, len(r.record.drafts)) for r in found] == [(1, 0, 0), (2, 1, 0), (3, 5, 1)]


@given(st.binary(max_size=60).map(lambda data: data.replace(b"\x00", b"\n")), st.integers(1, 9), st.integers(1, 12))
def test_lines_over_the_limit_come_in_pieces_of_it(data, size, limit):
    """Lines are cut as bytes.split does; one over the limit comes in pieces of the limit, flagged, none larger."""
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    found = list(lines.split(pieces, limit=limit))
    by_number = [b"".join(line.raw for line in group) for _, group in itertools.groupby(found, key=lambda x: x.number)]
    assert by_number == data.splitlines(keepends=True) if b"\r" not in data else b"".join(by_number) == data
    for line in found:
        assert len(line.raw) <= limit
        assert line.oversize == (len(by_number[line.number - 1]) > limit)


def test_reading_resumes_inside_a_line_over_the_limit(monkeypatch):
    """A cursor between two pieces of one long line goes on as if there had been no stop."""
    monkeypatch.setattr(lines, "LINE_BYTES_MAX", 4)
    monkeypatch.setattr(lines.split, "__kwdefaults__", {**lines.split.__kwdefaults__, "limit": 4})
    data = b"aaaabbbbcc\n{}\n"
    found = read(data)
    assert [r.record.raw for r in found] == [b"aaaa", b"bbbb", b"cc\n", b"{}\n"]
    for number, reading in enumerate(found, 1):
        at = reading.offset_bytes + len(reading.record.raw)
        rest = lines.read([data[at:]], Source("/x", offset_bytes=at, state=reading.state), "h", convert)
        assert [(r.record.raw, r.line, r.record.fault) for r in rest] == [
            (r.record.raw, r.line, r.record.fault) for r in found[number:]
        ]


def test_many_lines_take_the_memory_of_one():
    """20 MB of lines are read while holding under 4 MB."""
    piece = (b'{"a":"' + b"x" * 1000 + b'"}\n') * 200
    tracemalloc.start()
    count = sum(1 for _ in lines.read((piece for _ in range(100)), Source("/x"), "h", convert))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 20_000
    assert peak < 4_000_000


def test_a_broken_line_is_searched_within_bounds():
    """A broken line of a million openings is given up in bounded work, and kept."""
    raw = b'{"a":[' + b'{"' * 1_000_000
    started = time.process_time()
    item = lines.items(Line(raw + b"\n", 9, 1))
    assert time.process_time() - started < 5
    assert b"".join(part.raw for part in item) == raw + b"\n"
    assert all(part.value is None for part in item)
