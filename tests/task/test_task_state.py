"""The state keeps its shape and its limits, and says what went over them."""

from __future__ import annotations

import json

import pytest

from firsthand.errors import FormatError, InvalidArgument
from firsthand.event import CONTENT_INLINE_MAX
from firsthand.task.state import (
    BYTES_MAX,
    CALL_CHARACTERS_MAX,
    CALLS_BYTES_MAX,
    CALLS_MAX,
    CHARACTERS_MAX,
    ENTRIES_MAX,
    LISTS,
    Basis,
    Call,
    Entry,
    TaskState,
    added,
    called,
    changed,
    from_json,
    line,
    size_bytes,
    to_json,
)
from firsthand.value import replace

FULL = TaskState(
    goal=Entry("Ship it", "fh:1", 1, Basis.NAMED),
    phase=Entry("Test", basis=Basis.PLAN, key="7"),
    open_loops=(Entry("Why?", "fh:2", 2, Basis.QUESTION),),
    premises=(Entry("Assume it is empty"),),
    key_events=(Entry("make (exit code 2)", "fh:3", 3, Basis.FAILURE, "make"),),
    constraints=(Entry('Never say "é"\\', "fh:4@1-9", 4, Basis.RULE),),
    dropped={"key_events": 3},
    calls=(Call("c1", "bash", "make"),),
    through=17,
    turn=4,
    requests=2,
)


def test_json_gives_the_state_back():
    """A full and an empty state come back equal, and their bytes too."""
    for state in (FULL, TaskState()):
        assert from_json(to_json(state)) == state
        assert to_json(from_json(to_json(state))) == to_json(state)


@pytest.mark.parametrize(
    "change",
    [
        {"task_state": 2},
        {"task_state": "1"},
        {"task_state": None},
        {"through": -1},
        {"turn": True},
        {"goal": ["", "", 0, "set", ""]},
        {"goal": ["a\nb", "", 0, "set", ""]},
        {"goal": ["a" * 401, "", 0, "set", ""]},
        {"goal": ["a", "", 0, "heard", ""]},
        {"goal": ["a", 7, 0, "set", ""]},
        {"goal": "a"},
        {"premises": 7},
        {"premises": [["a", "", 0, "set"]]},
        {"premises": [["a", "", 0, "set", ""]] * 13},
        {"open_loops": [["é" * 200, "", 0, "set", f"{n}"] for n in range(24)]},
        {"dropped": {"goal": 1}},
        {"dropped": {"premises": -1}},
        {"dropped": []},
        {"calls": [["a", "b"]]},
        {"calls": [["a", "b", "c" * 81]]},
        {"calls": [["a", "b", "c"]] * 13},
    ],
)
def test_what_is_no_state_is_refused(change):
    """JSON with one field of the wrong type, over a limit or of a newer version is no state."""
    shape = {name: what for name, what in (json.loads(to_json(FULL)) | change).items() if what is not None}
    with pytest.raises(FormatError):
        from_json(json.dumps(shape).encode())


@pytest.mark.parametrize("data", [b"", b"\xff", b"[]", b"null", b"{}", b"[" * 100_000, b'{"task_state":1}'])
def test_other_bytes_are_refused(data):
    """Bytes that are no JSON, or no object with all its fields, are no state."""
    with pytest.raises(FormatError):
        from_json(data)


def test_a_field_that_is_missing_is_named():
    """The error of a state that is not whole says what is wrong with it."""
    shape = json.loads(to_json(FULL))
    del shape["calls"]
    with pytest.raises(FormatError, match="not whole: 'calls'"):
        from_json(json.dumps(shape).encode())


def test_the_caller_sets_fields():
    """Texts become entries with the pointer and turn of who said so; None leaves a field, and empty clears it."""
    state = changed(FULL, goal="New", open_loops=["a", " a ", "b"], phase=None, premises=(), pointer="fh:9", turn=9)
    assert state == replace(
        FULL, goal=Entry("New", "fh:9", 9), open_loops=(Entry("a", "fh:9", 9), Entry("b", "fh:9", 9)), premises=()
    )
    assert changed(FULL, goal="").goal is None
    assert changed(FULL, goal="New").goal == Entry("New", "", FULL.turn)
    assert changed(FULL, constraints=FULL.constraints) == FULL
    assert changed(FULL) is FULL
    assert changed(FULL, key_events=["x"]).dropped == {}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"goals": "x"}, "has the fields goal, phase"),
        ({"goal": 7}, "goal is made of text"),
        ({"goal": "  "}, "goal is made of text"),
        ({"goal": "x" * 401}, "at most 400 characters; got 401"),
        ({"phase": ["x"]}, "phase is made of text"),
        ({"open_loops": "x"}, "open_loops is a list of texts"),
        ({"open_loops": 7}, "open_loops is a list of texts"),
        ({"premises": ["x", None]}, "premises is made of text"),
        ({"premises": [f"{n}" for n in range(13)]}, "at most 12 entries"),
        ({"premises": [Entry("a\nb")]}, "one line with its pointer"),
        ({"premises": [Entry(7)]}, "one line with its pointer"),
        ({"premises": [Entry("a", "fh:1", -1)]}, "one line with its pointer"),
        ({"constraints": [f"{n}" + "é" * 300 for n in range(24)]}, "10,000 bytes together"),
    ],
)
def test_what_cannot_be_set_is_refused(given, message):
    """A field that is not there, a value of another type or over its limit is an error that says what is expected."""
    with pytest.raises(InvalidArgument, match=message):
        changed(TaskState(), **given)


def test_what_the_caller_sets_makes_room():
    """Where what is set needs the bytes, the oldest observed entries go, and are counted."""
    seen = [Entry(f"{n} " + "x" * 190, "fh:1", 1, Basis.COMMIT) for n in range(24)]
    state = added(TaskState(), "key_events", seen)
    assert len(state.key_events) == 24
    full = changed(state, constraints=[f"{n} " + "é" * 200 for n in range(16)])
    assert len(full.constraints) == 16
    assert full.key_events == state.key_events[-len(full.key_events) :]
    assert full.dropped == {"key_events": 24 - len(full.key_events)}
    assert len(to_json(full)) < CONTENT_INLINE_MAX


def test_the_oldest_observed_go_first():
    """Over a field's limit the oldest observed entry goes, never one that the caller set, and the count stays."""
    state = changed(TaskState(), premises=["set 1", "set 2"])
    for number in range(ENTRIES_MAX["premises"]):
        state = added(state, "premises", [Entry(f"seen {number}", basis=Basis.PREMISE)])
    assert [entry.text for entry in state.premises] == [
        "set 1", "set 2", *(f"seen {n}" for n in range(2, ENTRIES_MAX["premises"])),
    ]  # fmt: skip
    assert state.dropped == {"premises": 2}


def test_a_field_full_of_what_is_set_takes_no_more():
    """Where the caller filled a field, what is observed is dropped and counted."""
    state = changed(TaskState(), premises=[f"set {n}" for n in range(ENTRIES_MAX["premises"])])
    after = added(state, "premises", [Entry("seen", basis=Basis.PREMISE)])
    assert (after.premises, after.dropped) == (state.premises, {"premises": 1})


def test_the_same_entry_is_added_once():
    """An entry with the same key and the same words, in whatever case, stays where it is."""
    state = added(TaskState(), "constraints", [Entry("Never push", "fh:1"), Entry("never PUSH", "fh:2")])
    assert state.constraints == (Entry("Never push", "fh:1"),)
    assert added(state, "constraints", [Entry("NEVER push")]) is state


def test_calls_are_limited():
    """Calls are remembered up to their number and their bytes, the newest ones, each id once."""
    state = TaskState()
    for number in range(CALLS_MAX + 3):
        state = called(state, Call(f"{number}", "bash", "x"))
    assert [call.call_id for call in state.calls] == [f"{n}" for n in range(3, CALLS_MAX + 3)]
    assert called(state, Call("5", "sh", "y")).calls == (*state.calls[:2], *state.calls[3:], Call("5", "sh", "y"))
    wide = "\U0001f600" * CALL_CHARACTERS_MAX
    for number in range(CALLS_MAX):
        state = called(state, Call(f"{number}", wide, wide))
    assert len(to_json(state)) < CALLS_BYTES_MAX + 500
    assert 0 < len(state.calls) < CALLS_MAX
    assert state.calls[-1].call_id == f"{CALLS_MAX - 1}"
    assert [int(call.call_id) for call in state.calls] == [*range(CALLS_MAX - len(state.calls), CALLS_MAX)]


def test_the_largest_state_stays_inline():
    """A state at all its limits fits into an event without an artifact."""
    state = TaskState(requests=1 << 62, through=1 << 62, turn=1 << 62)
    for number in range(200):
        for name in LISTS:
            text = f"{number} " + "é" * CHARACTERS_MAX[name]
            state = added(
                state, name, [Entry(line(text, CHARACTERS_MAX[name]), "fh:" + "x" * 90, 1 << 62, Basis.RULE, "k" * 90)]
            )
        state = called(state, Call(f"{number}" * 20, "b" * 80, "é" * 80))
    entries = [entry for name in LISTS for entry in getattr(state, name)]
    assert sum(map(size_bytes, entries)) <= BYTES_MAX
    assert len(to_json(state)) <= CONTENT_INLINE_MAX
    assert from_json(to_json(state)) == state


def test_lines():
    """A text becomes one line: white space is one space, hidden signs are shown, and a cut is at a word and seen."""
    assert line(" a\n\tb \x00\u202e ", 40) == "a b \\x00\\u202e"
    assert line("one two three", 13) == "one two three"
    assert line("one two three.", 13) == "one two..."
    assert line("onetwothreefour", 10) == "onetwot..."
    assert line("a" + " " * 5_000 + "b", 20) == "a..."


def test_emptiness():
    """A state is empty when none of its fields is filled, whatever was observed."""
    assert TaskState(through=9, turn=2, calls=FULL.calls, dropped={"premises": 1}).is_empty
    assert not FULL.is_empty
