"""Rules are found by the situations they were learned in, and only by those."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from firsthand import Kind, Memory, Outcome, Query, Scope
from firsthand.recall.attempt import Search
from firsthand.recall.reformulate import AS_ASKED
from firsthand.recall.triggers import PLACES, SHARED_MIN, STRENGTH_MIN, Trigger, good, reserve

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from trigger_cases import RETOLD, world
from triggers_bench import fill, overlap

CASE = "the knee is swollen and warm, with fever since monday"
OTHER = "a man with a swollen warm knee and some fever"


@pytest.fixture
def memory(tmp_path):
    with Memory.open(tmp_path / "store", embedder="none") as opened:
        yield opened
        assert opened.verify(deep=True).problems == ()


def chatter(memory: Memory, count: int = 60) -> None:
    """Fill a store with cases that repeat the question's words more than any rule does."""
    for number in range(count):
        session = memory.session(f"case-{number}")
        session.user(f"patient {number}: a man with a swollen knee, seen on the ward")
        session.agent(f"score card {number}: swollen warm knee and fever, {number % 9} of 9 met")


@pytest.mark.parametrize("waits", [True, False], ids=["waiting", "indexed"])
def test_a_case_finds_the_rule_that_shares_no_word_with_it(memory, waits):
    """A rule comes among the first three by its situation, while it waits to be indexed and afterwards alike."""
    chatter(memory)
    rule = memory.note("ASPIRATE BEFORE TREATMENT", situations=[CASE], sort="rule")
    if not waits:
        chatter(memory, 40)
    answer = memory.recall(OTHER)
    places = [hit.pointer for hit in answer]
    assert places.index(rule.pointer) <= PLACES[0]
    (hit,) = [hit for hit in answer if hit.pointer == rule.pointer]
    assert hit.preview == "ASPIRATE BEFORE TREATMENT"
    assert "words" not in hit.found_by
    assert STRENGTH_MIN <= hit.found_by["trigger"] <= hit.parts["base"] <= 1
    assert list(hit.parts) == ["base", "premise", "phase", "superseded", "task_relevance"]


def test_one_word_is_no_situation(memory):
    """A question that shares one word with a situation is not shown the rule, one that shares several is."""
    memory.note("ASPIRATE", situations=[CASE], sort="rule")
    chatter(memory)
    assert Kind.NOTE not in {hit.kind for hit in memory.recall("what did the patients say of the ward on monday")}
    assert Kind.NOTE in {hit.kind for hit in memory.recall("what about a warm swollen knee")}


def test_notes_alone_are_asked_by_their_situations(memory):
    """A recall of notes gives those whose situations tell what is asked, the one that tells most first."""
    chatter(memory)
    weaker = memory.note("REST IT", situations=["the knee hurts after running"])
    right = memory.note("ASPIRATE", situations=[CASE])
    memory.note("UNRELATED", situations=["the parcel never came"])
    answer = memory.recall(OTHER, kinds=["note"])
    assert [hit.pointer for hit in answer] == [right.pointer, weaker.pointer]


def test_a_scope_and_a_tenant_hold_for_rules_too(memory, tmp_path):
    """A rule outside the session asked for is not shown; nor is one of another namespace."""
    chatter(memory)
    memory.note("ASPIRATE", situations=[CASE], session="rules")
    assert Kind.NOTE not in {hit.kind for hit in memory.recall(OTHER, sessions=["case-1", "case-2"])}
    assert Kind.NOTE in {hit.kind for hit in memory.recall(OTHER, sessions=["case-1", "rules"])}
    with Memory.open(tmp_path / "store", namespace="other", embedder="none") as other:
        other.session("s").user("a swollen knee")
        assert {hit.kind for hit in other.recall(OTHER)} == {Kind.USER_MESSAGE}


def test_pages_join_with_rules_among_them(memory):
    """Read hit by hit or at once, the same hits come in the same order."""
    chatter(memory)
    for number in range(4):
        memory.note(f"RULE {number}", situations=[f"{CASE}, room {number}"])
    whole = [hit.pointer for hit in memory.recall(OTHER, hits_max=12, budget_tokens_max=10_000)]
    parts = [
        hit.pointer
        for skip in range(0, 12, 3)
        for hit in memory.recall(OTHER, hits_max=3, skip=skip, budget_tokens_max=10_000)
    ]
    assert parts == whole


def test_an_erased_rule_is_not_found(memory):
    """When its source is erased the rule is gone from the answers."""
    source = memory.session("s").user(CASE)
    chatter(memory)
    rule = memory.note("ASPIRATE", sources=[source], sort="rule")
    assert rule.pointer in {hit.pointer for hit in memory.recall(OTHER)}
    memory.erase([source])
    assert rule.pointer not in {hit.pointer for hit in memory.recall(OTHER)}


def test_without_an_index_rules_are_found_in_the_log(memory):
    """When the text index is gone the answer is degraded, and the rule is found by its situation all the same."""
    chatter(memory)
    rule = memory.note("ASPIRATE", situations=[CASE])
    memory.follow()
    memory.log.exclusively(lambda db: db.execute("DROP TABLE text_1"))
    answer = memory.recall(OTHER)
    assert answer.outcome is Outcome.DEGRADED
    assert rule.pointer in {hit.pointer for hit in answer.hits[:3]}
    memory.rebuild()


def test_deep_rules_are_found_by_other_cases(memory):
    """Of 80 cases in three fields, retold by another person, at least nine in ten find their rule in the first three.

    The words that question and rule share are few; score cards share more with it.
    """
    made = world(21, questions=2, asked=RETOLD)
    positions = fill(memory, made)
    rules = [position for position in positions if memory_kind(memory, position) is Kind.NOTE]
    found = shared = 0
    for rule, situation in zip(rules, made.situations, strict=True):
        for question in situation.questions:
            found += rule in {hit.position for hit in memory.recall(question, hits_max=3)}
            shared += overlap(question, situation.rule)
    assert len(rules) == 40
    assert found >= 72
    assert shared / 80 < 0.1


def memory_kind(memory: Memory, position: int) -> Kind:
    (event,) = memory.events(after=position - 1, limit=1)
    return event.kind


def trigger(position: int, strength: float, shared: int, asked: int = 9) -> Trigger:
    return Trigger(position, strength, strength, tuple(map(str, range(shared))), asked)


def test_a_place_is_kept_for_what_tells_enough():
    """Strength and shared words decide; two that are half of few words are enough, or all of them; at most three."""
    told = [
        trigger(1, STRENGTH_MIN, SHARED_MIN),
        trigger(2, STRENGTH_MIN / 2, 9),
        trigger(3, 0.9, SHARED_MIN - 1),
        trigger(4, 0.9, 2, asked=4),
        trigger(5, 0.9, 1, asked=2),
        trigger(8, 0.9, 1, asked=1),
        trigger(6, 0.5, 4),
        trigger(7, 0.5, 4),
    ]
    assert [one.position for one in good(told)] == [1, 4, 8]


def test_places_are_kept_at_the_latest():
    """What stands behind its place moves up to it, what stands before it stays, and the others keep their order."""
    assert reserve([10, 11, 12, 13, 14, 15, 1, 2, 3], [1, 2, 3]) == [10, 1, 2, 11, 12, 3, 13, 14, 15]
    assert reserve([1, 10, 2, 11, 3], [1, 2, 3]) == [1, 10, 2, 11, 3]
    assert reserve([10, 11], []) == [10, 11]
    assert reserve([10, 1], [1]) == [10, 1]


def attempted(memory: Memory, text: str, without=()):
    """Ask once, as a recall does first."""
    reader = memory.log.reader
    head, _ = reader.head("default")
    search = Search(reader, "default", reader.namespace_key("default"), head, Query(text))
    return search.attempt(text, Scope(), AS_ASKED, without=without)


def test_a_rule_that_is_taken_as_not_there_is_not_found(memory):
    """An attempt without a note's position has no trigger for it; the others stay."""
    notes = [memory.note("ASPIRATE", situations=[CASE], sort="rule"), memory.note("WAIT", situations=[CASE])]
    chatter(memory, 8)
    first, second = (note.event.position for note in notes)
    told = [[one.position for one in attempted(memory, OTHER, gone).triggers] for gone in ((), {second})]
    assert told == [[second, first], [first]]


def test_the_words_of_the_best_events_are_asked_too(memory):
    """Of two notes that tell as much of the question, the one that shares more with the events found comes first."""
    older = memory.note("ASPIRATE", situations=["a man with a swollen warm knee, gout in the family"])
    newer = memory.note("WAIT", situations=["a man with a swollen warm knee, holiday in the family"])
    for number in range(6):
        memory.session(f"case-{number}").user(f"{OTHER}: gout, said doctor {number}")
    for number in range(40):
        memory.session("diary").user(f"a quiet day on ward {number}, the ferry to the island was late")
    found = attempted(memory, OTHER)
    assert [one.position for one in found.triggers] == [older.event.position, newer.event.position]
    assert found.triggers[0].strength == found.triggers[1].strength
