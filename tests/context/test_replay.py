"""Whether a prompt that was put together again is the recorded one."""

from __future__ import annotations

import hashlib

from anatomy_samples import item, window

from firsthand.context.anatomy import Anatomy, make
from firsthand.context.replay import Replay, compared
from firsthand.window import Budget, Share

SENT = '{"messages":[{"role":"user","content":"hé\ud800"}]}'.encode("utf-8", "surrogatepass")
WINDOW = window([item(1, 5)])


def recorded() -> Anatomy:
    shares = [Share("user message", len(SENT), 5)]
    return make(SENT, shares, WINDOW, Budget(9), session="s", call=1, turn=1, turn_id="", format="f", counter="c")


def test_the_same_bytes_are_the_same_prompt():
    """The body comes back with the word that its hash is the recorded one."""
    assert compared(recorded(), SENT, WINDOW) == Replay(
        {"messages": [{"role": "user", "content": "hé\ud800"}]},
        same=True,
        note=f"the same {len(SENT)} bytes as recorded, sha256 {hashlib.sha256(SENT).hexdigest()}",
        window=WINDOW,
    )


def test_other_bytes_are_told_apart_by_their_hash():
    """A prompt of the same length with one other byte is not the same, and the note gives both hashes and why."""
    other = SENT.replace(b"user", b"User")
    ours, theirs = (hashlib.sha256(sent).hexdigest() for sent in (other, SENT))
    found = compared(recorded(), other, WINDOW, why="an event was erased since")
    assert (found.same, found.body["messages"][0]["role"]) == (False, "User")
    assert found.note == (
        f"not the recorded prompt: sha256 {ours}, recorded {theirs}; same size; an event was erased since"
    )
    assert (
        f"; {len(SENT) + 1:,} bytes where {len(SENT):,} were recorded" in compared(recorded(), SENT + b" ", WINDOW).note
    )
