"""One attempt, and what an answer makes of several."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.answer import Conditions, Outcome, Query, Scope
from firsthand.event import Draft, Kind
from firsthand.index.nearest import Nearest
from firsthand.index.passages import ROW_STEP
from firsthand.index.text import TextIndex
from firsthand.log.log import Log
from firsthand.recall.attempt import BLOCK_ROWS, SPEAKER_SHARE, Search
from firsthand.recall.factors import PARTS
from firsthand.recall.rank import LENGTH_MIN, Frequencies, base, by_words, whole
from firsthand.recall.search import search


class Fixed:
    """Finds the same rows for every text."""

    def __init__(self, *rows: tuple[int, float], through: int = 10**6, fault: str = "") -> None:
        self._nearest = Nearest(rows, through, fault)

    def near(self, text: str, limit: int, *, low: int = 0, high: int = ROW_STEP) -> Nearest:
        rows = tuple(one for one in self._nearest.rows if low <= one[0] < high)[:limit]
        return Nearest(rows, self._nearest.through, self._nearest.fault)


@pytest.fixture
def log(tmp_path):
    """An empty store with a text index."""
    opened = Log(tmp_path / "store", indexes=(TextIndex(),))
    yield opened
    opened.close()


def put(log: Log, *texts: str, session: str = "s", **fields) -> list[int]:
    drafts = [Draft(Kind.USER_MESSAGE, text.encode(), **fields) for text in texts]
    return [one.position for one in log.append(drafts, namespace="default", session=session)]


def searching(log: Log, query: Query, **fields) -> Search:
    reader = log.reader
    return Search(reader, "default", reader.namespace_key("default"), reader.head("default")[0], query, **fields)


def attempt(log: Log, text: str, scope: Scope | None = None, **fields):
    return searching(log, Query(text), **fields).attempt(text, scope or Scope(), "as asked")


weights = st.floats(0, 1e6)


@given(weights, weights, st.floats(1, 1e6))
def test_a_base_is_bounded_and_grows_with_the_score(one, other, weight):
    """A base is from 0 to 1, 0 for nothing, a half where the score is what the query weighs, and keeps the order."""
    assert 0.0 <= base(one, weight) <= 1.0
    assert (base(0.0, weight), base(weight, weight)) == (0.0, 0.5)
    if one < other:
        assert base(one, weight) <= base(other, weight)


def test_a_base_means_the_same_in_every_store():
    """A row of mean length that holds each word once has half of the most, whatever is common in its store."""
    for rows, df, mean in ((10, 1, 60.0), (100_000, 7_000, 300.0)):
        frequencies = Frequencies(rows, mean, {"crow": df, "heron": 2})
        score = by_words({"crow": 1, "heron": 1}, int(mean), frequencies)
        assert base(score, whole(["crow", "heron"], frequencies)) == pytest.approx(0.5)


def test_what_the_store_does_not_know_lowers_a_base():
    """A word of the query that stands nowhere is missing in every row: it weighs as one that stands in one."""
    frequencies = Frequencies(100, float(LENGTH_MIN), {"crow": 1})
    assert whole(["crow", "dodo"], frequencies) == 2 * whole(["crow"], frequencies)


def test_who_is_named_is_looked_for(log):
    """What a named agent said gains beside the same words of another one."""
    put(log, "the heron is by the gate", agent="Ann Lee", session="a")
    put(log, "the heron is by the gate", agent="Bob Roe", session="b")
    first, second = attempt(log, "what did Bob say of the heron").ranked
    assert (first.position, second.position) == (2, 1)
    assert first.found_by["speaker"] == pytest.approx(SPEAKER_SHARE * first.found_by["words"])
    assert "speaker" not in second.found_by


def test_the_parts_of_a_score_multiply(log):
    """A total is the product of its factors; without a task and rivals all but the base are neutral."""
    put(log, "the heron is by the gate", "nothing at all")
    (one,) = attempt(log, "heron").ranked
    assert one.parts == dict(zip(PARTS, (one.base, 1.0, 1.0, 0.0, 1.0), strict=True))
    assert one.total == one.base == base(sum(one.found_by.values()), whole(["heron"], Frequencies(2, 1, {"heron": 1})))


def test_a_task_lowers_what_does_not_serve_it(log):
    """Of two rows with the same base the one with the task's words comes first, and both are still there."""
    put(log, "the heron is by the pond", session="a")
    put(log, "the heron is by the gate", session="b")
    plain = Query("heron")
    tasked = Query("heron", conditions=Conditions(goal="draw the pond"))
    order = [[one.position for one in searching(log, q).attempt("heron", Scope(), "x").ranked] for q in (plain, tasked)]
    assert order == [[2, 1], [1, 2]]


def test_what_only_the_vectors_find_is_a_hit(log):
    """A row that shares no word is ranked by its cosine; one that shares a word and is near comes before it."""
    put(log, "the bird stood in the water", "heron heron", "nothing at all")
    found = attempt(log, "heron", near=Fixed((1, 0.8), (2, 0.7), (3, -0.2))).ranked
    assert [one.position for one in found] == [2, 1]
    assert found[1].found_by == {"vector": 0.8, "neighbours": pytest.approx(found[1].found_by["neighbours"])}
    assert found[0].found_by["words"] > 0 < found[0].found_by["vector"]


def test_vectors_keep_to_the_scope(log):
    """A near row outside the scope is no hit, and does not move those inside."""
    put(log, "the bird stood in the water", agent="ann")
    put(log, "heron", agent="bob", session="b")
    found = attempt(log, "heron", Scope(agents=("bob",)), near=Fixed((1, 0.9), (2, 0.5)))
    assert [one.position for one in found.ranked] == [2]
    assert found.cosines == {2: 0.5}


@pytest.mark.parametrize(
    ("near", "note"),
    [
        (Fixed(fault="the endpoint is down"), "vectors: the endpoint is down"),
    ],
)
def test_a_fault_of_the_vectors_is_told_and_the_words_answer(log, near, note):
    """Without vectors the hits are those of the words, and the answer is degraded with the stage named."""
    put(log, "heron", "crow")
    answer = search(log.reader, "default", Query("heron"), near=near)
    assert (answer.outcome, [hit.position for hit in answer]) == (Outcome.DEGRADED, [1])
    assert note in answer.notes


def test_vectors_that_lag_are_told(log):
    """Vectors that are far behind are a stage that is behind, with how far they reach; a few events are not."""
    put(log, *["heron"] * 300)
    found = attempt(log, "heron", near=Fixed((1, 0.5), through=10))
    assert found.fault.startswith("vectors: they reach position 10 of 300")
    assert found.notes == (found.fault,)
    assert not attempt(log, "heron", near=Fixed((1, 0.5), through=290)).notes


def test_an_attempt_judged_by_its_own_question_shows_the_same(log):
    """Signals taken anew against the same question are those of the attempt."""
    put(log, "where is the heron?", "by the gate", "the heron and the gate", agent="ann")
    one = searching(log, Query("heron by the gate"))
    found = one.attempt("heron by the gate", Scope(), "as asked")
    assert one.judged(found, found.question, found.frequencies) == found.signals


def test_an_attempt_ranks_alike_for_every_page(log):
    """However many are asked for, the first ones are the same: a longer page goes on where a shorter one ended."""
    put(log, *[f"heron {n} {'gate ' * (n % 7)}{'crow ' * (n % 5)}a/b{n % 9}" for n in range(300)])
    tasked = Conditions(goal="find the crow of a/b3 and a/b4 at the gate")
    for text in ("heron gate", "crow", "gate crow a/b5", '"gate gate" heron'):
        for conditions in (None, tasked):
            short, middle, long = (
                searching(log, Query(text, hits_max=n, conditions=conditions)).attempt(text, Scope(), "x").ranked
                for n in (1, 60, 150)
            )
            assert BLOCK_ROWS <= len(short) < len(middle) < len(long)
            assert long[: len(middle)] == middle
            assert middle[: len(short)] == short


def test_whole_answers_page_alike(log):
    """With all attempts, repetitions moved down and partners put in, pages join to the whole."""
    put(log, *[f"heron {n % 11} {'gate ' * (n % 7)}{'crow ' * (n % 5)}{'?' * (n % 2)}" for n in range(120)])

    def positions(**fields):
        query = Query("is the heron at the crow or gate", budget_tokens_max=10**6, **fields)
        return [hit.position for hit in search(log.reader, "default", query)]

    whole_answer = positions(hits_max=200)
    assert len(whole_answer) == len(set(whole_answer)) > BLOCK_ROWS
    assert [one for at in range(0, 60, 7) for one in positions(hits_max=7, skip=at)][:60] == whole_answer[:60]


def test_an_answer_shows_its_attempts_and_its_threshold(log):
    """Below the threshold of the cost an answer is weak and was asked again; above it, it is found at once."""
    put(log, *[f"the crow {n} and the swan" for n in range(30)], "the heron is by the gate, said the swan")
    asking = Query("which crow was by the pond", cost=1000)
    weak = search(log.reader, "default", asking, rewrite=lambda text: ["heron gate"])
    assert (weak.outcome, weak.threshold) == (Outcome.WEAK, 1000 / 1001)
    assert 0 < weak.confidence < weak.threshold
    assert weak.hops[0].how == "as asked"
    assert "heron gate" in [hop.query for hop in weak.hops]
    assert not any(hop.passed for hop in weak.hops)
    found = search(log.reader, "default", Query("which crow was by the pond", cost=0.001))
    assert (found.outcome, [hop.passed for hop in found.hops]) == (Outcome.FOUND, [True])
    assert found.hops[0].hits[0] == found.hits[0].pointer
    nothing = search(log.reader, "default", Query("dodo"))
    assert (nothing.outcome, nothing.confidence, nothing.hits) == (Outcome.ABSENT, 0.0, ())


def test_what_belongs_with_a_hit_comes_with_it(log):
    """The reply to a short question stands behind it, says whose companion it is, and has no score of its own."""
    put(log, "where does the heron live?", agent="ann")
    put(log, "by the old gate", agent="bob")
    put(log, *[f"the heron lives at {n}" for n in range(5)], session="other")
    answer = search(log.reader, "default", Query("where does the heron live", mmr_lambda=1))
    first, second = answer.hits[:2]
    assert (first.position, second.position) == (1, 2)
    assert second.companion_of == first.pointer
    assert (second.score, second.parts["base"], first.companion_of) == (0.0, 0.0, "")
    alone = search(log.reader, "default", Query("where does the heron live", mmr_lambda=1), partners_max=0)
    assert 2 not in [hit.position for hit in alone]
