"""A laptop's store and the server of another machine's user, both in files; what only such a server can meet."""

from __future__ import annotations

import json
import shutil

import pytest

pytest.importorskip("starlette", reason="the extra agents is not installed")
pytest.importorskip("jinja2", reason="the extra agents is not installed")
pytest.importorskip("httpx", reason="the extra client is not installed")

from between import Changing, Cutting
from sync_suite import SyncSuite, in_sync, whats

from firsthand import Memory
from firsthand.cli.cli import main
from firsthand.cli.exits import DAMAGED
from firsthand.errors import ServerFailed, StoreFailed
from firsthand.health.proof import accept_head
from firsthand.server.daemon_stores import Stores
from firsthand.server.http_server import HttpServer
from firsthand.sync.exchange import sync


@pytest.fixture
def serve(tmp_path, monkeypatch):
    """Start a server over a store; a second call stops the first one."""
    monkeypatch.setenv("FIRSTHAND_STORE", str(tmp_path / "served"))
    monkeypatch.setenv("FIRSTHAND_EMBEDDER", "none")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("FIRSTHAND_NAMESPACE", "team")
    running = []

    def start(port=0):
        stop()
        stores = Stores()
        http = HttpServer(stores, lambda _line: None, port=port)
        http.start()
        running.append((http, stores))
        return http.url

    def stop():
        while running:
            http, stores = running.pop()
            http.stop()
            stores.close()

    start.stop = stop
    yield start
    stop()


@pytest.fixture
def served(laptop, url):
    return laptop("served")


@pytest.fixture
def url(serve):
    return serve()


class TestSync(SyncSuite):
    pass


def test_a_server_that_was_put_back_is_noticed(serve, laptop, tmp_path):
    """What the server acknowledged and an older copy lacks is named until it is pushed again on purpose."""
    desk, url = laptop("desk"), serve()
    port = int(url.rpartition(":")[2])
    desk.session("deploy").user("first")
    desk.session("old").user("of last week")
    assert sync(desk, url).ok
    serve.stop()
    shutil.copytree(tmp_path / "served", tmp_path / "copy")
    assert serve(port) == url
    secret = desk.session("deploy").user("the password is sesame")
    desk.session("new").user("of today")
    assert sync(desk, url).ok
    desk.erase([secret])
    assert sync(desk, url).ok
    put_back(serve, tmp_path)
    serve(port)
    for _ in range(2):
        synced = sync(desk, url)
        assert whats(synced) == {"deploy": ("lost", 1), "new": ("lost", 0), "old": ("had", 0)}
        assert not synced.ok
    assert "--push-lost" in synced.outcomes[0].why
    assert whats(sync(desk, url, push_lost=True)) == {"deploy": ("pushed", 2), "new": ("pushed", 1), "old": ("had", 0)}
    assert sync(desk, url).outcomes == ()
    in_sync(desk, laptop("served"))


def test_a_server_that_was_put_back_and_written_since_is_noticed(serve, laptop, tmp_path):
    """Other events in the place of acknowledged ones are a loss, however whole the server's own chain is."""
    desk, url = laptop("desk"), serve()
    port = int(url.rpartition(":")[2])
    desk.session("deploy").user("first")
    sync(desk, url)
    serve.stop()
    shutil.copytree(tmp_path / "served", tmp_path / "copy")
    serve(port)
    desk.session("deploy").user("second")
    sync(desk, url)
    put_back(serve, tmp_path)
    served = laptop("served")
    served.session("deploy").user("something else")
    served.session("deploy").user("and more")
    serve(port)
    synced = sync(desk, url)
    assert whats(synced) == {"deploy": ("lost", 1)}
    assert "put back or changed" in synced.outcomes[0].why


def put_back(serve, folder):
    """Put the copy of the server's store in its place, as after a restore."""
    serve.stop()
    shutil.rmtree(folder / "served")
    shutil.move(folder / "copy", folder / "served")
    accept_head(folder / "served")


def test_what_a_cut_sync_had_acknowledged_is_known(serve, laptop, tmp_path, monkeypatch):
    """Events that were acknowledged before a sync broke off are missed like all others once the server lacks them."""
    desk, url = laptop("desk"), serve()
    desk.session("old").user("of last week")
    sync(desk, url)
    serve.stop()
    shutil.copytree(tmp_path / "served", tmp_path / "copy")
    desk.session("deploy").user("first")
    desk.session("deploy").tool_result("c", b"x" * 900_000, tool="cat")
    monkeypatch.setattr("firsthand.sync.tails.BYTES_MAX", 100)
    monkeypatch.setattr("firsthand.client.LOST_S", 0.1)
    url = serve()
    between = Cutting(url, 200_000)
    with pytest.raises(ServerFailed):
        sync(desk, between.url)
    between.close()
    assert len([*laptop("served").events("deploy")]) == 1
    put_back(serve, tmp_path)
    between = Cutting(serve(int(url.rpartition(":")[2])), 1 << 30, at=between.url)
    try:
        assert whats(sync(desk, between.url)) == {"deploy": ("lost", 0), "old": ("had", 0)}
    finally:
        between.close()


def test_another_store_behind_the_address_is_named(serve, laptop, tmp_path, capsys):
    """A store that replaced the server's is known by its identity; the command says so and exits as for damage."""
    desk, url = laptop("desk"), serve()
    port = int(url.rpartition(":")[2])
    desk.session("deploy").user("first")
    before = sync(desk, url).server
    serve.stop()
    shutil.rmtree(tmp_path / "served")
    serve(port)
    command = ["store", "sync", url, "--store", str(tmp_path / "desk"), "--namespace", "team"]
    assert main(command) == DAMAGED
    printed = capsys.readouterr().out
    assert f"answers where {before} did before" in printed
    assert "lost at 0" in printed
    assert main([*command, "--json", "--push-lost"]) == 0
    assert json.loads(capsys.readouterr().out)["outcomes"][0] | {"why": ""} == {
        "session": "deploy", "what": "pushed", "events": 1, "sequence": None, "why": "",
    }  # fmt: skip
    assert main(command) == 0
    assert capsys.readouterr().out.startswith("nothing new, had 1 session (")


def test_heads_that_were_seen_and_cannot_be_read_are_an_error(url, laptop, tmp_path):
    """A damaged file of heads is named with what it means to remove it, and nothing is exchanged."""
    desk = laptop("desk")
    desk.session("deploy").user("first")
    sync(desk, url)
    (file,) = (tmp_path / "state" / "firsthand" / "sync").iterdir()
    file.write_text("{}", encoding="utf-8")
    with pytest.raises(StoreFailed, match=str(file)):
        sync(desk, url)


def test_a_hole_or_a_damaged_event_here_is_named(url, laptop, tmp_path):
    """Events behind a missing or an unreadable one are not pushed: the other side could not chain them."""
    with Memory(tmp_path / "holed", namespace="team", embedder="none") as desk:
        for session in ("deploy", "plans"):
            for number in range(4):
                desk.session(session).user(f"message {number}")
        desk.log.exclusively(lambda db: db.execute("DELETE FROM event WHERE sequence = 2 AND session = 1"))
        desk.log.exclusively(lambda db: db.execute("UPDATE event SET body = x'00' WHERE sequence = 1 AND session = 2"))
        assert whats(sync(desk, url)) == {"deploy": ("gap", 2), "plans": ("bad link", 1)}


@pytest.mark.parametrize(
    ("path", "answer"),
    [("heads", {"ok": True}), ("heads", {"store": 5}), ("push", []), ("pull", {"events": [], "done": 0})],
)
def test_an_answer_of_another_shape_is_an_error(url, laptop, path, answer):
    """A server that answers something else, or gives nothing of what was asked, ends the sync in words."""
    desk, train = laptop("desk"), laptop("train")
    desk.session("deploy").user("first")
    if path == "pull":
        sync(desk, url)
    between = Changing(url, answered=lambda asked, fields: answer if asked.endswith(path) else fields)
    try:
        with pytest.raises(ServerFailed, match="expected"):
            sync(train if path == "pull" else desk, between.url)
    finally:
        between.close()
