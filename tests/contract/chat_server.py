"""A server that speaks OpenAI chat completions."""

from __future__ import annotations

import json
from typing import Any

from json_server import JsonServer

WORDS = "Two and two are four , as ever ."


class ChatServer(JsonServer):
    """Answers like a model."""

    def __init__(self) -> None:
        super().__init__(answer)


def answer(body: dict[str, Any]) -> dict[str, Any]:
    """Say some words, call the first tool for a user message, or repeat a tool's result."""
    newest = body["messages"][-1]
    words = (newest["content"] if newest["role"] == "tool" else WORDS).split(" ")
    message: dict[str, Any] = {"role": "assistant", "content": " ".join(words[: body["max_tokens"]])}
    finish = "length" if len(words) > body["max_tokens"] else "stop"
    for stop in body.get("stop", ()):
        if stop in message["content"]:
            message["content"], finish = message["content"].partition(stop)[0], "stop"
    if body.get("tools") and newest["role"] == "user":
        function = {"name": body["tools"][0]["function"]["name"], "arguments": json.dumps(arguments(body["tools"][0]))}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        }
        finish = "tool_calls"
    usage = {"prompt_tokens": 11, "completion_tokens": min(len(words), body["max_tokens"])}
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": usage}


def arguments(tool: dict[str, Any]) -> dict[str, Any]:
    """Fill in what a tool must be given."""
    schema = tool["function"]["parameters"]
    values = {"string": "port", "integer": 2}
    return {name: values[schema["properties"][name]["type"]] for name in schema["required"]}
