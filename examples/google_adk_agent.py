"""A Google ADK agent whose window forgets nothing; no network, a scripted model.

    pip install 'firsthand[google-adk]' && python examples/google_adk_agent.py

It reads eight pages under a budget that holds three. Asked for a detail of the first one, it gets it back by the tool
recall, where a summary would have lost it; ADK's session keeps all events.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator

from google.adk.agents import LlmAgent
from google.adk.apps.app import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

from firsthand.adapters.google_adk import FirsthandPlugin

PAGES = 8
QUESTION = "Which worker lost its disk on page 1?"


def read_page(page: int) -> str:
    """Read a page of the log."""
    lines = [f"worker w-{page * 31 + line} handled an invoice without a fault" for line in range(30)]
    return "\n".join(["worker w-4471 lost its disk /dev/nvme3n1", *lines] if page == 1 else lines)


def replies() -> Iterator[types.Part]:
    """Give what the model says, in order."""
    for page in range(1, PAGES + 1):
        yield types.Part(function_call=types.FunctionCall(name="read_page", args={"page": page}))
        yield types.Part(text=f"Page {page} is read.")
    yield types.Part(function_call=types.FunctionCall(name="recall", args={"query": "worker lost its disk"}))
    yield types.Part(text="Worker w-4471 lost its disk.")


class ScriptedModel(BaseLlm):
    """A model that says what the script has, and keeps the newest request."""

    script: Iterator[types.Part]
    request: LlmRequest | None = None

    async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncIterator[LlmResponse]:  # noqa: ARG002 - ADK's signature
        """Give the next reply."""
        self.request = llm_request
        yield LlmResponse(content=types.Content(role="model", parts=[next(self.script)]))


async def talk(folder: str) -> int:
    """Read the pages and ask; give how many events ADK's session has at the end."""
    model = ScriptedModel(model="scripted", script=replies())
    agent = LlmAgent(name="keeper", model=model, tools=[read_page])
    app = App(name="pages", root_agent=agent, plugins=[FirsthandPlugin(folder, budget=3_600)])
    async with InMemoryRunner(app=app) as runner:
        names = {"app_name": "pages", "user_id": "ada"}
        session = await runner.session_service.create_session(**names)
        answer = ""
        for text in [*(f"Read page {page}." for page in range(1, PAGES + 1)), QUESTION]:
            print(f"> {text}")
            asked = types.Content(role="user", parts=[types.Part(text=text)])
            async for event in runner.run_async(user_id="ada", session_id=session.id, new_message=asked):
                for part in event.content.parts if event.content else ():
                    if part.text:
                        print(f"  {part.text}")
                    elif part.function_response:
                        answer = part.function_response.response["result"]
        print("recalled:", next(line for line in answer.splitlines() if "w-4471" in line).strip("| "))
        session = await runner.session_service.get_session(**names, session_id=session.id)
    print(f"{len(session.events)} events in the session, {len(model.request.contents)} contents in the newest request")
    return len(session.events)


def run(folder: str) -> int:
    """Run it."""
    return asyncio.run(talk(folder))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        run(f"{folder}/store")
