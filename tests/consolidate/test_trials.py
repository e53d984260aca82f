"""Changes of recall's values: proposed on one half, taken or refused on the other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.consolidate import trials
from firsthand.consolidate.trials import (
    COST,
    HELD_OUT,
    ORDER,
    REAL_MIN,
    SLOWER_MAX,
    TUNING,
    WORTH,
    Change,
    Pair,
    Question,
    Seen,
    difference,
    moved,
    order,
    promises,
    shift_of,
    too_few,
    tried,
    worth,
)
from firsthand.recall.tuning import AROUND, GATE, PARAMETERS, UNTUNED, Tuned

SHIFT = Change(GATE, 0.0, 0.5)
TURN = Change("mmr_lambda", 0.8, 0.9)
FOUND = COST / (1 + COST)


def question(number: int, *, real: bool = True, half: str = "") -> Question:
    """A question of a half; of either without one."""
    text, at = f"question {number}", number
    while half and Question(text, 0, "", (1,)).half != half:
        at += 1_000
        text = f"question {at}"
    return Question(text, 0, "", (1,), real=real)


def seen(confidence: float, *, right: bool = True, place: int = 1, led: bool = False, seconds: float = 0.01) -> Seen:
    return Seen((place,) if right else (), 1, confidence, confidence >= FOUND, right, led, seconds)


def pairs(count: int, confidence: float, twin: float = 0.1, *, real: bool = True, **fields) -> list[Pair]:
    """So many questions, each with a twin whose answer was left out."""
    return [
        Pair(question(n, real=real), seen(confidence, **fields), seen(twin, right=False) if real else None)
        for n in range(count)
    ]


def test_halves_are_told_by_the_words_alone():
    """A question is in one half whatever its order of words, capitals and place; both halves get about as many."""
    for n in range(20):
        one = Question(f"What is {n} now", 5, "s", (1,))
        assert one.half == Question(f"{n} IS now now what", 9, "t", (2,), real=False).half
    halves = [question(n).half for n in range(400)]
    assert 150 < halves.count(TUNING) < 250


def test_worth_is_what_an_outcome_brings():
    """Found and right is 1, found and wrong costs, all else is 0; a question counts with its twin, if that is sure."""
    assert worth(Pair(question(1), seen(0.9))) == 1.0
    assert worth(Pair(question(1), seen(0.9, right=False))) == -COST
    assert worth(Pair(question(1), seen(0.7))) == 0.0
    assert worth(Pair(question(1), seen(0.9), seen(0.9, right=False))) == (1 - COST) / 2
    assert worth(Pair(question(1), seen(0.9), Seen(confidence=0.9, found=True, unsure=True))) == 1.0
    assert worth(Pair(question(1), seen(0.7)), 0.5) == 1.0
    assert worth(Pair(question(1), seen(0.9)), -1.5) == 0.0


@given(st.floats(0.01, 0.99), st.sampled_from([-1.0, -0.5, 0.25, 1.0]))
def test_a_moved_confidence_moves_back(confidence, shift):
    """Moving by log-odds and back gives the same, keeps the order, and stays a chance."""
    there = moved(confidence, shift)
    assert 0.0 < there < 1.0
    assert moved(there, -shift) == pytest.approx(confidence)
    assert (there > confidence) == (shift > 0)


def test_order_is_ndcg():
    """The first place gives 1, the third a half, none 0; of several all are wanted."""
    assert order(Pair(question(1), seen(0.5))) == 1.0
    assert order(Pair(question(1), seen(0.5, place=3))) == 0.5
    assert order(Pair(question(1), seen(0.5, right=False))) == 0.0
    both = order(Pair(question(1), Seen((1, 2), 2)))
    one = order(Pair(question(1), Seen((1,), 2)))
    assert (both, one < both) == (pytest.approx(1.0), True)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.floats(-0.5, 0.5))
def test_a_difference_lies_in_its_interval(values, gap):
    """The mean of an equal gap is that gap with both ends there; no gap is exactly nothing."""
    same = difference(values, values)
    assert (same.mean, same.low, same.high, same.n) == (0.0, 0.0, 0.0, len(values))
    one = difference(values, [each + gap for each in values])
    assert one.low <= one.mean + 1e-9
    assert one.mean <= one.high + 1e-9
    assert one.mean == pytest.approx(gap)


def test_too_few_questions_are_told_with_their_numbers():
    """Nothing is tuned without enough questions of users in both halves; mined ones do not make up for them."""
    enough = [question(n, half=half) for half in (TUNING, HELD_OUT) for n in range(REAL_MIN)]
    assert too_few(enough) == ""
    needed = f"too few questions of users whose answer is known: {{}} in the {{}} half, of {REAL_MIN} needed"
    assert too_few([one for one in enough if one.half == TUNING]) == needed.format(0, HELD_OUT)
    mined = [question(n, real=False, half=half) for half in (TUNING, HELD_OUT) for n in range(90)]
    assert too_few(mined) == needed.format(0, TUNING)
    assert too_few([*mined, *enough[1:]]) == needed.format(REAL_MIN - 1, TUNING)
    assert too_few([]) == needed.format(0, TUNING)


def test_steps_stay_within_the_bounds():
    """From any value each step is at most one, and within the bounds."""
    for one in PARAMETERS:
        for at in (one.low, one.default, one.high):
            for after in trials.steps(one, at):
                assert one.low <= after <= one.high
                assert 0 < abs(after - at) <= one.step + 1e-9
    assert {one.name for one in trials.neighbours_of(UNTUNED)} == {one.name for one in PARAMETERS} - {GATE}
    assert Change(AROUND, 2.0, 1.75) in trials.neighbours_of(Tuned(neighbours=2.0))


def test_consistent_misses_propose_a_shift_up():
    """Right answers just below the gate, with twins well below it, propose the least shift that finds them."""
    change, gain = shift_of(pairs(REAL_MIN, 0.7), UNTUNED)
    assert (change.name, change.before, change.after) == (GATE, 0.0, 0.5)
    assert (gain.mean, promises(gain)) == (0.5, True)
    assert shift_of(pairs(REAL_MIN, 0.72), UNTUNED)[0].after == 0.25


def test_false_memories_propose_a_shift_down():
    """Answers that pass and are wrong propose a stricter gate."""
    change, _ = shift_of(pairs(REAL_MIN, 0.8, 0.8, right=False), UNTUNED)
    assert change.after == -0.5


def test_a_gate_that_is_right_is_left():
    """Where no shift is better, or twins would pass too, nothing is proposed."""
    assert shift_of(pairs(REAL_MIN, 0.9), UNTUNED) is None
    assert shift_of(pairs(REAL_MIN, 0.7, 0.7), UNTUNED) is None


def test_no_shift_leaves_the_bounds():
    """At the bound of the gate nothing further is proposed, however much it would bring."""
    now = Tuned(gate_shift=1.0)
    found = shift_of(pairs(REAL_MIN, 0.7), now)
    assert found is None


def test_a_shift_that_helps_is_taken():
    """What brings more on questions held out, and harms nothing, is taken with its figures."""
    before, after = pairs(30, 0.7), pairs(30, 0.8)
    trial = tried(SHIFT, before, after)
    assert (trial.taken, trial.measure, trial.own.mean, trial.own.n, trial.other.mean) == (True, WORTH, 0.5, 30, 0.0)
    assert trial.figures() == {
        "measure": WORTH, "gain": 0.5, "low": 0.5, "high": 0.5, "n": 30, "other": 0.0, "other_low": 0.0, "mined": 0.0,
        "led_before": 0, "led_after": 0, "slower": 0.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "before", "after", "why"),
    [
        (SHIFT, pairs(30, 0.7), pairs(30, 0.74), "brings nothing on questions held out"),
        (SHIFT, pairs(30, 0.7), pairs(30, 0.8, 0.8), "brings nothing on questions held out"),
        (SHIFT, pairs(30, 0.7), [*pairs(30, 0.7)[:24], *pairs(30, 0.8)[24:]], ""),
        (SHIFT, pairs(30, 0.7), [*pairs(30, 0.7)[:29], *pairs(30, 0.8)[29:]], "chance"),
        (TURN, pairs(30, 0.7, place=2), [*pairs(12, 0.7, place=1), *pairs(30, 0.7, place=4)[12:]], "chance"),
        (TURN, [*pairs(20, 0.7), *pairs(20, 0.7, real=False, place=3)], [*pairs(20, 0.7), *pairs(20, 0.7, real=False)],
         "brings nothing on questions held out"),
        (TURN, [*pairs(20, 0.7, place=2), *pairs(20, 0.7, real=False)],
         [*pairs(20, 0.7), *pairs(20, 0.7, real=False, place=2)], "the order of mined questions is worse"),
        (TURN, pairs(30, 0.8, place=2), pairs(30, 0.7, place=1), "the other measure is worse"),
        (SHIFT, pairs(30, 0.7), pairs(30, 0.8, led=True), "led by text of tools or pages"),
        (TURN, pairs(30, 0.7, place=2), pairs(30, 0.7, place=1, seconds=0.01 * (1.1 + 2 * SLOWER_MAX)), "slower by"),
    ],
)  # fmt: skip
def test_a_change_is_refused_for_each_harm(change, before, after, why):
    """Each thing that may not get worse refuses a change by itself; a few found and none lost is taken."""
    trial = tried(change, before, after)
    assert why in trial.refused
    assert trial.taken == (not why)


def test_mined_questions_say_nothing_of_the_gate():
    """A shift is judged by what users asked alone: mined questions that it would find add nothing to it."""
    before = [*pairs(20, 0.9), *pairs(40, 0.7, real=False)]
    after = [*pairs(20, 0.95), *pairs(40, 0.8, real=False)]
    trial = tried(SHIFT, before, after)
    assert (trial.own.mean, trial.own.n, trial.taken) == (0.0, 20, False)


def test_a_changed_order_is_judged_by_order():
    """A change of the order is taken for what it brings there."""
    trial = tried(TURN, pairs(30, 0.7, place=2), pairs(30, 0.7, place=1))
    assert (trial.taken, trial.measure) == (True, ORDER)
    assert trial.own.mean == pytest.approx(1 - 0.6309, abs=1e-3)
