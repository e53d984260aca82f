"""What a client gets through the proxy: answers as they come, calls of our tools withheld, failures passed on."""

import gzip
import json
import socket
import threading
from contextlib import ExitStack

import httpx
import pytest
from model_stub import PATHS, Said, cut_short, running, whole
from proxy_client import LISTS, Client

from firsthand import Memory
from firsthand.formats.check import faults
from firsthand.proxy import app

FORMATS = sorted(PATHS)
both = pytest.mark.parametrize("stream", [True, False])
each = pytest.mark.parametrize("format_", FORMATS)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("proxy")
    with running(folder / "store") as servers:
        yield servers
    with Memory(folder / "store") as memory:
        assert memory.verify().ok


@pytest.fixture(autouse=True)
def fresh(request):
    if "run" in request.fixturenames:
        stub = request.getfixturevalue("run").stub
        stub.script.clear()
        stub.requests.clear()


def messages_of(run, format_, number=-1):
    return run.stub.bodies[number][LISTS[format_]]


@each
def test_events_pass_as_they_come(run, format_):
    """Each event of the upstream reaches the client, byte for byte, before the upstream sends the next one."""
    run.stub.step = threading.Event()
    run.stub.script.append(Said("one two three"))
    body = {
        **Client(run, format_).body(),
        "stream": True,
        LISTS[format_]: [{"role": "user", "content": f"step {format_}"}],
    }
    came = b""
    try:
        with run.client.stream("POST", PATHS[format_], json=body) as response:
            for piece in response.iter_raw():
                came += piece
                run.stub.step.set()
                assert b"three" not in came or b"two" in came
        events = [event for event in came.split(b"\n\n") if event]
        assert len(events) > 4
        assert sum(b"three" in event for event in events) >= 1
    finally:
        run.stub.step.set()
        run.stub.step = None
    run.stub.script.append(Said("one two three"))
    direct = httpx.post(f"{run.upstream}{PATHS[format_]}", json=body).content
    number = str(len(run.stub.requests)).encode()
    assert came == direct.replace(b"_" + number, b"_1").replace(b"-" + number + b'"', b'-1"')


@both
@each
def test_a_recall_is_answered_and_withheld(run, format_, stream):
    """A recall is answered and withheld: the client sees one answer, joined and summed; the next request has it all."""
    client = Client(run, format_, stream=stream)
    client.say(f"The code of the {format_} {stream} door is 4711-K.")
    run.stub.script += [Said("Let me look.", (("r1", "recall", {"query": "code of the door"}),)), Said("It is 4711-K.")]
    answer = client.say("Which code has the door?")
    about = {"id": answer["id"], "end": answer["end"]}
    assert answer == {**about, "text": "Let me look.\n\nIt is 4711-K.", "calls": [], "usage": (20, 10)}
    assert answer["end"] in {"stop", "end_turn", "completed"}
    first, second = messages_of(run, format_, -2), messages_of(run, format_, -1)
    assert second[: len(first)] == first
    assert "answer of recall" in json.dumps(second[len(first) :])
    assert "fh:" in json.dumps(second[len(first) :])
    assert "recall" not in json.dumps(client.list)
    client.say("Thanks.")
    after = messages_of(run, format_)
    assert after[: len(second)] == second
    assert len(after) == len(second) + 2


@both
@each
def test_calls_of_both_in_one_answer(run, format_, stream):
    """The client gets its own calls alone; ours are answered, and stand beside its results in its next request."""
    client = Client(run, format_, stream=stream)
    calls = (("b1", "recall", {"query": "x"}), ("b2", "ls", {"at": "here"}), ("b3", "ls", {"at": "there"}))
    run.stub.script += [Said("Both.", calls), Said("Done.")]
    answer = client.say(f"Do both, {format_} {stream}.")
    assert answer["calls"] == [("b2", "ls", {"at": "here"}), ("b3", "ls", {"at": "there"})]
    assert answer["end"] in {"tool_calls", "tool_use", "completed"}
    assert client.result(("b2", "a.txt"), ("b3", "b.txt"))["text"] == "Done."
    sent = json.dumps(messages_of(run, format_))
    assert [sent.count(f'"{name}"') for name in ("b1", "b2", "b3")] == [2, 2, 2]
    assert "answer of recall" in sent
    assert "a.txt" in sent
    if format_ == "anthropic":
        *_, asked, results = messages_of(run, format_)
        assert {block["tool_use_id"] for block in results["content"]} == {"b1", "b2", "b3"}
        assert {block.get("id") for block in asked["content"]} == {None, "b1", "b2", "b3"}
    client.say("Next.")
    assert "answer of recall" in json.dumps(messages_of(run, format_))


@each
def test_ids_that_begin_anew_in_each_answer(format_, tmp_path):
    """A call of the client's with the id of one of ours before it has its own result, also after a restart."""
    with running(tmp_path / "store") as own:
        client = Client(own, format_)
        for number in range(2):
            own.stub.script += [Said("", (("call_0", "recall", {"query": "x"}),)), Said("", (("call_0", "ls", {}),))]
            client.say(f"Look at disk {number}.")
            client.result(("call_0", f"result {number}"))
            sent = json.dumps(own.stub.bodies[-1])
            assert (sent.count("answer of recall"), "[no result of" in sent) == (number + 1, False)
            assert all(f"result {count}" in sent for count in range(number + 1))
        with running(tmp_path / "store") as client.run:
            client.say("Go on.")
            assert json.dumps(client.run.stub.bodies[-1]).count("answer of recall") == 2
    with Memory(tmp_path / "store") as memory:
        assert [session.turns for session in memory.sessions()] == [3]


@each
def test_calls_of_the_client_are_untouched(run, format_):
    """Calls of the client's own tools reach it with their ids and arguments, and no call of the upstream is added."""
    client = Client(run, format_)
    run.stub.script.append(Said("", (("t1", "ls", {"path": "/"}), ("t2", "recaller", {}))))
    answer = client.say(f"List, {format_}.")
    assert answer["calls"] == [("t1", "ls", {"path": "/"}), ("t2", "recaller", {})]
    assert len(run.stub.requests) == 1


@both
@each
def test_recalls_side_by_side(run, format_, stream):
    """Several calls of our tools in one answer are all answered, a wrong one too, before the upstream goes on."""
    client = Client(run, format_, stream=stream)
    calls = (
        ("p1", "recall", {"query": "x"}),
        ("p2", "recall", {"nonsense": 1}),
        ("p3", "expand", {"pointer": "fh:no"}),
    )
    run.stub.script += [Said("", calls), Said("Seen.")]
    assert client.say(f"Side by side, {format_} {stream}.")["text"] == "Seen."
    assert [json.dumps(messages_of(run, format_)).count(f'"{name}"') for name, _, _ in calls] == [2, 2, 2]
    assert faults(run.stub.bodies[-1], format_) == ()
    assert len(run.stub.requests) == 2


EXTRAS = {
    "openai-chat": (
        {"response_format": {"type": "json_object"}, "seed": 3, "stream_options": {"include_obfuscation": False}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
    ),
    "anthropic": (
        {"thinking": {"type": "enabled", "budget_tokens": 1024}, "metadata": {"user_id": "u"}, "stop_sequences": ["x"]},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
    ),
    "openai-responses": (
        {"text": {"format": {"type": "json_object"}}, "store": False, "include": ["reasoning.encrypted_content"]},
        {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="},
    ),
}


@both
@each
def test_all_else_of_a_request_stays(run, format_, stream):
    """Images, formats of the answer and members that the proxy does not know reach the upstream as they came."""
    members, image = EXTRAS[format_]
    kind = "input_text" if format_ == "openai-responses" else "text"
    message = {"role": "user", "content": [{"type": kind, "text": f"Look {stream}."}, image]}
    body = {**Client(run, format_).body(), "tools": [], **members, "stream": stream, LISTS[format_]: [message]}
    assert run.post(format_, body).headers["x-firsthand"].startswith("window; ")
    sent = run.stub.bodies[-1]
    assert {**sent, "tools": []} == body


def test_what_no_window_can_be_kept_for_passes(run):
    """Requests that stand on what the upstream keeps, or ask for several answers, pass byte for byte."""
    for format_, member, why in (
        ("openai-responses", {"conversation": "c"}, "(conversation)"), ("openai-chat", {"n": 2}, "(n)"),
        ("openai-responses", {"background": True}, "(background)"), ("openai-chat", {"functions": [{}]}, "functions"),
        ("openai-responses", {"prompt": {"id": "p"}}, "(prompt)"),
        ("openai-responses", {"previous_response_id": "other"}, "(previous_response_id)"),
    ):  # fmt: skip
        body = {**Client(run, format_).body(), LISTS[format_]: [{"role": "user", "content": "x"}], **member}
        header = run.post(format_, body).headers["x-firsthand"]
        assert header.startswith("passed through; ")
        assert why in header
        assert run.stub.requests[-1]["data"] == run.client.build_request("POST", "/", json=body).content


@each
def test_a_model_that_only_recalls_comes_to_an_end(run, format_):
    """After sixteen calls the last request forbids tools, so that an answer always ends."""
    client = Client(run, format_)
    run.stub.script += [Said("", ((f"l{number}", "recall", {"query": "x"}),)) for number in range(15)]
    answer = client.say(f"Loop, {format_}.")
    assert (answer["text"], answer["usage"]) == ("ok", (160, 80))
    assert len(run.stub.requests) == 16
    assert run.stub.bodies[-1]["tool_choice"] in ("none", {"type": "none"})


@pytest.mark.parametrize("status", [429, 500])
@both
@each
def test_errors_of_the_upstream_pass(run, format_, stream, status):
    """An error of the upstream is the client's, with its status, its headers and its bytes."""
    run.stub.script.append(Said(status=status))
    response = run.post(
        format_, {**Client(run, format_).body(), "stream": stream, LISTS[format_]: [{"role": "user", "content": "e"}]}
    )
    assert response.status_code == status
    assert response.headers["retry-after"] == "1"
    assert response.json()["error"]["message"] == "slow down"


@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize("text", ["", "Wait."])
@each
def test_an_error_in_a_continued_call(format_, text, restarts, tmp_path):
    """An error behind a recall is an event of the stream that has begun; asked again, the session goes on with both."""
    with ExitStack() as servers:
        own = servers.enter_context(running(tmp_path / "store"))
        client = Client(own, format_)
        client.say("Hello.")
        client.list.append({"role": "user", "content": "Go."})
        for number in range(2):
            recall = Said(text, ((f"e{number}", "recall", {"query": "x"}),))
            own.stub.script += [recall, Said(status=429)]
            last = own.events(format_, client.body())[-1]
            assert "slow down" in json.dumps(last)
            assert last.get("type", "error") == "error"
            if restarts:
                client.run = own = servers.enter_context(running(tmp_path / "store"))
        own.stub.script += [Said("Done.")]
        assert client.go()["text"] == "Done."
        client.say("More.")
        assert json.dumps(own.stub.bodies[-1]).count("answer of recall") == 2
    with Memory(tmp_path / "store") as memory:
        texts = [[event.text for event in memory.events(session.name)] for session in memory.sessions()]
        assert [[said.count(text) for text in ("Hello.", "Go.", "Done.", "More.")] for said in texts] == [[1] * 4]


@each
def test_a_stream_that_breaks(run, format_, tmp_path):
    """A stream that the upstream breaks off breaks for the client, too, and what came is recorded as cut short."""
    with running(tmp_path / "store") as own:
        own.stub.script.append(Said("half of it", how="cut"))
        body = {**Client(own, format_).body(), "stream": True, LISTS[format_]: [{"role": "user", "content": "cut"}]}
        with pytest.raises(httpx.RemoteProtocolError):
            own.post(format_, body)
        assert cut_short(tmp_path / "store") == [("half of it", "the upstream broke off (RemoteProtocolError)")]


@each
def test_a_client_that_goes_away(format_, tmp_path):
    """A client that hangs up ends the upstream's call, and what came until then is recorded as cut short."""
    with running(tmp_path / "store") as own:
        own.stub.script.append(Said("half of it", how="hang"))
        body = {**Client(own, format_).body(), "stream": True, LISTS[format_]: [{"role": "user", "content": "bye"}]}
        with own.client.stream("POST", PATHS[format_], json=body) as response:
            for piece in response.iter_text():
                if "it" in piece:
                    break
        assert own.stub.gone.wait(5)
        assert cut_short(tmp_path / "store") == [("half of it", "the client went away")]
        assert own.post(format_, {**body, "stream": False}).status_code == 200
    with Memory(tmp_path / "store") as memory:
        assert len([*memory.sessions()]) == 1, "the same list again is the same conversation"
        assert memory.verify().ok


FAILING = {
    "openai-chat": (
        {"id": "f", "choices": [{"index": 0, "delta": {"content": "half"}}]}, {"error": {"message": "overloaded"}},
    ),
    "anthropic": (
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "half"}},
        {"type": "error", "error": {"type": "overloaded_error", "message": "overloaded"}},
    ),
    "openai-responses": (
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "role": "assistant"}},
        {"type": "response.output_text.delta", "output_index": 0, "delta": "half"},
        {"type": "response.failed", "response": {"id": "f", "status": "failed", "output": []}},
    ),
}  # fmt: skip


@each
def test_an_error_in_the_middle_of_a_stream(format_, tmp_path):
    """An error event passes byte for byte; what came before it is no answer, and the session goes on."""
    raw = b"".join(b"data: " + json.dumps(fields).encode() + b"\n\n" for fields in FAILING[format_])
    with running(tmp_path / "store") as own:
        client = Client(own, format_)
        client.say("One.")
        own.stub.script.append(Said(raw=raw + b"data: [DONE]\n\n" * (format_ == "openai-chat")))
        body = {**client.body(), "stream": True}
        body[LISTS[format_]] = [*body[LISTS[format_]], {"role": "user", "content": "Two."}]
        assert own.post(format_, body).content.startswith(raw)
        client.say("Three.")
    assert cut_short(tmp_path / "store") == [("half", "the upstream said that it failed")]
    with Memory(tmp_path / "store") as memory:
        assert [session.turns for session in memory.sessions()] == [3]


@each
def test_an_error_that_comes_as_an_answer(run, format_):
    """An error with the status of an answer reaches the client as it is, behind a recall too, and is no answer."""
    odd = json.dumps({"error": {"message": "odd"}}).encode()
    for before in ((), (Said("", (("o1", "recall", {"query": "x"}),)),)):
        run.stub.script += [*before, Said(raw=odd, encoding="identity")]
        body = {**Client(run, format_).body(), LISTS[format_]: [{"role": "user", "content": f"odd {before}"}]}
        assert run.post(format_, body).content == odd


def test_a_body_that_is_compressed(run):
    """A compressed body passes as it came, and the header says why."""
    data, headers = gzip.compress(b'{"messages": []}'), {"content-encoding": "gzip"}
    response = run.client.post(PATHS["openai-chat"], content=data, headers=headers)
    assert response.headers["x-firsthand"] == "passed through; its body is compressed"
    assert run.stub.requests[-1]["data"] == data


def test_half_of_a_pair_stays_an_escape(run):
    """A text that was cut inside an emoji is sent on as the escape that it came as, which is UTF-8."""
    data = json.dumps({"model": "m", "messages": [{"role": "user", "content": "cut \ud83d"}]}).encode()
    response = run.client.post(PATHS["openai-chat"], content=data, headers={"content-type": "application/json"})
    assert response.headers["x-firsthand"].startswith("window; ")
    assert "cut \\ud83d" in run.stub.requests[-1]["data"].decode()


def test_encodings_that_nobody_asked_for(run):
    """What the upstream encodes although nobody asked is decoded, or passes as it is where it cannot be."""
    answer = json.dumps(whole("openai-chat", Said("coded"), 1)).encode()
    for encoding, raw, header in (("gzip", gzip.compress(answer), "window; "), ("br", b"\x0b", "not recorded; ")):
        run.stub.script.append(Said(raw=raw, encoding=encoding))
        body = {"model": "m", "messages": [{"role": "user", "content": encoding}]}
        with run.client.stream("POST", PATHS["openai-chat"], json=body) as response:
            assert b"".join(response.iter_raw()) == (answer if encoding == "gzip" else raw)
        assert response.headers.get("content-encoding", "") == ("" if encoding == "gzip" else encoding)
        assert response.headers["x-firsthand"].startswith(header)


def test_a_body_without_a_length_that_is_too_large(run, monkeypatch):
    """A body that grows beyond what is looked at passes as it came."""
    monkeypatch.setattr(app, "BODY_BYTES_MAX", 100)
    pieces = [b'{"messages": [', b" " * 99, b"]}"]
    response = run.client.post(PATHS["openai-chat"], content=iter(pieces))
    assert response.headers["x-firsthand"] == f"passed through; {app.TOO_LARGE}"
    assert run.stub.requests[-1]["data"] == b"".join(pieces)


def test_other_paths_pass(run):
    """Paths that no window is kept for pass with their method, query, body and headers."""
    client = run.client
    assert client.get("/v1/models?limit=3").json() == {"path": "/v1/models"}
    assert client.post("/v1/embeddings", json={"input": "x"}).json() == {"path": "/v1/embeddings"}
    assert client.post("/v1/files", files={"file": b"bytes"}).json() == {"path": "/v1/files"}
    assert client.delete("/v1/files/a%2Fb").status_code == 200
    listed, embedded, file, deleted = run.stub.requests
    assert (listed["method"], listed["query"], listed["data"]) == ("GET", "limit=3", b"")
    assert "transfer-encoding" not in listed["headers"]
    assert embedded["body"] == {"input": "x"}
    assert b"bytes" in file["data"]
    assert deleted["method"] == "DELETE"


@each
def test_bodies_that_cannot_be_read_pass(run, format_):
    """A body that is no JSON object reaches the upstream byte for byte, and a header says why."""
    for data in (b"[1, 2]", b'{"messages": 3, "input": 3}', b'{"broken'):
        response = run.client.post(PATHS[format_], content=data, headers={"content-type": "application/json"})
        assert response.headers["x-firsthand"].startswith("passed through; ")
        assert run.stub.requests[-1]["data"] == data


def test_an_upstream_that_does_not_answer(tmp_path):
    """Where nobody listens the client gets 502 and a sentence, with a window and without."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{closed.getsockname()[1]}"
    with running(tmp_path / "store", host_of_upstream=nowhere) as own:
        for response in (own.post("anthropic", Client(own, "anthropic").body()), own.client.get("/v1/models")):
            assert response.status_code == 502
            assert "does not answer" in response.json()["error"]["message"]


UNUSUAL = {
    "openai-chat": r"""
data: {"id":"","choices":[],"prompt_filter_results":[]}

: OPENROUTER PROCESSING

data: {"id":"u","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":null}}]}

data:{"id":"u","choices":[{"index":0,"delta":{"content":"whole"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}

data: [DONE]

""",
    "anthropic": r"""
event: message_start
data: {"type":"message_start","message":{"id":"u","role":"assistant","content":[],"usage":{"input_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"wh"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,
data: "delta":{"type":"text_delta","text":"ole"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"future_delta","x":1}}

event: of_tomorrow
data: {"type":"of_tomorrow"}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"refusal"},"usage":{"output_tokens":2}}

event: message_stop
data: {"type":"message_stop"}

""",
    "openai-responses": r"""
event: response.created
data: {"type":"response.created","response":{"id":"u","output":[]}}

event: keepalive
data: {"type":"keepalive"}

event: response.of_tomorrow
data: {"type":"response.of_tomorrow","what":1}

event: response.completed
data: {"type":"response.completed","response":{"id":"u","output":[
data: {"type":"message","role":"assistant","content":[{"type":"output_text","text":"whole"}]}]}}

""",
}


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@each
def test_unusual_events_pass_byte_for_byte(run, format_, line_end):
    """Comments, other line ends, events of tomorrow and answers in one event pass unchanged and are recorded."""
    raw = UNUSUAL[format_].lstrip().replace("\n", line_end).encode()
    run.stub.script.append(Said(raw=raw))
    client = Client(run, format_)
    client.list.append({"role": "user", "content": f"unusual {format_} {line_end!r}"})
    response = run.post(format_, {**client.body(), "stream": True})
    assert response.content == raw
    said = {"role": "assistant", "content": [{"type": "output_text", "text": "whole"}]}
    client.list += [
        said if format_ == "openai-responses" else {"role": "assistant", "content": "whole"},
        {"role": "user", "content": "and"},
    ]
    assert run.post(format_, client.body()).headers["x-firsthand"] == response.headers["x-firsthand"]


def test_a_name_that_comes_in_pieces(run):
    """A call whose name comes in pieces is held until it is certain whose it is; then it is withheld or passed."""

    def piece(call, reason=None):
        choice = {"index": 0, "delta": {"tool_calls": [call]} if call else {}, "finish_reason": reason}
        return b"data: " + json.dumps({"id": "p", "choices": [choice]}).encode() + b"\n\n"

    for names, theirs in ((("rec", "all"), []), (("rec", "ords"), [("p1", "records", {})])):
        events = [
            piece({"index": 3, "id": "p1", "type": "function", "function": {"name": names[0]}}),
            piece({"index": 3, "function": {"name": names[1]}}),
            piece({"index": 3, "function": {"arguments": "{}"}}),
            piece(None, "tool_calls"),
            b"data: [DONE]\n\n",
        ]
        run.stub.script.append(Said(raw=b"".join(events)))
        client = Client(run, "openai-chat")
        run.stub.script.append(Said("seen"))
        client.list.append({"role": "user", "content": f"pieces {names}"})
        events = run.events("openai-chat", {**client.body(), "stream_options": None})
        calls = [
            call for event in events for choice in event["choices"] for call in choice["delta"].get("tool_calls", ())
        ]
        text = "".join(choice["delta"].get("content") or "" for event in events for choice in event["choices"])
        assert ["".join(call["function"].get("name", "") for call in calls)] == ([theirs[0][1]] if theirs else [""])
        assert {call["index"] for call in calls} <= {0}
        assert text == ("" if theirs else "seen")
        run.stub.script.clear()
