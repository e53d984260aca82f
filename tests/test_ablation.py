"""The ablation of the score: what it is measured on, and that its report is its figures."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import pytest

BENCH = Path(__file__).parent.parent / "bench"
sys.path.insert(0, str(BENCH))

import ablation  # noqa: E402 - the bench is no package
import ablation_sets  # noqa: E402
import pairs  # noqa: E402
from firsthand import Kind, Memory  # noqa: E402
from firsthand.recall.complement import names  # noqa: E402


def test_generated_pairs_are_pairs():
    """At least 60 pairs of three classes, each of two events of one session among others, the same in every run."""
    sessions, made = pairs.generated()
    assert pairs.generated() == (sessions, made)
    assert len(made) >= 60
    assert set(Counter(one.kind for one in made)) == set(pairs.KINDS)
    for number, lines in enumerate(sessions):
        assert Counter(line.of for line in lines) == {number: 2, -1: len(lines) - 2}


def test_generated_updates_change_one_value():
    """Each fact is said once and changed once, later, among talk of the same words."""
    for one in ablation_sets.updates():
        assert one.old < one.new < len(one.texts)
        assert len(set(one.texts)) == len(one.texts) == 5


@pytest.mark.parametrize(
    ("units", "expected"), [(("n", "o"), 1.0), (("o", "n"), 0.0), (("x", "n"), 1.0), (("o",), 0.0), (("x",), 0.5)]
)
def test_new_before_old(units, expected):
    """The new value is first, or the old one, or neither is there."""
    assert ablation._before(units, {"n"}, {"o"}) == expected


def test_a_case_is_what_the_next_calls_name(tmp_path):
    """What a case asks for stood in an earlier event, is named by the calls that follow, and not by the query."""
    with Memory.open(tmp_path / "store") as memory:
        session = memory.session("s")
        session.user("the tables are in app/models.py and the forms in app/forms.py")
        for number in range(8):
            session.agent(f"looking around {number}")
        asked = session.user("rename the field in app/forms.py")
        session.tool_call("edit", {"path": "app/models.py", "also": "app/forms.py", "new": "app/fresh.py"})
        (case,) = ablation_sets.cases(memory, Kind.USER_MESSAGE)
        assert case.position == asked.position
        assert case.used == {"app/models.py", "models.py"}
        assert (case.conditions.session, case.conditions.phase) == ("s", "explore")
        answer = ablation.asked(memory, ablation._query("tables"), {})
        assert ablation_sets.held(memory, [hit.pointer for hit in answer], case.used) == 1.0
        assert names(case.query).isdisjoint(case.used)


def test_the_report_is_its_figures():
    """ABLATION.md is what the figures of ablation.json are written as."""
    report = json.loads((BENCH / "ablation.json").read_text(encoding="utf-8"))
    assert ablation.markdown(report) + "\n" == (BENCH / "ABLATION.md").read_text(encoding="utf-8")


def test_a_difference_that_cannot_be_told_is_told_so():
    """The whole has no difference to itself; one whose interval holds 0 is said to be none that can be detected."""
    found = ablation.measured({"m": {ablation.WHOLE: [1.0, 0.0] * 20, "same": [1.0, 0.0] * 20, "worse": [0.0] * 40}})
    rows = [ablation._row(name, row) for name, row in found["m"].items()]
    assert rows[0].endswith("|  |")
    assert rows[1].endswith("none detectable |")
    assert rows[2].startswith("| worse | 0.000 | 0.000 to 0.000 | -0.500 (")
    assert not rows[2].endswith("detectable |")
