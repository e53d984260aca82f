"""What a claim asks to be looked up, and whether a note has it."""

from __future__ import annotations

import pytest

from firsthand_evals.probe import probe_lookup
from firsthand_evals.probe.probe import probe
from firsthand_evals.probe.probe_claims import asked_for, asked_of
from firsthand_evals.probe.probe_reading import Session

NAMES = ("Adler", "Biber", "Dachs", "Eule", "Falke", "Gans")
GATES = (
    ("user", "Note: the rear gate opens with M750-E7352, and the front gate with C529-A4140."),
    ("assistant", "I am listening."),
    ("user", "It was changed today: the rear gate now opens with M498-X3086."),
    ("assistant", "The rear gate opens with M498-X3080."),
)
QUEUES = (
    ("user", "For the queue we compared Redis, RabbitMQ and NATS. Redis loses messages. We go with NATS."),
    ("assistant", "So we use Redis."),
)


def session(told: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    """Give messages of roles and texts."""
    return [{"role": role, "content": text} for role, text in told]


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("rear gate: M498-X3086", "correctable"),
        ("M498-X3086 is the code of the rear gate", "correctable"),
        ("Until yesterday the rear gate had M750-E7352. The rear gate opens with M498-X3086.", "correctable"),
        ("rear gate: M750-E7352", "uncorrectable_silent"),
        ("The rear gate opens with M498-X3080.", "uncorrectable_silent"),
        ("rear gate: M498-X3086\nrear gate: M750-E7352", "uncorrectable_silent"),
        ("The codes of the gates came up; they were not kept.", "uncorrectable_loud"),
    ],
)
def test_what_was_said_last_is_looked_up(note: str, expected: str):
    """A note has what is looked up when it gives the last word for it, and no other value beside it."""
    assert probe(note, session(GATES), claim="the code that opens the rear gate now").regime == expected


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("We chose NATS as the queue.", "correctable"),
        ("We chose Redis as the queue.", "uncorrectable_silent"),
    ],
)
def test_a_decision_is_found_by_its_words(note: str, expected: str):
    """What was decided last is looked up, though none of the claim's words stands beside it."""
    assert probe(note, session(QUEUES), claim="which queue was chosen").regime == expected


@pytest.mark.parametrize(
    ("told", "claim"),
    [
        ((("user", "Tea costs 4 euros and cake 7."), ("assistant", "That is 12.")), "what both cost"),
        ((("user", "The flight leaves at 6:55 and takes 3 hours."), ("assistant", "At 9:40.")), "when it lands"),
        ((("user", "Lena approves. Lena is away, Nia stands in."), ("assistant", "Lena.")), "who approves in the end"),
    ],
)
def test_what_is_worked_out_is_no_lookup(told: tuple[tuple[str, str], ...], claim: str):
    """A claim whose answer nobody said, or of which more is said later, is not looked up."""
    assert asked_for(Session(session(told)), claim).lookup is None


@pytest.mark.parametrize(
    ("first", "second", "claim", "stale"),
    [
        ("Der Termin ist am 3. März.", "Der Termin ist nun am 9. März.", "der Tag des Termins", "3. März"),
        ("La reunión es el 4 de mayo.", "La reunión es ahora el 6 de mayo.", "el día de la reunión", "4 de mayo"),
        ("Use Postgres 14 for staging.", "Actually make that Postgres 16.", "the Postgres version of staging", "14"),
    ],
)
def test_a_later_message_takes_the_place_of_an_earlier_one(first: str, second: str, claim: str, stale: str):
    """What a later message says anew stands, in other languages too."""
    told = session((("user", first), ("assistant", "Ok."), ("user", second), ("assistant", f"It is {stale}.")))
    found = asked_for(Session(told), claim).lookup
    assert found is not None
    assert found.text == second


def test_the_claims_of_a_session_share_what_is_cut_of_it(monkeypatch: pytest.MonkeyPatch):
    """Statements are cut into units once for all claims: with each of its own, sixty questions took a minute."""
    asked = [
        one
        for at in range(6)
        for one in (("user", f"What is the code of gate {NAMES[at]}?"), ("assistant", f"It is M{100 + at}."))
    ]
    told = " ".join(f"The code of gate {name} is M{100 + at}." for at, name in enumerate(NAMES))
    counted: list[int] = []
    plain = probe_lookup.units_of
    monkeypatch.setattr(probe_lookup, "units_of", lambda said: counted.append(len(said)) or plain(said))
    session_ = Session(session((("user", told), *asked)))
    found = [one.lookup for one in asked_of(session_)]
    assert [one is not None for one in found] == [True] * 6
    assert len(counted) == 1
