"""bench/probe_bench.py: what it counts, when it fails, and that no note of the set is shown."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

import probe_bench
from probe_bench import SILENT, Measured, Said
from probe_set.case import Case
from probe_set.third import third

LINES = "7 notebooks at $4, 9 pens at $2"
SESSION = (
    {"role": "user", "content": f"We bought {LINES}. The total?", "pointer": "fh:01J00000000000000000000001"},
    {"role": "assistant", "content": "The total is $55.", "pointer": "fh:01J00000000000000000000002"},
)


def case(name: str, note: str, gold: str, missing: tuple[str, ...] = ()) -> Case:
    return Case(name, name.split("-", maxsplit=1)[0], SESSION, note, {}, "the total", gold, missing)


FOUR = (
    case("one-0", f"Bought: {LINES}.", "correctable"),
    case("one-1", "The total was $55.", SILENT, ("notebooks", "pens")),
    case("two-0", "They went shopping.", "uncorrectable_loud", ("notebooks", "pens")),
    case("two-1", "pens 9 x 2", SILENT, ("notebooks",)),
)


def oracle(each: Case) -> Said:
    return Said(each.gold, each.missing)


def test_a_probe_that_is_right_is_counted_right(capsys):
    """With the gold's own verdicts everything is right, all that is missing is named, and the exit code is 0."""
    assert probe_bench.main([], judge=oracle) == 0
    told = capsys.readouterr().out
    assert told.startswith(f"{len(third())} notes of 37 kinds, ")
    assert "At least 95% right, at most 2% missed: kept." in told


def test_one_verdict_for_all_is_counted_case_by_case():
    """What is right, missed and called silent by mistake is counted of the cases that it can be counted of."""
    found = probe_bench.measured(FOUR, lambda _each: Said("correctable"))
    assert (found.right().hits, found.right().n) == (1, 4)
    assert (found.right("two").hits, found.right("two").n) == (0, 2)
    assert (found.missed().hits, found.missed().n) == (2, 2)
    assert (found.missed("one").hits, found.missed("one").n) == (1, 1)
    assert (found.alarms().hits, found.alarms().n) == (0, 2)
    assert not probe_bench.good(found)
    alarmed = probe_bench.measured(FOUR, lambda _each: Said(SILENT))
    assert (alarmed.missed().hits, alarmed.alarms().hits) == (0, 2)


def test_what_is_missing_is_counted_where_the_verdict_is_right():
    """Each missing thing that the session names counts once; a wrong verdict names nothing."""
    half = probe_bench.measured(FOUR, lambda each: Said(SILENT, ("the line of the pens",) if each.missing else ()))
    assert (half.named().hits, half.named().n) == (1, 3)


@pytest.mark.parametrize(("wrong", "kept"), [(5, True), (6, False)])
def test_the_limit_of_right_verdicts_is_ninety_five_of_a_hundred(wrong, kept):
    """95 right of 100 keep the limit, 94 do not."""
    many = [case(f"many-{place}", "", "uncorrectable_loud") for place in range(100)]
    said = [(each, Said(SILENT if place < wrong else "uncorrectable_loud")) for place, each in enumerate(many)]
    assert probe_bench.good(Measured(said, 1.0)) is kept


@pytest.mark.parametrize(("missed", "kept"), [(2, True), (3, False)])
def test_the_limit_of_missed_silent_failures_is_two_of_a_hundred(missed, kept):
    """2 missed of 100 silent failures keep the limit, 3 do not."""
    many = [case(f"many-{place}", "", SILENT) for place in range(100)]
    said = [(each, Said("reachable" if place < missed else SILENT)) for place, each in enumerate(many)]
    assert probe_bench.good(Measured(said, 1.0)) is kept


def test_nothing_judged_is_not_good():
    """No case at all keeps no limit."""
    assert not probe_bench.good(Measured((), 0.0))


def test_the_baseline_looks_for_pieces_alone():
    """A piece of the source makes a note correctable to it, the conclusion silent, anything else loud."""
    assert [probe_bench.pieces(each).regime for each in FOUR] == [
        "correctable", SILENT, "uncorrectable_loud", "uncorrectable_loud",
    ]  # fmt: skip


def test_what_a_probe_raises_names_the_case():
    """An error of the probe is not counted as a verdict; it says on which case it was raised."""

    def broken(each: Case) -> Said:
        raise ZeroDivisionError(each.kind)

    with pytest.raises(ZeroDivisionError) as raised:
        probe_bench.measured(FOUR[1:], broken)
    assert raised.value.__notes__ == ["on the case one-1"]


def test_no_note_of_the_set_is_shown(tmp_path, capsys):
    """Neither what is printed nor the report holds a note, when every verdict is wrong."""
    assert probe_bench.main(["--write", str(tmp_path / "P.md")], judge=lambda _each: Said("correctable")) == 1
    told = capsys.readouterr().out + (tmp_path / "P.md").read_text(encoding="utf-8")
    assert [each.id for each in third() if len(each.note) > 40 and each.note in told] == []


def test_an_unknown_kind_is_refused(capsys):
    """A kind that is not in the set is named, with those that are."""
    for words in (["--kind", "tag"], ["--kind", "wages"]):
        with pytest.raises(SystemExit):
            probe_bench.main(words, judge=oracle)
        assert f"no such kind: {words[1]}; there are " in capsys.readouterr().err


def test_the_tables_count_what_was_said():
    """The confusion has a row for each gold, and the kinds have theirs."""
    found = probe_bench.measured(FOUR, lambda _each: Said("correctable"))
    assert probe_bench.count(found).startswith("4 notes of 2 kinds, ")
    told = probe_bench.report(found, found)
    assert "| one | 2 | 1 | 1 of 1 | 1 |" in told
    assert "| two | 2 | 0 | 1 of 1 | 0 |" in told
    assert told[told.index("| uncorrectable_silent | 2 | 0 | 0 | 0 |") - 1] == "| uncorrectable_loud | 1 | 0 | 0 | 0 |"
    assert told[-1] == "At least 95% right, at most 2% missed: NOT kept."


def test_the_report_says_first_what_was_looked_at_and_fails_with_the_set(tmp_path, capsys):
    """The first line of text says what was looked at while tuning; the run fails when the set is judged wrongly."""
    path = tmp_path / "PROBE.md"
    assert probe_bench.main(["--write", str(path)], judge=oracle) == 0
    lines = path.read_text(encoding="utf-8").splitlines()
    assert (lines[0], lines[2][:31]) == ("# How often the probe is right", "Nothing of this set was looked ")
    assert "limits" not in lines
    assert probe_bench.main(["--kind", "manual"], judge=lambda _each: Said(SILENT)) == 1
    assert "NOT kept" in capsys.readouterr().out
