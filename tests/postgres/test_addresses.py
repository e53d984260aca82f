"""A store at an address, wherever a folder is asked for: the command line, hooks and the server of several machines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hook_runs import Hooked, claude_prompt, until
from postgres_server import APPLICATION

from firsthand import Memory, environment
from firsthand.errors import InvalidArgument
from firsthand.server import hook_client


@pytest.fixture
def address(server, database) -> str:
    return f"postgresql://{APPLICATION}@/{database}?host={server.folder}"


@pytest.fixture
def machines(address, tmp_path) -> Iterator[list[Hooked]]:
    """Two users in homes of their own, whose hooks record into one store."""
    users = [Hooked(tmp_path / name, FIRSTHAND_STORE=address) for name in ("a", "b")]
    yield users
    for user in users:
        user.end()


def folder_of(user: Hooked) -> Path:
    (folder,) = (user.home / ".local" / "share" / "firsthand" / "stores").iterdir()
    return folder


def texts(user: Hooked) -> set[str]:
    lines = user.command("--json", "timeline", "--kind", "user_message").stdout.splitlines()
    return {json.loads(line)["text"] for line in lines}


def test_hooks_of_two_machines_have_one_memory(machines) -> None:
    """A prompt that a hook of one machine records is recalled on the other, by the command line and by the server."""
    one, other = machines
    assert one.hook(claude_prompt("the staging database listens on port 5599", "s1"), "claude-code").code == 0
    assert other.hook(claude_prompt("the lamp of the office is green", "s2"), "claude-code").code == 0
    assert until(lambda: "port 5599" in other.command("recall", "staging database port").stdout, 60)
    assert until(lambda: "lamp of the office" in one.command("recall", "lamp office").stdout, 60)
    assert one.command("store", "head").stdout == other.command("store", "head").stdout
    assert json.loads(one.command("store", "verify", "--json").stdout.splitlines()[0])["ok"]
    for user in machines:  # what is the machine's own is there, and no store
        assert (folder_of(user) / "hooks").is_dir()
        assert not (folder_of(user) / "firsthand.db").exists()


def test_what_is_erased_on_one_machine_is_gone_on_the_other(machines) -> None:
    """No file of either machine holds the words of an event that one of them erased, once the other has answered."""
    one, other = machines
    assert one.hook(claude_prompt("the password is xylophone77", "s1"), "claude-code").code == 0
    assert until(lambda: "xylophone77" in other.command("recall", "password").stdout, 60)
    assert one.command("store", "erase", "--containing", "xylophone77", "--yes").returncode == 0
    assert "xylophone77" not in other.command("recall", "password").stdout
    for user in machines:
        replicas = user.home / ".cache" / "firsthand" / "replicas"
        assert not [file for file in replicas.rglob("*") if file.is_file() and b"xylophone77" in file.read_bytes()]


def test_a_path_to_the_machines_folder_opens_the_store(address, tmp_path, monkeypatch) -> None:
    """The folder that stands for an address opens the same store, and its settings are the machine's own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with Memory(address, embedder="none") as memory:
        memory.session("s").user("the lamp is green")
        with Memory(memory.path, read_only=True, embedder="none") as again:
            assert again.identity == memory.identity
            assert again.recall("lamp").hits
        assert memory.path == environment.store_folder(address)
    assert not [*(tmp_path / "data").rglob("firsthand.db")]


@pytest.mark.parametrize(
    "named",
    [
        "postgresql://application:geheim@db.example:5432/store?sslmode=require&password=geheim",
        "postgresql:///?service=team", "postgres://a_b@h,i/x", "postgresql://..", "postgresql://ü@höst/st ore",
    ],
)  # fmt: skip
def test_the_hooks_client_names_the_same_folder(named, tmp_path, monkeypatch) -> None:
    """The client, which imports nothing of the package, gives the same folder as the package, without the password."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    folder = hook_client.store_folder(named)
    assert (Path(folder) / environment.ADDRESS_FILE).read_text() == named
    assert environment.store_folder(named) == Path(folder)
    assert "geheim" not in folder
    assert Path(folder).parent == tmp_path / "firsthand" / "stores"
    assert (Path(folder) / environment.ADDRESS_FILE).stat().st_mode & 0o777 == 0o600


def test_an_address_that_is_too_long_for_a_folder_is_refused(tmp_path, monkeypatch) -> None:
    """What cannot name a folder is refused with what to do instead."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with pytest.raises(InvalidArgument, match="service file"):
        environment.store_folder("postgresql://h/" + "x" * 300)


def test_an_export_of_all_namespaces_is_refused_not_cut(machines) -> None:
    """What one handle cannot read is not left out of an export without a word."""
    user = machines[0]
    assert user.command("note", "add", "the lamp is green").returncode == 0
    said = user.command("store", "export", "--all", user.home / "all.jsonl")
    assert said.returncode != 0
    assert "one namespace" in said.stderr
    assert user.command("store", "export", user.home / "one.jsonl").returncode == 0


def test_the_replicas_of_a_machine_are_measured_pruned_and_told_of(machines) -> None:
    """`store size` counts replicas, `store prune replicas` removes them, and a notice is told until it is accepted."""
    user = machines[0]
    assert user.command("import", "--help").returncode == 0
    assert user.command("note", "add", "the lamp is green").returncode == 0
    parts = {part["name"]: part for part in json.loads(user.command("store", "size", "--json").stdout)["parts"]}
    assert parts["replicas"]["bytes"] > 50_000
    assert "log" not in parts
    replicas = user.home / ".cache" / "firsthand" / "replicas"
    other = next(replicas.glob("*/*.use"))
    (header,) = replicas.glob("*/*/replica.json")
    header.write_text(header.read_text().replace('"position": 1', '"position": 7'))
    assert "was begun anew" in user.command("store", "verify").stdout
    assert user.command("store", "accept-head").returncode == 0
    assert "was begun anew" not in user.command("store", "verify").stdout
    user.command("--namespace", "second", "note", "add", "the lamp is red")
    assert len([*replicas.glob("*/*.use")]) == 2
    assert user.command("--namespace", "second", "store", "prune", "replicas").returncode == 0
    assert not other.exists()
    assert "lamp is green" in user.command("recall", "lamp").stdout
