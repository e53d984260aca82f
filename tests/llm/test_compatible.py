"""A model behind a server: what is sent, what is asked again, and what the errors say."""

from __future__ import annotations

import json
import socket
import time
from contextlib import suppress

import pytest
from llm_contract import SAY, TOOL, ModelSuite

from firsthand.errors import InvalidArgument, ModelError, ModelRefused, ModelUnavailable
from firsthand.llm import OpenAICompatible
from firsthand.llm.compatible import ATTEMPTS_MAX, PAUSE_SECONDS_MAX, REPLY_BYTES_MAX

KEY = "sk-not-for-anybody-else"
AT_ONCE = {"Retry-After": "0"}


def a_reply(**fields) -> bytes:
    message = {"role": "assistant", "content": "Four."} | fields
    return json.dumps({"choices": [{"message": message, "finish_reason": None}]}).encode()


class TestOpenAICompatible(ModelSuite):
    @pytest.fixture
    def model(self, chat_server):
        with OpenAICompatible(chat_server.url, "tiny", KEY) as asked:
            yield asked

    def test_the_request_is_what_the_format_says(self, model, chat_server):
        """Everything given stands in one body, sent to the one address, the key in the one header."""
        model.complete(SAY, tools=[TOOL], max_tokens=5, temperature=0.5, stop=["end"])
        ((headers, body),) = chat_server.seen
        assert headers["Authorization"] == f"Bearer {KEY}"
        assert body == {
            "path": "/v1/chat/completions", "model": "tiny", "messages": SAY, "tools": [TOOL], "max_tokens": 5,
            "temperature": 0.5, "stop": ["end"], "stream": False,
        }  # fmt: skip

    def test_fields_are_added_replaced_and_left_out(self, chat_server):
        """The caller's fields go over ours; None leaves one out; without a key there is no header for it."""
        fields = {"max_tokens": None, "max_completion_tokens": 5, "temperature": 1}
        chat_server.plan = [(200, {}, a_reply())]
        with OpenAICompatible(chat_server.url + "/chat/completions/", "tiny", fields=fields) as model:
            model.complete(SAY)
        ((headers, body),) = chat_server.seen
        assert "Authorization" not in headers
        assert body == {"path": "/v1/chat/completions", "model": "tiny", "messages": SAY, "stream": False,
                        "max_completion_tokens": 5, "temperature": 1}  # fmt: skip

    def test_a_reply_says_what_it_does_not_know(self, model, chat_server):
        """Counts and the reason to finish are optional; content may come in parts, arguments as an object."""
        calls = [{"id": "c1", "function": {"name": "look_up", "arguments": {"words": "port"}}}]
        parts = [{"type": "text", "text": "Fo"}, {"type": "text", "text": "ur."}]
        chat_server.plan = [(200, {}, a_reply(content=parts, tool_calls=calls))]
        reply = model.complete(SAY)
        assert (reply.text, reply.prompt_tokens, reply.completion_tokens, reply.finish) == ("Four.", None, None, "stop")
        assert reply.message["content"] == parts
        assert [(call.name, call.arguments) for call in reply.tool_calls] == [("look_up", '{"words": "port"}')]

    @pytest.mark.parametrize("status", [429, 500, 503])
    def test_a_busy_server_is_asked_again(self, model, chat_server, status):
        """What is busy or broken is asked again after the pause that it asks for, and the reply is taken."""
        chat_server.plan = [(status, AT_ONCE, b"busy")] * (ATTEMPTS_MAX - 1)
        assert model.complete(SAY).text
        assert len(chat_server.seen) == ATTEMPTS_MAX

    def test_a_server_that_stays_busy_is_given_up(self, model, chat_server):
        """After the last attempt the error says the status, the attempts, what came, and what to do."""
        chat_server.plan = [(429, AT_ONCE, b'{"error": "too many"}')] * ATTEMPTS_MAX
        with pytest.raises(ModelUnavailable) as told:
            model.complete(SAY)
        assert str(told.value) == (
            f'{model.url} answered 429 after {ATTEMPTS_MAX} attempts: {{"error": "too many"}}; '
            "ask less often, or raise the limit there"
        )
        assert len(chat_server.seen) == ATTEMPTS_MAX

    def test_a_long_pause_is_not_waited_for(self, model, chat_server):
        """A server that asks for more than the greatest pause is given up at once, and the error says what it asks."""
        chat_server.plan = [(503, {"Retry-After": str(int(PAUSE_SECONDS_MAX) + 1)}, b"later")]
        with pytest.raises(ModelUnavailable, match="asks to wait 31 seconds"):
            model.complete(SAY)
        assert len(chat_server.seen) == 1

    @pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
    def test_a_refusal_is_final(self, model, chat_server, status):
        """What was refused is not asked again; the error has the status and an excerpt without control signs."""
        chat_server.plan = [(status, {}, b"no:\x1b[31m " + b"x" * 5_000)]
        with pytest.raises(ModelRefused) as told:
            model.complete(SAY)
        assert f"answered {status}: no: [31m xxx" in str(told.value)
        assert len(str(told.value)) < 600
        assert len(chat_server.seen) == 1

    def test_no_error_shows_the_key(self, model, chat_server):
        """A server that repeats the key does not bring it into an error, nor does the model's own name for itself."""
        said = f"the key {KEY} is wrong".encode()
        for planned, kind in [((401, {}, said), ModelRefused), ((200, {}, said), ModelError)]:
            chat_server.plan = [planned]
            with pytest.raises(kind) as told:
                model.complete(SAY)
            assert "the key (key) is wrong" in str(told.value)
            assert KEY not in str(told.value)
        assert KEY not in repr(model)

    def test_a_redirect_is_not_followed(self, model, chat_server):
        """The key and the messages go to the address given, and to no other one."""
        chat_server.plan = [(307, {"Location": chat_server.url + "/elsewhere"}, b"")]
        with pytest.raises(ModelRefused, match=r"answered 307: \(nothing\)"):
            model.complete(SAY)
        assert len(chat_server.seen) == 1

    def test_proxies_of_the_environment_are_not_used(self, chat_server, monkeypatch):
        """A proxy that an environment variable names does not see the request."""
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, "http://127.0.0.1:9")
        with OpenAICompatible(chat_server.url, "tiny") as model:
            assert model.complete(SAY).text

    @pytest.mark.parametrize(
        "came",
        [
            b"", b"<html>", b"[]", b"{}", b'{"choices": []}', b'{"choices": [{"message": null}]}', a_reply(content=7),
            a_reply(content=["x"]), a_reply(tool_calls=[{"function": {"name": "x"}}]), a_reply(tool_calls=7),
            b'{"usage": 7, ' + a_reply()[1:], b"\xff\xfe", b"[" * 200_000,
        ],
    )  # fmt: skip
    def test_what_is_no_reply_is_an_error(self, model, chat_server, came):
        """A good status with something that is no chat completion is an error that shows what came."""
        chat_server.plan = [(200, {}, came)]
        with pytest.raises(ModelError, match="no chat completion"):
            model.complete(SAY)

    def test_a_reply_has_a_greatest_size(self, model, chat_server):
        """A server that sends without end is cut off."""
        chat_server.plan = [(200, {}, b" " * (REPLY_BYTES_MAX + 1))]
        with pytest.raises(ModelError, match="that is no reply"):
            model.complete(SAY)

    def test_nobody_there_is_said(self):
        """An address where nobody listens is tried again, then named."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
            with (
                OpenAICompatible(url, "tiny") as model,
                pytest.raises(ModelUnavailable, match=f"could not be reached {ATTEMPTS_MAX} times.*is it running"),
            ):
                model.complete(SAY)

    def test_a_server_that_breaks_off_is_not_asked_again(self, model, chat_server):
        """The work may have been done and charged for: one attempt, and the error says so."""
        chat_server.plan = [lambda handler: handler.connection.shutdown(socket.SHUT_RDWR)]
        with pytest.raises(ModelUnavailable, match="was not sent again"):
            model.complete(SAY)
        assert len(chat_server.seen) == 1

    def test_a_silent_server_ends_in_time(self, chat_server):
        """A server that says nothing for longer than the timeout is left."""
        chat_server.plan = [lambda handler: handler.connection.recv(1)]
        with (
            OpenAICompatible(chat_server.url, "tiny", timeout_seconds=0.05) as model,
            pytest.raises(ModelUnavailable, match=r"fell silent.*ReadTimeout"),
        ):
            model.complete(SAY)

    def test_a_server_whose_reply_never_ends_is_left(self, chat_server):
        """Bytes that come without end are no reply: it is left after the time for a whole one, and not asked again."""

        def drip(handler):
            handler.send_response(200)
            handler.end_headers()
            with suppress(OSError):  # the client has gone: that is what is waited for
                while True:
                    handler.wfile.write(b" ")
                    handler.wfile.flush()
                    time.sleep(0.01)

        chat_server.plan = [drip]
        with (
            OpenAICompatible(chat_server.url, "tiny", seconds_max=0.2) as model,
            pytest.raises(ModelUnavailable, match=r"had not said all of its reply after 0\.2 seconds"),
        ):
            model.complete(SAY)
        assert len(chat_server.seen) == 1

    @pytest.mark.parametrize(
        ("url", "key"), [("localhost:8080", None), ("http://x", ""), ("http://x", "a\nb"), ("http://x", "ä")]
    )
    def test_what_is_no_address_or_key_is_refused(self, url, key):
        """An address without its scheme and a key that no header can hold are refused; the key is not shown."""
        with pytest.raises(InvalidArgument) as told:
            OpenAICompatible(url, "tiny", key)
        assert key is None or not key or key not in str(told.value)
