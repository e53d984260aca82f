"""Relations of listed things, in one form for many wordings."""

from __future__ import annotations

import pytest

from firsthand_evals.probe.relation import Things, relations, things_of

JOBS = Things((("glazing", "hanging the doors", "sanding", "wiring"),))
VALVES = Things((("P", "Q", "R", "S"),))
PETS = Things((("Beate", "Cyril", "Dunja"), ("parrot", "goldfish", "ferret")))


def test_things_are_those_that_sentences_speak_of():
    """Of a list those things are known that a sentence names, by the words that it names them with."""
    scene = "Four jobs are done one after the other: glazing, hanging the doors, sanding, wiring."
    told = ["wiring has to be done before hanging the doors", "sanding has to be done before glazing"]
    assert things_of([scene], told) == JOBS
    assert things_of([scene], ["nothing of it"]) == Things(())


@pytest.mark.parametrize(
    ("things", "one", "other"),
    [
        (JOBS, "wiring has to be done before sanding", "Sanding must wait for wiring."),
        (JOBS, "Besides, wiring has to be done before hanging the doors", "Hanging the doors comes later than wiring."),
        (VALVES, "if valve S is shut, valve Q is open", "valve Q is open whenever valve S is shut"),
        (VALVES, "if valve S is shut, valve Q is open", "valve S shut implies valve Q open"),
        (VALVES, "if valve S is shut, valve Q is open", "if valve Q is shut, valve S is open"),
        (VALVES, "valve Q and valve R are in the same position", "valve Q and valve R are both open or both shut"),
        (VALVES, "valve Q and valve R are in different positions", "exactly one of valve Q and valve R is open"),
        (PETS, "Beate has either a goldfish or a parrot", "Beate's pet is a parrot or else a goldfish."),
        (PETS, "Dunja does not have a ferret", "A ferret is not what Dunja has."),
    ],
)
def test_other_words_have_the_same_form(things: Things, one: str, other: str):
    """Two sentences that say the same have one form."""
    assert relations(one, things) == relations(other, things) != frozenset()


@pytest.mark.parametrize(
    ("things", "one", "other"),
    [
        (JOBS, "wiring has to be done before sanding", "Wiring must wait for sanding."),
        (VALVES, "if valve S is shut, valve Q is open", "valve Q open implies valve S shut"),
        (VALVES, "valve Q and valve R are in the same position", "exactly one of valve Q and valve R is open"),
        (PETS, "Dunja does not have a ferret", "Dunja has a ferret"),
    ],
)
def test_what_says_something_else_has_another_form(things: Things, one: str, other: str):
    """A sentence turned round or denied has another form."""
    assert relations(one, things) != relations(other, things)
    assert relations(other, things) != frozenset()


def test_a_chain_of_arrows_orders_all_of_its_things():
    """A chain says of each pair which comes first, and of neighbours that nothing is between them."""
    found = relations("glazing > sanding > wiring", JOBS)
    assert ("order", ("glazing", "wiring"), False) in found
    assert ("order directly", ("glazing", "sanding"), False) in found
    assert ("order directly", ("glazing", "wiring"), False) not in found


def test_what_is_too_long_or_names_nothing_has_no_form():
    """A sentence about nothing that is listed, or beyond the limit, is not read."""
    assert relations("the weather is fine", JOBS) == frozenset()
    assert relations("wiring before sanding " * 20, JOBS) == frozenset()
