"""Single messages and results show what they show, and no more."""

from __future__ import annotations

import json

import pytest

from firsthand.task import signs
from firsthand.task.sentences import said
from firsthand.task.signs import Commit, Failure


def texts(found) -> list[str]:
    return [one.text for one in found]


@pytest.mark.parametrize(
    ("message", "named"),
    [
        ("Goal: ship version 2 by Friday", "Goal: ship version 2 by Friday"),
        ("Hi.\nYour task is to fix the parser.\nThanks", "Your task is to fix the parser."),
        ("My goal is to learn. The new goal is to teach everyone.", "The new goal is to teach everyone."),
        ("The goal is: a parser in Rust", "The goal is: a parser in Rust"),
        ("what is the goal here?", None),
        ("Is my task to fix the parser?", None),
        ("we should set a goal", None),
        ("the goal keeper is tired today", None),
    ],
)
def test_a_goal_that_is_named(message, named):
    """A goal is what the user calls so; of several the last."""
    found = signs.goal(said(message))
    assert (found and found.text) == named


def test_greetings():
    """Only a message that does nothing but greet is a greeting."""
    assert all(map(signs.is_greeting, ["Hi!", "hello there", "Hey, hello again.", "ok thanks", "test"]))
    assert not any(map(signs.is_greeting, ["Hi! Fix the parser", "test the parser", "hiking", "", "y" * 100]))


def test_questions():
    """The last question of a message counts, and for the agent only one at its end that wants an answer."""
    sentences = said("Why? What is in a.py? I looked. `a?`")
    assert signs.question(sentences).text == "What is in a.py?"
    assert signs.asked(sentences) is None
    assert signs.asked(said("Done. Shall I push it? (y/n)")).text == "Shall I push it?"
    assert signs.asked(said("Done. Is there anything else I can do for you?")) is None
    assert signs.question(said("Why?")) is None


def test_promises():
    """What the agent will do once something else is done is a promise; what it does now is none."""
    later = "I'll push the tag once CI is green."
    message = f"I'll read the file. {later} I will search for the year when it was built. Shall I go on after this?"
    assert texts(signs.promises(said(message))) == [later]
    assert not signs.waits_for_user(said(later)[0])
    assert signs.waits_for_user(said("I'll book it once you confirm.")[0])


def test_decisions():
    """Decisions are told as such; an agent's next step, a doubt or a question is none."""
    message = "I've decided to keep SQLite. Let's use the `x` tool. Should we go with B? If slow, we will switch to C."
    assert texts(signs.decisions(said(message), by_user=False)) == ["I've decided to keep SQLite."]
    assert texts(signs.decisions(said(message), by_user=True)) == [
        "I've decided to keep SQLite.", "Let's use the `x` tool.",
    ]  # fmt: skip
    assert texts(signs.decisions(said("maybe we will switch to C. we decided not yet"), by_user=True)) == []


def test_premises():
    """What the user says to take as given is a premise."""
    message = "Assume the database is empty. Remember to lock up. Keep in mind that CI is slow. Assume it is what?"
    assert texts(signs.premises(said(message))) == ["Assume the database is empty.", "Keep in mind that CI is slow."]


@pytest.mark.parametrize(
    ("meta", "result", "command", "expected"),
    [
        ({}, "all good", "make", None),
        ({"is_error": False}, "Error: shown by a page", "curl x", None),
        ({"is_error": True}, "whatever", "make", Failure()),
        ({"exitCode": 0}, "exit code 3", "make", None),
        ({"exitCode": 2}, "", "make", Failure("2")),
        ({"exit_code": True}, "", "make", None),
        ({}, "Exit code 127\nnot found", "make", Failure("127")),
        ({}, "Exit code: 0\nfine", "make", None),
        ({}, "exitcode: 1 (execution failed)\nCode output:", "python x.py", Failure("1")),
        ({"is_error": True}, "out\n\nCommand exited with code 1", "npm run check", Failure("1")),
        ({"is_error": True}, "(no output)\n\nCommand exited with code 1", "grep -rn foo src", None),
        ({}, "Exit code 2\n", "grep -rn foo src", Failure("2")),
        ({}, "a text about exit code 3 in the middle", "cat notes", None),
    ],
)
def test_failures(meta, result, command, expected):
    """A result failed when its host or its first or last line says so; a search without a hit did not."""
    assert signs.failure(meta, result, command) == expected


def test_commits():
    """A commit is taken from the result of a command that commits, its message from the command."""
    result = "checks ok\n[main (root-commit) 1a2b3c4] hostile words\n 1 file changed"
    assert signs.commit("git commit: Add it", result) == Commit("1a2b3c4", "main")
    assert signs.commit("cat log", result) is None
    assert signs.commit("git commit: Add it", "nothing to commit") is None


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"command": "npm test"}, "npm test"),
        ({"command": "cd /a/b && make check\nmore"}, "make check"),
        ({"command": ["bash", "-lc", "ls -l"]}, "ls -l"),
        ({"cmd": ["rg", "x"]}, "rg x"),
        ({"file_path": "/a.py", "content": "long"}, "/a.py"),
        ({"command": 'cd /a && git add -A && git commit -m "Fix it\n\nwhy"'}, "git commit: Fix it"),
        ({"command": "git -C x commit -q --message='One thing'"}, "git commit: One thing"),
        ({"command": "git commit -m \"$(cat <<'EOF'\nHere it is\n\nand why\nEOF\n)\""}, "git commit: Here it is"),
        ({"command": "git commit --amend"}, "git commit --amend"),
        ({"numbers": [1]}, ""),
        ({"command": 7}, ""),
        ("find . -name x\n", "find . -name x"),
        ('{"cut off', ""),
    ],
)
def test_what_a_call_does(arguments, expected):
    """A call is told by its command, file or query: its first line, without what only leads to it."""
    assert signs.doing(arguments if isinstance(arguments, str) else json.dumps(arguments)) == expected
