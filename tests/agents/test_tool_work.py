"""What tools did: files, commands, failures, and whether they went well later."""

from __future__ import annotations

import json

import pytest

from firsthand import Memory
from firsthand.agents.tool_work import FAILURES_MAX, Work, failure_of, files_of


def work_of(memory: Memory, steps: list[tuple[str, dict, str, dict]]) -> Work:
    """Fold calls with their results; a step is tool, arguments, output and facts of the result."""
    session = memory.session("s")
    for tool, arguments, output, meta in steps:
        session.tool_result(session.tool_call(tool, arguments), output, tool=tool, meta=meta)
    work = Work()
    for event in memory.events("s"):
        (work.call if event.kind == "tool_call" else work.result)(event)
    return work


@pytest.mark.parametrize(
    ("tool", "arguments", "files"),
    [
        ("Edit", {"file_path": "src/a.py", "old_string": "x"}, ("src/a.py",)),
        ("write", {"path": "b.txt", "content": "y"}, ("b.txt",)),
        ("str_replace_editor", {"command": "view", "path": "c.py"}, ()),
        ("str_replace_editor", {"command": "create", "path": "c.py"}, ("c.py",)),
        ("Read", {"file_path": "d.py"}, ()),
        (
            "apply_patch",
            {"input": "*** Begin Patch\n*** Update File: e.py\n*** Add File: f/g.py\n"},
            ("e.py", "f/g.py"),
        ),
        ("bash", {"command": "echo hi > notes.md 2>/dev/null"}, ("notes.md",)),
        ("bash", {"command": "make 2>&1 | tee build.log"}, ("build.log",)),
        ("bash", {"command": "sed -i 's/a/b/' src/h.py"}, ("src/h.py",)),
        ("bash", {"command": "grep -rn 'a > b' src/ 2>&1 | head -3"}, ()),
        ("bash", {"command": "cat a.txt"}, ()),
    ],
)
def test_the_files_of_a_call(tool, arguments, files):
    """Editors, patches and redirections name what they change; reading changes nothing."""
    assert files_of(tool, json.dumps(arguments)) == files


@pytest.mark.parametrize(
    ("said", "text", "meta", "code"),
    [
        ("make", "x", {"exitCode": 2}, "2"),
        ("make", "error: bad", {"exitCode": 0}, None),
        ("make", "Exit code 2\nboom", {}, "2"),
        ("python a.py", "Traceback (most recent call last):\n  File\nValueError: x", {}, None),
        ("grep foo a", "", {"exitCode": 1}, None),
        ("anything", "fine", {"is_error": True}, ""),
        ("anything", "Error: the word of a page", {"is_error": False}, None),
    ],
)
def test_whether_a_result_failed(said, text, meta, code):
    """The host's word and an exit code count; what the output says is no failure."""
    assert failure_of(meta, said, text) == code


def test_a_failure_is_over_when_a_like_call_went_well(memory):
    """The same command with other options ends a failure, another command does not, and a new failure reopens it."""
    work = work_of(
        memory,
        [
            ("bash", {"command": "pytest -q tests/a.py"}, "E   assert 1\n1 failed", {"exitCode": 1}),
            ("bash", {"command": "pytest tests/b.py"}, "1 passed", {"exitCode": 0}),
            ("bash", {"command": "docker up"}, "port in use", {"exitCode": 125}),
            ("bash", {"command": "cd /x && pytest -x tests/a.py | tail -3"}, "1 passed", {"exitCode": 0}),
        ],
    )
    events = list(memory.events("s"))
    one, other = work.failures.values()
    assert (one.said, one.code, one.times, one.over) == ("pytest -q tests/a.py", "1", 1, f"fh:{events[7].id}")
    assert (other.said, other.code, other.over) == ("docker up", "125", "")
    again = work_of(memory, [("bash", {"command": "pytest tests/a.py"}, "boom", {"exitCode": 1})])
    assert next(iter(again.failures.values())).over == ""
    assert next(iter(again.failures.values())).times == 2
    assert (work.calls, work.results, work.failed) == (4, 4, 2)


def test_a_failed_edit_changes_nothing(memory):
    """A file counts only when its call did not fail, and counts each time."""
    path = {"file_path": "src/a.py"}
    work = work_of(
        memory,
        [("edit", path, "no match", {"is_error": True}), ("edit", path, "ok", {}), ("edit", path, "ok", {})],
    )
    assert {name: one.times for name, one in work.files.items()} == {"src/a.py": 2}


def test_commits_are_told(memory):
    """A commit that its result confirms is kept with the message that the agent gave it."""
    command = {"command": "git commit -m 'mend the lock'"}
    work = work_of(memory, [("bash", command, "[main 1a2b3c4] mend the lock\n 1 file changed", {})])
    assert [(one.name, one.message) for one in work.commits] == [("1a2b3c4", "mend the lock")]


def test_what_is_kept_is_bounded(memory):
    """Beyond the limit a failure is counted and not kept."""
    session = memory.session("s")
    event = memory.event(session.tool_result("c", "x", tool="bash", meta={"exitCode": 1}))
    work = Work()
    for number in range(FAILURES_MAX + 3):
        work._failure(f"k{number}", "bash", "x", event, "1")
    assert (len(work.failures), work.failures_left_out) == (FAILURES_MAX, 3)
