"""bench/probe_set/second.py: its gold is found again by another solver, and it shares nothing with the older parts."""

from __future__ import annotations

import re
import sys
from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

import probe_set_suite as suite

import probe_second_check
from firsthand import pointer
from firsthand.value import replace
from probe_set import second as made
from probe_set.cases import cases
from probe_set.fresh import fresh
from probe_set.gold import REGIMES
from probe_set.second_forms import CLOSE, FORMS, OPEN
from probe_set.second_hand import subject
from probe_set.second_note import EACH, Held, Writer, noted, satisfied, space_work
from probe_set.second_solver import Form, Space, answers, arranged, holds, months, proof, worked
from probe_set.second_words import Spelled, words
from probe_set.unseen import unseen

KINDS = list(made.GENERATED)
SET = suite.ProbeSet("", made, made.second, FORMS, Held, Writer, noted, EACH, subject)


# the set as a whole -------------------------------------------------------------------------------------


def test_it_is_as_large_and_as_varied_as_promised():
    """At least 500 notes of 25 kinds and more, 120 by hand, each regime between 20 and 30 % of them."""
    suite.large_and_varied(SET, "penned", hand=120, kinds=25, notes=500)


def test_each_kind_has_every_regime_four_times():
    """A probe that gives one verdict to a whole kind is wrong in three quarters of it."""
    suite.every_regime_four_times(SET)


def test_it_shares_nothing_with_the_older_parts():
    """Kinds, ids, claims, sessions and notes are its own."""
    suite.shares_nothing(SET, (*cases(), *unseen(), *fresh()))


def test_every_id_is_unique_and_the_set_is_the_same_when_made_again():
    """A case depends on its kind and its number alone."""
    suite.the_same_when_made_again(SET)


def test_no_two_notes_of_one_session_are_alike():
    """The same note of the same session would count one verdict twice."""
    suite.no_two_alike(SET)


def test_what_is_missing_is_said_of_the_uncorrectable_alone_and_in_the_words_of_the_session():
    """What can be answered misses nothing; what cannot, names what it lacks as the session does."""
    suite.missing_is_named(SET)


def test_every_pointer_is_one_and_leads_where_the_session_says():
    """Pointers are well formed, a range lies within its message, and no mark or placeholder is left."""
    for each in made.second():
        said = {message["pointer"]: message["content"] for message in each.messages}
        assert not set("«»") & set(each.note.replace("« rythme »", "")), each.id
        assert not re.search(rf"\{{[a-z]\}}|[{OPEN}{CLOSE}]|\\ue00", each.note), each.id
        for address, text in each.expand.items():
            parsed = pointer.parse(address)
            if parsed.unit == "bytes":
                assert said[f"fh:{parsed.first}"].encode()[parsed.start : parsed.end].decode() == text
            elif address in said:
                assert text == said[address]
        assert each.gold != "reachable" or [address for address in each.expand if address in each.note], each.id


# the gold -----------------------------------------------------------------------------------------------


def test_the_solver_finds_the_gold_of_every_case_again(capsys):
    """Over every world that agrees with a note, its form gives the verdict that the set gives."""
    assert probe_second_check.disagreements(made.formed()) == []
    assert probe_second_check.main() == 0
    assert "finds the gold of every case again" in capsys.readouterr().out


def test_a_wrong_gold_is_named(monkeypatch, capsys):
    """A case whose verdict is another one, and one whose missing given does not matter, are told by their ids."""
    first = made.formed()[0]
    wrong = replace(first, case=replace(first.case, gold="uncorrectable_loud"))
    idle = Form("a + 0 * b", {"a": 1, "b": 2}, {"a": 1}, {}, {"b": (3,)}, 1, admits=False, concludes=False)
    monkeypatch.setattr(probe_second_check, "formed", lambda: (wrong, replace(first, form=idle)))
    assert probe_second_check.main() == 1
    told = capsys.readouterr().out
    assert f"{first.case.id}: the set says uncorrectable_loud, the solver {first.case.gold}" in told
    assert "does not matter" in told


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25)
@given(seed=st.integers(0, 10_000))
def test_every_given_is_needed_and_every_slip_matters(kind, seed):
    """Without any one given, and with its slip, the answer is another or none; the agent's is wrong."""
    matter = suite.every_given_is_needed(SET, kind, seed)
    assert all(one.slipped().says() != one.says() for one in matter.givens)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), way=st.integers(0, EACH - 1))
def test_every_way_of_every_kind_is_found_again(kind, seed, way):
    """Other draws than those of the set have a gold that the solver finds, too."""
    assert suite.way_is_found_again(SET, kind, seed, way) in REGIMES


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15)
@given(seed=st.integers(0, 10_000))
def test_a_note_holds_the_words_of_what_it_states_and_none_of_what_it_drops(kind, seed):
    """Each form writes every row's own words, and nothing that is not given to it."""
    suite.words_of_what_is_stated(SET, kind, seed)


def test_a_case_is_the_sixteen_ways_in_their_order():
    """The number of a case says how its note ends."""
    suite.ways_in_their_order(SET)


# the solver ---------------------------------------------------------------------------------------------


def test_what_is_not_known_may_be_anything_that_it_might_have_been():
    """One missing value gives one answer for each that it may have; a stated one is not guessed."""
    form = Form(
        "a * b", {"a": 2, "b": 3}, {"a": 2}, {"b": 3}, {"a": (9,), "b": (4, 5)}, 6, admits=False, concludes=False
    )
    assert answers(form, form.stated) == {6, 8, 10}
    assert answers(form, {"a": 2, "b": 3}) == {6}
    assert proof(form) == "reachable"
    assert proof(replace(form, stated={"a": 2, "b": 3})) == "correctable"
    assert proof(replace(form, behind={})) == "uncorrectable_silent"
    assert proof(replace(form, behind={}, admits=True)) == "uncorrectable_loud"
    assert proof(replace(form, behind={}, stated={})) == "uncorrectable_loud"
    assert proof(replace(form, behind={}, stated={}, concludes=True)) == "uncorrectable_silent"
    assert proof(replace(form, behind={}, stated={"a": 2, "b": 4})) == "uncorrectable_silent"


def test_formulas_know_rows_sets_and_dates():
    """Rows are added up, sets are met, months are counted to the last day of a shorter one."""
    assert worked("sum(rows)", {"row0": 2, "row1": Fraction(1, 2), "extra": 9}) == Fraction(5, 2)
    assert worked("once([a, b])", {"a": ["x", "y"], "b": ["y", "z"]}) == "y"
    assert worked("once([a, b])", {"a": ["x", "y"], "b": ["x", "y"]}) is None
    assert months(date(2025, 1, 31), 1) == date(2025, 2, 28)
    assert months(date(2025, 11, 4), 14) == date(2027, 1, 4)


@given(data=st.data())
def test_both_ways_of_solving_clues_agree(data):
    """Trying all arrangements and turning back early leave the same ones, whatever the clues."""
    people, things = ("p", "q", "r", "s"), data.draw(st.sampled_from([("1", "2", "3", "4"), (True, False)]))
    sorts = ["is", "not", "either", "if", "same", "differ"] if True in things else ["is", "not", "either", "before",
                                                                                  "beside", "apart"]  # fmt: skip
    clues = []
    for _ in range(data.draw(st.integers(0, 4))):
        sort = data.draw(st.sampled_from(sorts))
        one, two = data.draw(st.permutations(people))[:2]
        x, y = data.draw(st.sampled_from(things)), data.draw(st.sampled_from(things))
        clues.append({"is": (sort, one, x), "not": (sort, one, x), "either": (sort, one, x, y),
                      "if": (sort, one, x, two, y)}.get(sort, (sort, one, two)))  # fmt: skip
    space = Space(people, things, "p")
    left = list(arranged(space, clues))
    assert all(holds(clue, at, space) == satisfied(clue, at, things) for at in left for clue in clues)
    found = space_work(space)(dict(enumerate(clues)))
    assert (found if isinstance(found, frozenset) else frozenset({found})) == {at["p"] for at in left}


def test_an_answer_that_the_formula_does_not_give_is_refused():
    """What was worked out on paper is compared when a session is written down."""
    suite.another_answer_is_refused(SET)


# the words ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "said"),
    [(7, "seven"), (41, "forty-one"), (190, "one hundred and ninety"), (2005, "two thousand and five"),
     (3150, "three thousand one hundred and fifty"), (-3, "minus three")],
)  # fmt: skip
def test_numbers_in_words(number, said):
    """English words as one says them."""
    assert words(number) == said


def test_ways_to_write_a_value():
    """Each way writes the whole value."""
    assert [Spelled(14 * 60 + 5).clock, Spelled(14 * 60 + 5).ampm, Spelled(5).ampm] == ["14:05", "2:05 pm", "12:05 am"]
    assert [Spelled(205).hm, Spelled(185).ms, Spelled(185).minsec] == ["3h25", "3:05", "3 min 5 s"]
    assert [Spelled(Fraction(5, 2)).comma, Spelled(12400).apostrophe, Spelled(1800).thousandth] == [
        "2,5",
        "12'400",
        "1.8",
    ]
    day = Spelled(date(2026, 3, 9))
    assert [day.iso, day.long, day.us, day.short] == ["2026-03-09", "9 March 2026", "March 9, 2026", "Mon 09-Mar-26"]
    assert [Spelled(205).arab, Spelled(205).full] == ["٢٠٥", "\uff12\uff10\uff15"]
    with pytest.raises(ValueError, match="no whole number"):
        _ = Spelled(Fraction(1, 2)).w


def test_a_form_names_the_topic_or_the_sentences():
    """Every form shows its rows in the order given."""
    suite.rows_in_their_order(SET)
