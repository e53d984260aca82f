"""evals/registry.py: every experiment has a name of its own and names something that exists."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from firsthand.errors import FormatError, InvalidArgument
from firsthand.evals import registry

ROOT = Path(__file__).resolve().parents[2]


def test_names_are_unique_and_commands_exist():
    """No two experiments share a name; what a command runs is a file of the repository, or our own command."""
    names = [one.name for one in registry.EXPERIMENTS]
    assert len(set(names)) == len(names)
    for one in registry.EXPERIMENTS:
        words = one.command.split()
        assert (words[:2] == ["firsthand", "eval"]) if one.ours else (ROOT / words[1]).is_file()
        assert one.needs in (registry.NOTHING, registry.MODEL, registry.DATA)
        assert (one.needs == registry.DATA) == ("--data" in words)
        assert registry.named(one.name) == one


def test_an_unknown_name_is_refused_with_those_there_are():
    """A name that is none is refused, and the error shows the names."""
    with pytest.raises(InvalidArgument, match="recall-ab"):
        registry.named("nothing")


def test_the_last_result_is_what_was_kept(tmp_path):
    """What a run has kept is its last result; nothing kept is empty; what is no result is said, not hidden."""
    assert registry.last_result(tmp_path, "recall-ab") == ""
    folder = registry.folder_of(tmp_path, "recall-ab")
    folder.mkdir(parents=True)
    (folder / "summary.json").write_text(json.dumps({"date": "2026-02-02", "headline": "all well"}))
    assert registry.last_result(tmp_path, "recall-ab") == "2026-02-02: all well"
    for wrong in ("{", "[]", '{"date": 1}'):
        (folder / "summary.json").write_text(wrong)
        with pytest.raises(FormatError, match="delete it"):
            registry.last_result(tmp_path, "recall-ab")
