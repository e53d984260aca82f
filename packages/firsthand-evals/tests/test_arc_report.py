"""evals/stream/arc_paper.py, arc_checks.py, arc_report.py and arc_pack.py: a run, its checks, and how they are told."""

from __future__ import annotations

import re
from functools import cache

import pytest

from firsthand.errors import InvalidArgument
from firsthand.ledger.entry_gate import GateRates
from firsthand.value import replace
from firsthand_evals.stream import arc_checks, arc_pack, arc_report, curves
from firsthand_evals.stream.arc_arms import BUFFER, GATED, GATED_MERGE, GATED_PHANTOM, OVER_SCOPED, RULES
from firsthand_evals.stream.arc_paper import ABOUT, settings
from firsthand_evals.stream.arc_report import Found, Run
from firsthand_evals.stream.arc_solvers import FORCED, STRONG, WEAK
from firsthand_evals.stream.arms import KEEP_ALL, MERGE_ALL, NO_MEMORY
from firsthand_evals.stream.packs import Options
from firsthand_evals.stream.run import Stream

GATED_OVER = f"gate + {OVER_SCOPED}"
GOOD = {
    f"{what} {name}": 1.0
    for what in ("p0", "seen", "unseen", "variant", "block", "regressed")
    for name in (STRONG, WEAK, FORCED)
}
SIZE = {
    "halved": 0.0,
    "characters": 100.0,
    "entries": 1.0,
    "families covered": 1.0,
    "of several families": 0.0,
    "fit nothing": 0.0,
    "kept": 1.0,
}


def made(arm: str, seed: int, **figures: float) -> Stream:
    told = {name.replace("_", " "): it for name, it in figures.items()}
    return Stream(
        arm,
        "stream",
        seed,
        ({**GOOD, **SIZE, **told},),
        {"asked": 1},
        GateRates(0, 0, 0, 5) if "+" in arm and arm != GATED else GateRates(9),
    )


def right(seed: int) -> list[Stream]:
    return [
        made(NO_MEMORY, seed, seen_weak=0.0, unseen_weak=0.0, seen_forced=0.5),
        made(KEEP_ALL, seed, unseen_weak=0.0, characters=400.0),
        made(MERGE_ALL, seed, p0_forced=0.0, seen_weak=0.0),
        made(RULES, seed), made(GATED, seed), made(GATED_MERGE, seed), made(GATED_OVER, seed),
        made(GATED_PHANTOM, seed),
    ]  # fmt: skip


def beside(seed: int) -> list[Stream]:
    found = [made(one.name, seed) for one in settings()]
    low = {f"{BUFFER}, rounds-10": {"p0 forced": 0.5}, f"{BUFFER}, mixed": {"seen weak": 0.5},
           f"{BUFFER}, narrow": {"variant weak": 0.5}}  # fmt: skip
    return [replace(one, points=({**one.points[0], **low.get(one.arm, {})},)) for one in found]


@cache
def main() -> tuple[Stream, ...]:
    return tuple(one for seed in range(3) for one in right(seed))


@cache
def others() -> tuple[Stream, ...]:
    return tuple(one for seed in range(3) for one in beside(seed))


def failing(streams, set_beside=(), stopped=0) -> set[str]:
    return {one.name for one in arc_checks.checked(streams, set_beside, stopped) if not one.held}


def turned(streams, arm: str, **figures: float) -> list[Stream]:
    told = {name.replace("_", " "): it for name, it in figures.items()}
    return [replace(one, points=({**one.points[0], **told},)) if one.arm == arm else one for one in streams]


def test_each_check_fails_when_its_figure_is_turned_round():
    """On figures as they should be all hold; turned round, each fails alone."""
    assert failing(main(), others()) == set()
    assert [one.name for one in arc_checks.checked(main(), others(), 0)] == [
        "A0", "A0", "A0", "A1", "A1", "A2", "A3", "A4", "A5", "A6", "A7", "A8", "A9",
    ]  # fmt: skip
    assert failing(main(), stopped=1) == {"A0"}
    assert failing(turned(main(), NO_MEMORY, seen_weak=0.5)) == {"A0"}
    assert failing(turned(main(), KEEP_ALL, seen_forced=0.9)) == {"A0"}
    assert failing(turned(main(), MERGE_ALL, p0_forced=1.0)) == {"A1"}
    assert failing(turned(main(), MERGE_ALL, p0_strong=0.9)) == {"A1"}
    assert failing(turned(turned(main(), KEEP_ALL, seen_weak=0.4), MERGE_ALL, seen_weak=0.5)) == {"A0", "A2"}
    assert failing(turned(main(), RULES, unseen_weak=0.0)) == {"A3"}
    assert failing([replace(one, violations=1) if one.arm == GATED else one for one in main()]) == {"A4"}
    assert failing([replace(one, rates=GateRates(1, 8, 0, 5)) if one.arm == GATED else one for one in main()]) == {"A5"}
    assert failing(turned(main(), GATED, characters=300.0)) == {"A5"}
    assert failing(turned(main(), GATED, p0_forced=0.9)) == {"A5"}
    assert failing([replace(one, rates=GateRates(0, 0, 1, 4)) if one.arm == GATED_OVER else one for one in main()]) == {
        "A6"
    }
    for arm, figures, name in (
        ("rounds-10", {"p0_forced": 1.0}, "A7"), ("mixed", {"seen_weak": 1.0}, "A8"),
        ("narrow", {"variant_weak": 1.0}, "A9"),
    ):  # fmt: skip
        assert failing(main(), turned(others(), f"{BUFFER}, {arm}", **figures)) == {name}
    assert failing(main(), turned(others(), f"{GATED}, narrow", variant_weak=0.9)) == {"A9"}
    assert arc_checks.checked([one for one in main() if one.arm == NO_MEMORY], (), 0) == ()


def test_chances_are_of_the_checks_that_are_differences():
    """Four of them, corrected for their number; with three streams none can be small."""
    found = arc_checks.by_chance([*main(), *others()])
    assert set(found) == {"A1", "A3", "A7", "A8"}
    assert min(found.values()) > 0.2


def test_settings_name_the_papers_figures():
    """Each figure is told about, no setting is named twice, and theirs stands where the paper gives one."""
    assert {one.figure for one in settings()} == set(ABOUT)
    assert len({one.name for one in settings()}) == len(settings())
    theirs = {one.name: one.theirs for one in settings() if one.theirs}
    assert (theirs[f"{BUFFER}, stream"], theirs[f"{BUFFER}, rounds-10"], theirs[f"{BUFFER}, static-50"]) == (
        ".737", ".526", ".947",
    )  # fmt: skip


def test_report_and_page_tell_the_same_figures():
    """Every arm and every setting stands in the tables with its mean, and the page draws each and fetches nothing."""
    longer = [replace(one, points=one.points * 3) for one in (*main(), *others())]
    streams, set_beside = longer[: len(main())], longer[len(main()) :]
    found = Found([Run("stream", tuple(streams))], settings(), set_beside, arc_checks.checked(streams, set_beside, 0),
                  ("limits",), {"time": 2})  # fmt: skip
    text, html = arc_report.markdown(found), arc_report.html(found)
    for name in found.runs[0].arms:
        (row,) = [line for line in text.splitlines() if line.startswith(f"| {name} | ") and line.count("|") == 12]
        assert row.split(" | ")[2] == f"{curves.end(streams, name, f'p0 {FORCED}').mean:.3f}"
    for one in settings():
        assert f"| {one.name} | " in text
        assert f"<td>{one.name}</td>" in html
    assert "programs are held by limits; stopped: 2 by time" in text
    assert all(f"| {one.name} | {one.says} |" in text for one in found.checks)
    assert re.findall(r"(?:src|href)=", html) == []
    assert "<polyline" in html


def test_right_grouping_is_found_at_its_first_update():
    """It wants an entry for each of the six families and none for several, and says when that was first so."""
    points = [{"families covered": 6.0, "entries": 6.0, "of several families": it} for it in (1.0, 0.0, 1.0, 0.0)]
    one = Stream("a", "stream", 0, tuple(points))
    assert arc_report.grouped_after(one) == 2
    fewer = [{**points[1], "entries": 5.0}, {**points[1], "families covered": 5.0}]
    assert arc_report.grouped_after(replace(one, points=tuple(fewer))) is None


def test_a_small_run_of_the_pack():
    """One world, one arm beside the two plain ones: streams, the checks that apply, and how programs were held."""
    told = []
    options = Options(arm=[MERGE_ALL], streams=1, progress=lambda *_: lambda *done: told.append(done))
    found = arc_pack.run(options)
    assert [row[0] for row in found.sections[0].rows] == ["arm", NO_MEMORY, KEEP_ALL, MERGE_ALL]
    assert found.headline == "6 of 6 checks held (1 streams; stream)"
    assert found.failed == []
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert [next(iter(one)) for one in found.records] == ["stream"] * 3 + ["check"] * 6
    assert "limits" in found.kept["held by"]
    assert found.markdown().startswith("# What consolidation does to programs\n")
    with pytest.raises(InvalidArgument, match="no schedule 'x'"):
        arc_pack.run(Options(schedule=["x"]))
