"""evals/stream/arc_world.py: what comes, what is held back, and what is found without memory."""

from __future__ import annotations

from firsthand_evals.stream import arc_world
from firsthand_evals.stream.arc_grids import SKILLS
from firsthand_evals.stream.arc_tasks import FAMILIES
from firsthand_evals.stream.arc_world import (
    KNOWN,
    PROBLEMS,
    SOLVED_BY,
    alone,
    features,
    narrow,
    problems,
    task_of,
    world,
)


def both(made, names) -> list[tuple[str, str]]:
    return [(made.tasks[name].truth.family, made.tasks[name].truth.skill) for name in names]


def test_a_world_holds_back_one_skill_of_each_family():
    """36 programs come, once each; the six that do not are those of the unseen tasks; variants are of those that do."""
    made = world(3)
    came = both(made, made.pool)
    assert (len(came), len(set(came))) == (36, 36)
    unseen = set(both(made, made.unseen))
    assert unseen == {(family, skill) for family in FAMILIES for skill in SKILLS} - set(came)
    assert {family for family, _ in unseen} == set(FAMILIES)
    assert set(both(made, made.variants)) <= set(came)
    assert (len(made.unseen), len(made.variants), len(made.tasks)) == (12, 18, 66)
    assert len({one.digest for one in made.tasks.values()}) == 66
    arc_world.world.cache_clear()
    assert [one.case for one in world(3).episodes] == [one.case for one in made.episodes]
    assert [one.case for one in world(4).episodes] != [one.case for one in made.episodes]


def test_what_needs_no_memory_is_what_the_search_finds():
    """P0 are the tasks of the programs that a strong solver knows; what it finds there is what explains the task."""
    made = world(3)
    assert set(both(made, made.p0)) == KNOWN & set(both(made, made.pool))
    for name in made.pool:
        found = alone(made.tasks[name])
        assert found == (made.tasks[name].truth if name in made.p0 else None)


def test_the_problems_are_nineteen_of_six_families_that_need_no_memory():
    """The shape of the paper's Figure 2."""
    made = problems(1)
    assert len(made.pool) == PROBLEMS == len(made.p0)
    assert {family for family, _ in both(made, made.pool)} == set(FAMILIES)
    assert len(set(both(made, made.pool))) == PROBLEMS


def test_a_narrow_stream_has_one_family_and_the_same_numbers():
    """Every task of the pool has the same parameters; every variant has others, all of them."""
    made = narrow(2)
    assert len({family for family, _ in both(made, made.tasks)}) == 1
    same = {made.tasks[name].truth.parameters for name in made.pool}
    other = {made.tasks[name].truth.parameters for name in made.variants}
    assert (len(same), len(other)) == (1, 1)
    assert all(one != it for one, it in zip(same.pop(), other.pop(), strict=True))


def test_an_episode_says_what_solved_it_and_a_question_does_not():
    """The case has task and program, the answer is the digest of what is right; what is asked is the task alone."""
    made = world(3)
    one = made.episodes[0]
    name, program = one.case.split(SOLVED_BY)
    assert (task_of(one.case), task_of(name)) == (name, name)
    assert (program, one.answer, one.scope) == (
        made.tasks[name].truth.text,
        made.tasks[name].digest,
        made.tasks[name].truth.family,
    )
    assert made.truth(one) == made.tasks[name].truth
    assert one.pointer.isascii()
    assert " " not in one.pointer


def test_tasks_that_look_alike_have_the_same_features():
    """Width, corner, colours and what was filled are seen: of one program they are nearly always the same."""
    made = world(3)
    wide = {features(made.tasks[name])[0] for name in made.pool if made.tasks[name].truth.family == FAMILIES[-1]}
    assert wide == {True}
    marked = {features(made.tasks[name])[1] for name in made.pool if made.tasks[name].truth.family == FAMILIES[2]}
    assert marked == {True}
    assert len({features(one) for one in made.tasks.values()}) > 8
