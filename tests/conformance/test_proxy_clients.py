"""The official clients of OpenAI and Anthropic before the proxy: each parses a spliced answer as one."""

import json
from itertools import pairwise

import pytest

pytest.importorskip("openai")
pytest.importorskip("anthropic")

import anthropic
import openai
from model_stub import PATHS, Said, running
from proxy_client import LISTS, TOOLS

from firsthand import Memory
from firsthand.formats.check import faults
from firsthand.proxy.budgets import Budgets

FORMATS = sorted(PATHS)
STEPS, TOKENS = 300, 16_000
each = pytest.mark.parametrize("format_", FORMATS)
both = pytest.mark.parametrize("stream", [True, False])


class Official:
    """One conversation by an official client, which keeps the list of what that client gave it."""

    def __init__(self, run, format_, *, stream, session="official"):
        self.format, self.stream, self.list = format_, stream, []
        headers = {"X-Firsthand-Session": session} if session else {}
        if format_ == "anthropic":
            self.client = anthropic.Anthropic(base_url=run.url, api_key="k", default_headers=headers, max_retries=0)
        else:
            self.client = openai.OpenAI(base_url=f"{run.url}/v1", api_key="k", default_headers=headers, max_retries=0)

    def say(self, *messages):
        self.list += messages
        return {"anthropic": self._anthropic, "openai-chat": self._chat, "openai-responses": self._responses}[
            self.format
        ]()

    def result(self, identifier, text):
        if self.format == "anthropic":
            block = {"type": "tool_result", "tool_use_id": identifier, "content": text}
            return self.say({"role": "user", "content": [block]})
        if self.format == "openai-chat":
            return self.say({"role": "tool", "tool_call_id": identifier, "content": text})
        return self.say({"type": "function_call_output", "call_id": identifier, "output": text})

    def _anthropic(self):
        given = {
            "model": "stub-1",
            "max_tokens": 99,
            "messages": self.list,
            "tools": TOOLS["anthropic"],
            "system": "Be short.",
        }
        if self.stream:
            with self.client.messages.stream(**given) as stream:
                streamed = "".join(stream.text_stream)
                message = stream.get_final_message()
        else:
            message = self.client.messages.create(**given)
            streamed = "".join(block.text for block in message.content if block.type == "text")
        self.list.append({"role": "assistant", "content": message.content})
        text = "".join(block.text for block in message.content if block.type == "text")
        assert streamed == text
        calls = [(block.id, block.name, block.input) for block in message.content if block.type == "tool_use"]
        return text, calls, message.stop_reason, message.usage.output_tokens

    def _chat(self):
        given = {
            "model": "stub-1",
            "messages": [{"role": "system", "content": "Be short."}, *self.list],
            "tools": TOOLS["openai-chat"],
        }
        if self.stream:
            with self.client.chat.completions.stream(**given, stream_options={"include_usage": True}) as stream:
                completion = stream.get_final_completion()
        else:
            completion = self.client.chat.completions.create(**given)
        message = completion.choices[0].message
        self.list.append(message.model_dump(exclude={"parsed"}))
        for call in self.list[-1].get("tool_calls") or ():
            call["function"].pop("parsed_arguments", None)
            call.pop("index", None)
        calls = [
            (call.id, call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or ()
        ]
        return message.content or "", calls, completion.choices[0].finish_reason, completion.usage.completion_tokens

    def _responses(self):
        given = {"model": "stub-1", "input": self.list, "tools": TOOLS["openai-responses"], "instructions": "Be short."}
        if self.stream:
            with self.client.responses.stream(**given) as stream:
                streamed = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
                response = stream.get_final_response()
            assert streamed == response.output_text
        else:
            response = self.client.responses.create(**given)
        self.list += [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in response.output]
        calls = [(item.call_id, item.name, json.loads(item.arguments)) for item in response.output
                 if item.type == "function_call"]  # fmt: skip
        return response.output_text, calls, response.status, response.usage.output_tokens


def user(text):
    return {"role": "user", "content": text}


@both
@each
def test_a_spliced_answer_is_one_to_the_client(format_, stream, tmp_path):
    """The client's own parser makes one answer of a recall and what follows it, with usage summed, and goes on."""
    with running(tmp_path / "store") as run:
        client = Official(run, format_, stream=stream)
        client.say(user("The code is 4711-K."))
        run.stub.script += [
            Said("Let me look.", (("r1", "recall", {"query": "code"}),)),
            Said("Both now.", (("r2", "expand", {"pointer": "fh:nothing"}), ("t1", "ls", {"path": "/"}))),
            Said("It is 4711-K."),
        ]
        text, calls, end, output = client.say(user("Which code?"))
        assert text.replace("\n", "") == "Let me look.Both now."
        assert calls == [("t1", "ls", {"path": "/"})]
        assert end in {"tool_calls", "tool_use", "completed"}
        assert output == 10
        assert client.result("t1", "a.txt")[0] == "It is 4711-K."
        assert client.say(user("Thanks."))[0] == "ok"
        assert all(faults(body, format_) == () for body in run.stub.bodies)
        assert not run.log
    with Memory(tmp_path / "store") as memory:
        assert [session.name for session in memory.sessions()] == ["official"]
        assert memory.verify().ok


@both
@each
def test_errors_are_the_clients_own(format_, stream, tmp_path):
    """An error of the upstream becomes the error that the client has for it, also behind a recall."""
    errors = anthropic if format_ == "anthropic" else openai
    with running(tmp_path / "store") as run:
        run.stub.script.append(Said(status=429))
        with pytest.raises(errors.RateLimitError, match="slow down"):
            Official(run, format_, stream=stream).say(user("One."))
        run.stub.script += [Said("", (("r1", "recall", {"query": "x"}),)), Said(status=429)]
        with pytest.raises(errors.APIError, match="slow down"):
            Official(run, format_, stream=stream).say(user("One."))


@both
@each
def test_a_message_that_is_said_otherwise_after_an_error(format_, stream, tmp_path):
    """A client that got an error and says something else goes on in its session, without a header that names it."""
    errors = anthropic if format_ == "anthropic" else openai
    with running(tmp_path / "store") as run:
        client = Official(run, format_, stream=stream, session="")
        client.say(user("Hello."))
        run.stub.script.append(Said(status=429))
        with pytest.raises(errors.RateLimitError):
            client.say(user("First."))
        client.list.pop()
        assert client.say(user("Second."))[0] == "ok"
    with Memory(tmp_path / "store") as memory:
        [session] = memory.sessions()
        assert [event.text for event in memory.events(session.name, kind="user_message")] == [
            "Hello.", "First.", "Second.",
        ]  # fmt: skip


@both
@each
def test_three_hundred_steps(format_, stream, tmp_path):
    """Over 300 steps under 16,000 tokens each request is valid, within its budget and begins as the one before."""
    with running(tmp_path / "store", budgets=Budgets([str(TOKENS)])) as run:
        client = Official(run, format_, stream=stream)
        for step in range(STEPS // 2):
            if step % 10 == 5:
                run.stub.script.append(Said("", ((f"r{step}", "recall", {"query": f"secret{step - 5}"}),)))
            run.stub.script += [Said(f"Look at {step}.", ((f"c{step}", "ls", {"path": f"/{step}"}),)), Said("Seen.")]
            assert client.say(user(f"Step {step}: the value secret{step} is {step * 7919}."))[1]
            assert client.result(f"c{step}", f"line of the result of {step} " * 60)[0] == "Seen."
        assert not run.log
        assert [fault for body in run.stub.bodies for fault in faults(body, format_)] == []
        lists = [body[LISTS[format_]] for body in run.stub.bodies]
        grown = [new[: len(old)] == old for old, new in pairwise(lists)]
        recalled = [body for body in run.stub.bodies if "answer of recall" in json.dumps(body[LISTS[format_]][-2:])]
        assert len(recalled) >= 14
    with Memory(tmp_path / "store") as memory:
        texts = [event.text for event in memory.events("official")]
        assert all(any(f"secret{step} is {step * 7919}" in text for text in texts) for step in range(STEPS // 2))
        assert sum("line of the result of" in text for text in texts) >= STEPS // 2
        assert max(call.tokens for call in memory.anatomies("official")) <= TOKENS
        compactions = len([*memory.events("official", kind="receipt")])
        assert compactions > 3
        assert grown.count(False) <= compactions
        assert memory.verify().ok
