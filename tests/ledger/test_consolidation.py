"""Consolidation in a store: off unless asked, of cases that users wrote, and tried again when it is read."""

from __future__ import annotations

import pytest

from consolidate_worlds import by_lines
from firsthand import Draft, Kind, Trust, Unresolvable
from firsthand.ledger.consolidation import (
    CASES_OF_EVENT_MAX,
    MEDIA,
    SESSION,
    cases,
    consolidate_in,
    consolidated_view,
    entries_known,
    entries_standing,
    entry_named,
    episodes_of,
)
from firsthand.ledger.decision_log import ledger_of
from firsthand.ledger.entries import Entry, Written, identity_of
from firsthand.ledger.entry_gate import GateSettings
from firsthand.ledger.lineage import lineage_of
from firsthand.value import replace

LEVELS = (7, 8, 9, 12, 15)
RULE = "rule: birch level N => 3 * N + 2"


def say(memory, levels=LEVELS, **fields) -> None:
    for level in levels:
        memory.session("s").user(f"birch level {level} => {3 * level + 2}", **fields)


def keep(memory, **more):
    return consolidate_in(memory, by_lines, "test", keep=True, **more)


@pytest.fixture
def kept(memory) -> Entry:
    """An entry that was made of five statements of a user, and kept."""
    say(memory)
    (entry,) = keep(memory).kept
    return entry


def test_nothing_is_written_unless_it_is_asked_for(memory):
    """A proposal leaves the store as it is, byte for byte, and who writes is shown raw cases alone."""
    say(memory)
    head, seen = memory.head(), []
    done = consolidate_in(memory, lambda cases: seen.extend(cases) or by_lines(cases), "test")
    assert [one.accepted for one in done.report.judged] == [True]
    assert (done.kept, memory.head()) == ((), head)
    assert tuple(seen) == episodes_of(memory)


def test_a_writer_that_raises_leaves_the_store_as_it_was(memory):
    """What a model's port raises goes on to the caller, and nothing is written."""
    say(memory)
    head = memory.head()

    def fails(_):
        raise RuntimeError("busy")

    with pytest.raises(RuntimeError, match="busy"):
        consolidate_in(memory, fails, "model:tiny", keep=True)
    assert memory.head() == head


def test_a_rule_stands_for_its_statements_and_exceptions_stay(memory):
    """What is shown is the rule, the statement that it does not give, and what has nothing to do with it."""
    say(memory)
    memory.session("s").user("birch level 20 => 5")
    memory.session("s").user("I set STAGING_PORT for you:\nSTAGING_PORT=8443")
    keep(memory)
    view = consolidated_view(memory)
    assert view.text.splitlines() == [RULE, "case: birch level 20 => 5", "case: STAGING_PORT => 8443"]
    assert set(view.demoted) == set(view.entries[0].sources)
    said = [memory.expand(one).decode() for one in view.entries[0].sources]
    assert said == [f"birch level {level} => {3 * level + 2}" for level in LEVELS]


def test_as_of_a_position_the_old_view_comes_back(memory):
    """The view as of any position is the one that was there then."""
    say(memory)
    before = int(memory.head().partition(":")[0])
    then = consolidated_view(memory).text
    keep(memory)
    assert consolidated_view(memory).text == RULE
    assert consolidated_view(memory, as_of=before).text == then


def test_a_rule_that_fails_later_is_taken_out_and_comes_back_when_it_holds(memory, kept):
    """When users say otherwise the rule is not shown, then quarantined; when it holds again it is released."""
    for level in LEVELS[:4]:
        memory.session("s").user(f"birch level {level} => {level * level}")
    assert consolidated_view(memory).entries == ()
    (decision,) = keep(memory).quarantined
    assert (decision.target, decision.by) == (f"fh:{kept.id}", "rule:gate")
    assert entries_standing(memory) == ()
    say(memory)
    keep(memory)
    assert consolidated_view(memory).text == RULE


def test_what_is_written_anew_takes_the_place_of_what_stood(memory, kept):
    """Another wording of the same family is a version of the old one, which is no longer shown and still in the log."""

    def write(cases):
        return [Written("birch level N => 3 * N + 2.0", tuple(case.pointer for case in cases))]

    (newer,) = consolidate_in(memory, write, "test", keep=True).kept
    assert (newer.version, newer.parents) == (2, (kept.id,))
    assert (entries_standing(memory), entries_known(memory)) == ((newer,), (kept, newer))


@pytest.mark.parametrize("kind", [Kind.TOOL_RESULT, Kind.AGENT_MESSAGE, Kind.DOCUMENT, Kind.SUMMARY, Kind.EPISODE])
def test_only_users_statements_are_cases(memory, kind):
    """What a tool, an agent, a page or Firsthand itself said, or came in a user's message from one, is no case."""
    for level in LEVELS:
        memory.session("s").append(kind, f"birch level {level} => {3 * level + 2}")
        memory.note(f"birch level {level} => {3 * level + 2}")
    say(memory, trust=Trust.UNTRUSTED, origin="web")
    assert episodes_of(memory) == ()
    assert keep(memory).kept == ()


def test_a_phantom_beside_a_true_rule_is_refused_alone(memory):
    """Of one writer's entries each is tried by itself; a true one is kept under the writer's name."""
    say(memory)

    def write(cases):
        sources = tuple(case.pointer for case in cases)
        return [Written(f"birch level N{more} => 3 * N + 2", sources) for more in ("", " in /etc/secret")]

    done = consolidate_in(memory, write, "model:tiny", keep=True)
    assert [one.reason for one in done.report.judged] == ["", "exact tokens"]
    assert [one.created_by for one in done.kept] == ["model:tiny"]
    assert consolidated_view(memory).text == RULE


def test_a_stricter_gate_refuses(memory):
    """With a theta of 1 a rule with one exception is refused, and nothing is kept."""
    say(memory)
    memory.session("s").user("birch level 20 => 5")
    done = keep(memory, settings=GateSettings(theta=1))
    assert ([one.reason for one in done.report.judged], done.kept) == (["scope replay"], ())


# entries in the log ----------------------------------------------------------------------------------


def test_an_entry_comes_back_as_it_was_kept(memory, kept):
    """What is read from the log is what the gate let in: text, sources, lineage and report; recall finds none of it."""
    assert entries_known(memory) == entries_standing(memory) == (kept,)
    assert entry_named(memory, kept.id[-10:]) == entry_named(memory, f"fh:{kept.id}") == kept
    event = memory.event(f"fh:{kept.id}")
    assert (event.kind, event.text, event.trust, event.origin) == (Kind.ENTRY, kept.text, Trust.AGENT, "firsthand")
    assert event.meta["gate"]["checks"][-1] == ["no regression", 5, 5]
    assert {hit.kind for hit in memory.recall("birch level").hits} == {Kind.USER_MESSAGE}


def test_the_same_entry_is_kept_once(memory, kept):
    """A second consolidation of the same statements adds nothing to the log."""
    head = memory.head()
    assert keep(memory).kept == ()
    assert memory.head() == head


def test_what_the_user_takes_out_stays_out(memory, kept):
    """After a quarantine its statements are shown, and the same rule does not come in again, until it is released."""
    lineage = lineage_of(memory)
    (decision,) = lineage.quarantine(f"fh:{kept.id}", reason="the tariff changed")
    assert (decision.action, decision.key, decision.target) == ("quarantine", f"entry:{kept.id}", f"fh:{kept.id}")
    assert entries_standing(memory) == ()
    assert len(consolidated_view(memory).raw) == len(LEVELS)
    memory.session("s").user("birch level 20 => 62")
    assert [one.reason for one in keep(memory).report.judged] == ["quarantine"]
    lineage.release(f"fh:{kept.id}")
    assert entries_standing(memory) == (kept,)


def test_a_quarantine_is_undone_as_any_decision(memory, kept):
    """Undoing the decision in the ledger makes the entry stand again; as of then it was out."""
    (decision,) = lineage_of(memory).quarantine(f"fh:{kept.id}")
    ledger_of(memory).undo(decision.id)
    assert entries_standing(memory) == (kept,)
    assert entries_standing(memory, as_of=decision.position) == ()
    assert consolidated_view(memory, as_of=decision.position).entries == ()


def test_an_erased_source_erases_the_entry(memory, kept):
    """With one statement that it stands on the entry is erased, and its decisions too."""
    lineage_of(memory).quarantine(f"fh:{kept.id}")
    memory.erase([kept.sources[0].partition("@")[0]])
    assert entries_known(memory) == ()
    assert memory.event(f"fh:{kept.id}").erased
    assert ledger_of(memory).decisions() == ()


@pytest.mark.parametrize("change", [{"text": "* => 0"}, {"version": 7}, {"report": ""}, {"basis": None}, {"by": 5}])
def test_an_event_that_is_no_entry_is_not_read(memory, kept, change):
    """What has not the id of what it says, or no gate report, is none: no program forges one by appending it."""
    event = memory.event(f"fh:{kept.id}")
    meta = {**event.meta, **{name: told for name, told in change.items() if name != "text"}}
    text = change.get("text", kept.text).encode()
    forged = replace(kept, text="* => 0")
    memory.append(
        [
            Draft(Kind.ENTRY, text, MEDIA, meta, origin="firsthand"), Draft(Kind.ENTRY, b"prose"),
            Draft(Kind.ENTRY, b"* => 0", MEDIA, {**event.meta, "report": ""}, origin="firsthand",
                  id=identity_of(forged)),
        ],
        session=SESSION,
    )  # fmt: skip
    assert entries_known(memory) == (kept,)


@pytest.mark.parametrize("identity", ["", "nothing", "01J8ZQ4T9M6V3K2N7P5R8S1WXY"])
def test_an_unknown_entry_is_named(memory, kept, identity):
    """An id that fits no entry is an error that says where they are listed."""
    with pytest.raises(Unresolvable, match="see: firsthand ledger entries"):
        entry_named(memory, identity)


# cases -----------------------------------------------------------------------------------------------


@pytest.fixture
def read(memory):
    """Give the cases of a text with the bytes that their pointers open."""

    def read(text):
        event = memory.event(memory.session("one").user(text).pointer)
        return [(case.case, case.answer, memory.expand(case.pointer).decode()) for case in cases(event)]

    return read


def test_a_line_of_a_form_is_a_case_and_its_pointer_gives_the_line(read):
    """Questions with answers and settings are cases, in order, after whatever letters; lines of words are none."""
    text = "Größe notieren:\ncase: birch level 7 => 23\n  export DB_HOST=db2.internal\nThe port is now 8443.\nPORT = 81"
    assert read(text) == [
        ("birch level 7", "23", "case: birch level 7 => 23"),
        ("DB_HOST", "db2.internal", "  export DB_HOST=db2.internal"),
        ("PORT", "81", "PORT = 81"),
    ]
    assert len(read("\n".join(f"K{number}={number}" for number in range(500)))) == CASES_OF_EVENT_MAX


@pytest.mark.parametrize(
    "text", ["I moved to Berlin.", "x == 3", "=> 3", "a => ", "if a=b then c", "", "=" * 500, "a => " + "b" * 161]
)
def test_what_is_of_no_form_is_no_case(read, text):
    """Statements, comparisons, half a case and what is too long give none."""
    assert read(text) == []
