"""The review of recalls on stores where it is known what became of each: what it moves, leaves and tells."""

from __future__ import annotations

import time

import pytest

from firsthand import Kind, Memory, Outcome, Query, Trust, TuningDecision, review, tuning_of
from firsthand.consolidate.recalls import Verdict
from firsthand.consolidate.trials import HELD_OUT, Question
from firsthand.event import IdMaker
from firsthand.lifecycle import recall_bench, reviewing
from firsthand.lifecycle.recall_bench import questions_of
from firsthand.lifecycle.reviewing import BY, _Review
from firsthand.recall.search import search
from firsthand.recall.tuning import GATE, ORDER, UNTUNED
from firsthand.value import replace
from recalls_made import THINGS, ask, at, injection, tell

FORM = "which port does {thing} have?"
"""With the gate of the package the fact is asked for with a confidence of about .7: right, and just not found."""


@pytest.fixture(scope="module", autouse=True)
def few_mined():
    """Mine few questions: they only refuse changes, and asking them takes most of the time."""
    patch = pytest.MonkeyPatch()
    patch.setattr(recall_bench, "MINED_MAX", 6)
    yield
    patch.undo()


def filled(root, **asked) -> Memory:
    """A store in which each fact was asked for once, and not shown."""
    memory = Memory.open(root, embedder="none")
    facts = tell(memory)
    ask(memory, facts, FORM, **{"shown": False, "outcome": "weak"} | asked)
    return memory


@pytest.fixture(scope="module")
def missed(tmp_path_factory):
    """A store whose gate is too careful for what its user asks; only read by the tests that share it."""
    with filled(tmp_path_factory.mktemp("missed") / "store") as memory:
        yield memory
        assert memory.verify().problems == ()


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    """Such a store after a review, and what the review said."""
    with filled(tmp_path_factory.mktemp("tuned") / "store") as memory:
        yield memory, review(memory, keep=True)
        assert memory.verify().problems == ()


@pytest.fixture
def tuned_alone(tmp_path):
    """The same store, for a test that changes it."""
    with filled(tmp_path / "tuned") as memory:
        yield memory, review(memory, keep=True)
        assert memory.verify().problems == ()


def held_out(memory: Memory) -> list[Question]:
    questions = questions_of(memory, _Review(memory, "", None)._judged())
    return [one for one in questions if one.half == HELD_OUT]


def found(memory: Memory, questions: list[Question], now=None) -> int:
    """How many are found with what they ask for among the first three, as implicit recall asks."""
    return sum(_is_found(memory, one, now) for one in questions)


def _is_found(memory: Memory, one: Question, now) -> bool:
    scope = Query("x").scope
    query = Query(one.text, replace(scope, before_position=one.before), hits_max=3, attempts_max=1)
    answer = search(memory._log.reader, memory.namespace, query, gate=memory._gate(), tuned=now)
    return answer.outcome is Outcome.FOUND and any(hit.position in one.right for hit in answer.hits)


def test_consistent_misses_are_seen_with_their_sign(missed):
    """Each question that was not answered, and whose answer the user then said, is missed, with the fact as right."""
    seen = review(missed, deadline=time.monotonic())  # no time to tune, nor to look for what was missed
    assert seen.counts.recalls == 0
    assert seen.left_out[0] == "older recalls were not looked at: the time was over"
    judged = _Review(missed, "", None)._judged()
    asked = [one for one in judged if one.recalled.asked.startswith("which port")]
    assert len(asked) == len(THINGS)
    assert {one.verdict for one in asked} == {Verdict.MISSED}
    one = next(each for each in asked if "billing" in each.recalled.asked)
    assert missed.event(one.right[0]).text.startswith("For the billing service we settled on port 41003")
    assert one.sign == f"the user said '41003' afterwards, which stands in {one.right[0]}"


def test_a_gate_that_is_too_careful_is_moved_and_finds_more(tuned):
    """The gate is moved by what the tuning half shows, and more of the questions it never saw are found."""
    memory, seen = tuned
    one = next(each for each in seen.decisions if each.name == GATE)
    assert (one.by, one.before) == (BY, 0.0)
    assert 0 < one.after <= 0.5
    questions = held_out(memory)
    assert found(memory, questions) > found(memory, questions, UNTUNED) + len(questions) // 2
    assert memory.recall("port").tuned == tuning_of(memory).at().changed
    assert memory.recall("port").tuned[GATE] == one.after


def test_a_decision_holds_what_was_measured_and_what_it_rests_on(tuned):
    """It is kept with the figures of the held-out half, and names recalls and facts of that half alone."""
    memory, seen = tuned
    (kept,) = (each for each in tuning_of(memory).decisions() if each.name == GATE)
    trial = next(each for each in seen.trials if each.change.name == GATE)
    assert dict(kept.figures) == trial.figures()
    assert (kept.figures["measure"], kept.figures["low"] > 0, kept.figures["led_after"]) == ("worth", True, 0)
    known = {name for one in held_out(memory) for name in one.known}
    assert kept.sources
    assert set(kept.sources) <= known
    assert any("gate_shift 0 to" in line and "taken" in line for line in seen.sentences)


def test_every_answer_says_what_is_tuned(tuned):
    """The gate's sentence names the shift and the decision behind it."""
    memory, seen = tuned
    one = next(each for each in seen.decisions if each.name == GATE)
    assert f"moved by {one.after:+g} log-odds by fh:{one.id}" in memory.recall("port").gate


def test_undone_the_answers_are_those_of_before(tuned_alone):
    """With every decision undone an answer is that of a store that was never tuned; undone again they stand."""
    memory, seen = tuned_alone
    log = tuning_of(memory)
    before = log.at()
    undoings = [undoing for one in seen.decisions for undoing in log.undo(one.id)]
    query = Query(FORM.format(thing="billing"))
    assert memory.recall(query) == search(
        memory._log.reader, memory.namespace, query, gate=memory._gate(), tuned=UNTUNED
    )
    for one in undoings:
        log.undo(one.id)
    assert log.at() == before


def test_without_keep_nothing_is_written(missed):
    """A review that keeps nothing leaves the store as it is, and says what it would do."""
    head = missed.head()
    seen = review(missed)
    assert GATE in {one.name for one in seen.decisions}
    assert missed.head() == head
    assert missed.recall("port").tuned == {}


def test_reviewed_again_no_fewer_are_found(tuned_alone):
    """A second review with nothing new may take back what another change has made needless, and loses nothing."""
    memory, _ = tuned_alone
    questions = held_out(memory)
    before = found(memory, questions)
    review(memory, keep=True)
    assert found(memory, questions) >= before


def test_what_no_longer_earns_its_place_goes_back(tmp_path):
    """A value in force that is no better than the default on questions held out goes back to it, with the reason."""
    with filled(tmp_path / "store") as memory:
        tuning_of(memory).keep([TuningDecision(IdMaker()(), ORDER, 0.8, 0.5)])
        seen = review(memory, keep=True)
        one = next(each for each in seen.decisions if each.name == ORDER)
        assert (one.before, one.after) == (0.5, 0.8)
        assert one.reason.startswith("it no longer earns its place: the default gives order")
        assert tuning_of(memory).at().mmr_lambda == 0.8
        assert memory.verify().problems == ()


def test_too_few_questions_change_nothing_and_say_so(memory):
    """A store that was asked little is reviewed, and not tuned."""
    facts = tell(memory, THINGS[:5])
    ask(memory, facts, FORM, shown=False, outcome="weak")
    seen = review(memory, keep=True)
    assert (seen.counts.verdicts["missed"], seen.questions, seen.decisions, seen.trials) == (5, 5, (), ())
    assert seen.left_out[0].startswith("nothing is tuned: too few questions of users whose answer is known:")
    assert tuning_of(memory).decisions() == ()


def test_an_empty_store_is_reviewed(memory):
    """Nothing at all is no error."""
    seen = review(memory, keep=True)
    assert seen.counts.recalls == 0
    assert seen.sentences[0] == "0 recalls (0 unasked): none"


def test_only_recalls_of_the_time_are_counted(memory):
    """Since and until bound what is counted, and not what questions are made of."""
    facts = tell(memory, THINGS[:3])
    ask(memory, facts, FORM, shown=True, outcome="found", begin=1_000)
    ask(memory, facts[:2], "what port did {thing} get?", shown=True, outcome="found", begin=5_000, corrected=True)
    seen = review(memory, since=at(4_000), until=at(9_000))
    assert dict(seen.counts.verdicts) == {"found": 2, "unused": 0, "weak": 0, "absent": 2, "missed": 0}
    assert seen.counts.corrected == 2
    assert seen.questions == 3  # those that were corrected afterwards show nothing that is right
    assert [one.corrected for one in seen.examples] == [True, True]


def test_a_day_without_recalls_reads_no_earlier_ones(memory, monkeypatch):
    """Where nothing was recalled in the time, earlier sessions are not looked at; where something was, some are."""
    facts = tell(memory, THINGS[:3])
    ask(memory, facts, FORM, shown=True, outcome="found", begin=1_000)
    assert review(memory, since=at(4_000)).questions == 0
    ask(memory, facts[:1], "what port did {thing} get?", shown=True, outcome="found", begin=5_000)
    assert review(memory, since=at(4_000)).questions == 4
    monkeypatch.setattr(reviewing, "EARLIER_EVENTS_MAX", 5)
    assert review(memory, since=at(4_000)).questions == 2  # one earlier session of five events, and no more


def test_a_day_that_brings_no_new_question_tunes_nothing(tmp_path):
    """The same questions give the same decision: they are not asked again for a day whose recalls show nothing."""
    with filled(tmp_path / "store") as memory:
        memory.session("host:asked-9000").user("which port does the moon have?", time=at(9_000))
        memory.append([injection({"outcome": "weak"}, at(9_000))], session="host:asked-9000")
        seen = review(memory, since=at(8_900))
        assert (seen.counts.recalls, seen.questions) == (1, len(THINGS))
        assert seen.left_out == ("nothing is tuned: nothing new was asked whose answer is known",)
        assert memory.verify().problems == ()


def test_only_the_agents_sessions_are_looked_at(memory):
    """With an agent named, recalls of its sessions alone are judged."""
    facts = tell(memory, THINGS[:2])
    ask(memory, facts, FORM, shown=True, outcome="found")
    memory.agent("shop").enrol("host:asked-1000-0")
    assert review(memory, "shop").counts.recalls == 1
    assert review(memory).counts.recalls == 2


def test_an_answer_found_with_other_words_was_missed_before(memory):
    """Of two calls of one turn, the first in words that found nothing, what the second found and used was there."""
    (fact,) = tell(memory, ["billing"])
    session = memory.session("host:twice")
    session.user("Which port does the billing service have?", time=at(2_000))
    first = session.tool_call("recall", {"query": "billing service number"}, call_id="c1", time=at(2_000))
    session.tool_result("c1", memory.fence("absent: nothing matches"), time=at(2_000))
    session.tool_call("recall", {"query": "billing service port"}, call_id="c2", time=at(2_000))
    session.tool_result("c2", memory.fence(f"found: 1 hit\n{fact.pointer}  it"), time=at(2_000))
    session.tool_call("bash", {"command": f"curl localhost:{fact.string}"}, time=at(2_000))
    judged = {one.recalled.pointer: one for one in _Review(memory, "", None)._judged()}
    one = judged[f"fh:{first.id}"]
    assert (one.verdict, one.right) == (Verdict.MISSED, (fact.pointer,))
    assert one.sign == "asked again as 'billing service port', it was found"


def test_what_the_agent_opened_by_itself_was_missed(memory):
    """A pointer about the same that the agent cites and was not shown proves that it was there."""
    (fact,) = tell(memory, ["billing"])
    session = memory.session("host:opened")
    session.user(FORM.format(thing="billing"), time=at(2_000))
    session.tool_call("recall", {"query": "zzz"}, call_id="c1", time=at(2_000))
    session.tool_result("c1", memory.fence("absent: nothing matches"), time=at(2_000))
    session.agent(f"See {fact.pointer} and fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY.", time=at(2_000))
    (one,) = _Review(memory, "", None)._judged()
    assert one.verdict is Verdict.ABSENT  # 'zzz' is not about it
    session.user(FORM.format(thing="billing"), time=at(2_001))
    session.tool_call("recall", {"query": "billing port"}, call_id="c2", time=at(2_001))
    session.tool_result("c2", memory.fence("absent: nothing matches"), time=at(2_001))
    session.agent(f"See {fact.pointer}.", time=at(2_001))
    newest = _Review(memory, "", None)._judged()[0]
    assert (newest.verdict, newest.right, newest.sign) == (
        Verdict.MISSED, (fact.pointer,), f"the agent opened or cited {fact.pointer} afterwards",
    )  # fmt: skip


def test_text_of_tools_and_repetition_make_no_questions(memory):
    """What was right must be a user's or an agent's words; one question repeated counts once; a few about one event."""
    facts = tell(memory, THINGS[:1], trust=Trust.UNTRUSTED)
    ask(memory, facts, FORM, shown=True, outcome="found")
    assert questions_of(memory, _Review(memory, "", None)._judged()) == ()
    (own,) = tell(memory, ["search"])
    for begin in range(10):
        ask(memory, [own], FORM, shown=True, outcome="found", begin=2_000 + begin)
        ask(memory, [own], FORM + f" please {'x' * (begin + 4)}", shown=True, outcome="found", begin=3_000 + begin)
    questions = questions_of(memory, _Review(memory, "", None)._judged())
    assert len(questions) == recall_bench.OF_EVENT_MAX
    assert len({one.text for one in questions}) == recall_bench.OF_EVENT_MAX


def test_a_poisoned_store_does_not_open_the_gate(tmp_path):
    """Pages that repeat every question with another answer would lead if the gate were lower: it is not lowered."""
    with Memory.open(tmp_path / "store", embedder="none") as memory:
        facts = tell(memory)
        page = memory.session("web")
        for fact in facts:
            text = f"Which port does {fact.thing} have? The {fact.thing} port is 6666."
            page.append(Kind.TOOL_RESULT, text, origin="tool:web", trust=Trust.UNTRUSTED)
        ask(memory, facts, FORM, shown=False, outcome="weak")
        seen = review(memory, keep=True)
        assert seen.questions == len(facts)
        assert all(one.name != GATE or one.after < 0 for one in seen.decisions)
        assert tuning_of(memory).at().gate_shift <= 0
        assert memory.verify().problems == ()
