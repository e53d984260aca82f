"""The block that the model reads: complete where there is room, honest where there is none."""

from __future__ import annotations

import pytest

from firsthand.errors import InvalidArgument
from firsthand.task.show import text
from firsthand.task.state import Basis, Entry, TaskState


def estimate(words: str) -> int:
    """A counter that stays the same: a token for each four characters."""
    return (len(words) + 3) // 4


STATE = TaskState(
    goal=Entry("Ship it", "fh:A", 1, Basis.FIRST),
    phase=Entry("Test", "fh:B", 2, Basis.PLAN),
    open_loops=(
        Entry("Why?", "fh:C", 3, Basis.QUESTION),
        Entry("write docs"),
        Entry("step 1", "fh:B", 2, Basis.PLAN, "1"),
        Entry("step 2", "fh:B", 2, Basis.PLAN, "2"),
    ),
    premises=(Entry("Assume it is empty", "fh:D", 1, Basis.PREMISE),),
    key_events=(
        Entry("make (exit code 2)", "fh:E", 3, Basis.FAILURE, "make"),
        Entry("1a2b on main", "fh:F", 3, Basis.COMMIT),
    ),
    constraints=(Entry("Never push.", "fh:A@3-14", 1, Basis.RULE),),
    dropped={"key_events": 3},
)

WHOLE = """\
[Task state, kept up from this session; fh: pointers open the source with expand]
Goal: Ship it (first message, turn 1, fh:A)
Rules of the user:
- Never push. (turn 1, fh:A@3-14)
Now: Test (turn 2, fh:B)
Open:
- Why? (the user asked, turn 3, fh:C)
- write docs
- step 1 (turn 2, fh:B)
- step 2 (turn 2, fh:B)
Premises:
- Assume it is empty (turn 1, fh:D)
Key events:
- make (exit code 2) (failed, turn 3, fh:E)
- 1a2b on main (commit, turn 3, fh:F)
[not shown: 3 of key events; recall(query) finds them]"""


def test_the_whole_state():
    """With room for all, every entry stands there with its source, and what was dropped before is counted."""
    assert text(STATE, tokens_max=1_000, count=estimate) == WHOLE
    assert text(STATE, tokens_max=estimate(WHOLE), count=estimate) == WHOLE


def test_nothing_left_out_is_nothing_said():
    """Where all is shown, no line speaks of what is not."""
    heading = WHOLE.splitlines()[0]
    assert text(TaskState(goal=STATE.goal), tokens_max=99, count=estimate) == f"{heading}\n{WHOLE.splitlines()[1]}"


def test_an_empty_state_is_no_text():
    """Nothing to show is no block at all, whatever the room."""
    assert text(TaskState(dropped={"premises": 1}), tokens_max=0, count=estimate) == ""


@pytest.mark.parametrize("tokens_max", [*range(45, 180, 5)])
def test_what_does_not_fit_is_counted(tokens_max):
    """In any room the block keeps within it, lines stand in order, and shown plus counted entries are all there are."""
    block = text(STATE, tokens_max=tokens_max, count=estimate)
    assert estimate(block) <= tokens_max
    lines = block.splitlines()
    shown = [line for line in lines if line in WHOLE.splitlines()[1:-1] and line.startswith(("- ", "Goal", "Now"))]
    assert shown == [line for line in WHOLE.splitlines() if line in shown]
    if shown == []:
        assert lines == ["[Task state: 10 entries, no room to show them; recall(query) finds them]"]
        return
    counted = sum(int(part.split()[0]) for part in lines[-1].removeprefix("[not shown: ").split(";")[0].split(", "))
    assert len(shown) + counted == 10 + 3


def test_what_matters_most_stays_longest():
    """Goal and rules stay when the rest has no room; of a plan the next step stays, of events the newest."""
    block = text(STATE, tokens_max=110, count=estimate)
    assert block.splitlines()[1:4] == WHOLE.splitlines()[1:4]
    assert "Premises" not in block
    words = "word " * 20
    events = TaskState(key_events=tuple(Entry(f"event {n} {words}") for n in range(4)))
    less = estimate(text(events, tokens_max=1_000, count=estimate)) - 1
    assert [n for n in range(4) if f"event {n}" in text(events, tokens_max=less, count=estimate)] == [1, 2, 3]
    steps = [Entry(f"step {n} {words}", basis=Basis.PLAN) for n in range(3)]
    plan = TaskState(open_loops=(Entry(f"Why {words}?", basis=Basis.QUESTION), *steps))
    less = estimate(text(plan, tokens_max=1_000, count=estimate)) - 1
    block = text(plan, tokens_max=less, count=estimate)
    assert [n for n in range(3) if f"step {n}" in block] == [0, 1, 2]
    assert "Why" not in block


def test_too_little_room():
    """Where no line has room the block is the number of entries; where that has none, an error says what it needs."""
    line = "[Task state: 10 entries, no room to show them; recall(query) finds them]"
    assert text(STATE, tokens_max=estimate(line), count=estimate) == line
    with pytest.raises(InvalidArgument, match=rf"needs {estimate(line)} tokens .* got {estimate(line) - 1}"):
        text(STATE, tokens_max=estimate(line) - 1, count=estimate)


def test_any_counter_is_kept_to():
    """A counter whose parts do not add up to the whole is kept to as well."""

    def steep(words: str) -> int:
        return len(words) ** 2 // 1_000

    block = text(STATE, tokens_max=300, count=steep)
    assert steep(block) <= 300
    assert "Ship it" in block
