"""The gate, and the fit of its weights."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.errors import StoreDamaged
from firsthand.recall.gate import DEFAULT, Gate, from_json, sigmoid
from firsthand.recall.logistic import Weighed, brier, calibration_error, fit, left_out
from firsthand.recall.signals import NAMES, NOTHING, VERSION, Signals

FLAT = Weighed((0.0, 0.0, 0.0))


def test_a_confidence_is_the_logistic_of_the_weighed_signals():
    """Bias and weights add up to log-odds; a gate of no questions is never surer than one in two."""
    gate = Gate(-1.0, {"held": 2.0, "base": 4.0}, questions=1_000)
    assert math.isclose(gate.confidence(Signals(held=0.5, base=0.25)), sigmoid(1.0))
    assert Gate(9.0, {}).confidence(Signals(held=1.0)) == 0.5


def test_nothing_found_is_no_confidence():
    """An attempt without rows has the confidence 0, whatever the weights say."""
    assert Gate(9.0, questions=100).confidence(NOTHING) == 0.0


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(0, 1), st.integers(0, 10_000))
def test_a_confidence_is_never_certain(bias, weight, held, questions):
    """It lies strictly between 0 and 1, and no further out than the number of questions allows."""
    gate = Gate(bias, {"held": weight}, questions=questions)
    found = gate.confidence(Signals(held=held, base=0.5))
    assert 1 / (questions + 2) <= found <= 1 - 1 / (questions + 2)


def test_the_gate_of_the_beginning_knows_a_good_answer_from_a_bad_one():
    """Held whole and far ahead it is likelier than held by a third and level, and its weights are of known signals."""
    good = Signals(
        known=1.0, rarity=0.6, held=1.0, held_around=1.0, held_mean=0.3, said=1.0, weight=0.7, rarest=1.0, rare_two=1.0,
        base=0.7, lead=0.5, lead_tenth=0.7, lead_last=0.9, close=1.0, long=0.5,
    )  # fmt: skip
    bad = Signals(
        known=0.5, rarity=0.7, held=0.3, held_around=0.3, held_mean=0.25, said=0.3, weight=0.4, base=0.2, lead=0.02,
        lead_tenth=0.2, lead_last=0.4, close=0.2, long=0.5, names_missing=1.0,
    )  # fmt: skip
    assert DEFAULT.confidence(good) > 0.75
    assert DEFAULT.confidence(bad) < 0.3
    assert set(DEFAULT.weights) <= set(NAMES)
    assert DEFAULT.version == VERSION


def test_a_gate_says_what_it_rests_on():
    """The sentence names questions, position and error; it says when the store has outgrown it, or was never asked."""
    gate = Gate(0.0, questions=312, position=5_882, error=0.041)
    sentence = "learned on 312 questions made of this store at position 5,882; calibration error .04"
    assert gate.sentence(6_000) == sentence
    assert gate.sentence(8_823) == f"{sentence}; old, the store is at 8,823 now: run 'firsthand store follow'"
    assert (gate.is_old(8_822), gate.is_old(8_823)) == (False, True)
    assert Gate(0.0, questions=9_000, error=0.12).sentence(50) == (
        "learned on 9,000 questions of other stores, none of this one; calibration error .12 there"
    )


def test_a_gate_comes_back_from_json():
    """What was written is what is read."""
    gate = Gate(-1.5, {"held": 2.25, "base": -0.125}, 300, 7, 0.04, 0.2, "model@1")
    assert from_json(gate.to_json()) == gate


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("{", "Expecting property name"),
        ("[1]", "argument after"),
        ('{"weights": {}}', "bias"),
        ('{"bias": "x"}', "a number of it is none"),
        ('{"bias": NaN}', "a number of it is none"),
        ('{"bias": 0.0, "weights": {"held": null}}', "a weight of it is no number"),
        ('{"bias": 0.0, "position": -1}', "a count of it is none"),
        ('{"bias": 0.0, "weights": {"luck": 1.0}}', "there are no signals luck"),
    ],
)
def test_a_damaged_gate_is_named(text, wrong):
    """What is no gate is refused with what is wrong and what to do."""
    with pytest.raises(StoreDamaged, match=f"{wrong}.*'firsthand store follow' learns it anew"):
        from_json(text)


def drawn(count: int, seed: int = 1):
    chance = random.Random(seed)
    rows = [(chance.random(), chance.random()) for _ in range(count)]
    return rows, [chance.random() < sigmoid(-2 + 5 * row[0]) for row in rows]


def test_a_fit_finds_what_made_the_truths():
    """Of 4,000 rows whose first number decides, the weights come back and the second number weighs little."""
    rows, truths = drawn(4_000)
    weights = fit(rows, truths, FLAT, 0.01).weights
    assert all(abs(found - true) < 0.35 for found, true in zip(weights, (-2, 5, 0), strict=True))


def test_a_strong_prior_holds_a_fit():
    """The stronger the draw, the nearer the weights stay; without rows they are the prior's."""
    rows, truths = drawn(200)
    prior = Weighed((1.0, -1.0, 1.0))
    near = [sum(abs(a - b) for a, b in zip(fit(rows, truths, prior, s).weights, prior.weights, strict=True))
            for s in (1.0, 100.0, 1e7)]  # fmt: skip
    assert near[0] > near[1] > near[2]
    assert near[2] < 0.001
    assert fit([], [], prior, 1.0) == prior


def test_a_fit_of_one_kind_of_truth_stays_finite():
    """Rows that all found, or of columns that are all the same, give finite weights."""
    for truths in ([True] * 50, [False] * 50):
        weights = fit([(1.0, 1.0)] * 50, truths, FLAT, 2.0).weights
        assert all(map(math.isfinite, weights))


def test_left_out_chances_do_not_see_their_own_truth():
    """Exchanging one truth changes no chance of the rows of its own fold."""
    rows, truths = drawn(100)
    other = [not truth if at == 10 else truth for at, truth in enumerate(truths)]
    one, two = left_out(rows, truths, FLAT, 1.0), left_out(rows, other, FLAT, 1.0)
    assert [at for at in range(0, 100, 5) if one[at] != two[at]] == []
    assert one != two


def test_errors_are_what_their_names_say():
    """Bins of equal size: a chance of .8 that comes true half the time is .3 off; Brier is the mean square."""
    chances, truths = [0.8] * 20, [True, False] * 10
    assert math.isclose(calibration_error(chances, truths), 0.3)
    assert math.isclose(brier(chances, truths), (0.04 + 0.64) / 2)
    assert (calibration_error([], []), brier([], [])) == (0.0, 0.0)
