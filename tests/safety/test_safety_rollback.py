"""One bad source or decision is taken out with all that came of it, and everything can be brought back."""

from __future__ import annotations

import pytest
from believing import believed, night

from consolidate_worlds import by_lines
from firsthand import Draft, Kind, Memory, Trust
from firsthand.agents.agent_digest import digest_of
from firsthand.errors import Erased, FirsthandError, InvalidArgument, Unresolvable
from firsthand.ledger.consolidation import (
    MEDIA,
    SESSION,
    consolidate_in,
    consolidated_view,
    entries_known,
    entries_standing,
)
from firsthand.ledger.decision_log import ledger_of
from firsthand.ledger.entries import identity_of
from firsthand.ledger.lineage import lineage_of
from firsthand.ledger.statements import supersede
from firsthand.value import replace

LEVELS = (7, 8, 9, 12, 15)


def say(memory, levels=LEVELS):
    return [memory.session("s").user(f"birch level {level} => {3 * level + 2}") for level in levels]


def child_of(memory, kept, parent, version):
    """Append a newer version of an entry, as the gate would have kept it."""
    made = replace(kept, text=f"{kept.text}{' ' * version}", parents=(parent,), version=version)
    made = replace(made, id=identity_of(made))
    meta = {**memory.event(f"fh:{kept.id}").meta, "parents": [parent], "version": version}
    draft = Draft(Kind.ENTRY, made.text.encode(), MEDIA, meta, origin="firsthand", trust=Trust.AGENT, id=made.id)
    memory.append([draft], session=SESSION)
    return made


def test_a_poisoned_message_goes_with_all_that_was_made_of_it(memory, agent):
    """Its cases, the notes on it, the entry of it and its newer versions, the episode: none of it is believed."""
    agent.enrol("s")
    said = say(memory)
    bad = memory.session("s").user("STAGING_PORT=99")
    rule = memory.note("use port 99", sources=[bad], sort="rule", session=agent.session, trust=Trust.TRUSTED)
    memory.note("as said", sources=[rule.event], sort="lesson", session=agent.session, trust=Trust.TRUSTED)
    night(agent)
    assert "99" in believed(agent)
    before = int(memory.head().partition(":")[0])
    digest, told = digest_of(agent).text, agent.preamble().text
    made = lineage_of(memory).quarantine(bad.pointer, reason="it was not me")
    assert [one.action for one in made] == ["quarantine"] * 4  # the message, two notes, the episode
    assert "99" not in believed(agent, "anything")
    assert "as said" not in agent.preamble().text
    assert ("use port 99" in told, "use port 99" in agent.preamble().text) == (True, False)
    assert lineage_of(memory).quarantine(bad.pointer) == ()
    assert digest_of(agent, as_of=before).text == digest
    found = [hit.pointer for hit in memory.recall("STAGING_PORT").hits]
    assert bad.pointer not in found
    assert memory.expand(bad.pointer)  # the log keeps it
    for one in made:
        ledger_of(memory).undo(one.id)
    assert digest_of(agent).text == digest
    assert said[0].pointer


def test_a_source_takes_its_entry_and_the_versions_of_it_out(memory):
    """A quarantined statement takes the rule that was made of it out, at any depth; a release lets one in again."""
    said = say(memory)
    (kept,) = consolidate_in(memory, by_lines, "test", keep=True).kept
    child = child_of(memory, kept, kept.id, 2)
    grandchild = child_of(memory, kept, child.id, 3)
    assert entries_standing(memory) == (grandchild,)
    out = lineage_of(memory).quarantine(said[0].pointer)
    assert {one.target for one in out} == {said[0].pointer, *(f"fh:{one.id}" for one in (kept, child, grandchild))}
    view = consolidated_view(memory)
    assert (view.entries, len(view.raw)) == ((), len(LEVELS) - 1)
    (released,) = lineage_of(memory).release(f"fh:{grandchild.id}")
    assert (released.action, entries_standing(memory)) == ("release", (grandchild,))
    assert consolidated_view(memory).entries == ()  # one of its sources is out: it does not pass its replay


def test_an_entry_goes_with_its_versions_and_not_with_its_sources(memory):
    """Quarantined by itself, it takes out what came of it; the statements are shown again."""
    say(memory)
    (kept,) = consolidate_in(memory, by_lines, "test", keep=True).kept
    child = child_of(memory, kept, kept.id, 2)
    assert [one.id for one in lineage_of(memory).came_of(f"fh:{kept.id}")] == [child.id]
    assert len(lineage_of(memory).quarantine(f"fh:{kept.id}")) == 2
    assert (entries_standing(memory), len(consolidated_view(memory).raw)) == ((), len(LEVELS))


def test_undoing_a_decision_takes_out_the_entries_made_since(memory):
    """With all that followed a bad decision the rule made of what it put in goes; its undoing brings it back."""
    old = memory.session("s").user("birch level 7 => 5")
    decision = supersede(memory, old.pointer, say(memory)[0].pointer).decision
    (kept,) = consolidate_in(memory, by_lines, "test", keep=True).kept
    assert len(entries_standing(memory)) == 1
    undone, out = ledger_of(memory).undo(decision.id, following=True)
    assert (undone.undoes, out.action, out.target, out.by) == (
        decision.id,
        "quarantine",
        f"fh:{kept.id}",
        "rule:lineage",
    )
    assert entries_standing(memory) == ()
    assert ledger_of(memory).undo(decision.id, following=True) == ()
    ledger_of(memory).undo(out.id)
    assert entries_standing(memory) == (kept,)


def test_what_lineage_took_out_may_pass_the_gate_again(memory):
    """The user undid a decision and took out no rule: one that holds without it comes back when it is tried."""
    old = memory.session("s").user("birch level 7 => 5")
    decision = supersede(memory, old.pointer, say(memory)[0].pointer).decision
    (kept,) = consolidate_in(memory, by_lines, "test", keep=True).kept
    ledger_of(memory).undo(decision.id, following=True)
    consolidate_in(memory, by_lines, "test", keep=True)
    assert entries_standing(memory) == (kept,)


def test_an_entry_made_before_a_decision_stays(memory):
    """What was there before did not follow from it."""
    first, *_ = say(memory)
    (kept,) = consolidate_in(memory, by_lines, "test", keep=True).kept
    new = memory.session("s").user("birch level 7 => 24")
    decision = supersede(memory, first.pointer, new.pointer).decision
    assert [one.undoes for one in ledger_of(memory).undo(decision.id, following=True)] == [decision.id]
    assert entries_standing(memory) == (kept,)


def test_no_entry_can_come_of_itself(memory):
    """Two entries that name each other as parents cannot be made: an id is made of its parents, and says another."""
    say(memory)
    (kept,) = consolidate_in(memory, by_lines, "test", keep=True).kept
    one = replace(kept, text="a => 1", parents=("0" * 26,), version=2)
    made = child_of(memory, kept, identity_of(one), 2)
    with_circle = replace(kept, text="a => 1", parents=(made.id,), version=2)
    meta = {**memory.event(f"fh:{kept.id}").meta, "parents": [made.id], "version": 2}
    with_circle_id = identity_of(with_circle)
    draft = Draft(Kind.ENTRY, b"a => 1", MEDIA, meta, origin="firsthand", id=with_circle_id)
    memory.append([draft], session=SESSION)
    assert len(entries_known(memory)) == 3
    assert with_circle_id != identity_of(one)
    assert {each.id for each in entries_standing(memory)} == {kept.id, with_circle_id}


@pytest.mark.parametrize("what", ["event", "span", "agent"])
def test_erased_sources_leave_nothing_of_theirs(memory, what):
    """With an event, a span or all of a session erased, what was made of it is gone and the rest is as it was."""
    agent = memory.agent("one")
    agent.enrol("s")
    said = say(memory)
    memory.session("other").user("STAGING_PORT=80")
    consolidate_in(memory, by_lines, "test", keep=True)
    lineage_of(memory).quarantine(said[1].pointer)
    gone = {"event": said[:1], "span": said[:3], "agent": said}[what]
    memory.erase([one.pointer for one in gone])
    assert entries_known(memory) == ()
    view = consolidated_view(memory)
    assert view.entries == ()
    left = [level for level in LEVELS[len(gone) :] if level != LEVELS[1] or what != "event"]
    assert view.text.splitlines() == [*(f"case: birch level {level} => {3 * level + 2}" for level in left),
                                      "case: STAGING_PORT => 80"]  # fmt: skip
    with pytest.raises(Erased):
        lineage_of(memory).quarantine(gone[0].pointer)


def test_a_note_on_a_span_rests_on_its_own_session_alone(memory):
    """What another session said between the ends of a span takes no note on the span with it; an end does."""
    first = memory.session("s").user("The port is 80.")
    between = memory.session("t").user("Something else.")
    last = memory.session("s").user("The host is staging.")
    note = memory.note("Port and host.", sources=[f"{first.pointer}..{last.id}"]).event
    memory.erase([between])
    assert not memory.event(note).erased
    memory.erase([first])
    assert memory.event(note).erased


def test_an_entry_without_its_sources_is_not_believed(memory, tmp_path):
    """Where only the entries of a store arrive, and not what they are made of, none is shown, and nothing fails."""
    say(memory)
    (kept,) = consolidate_in(memory, by_lines, "test", keep=True).kept
    event = memory.event(f"fh:{kept.id}")
    with Memory.open(tmp_path / "part", embedder="none") as part:
        draft = Draft(Kind.ENTRY, event.content, MEDIA, event.meta, origin="firsthand", trust=event.trust, id=event.id)
        part.append([draft], session=SESSION)
        assert entries_known(part) == (kept,)
        assert (consolidated_view(part).entries, consolidated_view(part).text) == ((), "")
        (out,) = consolidate_in(part, by_lines, "test", keep=True).quarantined
        assert (out.target, entries_standing(part)) == (f"fh:{kept.id}", ())
        assert lineage_of(part).came_of(f"fh:{kept.id}") == ()
        assert part.verify().problems == ()


@pytest.mark.parametrize(
    "address", ["", "fh:", "fh:nothing", "nothing", "fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY", "fh:\n", "x" * 9_000]
)
def test_what_is_no_event_is_refused(memory, address):
    """What is no pointer, or leads nowhere, is an error of our tree, and decides nothing."""
    for act in (lineage_of(memory).quarantine, lineage_of(memory).release, lineage_of(memory).approve):
        with pytest.raises(FirsthandError):
            act(address)
    assert ledger_of(memory).decisions() == ()


def test_a_span_and_a_long_reason_are_refused(memory):
    """Events are named one by one; a reason has its limit."""
    said = say(memory)
    with pytest.raises(Unresolvable, match="is a span"):
        lineage_of(memory).quarantine(f"{said[0].pointer}..{said[1].id}")
    with pytest.raises(InvalidArgument, match="at most 300 characters"):
        lineage_of(memory).quarantine(said[0].pointer, reason="x" * 301)
    assert ledger_of(memory).decisions() == ()


@pytest.mark.parametrize(
    "forged",
    [
        {"trust": Trust.UNTRUSTED},
        {"trust": Trust.AGENT},
        {"media": "text/plain"},
        {"content": b"{}"},
        {"content": b"\xff"},
    ],
)
def test_a_decision_that_is_not_ours_decides_nothing(memory, forged):
    """What another program, an agent or an import puts into the session of the ledger is no decision."""
    say(memory)
    (kept,) = consolidate_in(memory, by_lines, "test", keep=True).kept
    (real,) = lineage_of(memory).quarantine(f"fh:{kept.id}")
    ledger_of(memory).undo(real.id)
    event = memory.event(f"fh:{real.id}")
    given = {"content": event.content, "media": event.media, "meta": dict(event.meta), "origin": "firsthand",
             "trust": Trust.TRUSTED} | forged  # fmt: skip
    memory.append([Draft(Kind.LEDGER, **given)], session="ledger")
    assert len(ledger_of(memory).decisions()) == 2
    assert entries_standing(memory) == (kept,)
