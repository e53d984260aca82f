"""The checks about a model: each can hold and can fail, with scripted models, and says so in words."""

from __future__ import annotations

import json

import pytest
from stream_models import chatty, faithful, merging, silent

from firsthand.value import replace
from firsthand_evals.stream import checks
from firsthand_evals.stream.arms import MODEL_GATED, of_model
from firsthand_evals.stream.checks import (
    AT_ONCE,
    BY_MODEL_AUTO,
    BY_MODEL_EPISODIC,
    BY_MODEL_FORCED,
    STREAMED,
)
from firsthand_evals.stream.measure import WEAK
from firsthand_evals.stream.run import Stream, run


def ran(model, schedule: str, names: tuple[str, ...], seeds: int = 2) -> list[Stream]:
    """Run arms of a scripted model."""
    arms = [one for one in of_model(model, "scripted", WEAK) if one.name in names]
    return [*run(arms, range(seeds), schedule, episodes=48)]


def told(streams: list[Stream], name: str) -> list[tuple[bool, str]]:
    """Give whether each check of a name held, and its words."""
    return [(one.held, one.verdict) for one in checks.of_model(streams) if one.name == name]


@pytest.mark.parametrize(("model", "seven"), [(merging, (True, "held")), (faithful, (False, "not replicated"))])
def test_ten_passes_come_out_each_way(model, seven):
    """H7 holds for a model that merges small batches, and is not replicated by one that is faithful."""
    streams = [it for name in (STREAMED, AT_ONCE) for it in ran(model, name, (BY_MODEL_FORCED,), 6)]
    assert told(streams, "H7") == [seven]
    assert told(streams[: len(streams) // 2], "H7") == []


def test_ten_passes_of_one_stream_say_nothing():
    """One stream has no interval: whatever it shows, it is too few."""
    streams = [*ran(merging, STREAMED, (BY_MODEL_FORCED,), 1), *ran(merging, AT_ONCE, (BY_MODEL_FORCED,), 1)]
    assert streams[0].end("p0 weak") < streams[1].end("p0 weak")
    assert told(streams, "H7") == [(False, "too few")]


def test_ours_holds_for_a_model_that_finds_rules_and_each_part_can_fail():
    """H8 holds for a faithful model, and each of its parts fails when it is turned round."""
    names = (MODEL_GATED, BY_MODEL_FORCED, BY_MODEL_EPISODIC)
    good = ran(faithful, "stream", names, 6)
    assert told(good, "H8") == [(True, "held")] * 3

    def turned(arm: str, figure: str, value: float) -> list[Stream]:
        return [
            replace(one, points=(*one.points[:-1], {**one.points[-1], figure: value})) if one.arm == arm else one
            for one in good
        ]

    assert [one for one, _ in told(turned(MODEL_GATED, "p0 weak", 0.9), "H8")] == [False, True, True]
    assert [one for one, _ in told(turned(MODEL_GATED, "rule weak", 0.0), "H8")] == [True, False, True]
    assert [one for one, _ in told(turned(MODEL_GATED, "characters", 5_000), "H8")] == [True, True, False]


def test_a_reader_that_knows_nothing_can_lose_nothing():
    """Where nothing is answered without memory, no difference on it is a finding, and the words say so."""
    streams = [*ran(merging, STREAMED, (BY_MODEL_FORCED,)), *ran(merging, AT_ONCE, (BY_MODEL_FORCED,))]
    blind = [
        replace(one, points=tuple({**point, "alone weak": 0.0} for point in one.points)) for one in streams
    ]  # fmt: skip
    (check,) = checks.of_model(blind)
    assert (check.held, check.found.endswith("the reader answers nothing without memory, so nothing can be lost")) == (
        False,
        True,
    )


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (chatty, "; too few readable replies, {arm}: 0 of "),
        (silent, "; {arm} consolidated in none of 12 rounds, as it had to"),
    ],
)
def test_of_a_model_that_does_nothing_nothing_is_said(model, why):
    """Where replies cannot be read, or a forced agent never consolidates, H8 and K7 are too few, and say where."""
    streams = ran(model, "stream", (MODEL_GATED, BY_MODEL_FORCED, BY_MODEL_EPISODIC, BY_MODEL_AUTO))
    found = checks.of_model(streams)
    assert [(check.name, check.verdict) for check in found] == [("H8", "too few")] * 3 + [("K7", "too few")]
    first = {chatty: (MODEL_GATED, BY_MODEL_AUTO), silent: (BY_MODEL_FORCED, BY_MODEL_FORCED)}[model]
    assert all(why.format(arm=arm) in check.found for check, arm in zip(found[2:], first, strict=True))


def choosing(prompt: str) -> str:
    """Consolidate where that is due, and leave everything as it is where it may."""
    return faithful(prompt) if "you have to consolidate" in prompt else "[]"


def unmoved(prompt: str) -> str:
    """Reply the same words to everything."""
    return json.dumps([{"action": "consolidate", "cases": [1], "entries": [], "text": "I noted it"}])


def test_a_buffer_is_no_choice():
    """An agent that does the same whether it may or must keeps more by its buffer alone: K7 says nothing of it."""
    (check,) = checks.of_model(ran(unmoved, "stream", (BY_MODEL_AUTO, BY_MODEL_FORCED), 5))
    assert (check.name, check.verdict) == ("K7", "too few")
    assert "better" in check.found
    assert "nothing shows that it chose: +0.0 consolidations" in check.found


def test_free_and_forced_are_compared():
    """K7 holds for an agent that keeps more of what was seen when it may choose; when alike, it does not."""
    streams = ran(choosing, "stream", (BY_MODEL_AUTO, BY_MODEL_FORCED), 5)
    assert told(streams, "K7") == [(True, "held")]
    same = [replace(one, points=streams[0].points) for one in streams]
    assert told(same, "K7") == [(False, "not replicated")]
