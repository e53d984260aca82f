"""evals/stream/world.py and schedules.py: what happens, and in which order it comes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.errors import InvalidArgument
from firsthand.ledger.entries import current
from firsthand_evals.stream.world import EXCEPTIONS, FAMILIES, SCHEDULES, SUPERSESSIONS, UNSEEN, schedule, world


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(8, 120))
def test_a_world_is_made_of_its_seed(seed, episodes):
    """The same seed gives the same world; no episode answers an unseen question; a later answer differs from all."""
    made = world(seed, episodes)
    assert made == world(seed, episodes)
    assert len(made.episodes) == episodes
    assert not {one.question for one in made.unseen} & {one.case for one in made.episodes}
    said = [(one.case, one.answer) for one in made.episodes]
    assert len(set(said)) == len(said)
    assert all(made.by_rule(one.question) == one.answer for one in made.unseen)


def test_shares_of_a_world_are_those_it_names():
    """Over ten worlds exceptions and supersessions come as often as the constants say; all families are there."""
    made = [world(seed) for seed in range(10)]
    new = [one for each in made for one in current(each.episodes).values()]
    happened = sum(len(each.episodes) for each in made)
    assert abs((happened - len(new)) / happened - SUPERSESSIONS) < 0.02
    first = [one for each in made for one in {it.case: it for it in reversed(each.episodes)}.values()]
    by_case = {(one.pointer, one.case): one for one in first}
    off = sum(one.answer != each.by_rule(one.case) for each in made for one in each.episodes
              if (one.pointer, one.case) in by_case)  # fmt: skip
    assert abs(off / len(first) - EXCEPTIONS) < 0.02
    assert all(len({one.scope for one in each.episodes}) == FAMILIES for each in made)
    assert all(len(each.unseen) == FAMILIES * UNSEEN for each in made)


def test_a_reader_knows_the_known_families_alone():
    """What it knows by itself is the rule of two families; to others and to other words it has no answer."""
    made = world(3)
    knows = made.knows()
    answered = {one.scope for one in made.unseen if knows(one.question) == one.answer}
    assert answered == {one.name for one in made.families if one.known}
    assert len(answered) == 2
    unknown = next(one for one in made.unseen if one.scope not in answered)
    assert knows(unknown.question) is None
    assert knows("something else") is None


def test_a_world_needs_episodes():
    """No episodes and too many are refused."""
    for wrong in (0, 5_000):
        with pytest.raises(InvalidArgument, match="episodes of a world"):
            world(1, wrong)


@pytest.mark.parametrize("name", [*SCHEDULES])
def test_each_schedule_brings_the_whole_pool_once(name):
    """Whatever the order, every episode comes once, and its place is the one in which it comes."""
    made = world(5, 96)
    came = [one for update in schedule(name, made) for one in update.new]
    assert sorted(one.pointer for one in came) == sorted(one.pointer for one in made.episodes)
    assert [one.position for one in came] == list(range(1, 97))


def test_schedules_bring_what_they_say():
    """Sizes, families and how often the consolidator is asked are those of the name."""
    made = world(5, 96)
    sizes = {name: [len(one.new) for one in schedule(name, made)] for name in SCHEDULES}
    assert sizes["stream"] == sizes["shuffled"] == sizes["blocked"] == sizes["interleaved"] == [8] * 12
    assert sizes["batch-1"] == [1] * 96
    assert sizes["static-all"] == [96]
    assert sizes["rounds-3"] == [8] * 12 + [0] * 24
    assert [{it.scope for it in one.new} for one in schedule("static-group", made)] == [
        {one.name} for one in made.families
    ]
    scopes = [it.scope for one in schedule("blocked", made) for it in one.new]
    assert scopes == [one.name for one in made.families for _ in range(scopes.count(one.name))]
    assert len({it.scope for it in schedule("interleaved", made)[0].new}) == FAMILIES
    assert [one.consolidates for one in schedule("every-8", made)] == [False] * 7 + [True] + [False] * 3 + [True]
    with pytest.raises(InvalidArgument, match="no schedule 'sideways'"):
        schedule("sideways", made)
