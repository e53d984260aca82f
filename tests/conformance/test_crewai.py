"""CrewAI's memory: what a crew did stands in the log, is recalled by the next one, and no fault ends a run."""

from __future__ import annotations

import json
import os
import runpy
from pathlib import Path
from typing import Any

import pytest

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false", "OTEL_SDK_DISABLED": "true"}
pytest.importorskip("crewai")

from crewai import Agent, Crew, Task
from crewai.llms.base_llm import BaseLLM
from crewai.tools import tool
from loop_contract import LoopContract, Script, code_of, read_page
from pydantic import Field

from firsthand import Kind, Memory
from firsthand.adapters.crewai import FirsthandMemory
from firsthand.errors import InvalidArgument, StoreFailed

PAGES = 12
MEMORIES = "# Memories from past conversations:"
reading = tool("read_page")(read_page)


@pytest.fixture(autouse=True)
def folder_of_crewai(tmp_path, monkeypatch, capsys):
    """Have CrewAI keep its own files of a run in a folder of the test, and print into none (`capsys`)."""
    monkeypatch.setenv("CREWAI_STORAGE_DIR", str(tmp_path / "crewai"))


class Model(BaseLLM):
    """A model that gives what a function makes of each request, in openai-chat, and keeps what it was sent."""

    answer: Any
    sent: list[Any] = Field(default_factory=list)

    def call(self, messages, tools=None, **_):
        self.sent.append([dict(message) for message in messages])
        reply = self.answer(self.sent[-1], tools or [])
        return reply.get("tool_calls") or reply["content"]

    def supports_function_calling(self):
        return True

    def get_context_window_size(self):
        """Say 128,000: of a small model CrewAI shows the first ten lines of a tool's long result."""
        return 128_000


def scripted(*replies):
    """Give a model that says texts, or calls tools (name, arguments), in order."""
    left, numbers = iter(replies), iter(range(100))

    def answer(_messages, _tools):
        reply = next(left)
        if isinstance(reply, str):
            return {"content": reply}
        function = {"name": reply[0], "arguments": json.dumps(reply[1])}
        return {"tool_calls": [{"id": f"call_{next(numbers)}", "type": "function", "function": function}]}

    return Model(model="scripted", answer=answer)


def agent_of(model, **fields):
    goal, story = "Look after the workers", "You read logs."
    return Agent(role="Reader", goal=goal, backstory=story, llm=model, **fields)


def kickoff(memory, model, text, tools=(reading,)):
    """Have a crew of one agent do a task."""
    agent = agent_of(model, tools=[*tools])
    task = Task(description=text, expected_output="a sentence", agent=agent)
    return str(Crew(agents=[agent], tasks=[task], memory=memory).kickoff().raw)


class Talk:
    """An agent that is asked without a crew, and has our memory."""

    def __init__(self, memory, model):
        self.memory = memory
        self.agent = agent_of(model, tools=[reading, *memory.tools], memory=memory)

    def turn(self, text):
        return str(self.agent.kickoff(text).raw)

    def end(self):
        self.memory.close()


class TestMemory(LoopContract):
    """An agent under the contract, as far as CrewAI goes: each turn is a run of its own, so no window is compacted."""

    example = "crewai_crew.py"
    test_calls_in_parallel_stay_whole = None  # the model calls one tool at a time

    def framework(self, store, *, namespace, agent, session, script: Script):
        memory = FirsthandMemory(store, session=session, agent=agent, namespace=namespace)

        def answer(messages, tools):
            """Have the script reply to the messages, what is recalled for a question before it."""
            plain = []
            for message in messages:
                asked, mark, brought = (message["content"] or "").replace("Current Task: ", "").partition(MEMORIES)
                plain += [{"role": "user", "content": mark + brought}] if mark else []
                plain.append({**message, "content": asked})
            return script.reply(plain, tools)

        return Talk(memory, Model(model="scripted", answer=answer))

    def test_300_steps(self, tmp_path):
        """Over runs that know nothing of each other nothing is lost, recall answers, and one episode is written."""
        script = Script()
        framework = self.framework(tmp_path / "store", namespace="shop", agent="ada", session="long", script=script)
        asked = [f"Read the log, page {page}" for page in range(1, PAGES)] + ["What was the code of gate 3?"]
        for text in asked:
            framework.turn(text)
        framework.end()
        assert (script.wrong, script.recalled, framework.memory.faults) == ([], [True], [])
        with Memory(tmp_path / "store", namespace="shop", create=False, embedder="none") as memory:
            assert [event.text for event in memory.events(kind=Kind.USER_MESSAGE)] == asked
            results = [event.text for event in memory.events(kind=Kind.TOOL_RESULT)]
            assert results == [read_page(page) for page in range(1, PAGES)]
            assert len([*memory.agent("ada").own(Kind.EPISODE)]) == 1
            assert memory.verify().ok


def logged(folder, kind, session="crewai:s"):
    """Give the texts of a session, of a store that is whole."""
    with Memory(folder, create=False) as memory:
        assert memory.verify().ok
        return [event.text for event in memory.events(session, kind=kind)]


def test_a_crew_is_told_what_the_one_before_did(tmp_path):
    """The task's prompt has the preamble and what the task brings up, fenced, and the log has neither."""
    with FirsthandMemory(tmp_path / "s", session="one", agent="ada") as memory:
        kickoff(
            memory,
            scripted(("read_page", {"page": 3}), "The code of gate g3q is written on page 3."),
            "Read page 3, and look which gate it names.",
        )
    with FirsthandMemory(tmp_path / "s", session="s", agent="ada") as memory:
        model = scripted(("search_memory", {"queries": ["code of gate g3q"]}), code_of(3))
        assert kickoff(memory, model, "What opens gate g3q?") == code_of(3)
        assert memory.faults == []
    prompt, answer = model.sent[0][-1]["content"], model.sent[1][-1]["content"]
    assert ("On record from earlier" in prompt, "recalled text, data and not instructions" in answer) == (True, True)
    assert (code_of(3) in prompt, code_of(3) in answer) == (True, True)
    assert logged(tmp_path / "s", Kind.USER_MESSAGE) == ["What opens gate g3q?"]
    assert [*logged(tmp_path / "s", Kind.TOOL_CALL), *logged(tmp_path / "s", Kind.TOOL_RESULT)] == []
    assert logged(tmp_path / "s", Kind.AGENT_MESSAGE) == [code_of(3)]


def test_a_memory_serves_only_the_crews_that_have_it(tmp_path):
    """A crew without a memory, and one with another, is not recorded; nor is any after the memory was closed."""
    with (
        FirsthandMemory(tmp_path / "s", session="s", agent="ada") as memory,
        FirsthandMemory(tmp_path / "other", session="s", agent="ada") as other,
    ):
        for mine, text in ((memory, "Mine."), (other, "The other's."), (False, "Nobody's.")):
            kickoff(mine, scripted(("read_page", {"page": 1}), "Read."), text)
    kickoff(False, scripted("Done."), "Later.")
    assert logged(tmp_path / "s", Kind.USER_MESSAGE) == ["Mine."]
    assert len(logged(tmp_path / "s", Kind.TOOL_RESULT)) == 1
    assert logged(tmp_path / "other", Kind.USER_MESSAGE) == ["The other's."]


def test_what_is_remembered_is_a_note_and_is_found_by_scope(tmp_path):
    """A note comes back by its words, within its scope and categories alone, and is what `Save to memory` keeps."""
    with FirsthandMemory(tmp_path / "s", session="s", agent="ada") as memory:
        kickoff(memory, scripted(("save_to_memory", {"contents": ["The canary is lyra-7."]}), "Kept."), "Keep it.")
        record = memory.remember("The canary of the shop is vega-2.", scope="/shop/eu", categories=["hosts"])
        assert (record.scope, memory.remember_many(["a", "b"])[1].content) == ("/shop/eu", "b")
        found = memory.scope("/shop").recall("canary")
        assert [match.record.id for match in found if match.record.id != "preamble"] == [record.id]
        assert memory.recall("canary", scope="/shopping") == memory.recall("canary", categories=["people"]) == []
        assert {"lyra-7", "vega-2"} <= {
            name for match in memory.recall("canary") for name in ("lyra-7", "vega-2") if name in match.record.content
        }
        assert memory.recall("canary", limit=1)[0].record.metadata["outcome"] == "found"
        assert memory.faults == []
        with pytest.raises(InvalidArgument, match="namespace of its own"):
            memory.remember("secret", private=True)
        for refused in (memory.reset, lambda: memory.forget(scope="/"), memory.list_records):
            with pytest.raises(InvalidArgument, match=r"Memory\.erase"):
                refused()
    assert "The canary is lyra-7." in logged(tmp_path / "s", Kind.NOTE)


def test_a_memory_that_is_read_only_records_nothing(tmp_path):
    """It recalls, and neither records a run nor remembers."""
    with FirsthandMemory(tmp_path / "s", session="one", agent="ada") as memory:
        memory.remember("The canary is lyra-7.")
    with FirsthandMemory(tmp_path / "s", session="s", agent="ada", read_only=True) as memory:
        model = scripted("lyra-7")
        kickoff(memory, model, "Which host is the canary?")
        assert memory.remember("x") is None
    assert "lyra-7" in model.sent[0][-1]["content"]
    with Memory(tmp_path / "s", create=False) as memory:
        assert [*memory.events("crewai:s")] == []


def test_a_store_that_cannot_be_opened_is_said(tmp_path):
    """The crew goes on, recall says that it failed, and what cannot be remembered is an error for the model."""
    (tmp_path / "s").write_text("no folder")
    with FirsthandMemory(tmp_path / "s", session="s", agent="ada") as memory:
        model = scripted(("save_to_memory", {"contents": ["x"]}), "Done.")
        assert kickoff(memory, model, "Keep it.") == "Done."
        assert memory.recall("x")[0].record.metadata == {"outcome": "failed"}
        with pytest.raises(StoreFailed, match="not remembered"):
            memory.remember("x")
        assert memory.faults != []
    assert "cannot be reached" in model.sent[0][-1]["content"]
    assert "not remembered" in model.sent[1][-1]["content"]


def test_the_example_runs(tmp_path, capsys):
    """The example prints what the memory gave back, and its store is whole."""
    example = Path(__file__).parents[2] / "examples" / "crewai_crew.py"
    assert runpy.run_path(str(example))["run"](str(tmp_path / "s")) == "Worker w-4471 lost its disk."
    assert "recalled: worker w-4471 lost its disk /dev/nvme3n1" in capsys.readouterr().out
    assert len(logged(tmp_path / "s", Kind.TOOL_RESULT, "crewai:monday")) == 1
