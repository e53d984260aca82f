"""evals/stream: what is measured of an arm, and what the checks say of a run."""

from __future__ import annotations

from fractions import Fraction

import pytest

from firsthand.errors import InvalidArgument
from firsthand.ledger.entries import Episode, View, Written, entry
from firsthand.ledger.entry_gate import GateSettings
from firsthand.value import replace
from firsthand_evals.stream import arms, checks, curves, measure
from firsthand_evals.stream.arms import (
    ARMS,
    EQUALLY_LONG,
    GATED,
    KEEP_ALL,
    MERGE_ALL,
    NO_MEMORY,
    RULES,
    TELEPHONE,
    Arm,
    chosen,
)
from firsthand_evals.stream.consolidators import Writing, rules_plus_exceptions
from firsthand_evals.stream.measure import Before, measured, readers, standing
from firsthand_evals.stream.run import Stream, broken, run, stream
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
    assert {(one.updates, one.stood == one.n > 0) for one in whole.survival if one.n} == {
        (1, True),
        (5, True),
        (10, True),
    }


def test_a_value_that_was_taken_back_is_no_regression():
    """What was right and has another answer now is not counted; what was right and is lost is."""
    made = world(2, 40)
    first, second = made.episodes[0], made.episodes[1]
    newer = replace(first, pointer="fh:later", answer=first.answer + "0", position=90)
    before, asked = Before(), readers(made)
    measured(made, View((), (first, second)), [first, second], "view", asked, before)
    after = measured(made, View((), (newer, second)), [first, second, newer], "view", asked, before)
    assert after["regressed weak"] == 0
    lost = measured(made, View(), [first, second, newer], "view", asked, before)
    assert lost["regressed weak"] == 1 - lost["seen weak"] > 0


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
            assert given["characters"] >= min(most["characters"], there["characters"]) - 30
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


def test_a_gate_that_refuses_all_fails_the_bench():
    """H5 fails for a gate that lets nothing in, though it loses nothing and breaks no promise."""
    reject = Arm(GATED, lambda _: rules_plus_exceptions, GateSettings(theta=1.0))
    streams = [*run([NAMED[NO_MEMORY], NAMED[KEEP_ALL], reject], range(2), episodes=160)]
    found = {one.name: one for one in checks.checks(streams, 160)}
    assert (found["H4"].held, found["H5"].held) == (True, False)
    assert curves.end(streams, GATED, "seen weak").mean == 1
    honest = [*run([NAMED[NO_MEMORY], NAMED[KEEP_ALL], NAMED[GATED]], range(2), episodes=160)]
    assert {one.name: one.held for one in checks.checks(honest, 160)} == {
        "C1": True,
        "H2": True,
        "H4": True,
        "H5": True,
    }


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


def test_checks_fail_on_streams_that_are_not_as_they_say():
    """Each of C0, C1, H1, H2, H3 and H6 fails when its figure is turned round; without the arms none is said."""
    names = [NO_MEMORY, KEEP_ALL, TELEPHONE, RULES, MERGE_ALL, arms.UNSCOPED]
    streams = [*run([NAMED[name] for name in names], range(3), episodes=80)]

    def turned(arm: str, figure: str, value: float) -> list[Stream]:
        return [
            replace(one, points=(*one.points[:-1], {**one.points[-1], figure: value})) if one.arm == arm else one
            for one in streams
        ]

    def failing(of: list[Stream]) -> set[str]:
        return {one.name for one in checks.checks(of, 80) if not one.held}

    right = failing(streams)
    assert right <= {"H6"}, "three short streams may show no loss without the replay of the scope"
    assert failing(turned(MERGE_ALL, "p0 weak", 1.0)) - right == {"H1"}
    assert failing(turned(RULES, "rule weak", 1 / 3)) - right == {"H3"}
    assert failing(turned(KEEP_ALL, "seen weak", 0.0)) - right == {"C1", "H2"}
    assert failing(turned(NO_MEMORY, "seen weak", 0.99)) - right == {"C1"}
    assert "H6" in failing(turned(arms.UNSCOPED, "p0 weak", 1.0))
    assert "H6" not in failing(turned(arms.UNSCOPED, "p0 weak", 0.0))
    assert failing([replace(one, told=(8, 8)) if one.arm == TELEPHONE else one for one in streams]) - right == {"C0"}
    assert "H4" in failing([*streams[:-1], replace(streams[-1], violations=1)])
    assert checks.checks([one for one in streams if one.arm == NO_MEMORY], 80) == ()


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
