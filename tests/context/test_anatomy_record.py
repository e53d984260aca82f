"""The record of one call."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from anatomy_samples import identifier, item, marker, record, window
from hypothesis import given
from hypothesis import strategies as st

from firsthand.context.anatomy import (
    MARKERS_MAX,
    NAME_CHARACTERS_MAX,
    RECORD_BYTES_MAX,
    Anatomy,
    from_event,
    from_json,
    make,
    to_json,
)
from firsthand.errors import FormatError, InvalidArgument
from firsthand.event import Event, Kind, Trust
from firsthand.moment import Moment
from firsthand.value import replace
from firsthand.window import PARTS, Budget, Share, Window

SENT = b'{"messages":[{"role":"user","content":"hello"}]}'
SHARES = (Share("framing", 13, 0), Share("user message", 35, 6), Share("tool schemas", 0, 0))


def made(**fields: Any) -> Anatomy:
    stands = window([item(3, 6, Kind.USER_MESSAGE)], [marker(1, 2)], cycle=4)
    known: dict[str, Any] = {
        "session": "deploy", "call": 2, "turn": 7, "turn_id": identifier(3), "format": "openai-chat",
        "model": "m", "counter": "estimate", "receipt": f"fh:{identifier(9)}", "topic": "a, b", "transition": True,
        "recalls": 2, "expands": 1,
    }  # fmt: skip
    return make(SENT, SHARES, stands, Budget(100), **(known | fields))


def test_a_record_holds_what_was_sent_and_the_window_it_came_from():
    """Hash, sizes and shares are those of the body; markers, events, cycle and position those of the window."""
    assert made() == Anatomy(
        session="deploy", call=2, turn=7, turn_id=identifier(3), cycle=4, budget_tokens=100, bytes=len(SENT),
        sha256=hashlib.sha256(SENT).hexdigest(),
        shares=(Share("user message", 35, 6), Share("framing", 13, 0)),
        events=1, markers=(f"fh:{identifier(1)}..{identifier(2)}",), through=3, receipt=f"fh:{identifier(9)}",
        format="openai-chat", model="m", counter="estimate", topic="a, b", transition=True, recalls=2, expands=1,
    )  # fmt: skip


def test_the_fields_of_the_paper_are_there():
    """A record gives every field of the schema in A.4, under the paper's names."""
    parts = {"system": 10, "files": 20, "skills": 30, "tool schemas": 40, "user message": 50, "recall": 60}
    one = record({name: (size, size // 10) for name, size in parts.items()}, budget=50)
    assert one.fields_of_the_paper == {
        "turnId": identifier(1), "sessionId": "deploy", "compactionCycle": 0, "contextUtilPct": 42.0,
        "systemPromptBytes": 10, "workspaceFileBytes": 20, "skillBytes": 30, "toolSchemaBytes": 40,
        "historyEventCount": 0, "markerCount": 0, "userMessageBytes": 50, "topicLabel": None,
        "topicTransition": False,
    }  # fmt: skip


@pytest.mark.parametrize("size", [-1, 1])
def test_a_byte_that_is_nobodys_is_refused(size):
    """A prompt of one byte more or less than its shares cannot be recorded: a snapshot that does not add up is none."""
    sent = SENT + b" " if size > 0 else SENT[:-1]
    with pytest.raises(InvalidArgument, match=rf"sent: {len(sent)} bytes; they have {len(SENT)}: a contributor was"):
        make(sent, SHARES, Window(), Budget(1), session="s", call=1, turn=0, turn_id="", format="f", counter="")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"call": 0}, "call is a whole number from 1; got 0"),
        ({"turn": -1}, "turn is a whole number from 0; got -1"),
        ({"recalls": True}, "recalls is a whole number from 0; got True"),
        ({"expands": 1 << 63}, "expands is a whole number from 0; got 9223372036854775808"),
        ({"budget_tokens": 0}, "budget_tokens is a whole number from 1; got 0"),
        ({"session": None}, "session is a text of at most 512 characters; got None"),
        ({"model": "m" * (NAME_CHARACTERS_MAX + 1)}, "model is a text of at most 200 characters; got 'mmm"),
        ({"topic": 1}, "topic is a text of at most 200 characters; got 1"),
        ({"transition": 1}, "transition is True or False; got 1"),
        ({"sha256": "F" * 64}, "sha256 is 64 digits of 0-9 and a-f; got 'FFF"),
        ({"receipt": "there"}, "markers and receipt are pointers; expected a pointer"),
        ({"receipt": None}, "markers and receipt are pointers; expected a pointer"),
        ({"markers": ("fh:no",)}, "markers and receipt are pointers; expected a pointer"),
        ({"markers": []}, "markers is a tuple of at most 100 pointers; got"),
        ({"markers": (f"fh:{identifier(1)}",) * (MARKERS_MAX + 1)}, "markers is a tuple of at most 100 pointers"),
        ({"shares": [Share("system", 48, 1)]}, "shares is a tuple of Share; got"),
        ({"shares": (Share("system", 48, -1),)}, "the share of 'system' is a whole number from 0; got -1"),
        ({"shares": (Share("sytem", 48, 1),)}, "each share has its own name of window.PARTS, in their order; got 'syt"),
        ({"shares": (Share("cues", 48, 1), Share("system", 0, 1))}, "each share has its own name"),
        ({"shares": (Share("cues", 48, 1), Share("cues", 0, 1))}, "each share has its own name"),
    ],
)  # fmt: skip
def test_a_field_out_of_its_range_is_refused(fields, said):
    """Each field is checked when a record is made, and the message says what was expected and what came."""
    with pytest.raises(InvalidArgument) as caught:
        replace(made(), **fields)
    assert str(caught.value).startswith(said)


numbers = st.integers(0, 1 << 40)
texts = st.text(max_size=NAME_CHARACTERS_MAX)
pointers = st.integers(0, (1 << 127) - 1).map(lambda number: f"fh:{identifier(number)}")


@st.composite
def anatomies(draw) -> Anatomy:
    names = draw(st.sets(st.sampled_from(PARTS)))
    shares = tuple(Share(name, draw(numbers), draw(numbers), draw(numbers)) for name in PARTS if name in names)
    return Anatomy(
        session=draw(texts), call=draw(st.integers(1, 1 << 40)), turn=draw(numbers), turn_id=draw(texts),
        cycle=draw(numbers), budget_tokens=draw(st.integers(1, 1 << 40)),
        bytes=sum(share.bytes for share in shares), sha256=draw(st.binary(min_size=32, max_size=32)).hex(),
        shares=shares, events=draw(numbers), markers=tuple(draw(st.lists(pointers, max_size=5))),
        through=draw(numbers), receipt=draw(pointers | st.just("")), format=draw(texts), model=draw(texts),
        counter=draw(texts), topic=draw(st.none() | texts), transition=draw(st.booleans()), recalls=draw(numbers),
        expands=draw(numbers),
    )  # fmt: skip


@given(anatomies())
def test_json_gives_the_same_record_back(one):
    """Writing and reading are inverse, and the text is ASCII."""
    written = to_json(one)
    assert from_json(written) == one
    assert to_json(from_json(written)) == written
    assert written.isascii()


def test_the_largest_record_stands_inline_in_the_log():
    """With every field at its limit a record stands inline; names of signs that take more room are refused."""
    name = "n" * NAME_CHARACTERS_MAX
    one = record({}, session="s" * 512, format=name, counter=name, topic=name)
    one = replace(one, shares=tuple(Share(part, 1 << 40, 1 << 40) for part in PARTS), bytes=len(PARTS) << 40)
    pointers = (f"fh:{identifier(1)}..{identifier(2)}",) * MARKERS_MAX
    largest = replace(one, markers=pointers, receipt=pointers[0], model=name, turn_id=name, through=1 << 62)
    assert len(to_json(largest)) <= RECORD_BYTES_MAX
    wide = "\U0001f600" * NAME_CHARACTERS_MAX
    with pytest.raises(InvalidArgument, match="an anatomy has at most 16,384 bytes; got 17,"):
        to_json(replace(largest, format=wide, model=wide, counter=wide, topic=wide))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "expected an anatomy as JSON; got b''"),
        (b"\xff", "expected an anatomy as JSON; got b'\\xff'"),
        (b"[" * 5_000, "expected an anatomy as JSON; got b'[[["),
        (b"[]", "expected an anatomy as a JSON object; got b'[]'"),
        (b'{"anatomy":2}', 'expected an anatomy, a JSON object with "anatomy":1; got'),
        (b'{"goal":null}', 'expected an anatomy, a JSON object with "anatomy":1; got'),
        (b'{"anatomy":1}', "an anatomy has exactly the fields session, call, "),
        (b" " * (RECORD_BYTES_MAX + 1), "an anatomy has at most 16,384 bytes; got 16,385"),
    ],
)
def test_what_is_no_record_is_refused(data, said):
    """Bytes that are something else are refused, with what was expected and what came."""
    with pytest.raises(FormatError) as caught:
        from_json(data)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    ("name", "changed", "said"),
    [
        ("bytes", 47, "not an anatomy as it was written: the shares sum to what is sent: 47 bytes; they have 48"),
        ("shares", {"user message": [48, 6]}, "shares of an anatomy are [bytes, tokens, count] by part; got"),
        ("shares", [], "shares of an anatomy are [bytes, tokens, count] by part; got []"),
        ("shares", {"user message": ["48", 6, 1]}, "not an anatomy as it was written: the share of 'user message' is"),
        ("markers", "fh:x", "markers of an anatomy are a list of pointers; got 'fh:x'"),
        ("markers", [1], "not an anatomy as it was written: markers and receipt are pointers;"),
        ("extra", 1, "an anatomy has exactly the fields session,"),
    ],
)
def test_a_record_that_was_changed_is_refused(name, changed, said):
    """A record whose parts no longer fit together is refused when it is read."""
    data = json.dumps(json.loads(to_json(made())) | {name: changed}).encode()
    with pytest.raises(FormatError) as caught:
        from_json(data)
    assert str(caught.value).startswith(said)


def event(kind: Kind, content: bytes | None, *, time: Moment | None, erased: bool = False) -> Event:
    return Event(
        5, identifier(5), "default", "deploy", 5, 0, 1, kind, "", "", Trust.TRUSTED, time, Moment(2_000_000),
        "application/json", {}, b"", content, None, erased, b"", b"",
    )  # fmt: skip


def test_an_event_gives_its_record_with_pointer_and_time():
    """What only the log knows is added when a record is read from it: where it stands, and when it was made."""
    told = from_event(event(Kind.ANATOMY, to_json(made()), time=Moment(1_000_000)))
    assert told == replace(made(), pointer=f"fh:{identifier(5)}", time=Moment(1_000_000))
    assert from_event(event(Kind.ANATOMY, to_json(made()), time=None)).time == Moment(2_000_000)
    assert to_json(told) == to_json(made())


@pytest.mark.parametrize(
    ("one", "what"),
    [
        (event(Kind.NOTE, to_json(made()), time=None), "an event of kind note"),
        (event(Kind.ANATOMY, None, time=None, erased=True), "erased"),
    ],
)
def test_another_event_is_refused(one, what):
    """An event of another kind, or an erased one, is no record, and the message names its pointer."""
    with pytest.raises(FormatError, match=f"expected an anatomy's pointer; fh:{identifier(5)} is {what};"):
        from_event(one)
