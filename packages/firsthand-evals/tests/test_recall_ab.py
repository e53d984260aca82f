"""evals/recall_ab.py, recall_ab.py: the whole run with a scripted reader, whose outcome can come out either way."""

from __future__ import annotations

import json

import pytest

from firsthand import moment
from firsthand.errors import InvalidArgument
from firsthand.moment import Moment
from firsthand_evals import cases, delivery, readers, recall_ab
from firsthand_evals.cases import Sort
from firsthand_evals.delivery import CONDITIONS, Condition, Pushed

NOW = Moment(1_770_000_000_000_000)
NONE, RECALL, IDEAL = (next(one for one in CONDITIONS if one.name == name) for name in ("none", "recall", "ideal"))
WORLDS = cases.worlds(2, 5, NOW)


def reader(worlds=WORLDS) -> readers.Scripted:
    return readers.Scripted(cases.beliefs(worlds))


def silent(world, case, condition, repetition) -> Pushed:
    """Push nothing, but in the condition `ideal`."""
    return Pushed(message=case.ideal) if condition.ideal else Pushed()


def junk(world, case, condition, repetition) -> Pushed:
    """Push a line that repeats the question with a wrong value: the worst memory there can be."""
    wrong = {"number": "31337", "path": "/tmp-junk/x", "hash": "0bad0bad00", "name": "junk-junk-1"}[case.wanted]
    return Pushed() if condition is NONE else Pushed(message=f"{case.asked[0]} {wrong}", hits=("fh:x",))


def table(push, conditions=(NONE, RECALL, IDEAL), repetitions=3):
    prompts = recall_ab.prepare(WORLDS, push, conditions=conditions, repetitions=repetitions)
    items = list(recall_ab.run(prompts, reader()))
    return items, {(cell.sort, cell.condition): cell for cell in recall_ab.cells(items)}


def test_a_memory_that_says_nothing_makes_no_difference_and_the_ideal_one_does():
    """Without a push all is as with none; the right content makes every case right that it is there for."""
    items, found = table(silent)
    assert len(items) == 24 * 3 * 3
    for sort in Sort:
        assert found[sort, "recall"].right_to_none.verdict == "no difference"
        assert found[sort, "ideal"].right.mean == 1.0
    assert found[Sort.EXPERIENCE, "none"].right.mean == 0.0
    assert found[Sort.EXPERIENCE, "none"].contradicts.mean > 0
    assert found[Sort.EXPERIENCE, "ideal"].right_to_none.verdict == "better"
    assert found[Sort.PROCEDURE, "none"].contradicts.mean == 1.0
    assert found[Sort.NEEDLESS, "none"].right.mean == 1.0
    assert recall_ab.harmful(tuple(found.values())) == ()


def test_a_memory_that_pushes_junk_scores_below_none():
    """Junk that sounds like the question makes a reader wrong who knew the answer, and the run says so."""
    _, found = table(junk, (NONE, RECALL))
    cell = found[Sort.NEEDLESS, "recall"]
    assert (cell.right.mean, cell.right_to_none.mean, cell.right_to_none.verdict) == (0.0, -1.0, "worse")
    assert (cell.pushed.hits, cell.pushed.n) == (24, 24)
    assert (cell.useful.hits, cell.useful.n) == (0, 24)
    assert recall_ab.harmful(tuple(found.values())) == (cell,)
    assert found[Sort.EXPERIENCE, "recall"].contradicts_to_none.mean > 0


def test_a_memory_that_is_stale_a_third_of_the_time_contradicts_a_third_of_the_time():
    """The rate of contradiction follows what was pushed: an old value in one repetition of three."""

    def stale(world, case, condition, repetition) -> Pushed:
        return junk(world, case, condition, repetition) if repetition == 0 else silent(world, case, IDEAL, repetition)

    items, found = table(stale, (NONE, RECALL))
    for sort in (Sort.EXPERIENCE, Sort.PROCEDURE):
        cell, without = found[sort, "recall"], found[sort, "none"]
        own = [one for one in items if (one.sort, one.condition) == (sort, "recall")]
        assert [one.contradicts for one in own] == [one.repetition == 0 for one in own]
        assert cell.contradicts.mean == pytest.approx(1 / 3)
        assert cell.contradicts_to_none.mean == pytest.approx(1 / 3 - without.contradicts.mean)
        assert cell.right.mean == pytest.approx(2 / 3)


def test_the_same_case_is_asked_in_another_phrasing_at_each_repetition():
    """Repetitions take the phrasings in turn, and each item keeps the digest of what was sent."""
    items, _ = table(silent, (NONE,))
    by_case = [one for one in items if one.case == items[0].case]
    assert [one.prompt for one in by_case] == list(WORLDS[0].cases[0].asked)
    assert len({one.prompt_sha256 for one in by_case}) == 3


def test_a_reader_that_repeats_itself_is_asked_once_for_equal_prompts():
    """The plan counts what is asked: equal prompts once where the reader repeats itself, each where it does not."""
    prompts = recall_ab.prepare(WORLDS, silent, conditions=(NONE, RECALL), repetitions=3)
    asked = []

    class Counts:
        name, repeats, costs = "counting", True, True

        def answer(self, reading):
            asked.append(reading)
            return "no"

    counting = Counts()
    assert len(list(recall_ab.run(prompts, counting))) == 24 * 2 * 3
    assert len(asked) == recall_ab.plan(prompts, counting).calls <= 24 * 3
    counting.repeats = False
    assert recall_ab.plan(prompts, counting).calls == 24 * 2 * 3
    asked.clear()
    with pytest.raises(InvalidArgument, match="144 times and at most 143"):
        list(recall_ab.run(prompts, counting, calls_max=143))
    assert asked == []


def test_fewer_cases_are_spread_over_variants():
    """A cut run takes cases of each sort from every world and of different variants; nonsense is refused."""
    made = recall_ab.prepare(WORLDS, silent, conditions=(NONE,), repetitions=1, cases_max=4)
    for sort in Sort:
        own = [one.case for one in made if one.case.sort is sort]
        assert len(own) == 4
        assert {one.name.split("/")[0] for one in own} == {"5", "6"}
    assert len({one.case.variant for one in made if one.case.sort is Sort.EXPERIENCE}) >= 3
    made = recall_ab.prepare(cases.worlds(8, 5, NOW), silent, conditions=(NONE,), repetitions=1, cases_max=8)
    variants = [one.case.variant for one in made if one.case.sort is Sort.NEEDLESS]
    assert {one: variants.count(one) for one in variants} == dict.fromkeys(variants, 2)
    with pytest.raises(InvalidArgument):
        recall_ab.prepare(WORLDS, silent, repetitions=0)
    with pytest.raises(InvalidArgument):
        recall_ab.cells([])


def test_what_is_kept_is_whole(tmp_path):
    """Every item and the report stand in the folder, and JSON gives figures with their n and verdicts."""
    items, found = table(silent)
    cells = tuple(found.values())
    recall_ab.keep(tmp_path, items, recall_ab.page(cells, ()))
    kept = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert [(one["case"], one["condition"], one["answer"]) for one in kept] == [
        (one.case, one.condition, one.answer) for one in items
    ]
    assert "paper, 8.7" in (tmp_path / "report.html").read_text()
    plain = json.loads(json.dumps([recall_ab.as_json(cell) for cell in cells]))
    ideal = next(one for one in plain if (one["sort"], one["condition"]) == ("experience", "ideal"))
    assert (ideal["right"]["n"], ideal["right_to_none"]["verdict"]) == (24, "better")


def test_the_verdict_and_the_tables_say_what_a_push_does():
    """A condition that changes nothing makes no difference, junk harms, one case is too few, beside the intervals."""
    _, found = table(silent, (NONE, RECALL))
    page = recall_ab.page(tuple(found.values()), ())
    rows = [section.tables[0].rows[1] for section in page.sections]
    assert [row[2] for row in rows] == ["+0.00 [+0.00, +0.00] no difference detectable"] * 3
    assert page.verdict.startswith(
        "Pushing recall makes no difference that could be detected for experience (0.00 to 0.00) and"
    )
    harmed = recall_ab.page(tuple(table(junk, (NONE, RECALL))[1].values()), ())
    assert harmed.verdict.startswith("Pushing recall harms needless (1.00 to 0.")
    assert [check.says.partition(":")[0] for check in harmed.checks] == ["recall makes answers worse where needless"]
    assert recall_ab.verdict([found[Sort.NEEDLESS, "none"]]).startswith("Too few to tell")


def test_so_few_cases_that_all_turn_wrong_are_no_missing_difference():
    """Four needless cases that junk makes wrong are too few to tell of, and the sentence at the top says so."""
    items, _ = table(junk, (NONE, RECALL))
    cases = list(dict.fromkeys(item.case for item in items if item.sort == Sort.NEEDLESS))[:4]
    told = recall_ab.verdict(recall_ab.cells(item for item in items if item.case in cases))
    assert told == "Pushing recall was tried on too few cases to tell of needless (1.00 to 0.00)."


def test_hooks_deliver_what_was_told_and_nothing_when_switched_off(tmp_path):
    """Lived through hooks: with none nothing is pushed, recall brings the value that was told, junk stays away."""
    world = cases.world(1, moment.now())
    told = next(case for case in world.cases if case.variant == "told")
    with delivery.hooks((world,), tmp_path) as push:
        nothing = push(world, told, NONE, 0)
        pushed = push(world, told, RECALL, 0)
        again = push(world, told, RECALL, 0)
        start = push(world, told, Condition("preamble", ("preamble",)), 0)
        perfect = push(world, told, IDEAL, 0)
    assert nothing == Pushed()
    assert pushed.start == ""
    assert told.right in readers.values(pushed.message, told.wanted)
    assert (pushed.needed, pushed.fault) == (1, "")
    assert (again.hits, again.needed) == (pushed.hits, 1)
    assert pushed.tokens_message > 50
    assert start.start
    assert (start.message, start.hits) == ("", ())
    assert told.ideal in perfect.message
    assert reader((world,)).answer(readers.Reading(pushed.text, told.asked[0], told.wanted)) == told.right
