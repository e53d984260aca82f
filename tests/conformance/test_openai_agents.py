"""The OpenAI Agents SDK: the contract of loops, and what its protocol asks of a session; written from the protocol."""

from __future__ import annotations

import asyncio
import json

import pytest

pytest.importorskip("agents.testing")

from agents.memory import SessionSettings
from agents.run_config import CallModelData, ModelInputData
from agents.testing import ScriptedModel
from loop_contract import BUDGET_TOKENS, LoopContract, Script, read_page
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from agents import Agent, FunctionTool, RunConfig, Runner, Session, SQLiteSession, function_tool, set_tracing_disabled
from firsthand import Kind, Memory, Trust
from firsthand.adapters.openai_agents import FirsthandHooks, FirsthandSession

set_tracing_disabled(True)
READ = function_tool(read_page)


def message(text, number=1):
    part = ResponseOutputText(type="output_text", text=text, annotations=[])
    return ResponseOutputMessage(
        id=f"msg_{number}", type="message", role="assistant", status="completed", content=[part]
    )  # fmt: skip


def call(name, arguments, number=1):
    return ResponseFunctionToolCall(
        type="function_call", call_id=f"call_{number}", id=f"fc_{number}", name=name, arguments=json.dumps(arguments)
    )


def user(text):
    return {"role": "user", "content": text}


def as_chat(items, instructions):
    """Write the items of a request as messages of openai-chat."""
    messages = [{"role": "system", "content": instructions}] if instructions else []
    for item in items:
        if item.get("type") == "function_call":
            function = {"name": item["name"], "arguments": item["arguments"]}
            messages.append({"role": "assistant", "content": None, "tool_calls": [
                {"id": item["call_id"], "type": "function", "function": function}]})  # fmt: skip
        elif item.get("type") == "function_call_output":
            messages.append({"role": "tool", "tool_call_id": item["call_id"], "content": item["output"]})
        else:
            content = item["content"]
            texts = [content] if isinstance(content, str) else [part["text"] for part in content]
            messages.append({"role": item["role"], "content": "\n".join(texts)})
    return messages


def of_script(script: Script) -> ScriptedModel:
    """Have a script of the contract reply to every call."""

    def respond(asked):
        tools = [
            {"type": "function", "function": {"name": tool.name, "description": tool.description,
             "parameters": tool.params_json_schema}} for tool in asked.tools
        ]  # fmt: skip
        reply = script.reply(as_chat(asked.input, asked.system_instructions), tools)
        number = len(script.requests)
        if reply.get("tool_calls"):
            calls = [(each["id"].removeprefix("call_"), each["function"]) for each in reply["tool_calls"]]
            return [call(function["name"], json.loads(function["arguments"]), name) for name, function in calls]
        return [message(reply["content"], number)]

    return Responding(respond)


class Responding(ScriptedModel):
    """A scripted model that asks one function for every reply."""

    def __init__(self, respond):
        super().__init__()
        self.respond, self.seen = respond, []

    async def get_response(self, *arguments, **named):
        self.enqueue({"responder": self.respond})
        try:
            return await super().get_response(*arguments, **named)
        finally:
            self.seen.append((self.last_call.system_instructions, self.last_call.input))


class LoopAgent:
    """An agent with a session of ours and its window."""

    def __init__(self, session, script):
        self.session = session
        self.agent = Agent(
            name="ada", instructions="Look after the workers.", model=of_script(script),
            tools=[READ, *session.tools],
        )  # fmt: skip
        self.loop = asyncio.new_event_loop()

    def turn(self, text):
        run = Runner.run(self.agent, text, session=self.session, run_config=self.session.run_config())
        return self.loop.run_until_complete(run).final_output

    def end(self):
        self.loop.run_until_complete(self.session.__aexit__())
        self.loop.close()


class TestSessionLoop(LoopContract):
    """An agent of the SDK under the contract."""

    example = "openai_agents_agent.py"
    test_ids_that_begin_anew_in_each_reply = None  # the SDK itself sends the newest call of an id alone

    def framework(self, store, *, namespace, agent, session, script):
        ours = FirsthandSession(session, store, namespace=namespace, agent=agent, budget=BUDGET_TOKENS)
        return LoopAgent(ours, script)


# the protocol ----------------------------------------------------------------------------------------


def run(steps):
    """Run what awaits, in a loop of its own."""
    return asyncio.run(steps)


def of(memory, session_id="s", **options):
    return FirsthandSession(session_id, memory, agent="ada", **options)


ITEMS = [
    user("Grüße '; DROP TABLE event; -- \x00 \N{PILE OF POO} " + "long " * 5_000),
    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "think"}]},
    {"type": "function_call", "call_id": "c1", "id": "fc_1", "name": "look", "arguments": '{"a": 1}'},
    {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "out"}]},
    {"type": "message", "id": "m", "role": "assistant", "status": "completed",
     "content": [{"type": "output_text", "text": "done", "annotations": []}]},
    {"type": "of tomorrow", "payload": {"deep": [None, True, 1.5]}},
    {"role": "user", "content": [{"type": "input_text", "text": "see"}, {"type": "input_image", "image_url": "x"}]},
]  # fmt: skip


def test_it_is_a_session_of_the_sdk(memory):
    """The protocol of the SDK holds of it, and settings may be a dictionary."""
    assert isinstance(of(memory), Session)
    assert of(memory, session_settings={"limit": 2}).session_settings == SessionSettings(limit=2)


def test_items_come_back_as_they_were_added(memory):
    """Items of every kind come back equal and in order, here and after reopening, whatever signs they hold."""

    async def steps():
        await of(memory).add_items(ITEMS[:3])
        await of(memory).add_items([])
        await of(memory).add_items(ITEMS[3:])
        return await of(memory).get_items()

    assert run(steps()) == ITEMS


def test_limits(memory):
    """A limit gives the newest items in order; none of 0 or less; the settings' where none is given; all without."""

    async def steps():
        session = of(memory, session_settings=SessionSettings(limit=2))
        await session.add_items([user(str(number)) for number in range(5)])
        limited = [await session.get_items(limit) for limit in (None, 3, 0, -1, 9)]
        return limited, await of(memory).get_items()

    limited, whole = run(steps())
    texts = [[item["content"] for item in items] for items in limited]
    assert texts == [["3", "4"], ["2", "3", "4"], [], [], ["0", "1", "2", "3", "4"]]
    assert len(whole) == 5


def test_popping_takes_the_newest_back_and_keeps_its_event(memory):
    """Items are popped from the end, until None; what was popped is in the log, and stays away after reopening."""

    async def steps():
        session = of(memory)
        await session.add_items([user("one"), user("two"), user("three")])
        popped = [await session.pop_item(), await of(memory).pop_item()]
        left = [await session.get_items(), await of(memory).get_items()]
        await session.add_items([user("four")])
        popped += [await session.pop_item() for _ in range(3)]
        return popped, left, await of(memory).get_items()

    popped, left, rest = run(steps())
    assert popped == [user("three"), user("two"), user("four"), user("one"), None]
    assert (left, rest) == ([[user("one")]] * 2, [])
    assert len([*memory.events("openai-agents:s", kind=Kind.USER_MESSAGE)]) == 4


def test_clearing_keeps_the_events(memory):
    """A cleared session is empty, here and after reopening, takes new items, and its old events are in the log."""

    async def steps():
        session = of(memory)
        await session.add_items([user(f"old {number}") for number in range(2_500)])
        await session.clear_session()
        empty = [await session.get_items(), await of(memory).get_items(), await session.pop_item()]
        await session.add_items([user("new")])
        return empty, await of(memory).get_items()

    empty, items = run(steps())
    assert (empty, items) == ([[], [], None], [user("new")])
    assert len([*memory.events("openai-agents:s", kind=Kind.USER_MESSAGE)]) == 2_501


def test_sessions_are_apart(tmp_path):
    """Sessions of other ids, and the same id in another namespace, have their own items; clearing one leaves others."""

    async def steps(first, second):
        sessions = [of(first, "a"), of(first, "b"), of(second, "a"), of(first, "a*")]
        for number, session in enumerate(sessions):
            await session.add_items([user(str(number))])
        await sessions[0].clear_session()
        return [await session.get_items() for session in sessions]

    with Memory(tmp_path / "s", namespace="x") as first, Memory(tmp_path / "s", namespace="y") as second:
        assert run(steps(first, second)) == [[], [user("1")], [user("2")], [user("3")]]
        assert first.verify().ok


def test_a_cancelled_call_is_done_whole(memory):
    """A call that was begun is done to its end where its caller is cancelled, and the session goes on."""

    async def steps():
        session = of(memory)
        await session.get_items()
        for number in range(20):
            task = asyncio.create_task(session.add_items([user(f"{number} a"), user(f"{number} b")]))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await session.add_items([user("last")])
        return await session.get_items(), await of(memory).get_items()

    here, there = run(steps())
    assert here == there
    assert [item["content"] for item in here] == [*(f"{n} {part}" for n in range(20) for part in "ab"), "last"]


def test_many_tasks_at_once(memory):
    """Items that several tasks add at once are all there, each group together."""

    async def steps():
        session = of(memory)
        await asyncio.gather(*(session.add_items([user(f"{n}a"), user(f"{n}b")]) for n in range(20)))
        return [item["content"] for item in await session.get_items()]

    texts = run(steps())
    assert sorted(texts) == sorted(f"{number}{letter}" for number in range(20) for letter in "ab")
    assert all(texts[place + 1] == f"{texts[place][:-1]}b" for place in range(0, 40, 2))


def test_an_erased_item_is_left_out(memory):
    """An erased item is in no answer; those around it stay in order."""

    async def steps():
        await of(memory).add_items([user("one"), user("the secret"), user("three")])
        secret = next(event for event in memory.events("openai-agents:s") if event.text == "the secret")
        memory.erase([secret.pointer])
        return await of(memory).get_items()

    assert run(steps()) == [user("one"), user("three")]


def test_runs_are_those_of_the_sdks_own_session(memory):
    """The same scripted runs, streamed and not, leave the same items in ours as in the SDK's session."""

    async def conversation(session, config):
        model = ScriptedModel([
            [call("read_page", {"page": 1}, 1), call("read_page", {"page": 2}, 2)], [message("Read.", 1)],
            [message("Again.", 2)], [call("read_page", {"page": 3}, 3)], [message("Streamed.", 3)],
        ])  # fmt: skip
        agent = Agent(name="ada", model=model, tools=[READ])
        for text in ("Read pages 1 and 2", "More?"):
            await Runner.run(agent, text, session=session, run_config=config)
        streamed = Runner.run_streamed(agent, "Read page 3", session=session, run_config=config)
        async for _ in streamed.stream_events():
            pass
        model.assert_complete()
        return await session.get_items()

    ours = of(memory)
    items = run(conversation(ours, ours.run_config()))
    assert items == run(conversation(SQLiteSession("s"), RunConfig()))
    assert ours.faults == []
    logged = [
        event.text for event in memory.events("openai-agents:s") if event.kind in ("user_message", "agent_message")
    ]
    assert logged == ["Read pages 1 and 2", "Read.", "More?", "Again.", "Read page 3", "Streamed."]


# what a run is given ---------------------------------------------------------------------------------


def scripted(*replies):
    waiting = iter(replies)
    return Responding(lambda _: [next(waiting)])


def test_the_callback_alone_recalls(tmp_path):
    """With the callback and no window what a message brings up stands before it, and is no item of the session."""

    async def steps():
        async with FirsthandSession("monday", tmp_path / "s", agent="ada") as session:
            await session.add_items([user("The staging gateway listens on port 5544.")])
        async with FirsthandSession("tuesday", tmp_path / "s", agent="ada") as session:
            model = scripted(message("5544"))
            config = RunConfig(session_input_callback=session.session_input_callback)
            question = "Which port does the staging gateway listen on?"
            await Runner.run(Agent(name="ada", model=model), question, session=session, run_config=config)
            return model.seen[0][1], await session.get_items()

    sent, items = run(steps())
    assert "port 5544." in sent[0]["content"]
    assert sent[1] == user("Which port does the staging gateway listen on?")
    assert [item["role"] for item in items] == ["user", "assistant"]


def test_a_list_that_was_rewritten_is_no_item(memory):
    """What the window logs of a list that somebody rewrote for the model is no item of the session."""

    async def steps():
        session = of(memory)
        items = [user("one"), user("two"), user("three")]
        await session.add_items(items)

        class Data:
            model_data = type("D", (), {"input": [user("a summary of one"), *items[1:]], "instructions": None})
            agent = Agent(name="ada")

        sent = await session.call_model_input_filter(Data)
        assert session.faults == []
        here = await session.get_items()
        await session.end()
        return sent.input, here, await of(memory).get_items()

    sent, here, there = run(steps())
    assert here == there == [user("one"), user("two"), user("three")]
    assert user("three") in sent


@pytest.mark.parametrize("is_streamed", [False, True])
def test_runs_at_once_record_each_item_once(memory, is_streamed):
    """Two runs whose lists lack what the other adds are sent their own; items and log have each once."""

    async def steps():
        session, both = of(memory), asyncio.Barrier(2)

        @function_tool
        async def meet(number: int) -> str:
            """Wait for the other run."""
            await both.wait()
            return f"met in {number}"

        async def talk(number, text):
            model = ScriptedModel([[call("meet", {"number": number}, number)], [message(f"done {number}", number)]])
            agent = Agent(name="ada", model=model, tools=[meet])
            if is_streamed:
                streamed = Runner.run_streamed(agent, text, session=session, run_config=session.run_config())
                async for _ in streamed.stream_events():
                    pass
            else:
                await Runner.run(agent, text, session=session, run_config=session.run_config())

        for turn in range(0, 6, 2):
            await asyncio.gather(*(talk(number, f"question {number}") for number in (turn, turn + 1)))
        assert session.faults == []
        items = await session.get_items()
        await session.end()
        return items

    items = run(steps())
    assert len(items) == 24
    logged = memory.session("openai-agents:s").messages()
    assert sorted(map(json.dumps, logged)) == sorted(map(json.dumps, items))


def test_tools_answer_and_refuse(memory):
    """The tools have the schemas of the memory's, answer from it, and say what is wrong with their arguments."""

    async def steps():
        session = of(memory)
        await session.add_items([user("the heron has left"), user("Where is it?")])
        tools = {tool.name: tool for tool in session.tools}
        assert all(isinstance(tool, FunctionTool) for tool in session.tools)
        answers = [await tools["recall"].on_invoke_tool(None, text) for text in ('{"query": "heron"}', "[1", "{}")]
        return sorted(tools), answers

    names, answers = run(steps())
    assert names == ["decide", "expand", "recall", "task"]
    assert "the heron has left" in answers[0]
    assert all("query" in answer for answer in answers[1:])


def test_an_agent_inside_a_tool_has_a_session_of_its_own(tmp_path):
    """What an agent that is a tool is sent and does is in no request and no item of the outer session, also at once."""

    def answer(asked):
        is_read = asked.input[-1].get("type") == "function_call_output"
        return [message("It is 42.")] if is_read else [call("read_page", {"page": 1})]

    async def steps():
        inner, asks = Responding(answer), [call("ask_bob", {"input": "What is it?"}, number) for number in (10, 11, 12)]
        outer = ScriptedModel([asks[:1], [message("42.", 20)], asks[1:], [message("42 again.", 21)]])
        bob = Agent(name="bob", model=inner, tools=[READ])
        async with FirsthandSession("s", tmp_path / "s", agent="ada", budget=BUDGET_TOKENS) as session:
            ada = Agent(name="ada", model=outer, tools=[bob.as_tool("ask_bob", "Ask Bob.")])
            await Runner.run(ada, "What is it?", session=session, run_config=session.run_config())
            run = Runner.run_streamed(ada, "And again?", session=session, run_config=session.run_config())
            async for _ in run.stream_events():
                pass
            sent = [[kinds_of(asked.input) for asked in model.calls] for model in (outer, inner)]
            return *sent, kinds_of(await session.get_items()), session.faults

    def kinds_of(items):
        return [item.get("type") or item["role"] for item in items]

    outer, inner, items, faults = run(steps())
    asked, output = "function_call", "function_call_output"
    kinds = ["user", asked, output, "message", "user", asked, asked, output, output, "message"]
    assert (outer, items, faults) == ([kinds[:1], kinds[:3], kinds[:5], kinds[:9]], kinds, [])
    assert sorted(inner) == [kinds[:1]] * 3 + [kinds[:3]] * 3
    with Memory(tmp_path / "s", create=False) as memory:
        texts = [event.text for event in memory.events("openai-agents:s", kind=Kind.USER_MESSAGE)]
        others = {event.session for event in memory.events(kind=Kind.TOOL_RESULT)} - {"openai-agents:s"}
        assert (texts, len(others)) == (["What is it?", "And again?"], 3)
        asked = [(event.text, event.origin, event.trust) for event in memory.events(kind=Kind.OTHER)]
        assert asked == [("What is it?", "agent:ada", Trust.UNTRUSTED)] * 3  # what an agent writes to another
        assert len([*memory.agent("ada").own(Kind.EPISODE)]) == 4
        assert memory.verify().ok


def test_hooks_record_a_run_without_a_session(tmp_path):
    """With hooks alone the input, the calls, their results and the final reply are recorded once, and an episode."""

    async def steps():
        replies = [[call("read_page", {"page": 1}, 1), call("read_page", {"page": 2}, 2)], [message("Read both.")]]
        agent = Agent(name="ada", model=ScriptedModel(replies), tools=[READ])
        hooks = FirsthandHooks(tmp_path / "s", agent="ada", session="run")
        await Runner.run(agent, "Read pages 1 and 2", hooks=hooks)
        return hooks.loop.faults

    assert run(steps()) == []
    with Memory(tmp_path / "s", create=False) as memory:
        kinds = ("user_message", "agent_message", "tool_result")
        texts = [event.text for event in memory.events("openai-agents:run") if event.kind in kinds]
        assert texts == ["Read pages 1 and 2", read_page(1), read_page(2), "Read both."]
        assert len([*memory.agent("ada").own(Kind.EPISODE)]) == 1
        assert memory.verify().ok


def test_a_store_that_fails_keeps_the_conversation(tmp_path):
    """While the store cannot be opened items are kept in this process, popped and cleared as ever, and it is said."""
    (tmp_path / "s").write_text("no folder")

    async def steps():
        session = FirsthandSession("s", tmp_path / "s", agent="ada")
        await session.add_items([user("one"), user("two")])
        popped = await session.pop_item()
        data = ModelInputData(input=[user("one"), user("three")], instructions=None)
        await session.call_model_input_filter(CallModelData(data, Agent(name="ada"), None))  # of a streamed run
        await session.add_items([user("three")])
        items = await session.get_items()
        (tmp_path / "s").unlink()  # and now it can be made
        await session.add_items([user("four")])
        await session.close()
        again = await FirsthandSession("s", tmp_path / "s", agent="ada").get_items()
        return popped, items, again, session.faults

    popped, items, again, faults = run(steps())
    assert (popped, items) == (user("two"), [user("one"), user("three")])
    assert again == [user("one"), user("three"), user("four")]
    assert faults
