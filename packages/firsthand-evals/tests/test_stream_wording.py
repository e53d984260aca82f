"""Questions in other words: understood by the words of the memory, and by nothing else."""

from __future__ import annotations

import pytest

from firsthand.ledger.solver import Weak
from firsthand_evals.stream.rules import Strong
from firsthand_evals.stream.world import Understanding, reworded

OTHER = [reworded("birch level 7", place) for place in (0, 1)]


def test_wordings_differ_and_name_the_same():
    """Two wordings, neither that of the memory."""
    assert OTHER == ["Birch, at level 7", "level 7 of birch"]


@pytest.mark.parametrize("asked", [*OTHER, "what is the level 7 of the BIRCH?", "birch level 7"])
@pytest.mark.parametrize(
    ("view", "answer"),
    [
        ("case: birch level 7 => 23\ncase: cedar level 7 => 9", "23"),
        ("rule: birch level N => 3 * N + 2", "23"),
        ("rule: cedar level N => 3 * N + 2", None),
        ("", None),
    ],
)  # fmt: skip
def test_a_question_is_understood_by_the_lines_of_the_memory(asked: str, view: str, answer: str | None):
    """Case and rule answer in any wording; a memory without the word answers in none."""
    assert Understanding(Weak()).answer(asked, view) == answer


def test_a_memory_that_lost_the_word_answers_its_own_wording_alone():
    """A rule for any word fits the wording it was written for, and no other."""
    words = Understanding(Weak())
    assert words.answer("birch level 7", "rule: * level N => 1 * N") == "7"
    assert words.answer("level 7 of birch", "rule: * level N => 1 * N") is None


def test_what_is_known_without_memory_is_known_in_any_wording():
    """What a reader knows by itself it knows by its own words; the memory is read first."""
    words = Understanding(Weak(lambda asked: "14" if asked == "elm level 7" else None), ("elm level N",))
    assert words.answer("level 7 of elm", "") == "14"
    assert words.answer("level 7 of elm", "rule: elm level N => 1 * N") == "7"
    assert words.answer("level 7 of oak", "") is None


def test_a_rule_is_made_of_cases_in_any_wording():
    """A strong reader that is asked in other words makes the same rule of the cases there are."""
    view = "\n".join(f"case: birch level {n} => {3 * n + 2}" for n in (1, 4, 6))
    assert Understanding(Strong()).answer("level 7 of birch", view) == "23"
    assert Understanding(Weak()).answer("level 7 of birch", view) is None
