"""evals/stream/arc_arms.py and arc_run.py: schedules, and what is measured of an arm after every update."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import pytest
from arc_benches import sandbox, small

from firsthand.errors import InvalidArgument
from firsthand.value import replace
from firsthand_evals.stream import arc_arms
from firsthand_evals.stream.arc_arms import (
    ARMS,
    GATED,
    GATED_MERGE,
    GATED_PHANTOM,
    RETRIEVED,
    RULES,
    SCHEDULES,
    chosen,
    schedule,
)
from firsthand_evals.stream.arc_run import Bench, stream, streams
from firsthand_evals.stream.arc_solvers import FORCED, STRONG, WEAK, Desk
from firsthand_evals.stream.arc_writers import Buffer
from firsthand_evals.stream.arms import KEEP_ALL, MERGE_ALL, NO_MEMORY

NAMED = {one.name: one for one in ARMS}


@cache
def bench() -> Bench:
    return Bench(Desk(small(), sandbox()))


@cache
def ran() -> dict:
    return {one.arm: one for one in streams(bench(), ARMS, "stream")}


def test_every_schedule_brings_the_whole_pool():
    """Whatever the portions, all episodes come, in rounds as often as there are rounds, and none is made up."""
    world = small()
    whole = sorted(one.pointer for one in world.episodes)
    rounds = {"rounds-10": 10, "rounds-50": 50, "static-10": 10, "static-50": 50}
    for name in SCHEDULES:
        came = sorted(one.pointer for step in schedule(name, world) for one in step.batch)
        assert came == sorted(whole * rounds.get(name, 1))
    assert [len(schedule(name, world)) for name in ("stream", "static-all", "static-group", "rounds-10")] == [
        12,
        1,
        3,
        120,
    ]
    assert all(len({one.scope for one in step.batch}) == 1 for step in schedule("homogeneous", world))
    assert [
        len({one.batch[0].scope for one in schedule("interleaved", world)[at : at + 3]}) for at in (0, 3, 6, 9)
    ] == [3] * 4
    assert [step.forgets for step in schedule("fresh", world)] == [True, False, False, False] * 3
    assert all(step.hides for step in schedule("static-group", world))
    with pytest.raises(InvalidArgument, match="no schedule 'x'"):
        schedule("x", world)


def test_figures_of_the_plain_arms_are_known():
    """No memory solves p0 by strong and forced; with all that came every solver solves it, and weak nothing unseen."""
    none, whole = ran()[NO_MEMORY], ran()[KEEP_ALL]
    assert {none.end(f"p0 {one}") for one in (STRONG, FORCED)} == {1.0}
    assert (none.end(f"seen {WEAK}"), none.end("characters"), none.end("kept")) == (0.0, 0.0, 0.0)
    assert {whole.end(f"seen {one}") for one in (STRONG, WEAK, FORCED)} == {1.0}
    assert {one[f"seen {WEAK}"] for one in whole.points} == {1.0}
    assert (whole.end(f"unseen {WEAK}"), whole.end(f"variant {WEAK}"), whole.end("kept")) == (0.0, 1.0, 1.0)
    assert whole.told == (1, 1)
    assert len(whole.points) == 12


def test_merging_all_harms_the_one_that_must_follow():
    """One strategy for everything: forced solves nothing that needs no memory, strong all; what was solved is lost."""
    found = ran()[MERGE_ALL]
    assert (found.end(f"p0 {FORCED}"), found.end(f"p0 {STRONG}"), found.end(f"seen {WEAK}")) == (0.0, 1.0, 0.0)
    assert (found.end("entries"), found.end("families covered"), found.end("of several families")) == (1, 3, 1)
    assert (found.end("fit nothing"), found.end(f"regressed {WEAK}")) == (1, 1.0)


def test_the_gate_takes_rules_and_nothing_over_families():
    """Gated rules lose nothing, solve what never came together, and are shorter; of merge all nothing is taken."""
    gated, refused, whole = ran()[GATED], ran()[GATED_MERGE], ran()[KEEP_ALL]
    assert {gated.end(f"{what} {WEAK}") for what in ("seen", "unseen", "variant")} == {1.0}
    assert (gated.end(f"p0 {FORCED}"), gated.end("entries"), gated.violations) == (1.0, 3, 0)
    assert gated.end("characters") < whole.end("characters")
    assert (gated.rates.good_taken, gated.rates.bad_taken, refused.rates.bad_taken) == (3, 0, 0)
    assert refused.end("entries") == 0
    phantom = ran()[GATED_PHANTOM]
    assert (phantom.rates.bad_taken, phantom.end("entries"), phantom.actions["source replay"] > 0) == (0, 0, True)
    assert refused.end("characters") == whole.end("characters")
    assert sum(one.violations for one in ran().values()) == 0


def test_what_is_retrieved_is_as_long_as_the_gated_rules():
    """No task is given more characters than the gated memory has after the same update."""
    retrieved, gated = ran()[RETRIEVED], ran()[GATED]
    for mine, theirs in zip(retrieved.points, gated.points, strict=True):
        assert mine["characters"] <= theirs["characters"]
    assert retrieved.end("characters") > gated.end("characters") / 2
    assert (retrieved.end(f"unseen {WEAK}"), retrieved.end("kept")) == (0, 1)


def test_a_memory_that_forgets_has_only_what_came_since():
    """Before each family all is gone: the view is of one family, and its block is solved from it."""
    found = stream(bench(), NAMED[KEEP_ALL], "fresh")
    assert found.end(f"block {WEAK}") == 1.0
    lengths = [one["characters"] for one in found.points]
    assert [now < before for before, now in pairwise(lengths)] == [at % 4 == 3 for at in range(11)]
    cumulative = stream(bench(), NAMED[KEEP_ALL], "blocked")
    assert cumulative.end("characters") > 2 * found.end("characters")


def test_groups_written_apart_are_put_together():
    """In static-group no writer is shown another group's entries, and all of them stand at the end."""
    found = stream(bench(), NAMED[arc_arms.BUFFER], "static-group")
    assert (found.end("entries"), found.end(f"seen {WEAK}"), found.end("of several families")) == (3, 1.0, 0)
    shown = []

    class Watched(Buffer):
        def write(self, episodes, seen):
            shown.append(len(seen.entries))
            return super().write(episodes, seen)

    for name, saw in (("static-group", [0, 0, 0]), ("homogeneous", [0, 1, 2])):
        shown.clear()
        stream(bench(), replace(NAMED[arc_arms.BUFFER], make=Watched), name)
        assert shown == saw


def test_the_same_stream_comes_again():
    """Arm, world and schedule give the stream; nothing of the machine is in it."""
    again = stream(bench(), NAMED[arc_arms.BUFFER], "stream")
    assert again == ran()[arc_arms.BUFFER]


def test_arms_are_chosen_by_name():
    """No memory and keep all are always there, what retrieves brings the one it is measured by, and is the last."""
    assert [one.name for one in chosen([MERGE_ALL])] == [NO_MEMORY, KEEP_ALL, MERGE_ALL]
    assert [one.name for one in chosen([RETRIEVED])] == [NO_MEMORY, KEEP_ALL, GATED, RETRIEVED]
    assert chosen([]) == ARMS
    assert [one.name for one in ARMS].index(RETRIEVED) > [one.name for one in ARMS].index(RULES)
    with pytest.raises(InvalidArgument, match="no arm 'x'"):
        chosen(["x"])
