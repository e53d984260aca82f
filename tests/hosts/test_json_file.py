"""Whole-file JSON: exact slices, torn ends, junk."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.errors import SourceRejected
from firsthand.event import Draft, Kind
from firsthand.hosts import json_file
from firsthand.hosts.json_file import Cut, JsonFile
from firsthand.hosts.transcript import Source


def parse(file, source):
    for at in file.items(file.root()):
        yield Cut(file.end(at), (Draft(Kind.NOTE, json.dumps(file.value(at)).encode()),), file.slice(at))


def read(data: bytes, *, final: bool = False, size: int = 5):
    pieces = (data[at : at + size] for at in range(0, len(data), size))
    return list(json_file.read(pieces, Source("x.json", data, final=final), "test", parse))


@pytest.mark.parametrize("space", [b"", b" ", b"\r\n\t"])
def test_records_are_exact_slices_with_the_gap_before_them(space):
    """Each item has the bytes since the one before; the last has the rest of the file."""
    items = [b'{"a":1.0}', '"é,]"'.encode(), b"[[],{}]", b"1e400", b"-0.0"]
    data = b"\xef\xbb\xbf" + space + b"[" + (space + b"," + space).join(items) + space + b"]" + space
    found = read(data)
    assert b"".join(r.record.raw for r in found) == data
    assert [r.record.identity for r in found] == items
    assert [r.record.raw.endswith(item) for r, item in zip(found[:-1], items[:-1], strict=True)] == [True] * 4
    assert [r.line for r in found] == [1, 2, 3, 4, 5]
    assert {r.record.fault for r in found} == {""}


def test_a_file_that_stops_in_the_middle_is_torn_and_its_whole_items_stay():
    """A file cut anywhere gives its complete items; what is left is torn, or kept when no more will come."""
    data = b'[{"a": "x"}, {"b": 2}, {"c": [true, "a longer text that is cut"]}]\n'
    for cut in range(1, len(data) - 2):
        found = read(data[:cut])
        ends_an_item = data[:cut].endswith(b"}") and data[:cut].count(b"{") == data[:cut].count(b"}")
        assert found[-1].torn is not ends_an_item, data[:cut]
        assert b"".join(r.record.raw for r in found) == data[:cut]
        kept = read(data[:cut], final=True)
        assert not kept[-1].torn
        assert kept[-1].record.fault
        assert ends_an_item or kept[-1].record.drafts[0].content == kept[-1].record.raw
    assert [r.record.identity for r in read(data[:24])[:-1]] == [b'{"a": "x"}', b'{"b": 2}']


@pytest.mark.parametrize(
    ("data", "good", "reason"),
    [
        (b'[1, {"a" 2}, 3, "and a long end of it"]', 1, "not readable as the JSON of test"),
        (b'[1, 2]\n{"more": "of something else"}', 2, "found more after its JSON value"),
        (b"[" * 100_000 + b"]" * 100_000, 0, "not readable as the JSON of test"),
        (b'[1, "\xff\xfe invalid text and then some", 3]', 1, "not readable as the JSON of test"),
        (b'{"no": "array"}', 0, "found none of its items"),
    ],
)  # fmt: skip
def test_what_is_not_the_json_expected_is_one_record_with_a_fault(data, good, reason):
    """From the fault on the file is one event, verbatim, with the reason; nothing raises."""
    found = read(data)
    assert len(found) == good + 1
    assert not found[-1].torn
    assert reason in found[-1].record.fault
    assert found[-1].record.drafts[0].meta == {"quarantine": found[-1].record.fault}
    assert b"".join(r.record.raw for r in found) == data


def test_an_integer_too_long_for_python_stays_text():
    """An integer of 5,000 digits does not stop the reading."""
    digits = "9" * 5_000
    file = JsonFile(f"[{digits}, 7]".encode())
    assert [file.value(at) for at in file.items(file.root())] == [digits, 7]


def test_nothing_and_blank_files_have_no_events():
    """An empty file has no record, a blank one has a record without events."""
    assert read(b"") == []
    assert [(r.record.raw, r.record.drafts) for r in read(b" \n ")] == [(b" \n ", ())]


def test_a_file_over_the_limit_is_refused(monkeypatch):
    """A whole-file source is bounded; the message says what to do."""
    monkeypatch.setattr(json_file, "FILE_BYTES_MAX", 10)
    with pytest.raises(SourceRejected, match="read whole, up to 10 bytes"):
        read(b"[" + b" " * 10 + b"]")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(JSON, max_size=5), st.sampled_from([None, 0, 3]), st.booleans())
def test_any_array_is_cut_into_its_items(values, indent, ascii_only):
    """However an array is written, its records are its items, in order, and joined they are the file."""
    data = json.dumps(values, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    found = read(data)
    assert b"".join(r.record.raw for r in found) == data
    assert [json.loads(r.record.drafts[0].content) for r in found if not r.record.fault] == values
