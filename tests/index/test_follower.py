"""Following with vectors: all of the log, once, in order; nothing that was erased meanwhile; one embedder at a time."""

from __future__ import annotations

import fcntl
import io

import pytest

from embedders import failing_embedder, vector_of, with_vectors, words_embedder
from firsthand.errors import ModelError, StoreFailed, StoreReadOnly
from firsthand.event import Draft, Kind
from firsthand.index import follower as following
from firsthand.index import vectors
from firsthand.index.follower import Step, VectorFollower
from firsthand.index.vector_check import check, deep_check
from firsthand.index.vector_texts import PASSAGES_MAX
from firsthand.index.vectors import EMPTY, position_of


@pytest.fixture
def log(tmp_path):
    one = with_vectors(tmp_path / "store", inline_max=2_000)
    yield one
    assert check(one.reader.db) == []
    head = one.reader.head("default")[0]
    assert deep_check(one.reader.db, 1, one.reader.batches(1, head), one.reader) == []
    one.close()


def append(log, *texts: str, namespace: str = "default") -> list:
    drafts = [Draft(Kind.USER_MESSAGE, text.encode()) for text in texts]
    return list(log.append(drafts, namespace=namespace, session="s"))


def to_the_end(follower: VectorFollower) -> list[Step]:
    steps = []
    while not steps or steps[-1] is Step.TOOK:
        steps.append(follower.step())
    return steps


def positions(log, embedder_name: str = "words") -> list[int]:
    """List the positions that have a vector, in the order they were embedded."""
    db = log.reader.db
    (space,) = [one for one in vectors.spaces(db, 1) if one.identity.startswith(f"callable:{embedder_name} ")]
    chunks = [vectors.read_chunk(db, space, number) for number, *_ in vectors.outline(db, space)]
    return [position_of(row) for chunk in chunks for row in chunk.rows if row != EMPTY]


def test_every_event_is_embedded_once_in_order(log, monkeypatch):
    """However small the steps, each text is embedded exactly once, and the watermark ends at the head."""
    monkeypatch.setattr(following, "TEXTS_MIN", 3)
    asked: list[str] = []
    append(log, *(f"text {n}" for n in range(10)))
    follower = VectorFollower(log, "default", words_embedder(asked=asked))
    steps = to_the_end(follower)
    assert steps[-1] is Step.DONE
    assert asked == [f"text {n}" for n in range(10)]
    assert positions(log) == list(range(1, 11))
    assert follower.through == 10
    append(log, "one more")
    assert to_the_end(follower) == [Step.TOOK, Step.DONE]
    assert asked[10:] == ["one more"]


def test_another_namespace_is_not_embedded(log):
    """A follower embeds the events of its own namespace alone, and its watermark counts them alone."""
    asked: list[str] = []
    append(log, "mine")
    append(log, "theirs", namespace="other")
    append(log, "mine again")
    follower = VectorFollower(log, "default", words_embedder(asked=asked))
    to_the_end(follower)
    assert asked == ["mine", "mine again"]
    assert follower.through == 2


def test_a_large_payload_has_a_vector_a_passage(log):
    """The passages of an artifact are rows of their own; erasing the event takes all of them."""
    content = io.BytesIO(b"".join(b"line %06d\n" % n for n in range(10_000)))
    (one,) = log.append([Draft(Kind.TOOL_RESULT, content)], namespace="default", session="s")
    follower = VectorFollower(log, "default", words_embedder())
    to_the_end(follower)
    assert positions(log) == [1] * PASSAGES_MAX
    log.erase("default", [one.id])
    assert positions(log) == []


def test_what_is_erased_while_it_is_embedded_is_not_written(log):
    """An event that is erased between being read and being written has no vector afterwards."""
    secret, kept = append(log, "a secret", "no secret")

    def embed(texts):
        if "a secret" in texts:
            log.erase("default", [secret.id])
        return [vector_of(text) for text in texts]

    to_the_end(VectorFollower(log, "default", failing_embedder("words", embed)))
    erasure = log.reader.head("default")[0]
    assert positions(log) == [kept.position, erasure]


def test_a_batch_that_another_process_wrote_first_is_thrown_away(log):
    """Two followers that read the same events write them once: the watermark decides under the lock."""
    append(log, "one", "two")
    other = VectorFollower(log, "default", words_embedder())

    def embed(texts):
        fcntl.flock(handle, fcntl.LOCK_UN)
        to_the_end(other)
        return [vector_of(text) for text in texts]

    slow = VectorFollower(log, "default", failing_embedder("words", embed))
    handle = None
    with slow._mine():  # the folder of the lock is there now
        pass
    opened = (log.root / "cache" / "vectors-1.lock").open("ab")
    handle = opened
    batch = slow._read(0)
    write = slow._writing(batch)
    log.exclusively(write)
    opened.close()
    assert positions(log) == [1, 2]


def test_one_process_follows_at_a_time(log):
    """While another holds the follower's lock a step does nothing and says so; afterwards it goes on."""
    append(log, "one")
    follower = VectorFollower(log, "default", words_embedder())
    with follower._mine() as mine:
        assert mine
        assert VectorFollower(log, "default", words_embedder()).step() is Step.ELSEWHERE
    assert to_the_end(follower) == [Step.TOOK, Step.DONE]


def test_a_failing_embedder_writes_nothing(log):
    """A batch that cannot be embedded leaves store and watermark as they were; the next step takes the same events."""
    append(log, "one", "two")
    broken = VectorFollower(log, "default", failing_embedder("words", lambda texts: [[0.5]] * len(texts)))
    with pytest.raises(ModelError, match="gave 1"):
        broken.step()
    assert (broken.through, vectors.spaces(log.reader.db)) == (0, [])
    to_the_end(VectorFollower(log, "default", words_embedder()))
    append(log, "three")
    with pytest.raises(ModelError):
        broken.step()
    assert (broken.through, positions(log)) == (2, [1, 2])


def test_a_model_that_changed_its_size_is_refused(log):
    """Vectors of another size than a space has are not written into it."""
    append(log, "one")
    to_the_end(VectorFollower(log, "default", words_embedder(dimension=8)))
    append(log, "two")
    with pytest.raises(ModelError, match="have 8 dimensions, now it gives 9"):
        VectorFollower(log, "default", words_embedder(dimension=9)).step()
    assert positions(log) == [1]


def test_another_embedder_begins_beside_and_then_replaces(log, monkeypatch):
    """Both spaces are there until the new one reaches the end; then the old one goes, never mixed."""
    monkeypatch.setattr(following, "TEXTS_MIN", 2)
    append(log, *(f"text {n}" for n in range(7)))
    to_the_end(VectorFollower(log, "default", words_embedder("old")))
    new = VectorFollower(log, "default", words_embedder("new", 16))
    seen = []
    while new.step() is Step.TOOK:
        seen.append([(one.identity.split()[0], one.dimension, one.vectors) for one in vectors.spaces(log.reader.db)])
    old = ("callable:old", 48, 7)
    assert seen[0] == [old, ("callable:new", 16, 2)]
    assert [spaces[-1][2] for spaces in seen if spaces[0] == old][-1] == 7
    assert seen[-1] == [("callable:new", 16, 7)]
    assert len(seen) == 4


def test_batches_grow_while_they_are_quick_and_shrink_when_slow(log):
    """The number of texts embedded at once follows the embedder's speed, within its bounds."""
    follower = VectorFollower(log, "default", words_embedder())
    sizes = []
    for texts, seconds in ((32, 0.01), (64, 0.01), (5, 0.01), (128, 0.5), (128, 1.5), (64, 9.0), (32, 9.0)):
        follower._pace(texts, seconds)
        sizes.append(follower._texts_max)
    assert sizes == [64, 128, 128, 128, 64, 32, 32]
    for _ in range(20):
        follower._pace(follower._texts_max, 0.01)
    assert follower._texts_max == following.TEXTS_MAX


def test_a_store_that_cannot_be_read_is_an_error_of_ours(log):
    """What SQLite or the operating system refuses is a `StoreError`, which the thread that follows tells of."""
    append(log, "a text")
    follower = VectorFollower(log, "default", words_embedder())
    to_the_end(follower)
    log.exclusively(lambda db: db.execute("ALTER TABLE vector_space RENAME COLUMN total TO amount"))
    with pytest.raises(StoreFailed, match="no such column: total"):
        follower.step()
    log.exclusively(lambda db: db.execute("ALTER TABLE vector_space RENAME COLUMN amount TO total"))
    (lock,) = (log.root / "cache").glob("vectors-*.lock")
    lock.unlink()
    lock.mkdir()
    with pytest.raises((StoreFailed, StoreReadOnly), match=r"open .*vectors-1\.lock: Is a directory"):
        follower.step()
