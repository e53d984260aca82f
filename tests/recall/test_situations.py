"""Rules are found by the situations they were learned in."""

from __future__ import annotations

import numpy as np

from firsthand.answer import Scope
from firsthand.event import Kind
from firsthand.index.dense import Scores

CASES = (
    "The patient came with a swollen knee, a fever and a rash on both arms.",
    "A woman with joint pain and sweating at night, her knee was hot.",
    "He was tired, had a rash and could not bend the knee for days.",
)
RULE = "Aspirate before any drug is given. Never accept the benign label first."


def _learned(memory, talk):
    for number, case in enumerate(CASES):
        talk(f"case-{number}", case, "I would look at it first.")
    for number in range(8):
        talk(f"desk-{number}", f"The printer {number} has no toner and the door is open.", "I call the desk.")
    return memory.note(RULE, situations=list(CASES), sort="rule").event.position


def test_a_rule_is_found_by_its_situation(memory, talk, ranking):
    """A question that shares no word with a rule, but with the cases it was learned from, leads to it."""
    rule = _learned(memory, talk)
    talk("new", "Some other talk about the printer.", "ok")
    found = ranking("what now: her knee is swollen and there is a rash with sweating")
    assert found.situations == (rule,)
    assert rule in [event.position for event in found.ranked]
    assert found.ranked[0].position != rule


def test_a_rule_is_not_found_by_one_word(memory, talk, ranking):
    """One shared word of many is no situation, and neither are words of the rule's field that it never met."""
    _learned(memory, talk)
    assert ranking("is the knee of the desk lamp broken or does the printer door hold it?").situations == ()
    assert ranking("which printer has no toner?").situations == ()


def test_the_words_of_the_best_events_are_asked_too(memory, talk, ranking):
    """What the best events say in other words leads to the rule that the question's own words prefer less."""
    rule = _learned(memory, talk)
    other = memory.note(
        "Reset it twice.", situations=["fever alarm, sweating pipe, rash of errors on the desk"], sort="rule"
    ).event.position
    question = "fever with sweating and a rash"
    assert set(ranking(question).situations) == {rule, other}
    called = []

    def texts(positions):
        called.extend(positions)
        return list(CASES)

    assert ranking(question, texts=texts).situations[0] == rule
    assert called


def test_rules_out_of_scope_are_not_given(memory, talk, ranking):
    """A scope that leaves notes out leaves their situations out."""
    _learned(memory, talk)
    question = "her knee is swollen and there is a rash with sweating"
    assert ranking(question, scope=Scope(kinds=(Kind.USER_MESSAGE,))).situations == ()


def test_without_notes_no_text_is_asked_for(talk, ranking):
    """Where no note has situations, nothing is read."""
    talk("s", *CASES)

    def texts(_positions):
        raise AssertionError("nothing is to be read")

    assert ranking("swollen knee and rash", texts=texts).situations == ()


class _Near:
    """Vectors of which one situation of a note is near to anything."""

    def __init__(self, position, cosine):
        self.position, self.cosine = position, cosine

    def scores(self, text, columns, mask=None):
        rows = np.array([columns.rows_of(self.position)[-1]], np.int64)
        return Scores(rows, np.array([self.cosine], np.float32), 10**9, "")


def test_a_rule_is_found_by_the_meaning_of_a_situation(memory, talk, ranking):
    """A situation that is near in meaning leads to its rule, though no word is shared; one that is far does not."""
    rule = _learned(memory, talk)
    question = "arthritic limb, febrile since Monday"
    assert ranking(question).situations == ()
    found = ranking(question, near=_Near(rule, 0.6))
    assert found.situations == (rule,)
    assert ranking(question, near=_Near(rule, 0.2)).situations == ()


def test_words_and_meaning_put_rules_in_order_together(memory, talk, ranking):
    """Of two rules that the words lead to alike, the one whose situation is nearer in meaning comes first."""
    _learned(memory, talk)
    older, newer = (
        memory.note(text, situations=["the teal pump hums, then stalls in the cold"], sort="rule").event.position
        for text in ("Warm it.", "Bleed it.")
    )
    question = "a teal pump that stalls in the cold"
    assert ranking(question).situations[0] == newer
    assert ranking(question, near=_Near(older, 0.3)).situations[0] == older


def test_a_situation_is_no_passage(memory, talk, ranking):
    """A note is given with its own passages, never with a row of a situation."""
    rule = _learned(memory, talk)
    found = ranking("her knee is swollen and there is a rash with sweating", near=_Near(rule, 0.9))
    with memory.index_moment() as moment:
        shown = [row for event in found.ranked for row in event.rows]
        assert all(moment.columns.size[row] for row in shown)
