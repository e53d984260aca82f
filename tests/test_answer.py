"""Queries and answers as values."""

from __future__ import annotations

import pytest

from firsthand.answer import QUERY_CHARACTERS_MAX, Answer, Band, Hit, Outcome, Query, Scope
from firsthand.errors import QueryError
from firsthand.event import Kind, Trust

HIT = Hit("fh:x", 1.0, {"words": 1.0}, "p", (), (), 1, Kind.NOTE, "s", 0, "", "", Trust.AGENT, None, 1)


def test_a_query_has_defaults_and_an_open_scope():
    """A query needs its text alone, and then looks everywhere."""
    query = Query("text")
    assert (query.hits_max, query.budget_tokens_max, query.skip, query.deadline_ms) == (10, 4_000, 0, 2_000)
    assert query.scope == Scope()
    assert query.scope.everything
    assert not Scope(sessions=("s",)).everything
    assert not Scope(trust_max=Trust.AGENT).everything
    assert not Scope(without_sessions=("s",)).everything


@pytest.mark.parametrize("name", ["hits_max", "budget_tokens_max", "skip", "deadline_ms"])
@pytest.mark.parametrize("wrong", [-1, 10**12, float("nan"), 1.0, True, "1", None])
def test_numbers_out_of_range_are_refused(name, wrong):
    """Each number of a query is whole and within its limits; the error names it and what came."""
    with pytest.raises(QueryError, match=name):
        Query("text", **{name: wrong})


def test_the_edges_of_the_numbers():
    """The least and the greatest of each number are taken."""
    Query("", hits_max=1, budget_tokens_max=1, skip=0, deadline_ms=1)
    Query("x" * QUERY_CHARACTERS_MAX, hits_max=200, budget_tokens_max=10_000_000, skip=100_000, deadline_ms=3_600_000)


@pytest.mark.parametrize(
    "text", [None, 5, b"bytes", ["list"], "x" * (QUERY_CHARACTERS_MAX + 1)], ids=lambda t: str(t)[:9]
)
def test_what_is_no_query(text):
    """A query is text of at most 100,000 characters."""
    with pytest.raises(QueryError):
        Query(text)


def test_an_answer_is_its_hits():
    """An answer is as long, as true and as iterable as its hits."""
    full, empty = Answer(Query("q"), Outcome.FOUND, (HIT, HIT)), Answer(Query("q"), Outcome.ABSENT, ())
    assert (bool(full), len(full), list(full)) == (True, 2, [HIT, HIT])
    assert (bool(empty), len(empty), list(empty)) == (False, 0, [])


def test_the_outcomes():
    """The types of an answer, in the words that users read."""
    assert [outcome.value for outcome in Outcome] == ["found", "absent", "filtered", "degraded"]


def test_bands_have_an_order():
    """A band reaches those below it and itself, and no more."""
    assert [band.value for band in Band] == ["unlikely", "possible", "likely"]
    assert [band for band in Band if band.reaches(Band.POSSIBLE)] == [Band.POSSIBLE, Band.LIKELY]
    assert Answer(Query("q"), Outcome.ABSENT, ()).band is Band.UNLIKELY


@pytest.mark.parametrize(
    "fields",
    [
        {"sessions": "s"}, {"sessions": [5]}, {"sessions": ["\ud800"]}, {"sessions": None}, {"sessions": 5},
        {"agents": [b"a"]}, {"agents": "a"}, {"agents": ["a"] * 201}, {"kinds": ["no kind"]}, {"kinds": [99]},
        {"kinds": [None]}, {"kinds": "note"}, {"since": "2026-01-01"}, {"until": 1.5}, {"trust_max": "agent"},
        {"trust_max": 2}, {"after_position": "1"}, {"after_position": -1}, {"before_position": True},
        {"before_position": 1 << 70}, {"without_sessions": "s"}, {"without_sessions": ["a"] * 201},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_scope(fields):
    """A field that cannot be used is refused by its name, with what was expected."""
    (name,) = fields
    with pytest.raises(QueryError, match=name):
        Scope(**fields)


def test_a_scope_takes_lists_and_words_and_keeps_tuples_and_members():
    """Lists become tuples and words kinds, so that equal scopes are equal however they were written."""
    written = Scope(["a"], {"b"}, ["note", Kind.TOOL_CALL])
    assert written == Scope(("a",), ("b",), (Kind.NOTE, Kind.TOOL_CALL))
    assert hash(written) == hash(Scope(("a",), ("b",), (Kind.NOTE, Kind.TOOL_CALL)))


def test_a_query_has_a_scope():
    """What is no scope is refused as a query's scope."""
    for wrong in (None, {"sessions": ["a"]}, "s"):
        with pytest.raises(QueryError, match="scope"):
            Query("text", wrong)
