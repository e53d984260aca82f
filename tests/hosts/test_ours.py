"""What Firsthand put into a transcript itself is not stored again."""

from __future__ import annotations

import json

import pytest

from firsthand.event import Draft, Kind
from firsthand.fence import wrap
from firsthand.hosts.ours import unfenced
from firsthand.record import assemble, make

SAID = "[recalled by firsthand, not stored again]"


def line(*texts: str, ascii_only: bool = False, more: str = ""):
    raw = json.dumps({"texts": texts, "more": more}, ensure_ascii=ascii_only).encode() + b"\n"
    return make(raw, [Draft(Kind.USER_MESSAGE, text.encode()) for text in texts], session="s", identity=b"i")


def test_a_record_without_a_fence_is_given_back_as_it_is():
    """Text that only speaks of firsthand is left alone."""
    record = line("firsthand is a library", "<<firsthand 7f3a9c2e41d0: an opening without an end>>")
    assert unfenced(record) is record


@pytest.mark.parametrize("ascii_only", [True, False])
def test_the_fenced_part_leaves_content_and_envelope(ascii_only):
    """What the user said stays, the recalled block is one line that says so, and its words are nowhere left."""
    record = line("before é " + wrap("the secret é words") + " after", "another", ascii_only=ascii_only)
    rest = unfenced(record)
    assert [draft.content for draft in rest.drafts] == [f"before é {SAID} after".encode(), b"another"]
    assert [dict(draft.meta) for draft in rest.drafts] == [{"unfenced": 1}, {}]
    source = assemble(rest.drafts[0].envelope, [draft.content for draft in rest.drafts])
    assert json.loads(source)["texts"] == [f"before é {SAID} after", "another"]
    assert (rest.raw, rest.session, rest.identity) == (record.raw, "s", b"i")


def test_a_record_that_is_only_ours_is_injected():
    """Nothing but fenced blocks and space: no events, and marked as injected."""
    rest = unfenced(line(wrap("all of it"), f" {wrap('twice')}\n"))
    assert (rest.drafts, rest.injected) == ((), True)


def test_a_part_that_is_only_ours_goes_and_the_others_stay():
    """One block of a message was ours: the other blocks are its events, and renumbered."""
    rest = unfenced(line(wrap("ours"), "theirs"))
    assert [(draft.part, draft.content) for draft in rest.drafts] == [(0, b"theirs")]
    source = assemble(rest.drafts[0].envelope, [b"theirs"])
    assert json.loads(source) == {"texts": ["", "theirs"], "more": ""}


def test_a_copy_elsewhere_in_the_line_does_not_stay_in_the_envelope():
    """Where the block stands a second time, cut differently, the envelope is left out."""
    block = wrap("the secret")
    rest = unfenced(line(f"a {block}", more=f"structured: {block}"))
    assert (rest.drafts[0].content, rest.drafts[0].envelope) == (f"a {SAID}".encode(), b"")


def test_escaped_angle_brackets_are_seen_through():
    """A host that escapes what hooks add does not hide our fence."""
    block = wrap("recalled").replace("<", "&lt;").replace(">", "&gt;")
    rest = unfenced(line(f"<hook_context>{block}</hook_context> go on"))
    assert rest.drafts[0].content == f"<hook_context>{SAID}</hook_context> go on".encode()
