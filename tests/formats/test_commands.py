"""What a call does and what became of it, by form."""

from __future__ import annotations

import json

import pytest

from firsthand.formats import commands
from firsthand.formats.commands import Commit, Failure


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
    assert commands.failure(meta, result, command) == expected


def test_commits():
    """A commit is taken from the result of a command that commits, its message from the command."""
    result = "checks ok\n[main (root-commit) 1a2b3c4] hostile words\n 1 file changed"
    assert commands.commit("git commit: Add it", result) == Commit("1a2b3c4", "main")
    assert commands.commit("cat log", result) is None
    assert commands.commit("git commit: Add it", "nothing to commit") is None


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (json.dumps({"file_path": "a.py", "path": "b"}), ("a.py", "b")),
        (json.dumps({"path": "a", "filename": "a"}), ("a",)),
        (json.dumps({"path": 7, "filePath": " "}), ()),
        ('{"path": "a', ()),
        ('["a.py"]', ()),
        ("vim a.py", ()),
    ],
)
def test_files_are_the_values_of_arguments_that_name_one(arguments, named):
    """Only whole JSON objects name files, each once."""
    assert commands.paths(arguments) == named
