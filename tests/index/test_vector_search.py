"""Searching by vectors: the very rows that an exact search gives; and every fault told, none raised."""

from __future__ import annotations

import numpy as np
import pytest

from embedders import DIMENSION, exact, failing_embedder, vector_of, with_vectors, words_embedder
from firsthand.errors import ModelUnavailable
from firsthand.event import Draft, Kind
from firsthand.index import codes, vector_search, vectors
from firsthand.index.embed.port import callable_embedder
from firsthand.index.follower import Step, VectorFollower
from firsthand.index.vector_search import RESCORED_MAX, Nearest, Scan, VectorSearch, rescored
from firsthand.index.vector_texts import identity_of
from firsthand.index.vectors import KEY_STEP, vector_key

WORDS = ("red", "blue", "boat", "car", "sail", "engine", "march", "april", "invoice", "order", "lake", "broken", "old")


@pytest.fixture
def log(tmp_path):
    one = with_vectors(tmp_path / "store")
    yield one
    one.close()


def fill(log, count: int, embedder=None) -> dict[int, str]:
    """Append events of a few words and follow to the end; give row and text of each."""
    chance = np.random.default_rng(3)
    texts = [" ".join(chance.choice(WORDS, 5)) + f" {number}" for number in range(count)]
    found: dict[int, str] = {}
    for start in range(0, count, 500):
        part = texts[start : start + 500]
        drafts = [Draft(Kind.USER_MESSAGE, text.encode()) for text in part]
        appended = log.append(drafts, namespace="default", session="s")
        found |= {vector_key(one.position, 0): text for one, text in zip(appended, part, strict=True)}
    if embedder is not None:
        follow(log, embedder)
    return found


def follow(log, embedder) -> None:
    follower = VectorFollower(log, "default", embedder)
    while follower.step() is not Step.DONE:
        pass


def search_of(log, embedder, **options) -> VectorSearch:
    return VectorSearch(lambda: log.reader.db, lambda: log.reader.namespace_key("default"), embedder, **options)


def assert_exact(found: Nearest, truth: dict[int, float], limit: int) -> None:
    """Assert that an answer is that of an exact search, within the error of the bytes."""
    best = sorted(truth.values(), reverse=True)[:limit]
    assert len(found.rows) == min(limit, len(truth))
    assert len({row for row, _ in found.rows}) == len(found.rows)
    for (row, cosine), wanted in zip(found.rows, best, strict=True):
        assert cosine == pytest.approx(truth[row], abs=0.02)
        assert cosine == pytest.approx(wanted, abs=0.02)
    assert [cosine for _, cosine in found.rows] == sorted((cosine for _, cosine in found.rows), reverse=True)


@pytest.mark.parametrize("limit", [1, 10, 400])
def test_a_small_space_is_searched_exactly(log, limit):
    """In a space of up to 400 vectors the rows are those of an exact search, with their cosines, best first."""
    embedder = words_embedder()
    texts = fill(log, 300, embedder)
    search = search_of(log, embedder)
    for query in ("an old red boat", "invoice of march 17", "nothing of this is known"):
        found = search.near(query, limit)
        assert (found.through, found.fault) == (300, "")
        assert_exact(found, exact(texts.items(), query), limit)


def test_a_large_space_is_searched_nearly_exactly(log):
    """Beyond that nineteen of twenty of the ten nearest are found, in whichever chunk they lie."""
    embedder = words_embedder(dimension=256)
    texts = fill(log, 2_000, embedder)
    search = search_of(log, embedder)
    hit = 0
    for number in range(0, 2_000, 200):
        truth = exact(texts.items(), texts[vector_key(1 + number, 0)], 256)
        best = set(sorted(truth, key=truth.__getitem__, reverse=True)[:10])
        hit += len(best & {row for row, _ in search.near(texts[vector_key(1 + number, 0)], 10).rows})
    assert hit >= 0.95 * 100


@pytest.mark.parametrize(
    ("low", "high"), [(0, 50), (0, 2), (100, 200), (290, 1 << 40), (300, 1 << 40), (7, 8), (400, 900), (20, 10)]
)
def test_bounds_keep_to_positions(log, low, high):
    """Only events from the lower position on and before the upper one are found, as if there were no others."""
    embedder = words_embedder()
    texts = fill(log, 300, embedder)
    truth = exact(texts.items(), "a broken engine")  # about the middle of all
    found = search_of(log, embedder).near(
        "a broken engine", 10, lambda keys: (low <= keys % KEY_STEP) & (keys % KEY_STEP < high)
    )
    assert_exact(found, {row: cosine for row, cosine in truth.items() if low <= row < high}, 10)


def test_bits_beyond_the_memory_bound_are_read_each_time(log):
    """A scan that may keep nothing answers like one that keeps all, and neither answers from what is gone."""
    embedder = words_embedder()
    fill(log, 300, embedder)
    space = vectors.find(log.reader.db, 1, identity_of(embedder))
    query = codes.unit(vector_of("an old red boat")[None, :])[0]
    keeping, forgetful = Scan(), Scan(cache_bytes_max=0)
    for _ in range(2):
        answers = [one.nearest(log.reader.db, space, query, 10) for one in (keeping, forgetful)]
        assert answers[0] == answers[1]
    assert (len(keeping._blocks), len(forgetful._blocks)) == (1, 0)
    (best, _), *_ = answers[0][0]
    log.erase("default", [log.reader.event_at("default", best).id])
    assert keeping.nearest(log.reader.db, space, query, 300)[0] != answers[0]
    assert best not in {row for row, _ in keeping.nearest(log.reader.db, space, query, 300)[0]}


def test_more_candidates_are_compared_in_larger_spaces():
    """400 up to 100,000 vectors, more with the root of their number up to a bound, and always the limit."""
    assert [rescored(n, 10) for n in (1, 100_000, 400_000, 1_000_000, 10**9)] == [400, 400, 800, 1_264, RESCORED_MAX]
    assert rescored(100, 1_000) == 1_000


def test_nothing_is_found_before_anything_is_embedded(log):
    """Without a space, in an empty one and for a question of no words there are no rows, which is no fault."""
    embedder = words_embedder()
    assert search_of(log, embedder).near("red", 3) == Nearest((), 0)
    log.append([Draft(Kind.USER_MESSAGE, b"...")], namespace="default", session="s")
    follow(log, embedder)
    assert search_of(log, embedder).near("red", 3) == Nearest((), 1)
    fill(log, 5, embedder)
    assert search_of(log, embedder).near("  ", 3) == Nearest((), 6)


# faults -------------------------------------------------------------------------------------------

GIVES = {
    "NaN": (lambda texts: [[float("nan")] * DIMENSION for _ in texts], "gave NaN or infinity"),
    "another size": (lambda texts: [[1.0] * 3 for _ in texts], "says it has 48 dimensions and gave 3"),
    "another count": (
        lambda texts: [[1.0] * DIMENSION] * (len(texts) + 1),
        "was given 1 texts and gave an array of shape (2, 48)",
    ),
    "nothing": (lambda texts: None, "was given 1 texts and gave an array of shape ()"),
}


@pytest.mark.parametrize("what", GIVES)
def test_a_question_that_cannot_be_embedded_is_a_fault(log, what):
    """What an embedder gives instead of a vector comes back as a fault that names it, with how far vectors reach."""
    gives, says = GIVES[what]
    fill(log, 20, words_embedder("same"))
    found = search_of(log, failing_embedder("same", gives)).near("red", 3)
    assert (found.rows, found.through) == ((), 20)
    assert says in found.fault
    assert "callable:same" in found.fault


def test_a_model_of_another_size_under_the_same_name_is_a_fault(log):
    """An embedder that gives vectors of another size than those in its space says so, instead of comparing them."""
    fill(log, 20, words_embedder("same", 48))
    found = search_of(log, words_embedder("same", 24)).near("red", 3)
    assert found.rows == ()
    assert "have 48 dimensions, now it gives 24" in found.fault


def test_a_dead_embedder_is_not_asked_by_every_recall(log, monkeypatch):
    """After a failure further questions are told of it at once for a while; then the embedder is asked again."""
    asked: list[str] = []

    def embed(texts):
        asked.extend(texts)
        raise ModelUnavailable("the endpoint is down")

    fill(log, 5, words_embedder("same"))
    search = search_of(log, failing_embedder("same", embed))
    assert search.near("one", 3).fault == "the endpoint is down"
    assert search.near("two", 3).fault == "the endpoint is down (not asked again for 10 s after that)"
    assert asked == ["one"]
    now = vector_search.time.monotonic()
    monkeypatch.setattr(vector_search.time, "monotonic", lambda: now + vector_search.PAUSE_SECONDS)
    assert search.near("three", 3).fault == "the endpoint is down"
    assert asked == ["one", "three"]


def test_a_question_is_embedded_once(log):
    """The attempts of one recall ask for the same question again: some questions' vectors are remembered."""
    asked: list[str] = []
    fill(log, 5, words_embedder("same"))
    search = search_of(log, words_embedder("same", asked=asked))
    first = search.near("old  boat", 3)
    assert search.near("old boat", 3) == first
    assert asked == ["old boat"]
    for number in range(vector_search.QUERIES_KEPT):
        search.near(f"question {number}", 1)
    search.near("old boat", 3)
    assert asked.count("old boat") == 2


def test_a_long_question_is_cut(log):
    """Of a question of 60,000 characters the beginning is embedded, so that it costs no more than another."""
    asked: list[str] = []
    fill(log, 5, words_embedder("same"))
    search_of(log, words_embedder("same", asked=asked)).near("boat " * 12_000, 3)
    assert [len(text) for text in asked] == [vector_search.QUERY_CHARACTERS_MAX - 1]


def test_damage_is_a_fault(log):
    """A chunk, a vector or a table that is not what was written gives a fault with what to do, never an exception."""
    embedder = words_embedder()
    fill(log, 20, embedder)
    damages = (
        "UPDATE vector_1 SET data = zeroblob(length(data))",
        "DELETE FROM vector_1 WHERE number = 7",
        "UPDATE vector_chunk SET bits = zeroblob(length(bits))",
        "UPDATE vector_chunk SET last = 'z'",
        "DROP TABLE vector_1",
        "UPDATE vector_space SET vectors = 'many'",
        "DROP TABLE vector_chunk",
    )
    for sql in damages:
        log.exclusively(lambda db, sql=sql: db.execute(sql).fetchall())
        found = search_of(log, embedder).near("red", 3)
        assert found.rows == ()
        assert "firsthand store rebuild" in found.fault


def test_what_stopped_following_is_told_beside_the_rows(log):
    """Why vectors do not follow stands beside the rows that are there."""
    embedder = words_embedder()
    fill(log, 20, embedder)
    found = search_of(log, embedder, behind=lambda: "vectors do not follow: no battery").near("red", 3)
    assert (len(found.rows), found.through, found.fault) == (3, 20, "vectors do not follow: no battery")


def test_vectors_of_zeros_have_no_direction(log):
    """A text whose vector is zeros is in the space and changes no other's order; a question of zeros finds nothing."""

    def embed(texts):
        return [np.zeros(DIMENSION) if "void" in text else vector_of(text) for text in texts]

    embedder = callable_embedder("zeros", DIMENSION, embed)
    log.append([Draft(Kind.USER_MESSAGE, text) for text in (b"void", b"red boat", b"blue car")], namespace="default",
               session="s")  # fmt: skip
    follow(log, embedder)
    search = search_of(log, embedder)
    assert search.near("red boat", 3).rows[0][0] == vector_key(2, 0)
    assert search.near("the void", 3) == Nearest((), 3)
