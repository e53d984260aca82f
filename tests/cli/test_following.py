"""firsthand store follow, and what other commands say of vectors."""

from __future__ import annotations

import importlib.util

import pytest

from firsthand import Memory
from firsthand.cli.exits import DAMAGED, DONE, REFUSED

WORDLLAMA = pytest.mark.skipif(importlib.util.find_spec("wordllama") is None, reason="needs the extra static")


def test_follow_without_an_embedder(shell):
    """Without an embedder what speeds recall is brought up to date, and a remark says how to find by meaning."""
    shell.append("one")
    done = shell("store", "follow")
    assert (done.code, done.lines[0].partition(" (")[0]) == (DONE, "up to date through position " + head(shell))
    assert "FIRSTHAND_EMBEDDER=minilm" in done.error
    assert shell("store", "follow", "--json").json == {"head": int(head(shell)), "vectors": [], "index_faults": {}}
    assert "vectors" not in shell("store", "size").text


def test_an_index_of_another_version_is_said(shell):
    """An index that recall does not ask is told by follow and by stats, with the command that mends it."""
    shell.append("one")
    with Memory.open(shell.store) as memory:
        memory.follow()
        memory.log.exclusively(lambda db: db.execute("UPDATE text_index SET version = '0.9'"))
    done = shell("store", "follow")
    assert done.code == DAMAGED
    assert "text index  does not follow: the text index is of version 0.9" in done.text
    assert "firsthand store rebuild" in done.error
    assert "firsthand store rebuild" in shell("store", "size").text
    assert shell("store", "rebuild").code == DONE
    assert shell("store", "follow").code == DONE


def head(shell) -> str:
    return shell("store", "size", "--json").json["head"].partition(":")[0]


def test_an_embedder_that_cannot_be_had_is_said(shell, monkeypatch):
    """A word that names none is refused everywhere; a server that is not there is told, and words still find."""
    shell.append("one")
    monkeypatch.setenv("FIRSTHAND_EMBEDDER", "word2vec")
    for command in (("store", "follow"), ("recall", "x"), ("store", "size")):
        done = shell(*command)
        assert done.code == REFUSED
        assert "an embedder is named minilm, static, endpoint:URL#model, or none; got 'word2vec'" in done.error
    monkeypatch.setenv("FIRSTHAND_EMBEDDER", "none")
    assert shell("store", "follow", "--json").json["vectors"] == []
    monkeypatch.setattr("firsthand.index.embed.endpoint.PAUSE_SECONDS", 0.001)
    monkeypatch.setenv("FIRSTHAND_EMBEDDER", "endpoint:http://127.0.0.1:9/v1#small")
    done = shell("store", "follow")
    assert done.code == REFUSED
    assert "http://127.0.0.1:9/v1/embeddings could not be asked" in done.error
    assert "0 vectors of 0 dimensions by endpoint:http://127.0.0.1:9/v1/embeddings#small" in shell("store", "size").text


@WORDLLAMA
def test_vectors_follow_behind_an_import(shell, tmp_path, monkeypatch):
    """An import makes no vectors and says so; follow makes them; stats tells of them, whoever made them."""
    monkeypatch.setenv("FIRSTHAND_EMBEDDER", "static")
    source = tmp_path / "talk.jsonl"
    source.write_text("".join(f'{{"session": "s", "role": "user", "content": "line {n} of it"}}\n' for n in range(20)))
    done = shell("import", str(source))
    assert "vectors follow behind (20 events to go): firsthand store follow" in done.error
    assert shell("store", "follow").lines[0].endswith(", through the last event")
    assert "firsthand store follow" not in shell("import", str(source)).error
    (space,) = shell("store", "size", "--json").json["vectors"]
    assert (space["vectors"], space["dimension"], space["through"], space["current"]) == (20, 256, 20, True)
    assert "vectors were dropped and follow behind (20 events to go)" in shell("store", "rebuild").error
    assert shell("store", "follow").code == DONE
    monkeypatch.delenv("FIRSTHAND_EMBEDDER")
    assert shell("store", "follow").lines[0].endswith("through the last event; of another embedder, not used")
