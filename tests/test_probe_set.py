"""bench/probe_set: its gold is computed and right, its texts hold what they are said to hold, its halves stay apart."""

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
from probe_set import case as made
from probe_set import cases, gold, hand_amounts, hand_facts, hand_pointers, measures, puzzles, writing
from probe_set import unseen as held_out
from probe_set.gold import Clue, Factor, Line, Lookup, Part, Puzzle, Rejected, Slot, Subtotal, Sum, verdict

WRITTEN = (*hand_amounts.WRITTEN, *hand_facts.WRITTEN, *hand_pointers.WRITTEN)
PENS = Line("pens", Fraction(9), Fraction(2))
BOOKS = Line("notebooks", Fraction(7), Fraction(4))
TOTAL = Sum((BOOKS, PENS, Rejected("lamps")))


# the set as a whole -------------------------------------------------------------------------------------


def test_it_is_as_large_and_as_varied_as_promised():
    """There are twenty or more notes of each generated kind, sixty or more by hand, and every regime many times."""
    kinds = Counter(each.kind for each in cases.cases())
    assert kinds.pop("hand") == len(WRITTEN) >= 60
    assert set(kinds) == set(cases.GENERATED)
    assert min(kinds.values()) >= 20
    regimes = Counter(each.gold for each in cases.cases())
    assert set(regimes) == set(gold.REGIMES)
    assert min(regimes.values()) >= 0.15 * sum(regimes.values())


def test_no_kind_has_one_answer():
    """A probe that gives one verdict to a whole kind is wrong somewhere in each half of it."""
    for half in ("dev", "held-out"):
        found: dict[str, set[str]] = {}
        for each in made.half_of(cases.cases(), half):
            found.setdefault(each.kind, set()).add(each.gold)
        assert {kind for kind, regimes in found.items() if len(regimes) < 2} == set()


def test_every_id_is_unique_and_the_set_is_the_same_when_made_again():
    """A case has an id of its own and depends on nothing but its kind and its number."""
    found = cases.cases()
    assert len({each.id for each in found}) == len(found)
    again = {each.id: each for each in cases.cases.__wrapped__()}
    assert all(again[each.id] == each for each in found)
    assert cases.GENERATED["tags"](3) == again["tags-03"]


def test_the_halves_part_each_kind_and_do_not_meet():
    """Each case is in exactly one half, each kind in equal parts, and another kind moves none of them."""
    found = cases.cases()
    dev, held = made.half_of(found, "dev"), made.half_of(found, "held-out")
    assert sorted(each.id for each in (*dev, *held)) == sorted(each.id for each in found)
    one, other = Counter(each.kind for each in dev), Counter(each.kind for each in held)
    assert all(0 <= other[kind] - one[kind] <= 1 for kind in one)
    only = made.half_of([each for each in found if each.kind == "tags"], "dev")
    assert only == [each for each in dev if each.kind == "tags"]
    first = [each.id for each in found if each.kind == "tags"][: len(only)]
    assert [each.id for each in only] != first  # by chance, not the ways that come first


def test_every_pointer_is_one_and_what_resolves_belongs_to_the_session():
    """Pointers are well formed; what a message's pointer leads to is that message, and a range lies within it."""
    for each in cases.cases():
        said = {message["pointer"]: message["content"] for message in each.messages}
        assert len(said) == len(each.messages)
        for address, text in each.expand.items():
            parsed = pointer.parse(address)
            if parsed.unit == "bytes":
                whole = said[f"fh:{parsed.first}"].encode()
                assert whole[parsed.start : parsed.end].decode() == text
            elif parsed.last is None and address in said:
                assert text == said[address]


def test_what_is_reachable_has_a_pointer_that_resolves_and_lies_not_in_the_note():
    """A reachable case's note holds a pointer that leads somewhere, and the gold of nothing else needs one."""
    for each in cases.cases():
        leads = [address for address in each.expand if address in each.note]
        assert leads or each.gold != "reachable", each.id


def test_what_is_missing_is_said_of_the_uncorrectable_alone():
    """What can be answered misses nothing; what cannot, names what it lacks."""
    assert [each.id for each in cases.cases() if bool(each.missing) != each.gold.startswith("uncorrectable")] == []


def test_every_session_is_one():
    """Each session begins with a message that is asked, holds an answer of the agent, and no message is empty."""
    for each in cases.cases():
        roles = [message["role"] for message in each.messages]
        assert roles[0] == "user"
        assert "assistant" in roles
        assert set(roles) <= {"user", "assistant", "tool"}
        assert all(message["content"].strip() for message in each.messages)
        assert each.claim


def test_no_two_notes_of_a_kind_are_alike():
    """The same note of the same session would count one verdict twice."""
    seen = Counter((each.kind, each.note, each.messages[0]["content"]) for each in cases.cases() if each.kind != "hand")
    assert [key for key, n in seen.items() if n > 1] == []


def test_kinds_that_nobody_tunes_on_share_nothing_with_the_others():
    """They are other kinds with ids, claims and sessions of their own, each of them with every regime."""
    found = held_out.unseen()
    known = {message["content"] for each in cases.cases() for message in each.messages}
    assert not {each.kind for each in found} & {each.kind for each in cases.cases()}
    assert not {each.claim for each in found} & {each.claim for each in cases.cases()}
    assert not known & {message["content"] for each in found for message in each.messages}
    assert len({each.id for each in found}) == len(found) == held_out.EACH * len(held_out.KINDS)
    for kind in held_out.KINDS:
        assert {each.gold for each in found if each.kind == kind} == set(gold.REGIMES)
    assert [each.id for each in found if bool(each.missing) != each.gold.startswith("uncorrectable")] == []


def test_the_least_of_several_needs_all_of_them():
    """The cheapest is known when every offer is, and a dearer one that is missing leaves it open."""
    offers = (Line("Alba", Fraction(1), Fraction(300)), Line("Tern", Fraction(1), Fraction(290)))
    asked = held_out.Least(offers)
    assert asked.answer(offers) == "Tern"
    assert asked.answer(offers[1:]) is None
    assert verdict(asked, offers[1:]) == "uncorrectable_silent"
    assert verdict(asked, offers) == "correctable"


# the gold -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stated", "behind", "said", "regime"),
    [
        ((BOOKS, PENS), (), {}, "correctable"),
        ((BOOKS, PENS), (), {"concludes": True, "admits": True}, "correctable"),
        ((BOOKS,), (PENS,), {}, "reachable"),
        ((BOOKS,), (), {}, "uncorrectable_silent"),
        ((BOOKS,), (), {"admits": True}, "uncorrectable_loud"),
        ((), (), {}, "uncorrectable_loud"),
        ((), (), {"concludes": True}, "uncorrectable_silent"),
        ((Rejected("lamps"),), (), {}, "uncorrectable_loud"),
        ((BOOKS, PENS, Line("lamps", Fraction(1), Fraction(5))), (), {}, "uncorrectable_silent"),
        ((BOOKS, PENS, Line("lamps", Fraction(1), Fraction(5))), TOTAL.truth, {}, "reachable"),
        ((BOOKS, Subtotal("pens", Fraction(18))), (), {}, "correctable"),
        ((BOOKS, Subtotal("pens", Fraction(27))), (), {}, "uncorrectable_silent"),
        ((BOOKS, Subtotal("pens", Fraction(27))), (PENS,), {}, "reachable"),
    ],
)
def test_a_sum_is_judged_by_adding_up(stated, behind, said, regime):
    """The verdict follows from what can be added up, then from what the note says of itself."""
    assert verdict(TOTAL, stated, behind, **said) == regime


def test_a_right_sum_of_the_wrong_things_is_no_answer():
    """Lines that come to the right amount by chance do not make a note correctable."""
    chance = (BOOKS, Line("lamps", Fraction(3), Fraction(6)))
    assert sum(line.amount for line in chance) == sum(line.amount for line in (BOOKS, PENS))
    assert verdict(TOTAL, chance) == "uncorrectable_silent"


def test_a_factor_belongs_to_the_source():
    """A discount that is not in the note leaves what was paid open."""
    paid = Sum((BOOKS, PENS, Factor("discount", Fraction(9, 10))))
    assert verdict(paid, (BOOKS, PENS)) == "uncorrectable_silent"
    assert paid.answer(paid.truth) == Fraction(46 * 9, 10)


def test_a_subtotal_is_no_source_of_itself():
    """The same note corrects the total and does not correct the subtotal."""
    stated = (Subtotal("notebooks", Fraction(28)), Subtotal("pens", Fraction(18)))
    assert verdict(Sum((BOOKS, PENS)), stated) == "correctable"
    assert verdict(Part((BOOKS, PENS), "pens"), stated) == "uncorrectable_silent"
    assert verdict(Part((BOOKS, PENS), "pens"), (PENS,)) == "correctable"


def test_the_last_value_of_a_slot_counts_and_another_slot_does_not():
    """A slot is looked up by its name, and what was said last stands."""
    asked = Lookup((Slot("time", 930),), "time")
    assert verdict(asked, (Slot("time", 900), Slot("time", 930))) == "correctable"
    assert verdict(asked, (Slot("time", 930), Slot("time", 900))) == "uncorrectable_silent"
    assert verdict(asked, (Slot("place", 930),)) == "uncorrectable_loud"


def test_a_puzzle_is_judged_by_trying_every_assignment():
    """Two clues that leave one person for the seat answer it; one of them does not; contradictions answer nothing."""
    left = Clue("a<b", lambda at: at["a"] < at["b"])
    middle = Clue("b<c", lambda at: at["b"] < at["c"])
    turned = Clue("c<a", lambda at: at["c"] < at["a"])
    asked = Puzzle((left, middle), "abc", (1, 2, 3), lambda at: next(who for who in at if at[who] == 1))
    assert verdict(asked, (left, middle)) == "correctable"
    assert verdict(asked, (left,)) == "uncorrectable_silent"
    assert asked.answers((left, middle, turned)) == frozenset()
    assert verdict(asked, (left, middle, turned)) == "uncorrectable_silent"


# what the generators promise ----------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.booleans())
def test_a_riddle_has_one_answer_and_knows_which_clues_it_needs(seed, seats):
    """All clues leave one answer; without a needed one there are several; without a spare one there is still one."""
    held = puzzles.riddle(made.dice("test", seed), seats=seats)
    clues = [each.clue for each in held.clues]
    one = held.question.answers(clues)
    solutions = [dict(zip(held.question.people, order, strict=True)) for order in permutations(held.question.things)]
    assert {held.question.asked(at) for at in solutions if all(clue.holds(at) for clue in clues)} == one
    assert len(one) == 1
    assert held.wrong not in one
    for each in (*held.needed, *held.spare):
        left = held.question.answers([clue for clue in clues if clue is not each.clue])
        assert (len(left) > 1) == (each in held.needed)
    assert set(held.clues) == {*held.needed, *held.spare}


@given(st.integers(0, 10_000), st.booleans())
def test_a_clue_turned_round_says_the_opposite_or_what_excludes_it(seed, seats):
    """No assignment satisfies a clue and its reversal, and the words differ."""
    held = puzzles.riddle(made.dice("turned", seed), seats=seats)
    for each in held.clues:
        text, clue = puzzles.reversed_clue(each)
        assert text not in each.wordings
        for order in permutations(held.question.things):
            at = dict(zip(held.question.people, order, strict=True))
            assert not (clue.holds(at) and each.clue.holds(at))


@pytest.mark.parametrize("name", writing.WRITERS)
@given(seed=st.integers(0, 10_000))
def test_every_writer_writes_every_line(name, seed):
    """Name, count and price of each line stand in the text, and no line that was not given."""
    rng = made.dice("writer", seed)
    lines = writing.lines_of(rng, 4, cents=seed % 2 == 0)
    text = writing.WRITERS[name](lines[:3], rng)
    numbers = Counter(Fraction(found) for found in re.findall(r"\d+(?:\.\d+)?", text))
    assert all(line.name in text for line in lines[:3])
    assert lines[3].name not in text
    assert Counter([part for line in lines[:3] for part in (line.count, line.price)]) - numbers == Counter()


def test_words_for_numbers_are_english():
    """Numbers below a thousand are spelled as they are read."""
    spelled = [writing.words(number) for number in (0, 13, 20, 42, 100, 107, 999)]
    assert spelled == [
        "zero", "thirteen", "twenty", "forty-two", "one hundred", "one hundred and seven",
        "nine hundred and ninety-nine",
    ]  # fmt: skip


def test_clocks_and_dates_in_each_style():
    """One time and one date in every way in which the set writes them."""
    from datetime import date

    assert [measures.clock(21 * 60 + 45, style) for style in range(4)] == [
        "21:45", "9:45 pm", "21h45", "quarter to ten in the evening",
    ]  # fmt: skip
    assert [measures.day(date(2026, 3, 3), style) for style in range(6)] == [
        "2026-03-03", "March 3rd, 2026", "3 March 2026", "03.03.2026", "Mar 3, 2026", "2026/03/03",
    ]  # fmt: skip


def test_separators_of_countries():
    """A thousand and its decimals as several countries write them."""
    amount = Fraction(123450, 100)
    assert [measures.grouped(amount, style) for style in (",.", ".,", "'.", " ,")] == [
        "1,234.50", "1.234,50", "1'234.50", "1 234,50",
    ]  # fmt: skip


def test_placeholders_of_hand_written_cases_are_all_filled():
    """No sign of a placeholder is left, and a dangling pointer leads nowhere."""
    for each in WRITTEN:
        assert "«" not in each.note + "".join(each.expand.values())
    (dangling,) = [each for each in WRITTEN if each.id == "hand-none-of-three"]
    first, *others = re.findall(r"fh:\w{26}", dangling.note)
    assert first not in dangling.expand
    assert all(address in dangling.expand for address in others)
