"""An agent of the OpenAI Agents SDK whose window forgets nothing; no network, the SDK's scripted model.

    pip install 'firsthand[openai-agents]' && python examples/openai_agents_agent.py

It reads eight pages under a budget that holds three. Asked for a detail of the first one, it gets it back by the tool
recall; the session has every item.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from typing import Any

from agents.testing import ScriptedModel
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from agents import Agent, Runner, function_tool, set_tracing_disabled
from firsthand.adapters.openai_agents import FirsthandSession

PAGES = 8
QUESTION = "Which worker lost its disk on page 1?"


@function_tool
def read_page(page: int) -> str:
    """Read a page of the log."""
    lines = [f"worker w-{page * 31 + line} handled an invoice without a fault" for line in range(30)]
    return "\n".join(["worker w-4471 lost its disk /dev/nvme3n1", *lines] if page == 1 else lines)


def call(number: int, name: str, **arguments: Any) -> list[ResponseFunctionToolCall]:
    """Give a reply that calls a tool."""
    return [
        ResponseFunctionToolCall(
            type="function_call", call_id=f"call_{number}", name=name, arguments=json.dumps(arguments)
        )
    ]


def reply(text: str) -> list[ResponseOutputMessage]:
    """Give a reply in words."""
    part = ResponseOutputText(type="output_text", text=text, annotations=[])
    return [ResponseOutputMessage(id="msg", type="message", role="assistant", status="completed", content=[part])]


def scripted() -> ScriptedModel:
    """Give a model that says what is scripted, in order."""
    pages = range(1, PAGES + 1)
    steps = [step for page in pages for step in (call(page, "read_page", page=page), reply(f"Page {page} is read."))]
    return ScriptedModel([*steps, call(99, "recall", query="worker lost its disk"), reply("Worker w-4471 lost it.")])


async def run(folder: str) -> list[Any]:
    """Read the pages and ask; give the session's items."""
    set_tracing_disabled(disabled=True)
    async with FirsthandSession("workers", folder, agent="ada", budget=3_600) as session:
        model = scripted()
        agent = Agent(name="ada", instructions="Be brief.", model=model, tools=[read_page, *session.tools])
        for text in [*(f"Read page {page}." for page in range(1, PAGES + 1)), QUESTION]:
            result = await Runner.run(agent, text, session=session, run_config=session.run_config())
            print(f"> {text}\n  {result.final_output}")
        items, sent = await session.get_items(), model.calls[-1].input
        lines = next(item["output"] for item in reversed(items) if "output" in item).splitlines()
        print("recalled:", next(line for line in lines if "w-4471" in line).strip("| "))
        print(f"{len(items)} items in the session, {len(sent)} in the newest request")
    return items


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(f"{folder}/store"))
