"""The OpenAI Responses API, as the proxy reads, withholds and writes it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from firsthand import formats
from firsthand.formats.fields import items, mapping, text
from firsthand.proxy import dialect
from firsthand.proxy.dialect import Asked, Entry, Message, Reply, texts_of
from firsthand.proxy.event_stream import Block, event
from firsthand.value import replace

FORMAT, LIST, NO_TOOLS = formats.OPENAI_RESPONSES, "input", {"tool_choice": "none"}
_CALLS = ("function_call", "custom_tool_call")
_ENDS = {"response.completed": "completed", "response.incomplete": "incomplete", "response.failed": "failed"}
_BEGINNINGS = ("response.created", "response.in_progress", "response.queued")


def read(body: Message) -> Asked:
    """Read a request.

    Raises:
        Unfit: it asks for something that no window can be kept for.
    """
    given = body.get("input", [])
    messages = [{"role": "user", "content": given}] if isinstance(given, str) else given
    for name in ("background", "conversation", "prompt"):
        if body.get(name):
            raise dialect.Unfit(f"the upstream keeps what this request stands on ({name})")
    return dialect.read_list(
        body, messages, LIST, text(body.get("instructions")), text(body.get("previous_response_id"))
    )


def write(asked: Asked, messages: Sequence[Message], tools: Sequence[Message], *, composed: bool) -> Message:
    """Write the request of a window: its own system item is the client's, as it came."""
    written = asked.headed(messages, composed=composed)
    if not any(item.get("type") == "reasoning" for item in asked.messages):
        written = _without_thoughts(written)
    return asked.written(LIST, written, tools)


def plain(message: Message) -> Message:
    """Give an item as the log takes it."""
    return message


def _key(message: Message) -> bytes:
    kind = text(message.get("type"))
    if message.get("role") == "assistant":
        parts = [text(part.get("refusal")) for part in map(mapping, items(message.get("content")))]
        return dialect.words_key([*texts_of(message.get("content")), *parts], [])
    if kind in _CALLS:
        return dialect.digest(kind, text(message.get("call_id")), text(message.get("name")))
    if "role" in message:
        return dialect.digest(text(message["role"]), *_parts(message.get("content")))
    return dialect.digest(json.dumps({name: message[name] for name in message if name not in ("id", "status")}))


def entries(messages: Iterable[Message], own: Collection[str], ours: set[str]) -> list[Entry]:
    """Make entries of items: thoughts, and what was withheld, stand before the next item that the client knows."""
    made: list[Entry] = []
    waiting: list[Message] = []
    hides = False  # something that waits was withheld
    for message in messages:
        identifier, kind = text(message.get("call_id")), text(message.get("type"))
        if kind in _CALLS:
            dialect.sort_of([(identifier, message.get("name") in own)], ours)
        is_withheld = identifier in ours and (kind in _CALLS or kind.endswith("_output"))
        if is_withheld or kind == "reasoning":
            waiting.append(message)
            hides |= is_withheld
            continue
        if message.get("role") == "user" and made and waiting:
            made[-1], waiting, hides = _with(made[-1], waiting, hides), [], False
        is_answer = message.get("role", "assistant") == "assistant" and not kind.endswith("_output")
        made.append(Entry(_key(message), (*waiting, message), hides, is_answer))
        waiting, hides = [], False
    if waiting and made:
        made[-1] = _with(made[-1], waiting, hides)
    return made


def _with(entry: Entry, messages: Sequence[Message], hides: bool) -> Entry:
    return replace(entry, messages=(*entry.messages, *messages), hidden=entry.hidden or hides)


def _parts(content: object) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [text(part.get("text")) or json.dumps(part) for part in map(mapping, items(content))]


def _without_thoughts(written: Sequence[Message]) -> list[Message]:
    """Leave out reasoning of answers before the newest of ours: a client that sends none back has a reason."""
    staying = []
    is_behind = False  # a thought that is left out: an id would name it
    for item in written:
        if item.get("type") == "reasoning":
            is_behind = True
            continue
        is_behind &= item.get("type") in _CALLS or item.get("role") == "assistant"
        staying.append({name: item[name] for name in item if name != "id"} if is_behind else item)
    return staying


class Answer(dialect.Answer):
    """One answer, out of as many calls of the upstream as it takes."""

    ABOUT = ("id",)
    _sequence = 0  # of events that the client gets

    def _reset(self) -> None:
        super()._reset()
        self._done: set[int] = set()  # items that came to their end
        self._words: dict[int, str] = {}

    def feed(self, block: Block) -> bytes:
        fields = block.fields
        kind, response = text(fields.get("type")), mapping(fields.get("response"))
        self.failed |= kind in ("error", "response.failed")
        if kind in _BEGINNINGS:
            self._begun(response)
            return self._numbered(block, fields) if self._number == 1 else b""
        if kind in _ENDS:
            self.ended, self._end = True, block
            self._last, self._usage = dict(response), response.get("usage")
            return b""
        if "output_index" not in fields:
            return block.raw if kind in ("", "error") else self._numbered(block, fields)
        index = int(fields["output_index"])
        if kind in ("response.output_item.added", "response.output_item.done"):
            self._item(index, dict(mapping(fields.get("item"))))
            if kind.endswith("done"):
                self._done.add(index)
        if kind == "response.output_text.delta":
            self._words[index] = self._words.get(index, "") + text(fields.get("delta"))
        if index in self._items and index not in self._place:
            return b""
        return self._numbered(block, {**fields, "output_index": self._place.setdefault(index, index)})

    def _numbered(self, block: Block, fields: Message) -> bytes:
        """Give an event its place among those that the client gets."""
        if "sequence_number" in fields:
            fields = {**fields, "sequence_number": self._sequence}
            self._sequence += 1
        return block.raw if fields == block.fields else event(fields, block.name)

    def reply(self) -> Reply:
        whole = self.ended and text(self._last.get("status") or "completed") == "completed"
        if whole and not self._items:  # the response alone names them
            self._read(self._last)
        output = sorted(self._items.items())
        if not whole:
            output = [(index, self._as_far(index, item)) for index, item in output if index in self._place]
            output = [(index, item) for index, item in output if index in self._done or index in self._words]
        calls = [index for index, item in output if text(item.get("type")) in _CALLS]
        ours = [index for index in calls if index not in self._place]
        return Reply(tuple(item for _, item in output), bool(ours), len(ours) < len(calls), whole,
                     text(self._last.get("id")))  # fmt: skip

    def _as_far(self, index: int, item: Message) -> Message:
        """Give an item as far as it came."""
        if index in self._done or index not in self._words:
            return item
        return {**item, "content": [{"type": "output_text", "text": self._words[index], "annotations": []}]}

    def resume(self) -> bytes:
        self._shown = self._members()["output"]
        return super().resume()

    def end(self) -> bytes:
        if self._end is None:
            return b""
        response, fields = self.whole(), self._end.fields
        return self._numbered(self._end, fields if response is None else {**fields, "response": response})

    def _read(self, response: Mapping[str, Any]) -> None:
        for index, item in enumerate(items(response.get("output"))):
            self._item(index, dict(mapping(item)))
            self._done.add(index)

    def _members(self) -> Message:
        shown = [item for index, item in sorted(self._items.items()) if index in self._place]
        return {"output": [*self._shown, *shown]}

    def failure(self, status: int, error: Message) -> bytes:
        said = mapping(error.get("error"))
        message = text(said.get("message")) or f"the upstream said {status}"
        fields = {"type": "error", "code": said.get("code"), "message": message, "param": said.get("param")}
        return event({**fields, "error": {"message": message, **said}, "sequence_number": self._sequence}, "error")
