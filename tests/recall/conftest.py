"""A store, and what ranks its events for a question."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from firsthand import Moment
from firsthand.answer import Query
from firsthand.recall.query import Deadline
from firsthand.recall.ranking import Ranking, rank

Rank = Callable[..., Ranking]
HOUR = 3_600_000_000
START = Moment(1_700_000_000_000_000)  # Tuesday, 14 November 2023, 22:13 UTC


@pytest.fixture
def ranking(memory) -> Rank:
    """Rank the events of a question; what `rank` does not take is a field of the query."""

    def ranked(text, *, near=None, texts=None, strengths=None, deadline=None, **fields):
        with memory.index_moment() as moment:
            query = Query(text, **fields)
            limit = deadline or Deadline(60_000)
            return rank(moment, query, near=near, texts=texts, strengths=strengths, deadline=limit)

    return ranked


@pytest.fixture
def order(ranking) -> Callable[..., list[int]]:
    """Give the positions of a question's events, best first."""
    return lambda text, **options: [event.position for event in ranking(text, **options).ranked]


@pytest.fixture
def texts(memory, order) -> Callable[..., list[str]]:
    """Give the texts of a question's events, best first."""

    def of(text, **options):
        positions = order(text, **options)
        return [event.text for event in memory.log.reader.events_at(memory.namespace, positions)]

    return of


@pytest.fixture
def talk(memory) -> Callable[..., list[int]]:
    """Append lines to a session as said in turns by two speakers, an hour apart; give their positions."""

    def said(session, *lines, start=START, agents=("Ana", "Ben")):
        turns = memory.session(session)
        return [
            (turns.user if number % 2 == 0 else turns.agent)(
                line, agent=agents[number % 2], time=Moment(start.microseconds + number * HOUR)
            ).position
            for number, line in enumerate(lines)
        ]

    return said
