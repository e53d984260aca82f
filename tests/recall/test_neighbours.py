"""What stands around a row in its session, and what it adds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.answer import Query, Scope
from firsthand.event import Draft, Kind
from firsthand.index.text import TextIndex
from firsthand.log import append
from firsthand.log.log import Log
from firsthand.recall.attempt import Attempt, Scored, Search
from firsthand.recall.neighbours import REPLY_SHARE, SHARES, cut

FILLING = "some words that nobody asks for stand here and make this row as long as any other row of it is"


@pytest.fixture
def log(tmp_path):
    """An empty store with a text index."""
    opened = Log(tmp_path / "store", indexes=(TextIndex(),))
    yield opened
    opened.close()


def put(log: Log, *texts: str, session: str = "s", agent: str = "") -> list[int]:
    drafts = [Draft(Kind.USER_MESSAGE, text.encode(), agent=agent) for text in texts]
    return [one.position for one in log.append(drafts, namespace="default", session=session)]


def attempt(log: Log, text: str, *, scope: Scope | None = None, without=frozenset(), around=1.0) -> Attempt:
    reader = log.reader
    search = Search(
        reader, "default", reader.namespace_key("default"), reader.head("default")[0], Query(text), around=around
    )
    return search.attempt(text, scope or Scope(), "as asked", without=without)


def ranked(found: Attempt) -> dict[int, Scored]:
    return {one.position: one for one in found.ranked}


lengths = st.integers(0, 10_000)


@given(lengths, lengths, lengths)
def test_a_neighbour_counts_wholly_unless_it_is_shorter(neighbour, longer, row):
    """The cut is above 0 and at most 1, is 1 for a neighbour at least as long, and grows with the neighbour."""
    assert 0.0 < cut(neighbour, row) <= 1.0
    assert cut(neighbour + row, row) == 1.0
    assert cut(neighbour, row) <= cut(neighbour + longer, row)


def test_a_row_gets_its_shares_of_what_its_neighbours_score(log):
    """The one before and the one behind add half of their own score, the second before a fifth; others nothing."""
    put(log, *[f"{word} {FILLING}" for word in ("heron", "heron", "crow", "heron", "heron")])
    found = ranked(attempt(log, "crow heron"))
    heron = found[1].found_by["words"]
    shares = SHARES[-2] + SHARES[-1] + SHARES[1]
    assert found[3].found_by["neighbours"] == pytest.approx(shares * heron, rel=1e-3)
    assert found[3].position == max(found.values(), key=lambda one: one.base).position


@pytest.mark.parametrize("mark", ["?", '?"', "\uff1f "])
def test_the_reply_to_a_short_question_gets_more(log, mark):
    """What answers a question of the query's words is raised by it more than what follows a statement."""
    asked, _, told, _ = put(
        log, f"where is the heron{mark}", "the gate, a bird", "here was the heron.", "the gate, a bird", session="a"
    )
    found = ranked(attempt(log, "heron gate"))
    heron = found[asked].found_by["words"]
    assert found[told].found_by["words"] == pytest.approx(heron)
    more = found[asked + 1].found_by["neighbours"] - found[told + 1].found_by["neighbours"]
    # The reply to the question has the other heron behind it, the last row has nothing; and the first gate before it.
    gate = found[asked + 1].found_by["words"]
    assert REPLY_SHARE > 0
    assert more == pytest.approx((REPLY_SHARE + SHARES[1]) * heron - SHARES[-2] * gate, rel=1e-3)


def test_a_long_question_says_enough_by_itself(log):
    """The reply to a question of more than forty tokens gets no more than what follows a statement."""
    filling = f"{FILLING} {FILLING} {FILLING}"
    put(log, f"{filling} where is the heron?", "the gate", session="a")
    put(log, f"{filling} here was the heron.", "the gate", session="b")
    found = ranked(attempt(log, "heron gate"))
    assert found[2].found_by["neighbours"] == pytest.approx(found[4].found_by["neighbours"])


def test_nothing_is_found_by_its_neighbours_alone(log):
    """An event without a word of the query is no hit, whatever stands beside it."""
    put(log, "heron", "yes", "heron")
    assert set(ranked(attempt(log, "heron"))) == {1, 3}


def test_sessions_lie_apart(log):
    """The last event of one session is no neighbour of the first of the next one."""
    put(log, "heron", session="a")
    put(log, "heron", session="b")
    assert ["neighbours" in one.found_by for one in attempt(log, "heron").ranked] == [False, False]


def test_a_neighbour_outside_the_scope_still_says_what_it_stands_beside(log):
    """A scope decides what is a hit, not what a hit is understood by."""
    put(log, "heron gate", agent="ann")
    put(log, "heron", agent="bob")
    found = ranked(attempt(log, "heron gate", scope=Scope(agents=("bob",))))
    assert set(found) == {2}
    assert found[2].found_by["neighbours"] > 0


def test_what_is_taken_as_not_there_is_neither_hit_nor_neighbour(log):
    """Without a position the others are ranked as if it said nothing."""
    put(log, "heron one", "heron two", "heron three")
    found = ranked(attempt(log, "heron", without=frozenset({2})))
    assert set(found) == {1, 3}
    assert "neighbours" not in found[1].found_by
    assert found[3].found_by["neighbours"] == pytest.approx(SHARES[-2] * found[1].found_by["words"])


def test_the_switch_leaves_neighbours_out(log):
    """With neighbours off a base is of the row alone."""
    put(log, "heron one", "heron two")
    assert ["neighbours" in one.found_by for one in attempt(log, "heron", around=0.0).ranked] == [False, False]


def test_what_waits_to_be_indexed_counts_like_what_is(tmp_path, monkeypatch):
    """The same events give the same bases, in the index, in the log alone, and half of them in each."""
    texts = ["where is the heron?", "by the gate", "the heron flew", "no gate there", "heron, gate, crow"] * 3
    answers = []
    for backlog in (1, 7, 1_000):
        monkeypatch.setattr(append, "BACKLOG_EVENTS", backlog)
        log = Log(tmp_path / str(backlog), indexes=(TextIndex(),))
        for text in texts:
            put(log, text)
        found = attempt(log, "heron gate crow").ranked
        answers.append([(one.position, one.base) for one in found])
        log.close()
    assert answers[0] == answers[1] == answers[2]
