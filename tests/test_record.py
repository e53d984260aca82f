"""Records: what is cut out of a line, and how the line is put together again."""

from __future__ import annotations

import base64
import json

import pytest

from firsthand import record
from firsthand.event import Draft, Kind

TEXT = 'A text with "quotes", a \\ and an é / slash\n' * 3


@pytest.mark.parametrize("spelling", record.SPELLINGS)
def test_each_spelling_is_cut_out_once(spelling):
    """A content in any known spelling leaves a hole, and its bytes are in the envelope no more."""
    content = TEXT.encode()
    spelled = record.spell(content, spelling)
    raw = b'{"before": 1, "x": ' + spelled + b', "after": 2}\r\n'
    envelope = record.cut(raw, [content])
    assert record.holes(envelope) == {0}
    assert spelled not in envelope
    assert b"quotes" not in envelope
    assert record.assemble(envelope, [content]) == raw


def test_contents_in_the_order_of_the_line_and_not():
    """Contents are found wherever they stand, also before the one found last."""
    raw = b'{"one": "first content", "two": "second content", "three": "third content"}'
    contents = [b"third content", b"first content", b"second content"]
    envelope = record.cut(raw, contents)
    assert record.holes(envelope) == {0, 1, 2}
    assert record.assemble(envelope, contents) == raw


def test_a_content_that_does_not_occur_stays_out():
    """A content that is not in the record, is empty or is None gets no hole, and nothing is lost."""
    raw = b'{"one": "first content"}'
    contents = [b"another", b"", None, b"first content"]
    envelope = record.cut(raw, contents)
    assert record.holes(envelope) == {3}
    assert record.assemble(envelope, [b"another", b"", b"", b"first content"]) == raw


def test_a_long_content_written_twice_is_kept_once():
    """A host that writes a long result twice in its line costs the space of one."""
    content = base64.b64encode(bytes(range(256)) * 4)
    raw = json.dumps({"a": content.decode(), "b": [content.decode()]}).encode()
    envelope = record.cut(raw, [content])
    assert len(envelope) < 60
    assert record.assemble(envelope, [content]) == raw


def test_overlapping_contents_are_cut_once():
    """Contents that lie in one another leave one hole, and the record comes back."""
    raw = b'{"x": "the whole long sentence"}'
    contents = [b"the whole long sentence", b"whole long", b"the whole long sentence"]
    envelope = record.cut(raw, contents)
    assert record.assemble(envelope, contents) == raw


@pytest.mark.parametrize(
    "envelope", [b"\2", b"\0", b"\0\5\0\0\0\0\0\0\0abc", b"\1\0", b"\1\7\0\0", b"\1\0\0\1"], ids=lambda data: data.hex()
)
def test_a_damaged_envelope_is_refused(envelope):
    """An envelope that is cut off, has an unknown tag, or asks for what is not there raises ValueError."""
    with pytest.raises(ValueError):
        record.assemble(envelope, [b"\xff"])


def test_a_whole_record_is_one_hole():
    """`whole` keeps the record as one content, without searching for it."""
    made = record.whole(b"\0raw\xff", Draft(Kind.OTHER, b""), session="s", identity=b"i", fault="why")
    (draft,) = made.drafts
    assert (draft.content, draft.part, made.session, made.identity, made.fault) == (b"\0raw\xff", 0, "s", b"i", "why")
    assert record.holes(draft.envelope) == {0}
    assert record.assemble(draft.envelope, [b"\0raw\xff"]) == b"\0raw\xff"
