"""A note as the probe reads it: who says what, where pointers lead, what it admits."""

from __future__ import annotations

import json

import pytest

from firsthand_evals.probe import probe_reading
from firsthand_evals.probe.probe_reading import Session, admits, messages_of, read

ID = "fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY"
SAID = [{"role": "user", "content": 'We took 7 pads, "red" ones.'}, {"role": "assistant", "content": "Noted."}]


@pytest.mark.parametrize(
    "text",
    [
        "User: {0}\nAssistant: {1}",
        "**Human:** {0}\n**AI:** {1}",
        "<user>{0}</user>\n<assistant>{1}</assistant>",
        "- role: user\n  text: {0}\n- role: assistant\n  text: {1}",
    ],
)
def test_a_transcript_is_read_as_who_said_what(text):
    """Lines with roles, tags and YAML give the messages that were written."""
    assert messages_of(text.format(SAID[0]["content"], SAID[1]["content"])) == SAID


@pytest.mark.parametrize("dump", [json.dumps, lambda said: "\n".join(map(json.dumps, said))])
def test_json_gives_what_was_written_into_it(dump):
    """A list of messages, in one value or one a line, an object with messages and a text are read unescaped."""
    assert messages_of(dump(SAID)) == SAID
    assert messages_of(json.dumps({"messages": SAID})) == SAID
    assert messages_of(json.dumps(SAID[0]["content"])) == SAID[:1]


def test_what_is_no_transcript_is_one_message_of_the_user():
    """A record of JSON, broken JSON and prose stay the text that they are; a quotation is what is quoted."""
    for text in ('{"pads": 7}', '{"pads": ', "[1, 2", "7 pads\n2 pens"):
        assert messages_of(text) == [{"role": "user", "content": text}]
    assert messages_of("The assistant said: \u201c7 pads at $4\u201d") == [{"role": "user", "content": "7 pads at $4"}]
    assert messages_of("") == []


@pytest.mark.parametrize(
    "text",
    [
        "[kept 2 of 4]", "2/3 kept", "Kept two of three items.", "(3 of 4 lines are here; the others did not fit.)",
        "The rest was not kept.", "Basis not kept.", "The line items did not fit and are gone.", "incomplete",
        "[earlier messages were dropped]", "7 pads [...]", "among others", "it has to be looked up again",
        f"the rest: {ID}", f"2 of 3 items; see {ID} for the others", f"More items: {ID}",
    ],
)  # fmt: skip
def test_a_note_that_says_that_something_is_missing_admits_it(text):
    """Tags of less than all, what was lost, and a pointer to the rest are admissions."""
    assert admits(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "7 pads at $4", "[4/4 kept]", "Kept 4 of 4 items.", "Wishes (2 of 3): a lamp, a shelf.", "maybe $55",
        f"The total was $55. Source: {ID}", "Nothing else was decided.", "2 of 3 voted yes",
    ],
)  # fmt: skip
def test_a_hedge_a_false_tag_and_a_source_are_no_admissions(text):
    """All of all, counts of something else, doubt and a pointer behind a conclusion say nothing of what is missing."""
    assert not admits(text)


def test_tags_and_pointers_are_no_statements():
    """What counts a note, and addresses in it, give no values; what was struck out is not there."""
    own = read(f"7 pads at $4 ({ID})\n- ~~9~~ 8 pens at $2\nKept 3 of 4 items.", Session(())).own
    assert [value.text for one in own for value in one.values] == ["7", "$4", "8", "$2"]


def test_what_the_session_does_not_have_is_followed_and_not_believed(monkeypatch):
    """Behind a pointer counts what stands in a message, or what holds one; other text is a way on, for two hops."""
    first, second = "fh:" + "1" * 26, "fh:" + "2" * 26
    source = {"role": "user", "content": "7 pads at $4", "pointer": ID}
    behind = {first: f"a note of {second}", second: "User said:\n7 pads at $4", ID: "7 pads"}
    session = Session([source], behind.get)
    assert [one.text for one in read(first, session).behind] == ["7 pads at $4"]
    assert [one.text for one in read(ID, session).behind] == ["7 pads"]
    assert read("fh:" + "3" * 26, session).behind == ()
    monkeypatch.setattr(probe_reading, "HOPS_MAX", 1)
    assert read(first, session).behind == ()


def test_of_a_long_session_the_users_words_are_read_first(monkeypatch):
    """Beyond a bound the agent's messages are left out before the user's, and that is known."""
    monkeypatch.setattr(probe_reading, "SESSION_CHARACTERS_MAX", 20)
    told = [{"role": role, "content": f"{role[0]} {'x' * 8}"} for role in ("user", "assistant", "tool", "user")]
    session = Session(told)
    assert [one["role"] for one in session.messages] == ["user", "user"]
    assert not session.is_whole
    assert Session(told[:2]).is_whole


def test_what_a_third_person_worked_out_is_hearsay():
    """A colleague's figure is a claim, in whatever words; a thing that one has is not."""
    told = ["A colleague worked out the pens at $19.", "My cousin swears Ben is last.", "The colleagues' pens cost $2."]
    asserted = [one.asserts for one in Session([{"role": "user", "content": text} for text in told]).statements]
    assert asserted == ["claim", "claim", ""]
