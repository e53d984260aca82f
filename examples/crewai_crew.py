"""A CrewAI crew whose memory is a log; no network, a scripted model.

    pip install 'firsthand[crewai]' && python examples/crewai_crew.py

Monday's crew reads the log of a night. Tuesday's crew, of another process, is asked for a detail of it, and recalls it
in the words of the tool.
"""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any

os.environ.setdefault("CREWAI_DISABLE_TELEMETRY", "true")
os.environ.setdefault("CREWAI_TRACING_ENABLED", "false")

from crewai import Agent, Crew, Task
from crewai.llms.base_llm import BaseLLM
from crewai.tools import tool
from pydantic import Field

from firsthand.adapters.crewai import FirsthandMemory

QUESTION = "Which worker lost its disk?"


@tool("read_log")
def read_log(night: int) -> str:
    """Read the log of a night."""
    lines = [f"worker w-{night * 31 + line} handled an invoice without a fault" for line in range(30)]
    return "\n".join([*lines, "worker w-4471 lost its disk /dev/nvme3n1"])


class Scripted(BaseLLM):
    """A model that gives what it is told to, and keeps what it was sent."""

    replies: list[Any]
    sent: list[str] = Field(default_factory=list)

    def call(self, messages: Any, _tools: Any = None, **_: Any) -> Any:
        self.sent.append(json.dumps(messages, default=str))
        reply = self.replies.pop(0)
        if isinstance(reply, str):
            return reply
        name, arguments = reply
        function = {"name": name, "arguments": json.dumps(arguments)}
        return [{"id": f"call_{len(self.sent)}", "type": "function", "function": function}]

    def supports_function_calling(self) -> bool:
        return True


def work(memory: FirsthandMemory, task: str, replies: list[Any]) -> tuple[str, list[str]]:
    """Have a crew of one agent do a task; give its answer, and what its model was sent."""
    model = Scripted(model="scripted", replies=replies)
    agent = Agent(
        role="Night watch", goal="Know what the workers did", backstory="You read logs.", llm=model, tools=[read_log]
    )
    asked = Task(description=task, expected_output="a sentence", agent=agent)
    output = Crew(agents=[agent], tasks=[asked], memory=memory).kickoff()
    return str(output.raw), model.sent


def run(folder: str) -> str:
    """Run it."""
    with FirsthandMemory(folder, session="monday", agent="watch") as memory:
        script = [("read_log", {"night": 1}), "The log of night 1 is read."]
        print(f"> Read the log of night 1.\n  {work(memory, 'Read the log of night 1.', script)[0]}")
    with FirsthandMemory(folder, session="tuesday", agent="watch") as memory:
        script = [("search_memory", {"queries": ["worker lost its disk"]}), "Worker w-4471 lost its disk."]
        answer, sent = work(memory, QUESTION, script)
        print(f"> {QUESTION}\n  {answer}")
        output = json.loads(sent[-1])[-1]["content"]
        print("recalled:", next(line for line in output.splitlines() if "w-4471" in line).strip("| "))
    return answer


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        run(f"{folder}/store")
