"""The block that the model reads: complete where there is room, honest where there is none."""

from __future__ import annotations

import pytest

from firsthand.context.task_state import Call, Entry, TaskState
from firsthand.context.task_text import text


def estimate(words: str) -> int:
    """A counter that stays the same: a token for each four characters."""
    return (len(words) + 3) // 4


STATE = TaskState(
    request=Entry("Fix the parser.", "fh:A", 1),
    goal=Entry("Ship it"),
    phase=Entry("Test", "fh:B", 2),
    open_loops=(Entry("Why?", "fh:C", 3), Entry("write docs")),
    premises=(Entry("Assume it is empty", "fh:D", 1),),
    key_events=(Entry("1a2b on main", "fh:F", 3),),
    constraints=(Entry("Never push.", "fh:A@3-14", 1),),
    files=(Entry("a.py", "fh:G", 3),),
    commands=(Entry("make (exit code 2)", "fh:E", 3),),
    calls=(Call("c1", "bash", "pytest", "fh:H"),),
    dropped={"files": 3},
)

WHOLE = """\
[Task state, kept up from this session; fh: pointers open the source with expand]
The user's last request: Fix the parser. (turn 1, fh:A)
Goal: Ship it
Rules:
- Never push. (turn 1, fh:A@3-14)
Now: Test (turn 2, fh:B)
Open:
- Why? (turn 3, fh:C)
- write docs
Calls without a result:
- bash: pytest (fh:H)
Premises:
- Assume it is empty (turn 1, fh:D)
Key events:
- 1a2b on main (turn 3, fh:F)
Files:
- a.py (turn 3, fh:G)
Commands:
- make (exit code 2) (turn 3, fh:E)
[not shown: 3 of files; recall(query) finds them]"""


def test_the_whole_state():
    """With room for all, every entry stands there with its source, and what was dropped before is counted."""
    assert text(STATE, tokens_max=1_000, count=estimate) == WHOLE
    assert text(STATE, tokens_max=estimate(WHOLE), count=estimate) == WHOLE


def test_an_empty_state_is_no_text():
    """Nothing to show is no block at all, whatever the room."""
    assert text(TaskState(dropped={"files": 1}), tokens_max=0, count=estimate) == ""


@pytest.mark.parametrize("tokens_max", [*range(60, 200, 5)])
def test_what_does_not_fit_is_counted(tokens_max):
    """In any room the block keeps within it, lines stand in order, and shown plus counted entries are all there are."""
    block = text(STATE, tokens_max=tokens_max, count=estimate)
    assert estimate(block) <= tokens_max
    lines = block.splitlines()
    shown = [
        line
        for line in lines
        if line in WHOLE.splitlines()[1:-1] and line.startswith(("- ", "The user", "Goal", "Now"))
    ]
    assert shown == [line for line in WHOLE.splitlines() if line in shown]
    if shown == []:
        assert lines == ["[Task state: 11 entries, no room to show them; recall(query) finds them]"]
        return
    counted = sum(int(part.split()[0]) for part in lines[-1].removeprefix("[not shown: ").split(";")[0].split(", "))
    assert len(shown) + counted == 11 + 3


def test_what_matters_most_stays_longest():
    """Request, goal and rules stay when the rest has no room; of what is open the first stays, else the newest."""
    block = text(STATE, tokens_max=115, count=estimate)
    assert block.splitlines()[1:5] == WHOLE.splitlines()[1:5]
    assert "Premises" not in block
    words = "word " * 20
    for name, kept in (("key_events", [1, 2, 3]), ("files", [1, 2, 3]), ("open_loops", [0, 1, 2])):
        state = TaskState(**{name: tuple(Entry(f"entry {n} {words}") for n in range(4))})
        less = estimate(text(state, tokens_max=1_000, count=estimate)) - 1
        assert [n for n in range(4) if f"entry {n}" in text(state, tokens_max=less, count=estimate)] == kept
