"""Appending: what is kept, in which order, what is refused, and that a retry is no second append."""

from __future__ import annotations

import io

import pytest

from firsthand.errors import AppendError, IdConflict, InvalidDraft, StaleExpectation, StoreDamaged, Unresolvable
from firsthand.event import NAME_BYTES_MAX, Draft, IdMaker, Kind, Trust
from firsthand.log.prepare import BATCH_EVENTS_MAX, Batch, DraftGroup, Restored, prepare
from firsthand.log.results import Appended
from firsthand.log.sqlite.queue import Ticket
from firsthand.moment import Moment
from firsthand.value import replace
from stores import assert_whole

ID = "01J8ZQ4T9M6V3K2N7P5R8S1WX"
NOW = Moment(1_700_000_000_000_000, 120)


def draft(content: bytes = b"content", **fields) -> Draft:
    return Draft(fields.pop("kind", Kind.NOTE), content, **fields)


def append(log, *drafts: Draft, namespace: str = "default", session: str = "s", expected: int | None = None):
    return log.append(list(drafts), namespace=namespace, session=session, expected_position=expected)


def test_every_field_comes_back(make_log):
    """All that a draft says is in the event that is read, beside its place and the time of ingest."""
    log = make_log(clock=lambda: NOW)
    full = Draft(
        Kind.TOOL_RESULT, b"a\0\xff\n", "application/x", {"call_id": "c", "n": [1, None, "\ud800"]}, b"\0envelope", 0,
        "agent ä", "tool:bash", Trust.AGENT, Moment(-5, -90), f"{ID}A", 7,
    )  # fmt: skip
    (appended,) = append(log, full)
    event = log.reader.event("default", f"{ID}A")
    assert appended == Appended(1, f"{ID}A", new=True, indexed=True)
    assert appended.pointer == f"fh:{ID}A"
    assert (event.position, event.id, event.namespace, event.session, event.sequence, event.part, event.turn) == (
        1, f"{ID}A", "default", "s", 0, 0, 7,
    )  # fmt: skip
    assert (event.kind, event.agent, event.origin, event.trust) == (
        Kind.TOOL_RESULT, "agent ä", "tool:bash", Trust.AGENT,
    )  # fmt: skip
    assert (event.time, event.ingested, event.media) == (Moment(-5, -90), NOW, "application/x")
    assert (dict(event.meta), event.envelope) == ({"call_id": "c", "n": [1, None, "\ud800"]}, b"\0envelope")
    assert (event.content, event.artifact, event.erased) == (b"a\0\xff\n", None, False)
    assert (len(event.commitment), len(event.chain)) == (32, 32)


@pytest.mark.parametrize(
    "content",
    [b"", b"\0", b"a\0b", b"\xff\xfe\xc0\x80", b"\xed\xa0\x80", b'{"a":1,"a":2}', b"9" * 5_000, b"-0.0",
     bytes(range(256)), b"[" * 100_000, b"\r\n\xe2\x80\xa8", b"\xef\xbb\xbf", b"x" * 16_384, b"x" * 16_385,
     bytes(300_000)],
    ids=lambda content: f"{len(content)} {content[:6]!r}",
)  # fmt: skip
def test_exact_bytes_come_back(log, content):
    """Content is kept byte for byte, whatever it is, inline and out of line, from bytes and from a file."""
    one, two = append(log, draft(content), draft(io.BytesIO(content)))
    for appended in (one, two):
        event = log.reader.event("default", appended.id)
        assert log.reader.content(event) == content
        assert event.size_bytes == len(content)
        assert (event.artifact is not None) == (len(content) > 16_384)


def test_positions_sequences_and_turns_count(log):
    """Positions count the store, sequences the session, turns its user messages but for their parts."""
    append(log, draft(kind=Kind.SYSTEM), draft(kind=Kind.USER_MESSAGE), draft(), session="a")
    append(log, draft(kind=Kind.USER_MESSAGE), draft(kind=Kind.USER_MESSAGE, part=1), session="b")
    append(log, draft(kind=Kind.USER_MESSAGE), draft(turn=9), draft(), session="a")
    found = [(e.position, e.session, e.sequence, e.turn) for e in log.reader.events("default")]
    assert found == [
        (1, "a", 0, 0), (2, "a", 1, 1), (3, "a", 2, 1), (4, "b", 0, 1), (5, "b", 1, 1), (6, "a", 3, 2),
        (7, "a", 4, 9), (8, "a", 5, 9),
    ]  # fmt: skip
    infos = [(i.name, i.events, i.turns, i.first_position, i.last_position) for i in log.reader.sessions("default")]
    assert infos == [("a", 6, 9, 1, 8), ("b", 2, 1, 4, 5)]


def test_time_never_orders(make_log):
    """Clocks that stand, run backwards or lie in 1970 and 9999 are kept as they are; position orders."""
    now = [Moment(9)]
    log = make_log(clock=lambda: now[0])
    times = [Moment(0), Moment(253_402_300_799_999_999, 1439), None, Moment(-62_135_596_800_000_000, -1439)]
    for time, ingested in zip(times, (5, 1, 5, 0), strict=True):
        now[0] = Moment(ingested)
        append(log, draft(time=time))
    events = list(log.reader.events("default"))
    assert [event.time for event in events] == times
    assert [event.ingested.microseconds for event in events] == [5, 1, 5, 0]
    (info,) = log.reader.sessions("default")
    assert (info.first.microseconds, info.last.microseconds) == (-62_135_596_800_000_000, 253_402_300_799_999_999)


def test_a_retry_is_no_second_append(log):
    """The same id with the same bytes gives the first place again and adds nothing, also within a longer batch."""
    first = append(log, draft(b"one", id=f"{ID}A"))
    head = log.reader.head("default")
    again = append(log, draft(b"one", id=f"{ID}A"))
    assert again == (Appended(1, f"{ID}A", new=False),)
    assert log.reader.head("default") == head
    mixed = append(log, draft(b"two", id=f"{ID}B"), draft(b"one", id=f"{ID}A"))
    assert mixed == (Appended(2, f"{ID}B", new=True), Appended(1, f"{ID}A", new=False))
    assert first[0].position == 1
    lower = append(log, draft(b"one", id=f"{ID}A".lower()))
    assert lower == (Appended(1, f"{ID}A", new=False),)


@pytest.mark.parametrize(
    "other",
    [{"content": b"else"}, {"kind": Kind.OTHER}, {"part": 1}, {"agent": "x"}, {"origin": "x"}, {"trust": Trust.AGENT},
     {"time": Moment(1)}, {"meta": {"a": 1}}, {"media": "x/y"}, {"envelope": b"e"}],
    ids=lambda other: next(iter(other)),
)  # fmt: skip
def test_the_same_id_with_anything_else_is_a_conflict(log, other):
    """An id that is there with other bytes or other fields is refused, and nothing changes."""
    append(log, draft(b"one", id=f"{ID}A"))
    head = log.reader.head("default")
    with pytest.raises(IdConflict, match=f"{ID}A"):
        append(log, draft(**({"content": b"one", "id": f"{ID}A"} | other)))
    with pytest.raises(IdConflict):
        append(log, draft(b"one", id=f"{ID}A"), session="another")
    with pytest.raises(IdConflict, match="twice"):
        append(log, draft(b"two", id=f"{ID}B"), draft(b"two", id=f"{ID}B"))
    assert log.reader.head("default") == head


def test_expected_position(log):
    """An append that expects another end of the session is refused; a retry of what is there is not."""
    (first,) = append(log, draft(b"1", id=f"{ID}A"), expected=0)
    append(log, draft(b"elsewhere"), session="other")
    with pytest.raises(StaleExpectation, match="it ends at 1"):
        append(log, draft(b"2"), expected=0)
    with pytest.raises(StaleExpectation):
        append(log, draft(b"2"), expected=2)
    with pytest.raises(InvalidDraft, match="got -1"):
        append(log, draft(b"2"), expected=-1)
    (second,) = append(log, draft(b"2", id=f"{ID}B"), expected=first.position)
    assert second.position == 3
    assert append(log, draft(b"2", id=f"{ID}B"), expected=first.position) == (Appended(3, f"{ID}B", new=False),)
    with pytest.raises(StaleExpectation):
        append(log, draft(b"2", id=f"{ID}B"), draft(b"3", id=f"{ID}C"), expected=first.position)
    assert log.reader.head("default")[0] == 3


BAD = {
    "no draft": "text", "kind": {"kind": 4}, "kind text": {"kind": "notes"}, "trust": {"trust": 1},
    "kind list": {"kind": ["note"]},
    "content text": {"content": "text"}, "content none": {"content": None}, "content array": {"content": bytearray()},
    "media": {"media": "a" * 513}, "media control": {"media": "a\n"}, "meta list": {"meta": [1]},
    "meta bytes": {"meta": {"a": b"x"}}, "meta key": {"meta": {1: 2}}, "meta large": {"meta": {"a": "x" * 300_000}},
    "meta number": {"meta": {"a": 10**5_000}}, "meta NaN": {"meta": {"a": float("nan")}},
    "meta infinite": {"meta": {"a": {"b": [float("-inf")]}}},
    "envelope": {"envelope": "x"}, "part": {"part": -1}, "part large": {"part": 65_536}, "part bool": {"part": True},
    "turn": {"turn": -1}, "turn float": {"turn": 1.0}, "turn large": {"turn": 2**31}, "time": {"time": "2026"},
    "agent": {"agent": "\ud800"}, "agent long": {"agent": "ä" * 257}, "agent nul": {"agent": "a\0"},
    "origin": {"origin": None}, "id short": {"id": "x"}, "id path": {"id": "../../../../../../../etc/pw"},
    "id nul": {"id": f"{ID}\0"}, "id high": {"id": "8" + ID}, "id bytes": {"id": b"x" * 26},
    "id list": {"id": ["a"] * 26},
    "erasure": {"kind": Kind.ERASURE}, "loss": {"kind": Kind.LOSS},
}  # fmt: skip


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_one_bad_draft_refuses_the_whole_batch(log, bad):
    """A field of the wrong type or over its limit is `InvalidDraft`, and nothing of its batch stays."""
    wrong = bad if isinstance(bad, str) else draft(**({"content": b"x"} | bad))
    head = log.reader.head("default")
    with pytest.raises(InvalidDraft):
        append(log, draft(b"good"), wrong)
    assert log.reader.head("default") == head
    assert append(log, draft(b"good"))[0].position == 1


@pytest.mark.parametrize("name", ["", "x" * 513, "ü" * 257, "a\nb", "a\0", "\x7f", "\ud800", None, 7, b"s"], ids=repr)
def test_bad_names_are_refused(log, name):
    """A session or namespace is text of 1 to 512 bytes without control characters."""
    with pytest.raises(InvalidDraft):
        append(log, draft(), session=name)
    with pytest.raises(InvalidDraft):
        append(log, draft(), namespace=name)
    assert log.reader.head("default")[0] == 0


@pytest.mark.parametrize(
    "name",
    ["../x", "/etc/passwd", "..%2f", "C:\\x", "\\\\server\\share", "CON", "trailing. ", "%_\\", "' OR 1=1 --",
     "x" * 512, "🙂"],
    ids=lambda name: name[:12],
)  # fmt: skip
def test_names_are_data_and_never_paths(log, name):
    """Any other name is kept as it is and leads to no path."""
    before = {path for path in log.root.rglob("*") if path.suffix != ".slot"}
    append(log, draft(b"here"), namespace=name, session=name)
    assert [(info.name, info.events) for info in log.reader.sessions(name)] == [(name, 1)]
    assert [event.content for event in log.reader.events(name, session=name)] == [b"here"]
    assert {path for path in log.root.rglob("*") if path.suffix != ".slot"} - before == set()


def test_limits_of_one_append(make_log):
    """An append of nothing adds nothing; one of more events than the limit is refused; names reach 512 bytes."""
    log = make_log(inline_max=1 << 27)
    assert append(log) == ()
    with pytest.raises(InvalidDraft, match="Split"):
        append(log, *[draft()] * (BATCH_EVENTS_MAX + 1))
    assert NAME_BYTES_MAX == 512
    with pytest.raises(InvalidDraft, match="together"):
        append(log, draft(bytes(64 * 1024 * 1024)))
    with pytest.raises(InvalidDraft, match="an envelope is"):
        append(log, draft(b"x", envelope=bytes(64 * 1024 * 1024 + 1)))
    assert log.reader.head("default")[0] == 0


def test_namespaces_never_see_each_other(log):
    """Events, sessions, ids and pointers of one namespace do not exist for another, the same id may be in both."""
    append(log, draft(b"of a", id=f"{ID}A"), namespace="a")
    append(log, draft(b"of b", id=f"{ID}A"), draft(b"more of b", id=f"{ID}B"), namespace="b", session="t")
    assert [e.content for e in log.reader.events("a")] == [b"of a"]
    assert [e.content for e in log.reader.events("b")] == [b"of b", b"more of b"]
    assert log.reader.event("a", f"{ID}A").content == b"of a"
    assert log.reader.event("b", f"{ID}A").content == b"of b"
    for namespace in ("a", "none"):
        with pytest.raises(Unresolvable):
            log.reader.event(namespace, f"{ID}B")
    assert log.reader.event_at("a", 2) is None
    assert log.reader.events_at("a", [3, 1, 2]) == [log.reader.event("a", f"{ID}A")]
    assert list(log.reader.events("a", session="t")) == []
    assert [i.name for i in log.reader.sessions("a")] == ["s"]
    assert log.reader.sessions("none") == ()
    assert list(log.reader.events("none")) == []


def test_a_group_of_sessions_is_appended_all_or_none(log):
    """`append_group` writes several sessions at once, knows what is there, leaves nothing when refused."""
    made = IdMaker()
    groups = [DraftGroup(name, tuple(draft(b"%d" % n, id=made()) for n in range(2))) for name in ("a", "b")]
    assert [one.new for one in log.append_group(groups, namespace="default")] == [True] * 4
    assert [one.new for one in log.append_group(groups, namespace="default")] == [False] * 4
    with pytest.raises(InvalidDraft):
        log.append_group([DraftGroup("c", (draft(),)), DraftGroup("", (draft(),))], namespace="default")
    twice = made()
    with pytest.raises(IdConflict):
        log.append_group(
            [DraftGroup("c", (draft(id=twice),)), DraftGroup("d", (draft(id=twice),))], namespace="default"
        )
    assert [(i.name, i.events) for i in log.reader.sessions("default")] == [("a", 2), ("b", 2)]
    assert log.append_group([], namespace="default") == ()


def test_ids_made_by_the_log_sort_like_positions(log):
    """Ids that the log makes are unique and sort in the order in which one handle appended."""
    ids = [one.id for _ in range(20) for one in append(log, draft(), draft())]
    assert ids == sorted(set(ids))


def test_what_is_no_batch_is_not_submitted(log):
    """`submit` takes prepared batches only."""
    for wrong in (None, [], "x", (1,), ("a",)):
        with pytest.raises(InvalidDraft):
            log.submit(wrong)


def test_a_refused_append_leaves_no_payload_behind(log):
    """The artifact of an append that is refused goes again, unless another event holds the same payload."""
    payload, shared = b"secret" * 10_000, b"shared" * 10_000
    (kept,) = append(log, draft(shared))
    for content in (payload, shared):
        with pytest.raises(StaleExpectation):
            append(log, draft(content), expected=77)
    key = log.namespace_key("default")
    assert list(log.artifacts.listing(key)) == [log.reader.event("default", kept.id).artifact.digest]
    assert log.reader.content(log.reader.event("default", kept.id)) == shared


def test_a_source_that_fails_in_the_middle_leaves_nothing(log):
    """A payload whose source raises, or gives no bytes, leaves no event and no file."""

    class Broken:
        def __init__(self, then) -> None:
            self.then, self.left = then, 3

        def read(self, size: int, /):
            self.left -= 1
            if self.left > 0:
                return b"x" * size
            if isinstance(self.then, Exception):
                raise self.then
            return self.then

    with pytest.raises(OSError, match="the source broke"):
        append(log, draft(Broken(OSError("the source broke"))))
    with pytest.raises(InvalidDraft, match="binary"):
        append(log, draft(Broken("text")))
    assert log.reader.head("default")[0] == 0
    assert [path for path in (log.root / "artifacts").rglob("*") if path.is_file()] == []
    with pytest.raises(AppendError):
        append(log, draft(Broken(3)))


def test_a_damaged_restore_is_not_told_to_others(make_log):
    """A batch that does not hang on its session is refused to its owner; the others of the commit are written."""
    log = make_log()
    append(log, draft(b"first"))
    one = prepare(draft(b"x"), 1, log.artifacts, 100, IdMaker())
    wrong = replace(one, turn=0, restored=Restored(NOW, bytes(32)))
    good = prepare(draft(b"good"), 1, log.artifacts, 100, IdMaker())
    tickets = [Ticket((Batch("default", "s", (event,)),), -1) for event in (good, wrong)]
    log.exclusively(lambda _db: log._commit(tickets))
    assert [ticket.result[0].new for ticket in tickets[:1]] == [True]
    assert isinstance(tickets[1].error, StoreDamaged)
    assert [event.content for event in log.reader.events("default")] == [b"first", b"good"]
    assert_whole(log)
