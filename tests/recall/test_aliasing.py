"""Near-identical names: the number in the query decides (recall-problem 7.6, 8.4)."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from firsthand import Moment, Outcome

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from aliasing_bench import TOP, fill, rank
from numbered_series import SERIES, Series, members

RATE_MIN = 0.95


@pytest.mark.parametrize("size", [10, 100])
@pytest.mark.parametrize("series", SERIES, ids=lambda series: series.name)
def test_a_member_is_found_by_its_name(memory, series: Series, size: int):
    """Of the members of a series, asked for by name, 95 of 100 are among the first three hits, and 90 the first."""
    made = members(series, size, seed=3)
    positions = fill(memory, made)
    asked = range(0, size, max(1, size // 20))
    ranks = [rank(memory, question, positions[at]) for at in asked for question in made[at].questions]
    assert sum(one <= TOP for one in ranks) / len(ranks) >= RATE_MIN
    assert sum(one == 1 for one in ranks) / len(ranks) >= 0.9
    assert memory.verify(deep=True).problems == ()


def test_an_own_name_comes_before_mentions(memory):
    """The event of that session comes first, although others say its number more often and more exactly."""
    own = memory.session("proving-medqa-032").user("the run passed")
    for number in (31, 33, 34, 35, 36):
        memory.session(f"proving-medqa-{number:03}").user(
            "as in proving-medqa-032: proving-medqa-032, medqa 32, case 32"
        )
    for query in ("proving-medqa-032", "proving medqa 032", "medqa 32"):
        assert memory.recall(query).hits[0].pointer == own.pointer


def test_leading_zeros_make_no_other_number(memory):
    """A number is found with and without its leading zeros, in the document as in the query, and no other one is."""
    padded, plain = memory.session("s").user("case 007 was closed"), memory.session("s").user("case 31 was closed")
    memory.session("s").user("case 70 was closed")
    assert [memory.recall(query).hits[0].pointer for query in ("case 7", "case 007", "case 31", "case 0031")] == [
        padded.pointer, padded.pointer, plain.pointer, plain.pointer,
    ]  # fmt: skip


def test_a_session_is_found_by_words_of_its_name(memory):
    """Words that stand in a session's name alone find its events; those of another session are not among them."""
    for name in ("kitchen-renovation", "garden-shed"):
        for number in range(20):
            memory.session(name).user(f"message {number} about the budget")
    answer = memory.recall("kitchen")
    assert {hit.session for hit in answer} == {"kitchen-renovation"}


@pytest.mark.parametrize("query", ["8 May 2023", "May 8, 2023", "2023-05-08", "what happened on the 8th of May 2023?"])
def test_a_day_finds_what_happened_then(memory, query):
    """A day, however it is spelled, finds the event of that day, by the clock it was told in."""
    session = memory.session("s")
    for day in range(1, 29):
        local = Moment((19_478 + day) * 86_400_000_000 + 82_800_000_000 - 18_000_000_000, 300)  # 23:00 at +05:00
        session.user("we met and talked", time=local)
    answer = memory.recall(query)
    assert str(answer.hits[0].time).startswith("2023-05-08T23:00")


def test_a_month_finds_what_happened_in_it(memory):
    """A month with its year finds its events, and the modal verb finds none."""
    session = memory.session("s")
    for month in range(12):
        session.user("we met and talked", time=Moment((19_358 + 30 * month) * 86_400_000_000))
    first = [str(hit.time)[:7] for hit in memory.recall("May 2023").hits[:1]]
    assert first == ["2023-05"]
    assert memory.recall("may").outcome is Outcome.ABSENT


@pytest.mark.parametrize("query", ["word5 item7", "item42 word9"])
def test_a_commoner_number_in_a_name_does_not_beat_a_rarer_one(memory, query):
    """A row called by one number of the question that lacks a rarer one stands behind the row with that."""
    chance = random.Random(1)
    session = memory.session("s")
    for number in range(300):
        session.user(" ".join(f"word{chance.randrange(300)}" for _ in range(12)) + f" item{number}")
    item = next(word for word in query.split() if word.startswith("item"))
    assert item in memory.recall(query).hits[0].preview.split()
