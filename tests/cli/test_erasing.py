"""firsthand erase."""

from __future__ import annotations

import json

SECRET = "jane.doe-4711@example.org"


def test_an_erased_event_is_gone_everywhere(shell):
    """Erase shows what goes, destroys it and proves it: nothing recalls, expands or scans it, the chain holds."""
    kept = shell.append("something that stays")
    gone = shell.append(f"write to {SECRET} today")
    said = shell("store", "erase", gone, "--reason", "asked by the person", "--yes")
    assert said.code == 0
    assert said.lines[0].startswith(f"{gone}  ")
    assert said.lines[0].endswith(f"s: write to {SECRET} today")
    assert said.lines[1] == "erased 1 event and 0 artifacts"
    assert said.lines[2].startswith("recorded as fh:")
    assert said.lines[-2:] == ["looked for 3 strings drawn from it: 0 lead to an erased event", "the chain verifies"]
    assert shell("recall", SECRET).code == 1
    assert shell("show", gone).code == 1
    assert shell("show", kept).out == b"something that stays"
    record = json.loads(shell("show", said.lines[2].removeprefix("recorded as ")).out)
    assert record == {"erased": [gone.removeprefix("fh:")], "reason": "asked by the person"}


def test_containing_finds_a_text_wherever_it_stands(shell, tmp_path):
    """--containing finds it in contents of any size, in JSON spellings, in meta, and in sources."""
    text = 'say "é" now'
    held = [
        shell.append(f"plain {text}"),
        shell.append(b"x" * ((1 << 20) - 5) + text.encode() + b"y" * 100, "s", "tool_result"),
        shell.append(json.dumps({"a": text}), "s", "tool_call"),
        shell.append(json.dumps({"a": text}, ensure_ascii=False), "s", "tool_call"),
        shell.append("in the meta", "s", "tool_result", "--call-id", text),
    ]
    shell.append("not here: say é now")
    (tmp_path / "talk.jsonl").write_text(json.dumps({"role": "user", "content": "hello", "about": text}) + "\n")
    shell("import", tmp_path / "talk.jsonl")
    imported = shell("timeline", "--json").json_lines[-1]["pointer"]
    done = shell("store", "erase", "--containing", text, "--yes", "--json").json
    assert sorted(done["erased"]) == sorted([*held, imported])
    assert done["proof"]["ok"] is True
    assert (done["artifacts_removed"], done["proof"]["scanned"]) == (1, [])
    assert shell("store", "erase", "--containing", text, "--yes").code == 1


def test_the_same_strings_elsewhere_are_pointed_out(shell):
    """Strings of the erased content that other events hold too are named, since they were not erased."""
    gone = shell.append(f"mail {SECRET}")
    other = shell.append(f"also {SECRET}", "t")
    said = shell("store", "erase", gone, "--yes")
    assert f"the same strings also stand in 1 event that were not erased: {other}" in said.lines


def test_nothing_goes_unasked(shell):
    """Without a terminal and --yes, and on a terminal after anything but yes, nothing is erased."""
    pointer = shell.append("keep me")
    said = shell("store", "erase", pointer)
    assert said.code == 2
    assert "nothing was erased: without a terminal to ask on, say --yes" in said.error
    no = shell.on_terminal("store", "erase", pointer, answer=b"n\n")
    assert no.code == 2
    assert b"destroy the content of 1 event for good? [y/N]" in no.out
    assert shell("show", pointer).out == b"keep me"
    yes = shell.on_terminal("store", "erase", pointer, answer=b"yes\n")
    assert yes.code == 0
    assert b"the chain verifies" in yes.out
    assert shell("show", pointer).code == 1


def test_what_cannot_be_erased_is_told(shell):
    """An unknown pointer, a wrong one, and one erased before end with 1, 5 and 1; nothing else goes with them."""
    pointer = shell.append("keep me")
    assert shell("store", "erase", pointer, "fh:" + "0" * 26, "--yes").code == 1
    assert shell("store", "erase", pointer, "nonsense", "--yes").code == 5
    assert shell("show", pointer).out == b"keep me"
    assert shell("store", "erase", pointer, "--yes").code == 0
    again = shell("store", "erase", pointer, "--yes")
    assert (again.code, again.error) == (1, "firsthand: nothing to erase: no event holds it, or it was erased before\n")
