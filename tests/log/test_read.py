"""Reading: pointers down to their bytes, pages, sessions, and what no pointer leads to."""

from __future__ import annotations

import pytest

from firsthand import record
from firsthand.errors import Erased, InvalidDraft, PointerError, Unresolvable
from firsthand.event import Draft, IdMaker, Kind
from firsthand.pointer import Pointer, parse

LARGE = b"".join(b"line %d\n" % number for number in range(1, 6_001))


def append(log, *contents: bytes, session: str = "s", namespace: str = "default") -> list[str]:
    return [one.id for one in log.append([Draft(Kind.NOTE, c) for c in contents], namespace=namespace, session=session)]


def expand(log, address: str, namespace: str = "default") -> bytes:
    return b"".join(log.reader.expand(namespace, parse(address)))


@pytest.mark.parametrize("content", [b"one\ntwo\nthree", LARGE], ids=["inline", "artifact"])
def test_ranges_give_exactly_their_bytes(log, content):
    """A range of bytes or lines gives those bytes, inline and out of line, up to and including the last ones."""
    (one,) = append(log, content)
    assert expand(log, one) == content
    for start, end in ((0, 0), (0, 1), (1, 5), (4, 13), (0, len(content)), (len(content) - 1, len(content))):
        assert expand(log, f"{one}@{start}-{end}") == content[start:end]
    lines = content.splitlines(keepends=True)
    for start, end in ((1, 1), (1, 3), (2, 3), (len(lines), len(lines)), (2, 10**9)):
        assert expand(log, f"{one}@L{start}-{end}") == b"".join(lines[start - 1 : end])


def test_ranges_beyond_the_end(log):
    """A range that reaches beyond the end is unresolvable, and says how long the content is."""
    one, empty = append(log, b"one\ntwo", b"")
    for wrong in (f"{one}@0-8", f"{one}@7-900", f"{one}@L3-4", f"{one}@L3-3", f"{empty}@0-1", f"{empty}@L1-1"):
        with pytest.raises(Unresolvable, match="beyond the end"):
            expand(log, wrong)
    assert expand(log, f"{one}@7-7") == expand(log, empty) == b""


def test_only_a_newline_ends_a_line(log):
    """Lines end at the newline byte and at nothing else that a text may hold."""
    (one,) = append(log, "a\r\nb\u2028c\x85d\x0be\n\nf".encode())
    assert expand(log, f"{one}@L2-2") == "b\u2028c\x85d\x0be\n".encode()
    assert expand(log, f"{one}@L3-4") == b"\nf"


def test_bounds_by_position_hold_in_every_session(log):
    """Whatever positions bound a read of a session, it gives the session's events between them, in either order."""
    for number in range(12):
        append(log, b"%d" % number, session="even" if number % 2 else "odd")
    append(log, *(b"more" for _ in range(300)), session="odd")
    of = {name: [one.position for one in log.reader.events("default", session=name)] for name in ("odd", "even")}
    assert of["even"] == [2, 4, 6, 8, 10, 12]
    assert of["odd"] == [1, 3, 5, 7, 9, 11, *range(13, 313)]
    for name, positions in of.items():
        for after in (0, 1, 2, 5, 6, 11, 12, 13, 311, 312, 313, 10**6):
            for before in (None, 0, 1, 2, 6, 7, 12, 300, 313, 10**6):
                wanted = [p for p in positions if after < p < (10**9 if before is None else before)]
                bounds = {"session": name, "after": after, "before": before}
                assert [e.position for e in log.reader.events("default", **bounds)] == wanted
                newest_first = log.reader.events("default", **bounds, newest_first=True, limit=3)
                assert [e.position for e in newest_first] == wanted[::-1][:3]


def test_events_of_one_kind(log):
    """A kind leaves out all other events, within a session and in the whole namespace."""
    kinds = [Kind.NOTE, Kind.ANATOMY, Kind.RECEIPT, Kind.ANATOMY]
    for session in ("a", "b"):
        log.append([Draft(kind, b"x") for kind in kinds], namespace="default", session=session)
    log.append([Draft(Kind.ANATOMY, b"x")], namespace="other", session="a")
    read = log.reader.events
    assert [one.position for one in read("default", kind=Kind.ANATOMY)] == [2, 4, 6, 8]
    assert [one.position for one in read("default", session="b", kind=Kind.ANATOMY)] == [6, 8]
    assert [one.position for one in read("default", kind=Kind.ANATOMY, newest_first=True, limit=2)] == [8, 6]
    assert [*read("default", session="b", kind=Kind.SUMMARY)] == []


def test_spans(log):
    """A span gives the contents of its events in order, each ended by a newline, across pages of reading."""
    contents = [b"%d" % number for number in range(600)]
    ids = append(log, *contents)
    append(log, b"elsewhere", session="other")
    (last,) = append(log, b"the last\n")
    assert expand(log, f"{ids[0]}..{last}") == b"\n".join([*contents, b"the last\n"])
    assert expand(log, f"{ids[5]}..{ids[5]}") == b"5\n"
    found = log.reader.span("default", log.reader.event("default", ids[3]), log.reader.event("default", ids[5]))
    assert [event.id for event in found] == ids[3:6]


def test_spans_that_are_none(log):
    """A span runs forward within one session."""
    one, two = append(log, b"1", b"2")
    (other,) = append(log, b"3", session="other")
    for wrong in (f"{two}..{one}", f"{one}..{other}"):
        with pytest.raises(PointerError, match="runs forward"):
            expand(log, wrong)


def test_a_span_over_an_erased_event_says_so(log):
    """Within a span an erased event is told, the others are given."""
    one, two, three = append(log, b"1", b"2", b"3")
    log.erase("default", [two])
    assert expand(log, f"{one}..{three}") == f"1\n[fh:{two} was erased]\n3\n".encode()
    for wrong in (two, f"{two}@0-1", f"{two}@L1-1", f"{two}#source"):
        with pytest.raises(Erased, match=two):
            expand(log, wrong)


def test_source_records(log):
    """The source of each part is the whole record; an event that came from none says so."""
    raw = b'{"a": "the first", "b": "the second"}\r\n'
    made = record.make(raw, [Draft(Kind.NOTE, b"the first"), Draft(Kind.NOTE, b"the second")])
    ids = [one.id for one in log.append(made.drafts, namespace="default", session="s")]
    whole = record.whole(b"\0 raw", Draft(Kind.OTHER, b""))
    (alone,) = log.append(whole.drafts, namespace="default", session="s")
    (direct,) = append(log, b"direct")
    assert [expand(log, f"{one}#source") for one in ids] == [raw, raw]
    assert expand(log, f"{alone.id}#source") == b"\0 raw"
    with pytest.raises(Unresolvable, match="no source record"):
        expand(log, f"{direct}#source")
    assert [e.id for e in log.reader.record_parts(log.reader.event("default", ids[1]))] == ids


def test_pointers_to_nothing(log):
    """A pointer to an unknown event, or to one of another namespace, is unresolvable and tells nothing of it."""
    (foreign,) = append(log, b"a secret of another tenant", namespace="other")
    (mine,) = append(log, b"mine")
    for wrong in (
        IdMaker()(),
        foreign,
        f"{foreign}@0-1",
        f"{foreign}#source",
        f"{mine}..{foreign}",
        f"{foreign}..{mine}",
    ):
        with pytest.raises(Unresolvable) as caught:
            expand(log, wrong)
        assert "secret" not in str(caught.value)
    for wrong in ("x", "'", ""):
        with pytest.raises(InvalidDraft):
            log.reader.event("default", wrong)


def test_events_in_pages_and_bounds(log):
    """Events come in order or backwards, within exclusive bounds and up to a limit, for a store or a session."""
    append(log, *[b"%d" % number for number in range(700)])
    append(log, *[b"other %d" % number for number in range(300)], session="other")
    append(log, *[b"%d" % number for number in range(700, 900)])

    def positions(**options) -> list[int]:
        return [event.position for event in log.reader.events("default", **options)]

    everything = list(range(1, 1_201))
    session = [*range(1, 701), *range(1_001, 1_201)]
    assert positions() == everything
    assert positions(newest_first=True) == everything[::-1]
    assert positions(session="s") == session
    assert positions(session="s", newest_first=True) == session[::-1]
    assert positions(session="none") == []
    for bounds in ({"after": 300, "before": 1_100}, {"after": 699, "before": 1_002}, {"after": 5, "before": 6}):
        wanted = [p for p in session if bounds["after"] < p < bounds["before"]]
        assert positions(session="s", **bounds) == wanted
        assert positions(session="s", newest_first=True, **bounds) == wanted[::-1]
        assert positions(session="s", limit=3, **bounds) == wanted[:3]
        assert positions(session="s", newest_first=True, limit=257, **bounds) == wanted[::-1][:257]
    assert positions(limit=0) == []


def test_events_are_read_a_page_at_a_time_beside_a_writer(log):
    """Reading on while others write gives each event once, those added before the last page was read included."""
    append(log, *[b"x"] * 300)
    seen = []
    for event in log.reader.events("default"):
        seen.append(event.position)
        if event.position == 10:
            append(log, b"added")
    assert seen == list(range(1, 302))


def test_events_by_position_come_in_the_order_asked_for(log):
    """Positions that are unknown or of another namespace are left out."""
    append(log, *[b"x"] * 600)
    append(log, b"y", namespace="other")
    wanted = [*range(600, 0, -1), 601, 602, 0, -1, 10**12]
    assert [event.position for event in log.reader.events_at("default", wanted)] == wanted[:600]
    assert log.reader.events_at("default", []) == []
    assert log.reader.event_at("default", 601) is None


def test_pieces_are_small(log):
    """A large payload is given in pieces of at most 1 MiB, whole or by range."""
    payload = bytes(3_000_000)
    (one,) = append(log, payload)
    event = log.reader.event("default", one)
    sizes = [len(piece) for piece in log.reader.pieces(event)]
    assert max(sizes) <= 1 << 20
    assert sum(sizes) == 3_000_000
    assert (
        b"".join(log.reader.expand("default", Pointer(one, unit="bytes", start=5, end=2_000_001)))
        == payload[:1_999_996]
    )


def test_the_entries_of_a_namespace_are_its_own(log):
    """What an index is given is every event of its namespace that was not erased, and none of another one."""
    (first,) = append(log, b"1")
    append(log, b"2", namespace="other")
    log.erase("default", [first])
    entries = [entry for key in (1, 2) for entry in log.reader.entries(key, 0, 10).entries]
    places = [(entry.namespace_key, entry.event.namespace, entry.event.position) for entry in entries]
    assert places == [(1, "default", 2), (2, "other", 1)]
    assert log.reader.entries(1, 2, 10).entries == ()
