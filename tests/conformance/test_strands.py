"""Strands' conversation manager and memory store: the contract of loops, and what they change of a request."""

from __future__ import annotations

import asyncio
import itertools
import json

import pytest

pytest.importorskip("strands")

from loop_contract import BUDGET_TOKENS, LoopContract, Script, read_page
from strands import Agent, tool
from strands.memory import MemoryManager
from strands.models import Model
from strands.multiagent import GraphBuilder
from strands.session.file_session_manager import FileSessionManager
from strands.types.exceptions import ContextWindowOverflowException

from firsthand import Kind, Memory, Trust
from firsthand.adapters.strands import FirsthandConversationManager, FirsthandMemoryStore

PNG = b"\x89PNG\r\n\x1a\n"


class Answers(Model):
    """A model that answers by a function of the messages, tools and system prompt; text comes in pieces."""

    def __init__(self, answer):
        self.answer = answer

    def update_config(self, **_):
        pass

    def get_config(self):
        return {}

    def structured_output(self, *_, **__):
        raise AssertionError("no test asks for it")

    async def stream(self, messages, tool_specs=None, system_prompt=None, **_):
        blocks = self.answer(messages, tool_specs or [], system_prompt)
        yield {"messageStart": {"role": "assistant"}}
        for block in blocks:
            use = block.get("toolUse")
            start = {"toolUse": {"name": use["name"], "toolUseId": use["toolUseId"]}} if use else {}
            yield {"contentBlockStart": {"start": start}}
            if use:
                yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(use["input"])}}}}
            elif "reasoningContent" in block:
                for delta in ({"text": "a bird"}, {"signature": "sig"}):
                    yield {"contentBlockDelta": {"delta": {"reasoningContent": delta}}}
            else:
                first, space, rest = block["text"].partition(" ")
                for piece in filter(None, (first + space, rest)):
                    yield {"contentBlockDelta": {"delta": {"text": piece}}}
            yield {"contentBlockStop": {}}
        is_call = any("toolUse" in block for block in blocks)
        yield {"messageStop": {"stopReason": "tool_use" if is_call else "end_turn"}}


def chat(messages, specs, system):
    """Write what the framework sent as messages and tools of openai-chat; roles alternate."""
    roles = [message["role"] for message in messages]
    assert all(role != following for role, following in itertools.pairwise(roles))
    dicts = [{"role": "system", "content": system}] if system else []
    for message in messages:
        for block in message["content"]:
            if "toolUse" in block:
                use = block["toolUse"]
                function = {"name": use["name"], "arguments": json.dumps(use["input"])}
                call = {"id": use["toolUseId"], "type": "function", "function": function}
                dicts.append({"role": "assistant", "content": None, "tool_calls": [call]})
            elif "toolResult" in block:
                result = block["toolResult"]
                text = "".join(part["text"] for part in result["content"])
                dicts.append({"role": "tool", "tool_call_id": result["toolUseId"], "content": text})
            else:
                dicts.append({"role": message["role"], "content": block["text"]})
    return dicts, [{**spec, "inputSchema": spec["inputSchema"]["json"]} for spec in specs]


def use(name, args, identifier):
    return {"toolUse": {"name": name, "input": args, "toolUseId": identifier}}


def of_script(script: Script):
    """Have a script of the contract reply."""

    def answer(messages, specs, system):
        reply = script.reply(*chat(messages, specs, system))
        calls = [(call["id"], call["function"]) for call in reply.get("tool_calls") or ()]
        return [
            *([{"text": reply["content"]}] if reply["content"] else []),
            *(use(function["name"], json.loads(function["arguments"]), name) for name, function in calls),
        ]

    return Answers(answer)


class Scripted:
    """A model that gives replies in order, and keeps what it was sent."""

    def __init__(self, *replies):
        self.replies, self.sent, self.systems, self.specs = list(replies), [], [], []
        self.model = Answers(self.answer)

    def answer(self, messages, specs, system):
        self.sent.append(messages)
        self.systems.append(system)
        self.specs.append(specs)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return [{"text": reply}] if isinstance(reply, str) else reply

    def texts(self, number):
        """Give all text of the messages of a request."""
        return json.dumps(self.sent[number], ensure_ascii=False, default=repr)


@tool(name="read_page")
def page_tool(page: int) -> str:
    """Read a page of the log."""
    return read_page(page)


class Talk:
    """An agent, as a program of Strands' keeps it."""

    def __init__(self, manager, model, tools=(page_tool,), **more):
        self.manager = manager
        self.agent = Agent(
            model, tools=[*tools], system_prompt="Look after the workers.", conversation_manager=manager,
            callback_handler=None, load_tools_from_directory=False, **more,
        )  # fmt: skip

    def turn(self, text):
        return str(self.agent(text)).strip()

    def whole_list(self):
        return self.agent.messages

    def end(self):
        self.manager.close()


class TestConversationManager(LoopContract):
    """An agent under the contract."""

    example = "strands_agent.py"

    def framework(self, store, *, namespace, agent, session, script):
        manager = FirsthandConversationManager(
            store, session_id=session, namespace=namespace, agent=agent, budget=BUDGET_TOKENS
        )
        return Talk(manager, of_script(script))


def logged(store, session="s"):
    """Give the messages of a session in the log."""
    with Memory(store, create=False) as memory:
        assert memory.verify().ok
        return memory.session(f"strands:{session}").messages()


def test_blocks_that_are_shown_whole_are_those_that_came(tmp_path):
    """Images, thoughts and system blocks are sent again as they were, and stand in the log."""
    question = [{"text": "What is this?"}, {"image": {"format": "png", "source": {"bytes": PNG}}}]
    model = Scripted([{"reasoningContent": {}}, {"text": "A pelican."}], "Yes.")
    with FirsthandConversationManager(tmp_path / "s", session_id="s") as manager:
        agent = Agent(
            model.model, callback_handler=None, conversation_manager=manager,
            system_prompt=[{"text": "Be brief."}, {"cachePoint": {"type": "default"}}],
        )  # fmt: skip
        agent(question)
        agent("Sure?")
        assert manager.faults == []
    first, answer = model.sent[1][:2]
    assert (first["content"], answer["content"]) == (question, agent.messages[1]["content"])
    assert answer["content"][0]["reasoningContent"]["reasoningText"]["signature"] == "sig"
    user, reply, *_ = logged(tmp_path / "s")
    assert [piece["type"] for piece in user["content"]] == ["text", "file"]
    assert (reply["content"], reply["reasoning_content"]) == ("A pelican.", "a bird")


def test_a_result_that_the_window_shortens_stays_the_result_of_its_call(tmp_path):
    """What is too long for the window is shown in part, with the status and the name of its call."""

    @tool
    def long_page() -> dict:
        """Read a long page."""
        content = [{"json": [read_page(page) for page in range(12)]}]
        return {"status": "error", "content": content}

    model = Scripted([use("long_page", {}, "own-1")], "Read.")
    with FirsthandConversationManager(tmp_path / "s", session_id="s", budget=5_000) as manager:
        Talk(manager, model.model, [long_page]).turn("Read the long page.")
        assert manager.faults == []
    _, asked, answered = model.sent[1]
    assert asked["content"] == [use("long_page", {}, "own-1")]
    result = answered["content"][0]["toolResult"]
    assert (result["toolUseId"], result["status"], len(result["content"][0]["text"]) < 15_000) == (
        "own-1", "error", True,
    )  # fmt: skip
    assert json.loads(logged(tmp_path / "s")[2]["content"]) == [read_page(page) for page in range(12)]


def test_a_session_goes_on_in_another_process(tmp_path):
    """An agent that a session manager restores goes on in the log where it was; a stream is recorded once."""
    for number in range(2):
        sessions = FileSessionManager("monday", storage_dir=str(tmp_path / "files"))
        model = Scripted([use("read_page", {"page": 1}, f"c{number}")], f"Read {number}.")
        with FirsthandConversationManager(tmp_path / "s", session_id="monday") as manager:
            talk = Talk(manager, model.model, session_manager=sessions)

            async def streamed(agent=talk.agent, number=number):
                return [event["data"] async for event in agent.stream_async(f"Turn {number}") if "data" in event]

            assert asyncio.run(streamed()) == ["Read ", f"{number}."]
            assert manager.faults == []
    assert len(talk.agent.messages) == 8
    assert [message["role"] for message in logged(tmp_path / "s", "monday")] == [
        "user", "assistant", "tool", "assistant",
    ] * 2  # fmt: skip


def test_agents_of_one_manager_have_a_session_each(tmp_path):
    """Agents of a graph that share a manager are apart by their ids, and each is sent its own messages."""
    with FirsthandConversationManager(tmp_path / "s", session_id="s") as manager:
        models = {name: Scripted(f"{name} did it.") for name in ("red", "blue")}
        graph = GraphBuilder()
        for name, model in models.items():
            talk = Talk(manager, model.model, agent_id=name)
            graph.add_node(talk.agent, name)
        graph.add_edge("red", "blue")
        graph.set_entry_point("red")
        graph.build()("Do it.")
        assert manager.faults == []
    assert logged(tmp_path / "s", "s/red")[1]["content"] == "red did it."
    assert [message["role"] for message in logged(tmp_path / "s", "s/blue")] == ["user", "assistant"]
    assert "red did it." in models["blue"].texts(0)
    with Memory(tmp_path / "s", create=False) as memory:
        (asked,) = memory.events(kind=Kind.USER_MESSAGE)
        assert (asked.session, asked.text) == ("strands:s/red", "Do it.")
        told = [event for event in memory.events("strands:s/blue") if "red did it." in event.text]
        assert {(event.origin, event.trust) for event in told} == {("agent:others", Trust.UNTRUSTED)}


def test_what_an_agent_asks_another_is_its_own(tmp_path):
    """An agent that is a tool is asked by an agent; what the person asks the same agent afterwards is the user's."""
    helper = Scripted("5", "6")
    model = Scripted([use("adder", {"input": "2 and 3"}, "c1")], "It is 5.")
    with FirsthandConversationManager(tmp_path / "s", session_id="s") as manager:
        adder = Talk(manager, helper.model, agent_id="adder", name="adder").agent
        talk = Talk(manager, model.model, agent_id="keeper", tools=[adder.as_tool(preserve_context=True)])
        talk.turn("Add 2 and 3.")
        adder("And 3 and 3?")
        assert manager.faults == []
    with Memory(tmp_path / "s", create=False) as memory:
        said = [event for event in memory.events("strands:s/adder") if event.kind in {Kind.USER_MESSAGE, Kind.OTHER}]
        assert [(event.text, event.trust) for event in said] == [
            ("2 and 3", Trust.UNTRUSTED), ("And 3 and 3?", Trust.TRUSTED)
        ]  # fmt: skip


def test_a_call_that_fails_is_recorded_and_too_much_is_said(tmp_path):
    """What was asked before a model failed is in the log; the model's own error comes, with what to change."""
    model = Scripted([use("read_page", {"page": 5}, "c1")], ContextWindowOverflowException("too long"))
    with FirsthandConversationManager(tmp_path / "s", session_id="s") as manager:
        with pytest.raises(ContextWindowOverflowException, match="too long") as caught:
            Talk(manager, model.model).turn("Read page 5.")
        assert "the budget of Firsthand's window is more than this model takes" in caught.value.__notes__[0]
        assert manager.faults == []
    with Memory(tmp_path / "s", create=False) as memory:
        kinds = [event.kind for event in memory.events("strands:s") if event.kind.startswith("tool_")]
        assert kinds == [Kind.TOOL_CALL, Kind.TOOL_RESULT]


def test_the_memory_store_answers_what_earlier_sessions_said(tmp_path):
    """`MemoryManager` searches the log by its tool; nothing found, and a store that fails, are said."""
    with FirsthandConversationManager(tmp_path / "s", session_id="one") as manager:
        Talk(manager, Scripted("Noted.").model).turn("The staging gateway listens on port 5544.")
    store = FirsthandMemoryStore(tmp_path / "s")
    model = Scripted([use("search_memory", {"query": "staging gateway"}, "c1")], "5544")
    agent = Agent(
        model.model, callback_handler=None, memory_manager=MemoryManager(stores=[store], injection=False)
    )  # fmt: skip
    agent("Which port?")
    assert "port 5544" in model.texts(1)

    def asked(store, query):
        (entry,) = asyncio.run(store.search(query))
        return entry.content

    assert "absent" in asked(store, "zebra")
    store.loop.close()
    (tmp_path / "bad").write_text("no folder")
    assert "could not be searched" in asked(FirsthandMemoryStore(tmp_path / "bad"), "staging")


def test_a_tool_of_the_agents_own_keeps_its_name(tmp_path):
    """An agent that has a tool named recall keeps it, and gets the other tools of the memory."""

    @tool
    def recall(query: str) -> str:
        """Recall a product."""
        return f"recalled {query}"

    model = Scripted([use("recall", {"query": "crate 7"}, "c1")], "Done.")
    with FirsthandConversationManager(tmp_path / "s", session_id="s") as manager:
        Talk(manager, model.model, [recall]).turn("Recall crate 7.")
        assert manager.faults == []
    assert "recalled crate 7" in model.texts(1)
    assert [spec["name"] for spec in model.specs[0]] == ["recall", "expand", "task", "decide"]
