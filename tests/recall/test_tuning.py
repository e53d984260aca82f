"""Values of recall that may be tuned: bounds, what decisions come to, what a shift of the gate holds for."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.errors import StoreDamaged
from firsthand.recall.factors import STRENGTHS, Strengths
from firsthand.recall.gate import DEFAULT, Gate
from firsthand.recall.signals import Signals
from firsthand.recall.tuning import (
    GATE,
    ORDER,
    PARAMETERS,
    UNTUNED,
    Tuned,
    TuningDecision,
    basis_of,
    fold,
    stands_in_bounds,
    tuned_from_json,
    undone_by,
)
from firsthand.value import replace

NAMES = [one.name for one in PARAMETERS]


def decided(identity: str, name: str, after: float, undoes: str = "") -> TuningDecision:
    return TuningDecision(identity, name, 0.0, after, undoes=undoes)


@st.composite
def histories(draw):
    """Decisions in order, some of them undoings of an earlier one, some out of bounds."""
    made: list[TuningDecision] = []
    for number in range(draw(st.integers(0, 12))):
        name = draw(st.sampled_from([*NAMES, "no parameter"]))
        undoes = draw(st.sampled_from([one.id for one in made])) if made and draw(st.booleans()) else ""
        made.append(decided(f"D{number}", name, draw(st.floats(-2, 3)), undoes))
    return made


def by_hand(made: list[TuningDecision]) -> dict[str, float]:
    """What is in force, told by asking of each decision whether a standing one undoes it."""

    def stands(one: TuningDecision) -> bool:
        at = made.index(one)
        return not any(other.undoes == one.id and stands(other) for other in made[at + 1 :])

    found = {one.name: one.default for one in PARAMETERS}
    for one in made:
        if not one.undoes and stands_in_bounds(one) and stands(one):
            found[one.name] = one.after
    return found


@given(histories())
def test_values_in_force_are_those_of_the_newest_decisions_that_stand(made):
    """Whatever is decided, undone and undone again, each value is that of its newest standing decision."""
    now = fold(reversed(made))
    assert {name: now.get(name) for name in NAMES} == by_hand(made)


@given(histories())
def test_what_is_undone_is_as_if_it_had_never_been(made):
    """Leaving out undone decisions and undoings gives the same values."""
    undone = undone_by(made)
    rest = [one for one in made if one.id not in undone and not one.undoes]
    assert fold(reversed(rest)) == fold(reversed(made))


@given(histories())
def test_no_decision_leaves_the_bounds(made):
    """Whatever stands in the log, every value in force is within the bounds of its parameter."""
    now = fold(reversed(made))
    assert all(one.low <= now.get(one.name) <= one.high for one in PARAMETERS)


@pytest.mark.parametrize("after", [math.nan, math.inf, -5.0])
def test_a_number_that_is_none_is_no_decision(after):
    """Not a number, endless and out of bounds are no values."""
    assert not stands_in_bounds(decided("A", GATE, after))
    assert fold([decided("A", GATE, after)]) == UNTUNED


def test_defaults_are_what_recall_has_by_default():
    """The defaults of the parameters are those of an untuned store, within their bounds."""
    assert UNTUNED.changed == {}
    assert {one.name: one.default for one in PARAMETERS} == {name: UNTUNED.get(name) for name in NAMES}
    assert all(one.low <= one.default <= one.high and one.step > 0 for one in PARAMETERS)
    assert UNTUNED.gate(DEFAULT) is DEFAULT


def test_a_shift_moves_the_gate_that_it_was_measured_with_and_no_other():
    """A shift adds its log-odds and is named in the gate's sentence; with another gate it is named and not used."""
    now = Tuned(gate_shift=0.5, basis=basis_of(DEFAULT), by={GATE: "fh:X"})
    moved = now.gate(DEFAULT)
    assert moved == replace(DEFAULT, bias=DEFAULT.bias + 0.5, note="moved by +0.5 log-odds by fh:X")
    seen = Signals(known=1.0, base=0.5)
    assert moved.confidence(seen) > DEFAULT.confidence(seen)
    learned = Gate(0.0, {}, questions=100, position=7)
    assert now.gate(learned).bias == 0.0
    why = "a shift of the gate by +0.5 is not used: it was measured with another gate"
    assert now.gate(learned).sentence(7).endswith(why)
    assert now.in_use(DEFAULT) is now
    assert (now.in_use(learned).changed, now.in_use(learned).note) == ({}, why)


def test_a_strength_that_a_caller_chose_stays():
    """The tuned strength takes the place of the usual one, and of none that was given."""
    now = Tuned(superseded=0.3)
    assert now.strengths(STRENGTHS).superseded == 0.3
    given_ = Strengths(0.0, 0.0, 0.0, 0.0)
    assert now.strengths(given_) is given_
    assert UNTUNED.strengths(STRENGTHS) is STRENGTHS


def test_sentences_name_value_default_and_decision():
    """Each value that is not the default is told with its default and the decision behind it."""
    now = Tuned(mmr_lambda=0.9, by={ORDER: "fh:X"})
    assert now.sentences() == ("mmr_lambda is 0.9 (default 0.8) by fh:X",)


def test_values_are_read_as_they_were_written():
    """JSON gives the same values back; what is something else is damage."""
    now = Tuned(gate_shift=-0.25, mmr_lambda=0.7, neighbours=1.5, basis="2:7:", by={GATE: "fh:X"})
    assert tuned_from_json(now.to_json()) == now
    for text in ("", "[]", '{"gate_shift": 9}', '{"gate_shift": null}', '{"other": 1}', '{"by": 1}'):
        with pytest.raises(StoreDamaged, match="tuned values kept"):
            tuned_from_json(text)
