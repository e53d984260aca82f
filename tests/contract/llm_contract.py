"""What every model must hold to, as a suite that a model's test inherits."""

from __future__ import annotations

import json

import pytest

from firsthand.errors import InvalidArgument
from firsthand.llm import Model, Reply, ToolCall

SAY = [{"role": "system", "content": "You answer in few words."}, {"role": "user", "content": "What is 2 + 2?"}]
ASK = [{"role": "user", "content": "Look up the port of the backup server."}]
TOOL = {
    "type": "function",
    "function": {
        "name": "look_up",
        "description": "Look something up.",
        "parameters": {"type": "object", "properties": {"words": {"type": "string"}}, "required": ["words"]},
    },
}


class ModelSuite:
    """Inherit it, name the class ``Test...`` and give the fixture `model`: one that calls a tool when it has one."""

    @pytest.fixture
    def model(self) -> Model:
        raise TypeError("a subclass gives its model")

    def test_it_answers_in_words(self, model):
        """Without tools the reply is words; its message is an assistant's, and says the same."""
        reply = model.complete(SAY, max_tokens=12)
        assert isinstance(reply, Reply)
        assert reply.text
        assert (reply.message["role"], reply.message["content"]) == ("assistant", reply.text)
        assert reply.tool_calls == ()
        assert reply.finish in {"stop", "length"}
        assert reply.seconds >= 0

    def test_the_same_request_gets_the_same_words(self, model):
        """At temperature 0 a request that is asked twice gets the same text and calls."""
        first, second = (model.complete(SAY, max_tokens=12) for _ in range(2))
        assert (first.text, first.tool_calls) == (second.text, second.tool_calls)

    def test_it_counts_tokens(self, model):
        """Both counts are there; the reply has at most as many as were allowed, and says when it was cut."""
        reply = model.complete(SAY, max_tokens=2)
        assert reply.prompt_tokens > 0
        assert 0 < reply.completion_tokens <= 2
        assert reply.finish == "length"

    def test_a_stop_ends_the_reply(self, model):
        """A text that the reply would hold ends it when it is a stop, and is no part of it."""
        whole = model.complete(SAY, max_tokens=12).text
        stop = whole[len(whole) // 2]
        cut = model.complete(SAY, max_tokens=12, stop=[stop]).text
        assert whole.startswith(cut)
        assert stop not in cut

    def test_a_call_is_of_the_tool_and_its_result_can_be_sent_back(self, model):
        """A call names the tool, has an id and JSON arguments of its schema, and the messages go on with it."""
        reply = model.complete(ASK, tools=[TOOL], max_tokens=64)
        (call,) = reply.tool_calls
        assert (type(call), call.name) == (ToolCall, "look_up")
        assert call.id
        assert isinstance(json.loads(call.arguments)["words"], str)
        assert reply.finish == "tool_calls"
        (made,) = reply.message["tool_calls"]
        assert made["id"] == call.id
        assert made["type"] == "function"
        assert made["function"] == {"name": call.name, "arguments": call.arguments}
        result = {"role": "tool", "tool_call_id": call.id, "content": "The backup server listens on port 48211."}
        answer = model.complete([*ASK, reply.message, result], tools=[TOOL], max_tokens=24)
        assert "48211" in answer.text
        assert answer.tool_calls == ()

    def test_what_is_no_request_is_refused(self, model):
        """No message, one without a role, a tool without a name, and numbers out of range are named in the error."""
        for named, messages, options in [
            ("at least one message", [], {}),
            ("a list of objects", "hello", {}),
            ("a list of objects", ["hello"], {}),
            ("names its role", [{"content": "hello"}], {}),
            ("JSON values only", [{"role": "user", "content": b"hello"}], {}),
            ("JSON values only", [{"role": "user", "content": float("nan")}], {}),
            ("a tool is", SAY, {"tools": [{"name": "look_up"}]}),
            ("max_tokens", SAY, {"max_tokens": 0}),
            ("max_tokens", SAY, {"max_tokens": True}),
            ("temperature", SAY, {"temperature": -0.1}),
            ("temperature", SAY, {"temperature": "0"}),
            ("stop", SAY, {"stop": "end"}),
            ("stop", SAY, {"stop": [""]}),
            ("stop", SAY, {"stop": list("abcde")}),
        ]:
            with pytest.raises(InvalidArgument, match=named):
                model.complete(messages, **options)
