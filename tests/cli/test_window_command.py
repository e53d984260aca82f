"""firsthand window."""

from __future__ import annotations

import re

import pytest
from sessions import talk
from terminal import Shell

from firsthand import Memory


@pytest.fixture
def talked(shell) -> Shell:
    talk(shell.store, turns=7)
    return shell


def test_a_window_shows_what_it_holds_and_why(talked):
    """Task state, markers, and each item with the reason why it is there."""
    form = talked("session", "window", "deploy", "--json").json
    said = talked("session", "window", "deploy")
    assert said.lines[1].startswith("[Task state, ")
    assert all(marker["text"] in said.text for marker in form["markers"])
    assert f"--receipt {form['receipts'][-1]['pointer']}" in said.error
    rows = [re.split(r"\s{2,}", line.strip())[3:5] for line in said.lines[-len(form["items"]) :]]
    assert rows == [
        [item["pointer"], item["reason"] + (", shortened" if item["shortened"] else "")] for item in form["items"]
    ]


def test_json_has_budget_markers_and_task(talked):
    """The JSON form gives the budget with its marks, each marker with its pointer and text, and the task state."""
    form = talked("session", "window", "deploy", "--json").json
    assert {name: form["budget"][name] for name in ("tokens_max", "high_tokens", "low_tokens", "hot_turns")} == {
        "tokens_max": 4_000, "high_tokens": 3_800, "low_tokens": 1_800, "hot_turns": 3,
    }  # fmt: skip
    assert sum(one["tokens"] for one in form["items"]) < form["tokens"] <= 4_000
    assert all(one["pointer"] in one["text"] for one in form["markers"])
    assert form["task"]["constraints"] == []
    assert form["task"]["request"]["text"]
    assert {one["protected"] for one in form["items"]} == {True, False}


def test_a_receipt_says_what_left_and_why(talked):
    """--receipt shows one compaction: what left, with reasons, the reflection, and all reflections of the session."""
    one = talked("session", "window", "deploy", "--json").json["receipts"][-1]
    said = talked("session", "window", "deploy", "--receipt", one["pointer"])
    assert said.code == 0
    assert said.lines == one["text"].splitlines()
    assert said.lines[0].startswith(f"Compaction {one['cycle']}: {one['tokens_before']:,} tokens became ")
    assert all(left["pointer"] in said.text and left["reason"] in said.text for left in one["left"])
    assert talked("session", "window", "deploy", "--receipt", one["pointer"], "--json").json == one


def test_another_budget_shows_another_window(talked):
    """--budget shows the window as it would be; nothing is compacted or recorded by looking."""
    with Memory.open(talked.store, read_only=True) as memory:
        before = memory.head()
    assert (
        talked("session", "window", "deploy", "--budget", "9000")
        .lines[0]
        .endswith("; the next one above 8,550, down to 4,050")
    )
    assert talked("session", "window", "deploy", "--budget", "100", "--json").json["budget"]["tokens_max"] == 100
    tight = talked("session", "window", "deploy", "--budget", "800")
    assert "leaves with the next request" in tight.text
    assert "the next request compacts it first\n" in tight.error
    with Memory.open(talked.store, read_only=True) as memory:
        assert memory.head() == before


def test_a_session_without_a_window_is_shown_whole(shell):
    """For a session that no call was made for, a budget is taken and told; there are no markers and receipts yet."""
    pointer = shell.append("fix the build", "plain")
    said = shell("session", "window", "plain")
    assert (said.code, "--budget takes others" in said.error, pointer in said.text) == (0, True, True)


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (("nobody",), 1, "firsthand: no session 'nobody' here; see them all: firsthand session list\n"),
        (("deploy", "--receipt", "x"), 5, "firsthand: expected a pointer such as "),
        (("deploy", "--receipt", "fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY"), 1, "firsthand: no event fh:01J8ZQ4T9M6V3K2N7P5R8S1"),
        (("deploy", "--budget", "0"), 2, "firsthand: argument --budget: expected a whole number"),
    ],
)
def test_what_is_not_there_is_told(talked, words, code, error):
    """An unknown session or receipt is not found; what is no pointer or no budget is refused."""
    said = talked("session", "window", *words)
    assert (said.code, said.out) == (code, b"")
    assert said.error.startswith(error)
