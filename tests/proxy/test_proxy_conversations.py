"""Which session a request belongs to, what is sent for it under a budget, and what happens when Firsthand fails."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import pairwise

import pytest
from model_stub import PATHS, Said, cut_short, running
from proxy_client import LISTS, TOOLS, Client

from firsthand import Memory
from firsthand.errors import InvalidArgument
from firsthand.formats.check import faults
from firsthand.proxy import anthropic, chat
from firsthand.proxy.app import DIALECTS
from firsthand.proxy.budgets import SHARE, Budgets
from firsthand.proxy.conversations import Conversations, Options
from firsthand.proxy.dialect import Reply
from firsthand.proxy.lists import Lists

FORMATS = sorted(PATHS)
TOKENS, STEPS = 5_000, 40
each = pytest.mark.parametrize("format_", FORMATS)


def sessions(store, **where):
    with Memory(store, read_only=True, **where) as memory:
        return {session.name: session.turns for session in memory.sessions()}


@each
def test_conversations_with_one_beginning(format_, tmp_path):
    """Two conversations that begin with the same system prompt and the same words are two sessions."""
    with running(tmp_path / "store") as run:
        clients = [Client(run, format_), Client(run, format_)]
        run.stub.script += [Said("Hello first."), Said("Hello second."), Said("A"), Said("B")]
        for text in ("Hi.", "Go on."):
            for client in clients:
                client.say(text)
        assert [len(body[LISTS[format_]]) for body in run.stub.bodies[-2:]] == [3 + (format_ == "openai-chat")] * 2
    assert sorted(sessions(tmp_path / "store").values()) == [2, 2]
    with Memory(tmp_path / "store") as memory:
        assert memory.verify().ok


@each
def test_a_proxy_that_is_started_anew(format_, tmp_path):
    """A proxy that begins anew finds the conversation again by its list, what it withheld included."""
    with running(tmp_path / "store") as run:
        client = Client(run, format_)
        run.stub.script += [Said("Hm.", (("r1", "recall", {"query": "x"}),)), Said("Nothing found.")]
        client.say("Is there anything?")
        calls = (("b1", "recall", {"query": "y"}), ("b2", "ls", {}))
        run.stub.script.append(Said("Both.", calls))
        client.say("And now?")
    with running(tmp_path / "store") as run:
        client.run = run
        client.result(("b2", "a.txt"))
        sent = json.dumps(run.stub.bodies[-1])
        assert sent.count("answer of recall") == 2
        assert sent.count('"b1"') == 2
    assert list(sessions(tmp_path / "store").values()) == [2]


def test_many_sessions_that_begin_alike(tmp_path):
    """A proxy that begins anew finds each of many sessions whose users began with the same words."""

    def ask(conversations, messages, said):
        turn = conversations.turn(chat.read({"messages": messages}), chat, session="", agent="", again=False)
        turn.record()
        messages.append({"role": "assistant", "content": said})
        turn.end(Reply((messages[-1],), ours=False, theirs=False, is_whole=True))
        return turn.conversation.session.name

    with Memory(tmp_path / "store") as memory:
        lists = [[user("Hello.")] for _ in range(40)]
        names = [ask(Conversations(memory, Options()), each, f"I am {n}.") for n, each in enumerate(lists)]
        assert len({*names}) == len(lists)
        anew = Conversations(memory, Options())
        assert [ask(anew, [*each, user("Go on.")], "Yes.") for each in reversed(lists)] == names[::-1]
        assert memory.verify().ok


@each
def test_two_proxies_on_one_store(format_, tmp_path):
    """A conversation that goes through two proxies by turns is recorded once, and has what either withheld."""
    with running(tmp_path / "store") as first, running(tmp_path / "store") as second:
        client = Client(first, format_)
        for number in range(6):
            client.run = (first, second)[number % 2]
            recall = Said("", ((f"r{number}", "recall", {"query": "x"}),))
            client.run.stub.script += [recall, Said(f"Answer {number}.")]
            client.say(f"Question {number}.")
            assert json.dumps(client.run.stub.bodies[-1]).count("answer of recall") == number + 1
    with Memory(tmp_path / "store") as memory:
        [said] = [[event.text for event in memory.events(session.name)] for session in memory.sessions()]
        assert [said.count(f"{kind} {count}.") for count in range(6) for kind in ("Question", "Answer")] == [1] * 12


@each
def test_a_session_that_a_header_names(format_, tmp_path):
    """The header names the session, whatever the list begins with; namespace and agent are named alike."""
    with running(tmp_path / "store") as run:
        client = Client(run, format_)
        client.headers = {"x_firsthand_session": "deploy", "x_firsthand_agent": "ada", "x_firsthand_namespace": "team"}
        client.say("One.")
        client.say("Two.")
        assert not {name for name in run.stub.requests[0]["headers"] if "firsthand" in name}
    assert sessions(tmp_path / "store", namespace="team") == {"deploy": 2}
    assert sessions(tmp_path / "store") == {}
    with Memory(tmp_path / "store", namespace="team") as memory:
        assert {event.agent for event in memory.events("deploy") if event.kind == "agent_message"} == {"ada"}


@each
def test_a_client_that_writes_its_answers_otherwise(format_, tmp_path):
    """Answers that come back with other members, spaces or breakpoints are known, and sent on as they came."""
    with running(tmp_path / "store") as run:
        client = Client(run, format_)
        run.stub.script += [Said("Two words.", thought="Hm hm.")]
        client.say("Say two words.")
        last = client.list[-1]
        if format_ == "openai-chat":
            last |= {"refusal": None, "annotations": [], "content": [{"type": "text", "text": "Two words."}]}
        elif format_ == "anthropic":
            last["content"] = [{"type": "text", "text": "Two words. ", "cache_control": {"type": "ephemeral"}}]
            client.list[0]["content"] = [{"type": "text", "text": client.list[0]["content"]}]
        else:
            client.list = [client.list[0], {"role": "assistant", "content": "Two words."}]
        client.say("Again.")
        sent = run.stub.bodies[-1][LISTS[format_]]
        assert (
            sent
            == ([{"role": "system", "content": "You are short."}] if format_ == "openai-chat" else [])
            + client.list[:-1]
        )
    assert list(sessions(tmp_path / "store").values()) == [2]


@pytest.mark.parametrize("named", [True, False])
@each
def test_a_list_that_was_trimmed(format_, named, tmp_path):
    """A list without its head goes on in its session; what left it leaves the window, and stays in the log."""
    with running(tmp_path / "store") as run:
        client = Client(run, format_)
        if named:
            client.headers = {"x_firsthand_session": "trimmed"}
        for number in range(4):
            run.stub.script.append(Said(f"Answer {number}."))
            client.say(f"Question {number}.")
        client.list = client.list[-4:]
        run.stub.script += [Said("Hm.", (("r1", "recall", {"query": "Question 0"}),)), Said("Answer 4.")]
        assert client.say("Question 4.")["text"] == "Hm.\n\nAnswer 4."
        sent = json.dumps(run.stub.bodies[-1])
        assert sent.count('"Question 3.') == sent.count('"Question 4.') == 1
        assert "Question 0." in sent.split("answer of recall")[1], "it is recalled"
        client.say("Question 5.")
        assert json.dumps(run.stub.bodies[-1]).count("answer of recall") == 1
        assert [fault for body in run.stub.bodies for fault in faults(body, format_)] == []
    [(name, turns)] = sessions(tmp_path / "store").items()
    assert (name == "trimmed") is named
    assert turns == 6
    with Memory(tmp_path / "store") as memory:
        texts = [event.text for event in memory.events(name) if event.kind == "user_message"]
    assert [text for text in texts if text.startswith("Question")] == [f"Question {number}." for number in range(6)]


@each
def test_another_branch(format_, tmp_path):
    """A list that goes on from the middle of a conversation is another conversation, and the first one stays whole."""
    with running(tmp_path / "store") as run:
        client = Client(run, format_)
        for number in range(3):
            run.stub.script.append(Said(f"Answer {number}."))
            client.say(f"Question {number}.")
        branch = Client(run, format_)
        branch.list = client.list[:-2]
        branch.say("Another question.")
        client.say("The next question.")
        assert "Another" not in json.dumps(run.stub.bodies[-1])
    assert sorted(sessions(tmp_path / "store").values()) == [3, 4]


def test_a_request_that_is_sent_again(tmp_path):
    """A request whose answer failed is the same conversation when it comes again, and is not appended twice."""
    with running(tmp_path / "store") as run:
        run.stub.script.append(Said(status=500))
        client = Client(run, "openai-chat")
        client.list.append({"role": "user", "content": "Try."})
        assert run.post("openai-chat", client.body()).status_code == 500
        assert run.post("openai-chat", client.body()).status_code == 200
    assert list(sessions(tmp_path / "store").values()) == [1]


def test_a_request_that_is_sent_again_while_it_is_answered(tmp_path):
    """What a client says is a retry is the same conversation, though the first answer is on its way; else another."""
    body = {"model": "m", "messages": [{"role": "user", "content": "Try."}]}
    with running(tmp_path / "store") as run:
        run.stub.script.append(Said("Hm.", how="hang"))
        with run.client.stream("POST", PATHS["openai-chat"], json={**body, "stream": True}) as first:
            next(first.iter_raw())
            headers = {"x-stainless-retry-count": "1"}
            names = [run.client.post(PATHS["openai-chat"], json=body, headers=each).headers["x-firsthand"]
                     for each in (headers, {})]  # fmt: skip
            assert [name == first.headers["x-firsthand"] for name in names] == [True, False]


def test_a_namespace_too_many(tmp_path, monkeypatch):
    """The namespace that was asked for longest ago is closed for another one, and opened again when it goes on."""
    monkeypatch.setattr("firsthand.proxy.app.NAMESPACES_MAX", 2)
    with running(tmp_path / "store") as run:
        client = Client(run, "openai-chat")
        for name in ("red", "blue", "green", "red"):
            run.stub.script.append(Said(f"Hello, {name}."))
            client.list = [{"role": "user", "content": f"I am {name}."}]
            assert (
                run.post("openai-chat", client.body(), X_Firsthand_Namespace=name).headers["x-firsthand"][:8]
                == "window; "
            )
    for name in ("red", "blue", "green"):
        with Memory(tmp_path / "store", namespace=name, create=False) as memory:
            assert "Hello, " + name in " ".join(event.text for event in memory.events())
            assert memory.verify().ok


def test_responses_that_stand_on_one_before(tmp_path):
    """A request that names the response before it is recorded in its session, and recall is answered there, too."""
    with running(tmp_path / "store") as run:
        run.stub.script += [Said("", (("r1", "recall", {"query": "x"}), ("t1", "ls", {})))]
        first = run.post("openai-responses", {"model": "m", "input": "One.", "tools": TOOLS["openai-responses"]}).json()
        run.stub.script += [Said("", (("r2", "recall", {"query": "y"}),)), Said("Done.")]
        body = {
            "model": "m",
            "previous_response_id": first["id"],
            "input": [{"type": "function_call_output", "call_id": "t1", "output": "a"}],
        }
        second = run.post("openai-responses", body)
        assert second.headers["x-firsthand"].startswith("window; session=proxy-")
        given, went_on = run.stub.bodies[1:]
        assert [item["call_id"] for item in given["input"]] == ["r1", "t1"]
        assert (given["previous_response_id"], went_on["previous_response_id"]) == ("resp_1", "resp_2")
        assert [item["call_id"] for item in went_on["input"]] == ["r2"]
        body = {"model": "m", "previous_response_id": second.json()["id"], "input": "Three."}
        assert second.json()["id"] == "resp_2"
        run.post("openai-responses", body)
        assert run.stub.bodies[-1]["previous_response_id"] == "resp_3", "the upstream knows it by its last id"
    assert list(sessions(tmp_path / "store").values()) == [2]


@each
def test_capture_only(format_, tmp_path):
    """With capture alone the request is the client's, byte for byte, and both sides are recorded."""
    with running(tmp_path / "store", window=False) as run:
        client = Client(run, format_)
        client.say("One.")
        sent = run.stub.requests[0]["data"]
        client.say("Two.")
        assert json.loads(sent)["tools"] == TOOLS[format_]
        assert run.post(format_, client.body()).headers["x-firsthand"].startswith("capture; session=")
        assert run.stub.requests[-1]["data"] == run.client.build_request("POST", "/", json=client.body()).content
    with Memory(tmp_path / "store") as memory:
        assert [event.kind for event in memory.events()] == ["user_message", "agent_message"] * 2 + ["agent_message"]


@each
def test_no_recall(format_, tmp_path):
    """Without recall the tools are the client's alone; a client with a tool of the same name keeps it."""
    with running(tmp_path / "store", recall=False) as run:
        Client(run, format_).say("One.")
        assert run.stub.bodies[0]["tools"] == TOOLS[format_]
    with running(tmp_path / "other") as run:
        own = json.loads(json.dumps(TOOLS[format_]).replace('"ls"', '"recall"'))
        client = Client(run, format_)
        client.extra = {"tools": own}
        run.stub.script.append(Said("", (("c1", "recall", {"query": "mine"}),)))
        body = {**client.body(), "tools": own, LISTS[format_]: [{"role": "user", "content": "x"}]}
        assert "mine" in run.post(format_, body).text
        assert run.stub.bodies[0]["tools"] == own


@each
def test_a_client_that_brings_a_tool_of_our_name_later(format_, tmp_path):
    """From then on the calls of it are the client's, in the same session."""
    with running(tmp_path / "store") as run:
        client = Client(run, format_)
        client.say("One.")
        client.extra = {"tools": json.loads(json.dumps(TOOLS[format_]).replace('"ls"', '"recall"'))}
        run.stub.script.append(Said("", (("c1", "recall", {"query": "mine"}),)))
        assert client.say("Two.")["calls"] == [("c1", "recall", {"query": "mine"})]
        assert run.stub.bodies[-1]["tools"] == client.extra["tools"]
        assert client.result(("c1", "There."))["text"] == "ok"
        assert not run.log
    assert list(sessions(tmp_path / "store").values()) == [2]


def test_many_sessions_at_once(tmp_path):
    """Sessions that are spoken to at once stay apart, and each has all of its turns."""
    with running(tmp_path / "store") as run, ThreadPoolExecutor(24) as pool:
        clients = [Client(run, FORMATS[number % 3]) for number in range(24)]
        for turn in range(3):
            wanted = [f"{number} says {turn}" for number in range(len(clients))]
            assert all(answer["text"] == "ok" for answer in pool.map(Client.say, clients, wanted))
        assert not run.log
    assert [*sessions(tmp_path / "store").values()] == [3] * 24


@each
def test_a_window_is_kept(format_, tmp_path):
    """Under a small budget every request is valid and within it, and nothing is lost (300 steps: conformance)."""
    with running(tmp_path / "store", budgets=Budgets([str(TOKENS)])) as run:
        client = Client(run, format_, stream=False)
        client.headers = {"x_firsthand_session": "long"}
        for step in range(STEPS):
            if step >= 5:
                run.stub.script.append(Said("", ((f"r{step}", "recall", {"query": f"secret{step - 5}"}),)))
            beside = ((f"b{step}", "recall", {"query": "line"}),) * (step % 3 == 0)
            run.stub.script.append(Said(f"Look at {step}.", (*beside, (f"c{step}", "ls", {"path": f"/{step}"}))))
            answer = client.say(f"Step {step}: the value secret{step} is {step * 7919}.")
            assert answer["calls"], answer
            client.result((f"c{step}", f"line of the result of {step} " * 30))
        check_requests(format_, run.stub.bodies)
        assert not run.log
    with Memory(tmp_path / "store") as memory:
        texts = [event.text for event in memory.events("long")]
        assert all(any(f"secret{step} is {step * 7919}" in text for text in texts) for step in range(STEPS))
        calls = [*memory.anatomies("long")]
        assert all(call.tokens <= TOKENS for call in calls)
        evicted = ["evicted, nothing lost" in json.dumps(body) for body in run.stub.bodies]
        assert evicted == [bool(call.receipt) for call in calls], "what was sent is what the window says"
        receipts = [event.id for event in memory.events("long", kind="receipt")]
        assert len(receipts) >= 3
        assert memory.verify().ok


def check_requests(format_, bodies):
    """Check that requests are valid, and that each begins as the one before wherever nothing left between them."""
    compactions = 0
    for before, after in pairwise(bodies):
        assert faults(after, format_) == ()
        assert after["tools"] == before["tools"]
        assert after.get("system") == before.get("system")
        assert "cache_control" not in json.dumps(after), "the client sets none"
        old, new = before[LISTS[format_]], after[LISTS[format_]]
        if markers(old) == markers(new):
            assert new[: len(old)] == old
        else:
            compactions += 1
    assert compactions >= 3


class CachingClient(Client):
    """A client that marks its system prompt, its tools and its newest user messages, as coding agents do."""

    newest = 2

    def body(self):
        body = super().body()
        body["tools"] = [{**tool, "cache_control": EPHEMERAL} for tool in body["tools"]]
        body["system"] = [{"type": "text", "text": self.system, "cache_control": EPHEMERAL}]
        marked = [message for message in self.list if message["role"] == "user"][-self.newest :]
        body["messages"] = [with_breakpoint(message) if message in marked else message for message in self.list]
        return body


EPHEMERAL = {"type": "ephemeral"}


def with_breakpoint(message):
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return {**message, "content": [*blocks[:-1], {**blocks[-1], "cache_control": EPHEMERAL}]}


@pytest.mark.parametrize("newest", [1, 2])
def test_breakpoints_of_the_client_stay(newest, tmp_path):
    """What the client marks for a cache stays marked while it is there, the end too after a compaction; no more is."""
    with running(tmp_path / "store", budgets=Budgets([str(TOKENS)])) as run:
        client = CachingClient(run, "anthropic")
        client.newest = newest
        for step in range(STEPS):
            run.stub.script += [Said("", ((f"c{step}", "ls", {}),)), Said("Seen.")]
            client.say(f"Step {step}. " + "What does worker 7 do today? " * 8)
            client.result((f"c{step}", f"line of the result of {step} " * 20))
    compactions = 0
    for before, body in pairwise(run.stub.bodies):
        assert json.dumps(body).count("cache_control") <= 2 + newest
        assert body["messages"][-1]["content"][-1]["cache_control"] == EPHEMERAL
        if markers(before["messages"]) != markers(body["messages"]):
            compactions += 1
        elif newest == 2:
            assert "cache_control" in json.dumps(body["messages"][:-1]), "what the request before wrote is read"
        assert faults(body, "anthropic") == ()
    assert compactions >= 3
    asked = anthropic.read({"messages": [with_breakpoint(user("Go on."))]})
    [message] = anthropic.write(asked, [user("[Turn 2 evicted]\n\nGo on.")], (), composed=True)["messages"]
    assert message == with_breakpoint(user("[Turn 2 evicted]\n\nGo on.")), "a message that the window changed"


def markers(messages):
    return [part for part in json.dumps(messages).split("[Turn")[1:] if " evicted, nothing lost" in part[:40]]


def test_a_failure_of_ours(tmp_path):
    """Whatever of the store fails, the request goes on byte for byte, and a header says why."""
    with running(tmp_path / "store") as run:
        client = Client(run, "openai-chat")
        client.say("One.")
        client.headers = {"x_firsthand_namespace": "bad\tname"}
        response = run.post("openai-chat", client.body(), **{"x-firsthand-namespace": "n" * 600})
        assert response.status_code == 200
        assert response.headers["x-firsthand"].startswith("passed through; ")
        assert run.stub.requests[-1]["data"] == run.client.build_request("POST", "/", json=client.body()).content


def test_a_store_that_fails_while_the_upstream_thinks(tmp_path):
    """Where the store fails after the request has gone out the header says so, and the session is read anew."""
    with running(tmp_path / "store") as run:
        client = Client(run, "openai-chat")
        client.say("One.")
        (tmp_path / "store").rename(tmp_path / "gone")
        client.list.append(user("Two."))
        response = run.post("openai-chat", client.body())
        assert response.json()["choices"][0]["message"]["content"] == "ok"
        assert response.headers["x-firsthand"].startswith("not recorded; ")
        assert run.post("openai-chat", client.body()).headers["x-firsthand"].startswith("passed through; ")
        assert run.stub.requests[-1]["data"] == run.client.build_request("POST", "/", json=client.body()).content


def test_a_recall_where_room_was_made_meanwhile(tmp_path):
    """Room is made while the upstream thinks, and a recall that follows goes on with the compacted list."""
    recall = {"id": "r", "type": "function", "function": {"name": "recall", "arguments": '{"query": "x"}'}}
    asks = Reply(
        ({"role": "assistant", "content": None, "tool_calls": [recall]},), ours=True, theirs=False, is_whole=True
    )
    compacted = 0
    with Memory(tmp_path / "store") as memory:
        conversations, messages = Conversations(memory, Options(budgets=Budgets([str(TOKENS)]))), []
        for step in range(60):
            messages.append(user(f"Step {step}. " + "What does worker 7 do today? " * 20))
            asked = chat.read({"model": "m", "messages": messages})
            receipts = len([*memory.events("s", kind="receipt")])
            turn = conversations.turn(asked, chat, session="s", agent="", again=False)
            assert len([*memory.events("s", kind="receipt")]) == receipts, "no request waits for a compaction"
            sent = turn.body["messages"]
            turn.record()
            if len([*memory.events("s", kind="receipt")]) > receipts:
                compacted += 1
                turn.go_on(asks, last=False)
                assert turn.body["messages"][: len(sent)] != sent
            said = {"role": "assistant", "content": f"Answer {step}."}
            turn.end(Reply((said,), ours=False, theirs=False, is_whole=True))
            messages.append(said)
        assert compacted >= 3
        assert memory.verify().ok


def test_a_store_that_fails_while_a_stream_runs(tmp_path):
    """A stream does not wait for the store: that its request was not recorded says the header of the next one."""
    with running(tmp_path / "store") as run:
        client = Client(run, "openai-chat")
        client.say("One.")
        (tmp_path / "store").rename(tmp_path / "gone")
        assert client.say("Two.")["text"] == "ok"
        (tmp_path / "gone").rename(tmp_path / "store")
        client.list.append({"role": "user", "content": "Three."})
        header = run.post("openai-chat", client.body()).headers["x-firsthand"]
        assert header.startswith("window; session=proxy-")
        assert "; the request before was not recorded: " in header
    with Memory(tmp_path / "store") as memory:
        assert [event.text for event in memory.events(kind="user_message")] == ["One.", "Two.", "Three."]
        assert memory.verify().ok


@pytest.mark.parametrize("budget", [TOKENS, 50_000])
@each
def test_what_was_erased_is_not_sent_again(format_, budget, tmp_path):
    """An erased message is not sent again, nor is a withheld answer that repeats it."""
    with running(tmp_path / "store", budgets=Budgets([str(budget)])) as run:
        client = Client(run, format_)
        client.headers = {"x_firsthand_session": "s"}
        with Memory(tmp_path / "store") as memory:
            tulip = memory.session("other").append("user_message", "The tulip is in the shed.")
        for step in range(14):
            client.say(f"Step {step}. " + "What does worker 7 do today? " * 60)
        run.stub.script += [Said("", (("r1", "recall", {"query": "tulip"}),)), Said("There.")]
        client.say("Where is the tulip?")
        client.say("Thanks.")
        assert "in the shed" in json.dumps(run.stub.bodies[-1])
        with Memory(tmp_path / "store") as memory:
            memory.erase([tulip.pointer])
        client.say("Go on.")
        assert "in the shed" not in json.dumps(run.stub.bodies[-1])
        assert faults(run.stub.bodies[-1], format_) == ()
    with Memory(tmp_path / "store") as memory:
        assert memory.verify().ok


@each
def test_a_list_is_read_as_if_for_the_first_time(format_):
    """Entries made with the help of the last list are those made of the whole one, wherever the two part."""
    dialect = next(each for each in DIALECTS.values() if format_ == each.FORMAT)
    thought = {"type": "reasoning", "id": "r", "summary": []}
    user = [{"role": "user", "content": f"Say {number}."} for number in range(6)]
    lists = [user[:3], user[:5], user[:2], [*user[:2], user[4]], [user[1]], user]
    if format_ == "openai-responses":
        answer = {"role": "assistant", "content": "x"}
        lists += [[user[0], thought], [user[0], thought, user[1]], [user[0], thought, answer]]
    known = Lists()
    for messages in lists:
        asked = dialect.read({dialect.LIST: messages})
        assert known.entries(asked, dialect) == dialect.entries(map(dialect.plain, messages), (), set())


@each
def test_a_store_that_fails_in_the_middle(format_, tmp_path):
    """A store that is gone when the model calls recall ends no answer: the model is told, and the stream goes on."""
    with running(tmp_path / "store") as run:
        client = Client(run, format_)
        client.say("One.")
        recalls = [Said("Hm.", (("r1", "recall", {"query": "x"}),)), Said("", (("r2", "recall", {"query": "y"}),))]
        run.stub.script += [*recalls, Said("Sorry.")]
        run.stub.before = lambda number: (tmp_path / "store").rename(tmp_path / "gone") if number == 3 else None
        assert client.say("Two.")["text"] == "Hm.\n\nSorry."
        assert "degraded: recall failed" in json.dumps(run.stub.bodies[-1])
        assert client.say("Three.")["text"] == "ok"
        assert run.post(format_, client.body()).headers["x-firsthand"].startswith("passed through; ")
        assert all("One." not in line for line in run.log)


def test_budgets():
    """The longest name counts, a provider's name before a model's counts for nothing, and what is no budget is said."""
    budgets = Budgets(["gpt-4o=5", "gpt-4o-mini=6"])
    names = ("gpt-4o-2024", "openai/gpt-4o-mini", "claude-x")
    assert [budgets.of(name) for name in names] == [5, 6, int(200_000 * SHARE)]
    assert Budgets(["7"]).of("claude") == 7
    for wrong in ("many", "=5", "gpt=", "0"):
        with pytest.raises(InvalidArgument, match="expected a budget as TOKENS or MODEL=TOKENS"):
            Budgets([wrong])


UNANSWERED = {"429": Said(status=429), "went away": Said("half of it", how="hang")}


@pytest.mark.parametrize("why", UNANSWERED)
@pytest.mark.parametrize("restarts", [False, True])
@each
def test_what_is_said_otherwise_after_no_answer(format_, why, restarts, tmp_path):
    """After an error or a hang-up a reworded message goes on in its session; the first wording stays in the log."""
    with ExitStack() as servers:
        run = servers.enter_context(running(tmp_path / "store"))
        client, other = Client(run, format_), Client(run, format_)
        client.say("Hello.")
        other.list = [*client.list]
        run.stub.script.append(UNANSWERED[why])
        body = {**client.body(), "stream": True, LISTS[format_]: [*client.body()[LISTS[format_]], user("First.")]}
        with run.client.stream("POST", PATHS[format_], json=body) as response:
            next(piece for piece in response.iter_text() if "it" in piece)
        assert [why in cut for _, cut in cut_short(tmp_path / "store")] == [True]
        if restarts:
            client.run = other.run = run = servers.enter_context(running(tmp_path / "store"))
        client.say("Second.")
        sent = json.dumps(run.stub.bodies[-1])
        assert "First." not in sent.replace("evicted", "")
        client.say("Third.")
        other.say("Elsewhere.")
        assert not {"First.", "Second."} & {*json.dumps(run.stub.bodies[-1]).split('"')}
        assert all(faults(sent, format_) == () for sent in run.stub.bodies)
    with Memory(tmp_path / "store") as memory:
        said = {
            session.name: [event.text for event in memory.events(session.name) if event.kind == "user_message"]
            for session in memory.sessions()
        }
        assert sorted(said.values()) == [["Hello.", "Elsewhere."], ["Hello.", "First.", "Second.", "Third."]]
        assert memory.verify().ok


def user(text):
    return {"role": "user", "content": text}
