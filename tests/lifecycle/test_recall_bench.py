"""Asking a store its own questions: as they were asked, with what they ask for left out, and within a time."""

from __future__ import annotations

import time

import pytest

from firsthand import Kind, Trust
from firsthand.consolidate.trials import Question
from firsthand.lifecycle.recall_bench import Bench, mined_of
from firsthand.recall.gate import DEFAULT
from firsthand.recall.tuning import UNTUNED, Tuned
from firsthand.value import replace
from recalls_made import ask, tell

THINGS = ("billing", "search", "mailer", "gateway", "archive", "indexer")
FORM = "which port did we settle on for the {thing} service?"


@pytest.fixture
def bench(memory):
    """A bench with a minute of time."""
    return Bench(memory, DEFAULT, time.monotonic() + 60)


def question(memory, fact, **fields) -> Question:
    position = memory.event(fact.pointer).position
    return Question(FORM.format(thing=fact.thing), 0, "", (position,), (fact.string,), unasked=True, **fields)


def test_a_question_is_asked_with_and_without_its_answer(memory, bench):
    """As it stands it is right in the first place; with the fact left out nothing is right, and it is less sure."""
    facts = tell(memory, THINGS)
    (pair,) = bench.pairs([question(memory, facts[0])], UNTUNED, twins=True)
    assert (pair.seen.places[0], pair.seen.right, pair.seen.led) == (1, True, False)
    assert (pair.without.right, pair.without.places, pair.without.unsure) == (False, (), False)
    assert pair.without.confidence < pair.seen.confidence
    assert pair.seen.seconds > 0


def test_another_event_with_the_same_string_is_right_too(memory, bench):
    """An answer that is said elsewhere counts, so whether it was left out cannot be told: that twin is unsure."""
    facts = tell(memory, THINGS)
    memory.session("again").user(f"For the billing service we settled on port {facts[0].string}, as I said.")
    (pair,) = bench.pairs([question(memory, facts[0])], UNTUNED, twins=True)
    assert (pair.without.unsure, pair.without.right) == (True, False)


def test_a_question_sees_only_what_stood_before_it(memory, bench):
    """What was said after it was asked, and in its own session, is not there."""
    facts = tell(memory, THINGS)
    at = memory.event(facts[0].pointer).position
    asked = Question(FORM.format(thing="billing"), 0, "host:told-0", (at,), (facts[0].string,), unasked=True)
    assert bench.pairs([asked], UNTUNED, twins=False)[0].seen.places == ()
    assert bench.pairs([replace(asked, session="host:other")], UNTUNED, twins=False)[0].seen.places == (1,)
    ask(memory, facts[:1], FORM, shown=False, outcome="weak")  # in the end the user says the port
    (pair,) = bench.pairs([replace(asked, session="", before=at)], UNTUNED, twins=False)
    assert (pair.seen.places, pair.without) == ((), None)


def test_an_untrusted_first_hit_of_a_found_answer_is_told(memory, bench):
    """An answer that passes and begins with a page's text, which is not what was asked for, is led by it."""
    facts = tell(memory, THINGS)
    text = FORM.format(thing="billing") + " For the billing service we did settle on port 6666."
    memory.session("web").append(Kind.TOOL_RESULT, text, origin="tool:web", trust=Trust.UNTRUSTED)
    sure = Tuned(gate_shift=1.0, basis="1:0:")
    (pair,) = bench.pairs([question(memory, facts[0])], sure, twins=False)
    assert (pair.seen.found, pair.seen.led) == (True, True)


def test_values_change_what_is_asked_and_nothing_else(memory, bench):
    """Both sets of values are asked in the same order; the same values see the same, and the store is unchanged."""
    facts = tell(memory, THINGS)
    questions = [question(memory, fact) for fact in facts]
    head = memory.head()
    same = bench.compared(questions, UNTUNED, UNTUNED)
    plain = [
        [(one.question, one.seen.places, one.seen.confidence) for one in side] for side in (same.before, same.after)
    ]
    assert plain[0] == plain[1]
    moved = bench.compared(questions, UNTUNED, Tuned(gate_shift=-1.0, basis="1:0:"))
    pairs = zip(moved.before, moved.after, strict=True)
    assert all(new.seen.confidence < old.seen.confidence for old, new in pairs)
    assert memory.head() == head


def test_when_the_time_is_over_nothing_half_done_is_given(memory):
    """A bench whose time is over gives nothing at all."""
    facts = tell(memory, THINGS)
    late = Bench(memory, DEFAULT, time.monotonic() - 1)
    assert late.over
    assert late.pairs([question(memory, facts[0])], UNTUNED, twins=False) is None
    assert late.compared([question(memory, facts[0])], UNTUNED, UNTUNED) is None


def test_mined_questions_are_of_the_stores_own_words(memory):
    """Questions mined of a store name the facts that were told, by their bytes, and are no users' questions."""
    facts = tell(memory, THINGS)
    found = mined_of(memory)
    assert {one.strings[0] for one in found} <= {fact.string for fact in facts}
    assert found
    for one in found:
        assert memory.expand(one.pointer).decode() == one.strings[0]
        assert not one.real
