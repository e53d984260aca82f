"""Anthropic messages, as the proxy reads, withholds and writes them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from firsthand import formats
from firsthand.formats.fields import items, mapping, text
from firsthand.proxy.dialect import JOINT, Asked, Entry, Message, Reply, Unfit, digest, grouped, texts_of, words_key
from firsthand.proxy.event_stream import Block, event, summed

FORMAT, LIST, NO_TOOLS = formats.ANTHROPIC, "messages", {"tool_choice": {"type": "none"}}
BREAKPOINT = "cache_control"
BREAKPOINTS_MAX = 4


def read(body: Message) -> Asked:
    """Read a request.

    Raises:
        Unfit: its messages are none.
    """
    messages = body.get("messages")
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise Unfit("messages is no list of objects")
    system = JOINT.join(texts_of(body.get("system")))
    return Asked(body, (), tuple(messages), system, tuple(items(body.get("tools"))))


def write(asked: Asked, messages: Sequence[Message], tools: Sequence[Message], *, composed: bool) -> Message:
    """Write the request of a window; cache breakpoints stand in it only where the client sets some."""
    body, written = asked.body, list(messages)
    if not composed:
        written = _together(messages)
    else:
        theirs = _breakpoints(body)
        beside = _breakpoints({name: member for name, member in body.items() if name != "messages"})
        if not theirs or beside >= BREAKPOINTS_MAX:
            written = [_without_breakpoints(message) for message in written]
    return {**body, "messages": written, **({"tools": [*asked.tools, *tools]} if tools else {})}


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
        ours.update(text(call.get("id")) for call in calls if call.get("name") in own)
        return "asks" if calls and all(call.get("name") in own for call in calls) else "says"

    return grouped(messages, lambda group: _key(group, own), sort)


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
        return words_key([words for content in said for words in texts_of(content)], calls)
    return digest("message", json.dumps(plain(group[0])))


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


def _breakpoints(value: object) -> int:
    """Count the breakpoints of a request."""
    if isinstance(value, Mapping):
        return int(value.get(BREAKPOINT) is not None) + sum(
            _breakpoints(inner) for name, inner in value.items() if name not in ("input", "input_schema")
        )
    return sum(map(_breakpoints, value)) if isinstance(value, list) else 0


class Answer:
    """One answer, out of as many calls of the upstream as it takes."""

    def __init__(self, own: frozenset[str]) -> None:
        self._own = own
        self._number = self._places = 0
        self._usage_before: Any = None
        self._first: Message = {}
        self._kept: list[Any] = []  # blocks that the client sees, of responses in one piece
        self._hides = False
        self._reset()

    def _reset(self) -> None:
        self._blocks: dict[int, Message] = {}
        self._written: dict[int, str] = {}  # the input of calls, as it comes
        self._place: dict[int, int] = {}  # of a block among those that the client sees
        self._delta: Block | None = None
        self._stop = b""
        self._usage: Any = None
        self._reason = ""
        self.ended = False

    @property
    def _is_changed(self) -> bool:
        """The client gets something else than the upstream said."""
        return self._number > 1 or self._hides

    def begin(self) -> None:
        self._number += 1
        self._reset()

    def feed(self, block: Block) -> bytes:
        fields = block.fields
        match fields.get("type"):
            case "message_start":
                message = mapping(fields.get("message"))
                self._usage = message.get("usage")
                self._first = self._first or {name: message[name] for name in ("id", "model") if name in message}
                return block.raw if self._number == 1 else b""
            case "content_block_start":
                self._begin_block(int(fields.get("index", 0)), dict(mapping(fields.get("content_block"))))
            case "content_block_delta":
                self._grow(int(fields.get("index", 0)), mapping(fields.get("delta")))
            case "content_block_stop":
                pass
            case "message_delta":
                self._delta, self._reason = block, text(mapping(fields.get("delta")).get("stop_reason"))
                self._usage = {**mapping(self._usage), **_numbers(fields.get("usage"))}
                return b"" if self._is_changed else block.raw
            case "message_stop":
                self.ended, self._stop = True, block.raw
                return b""
            case _:  # a ping, an error, or what is not known yet
                return block.raw
        place = self._place.get(int(fields.get("index", 0)))
        if place is None:
            return b""
        return block.raw if place == fields["index"] else event({**fields, "index": place}, block.name)

    def _begin_block(self, index: int, block: Message) -> None:
        self._blocks[index] = block
        if block.get("type") == "tool_use" and block.get("name") in self._own:
            self._hides = True
        else:
            self._place[index], self._places = self._places, self._places + 1

    def _grow(self, index: int, delta: Mapping[str, Any]) -> None:
        block = self._blocks.setdefault(index, {})
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

    @property
    def is_over(self) -> bool:
        return self.ended or bool(self._reason)

    def reply(self) -> Reply:
        whole = self.ended and self._reason in ("tool_use", "end_turn", "stop_sequence")
        blocks = [self._block(index, block) for index, block in sorted(self._blocks.items())]
        calls = [block for block in blocks if block.get("type") == "tool_use"]
        ours = [block for block in calls if block.get("name") in self._own]
        staying = [block for block in blocks if (whole or block not in ours) and _says(block)]
        return Reply(
            (plain({"role": "assistant", "content": staying}),) if staying else (), bool(ours) and whole,
            len(ours) < len(calls), whole,
        )  # fmt: skip

    def _block(self, index: int, block: Message) -> Message:
        if index not in self._written:
            return block
        try:
            return {**block, "input": json.loads(self._written[index] or "{}")}
        except ValueError:  # cut short, or no JSON: told as the text that it is
            return {**block, "input": {"arguments": self._written[index]}}

    def resume(self) -> bytes:
        self._usage_before = summed(self._usage_before, self._usage)
        return b""

    def end(self) -> bytes:
        if self._delta is None or not self._is_changed:
            return self._stop
        fields = self._delta.fields
        usage = summed(self._usage_before, self._usage)
        return event({**fields, "delta": self._ending(fields["delta"]), "usage": usage}, self._delta.name) + self._stop

    def _ending(self, fields: Mapping[str, Any]) -> Message:
        """Give a stop reason as the client sees it: a call that is withheld is none."""
        theirs = any(self._blocks[index].get("type") == "tool_use" for index in self._place)
        only_ours = fields.get("stop_reason") == "tool_use" and not theirs
        return {**fields, "stop_reason": "end_turn"} if only_ours else dict(fields)

    def take(self, response: Mapping[str, Any]) -> None:
        self.begin()
        for index, block in enumerate(items(response.get("content"))):
            self._begin_block(index, dict(mapping(block)))
            if index in self._place:
                self._kept.append(block)
        self._last, self.ended = dict(response), True
        self._reason, self._usage = text(response.get("stop_reason")), response.get("usage")
        self._first = self._first or {name: response[name] for name in ("id", "model") if name in response}

    def whole(self) -> dict[str, Any] | None:
        if not self._is_changed:
            return None
        usage = summed(self._usage_before, self._usage)
        return {**self._ending(self._last), **self._first, "content": self._kept, "usage": usage}

    def failure(self, status: int, error: Mapping[str, Any]) -> bytes:
        told = mapping(error.get("error")) or {"type": "api_error", "message": f"the upstream said {status}"}
        return event({"type": "error", "error": told}, "error")


def _numbers(usage: object) -> Message:
    return {name: member for name, member in mapping(usage).items() if member is not None}


def _says(block: Mapping[str, Any]) -> bool:
    return block.get("type") != "text" or bool(text(block.get("text")).strip())
