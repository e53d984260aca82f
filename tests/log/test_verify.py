"""Verification: heads kept elsewhere, what is counted, and how problems are told."""

from __future__ import annotations

import pytest

from firsthand.errors import QueryError
from firsthand.event import Draft, Kind, roll
from firsthand.log.results import Problem, Verification
from stores import open_log


def append(log, content: bytes, session: str = "s"):
    return log.append([Draft(Kind.NOTE, content)], namespace="default", session=session)[0]


def test_an_empty_store_verifies(log):
    """A store without events is whole, and its head is position 0."""
    assert log.verify() == Verification((), 0, 0, 0, 0, f"0:{bytes(32).hex()}", ())
    assert log.verify(heads=[f"0:{bytes(32).hex()}"]).ok


def test_what_is_counted(log):
    """Events, sessions, erased ones and artifacts are counted, and the head is rolled over every event."""
    first = append(log, b"1")
    append(log, bytes(50_000), "t")
    log.erase("default", [first.id])
    verified = log.verify()
    assert (verified.problems, verified.events, verified.sessions, verified.erased, verified.artifacts) == (
        (),
        3,
        2,
        1,
        1,
    )
    rolled = bytes(32)
    for event in log.reader.events("default"):
        rolled = roll(rolled, event.position, event.chain)
    assert verified.head == f"3:{rolled.hex()}"
    assert log.reader.head("default") == (3, rolled)


def test_every_earlier_head_is_found_again(log):
    """Any head taken on the way is found again later, many at once."""
    heads = [log.verify().head]
    for number in range(5):
        append(log, b"%d" % number)
        heads.append(log.verify().head)
    assert log.verify(heads=heads).ok
    wrong = f"3:{'0' * 64}"
    assert [(one.where, one.position) for one in log.verify(heads=[*heads, wrong]).problems] == [("head", 3)]
    (beyond,) = log.verify(heads=[f"9:{'0' * 64}"]).problems
    assert beyond.what == "the head given was taken at position 9, the log ends at 5: events were removed"


def test_a_rewritten_past_is_convicted_by_a_kept_head(tmp_path):
    """Another history that is whole in itself, made in another store, does not pass for the one a head was taken of."""
    one, other = open_log(tmp_path / "one"), open_log(tmp_path / "other")
    for number in range(3):
        append(one, b"what happened %d" % number)
        append(other, b"what is claimed %d" % number)
    head = one.verify().head
    assert other.verify().ok
    (problem,) = other.verify(heads=[head]).problems
    assert (problem.where, problem.position) == ("head", 3)
    one.close()
    other.close()


@pytest.mark.parametrize(
    "text", ["", "x", "1", "1:", ":00", f"-1:{'0' * 64}", f"1:{'0' * 63}", f"1:{'z' * 64}", f"1:{'0' * 66}"]
)
def test_what_is_no_head_is_refused(log, text):
    """A head that is not position:hash is an error, never a head that is passed over."""
    with pytest.raises(QueryError, match="position:hash"):
        log.verify(heads=[text])


def test_problems_read_as_sentences():
    """A problem names the place, the event and what is wrong."""
    assert str(Problem("event", "is missing", 3, "ID")) == "event fh:ID at position 3: is missing"
    assert str(Problem("database", "cannot be read")) == "database: cannot be read"


def test_a_forged_erasure_accounts_for_nothing(make_log):
    """An event of kind erasure that is not of its form makes no verification fail, and accounts for no lost content."""
    log = make_log(damaged=True)
    append(log, b"kept")
    for content in (b"not json", b"[]", b'{"erased": 5}', b'{"erased": [1]}'):
        append(log, content)
    log.writer.execute("UPDATE event SET kind = 16 WHERE key > 1")
    assert {(one.where, one.position) for one in log.verify().problems} >= {("event", 2)}
    log.writer.execute("UPDATE event SET salt = NULL, body = NULL WHERE key = 1")
    assert any("no erasure in the log speaks of it" in problem.what for problem in log.verify().problems)


@pytest.mark.parametrize("namespace", ["'abc'", "x'ff'", "1.5", "7"])
def test_a_large_event_in_no_namespace_is_told(make_log, namespace):
    """An event with an artifact that says that it lies in what is no namespace is named, and the rest is checked."""
    log = make_log(damaged=True)
    append(log, bytes(50_000))
    append(log, bytes(60_000))
    log.writer.execute(f"UPDATE event SET namespace = {namespace} WHERE key = 1")
    verified = log.verify()
    assert ("event", 1) in {(one.where, one.position) for one in verified.problems}
    assert any("names namespace" in problem.what for problem in verified.problems)
    assert verified.artifacts == 1
