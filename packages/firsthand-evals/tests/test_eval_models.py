"""The models of ``eval reclaim``: told before, refused when too much, replayed for free, counted when they fail."""

from __future__ import annotations

import json

import pytest

from firsthand_evals.endpoint import Reply
from firsthand_evals.models import Recorded, named
from firsthand_evals.reclaim import experiments, own, readers, run
from firsthand_evals.reclaim.models import Asking

SMALL = ("--problems", "1", "--experiment", "disposition", "--memory", "firsthand", "--out", "kept")


class Believing:
    """A model that answers as a deterministic reader does."""

    def complete(self, messages, **how):
        said = readers.Believing().answer(messages)
        return Reply(said, (), 10, 5)


@pytest.fixture
def said(tmp_path, monkeypatch, shell):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FIRSTHAND_MODEL_KEY", raising=False)
    return lambda *words: shell("eval", "reclaim", *words)


@pytest.fixture
def recorded(tmp_path):
    """Record what a model says to the small run, as a run before would have."""
    folder = tmp_path / "kept" / "results" / "reclaim"
    one = named("http://localhost:9/v1#small", temperature=0.5)
    asking = Asking(folder)
    reader = asking.reader(one)
    reader.model = Recorded(asking.model(one).path, Believing)
    cases = own.cases(["disposition"], experiments.Options(1, subjects=own.memories(["firsthand"])), own.Changes())
    return list(run.run(cases, reader))


def test_a_recorded_run_is_replayed_without_asking_anybody(said, recorded, tmp_path):
    """The same items come of the record, the estimate and what was spent are told, and nothing is failed or left."""
    found = said(
        *SMALL, "--model", "http://localhost:9/v1#small", "--temperature", "0.5", "--replay", "--price", "1,2",
        "--json",
    )  # fmt: skip
    items = [one["item"] for one in found.json_lines if "item" in one]
    assert [(one["key"], one["outcome"]) for one in items] == [(one.key, one.outcome) for one in recorded]
    assert "3 cases, small answers: about 3 calls" in found.error
    assert "at the given price" in found.error
    assert "3 cases: 0 known, 3 made, 0 failed, 0 left; spent 0 calls" in found.error
    assert found.code == 0
    again = said(*SMALL, "--model", "http://localhost:9/v1#small", "--temperature", "0.5", "--resume")
    assert "3 cases: 3 known, 0 made, 0 failed, 0 left" in again.error


def test_a_run_without_an_item_passes_nowhere(said, tmp_path):
    """Nothing was recorded: one line for what failed alike, exit code 1, and JUnit with a failure."""
    found = said(*SMALL, "--model", "http://localhost:9/v1#small", "--replay", "--junit", "j.xml")
    assert found.code == 1
    assert "3 cases: 0 known, 0 made, 3 failed, 0 left" in found.error
    assert 'message="0 of 3 cases have an item"' in (tmp_path / "j.xml").read_text()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            (*SMALL, "--model", "http://localhost:9/v1#m", "--calls-max", "2"),
            "estimated over the cap of 2 calls: about 3 calls",
        ),
        ((*SMALL[:-2], "--model", "local"), "name a folder (--out DIR)"),
        ((*SMALL, "--model", "local", "--reader", "careless"), "one reader answers"),
        ((*SMALL, "--model", "nonsense"), "a model is 'local'"),
        ((*SMALL, "--price", "1,2"), "--price is of a run with a model"),
        ((*SMALL, "--writer", "local", "--cost-max", "1"), "wants the price"),
        ((*SMALL, "--model", "http://localhost:9/v1#m", "--price", "x=1,2"), "none for m; add m=PROMPT,REPLY"),
        ((*SMALL, "--model", "http://localhost:9/v1#m", "--tokens-max", "99"), "over the cap of 99 tokens"),
        ((*SMALL, "--model", "http://localhost:9/v1#m", "--price", "1,2", "--cost-max", "0.0001"), "a cost of 0.0001"),
        ((*SMALL, "--estimate"), "--estimate is of a run with a model"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_spent(said, tmp_path, words, told):
    """Too many calls, no folder, two readers, no model: each says what to do, and no item is written."""
    found = said(*words)
    assert (found.code, found.text) == (5, "")
    assert told in found.error
    assert not list(tmp_path.rglob("items.jsonl"))


def test_an_estimate_asks_nothing(said, tmp_path):
    """Calls, tokens and cost stand on the output, as a line or as JSON, whatever the cap; no item is written."""
    words = (*SMALL, "--model", "http://localhost:9/v1#m", "--price", "m=1,2", "--calls-max", "1", "--estimate")
    assert said(*words).text.startswith("3 cases, m answers: about 3 calls (at most 8 when memories are asked), ")
    (told,) = said(*words, "--json").json_lines
    assert (told["estimate"]["calls"], told["estimate"]["reply_tokens"]) == (3, 900)
    assert told["estimate"]["cost"] == pytest.approx((told["estimate"]["prompt_tokens"] + 1_800) / 1e6)
    assert not list(tmp_path.rglob("items.jsonl"))


def test_a_price_is_two_numbers(said):
    """One number, or none, is a usage error."""
    for wrong in ("1", "a,b", "1,-2"):
        assert said(*SMALL, "--price", wrong).code == 2


def test_items_of_a_run_before_stay_when_the_next_is_refused(said, tmp_path):
    """A refusal puts nothing aside."""
    file = tmp_path / "kept" / "results" / "reclaim" / "items.jsonl"
    assert said(*SMALL).code == 0
    kept = file.read_text()
    assert said(*SMALL, "--model", "http://localhost:9/v1#m", "--calls-max", "2").code == 5
    assert file.read_text() == kept
    assert len([json.loads(line) for line in kept.splitlines()]) == 3
