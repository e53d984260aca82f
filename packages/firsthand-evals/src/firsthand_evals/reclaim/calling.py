"""A model that asks the memory by calling a tool, where others write a line ``RECALL: ...``.

The evaluation speaks in texts (see `ask`); this translates them. The invariant: what is
sent is made of the messages alone, so the same session gives the same request; a call
becomes the line that stands for it, and the line a call again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from firsthand.llm import ToolCall
from firsthand_evals.reclaim.ask import PULLS_MAX
from firsthand_evals.reclaim.readers import MAY_RECALL, RECALL, RECALLED, Asked, Messages

TOOL = {
    "type": "function",
    "function": {
        "name": "recall",
        "description": f"Look something up in the memory of earlier sessions. At most {PULLS_MAX} times.",
        "parameters": {
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": "The words to look for, or a pointer (fh:...) that stands in the memory.",
                }
            },
            "required": ["query"],
        },
    },
}
NO_WORDS = "(no words)"


class Calling(Asked):
    """A language model that was taught to call tools."""

    def answer(self, messages: Messages) -> str:
        """Ask the model; a call becomes a line ``RECALL: ...``.

        Raises:
            ModelError: there is no reply.
        """
        told = MAY_RECALL.format(most=PULLS_MAX)
        if not messages or told not in messages[0]["content"]:
            return super().answer(messages)
        reply = self.model.complete(
            as_calls(messages), tools=(TOOL,), max_tokens=self._tokens_max, temperature=self.temperature
        )
        return f"{RECALL} {query(reply.tool_calls[0])}" if reply.tool_calls else reply.text


def query(call: ToolCall) -> str:
    """Give what a call asks for, in one line: its query, or its arguments as they are when they hold none."""
    try:
        held = json.loads(call.arguments)
    except ValueError:
        held = call.arguments  # what it wrote is asked as it stands, and the item shows it
    words = held.get("query", held) if isinstance(held, dict) else held
    return " ".join(str(words).split()) or NO_WORDS


def as_calls(messages: Messages) -> list[dict[str, Any]]:
    """Write a session as a model sees it that calls a tool."""
    told = MAY_RECALL.format(most=PULLS_MAX)
    said: list[dict[str, Any]] = []
    for number, message in enumerate(messages):
        before = messages[number - 1] if number else {}
        after = messages[number + 1] if number + 1 < len(messages) else {}
        if message["role"] == "system":
            said.append({"role": "system", "content": message["content"].replace(f" {told}", "")})
        elif _asks(message) and _tells(after):
            arguments = json.dumps({"query": message["content"].removeprefix(RECALL).strip()}, ensure_ascii=False)
            function = {"name": "recall", "arguments": arguments}
            made = {"id": f"call_{number}", "type": "function", "function": function}
            said.append({"role": "assistant", "content": None, "tool_calls": [made]})
        elif _tells(message) and _asks(before):
            text = message["content"].removeprefix(RECALLED).strip()
            said.append({"role": "tool", "tool_call_id": f"call_{number - 1}", "name": "recall", "content": text})
        else:
            said.append(dict(message))
    return said


def _asks(message: Mapping[str, str]) -> bool:
    return message.get("role") == "assistant" and message["content"].startswith(RECALL)


def _tells(message: Mapping[str, str]) -> bool:
    return message.get("role") == "user" and message["content"].startswith(RECALLED)
