"""The Hermes provider, driven by a made host through the whole protocol in Hermes' order, faults included."""

from __future__ import annotations

import importlib.util
import json
import sys
import types
from pathlib import Path

import pytest

from firsthand import Kind, Memory
from firsthand.adapters import hermes
from firsthand.adapters.hermes import FirsthandProvider

PLUGIN = Path(__file__).parents[2] / "plugins" / "hermes"


class Host:
    """What Hermes does with a provider: the same calls in the same order, with its list of messages."""

    def __init__(self, provider, home, session="s1", **facts):
        self.provider, self.messages = provider, []
        provider.initialize(session, hermes_home=str(home), platform="cli", **facts)
        self.system = provider.system_prompt_block()

    def turn(self, text, *, calls=(), answer="done"):
        """Have a turn; gives what was prefetched, and the results of the tool calls."""
        self.provider.on_turn_start(1, text) if hasattr(self.provider, "on_turn_start") else None
        put_in = self.provider.prefetch(text, session_id="s1")
        self.messages.append({"role": "user", "content": text})
        results = []
        for number, (name, arguments) in enumerate(calls):
            call = {"id": f"c{len(self.messages)}{number}", "type": "function",
                    "function": {"name": name, "arguments": json.dumps(arguments)}}  # fmt: skip
            results.append(self.provider.handle_tool_call(name, arguments))
            self.messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
            self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": results[-1]})
        self.messages.append({"role": "assistant", "content": answer})
        self.provider.sync_turn(text, answer, session_id="s1", messages=self.messages)
        return put_in, [json.loads(one) for one in results]

    def compress(self):
        """Compress the past into a summary, as Hermes does, with what the provider adds."""
        said = self.provider.on_pre_compress(self.messages)
        self.messages = [{"role": "assistant", "content": f"summary. {said}"}, *self.messages[-2:]]
        return said


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("FIRSTHAND_STORE", str(tmp_path / "store"))
    yield tmp_path
    if (tmp_path / "store" / "firsthand.db").exists():
        with Memory.open(tmp_path / "store", read_only=True) as memory:
            assert memory.verify().problems == ()


@pytest.fixture
def provider():
    one = FirsthandProvider()
    yield one
    one.shutdown()


def test_a_whole_life(home, provider):
    """Start, turns with tools, a compression, the end, and a next session that is told of the first."""
    host = Host(provider, home)
    assert "Call recall before you say that you do not know" in host.system
    host.turn("the staging database is db7.internal:5544", answer="noted: db7.internal:5544")
    _, (recalled, kept) = host.turn(
        "which port?",
        calls=[
            ("firsthand_recall", {"query": "db7.internal:5544"}),
            ("firsthand_remember", {"text": "ask before touching db7.internal", "sort": "rule"}),
        ],
        answer="5544",
    )
    assert recalled["outcome"] == "found"
    assert kept["new"] is True
    assert "db7.internal:5544" in host.compress()
    host.turn("migrate the invoices table now", answer="migrated the invoices table of the shop")
    provider.on_session_end(host.messages)
    provider.on_session_switch("s2", parent_session_id="s1", reset=True)
    told = provider.system_prompt_block()
    assert "migrated the invoices table" in told
    assert "## " in told
    with Memory.open(home / "store", read_only=True) as memory:
        said = [one.text for one in memory.events("hermes:s1") if one.kind is Kind.USER_MESSAGE]
        assert said == ["the staging database is db7.internal:5544", "which port?", "migrate the invoices table now"]
        assert [one.meta["session"] for one in memory.agent("hermes").own(Kind.EPISODE)] == ["hermes:s1"]


def test_what_was_recalled_is_not_stored_again(home, provider):
    """The answer of our own tool in Hermes' list of messages is kept, and is no memory that recall finds."""
    host = Host(provider, home)
    host.turn("the licence key is QX-99-ALPHA")
    host.turn("what was it?", calls=[("firsthand_recall", {"query": "QX-99-ALPHA"})], answer="I looked it up.")
    with Memory.open(home / "store", read_only=True) as memory:
        results = [one for one in memory.events("hermes:s1") if one.kind is Kind.TOOL_RESULT]
        assert [one.is_searchable for one in results] == [False]
        assert [hit.kind for hit in memory.recall("QX-99-ALPHA").hits if hit.kind is Kind.TOOL_RESULT] == []


def test_tools_are_functions_and_errors_are_json(home, provider):
    """Every tool has a name of its own and a schema; what a model does wrong comes back as JSON under error."""
    Host(provider, home)
    schemas = provider.get_tool_schemas()
    assert [one["name"] for one in schemas] == [
        f"firsthand_{name}" for name in ("recall", "expand", "remember", "decide", "timeline", "health")
    ]
    assert all(one["parameters"]["type"] == "object" for one in schemas)
    for name, arguments in (
        ("firsthand_recall", {}),
        ("firsthand_expand", {"pointer": "x"}),
        ("firsthand_nothing", {}),
    ):
        assert "was not done" in json.loads(provider.handle_tool_call(name, arguments))["error"]


def test_a_session_that_is_not_the_primary_one_records_nothing(home, provider):
    """A subagent's or a scheduled run's session, and an inspection, are told things and leave no event."""
    for context in ("subagent", "cron", "flush"):
        Host(provider, home, context, agent_context=context).turn("remember this")
        provider.on_memory_write("add", "user", "a fact")
        provider.on_session_end([{"role": "user", "content": "remember this"}])
    provider.initialize_for_inspection("inspect", hermes_home=str(home))
    with Memory.open(home / "store", read_only=True) as memory:
        assert list(memory.events()) == []


def test_a_store_that_cannot_be_opened_is_told_everywhere(home, provider):
    """Where the store is no store nothing is raised: the prompt, the tools and the reason say what is wrong."""
    (home / "photos").mkdir()
    (home / "photos" / "cat.jpg").write_bytes(b"x")
    provider.save_config({"store": str(home / "photos"), "agent": "", "colour": "red"}, str(home))
    host = Host(provider, home)
    assert "cannot be opened" in host.system
    assert "cannot be opened" in provider.unavailable_reason()
    put_in, (answer,) = host.turn("hello there", calls=[("firsthand_recall", {"query": "x"})])
    assert put_in == ""
    assert "cannot be opened" in answer["error"]
    assert provider.on_pre_compress(host.messages) == ""
    provider.on_session_end(host.messages)
    provider.on_session_switch("s2", reset=True)


@pytest.mark.parametrize("written", ["{", "[]", "\x00"])
def test_settings_that_cannot_be_read_are_told(home, provider, written):
    """A damaged settings file is named, and no other store than the one meant is used."""
    (home / "firsthand.json").write_text(written)
    assert "cannot be opened" in Host(provider, home).system
    assert not (home / "store").exists()


def test_settings_name_store_and_agent(home, provider):
    """What was set up is kept in Hermes' folder and heeded; the profile names the agent otherwise."""
    provider.save_config({"store": str(home / "other"), "agent": "me", "colour": "red"}, str(home))
    assert json.loads((home / "firsthand.json").read_text()) == {"store": str(home / "other"), "agent": "me"}
    Host(provider, home).turn("hello there, remember me")
    assert provider.backup_paths() == [str(home / "other")]
    with Memory.open(home / "other", read_only=True) as memory:
        assert memory.agent("me").sessions() == ("hermes:s1",)
        assert memory.verify().problems == ()


def test_what_hermes_writes_into_its_memory_is_a_note(home, provider):
    """An addition is kept as a note of the agent's; a removal there removes nothing here."""
    Host(provider, home, agent_identity="coder")
    provider.on_memory_write("add", "user", "the user prefers tabs")
    provider.on_memory_write("remove", "user", "the user prefers tabs")
    with Memory.open(home / "store", read_only=True) as memory:
        assert [one.text for one in memory.agent("coder").own(Kind.NOTE)] == ["the user prefers tabs"]


def test_recall_status_is_of_the_newest_prefetch(home, provider):
    """The status counts what the newest prefetch brought up, and is None when that was nothing."""
    Host(provider, home)
    assert provider.recall_status() is None
    provider._recalled = 2
    assert (provider.recall_status().provider_label, provider.recall_status().count) == ("Firsthand", 2)
    provider.prefetch("ok")
    assert provider.recall_status() is None
    provider._recalled = 2
    provider.shutdown()
    assert (provider.prefetch("what was it?"), provider.recall_status()) == ("", None)


def test_a_turn_without_messages_is_recorded_from_its_texts(home, provider):
    """An older Hermes gives the two texts alone; they are recorded."""
    Host(provider, home)
    provider.sync_turn("what is up?", "all is well")
    with Memory.open(home / "store", read_only=True) as memory:
        said = [one.text for one in memory.events("hermes:s1")]
        assert said == ["what is up?", "all is well"]


def test_hermes_own_base_class_is_used_where_it_is_installed(monkeypatch):
    """With Hermes' module there, the provider is one of its providers; with a broken one the error is not hidden."""
    made = types.ModuleType("agent.memory_provider")
    made.MemoryProvider = type("MemoryProvider", (), {})
    package = types.ModuleType("agent")
    monkeypatch.setitem(sys.modules, "agent", package)
    monkeypatch.setitem(sys.modules, "agent.memory_provider", made)
    assert hermes._base() is made.MemoryProvider


def test_the_plugin_folder_registers_the_provider():
    """The plugin's module hands Hermes one provider, named as its plugin.yaml says."""
    spec = importlib.util.spec_from_file_location("firsthand_hermes_plugin", PLUGIN / "__init__.py")
    plugin = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(plugin)
    given = []
    plugin.register(types.SimpleNamespace(register_memory_provider=given.append))
    assert [one.name for one in given] == ["firsthand"]
    assert "name: firsthand" in (PLUGIN / "plugin.yaml").read_text()
    assert "register_memory_provider" in (PLUGIN / "__init__.py").read_text()  # Hermes looks for the word
