"""evals/reclaim/scoring.py: what a reply commits to, decided for every odd way of writing an answer line."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.value import replace
from firsthand_evals.reclaim import scoring, tasks
from firsthand_evals.reclaim.scoring import ABSTAINED, ATTRACTOR, MALFORMED, RECOVERED, WRONG, Scored

SUM = replace(tasks.arithmetic(1)[0], answer="46", attractor="55")
PUZZLE = replace(tasks.logic(1)[0], answer="Ana", attractor="Ben", options=("Ana", "Ben", "Cal"))
CLOCK = replace(SUM, kind=tasks.TIME, answer="12:45", attractor="19:15")


@pytest.mark.parametrize(
    "reply",
    [
        "ANSWER: 46", "So it is 46.\n\nANSWER: 46",
        "**ANSWER**: 46", "**ANSWER:** 46", "ANSWER\uff1a46", "answer : 46.",
        "ANSWER: €46", "ANSWER: £46.00", "ANSWER: USD 46", "ANSWER: $46 USD", "ANSWER: ~46", "ANSWER: about 46",
        "ANSWER: <46>", "ANSWER: \\boxed{46}", "ANSWER: $\\boxed{46}$", "ANSWER: \\$46", "ANSWER: forty-six",
        "ANSWER: the total is 46", "ANSWER: 28 + 18 = 46", "ANSWER: 7*4+9*2 = 46", "ANSWER: `46`", 'ANSWER: "46"',
        "ANSWER: 46 (not 55)", "ANSWER: 46, not 55", "ANSWER: \u0664\u0666", "ANSWER:\n46", "ANSWER:\n\n**46**",
        "ANSWER: 55\nNo, I recheck.\nANSWER: 46", "I'm not sure about it, but ANSWER: 46", "ANSWER: 46 dollars",
        "ANSWER: [46]", "- ANSWER: 46", "ANSWER = 46", "ANSWER: 46,00", "ANSWER: 46 EUR", "Final answer: 46",
    ],
)  # fmt: skip
def test_every_way_of_writing_the_truth_is_recovered(reply):
    """Markup, currency, words, other digits, an equation and a line below are all seen through."""
    assert scoring.score(reply, SUM) == Scored(RECOVERED, "46")


@pytest.mark.parametrize(
    ("reply", "problem", "scored"),
    [
        ("ANSWER: 55", SUM, Scored(ATTRACTOR, "55")),
        ("ANSWER: 4", SUM, Scored(WRONG, "4")),
        ("ANSWER: 46.4", SUM, Scored(WRONG, "46.40")),
        ("ANSWER: 4,6", SUM, Scored(WRONG, "4.60")),
        ("ANSWER: 4,600", SUM, Scored(WRONG, "4600")),
        ("ANSWER: 1.234,50", SUM, Scored(WRONG, "1234.50")),
        ("ANSWER: -46", SUM, Scored(WRONG, "-46")),
        ("ANSWER: two hundred and six", SUM, Scored(WRONG, "206")),
        ("ANSWER: 46 or 55", SUM, Scored(MALFORMED, "")),
        ("ANSWER: between 40 and 50", SUM, Scored(MALFORMED, "")),
        ("ANSWER: $46 (unverified)", SUM, Scored(RECOVERED, "46", hedged=True)),
        ("ANSWER: 55, assuming the note holds", SUM, Scored(ATTRACTOR, "55", hedged=True)),
        ("ANSWER: unknown", SUM, Scored(ABSTAINED, "")),
        ("ANSWER: Unknown (it was 55)", SUM, Scored(ABSTAINED, "")),
        ("ANSWER: cannot be determined from 55", SUM, Scored(ABSTAINED, "")),
        ("ANSWER: N/A", SUM, Scored(ABSTAINED, "")),
        ("ANSWER: ?", SUM, Scored(ABSTAINED, "")),
        ("ANSWER: It depends", PUZZLE, Scored(ABSTAINED, "")),
        ("ANSWER: I don't know", PUZZLE, Scored(ABSTAINED, "")),
        ("The total is 46.", SUM, Scored(MALFORMED, "")),
        ("ANSWER: " + "4" * 5_000, SUM, Scored(MALFORMED, "")),
        ("ANSWER: " + "4" * 101 + " or 46", SUM, Scored(RECOVERED, "46")),
        ("ANSWER: one" + " hundred" * 5_000, SUM, Scored(WRONG, "1" + "0" * 2 * 39)),
        ("ANSWER: " + "so " * 60 + "forty-six", SUM, Scored(RECOVERED, "46")),
        ("ANSWER: a lot", SUM, Scored(MALFORMED, "")),
        ("ANSWER:", SUM, Scored(MALFORMED, "")),
        ("", SUM, Scored(MALFORMED, "")),
        ("ANSWER: Ana", PUZZLE, Scored(RECOVERED, "Ana")),
        ("**ANSWER**: Ana", PUZZLE, Scored(RECOVERED, "Ana")),
        ("ANSWER: The manager is Ana", PUZZLE, Scored(RECOVERED, "Ana")),
        ("ANSWER: 1. Ana", PUZZLE, Scored(RECOVERED, "Ana")),
        ("ANSWER: ana", PUZZLE, Scored(RECOVERED, "Ana")),
        ("ANSWER: Ana, not Ben", PUZZLE, Scored(RECOVERED, "Ana")),
        ("ANSWER: Ben", PUZZLE, Scored(ATTRACTOR, "Ben")),
        ("ANSWER: Cal", PUZZLE, Scored(WRONG, "Cal")),
        ("ANSWER: Ana or Ben", PUZZLE, Scored(MALFORMED, "")),
        ("ANSWER: Anabel", PUZZLE, Scored(MALFORMED, "")),
        ("ANSWER: Dan", PUZZLE, Scored(MALFORMED, "")),
        ("ANSWER: 12:45", CLOCK, Scored(RECOVERED, "12:45")),
        ("ANSWER: 12.45 pm", CLOCK, Scored(RECOVERED, "12:45")),
        ("ANSWER: 7:15 PM", CLOCK, Scored(ATTRACTOR, "19:15")),
        ("ANSWER: 19:15 (unverified)", CLOCK, Scored(ATTRACTOR, "19:15", hedged=True)),
        ("ANSWER: noon", CLOCK, Scored(WRONG, "12:00")),
        ("ANSWER: 9 am", CLOCK, Scored(WRONG, "09:00")),
        ("ANSWER: 12:45 or 19:15", CLOCK, Scored(MALFORMED, "")),
    ],
)
def test_every_other_line_is_what_was_decided(reply, problem, scored):
    """Near values are wrong, two values are none, declining is abstaining, and the unreadable is neither."""
    assert scoring.score(reply, problem) == scored


@given(st.text(max_size=300))
def test_any_reply_has_one_outcome(reply):
    """No text breaks the scorer, and a value comes with an outcome that emits, and only with one."""
    for problem in (SUM, PUZZLE, CLOCK):
        found = scoring.score(f"ANSWER: {reply}", problem)
        assert found.outcome in scoring.OUTCOMES
        assert (found.value != "") == (found.outcome in scoring.EMITTED)


@given(st.integers(0, 10**7), st.sampled_from(["", "$", "€ "]), st.booleans())
def test_a_number_is_read_as_it_was_written(cents, unit, grouped):
    """Amounts to the cent come back exactly, grouped by thousands or not."""
    amount = Fraction(cents, 100)
    text = f"{float(amount):,.2f}" if grouped else f"{float(amount):.2f}"
    assert scoring.values(f"{unit}{text}", tasks.NUMBER) == [scoring.written(amount)]
    assert scoring.amount(text) == amount


def test_a_long_reply_is_scored_by_its_end():
    """Of a reply that runs on, the last answer line counts, in little time."""
    assert scoring.score("ANSWER: 55\n" + "so " * 400_000 + "\nANSWER: 46", SUM) == Scored(RECOVERED, "46")


@pytest.mark.parametrize("piece", ["()", ", ", "not ", "1. ", "answer ", "\\boxed ", "- "])
def test_the_time_taken_grows_with_the_length_of_a_line_alone(piece):
    """Four times the line takes about four times the time, whatever stands in it."""

    def seconds(length: int) -> float:
        line = f"ANSWER: x{(piece * length)[:length]}"
        start = time.process_time()
        scoring.score(line, SUM)
        return time.process_time() - start

    seconds(1_000)
    assert seconds(80_000) < 12 * max(seconds(20_000), 0.004)
