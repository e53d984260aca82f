"""Candidates: which rows are worth reading, told on a real index."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.answer import Scope
from firsthand.event import Draft, Kind
from firsthand.index.text import TextIndex
from firsthand.index.tokenizer import tokenizer
from firsthand.log.log import Log
from firsthand.recall import candidates
from firsthand.recall.candidates import SPECIAL_ROWS, SPECIAL_ROWS_MAX, Candidates
from firsthand.recall.lexical import Deadline, Lexical
from firsthand.recall.match import wanted
from firsthand.recall.neighbours import SHARES
from firsthand.recall.plan import ask, plan
from firsthand.recall.rank import Frequencies


@pytest.fixture
def log(tmp_path):
    """An empty store with a text index."""
    opened = Log(tmp_path / "store", indexes=(TextIndex(),))
    yield opened
    assert opened.verify().ok
    opened.close()


def put(log, *texts, session="s"):
    drafts = [Draft(Kind.USER_MESSAGE, text.encode()) for text in texts]
    return [one.position for one in log.append(drafts, namespace="default", session=session)]


def lexical(log, scope=None):
    return Lexical(log.reader.indexed(1), 1, scope or Scope(), Deadline(60_000))


def made(log, text, postings_max=30_000, scope=None):
    index, tokenize = lexical(log, scope), tokenizer(log.reader.db)
    question = ask(text, tokenize)
    df = index.frequencies(question)
    frequencies = Frequencies(index.size.rows, index.size.tokens_mean, df)
    planned = plan(question, df, postings_max)
    return Candidates(index, planned, wanted(question, tokenize), tokenize, None, frequencies.idf)


def test_what_holds_all_words_is_what_the_index_says(log):
    """The rows that hold every word are those of FTS5's own AND, newest first, inside the scope and without one."""
    for number in range(60):
        texts = (f"crow {number}", "heron", f"crow heron {number}") if number % 3 else ("the heron and the crow",)
        put(log, *texts, session=f"s{number % 5}")
    for scope in (Scope(), Scope(("s2",)), Scope(without_sessions=("s1", "s3")), Scope(after_position=70)):
        asked = made(log, "crow heron", scope=scope)
        wanted_rows = lexical(log, scope).newest('"crow" AND "heron"', SPECIAL_ROWS)
        assert asked.together == wanted_rows
        assert len(wanted_rows) > 3


def test_many_strings_bring_a_bounded_number_of_rows(log):
    """Of a payload of many strings each with rows of its own, those of the rarest strings are read."""
    names = [f"name_{number}_of" for number in range(12)]
    for name in names:
        put(log, *[f"{name} stands here"] * SPECIAL_ROWS)
    rare = put(log, "rare_string_one says it")
    rows = made(log, " ".join([*names, "rare_string_one"])).special()
    assert len(rows) == SPECIAL_ROWS_MAX
    assert rare[0] in rows


def test_a_phrase_is_found_among_many_rows_that_hold_its_words(log):
    """A row that says the very question is read, however many newer ones hold its words, close together or not."""
    question = "please ask the crow of the heron about it"
    (position,) = put(log, question)
    put(log, *["the heron, said to ask of it about the crow please"] * 3 * SPECIAL_ROWS)
    assert position in made(log, question).special()
    put(log, *[f"ask {'of it all ' * 30} crow {'the ' * 30} heron please about"] * 3 * SPECIAL_ROWS)
    assert position in made(log, question).special()


LISTS = st.lists(
    st.tuples(st.sets(st.integers(1, 40), max_size=15).map(sorted), st.integers(1, 9).map(float)),
    min_size=1,
    max_size=4,
)


@given(LISTS)
def test_a_row_is_raised_by_those_beside_it(lists):
    """What rows are worth is what they hold and the shares of the rows beside them; one left out is worth its word."""
    rows = {row for held, _ in lists for row in held}
    own = {row: sum(weight for held, weight in lists if row in held) for row in rows}
    wanted_worth = {
        row: own[row]
        + SHARES[-1] * own.get(row - 1, 0.0)
        + SHARES[1] * own.get(row + 1, 0.0)
        + SHARES[-2] * own.get(row - 2, 0.0)
        for row in rows
    }
    raised = candidates._raised([held for held, _ in lists], [weight for _, weight in lists])
    alone = {row: weight for held, weight in lists for row in held if row not in raised}
    assert raised | alone == pytest.approx(wanted_worth)


@given(st.dictionaries(st.integers(1, 99), st.integers(1, 4).map(float), max_size=60), st.integers(1, 70))
def test_the_best_rows_are_the_first_of_the_whole_order(worth, count):
    """The best of rows are the first when all are sorted by worth, of equals the newest first."""
    order = sorted(worth, key=lambda row: (worth[row], row), reverse=True)
    assert candidates.best_of(worth, count) == order[:count]
