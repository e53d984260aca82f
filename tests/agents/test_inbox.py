"""Messages between agents: off by default, within a namespace, data and no instruction."""

from __future__ import annotations

import pytest

from firsthand import InvalidArgument, Memory, Trust, Unresolvable


@pytest.fixture
def memory(tmp_path):
    with Memory.open(tmp_path / "store", embedder="none") as opened:
        (opened.path / "settings.json").write_text('{"inbox": true}')
        yield opened
        assert opened.verify().problems == ()


def test_messages_are_refused_until_the_receiver_allows_them(memory):
    """By default no agent takes messages, and the error says what to switch on."""
    (memory.path / "settings.json").write_text("{}")
    with pytest.raises(InvalidArgument, match="firsthand agent switch inbox on"):
        memory.agent("shop").tell("hello", sender="api")
    assert memory.agent("shop").messages() == ()


def test_the_settings_of_the_receivers_project_count(memory, tmp_path):
    """A project may refuse what the user allows: the folder of the newest session is looked at."""
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / ".firsthand.json").write_text('{"inbox": false}')
    memory.agent("shop").enrol("s", cwd=str(project))
    with pytest.raises(InvalidArgument, match="takes no messages"):
        memory.agent("shop").tell("hello", sender="api")


def test_a_message_is_untrusted_and_counts_as_read_once(memory):
    """It stands in the receiver's own session with who sent it and what it is about, and its words in no file."""
    about = memory.session("s").user("the schema").pointer
    agent = memory.agent("shop")
    sent = agent.tell("orders have changed", sender="api", about=[about])
    event = memory.event(sent.pointer)
    assert (event.session, event.trust, event.origin) == ("agent:shop", Trust.UNTRUSTED, "agent:api")
    assert agent.messages(unread=True) == (sent,)
    assert (sent.sender, sent.text, sent.about, sent.read) == ("api", "orders have changed", (about,), False)
    assert (agent.mark_read([sent]), agent.mark_read([sent.pointer]), agent.messages(unread=True)) == (1, 0, ())
    assert not [path for path in agent.folder.rglob("*") if path.is_file() and b"orders" in path.read_bytes()]


def test_no_message_crosses_a_namespace(memory):
    """An agent of the same name in another namespace has no such message, and cannot be pointed to what is here."""
    pointer = memory.agent("shop").tell("hello", sender="api").pointer
    with Memory.open(memory.path, namespace="other", embedder="none") as other:
        assert other.agent("shop").messages() == ()
        with pytest.raises(Unresolvable):
            other.agent("shop").tell("see", sender="api", about=[pointer])


@pytest.mark.parametrize(("text", "about"), [("", ()), (" \n", ()), ("x" * 8_001, ()), ("x", ["p"] * 17)])
def test_what_is_no_message_is_refused(memory, text, about):
    """Empty, too long, or about too much."""
    pointer = memory.session("s").user("x").pointer
    with pytest.raises(InvalidArgument, match="a message"):
        memory.agent("shop").tell(text, sender="api", about=[pointer for _ in about])


def test_a_full_inbox_takes_no_more(memory, monkeypatch):
    """When as many wait as may, the next one is refused until some are read."""
    from firsthand.agents import inbox

    monkeypatch.setattr(inbox, "UNREAD_MAX", 2)
    agent = memory.agent("shop")
    agent.tell("1", sender="api")
    agent.tell("2", sender="api")
    with pytest.raises(InvalidArgument, match="2 unread"):
        agent.tell("3", sender="api")
    agent.mark_read(agent.messages())
    assert agent.tell("3", sender="api").text == "3"
