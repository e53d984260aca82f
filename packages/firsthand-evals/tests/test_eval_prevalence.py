"""The command ``eval prevalence``: corpora are labelled by rule and counted."""

from __future__ import annotations

import json

from firsthand_evals.reclaim import prevalence


def test_corpora_are_counted_kept_and_listed(shell, tmp_path, monkeypatch):
    """Each corpus has a line with its shares (one of these talks is too short to count); the list has the result."""
    monkeypatch.chdir(tmp_path)
    gold = [list(messages) for messages, _ in prevalence.GOLD]
    (tmp_path / "gold.json").write_text(json.dumps(gold))
    words = ("eval", "prevalence", "--data", "gold=gold.json", "--conversations", "4", "--seed", "3", "--out", "kept")
    found = shell(*words)
    assert found.code == 0
    head, row = found.lines
    assert head.split() == ["corpus", "n", "compact", "diffuse", "none"]
    assert row.startswith("gold    4 of 5  ")
    told = shell(*words, "--json").json["corpus"]
    assert (told["corpus"], told["n"], told["found"]) == ("gold", 4, 5)
    assert sum(told[name]["hits"] for name in ("compact", "diffuse", "none")) == 4
    assert "last " in shell("eval", "list", "--out", "kept").text.partition("reclaim-prevalence")[2]


def test_a_corpus_that_holds_no_conversation_is_refused(shell, tmp_path):
    """A file without conversations says what was expected."""
    (tmp_path / "empty.json").write_text("[]")
    found = shell("eval", "prevalence", "--data", f"x={tmp_path / 'empty.json'}")
    assert (found.code, found.text) == (5, "")
    assert "conversation" in found.error
    for words, code, told in (
        (f"x={tmp_path}/none", 5, "is no file or folder that is there"),
        ("x", 2, "NAME=PATH such as chats=chats.jsonl"),
    ):
        found = shell("eval", "prevalence", "--data", words)
        assert (found.code, found.text) == (code, "")
        assert told in found.error
