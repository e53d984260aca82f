"""Export and restore: the same store hash for hash, and nothing that was tampered with or cut off."""

from __future__ import annotations

import base64
import io
import json
import os
import shutil
from contextlib import closing

import pytest

from firsthand import record
from firsthand.errors import FirsthandError, FormatError, IdConflict, StoreDamaged
from firsthand.event import Draft, Kind, Trust
from firsthand.log.export import Exported
from firsthand.log.restore import restore
from firsthand.log.sqlite.mark import Marks
from firsthand.moment import Moment
from stores import assert_whole, open_log

TEXTS = [
    b"",
    b"plain",
    b"\0 and \xff",
    "ünï ".encode(),
    b"\xed\xa0\x80 lone",
    b"\xe2\x80\xa8",
    b'{"a":1,"a":2}',
    b"[" * 9,
]


def filled(log) -> None:
    """Append every sort of event: odd bytes, records, artifacts, several sessions and namespaces, erased ones."""
    for number, text in enumerate(TEXTS):
        draft = Draft(
            Kind.of(1 + number), text, meta={"n": number, "s": "\ud800"} if number % 2 else {},
            agent="a", origin="tool:x", trust=Trust.AGENT, time=None if number % 3 else Moment(number * 10**15, -60),
        )  # fmt: skip
        log.append([draft], namespace="default", session=f"s{number % 2}")
    raw = b'{"x": "some text of it", "y": 1}\n'
    log.append(record.make(raw, [Draft(Kind.NOTE, b"some text of it")]).drafts, namespace="default", session="s0")
    large = bytes(range(256)) * 200
    holders = log.append([Draft(Kind.NOTE, large), Draft(Kind.NOTE, large)], namespace="default", session="s1")
    log.append([Draft(Kind.NOTE, os.urandom((1 << 20) + 1))], namespace="default", session="s1")
    log.append([Draft(Kind.NOTE, b"of another tenant")], namespace="other", session="s0")
    log.erase("default", [holders[0].id, next(log.reader.events("default")).id])


def assert_begun(log) -> None:
    """Assert that what came in is whole; events whose erasure is still to come are said to be so."""
    assert {one.what for one in log.verify().problems} <= {
        "its content is gone, but no erasure in the log speaks of it"
    }


def exported(log, **options) -> bytes:
    out = io.BytesIO()
    log.export(out, **options)
    return out.getvalue()


@pytest.fixture
def source(make_log):
    log = make_log()
    filled(log)
    return log


def test_into_an_empty_store_it_gives_the_same_store(source, make_log, tmp_path):
    """A restored store has the same events, hashes and head, and exports the same file byte for byte."""
    data = exported(source)
    target = make_log(tmp_path / "target")
    result = restore(target, io.BytesIO(data))
    assert (result.events, result.artifacts, result.new) == (15, 2, 15)
    assert exported(target) == data
    assert target.reader.head("default") == source.reader.head("default")
    for namespace in ("default", "other"):
        for one, other in zip(source.reader.events(namespace), target.reader.events(namespace), strict=True):
            assert one == other
            assert one.erased or source.reader.content(one) == target.reader.content(other)
    assert target.verify(heads=[source.verify().head]).ok


def test_a_restored_store_has_no_earlier_one_and_whole_marks(source, make_log, tmp_path):
    """The marks of a restored store are its own, at its heights: no note, no other store, the same when opened again.

    A store of the same identity that was at this place, and is gone, is still spoken of.
    """
    state = tmp_path / "state" / "heads"
    data = exported(source)
    for gone in (False, True):
        for again in (False, True):
            with closing(open_log(tmp_path / "target", heads=state)) as log:
                if not again:
                    restore(log, io.BytesIO(data))
                report = log.verify()
                assert report.ok
                assert ["another store was at" in note for note in report.notes] == [True] * gone
                marks = Marks(log.root, log.reader.uuid(), state, write=False)
                assert {mark.position for mark in marks.all()} == {
                    log.reader.head(name)[0] for name in ("default", "other")
                }
                assert (marks.damaged, marks.copied) == (set(), False)
                marks.close()
        shutil.rmtree(tmp_path / "target")


def test_restoring_again_adds_nothing(source, make_log, tmp_path):
    """What is there already is known again, in the store itself as in a copy that has grown since."""
    data = exported(source)
    assert restore(source, io.BytesIO(data)).new == 0
    target = make_log(tmp_path / "target")
    restore(target, io.BytesIO(data))
    target.append([Draft(Kind.NOTE, b"grown")], namespace="default", session="s0")
    head = target.reader.head("default")
    assert restore(target, io.BytesIO(data)).new == 0
    assert target.reader.head("default") == head


def test_one_namespace_or_one_session(source, make_log, tmp_path):
    """An export of one namespace or session holds nothing of the others, and restores by itself."""
    data = exported(source, namespace="other")
    assert b"of another tenant" in data
    assert b'"plain"' not in data
    session = exported(source, namespace="default", session="s0")
    target = make_log(tmp_path / "target")
    restore(target, io.BytesIO(session))
    assert [info.name for info in target.reader.sessions("default")] == ["s0"]
    assert target.reader.sessions("default")[0].head == source.reader.sessions("default")[0].head
    assert target.reader.sessions("other") == ()


def test_a_session_that_went_another_way_is_refused(source, make_log, tmp_path):
    """Events that do not hang on the session as the target has it are refused; so is an id with other bytes."""
    data = exported(source)
    target = make_log(tmp_path / "target", damaged=True)
    target.append([Draft(Kind.NOTE, b"mine")], namespace="default", session="s1")
    with pytest.raises(StoreDamaged, match="does not hang on the session"):
        restore(target, io.BytesIO(data))
    assert_begun(target)
    conflicting = make_log(tmp_path / "conflicting", damaged=True)
    first = json.loads(data.split(b"\n")[1])["event"]["id"]
    conflicting.append([Draft(Kind.OTHER, b"mine", id=first)], namespace="default", session="s0")
    with pytest.raises((IdConflict, StoreDamaged)):
        restore(conflicting, io.BytesIO(data))
    assert next(conflicting.reader.events("default")).content == b"mine"
    assert_begun(conflicting)


def test_every_line_cut_off_is_noticed(source, tmp_path):
    """An export that lost its end, at any line or within one, is refused, and what came in of it is whole."""
    lines = exported(source).splitlines(keepends=True)
    for count in range(len(lines)):
        for rest in (b"",) if count % 3 else (b"", lines[count][: len(lines[count]) // 2]):
            if not count and not rest:
                continue
            target = open_log(tmp_path / f"{count} {bool(rest)}")
            with pytest.raises(FormatError):
                restore(target, io.BytesIO(b"".join(lines[:count]) + rest))
            assert_begun(target)
            target.close()


def test_a_line_that_is_missing_or_twice_is_noticed(source, tmp_path):
    """Leaving out, doubling or swapping lines never restores to something that passes for the export."""
    lines = exported(source).splitlines(keepends=True)
    data = b"".join(lines)
    for number in range(1, len(lines) - 1):
        rest = lines[number + 1 :] if number % 3 else lines[number:]  # it is missing, or it is there twice
        target = open_log(tmp_path / str(number))
        with pytest.raises(FirsthandError):
            restore(target, io.BytesIO(b"".join(lines[: number + (not number % 3)] + rest)))
        assert_begun(target)
        target.close()
    assert data.endswith(lines[-1])


def values(line: dict) -> list[tuple[str, ...]]:
    """Name each value of a line by its keys."""
    out: list[tuple[str, ...]] = []
    for key, value in line.items():
        out.append((key,))
        if isinstance(value, dict):
            out += [(key, *rest) for rest in values(value)]
    return out


WRONG = [None, True, -1, 1.5, 10**30, "", "00", "\ud800", [], [1.5, 0], [1, 2, 3], {"base64": "!"}]
REMOVED = object()


def test_a_tampered_export_is_refused(make_log, tmp_path):
    """Whatever value is changed, removed or of another type: a typed error, or the same events as before."""
    log = make_log()
    log.append([Draft(Kind.NOTE, b"content", meta={"a": 1}, time=Moment(5))], namespace="default", session="s")
    log.append([Draft(Kind.NOTE, bytes(20_000))], namespace="default", session="s")
    (gone,) = log.append([Draft(Kind.NOTE, b"gone")], namespace="default", session="s")
    log.erase("default", [gone.id])
    lines = [json.loads(line) for line in exported(log).splitlines()]
    events = [line for line in lines if "event" in line]
    count = accepted = 0
    target = open_log(tmp_path / "target", indexes=())
    for number, line in enumerate(lines):
        for path in values(line):
            for wrong in [*WRONG, REMOVED]:
                changed = json.loads(json.dumps(line))
                inner = changed
                for key in path[:-1]:
                    inner = inner[key]
                if wrong is REMOVED:
                    del inner[path[-1]]
                else:
                    inner[path[-1]] = wrong
                data = b"".join(
                    json.dumps(one).encode() + b"\n" for one in [*lines[:number], changed, *lines[number + 1 :]]
                )
                count += 1
                try:
                    restore(target, io.BytesIO(data))
                except FirsthandError:
                    pass  # refused, as it should be
                else:
                    accepted += 1
                    again = [json.loads(one) for one in exported(target).splitlines()]
                    assert [one for one in again if "event" in one] == events, (path, wrong)
                if target.reader.head("default")[0]:
                    assert_begun(target)
                    target.close()
                    target = open_log(tmp_path / f"target {count}", indexes=())
    target.close()
    assert count > 600
    assert accepted < count / 5  # what is only told about the export: its namespaces, what the store was called


def test_flipped_bits_in_an_export_are_noticed(make_log, tmp_path):
    """A flipped bit anywhere in the lines of the events is refused, or restores to the same events."""
    log = make_log()
    log.append([Draft(Kind.NOTE, b"content \xff", meta={"a": "b"})], namespace="default", session="s")
    data = exported(log)
    events = [line for line in data.splitlines() if line.startswith(b'{"event"')]
    target = open_log(tmp_path / "target", indexes=())
    for at in range(data.index(b'{"event"'), data.index(b'{"end"')):
        flipped = bytearray(data)
        flipped[at] ^= 1 << at % 8
        try:
            restore(target, io.BytesIO(bytes(flipped)))
        except FirsthandError:
            continue
        again = [line for line in exported(target).splitlines() if line.startswith(b'{"event"')]
        assert again == events, at
        target.close()
        target = open_log(tmp_path / f"target {at}", indexes=())
    target.close()


@pytest.mark.parametrize(
    "text",
    [b"", b"\n", b"{}\n", b"[]\n", b'{"firsthand_export": 2}\n', b"\0\1\2", b'{"type":"user"}\n', b"[" * 100_000],
)
def test_what_is_no_export_is_refused(log, text):
    """A file that is no export of a known version is refused, and nothing is added."""
    with pytest.raises(FormatError):
        restore(log, io.BytesIO(text))
    assert log.reader.head("default")[0] == 0


def test_the_format_is_open(source):
    """Each line is JSON; text stands as text, what is not UTF-8 in base64, and the last line counts the others."""
    lines = [json.loads(line) for line in exported(source).splitlines()]
    assert list(lines[0]) == ["firsthand_export", "store", "created", "namespaces", "session"]
    contents = [line["event"].get("content") for line in lines if "event" in line]
    assert "plain" in contents
    assert {"base64": base64.b64encode(b"\0 and \xff").decode()} in contents
    assert lines[-1] == {"end": {"events": 15, "artifacts": 2}}
    assert source.export(io.BytesIO()) == Exported(15, 2, 15)


def test_an_erasure_in_an_export_destroys_what_an_older_copy_holds(tmp_path):
    """Restored into a copy that was made before, an erasure takes its content and payload along; the chain holds."""
    large = Draft(Kind.NOTE, b"sesame" * 9_000)
    with closing(open_log(tmp_path / "a")) as log, closing(open_log(tmp_path / "b")) as copy:
        going = log.append([Draft(Kind.NOTE, b"the password is sesame"), large], namespace="default", session="s")
        log.append([Draft(Kind.NOTE, b"stays")], namespace="default", session="s")
        restore(copy, io.BytesIO(exported(log)))
        log.erase("default", [event.id for event in going])
        assert restore(copy, io.BytesIO(exported(log))).new == 1
        assert [event.erased for event in copy.reader.events("default")] == [True, True, False, False]
        assert [*copy.artifacts.listing(1)] == []
        assert copy.reader.head("default") == log.reader.head("default")
        assert b"sesame" not in (tmp_path / "b" / "firsthand.db").read_bytes()
        assert_whole(copy)
