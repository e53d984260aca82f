"""firsthand agent preamble, cues, inbox and files."""

from __future__ import annotations

import json

from firsthand import Memory


def test_the_preamble_is_shown_and_nothing_is_written(shell):
    """It is what a new session reads; an agent of whom nothing is known gives none and exit code 1."""
    with Memory.open(shell.store) as memory:
        memory.agent("shop").enrol("s")
        memory.session("s").user("Never push to the main branch without a review.")
    before = Memory.open(shell.store, read_only=True).head()
    said = shell("agent", "preamble", "--agent", "shop")
    assert (said.code, "Never push to the main branch without a review." in said.text) == (0, True)
    assert shell("agent", "preamble", "--agent", "shop", "--json").json["tokens"] > 10
    assert shell("agent", "preamble", "--agent", "other").code == 1
    assert shell("agent", "preamble", "--agent", "shop", "--tokens", "5").code == 5
    assert Memory.open(shell.store, read_only=True).head() == before


def test_cues_of_a_message(shell):
    """The names that the message is about, and exit code 1 when there are none."""
    with Memory.open(shell.store) as memory:
        memory.agent("shop").learn("retry policy", "three")
    assert shell("agent", "cues", "--agent", "shop", "which", "retries?").lines == ["Knowledge: retry policy"]
    assert shell("agent", "cues", "--agent", "shop", "retries", "--json").json["names"] == ["retry policy"]
    assert shell("agent", "cues", "--agent", "other", "retries").code == 1


def test_a_message_is_sent_shown_and_read(shell):
    """Sending is refused until it is allowed; a message is listed as unread until it was read."""
    shell.append("x")
    refused = shell("agent", "inbox", "send", "hello", "there", "--agent", "shop", "--sender", "api")
    assert (refused.code, "switch inbox on" in refused.error) == (5, True)
    (shell.store / "settings.json").write_text(json.dumps({"inbox": True}))
    pointer = shell("agent", "inbox", "send", "hello", "there", "--agent", "shop", "--sender", "api").lines[0]
    assert shell("agent", "inbox", "--agent", "shop").lines[0].startswith(pointer)
    assert "(unread)" in shell("agent", "inbox", "--agent", "shop").lines[0]
    assert shell("agent", "inbox", "read", "--agent", "shop", "--json").json["text"] == "hello there"
    assert shell("agent", "inbox", "read", "--agent", "shop").code == 1
    assert shell("agent", "inbox", "text").code in {2, 5}


def test_files_are_followed_and_restored(shell):
    """An edit is told with its pointer; a file that is missing is written anew."""
    with Memory.open(shell.store) as memory:
        folder = memory.agent("shop").folder / "knowledge"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text("one")
    assert shell("agent", "files", "--agent", "shop").lines[0].startswith("new       knowledge/a.md  fh:")
    (folder / "a.md").unlink()
    assert shell("agent", "files", "--agent", "shop").lines[0].startswith("deleted   knowledge/a.md  fh:")
    assert (
        shell("agent", "files", "restore", "knowledge/a.md", "--agent", "shop").lines[0] == "restored  knowledge/a.md"
    )
    assert (folder / "a.md").read_text() == "one"
    assert shell("agent", "files", "restore", "knowledge/none.md", "--agent", "shop").code == 1
