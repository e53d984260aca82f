"""bench/probe_set/fresh.py: its gold is worked out and right, and it shares nothing with the older parts."""

from __future__ import annotations

import re
import sys
from collections import Counter
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

from firsthand import pointer
from probe_set import fresh as made
from probe_set import fresh_facts, fresh_sums
from probe_set.case import dice
from probe_set.cases import cases
from probe_set.fresh_note import EACH, Worked
from probe_set.gold import REGIMES, Lookup, Puzzle, Slot, verdict
from probe_set.unseen import unseen


def test_it_is_as_large_and_as_varied_as_promised():
    """At least 320 notes of 24 kinds and more, 80 by hand, each regime at least 15 % of them."""
    found = made.fresh()
    kinds = Counter(each.kind for each in found)
    assert kinds.pop("odd") == len(made.WRITTEN) >= 80
    assert set(kinds) == set(made.GENERATED)
    assert len(kinds) >= 24
    assert set(kinds.values()) == {EACH}
    assert len(found) >= 320
    regimes = Counter(each.gold for each in found)
    assert set(regimes) == set(REGIMES)
    assert min(regimes.values()) >= 0.15 * len(found)


def test_each_kind_has_every_regime():
    """A probe that gives one verdict to a whole kind is wrong in it, and so is one that never gives a fourth."""
    found = made.fresh()
    assert {each.kind for each in found} == {
        kind for kind in (*made.GENERATED, "odd") if {each.gold for each in found if each.kind == kind} == set(REGIMES)
    }


def test_it_shares_nothing_with_the_older_parts():
    """Kinds, ids, sessions and notes are its own."""
    found, older = made.fresh(), (*cases(), *unseen())
    assert not {each.kind for each in found} & {each.kind for each in older}
    assert not {each.id for each in found} & {each.id for each in older}
    assert not {each.note for each in found} & {each.note for each in older}
    known = {message["content"] for each in older for message in each.messages}
    assert not known & {message["content"] for each in found for message in each.messages}


def test_every_id_is_unique_and_the_set_is_the_same_when_made_again():
    """A case depends on its kind and its number alone."""
    found = made.fresh()
    assert len({each.id for each in found}) == len(found)
    assert made.fresh.__wrapped__() == found


def test_no_two_notes_of_one_session_are_alike():
    """The same note of the same session would count one verdict twice."""
    seen = Counter((each.note, tuple(message["content"] for message in each.messages)) for each in made.fresh())
    assert [key for key, n in seen.items() if n > 1] == []


def test_what_is_missing_is_said_of_the_uncorrectable_alone():
    """What can be answered misses nothing; what cannot, names what it lacks."""
    assert [each.id for each in made.fresh() if bool(each.missing) != each.gold.startswith("uncorrectable")] == []


def test_what_is_missing_by_hand_stands_in_the_session():
    """A hand-written case names what it lacks in the session's words."""
    assert [
        (each.id, name) for each in made.WRITTEN for name in each.missing
        if name.lower() not in " ".join(message["content"] for message in each.messages).lower()
    ] == []  # fmt: skip


def test_every_pointer_is_one_and_leads_where_the_session_says():
    """Pointers are well formed, a range lies within its message, and no placeholder is left."""
    for each in made.fresh():
        said = {message["pointer"]: message["content"] for message in each.messages}
        assert "«" not in each.note
        assert not re.search(r"\{\w*\}", each.note)
        for address, text in each.expand.items():
            parsed = pointer.parse(address)
            if parsed.unit == "bytes":
                assert said[f"fh:{parsed.first}"].encode()[parsed.start : parsed.end].decode() == text
            elif address in said:
                assert text == said[address]
        assert each.gold != "reachable" or [address for address in each.expand if address in each.note]


@pytest.mark.parametrize("kind", made.GENERATED)
@given(seed=st.integers(0, 10_000))
def test_every_fact_is_needed_and_the_slip_matters(kind, seed):
    """Without any one fact, and with the slip in its place, the answer is another or none; the agent's is wrong."""
    told = made.GENERATED[kind](dice("test " + kind, seed))
    facts = list(told.facts)
    assert verdict(told.question, facts) == "correctable"
    assert verdict(told.question, [*told.others, *facts]) == "correctable"
    for gone in facts:
        assert not told.question.right([fact for fact in facts if fact is not gone])
    place, slip = told.swapped
    assert not told.question.right([*facts[:place], slip, *facts[place + 1 :]])
    assert told.wrong != told.true
    assert {fact.name for _, _, some in told.turns for fact in some} == {f.name for f in (*facts, *told.others)}


@pytest.mark.parametrize("kind", made.GENERATED)
@given(seed=st.integers(0, 10_000))
def test_every_writer_writes_what_it_is_given(kind, seed):
    """Two notes of different facts differ, and none holds the agent's sentence unless the fact is the answer."""
    told = made.GENERATED[kind](dice("writer " + kind, seed))
    place, slip = told.swapped
    slipped = [*told.facts[:place], slip, *told.facts[place + 1 :]]
    for write in told.writers:
        texts = [write(list(told.facts)), write(slipped), write([*told.facts, *told.others])]
        assert texts[0] != texts[1]
        assert (texts[0] == texts[2]) is (not told.others)
        if not isinstance(told.question, Lookup):
            assert told.says(told.wrong) not in texts[2]


@pytest.mark.parametrize("make", [fresh_facts.duties, fresh_facts.lockers])
@given(seed=st.integers(0, 10_000))
def test_a_puzzle_has_one_answer_by_trying_all(make, seed):
    """All arrangements that satisfy the clues agree on what is asked."""
    told = make(dice("puzzle", seed))
    assert isinstance(told.question, Puzzle)
    people, things = told.question.people, told.question.things
    left = [dict(zip(people, order, strict=True)) for order in permutations(things)]
    assert {told.question.asked(at) for at in left if all(one.holds(at) for one in told.facts)} == {told.true}


def test_answers_worked_out_by_hand():
    """One answer of each arithmetic that is not a plain sum, as worked out on paper."""

    def work(kind, facts):
        return kind(dice("paper", 0)).question.work(facts)

    assert work(fresh_sums.vat, {"a": (2, 50, 19), "b": (1, 100, 7)}) == 226
    assert work(fresh_sums.dilution, {"stock": 5, "target": 100, "volume": 200}) == 4
    assert work(fresh_sums.tablets, {"one": (2, 3, 4), "two": (1, 2, 5)}) == 34
    assert work(fresh_sums.sprint, {"committed": 40, "closed": 12, "moved out": 5, "pulled in": 3}) == 26
    assert work(fresh_sums.hotel, {"nights": 3, "room": 90, "guests": 2, "city tax": 4}) == 294
    assert work(fresh_sums.meter, {"old reading": 100, "new reading": 300, "cents per kWh": 30,
                                   "standing charge": 90}) == 150  # fmt: skip
    assert work(fresh_sums.fuel, {"consumption": 6, "way": 500, "price": Fraction(8, 5)}) == 48
    assert work(fresh_sums.roast, {"meal": 19 * 60, "oven": 90, "rest": 15}) == 17 * 60 + 15


def test_a_question_that_is_worked_out_needs_all_its_values():
    """None while one value is missing; other values beside them change nothing."""
    one, two = Slot("one", 2), Slot("two", 3)
    asked = Worked((one, two), lambda at: at["one"] * at["two"])
    assert asked.answer((one,)) is None
    assert asked.answer((one, two, Slot("three", 9))) == 6
    assert not asked.right((one, Slot("two", 4)))
