"""A session that was talked through under a small window, for the tests of the commands that look at it."""

from __future__ import annotations

import json

from firsthand import Memory
from firsthand.window import Budget

BASH = {
    "type": "function",
    "function": {"name": "bash", "description": "run a command", "parameters": {"type": "object", "properties": {}}},
}


def talk(store, *, turns: int = 8, session: str = "deploy", budget: int | Budget = 4_000) -> None:
    """Ask, call a tool and answer, turn by turn; the window compacts on its way. In turn 2 the user sets a rule."""
    with Memory.open(store) as memory:
        window = memory.session(session).window(budget)
        messages: list[dict] = []
        for number in range(turns):
            rule = " Never touch /etc/passwd." if number == 1 else ""
            call = {"name": "bash", "arguments": json.dumps({"command": f"cat module{number}.py"})}
            filler = " ".join(f"checkpoint wal frame{number}x{k}" for k in range(60))
            messages += [
                {"role": "user", "content": f"Question {number}: why does the checkpoint fail?{rule}"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": f"c{number}", "type": "function", "function": call}],
                },
                {"role": "tool", "tool_call_id": f"c{number}", "content": filler},
            ]
            window.request(messages, tools=[BASH], system="You are careful.", model="small-1")
            messages.append({"role": "assistant", "content": f"Answer {number}."})


def asked(store, session: str = "deploy") -> None:
    """Let the model of the session recall, and send the next request."""
    with Memory.open(store) as memory:
        window = memory.session(session).window(4_000)
        call = {"name": "recall", "arguments": json.dumps({"query": "frame0x7"})}
        reply = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "r1", "type": "function", "function": call}],
        }
        window.add([{"role": "assistant", "content": "Let me see."}, {"role": "user", "content": "Go on."}])
        window.request()
        window.add([reply, *window.answer(reply)])
        window.request()
