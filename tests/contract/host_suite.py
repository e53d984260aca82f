"""What every host must hold to, as a suite that a host's test inherits.

A subclass names its host and gives a small sample; the sample's lines all parse.
"""

from __future__ import annotations

import json

from readings import cuts, read

from firsthand.event import META_BYTES_MAX, NAME_BYTES_MAX, Draft
from firsthand.hosts.registry import recognise
from firsthand.hosts.transcript import HEAD_BYTES, STATE_BYTES_MAX, Host, Reading, Source, key


class HostSuite:
    """Inherit it, name the class ``Test...`` and set these.

    Attributes:
        host: the parser.
        path: where its sample would stand.
        sample: a small source.
        session: the bare id of the sample's main session.
    """

    host: Host
    path: str
    sample: bytes
    session: str

    def test_it_recognises_its_own_source_and_names_its_session(self):
        """The sample is taken by its own host, before all others, and its session has its id."""
        head = self.sample[:HEAD_BYTES]
        assert type(recognise(self.path, head)) is type(self.host)
        assert self.host.session(self.path, head) == self.session

    def test_it_does_not_take_what_is_not_its_own(self):
        """An empty file, random bytes and objects of no host are not recognised."""
        for head in (b"", b"\n", bytes(range(256)), b'{"a": 1}\n', b"[]", b"From x\n\n"):
            assert not self.host.recognises("/x/y.jsonl", head)

    def test_records_joined_are_the_source_however_it_is_cut_into_pieces(self):
        """Pieces of 1, 7 and all bytes give the same readings; joined, they are the source."""
        whole = read(self.host, self.path, self.sample)
        for size in (1, 7, 4096):
            assert read(self.host, self.path, self.sample, size=size) == whole

    def test_every_byte_cut_parses_and_loses_no_complete_record(self):
        """A source cut at any byte raises nothing, and what was complete before the cut is read as ever."""
        cuts(self.host, self.path, self.sample)

    def test_reading_resumes_after_every_record(self):
        """From any record's end on, with its state through JSON, the rest is read as in one go."""
        whole = read(self.host, self.path, self.sample)
        for number, reading in enumerate(whole, 1):
            at = reading.offset_bytes + len(reading.record.raw)
            state = json.dumps(reading.state)
            assert len(state) <= STATE_BYTES_MAX
            if self.host.resumable:
                source = Source(self.path, self.sample[:HEAD_BYTES], at, json.loads(state))
                rest = list(self.host.read([self.sample[at:]], source))
                assert places(rest) == places(whole[number:])

    def test_drafts_keep_their_limits(self):
        """Names, meta and contents are what an event can hold, and the sample has no fault."""
        for reading in read(self.host, self.path, self.sample):
            assert reading.record.fault == ""
            for draft in reading.record.drafts:
                assert_fits(draft)

    def test_a_second_reading_has_the_same_keys(self):
        """Reading the source again gives the same key for each record."""
        first, second = (read(self.host, self.path, self.sample, size=size) for size in (5, 9))
        assert [key(self.host, r.record, "s") for r in first] == [key(self.host, r.record, "s") for r in second]


def assert_fits(draft: Draft) -> None:
    """Say that a draft is one the log takes."""
    assert isinstance(draft.content, bytes)
    assert len(json.dumps(draft.meta, allow_nan=False)) <= META_BYTES_MAX
    for name in (draft.agent, draft.origin, draft.media):
        assert len(name.encode()) <= NAME_BYTES_MAX
        assert name.isprintable()


def places(readings: list[Reading]) -> list[tuple]:
    """Give what a reading says, without its state."""
    return [(r.record, r.offset_bytes, r.line, r.torn) for r in readings]
