"""LlamaIndex's memory block: the contract of loops, what goes into the log, and what is cut."""

from __future__ import annotations

import asyncio
import json

import pytest

pytest.importorskip("llama_index.core")

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.async_utils import asyncio_run
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock, ThinkingBlock, ToolCallBlock
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory import Memory as ShortTerm
from llama_index.core.storage.chat_store import sql
from llama_index.core.tools import FunctionTool
from loop_contract import LoopContract, Script, read_page
from sqlalchemy.ext.asyncio import create_async_engine

from firsthand import Kind, Memory
from firsthand.adapters.chat_messages import reply
from firsthand.adapters.llama_index import FirsthandMemoryBlock
from firsthand.tokens import estimate


@pytest.fixture(autouse=True)
def databases(monkeypatch):
    """Have the databases of LlamaIndex's memories used in one event loop, and closed there, which nothing else does."""
    engines = []

    def engine(*arguments, **named):
        engines.append(create_async_engine(*arguments, **named))
        return engines[-1]

    monkeypatch.setattr(sql, "create_async_engine", engine)
    with asyncio.Runner() as runner:
        asyncio.set_event_loop(runner.get_loop())
        yield
        for opened in engines:
            runner.run(opened.dispose())


def counted(text):
    return [0] * estimate(text)


def short_term(block, *, session="s", tokens=9_000, **more):
    """Give LlamaIndex's memory with a block of ours, which counts as the contract does."""
    return ShortTerm.from_defaults(
        session_id=session, token_limit=tokens, token_flush_size=tokens // 5, memory_blocks=[block],
        tokenizer_fn=counted, **more,
    )  # fmt: skip


def chat(messages):
    """Write what the framework sent as messages of openai-chat."""
    for message in messages:
        calls = [
            {"id": block.tool_call_id, "type": "function",
             "function": {"name": block.tool_name, "arguments": json.dumps(block.tool_kwargs)}}
            for block in message.blocks if isinstance(block, ToolCallBlock)
        ]  # fmt: skip
        more = {"tool_calls": calls} if calls else {}
        if message.role == "tool":
            more = {"tool_call_id": message.additional_kwargs["tool_call_id"]}
        yield {"role": message.role.value, "content": message.content, **more}


def of_script(script: Script):
    """Have a script of the contract reply."""

    def answer(messages, tools=(), **_):
        reply = script.reply([*chat(messages)], [tool.metadata.to_openai_tool() for tool in tools])
        blocks = [TextBlock(text=reply["content"])] if reply["content"] else []
        for call in reply.get("tool_calls") or ():
            function = call["function"]
            arguments = json.loads(function["arguments"])
            blocks.append(ToolCallBlock(tool_call_id=call["id"], tool_name=function["name"], tool_kwargs=arguments))
        return ChatMessage(role="assistant", blocks=blocks)

    return MockFunctionCallingLLM(response_generator=answer)


class Talk:
    """A `FunctionAgent` with LlamaIndex's memory, in whose block ours is."""

    def __init__(self, block, model, session="s", **more):
        self.block, self.memory = block, short_term(block, session=session, **more)
        read = FunctionTool.from_defaults(read_page)
        self.agent = FunctionAgent(
            tools=[read, *block.tools], llm=model, system_prompt="Look after the workers.", streaming=False
        )

    def turn(self, text):
        async def run():
            return str(await self.agent.run(user_msg=text, memory=self.memory))

        return asyncio_run(run())

    def end(self):
        self.block.close()


class TestMemoryBlock(LoopContract):
    """An agent under the contract, whose short-term memory LlamaIndex holds to its limit."""

    example = "llama_index_agent.py"

    def framework(self, store, *, namespace, agent, session, script):
        block = FirsthandMemoryBlock(store, session_id=session, namespace=namespace, agent=agent)
        return Talk(block, of_script(script), session)


def said(*texts, role="user"):
    return [ChatMessage(role=role, content=text) for text in texts]


def logged(folder, session="llama-index:s"):
    """Give the texts of a session, of a store that is whole."""
    with Memory(folder, create=False) as memory:
        assert memory.verify().ok
        kinds = (Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.TOOL_RESULT)
        return [event.text for event in memory.events(session) if event.kind in kinds]


def test_the_last_reply_of_a_chat_engine_is_logged(tmp_path):
    """Nobody asks for what a chat engine puts last; it is in the log when the block that made the memory is closed."""
    replies = iter(["One.", "Two."])
    model = MockFunctionCallingLLM(response_generator=lambda *_, **__: said(next(replies), role="assistant")[0])
    with FirsthandMemoryBlock(tmp_path / "s", session_id="s") as block:
        engine = SimpleChatEngine.from_defaults(llm=model, memory=block.memory(token_limit=5_000, tokenizer_fn=counted))
        for text in ("First?", "Second?"):
            asyncio_run(engine.achat(text))
    assert block.faults == []
    assert logged(tmp_path / "s") == ["First?", "One.", "Second?", "Two."]


def test_what_leaves_the_short_term_memory_is_logged_once(tmp_path):
    """Messages are in the log once and in order, whether LlamaIndex asked for them before they left or not."""
    texts = [f"{number}: {'word ' * 60}" for number in range(40)]
    with FirsthandMemoryBlock(tmp_path / "s", session_id="s") as block:
        memory = short_term(block, tokens=1_500)
        for number in range(0, 40, 4):
            memory.put_messages(said(*texts[number : number + 2]))
            memory.put_messages(said(*texts[number + 2 : number + 4], role="assistant"))
            if number % 8:
                memory.get()
        assert len(memory.get_all(status=sql.MessageStatus.ACTIVE)) < 40
        memory.get()
        assert block.faults == []
    assert logged(tmp_path / "s") == texts


def test_a_session_goes_on_in_another_process(tmp_path):
    """A block that is opened anew logs what is new alone, also where messages leave before it has seen the list."""
    with FirsthandMemoryBlock(tmp_path / "s", session_id="s") as block:
        memory = short_term(block, tokens=1_500)
        memory.put_messages(said("one " * 60, "two"))
        memory.get()
    with FirsthandMemoryBlock(tmp_path / "s", session_id="s") as block:
        memory.memory_blocks = [block]
        memory.put_messages([*said("three", role="assistant"), *said("four " * 400, "five " * 900)])
        assert len(memory.get_all(status=sql.MessageStatus.ACTIVE)) < 5
        memory.get()
        assert block.faults == []
    assert [text.split()[0] for text in logged(tmp_path / "s")] == ["one", "two", "three", "four", "five"]


def test_the_run_s_input_is_said_once(tmp_path):
    """Where LlamaIndex gives the input of a run beside the list that has it, it is logged once."""
    with FirsthandMemoryBlock(tmp_path / "s", session_id="s") as block:
        memory = short_term(block)
        assert len(memory.get()) <= 1  # of no messages
        memory.put(ChatMessage(role="user", content="Ship the crate."))
        memory.get(input="Ship the crate.")
        memory.put(ChatMessage(role="assistant", content="Shipped."))
        memory.get()
    assert logged(tmp_path / "s") == ["Ship the crate.", "Shipped."]


def test_what_is_cut_is_cut_whole(tmp_path):
    """Too long by little, what was brought up goes and the preamble stays; by much, nothing stays."""
    with FirsthandMemoryBlock(tmp_path / "s", session_id="one", agent="ada") as block:
        asyncio_run(block.aget(said("The staging gateway listens on port 5544.")))
    with FirsthandMemoryBlock(tmp_path / "s", session_id="two", agent="ada") as block:

        async def cut():
            content = await block.aget(said("Which port does the staging gateway listen on?"))
            return content, await block.atruncate(content, 1), await block.atruncate(content, estimate(content))

        content, shorter, none = asyncio_run(cut())
    assert content.startswith(shorter)
    assert ("On record from earlier" in shorter, len(shorter) < len(content), none) == (True, True, None)


def test_blocks_of_a_message_stand_in_the_log(tmp_path):
    """Images, thoughts and calls are there, and a call is paired with its result."""
    call = ToolCallBlock(tool_call_id="c1", tool_name="read_page", tool_kwargs={"page": 3})
    messages = [
        ChatMessage(role="user", blocks=[TextBlock(text="See this."), ImageBlock(url="https://example.com/a.png")]),
        ChatMessage(role="assistant", blocks=[ThinkingBlock(content="a page"), call]),
        ChatMessage(role="tool", content="3.0 worker", additional_kwargs={"tool_call_id": "c1"}),
    ]
    with FirsthandMemoryBlock(tmp_path / "s", session_id="s") as block:
        asyncio_run(block.aget(messages))
        assert block.faults == []
    with Memory(tmp_path / "s", create=False) as memory:
        user, reply, result = memory.session("llama-index:s").messages()
        assert user["content"][1]["image_url"]["url"] == "https://example.com/a.png"
        assert (reply["reasoning_content"], reply["tool_calls"][0]["function"]["name"]) == ("a page", "read_page")
        assert result["tool_call_id"] == "c1"


def test_the_input_that_a_handoff_gives_again_is_recorded_once(tmp_path):
    """A workflow puts a run's input behind the calls of the first agent again; after an answer it is a new message."""
    with FirsthandMemoryBlock(tmp_path / "s", session_id="s") as block:
        asked = {"role": "user", "content": "Go on."}
        handoff = [reply("", [("c1", "handoff", "{}")]), {"role": "tool", "tool_call_id": "c1", "content": "to bob"}]
        for messages in (
            [asked],
            [asked, *handoff, asked],
            [asked, *handoff, reply("Done."), asked],
        ):
            block._pulled([*messages])
        assert block.faults == []
    with Memory(tmp_path / "s", create=False) as memory:
        kinds = [event.kind for event in memory.events("llama-index:s") if event.kind in (
            Kind.USER_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT, Kind.AGENT_MESSAGE)]  # fmt: skip
        assert kinds == [Kind.USER_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT, Kind.AGENT_MESSAGE, Kind.USER_MESSAGE]
        assert memory.verify().ok
