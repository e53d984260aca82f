"""What is read from the environment, and what stands where nothing is set."""

from __future__ import annotations

from pathlib import Path

import pytest

from firsthand import environment


@pytest.fixture(autouse=True)
def _bare(monkeypatch, tmp_path):
    for name in (
        "FIRSTHAND_STORE", "FIRSTHAND_NAMESPACE", "FIRSTHAND_EMBEDDER", "FIRSTHAND_EMBEDDER_KEY", "NO_COLOR",
        "XDG_RUNTIME_DIR", "FIRSTHAND_LOOPBACK", "FIRSTHAND_DAEMON",
    ):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TERM", "xterm")


def test_the_store(monkeypatch, tmp_path):
    """The store is the one named, with ``~`` for the home folder, else ``~/.firsthand``; an empty name is none."""
    assert environment.default_store() == tmp_path / ".firsthand"
    monkeypatch.setenv("FIRSTHAND_STORE", "")
    assert environment.default_store() == tmp_path / ".firsthand"
    monkeypatch.setenv("FIRSTHAND_STORE", "~/elsewhere")
    assert environment.default_store() == tmp_path / "elsewhere"
    monkeypatch.setenv("FIRSTHAND_STORE", "/some/where")
    assert environment.default_store() == Path("/some/where")


def test_the_namespace(monkeypatch):
    """The namespace is the one named, else ``default``."""
    assert environment.default_namespace() == "default"
    monkeypatch.setenv("FIRSTHAND_NAMESPACE", "mine")
    assert environment.default_namespace() == "mine"


def test_the_embedder(monkeypatch):
    """The embedder and its key are those named; none is named where nothing, or nothing but emptiness, is set."""
    assert (environment.default_embedder(), environment.embedder_key()) == (None, None)
    monkeypatch.setenv("FIRSTHAND_EMBEDDER", "")
    monkeypatch.setenv("FIRSTHAND_EMBEDDER_KEY", "")
    assert (environment.default_embedder(), environment.embedder_key()) == (None, None)
    monkeypatch.setenv("FIRSTHAND_EMBEDDER", "minilm")
    monkeypatch.setenv("FIRSTHAND_EMBEDDER_KEY", "k3y")
    assert (environment.default_embedder(), environment.embedder_key()) == ("minilm", "k3y")


def test_the_key_of_a_model(monkeypatch):
    """The key for a model that an experiment asks is the one named; an empty one is none."""
    monkeypatch.setenv("FIRSTHAND_MODEL_KEY", "")
    assert environment.model_key() is None
    monkeypatch.setenv("FIRSTHAND_MODEL_KEY", "k3y")
    assert environment.model_key() == "k3y"


def test_plain_output(monkeypatch):
    """Output is plain when the user or the terminal says so."""
    assert not environment.plain_output()
    monkeypatch.setenv("TERM", "dumb")
    assert environment.plain_output()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    assert environment.plain_output()


def test_a_hook_s_store(monkeypatch, tmp_path):
    """A hook's store is the one on its command line, else the variable's, else the usual one: absolute, as a text."""
    assert environment.hook_store() == f"{tmp_path}/.firsthand"
    monkeypatch.setenv("FIRSTHAND_STORE", "~/elsewhere")
    assert environment.hook_store() == f"{tmp_path}/elsewhere"
    monkeypatch.chdir(tmp_path)
    assert environment.hook_store("here") == f"{tmp_path}/here"


def test_the_runtime_folder(monkeypatch, tmp_path):
    """Sockets lie in the user's runtime folder where the system has one, else in the store's usual place."""
    assert environment.runtime_folder() == f"{tmp_path}/.firsthand/run"
    monkeypatch.setenv("XDG_RUNTIME_DIR", "no/absolute/path")
    assert environment.runtime_folder() == f"{tmp_path}/.firsthand/run"
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/7")
    assert environment.runtime_folder() == "/run/user/7/firsthand"


def test_the_daemon_s_switches(monkeypatch):
    """A daemon is wanted unless it is switched off, and spoken to over a Unix socket unless told otherwise."""
    assert (environment.daemon_wanted(), environment.loopback()) == (True, False)
    monkeypatch.setenv("FIRSTHAND_DAEMON", "off")
    monkeypatch.setenv("FIRSTHAND_LOOPBACK", "1")
    assert (environment.daemon_wanted(), environment.loopback()) == (False, True)
