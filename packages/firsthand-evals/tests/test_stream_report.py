"""evals/stream/curves.py, report.py and report.py: figures over streams, and how they are told."""

from __future__ import annotations

import re
from statistics import fmean

import pytest

from firsthand.errors import InvalidArgument
from firsthand.value import replace
from firsthand_evals import pages
from firsthand_evals.stream import checks, curves, report
from firsthand_evals.stream.arms import ARMS, GATED, KEEP_ALL, MERGE_ALL, NO_MEMORY
from firsthand_evals.stream.report import Run
from firsthand_evals.stream.run import Stream, run


def made(arm: str, *curve: tuple[float, ...]) -> list[Stream]:
    return [Stream(arm, "stream", seed, tuple({"x": it} for it in one)) for seed, one in enumerate(curve)]


def test_a_band_is_wider_than_an_interval_and_holds_the_mean():
    """The band is about the mean of each update and wider than an interval of one; where all agree it is a point."""
    streams = made("a", (0, 0.1, 0.2), (0, 0.4, 0.9), (0, 0.2, 0.4), (0, 0.3, 0.1))
    found = curves.band(streams, "a", "x")
    assert [round(one.mean, 9) for one in found] == [0, 0.25, 0.4]
    assert (found[0].low, found[0].high) == (0, 0)
    for at, one in list(enumerate(found))[1:]:
        alone = curves.stats.mean({it.seed: [it.points[at]["x"]] for it in streams})
        assert one.low - 1e-9 <= alone.low < one.mean < alone.high <= one.high + 1e-9
    assert found == curves.band(streams[::-1], "a", "x")
    with pytest.raises(InvalidArgument, match="none of 'b'"):
        curves.band(streams, "b", "x")


def test_differences_are_paired_by_world():
    """Arms that differ by the same in every world differ by that without any doubt, however much worlds differ."""
    streams = [*made("a", (0.1,), (0.5,), (0.9,)), *made("b", (0.0,), (0.4,), (0.8,))]
    found = curves.difference(streams, "a", "b", "x")
    assert (round(found.mean, 9), round(found.low, 9), round(found.high, 9), found.n) == (0.1, 0.1, 0.1, 3)
    assert curves.chance_of(streams, "a", "a", "x") == 1
    assert 0.2 < curves.chance_of(streams, "a", "b", "x") < 0.3, "2 of the 8 ways to set three signs"


def test_a_fall_is_from_the_best_update_of_the_mean():
    """The best update is found, and the end is set beside it."""
    found = curves.fall(made("a", (0.2, 0.8, 0.5), (0.4, 0.8, 0.7)), "a", "x")
    assert (found.update, round(found.change.mean, 9)) == (2, -0.2)
    flat = curves.fall(made("a", (0.5, 0.5), (0.5, 0.5)), "a", "x")
    assert (flat.update, flat.change.mean) == (1, 0)


def test_holm_corrects_step_by_step():
    """The smallest is multiplied by the number of tests, the next by one less, and none is under the one before."""
    assert curves.holm({"a": 0.01, "b": 0.02, "c": 0.9}) == {"a": 0.03, "b": 0.04, "c": 0.9}
    assert curves.holm({"a": 0.02, "b": 0.021}) == {"a": 0.04, "b": 0.04}
    assert curves.holm({"a": 0.6, "b": 0.7}) == {"a": 1.0, "b": 1.0}


def small() -> Run:
    named = {one.name: one for one in ARMS}
    chosen = [named[name] for name in (NO_MEMORY, KEEP_ALL, MERGE_ALL, GATED)]
    return Run("stream", 64, tuple(run(chosen, range(8), episodes=64)))


def test_both_forms_of_the_page_tell_the_same_figures():
    """Every arm stands in both forms with the mean of its streams, and the verdict names what does harm."""
    ran = small()
    found = checks.checks(ran.streams, 64)
    page = report.page([(ran, found)])
    text, html = pages.markdown(page), pages.html(page)
    for name in ran.arms:
        figure = fmean(one.end("p0 weak") for one in curves.of(ran.streams, name))
        row = next(line for line in text.splitlines() if line.startswith(f"| {name} |"))
        assert row.split(" | ")[6].startswith(f"{figure:.2f}")
        assert f"<td>{name}</td>" in html
    assert html.count("<svg") == 1 + len(report.DRAWN)
    assert all(f"- {one.name} held: {one.says}" in text for one in found)
    assert "8 streams of 8 updates, 64 episodes each, seeds 0 to 7, 4 arms" in html
    assert re.match(
        r"After 8 updates 1 of 3 memories answer less .*; the worst is merge all \(0\.\d\d\)\. All ", page.verdict
    )
    few = replace(ran, streams=tuple(it for it in ran.streams if it.seed < 6))
    assert report.verdict([(few, ())]) == (
        "6 streams are too few to tell which of 3 memories answer less than no memory does of what needs none."
    )
    assert "paper: ten passes over the stream" in html


def test_one_stream_is_too_few():
    """Of one stream the verdict says that it is too few, and no picture promises bands; of two it does."""
    named = {one.name: one for one in ARMS}
    for number, told in ((1, "one stream, so no bands"), (2, "95 % bands, for a whole curve at once")):
        ran = Run("stream", 16, tuple(run([named[NO_MEMORY], named[KEEP_ALL]], range(number), episodes=16)))
        page = report.page([(ran, ())])
        assert pages.html(page).count(f"; {told}</figcaption>") == len(report.DRAWN)
        assert page.verdict.startswith("Too few to tell") == (number == 1)


def test_marked_updates_are_first_last_and_some_between():
    """Few updates are all marked; of many a named number."""
    assert report.marked(3) == [1, 2, 3]
    found = report.marked(40)
    assert (found[0], found[-1], len(found)) == (1, 40, report.PLACES_MAX)
