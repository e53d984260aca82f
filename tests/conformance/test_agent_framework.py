"""Microsoft Agent Framework's provider: the contract of loops, and what it changes of a request."""

from __future__ import annotations

import asyncio
import json

import pytest

pytest.importorskip("agent_framework")

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
    tool,
)
from loop_contract import BUDGET_TOKENS, LoopContract, Script, read_page

from firsthand import InvalidArgument, Kind, Memory, Trust
from firsthand.adapters.agent_framework import FirsthandHistory, FirsthandProvider

IMAGE = Content.from_data(b"\x89PNG\r\n\x1a\n", "image/png")


class Client(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """A model that answers by a function of the messages and options."""

    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    def _inner_get_response(self, *, messages, stream, options, **_):
        async def whole():
            return ChatResponse(messages=[Message("assistant", self.answer(messages, options))])

        async def pieces():
            for content in self.answer(messages, options):
                texts = content.text.split(" ") if content.type == "text" else [None]
                for number, text in enumerate(texts):
                    piece = content if text is None else Content.from_text(f" {text}" if number else text)
                    yield ChatResponseUpdate(role="assistant", contents=[piece])

        return ResponseStream(pieces(), finalizer=ChatResponse.from_updates) if stream else whole()


def call(name, arguments, identifier):
    return Content.from_function_call(identifier, name, arguments=json.dumps(arguments))


def chat(messages, options):
    """Write what the framework sent as messages and tools of openai-chat."""
    dicts = [{"role": "system", "content": options["instructions"]}] if options.get("instructions") else []
    for message in messages:
        for content in message.contents:
            match content.type:
                case "function_call":
                    function = {"name": content.name, "arguments": content.arguments}
                    each = {"id": content.call_id, "type": "function", "function": function}
                    dicts.append({"role": "assistant", "content": None, "tool_calls": [each]})
                case "function_result":
                    dicts.append({"role": "tool", "tool_call_id": content.call_id, "content": content.result})
                case _:
                    dicts.append({"role": message.role, "content": content.text})
    return dicts, [each.to_json_schema_spec() for each in options.get("tools") or ()]


def of_script(script: Script):
    """Have a script of the contract reply."""

    def answer(messages, options):
        reply = script.reply(*chat(messages, options))
        calls = [(each["id"], each["function"]) for each in reply.get("tool_calls") or ()]
        return [
            *([Content.from_text(reply["content"])] if reply["content"] else []),
            *(call(function["name"], json.loads(function["arguments"]), name) for name, function in calls),
        ]

    return Client(answer)


class Scripted:
    """A model that gives replies in order, and keeps what it was sent."""

    def __init__(self, *replies):
        self.replies, self.sent, self.options = list(replies), [], []
        self.client = Client(self.answer)

    def answer(self, messages, options):
        self.sent.append([*messages])
        self.options.append(options)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return [Content.from_text(reply)] if isinstance(reply, str) else reply

    def texts(self, number):
        """Give all text of the messages of a request."""
        contents = [content for message in self.sent[number] for content in message.contents]
        return "\n".join(str(content.text or content.result) for content in contents)


class Talk:
    """An agent and its session, as a program keeps them."""

    def __init__(self, provider, client, session="s", tools=(read_page,), **more):
        self.provider, self.session = provider, AgentSession(session_id=session)
        more = {"instructions": "Look after the workers."} | more
        self.agent = Agent(client, tools=[tool(each, approval_mode="never_require") for each in tools],
                           context_providers=[provider], **more)  # fmt: skip

    def turn(self, text):
        return asyncio.run(self.agent.run(text, session=self.session)).text

    def whole_list(self):
        return self.session.state["in_memory"]["messages"]

    def end(self):
        self.provider.close()


class TestProvider(LoopContract):
    """An agent under the contract."""

    example = "agent_framework_agent.py"

    def framework(self, store, *, namespace, agent, session, script):
        provider = FirsthandProvider(store, namespace=namespace, agent=agent, budget=BUDGET_TOKENS)
        return Talk(provider, of_script(script), session)


def logged(store, session="s"):
    """Give the messages of a session in the log."""
    with Memory(store, create=False) as memory:
        assert memory.verify().ok
        return memory.session(f"agent-framework:{session}").messages()


def test_contents_that_are_shown_whole_are_those_that_came(tmp_path):
    """Images and thoughts are sent again as the objects that they were, and stand in the log."""
    thought = Content.from_text_reasoning(text="a bird", protected_data="sealed")
    model = Scripted([thought, Content.from_text("A pelican.")], "Yes.")
    with FirsthandProvider(tmp_path / "s") as provider:
        talk = Talk(provider, model.client)
        talk.turn(Message("user", ["What is this?", IMAGE]))
        talk.turn("Sure?")
        assert provider.faults == []
    question, answer, *_ = model.sent[1]
    assert (question.contents[1].uri, answer.contents[0].protected_data) == (IMAGE.uri, "sealed")
    user, reply, *_ = logged(tmp_path / "s")
    assert [piece["type"] for piece in user["content"]] == ["text", "file"]
    assert (reply["content"], reply["reasoning_content"], reply["blocks"][0]["protected_data"]) == (
        "A pelican.", "a bird", "sealed",
    )  # fmt: skip


def test_a_call_that_nobody_answered_gets_a_result(tmp_path):
    """A list with a call of a run that broke off is answered, and the call is told that it has no result."""
    broken = [Message("user", ["Look."]), Message("assistant", [call("look", {}, "c1")]), Message("user", ["And now?"])]
    model = Scripted("Fine.")
    with FirsthandProvider(tmp_path / "s") as provider:
        assert "Fine." in str(Talk(provider, model.client).turn(broken))
        assert provider.faults == []
    _, asked, answered, _ = model.sent[0]
    assert (asked.contents[0].call_id, answered.contents[0].call_id) == ("c1", "c1")
    assert "no result of this call" in answered.contents[0].result


def test_a_list_that_cannot_be_made_anew_goes_out_as_it_came(tmp_path):
    """What fails while a call's messages are written ends no run, and is told once."""
    odd = Message("assistant", [Content("function_call", call_id="c1", name="look", arguments={("no", "JSON"): 1})])
    model = Scripted("Fine.", "Still.")
    with FirsthandProvider(tmp_path / "s") as provider:
        talk = Talk(provider, model.client)
        assert "Fine." in str(talk.turn([Message("user", ["Look."]), odd, Message("user", ["And now?"])]))
        assert "Still." in str(talk.turn("Again."))
        assert len(provider.faults) == 1
    assert model.sent[0][1].contents == odd.contents


def test_a_result_that_the_window_shortens_stays_the_result_of_its_call(tmp_path):
    """What is too long for the window is shown in part, under the id of its call."""

    def long_page() -> str:
        """Read a long page."""
        return "\n".join(map(read_page, range(12)))

    model = Scripted([call("long_page", {}, "own-1")], "Read.")
    with FirsthandProvider(tmp_path / "s", budget=5_000) as provider:
        Talk(provider, model.client, tools=[long_page]).turn("Read the long page.")
        assert provider.faults == []
    _, asked, answered, *_ = model.sent[1]
    (result,) = answered.contents
    assert (asked.contents[0].call_id, answered.role, result.call_id) == ("own-1", "tool", "own-1")
    assert len(result.result) < 15_000
    assert logged(tmp_path / "s")[2]["content"] == long_page()


def test_a_session_goes_on_in_another_process(tmp_path):
    """A session that was kept as JSON goes on in the log where it was; a streamed reply is recorded once."""
    state = None
    for turn in range(2):
        model = Scripted([call("read_page", {"page": 1}, f"c{turn}")], f"Read {turn}.")
        with FirsthandProvider(tmp_path / "s") as provider:
            talk = Talk(provider, model.client)
            talk.session = AgentSession.from_dict(state) if state else talk.session

            async def streamed(talk=talk, turn=turn):
                stream = talk.agent.run(f"Turn {turn}", session=talk.session, stream=True)
                return [update.text async for update in stream if update.text]

            assert asyncio.run(streamed()) == ["Read", f" {turn}."]
            assert provider.faults == []
        state = json.loads(json.dumps(talk.session.to_dict()))
    assert len(talk.whole_list()) == 8
    messages = logged(tmp_path / "s")
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant"] * 2
    assert [message["content"] for message in messages][3::4] == ["Read 0.", "Read 1."]


def test_the_log_is_the_history(tmp_path):
    """A session that nobody kept goes on from the log: with its calls, thoughts and images, each recorded once."""
    thought = Content.from_text_reasoning(text="a bird", protected_data="sealed")
    asked = Message("user", [Content.from_text("What is this?"), IMAGE])
    replies = [[thought, call("read_page", {"page": 1}, "c1")], [thought, Content.from_text("A pelican.")], "Yes."]
    model = Scripted(*replies)
    for text in (asked, "Sure?"):
        with FirsthandProvider(tmp_path / "s") as provider:
            agent = Agent(
                model.client, tools=[tool(read_page, approval_mode="never_require")],
                context_providers=[FirsthandHistory(provider), provider],
            )  # fmt: skip
            asyncio.run(agent.run(text, session=AgentSession(session_id="s")))
            assert provider.faults == []
    before, after = (
        [content.to_dict(exclude={"id"}) for message in sent for content in message.contents] for sent in model.sent[1:]
    )  # fmt: skip
    assert after[: len(before)] == before
    assert [content["type"] for content in after[len(before) :]] == ["text_reasoning", "text", "text"]
    roles = [message["role"] for message in logged(tmp_path / "s")]
    assert roles == ["user", "assistant", "tool", "assistant", "user", "assistant"]


def test_agents_have_a_session_each(tmp_path):
    """An agent that is another's tool, in the same session, has its own in the log, by its name."""
    helper = Scripted("5")
    model = Scripted([call("adder", {"task": "2 and 3"}, "c1")], "It is 5.")
    with FirsthandProvider(tmp_path / "s") as provider:
        adder = Agent(helper.client, name="adder", description="Adds.", context_providers=[provider])
        talk = Talk(provider, model.client, tools=(), name="keeper")
        talk.agent.default_options["tools"] = [adder.as_tool(propagate_session=True)]
        assert talk.turn("Add 2 and 3.") == "It is 5."
        assert provider.faults == []
    assert [message["role"] for message in logged(tmp_path / "s", "s/keeper")] == [
        "user", "assistant", "tool", "assistant",
    ]  # fmt: skip
    assert logged(tmp_path / "s", "s/adder")[-1]["content"] == "5"
    with Memory(tmp_path / "s", create=False) as memory:
        asked = next(memory.events("agent-framework:s/adder"))
        assert (asked.origin, asked.trust, asked.turn) == ("agent:keeper", Trust.UNTRUSTED, 0)


def test_a_run_that_fails_is_recorded(tmp_path):
    """What was asked, called and answered before a model failed is in the log, and the error is the model's own."""
    model = Scripted([call("read_page", {"page": 5}, "c1")], RuntimeError("no paper"))
    with FirsthandProvider(tmp_path / "s") as provider:
        with pytest.raises(RuntimeError, match="no paper"):
            Talk(provider, model.client).turn("Read page 5.")
        assert provider.faults == []
    with Memory(tmp_path / "s", create=False) as memory:
        kinds = [event.kind for event in memory.events("agent-framework:s") if event.kind.startswith("tool_")]
        assert kinds == [Kind.TOOL_CALL, Kind.TOOL_RESULT]


def test_a_tool_of_the_agents_own_keeps_its_name(tmp_path):
    """An agent that has a tool named recall keeps it, and gets the other tools of the memory."""

    def recall(query: str) -> str:
        """Recall a product."""
        return f"recalled {query}"

    model = Scripted([call("recall", {"query": "crate 7"}, "c1")], "Done.")
    with FirsthandProvider(tmp_path / "s") as provider:
        Talk(provider, model.client, tools=[recall]).turn("Recall crate 7.")
        assert provider.faults == []
    assert "recalled crate 7" in model.texts(1)
    assert [each.name for each in model.options[0]["tools"]] == ["recall", "expand", "task", "decide"]


def test_what_would_put_the_history_behind_the_window_is_refused(tmp_path):
    """Where each call loads the history anew no window could be kept, and the run says so."""
    with FirsthandProvider(tmp_path / "s") as provider:
        talk = Talk(provider, Scripted("Done.").client, require_per_service_call_history_persistence=True)
        with pytest.raises(InvalidArgument, match="leave it out, or leave out FirsthandProvider"):
            talk.turn("Hello.")
