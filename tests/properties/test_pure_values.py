"""What must hold for every value: records, pointers, moments, ids, bodies and texts."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta

from hypothesis import assume, given
from hypothesis import strategies as st

from firsthand import moment, pointer, record
from firsthand.event import (
    Artifact,
    Body,
    Draft,
    IdMaker,
    Kind,
    decode_body,
    derived_id,
    encode_body,
    id_bytes,
    id_text,
    to_bytes,
    to_text,
)
from firsthand.moment import Moment
from firsthand.pointer import Pointer

ids = st.binary(min_size=16, max_size=16).map(id_text)
moments = st.builds(
    Moment, st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999), st.integers(-1_439, 1_439)
)  # fmt: skip
texts = st.text(st.characters(), max_size=40)  # lone surrogates too


@given(st.binary(max_size=200), st.lists(st.one_of(st.none(), st.binary(max_size=30)), max_size=6))
def test_a_record_is_put_together_again(raw, contents):
    """Whatever is cut out of whatever bytes, putting it together gives the bytes again."""
    envelope = record.cut(raw, contents)
    assert record.assemble(envelope, [content or b"" for content in contents]) == raw
    assert record.holes(envelope) <= set(range(len(contents)))


@given(st.lists(st.tuples(st.sampled_from(record.SPELLINGS), texts), max_size=5), st.binary(max_size=20))
def test_a_record_that_spells_its_contents_is_put_together_again(parts, between):
    """Contents in every spelling, with bytes around them, come back, and a long one leaves its bytes to its hole."""
    contents = [to_bytes(text) for _, text in parts]
    raw = between.join(record.spell(content, spelling) for (spelling, _), content in zip(parts, contents, strict=True))
    envelope = record.cut(raw, contents)
    assert record.assemble(envelope, contents) == raw


@given(texts.filter(lambda text: len(text) > 20), st.sampled_from(["ascii", "utf8", "base64"]))
def test_a_long_content_is_cut_out(text, how):
    """A content of some length that stands in a JSON record is not kept twice."""
    content = to_bytes(text)
    spelled = {
        "ascii": json.dumps(text).encode(),
        "utf8": to_bytes(json.dumps(text, ensure_ascii=False)),
        "base64": b'"' + base64.b64encode(content) + b'"',
    }[how]
    raw = b'{"content": ' + spelled + b', "n": 1}\n'
    envelope = record.cut(raw, [content])
    assert record.holes(envelope) == {0}
    assert record.assemble(envelope, [content]) == raw
    assert len(envelope) <= len(raw) - len(spelled) + 40


@given(st.binary(max_size=60), st.lists(st.binary(max_size=5), max_size=3))
def test_a_damaged_envelope_is_an_error(envelope, contents):
    """Bytes that are no envelope raise ValueError, or are one; nothing else happens."""
    try:
        record.assemble(envelope, contents)
    except ValueError:
        return
    record.assemble(envelope, contents)


pointers = st.one_of(
    st.builds(Pointer, ids),
    st.builds(Pointer, ids, ids),
    st.builds(Pointer, ids, source=st.just(value=True)),
    st.builds(
        lambda first, unit, start, more: Pointer(
            first, unit=unit, start=start + (unit == "lines"), end=start + more + (unit == "lines")
        ),
        ids, st.sampled_from(["bytes", "lines"]), st.integers(0, 10**17), st.integers(0, 10**6),
    ),
)  # fmt: skip


@given(pointers)
def test_pointers_parse_as_they_are_written(value):
    """Parsing is the inverse of formatting, with or without prefix, in lower case and with space around."""
    text = str(value)
    assert pointer.parse(text) == value
    assert pointer.parse(text.removeprefix("fh:")) == value
    assert pointer.parse(f" {text}\n") == value
    assert str(pointer.parse(text)) == text
    assert pointer.find(f"see {text}, and ({text}).") == [text, text]


@given(moments)
def test_moments_parse_as_they_are_written(value):
    """A moment's text reads as the same instant, and as the same offset where its local year exists."""
    again = moment.parse(str(value))
    assert again is not None
    assert again.microseconds == value.microseconds
    local = datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=None)
    try:
        local + timedelta(microseconds=value.microseconds) + timedelta(minutes=value.offset_minutes)
    except OverflowError:
        assert again.offset_minutes == 0
    else:
        assert again == value


@given(st.one_of(st.floats(), st.integers(), texts, st.none(), st.booleans(), st.lists(st.integers(), max_size=2)))
def test_anything_is_a_moment_or_none(value):
    """Whatever is handed in as a time is read as one or as none; nothing raises."""
    found = moment.parse(value)
    assert found is None or isinstance(found, Moment)


@given(st.binary(min_size=16, max_size=16), st.binary(min_size=16, max_size=16))
def test_ids_sort_like_their_bytes(one, other):
    """The text of an id is its inverse, sorts like its bytes, and reads in lower case."""
    assert id_bytes(id_text(one)) == one
    assert id_bytes(id_text(one).lower()) == one
    assert (id_text(one) < id_text(other)) == (one < other)


@given(st.lists(st.integers(0, 1 << 48), min_size=1, max_size=40))
def test_made_ids_never_run_backwards(clock):
    """Ids of one maker go up strictly, however its clock jumps."""
    times = iter(clock)
    made = IdMaker(lambda: next(times))
    out = [made() for _ in clock]
    assert out == sorted(set(out))


@given(
    st.one_of(st.none(), moments),
    st.lists(st.binary(max_size=8), max_size=4),
    st.lists(st.binary(max_size=8), max_size=4),
)
def test_derived_ids_depend_on_each_field_of_the_key(time, one, other):
    """The same key gives the same id; keys that only join to the same bytes do not."""
    assert derived_id(time, *one) == derived_id(time, *one)
    assume(one != other)
    assert derived_id(time, *one) != derived_id(time, *other)


artifacts = st.builds(
    Artifact, st.binary(min_size=32, max_size=32), st.integers(0, (1 << 64) - 1), st.binary(max_size=30)
)  # fmt: skip


@given(
    st.binary(max_size=20), st.binary(max_size=20), st.binary(max_size=20), st.one_of(st.binary(max_size=60), artifacts)
)
def test_bodies_are_taken_apart_as_they_were_laid_out(media, meta, envelope, payload):
    """A body gives its four fields back; cut short, or with a byte more, it is no body."""
    body = encode_body(media, meta, envelope, payload)
    assert decode_body(body) == Body(media, meta, envelope, payload)
    for wrong in (body[:-1], body + b"\0", b"\2" + body[1:], b""):
        try:
            decode_body(wrong)
        except ValueError:
            continue
        raise AssertionError(wrong)


@given(st.binary(max_size=80))
def test_what_is_no_body_is_an_error(data):
    """Any bytes are a body that lays out to the same bytes, or a ValueError."""
    try:
        body = decode_body(data)
    except ValueError:
        return
    assert encode_body(body.media, body.meta, body.envelope, body.payload) == data


@given(texts)
def test_texts_come_back_from_their_bytes(text):
    """Any text, lone surrogates included, is its bytes and back."""
    surrogate_pairs = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    assume(surrogate_pairs == text)  # a high and a low one side by side are one character in other encodings
    assert to_text(to_bytes(text)) == text


@given(st.binary(max_size=80))
def test_any_bytes_read_as_some_text(data):
    """Reading bytes never fails."""
    assert isinstance(to_text(data), str)


@given(st.lists(st.binary(max_size=20), min_size=1, max_size=5), st.binary(max_size=100))
def test_a_record_numbers_its_parts(contents, raw):
    """The drafts of a record are its parts in order, the first one carries the envelope."""
    made = record.make(raw, [Draft(Kind.NOTE, content) for content in contents], session="s", identity=b"i", fault="f")
    assert [draft.part for draft in made.drafts] == list(range(len(contents)))
    assert [bool(draft.envelope) for draft in made.drafts[1:]] == [False] * (len(contents) - 1)
    assert record.assemble(made.drafts[0].envelope, contents) == raw
    assert (made.raw, made.session, made.identity, made.fault) == (raw, "s", b"i", "f")
    whole = record.whole(raw, Draft(Kind.OTHER, b""))
    assert record.assemble(whole.drafts[0].envelope, [raw]) == raw
    assert whole.drafts[0].content == raw
