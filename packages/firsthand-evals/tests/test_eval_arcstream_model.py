"""The command ``eval stream --pack arcstream`` with a model: a scripted one behind a server writes programs."""

from __future__ import annotations

import json

import pytest
from json_server import JsonServer

from firsthand_evals.stream.arc_tasks import COLOR, Program

pytest.importorskip("httpx", reason="the extra 'llm' is not installed")
ASKS = ("eval", "stream", "--pack", "arcstream", "--arm", "merge all")
RECOLORS = Program(COLOR, "recolor").text()


def reply(body: dict) -> dict:
    """Follow the notes of a prompt when it must, and keep the grid as it is when there are none."""
    prompt = body["messages"][0]["content"]
    text = f"```python\n{RECOLORS}\n```" if "nothing else is accepted" in prompt else "I can not tell."
    said = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {"choices": [said], "usage": {"prompt_tokens": 9, "completion_tokens": 9}}


def test_a_model_writes_programs_and_is_not_paid_twice(shell, tmp_path):
    """Every problem is asked without memory and with one, free and forced; a second run asks nobody."""
    server = JsonServer(reply)
    words = (*ASKS, "--model", f"{server.url}#m", "--out", str(tmp_path))
    try:
        found = shell(*words, "--price", "1,2")
    finally:
        server.close()
    assert found.code == 0
    assert len(server.seen) == 19 * 5
    assert "at most 95 calls" in found.error
    assert [line.split("  ")[0] for line in found.lines[2:7]] == ["no memory", *["keep all"] * 2, *["merge all"] * 2]
    again = shell(*words, "--replay", "--json")
    assert again.code == 0
    answers = [json.loads(line)["answer"] for line in again.lines]
    asked = [(one["arm"], one["how"]) for one in answers]
    assert {both: asked.count(both) for both in asked} == {
        ("no memory", "free"): 19, ("keep all", "free"): 19, ("keep all", "forced"): 19, ("merge all", "free"): 19,
        ("merge all", "forced"): 19,
    }  # fmt: skip
    forced = [one for one in answers if one["how"] == "forced"]
    assert all(one["readable"] and one["end"] == "done" for one in forced)
    assert any(one["solved"] for one in forced)
    assert not all(one["solved"] for one in forced)
    assert not any(one["readable"] for one in answers if one["how"] == "free")


def test_a_cap_stops_before_it_is_passed(shell, tmp_path):
    """A run that would ask more often than it may stops there, and says so; what was asked is kept."""
    server = JsonServer(reply)
    words = (*ASKS, "--model", f"{server.url}#m", "--out", str(tmp_path))
    try:
        found = shell(*words, "--calls-max", "3")
    finally:
        server.close()
    assert found.code == 5
    assert "3 calls" in found.error
    assert len(server.seen) == 3
