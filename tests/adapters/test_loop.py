"""The base of adapters: what it does with faults, formats and lists (its contract: tests/conformance)."""

from __future__ import annotations

import asyncio
import json
import re
import shutil

import pytest

from firsthand import AgentTools, Kind, Memory, Trust
from firsthand.adapters.loop import LISTS_MAX, Loop, Loops, asked_by
from firsthand.agents.faults import faults
from firsthand.context.tools import TOOLS
from firsthand.errors import StoreClosed, StoreFailed
from firsthand.formats.tool_definitions import Tool

CHAT = [
    {"role": "user", "content": "The port is 5433."},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "grep", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "port = 5433"},
]  # fmt: skip
RESPONSES = [
    {"type": "message", "role": "user", "content": "The port is 5433."},
    {"type": "function_call", "call_id": "c1", "name": "grep", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": "port = 5433"},
]
ANTHROPIC = [
    {"role": "user", "content": "The port is 5433."},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "grep", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "port = 5433"}]},
]


def made(store, **options):
    return Loop(store, agent="ada", host="plain", session="s", namespace="shop", **options)


MARK = ', "cache_control": {"type": "ephemeral"}'
"""Of the last message for Anthropic."""


def loop_messages(loop, messages):
    """The framework's whole list, with what the agent said last."""
    typed = {"type": "message"} if loop.format == "openai-responses" else {}
    return [*messages, {**typed, "role": "assistant", "content": "It is 5433."}]


@pytest.mark.parametrize(
    ("name", "messages"), [("openai-chat", CHAT), ("openai-responses", RESPONSES), ("anthropic", ANTHROPIC)]
)
def test_each_format_is_captured_and_compacted(tmp_path, name, messages):
    """Messages of each provider are in the log once, however they came, and come back as they were."""
    loop = made(tmp_path / "store", format=name)
    loop.add(messages[:1])
    loop.sync(messages)
    loop.say("assistant", "It is 5433.")
    assert "5433" in loop.call("recall", {"query": "port"})
    (pointer, *_) = re.findall(r"fh:\w+", loop.call("recall", {"query": "port 5433"}))
    assert "5433" in loop.call("expand", {"pointer": pointer})
    assert [tool.name for tool in loop.definitions] == ["recall", "expand", "task", "decide"]
    sent = json.loads(json.dumps(loop.compact(loop_messages(loop, messages))).replace(MARK, ""))
    assert sent[:3] == messages
    loop.end()
    loop.close()
    assert loop.faults == []
    with Memory(tmp_path / "store", namespace="shop", embedder="none") as memory:
        kinds = [event.kind for event in memory.events("plain:s") if event.kind in (Kind.USER_MESSAGE, Kind.TOOL_CALL,
                 Kind.TOOL_RESULT, Kind.AGENT_MESSAGE)]  # fmt: skip
        assert kinds == [Kind.USER_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT, Kind.AGENT_MESSAGE]
        assert memory.session("plain:s").messages()[:3] == messages
        assert memory.verify().ok


@pytest.mark.parametrize(
    ("name", "messages"), [("openai-chat", CHAT), ("openai-responses", RESPONSES), ("anthropic", ANTHROPIC)]
)
def test_what_an_agent_asks_is_not_the_users(tmp_path, name, messages):
    """It is untrusted, begins no turn, is sent without a note of that, and stays the agent's when the user goes on."""
    with asked_by("agent:outer"):
        by_tool = made(tmp_path / "store", format=name)
        sent = by_tool.compact(messages)
    sent += by_tool.compact([*messages, {**messages[0], "content": "And now?"}])
    assert (sent[0]["role"], [message for message in sent if "origin" in message]) == ("user", [])
    by_tool.close()
    known = Loop(tmp_path / "store", host="plain", session="t", namespace="shop", format=name, asker="agent:boss")
    known.add(messages[:1])
    known.close()
    assert (by_tool.faults, known.faults) == ([], [])
    with Memory(tmp_path / "store", namespace="shop", create=False) as memory:
        of_agents = [(event.text, event.origin, event.trust, event.turn) for event in memory.events(kind=Kind.OTHER)]
        said = "The port is 5433.", Trust.UNTRUSTED, 0
        assert of_agents == [(said[0], f"agent:{who}", *said[1:]) for who in ("outer", "boss")]
        assert [event.text for event in memory.events(kind=Kind.USER_MESSAGE)] == ["And now?"]


def test_what_could_not_be_appended_is_appended_when_the_store_is_back(tmp_path):
    """Messages that a store refuses wait, in order, and a list is taken again at the end; the fault is kept."""
    store = tmp_path / "store"
    store.write_text("no folder")
    loop, said = made(store), {"role": "assistant", "content": "It is 5433."}
    loop.add(CHAT[:1])
    loop.add(CHAT[1:])
    assert loop.unwritten == CHAT
    assert "memory is degraded" in loop.prompt("Which port?")
    assert "degraded" not in loop.prompt("Which port?")
    assert loop.compact([*CHAT, said]) == [*CHAT, said]
    assert "cannot be reached" in loop.call("recall", {"query": "port"})
    store.unlink()
    assert loop.end() != ""
    assert (loop.unwritten, len(loop.faults) > 0) == ([], True)
    loop.close()
    with Memory(store, namespace="shop", embedder="none") as memory:
        assert memory.session("plain:s").messages() == [*CHAT, said]
        assert memory.verify().ok


def test_a_message_of_no_format_is_kept_beside_the_window(tmp_path):
    """What is no message of the format is in the log as it came; those around it are messages, and doctor names it."""
    loop = made(tmp_path / "store")
    loop.add([CHAT[0], {"role": "user", "content": {"zirconium"}}, {"role": "assistant", "content": "5433"}])
    assert len(loop.faults) == 1
    assert loop.compact([CHAT[0], {"role": "assistant", "content": "5433"}])[-1]["content"] == "5433"
    loop.close()
    with Memory(tmp_path / "store", namespace="shop", embedder="none") as memory:
        assert [event.text for event in memory.events(kind=Kind.OTHER)] == [
            '{"role": "user", "content": "{\'zirconium\'}"}'
        ]
        assert [fault.where for fault in faults(memory.path)] == ["record"]


def test_a_result_is_named_by_its_call_whoever_appended_that(tmp_path):
    """A result says only the id of its call; its origin is the tool's name, in another process too."""
    for messages in (CHAT[:2], CHAT[2:]):
        loop = made(tmp_path / "store")
        loop.add(messages)
        loop.close()
    with Memory(tmp_path / "store", namespace="shop", embedder="none") as memory:
        assert [event.origin for event in memory.events(kind=Kind.TOOL_RESULT)] == ["tool:grep"]


def test_what_is_not_to_be_recorded_is_not(tmp_path):
    """A session that only listens appends nothing, and its list comes back as it is."""
    loop = made(tmp_path / "store", records=False)
    loop.add(CHAT)
    loop.sync(CHAT)
    assert (loop.compact(CHAT), loop.end()) == (CHAT, "")
    loop.close()
    with Memory(tmp_path / "store", namespace="shop", embedder="none") as memory:
        assert memory.position == 0


def test_nothing_is_asked_while_a_slow_fault_rests(tmp_path, monkeypatch):
    """After a fault that took long, calls answer at once for a while: a server that is gone does not slow the run."""
    loop = made(tmp_path / "store")
    asked = []

    def slow():
        asked.append(1)
        raise OSError("no route")

    monkeypatch.setattr("time.monotonic", iter([100.0, 130.0, 131.0, 999.0, 999.0, 999.0]).__next__)
    for _ in range(3):
        loop._safely("ask", slow, None)
    assert (len(asked), loop.faults) == (2, ["ask: OSError: no route"])


def test_the_verbs_are_awaited(tmp_path):
    """The same loop is used from asyncio, in the order of its calls."""
    loop = made(tmp_path / "store")

    async def main():
        await asyncio.gather(*(loop.awaited.say("user", str(number)) for number in range(9)))
        said = [{"role": "user", "content": str(number)} for number in range(9)]
        assert (await loop.awaited.compact([*said, *CHAT]))[-1] == CHAT[-1]
        assert "found" in await loop.awaited.call("recall", {"query": "port 5433"})
        assert await loop.awaited.end()
        await loop.awaited.close()

    asyncio.run(main())
    with Memory(tmp_path / "store", namespace="shop", embedder="none") as memory:
        assert [event.text for event in memory.events(kind=Kind.USER_MESSAGE)][:9] == [*map(str, range(9))]


class Gone:
    """What stands in for the log of a store whose disk is gone."""

    def __getattr__(self, name):
        raise StoreFailed(f"the disk is gone: {name}")


def turn(number):
    """What is said in one turn, in order."""
    ask = {"id": f"c{number}", "type": "function", "function": {"name": "grep", "arguments": "{}"}}
    return [
        {"role": "user", "content": f"question {number}"},
        {"role": "assistant", "content": None, "tool_calls": [ask]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": f"result {number}"},
        {"role": "assistant", "content": f"answer {number}"},
    ]


def given(loop, said, way):
    """Have a framework say what is new in its list, which it keeps whole or cuts to the newest messages."""
    new, kept = said[-1], said[-6:] if "cut" in way else said
    if "replies" in way and new["role"] == "assistant":
        loop.add([new])
    elif "new" in way:
        loop.add([new])
        loop.compact(kept)
    else:
        (loop.compact if new["role"] == "user" else loop.sync)(kept)


@pytest.mark.parametrize("way", ["list", "cut list", "new", "replies and list", "replies and cut list"])
@pytest.mark.parametrize("outage", [range(7), range(5, 6), range(3, 14), range(9, 32)])
def test_after_an_outage_the_log_has_everything_once_and_in_order(tmp_path, way, outage):
    """Whatever the framework gives, and however, while its store fails stands in the log in the order it was said."""
    said = []
    with Memory(tmp_path / "store", namespace="shop", embedder="none") as memory:
        loop, log = made(memory), memory.log
        for number, message in enumerate(message for page in range(8) for message in turn(page)):
            memory.log = Gone() if number in outage else log
            said.append(message)
            given(loop, said, way)
        memory.log = log
        loop.end()
        assert (loop.unwritten, loop.faults != []) == ([], True)
        assert memory.session("plain:s").messages() == said
        assert memory.verify().ok


def test_a_list_of_its_own_between_is_one_by_itself(tmp_path):
    """Where a framework asks for titles in a session, each list is sent as it is, and each message is logged once."""
    loop, said, titles = made(tmp_path / "store"), [], []
    for number in range(LISTS_MAX + 2):
        said.append({"role": "user", "content": f"question {number}"})
        assert loop.compact(said) == said
        reply = {"role": "assistant", "content": f"answer {number}"}
        loop.add([reply])
        said.append(reply)
        titles.append({"role": "user", "content": f"Name chat {number}."})
        assert loop.compact(titles[-1:]) == titles[-1:]
    assert (loop.end() != "", loop.faults) == (True, [])
    loop.close()
    with Memory(tmp_path / "store", namespace="shop", embedder="none") as memory:
        logged = [message["content"] for message in memory.session("plain:s").messages()]
        assert sorted(logged) == sorted(message["content"] for message in [*said, *titles])
        assert memory.verify().ok


def test_of_too_many_messages_that_wait_the_oldest_go(tmp_path, monkeypatch):
    """What waits for a store is bounded, lists and new messages together, and what goes is told."""
    monkeypatch.setattr("firsthand.adapters.loop.UNWRITTEN_MAX", 5)
    (tmp_path / "store").write_text("no folder")
    loop, said = made(tmp_path / "store"), [message for page in range(2) for message in turn(page)]
    loop.sync(said[:3])
    loop.add(said[3:])
    assert (loop.unwritten, "the oldest go" in loop.faults[-1]) == (said[3:], True)


def test_a_store_that_is_put_back_is_opened_anew(tmp_path):
    """While the folder is gone messages wait, and no store is made in its place; those of its copy are recorded."""
    store, copy = tmp_path / "store", tmp_path / "copy"
    loop, said = made(store), turn(1)
    loop.add(said[:1])
    loop.add(said[1:2])
    shutil.copytree(store, copy)
    shutil.rmtree(store)
    loop.add(said[2:3])
    assert "cannot be reached" in loop.call("recall", {"query": "question"})
    assert (loop.unwritten, store.exists()) == (said[2:3], False)
    copy.rename(store)
    loop.add(said[3:])
    assert (loop.unwritten, loop.end() != "") == ([], True)
    loop.close()
    with Memory(store, namespace="shop", embedder="none") as memory:
        assert memory.session("plain:s").messages() == said


def test_what_is_no_store_and_no_message_does_not_end_the_run(tmp_path):
    """A store that is no path, and a list of what are no messages, are faults that are told."""
    for store, messages in ((123, CHAT), ("a\0b", CHAT), (tmp_path / "store", [3, "text"])):
        loop = made(store)
        assert loop.fit(messages, tools=(), system="")[: len(messages)] == messages
        assert loop.faults != []


class Threads(Loops):
    """The threads of a made framework."""

    host = "plain"


def test_threads_share_one_handle(tmp_path):
    """However many threads of a namespace are open, the store is open once; the last one to go closes it."""
    threads = Threads(tmp_path / "store", agent="ada", namespace="shop")
    memories = [threads.loop(name).ask("read", lambda memory: memory, None) for name in ("red", "blue")]
    other = threads.loop("red", "other").ask("read", lambda memory: memory, None)
    assert (memories[0] is memories[1], other is memories[0]) == (True, False)
    threads.loop("red").close()
    memories[1].session("s").user("still open")
    threads.close()
    with pytest.raises(StoreClosed):
        memories[1].session("s").user("closed")


def test_more_threads_than_may_be_open(tmp_path, monkeypatch):
    """What waits of any thread is recorded, faults of closed ones are said, and each gets its episode at the end."""
    monkeypatch.setattr("firsthand.adapters.loop.THREADS_MAX", 2)
    store, names = tmp_path / "store", [f"t{number}" for number in range(7)]
    store.write_text("no folder")
    threads = Threads(store, agent="ada", namespace="shop")
    for name in names[:4]:
        threads.loop(name).add(turn(name)[:1])
    store.unlink()
    for name in names:
        threads.loop(name).compact(turn(name)[:3])
    assert any("NotAStore" in fault for fault in threads.faults)
    for name in names[:4]:
        threads.loop(name).sync(turn(name))
    threads.loop("t0").end()
    threads.close()
    with Memory(store, namespace="shop", embedder="none") as memory:
        assert [memory.session(f"plain:{name}").messages() for name in names] == [
            turn(name)[: 4 if name < "t4" else 3] for name in names
        ]
        assert len(AgentTools.of(memory, cwd="", agent="ada").episodes()) == 7
        assert memory.verify().ok


def test_a_tool_that_takes_the_place_of_one_of_the_memorys_is_counted(tmp_path):
    """A framework's own ``task`` has its schema's tokens in the budget, and the memory's are not counted twice."""
    own = Tool("task", "Start a sub-agent. " * 400, {"type": "object"})
    said = [{"role": "user", "content": f"question {number}: " + "crate " * 100} for number in range(20)]
    for name, tools, is_evicted in (("a", (), False), ("b", TOOLS * 9, False), ("c", (own,), True)):
        loop = Loop(tmp_path / "store", host="plain", session=name, budget=4_000)
        sent = loop.fit(said, tools=tools, system="")
        loop.close()
        assert ("evicted" in json.dumps(sent), loop.faults) == (is_evicted, [])
