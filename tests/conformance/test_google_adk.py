"""Google ADK's plugin and memory service: the contract of loops, and what they change of a request."""

from __future__ import annotations

import asyncio
import json

import pytest

pytest.importorskip("google.adk")

from google.adk.agents import LlmAgent, ParallelAgent, RunConfig
from google.adk.agents.run_config import StreamingMode
from google.adk.apps.app import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import InMemoryRunner
from google.adk.tools import load_memory
from google.adk.tools.agent_tool import AgentTool
from google.genai import types
from loop_contract import BUDGET_TOKENS, LoopContract, Script, read_page

from firsthand import InvalidArgument, Kind, Memory, Trust
from firsthand.adapters.google_adk import FirsthandMemoryService, FirsthandPlugin

PNG = b"\x89PNG\r\n\x1a\n"


def chat(request):
    """Write what the framework sent as messages and tools of openai-chat; calls have no ids there but their order."""
    dicts, number, waiting = [], 0, []
    for content in request.contents:
        for part in content.parts:
            if part.function_call:
                number += 1
                waiting.append((part.function_call.name, f"c{number}"))
                function = {"name": part.function_call.name, "arguments": json.dumps(part.function_call.args)}
                call = {"id": f"c{number}", "type": "function", "function": function}
                dicts.append({"role": "assistant", "content": None, "tool_calls": [call]})
            elif part.function_response:
                place = next((at for at, (name, _) in enumerate(waiting) if name == part.function_response.name), None)
                identifier = "none" if place is None else waiting.pop(place)[1]
                result = part.function_response.response["result"]
                dicts.append({"role": "tool", "tool_call_id": identifier, "content": result})
            else:
                dicts.append({"role": "assistant" if content.role == "model" else "user", "content": part.text})
    system = request.config.system_instruction
    tools = [each for tool in request.config.tools or () for each in tool.function_declarations]
    declared = [{"name": t.name, "description": t.description, "parameters": t.parameters_json_schema} for t in tools]
    return [*([{"role": "system", "content": system}] if system else []), *dicts], declared


class Model(BaseLlm):
    """A model that answers by a function of the request."""

    answer: object

    async def generate_content_async(self, llm_request, stream=False):
        content = self.answer(llm_request)
        if stream and content.parts[0].text:
            for word in content.parts[0].text.split():
                yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=word)]), partial=True)
        yield LlmResponse(content=content)


def said(*pieces):
    """Make a reply of texts and calls."""
    parts = [types.Part(text=piece) if isinstance(piece, str) else call(*piece) for piece in pieces]
    return types.Content(role="model", parts=parts)


def call(name, args):
    return types.Part(function_call=types.FunctionCall(name=name, args=args))


def of_script(script: Script):
    """Have a script of the contract reply."""

    def answer(request):
        reply = script.reply(*chat(request))
        functions = [each["function"] for each in reply.get("tool_calls") or ()]
        calls = [(function["name"], json.loads(function["arguments"])) for function in functions]
        return said(*([reply["content"]] if reply["content"] else []), *calls)

    return Model(model="scripted", answer=answer)


class Scripted:
    """A model that gives replies in order, and keeps what it was sent."""

    def __init__(self, *replies):
        self.replies, self.sent = list(replies), []
        self.model = Model(model="scripted", answer=self.answer)

    def answer(self, request):
        self.sent.append(request.model_copy())
        return self.replies.pop(0)

    def texts(self, number):
        """Give all text of the contents of a request."""
        parts = [part for content in self.sent[number].contents for part in content.parts]
        return "\n".join(str(p.text or (p.function_response and p.function_response.response["result"])) for p in parts)


class Talk:
    """A session of an agent, and the runner that drives it."""

    def __init__(self, plugin, model, session="s", *, agent=None, user="u", before=(), **more):
        agent = agent or LlmAgent(
            name="keeper", model=model, instruction="Look after the workers.", tools=[read_page], **more
        )
        self.runner = InMemoryRunner(app=App(name="shop", root_agent=agent, plugins=[*before, *filter(None, [plugin])]))
        self.plugin, self.session, self.user = plugin, session, user

    def turn(self, text, config=None):
        return asyncio.run(self.said(text, config))

    async def said(self, text, config=None):
        names = {"app_name": "shop", "user_id": self.user, "session_id": self.session}
        if not await self.runner.session_service.get_session(**names):
            await self.runner.session_service.create_session(**names)
        texts = []
        content = text if isinstance(text, types.Content) else types.Content(role="user", parts=[types.Part(text=text)])
        async for event in self.runner.run_async(
            user_id=self.user, session_id=self.session, new_message=content, run_config=config
        ):
            if not event.partial and event.content:
                texts += [part.text for part in event.content.parts if part.text]
        return texts[-1] if texts else ""

    def whole_list(self):
        """Give ADK's own session."""
        names = {"app_name": "shop", "user_id": self.user, "session_id": self.session}
        return asyncio.run(self.runner.session_service.get_session(**names)).events

    def end(self):
        asyncio.run(self.runner.close())


class TestPlugin(LoopContract):
    """An agent under the contract."""

    example = "google_adk_agent.py"

    def framework(self, store, *, namespace, agent, session, script):
        plugin = FirsthandPlugin(store, namespace=namespace, agent=agent, budget=BUDGET_TOKENS)
        return Talk(plugin, of_script(script), session)


def logged(store, session, namespace="shop/u"):
    """Give the messages of a session in the log."""
    with Memory(store, namespace=namespace, create=False) as memory:
        assert memory.verify().ok
        return memory.session(f"google-adk:{session}").messages()


def sessions(store, namespace="shop/u"):
    with Memory(store, namespace=namespace, create=False) as memory:
        return sorted(session.name for session in memory.sessions())


def test_parts_that_are_shown_whole_are_those_that_came(tmp_path):
    """Images, thoughts and signatures are sent again as they were, and stand in the log."""
    thought = types.Part(text="a bird", thought=True, thought_signature=b"sig")
    reply = types.Content(role="model", parts=[thought, types.Part(text="A pelican.")])
    question = types.Content(
        role="user", parts=[types.Part(text="What is this?"), types.Part.from_bytes(data=PNG, mime_type="image/png")]
    )
    model = Scripted(reply, said("Yes."))
    talk = Talk(FirsthandPlugin(tmp_path / "s"), model.model)
    talk.turn(question)
    talk.turn("Sure?")
    assert talk.plugin.faults == []
    talk.end()
    assert model.sent[1].contents[:2] == [question, reply]
    user, answer, *_ = logged(tmp_path / "s", "s/keeper")
    assert [piece["type"] for piece in user["content"]] == ["text", "file"]
    assert (answer["content"], answer["reasoning_content"]) == ("A pelican.", "a bird")
    assert answer["blocks"][0]["thought_signature"]


def test_a_result_that_the_window_shortens_stays_the_result_of_its_call(tmp_path):
    """What is too long for the window is shown in part, under the call's own name, and the call has its signature."""
    asked = types.Part(
        function_call=types.FunctionCall(name="long_page", args={}, id="own-1"), thought_signature=b"sig"
    )

    def long_page():
        """Read a long page."""
        return {"lines": [read_page(page) for page in range(12)]}

    model = Scripted(types.Content(role="model", parts=[asked]), said("Read."))
    agent = LlmAgent(name="keeper", model=model.model, tools=[long_page])
    talk = Talk(FirsthandPlugin(tmp_path / "s", budget=5_000), None, agent=agent)
    talk.turn("Read the long page.")
    assert talk.plugin.faults == []
    talk.end()
    _, call_content, result_content, *_ = model.sent[1].contents
    assert call_content.parts == [asked]
    response = result_content.parts[0].function_response
    assert (response.name, response.id, [*response.response]) == ("long_page", "own-1", ["result"])
    assert len(response.response["result"]) < 15_000
    assert json.loads(logged(tmp_path / "s", "s/keeper")[2]["content"]) == long_page()


def test_a_streamed_reply_is_recorded_once(tmp_path):
    """The pieces of a reply pass through as they come, and the log has the whole."""
    talk = Talk(FirsthandPlugin(tmp_path / "s"), Scripted(said("Here you are.")).model)
    assert talk.turn("Give.", RunConfig(streaming_mode=StreamingMode.SSE)) == "Here you are."
    talk.end()
    assert [message["content"] for message in logged(tmp_path / "s", "s/keeper")] == ["Give.", "Here you are."]


def test_a_session_goes_on_in_another_process(tmp_path):
    """A plugin that is opened anew appends what is new alone."""
    model = Scripted(said(("read_page", {"page": 1})), said("One."), said(("read_page", {"page": 1})), said("Two."))
    talk = Talk(FirsthandPlugin(tmp_path / "s"), model.model)
    talk.turn("First")
    before = logged(tmp_path / "s", "s/keeper")
    talk.end()  # which lets the store go
    talk.turn("Second")
    assert talk.plugin.faults == []
    talk.end()
    after = logged(tmp_path / "s", "s/keeper")
    assert (len(before), after[:4], len(after)) == (4, before, 8)


def test_each_agent_has_its_own_session(tmp_path):
    """Agents that take over, work beside each other or are another's tool each have what they were sent."""
    keeper = Scripted(
        said(("transfer_to_agent", {"agent_name": "clerk"})),
        said(("adder", {"request": "2 and 3"})),
        said("It is 5."),
    )
    clerk, adder = Scripted(said("The clerk is here.")), Scripted(said("5"))
    helper = LlmAgent(name="adder", model=adder.model, description="Adds.")
    agent = LlmAgent(
        name="keeper", model=keeper.model, tools=[AgentTool(helper)],
        sub_agents=[LlmAgent(name="clerk", model=clerk.model, description="A clerk.", disallow_transfer_to_peers=True)],
    )  # fmt: skip
    talk = Talk(FirsthandPlugin(tmp_path / "s"), None, agent=agent)
    assert talk.turn("To the clerk, please.") == "The clerk is here."
    clerk.replies.append(said(("transfer_to_agent", {"agent_name": "keeper"})))
    assert talk.turn("Now add.") == "It is 5."
    assert talk.plugin.faults == []
    talk.end()
    names = sessions(tmp_path / "s")
    assert [name for name in names if name.startswith("google-adk:s/")] == ["google-adk:s/clerk", "google-adk:s/keeper"]
    (tool_session,) = (name for name in names if name.endswith("/adder"))
    texts = [message["content"] for message in logged(tmp_path / "s", tool_session.removeprefix("google-adk:"))]
    assert texts == ["2 and 3", "5"]
    with Memory(tmp_path / "s", namespace="shop/u", create=False) as memory:
        (asked,) = memory.events(tool_session, kind=Kind.OTHER)
        assert (asked.text, asked.origin, asked.trust) == ("2 and 3", "agent:keeper", Trust.UNTRUSTED)
        for name, other in (("keeper", "clerk"), ("clerk", "keeper")):
            events = [*memory.events(f"google-adk:s/{name}")]
            asked = [event.text for event in events if event.kind is Kind.USER_MESSAGE]
            assert asked == ["To the clerk, please.", "Now add."]
            shown = [event for event in events if f"[{other}] " in event.text]
            assert {(event.kind, event.origin, event.trust) for event in shown} == {
                (Kind.OTHER, f"agent:{other}", Trust.UNTRUSTED)
            }
    assert clerk.sent[0].contents[0].parts[2].text.startswith("[keeper] called tool")  # as ADK shows it


def test_agents_at_the_same_time_have_their_own_windows(tmp_path):
    """Each agent of a `ParallelAgent` is sent the question and its own replies, and a session in the log has each."""
    models = {name: Scripted(said(("read_page", {"page": 1})), said(f"{name} read it.")) for name in ("red", "blue")}
    agents = [LlmAgent(name=name, model=model.model, tools=[read_page]) for name, model in models.items()]
    talk = Talk(FirsthandPlugin(tmp_path / "s"), None, agent=ParallelAgent(name="both", sub_agents=agents))
    talk.turn("Read page 1")
    assert talk.plugin.faults == []
    talk.end()
    for name in models:
        (session,) = (session for session in sessions(tmp_path / "s") if f"/{name}@" in session)
        messages = logged(tmp_path / "s", session.removeprefix("google-adk:"))
        assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant"]
        assert messages[-1]["content"] == f"{name} read it."


def test_users_never_see_each_other(tmp_path):
    """Two users of one app have a namespace each, whatever their names are, and so has an open memory to say whose."""
    for user, port in (("u", 5544), ("shop/u", 5599)):
        model = Scripted(said(("recall", {"query": "port of the gateway"})), said("Done."))
        talk = Talk(FirsthandPlugin(tmp_path / "s"), model.model, user=user)
        talk.turn(f"The gateway listens on port {port}.")
        talk.end()
    assert ("5599" in model.texts(1), "5544" in model.texts(1)) == (True, False)
    assert len(logged(tmp_path / "s", "s/keeper", "shop/shop%2Fu")) == 4
    with Memory(tmp_path / "s", namespace="shared") as memory:
        with pytest.raises(InvalidArgument, match="all users of the app would share;"):
            FirsthandPlugin(memory)
        talk = Talk(FirsthandPlugin(memory, namespace="shared"), Scripted(said("Hello.")).model)
        talk.turn("Hello.")
        talk.end()
        messages = memory.session("google-adk:s/keeper").messages()
        assert [message["content"] for message in messages] == ["Hello.", "Hello."]


def test_a_run_that_fails_is_recorded(tmp_path):
    """What was asked, called and answered before a tool failed is in the log, and the error is the framework's own."""

    def burn():
        """Burn it."""
        raise RuntimeError("no paper")

    model = Scripted(said(("read_page", {"page": 5})), said(("burn", {})))
    agent = LlmAgent(name="keeper", model=model.model, tools=[read_page, burn])
    talk = Talk(FirsthandPlugin(tmp_path / "s"), None, agent=agent)
    with pytest.raises(RuntimeError, match="no paper"):
        talk.turn("Read page 5 and burn it.")
    assert talk.plugin.faults == []
    talk.end()
    with Memory(tmp_path / "s", namespace="shop/u", create=False) as memory:
        kinds = [event.kind for event in memory.events("google-adk:s/keeper") if event.kind.startswith("tool_")]
        assert kinds == [Kind.TOOL_CALL, Kind.TOOL_RESULT, Kind.TOOL_CALL]


def test_the_memory_service_answers_what_earlier_sessions_said(tmp_path):
    """`load_memory` finds what a session that was added said, for its user alone; adding it twice adds nothing."""
    service = FirsthandMemoryService(tmp_path / "s", agent="ada")
    plugin = FirsthandPlugin(tmp_path / "unused")
    talk = Talk(plugin, Scripted(said(("read_page", {"page": 1})), said("Noted.")).model)
    talk.turn("The staging gateway listens on port 5544.")
    events = talk.whole_list()

    async def asked(user):
        answer = await service.search_memory(app_name="shop", user_id=user, query="port of the staging gateway")
        return answer.memories[0].content.parts[0].text

    async def added():
        session = await talk.runner.session_service.get_session(app_name="shop", user_id="u", session_id="s")
        await service.add_session_to_memory(session)
        await service.add_session_to_memory(session)
        await service.add_events_to_memory(app_name="shop", user_id="u", events=events[:1], session_id="other")
        answers = [await asked("u"), await asked("v")]
        await service.close()
        return answers

    own, other = asyncio.run(added())
    assert ("5544" in own, "5544" in other, "absent" in other) == (True, False, True)
    assert len(logged(tmp_path / "s", "s")) == 4
    assert len(logged(tmp_path / "s", "other")) == 1
    model = Scripted(said(("load_memory", {"query": "staging gateway"})), said("5544"))
    agent = LlmAgent(name="keeper", model=model.model, tools=[load_memory])
    runner = Talk(plugin, None, "new", agent=agent)
    runner.runner.memory_service = FirsthandMemoryService(tmp_path / "s", records=False)
    runner.turn("Which port?")
    result = model.sent[1].contents[2].parts[0].function_response.response
    assert "port 5544" in str(result)


def test_a_search_that_fails_says_so(tmp_path):
    """`load_memory` then has one entry, which says that the memory could not be searched."""
    (tmp_path / "s").write_text("no folder")
    service = FirsthandMemoryService(tmp_path / "s")
    answer = asyncio.run(service.search_memory(app_name="shop", user_id="u", query="x"))
    assert "could not be searched" in answer.memories[0].content.parts[0].text


def test_an_agent_with_an_output_schema_is_offered_no_tools(tmp_path):
    """Models take no functions beside a schema of their answer, so the request has none; the window works."""
    model = Scripted(said('{"page": 1}'))
    agent = LlmAgent(name="keeper", model=model.model, output_schema=dict[str, int])
    talk = Talk(FirsthandPlugin(tmp_path / "s"), None, agent=agent)
    talk.turn("Give a page.")
    talk.end()
    assert (model.sent[0].config.tools or [], len(logged(tmp_path / "s", "s/keeper"))) == ([], 2)


@pytest.mark.parametrize("is_text", [True, False])
def test_an_instruction_among_the_contents_is_passed_on(tmp_path, is_text):
    """With a static instruction the agent's own stands where ADK puts it, call after call, and is no user's message."""
    parts = [types.Part(text="Be brief.") if is_text else types.Part.from_bytes(data=PNG, mime_type="image/png")]
    requests = []
    for plugin in (None, FirsthandPlugin(tmp_path / "s")):
        model = Scripted(said(("read_page", {"page": 1})), said("Read."), said("Done."))
        agent = LlmAgent(
            name="keeper", model=model.model, static_instruction=types.Content(role="user", parts=parts),
            instruction="Look after the workers of {hall?}.", tools=[read_page],
        )  # fmt: skip
        talk = Talk(plugin, None, agent=agent)
        talk.turn("Read the log, page 1")
        talk.turn("Thanks.")
        talk.end()
        requests.append([
            [(each.role, part.text, bool(part.inline_data)) for each in request.contents for part in each.parts]
            for request in model.sent
        ])  # fmt: skip
        assert all(any("of your own system" in (text or "") or "workers" in (text or "") for _, text, _ in request)
                   for request in requests[-1])  # fmt: skip
    assert requests[0] == requests[1]
    messages = logged(tmp_path / "s", "s/keeper")
    assert [message["content"] for message in messages if message["role"] == "user"] == [
        "Read the log, page 1", "Thanks.",
    ]  # fmt: skip
    with Memory(tmp_path / "s", namespace="shop/u", create=False) as memory:
        assert any("Look after the workers of ." in event.text for event in memory.events(kind=Kind.SYSTEM))


def test_a_message_that_a_plugin_rewrote_is_the_users(tmp_path):
    """What stands before ours may redact the newest message; it is recorded as it was sent, once."""

    class Redacts(BasePlugin):
        async def before_model_callback(self, *, callback_context, llm_request):
            for content in llm_request.contents:
                if content.role == "user":
                    content.parts = [types.Part(text=part.text.replace("4711", "****")) for part in content.parts]

    model = Scripted(said("Noted."), said("Hidden."))
    agent = LlmAgent(name="keeper", model=model.model, static_instruction="Be brief.", instruction="Look after them.")
    talk = Talk(FirsthandPlugin(tmp_path / "s"), None, agent=agent, before=[Redacts("redacts")])
    talk.turn("The pin is 4711.")
    talk.turn("Is it still 4711?")
    talk.end()
    assert [message["content"] for message in logged(tmp_path / "s", "s/keeper")] == [
        "The pin is ****.", "Noted.", "Is it still ****?", "Hidden.",
    ]  # fmt: skip


def test_an_agent_that_is_sent_no_earlier_turns_has_a_session_for_each(tmp_path):
    """With include_contents="none" a request has its own turn alone, and each turn is recorded whole."""
    model = Scripted(said(("read_page", {"page": 1})), said("Read."), said("Done."))
    talk = Talk(FirsthandPlugin(tmp_path / "s"), model.model, include_contents="none")
    talk.turn("Read the log, page 1")
    talk.turn("Thanks.")
    talk.end()
    assert "evicted" not in model.texts(2)
    assert model.texts(2).startswith("Thanks.")
    names = [name.removeprefix("google-adk:") for name in sessions(tmp_path / "s") if "keeper/" in name]
    assert sorted(len(logged(tmp_path / "s", name)) for name in names) == [2, 4]
