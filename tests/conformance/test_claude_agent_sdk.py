"""The Claude Agent SDK: its own suite of 14 contracts for stores, and what ours promises beyond them."""

from __future__ import annotations

import asyncio
import itertools
import json
import runpy
from pathlib import Path

import pytest

pytest.importorskip("claude_agent_sdk")

from claude_agent_sdk import (
    fork_session_via_store,
    get_session_messages_from_store,
    list_sessions_from_store,
    project_key_for_directory,
)
from claude_agent_sdk.testing import run_session_store_conformance

from firsthand import Kind, Memory
from firsthand.adapters.claude_agent_sdk import FirsthandSessionStore

SESSION = "0b4e2f6a-1c3d-4e5f-8a9b-0c1d2e3f4a5b"
KEY = {"project_key": "-srv-shop", "session_id": SESSION}


def entry(kind, content, number, **fields):
    message = {"role": kind, "content": content}
    uuid = f"0b4e2f6a-1c3d-4e5f-8a9b-{number:012d}"
    return {
        "parentUuid": None, "isSidechain": False, "type": kind, "message": message, "uuid": uuid, "cwd": "/srv/shop",
        "timestamp": f"2026-11-22T10:00:{number:02d}.000Z", "sessionId": SESSION, **fields,
    }  # fmt: skip


CALL = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make"}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "41 passed \ud800"}
ENTRIES = [
    entry("user", "The staging database moved to db7.internal:5433.", 1),
    entry("assistant", [{"type": "text", "text": "Noted."}, CALL], 2),
    entry("user", [RESULT], 3, toolUseResult={"stdout": "41 passed \ud800"}),
    {"type": "custom-title", "customTitle": "Staging", "sessionId": SESSION},
    {"type": "unheard of", "n": 0.1, "deep": [None, {"a": True}]},
    entry("assistant", [{"type": "text", "text": "All 41 pass."}], 4),
]


def test_the_suite_of_the_sdk(tmp_path):
    """All 14 contracts of the SDK's own suite hold, none skipped."""
    numbers, memories = itertools.count(), []

    def make():
        memories.append(Memory(tmp_path / f"store {next(numbers)}", embedder="none"))
        return FirsthandSessionStore(memories[-1])

    asyncio.run(run_session_store_conformance(make))
    assert len(memories) >= 14
    for memory in memories:
        assert memory.verify().ok
        memory.close()


def test_what_is_appended_is_memory(memory):
    """Entries are events of their kinds, found by recall, and their session is the agent's."""
    store = FirsthandSessionStore(memory, agent="ada")
    asyncio.run(store.append(KEY, ENTRIES))
    assert asyncio.run(store.load(KEY)) == ENTRIES
    events = [*memory.events("claude:-srv-shop/" + SESSION)]
    assert [str(event.kind) for event in events] == [
        "user_message", "agent_message", "tool_call", "tool_result", "session", "other", "agent_message",
    ]  # fmt: skip
    assert events[3].meta["tool"] == "Bash"
    assert memory.recall("db7.internal").hits[0].pointer == events[0].pointer
    assert memory.agent("ada").sessions() == ("claude:-srv-shop/" + SESSION,)


def test_300_entries(memory):
    """In batches of seven, with a new store object for each, all 300 come back equal and in order."""
    roles = ("assistant", "user")
    said = [entry(roles[n % 2], f"step {n} wrote page q{n}q", n % 60, uuid=f"u{n}") for n in range(300)]
    for start in range(0, 300, 7):
        asyncio.run(FirsthandSessionStore(memory, agent="ada").append(KEY, said[start : start + 7]))
    store = FirsthandSessionStore(memory, agent="ada")
    assert asyncio.run(store.load(KEY)) == said
    assert "q17q" in memory.recall("q17q").hits[0].preview
    asyncio.run(store.append(KEY, [entry("user", "Commit it.", 59, uuid="last")]))
    assert len(asyncio.run(store.end())) == 1


def test_the_example_runs(tmp_path):
    """The example runs without a network, and the next session is told of the first."""
    example = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "claude_agent_sdk_sessions.py"))
    with Memory(tmp_path / "store", embedder="none") as memory:
        assert "db7.internal:5433" in asyncio.run(example["run"](memory, str(tmp_path)))


def test_a_repeat_is_skipped_and_a_new_form_replaces(memory):
    """The same uuid again adds nothing; with other words it stands in the old place, and the old form in the log."""
    store = FirsthandSessionStore(memory)
    asyncio.run(store.append(KEY, ENTRIES[:2]))
    asyncio.run(store.append(KEY, ENTRIES[:2]))
    assert asyncio.run(store.load(KEY)) == ENTRIES[:2]
    position = memory.position
    changed = {**ENTRIES[0], "message": {"role": "user", "content": "It moved to db8."}}
    asyncio.run(store.append(KEY, [changed, ENTRIES[3], ENTRIES[3]]))
    assert asyncio.run(store.load(KEY)) == [changed, ENTRIES[1], ENTRIES[3], ENTRIES[3]]
    assert memory.position == position + 3
    assert "db7" in next(event.text for event in memory.events(kind=Kind.USER_MESSAGE))


def test_what_is_deleted_stays_in_the_log(memory):
    """A deleted session leaves the lists with all below it, can begin anew, and its events are still there."""
    store = FirsthandSessionStore(memory)
    below = {**KEY, "subpath": "subagents/agent-1"}

    async def main():
        await store.append(KEY, ENTRIES)
        await store.append(below, ENTRIES[:1])
        assert await store.list_subkeys(KEY) == ["subagents/agent-1"]
        await store.delete(KEY)
        assert [await store.load(KEY), await store.load(below)] == [None, None]
        assert await store.list_sessions("-srv-shop") == []
        await store.append(KEY, ENTRIES[-1:])
        assert await store.load(KEY) == ENTRIES[-1:]

    asyncio.run(main())
    assert memory.recall("db7.internal").hits != ()


def test_the_helpers_of_the_sdk_read_it(memory, tmp_path):
    """The SDK lists, reads and forks sessions of the store."""
    store = FirsthandSessionStore(memory)
    key = {"project_key": project_key_for_directory(str(tmp_path)), "session_id": SESSION}

    async def main():
        await store.append(key, ENTRIES)
        (listed,) = await list_sessions_from_store(store, directory=str(tmp_path))
        assert (listed.session_id, listed.custom_title) == (SESSION, "Staging")
        messages = await get_session_messages_from_store(store, SESSION, directory=str(tmp_path))
        assert [message.type for message in messages] != []
        forked = await fork_session_via_store(store, SESSION, directory=str(tmp_path))
        assert len(await store.load({**key, "session_id": forked.session_id})) >= 3

    asyncio.run(main())


def test_sessions_are_told_and_end_in_episodes(memory, tmp_path):
    """Options have the preamble, a hook that recalls, and the tools; an ended session is the next one's preamble."""
    store = FirsthandSessionStore(memory, agent="ada")
    key = {"project_key": project_key_for_directory(str(tmp_path)), "session_id": SESSION}

    async def main():
        options = await store.options(cwd=str(tmp_path), system_prompt="Be brief.", max_turns=3)
        assert (options.session_store, options.max_turns) == (store, 3)
        assert options.system_prompt.startswith("Be brief.")
        await store.append(key, ENTRIES)
        assert len(await store.end()) == 1
        (hook,) = options.hooks["UserPromptSubmit"][0].hooks
        call = {
            "hook_event_name": "UserPromptSubmit",
            "session_id": "other",
            "cwd": str(tmp_path),
            "transcript_path": "",
        }
        answer = await hook({**call, "prompt": "On which port of db7.internal does staging listen?"}, None, {})
        assert "db7.internal:5433" in answer["hookSpecificOutput"]["additionalContext"]
        assert await hook({**call, "prompt": "ok"}, None, {}) == {}
        options = await store.options(cwd=str(tmp_path))
        assert "db7.internal" in options.system_prompt["append"]
        assert set(options.mcp_servers) == {"firsthand"}
        await store.append({**key, "session_id": "other"}, [
            {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": [
                answer["hookSpecificOutput"]["additionalContext"]]}, "uuid": "x", "sessionId": "other"}])  # fmt: skip
        hits = memory.recall("db7.internal:5433").hits
        assert [hit for hit in hits if hit.session.endswith("/other")] == []  # what was recalled is no memory

    asyncio.run(main())


def test_a_store_that_refuses_is_an_error_of_append_and_no_end_of_the_run(memory, tmp_path):
    """Appends raise, so that the SDK tries again; hooks give nothing and say it once."""
    store = FirsthandSessionStore(memory)
    memory.close()

    async def main():
        with pytest.raises(Exception, match="closed"):
            await store.append(KEY, ENTRIES)
        options = await store.options(cwd=str(tmp_path))
        (hook,) = options.hooks["UserPromptSubmit"][0].hooks
        call = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": str(tmp_path), "prompt": "which port?"}
        assert "degraded" in json.dumps(await hook(call, None, {}))
        assert await hook(call, None, {}) == {}

    asyncio.run(main())
    memory.__init__(tmp_path / "store", embedder="none")


def test_two_namespaces_never_see_each_other(tmp_path):
    """The same project and session in two namespaces of one store are two sessions."""
    stores = {}
    for name in ("red", "blue"):
        stores[name] = FirsthandSessionStore(Memory(tmp_path / "store", namespace=name, embedder="none"))
        asyncio.run(stores[name].append(KEY, [entry("user", f"canary {name}", 1)]))
    for name, store in stores.items():
        (loaded,) = asyncio.run(store.load(KEY))
        assert loaded["message"]["content"] == f"canary {name}"
        store._memory.close()
