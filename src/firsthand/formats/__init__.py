"""The wire formats of model providers, by name: messages to records and back.

Each format is a module of three functions: ``to_records``, ``drafts`` and
``message_from``. None of them knows a store, or a provider's package.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from firsthand.errors import FormatError
from firsthand.event import Draft
from firsthand.formats import anthropic, openai_chat, openai_responses
from firsthand.formats.fields import mapping, text
from firsthand.formats.parts import Calls
from firsthand.record import Record


class Format(Protocol):
    """One wire format."""

    def to_records(self, messages: Sequence[Mapping[str, Any]], calls: Calls | None = None) -> list[Record]: ...
    def drafts(self, message: Mapping[str, Any], raw: bytes, calls: Calls, /) -> list[Draft]: ...
    def message_from(self, envelope: bytes, contents: Sequence[bytes]) -> dict[str, Any]: ...


OPENAI_CHAT, OPENAI_RESPONSES, ANTHROPIC = "openai-chat", "openai-responses", "anthropic"
FORMATS: Mapping[str, Format] = {
    OPENAI_CHAT: openai_chat,
    OPENAI_RESPONSES: openai_responses,
    ANTHROPIC: anthropic,
}

_CHAT_FIELDS = frozenset(
    {"tool_calls", "tool_call_id", "function_call", "refusal", "audio", "name", "reasoning_content"}
)
_CHAT_BLOCKS = frozenset({"image_url", "input_audio", "file", "refusal"})
_RESPONSES_BLOCKS = frozenset({"input_text", "output_text", "input_image", "input_file"})


def named(name: str) -> Format:
    """Give a format by its name.

    Raises:
        FormatError: there is none of that name.
    """
    try:
        return FORMATS[name]
    except KeyError:
        raise FormatError(f"a format is one of {', '.join(sorted(FORMATS))}; got {name!r:.60}") from None


def detect(messages: Sequence[Mapping[str, Any]]) -> str:
    """Say which format a list of messages has, by the first sign that only one format has.

    A list with no such sign (plain roles and texts) means the same in all of
    them, and is called ``openai-chat``.

    Raises:
        FormatError: an entry is no object, or says neither a role nor a type.
    """
    for number, message in enumerate(messages):
        if not isinstance(message, Mapping) or not (message.keys() & {"role", "type"}):
            raise FormatError(
                f"a message is an object with a role or a type; number {number} is {message!r:.80}; name its format"
            )
    signs = (sign for message in messages if (sign := _sign(message)))
    return next(signs, OPENAI_CHAT)


def _sign(message: Mapping[str, Any]) -> str:
    if "role" not in message or (message.get("type") == "message" and "model" not in message):
        return OPENAI_RESPONSES
    if message.keys() & _CHAT_FIELDS or message["role"] in ("tool", "function"):
        return OPENAI_CHAT
    content = message.get("content")
    blocks = [mapping(block) for block in content] if isinstance(content, list) else []
    kinds = {text(block.get("type")) for block in blocks}
    if kinds & _RESPONSES_BLOCKS:
        return OPENAI_RESPONSES
    if kinds & _CHAT_BLOCKS:
        return OPENAI_CHAT
    return ANTHROPIC if kinds - {"", "text"} or any("cache_control" in block for block in blocks) else ""
