"""A machine where the user has no home, the clock is absurd, or the folder is everybody's: errors say what to do."""

from __future__ import annotations

import pwd
import time

import pytest

from firsthand import Memory, environment
from firsthand.cli import cli
from firsthand.cli.exits import REFUSED
from firsthand.errors import InvalidArgument, StoreFailed
from firsthand.hosts.places import usual_places
from firsthand.moment import now

YEAR_NS = 31_556_952 * 1_000_000_000


@pytest.fixture
def homeless(monkeypatch):
    """A user without HOME and without an entry in the list of users."""

    def unknown(number):
        raise KeyError(number)

    for name in ("HOME", "XDG_RUNTIME_DIR", "FIRSTHAND_STORE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)


def test_a_user_without_a_home_is_told_to_name_the_store(homeless, tmp_path, monkeypatch):
    """Every way to the default store or the home folder is one typed error; a store that is named works."""
    for verb in (environment.home, environment.default_store, Memory.open, usual_places):
        with pytest.raises(InvalidArgument, match="Set HOME, or name the store by its path"):
            verb()
    monkeypatch.setenv("FIRSTHAND_STORE", "~/store")
    with pytest.raises(InvalidArgument, match="Set HOME"):
        Memory.open()
    with Memory.open(tmp_path / "store") as memory:
        assert memory.session("s").note("x").position == 1
        assert memory.verify().ok


@pytest.mark.parametrize(
    "words",
    [
        "store size", "recall x", "doctor", "install codex --yes", "uninstall codex", "install", "uninstall",
        "agent jobs", "import", "store verify", "agent switch recall off", "note add x", "store export -",
        "agent sleep", "agent list", "agent episodes", "store follow", "store erase fh:x", "agent digest",
    ],
)  # fmt: skip
def test_no_command_of_a_user_without_a_home_shows_a_traceback(homeless, capsys, monkeypatch, words, tmp_path):
    """Each command that needs the home folder is refused with what to set."""
    monkeypatch.chdir(tmp_path)
    assert cli.main(words.split()) == REFUSED
    assert "Set HOME" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "clock", [lambda: 10_000 * YEAR_NS, lambda: -20_000 * YEAR_NS, lambda: int("x")], ids=["10000", "-20000", "none"]
)
def test_a_clock_outside_of_all_years_is_named_and_nothing_is_written(tmp_path, monkeypatch, clock):
    """An append by a machine without a usable time is a typed error; with the clock set, the same handle goes on."""
    with Memory.open(tmp_path / "store") as memory:
        memory.session("s").note("before")
        with monkeypatch.context() as patched:
            patched.setattr(time, "time_ns", clock)
            for verb in (now, lambda: memory.session("s").note("at no time")):
                with pytest.raises(InvalidArgument, match="set the clock"):
                    verb()
        memory.session("s").note("after")
        assert [event.text for event in memory.events()] == ["before", "after"]
        assert memory.verify().ok


def test_no_store_is_made_in_a_fresh_folder_of_everybodys(tmp_path):
    """A new folder that every user may write to, sticky or not, is refused, and works once it is the user's own."""
    root = tmp_path / "store"
    root.mkdir()
    for mode in (0o777, 0o1777, 0o702):
        root.chmod(mode)
        with pytest.raises(StoreFailed, match=f"chmod 700 {root}"):
            Memory.open(root)
        assert list(root.iterdir()) == []
    root.chmod(0o700)
    with Memory.open(root) as memory:
        assert memory.session("s").note("x").position == 1
        assert memory.verify().ok
