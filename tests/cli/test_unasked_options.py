"""Options of the commands that speak of what happens unasked: daemon, doctor, inbox, mcp."""

from __future__ import annotations


def test_the_server_is_started_shown_and_stopped(shell, monkeypatch, tmp_path):
    """Serve starts it once and says what it is doing; --status and --stop give 1 where none runs."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert [shell("serve", "--status").code, shell("serve", "--stop").code] == [1, 1]
    try:
        first, again = shell("serve"), shell("serve", "--json")
        assert (first.code, again.code, again.json["answers"]) == (0, 0, True)
        assert f"process {again.json['pid']}, " in first.text
        assert shell("serve", "--foreground").code == 5
    finally:
        assert shell("serve", "--stop").text == "stopped\n"
    assert shell("serve", "--status", "--json").json == {"runs": False, "answers": False}


def test_a_message_names_what_it_is_about(shell):
    """The pointers of a message are kept with it."""
    pointer = shell.append("the deploy failed")
    (shell.store / "settings.json").write_text('{"inbox": true}')
    shell("agent", "inbox", "send", "look at this", "--agent", "shop", "--sender", "api", "--about", pointer)
    assert pointer in shell("agent", "inbox", "--agent", "shop", "--json").text


def test_the_tools_are_described_whatever_the_agent(shell, tmp_path):
    """What a client is told of the tools depends neither on the folder nor on how far recall may look."""
    plain = shell("mcp", "--describe")
    assert plain.code == 0
    assert shell("mcp", "--describe", "--cwd", str(tmp_path), "--across").text == plain.text
