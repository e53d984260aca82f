"""OpenAI chat completions, as the proxy reads, withholds and writes them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from firsthand import formats
from firsthand.formats.fields import items, mapping, text
from firsthand.proxy import dialect
from firsthand.proxy.dialect import JOINT, Asked, Entry, Message, Reply, texts_of
from firsthand.proxy.event_stream import Block, event, summed

FORMAT, LIST, NO_TOOLS = formats.OPENAI_CHAT, "messages", {"tool_choice": "none"}
_THOUGHTS = frozenset({"reasoning_content", "reasoning", "reasoning_details"})
_DONE = "[DONE]"


def read(body: Message) -> Asked:
    """Read a request.

    Raises:
        Unfit: it asks for something that no window can be kept for.
    """
    if body.get("n") not in (None, 1):
        raise dialect.Unfit("it asks for several choices (n)")
    if body.get("functions"):
        raise dialect.Unfit("it brings functions, the older form of tools")
    return dialect.read_list(body, body.get("messages"), LIST)


def write(asked: Asked, messages: Sequence[Message], tools: Sequence[Message], *, composed: bool) -> Message:
    """Write the request of a window: its own system message is the client's, as it came."""
    written = asked.headed(messages, composed=composed)
    if any(map(_thinks, written)) and not any(map(_thinks, asked.messages)):
        # a client that sends none back has a reason: some servers refuse them
        written = [
            {name: member for name, member in message.items() if name not in _THOUGHTS} if _thinks(message) else message
            for message in written
        ]
    return asked.written(LIST, written, tools)


def _thinks(message: Message) -> bool:
    return not _THOUGHTS.isdisjoint(message)


def plain(message: Message) -> Message:
    """Give a message as the log takes it: without members that say nothing."""
    staying = {name: member for name, member in message.items() if member is not None and member != []}
    return {"role": message.get("role"), "content": message.get("content"), **staying}


def entries(messages: Iterable[Message], own: Collection[str], ours: set[str]) -> list[Entry]:
    """Make entries of a session's messages."""

    def sort(message: Message) -> str:
        if message.get("role") == "tool":
            return "ours" if message.get("tool_call_id") in ours else ""
        if message.get("role") != "assistant":
            return ""
        calls = items(message.get("tool_calls"))
        return dialect.sort_of([(text(call.get("id")), _name(call) in own) for call in calls], ours)

    return dialect.grouped(messages, lambda group: _key(group, own), sort)


def _key(group: Sequence[Message], own: Collection[str]) -> bytes:
    first = group[0]
    if first.get("role") == "assistant":
        said = [message for message in group if message.get("role") == "assistant"]
        calls = [call for message in said for call in items(message.get("tool_calls")) if _name(call) not in own]
        words = [
            words for message in said for words in [*texts_of(message.get("content")), text(message.get("refusal"))]
        ]
        return dialect.words_key(words, [f"{call.get('id')}:{_name(call)}" for call in calls])
    written = {name: first.get(name) for name in ("role", "content", "tool_call_id", "name")}
    if isinstance(written["content"], list) and all(mapping(part).get("type") == "text" for part in written["content"]):
        written["content"] = "".join(texts_of(written["content"]))
    return dialect.digest("message", json.dumps(written))


def _name(call: object) -> str:
    fields = mapping(call)
    return text(mapping(fields.get("function")).get("name") or mapping(fields.get("custom")).get("name"))


class _Call:
    """A tool call while it comes."""

    def __init__(self) -> None:
        self.fields: Message = {}
        self.is_ours: bool | None = None  # None: its name is not certain yet
        self.waiting: list[Message] = []
        self.place = -1  # among the calls that the client sees

    def take(self, piece: Mapping[str, Any], own: Collection[str]) -> None:
        _merge(self.fields, {name: member for name, member in piece.items() if name != "index"})
        name, written = _name(self.fields), _arguments(self.fields)
        if self.is_ours is None and name and (written or not any(tool.startswith(name) for tool in own)):
            self.is_ours = name in own


class Answer(dialect.Answer):
    """One answer, out of as many calls of the upstream as it takes."""

    ABOUT = ("id", "created", "model")
    _has_role = _has_words = False  # the client got some

    def _reset(self) -> None:
        super()._reset()
        self._message: Message = {}
        self._calls: dict[object, _Call] = {}
        self._waiting: Message = {}  # the delta of the chunk that ends the call
        self._usage_block: Block | None = None
        self._stop = b""
        self._is_new = True  # nothing of this call was said yet

    def feed(self, block: Block) -> bytes:
        if block.data.strip() == _DONE:
            self.ended, self._stop = True, block.raw
            return b""
        chunk = block.fields
        choices = chunk.get("choices")
        self.failed |= bool(chunk.get("error"))
        if "error" in chunk or not isinstance(choices, list):
            return block.raw
        if chunk.get("usage") is not None:
            self._usage = chunk["usage"]
        if choices:
            self._begun(chunk)
            return self._choice(block, mapping(choices[0]))
        if chunk.get("usage") is not None and (self._number > 1 or self._end is not None):
            self._usage_block = block
            return b""
        return block.raw if self._number == 1 else b""

    def _choice(self, block: Block, choice: Mapping[str, Any]) -> bytes:
        delta = dict(mapping(choice.get("delta")))
        _merge(self._message, {name: member for name, member in delta.items() if name != "tool_calls"})
        shown = self._of_ours(delta)
        if choice.get("finish_reason"):
            self._reason = text(choice["finish_reason"])
            if self._number > 1 or any(call.is_ours is not False for call in self._calls.values()):
                self._end, self._waiting = block, shown  # if another call follows, its reason is left out
                return b""
        return self._written(block, shown)

    def _of_ours(self, delta: Message) -> Message:
        """Give a delta as the client is to see it."""
        shown = dict(delta)
        if self._has_role:
            shown.pop("role", None)
        self._has_role |= "role" in shown
        if text(delta.get("content")):
            if self._is_new and self._number > 1 and self._has_words:
                shown["content"] = JOINT + delta["content"]
            self._is_new, self._has_words = False, True
        if "tool_calls" in delta:
            pieces = [piece for each in items(delta["tool_calls"]) for piece in self._tool_call(mapping(each))]
            del shown["tool_calls"]
            if pieces:
                shown["tool_calls"] = pieces
        return shown

    def _tool_call(self, piece: Mapping[str, Any]) -> list[Message]:
        """Take a piece of a call; give what of it the client sees now, at its place among the client's calls."""
        at = piece["index"] if "index" in piece else piece.get("id") or len(self._calls) - 1
        call = self._calls.setdefault(at, _Call())
        call.take(piece, self._own)
        call.waiting.append(dict(piece))
        self._hides |= call.is_ours is True
        return [] if call.is_ours is None else self._flushed(call)

    def _flushed(self, call: _Call) -> list[Message]:
        pieces, call.waiting = call.waiting, []
        if call.is_ours:
            return []
        if call.place < 0:
            call.place, self._places = self._places, self._places + 1
        return [{**piece, "index": call.place} for piece in pieces]

    def _written(self, block: Block, delta: Message, **members: Any) -> bytes:
        """Write a chunk with another delta, and with other members of its choice."""
        chunk = block.fields
        choice = {**chunk["choices"][0], **members}
        if delta != mapping(choice.get("delta")):
            choice["delta"] = delta
        if self._number == 1 and choice == chunk["choices"][0]:
            return block.raw
        if not delta and not choice.get("finish_reason"):
            return b""  # it was ours, or the role once more
        usage = {"usage": summed(self._usage_before, chunk["usage"])} if chunk.get("usage") is not None else {}
        return event({**chunk, **self._about, "choices": [choice], **usage}, block.name)

    def reply(self) -> Reply:
        for call in self._calls.values():
            call.is_ours = _name(call.fields) in self._own if call.is_ours is None else call.is_ours
            self._hides |= call.is_ours
        whole = self._reason in ("tool_calls", "function_call", "stop") or bool(self.ended and self._calls)
        calls = [call for call in self._calls.values() if whole or not call.is_ours]
        fields = {"role": "assistant", **self._message, "content": self._message.get("content") or None}
        if calls:
            fields["tool_calls"] = [{"type": "function", **call.fields} for call in calls]
        said = bool(calls or len(plain(fields)) > 2 or fields["content"])
        ours = sum(call.is_ours is True for call in calls)
        return Reply((plain(fields),) if said else (), ours > 0, ours < len(calls), whole)

    def resume(self) -> bytes:
        held = self._written(self._end, self._waiting, finish_reason=None) if self._end is not None else b""
        return held + super().resume()

    def end(self) -> bytes:
        pieces = [piece for call in self._calls.values() for piece in self._flushed(call)]
        out = b""
        if pieces:
            choice = {"index": 0, "delta": {"tool_calls": pieces}, "finish_reason": None}
            out += event({"object": "chat.completion.chunk", **self._about, "choices": [choice]})
        if self._end is not None:
            out += self._written(self._end, self._waiting, **self._ending())
        if self._usage_block is not None:
            fields = {**self._usage_block.fields, **self._about, "usage": self._usage_of_all}
            out += self._usage_block.raw if self._number == 1 else event(fields)
        return out + self._stop

    def _ending(self) -> Message:
        """Give the reason of the end as the client sees it: a call that is withheld is none."""
        only_ours = self._calls and not any(call.is_ours is False for call in self._calls.values())
        return {"finish_reason": "stop"} if only_ours and self._reason in ("tool_calls", "function_call") else {}

    def _read(self, response: Mapping[str, Any]) -> None:
        choice = mapping(next(iter(items(response.get("choices"))), None))
        self._message = dict(mapping(choice.get("message")))
        self._reason = text(choice.get("finish_reason"))
        for call in items(self._message.pop("tool_calls", None)):
            self._tool_call({"index": len(self._calls), **mapping(call)})
        self._shown += filter(None, ["".join(texts_of(self._message.get("content")))])

    def _members(self) -> Message:
        calls = [call.fields for call in self._calls.values() if call.is_ours is False]
        message = {**self._message, "content": JOINT.join(self._shown) or None}
        message |= {"tool_calls": calls} if calls else {}
        return {"choices": [{**self._last["choices"][0], "message": message, **self._ending()}]}

    def failure(self, status: int, error: Message) -> bytes:
        said = mapping(error.get("error")) or {"message": f"the upstream said {status}", "code": status}
        return event({"error": said})


def _arguments(call: Mapping[str, Any]) -> str:
    return text(mapping(call.get("function")).get("arguments")) or text(mapping(call.get("custom")).get("input"))


def _merge(message: Message, delta: Mapping[str, Any]) -> None:
    """Add a delta to what came before: texts grow, objects are merged, lists are joined."""
    for name, member in delta.items():
        before = message.get(name)
        if isinstance(before, str) and isinstance(member, str) and name not in ("role", "id", "type"):
            message[name] = before + member
        elif isinstance(member, Mapping):
            inner = dict(mapping(before))
            _merge(inner, member)
            message[name] = inner
        elif isinstance(before, list) and isinstance(member, list):
            message[name] = [*before, *member]
        elif member is not None or name not in message:
            message[name] = member
