"""bench/stream_model_bench.py: what the record of a run says, and that a replay asks nobody."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

import stream_model_bench
from firsthand.llm import Reply
from firsthand_evals.stream import asked


class Says:
    """A model that replies prose, and counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def complete(self, messages, *, max_tokens, temperature=0.0, tools=(), stop=()):
        self.asked += 1
        return Reply("I see a pattern.", {"role": "assistant", "content": "I see a pattern."}, (), 100, 10, 1.5)


@pytest.fixture
def model(monkeypatch):
    """Put a model in the place of the one in this process."""
    one = Says()
    monkeypatch.setattr(asked, "opened", lambda _one, _key: one)
    return one


def report(folder: Path, monkeypatch, *more: str) -> str:
    """Run the part in this process on one short stream, and give the report."""
    file = folder / "report.md"
    monkeypatch.setattr(sys, "argv", ["x", "--out", str(folder), "--parts", "local", "--streams", "1", "--episodes",
                                      "16", "--write", str(file), *more])  # fmt: skip
    stream_model_bench.main()
    return file.read_text(encoding="utf-8")


def test_a_run_is_told_and_replayed(model, tmp_path, monkeypatch):
    """The report has both runs, counts what could not be read, shows replies as they came; a replay is the same."""
    told = report(tmp_path, monkeypatch)
    assert told.startswith("# SmolLM2-135M as consolidator\n")
    assert "## In this process: 1 streams of 2 updates" in told
    assert "unread: prose" in told
    assert f"{model.asked} replies: {100 * model.asked:,} tokens of prompts, {10 * model.asked:,} of replies" in told
    assert '    "I see a pattern."' in told
    before = model.asked
    assert report(tmp_path, monkeypatch, "--replay") == told
    assert model.asked == before


def test_replies_of_both_ways_are_compared(tmp_path):
    """Of the requests that both parts have, those with the same reply are counted."""
    for part, texts in (("local", ("a", "b", "c")), ("server", ("a", "x"))):
        (tmp_path / part / "replies").mkdir(parents=True)
        lines = [json.dumps({"request": {"n": n}, "reply": {"text": text}}) for n, text in enumerate(texts)]
        (tmp_path / part / "replies" / "m.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert stream_model_bench.alike(tmp_path) == "1 of 2"
