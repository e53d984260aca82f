"""What every set of made notes for the probe must hold to, as functions that the test of a set calls with its set."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from firsthand.value import value
from probe_set.case import dice
from probe_set.gold import REGIMES, verdict
from probe_set.second_forms import CLOSE, OPEN, Row, bare
from probe_set.second_note import slots
from probe_set.second_solver import proof


@value
class ProbeSet:
    """A set, and what made it.

    Attributes:
        draws: what the dice of its tests are named by. made: its module. cases: its notes.
        forms: the forms by name. held, writer, noted: what holds a session, writes a note and does both.
        each: how many notes a kind has. subject: what writes a session by hand down.
    """

    draws: str
    made: Any
    cases: Callable[[], Sequence[Any]]
    forms: Mapping[str, Callable[..., str]]
    held: Callable[..., Any]
    writer: Callable[..., Any]
    noted: Callable[..., Any]
    each: int
    subject: Callable[..., Any]


# the set as a whole -------------------------------------------------------------------------------------


def large_and_varied(of: ProbeSet, by_hand: str, *, hand: int, kinds: int, notes: int) -> None:
    """It has so many notes, kinds and notes by hand at least, each regime between 20 and 30 % of them."""
    found = of.cases()
    counted = Counter(each.kind for each in found)
    assert counted.pop(by_hand) == len(of.made.WRITTEN) >= hand
    assert set(counted) == set(of.made.GENERATED)
    assert len(counted) >= kinds
    assert set(counted.values()) == {of.each}
    assert len(found) >= notes
    regimes = Counter(each.gold for each in found)
    assert set(regimes) == set(REGIMES)
    assert 0.2 * len(found) <= min(regimes.values()) <= max(regimes.values()) <= 0.3 * len(found)


def every_regime_four_times(of: ProbeSet) -> None:
    """Each kind has each regime four times."""
    for kind in of.made.GENERATED:
        assert Counter(each.gold for each in of.cases() if each.kind == kind) == dict.fromkeys(REGIMES, 4), kind


def the_same_when_made_again(of: ProbeSet) -> None:
    """Every id is unique, and the set is the same when it is made again."""
    found = of.cases()
    assert len({each.id for each in found}) == len(found)
    assert tuple(each.case for each in of.made.formed.__wrapped__()) == found


def no_two_alike(of: ProbeSet) -> None:
    """No session has the same note twice."""
    seen = Counter((each.note, tuple(message["content"] for message in each.messages)) for each in of.cases())
    assert [key for key, n in seen.items() if n > 1] == []


def missing_is_named(of: ProbeSet) -> None:
    """What can be answered misses nothing; what cannot, names what it lacks as the session does."""
    for each in of.cases():
        session = " ".join(message["content"] for message in each.messages).lower()
        assert bool(each.missing) == each.gold.startswith("uncorrectable"), each.id
        assert [name for name in each.missing if name.lower() not in session] == [], each.id


# the gold -----------------------------------------------------------------------------------------------


def every_given_is_needed(of: ProbeSet, kind: str, seed: int) -> Any:
    """Without any one given, and with its slip, the answer is another or none; give the matter."""
    matter = of.made.GENERATED[kind](dice(f"{of.draws}test {kind}", seed))
    question, all_ = matter.question, list(matter.givens)
    assert verdict(question, slots(all_)) == "correctable"
    assert verdict(question, slots([*matter.extras, *all_])) == "correctable"
    for place, gone in enumerate(all_):
        assert not question.right(slots([one for one in all_ if one is not gone]))
        assert not question.right(slots([*all_[:place], gone.slipped(), *all_[place + 1 :]]))
    if matter.unmarked is not None:
        assert not question.right(slots([*all_, matter.unmarked]))
    assert matter.wrong != matter.answer
    return matter


def way_is_found_again(of: ProbeSet, kind: str, seed: int, way: int) -> str:
    """The solver finds the gold of another draw; give it."""
    rng = dice(f"{of.draws}way {kind}", seed)
    matter = of.made.GENERATED[kind](rng)
    held = of.held(rng, matter)
    each = held.formed(kind, way, of.writer(rng, matter, held).ways()[way]())
    found = proof(each.form)
    assert found == each.case.gold
    return found


def words_of_what_is_stated(of: ProbeSet, kind: str, seed: int) -> Any:
    """Each form writes every row's own words, and nothing that is not given to it; give the matter."""
    rng = dice(f"{of.draws}rows {kind}", seed)
    matter = of.made.GENERATED[kind](rng)
    for name in matter.forms.split():
        rows = [one.row(rng) for one in matter.givens]
        for gone in (None, *range(len(rows) if len(rows) > 1 else 0)):
            kept = [row for at, row in enumerate(rows) if at != gone]
            text = of.forms[name](kept, matter.topic)
            found = [part.lower() for part in re.findall(f"{OPEN}([^{CLOSE}]*){CLOSE}", text)]
            assert found in ([row.shown.lower() for row in kept], [row.told.lower() for row in kept]), name
            assert not set(OPEN + CLOSE) & set(bare(text))
    return matter


def ways_in_their_order(of: ProbeSet) -> None:
    """The number of a case says how its note ends."""
    kind, make = next(iter(of.made.GENERATED.items()))
    assert [of.noted(kind, number, make).case.gold for number in range(4)] == list(REGIMES)


def another_answer_is_refused(of: ProbeSet) -> None:
    """What was worked out on paper is compared when a session is written down."""
    with pytest.raises(ValueError, match="on paper it was 7"):
        of.subject("x", "x", ("U: 2 and 3.", "A: 6."), "a + b", 7, {"a": (2, (3,), "2"), "b": (3, (2,), "3")})


# the words ----------------------------------------------------------------------------------------------


def rows_in_their_order(of: ProbeSet) -> None:
    """Every form shows its rows in the order given."""
    rows = [Row("one", "1 kg", "one weighs 1 kg"), Row("two", "2 kg", "two weighs 2 kg")]
    for name, form in of.forms.items():
        text = bare(form(rows, "Topic"))
        assert text.index("1 kg") < text.index("2 kg"), name
