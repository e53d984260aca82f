"""commands/accuracy.py: the share of right verdicts is counted case by case, and no note of the set is shown."""

from __future__ import annotations

import pytest

from firsthand.errors import InvalidArgument
from firsthand_evals.commands import accuracy
from firsthand_evals.commands.accuracy import SILENT, cases, is_good, main, page, shares, verdicts


def test_the_gold_verdicts_keep_the_limits():
    """With the gold's own verdicts everything is right, beside a search for pieces of the source."""
    gold, pieces = [(case["gold"], case["gold"]) for case in cases()], [(it["gold"], it["pieces"]) for it in cases()]
    report = page(gold, pieces, "gold")
    assert is_good(gold)
    assert report.verdict == "gold can be relied on: right on 1.00 of 775 notes, 0.00 of the silent failures missed."
    right, missed, _ = report.sections[0].tables[0].rows
    assert right == ("right", "1.000 [0.995, 1.000] (775 of 775)", "0.363 [0.329, 0.397] (281 of 775)")
    assert missed[1] == "0 of 221 (at most 0.014)"
    assert page(gold[:1], pieces[:1], "gold").verdict.startswith("Too few to tell of gold: ")


def test_any_checker_is_scored_and_is_not_told_the_verdict(tmp_path, capsys):
    """A function of a file is given a case without its gold; what is no regime is refused by its case."""
    file = tmp_path / "mine.py"
    file.write_text("def judge(case):\n    assert set(case) == {'id', 'kind', 'messages', 'note', 'claim', 'expand'}\n"
                    "    return 'reachable'\ndef other(case):\n    return 'good'\n")  # fmt: skip
    assert main(["--checker", f"{file}:judge"]) == 1
    assert "| uncorrectable_silent | 0 | 221 | 0 | 0 |" in capsys.readouterr().out
    with pytest.raises(InvalidArgument, match=r"a checker gives one of .*; got 'good'"):
        main(["--checker", f"{file}:other"])


def test_one_verdict_for_all_is_counted_case_by_case():
    """Right, missed and falsely silent are each counted over the cases that they concern."""
    rows = [{"id": name, "gold": gold} for name, gold in (("a", SILENT), ("b", "correctable"), ("c", "reachable"))]
    silent = shares(verdicts(rows, lambda _case: SILENT))
    assert [(rate.hits, rate.n) for rate in silent.values()] == [(1, 3), (0, 1), (2, 2)]
    reachable = shares(verdicts(rows, lambda _case: "reachable"))
    assert [(rate.hits, rate.n) for rate in reachable.values()] == [(1, 3), (1, 1), (0, 2)]


@pytest.mark.parametrize(
    ("pairs", "good"),
    [
        ([("reachable", "reachable")] * 95 + [("reachable", SILENT)] * 5, True),
        ([("reachable", "reachable")] * 94 + [("reachable", SILENT)] * 6, False),
        ([(SILENT, SILENT)] * 98 + [(SILENT, "reachable")] * 2, True),
        ([(SILENT, SILENT)] * 97 + [(SILENT, "reachable")] * 3, False),
        ([], False),
    ],
)
def test_both_limits_hold_at_their_edge(pairs, good):
    """95 right of 100 and 2 missed of 100 keep the limits, one less does not, and nothing judged keeps none."""
    assert is_good(pairs) is good


def test_an_error_of_the_probe_names_its_case():
    """An error is not counted as a verdict."""

    def broken(case):
        raise ZeroDivisionError(case["id"])

    with pytest.raises(ZeroDivisionError) as raised:
        verdicts(cases()[:1], broken)
    assert raised.value.__notes__ == [f"on the case {cases()[0]['id']}"]


def test_the_report_shows_no_note_and_says_what_was_looked_at(tmp_path, capsys):
    """Neither the table nor the report holds a note, and the exit code says that the limits are not kept."""
    path = tmp_path / "PROBE.md"
    assert main(["--markdown", str(path)]) == 1
    report = path.read_text(encoding="utf-8")
    assert report.splitlines()[2].startswith("**The probe cannot be relied on: right on 0.")
    assert "- looked at while tuning: nothing of this set." in report
    assert "NOT kept" in report
    shown = report + capsys.readouterr().out
    assert [case["id"] for case in cases() if len(case["note"]) > 40 and case["note"] in shown] == []


def test_the_probe_judges_a_case_by_its_session_and_its_pointers():
    """What a pointer of the note leads to counts, and a note of nothing is not correctable."""
    case = next(case for case in cases() if case["gold"] == case["pieces"] == "correctable")
    assert accuracy.judge(case) == "correctable"
    assert accuracy.judge(case | {"note": "They talked.", "expand": {}}).startswith("uncorrectable")
