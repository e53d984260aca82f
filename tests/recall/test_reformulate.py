"""In which other words a question is asked again."""

from __future__ import annotations

import apsw
import pytest

from firsthand.answer import Scope
from firsthand.event import Kind
from firsthand.index.tokenizer import tokenizer
from firsthand.moment import Moment, parse
from firsthand.recall import reformulate
from firsthand.recall.plan import ask
from firsthand.recall.rank import Frequencies
from firsthand.recall.reformulate import First, Seen, Weighed, Wording, wordings
from firsthand.recall.stop_words import STOP_WORDS
from firsthand.recall.when import read

NOW = parse("2023-05-17T12:00:00Z")
ROWS = 1_000


def at(text: str) -> Moment:
    found = parse(text)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def weigh():
    """The tokenizer of the index, over a store in which every word stands in 5 rows, and "team" in most."""
    db = apsw.Connection(":memory:")
    tokenize = tokenizer(db)

    def weighed(text: str) -> Weighed:
        question = ask(text, tokenize)
        terms = (*question.words, *question.stop_words, *question.strings)
        return Weighed(question, {term.key: 900 if term.key == "team" else 5 for term in terms})

    yield weighed
    db.close()


@pytest.fixture
def first(weigh):
    """Make a first attempt of a question, of rows and their texts."""

    def made(text, *, rows=(), texts=(), df=None, scope=None, triggers=False) -> First:
        weighed = weigh(text)
        frequencies = Frequencies(ROWS, 20.0, weighed.df if df is None else df)
        return First(
            weighed.question, frequencies, scope or Scope(), tuple(rows), tuple(texts), read(text, NOW), triggers
        )

    return made


def test_the_exact_strings_of_a_message_are_asked_alone(first):
    """Paths, identifiers and quotes of a message of many words become one query; of a short one none."""
    long = first('please look again why the nightly build stopped in src/app/main.py after "exit code 3" came up')
    assert list(reformulate.exact_strings(long)) == [Wording("exact strings", 'src/app/main.py "exit code 3"', Scope())]
    assert list(reformulate.exact_strings(first("open src/app/main.py now"))) == []
    assert list(reformulate.exact_strings(first("please look again why the nightly build stopped"))) == []


def test_a_time_is_searched_within_and_a_little_after(first):
    """The other words are asked within the span, open for three days after its end."""
    (one,) = reformulate.in_time(first("what did Ann paint in March 2023?"))
    assert one == Wording(
        "time words",
        "what did Ann paint",
        Scope(since=at("2023-03-01T00:00:00Z"), until=at("2023-04-03T23:59:59.999999Z")),
    )


def test_of_several_readings_the_one_with_the_best_rows_is_taken(first):
    """A bare "in March" is the March in which rows of the first attempt lie, and the latest one without any."""
    text = "what did Ann paint in March?"
    row = Seen(7, 0.5, at("2021-03-09T10:00:00Z"), frozenset())
    (found,) = reformulate.in_time(first(text, rows=[row]))
    (latest,) = reformulate.in_time(first(text))
    assert (str(found.scope.since)[:10], str(latest.scope.since)[:10]) == ("2021-03-01", "2023-03-01")


def test_a_time_never_leaves_the_scope_asked_for(first):
    """A span is cut to the scope; one outside of it is not asked."""
    scope = Scope(sessions=("s",), since=at("2023-03-10T00:00:00Z"), until=at("2023-03-20T00:00:00Z"))
    (one,) = reformulate.in_time(first("what was it in March 2023?", scope=scope))
    assert one.scope == scope
    assert list(reformulate.in_time(first("what was it in May 2022?", scope=scope))) == []


def test_an_event_named_as_a_time_bounds_the_search(first):
    """The row that holds the words of "before the migration" is the bound: by its time, or its place without one."""
    text = "which table was dropped before the database migration?"
    told = Seen(40, 0.3, at("2023-02-02T00:00:00Z"), frozenset({"databas", "migrat"}))
    other = Seen(50, 0.9, at("2023-01-01T00:00:00Z"), frozenset({"tabl"}))

    def bound(row: Seen, text: str = text) -> list[Wording]:
        asked = first(text, rows=[other, row])
        return list(reformulate.by_anchor(asked, lambda t: Weighed(ask_of(t, asked), {})))

    def ask_of(t: str, asked: First):
        words = tuple(term for term in asked.question.words if term.word.lower() in t.lower())
        return type(asked.question)(t, words, (), (), (), 0)

    assert bound(told) == [Wording("named time", "which table was dropped ?", Scope(until=at("2023-02-02T00:00:00Z")))]
    unknown = Seen(40, 0.3, None, frozenset({"databas", "migrat"}))
    assert bound(unknown) == [Wording("named time", "which table was dropped ?", Scope(before_position=41))]
    assert bound(Seen(40, 0.3, None, frozenset({"tabl"}))) == []
    after = text.replace("before", "after")
    assert [one.scope for one in bound(told, after)] == [Scope(since=at("2023-02-02T00:00:00Z"))]
    assert [one.scope for one in bound(unknown, after)] == [Scope(after_position=39)]


def test_the_questions_of_a_message_are_asked_one_by_one(first):
    """Of what is said and asked, the questions alone; a lone question, and a message that asks nothing, have none."""
    one = first("The build is slow today. Who owns the cache server?")
    assert list(reformulate.parts(one)) == [Wording("the question in it", "Who owns the cache server?", Scope())]
    two = first("The build is slow today. Who owns the cache server and when was the disk replaced?")
    assert list(reformulate.parts(two)) == [
        Wording("part", "Who owns the cache server", Scope()),
        Wording("part", "when was the disk replaced?", Scope()),
    ]
    assert list(reformulate.parts(first("Who owns the cache and the disk?"))) == []
    assert list(reformulate.parts(first("It is slow. It is old."))) == []
    many = first(" ".join(f"What is thing number{n} called?" for n in range(9)))
    assert len(list(reformulate.parts(many))) == reformulate.PARTS_MAX


def test_a_message_with_one_question_asks_that(first):
    """What is said of time beside the question bounds nothing."""
    said = "I was ill yesterday and stayed at home. What did Ann paint in March 2023?"
    assert reformulate.asked(said) == "What did Ann paint in March 2023?"
    assert reformulate.asked("Who is it? Where is she?") == "Who is it? Where is she?"
    assert reformulate.asked("What did Ann paint?") == "What did Ann paint?"


def test_key_terms_are_the_rarest_that_the_store_has(first):
    """Four of the words that stand anywhere stay, in their order; what is common or unknown goes."""
    question = "heron finch swan crow wren robin"
    df = {"heron": 9, "finch": 1, "swan": 3, "crow": 0, "wren": 2, "robin": 4}
    (one,) = reformulate.key_terms(first(question, df=df))
    assert one == Wording("key terms", "finch swan wren robin", Scope())
    assert list(reformulate.key_terms(first("finch swan wren", df=df))) == []


def test_words_of_the_best_rows_are_added(first, weigh):
    """What the best rows say and the question does not, is asked too; stop words, common and lone words are not."""
    rows = [Seen(1, 0.9, None, frozenset()), Seen(2, 0.1, None, frozenset())]
    asked = first("invoice", rows=rows, texts=["the invoice portal team rejected it", "unrelated"])
    (one,) = reformulate.feedback(asked, weigh)
    assert one == Wording("terms of its hits", "invoice portal rejected unrelated", Scope())
    lone = lambda text: Weighed(weigh(text).question, dict.fromkeys(weigh(text).df, 1))  # noqa: E731
    assert list(reformulate.feedback(asked, lone)) == []
    assert list(reformulate.feedback(first("invoice"), weigh)) == []
    drowned = first("invoice", rows=rows[:1], texts=[f"{' '.join(sorted(STOP_WORDS) * 2)} portal"])
    assert [one.text for one in reformulate.feedback(drowned, weigh)] == ["invoice portal"]


def test_the_rule_question_is_asked_of_notes_where_there_are_situations(first, weigh):
    """Rules are asked for with the question's own words among notes alone, and only where the store has any."""

    def rules(**given) -> list[Wording]:
        return [one for one in wordings(first("stuck again", **given), weigh) if one.how == "rules"]

    assert rules(triggers=True) == [Wording("rules", "stuck again", Scope(kinds=(Kind.NOTE,)))]
    assert rules() == []
    assert rules(triggers=True, scope=Scope(kinds=(Kind.USER_MESSAGE,))) == []


def test_wordings_come_in_a_fixed_order_and_are_made_when_asked_for(first, weigh):
    """What is likeliest to help comes first; a rewrite is not called before its turn."""
    text = (
        "The nightly build broke again in src/app/main.py and everybody waits for it. "
        "Who owns the cache server in March 2023?"
    )
    called = []
    row = Seen(1, 0.9, None, frozenset())
    asked = first(text, rows=[row], texts=["an invoice portal"], triggers=True)
    found = wordings(asked, weigh, lambda question: called.append(question) or ["other words"])
    assert next(found).how == "exact strings"
    assert called == []
    assert [one.how for one in found] == [
        "the question in it",
        "time words",
        "rewritten",
        "rules",
        "key terms",
        "terms of its hits",
    ]
    assert called == [text]


def test_one_word_is_no_set_of_key_terms(first):
    """Where the store has a single word of the question, asking for it alone would find whatever holds it."""
    assert list(reformulate.key_terms(first("heron finch swan", df={"heron": 2}))) == []
