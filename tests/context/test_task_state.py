"""The state keeps its shape and its limits, and says what went over them."""

from __future__ import annotations

import json

import pytest

from firsthand.context.task_state import (
    CALL_CHARACTERS_MAX,
    CALLS_MAX,
    CHARACTERS_MAX,
    ENTRIES_MAX,
    LISTS,
    SEEN,
    Call,
    Entry,
    TaskState,
    called,
    changed,
    from_json,
    line,
    seen,
    to_json,
)
from firsthand.errors import FormatError, InvalidArgument
from firsthand.event import CONTENT_INLINE_MAX
from firsthand.value import replace

FULL = TaskState(
    goal=Entry("Ship it", "fh:1", 1),
    phase=Entry("Test"),
    open_loops=(Entry("Why?", "fh:2", 2),),
    premises=(Entry("Assume it is empty"),),
    key_events=(Entry("1a2b", "fh:3", 3),),
    constraints=(Entry('Never say "é"\\', "fh:4@1-9", 4),),
    request=Entry("Fix it.", "fh:5", 4),
    files=(Entry("a.py", "fh:6", 4),),
    commands=(Entry("make (exit code 2)", "fh:7", 4),),
    calls=(Call("c1", "bash", "make", "fh:8"),),
    dropped={"files": 3},
    through=17,
    turn=4,
)


def test_json_gives_the_state_back():
    """A full and an empty state come back equal, and their bytes too."""
    for state in (FULL, TaskState()):
        assert from_json(to_json(state)) == state
        assert to_json(from_json(to_json(state))) == to_json(state)


@pytest.mark.parametrize(
    "change",
    [
        {"task_state": 3},
        {"task_state": "1"},
        {"task_state": None},
        {"through": -1},
        {"turn": True},
        {"goal": ["", "", 0]},
        {"goal": ["a\nb", "", 0]},
        {"goal": ["a" * 401, "", 0]},
        {"goal": ["a", 7, 0]},
        {"goal": "a"},
        {"request": ["a" * 601, "", 0]},
        {"premises": 7},
        {"premises": [["a", "", 0, "set"]]},
        {"premises": [["a", "", 0]] * 13},
        {"open_loops": [["é" * 200, "", 0]] * 24, "constraints": [["é" * 300, "", 0]] * 24},
        {"files": [["a", "", 0]] * 17},
        {"dropped": {"goal": 1}},
        {"dropped": {"files": -1}},
        {"dropped": []},
        {"calls": [["a", "b"]]},
        {"calls": [["a", "b", "c" * 101, ""]]},
        {"calls": [["a", "b", "c", ""]] * 13},
    ],
)
def test_what_is_no_state_is_refused(change):
    """JSON with one field of the wrong type, over a limit or of a newer version is no state."""
    shape = {name: what for name, what in (json.loads(to_json(FULL)) | change).items() if what is not None}
    with pytest.raises(FormatError):
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
    assert changed(FULL) == FULL


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


def test_of_the_first_version_only_what_was_set_is_read():
    """A state that the first edition wrote gives what its caller set; what it read out of sentences is passed over."""
    old = {"task_state": 1, "through": 9, "turn": 3, "requests": 2, "dropped": {"open_loops": 4},
           "goal": ["/mode", "fh:1", 1, "first message", ""], "phase": ["Test", "", 0, "set", ""],
           "open_loops": [["Why?", "fh:2", 2, "question", ""], ["write docs", "", 2, "set", ""]],
           "premises": [], "key_events": [["make", "fh:3", 3, "failure", "make"]],
           "constraints": [["never mind", "fh:4", 1, "rule", ""]], "calls": [["c1", "bash", "make"]]}  # fmt: skip
    read = from_json(json.dumps(old).encode())
    assert read == TaskState(phase=Entry("Test"), open_loops=(Entry("write docs", "", 2),), through=9, turn=3)
    with pytest.raises(FormatError, match="version 1 is not whole"):
        from_json(json.dumps({**old, "goal": 7}).encode())


def test_the_newest_files_and_commands_are_kept():
    """Over a limit the oldest goes and is counted; the same one again moves to the end."""
    state = TaskState()
    for number in range(ENTRIES_MAX["files"] + 2):
        state = seen(state, "files", Entry(f"{number}.py"))
    assert [entry.text for entry in state.files] == [f"{n}.py" for n in range(2, ENTRIES_MAX["files"] + 2)]
    assert state.dropped == {"files": 2}
    again = seen(state, "files", Entry("5.py", "fh:9", 9))
    assert (again.files[-1], len(again.files), again.dropped) == (Entry("5.py", "fh:9", 9), 16, {"files": 2})


def test_calls_are_limited():
    """Calls are remembered up to their number, the newest ones, each id once."""
    state = TaskState()
    for number in range(CALLS_MAX + 3):
        state = called(state, Call(f"{number}", "bash", "x"))
    assert [call.call_id for call in state.calls] == [f"{n}" for n in range(3, CALLS_MAX + 3)]
    assert called(state, Call("5", "sh", "y")).calls == (*state.calls[:2], *state.calls[3:], Call("5", "sh", "y"))


def test_the_largest_state_stays_inline():
    """A state at all its limits fits into an event without an artifact, and is read back."""
    state = TaskState(request=Entry("é" * CHARACTERS_MAX["request"], "fh:" + "x" * 90, 1 << 62), through=1 << 62)
    wide = "\U0001f600" * CALL_CHARACTERS_MAX
    for number in range(40):
        state = called(state, Call(f"{number}", wide, wide, "fh:" + "x" * 90))
        for name in SEEN:
            text = line(f"{number} " + "é" * CHARACTERS_MAX[name], CHARACTERS_MAX[name])
            state = seen(state, name, Entry(text, "fh:" + "x" * 90, 1 << 62))
    for name in LISTS:
        state = changed(state, **{name: ["é" * 160 + f"{n}" for n in range(7)]})
    assert len(to_json(state)) < CONTENT_INLINE_MAX
    assert from_json(to_json(state)) == state
    assert state.files[-1].text.startswith("39 ")
