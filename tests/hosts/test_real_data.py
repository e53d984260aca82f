"""The import of real data: every text is there byte for byte, and counts match the files.

Set FIRSTHAND_DATA to the folder of evaluation data; nothing of it is in the repository.
The files are counted here by other means than the hosts read them with.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from shelf import Shelf

from firsthand.event import Draft, Kind, to_bytes
from firsthand.hosts.importer import import_paths
from firsthand.hosts.registry import recognise
from firsthand.hosts.source_files import in_paths
from firsthand.hosts.transcript import HEAD_BYTES, Source
from firsthand.record import assemble

DATA = Path(os.environ.get("FIRSTHAND_DATA", ""))
pytestmark = pytest.mark.skipif(
    not os.environ.get("FIRSTHAND_DATA"), reason="FIRSTHAND_DATA names no folder of evaluation data"
)


@pytest.fixture(scope="module")
def shelf() -> Shelf:
    shelf = Shelf()
    report = import_paths(shelf, [DATA], home=DATA)
    assert [source.path.rsplit("/", 1)[1] for source in report.refused] == ["val.json.zip"]
    assert report.quarantined_count == report.injected == 0
    assert report.events_new == len(shelf.events)
    return shelf


def of(shelf: Shelf, host: str) -> list[Draft]:
    return [draft for name, draft in shelf.events.values() if name.startswith(f"{host}:")]


def contents(drafts: list[Draft], kind: Kind) -> list[bytes]:
    return [bytes(draft.content) for draft in drafts if draft.kind is kind]


def test_every_source_is_given_back_byte_for_byte():
    """For every file that a host knows, the records, joined, are the file, and each record's events give it again."""
    count = 0
    for one in in_paths([DATA]):
        data = one.path.read_bytes()
        path = one.path.as_posix()
        host = recognise(path, data[:HEAD_BYTES])
        if host is None:
            continue
        count += 1
        records = [reading.record for reading in host.read([data], Source(path, data[:HEAD_BYTES]))]
        assert b"".join(record.raw for record in records) == data, path
        for record in records:
            contents = [bytes(draft.content) for draft in record.drafts]
            assert not record.drafts or assemble(record.drafts[0].envelope, contents) == record.raw, path
    assert count == 2_600 + 62  # mails, and sessions of agents


def test_the_pi_session_has_every_tool_result_and_user_turn(shelf):
    """All 448 tool results and 55 user turns are there, byte for byte, in their order."""
    lines = [json.loads(line) for line in (DATA / "pi-sessions/before-compaction.jsonl").read_bytes().splitlines()]
    messages = [line["message"] for line in lines if line["type"] == "message"]
    results = [to_bytes(m["content"][0]["text"]) for m in messages if m["role"] == "toolResult"]
    users = [to_bytes(m["content"][0]["text"]) for m in messages if m["role"] == "user"]
    summaries = [to_bytes(line["summary"]) for line in lines if line["type"] == "compaction"]
    assert (len(results), len(users), len(summaries)) == (448, 55, 2)
    drafts = of(shelf, "pi")
    answers = [draft for draft in drafts if draft.kind is Kind.TOOL_RESULT]
    assert [bytes(draft.content) for draft in answers if draft.meta["role"] == "toolResult"] == results
    assert len(answers) == 448 + sum(message["role"] == "bashExecution" for message in messages)
    assert contents(drafts, Kind.USER_MESSAGE) == users
    assert contents(drafts, Kind.SUMMARY) == summaries


def test_the_mails_are_2600_with_their_subjects(shelf):
    """Every mail is one document of its exact bytes, with its subject and its day."""
    paths = sorted((DATA / "enron1-ham").iterdir())
    drafts = of(shelf, "mail")
    assert contents(drafts, Kind.DOCUMENT) == [path.read_bytes() for path in paths]
    assert [draft.meta["file"] for draft in drafts] == [path.name for path in paths]
    assert all(draft.content.startswith(b"Subject:") and draft.time is not None for draft in drafts)
    assert len(drafts) == 2_600


def test_the_second_import_of_everything_adds_nothing(shelf):
    """With the cursors nothing is read, without them everything is known."""
    count = len(shelf.events)
    again = import_paths(shelf, [DATA], home=DATA)
    assert (again.events_new, again.events_known, len(shelf.events)) == (0, count, count)
    without = Shelf()
    without.events = dict(shelf.events)
    assert (import_paths(without, [DATA], home=DATA).events_new, len(without.events)) == (0, count)
