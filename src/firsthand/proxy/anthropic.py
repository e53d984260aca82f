"""Anthropic messages, as the proxy reads, withholds and writes them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from firsthand import formats
from firsthand.formats.fields import items, mapping, text
from firsthand.proxy import dialect
from firsthand.proxy.dialect import JOINT, Asked, Entry, Message, Reply, texts_of
from firsthand.proxy.event_stream import Block, event

FORMAT, LIST, NO_TOOLS = formats.ANTHROPIC, "messages", {"tool_choice": {"type": "none"}}
BREAKPOINT = "cache_control"


def read(body: Message) -> Asked:
    """Read a request.

    Raises:
        Unfit: its messages are none.
    """
    return dialect.read_list(body, body.get("messages"), LIST, JOINT.join(texts_of(body.get("system"))))


def write(asked: Asked, messages: Sequence[Message], tools: Sequence[Message], *, composed: bool) -> Message:
    """Write the request of a window; the client's cache breakpoints stand where it set them, and no others."""
    written = _with_breakpoints([*map(_without_breakpoints, messages)], asked) if composed else messages
    return asked.written(LIST, [*asked.head, *_together(written)], tools)


def _with_breakpoints(written: list[Message], asked: Asked) -> list[Message]:
    """Put breakpoints on the messages that the client put them on; the newest one on the end, if its own is changed."""
    last = len(written)
    for number, message in enumerate(m for m in reversed(asked.messages) if _breakpoints(m)):
        bare = plain(message)
        place = next((at for at in range(last - 1, -1, -1) if written[at] == bare), None)
        if place is not None:
            written[place], last = message, place
        elif number == 0 and written:
            *before, end = _blocks(written[-1].get("content"))
            written[-1] = {**written[-1], "content": [*before, {**end, BREAKPOINT: _breakpoints(message)[-1]}]}
    return written


def plain(message: Message) -> Message:
    """Give a message as the log takes it: without breakpoints, which wander, and one text as a text."""
    bare = _without_breakpoints(message)
    content = bare.get("content")
    if isinstance(content, list) and len(content) == 1 and mapping(content[0]).keys() == {"type", "text"}:
        bare["content"] = content[0]["text"]
    return bare


def entries(messages: Iterable[Message], own: Collection[str], ours: set[str]) -> list[Entry]:
    """Make entries of a session's messages."""

    def sort(message: Message) -> str:
        blocks = [mapping(block) for block in items(message.get("content"))]
        if message.get("role") != "assistant":
            results = [block.get("tool_use_id") in ours for block in blocks if block.get("type") == "tool_result"]
            return "ours" if results and all(results) and len(results) == len(blocks) else ""
        calls = [block for block in blocks if block.get("type") == "tool_use"]
        return dialect.sort_of([(text(call.get("id")), call.get("name") in own) for call in calls], ours)

    return dialect.grouped(messages, lambda group: _key(group, own), sort)


def _together(messages: Iterable[Message]) -> list[Message]:
    """Put results that stand alone into the user's message behind them: all results of an answer stand in one."""
    written: list[Message] = []
    for message in messages:
        before = _blocks(written[-1].get("content")) if written else []
        are_results = bool(before) and all(mapping(block).get("type") == "tool_result" for block in before)
        if are_results and message.get("role") == "user":
            written[-1] = {**message, "content": [*before, *_blocks(message.get("content"))]}
        else:
            written.append(message)
    return written


def _blocks(content: object) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else items(content)


def _key(group: Sequence[Message], own: Collection[str]) -> bytes:
    if group[0].get("role") == "assistant":
        said = [message.get("content") for message in group if message.get("role") == "assistant"]
        calls = [
            f"{fields.get('id')}:{fields.get('name')}" for content in said for block in items(content)
            if text((fields := mapping(block)).get("type")).endswith("tool_use") and fields.get("name") not in own
        ]  # fmt: skip
        return dialect.words_key([words for content in said for words in texts_of(content)], calls)
    return dialect.digest("message", json.dumps(plain(group[0])))


def _without_breakpoints(message: Message) -> Message:
    """Give a message without the breakpoints of its blocks, and of the blocks of results."""

    def bare(block: Any) -> Any:
        if not isinstance(block, Mapping):
            return block
        fields = {name: member for name, member in block.items() if name != BREAKPOINT}
        if fields.get("type") == "tool_result" and isinstance(fields.get("content"), list):
            fields["content"] = [bare(inner) for inner in fields["content"]]
        return fields

    content = message.get("content")
    return {**message, "content": [bare(block) for block in content] if isinstance(content, list) else content}


def _breakpoints(value: object) -> list[Any]:
    """Give the breakpoints of a message, or of a part of it."""
    if isinstance(value, Mapping):
        own = [value[BREAKPOINT]] if value.get(BREAKPOINT) is not None else []
        return own + [each for name, inner in value.items() if name == "content" for each in _breakpoints(inner)]
    return [each for inner in value for each in _breakpoints(inner)] if isinstance(value, list) else []


class Answer(dialect.Answer):
    """One answer, out of as many calls of the upstream as it takes."""

    def _reset(self) -> None:
        super()._reset()
        self._written: dict[int, str] = {}  # the input of calls, as it comes
        self._stop = b""

    def feed(self, block: Block) -> bytes:
        fields = block.fields
        index = fields.get("index", 0)
        match fields.get("type"):
            case "message_start":
                message = mapping(fields.get("message"))
                self._usage = message.get("usage")
                self._begun(message)
                return block.raw if self._number == 1 else b""
            case "content_block_start":
                self._item(index, dict(mapping(fields.get("content_block"))))
            case "content_block_delta":
                self._grow(index, mapping(fields.get("delta")))
            case "content_block_stop":
                pass
            case "message_delta":
                self._end, self._reason = block, text(mapping(fields.get("delta")).get("stop_reason"))
                self._usage = {**mapping(self._usage), **_numbers(fields.get("usage"))}
                return b"" if self._is_changed else block.raw
            case "message_stop":
                self.ended, self._stop = True, block.raw
                return b""
            case kind:  # a ping, an error, or what is not known yet
                self.failed |= kind == "error"
                return block.raw
        place = self._place.get(index)
        if place is None:
            return b""
        return block.raw if place == index else event({**fields, "index": place}, block.name)

    def _grow(self, index: int, delta: Mapping[str, Any]) -> None:
        block = self._items.setdefault(index, {})
        match delta.get("type"):
            case "input_json_delta":
                self._written[index] = self._written.get(index, "") + text(delta.get("partial_json"))
            case "citations_delta":
                block["citations"] = [*items(block.get("citations")), delta.get("citation")]
            case "signature_delta":
                block["signature"] = delta.get("signature")
            case _:
                for name, member in delta.items():
                    if name != "type":
                        block[name] = text(block.get(name)) + member if isinstance(member, str) else member

    def reply(self) -> Reply:
        whole = self.ended and self._reason in ("tool_use", "end_turn", "stop_sequence")
        blocks = [(index, self._block(index, block)) for index, block in sorted(self._items.items())]
        calls = [index for index, block in blocks if block.get("type") == "tool_use"]
        ours = [index for index in calls if index not in self._place]
        staying = [block for index, block in blocks if (whole or index not in ours) and _says(block)]
        said = (plain({"role": "assistant", "content": staying}),) if staying else ()
        return Reply(said, bool(ours) and whole, len(ours) < len(calls), whole)

    def _block(self, index: int, block: Message) -> Message:
        if index not in self._written:
            return block
        try:
            return {**block, "input": json.loads(self._written[index] or "{}")}
        except ValueError:  # cut short, or no JSON: told as the text that it is
            return {**block, "input": {"arguments": self._written[index]}}

    def end(self) -> bytes:
        if self._end is None or not self._is_changed:
            return self._stop
        fields = self._end.fields
        fields |= {"delta": {**fields["delta"], **self._ending()}, "usage": self._usage_of_all}
        return event(fields, self._end.name) + self._stop

    def _ending(self) -> Message:
        """Give the stop reason as the client sees it: a call that is withheld is none."""
        theirs = any(self._items[index].get("type") == "tool_use" for index in self._place)
        return {"stop_reason": "end_turn"} if self._reason == "tool_use" and not theirs else {}

    def _read(self, response: Mapping[str, Any]) -> None:
        self._reason = text(response.get("stop_reason"))
        for index, block in enumerate(items(response.get("content"))):
            self._item(index, dict(mapping(block)))
        self._shown += [block for index, block in self._items.items() if index in self._place]

    def _members(self) -> Message:
        return {**self._ending(), "content": self._shown}

    def failure(self, status: int, error: Message) -> bytes:
        said = mapping(error.get("error")) or {"type": "api_error", "message": f"the upstream said {status}"}
        return event({"type": "error", "error": said}, "error")


def _numbers(usage: object) -> Message:
    return {name: member for name, member in mapping(usage).items() if member is not None}


def _says(block: Mapping[str, Any]) -> bool:
    return block.get("type") != "text" or bool(text(block.get("text")).strip())
