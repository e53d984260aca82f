"""firsthand eval probe."""

from __future__ import annotations

import json

from firsthand_evals.commands import probe as probing

BOUGHT = "We bought 7 notebooks at $4. And 9 pens at $2. What is the total?"
MESSAGES = [{"role": "user", "content": BOUGHT}, {"role": "assistant", "content": "The total is $55."}]
SILENT = "uncorrectable_silent: what it takes is not there, and the note looks as if it were whole"


def test_a_note_alone_is_refused(shell, tmp_path):
    """A text without a session is not judged: the command says what it wants."""
    file = tmp_path / "note.md"
    file.write_text("The total was $55.")
    found = shell("eval", "probe", file)
    assert (found.code, found.out) == (5, b"")
    assert "give messages, a session or sources; got none" in found.error


def test_notes_with_their_sessions_are_counted_by_regime(shell, tmp_path):
    """JSON holds notes with messages, claims and what pointers lead to; of several, every regime is counted."""
    pointer = "fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY"
    items = [
        {"id": "whole", "note": "7 notebooks at $4, 9 pens at $2", "messages": MESSAGES, "claim": "the total"},
        {"id": "part", "note": "9 pens at $2", "messages": MESSAGES, "claim": "the total"},
        {"note": f"$55, see {pointer}", "messages": MESSAGES, "claim": "the total", "expand": {pointer: BOUGHT}},
    ]
    file = tmp_path / "notes.json"
    file.write_text(json.dumps(items))
    said = shell("eval", "probe", file)
    assert said.code == 1
    silent = "silent 0.333 [0.061, 0.792] (1 of 3)"
    assert said.lines == [
        "whole: correctable: the note has what it takes",
        f"part: {SILENT}",
        "  missing: We bought 7 notebooks at $4.",
        f"{file} 3: reachable: its pointers lead to what it takes",
        f"of 3 notes 1 correctable, 1 reachable, 0 uncorrectable_loud, 1 uncorrectable_silent; {silent}",
    ]
    *verdicts, counts = shell("eval", "probe", file, "--json").json_lines
    assert [(one["id"], one["regime"], one["missing"]) for one in verdicts][:2] == [
        ("whole", "correctable", []), ("part", "uncorrectable_silent", ["We bought 7 notebooks at $4."]),
    ]  # fmt: skip
    assert counts == {
        "n": 3, "correctable": 1, "reachable": 1, "uncorrectable_loud": 0, "uncorrectable_silent": 1,
    }  # fmt: skip
    rows = tmp_path / "notes.jsonl"
    rows.write_text("\n".join(map(json.dumps, items)) + "\n\n")
    assert shell("eval", "probe", rows).lines == [line.replace(str(file), str(rows)) for line in said.lines]
    rows.write_text(f"{json.dumps(items[0])}\n{{ no note }}\n")
    torn = shell("eval", "probe", rows)
    assert (torn.code, torn.out) == (5, b"")
    assert f"{rows} 2: expected an object with a note, as elsewhere in this file; got none" in torn.error
    single = tmp_path / "one.json"
    single.write_text(json.dumps(items[1]))
    assert shell("eval", "probe", single).code == 1


def test_a_note_is_judged_by_the_store(shell, tmp_path):
    """A note stands on a session or on events of the store, and its pointers are followed there."""
    bought = shell.append(BOUGHT)
    answer = shell.append("The total is $55.", "s", "agent_message")
    file = tmp_path / "note.md"
    file.write_text(f"The total was $55 ({bought}).")
    claim = ("--claim", "the total")
    assert shell("eval", "probe", file, "--session", "s", *claim).text.startswith(f"{file}: reachable")
    assert shell("eval", "probe", file, "--source", bought, *claim).code == 0
    file.write_text(f"The total was $55 ({answer}).")
    assert shell("eval", "probe", file, "--session", "s", *claim).lines[0] == f"{file}: {SILENT}"


def test_what_is_no_note_is_told(shell, tmp_path, monkeypatch):
    """A file that is not there, JSON of another shape, no text, two kinds of source: exit code 5 and a sentence."""
    shell.append("hello")
    file = tmp_path / "x.json"
    for content, given, told in (
        ("", (tmp_path / "none",), "No such file"),
        ('{"note": 5}', (file,), "note and claim are texts"),
        ('{"note": "x", "messages": {}}', (file,), "messages a list of objects"),
        ('{"note": "x", "expand": {"fh:": 5}}', (file,), "expand is an object"),
        ('{"note": "x", "notes": 5}', (file,), "expected claim, expand, id, messages, note; got notes"),
        (
            '{"note": "x", "messages": [{"role": "user", "content": 5}]}',
            (file,),
            "x.json: the content of a message is text",
        ),
        ('{"note": "x", "messages": [{"role": "user", "content": "y"}]}', (file, "--session", "s"), "got both"),
        ("x", (file, "--session", "none"), "nothing was said in session"),
        ("x", (tmp_path,), "Is a directory; expected a file with a note"),
        ("x", ("-", "-"), "standard input is read once"),
        ('[{"note": "x"}, 5]', (file,), "x.json 2: expected an object with a note"),
    ):
        file.write_text(content)
        said = shell("eval", "probe", *given)
        assert (said.code, said.out) == (5, b"")
        assert told in said.error
    file.write_text('{"note": ')  # a note that begins like JSON
    assert shell("eval", "probe", file, "--session", "s").code == 0
    monkeypatch.setattr(probing, "BYTES_MAX", 4)
    assert "at most 4 bytes" in shell("eval", "probe", file).error
    monkeypatch.setattr(probing, "BYTES_MAX", 4_000)
    monkeypatch.setattr(probing, "ITEMS_MAX", 1)
    file.write_text('[{"note": "x"}, {"note": "y"}]')
    assert "at most 1 notes" in shell("eval", "probe", file).error


def test_what_cannot_be_read_costs_no_other_note(shell, tmp_path):
    """Notes beside a file that is not there, and beside one that is no text, are judged; exit code 5 says so."""
    good, binary = tmp_path / "good.md", tmp_path / "binary"
    shell.append(BOUGHT)
    good.write_bytes(b"\xef\xbb\xbf7 notebooks at $4, 9 pens at $2. The total was $55.")
    binary.write_bytes("The total was $55.".encode("utf-16"))
    said = shell("eval", "probe", tmp_path / "none", good, binary, good, "--session", "s")
    assert said.code == 5
    assert said.lines[:2] == [f"{good}: correctable: the note has what it takes"] * 2
    assert said.lines[2].startswith("of 2 notes 2 correctable")
    assert f"{binary}: expected text in UTF-8; got another byte at 0" in said.error
    assert "2 of 4 files not judged to the end" in said.error


def test_a_message_of_several_parts_is_read_part_by_part(shell, tmp_path):
    """The texts of a message are what was said; its pictures are left out."""
    parts = [{"type": "text", "text": BOUGHT}, {"type": "image_url", "image_url": {"url": "data:,x"}}]
    file = tmp_path / "parts.json"
    for note, code in (("7 notebooks at $4, 9 pens at $2", 0), ("9 pens at $2", 1)):
        file.write_text(json.dumps({"note": note, "messages": [{"role": "user", "content": parts}, MESSAGES[1]]}))
        assert shell("eval", "probe", file).code == code


def test_what_a_tool_gave_is_read_within_its_part(shell, tmp_path):
    """A tool's result stands in a part of a user's message, as text or in parts again: it is a source as any other."""
    file = tmp_path / "parts.json"
    for inner in (BOUGHT, [{"type": "text", "text": BOUGHT}]):
        parts = [{"type": "tool_result", "tool_use_id": "x", "content": inner}]
        for note, code in (("7 notebooks at $4, 9 pens at $2", 0), ("9 pens at $2", 1)):
            file.write_text(json.dumps({"note": note, "messages": [{"role": "user", "content": parts}, MESSAGES[1]]}))
            assert shell("eval", "probe", file).code == code
