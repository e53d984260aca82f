"""evals/cases.py and evals/cases.py: worlds from seeds, values that stand once, questions that share no word."""

from __future__ import annotations

import pytest

from firsthand.moment import Moment
from firsthand_evals import cases, readers
from firsthand_evals.cases import Sort

NOW = Moment(1_770_000_000_000_000)
SEEDS = range(1, 13)


def told(world: cases.World) -> list[str]:
    """Give everything that is said, run or printed in a world, and its notes."""
    turns = [turn for past in world.sessions for turn in past.turns]
    said = [text for turn in turns for text in (turn.asked, turn.command, turn.output, turn.reply)]
    return [*said, *(lesson.text for lesson in world.lessons)]


def test_a_world_is_a_function_of_its_seed_and_time():
    """The same seed gives the same world, another seed another one, and the time moves its dates and nothing else."""
    one = cases.world(1, NOW)
    assert one == cases.world(1, NOW)
    assert one.cases != cases.world(2, NOW).cases
    later = cases.world(1, Moment(NOW.microseconds + 86_400_000_000))
    assert later.cases == one.cases
    moved = [a.begun.microseconds - b.begun.microseconds for a, b in zip(later.sessions, one.sessions, strict=True)]
    assert moved == [86_400_000_000] * cases.SESSIONS


def test_there_are_enough_cases_of_each_sort_among_hundreds_of_events():
    """Eight worlds give 32 cases of each sort, in every variant alike, and each world has hundreds of events."""
    made = cases.worlds(8, 1, NOW)
    every = [case for one in made for case in one.cases]
    assert {sort: sum(case.sort is sort for case in every) for sort in Sort} == dict.fromkeys(Sort, 32)
    assert len({case.name for case in every}) == 96
    variants = {(case.sort, case.variant) for case in every}
    counts = {one: sum((case.sort, case.variant) == one for case in every) for one in variants}
    assert sorted(counts.values()) == [8] * 8 + [16] * 2
    assert all(sum(2 + 2 * bool(turn.command) for past in one.sessions for turn in past.turns) > 300 for one in made)


def test_sessions_are_in_the_past_and_in_order():
    """Every session begins after the one before it and at least a day before the time of asking."""
    one = cases.world(3, NOW)
    begun = [past.begun.microseconds for past in one.sessions]
    assert begun == sorted(begun)
    assert NOW.microseconds - begun[-1] >= 86_400_000_000


@pytest.mark.parametrize("seed", SEEDS)
def test_every_value_stands_where_it_belongs_and_nowhere_else(seed):
    """What a case asks for is told in its world; tempting and former values too; and no question gives its answer."""
    world = cases.world(seed, NOW)
    texts = told(world)
    for case in world.cases:
        assert not any(case.right in asked for asked in case.asked)
        assert set(case.asked) == set(case.asked[:3])
        assert len(case.asked) == 3
        if case.sort is Sort.NEEDLESS:
            assert all(any(one in text for text in texts) for one in case.tempting)
            assert case.belief == case.right
            continue
        holding = [text for text in texts if case.right in readers.values(text, case.wanted)]
        assert holding
        assert all(case.ideal in text or text == case.ideal or case.ideal in text.splitlines() for text in holding)
        assert case.belief != case.right
        assert all(any(one in text for text in texts) for one in case.other)
    assert bool(world.lessons)


def test_what_matters_does_not_stand_first_in_its_session():
    """What the cases ask for is told anywhere in a session; a rule's failure stands before its correction."""
    made = cases.worlds(4, 1, NOW)
    places = [
        number
        for one in made
        for past in one.sessions
        for number, turn in enumerate(past.turns)
        if any(case.ideal and case.right in turn.asked for case in one.cases)
    ]
    assert sum(places) / len(places) > 4
    for one in made:
        for lesson in (lesson for lesson in one.lessons if len(lesson.sources) == 2):
            asked = next([turn.asked for turn in past.turns] for past in one.sessions if past.name == lesson.session)
            assert asked.index(lesson.sources[0]) + 1 == asked.index(lesson.sources[1])


def test_a_former_value_is_told_before_the_current_one():
    """In a changed case the value that no longer holds was told in an earlier session."""
    changed = [(one, case) for one in cases.worlds(8, 1, NOW) for case in one.cases if case.variant == "changed"]
    assert len(changed) == 8
    for world, case in changed:
        places = [
            next(n for n, past in enumerate(world.sessions) if any(value in turn.asked for turn in past.turns))
            for value in (case.other[0], case.right)
        ]
        assert places[0] < places[1]


@pytest.mark.parametrize("rule", cases.RULES, ids=lambda rule: rule.belief)
def test_a_situation_shares_no_word_with_its_rule(rule):
    """A request, in whatever words, has no word in common with the rule's text; in other words none with the first."""
    text = readers.words(rule.text.format(v=""))
    for asked in (*rule.again, *rule.other, rule.learned):
        assert readers.words(asked) & text == frozenset()
    for asked in rule.other:
        assert readers.words(asked) & readers.words(rule.learned) == frozenset()
    assert all(readers.words(asked) & readers.words(rule.learned) for asked in rule.again)


@pytest.mark.parametrize("fact", cases.FACTS, ids=lambda fact: fact.told[:30])
def test_a_question_in_other_words_shares_none_with_what_was_told(fact):
    """The other phrasings of a question have no word in common with the fact, and its topic ties both together."""
    topic = frozenset(fact.topic.split())
    text = readers.words(fact.told.format(c="", v=""))
    for asked in fact.other:
        assert readers.words(asked) & text == frozenset()
        assert readers.words(asked) & topic
    assert text & topic
    assert all("{c}" in asked for asked in fact.asked)


def test_values_are_found_in_text_by_their_shape():
    """Each sort of value is found whole where it stands in a sentence, and parts of others are none."""
    assert readers.values("It is 54,329 or 443.", cases.NUMBER) == ["54329", "443"]
    assert readers.values("see /srv/a/b-12.dat, at 2026-01-02 or 3.5", cases.NUMBER) == []
    assert readers.values("It lies in /srv/a/b-12.dat.", cases.PATH) == ["/srv/a/b-12.dat"]
    assert readers.values("Commit 9f07bf5c8d, not deadbeef", cases.HASH) == ["9f07bf5c8d"]
    assert readers.values("run `dapepa-pinenu-87` now", cases.NAME) == ["dapepa-pinenu-87"]
    assert readers.values("Run Dapepa-Pinenu-87.", cases.NAME) == ["dapepa-pinenu-87"]


def test_every_made_value_has_the_shape_of_its_sort():
    """What a world makes up is found again by the shape of its sort, and so are the beliefs."""
    for world in cases.worlds(4, 1, NOW):
        for case in world.cases:
            for one in (case.right, *case.other, *case.tempting, *([case.belief] if case.belief else [])):
                assert readers.values(f"it is {one}.", case.wanted) == [one]
