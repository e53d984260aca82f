"""What a session is about, and when that changes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.context import topics
from firsthand.context.topics import Topic, observe


def about(subject: str, number: int, count: int = 8) -> str:
    """Make an event of a subject: words that recur in it, one that does not, and words of any subject."""
    words = [f"{subject}{letter}" for letter in "abcdefgh"[:count]]
    return f"please read {' '.join(words)} once{number}x and the file"


def events(subject: str, count: int) -> list[str]:
    return [about(subject, number) for number in range(count)]


def transitions(texts: list[str]) -> list[int]:
    """Give the numbers of the events at which the topic changed, one call an event."""
    found, now = [], Topic()
    for number, text in enumerate(texts):
        now = observe(now, [text])
        if now.transition:
            found.append(number)
    return found


def test_a_topic_is_named_by_terms_that_recur():
    """The label has the three terms that recur most and are rarest elsewhere; words of every session are none."""
    now = observe(Topic(), ["the compaction of the window", "compaction leaves a marker", "window and marker again"])
    assert now.label == "compaction, marker, window"
    assert not now.transition
    assert observe(Topic(), ["one", "", "single event"]).label is None


def test_a_change_of_subject_is_told_once():
    """When other terms recur, the topic changes: within a block of events after the join, once, with a new label."""
    texts = events("alpha", 15) + events("beta", 15)
    (at,) = transitions(texts)
    assert 15 <= at < 15 + topics.BLOCK_EVENTS + topics.STRANGE_EVENTS
    now = observe(Topic(), texts)
    assert now.label is not None
    assert all(term.startswith("beta") for term in now.label.split(", "))
    assert now.transition


def test_what_is_kept_is_bounded():
    """After many events of ever new words the state is no larger than its limits, and the topic is still told."""
    now = Topic()
    for number in range(400):
        words = " ".join(f"new{number}word{k}" for k in range(30))
        now = observe(now, [f"{words} {about('alpha', number)}"])
    assert now.events == 400
    assert len(now.seen) <= topics.SEEN_TERMS_MAX
    assert len(now.recent) <= topics.BLOCK_EVENTS + topics.BEFORE_EVENTS
    assert now.label is not None
    assert now.label.startswith("alpha")


@given(st.lists(st.sampled_from([about(s, n) for s in "xyz" for n in range(4)] + ["", "ok"]), max_size=60), st.data())
def test_how_events_are_divided_among_calls_does_not_matter(texts, data):
    """Observed one by one or many at a time, the same events lead to the same topic and the same number of changes."""
    whole = observe(Topic(), texts)
    cut = data.draw(st.integers(0, len(texts)))
    parts = observe(observe(Topic(), texts[:cut]), texts[cut:])
    same = ("label", "events", "seen", "recent", "strange")
    assert [getattr(parts, name) for name in same] == [getattr(whole, name) for name in same]
    assert whole.transition == bool(transitions(texts))


def test_joins_of_real_episodes_are_found():
    """On SWE-agent episodes put one after another, most joins are told, and most of what is told is a join."""
    folder = os.environ.get("FIRSTHAND_DATA", "")
    files = sorted(Path(folder, "swe-agent").glob("*.traj"))[:12] if folder else []
    if not files:
        pytest.skip("FIRSTHAND_DATA names no folder with swe-agent in it")
    texts, joins = [], []
    for file in files:
        history = json.loads(file.read_text(encoding="utf-8"))["history"]
        joins.append(len(texts))
        texts += [one["content"] for one in history if one["role"] != "system" and not one.get("is_demo")]
    told = transitions(texts)
    found = [join for join in joins[1:] if any(join <= at <= join + 14 for at in told)]
    assert len(found) >= 0.7 * len(joins[1:])
    assert len(told) <= 2 * len(joins)
