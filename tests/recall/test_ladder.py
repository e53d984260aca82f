"""Asking again in other words, over real stores."""

from __future__ import annotations

import pytest

from firsthand.answer import Outcome, Query, Scope
from firsthand.errors import ModelError
from firsthand.event import Draft, Kind
from firsthand.index.text import TextIndex
from firsthand.log.log import Log
from firsthand.memory import Memory
from firsthand.moment import Moment, parse
from firsthand.recall import ladder
from firsthand.recall.attempt import Attempt, Scored, Search
from firsthand.recall.ladder import Try, climb, merge
from firsthand.recall.search import search
from firsthand.value import replace

NOW = parse("2023-05-17T12:00:00Z")
TEXTS = (
    ("2023-01-10T10:00:00Z", "Ann painted a boat for the school fair"),
    ("2023-02-10T10:00:00Z", "we moved the database to the new cluster in Lyon"),
    ("2023-03-10T10:00:00Z", "Ann painted a lighthouse on Tuesday"),
    ("2023-04-10T10:00:00Z", "the invoice portal rejected the upload of the boat invoice"),
    ("2023-05-10T10:00:00Z", "Ann painted the harbour at night"),
)


@pytest.fixture
def log(tmp_path):
    """A store of five events, a month apart."""
    opened = Log(tmp_path / "store", indexes=(TextIndex(),))
    for time, text in TEXTS:
        opened.append(
            [Draft(Kind.USER_MESSAGE, text.encode(), time=parse(time))], namespace="default", session=f"s-{time[:7]}"
        )
    yield opened
    opened.close()


def searching(log: Log, query: Query) -> Search:
    reader = log.reader
    return Search(reader, "default", reader.namespace_key("default"), reader.head("default")[0], query)


def climbed(log: Log, query: Query, sure=lambda attempt: 0.1, **given):
    """Climb with a gate that says what it is told to."""
    one = searching(log, query)
    first = one.attempt(query.text, query.scope, "as asked")
    return climb(first, one, sure, query, **{"first_ms": 1_000.0, "now": NOW, **given})


def hows(found) -> list[str]:
    return [hop.how for hop in found.hops]


def test_a_first_attempt_that_passes_is_the_only_one(log):
    """Where the gate passes the first attempt, nothing else is asked."""
    found = climbed(log, Query("what did Ann paint in March?"), lambda attempt: 0.8)
    assert [(hop.how, hop.passed) for hop in found.hops] == [("as asked", True)]
    assert found.best is found.tries[0]


def test_one_attempt_asked_for_is_one(log):
    """With `attempts_max=1` the first attempt stands, however unsure."""
    assert hows(climbed(log, Query("what did Ann paint in March?", attempts_max=1))) == ["as asked"]


def test_each_attempt_is_a_hop_with_its_words_hits_and_confidence(log):
    """A hop says what was asked, where it looked, what it found, and how sure it is."""
    query = Query("what did Ann paint in March?", attempts_max=2)
    found = climbed(log, query)
    asked, again = found.hops
    events = {event.text: f"fh:{event.id}" for event in log.reader.events("default")}
    assert (asked.query, asked.passed, asked.confidence) == (query.text, False, pytest.approx(0.1))
    assert again.how == "time words"
    assert again.query == "what did Ann paint (2023-03-01T00:00:00.000Z to 2023-04-03T23:59:59.999999Z)"
    assert again.hits == (events["Ann painted a lighthouse on Tuesday"],)
    assert again.confidence == pytest.approx(0.1 * ladder.RELIANCE["time words"])


def test_the_ladder_stops_where_an_attempt_passes(log):
    """An attempt over the threshold is the last one and the best one."""
    found = climbed(
        log, Query("what did Ann paint in March?", attempts_max=8), lambda a: 0.9 if a.how == "time words" else 0.2
    )
    assert hows(found)[-1] == "time words"
    assert [hop.passed for hop in found.hops] == [False] * (len(found.hops) - 1) + [True]
    assert found.best.attempt.how == "time words"


def test_an_event_named_as_a_time_bounds_an_attempt(log):
    """What happened "before we moved the database" is looked for before that event."""
    found = climbed(log, Query("what did Ann paint before we moved the database?", attempts_max=8))
    (hop,) = [hop for hop in found.hops if hop.how == "named time"]
    assert hop.query == "what did Ann paint ? (to 2023-02-10T10:00:00.000Z)"
    events = {event.text: f"fh:{event.id}" for event in log.reader.events("default")}
    assert hop.hits == (events["Ann painted a boat for the school fair"],)


def test_no_attempt_outlasts_the_time_of_the_ladder(log):
    """Where the time is used up before the attempts are, the ladder ends and says so."""
    ticks = iter(range(1_000))
    found = climbed(log, Query("what did Ann paint in March?", attempts_max=8), clock=lambda: next(ticks) * 1.2)
    assert hows(found) == ["as asked", "time words", "key terms"]
    assert found.notes == ("asked 3 times; no time was left to ask in other words",)


def test_a_rewrite_is_asked_too(log):
    """Each text that the caller's own function gives is an attempt; what the function takes does not count."""
    clock = iter([0.0, 0.0, 0.0, 0.0, 500.0, *[500.1] * 20])
    found = climbed(
        log,
        Query("Who moved the database? Who painted the harbour?", attempts_max=4),
        rewrite=lambda text: ["invoice upload", " "],
        clock=lambda: next(clock),
    )
    assert [hop.query for hop in found.hops][1:] == [
        "Who moved the database?", "Who painted the harbour?", "invoice upload",
    ]  # fmt: skip
    assert hows(found) == ["as asked", "part", "part", "rewritten"]


@pytest.mark.parametrize("wrong", ["text", None, 7, [1], {"a": 1}])
def test_a_rewrite_that_gives_no_texts_is_told(log, wrong):
    """What is no list of texts is a note, and the other attempts are made all the same."""
    without = climbed(log, Query("boat bill trouble", attempts_max=8))
    found = climbed(log, Query("boat bill trouble", attempts_max=8), rewrite=lambda text: wrong)
    assert found.hops == without.hops
    (note,) = found.notes
    assert note.startswith("the question was not rewritten: the function given as rewrite gives a list of texts")


def test_a_rewrite_that_fails_is_told(log):
    """An exception of the caller's function, or an error of ours, loses nothing but the rewrite."""

    def broken(text):
        raise KeyError("no model")

    def ours(text):
        raise ModelError("no key")

    without = climbed(log, Query("boat bill trouble", attempts_max=8))
    for function, said in ((broken, "the function given as rewrite failed: KeyError: 'no model'"), (ours, "no key")):
        found = climbed(log, Query("boat bill trouble", attempts_max=8), rewrite=function)
        assert found.hops == without.hops
        assert found.notes == (f"the question was not rewritten: {said}",)


def test_behind_a_fault_nothing_is_asked_again(log):
    """Where the index is broken every attempt would read the log: one is made."""
    query = Query("what did Ann paint in March?")
    one = searching(log, query)
    first = replace(one.attempt(query.text, query.scope, "as asked"), fault="the text index is gone")
    assert hows(climb(first, one, lambda attempt: 0.1, query, first_ms=1.0, now=NOW)) == ["as asked"]


def test_the_same_question_climbs_the_same_way(log):
    """Two recalls of one query have equal hops and hits."""
    query = Query("what did Ann paint in March, and where is the database?", now=NOW, cost=1_000.0)
    one, two = (search(log.reader, "default", query) for _ in range(2))
    assert one == two
    assert len(one.hops) == query.attempts_max
    assert one.outcome is Outcome.WEAK


# one ranking ----------------------------------------------------------------------------------------


def attempt_of(how: str, bases: dict[int, float], like: Attempt) -> Attempt:
    (one, *_) = like.ranked
    rows = [_scored(one, position, base) for position, base in bases.items()]
    return replace(like, how=how, ranked=tuple(rows))


def _scored(one: Scored, position: int, base: float) -> Scored:
    return replace(one, row=position, base=base, total=base, parts=one.parts | {"base": base}, found_by={"words": base})


@pytest.fixture
def made(log):
    """Make an attempt of positions and their bases."""
    like = searching(log, Query("boat")).attempt("boat", Scope(), "as asked")
    return lambda how, bases: attempt_of(how, bases, like)


def test_the_surest_attempt_leads_and_the_others_follow(made):
    """The winner's order is kept; what the others found beside it comes after, no hit above the one before it."""
    first = made("as asked", {1: 0.5, 2: 0.4, 3: 0.3})
    other = made("time words", {3: 0.9, 4: 0.2})
    feedback = made("terms of its hits", {5: 0.8})
    merged = merge([Try(first, 0.2), Try(other, 0.6), Try(feedback, 0.1)])
    assert [(one.position, one.total) for one in merged] == [(3, 0.9), (4, 0.2), (1, 0.2), (2, 0.2), (5, 0.2)]
    assert [one.found_by for one in merged] == [
        {"words": 0.9}, {"words": 0.2}, {"words": 0.5}, {"words": 0.4}, {"words": 0.8, "terms of its hits": 0.8},
    ]  # fmt: skip
    assert merged[2].parts["base"] == merged[2].base == 0.2


def test_what_a_question_of_a_message_found_best_keeps_a_place(made):
    """The best new hit of each part stands on the first page, behind the winner's first eight."""
    first = made("as asked", {n: 0.9 - n / 100 for n in range(1, 31)})
    parts = [made("part", {1: 0.9, 101: 0.8, 102: 0.7}), made("part", {201: 0.8})]
    merged = merge([Try(first, 0.5), *(Try(one, 0.1) for one in parts)])
    assert [one.position for one in merged][:12] == [1, 2, 3, 4, 5, 6, 7, 8, 101, 201, 9, 10]
    assert {one.position for one in merged} == {*range(1, 31), 101, 102, 201}
    totals = [one.total for one in merged]
    assert totals == sorted(totals, reverse=True)


def test_of_equally_sure_attempts_the_earliest_leads(made):
    """A tie of confidence leaves the question as asked in front."""
    merged = merge([Try(made("as asked", {1: 0.1}), 0.4), Try(made("key terms", {2: 0.9}), 0.4)])
    assert [one.position for one in merged] == [1, 2]


def test_no_part_of_a_message_leads_it(made):
    """Where several questions are asked, the attempt that asked all of them leads, however sure another is."""
    first, part = Try(made("as asked", {1: 0.1}), 0.2), Try(made("part", {2: 0.9}), 0.6)
    assert ladder.leader([first, part]) is first
    assert ladder.leader([first, Try(made("time words", {2: 0.9}), 0.6)]).attempt.how == "time words"


def test_the_one_question_of_a_message_is_judged_by_itself(log):
    """What is said beside a question makes its answer no less sure."""
    text = "I was ill and slept all the long week and nobody called or wrote. Who moved the database to Lyon?"
    answer = search(log.reader, "default", Query(text, now=NOW))
    alone = search(log.reader, "default", Query("Who moved the database to Lyon?", now=NOW))
    assert [hop.how for hop in answer.hops][:2] == ["as asked", "the question in it"]
    sure = alone.hops[0].confidence * ladder.RELIANCE["the question in it"]
    assert answer.hops[1].confidence == pytest.approx(min(1.0, sure))
    assert answer.hops[1].confidence > answer.hops[0].confidence
    assert answer.hits[0].preview == TEXTS[1][1]


def test_nothing_found_is_nothing(made):
    """Attempts without hits make an empty ranking; one with hits among them makes its own."""
    empty, full = made("as asked", {}), made("key terms", {2: 0.9})
    assert merge([Try(empty, 0.0)]) == ()
    assert [one.position for one in merge([Try(empty, 0.0), Try(full, 0.0)])] == [2]


def test_now_is_what_time_words_are_counted_from(log):
    """The same words look elsewhere for one who asks at another time."""
    spans = []
    for now in (NOW, Moment(NOW.microseconds - 31_000_000 * 1_000_000)):
        answer = search(log.reader, "default", Query("what did Ann paint last month?", now=now, cost=1_000.0))
        spans += [hop.query for hop in answer.hops if hop.how == "time words"]
    assert [span[span.index("(") + 1 :][:7] for span in spans] == ["2023-04", "2022-04"]


def test_a_memory_is_given_a_rewrite(tmp_path):
    """A question whose words stand nowhere is answered by those that the caller's function gives."""
    with Memory.open(tmp_path / "store") as memory:
        memory.append([Draft(Kind.USER_MESSAGE, b"cold start initialization of the fleet")], session="s")
        asked = []
        answer = memory.recall("bootstrap automation", rewrite=lambda text: asked.append(text) or ["cold start fleet"])
    assert asked == ["bootstrap automation"]
    assert [hop.how for hop in answer.hops] == ["as asked", "rewritten"]
    assert [hit.preview for hit in answer] == ["cold start initialization of the fleet"]
