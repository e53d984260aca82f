"""A hundred claims, half of them wrong: each mechanical fault is caught, and a quote alone proves nothing."""

from __future__ import annotations

import random

import pytest

from firsthand import Memory, Proof

UNITS = ("euros", "Stunden", "\u0440\u0443\u0431\u043b\u0435\u0439", "boxes", "\u4e2a")
SAYS = ("in all", "zusammen", "\u0432\u0441\u0435\u0433\u043e", "\u5408\u8ba1", "au total")


def order(number: int) -> dict[str, object]:
    """Make a true claim: its quote stands in message ``number``, and its work gives what it says."""
    random_numbers = random.Random(number)
    first, second, third = (random_numbers.randrange(11, 99) for _ in range(3))
    unit = UNITS[number % len(UNITS)]
    quote = f"order {number}: {first} {unit} and {second} {unit}, then {third} {unit} more"
    work = f"{first} + {second} + {third} = {first + second + third}"
    return {"says": f"{SAYS[number % len(SAYS)]} {first + second + third} {unit}", "quotes": [quote], "work": work}


def mechanical(number: int) -> dict[str, object]:
    """Spoil one value, word, operand or result of a true claim."""
    claim = order(number)
    quote, work = str(claim["quotes"][0]), str(claim["work"])  # type: ignore[index]
    spoiled: list[dict[str, object]] = [
        {"says": str(claim["says"]).replace(" ", " 9", 1)},
        {"quotes": [quote.replace(" and ", " or ")]},
        {"quotes": [quote[:-1]]},
        {"work": work.replace(" =", " + 7 =")},
        {"work": work + "1"},
        {"quotes": [f"order {number + 1}: {quote.partition(': ')[2]}"]},
        {"work": work.replace(" + ", " * ", 1)},
        {"work": work.partition(" =")[0] + " - 0"},
        {"quotes": []},
        {"quotes": [f"I counted: {quote}"]},  # the agent's own words
    ]
    return claim | spoiled[number % len(spoiled)]


def by_quote_alone(number: int) -> dict[str, object]:
    """State what the quote does not bear out, with its words alone: swapped, negated, invented, or another's."""
    quote = str(order(number)["quotes"][0])  # type: ignore[index]
    says = (f"order {number + 1} is the same", "nothing was ordered", "it was delivered", quote.replace("then", "not"))
    return {"says": says[number % len(says)], "quotes": [quote]}


@pytest.fixture
def memory(tmp_path):
    with Memory(tmp_path / "store", embedder="none") as opened:
        session = opened.session("s")
        for number in range(100):
            quote = order(number)["quotes"][0]
            session.user(f"Note this.\n{quote}\nThat is all.")
            session.agent(f"I counted: {quote}")
        yield opened
        assert opened.verify().problems == ()


def proofs(memory: Memory, claims: list[dict[str, object]]) -> list[Proof]:
    return [checked.proof for checked in memory.check(claims, within=["s"])]


def test_what_is_true_and_quoted_is_worked_out(memory):
    """Fifty sums over quoted values, in five languages, are worked out."""
    assert proofs(memory, [order(number) for number in range(50)]) == [Proof.WORKED_OUT] * 50


def test_every_mechanical_fault_is_caught(memory):
    """Of thirty claims with a wrong value, word, operand or result none is worked out, and none is cited."""
    outcomes = proofs(memory, [mechanical(number) for number in range(50, 80)])
    assert set(outcomes) <= {Proof.UNPROVEN, Proof.CONTRADICTED}


def test_nothing_is_worked_out_by_a_quote_alone(memory):
    """Twenty claims that their quotes do not bear out are cited at most: that words stand there is no proof."""
    outcomes = proofs(memory, [by_quote_alone(number) for number in range(80, 100)])
    assert set(outcomes) <= {Proof.UNPROVEN, Proof.CITED}
