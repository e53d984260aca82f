"""What stands around a store and inside it beside the log: jobs, hooks told twice, the fast copy, old vectors."""

from __future__ import annotations

import argparse
import ast
import re
import shlex
from pathlib import Path

import firsthand
from firsthand import Memory
from firsthand.agents import jobs
from firsthand.health import stages, surroundings
from firsthand.health.report import Finding, Severity, Stage
from firsthand.health.stages import Inside
from firsthand.health.surroundings import Around, Look
from firsthand.hosts.installation import PLUGIN, Installed
from firsthand.index.embed.port import callable_embedder
from firsthand.moment import Moment, now

HOUR_MS = 3_600_000
PROSE = "in"
"""What follows the name in a sentence that is no command."""


def later(ms: int) -> Moment:
    return Moment(now().microseconds + ms * 1000)


def left(store: Path, at: Moment) -> list[Finding]:
    """Give what is found of the work that hooks left, a while later."""
    seen = Around(store, at)
    return [*surroundings.work(seen), *surroundings.calls(seen)]


def named(found) -> list[tuple[str, str]]:
    return [(one.severity.value, one.what) for one in found]


def test_a_job_is_overdue_an_hour_after_it_could_have_run(tmp_path):
    """A job for at once counts from when it was left, one for later from then; one that runs counts too."""
    jobs.leave(tmp_path, jobs.Job(jobs.FILES, "default", "a"))
    assert named(left(tmp_path, later(HOUR_MS - 60_000))) == []
    overdue = ("degraded", "1 jobs should have run an hour ago, the first is files")
    assert named(left(tmp_path, later(HOUR_MS + 60_000))) == [overdue]
    (path,) = jobs.folder(tmp_path).iterdir()
    path.rename(path.with_suffix(jobs.RUNS))
    assert named(left(tmp_path, later(HOUR_MS + 60_000))) == [overdue]
    path.with_suffix(jobs.RUNS).unlink()
    jobs.leave(tmp_path, jobs.Job(jobs.CLOSE, "default", "a", "s", after_ms=later(HOUR_MS).milliseconds))
    assert named(left(tmp_path, later(HOUR_MS + 60_000))) == []
    assert len(left(tmp_path, later(2 * HOUR_MS + 60_000))) == 1


def place(host: str, where: str, scope: str = "user") -> Installed:
    return Installed(host, Path(where), scope, ("Stop",), "firsthand-that-is-nowhere hook x", current=True)


def test_hooks_told_twice_are_a_note_and_two_hosts_in_one_window_are_degraded(tmp_path):
    """Settings and a plugin together only cost time; VS Code reading Copilot's file too records twice."""
    both = [place("claude-code", "/a/settings.json"), place("claude-code", "/b/hooks.json", PLUGIN)]
    found = [one for one in surroundings.hooks(Around(tmp_path, now(), Look(installed=both))) if "times" in one.what]
    assert [(one.severity, one.mend) for one in found] == [(Severity.NOTE, "firsthand uninstall claude-code, in one")]
    assert "runs 2 times, by /a/settings.json and /b/hooks.json" in found[0].what
    two = [place(host, f"/p/.github/hooks/{host}.json", "project") for host in ("vscode", "copilot")]
    found = [
        one for one in surroundings.hooks(Around(tmp_path, now(), Look(installed=two))) if "two sessions" in one.what
    ]
    assert [(one.stage, one.severity) for one in found] == [(Stage.HOOKS, Severity.DEGRADED)]


def test_a_program_that_is_not_on_path_is_missing(tmp_path, monkeypatch):
    """A plugin's command names no path: it is there when PATH has it."""
    assert surroundings.missing("firsthand-that-is-nowhere hook claude-code") == "firsthand-that-is-nowhere"
    (tmp_path / "firsthand-that-is-nowhere").write_text("#!/bin/sh\n")
    (tmp_path / "firsthand-that-is-nowhere").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert surroundings.missing("firsthand-that-is-nowhere hook claude-code") == ""


def test_vectors_of_an_embedder_that_was_changed_are_a_note_once_new_ones_are_there(tmp_path, monkeypatch):
    """After a change of the model in a small store nothing is behind by much: the old vectors are told."""
    monkeypatch.setenv("FIRSTHAND_EMBEDDER", "none")
    old, new = (callable_embedder(one, 4, lambda texts: [[1.0, 2.0, 3.0, 4.0]] * len(texts)) for one in ("old", "new"))
    with Memory.open(tmp_path, embedder=old) as memory:
        memory.session("s").user("one event with some words in it")
        memory.follow()
        assert [*stages.vectors(Inside(memory, now()))] == []
    with Memory.open(tmp_path, embedder=new, read_only=True) as memory:
        (one,) = [*stages.vectors(Inside(memory, now()))]
    assert (one.stage, one.severity) == (Stage.VECTORS, Severity.NOTE)
    assert re.search(r"vectors by callable:old .*are not used any more: the embedder is now callable:new", one.what)
    with Memory.open(tmp_path, embedder=new) as memory:
        memory.follow()
        assert [*stages.vectors(Inside(memory, now()))] == []
        assert memory.verify().ok


def mends() -> list[str]:
    """Give every command of ours that a finding tells somebody to type, from the source of the room."""
    found = []
    for path in sorted((Path(firsthand.__file__).parent / "health").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = [one.value if isinstance(one, ast.Constant) else "X" for one in node.values]
                found.append("".join(map(str, parts)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" not in node.value:
                found.append(node.value)
    commands = {one for text in found for one in re.findall(r"firsthand ([a-z]+(?: (?:--)?[A-Za-z-]+)*)", text)}
    return sorted(one for one in commands if one.split()[0] != PROSE)


def test_every_command_that_is_told_exists():
    """What a finding says to type is a command of ours, with options that it has."""
    from firsthand.cli.arguments import parser

    told = mends()
    assert len(told) > 15
    for one in told:
        words, named = shlex.split(one), parser()
        while words and (groups := [it for it in named._actions if isinstance(it, argparse._SubParsersAction)]):
            assert words[0] in groups[0].choices, one
            named = groups[0].choices[words.pop(0)]
            named.format_help()  # it learns its arguments when it is first used
        options = {option for action in named._actions for option in action.option_strings}
        assert {word for word in words if word.startswith("--")} <= options, one


def test_what_waits_to_be_recorded_is_named(tmp_path):
    """A call that was kept is degraded at once, one set aside broken, a session after its transcript's time."""
    for folder in ("late", "set-aside", "waiting"):
        (tmp_path / "hooks" / folder).mkdir(parents=True)
        (tmp_path / "hooks" / folder / "1-x.0.call").write_bytes(b"x")
    at_once = [(Severity.DEGRADED, "firsthand agent jobs --run"), (Severity.BROKEN, "firsthand agent jobs --retry")]
    assert [(finding.severity, finding.mend) for finding in left(tmp_path, now())] == at_once
    found = left(tmp_path, later(HOUR_MS))
    assert [(finding.severity, finding.mend) for finding in found] == [*at_once, at_once[0]]
    assert "the oldest for 1 hour" in found[0].what
