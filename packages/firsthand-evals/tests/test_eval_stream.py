"""The command ``eval stream``: streams are run, told, kept, and a check that fails is an exit code."""

from __future__ import annotations

import json

import pytest
from planted import of, planted

from firsthand_evals.stream import checks


def test_a_run_is_told_written_and_listed(shell, tmp_path):
    """A table with the arms and the checks; page and tables as files; the list of experiments has the result."""
    words = ("eval", "stream", "--streams", "7", "--episodes", "64", "--arm", "merge all")
    words += ("--out", str(tmp_path / "kept"))
    (tmp_path / "a").mkdir()
    found = shell(*words, "--html", str(tmp_path / "a" / "page.html"), "--markdown", str(tmp_path / "a" / "tables.md"))
    assert found.code == 0
    assert found.lines[0].startswith("After 8 updates 1 of 2 memories answer less than no memory does")
    assert found.lines[2] == "Schedule stream: 7 streams of 8 updates, 64 episodes each, seeds 0 to 6, 3 arms"
    assert [line[:9] for line in found.lines[4:7]] == ["no memory", "keep all ", "merge all"]
    assert [line.split()[:2] for line in found.lines[7:]] == [["C1", "held:"]] * 7 + [["H1", "held:"], ["H2", "held:"]]
    assert (tmp_path / "a" / "page.html").read_text().startswith("<!doctype html>")
    tables = (tmp_path / "a" / "tables.md").read_text()
    assert tables.startswith("# What consolidation does to a memory\n")
    assert "\n## Schedule stream\n\n7 streams" in tables
    assert "| merge all |" in tables
    kept = json.loads((tmp_path / "kept" / "results" / "stream" / "summary.json").read_text())
    assert (kept["headline"], len(kept["streams"])) == ("9 of 9 checks held (7 streams; stream)", 21)
    assert "9 of 9 checks held" in shell("eval", "list", "--out", str(tmp_path / "kept")).text


@pytest.mark.parametrize(
    ("option", "place", "told"),
    [
        ("--html", "none/page.html", "the folder {}/none is not there; make it first"),
        ("--markdown", ".", "--markdown names a file; got '{}/.', which is none"),
        ("--out", "file/below", "expected a folder or a place for one; Not a directory. Name another one."),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_runs(shell, tmp_path, option, place, told):
    """A place that is no place costs no run: what is wrong with it is said at once."""
    (tmp_path / "file").write_text("")
    found = shell("eval", "stream", "--streams", "1000", option, f"{tmp_path}/{place}")
    assert (found.code, found.text, told.format(tmp_path) in found.error) == (5, "", True)


def test_other_schedules_are_held_to_the_plain_memories(shell):
    """Each schedule is a run of its own with one check, and JSON gives every stream."""
    words = ("eval", "stream", "--streams", "1", "--episodes", "16", "--arm", "rules only")
    found = shell(*words, "--schedule", "blocked", "--schedule", "static-all", "--json")
    assert found.code == 0
    lines = [json.loads(line) for line in found.lines]
    streams, made = ([line[kind] for line in lines if kind in line] for kind in ("stream", "check"))
    assert [(one["schedule"], one["arm"]) for one in streams] == [
        (schedule, arm) for schedule in ("blocked", "static-all") for arm in ("no memory", "keep all", "rules only")
    ]
    assert [(one["name"], one["held"], one["found"]) for one in made] == [("C1", True, "7 of 7 hold")] * 2


@pytest.mark.parametrize("schedule", ["stream", "blocked"])
def test_a_harness_with_a_fault_judges_no_memory_by_any_schedule(shell, schedule):
    """Where its reader knows too much, the sentence at the top says so in the place of a verdict."""
    fault = next(fault for fault in of("stream") if fault.breaks == "a reader without memory knows every family")
    with planted(fault):
        found = shell("eval", "stream", "--streams", "2", "--episodes", "16", "--arm", "rules only",
                      "--schedule", schedule)  # fmt: skip
    assert found.code == 1
    assert found.lines[0].startswith("Nothing can be said of any memory: ")


def test_a_check_that_fails_is_an_exit_code(shell, monkeypatch):
    """A gate that has to let in more than all fails its check, and the command says which and leaves with 1."""
    monkeypatch.setattr(checks, "ACCEPTED_MIN", 1.1)
    found = shell("eval", "stream", "--streams", "1", "--episodes", "64", "--arm", "gate + rules plus exceptions")
    assert found.code == 1
    assert "H5 FAILED" in found.error


def test_an_unknown_name_is_refused(shell):
    """Arm and schedule are named with those there are."""
    for option, told in (("--arm", "no arm 'x'"), ("--schedule", "no schedule 'x'")):
        found = shell("eval", "stream", "--streams", "1", option, "x")
        assert found.code == 5
        assert told in found.error
