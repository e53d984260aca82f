"""A client of the proxy that keeps its own list of messages, as programs do, in each of the three formats."""

from __future__ import annotations

import json
from typing import Any

from model_stub import Running

TOOLS = {
    "openai-chat": [
        {"type": "function", "function": {"name": "ls", "parameters": {"type": "object", "properties": {}}}}
    ],
    "anthropic": [{"name": "ls", "input_schema": {"type": "object", "properties": {}}}],
    "openai-responses": [{"type": "function", "name": "ls", "parameters": {"type": "object", "properties": {}}}],
}
LISTS = {"openai-chat": "messages", "anthropic": "messages", "openai-responses": "input"}


class Client:
    """One conversation."""

    def __init__(self, run: Running, format_: str, *, system: str = "You are short.", stream: bool = True) -> None:
        self.run, self.format, self.system, self.stream = run, format_, system, stream
        self.list: list[dict[str, Any]] = []
        self.headers: dict[str, str] = {}
        self.events: list[dict[str, Any]] = []
        self.extra: dict[str, Any] = {}

    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = {"model": "stub-1", "tools": TOOLS[self.format], **self.extra}
        if self.format == "openai-chat":
            head = [{"role": "system", "content": self.system}] if self.system else []
            return {**body, "messages": head + self.list, "stream_options": {"include_usage": True}}
        if self.format == "anthropic":
            return {**body, "messages": list(self.list), "system": self.system, "max_tokens": 100}
        return {**body, "input": list(self.list), "instructions": self.system}

    def say(self, text: str) -> dict[str, Any]:
        """Say something, and give what came back: text, calls and usage."""
        self.list.append({"role": "user", "content": text})
        return self.go()

    def result(self, *results: tuple[str, str]) -> dict[str, Any]:
        """Give results of calls."""
        if self.format == "anthropic":
            blocks = [{"type": "tool_result", "tool_use_id": id_, "content": text} for id_, text in results]
            self.list.append({"role": "user", "content": blocks})
        for id_, text in results:
            if self.format == "openai-chat":
                self.list.append({"role": "tool", "tool_call_id": id_, "content": text})
            elif self.format == "openai-responses":
                self.list.append({"type": "function_call_output", "call_id": id_, "output": text})
        return self.go()

    def go(self) -> dict[str, Any]:
        if self.stream:
            self.events = self.run.events(self.format, self.body(), **self.headers)
            response = FOLDS[self.format](self.events)
        else:
            answer = self.run.post(self.format, self.body(), **self.headers)
            assert answer.status_code == 200, answer.text
            response = answer.json()
        self.list += MESSAGES[self.format](response)
        return told(self.format, response)


def told(format_: str, response: dict[str, Any]) -> dict[str, Any]:
    """Give what a response says, in words that do not depend on the format."""
    usage = response["usage"]
    if format_ == "openai-chat":
        choice, end = response["choices"][0], response["choices"][0]["finish_reason"]
        called = [(call["id"], call["function"]) for call in choice["message"].get("tool_calls") or ()]
        texts = [choice["message"]["content"] or ""]
        used = usage["prompt_tokens"], usage["completion_tokens"]
    elif format_ == "anthropic":
        blocks, end = response["content"], response["stop_reason"]
        called = [(block["id"], block) for block in blocks if block["type"] == "tool_use"]
        texts = [block["text"] for block in blocks if block["type"] == "text"]
        used = usage["input_tokens"], usage["output_tokens"]
    else:
        blocks, end = response["output"], response["status"]
        called = [(block["call_id"], block) for block in blocks if block["type"] == "function_call"]
        texts = [part["text"] for block in blocks if block["type"] == "message" for part in block["content"]]
        used = usage["input_tokens"], usage["output_tokens"]
    calls = [(id_, call["name"], call["input"] if "input" in call else json.loads(call["arguments"]))
             for id_, call in called]  # fmt: skip
    return {"id": response["id"], "text": "\n\n".join(texts), "calls": calls, "end": end, "usage": used}


def fold_chat(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Put chunks together as strictly as a client may."""
    message: dict[str, Any] = {"content": None}
    end, usage = None, None
    assert len({event["id"] for event in events}) == 1, "one answer has one id"
    for event in events:
        usage = event.get("usage") or usage
        for choice in event["choices"]:
            assert end is None, "nothing of a choice comes behind its end"
            end = choice["finish_reason"]
            delta = choice["delta"]
            if "role" in delta:
                assert "role" not in message, "the role is said once"
                message["role"] = delta["role"]
            if delta.get("content"):
                message["content"] = (message["content"] or "") + delta["content"]
            for piece in delta.get("tool_calls", ()):
                calls = message.setdefault("tool_calls", [])
                if piece["index"] == len(calls):
                    function = {"name": piece["function"]["name"], "arguments": ""}
                    calls.append({"id": piece["id"], "type": piece["type"], "function": function})
                assert piece["index"] < len(calls), "places of calls follow each other"
                calls[piece["index"]]["function"]["arguments"] += piece["function"].get("arguments", "")
    choice = {"message": message, "finish_reason": end}
    return {"id": events[0]["id"], "choices": [choice], "usage": usage}


def fold_anthropic(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Put events together as strictly as a client may."""
    assert [event["type"] for event in events].count("message_start") == 1
    assert events[-1]["type"] == "message_stop"
    message: dict[str, Any] = {}
    written = ""
    for event in events:
        match event["type"]:
            case "message_start":
                message = event["message"]
            case "content_block_start":
                assert event["index"] == len(message["content"]), "places of blocks follow each other"
                message["content"].append(event["content_block"])
                written = ""
            case "content_block_delta":
                block, delta = message["content"][event["index"]], event["delta"]
                for name in ("text", "thinking", "signature"):
                    if name in delta:
                        block[name] = block.get(name, "") + delta[name]
                written += delta.get("partial_json", "")
            case "content_block_stop":
                if written:
                    message["content"][event["index"]]["input"] = json.loads(written)
            case "message_delta":
                message |= event["delta"]
                message["usage"] |= event["usage"]
    return message


def fold_responses(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Check that events agree with the response that ends them."""
    assert [event["sequence_number"] for event in events] == [*range(len(events))]
    assert [event["type"] for event in events].count("response.created") == 1
    response = events[-1]["response"]
    assert events[0]["response"]["id"] == response["id"]
    done = [event for event in events if event["type"] == "response.output_item.done"]
    assert [event["output_index"] for event in done] == [*range(len(done))]
    assert [event["item"] for event in done] == response["output"]
    return response


FOLDS = {"openai-chat": fold_chat, "anthropic": fold_anthropic, "openai-responses": fold_responses}
MESSAGES = {
    "openai-chat": lambda response: [response["choices"][0]["message"]],
    "anthropic": lambda response: [{"role": "assistant", "content": response["content"]}],
    "openai-responses": lambda response: response["output"],
}
