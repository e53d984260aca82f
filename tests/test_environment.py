"""What is read from the environment, and what stands where nothing is set."""

from __future__ import annotations

from pathlib import Path

import pytest

from firsthand import environment
from firsthand.server import hook_client


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


def test_the_runtime_folder(monkeypatch, tmp_path):
    """Sockets lie in the user's runtime folder, else below the home; the hooks' script, which is alone, agrees."""
    for value, folder in (("", f"{tmp_path}/.firsthand/run"), ("no/absolute/path", f"{tmp_path}/.firsthand/run"),
                          ("/run/user/7", "/run/user/7/firsthand")):  # fmt: skip
        monkeypatch.setenv("XDG_RUNTIME_DIR", value)
        assert environment.runtime_folder() == hook_client.runtime_folder() == folder
