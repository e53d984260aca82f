"""The contract of adapters, with nothing between it and their base: a loop of one's own."""

from __future__ import annotations

import json

from loop_contract import BUDGET_TOKENS, LoopContract, read_page

from firsthand.adapters.loop import Loop

READ_PAGE = {
    "type": "function",
    "function": {"name": "read_page", "description": "Read a page of the log.", "parameters": {
        "type": "object", "properties": {"page": {"type": "integer"}}, "required": ["page"]}},
}  # fmt: skip


class PlainLoop:
    """A loop of one's own."""

    def __init__(self, loop, script):
        self.loop, self.script, self.messages = loop, script, []
        self.messages.append({"role": "system", "content": f"Look after the workers.\n{loop.preamble()}"})

    def turn(self, text):
        told = self.loop.prompt(text)
        self.messages += [{"role": "user", "content": each} for each in (told, text) if each]
        while True:
            sent = self.loop.compact(self.messages, tools=[READ_PAGE])
            reply = self.script.reply(sent, [READ_PAGE, *self.loop.tools()])
            self.messages.append(reply)
            if not reply.get("tool_calls"):
                return reply["content"]
            for call in reply["tool_calls"]:
                name, arguments = call["function"]["name"], json.loads(call["function"]["arguments"])
                output = read_page(**arguments) if name == "read_page" else self.loop.call(name, arguments)
                self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": output})

    def end(self):
        self.loop.sync(self.messages)
        self.loop.end()
        self.loop.close()


class TestPlainLoop(LoopContract):
    """A loop of one's own, with nothing between it and the base of adapters."""

    def framework(self, store, *, namespace, agent, session, script):
        loop = Loop(
            store, namespace=namespace, agent=agent, host="plain", session=session, budget=BUDGET_TOKENS
        )  # fmt: skip
        return PlainLoop(loop, script)
