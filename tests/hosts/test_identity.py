"""Ids of source records: the same for the same, another for another."""

from __future__ import annotations

from firsthand.event import Draft, Kind
from firsthand.hosts import identity
from firsthand.hosts.identity import SEEN_KEPT_MAX, Seen, identified
from firsthand.hosts.jsonl import Jsonl
from firsthand.hosts.pi import Pi
from firsthand.moment import Moment
from firsthand.record import make

DRAFTS = (Draft(Kind.NOTE, b"a", time=Moment(1_700_000_000_000_000)), Draft(Kind.NOTE, b"b"))


def ids(host, raw: bytes, session: str, seen: Seen, *, identity: bytes = b"", branch: int = 0) -> list[str | None]:
    record = identified(host, make(raw, DRAFTS, identity=identity), session, seen, branch)
    return [draft.id for draft in record.drafts]


def test_parts_occurrences_and_sessions_have_ids_of_their_own():
    """Two parts, two occurrences and two sessions of one record are different events; a new reading repeats them."""
    readings = []
    for _ in range(2):
        seen = Seen()
        readings.append([ids(Jsonl(), b"raw", session, seen) for session in ("s", "s", "t")])
    assert readings[0] == readings[1]
    assert len({identifier for record in readings[0] for identifier in record}) == 6


def test_a_line_end_that_comes_later_does_not_make_another_event():
    """The last line of a file is the same with and without its line end."""
    assert ids(Jsonl(), b"raw", "s", Seen()) == ids(Jsonl(), b"raw\r\n", "s", Seen())


def test_a_host_whose_identities_span_sessions_has_one_event_for_all():
    """A line copied to another session is the same event where the host says so, and another where not."""
    assert ids(Pi(), b"x", "s", Seen(), identity=b"i") == ids(Pi(), b"x", "t", Seen(), identity=b"i")
    assert ids(Jsonl(), b"x", "s", Seen(), identity=b"i") != ids(Jsonl(), b"x", "t", Seen(), identity=b"i")


def test_ids_sort_by_the_events_own_time():
    """An id begins with its event's time; without one it sorts first."""
    first, second = ids(Jsonl(), b"raw", "s", Seen())
    assert (str(second)[:9], str(first)[:9]) == ("000000000", "01HF7YAT0")


def test_a_branch_is_told_in_the_meta_of_its_events():
    """Events of a rewritten file say which writing brought them."""
    record = identified(Jsonl(), make(b"raw", DRAFTS), "s", Seen(), 2)
    assert [dict(draft.meta) for draft in record.drafts] == [{"branch": 2}, {"branch": 2}]


def test_what_was_seen_goes_on_from_its_text(monkeypatch):
    """Counting on from a kept text gives the numbers that counting at once gives, also across merges."""
    monkeypatch.setattr(identity, "_RECENT_MAX", 8)
    keys = [(b"k%d" % (number * number % 37),) for number in range(200)]
    whole = Seen()
    expected = [whole.count(key) for key in keys]
    counted = []
    seen = Seen()
    for key in keys:
        counted.append(seen.count(key))
        seen = Seen(seen.to_text())
    assert counted == expected
    assert max(expected) > 3


def test_too_many_keys_are_not_kept(monkeypatch):
    """Over the limit nothing is kept, so that a grown file is read whole again and no id is guessed."""
    assert SEEN_KEPT_MAX > 100_000
    monkeypatch.setattr(identity, "SEEN_KEPT_MAX", 3)
    seen = Seen()
    texts = []
    for number in range(5):
        seen.count((b"%d" % number,))
        texts.append(bool(seen.to_text()))
    assert texts == [True, True, True, False, False]
