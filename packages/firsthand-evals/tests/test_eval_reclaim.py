"""The command ``eval reclaim``: a stranger's memory is asked, told, kept, and held to a share."""

from __future__ import annotations

import json
import py_compile
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from planted import of, planted

from firsthand_evals.reclaim import cascade

TOYS = """
from pathlib import Path

def head(messages, budget):
    return " ".join(one["content"] for one in messages)[:budget]

def bare(messages, budget):
    return "look it up"

def known(query):
    return Path("said.txt").read_text()

class Broken:
    calls = 0
    def write(self, messages, budget):
        Broken.calls += 1
        if Broken.calls == 1:
            raise KeyError("no key")
        return [None, "x" * 700][Broken.calls % 2]

def raising(messages, budget):
    raise KeyError("no key")

def printing(messages, budget):
    print("said by a memory")
    return head(messages, budget)

class Stopping:
    calls = 0
    def write(self, messages, budget):
        Stopping.calls += 1
        if Stopping.calls == 3:
            raise KeyboardInterrupt
        return ""
"""
SMALL = ("--problems", "1", "--experiment", "reclaim")


@pytest.fixture
def said(tmp_path, monkeypatch, shell):
    """Run the command in a folder with a module of toys."""
    (tmp_path / "toys_of_eval.py").write_text(TOYS)
    (tmp_path / "stops_at_import.py").write_text("raise SystemExit(3)\n")
    (tmp_path / "breaks_at_import.py").write_text("1 / 0\n")
    monkeypatch.chdir(tmp_path)
    return lambda *words: shell("eval", "reclaim", *words)


def lines_of(found, sort):
    return [one[sort] for one in found.json_lines if sort in one]


def test_a_memory_of_this_folder_is_asked_and_everything_is_kept(said, tmp_path):
    """Items, tables, report, JUnit and badge are written; the list of experiments knows the result."""
    found = said(
        "--memory", "./toys_of_eval.py:head", *SMALL, "--out", "kept", "--html", "r.html", "--junit", "j.xml",
    )  # fmt: skip
    assert found.code == 0
    assert "./toys_of_eval.py:head: brought back 1.00" in found.text
    assert "0 of 10 requirements not met" in found.text
    folder = tmp_path / "kept" / "results" / "reclaim"
    assert sorted(one.name for one in folder.iterdir()) == [
        "items.jsonl", "report.html", "report.md", "summary.json", "tables.json",
    ]  # fmt: skip
    assert len((folder / "items.jsonl").read_text().splitlines()) == 2 * 2 * 5
    assert (tmp_path / "r.html").read_text() == (folder / "report.html").read_text()
    assert ET.parse(tmp_path / "j.xml").getroot().get("failures") == "0"
    assert json.loads((folder / "summary.json").read_text())["headline"] == (
        "recomputing: ./toys_of_eval.py:head 1.00 (n = 4)"
    )


def test_a_named_file_runs_alone_and_nothing_else_of_the_folder(said, tmp_path):
    """Beside a file that was named no other file of the folder stands in for a library, and no stale compiled copy."""
    for name in ("inspect_ai", "json", "conftest", "sitecustomize", "helper"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write({name!r})\n")
    (tmp_path / "asks.py").write_text("import helper\ndef write(messages, budget): return ''\n")
    planted = tmp_path / "planted.py"
    planted.write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write('compiled')\ndef head(m, b): return ''\n")
    compiled = tmp_path / "__pycache__" / f"toys_of_eval.{sys.implementation.cache_tag}.pyc"
    py_compile.compile(str(planted), str(compiled), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    before = list(sys.path)
    assert said("--memory", "./toys_of_eval.py:head", *SMALL).code == 0
    assert said("--memory", "firsthand_note", *SMALL).code == 0
    refused = said("--memory", "./asks.py:write", *SMALL)
    assert (refused.code, "a file is loaded alone" in refused.error) == (5, True)
    refused = said("--memory", "helper:write", *SMALL)
    assert (refused.code, "name a file by its path: ./helper.py:write" in refused.error) == (5, True)
    assert not (tmp_path / "ran").exists()
    assert sys.path == before


def test_a_share_that_is_not_reached_fails(said):
    """A memory under the share ends with 1 and says so; one that reaches it with 0."""
    words = ("--memory", "./toys_of_eval.py:head", "--problems", "1", "--experiment", "completeness", "--fail-under")
    found = said(*words, "0.5")
    assert found.code == 1
    assert "./toys_of_eval.py:head brought back 0.000 of its items, under 0.5" in found.error
    assert said(*words, "0").code == 0


def test_what_a_memory_does_wrong_costs_its_item_and_is_said(said, tmp_path):
    """A raise, a wrong type and a text over the budget are told with what to do, and every case has its item."""
    found = said("--memory", "./toys_of_eval.py:Broken", *SMALL, "--out", "kept", "--json")
    items = [one for one in lines_of(found, "item") if one["parameters"]["memory"] == "./toys_of_eval.py:Broken"]
    assert [(one["outcome"], one["fault"], one["over"]) for one in items] == [
        ("failed", "Broken raised in write(): KeyError: 'no key' (toys_of_eval.py:18); mend it and run again", False),
        ("failed", "write gives text; Broken gave NoneType: return a str", False),
        ("abstained", "", True),
        ("failed", "write gives text; Broken gave NoneType: return a str", False),
    ]
    assert found.code == 1
    assert "./toys_of_eval.py:Broken was not tested: it failed in 3 of 4 items" in found.error
    told = said("--memory", "./toys_of_eval.py:Broken", *SMALL)
    assert "write gives text; Broken gave NoneType: return a str" in told.error
    assert "texts were longer than their budget, and were cut" in told.error
    assert "nothing is kept" in told.error


def test_a_memory_that_fails_in_every_item_was_not_tested(said):
    """Exit code 1 without any share asked for: nothing was measured, and a build must not be green."""
    found = said("--memory", "./toys_of_eval.py:raising", "--memory", "./toys_of_eval.py:head", *SMALL)
    assert found.code == 1
    assert "./toys_of_eval.py:raising failed in 4 of 4 items:" in found.error
    assert "./toys_of_eval.py:raising was not tested: it failed in every item" in found.error
    assert "head failed" not in found.error
    assert "head was not tested" not in found.error


def test_a_run_whose_own_checks_break_is_not_green(said):
    """Whatever share is reached, a harness with a fault ends with 1, and says why in the place of a verdict."""
    fault = next(fault for fault in of("reclaim") if fault.breaks == "a padded note is half as long")
    with planted(fault):
        found = said("--memory", "./toys_of_eval.py:head", *SMALL, "--fail-under", "0", "--html", "r.html")
    why = "checks of the evaluation itself do not hold"
    assert (found.code, why in found.error, why in Path("r.html").read_text()) == (1, True, True)


def test_what_a_memory_prints_stands_beside_the_answer(said):
    """Standard output holds the answer alone, every line of it JSON; what was printed is on standard error."""
    found = said("--memory", "./toys_of_eval.py:printing", *SMALL, "--json")
    assert found.code == 0
    assert len(lines_of(found, "item")) == 2 * 2 * 5
    assert "said by a memory" in found.error


def test_an_interrupted_run_tells_what_is_kept(said, tmp_path):
    """Ctrl-C ends with 130; what was asked is in the folder and is not asked again."""
    words = ("--memory", "./toys_of_eval.py:Stopping", *SMALL, "--out", "kept")
    found = said(*words)
    assert found.code == 130
    kept = len((tmp_path / "kept" / "results" / "reclaim" / "items.jsonl").read_text().splitlines())
    assert f"{kept} items are kept in" in found.error
    assert "with --resume only the rest is asked" in found.error
    again = said(*words, "--resume")
    assert again.code == 0
    assert f"{kept} of 20 items were there already" in again.error


def test_json_gives_items_tables_requirements_and_checks(said):
    """Every line is one thing; the items of a table add up to its cells."""
    found = said("--memory", "./toys_of_eval.py:head", "--problems", "2", "--experiment", "size", "--json")
    (table,) = lines_of(found, "table")
    assert sum(cell["n"] for cell in table["cells"]) == len(lines_of(found, "item")) == 2 * 13 * 2 * 3
    assert {one["memory"] for one in lines_of(found, "requirement")} == {"./toys_of_eval.py:head"}
    assert [one["name"] for one in lines_of(found, "check")][-1] == "the cliff moves with the budget"
    assert all(not one["broken"] for one in lines_of(found, "check"))


def test_what_is_asked_can_be_changed(said, tmp_path):
    """Budget, places, corrections, wording, seed, repetitions and reader are in the items that come of them."""
    found = said(
        "--memory", "./toys_of_eval.py:head", *SMALL, "--budget", "333", "--source-at", "late", "--source-at", "middle",
        "--corrections", "sustained", "--wording", "1", "--seed", "7", "--repetitions", "2", "--reader", "believing",
        "--json",
    )  # fmt: skip
    mine = [
        one["parameters"] for one in lines_of(found, "item") if one["parameters"]["memory"] == "./toys_of_eval.py:head"
    ]
    assert len(mine) == 2 * 2 * 2
    assert {(one["budget"], one["correction"], one["wording"], one["reader"]) for one in mine} == {
        (333, "sustained", 1, "believing")
    }
    assert {one["source_at"] for one in mine} == {"late", "middle"}
    assert {one["repetition"] for one in mine} == {0, 1}
    assert {one["problem"] for one in mine} == {"a7-0", "p7-0"}
    assert len(lines_of(found, "check")) == 5  # those that hold at any budget, for any correction and reader
    assert not any(check["broken"] for check in lines_of(found, "check"))


def test_recall_is_a_function_beside_it_or_left_out(said, tmp_path):
    """A write that keeps nothing brings everything back through its recall, and nothing without."""
    silent = said("--memory", "firsthand", "--no-recall", *SMALL, "--budget", "0", "--json")
    mine = [one for one in lines_of(silent, "item") if one["parameters"]["memory"] == "firsthand without recall"]
    assert {one["outcome"] for one in mine} == {"abstained"}


def test_many_experiments_are_told_in_a_line_each(said):
    """Our own memory is asked when none is named; with more than two experiments each is a line."""
    found = said("--problems", "1", *(part for name in ("reclaim", "disposition", "completeness")
                                      for part in ("--experiment", name)))  # fmt: skip
    told = [line.split(" (")[0] for line in found.lines if ": firsthand 1.00 (n = " in line]
    assert told == ["reclaim", "disposition", "completeness"]
    assert found.lines[-3].startswith("firsthand: brought back 1.00 ")
    assert found.lines[-2].startswith("  the probe lets 1.000 ")
    assert found.code == 0


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--memory", "toys_of_eval"), 5, "a memory is named ./file.py:name"),
        (("--memory", "./toys_of_eval.py"), 5, "a memory is named ./file.py:name"),
        (("--memory", "./nowhere.py:write"), 5, "cannot read './nowhere.py': No such file or directory"),
        (("--memory", "no_such_module:write"), 5, "cannot import 'no_such_module'"),
        (("--memory", "./toys_of_eval.py:nothing"), 5, "has no 'nothing'"),
        (("--memory", "./toys_of_eval.py:TOYS"), 5, "has no 'TOYS'"),
        (("--memory", "./toys_of_eval.py:Path"), 5, "Path has none"),
        (("--memory", "./stops_at_import.py:write"), 5, "SystemExit: 3 (stops_at_import.py:1)"),
        (("--memory", "./breaks_at_import.py:write"), 5, "ZeroDivisionError: division by zero (breaks_at_import.py:1)"),
        (("--experiment", "nothing"), 5, "there is no reclaim experiment 'nothing'"),
        (("--experiment", "dialogues"), 5, "--data FILE"),
        (("--experiment", "dialogues", "--data", "nowhere.json"), 5, "nowhere.json"),
        (("--experiment", "prompts"), 5, "two writers"),
        (("--resume",), 5, "nothing to resume"),
        (("--html", "nowhere/r.html"), 5, "the folder nowhere is not there"),
        (("--junit", "."), 5, "--junit names a file; got '.'"),
        (("--html", "x", "--junit", "./x"), 5, "--html, --junit want a file each"),
        (("--budget", "-1"), 2, "a whole number from 0"),
        (("--corrections", "loud"), 2, "invalid choice"),
        (("--fail-under", "2"), 2, "a number from 0 to 1"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_is_asked(said, tmp_path, words, code, told):
    """A wrong name, module or option says what was expected, and nothing is written."""
    before = sorted(one.name for one in tmp_path.iterdir() if one.name != "__pycache__")
    found = said(*words)
    assert (found.code, found.text) == (code, "")
    assert told in found.error
    assert sorted(one.name for one in tmp_path.iterdir() if one.name != "__pycache__") == before


def test_a_chain_is_as_long_as_it_is_asked_to_be(said):
    """The cells of `cascade` are of the lengths named, each once; none is silently left out elsewhere."""
    chain = ("--experiment", "cascade", "--problems", "1")
    found = said("--memory", "firsthand_note", *chain, "--hops", "9", "--hops", "3", "--hops", "9", "--json")
    assert found.code == 0
    assert {one["parameters"]["hops"] for one in lines_of(found, "item")} == {9, 3}
    assert len(lines_of(found, "item")) == 5 * 2 * 2
    (table,) = lines_of(found, "table")
    assert sorted({cell["labels"]["hops"] for cell in table["cells"]}) == [3, 9]
    refused = said(*SMALL, "--hops", "3")
    assert refused.code == 5
    assert "--hops is of the experiment cascade alone; got reclaim" in refused.error
    assert said(*chain, "--hops", str(cascade.HOPS_MAX + 1)).code == 2
