"""cli/eval.py: the command that another distribution brings."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys


def test_without_the_distribution_the_command_says_what_to_install(shell, monkeypatch):
    """The command refuses with the name of what is missing, whatever follows it, and its help says so too."""
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: ())
    for words in (("eval",), ("eval", "reclaim", "--memory", "./mine.py:write"), ("eval", "list", "--json")):
        said = shell(*words)
        assert (said.code, said.out) == (5, b"")
        assert "is in the distribution firsthand-evals; run: pip install firsthand-evals, or in a clone" in said.error


def test_with_the_distribution_its_commands_are_there(shell):
    """What is installed is found by its entry point, with its own help."""
    said = shell("eval", "--help")
    assert said.code == 0
    assert all(f"\n    {name} " in said.text for name in ("list", "run", "reclaim", "stream", "probe"))


def test_other_commands_read_nothing_of_it():
    """Neither the distribution nor the list of what is installed is read for a command of the package itself."""
    code = "import sys; from firsthand.cli.arguments import parser; words = ['recall', 'x']; "
    code += "parser(words).parse_args(words); print(sorted({'firsthand_evals', 'importlib.metadata'} & {*sys.modules}))"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"
