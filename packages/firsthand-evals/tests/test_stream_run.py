"""evals/stream: what is measured of an arm, and what the checks say of a run."""

from __future__ import annotations

from fractions import Fraction

import pytest

from firsthand.errors import InvalidArgument
from firsthand.ledger.entries import Episode, View, Written, entry
from firsthand_evals.stream import arms, checks, curves, measure
from firsthand_evals.stream.arms import (
    ARMS,
    EQUALLY_LONG,
    GATED,
    KEEP_ALL,
    MERGE_ALL,
    NO_MEMORY,
    Arm,
    chosen,
)
from firsthand_evals.stream.consolidators import Writing
from firsthand_evals.stream.measure import Before, measured, readers, standing
from firsthand_evals.stream.run import broken, run, stream
from firsthand_evals.stream.world import world

NAMED = {one.name: one for one in ARMS}


def test_figures_of_the_plain_arms_are_known():
    """Keep all answers all it saw, without rules a weak reader does no more than without memory, none keeps nothing."""
    made = world(2, 160)
    none, whole = (stream(NAMED[name], made, "stream") for name in (NO_MEMORY, KEEP_ALL))
    assert {one["seen weak"] for one in whole.points} == {one["seen strong"] for one in whole.points} == {1.0}
    assert (whole.end("rule strong"), whole.end("rule weak"), whole.end("p0 weak")) == (1.0, 1 / 3, 1.0)
    assert (none.end("rule weak"), none.end("p0 weak"), none.end("exceptions weak")) == (1 / 3, 1.0, 0.0)
    assert (none.end("characters"), none.end("kept"), whole.end("kept")) == (0.0, 0.0, 1.0)
    assert (whole.told, none.told) == ((8, 8), (0, 8))
    assert [(one.updates, one.stood == one.n) for one in whole.survival if one.n] == [(1, True), (5, True), (10, True)]


def test_what_an_entry_is_made_of_is_counted_by_label():
    """An entry of two families, one without sources and a line said twice are seen in the figures."""
    made = world(2, 40)
    one = made.episodes[0]
    other = next(it for it in made.episodes if it.scope != one.scope)
    known = {it.pointer: it for it in (one, other)}
    mixed = entry(Written("* N => 1 * N", (one.pointer, other.pointer)), known, by="x")
    bare = entry(Written("* N => 1 * N", ()), known, by="x")
    found = measured(made, View((mixed, bare), (one,)), [one, other], "view", readers(made), Before())
    told = ("entries", "of several families", "without sources", "said twice", "families covered", "kept")
    assert [found[name] for name in told] == [2, 1, 1, 1, 2, 0.5]


def test_what_stands_is_found_word_for_word():
    """A case stands in a raw line and in an entry that says it; a part of a line is none."""
    one = Episode("fh:a", "birch", "birch level 7", "23", 1)
    assert standing("case: birch level 7 => 23", [one]) == standing("rule: birch level 7 => 23", [one]) == {"fh:a"}
    assert standing("case: birch level 7 => 231\ncase: a birch level 7 => 23", [one]) == frozenset()


def test_retrieved_lines_are_of_the_questions_shape():
    """A reader of retrieved lines is given at most the named number, its own answer among them."""
    made = world(4, 320)
    found = stream(NAMED[f"raw retrieved ({arms.RETRIEVED_LINES} lines)"], made, "static-all")
    whole = stream(NAMED[KEEP_ALL], made, "static-all")
    assert found.end("seen weak") == 1
    assert 0 < found.end("characters") < whole.end("characters") / 10


def test_what_is_retrieved_is_as_long_as_the_memory_beside_it():
    """After no update is more retrieved than the memory beside it has, nor much less where there is more."""
    for seed in (1, 2):
        whole, beside, found = (
            one for one in run(chosen([EQUALLY_LONG]), [seed], episodes=160) if one.arm != NO_MEMORY
        )
        assert (beside.arm, found.arm) == (GATED, EQUALLY_LONG)
        for given, most, there in zip(found.points, beside.points, whole.points, strict=True):
            assert given["characters"] <= most["characters"]
            assert given["characters"] >= min(most["characters"], there["characters"]) - 31
        assert found.end("seen weak") == 1


def test_a_retrieved_line_that_does_not_fit_is_left_out():
    """The own answer comes first, then the newest; what does not fit within the length is no part of it."""
    made = world(2, 40)
    first, second, third = made.episodes[:3]
    view, asked = View((), (first, second, third)), readers(made)
    line = len(first.line)
    for length, seen in ((0, 0), (line - 1, None), (200, 1.0)):
        found = measured(made, view, [first, second, third], "retrieved", asked, Before(), length)
        assert seen is None or found["seen weak"] >= seen
        assert found["characters"] <= length
    assert measured(made, view, [first], "retrieved", asked, Before(), line)["seen weak"] == 1


def test_what_is_asked_in_other_words_is_a_figure_of_its_own():
    """All that happened answers any wording; one line for every word answers the known families alone, wrongly."""
    made = world(2, 80)
    whole, merged = (stream(NAMED[name], made, "stream") for name in (KEEP_ALL, MERGE_ALL))
    assert {one["variant weak"] for one in whole.points} == {1.0}
    assert merged.end("variant weak") < 0.5


def test_the_gate_keeps_its_promise_and_a_broken_one_is_seen():
    """After a gated stream nothing is broken; an entry that does not give its sources and a hidden case are counted."""
    made = world(1, 120)
    found = stream(NAMED[GATED], made, "stream")
    assert found.violations == 0
    assert (found.end("seen weak"), found.end("p0 weak")) == (1.0, 1.0)
    assert found.end("rule weak") > 1 / 3
    assert found.rates.good_taken > 0
    weak = readers(made)[measure.WEAK]
    four = made.episodes[:4]
    wrong = entry(
        Written("birch level N => 0 * N", [one.pointer for one in four]), {it.pointer: it for it in four}, by="x"
    )
    assert broken(View((wrong,), four), four, weak, 0.6) == 1
    hidden = next(one for one in made.episodes if weak.answer(one.case, "") != one.answer)
    assert broken(View((), (), {hidden.pointer: ""}), [hidden], weak, 0.6) == 1


def test_the_gated_memory_is_under_a_third_and_as_good_for_a_strong_reader():
    """It answers all that the raw episodes answer, helps the weak reader beyond them, and lets no merged rule in."""
    merged = "gate + merge all"
    streams = [*run([NAMED[name] for name in (NO_MEMORY, KEEP_ALL, GATED, merged)], range(2))]

    def at_end(arm: str, figure: str) -> float:
        return curves.end(streams, arm, figure).mean

    assert at_end(GATED, "characters") < at_end(KEEP_ALL, "characters") / 3
    for figure in ("seen strong", "exceptions strong", "rule strong", "p0 strong"):
        assert at_end(GATED, figure) == at_end(KEEP_ALL, figure) == 1
    assert at_end(GATED, "rule weak") > at_end(KEEP_ALL, "rule weak") == at_end(NO_MEMORY, "rule weak")
    told = [one.rates for one in curves.of(streams, merged)]
    assert (sum(one.good_taken + one.bad_taken for one in told), min(one.bad_refused for one in told) > 0) == (0, True)
    assert at_end(merged, "p0 weak") == 1


def test_every_arm_runs_on_every_schedule():
    """On a small world each arm gives a figure after each update, and no gated one breaks its promise."""
    for name in ("blocked", "static-all", "rounds-3"):
        found = [*run(ARMS, [7], name, episodes=24)]
        assert [one.arm for one in found] == [one.name for one in ARMS]
        assert len({len(one.points) for one in found}) == 1
        assert sum(one.violations for one in found) == 0


def test_what_is_passed_over_again_is_shown_again():
    """A case that was hidden is in view again with the update that brings it once more, in a stream and all at once."""

    class HidesOnce:
        name, reads_derived, writes = "hides once", False, "versions"

        def __init__(self) -> None:
            self.hidden: set[str] = set()

        def write(self, episodes, seen):
            new = {one.pointer for one in episodes} - self.hidden
            self.hidden |= new
            return Writing((), tuple(new))

    passes = (("stream-10", 3, 30), ("static-10", 1, 10), ("stream-50", 3, 150), ("static-50", 1, 50))
    for name, first, updates in passes:
        found = stream(Arm("hides once", lambda _: HidesOnce()), world(1, 24), name)
        shown = [point["raw"] for point in found.points]
        assert len(shown) == updates
        assert shown[:first] == [0] * first
        assert shown[first:] == [min(24, 24 // first * (at + 1)) for at in range(updates - first)]


def test_arms_are_chosen_by_name():
    """No memory and keep all are always there; an unknown name is refused."""
    assert [one.name for one in chosen([MERGE_ALL])] == [NO_MEMORY, KEEP_ALL, MERGE_ALL]
    assert chosen([]) == ARMS
    with pytest.raises(InvalidArgument, match="no arm 'x'"):
        chosen(["x"])


def test_chance_of_shuffled_answers_is_that_of_drawing():
    """The chance is the sum of squares of the shares of answers, over what is seen."""
    hits, n, chance = checks.shuffled(1, "stream", 80)
    assert n % checks.SHUFFLES == 0
    seen = n // checks.SHUFFLES
    assert Fraction(chance).limit_denominator(10_000) >= Fraction(1, seen)
    assert 0 <= hits < n / 4
