"""firsthand note."""

from __future__ import annotations


def test_a_rule_is_kept_with_its_sources_and_the_words_it_was_learned_from(shell):
    """Note prints a pointer; its JSON names sources and situations, which are the user's words of the source's turn."""
    asked = shell.append("the pods die with exit code 137")
    answer = shell.append("I restarted them", "s", "agent_message")
    said = shell("note", "add", "HEAP SNAPSHOT FIRST", "--source", answer, "--rule", "--json").json
    pointer = said.pop("pointer")
    assert said == {
        "position": 3, "session": "notes", "sort": "rule", "sources": [answer],
        "situations": ["the pods die with exit code 137"], "left_out": [], "claims": [],
    }  # fmt: skip
    assert shell("show", pointer).out == b"HEAP SNAPSHOT FIRST"
    assert shell("store", "erase", asked, "--yes", "--json").json["erased"] == [asked, pointer]


def test_what_gave_no_situation_is_told(shell):
    """A source without a user's turn gives none, and the command says so; a situation that is given is kept."""
    alone = shell.append("nobody asked", "s", "agent_message")
    said = shell("note", "add", "a lesson", "--source", alone, "--lesson")
    assert said.code == 0
    assert f"nobody asked anything in the turn of {alone}: it gives no situation" in said.error
    given = shell(
        "note",
        "add",
        "x",
        "--source",
        alone,
        "--situation",
        "a b",
        "--situation",
        "c",
        "--agent",
        "me",
        "--session",
        "t",
        "--json",
    ).json
    assert (given["situations"], given["session"], given["sort"]) == (["a b", "c"], "t", "note")


def test_a_note_can_come_from_standard_input(shell):
    """A dash reads the text from the pipe, byte for byte."""
    pointer = shell("note", "add", "-", stdin=b"one\ntwo \xff\n").lines[0]
    assert shell("show", pointer).out == b"one\ntwo \xff\n"


def test_a_source_that_is_not_there_refuses_the_note(shell):
    """A pointer that resolves to nothing keeps nothing."""
    shell.append("something")
    assert shell("note", "add", "x", "--source", "fh:" + "0" * 26).code == 1
    assert len(shell("timeline", "--json").json_lines) == 1


def test_claims_are_checked_before_a_note_is_written(shell):
    """Note add says of each claim what a check found, and note check says it again, with the whole line."""
    shell.append("Order 7 notebooks at $4 each.", "s", "user_message")
    claim = '{"says": "notebooks cost $28", "quotes": ["7 notebooks at $4"], "work": "7 * $4"}'
    written = shell("note", "add", "notebooks: $28", "--claim", claim, "--quotes-from", "s")
    assert "worked out: notebooks cost $28" in written.error
    again = shell("note", "check", written.out.decode().strip())
    assert (again.code, "user: Order 7 notebooks at $4 each." in again.out.decode()) == (0, True)


def test_a_contradicted_claim_ends_with_a_code_of_its_own(shell, tmp_path):
    """A claim whose work gives another value is said so, in JSON too, read from a file."""
    shell.append("Order 7 notebooks at $4 each.", "s", "user_message")
    file = tmp_path / "claims.json"
    file.write_text('[{"says": "they cost $30", "quotes": ["7 notebooks at $4"], "work": "7 * $4"}]')
    checked = shell("note", "check", "--claim", f"@{file}", "--quotes-from", "s", "--json")
    assert (checked.code, checked.json[0]["proof"]) == (1, "contradicted")
    assert checked.json[0]["reasons"] == ["work gives 28 USD, the claim says $30"]
    for wrong in (("--claim", "{"), (), ("--claim", "@nowhere")):
        assert shell("note", "check", *wrong).code == 5
