"""bench/probe_set/third.py: its gold is found again twice, and it shares nothing with the older parts."""

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

import probe_third_check
from firsthand import pointer
from firsthand.value import replace
from probe_set import second_forms, second_phrases, third_tongues
from probe_set import third as made
from probe_set.case import dice
from probe_set.cases import cases
from probe_set.fresh import fresh
from probe_set.gold import REGIMES, verdict
from probe_set.second import second
from probe_set.second_note import slots
from probe_set.second_solver import proof
from probe_set.third_forms import CLOSE, FORMS, LINED, OPEN, Row, bare
from probe_set.third_hand import subject
from probe_set.third_note import Given, Held
from probe_set.third_phrases import Phrases
from probe_set.third_ways import EACH, Writer, _inside, noted
from probe_set.third_words import Put, fill
from probe_set.unseen import unseen

KINDS = list(made.GENERATED)


# the set as a whole -------------------------------------------------------------------------------------


def test_it_is_as_large_and_as_varied_as_promised():
    """At least 600 notes of 30 kinds and more, 150 by hand, each regime between 20 and 30 % of them."""
    found = made.third()
    kinds = Counter(each.kind for each in found)
    assert kinds.pop("manual") == len(made.WRITTEN) >= 150
    assert set(kinds) == set(made.GENERATED)
    assert len(kinds) >= 30
    assert set(kinds.values()) == {EACH}
    assert len(found) >= 600
    regimes = Counter(each.gold for each in found)
    assert set(regimes) == set(REGIMES)
    assert 0.2 * len(found) <= min(regimes.values()) <= max(regimes.values()) <= 0.3 * len(found)


def test_each_kind_has_every_regime_four_times():
    """A probe that gives one verdict to a whole kind is wrong in three quarters of it."""
    for kind in KINDS:
        assert Counter(each.gold for each in made.third() if each.kind == kind) == dict.fromkeys(REGIMES, 4), kind


def test_a_quarter_of_the_kinds_is_not_in_english():
    """Nine kinds have a language of their own, with all of its phrases."""
    tongues = Counter(make(Random(1)).language for make in made.GENERATED.values())
    assert tongues.pop("en") == 27
    assert set(tongues.values()) == {1}
    assert set(tongues) | {"en"} == set(third_tongues.LANGUAGES)


def test_it_shares_nothing_with_the_older_parts():
    """Kinds, ids, claims, sessions, notes, forms and phrases are its own."""
    found, older = made.third(), (*cases(), *unseen(), *fresh(), *second())
    assert not {each.kind for each in found} & {each.kind for each in older}
    assert not {each.id for each in found} & {each.id for each in older}
    assert not {each.note for each in found} & {each.note for each in older}
    assert not {each.claim for each in found} & {each.claim for each in older}

    def said(some) -> set[str]:
        return {message["content"] for each in some for message in each.messages if message["role"] != "assistant"}

    assert not said(older) & said(found)
    assert not set(FORMS) & set(second_forms.FORMS)

    def wordings(words) -> set[str]:
        fields = ("honest", "rest", "part", "unfounded", "hedge", "gap")
        return {each for language in words.values() for name in fields for each in getattr(language, name)}

    assert not wordings(third_tongues.LANGUAGES) & wordings(second_phrases.LANGUAGES)


def test_every_id_is_unique_and_the_set_is_the_same_when_made_again():
    """A case depends on its kind and its number alone."""
    found = made.third()
    assert len({each.id for each in found}) == len(found)
    assert tuple(each.case for each in made.formed.__wrapped__()) == found


def test_no_two_notes_of_one_session_are_alike():
    """The same note of the same session would count one verdict twice."""
    seen = Counter((each.note, tuple(message["content"] for message in each.messages)) for each in made.third())
    assert [key for key, n in seen.items() if n > 1] == []


def test_what_is_missing_is_said_of_the_uncorrectable_alone_and_in_the_words_of_the_session():
    """What can be answered misses nothing; what cannot, names what it lacks as the session does."""
    for each in made.third():
        session = " ".join(message["content"] for message in each.messages).lower()
        assert bool(each.missing) == each.gold.startswith("uncorrectable"), each.id
        assert [name for name in each.missing if name.lower() not in session] == [], each.id


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
    assert probe_third_check.disagreements() == []
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
    matter = made.GENERATED[kind](dice("third test " + kind, seed))
    question, all_ = matter.question, list(matter.givens)
    assert verdict(question, slots(all_)) == "correctable"
    assert verdict(question, slots([*matter.extras, *all_])) == "correctable"
    for place, gone in enumerate(all_):
        assert not question.right(slots([one for one in all_ if one is not gone]))
        assert not question.right(slots([*all_[:place], gone.slipped(), *all_[place + 1 :]]))
    if matter.unmarked is not None:
        assert not question.right(slots([*all_, matter.unmarked]))
    assert matter.wrong != matter.answer


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), way=st.integers(0, EACH - 1))
def test_every_way_of_every_kind_is_found_again(kind, seed, way):
    """Other draws than those of the set have a gold that the solver finds, too, and it is the one of the way."""
    rng = dice("third way " + kind, seed)
    matter = made.GENERATED[kind](rng)
    held = Held(rng, matter)
    each = held.formed(kind, way, Writer(rng, matter, held).ways()[way]())
    assert proof(each.form) == each.case.gold == REGIMES[way % 4]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15)
@given(seed=st.integers(0, 10_000))
def test_a_note_holds_the_words_of_what_it_states_and_none_of_what_it_drops(kind, seed):
    """Each form writes every row's own words, and nothing that is not given to it."""
    rng = dice("third rows " + kind, seed)
    matter = made.GENERATED[kind](rng)
    assert set(matter.forms.split()) & LINED
    for name in matter.forms.split():
        rows = [one.row(rng) for one in matter.givens]
        for gone in (None, *range(len(rows) if len(rows) > 1 else 0)):
            kept = [row for at, row in enumerate(rows) if at != gone]
            text = FORMS[name](kept, matter.topic)
            found = [part.lower() for part in re.findall(f"{OPEN}([^{CLOSE}]*){CLOSE}", text)]
            assert found in ([row.shown.lower() for row in kept], [row.told.lower() for row in kept]), name
            assert not set(OPEN + CLOSE) & set(bare(text))


def test_a_case_is_the_sixteen_ways_in_their_order():
    """The number of a case says how its note ends."""
    kind = KINDS[0]
    assert [noted(kind, number, made.GENERATED[kind]).case.gold for number in range(4)] == list(REGIMES)


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
    with pytest.raises(ValueError, match="on paper it was 7"):
        subject("x", "x", ("U: 2 and 3.", "A: 6."), "a + b", 7, {"a": (2, (3,), "2"), "b": (3, (2,), "3")})


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
    rows = [Row("one", "1 kg", "one weighs 1 kg"), Row("two", "2 kg", "two weighs 2 kg")]
    for name, form in FORMS.items():
        text = bare(form(rows, "Topic"))
        assert text.index("1 kg") < text.index("2 kg"), name


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
