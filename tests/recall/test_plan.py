"""How a query becomes terms, and which of them are ranked."""

from __future__ import annotations

import apsw
import pytest

from firsthand.index import words
from firsthand.index.tokenizer import tokenizer
from firsthand.recall import plan as plans
from firsthand.recall.plan import ask, budget, plan


@pytest.fixture(scope="module")
def tokenize():
    """The tokenizer of the index."""
    db = apsw.Connection(":memory:")
    yield tokenizer(db)
    db.close()


def keys(terms) -> list[str]:
    return [term.key for term in terms]


@pytest.mark.parametrize(
    "hostile",
    [
        '"',
        'say "hi',
        "AND",
        "a OR",
        "NEAR(",
        "*",
        "-x",
        "(",
        "^x",
        "text:x",
        "{text}:x",
        "a\0b",
        "x') OR '1'='1",
        "%_\\",
    ],
)
def test_no_character_of_a_query_is_an_operator(tokenize, hostile):
    """Whatever stands in a query, what FTS5 is asked is well formed and quoted."""
    db = apsw.Connection(":memory:")
    db.execute("CREATE VIRTUAL TABLE t USING fts5(text, exact, content='', contentless_delete=1)")
    question = ask(hostile, tokenize)
    for term in (*question.words, *question.stop_words, *question.strings):
        db.execute("SELECT rowid FROM t WHERE t MATCH ?", (term.match,)).fetchall()
    db.close()


def test_a_query_is_cut_by_the_tokenizer_of_the_index(tokenize):
    """Words are stemmed, stop words set apart, strings and pairs named, phrases kept as they stand."""
    question = ask('why does "Deploy Failed" in src/app.py 東京', tokenize)
    assert keys(question.words) == ["deploi", "fail", "src", "app", "py", words.token("東京")]
    assert keys(question.stop_words) == ["why", "doe", "in"]
    assert [term.word for term in question.strings] == ["src/app.py"]
    assert question.phrases == ("Deploy Failed", 'why does "Deploy Failed" in src/app.py 東京')
    assert not question.only_stop_words


def test_the_rarest_terms_are_ranked_until_the_budget_is_spent(tokenize):
    """Terms enter by rising frequency; the one that breaks the budget and all after it are common."""
    question = ask("heron crow finch swan", tokenize)
    planned = plan(question, {"heron": 50, "crow": 10, "finch": 40, "swan": 0}, 60)
    assert keys(planned.ranked) == ["crow", "finch"]
    assert keys(planned.common) == ["heron"]
    assert planned.terms == {"crow": 10, "finch": 40, "heron": 50}
    assert planned.notes == ("too common to search for, these words only rank what the others find: heron",)


def test_stop_words_count_but_are_asked_for_only_alone(tokenize):
    """A stop word is part of the score; it is searched for when there is nothing else."""
    df = {"the": 90, "of": 80, "crow": 1}
    assert keys(plan(ask("the crow", tokenize), df, 1_000).ranked) == ["crow"]
    assert plan(ask("the crow", tokenize), df, 1_000).terms == {"crow": 1, "the": 90}
    alone = ask("the of", tokenize)
    assert alone.only_stop_words
    assert keys(plan(alone, df, 1_000).ranked) == ["of", "the"]


def test_a_long_query_is_cut_to_its_rarest_terms_and_says_so(tokenize):
    """60 kB of words become a bounded number of terms, with a note."""
    text = " ".join(f"word{n}x" for n in range(8_000))
    question = ask(text, tokenize)
    assert len(question.words) == plans.LOOKUPS_MAX
    planned = plan(question, {term.key: 1 + n for n, term in enumerate(question.words)}, 10**9)
    assert keys(planned.ranked) == keys(question.words)[: plans.TERMS_MAX]
    assert planned.notes == ("the query has many terms: its 32 rarest were searched, 7,968 were left aside",)


def test_the_beginning_of_a_hash_is_asked_for_as_one(tokenize):
    """An abbreviated hash that is no word of the index is looked for as a prefix."""
    question = ask("3f2a9c1 deadbee", tokenize)
    assert [term.match for term in plan(question, {}, 100).prefixes] == ['"3f2a9c1" *']
    assert plan(question, {"3f2a9c1": 1}, 100).prefixes == ()


def test_strings_are_split_into_those_the_index_holds_and_those_it_does_not(tokenize):
    """A string whose token is not in the index may still be a part of one."""
    question = ask("a/b.py c/d.py", tokenize)
    planned = plan(question, {words.token("a/b.py"): 2}, 100)
    assert [term.word for term in planned.strings] == ["a/b.py"]
    assert [term.word for term in planned.absent_strings] == ["c/d.py"]


def test_the_budget_grows_with_the_index_up_to_its_limit():
    """A small index ranks 6,000 postings, a large one what the caller allows."""
    assert [budget(rows, 30_000) for rows in (10, 100_000, 800_000, 10**7)] == [6_000, 6_000, 20_000, 30_000]
    assert budget(10**7, 10_000) == 10_000
