"""Windows to compose: entries made of messages as the log gives them back, and of texts of ours."""

from __future__ import annotations

from firsthand import formats
from firsthand.event import Kind, to_text
from firsthand.formats.compose import Entry, Piece
from firsthand.window import CUES, MARKERS, PREAMBLE, TASK

ID = "01J8ZQ4T9M6V3K2N7P5R8S1WX"  # and a last sign for the part


def entry(name, message, *, whole=True, tokens=5):
    """Make the entry of one message; not whole, it is built of its pieces."""
    record = formats.named(name).to_records([message])[0]
    pieces = [
        Piece(draft.kind, to_text(draft.content), draft.media, draft.meta, draft.content, f"{ID}{number % 10}", tokens)
        for number, draft in enumerate(record.drafts)
    ]
    return Entry(message if whole else None, tuple(pieces))


def window(name, *messages, whole=True):
    """Make the entries of messages of one format."""
    return [entry(name, message, whole=whole) for message in messages]


def note(words, name, tokens=3):
    return Piece(Kind.NOTE, words, tokens=tokens, name=name)


def marker(words="[Turns 1-3 evicted]"):
    return Entry(None, (note(words, MARKERS),))


TASK_STATE, CUE, BEGINNING = note("Goal: ship", TASK), note("Perhaps: deploy", CUES), note("Last time: ...", PREAMBLE)


def chat_call(*ids, words=None, name="bash"):
    """Write a message of OpenAI chat with calls."""
    calls = [{"id": each, "type": "function", "function": {"name": name, "arguments": "{}"}} for each in ids]
    return {"role": "assistant", "content": words, "tool_calls": calls}


def chat_result(identifier, words="ok"):
    return {"role": "tool", "tool_call_id": identifier, "content": words}


def user(words):
    return {"role": "user", "content": words}


def agent(words):
    return {"role": "assistant", "content": words}


def use(identifier, name="bash"):
    return {"type": "tool_use", "id": identifier, "name": name, "input": {}}


def used(identifier, words="ok"):
    return {"type": "tool_result", "tool_use_id": identifier, "content": words}


def said(words):
    return {"type": "text", "text": words}


def thought(words, signature="sig"):
    return {"type": "thinking", "thinking": words, "signature": signature}
