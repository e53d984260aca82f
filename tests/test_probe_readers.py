"""bench/probe_readers.py: real notes are joined to a reader's answers, and what cannot be joined is counted."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

import probe_readers
from firsthand.errors import FormatError
from probe_bench import Said

PROBLEMS = """
from .other import KIND

class Problem:
    def __init__(self, pid, kind, drift):
        self.pid, self.kind, self.drift = pid, kind, drift
        self.question, self.wrong_premise, self.ask = "2 pens at $3?", "a friend says $9", "the total"

TASKS = {"arith": [Problem("pens", "number", 9.0)], "logic": [Problem("seats", KIND, "Ana")]}
"""


def row(pid: str, seed: int, **more: object) -> dict[str, object]:
    return {"variant": "sum", "pid": pid, "seed": seed, **more}


@pytest.fixture
def checkout(tmp_path):
    """Make a folder in the shape of the public harness, with content of our own."""
    package, results = tmp_path / "src" / "reclaim", tmp_path / "data" / "results"
    package.mkdir(parents=True)
    results.mkdir(parents=True)
    (package / "problems.py").write_text(PROBLEMS)
    (package / "other.py").write_text('KIND = "text"\n')
    files = {
        "realworld_meta-llama_x_arith_t0.jsonl": [
            row("pens", 0, memory_text="2 pens at $3"), row("pens", 0, memory_text="2 pens at $3"),
            row("pens", 1, memory_text="total $9"), row("pens", 2, memory_text="one"),
            row("pens", 2, memory_text="two"), row("gone", 0, memory_text="x"),
        ],
        "realworld_meta-llama_x_logic_t0.jsonl": [row("seats", 0, memory_text="Ana")],
        "claude_claude-opus-4-8.jsonl": [
            row("pens", 0, task="arith", arm="directed", answer=6.0, correct=True),
            row("pens", 0, task="arith", arm="generic", answer=9.0, correct=False),
            row("pens", 1, task="arith", arm="directed", answer=9.0, correct=False),
            row("pens", 2, task="arith", arm="directed", answer=9.0, correct=False),
            row("gone", 0, task="arith", arm="directed", answer=9.0, correct=False),
            row("pens", 7, task="arith", arm="directed", answer=9.0, correct=False),
            row("seats", 0, task="logic", arm="directed", answer=None, correct=False),
        ],
    }  # fmt: skip
    for name, several in files.items():
        (results / name).write_text("".join(json.dumps(each) + "\n" for each in several))
    return tmp_path


def test_a_note_is_joined_to_its_answer_and_the_rest_is_counted(checkout):
    """Directed answers whose note is one and known are used; ambiguous and unknown ones are counted, not guessed."""
    found = probe_readers.notes_of(checkout)
    assert [(each.case.id, each.kind, each.outcome) for each in found.read] == [
        ("arith-sum-pens-0", "arith, sum", "recovered"),
        ("arith-sum-pens-1", "arith, sum", "wrong"),
        ("logic-sum-seats-0", "logic, sum", "abstained"),
    ]
    assert (found.ambiguous, found.unknown) == (1, 2)


def test_the_session_is_made_again_of_the_problem(checkout):
    """The user's message holds the question and the wrong premise, the agent's the wrong answer."""
    first, _, last = probe_readers.notes_of(checkout).read
    assert [message["content"] for message in first.case.messages] == [
        "2 pens at $3?\nNote: a friend says $9.", "The total is $9.",
    ]  # fmt: skip
    assert last.case.messages[1]["content"] == "The answer is Ana."
    assert (first.case.note, first.case.claim) == ("2 pens at $3", "the total")


def test_the_modules_of_the_checkout_do_not_stay(checkout):
    """Its package is gone afterwards, and one of that name that was there before is there again."""
    probe_readers.problems_of(checkout)
    assert "reclaim" not in sys.modules
    assert "reclaim.problems" not in sys.modules
    mine = sys.modules["reclaim"] = type(sys)("reclaim")
    try:
        probe_readers.problems_of(checkout)
        assert sys.modules["reclaim"] is mine
        assert "reclaim.other" not in sys.modules
    finally:
        del sys.modules["reclaim"]


def test_agreement_is_counted_both_ways(checkout):
    """Called correctable and recovered agree, and so do not called and not recovered; each other pair does not."""
    found = probe_readers.notes_of(checkout)
    told = probe_readers.report(found, [
        (each, "correctable" if each.case.note in {"2 pens at $3", "Ana"} else "uncorrectable_silent")
        for each in found.read
    ])  # fmt: skip
    assert told[0].startswith("3 notes with one reader's answer each. Of all, 1 answers fit several notes and 2 none")
    assert any(line.startswith("| arith, sum | 2 | 1 | 1 | 1.0") for line in told)
    assert any(line.startswith("| logic, sum | 1 | 0 | 1 | 0.0") for line in told)
    assert "| correctable | 1 | 0 | 1 |" in told
    assert "| uncorrectable_silent | 0 | 1 | 0 |" in told
    differing = probe_readers.differing([(each, "correctable") for each in found.read])
    assert [line.split(":")[0] for line in differing if line.startswith("\n==")] == [
        "\n== arith-sum-pens-1", "\n== logic-sum-seats-0",
    ]  # fmt: skip


def test_a_problem_is_in_one_half_and_what_is_held_out_is_not_shown(checkout, capsys):
    """The halves part the problems; differences are shown of the dev half and refused of the other."""
    halves = {half: [each for each in probe_readers.notes_of(checkout).read
                     if probe_readers.half_of_problem(each) == half] for half in ("dev", "held-out")}  # fmt: skip
    assert sorted(len(several) for several in halves.values()) in ([0, 3], [1, 2])
    assert not {each.problem for each in halves["dev"]} & {each.problem for each in halves["held-out"]}
    shown = {}
    for half, several in halves.items():
        assert probe_readers.main(["--data", str(checkout), "--half", half], judge=lambda _case: Said("reachable")) == 0
        shown[half] = capsys.readouterr().out
        assert shown[half].startswith(f"{len(several)} notes")
        assert "NOTE" not in shown[half]
    words = ["--data", str(checkout), "--half", "dev", "--failures"]
    assert probe_readers.main(words, judge=lambda _case: Said("correctable")) == 0
    wrong = [each for each in halves["dev"] if each.outcome != "recovered"]
    assert capsys.readouterr().out.count("NOTE: ") == len(wrong)
    with pytest.raises(SystemExit):
        probe_readers.main(["--data", str(checkout), "--failures"], judge=lambda _case: Said("correctable"))
    assert "not looked at" in capsys.readouterr().err


def test_another_folder_is_refused(tmp_path):
    """A folder that is no checkout is refused with what is missing and what to give."""
    with pytest.raises(FormatError, match=r"claude_claude-opus-4-8\.jsonl: give a checkout"):
        probe_readers.notes_of(tmp_path)
