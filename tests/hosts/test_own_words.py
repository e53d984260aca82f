"""What Firsthand put into a transcript itself is not stored again; what only looks like it is data."""

from __future__ import annotations

import base64
import json

import pytest

from firsthand.event import Draft, Kind
from firsthand.fence import SAID, wrap
from firsthand.hosts.own_words import unfenced
from firsthand.record import assemble, make, whole

KEY, OTHER_KEY = b"key of the store", b"of another store"


def line(*texts: str, ascii_only: bool = False, more: str = ""):
    raw = json.dumps({"texts": texts, "more": more}, ensure_ascii=ascii_only).encode() + b"\n"
    return make(raw, [Draft(Kind.USER_MESSAGE, text.encode()) for text in texts], session="s", identity=b"i")


def source_of(record) -> bytes:
    return assemble(record.drafts[0].envelope, [draft.content for draft in record.drafts])


@pytest.mark.parametrize(
    "text",
    [
        "firsthand is a library",
        f"<<firsthand {'7' * 32}: an opening without an end>>",
        f"<<firsthand {'7' * 32}: forged>>\nhidden\n<<end {'7' * 32}>>",
        wrap("of another store", OTHER_KEY),
        wrap("altered", KEY).replace("altered", "Altered"),
    ],
)
def test_a_record_without_a_fence_of_this_store_is_given_back_as_it_is(text):
    """Text that only speaks of firsthand, or forges its fence, is left alone."""
    record = line(text, "another")
    assert unfenced(record, KEY) is record


@pytest.mark.parametrize("ascii_only", [True, False])
def test_the_fenced_part_leaves_content_and_envelope(ascii_only):
    """What the user said stays, the recalled block is one line that says so, and its words are nowhere left."""
    text = "before é " + wrap("the secret é words", KEY) + " after"
    record = line(text, "another", ascii_only=ascii_only)
    rest = unfenced(record, KEY)
    assert [draft.content for draft in rest.drafts] == [f"before é {SAID} after".encode(), b"another"]
    assert [dict(draft.meta) for draft in rest.drafts] == [{"unfenced": 1}, {}]
    assert json.loads(source_of(rest))["texts"] == [f"before é {SAID} after", "another"]
    assert (rest.raw, rest.session, rest.identity) == (record.raw, "s", b"i")


def test_a_forged_fence_stays_beside_a_genuine_one():
    """In one record the block of this store goes, and the one that only looks like it stays word for word."""
    forged = wrap("evidence", OTHER_KEY)
    rest = unfenced(line(wrap("ours", KEY) + forged, forged, more=forged), KEY)
    assert [draft.content for draft in rest.drafts] == [f"{SAID}{forged}".encode(), forged.encode()]
    assert json.loads(source_of(rest)) == {"texts": [SAID + forged, forged], "more": forged}


def test_a_record_that_is_only_ours_is_injected():
    """Nothing but fenced blocks and space: no events, and marked as injected."""
    rest = unfenced(line(wrap("all of it", KEY), f" {wrap('twice', KEY)}\n"), KEY)
    assert (rest.drafts, rest.injected) == ((), True)


def test_a_part_that_is_only_ours_goes_and_the_others_stay():
    """One block of a message was ours: the other blocks are its events, and renumbered."""
    rest = unfenced(line(wrap("ours", KEY), "theirs"), KEY)
    assert [(draft.part, draft.content) for draft in rest.drafts] == [(0, b"theirs")]
    assert json.loads(source_of(rest)) == {"texts": [SAID, "theirs"], "more": ""}


def test_a_copy_elsewhere_in_the_line_goes_too_and_the_rest_of_the_line_stays():
    """Where the block stands a second time, as text or as JSON in a string, only the block is taken out."""
    block = wrap('the "secret"', KEY)
    rest = unfenced(line(f"a {block}", more=json.dumps({"structured": block})), KEY)
    assert rest.drafts[0].content == f"a {SAID}".encode()
    assert json.loads(source_of(rest)) == {"texts": [f"a {SAID}"], "more": json.dumps({"structured": SAID})}


@pytest.mark.parametrize("encode", [lambda text: base64.b64encode(text)[1:], lambda text: text.replace(b"f", b"=66")])
def test_an_envelope_that_holds_the_block_in_an_unknown_spelling_is_left_out(encode):
    """Bytes that a host decoded in its own way would keep the block: then the content alone is stored."""
    text = f"a {wrap('the secret', KEY)}".encode()
    rest = unfenced(make(b"head\n" + encode(text), [Draft(Kind.DOCUMENT, text)]), KEY)
    assert (rest.drafts[0].content, rest.drafts[0].envelope) == (f"a {SAID}".encode(), b"")


def test_an_envelope_that_holds_the_block_cut_short_is_left_out():
    """A host's own shortened copy of what was recalled cannot be verified, and is not stored with the rest."""
    block = wrap("the secret", KEY)
    rest = unfenced(line(f"a {block}", more=block[:-9]), KEY)
    assert (rest.drafts[0].content, rest.drafts[0].envelope) == (f"a {SAID}".encode(), b"")


def test_a_line_that_was_kept_word_for_word_loses_the_block_alone():
    """A record nobody understood is one content, its raw bytes: JSON, or bytes that are no text."""
    for around in ('{{"x": {}}}\n'.format, lambda text: text):
        raw = around(json.dumps(wrap("ours", KEY))).encode() + b"\xff\xfe"
        rest = unfenced(whole(raw, Draft(Kind.OTHER, b"")), KEY)
        assert rest.drafts[0].content == around(json.dumps(SAID)).encode() + b"\xff\xfe"
        assert source_of(rest) == rest.drafts[0].content


def test_escaped_angle_brackets_are_seen_through():
    """A host that escapes what hooks add does not hide our fence."""
    block = wrap("if a < b && c > d", KEY).replace("<", "&lt;").replace(">", "&gt;")
    rest = unfenced(line(f"<hook_context>{block}</hook_context> go on"), KEY)
    assert rest.drafts[0].content == f"<hook_context>{SAID}</hook_context> go on".encode()
