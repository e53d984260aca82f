"""Commands as lines that can be compared, and the files that a call changes."""

from __future__ import annotations

import json

import pytest

from firsthand.agents.command_lines import files_of, is_script, line, looks_only, repeats


@pytest.mark.parametrize(
    ("command", "plain"),
    [
        ("cd /x && npm test", "npm test"),
        ("cd '/x y'; A=1 B='two words' npm  test", "npm test"),
        ("export CI=1 && cd /x\nnpm test", "npm test"),
        ("env CI=1 npm test", "npm test"),
        ("make A=1", "make A=1"),
    ],
)
def test_a_line_is_the_command_less_folder_and_settings(command, plain):
    """What only says where and with what a command runs is not part of it."""
    assert line(command) == plain


@pytest.mark.parametrize(
    ("later", "same"),
    [
        ("npm test", True),
        ("npm run build && npm test", True),
        ("npm ci; npm test", True),
        ("true || npm test", False),
        ("my-npm test", False),
        ("npm test -- --watch", False),
        ("npm test | tail", False),
    ],
)
def test_a_longer_line_that_ends_in_it_repeats_it(later, same):
    """Only where the earlier line has certainly run, and its exit code is that of the whole."""
    assert repeats(later, "npm test") is same


@pytest.mark.parametrize(
    ("later", "same"),
    [
        ("npm test", True),
        ("npm test 2>&1 | tail -20", True),
        ("npm test 2>&1 | grep -E '(error|warning)' | head", True),
        ("npm ci && npm test | tail", True),
        ("npm test | tail; false", False),
        ("npm run build | tail", False),
        ("npm test | tee log", False),
    ],
)
def test_a_viewed_line_is_repeated_by_what_it_viewed(later, same):
    """A failure that came through a viewer is closed by the same command, viewed otherwise or whole."""
    assert repeats(later, "npm test 2>&1 | head -40") is same


def test_what_looks_and_what_brings_code():
    """A pipe, a redirection or a flag that changes something is no mere look; code of its own makes a script."""
    assert looks_only("cd x && grep -rn foo src")
    assert not any(map(looks_only, ("sed -i s/a/b/ f", "ls; rm f", "cat > f", "npm test", "")))
    assert all(map(is_script, ("python -c 'x'", "a\nb", 'node -e "x"')))
    assert not any(map(is_script, ("cd x\nnpm test", "git commit -m 'x'", "tar -c x")))


@pytest.mark.parametrize(
    ("tool", "arguments", "files"),
    [
        ("Edit", {"file_path": "src/a.py", "old_string": "x"}, ("src/a.py",)),
        ("mcp__x__write_file", {"path": "b.txt", "content": "y"}, ("b.txt",)),
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
        ("bash", {"command": "echo x > /tmp/y.log"}, ()),
        ("bash", {"command": "grep -rn 'a => b' src/ 2>&1 | head -3"}, ()),
        ("bash", {"command": "cp a.py b.py"}, ()),
    ],
)
def test_the_files_of_a_call(tool, arguments, files):
    """Editors, patches and redirections name what they change; reading and scratch files do not count."""
    assert files_of(tool, json.dumps(arguments)) == files
