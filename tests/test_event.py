"""Events: kinds, ids, hashes, and the bytes they are taken over (docs/log-format.md)."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import struct

import pytest

from firsthand.errors import InvalidDraft
from firsthand.event import (
    Artifact,
    Draft,
    Event,
    Header,
    IdMaker,
    Kind,
    Trust,
    commit_to,
    decode_body,
    derived_id,
    encode_body,
    genesis,
    id_bytes,
    id_text,
    link,
    roll,
    to_text,
)
from firsthand.moment import Moment


def event(**fields) -> Event:
    base = {
        "position": 1, "id": "0" * 26, "namespace": "n", "session": "s", "sequence": 0, "part": 0, "turn": 0,
        "kind": Kind.NOTE, "agent": "", "origin": "", "trust": Trust.AGENT, "time": None, "ingested": Moment(0),
        "media": "text/plain", "meta": {}, "envelope": b"", "content": b"text", "artifact": None, "erased": False,
        "commitment": bytes(32), "chain": bytes(32),
    }  # fmt: skip
    return Event(**base | fields)


def test_the_numbers_of_kinds_and_trust_never_change():
    """The numbers that stand on disk are these, and their words are those that users write."""
    assert {kind: kind.number for kind in Kind} == {
        "user_message": 1, "agent_message": 2, "reasoning": 3, "tool_call": 4, "tool_result": 5, "system": 6,
        "persona": 7, "task_state": 8, "note": 9, "receipt": 10, "summary": 11, "attachment": 12, "document": 13,
        "episode": 14, "ledger": 15, "erasure": 16, "session": 17, "other": 18, "anatomy": 19,
        "injection": 20, "entry": 21, "tuning": 22, "loss": 23,
    }  # fmt: skip
    assert {trust: trust.number for trust in Trust} == {"trusted": 1, "agent": 2, "untrusted": 3}


def test_kinds_and_trust_are_words():
    """A kind and a trust equal their words and are written as them; a number or another word is none."""
    assert (event().kind, Kind("tool_call"), f"{Kind.TOOL_CALL}") == ("note", Kind.TOOL_CALL, "tool_call")
    assert json.dumps({Kind.NOTE: Trust.AGENT}) == '{"note": "agent"}'
    assert (repr(Kind.NOTE), repr(Trust.AGENT)) == ("Kind.NOTE", "Trust.AGENT")
    for words in (Kind, Trust):
        assert [words.of(word.number) for word in words] == [*words]
        for other in (1, "", "Note", None):
            with pytest.raises(ValueError, match="is not a valid"):
                words(other)
        for number in (0, 99, "note", None):
            with pytest.raises(ValueError, match="is the number of no"):
                words.of(number)


def test_trust_is_ordered_by_trust():
    """What is more trusted is less, of members and of words; a word that is no trust compares with none."""
    for left, right in itertools.product(Trust, Trust):
        at = left.number, right.number
        for other in (right, str(right)):
            assert (left < other, left <= other, left > other, left >= other) == (
                at[0] < at[1], at[0] <= at[1], at[0] > at[1], at[0] >= at[1],
            )  # fmt: skip
    assert sorted(Trust) == ["trusted", "agent", "untrusted"]
    with pytest.raises(ValueError, match="is not a valid Trust"):
        assert Trust.AGENT < "x"


def test_what_an_event_shows_of_itself():
    """An event names its pointer; its repr is one line with kind, pointer, session and the text as far as it fits."""
    made = event(content=b"We ship on Friday.\n" * 90, session="deploy", kind=Kind.USER_MESSAGE)
    assert made.pointer == f"fh:{'0' * 26}"
    assert repr(made) == (
        f"Event(1, user_message, fh:{'0' * 26}, 'deploy', 'We ship on Friday.\\nWe ship on Friday.\\nWe ship on ...)"
    )
    assert repr(event(content=None, erased=True, session="s" * 500)) == (
        f"Event(1, note, fh:{'0' * 26}, '{'s' * 21}...', erased)"
    )
    assert len(repr(event(content="\u2028\0".encode() * 90, session="\n" * 500, position=2**62))) <= 120


def test_a_draft_is_untrusted_until_said_otherwise():
    """A draft's fields that are not given are these."""
    draft = Draft(Kind.NOTE, b"x")
    assert (draft.media, dict(draft.meta), draft.envelope, draft.part, draft.agent, draft.origin) == (
        "text/plain", {}, b"", 0, "", "",
    )  # fmt: skip
    assert (draft.trust, draft.time, draft.id, draft.turn) == (Trust.UNTRUSTED, None, None, None)
    with pytest.raises(AttributeError):
        draft.part = 1


def test_size_and_text_of_an_event():
    """Size and text are those of the content, of an artifact's payload and preview, or nothing when erased."""
    artifact = Artifact(bytes(32), 10**9, b"the preview")
    cases = {
        (4, "text"): event(),
        (10**9, "the preview"): event(content=None, artifact=artifact),
        (0, ""): event(content=None, erased=True),
        (2, "\ufffd\ufffd"): event(content=b"\xff\xfe"),
        (3, "\ud800"): event(content=b"\xed\xa0\x80"),
    }
    assert {(one.size_bytes, one.text) for one in cases.values()} == set(cases)


def test_text_of_any_bytes():
    """UTF-8 reads as itself, lone surrogates come back, and what is no text shows replacement signs."""
    assert to_text("aé🙂".encode()) == "aé🙂"
    assert to_text(b"a\xed\xb0\x80") == "a\udc00"
    assert to_text(b"\xed\xa0\x80\xff") == "\ufffd" * 4
    assert to_text(b"\0") == "\0"


@pytest.mark.parametrize(
    "text", ["", "0" * 25, "0" * 27, "8" + "0" * 25, "I" * 26, "é" * 26, "0" * 25 + "\0", "-" * 26]
)
def test_what_is_no_id(text):
    """An id is 26 characters of one alphabet, the first at most 7."""
    with pytest.raises(InvalidDraft, match="26 characters"):
        id_bytes(text)


def test_the_edges_of_ids():
    """The least and the greatest id read and write."""
    assert (id_text(bytes(16)), id_text(b"\xff" * 16)) == ("0" * 26, "7" + "Z" * 25)
    assert (id_bytes("0" * 26), id_bytes("7" + "z" * 25)) == (bytes(16), b"\xff" * 16)


def test_made_ids_hold_their_time():
    """The first 48 bits of an id are the milliseconds of its making."""
    made = IdMaker(lambda: 1_700_000_000_123)()
    assert int.from_bytes(id_bytes(made)[:6], "big") == 1_700_000_000_123


def test_a_forked_child_makes_other_ids():
    """Parent and child go on from the same moment with ids of their own."""
    made = IdMaker(lambda: 5)
    made()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, "".join(made() for _ in range(50)).encode())
        os._exit(0)
    os.close(writing)
    mine = {made() for _ in range(50)}
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    assert len(mine | {text[at : at + 26] for at in range(0, len(text), 26)}) == 100


def test_derived_ids_carry_the_events_own_time():
    """A derived id begins with the time of its event; unknown or before 1970 counts as zero."""
    assert id_bytes(derived_id(Moment(5_000_999), b"k"))[:6] == (5_000).to_bytes(6, "big")
    assert id_bytes(derived_id(None, b"k"))[:6] == id_bytes(derived_id(Moment(-1), b"k"))[:6] == bytes(6)
    assert derived_id(None, b"ab", b"c") != derived_id(None, b"a", b"bc")


def test_the_hashes_are_those_of_the_format():
    """Commitment, beginning, link and head are SHA-256 over the bytes that the format names."""

    def sha(*parts: bytes) -> bytes:
        return hashlib.sha256(b"".join(parts)).digest()

    def sized(data: bytes) -> bytes:
        return struct.pack("<I", len(data)) + data

    identifier, salt, body = bytes(range(16)), b"s" * 16, encode_body(b"m", b"", b"e", b"p")
    header = Header(identifier, 3, 2, 1, 9, 2, Moment(-7, 60), Moment(8, -90), "agënt", "tool:x")
    canonical = (
        identifier
        + struct.pack("<QIIBBqhqh", 3, 2, 1, 9, 2, -7, 60, 8, -90)
        + sized("agënt".encode())
        + sized(b"tool:x")
    )
    assert body == b"\0" + sized(b"m") + sized(b"") + struct.pack("<Q", 1) + b"e" + struct.pack("<Q", 1) + b"p"
    assert commit_to(salt, body) == sha(b"firsthand commitment 1\0", salt, body)
    assert genesis("n", "sé") == sha(b"firsthand session 1\0", sized(b"n"), sized("sé".encode()))
    assert header.canonical() == canonical
    assert link(b"p" * 32, header, b"c" * 32) == sha(b"firsthand chain 1\0", b"p" * 32, canonical, b"c" * 32)
    assert roll(b"h" * 32, 5, b"c" * 32) == sha(b"firsthand store 1\0", b"h" * 32, struct.pack("<Q", 5), b"c" * 32)
    unknown = Header(identifier, 0, 0, 0, 1, 1, None, Moment(0), "", "")
    assert struct.pack("<qh", -(1 << 63), 0) in unknown.canonical()


def test_every_field_of_a_header_is_covered_by_the_link():
    """Two headers that differ in any one field have different canonical bytes."""
    base = (bytes(16), 1, 1, 1, 1, 1, Moment(1, 1), Moment(2, 2), "a", "b")
    other = (b"\1" * 16, 2, 2, 2, 2, 2, Moment(1, 2), Moment(2, 3), "c", "d")
    seen = {Header(*base).canonical()}
    for at in range(len(base)):
        seen.add(Header(*base[:at], other[at], *base[at + 1 :]).canonical())
    assert len(seen) == len(base) + 1


def test_an_artifact_in_a_body_that_is_cut_off():
    """A body that says it holds an artifact, and holds less, is no body."""
    body = encode_body(b"", b"", b"", b"short")
    with pytest.raises(ValueError, match="artifact is cut off"):
        decode_body(b"\1" + body[1:])
