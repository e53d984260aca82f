"""Formats by name, and telling which one a list of messages has."""

from __future__ import annotations

import pytest

from firsthand.errors import FormatError
from firsthand.formats import detect, named


@pytest.mark.parametrize(
    ("messages", "name"),
    [
        ([], "openai-chat"),
        ([{"role": "system", "content": "a"}, {"role": "user", "content": "b"}], "openai-chat"),
        ([{"role": "user", "content": "b"}, {"role": "tool", "content": "c", "tool_call_id": "x"}], "openai-chat"),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}], "openai-chat"),
        ([{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x"}]}], "anthropic"),
        ([{"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "thinking"}]}], "anthropic"),
        ([{"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {}}]}], "anthropic"),
        ([{"role": "assistant", "type": "message", "model": "m", "content": [{"type": "tool_use"}]}], "anthropic"),
        ([{"role": "user", "content": "a"}, {"type": "function_call", "name": "f"}], "openai-responses"),
        ([{"role": "user", "content": [{"type": "input_text", "text": "a"}]}], "openai-responses"),
        ([{"type": "message", "role": "user", "content": "a"}], "openai-responses"),
    ],
)
def test_a_format_is_told_by_its_first_sign(messages, name):
    """The first message that only one format has decides; plain roles and texts are chat messages."""
    assert detect(messages) == name


@pytest.mark.parametrize("messages", [["text"], [{"content": "no role"}], [{"role": "user"}, 3]])
def test_what_is_no_message_is_refused_with_its_number(messages):
    """An entry that is no object, or has neither role nor type, is named."""
    with pytest.raises(FormatError, match=f"number {len(messages) - 1} is"):
        detect(messages)


def test_a_format_that_is_not_known_is_refused():
    """The error lists the formats there are."""
    with pytest.raises(FormatError, match="anthropic, openai-chat, openai-responses; got 'xml'"):
        named("xml")
