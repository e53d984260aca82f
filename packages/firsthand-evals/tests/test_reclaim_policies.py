"""evals/reclaim/policies.py: what each hand-made note says, to the letter, and that it fits its budget."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.value import replace
from firsthand_evals.reclaim import policies, tasks
from firsthand_evals.reclaim.policies import (
    BLANK,
    BOTH,
    CANDIDATES,
    DENOISED,
    LOSSY,
    PADDED,
    POLICIES,
    SOURCE_FIRST,
    TAGGED,
    Handmade,
)

SUM = replace(
    tasks.arithmetic(1)[0], listed=("7 mugs at $4 each", "9 pens at $2 each"),
    source=("7 mugs at $4 each", "9 pens at $2 each"),
    premise="the pens come to $27 together", ask="the total before tax", attractor="55", unit="$",
)  # fmt: skip
NOISE = replace(SUM, listed=("rugs at $3 each, considered but not bought", *SUM.source))
PREMISE = "A note said that the pens come to $27 together."
CONCLUSION = "You concluded, for the total before tax: $55."
LINES = "7 mugs at $4 each; 9 pens at $2 each."


def note(name: str, integrity: float = 0.1, budget: int = 600, problem=SUM) -> str:
    return Handmade(POLICIES[name], problem, integrity).write([], budget)


@pytest.mark.parametrize(
    ("name", "integrity", "said"),
    [
        (LOSSY, 1.0, f"{LINES} {PREMISE} {CONCLUSION}"),
        (LOSSY, 0.6, f"{LINES} {PREMISE} {CONCLUSION}"),
        (LOSSY, 0.3, f"{PREMISE} {CONCLUSION}"),
        (LOSSY, 0.1, CONCLUSION),
        (SOURCE_FIRST, 1.0, f"{LINES} {PREMISE} {CONCLUSION}"),
        (SOURCE_FIRST, 0.3, LINES),
        (SOURCE_FIRST, 0.1, LINES),
        (BOTH, 0.1, f"{LINES} {CONCLUSION}"),
        (TAGGED, 0.1, f"{LINES} (2 of 2 lines kept.)"),
        (BLANK, 0.1, "nothing was kept."),
        (CANDIDATES, 0.1, "nothing was kept."),
    ],
)
def test_what_each_note_says(name, integrity, said):
    """Source, premise and conclusion are kept or dropped as the policy and its integrity say."""
    assert note(name, integrity) == f"From the earlier session: {said}"


def test_notes_at_a_small_budget_keep_whole_lines():
    """Of what does not fit, whole lines are left out from the end; the tag says how many, and fits too."""
    budget = len("From the earlier session: 7 mugs at $4 each; 9 pens at $2 each.") - 1
    assert note(SOURCE_FIRST, budget=budget) == "From the earlier session: 7 mugs at $4 each."
    more = replace(SUM, listed=(*SUM.listed, "12 ladders at $30 each, to be fetched from the yard behind the station"))
    tagged = (
        "From the earlier session: 7 mugs at $4 each; 9 pens at $2 each. (2 of 3 lines kept; the rest was not kept.)"
    )
    assert note(TAGGED, budget=len(tagged), problem=more) == tagged
    assert note(TAGGED, budget=len(tagged) - 1, problem=more) == (
        "From the earlier session: 7 mugs at $4 each. (1 of 3 lines kept; the rest was not kept.)"
    )


def test_the_padded_note_is_exactly_as_long_as_the_fix():
    """Padded has the length of source-first at the same budget, of lossy text and sentences that say nothing."""
    for problem in (*tasks.arithmetic(6), *tasks.logic(6), *tasks.ledger(3, 9)):
        for integrity in (0.3, 0.1):
            padded, lossy, fix = (note(name, integrity, 400, problem) for name in (PADDED, LOSSY, SOURCE_FIRST))
            assert padded.startswith(lossy)
            assert len(padded) == max(len(lossy), len(fix))
            assert not any(line in padded for line in problem.listed)
    assert len(note(PADDED, 1.0)) == len(note(LOSSY, 1.0))


def test_denoised_keeps_what_was_bought():
    """What was only considered is in the note in order of mention, and not in the denoised one, which is as long."""
    assert "rugs" in note(SOURCE_FIRST, problem=NOISE)
    told = note(DENOISED, budget=200, problem=NOISE)
    assert told.startswith(f"From the earlier session: {LINES} ")
    assert "rugs" not in told
    assert len(told) == 200


@given(
    st.sampled_from(sorted(POLICIES)), st.integers(140, 700), st.sampled_from((1.0, 0.6, 0.3, 0.1)), st.integers(2, 20)
)
@settings(max_examples=80, deadline=None)
def test_every_note_fits_its_budget(name, budget, integrity, items):
    """From the length of premise and conclusion on, no policy writes more than it may."""
    problem = tasks.ledger(1, items, items)[0]
    least = len(
        f"{policies.HEAD} A note said that {problem.premise}. You concluded, for {problem.ask}: ${problem.attractor}."
    )
    assert len(note(name, integrity, max(budget, least), problem)) <= max(budget, least)


def test_candidates_are_named_and_nothing_else():
    """The note for the guess floor names all candidates, and no clue."""
    puzzle = tasks.logic(1)[0]
    told = note(CANDIDATES, problem=puzzle)
    assert told == f"From the earlier session: the answer is one of {', '.join(puzzle.options)}."
