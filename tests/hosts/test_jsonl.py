"""Plain JSON lines with a mapping."""

from __future__ import annotations

import pytest
from host_suite import HostSuite
from readings import drafts, read, told

from firsthand.errors import FormatError
from firsthand.event import Kind, Trust
from firsthand.hosts.jsonl import Fields, Jsonl
from firsthand.moment import parse

CHAT = b"""{"role": "system", "content": "be brief"}
{"role":"user","content":"caf\\u00e9?"}

{"role": "assistant", "content": "yes", "name": "bot-1", "timestamp": "2026-01-02T03:04:05Z"}
{"role": "tool", "content": {"a": [1.0, "x"]}}
{"role": "narrator", "content": "night"}
{"content": "no role"}
{"other": 1}
"""


def test_role_and_content_lines_need_no_mapping():
    """The default fits what many tools write; content that is no text is its JSON, a line without any stays whole."""
    made = drafts(Jsonl(), "/x/chat.jsonl", CHAT)
    assert told(made) == [
        ("system", b"be brief"), ("user_message", "café?".encode()), ("agent_message", b"yes"),
        ("tool_result", b'{"a": [1.0, "x"]}'), ("other", b"night"), ("document", b"no role"),
        ("other", b'{"other": 1}\n'),
    ]  # fmt: skip
    assert [(d.origin, d.trust) for d in made[:4]] == [
        ("host:jsonl", Trust.TRUSTED), ("user", Trust.TRUSTED), ("agent", Trust.AGENT),
        ("tool:unknown", Trust.UNTRUSTED),
    ]  # fmt: skip
    assert (made[2].agent, made[2].time, made[2].meta) == (
        "bot-1",
        parse("2026-01-02T03:04:05Z"),
        {"role": "assistant"},
    )
    assert Jsonl().session("/x/my.chat.jsonl", CHAT) == "my.chat"


def test_a_mapping_names_the_fields_and_leads_into_objects():
    """Each field is taken from where the mapping says, with dots into objects."""
    host = Jsonl(Fields.of({"content": "m.t", "kind": "m.k", "time": "at", "session": "th", "agent": "a", "id": "n"}))
    data = b'{"m": {"t": "hi", "k": "tool_call"}, "at": 0.5, "th": "t/1", "a": "ada", "n": 7}\n'
    (reading,) = read(host, "/x/c.jsonl", data)
    (draft,) = reading.record.drafts
    assert (draft.kind, draft.content, draft.agent, draft.time) == (Kind.TOOL_CALL, b"hi", "ada", parse(0.5))
    assert reading.record.session == "t/1"
    assert reading.record.identity.startswith(b"7 ")


def test_the_same_id_with_other_words_is_another_record():
    """A line that was edited under its id is kept beside the one before."""
    first, second = read(Jsonl(), "c.jsonl", b'{"id": "1", "content": "a"}\n{"id": "1", "content": "b"}\n')
    assert first.record.identity != second.record.identity


@pytest.mark.parametrize("given", [{"body": "x"}, {"content": 3}])
def test_a_mapping_that_names_no_field_is_refused(given):
    """A misspelt name, or a field that is no text, is an error that lists the names."""
    with pytest.raises(FormatError, match="content, kind, time, session, agent, id"):
        Fields.of(given)


@pytest.mark.parametrize(
    ("path", "data", "known"),
    [
        ("c.jsonl", CHAT, True), ("c.ndjson", b"\xef\xbb\xbf\n" + CHAT, True), ("c.json", CHAT, False),
        ("c.jsonl", b'{"text": "x"}\n', False), ("c.jsonl", b"[1]\n", False), ("c.jsonl", b"", False),
        ("c.jsonl", b'{"content": "' + b"x" * 70_000, True),
    ],
)  # fmt: skip
def test_lines_are_recognised_by_the_first_one(path, data, known):
    """A file of JSON lines is taken when its first line has a content."""
    assert Jsonl().recognises(path, data[:65_536]) is known


class TestJsonl(HostSuite):
    host, path, sample, session = Jsonl(), "/x/my.chat.jsonl", CHAT, "my.chat"
