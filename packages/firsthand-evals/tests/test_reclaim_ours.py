"""evals/reclaim/ours.py: past the cliff, under decoys and along chains our memory is corrected, and is never wrong."""

from __future__ import annotations

from firsthand_evals.reclaim import drift, experiments, ours, run, tasks
from firsthand_evals.reclaim.experiments import Options
from firsthand_evals.reclaim.ours import NoteAlone, PointerMemory
from firsthand_evals.reclaim.policies import SOURCE_FIRST
from firsthand_evals.reclaim.readers import Recomputing

N = 4
OURS = (ours.pointers(), ours.note_alone())


def table(cases):
    (found,) = experiments.tables_of(run.run(cases, Recomputing()))
    return found


def figures(cell):
    """Give what counts: recovered, silently wrong, abstained, within the budget, asked."""
    return cell.recovered.share, cell.silent.share, cell.abstained.share, cell.over == 0, cell.pulls > 0


def test_past_the_cliff_the_rest_is_a_second_hop():
    """32 items at 300 characters: source-first is silently wrong, our note is not, and recovers with its store."""
    found = table(experiments.sweep("size", N, items=(4, 32), budget=(300,), subjects=OURS))
    assert figures(found.cell(memory=SOURCE_FIRST, items=32)) == (0, 1, 0, True, False)
    assert figures(found.cell(memory="firsthand_note", items=32)) == (0, 0, 1, True, False)
    assert figures(found.cell(memory="firsthand", items=32)) == (1, 0, 0, True, True)
    assert figures(found.cell(memory="firsthand", items=4))[:4] == (1, 0, 0, True)
    assert figures(found.cell(memory="firsthand_note", items=4))[1] == 0


def test_decoys_crowd_nothing_out():
    """Under 32 things that were considered, the store brings back what was bought; the note alone is not wrong."""
    found = table(experiments.sweep("noise", N, considered=(32,), subjects=OURS))
    assert found.cell(memory=SOURCE_FIRST).recovered.share == 0
    assert figures(found.cell(memory="firsthand"))[:4] == (1, 0, 0, True)
    assert figures(found.cell(memory="firsthand_note"))[:4] == (0, 0, 1, True)


def test_a_chain_is_corrected_however_long_it_is():
    """At 8 and 24 sessions of 200 characters only the planted error is wrong, and the control has none."""
    for hops in (8, 24):
        found = table(experiments.sweep("cascade", 1, hops=(hops,), subjects=OURS))
        for premise in (True, False):
            cell = found.cell(memory="firsthand", premise=premise)
            assert (*figures(cell), cell.blast.mean) == (1, 0, 0, True, True, float(premise))
            alone = found.cell(memory="firsthand_note", premise=premise)
            assert (alone.silent.share, alone.blast.mean, alone.blast_abstained > 0) == (0, float(premise), True)


def test_the_source_may_stand_anywhere_and_in_other_words():
    """First, middle, late, scattered, in either wording: what stands in the session is found."""
    for wording in drift.WORDINGS:
        given = Options(n=1, subjects=(ours.pointers(),), wording=wording)
        own = [one for one in experiments.cases(["places"], given) if one.subject.name == "firsthand"]
        found = table(own)
        assert {cell.recovered.share for cell in found.cells} == {1}
        assert {cell.label("source_at") for cell in found.cells} == set(drift.PLACES)


def test_no_correction_that_misleads_moves_it():
    """A false locus, a value insisted on and false working are answered out of the source."""
    given = Options(n=1, subjects=(ours.pointers(),))
    own = [one for one in experiments.cases(["adversarial"], given) if one.subject.name == "firsthand"]
    assert {cell.recovered.share for cell in table(own).cells} == {1}


def test_the_store_keeps_what_was_said_and_nothing_else():
    """Sessions are stored without what was carried, asked and recalled; the store verifies; its folder goes."""
    memory = PointerMemory()
    session = drift.dialogue(tasks.ledger(1, 12)[0])
    note = memory.write(session, 300)
    recalled = memory.recall("the total before tax")
    again = [
        {"role": "system", "content": f"Memory of earlier sessions:\n{note}"},
        {"role": "user", "content": "And now?"},
        {"role": "assistant", "content": "RECALL: the total"},
        {"role": "user", "content": f"Recalled:\n{recalled}"},
        {"role": "assistant", "content": "ANSWER: unknown"},
    ]
    memory.write(again, 300)
    told = [one["content"] for one in session[1:]] + ["And now?", "ANSWER: unknown"]
    assert [event.text for event in memory._session.events()] == told
    assert memory.verify()
    folder = memory._store.path
    memory.close()
    assert not folder.exists()


def test_a_pointer_that_leads_nowhere_says_so():
    """An address that is not in the store is told, and no error; a part of an event comes as its bytes."""
    memory = PointerMemory()
    try:
        memory.write([{"role": "user", "content": "7 mugs at $4 each"}], 100)
        (event,) = memory._session.events()
        assert memory.recall(f"see fh:{event.id}@2-6") == "mugs"
        assert memory.recall(f"fh:{event.id}") == "user: 7 mugs at $4 each"
        assert memory.recall("fh:01KFTCF62089XV0YPBC48CYZZG").startswith("nothing stands there: ")
        assert "7 mugs at $4 each" in memory.recall("mugs")
        assert memory.verify()
    finally:
        memory.close()


def test_a_note_alone_says_what_it_lost():
    """Without a store the note admits what did not fit; along a chain it goes on from what was carried."""
    note = NoteAlone().write(drift.dialogue(tasks.ledger(1, 12)[0]), 200)
    assert note.startswith("4 of 20 statements kept.\n")
    assert len(note) <= 200
    carried = [{"role": "system", "content": "Memory of earlier sessions:\n7 mugs at $4 each"}]
    more = NoteAlone().write([*carried, {"role": "user", "content": "Also 9 pens at $2 each. What is the total?"}], 200)
    assert "7 mugs at $4 each" in more
    assert "9 pens at $2 each" in more
