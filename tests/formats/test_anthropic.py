"""Messages of the Anthropic API."""

from __future__ import annotations

import base64

from hypothesis import given
from hypothesis import strategies as st
from messages import BASE64, JSON, TEXT, fields, there_and_back, told

from firsthand.event import Kind, Trust

PDF = b"%PDF-1.7\n" + bytes(range(90))
DATA = base64.b64encode(PDF).decode()
SOURCE = st.one_of(
    fields({"type": "base64", "data": BASE64}, media_type=TEXT),
    fields({"type": "url", "url": TEXT}),
    fields({"type": "file", "file_id": TEXT}),
    fields({"type": "text", "data": TEXT}, media_type=TEXT),
    fields({"type": "content", "content": JSON}),
)
FILE = fields({"type": st.sampled_from(["image", "document"]), "source": SOURCE}, title=TEXT, context=TEXT)
TEXT_BLOCK = fields({"type": "text", "text": TEXT}, citations=JSON)
BLOCK = st.one_of(
    TEXT_BLOCK,
    FILE,
    fields({"type": "thinking", "thinking": TEXT}, signature=TEXT),
    fields({"type": "redacted_thinking", "data": TEXT}),
    fields({"type": st.sampled_from(["tool_use", "server_tool_use", "mcp_tool_use"])}, id=TEXT, name=TEXT, input=JSON),
    fields(
        {"type": st.sampled_from(["tool_result", "web_search_tool_result"])},
        tool_use_id=TEXT, content=TEXT | st.lists(TEXT_BLOCK | FILE), is_error=st.booleans(),
    ),
    fields({"type": "compaction", "content": TEXT | st.none()}, encrypted_content=TEXT),
    fields({"type": TEXT}),
    JSON,
)  # fmt: skip
MESSAGE = fields({"role": st.sampled_from(["user", "assistant", "odd"]), "content": TEXT | st.lists(BLOCK, max_size=4)})


@given(st.lists(MESSAGE, max_size=4))
def test_every_message_comes_back_equal(messages):
    """Whatever its blocks, and whatever is wrong in them, a message goes back as it came."""
    there_and_back("anthropic", messages)


def test_a_conversation_with_tools_gives_one_event_a_block():
    """Thought, words, parallel calls and their results, each with its exact content and its speaker."""
    calls = [{"type": "tool_use", "id": f"t{n}", "name": f"tool{n}", "input": {"n": n, "é": [1.5]}} for n in (1, 2)]
    results = [{"type": "tool_result", "tool_use_id": f"t{n}", "content": f"out {n}"} for n in (2, 1)]
    thought = {"type": "thinking", "thinking": "Hm", "signature": "c2ln"}
    found = there_and_back(
        "anthropic",
        [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [thought, {"type": "text", "text": "ok"}, *calls]},
            {"role": "user", "content": [*results, {"type": "text", "text": "and?"}]},
        ],
    )
    assert [told(drafts) for drafts in found] == [
        [("user_message", b"go")],
        [
            ("reasoning", b"Hm"),
            ("agent_message", b"ok"),
            ("tool_call", '{"n":1,"é":[1.5]}'.encode()),
            ("tool_call", '{"n":2,"é":[1.5]}'.encode()),
        ],
        [("tool_result", b"out 2"), ("tool_result", b"out 1"), ("user_message", b"and?")],
    ]
    assert [(d.meta, d.origin, d.trust) for d in found[2][:2]] == [
        ({"call_id": "t2", "tool": "tool2"}, "tool:tool2", Trust.UNTRUSTED),
        ({"call_id": "t1", "tool": "tool1"}, "tool:tool1", Trust.UNTRUSTED),
    ]
    assert [d.trust for d in found[1]] == [Trust.AGENT] * 4
    assert found[0][0].trust == Trust.TRUSTED


def test_files_become_attachments_of_their_bytes():
    """A document's base64 leaves the envelope; the user's words come first, so that they begin the turn."""
    document = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": DATA}}
    link = {"type": "image", "source": {"type": "url", "url": "https://x/y.png"}}
    ((words, file, address),) = there_and_back(
        "anthropic", [{"role": "user", "content": [document, link, {"type": "text", "text": "read"}]}]
    )
    assert (words.kind, words.content, words.part) == (Kind.USER_MESSAGE, b"read", 0)
    assert (file.kind, file.content, file.media, file.trust) == (
        Kind.ATTACHMENT,
        PDF,
        "application/pdf",
        Trust.UNTRUSTED,
    )
    assert (address.content, address.media, address.meta["url"]) == (
        b"https://x/y.png",
        "text/uri-list",
        "https://x/y.png",
    )
    assert DATA.encode() not in words.envelope


def test_a_result_is_its_one_text_or_the_json_of_its_blocks_without_files():
    """Text beside an image stays text; several texts are their JSON; an image is cut to an attachment."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}}
    text, more = {"type": "text", "text": "shot"}, {"type": "text", "text": "more"}

    def result(content):
        block = {"type": "tool_result", "tool_use_id": "t", "content": content}
        return told(there_and_back("anthropic", [{"role": "user", "content": [block]}])[0])

    assert result([text]) == [("tool_result", b"shot")]
    assert result([text, image]) == [("tool_result", b"shot"), ("attachment", PDF)]
    assert result([text, more]) == [
        ("tool_result", b'[{"type":"text","text":"shot"},{"type":"text","text":"more"}]'),
    ]  # fmt: skip
    assert result([image, text, more]) == [
        (
            "tool_result",
            b'[{"type":"image","attached":true},{"type":"text","text":"shot"},{"type":"text","text":"more"}]',
        ),
        ("attachment", PDF),
    ]


def test_what_only_the_provider_reads_is_kept_sealed_and_the_unknown_as_its_json():
    """Redacted thinking is an opaque thought; a compaction is a summary; an unknown block is its JSON."""
    blocks = [
        {"type": "redacted_thinking", "data": "RW5j"},
        {"type": "compaction", "content": "so far", "signature": "s"},
        {"type": "hologram", "n": 1},
    ]
    (drafts,) = there_and_back("anthropic", [{"role": "assistant", "content": blocks}])
    assert told(drafts) == [("reasoning", b"RW5j"), ("summary", b"so far"), ("other", b'{"type":"hologram","n":1}')]
    assert drafts[0].media == "application/octet-stream"


def test_base64_that_is_none_makes_nothing_up():
    """A block with broken base64 is kept as its JSON and comes back as it was."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "not base64!"}}
    (drafts,) = there_and_back("anthropic", [{"role": "user", "content": [image]}])
    assert [draft.kind for draft in drafts] == [Kind.OTHER]
