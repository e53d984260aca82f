"""Decisions on values of recall in the log: kept, in force at once, undone, erased with what they rest on."""

from __future__ import annotations

import pytest

from firsthand import Kind, Memory, Query, Trust, TuningDecision, tuning_of
from firsthand.errors import InvalidArgument, Unresolvable
from firsthand.event import Draft, IdMaker
from firsthand.index import learned
from firsthand.lifecycle.tuning_log import SOURCES_MAX
from firsthand.recall.kept_tuning import MEDIA, NAME, SESSION, read_from_log
from firsthand.recall.search import search
from firsthand.recall.tuning import GATE, ORDER, SUPERSEDED, UNTUNED, basis_of

IDS = IdMaker()


def decide(memory: Memory, name: str = ORDER, after: float = 0.9, **fields) -> TuningDecision:
    """Keep one decision."""
    before = tuning_of(memory).at().get(name)
    return tuning_of(memory).keep([TuningDecision(IDS(), name, before, after, **fields)])[0]


def kept(memory: Memory):
    """What is kept beside the log for the quick reading."""
    reader = memory._log.reader
    return learned.read(reader.db, reader.namespace_key(memory.namespace), NAME)


@pytest.fixture
def said(memory):
    """The pointer of one message."""
    return f"fh:{memory.session('one').user('The port of billing is 8443.').id}"


def test_a_decision_is_in_force_at_once_in_every_handle(memory, said):
    """Recall answers with the value, says so, and so does a handle that was open before, and a new one."""
    with Memory.open(memory.path, read_only=True, embedder="none") as other:
        assert other.recall("port").tuned == {}
        one = decide(memory)
        for each in (memory, other):
            answer = each.recall("port")
            assert (answer.tuned, answer.query.mmr_lambda) == ({ORDER: 0.9}, 0.9)
    assert tuning_of(memory).at().sentences() == (f"mmr_lambda is 0.9 (default 0.8) by fh:{one.id}",)
    assert memory.recall("8443").hits[0].pointer == said


def test_a_decision_is_an_event_that_no_recall_finds(memory, said):
    """It is one event of its session with figures and pointers, and is read back as it was kept."""
    one = decide(memory, reason="better by far", by="rule:review", figures={"gain": 0.5}, sources=(said,))
    (event,) = memory.events(SESSION)
    assert (event.kind, event.media, event.meta) == (Kind.TUNING, MEDIA, {"sources": [said]})
    (read,) = tuning_of(memory).decisions()
    assert (read.reason, read.by, dict(read.figures), read.sources) == (
        "better by far",
        "rule:review",
        {"gain": 0.5},
        (said,),
    )
    assert (read.name, read.before, read.after, read.position) == (ORDER, 0.8, 0.9, one.position)
    assert all(hit.kind is not Kind.TUNING for hit in memory.recall("better by far gain").hits)


def test_what_is_in_force_is_read_from_the_log_without_what_was_kept(memory, said):
    """Dropped by a rebuild, or left behind by another writer, what was kept never decides."""
    decide(memory)
    assert kept(memory).json == tuning_of(memory).at().to_json()
    reader = memory._log.reader
    memory._log.exclusively(lambda db: db.execute("DELETE FROM learned").fetchall())
    assert memory.recall("port").tuned == {ORDER: 0.9}
    assert read_from_log(reader, memory.namespace) == tuning_of(memory).at()
    memory.follow()
    assert kept(memory) is not None
    memory.append([Draft(Kind.TUNING, b"not ours", "text/plain")], session=SESSION)
    assert memory.recall("port").tuned == {ORDER: 0.9}  # what is kept is of an earlier position: the log is read
    memory.rebuild()
    assert memory.recall("port").tuned == {ORDER: 0.9}


def test_what_was_kept_and_is_damaged_does_not_count(memory, said):
    """A kept value that is none is passed over for the log's."""
    decide(memory)
    memory._log.exclusively(lambda db: db.execute("UPDATE learned SET json = '{\"mmr_lambda\": 7}'").fetchall())
    assert memory.recall("port").tuned == {ORDER: 0.9}


def test_undone_is_as_if_it_had_never_been(memory, said):
    """Undoing takes the later decisions on the same value with it, and no other; undoing that makes it stand again."""
    first = decide(memory, after=0.9)
    other = decide(memory, SUPERSEDED, 0.2)
    second = decide(memory, after=1.0)
    log = tuning_of(memory)
    undoing, following = log.undo(first.id[-8:], reason="not here")
    assert (undoing.undoes, following.undoes, undoing.reason, undoing.by) == (first.id, second.id, "not here", "user")
    assert log.at().changed == {SUPERSEDED: 0.2}
    assert log.undo(first.id) == ()
    log.undo(other.id)
    untuned = search(memory._log.reader, memory.namespace, Query("port billing"), tuned=UNTUNED)
    assert memory.recall("port billing") == untuned
    log.undo(undoing.id)
    assert log.at().changed == {ORDER: 0.9}


def test_a_decision_with_a_strange_before_can_be_undone(memory, said):
    """What a caller names as the value before does not stand in the way of an undoing."""
    (one,) = tuning_of(memory).keep([TuningDecision(IDS(), ORDER, 99.0, 0.9)])
    (undoing,) = tuning_of(memory).undo(one.id)
    assert (undoing.after, tuning_of(memory).at().changed) == (1.0, {})


def test_values_as_of_any_position(memory, said):
    """As of a position stands what was decided up to it, whenever it is asked."""
    first = decide(memory, after=0.9)
    second = decide(memory, after=1.0)
    log = tuning_of(memory)
    log.undo(second.id)
    told = [log.at(position).changed for position in (first.position - 1, first.position, second.position)]
    assert told == [{}, {ORDER: 0.9}, {ORDER: 1.0}]
    assert log.at(second.position + 1).changed == log.at().changed == {ORDER: 0.9}


def test_a_decision_goes_with_what_it_rests_on(memory, said):
    """Erasing a source erases the decision, and every value is what it would be without it."""
    one = decide(memory, sources=(said,))
    memory.erase([said])
    assert memory.event(f"fh:{one.id}").erased
    assert memory.recall("port").tuned == {}
    assert tuning_of(memory).at() == UNTUNED


def test_what_is_no_decision_changes_nothing(memory, said):
    """Text of another kind, another version, out of bounds or of no parameter is passed over."""
    base = b'{"tuning": 1, "name": "mmr_lambda", "before": 0.8, "after": %s, "reason": "", "by": "", "basis": "", '
    rest = b'"undoes": "", "figures": {}}'
    texts = [
        b"",
        b"[]",
        b"{}",
        base % b"7" + rest,
        base % b"NaN" + rest,
        (base % b"0.9" + rest).replace(b"1,", b"2,", 1),
    ]
    texts.append((base % b"0.9" + rest).replace(b"mmr_lambda", b"attempts_max"))
    memory.append([Draft(Kind.TUNING, text, MEDIA, trust=Trust.TRUSTED) for text in texts], session=SESSION)
    memory.append([Draft(Kind.NOTE, base % b"0.9" + rest, MEDIA, trust=Trust.TRUSTED)], session=SESSION)
    assert tuning_of(memory).decisions() == ()
    assert memory.recall("port").tuned == {}


@pytest.mark.parametrize(
    ("trust", "tuned"), [(Trust.UNTRUSTED, {}), (Trust.AGENT, {}), (Trust.TRUSTED, {"mmr_lambda": 0.9})]
)
def test_what_a_tool_or_an_import_brought_tunes_nothing(memory, said, trust, tuned):
    """A whole decision counts where it is trusted, and nowhere else."""
    told = b'{"tuning": 1, "name": "mmr_lambda", "before": 0.8, "after": 0.9, "reason": "", "by": "", "basis": "", '
    draft = Draft(Kind.TUNING, told + b'"undoes": "", "figures": {}}', MEDIA, origin="tool:fetch", trust=trust)
    memory.append([draft], session=SESSION)
    assert memory.recall("port").tuned == tuned


def test_a_decision_out_of_bounds_is_not_kept(memory, said):
    """What names no parameter, or a value out of its bounds, is refused before anything is written."""
    head = memory.head()
    for name, after in (("mmr_lambda", 0.2), ("gate_shift", 5.0), ("attempts_max", 3.0)):
        with pytest.raises(InvalidArgument, match="expected a parameter of recall and a value within its bounds"):
            tuning_of(memory).keep([TuningDecision(IDS(), name, 0.0, after)])
    assert tuning_of(memory).keep([]) == ()
    assert memory.head() == head


def test_only_one_decision_is_named(memory, said):
    """An id that fits none or several is refused with how many it fits."""
    decide(memory)
    decide(memory, after=1.0)
    for name in ("", "0", "ZZZZ"):
        with pytest.raises(Unresolvable, match="expected the id of one decision on a value of recall"):
            tuning_of(memory).find(name)


def test_sources_are_at_most_so_many(memory, said):
    """A decision names the first sources only."""
    one = decide(memory, sources=tuple([said] * (SOURCES_MAX + 5)))
    assert len(memory.event(f"fh:{one.id}").meta["sources"]) == SOURCES_MAX


def test_another_namespace_is_not_tuned(memory, said):
    """A decision holds in its own namespace alone."""
    decide(memory)
    with Memory.open(memory.path, namespace="other", embedder="none") as other:
        other.session("s").user("The port is 1.")
        assert other.recall("port").tuned == {}


def test_a_shift_is_not_used_with_another_gate(memory, said):
    """A shift that was measured with a gate that is not in force changes no answer, and every place says so."""
    decide(memory, GATE, 0.5, basis="1:77:")
    after = memory.recall("port billing")
    before = search(memory._log.reader, memory.namespace, Query("port billing"), tuned=UNTUNED)
    assert (after.confidence, after.tuned) == (before.confidence, {})
    why = "a shift of the gate by +0.5 is not used: it was measured with another gate"
    assert after.gate.endswith(why)
    assert (tuning_of(memory).at().changed, tuning_of(memory).at().note) == ({}, why)
    decide(memory, GATE, 0.5, basis=basis_of(memory._gate()))
    assert memory.recall("port billing").tuned == {GATE: 0.5}
    assert memory.recall("port billing").confidence > before.confidence
