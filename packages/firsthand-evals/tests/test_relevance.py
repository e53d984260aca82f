"""What a claim can depend on, of what was said where it was asked."""

from __future__ import annotations

import pytest

from firsthand_evals.probe.relevance import CHOSEN_MAX, kin, relevant, wanted_of
from firsthand_evals.probe.statements import statements

SECTIONS = "[db]\nhost = h1\ntimeout = 61\n\n[cache]\nhost = h2\ntimeout = 20\n"
ROSTER = "# roster\nWen Mon 06:00-13:15\nWen Sun 06:00-14:15\nNoor Mon 14:30-22:30"
ROOMS = "Ann has 24 square metres. Bo has 17 square metres. Cy has 21 square metres."
CHAIN = "Ann reports to Bo. Bo reports to Cy."


def kept(said: str, what: str, role: str = "tool") -> list[str]:
    """Give the texts of what a claim can depend on."""
    facts = [one for one in statements([{"role": role, "content": said}]) if one.form != "header"]
    return [one.text for one in relevant(facts, wanted_of(what, frozenset(), ()))]


@pytest.mark.parametrize(
    ("said", "what", "role", "expected"),
    [
        (SECTIONS, "the timeout in section cache", "tool", ["timeout = 20"]),
        (ROSTER, "the hours that Wen works", "tool", ["Wen Mon 06:00-13:15", "Wen Sun 06:00-14:15"]),
        ("flight,gate\nLH 1,A2\nBA 7,C4\n", "the gate of BA 7", "tool", ["BA 7,C4"]),
        (
            ROOMS,
            "the part of the rent that Ann pays",
            "user",
            ["Ann has 24 square metres.", "Bo has 17 square metres.", "Cy has 21 square metres."],
        ),
        (CHAIN, "the boss of the manager of Ann", "user", ["Ann reports to Bo.", "Bo reports to Cy."]),
    ],
)
def test_things_of_a_list_are_told_apart_by_the_words_of_the_claim(
    said: str, what: str, role: str, expected: list[str]
):
    """Of a list what the claim names is needed; all of it when the claim shares out or one thing leads to another."""
    assert kept(said, what, role) == expected


def test_nothing_is_left_out_of_a_list_in_which_nothing_answers_to_the_claim():
    """A claim that has no word of any thing needs all of them."""
    said = "S1,41\nS2,68\nS3,81"
    assert kept(said, "how many samples exceed the limit") == said.split("\n")


def test_of_too_many_facts_all_are_needed():
    """Beyond the limit nothing is compared, and nothing left out."""
    said = "\n".join(f"k{number} = {number}" for number in range(CHOSEN_MAX + 1))
    assert len(kept(said, "the value of k7")) == CHOSEN_MAX + 1


def test_words_of_one_family_and_short_forms_are_kin():
    """A word is kin to its family and to what it is short for, and to no other."""
    assert kin("object", "objection")
    assert kin("lis", "lisbon")
    assert not kin("cache", "catering")
    assert not kin("an", "ann")
