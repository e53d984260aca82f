"""OpenAI chat completions, as the proxy reads, withholds and writes them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from firsthand import formats
from firsthand.formats.fields import items, mapping, text
from firsthand.proxy.dialect import JOINT, Asked, Entry, Message, Reply, Unfit, digest, grouped, texts_of, words_key
from firsthand.proxy.event_stream import Block, event, summed

FORMAT, LIST, NO_TOOLS = formats.OPENAI_CHAT, "messages", {"tool_choice": "none"}
_THOUGHTS = frozenset({"reasoning_content", "reasoning", "reasoning_details"})
_DONE = "[DONE]"


def read(body: Message) -> Asked:
    """Read a request.

    Raises:
        Unfit: it asks for something that no window can be kept for.
    """
    messages = body.get("messages")
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise Unfit("messages is no list of objects")
    if body.get("n") not in (None, 1):
        raise Unfit("it asks for several choices (n)")
    if body.get("functions"):
        raise Unfit("it brings functions, the older form of tools")
    leading = next((at for at, message in enumerate(messages) if message.get("role") not in ("system", "developer")), 0)
    head = messages[:leading]
    system = JOINT.join(JOINT.join(texts_of(message.get("content"))) for message in head)
    return Asked(body, tuple(head), tuple(messages[leading:]), system, tuple(items(body.get("tools"))))


def write(asked: Asked, messages: Sequence[Message], tools: Sequence[Message], *, composed: bool) -> Message:
    """Write the request of a window: its own system message is the client's, as it came."""
    start = int(composed and bool(messages) and messages[0].get("role") in ("system", "developer"))
    written = [*asked.head, *messages[start:]]
    if any(map(_thinks, written)) and not any(map(_thinks, asked.messages)):
        # a client that sends none back has a reason: some servers refuse them
        written = [
            {name: member for name, member in message.items() if name not in _THOUGHTS} if _thinks(message) else message
            for message in written
        ]
    return {**asked.body, "messages": written, **({"tools": [*asked.tools, *tools]} if tools else {})}


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
        calls = [_name(call) in own for call in items(message.get("tool_calls"))]
        ours.update(text(call.get("id")) for call in items(message.get("tool_calls")) if _name(call) in own)
        return "asks" if calls and all(calls) else "says"

    return grouped(messages, lambda group: _key(group, own), sort)


def _key(group: Sequence[Message], own: Collection[str]) -> bytes:
    first = group[0]
    if first.get("role") == "assistant":
        said = [message for message in group if message.get("role") == "assistant"]
        calls = [call for message in said for call in items(message.get("tool_calls")) if _name(call) not in own]
        words = [
            words for message in said for words in [*texts_of(message.get("content")), text(message.get("refusal"))]
        ]
        return words_key(words, [f"{call.get('id')}:{_name(call)}" for call in calls])
    written = {name: first.get(name) for name in ("role", "content", "tool_call_id", "name")}
    if isinstance(written["content"], list) and all(mapping(part).get("type") == "text" for part in written["content"]):
        written["content"] = "".join(texts_of(written["content"]))
    return digest("message", json.dumps(written))


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

    @property
    def is_theirs(self) -> bool:
        """It is certainly the client's."""
        return self.is_ours is False

    def take(self, piece: Mapping[str, Any], own: Collection[str]) -> None:
        _merge(self.fields, {name: member for name, member in piece.items() if name != "index"})
        name, written = _name(self.fields), _arguments(self.fields)
        if self.is_ours is None and name and (written or not any(tool.startswith(name) for tool in own)):
            self.is_ours = name in own


class Answer:
    """One answer, out of as many calls of the upstream as it takes."""

    def __init__(self, own: frozenset[str]) -> None:
        self._own = own
        self._number = 0
        self._first: Message = {}  # what all chunks say alike
        self._has_role = self._has_words = False
        self._places = 0
        self._usage_before: Any = None
        self._kept: list[Message] = []  # of responses in one piece: their messages
        self._last: Message = {}
        self.begin()
        self._number = 0

    def begin(self) -> None:
        self._number += 1
        self._message: Message = {}
        self._calls: dict[object, _Call] = {}
        self._finish: Block | None = None
        self._waiting: Message = {}
        self._usage: Any = None
        self._usage_block: Block | None = None
        self._done = b""
        self._reason = ""
        self._is_new = True  # nothing of this call was said yet
        self.ended = False

    def feed(self, block: Block) -> bytes:
        if block.data.strip() == _DONE:
            self.ended, self._done = True, block.raw
            return b""
        chunk = block.fields
        choices = items(chunk.get("choices"))
        if "error" in chunk or not chunk or not isinstance(chunk.get("choices"), list):
            return block.raw
        if not self._first and choices:
            self._first = {name: chunk[name] for name in ("id", "created", "model") if name in chunk}
        if chunk.get("usage") is not None:
            self._usage = chunk["usage"]
        if not choices:
            if chunk.get("usage") is not None and (self._number > 1 or self._finish is not None):
                self._usage_block = block
                return b""
            return block.raw if self._number == 1 else b""
        return self._choice(block, chunk, mapping(choices[0]))

    def _choice(self, block: Block, chunk: Message, choice: Mapping[str, Any]) -> bytes:
        delta = dict(mapping(choice.get("delta")))
        _merge(self._message, {name: member for name, member in delta.items() if name != "tool_calls"})
        shown = self._of_ours(delta)
        if choice.get("finish_reason"):
            self._reason = text(choice["finish_reason"])
            if self._number > 1 or any(not call.is_theirs for call in self._calls.values()):
                self._finish, self._waiting = block, shown  # if another call follows, its reason is left out
                return b""
        return self._written(block, chunk, choice, shown)

    def _of_ours(self, delta: Message) -> Message:
        """Give a delta as the client is to see it."""
        shown = dict(delta)
        if self._has_role:
            shown.pop("role", None)
        elif "role" in shown:
            self._has_role = True
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
        return [] if call.is_ours is None else self._flushed(call)

    def _flushed(self, call: _Call) -> list[Message]:
        pieces, call.waiting = call.waiting, []
        if call.is_ours:
            return []
        if call.place < 0:
            call.place, self._places = self._places, self._places + 1
        return [{**piece, "index": call.place} for piece in pieces]

    def _written(self, block: Block, chunk: Message, choice: Mapping[str, Any], delta: Message) -> bytes:
        same = delta == mapping(choice.get("delta"))
        if self._number == 1 and same:
            return block.raw
        if not delta and not choice.get("finish_reason"):
            return b""  # it was ours, or the role once more
        fields = {**chunk, **self._first, "choices": [{**choice, "delta": delta}]}
        if chunk.get("usage") is not None:
            fields["usage"] = summed(self._usage_before, chunk["usage"])
        return event(fields, block.name)

    @property
    def is_over(self) -> bool:
        return self.ended or bool(self._reason)

    def reply(self) -> Reply:
        for call in self._calls.values():
            if call.is_ours is None:
                call.is_ours = _name(call.fields) in self._own
        whole = self._reason in ("tool_calls", "function_call", "stop") or bool(self.ended and self._calls)
        calls = [call for call in self._calls.values() if whole or not call.is_ours]
        fields = {"role": "assistant", **self._message, "content": self._message.get("content") or None}
        if calls:
            fields["tool_calls"] = [{"type": "function", **call.fields} for call in calls]
        said = bool(calls or len(plain(fields)) > 2 or fields["content"])
        return Reply(
            (plain(fields),) if said else (), any(call.is_ours for call in calls),
            any(not call.is_ours for call in calls), whole,
        )  # fmt: skip

    def resume(self) -> bytes:
        self._usage_before = summed(self._usage_before, self._usage)
        return self._last_delta() if self._finish is not None else b""

    def _last_delta(self) -> bytes:
        assert self._finish is not None, "a chunk with a reason came"
        chunk = self._finish.fields
        if not self._waiting:
            return b""
        return event({**chunk, **self._first, "choices": [{**chunk["choices"][0], "delta": self._waiting,
                                                           "finish_reason": None}]})  # fmt: skip

    def end(self) -> bytes:
        pieces = [piece for call in self._calls.values() for piece in self._flushed(call)]
        out = b""
        if pieces:
            choice = {"index": 0, "delta": {"tool_calls": pieces}, "finish_reason": None}
            out += event({"object": "chat.completion.chunk", **self._first, "choices": [choice]})
        if self._finish is not None:
            chunk = self._finish.fields
            choice = {**chunk["choices"][0]}
            if self._calls and not self._places and self._reason in ("tool_calls", "function_call"):
                choice["finish_reason"] = "stop"  # all calls were ours
            out += self._written(self._finish, chunk, choice, self._waiting) if choice == chunk["choices"][0] else (
                event({**chunk, **self._first, "choices": [{**choice, "delta": self._waiting}]}, self._finish.name)
            )  # fmt: skip
        if self._usage_block is not None:
            usage = summed(self._usage_before, self._usage)
            same = self._number == 1
            out += self._usage_block.raw if same else event({**self._usage_block.fields, **self._first, "usage": usage})
        return out + self._done

    def take(self, response: Mapping[str, Any]) -> None:
        choice = mapping(next(iter(items(response.get("choices"))), None))
        message = dict(mapping(choice.get("message")))
        self.begin()
        self._last, self._reason, self.ended = dict(response), text(choice.get("finish_reason")), True
        self._usage = response.get("usage")
        for number, call in enumerate(items(message.pop("tool_calls", None))):
            self._calls[number] = _Call()
            self._calls[number].take(mapping(call), self._own)
        self._message = message
        self._first = self._first or {name: response[name] for name in ("id", "created", "model") if name in response}
        self._kept.append(message)

    def whole(self) -> dict[str, Any] | None:
        theirs = [call.fields for call in self._calls.values() if not call.is_ours]
        if self._number == 1 and len(theirs) == len(self._calls):
            return None
        said = [words for message in self._kept if (words := "".join(texts_of(message.get("content"))))]
        message = {**self._kept[-1], "content": JOINT.join(said) or None, **({"tool_calls": theirs} if theirs else {})}
        choice = {**self._last["choices"][0], "message": message}
        if self._calls and not theirs and self._reason in ("tool_calls", "function_call"):
            choice["finish_reason"] = "stop"
        usage = summed(self._usage_before, self._usage)
        return {**self._last, **self._first, "choices": [choice], **({"usage": usage} if usage is not None else {})}

    def failure(self, status: int, error: Mapping[str, Any]) -> bytes:
        return event(
            {"error": mapping(error.get("error")) or {"message": f"the upstream said {status}", "code": status}}
        )


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
