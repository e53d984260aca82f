"""Clues: constraints of puzzles read out of sentences, and the answer that all arrangements share."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand_evals.probe.clues import PEOPLE_MAX, answers, clue_of, is_listing, puzzle_of

SEATS = "Ines, Ben and Ana sit in seats 1 to 3, counted from left to right."
JOBS = "Ines, Ben and Ana are the cook, driver and clerk, one job each."


def solve(listing: str, clues: list[str], asked: str) -> frozenset[str]:
    puzzle = puzzle_of([listing, *clues])
    read = [clue for text in clues if (clue := clue_of(text, puzzle)) is not None]
    assert len(read) == len(clues), [text for text in clues if clue_of(text, puzzle) is None]
    return answers(puzzle, read, asked)


@pytest.mark.parametrize(
    "clue",
    [
        "Ines sits directly to the left of Ben",
        "Ben sits directly to the right of Ines",
        "Ines is immediately left of Ben",
        "Ben sits right next to Ines, on the right side",
        "Ines stands directly before Ben",
        "Ben comes directly after Ines",
    ],
)
def test_one_order_in_many_words(clue):
    """Left, right, before, after and beside on a side say the same."""
    assert solve(SEATS, [clue, "Ana is not in seat 1"], "who sits in seat 3") == {"Ana"}


@pytest.mark.parametrize(
    ("clues", "asked", "answer"),
    [
        (["Ines is older than Ben", "Ana is younger than Ben"], "who is the oldest", "Ines"),
        (["Ines is older than Ben", "Ana is younger than Ben"], "who is the youngest", "Ana"),
        (["Ines is first", "Ben is not last"], "who is last", "Ana"),
        (["Ines is in the middle", "Ben is left of Ines"], "who is leftmost", "Ben"),
        (["Ines and Ben do not sit next to each other", "Ines is left of Ana"], "who sits in seat 3", "Ben"),
        (
            ["Ana is either first or third", "Ben is ahead of Ana", "Ines is not in seat 2"],
            "who is in the middle",
            "Ben",
        ),
        (["Seat 2 is not Ben's", "Ana sits in seat 1"], "who sits in seat 2", "Ines"),
    ],
)
def test_orders(clues, asked, answer):
    """Comparisons, places, ends, the middle and neighbours are constraints of one order."""
    assert solve(SEATS, clues, asked) == {answer}


@pytest.mark.parametrize(
    ("clues", "asked", "answer"),
    [
        (["Ben is not the cook", "Ana is the driver"], "who is the cook", "Ines"),
        (["The cook is Ben or Ana", "Ana is neither the cook nor the clerk"], "who is the clerk", "Ines"),
        (
            ["Either Ana or Ines is the driver", "Ines does not work as the driver", "Ben is not the clerk"],
            "the clerk",
            "Ines",
        ),
        (["Ben is the cook", "Ana is not the clerk"], "which job has Ana", "driver"),
    ],
)
def test_roles(clues, asked, answer):
    """Is, is not, either, neither and a list of people determine who is what."""
    assert solve(JOBS, clues, asked) == {answer}


def test_an_order_and_jobs_at_once():
    """A clue may say of a job where its holder sits."""
    puzzle = puzzle_of([SEATS, JOBS, "x"])
    texts = ["The cook sits directly to the left of Ana", "Ben is the cook", "Ana sits in seat 3"]
    assert answers(puzzle, [clue_of(text, puzzle) for text in texts], "who sits in seat 1") == {"Ines"}


def test_no_answer_where_the_clues_leave_several_or_none():
    """Clues that leave two arrangements give both answers, clues that contradict each other none."""
    assert len(solve(JOBS, ["Ben is not the cook"], "who is the cook")) == 2
    assert solve(JOBS, ["Ben is the cook", "Ana is the cook"], "who is the cook") == frozenset()


def test_a_listing_is_no_clue_and_a_remark_neither():
    """Who there is, is told apart from how they are arranged; other sentences are neither."""
    puzzle = puzzle_of([JOBS, "Ben is not the cook"])
    assert is_listing(JOBS, puzzle)
    assert not is_listing("Ben is not the cook", puzzle)
    assert clue_of("Thanks, that helps.", puzzle) is None


def test_more_people_than_can_be_tried_give_no_answer():
    """Beyond `PEOPLE_MAX` nothing is tried."""
    names = ["Ana", "Ben", "Cleo", "Dov", "Edda", "Finn", "Gita", "Hugo", "Ines"][: PEOPLE_MAX + 1]
    puzzle = puzzle_of([f"{', '.join(names[:-1])} and {names[-1]} stand in a line.", "Ana is first", "Ben is last"])
    assert answers(puzzle, [clue_of("Ana is first", puzzle)], "who is first") == frozenset()


@given(
    st.permutations(["Ana", "Ben", "Cleo", "Dov"]),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=4),
)
def test_the_answers_are_those_of_all_arrangements_that_fit(order, pairs):
    """For any true clues of an order, the answers are those that trying every arrangement by hand gives."""
    pairs = [(one, other) for one, other in pairs if one < other]
    clues = [f"{order[one]} stands somewhere before {order[other]}" for one, other in pairs]
    listing = "Ana, Ben, Cleo and Dov stand in a line."
    puzzle = puzzle_of([listing, *clues])
    first = {
        tried[0]
        for tried in permutations(order)
        if all(tried.index(order[one]) < tried.index(order[other]) for one, other in pairs)
    }
    found = answers(puzzle, [clue_of(text, puzzle) for text in clues], "who is first in the line")
    assert found <= first
    assert (len(found) == 1) == (len(first) == 1)
