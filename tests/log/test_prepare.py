"""What is done to a draft before the lock, and how a batch goes to another process."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.event import Artifact, Draft, IdMaker, Kind, Trust, commit_to, decode_body
from firsthand.log.disk import Disk
from firsthand.log.prepare import Batch, decode_batch, encode_batch, prepare
from firsthand.log.sqlite.artifacts import ArtifactStore
from firsthand.moment import Moment

NOISE = random.Random(1).randbytes(90)  # no compression hides it

drafts = st.builds(
    Draft,
    st.sampled_from(sorted(set(Kind) - {Kind.ERASURE, Kind.LOSS})),
    st.binary(max_size=200),
    meta=st.dictionaries(st.text(max_size=5), st.one_of(st.none(), st.integers(), st.text(max_size=5)), max_size=3),
    envelope=st.binary(max_size=20),
    part=st.integers(0, 65_535),
    agent=st.sampled_from(["", "agent ä"]),
    origin=st.sampled_from(["", "tool:x"]),
    trust=st.sampled_from(list(Trust)),
    time=st.one_of(st.none(), st.builds(Moment, st.integers(-(10**15), 10**15), st.integers(-1_439, 1_439))),
    turn=st.one_of(st.none(), st.integers(0, 2**31 - 1)),
)


def prepared(tmp_path, *wanted: Draft):
    store, ids = ArtifactStore(tmp_path, Disk()), IdMaker()
    return tuple(prepare(draft, 1, store, 100, ids) for draft in wanted)


@given(st.lists(drafts, max_size=4), st.one_of(st.none(), st.integers(0, 2**60)), st.booleans(), st.data())
def test_a_batch_reads_as_it_was_sealed(tmp_path_factory, wanted, expected, derived, data):
    """A batch for another process comes back as it was; cut short, grown or with a body changed, it is none."""
    batch = Batch("näme", "session", prepared(tmp_path_factory.getbasetemp(), *wanted), expected, derived)
    sealed = encode_batch(batch)
    assert decode_batch(sealed) == batch
    for wrong in (sealed[: data.draw(st.integers(0, len(sealed) - 1))], sealed + b"\0"):
        with pytest.raises(ValueError):
            decode_batch(wrong)


def test_a_batch_with_a_changed_body_is_none(tmp_path):
    """A sealed batch whose body is not the one that was committed to is refused, so that no log takes it."""
    batch = Batch("n", "s", prepared(tmp_path, Draft(Kind.NOTE, NOISE)))
    sealed = encode_batch(batch)
    at = sealed.index(NOISE[20:40])
    with pytest.raises(ValueError, match="committed to"):
        decode_batch(sealed[:at] + b"THE" + sealed[at + 3 :])


def test_what_is_prepared(tmp_path):
    """A draft is checked, laid out, salted, committed to and compressed; a payload over the limit goes to a file."""
    small, large = prepared(tmp_path, Draft(Kind.NOTE, b"x" * 100, turn=3), Draft(Kind.NOTE, b"x" * 101))
    assert decode_body(small.body).payload == b"x" * 100
    assert (small.turn, large.turn, small.artifact) == (3, -1, None)
    assert isinstance(large.artifact, Artifact)
    assert decode_body(large.body).payload == large.artifact
    for one in (small, large):
        assert commit_to(one.salt, one.body) == one.commitment
        assert len(one.salt) == 16
    assert small.salt != large.salt
    assert Batch("n", "s", (small, large)).size_bytes == len(small.stored) + len(large.stored)


def test_equal_drafts_have_commitments_of_their_own(tmp_path):
    """The same content twice is committed to under two salts: nobody can tell from the log that it is the same."""
    one, other = prepared(tmp_path, Draft(Kind.NOTE, b"x"), Draft(Kind.NOTE, b"x"))
    assert one.commitment != other.commitment
    assert one.id != other.id
