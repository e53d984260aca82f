"""The stores that a daemon holds open: each call has an open one, whoever lets others go meanwhile."""

from __future__ import annotations

import pytest

from firsthand import Memory
from firsthand.server import daemon_stores
from firsthand.server.daemon_stores import Stores, identity_of
from firsthand.server.hook_client import Call


@pytest.fixture
def calls(tmp_path):
    """Two stores, as calls name them."""
    named = [str(tmp_path / name) for name in ("one", "two")]
    for path in named:
        Memory.open(path).close()
    yield [Call(store=path, namespace="default", embedder="none") for path in named]
    for path in named:
        with Memory.open(path, read_only=True) as memory:
            assert memory.verify().ok


def test_a_store_that_is_let_go_while_a_call_asks_for_it_is_opened_anew(calls, monkeypatch):
    """Between the look at a store and its use another call may need the room; nobody is given a closed one."""
    one, two = calls
    stores = Stores(handles_max=1)
    with stores.of(one) as memory:
        memory.session("s").user("first")
    waiting = [two]

    def looked_at(store: str) -> tuple[int, int]:
        while waiting:
            with stores.of(waiting.pop()) as other:  # another thread's call, at the worst moment
                other.session("s").user("other")
        return identity_of(store)

    monkeypatch.setattr(daemon_stores, "identity_of", looked_at)
    for text in ("second", "third"):
        with stores.of(one) as memory:
            memory.session("s").user(text)
            assert len(list(memory.events("s"))) >= 2
    stores.close()
    assert stores.names() == []


def test_at_most_so_many_stores_are_held_open(calls):
    """The one that was used longest ago is let go; one in use stays open until its call is done."""
    one, two = calls
    stores = Stores(handles_max=1)
    with stores.of(one) as memory:
        with stores.of(two):
            assert stores.names() == sorted([one.store, two.store])
        memory.session("s").user("still open")
    with stores.of(two):
        assert stores.names() == [two.store]
    stores.close()
