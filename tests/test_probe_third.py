"""bench/probe_set/third.py: its gold is found again twice."""

from __future__ import annotations

import re
import sys
from collections import Counter
from datetime import date
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

import probe_set_suite as suite

import probe_third_check
from firsthand import pointer
from firsthand.value import replace
from probe_set import third as made
from probe_set import third_tongues
from probe_set.case import dice
from probe_set.gold import REGIMES
from probe_set.third_forms import CLOSE, FORMS, LINED, OPEN, Row, bare
from probe_set.third_hand import subject
from probe_set.third_note import Given, Held
from probe_set.third_phrases import Phrases
from probe_set.third_ways import EACH, Writer, _inside, noted
from probe_set.third_words import Put, fill

KINDS = list(made.GENERATED)
SET = suite.ProbeSet("third ", made, made.third, FORMS, Held, Writer, noted, EACH, subject)


# the set as a whole -------------------------------------------------------------------------------------


def test_it_is_as_large_and_as_varied_as_promised():
    """At least 600 notes of 30 kinds and more, 150 by hand, each regime between 20 and 30 % of them."""
    suite.large_and_varied(SET, "manual", hand=150, kinds=30, notes=600)


def test_each_kind_has_every_regime_four_times():
    """A probe that gives one verdict to a whole kind is wrong in three quarters of it."""
    suite.every_regime_four_times(SET)


def test_a_quarter_of_the_kinds_is_not_in_english():
    """Nine kinds have a language of their own, with all of its phrases."""
    tongues = Counter(make(Random(1)).language for make in made.GENERATED.values())
    assert tongues.pop("en") == 27
    assert set(tongues.values()) == {1}
    assert set(tongues) | {"en"} == set(third_tongues.LANGUAGES)


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
    for each in made.third():
        said = {message["pointer"]: message["content"] for message in each.messages}
        assert not re.search(rf"\{{[a-z]+(\.[a-z]+)?\}}|«\d|[{OPEN}{CLOSE}\ue002]|\\ue00", each.note), each.id
        for address, text in each.expand.items():
            assert expanded(address, said, text) == text, each.id
        assert each.gold != "reachable" or [address for address in each.expand if address in each.note], each.id


def expanded(address: str, said: dict[str, str], text: str) -> str:
    """Read what a pointer leads to out of the session; what leads to a note of its own is taken as given."""
    parsed = pointer.parse(address)
    start = f"fh:{parsed.first}"
    if parsed.unit == "bytes":
        return said[start].encode()[parsed.start : parsed.end].decode()
    if parsed.unit == "lines":
        return "\n".join(said[start].split("\n")[parsed.start - 1 : parsed.end])
    if parsed.last is not None:
        places = list(said)
        inside = places[places.index(start) : places.index(f"fh:{parsed.last}") + 1]
        assert [said[place] in text for place in inside] == [True] * len(inside)
        return text
    return said.get(address, text)


# the gold -----------------------------------------------------------------------------------------------


def test_the_solver_and_the_second_judgement_find_the_gold_of_every_case_again(capsys):
    """Over every world that agrees with a note, its form gives the verdict that the set gives."""
    assert probe_third_check.disagreements(made.formed()) + probe_third_check.unlike() == []
    assert probe_third_check.main() == 0
    assert "finds the gold of every case again" in capsys.readouterr().out


def test_a_wrong_gold_is_named(monkeypatch, capsys):
    """A case whose verdict is another one is told by its id."""
    first = made.formed()[0]
    wrong = replace(first, case=replace(first.case, gold="uncorrectable_loud"))
    monkeypatch.setattr(probe_third_check, "formed", lambda: (wrong,))
    assert probe_third_check.main() == 1
    told = capsys.readouterr().out
    assert f"{first.case.id}: the set says uncorrectable_loud, the solver {first.case.gold}" in told


def test_a_note_by_hand_that_was_judged_otherwise_is_named(monkeypatch):
    """Another letter, a letter too few and one too many are told."""
    first, second_, third_ = made.ARGUED[:3]
    letters = {"bundle": "CLSSSRL", "release": "CSLSSR", "loglevel": "CSSLRRSS"}
    monkeypatch.setattr(probe_third_check, "AGAIN", {**probe_third_check.AGAIN, **letters})
    assert {first.subject, second_.subject, third_.subject} == {"bundle"}
    assert probe_third_check.unlike() == [
        f"{second_.formed.case.id}: the set says correctable, the second judgement uncorrectable_loud",
        "manual-release-cites-changelog: the set says uncorrectable_silent, the second judgement nothing",
        "loglevel: a judgement of note 8, which is not there",
    ]


def test_every_note_by_hand_has_an_argument():
    """Each says in a sentence why its verdict is what it is."""
    assert [each.formed.case.id for each in made.ARGUED if len(each.why) < 8] == []


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25)
@given(seed=st.integers(0, 10_000))
def test_every_given_is_needed_and_every_slip_matters(kind, seed):
    """Without any one given, and with its slip, the answer is another or none; the agent's is wrong."""
    suite.every_given_is_needed(SET, kind, seed)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), way=st.integers(0, EACH - 1))
def test_every_way_of_every_kind_is_found_again(kind, seed, way):
    """Other draws than those of the set have a gold that the solver finds, too, and it is the one of the way."""
    assert suite.way_is_found_again(SET, kind, seed, way) == REGIMES[way % 4]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15)
@given(seed=st.integers(0, 10_000))
def test_a_note_holds_the_words_of_what_it_states_and_none_of_what_it_drops(kind, seed):
    """Each form writes every row's own words, and nothing that is not given to it."""
    matter = suite.words_of_what_is_stated(SET, kind, seed)
    assert set(matter.forms.split()) & LINED


def test_a_case_is_the_sixteen_ways_in_their_order():
    """The number of a case says how its note ends."""
    suite.ways_in_their_order(SET)


def test_what_is_left_out_decides():
    """What does not change the answer when it is missing is not what a note leaves out."""
    for seed in range(40):
        rng = dice("third gone", seed)
        matter = made.GENERATED["fastest"](rng)
        best = min(matter.givens, key=lambda one: one.value)
        assert Writer(rng, matter, Held(rng, matter))._gone is best


@pytest.mark.parametrize(
    ("text", "value", "left"),
    [("412 errors", 412, "4"), ("port 8491", 8491, "port 84"), ("0.72 ms", 1, "0"), ("1,284", 1284, "1"),
     ("c93b10cc29", "c93b10cc29", "c93b1"), ("out/release/arm64/x.deb", "", "out/release"), ("seven", 7, ""),
     ("7 days", 7, ""), ("7.00", 7, ""), ("2026-03-09", date(2026, 3, 9), ""), ("4.8, 4.9", ((4, 8), (4, 9)), "")],
)  # fmt: skip
def test_a_value_that_is_cut_is_another_one(text, value, left):
    """What is cut off leaves other digits or a shorter name; where it would leave the same, the row goes."""
    found = re.match("(.*)", text)
    assert text[: _inside(found, Given("k", "k", value, "", "", ""))] == left


def test_an_answer_that_the_formula_does_not_give_is_refused():
    """What was worked out on paper is compared when a session is written down."""
    suite.another_answer_is_refused(SET)


# the words ----------------------------------------------------------------------------------------------


def test_ways_to_write_a_value():
    """Each way writes the whole value."""
    day = Put(date(2026, 3, 9))
    assert day.dotted == "09.03.2026"
    assert [Put((4, 8)).ver, Put(((4, 8), (4, 19))).vers] == ["4.8", "4.8, 4.19"]
    assert [Put(("a", "b")).all, Put(("a", "b")).bar] == ["a, b", "a / b"]
    assert [Put(275).hundredth, Put(50709).stamp] == ["2.75", "14:05:09"]
    assert fill("{v.n} kg", 3) == "3 kg"
    with pytest.raises(TypeError, match="is no list"):
        _ = Put(3).items


def test_a_form_shows_its_rows_in_their_order():
    """Every form shows its rows in the order given."""
    suite.rows_in_their_order(SET)


def test_a_name_out_of_code_keeps_its_letters():
    """A sentence gets a capital, a path, a commit or a migration does not."""
    rows = [Row("a", "", "out/x.deb was signed"), Row("b", "", "split_names goes first"), Row("c", "", "it was signed")]
    assert bare(FORMS["lines"](rows, "")) == "out/x.deb was signed.\nsplit_names goes first.\nIt was signed."


def test_every_phrase_has_what_it_names():
    """What sends a reader somewhere has a pointer, what concludes has its conclusion, in each language."""
    for language, phrases in third_tongues.LANGUAGES.items():
        assert isinstance(phrases, Phrases)
        for name in ("rest", "part", "based", "pointed", "source", "moved"):
            assert all("{p}" in each for each in getattr(phrases, name)), (language, name)
        for name in ("based", "unfounded", "hedge"):
            assert all("{c}" in each for each in getattr(phrases, name)), (language, name)
        assert all("{p}" not in each for name in ("honest", "gap", "elided") for each in getattr(phrases, name)), (
            language
        )
