"""evals/registry.py: every experiment has a name of its own and names something that exists."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from firsthand.cli.arguments import parser
from firsthand.errors import FormatError, InvalidArgument
from firsthand_evals import registry
from firsthand_evals.reclaim.experiments import DATA, MODEL, NOTHING

ROOT = Path(__file__).resolve().parents[3]


def test_names_are_unique_and_commands_exist():
    """No two experiments share a name; what a command runs is a file of the repository, or our own command."""
    names = [one.name for one in registry.EXPERIMENTS]
    assert len(set(names)) == len(names)
    for one in registry.EXPERIMENTS:
        words = one.command.split()
        assert (words[:2] == ["firsthand", "eval"]) if one.ours else (ROOT / words[1]).is_file()
        assert one.needs in (NOTHING, MODEL, DATA)
        assert re.fullmatch(r"\d+ (s|min)" if one.needs == NOTHING else ".+", one.takes)
        assert (one.needs == DATA) == ("--data" in words)
        assert registry.named(one.name) == one


RECLAIM = [*(f"Table {number}" for number in range(2, 20) if number != 13), "Figure 1", "Figure 2", "Figure 3"]
"""Table 1 lists claims, each of another table, and Table 13 wants labels by large models: no experiment has them."""


def tables_of(where: str) -> set[str]:
    """Give the tables and figures that a place names, one by one."""
    found: set[str] = set()
    for part in re.findall(r"(?:Tables?|Figures?) [\d, ]*\d", where):
        word = part.split("s ")[0].split(" ")[0]
        found |= {f"{word} {number}" for number in re.findall(r"\d+", part)}
    return found


def test_every_table_of_the_reclaim_paper_has_a_name():
    """Each table and figure that shows figures belongs to an experiment that can be run."""
    named = set().union(*(tables_of(one.where) for one in registry.EXPERIMENTS if one.paper == "reclaim-evaluation"))
    assert set(RECLAIM) - named == set()


def test_every_script_that_documents_name_can_be_found_by_a_name():
    """What docs/papers.md tells to run under bench/ is in the list."""
    told = set(re.findall(r"`python (bench/\w+\.py)", (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")))
    assert told - {one.command.split()[1] for one in registry.EXPERIMENTS} == set()


def test_a_command_of_ours_can_be_typed():
    """The command line understands the command of each experiment that is ours."""
    for one in registry.EXPERIMENTS:
        if one.ours:
            words = one.command.split()[1:]
            if "--writer" not in words:  # it comes with a model
                assert parser(words).parse_args(words).command_at.startswith("firsthand_evals.commands.")


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
