"""Two laptops and a server append, erase and sync in any order, cut anywhere: nothing is lost or brought back."""

from __future__ import annotations

import itertools
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("starlette", reason="the extra agents is not installed")
pytest.importorskip("jinja2", reason="the extra agents is not installed")
pytest.importorskip("httpx", reason="the extra client is not installed")

from between import Cutting

from firsthand import Memory
from firsthand.errors import ServerFailed
from firsthand.server.daemon_stores import Stores
from firsthand.server.http_server import HttpServer
from firsthand.sync.exchange import sync
from stores import SOAK

NUMBERS = itertools.count()
SIDES = ("desk", "train", "served")
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.sampled_from(SIDES), st.sampled_from("xy"), st.integers(1, 3)),
        st.tuples(st.just("erase"), st.sampled_from(SIDES), st.integers(0, 5)),
        st.tuples(st.just("sync"), st.sampled_from(SIDES[:2]), st.none() | st.integers(0, 9_000)),
    ),
    min_size=4, max_size=14,
)  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server whose store has a namespace for each example."""
    folder = tmp_path_factory.mktemp("sync")
    with pytest.MonkeyPatch.context() as patch:
        for name, setting in (("STORE", folder / "served"), ("EMBEDDER", "none")):
            patch.setenv(f"FIRSTHAND_{name}", str(setting))
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        patch.setattr("firsthand.client.LOST_S", 0.05)
        stores = Stores()
        http = HttpServer(stores, lambda _line: None, port=0)
        http.start()
        yield http.url, folder
        http.stop()
        stores.close()


@settings(max_examples=300 if SOAK else 10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(operations=OPERATIONS)
def test_any_interleaving_ends_with_equal_sessions_or_a_named_fork(server, operations):
    """Whatever happened, two more syncs of each laptop leave every session equal, or named a fork; all stores whole."""
    url, folder = server
    number = next(NUMBERS)
    places = {side: folder / (side if side == "served" else f"{side} {number}") for side in SIDES}
    memories = {side: Memory(place, namespace=f"tenant {number}") for side, place in places.items()}
    appended, erased = {}, set()
    for operation, side, *how in operations:
        memory = memories[side]
        if operation == "append":
            for _ in range(how[1]):
                text = f"message {len(appended)} " + "x" * 300
                appended[memory.session(how[0]).user(text).id] = text
        elif operation == "erase":
            here = [event.id for event in memory.events() if event.id in appended and not event.erased]
            for name in here[how[0] : how[0] + 1]:
                memory.erase([f"fh:{name}"])
                erased.add(name)
        elif how[0] is None:
            sync(memory, url)
        else:
            between = Cutting(url, how[0])
            with suppress(ServerFailed):
                sync(memory, between.url)
            between.close()
    for _ in range(2):
        ends = {side: sync(memories[side], url) for side in SIDES[:2]}
    forks = {side: {each.session for each in ends[side].outcomes if each.what == "fork"} for side in ends}
    assert all(each.is_well or each.what == "fork" for end in ends.values() for each in end.outcomes)
    served = {session.name: session.head for session in memories["served"].sessions()}
    for side in ends:
        heads = {session.name: session.head for session in memories[side].sessions()}
        assert {name for name in served.keys() | heads if served.get(name) != heads.get(name)} == forks[side]
    seen = set()
    for memory in memories.values():
        for event in memory.events():
            seen.add(event.id)
            if event.id in appended:
                assert event.erased == (event.id in erased)
                assert event.erased or memory.expand(event.pointer).decode() == appended[event.id]
        assert memory.verify().problems == ()
        memory.close()
    assert seen >= appended.keys()
