"""Events that belong together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.answer import Scope
from firsthand.event import Draft, Kind
from firsthand.index.text import TextIndex
from firsthand.log.log import Log
from firsthand.recall.around import SessionAround
from firsthand.recall.complement import (
    ANSWERED,
    ANSWERS,
    AROUND_EVENTS,
    CALL,
    CAUSE,
    EFFECT,
    HALF,
    HITS_MAX,
    PARTNERS_MAX,
    REPLY,
    RESULT,
    names,
    together,
)

SAID, DID, GOT = Kind.USER_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT
REPLIED = Kind.AGENT_MESSAGE


@pytest.fixture
def told(tmp_path):
    """Append events and give them as the log holds them, with what lies around them."""
    log = Log(tmp_path / "store", indexes=(TextIndex(),))

    def tell(*texts, session="s"):
        drafts = [
            Draft(one[0], one[1].encode(), meta=one[2] if len(one) > 2 else {}, agent=one[3] if len(one) > 3 else "")
            for one in texts
        ]
        appended = log.append(drafts, namespace="n", session=session)
        return log.reader.events_at("n", [one.position for one in appended])

    tell.around = SessionAround(log.reader, "n", Scope(), 10_000)
    yield tell
    assert log.verify().ok
    log.close()


def why(event, around, others=()):
    places = together([event, *(one for one in others if one != event)], [], around)
    found = places[1].partner if len(places) > 1 else None
    return None if found is None else (found.event.position - event.position, found.why)


def test_a_call_and_its_result(told):
    """A call brings its result and a result its call, over what came between; an id of its own session only."""
    told((GOT, "of another", {"call_id": "1"}), session="t")
    call, between, other, result = told(
        (DID, "ls", {"call_id": "1"}), (SAID, "wait"), (GOT, "two", {"call_id": "2"}), (GOT, "a b", {"call_id": "1"})
    )
    assert why(call, told.around) == (3, RESULT)
    assert why(result, told.around) == (-3, CALL)
    assert why(other, told.around) is None
    assert why(between, told.around) is None


def test_a_message_and_its_answer(told):
    """A message that names the one it answers brings it, and the other way about."""
    first, second = told(
        (SAID, "hello", {"message_id": "<1>"}), (SAID, "well", {"message_id": "<2>", "in_reply_to": "<1>"})
    )
    assert why(second, told.around) == (-1, ANSWERED)
    assert why(first, told.around) == (1, ANSWERS)


def test_two_halves_of_a_key(told):
    """One half brings the other one of the same key, not that of another key, nor the same half again."""
    one, _, again, wrong, two = told(
        (SAID, "first half of the vault signing key: 7f3a"),
        (SAID, "lunch"),
        (SAID, "the vault key, first half again: 7f3a"),
        (SAID, "second half of the printer key: 0000"),
        (SAID, "here is the second half of the vault signing key: 99c1"),
    )
    assert why(one, told.around) == (4, HALF)
    assert why(two, told.around) == (-4, HALF)
    assert why(wrong, told.around, ()) != (1, HALF)
    assert why(again, told.around)[1] == HALF


def test_the_same_half_again_is_no_partner(told):
    """Two events with the first half have no second; of one that holds both nothing is missing."""
    one, again = told((SAID, "first half of the vault key: 7f"), (SAID, "the first half of the vault key is 7f"))
    assert why(one, told.around) is None
    assert why(again, told.around) is None
    both, _ = told(
        (SAID, "first half of the vault key 7f, second half 99"),
        (SAID, "second half of the vault key: 99"),
        session="t",
    )
    assert why(both, told.around) is None


def test_of_two_changes_the_nearer_one(told):
    """Where two changes name as much of what a failure names, the last one before it is its partner."""
    _, _, fails = told(
        (REPLIED, "I changed a number in payments.yaml"), (REPLIED, "I removed a line in payments.yaml"),
        (SAID, "payments.yaml: error"),
    )  # fmt: skip
    assert why(fails, told.around) == (-1, CAUSE)


def test_a_half_far_away_is_found_among_the_hits(told):
    """The other half may stand in another session, if the recall found it."""
    (one,) = told((SAID, "part 1 of 2 of the backup passphrase: correct horse"))
    (two,) = told((SAID, "backup passphrase, part 2 of 2: battery staple"), session="t")
    assert why(one, told.around) is None
    assert why(one, told.around, (one, two)) == (1, HALF)


def test_a_symptom_and_its_cause(told):
    """A failure brings the last change before it that names what it names; a change brings what failed after it."""
    change, other, fails = told(
        (REPLIED, "I changed pool_size from 50 to 5 in payments.yaml"),
        (REPLIED, "I changed the colour in theme.css"),
        (SAID, "checkout fails with a timeout, the log says payments.yaml: pool exhausted"),
    )
    assert why(fails, told.around) == (-2, CAUSE)
    assert why(change, told.around) == (2, EFFECT)
    assert why(other, told.around) is None


def test_a_failed_command_and_the_edit_before_it(told):
    """A tool's failure brings the edit of the file that it names, when no call id says more."""
    edit, read, fails = told(
        (DID, '{"path": "app/views.py", "text": "x"}', {"tool": "edit_file"}),
        (DID, '{"path": "app/models.py"}', {"tool": "read_file"}),
        (GOT, "Exit code: 1\nTraceback: app/views.py line 3", {"is_error": True}),
    )
    assert why(fails, told.around) == (-2, CAUSE)
    assert why(edit, told.around) == (2, EFFECT)
    assert why(read, told.around) is None


def test_a_question_and_its_reply(told):
    """A short question brings what another says next; a long message or one's own next words are none."""
    asks, _ = told((SAID, "Which port is it?", {}, "ann"), (SAID, "8443", {}, "bob"))
    alone, _ = told((SAID, "Which port is it?", {}, "ann"), (SAID, "Anybody?", {}, "ann"), session="t")
    (long, _) = told((SAID, "x" * 300 + "?", {}, "ann"), (SAID, "yes", {}, "bob"), session="u")
    assert why(asks, told.around) == (1, REPLY)
    assert why(alone, told.around) is None
    assert why(long, told.around) is None


def test_far_away_is_not_around(told):
    """A partner is looked for among so many events only."""
    call, *_, near = told(
        (DID, "a", {"call_id": "1"}), *[(SAID, "x")] * (AROUND_EVENTS - 1), (GOT, "b", {"call_id": "1"})
    )
    far, *_ = told(
        (DID, "a", {"call_id": "1"}), *[(SAID, "x")] * AROUND_EVENTS, (GOT, "b", {"call_id": "1"}), session="t"
    )
    assert why(call, told.around) == (near.position - call.position, RESULT)
    assert why(far, told.around) is None


def test_a_partner_stands_behind_its_hit(told):
    """A partner comes directly after its hit, once, also when it is a hit further down; the rest follow in order."""
    events = told(*[(kind, "x", {"call_id": str(n)}) for n in range(3) for kind in (DID, GOT)])
    hits = [events[at] for at in (0, 4, 5, 1)]
    places = together(hits, [events[2].position, events[3].position], told.around)
    assert [one.position - events[0].position for one in places] == [0, 1, 4, 5, 2, 3]
    partners = [one.partner and (one.partner.of - events[0].position, one.partner.why) for one in places]
    assert partners == [None, (0, RESULT), None, (4, RESULT), None, None]


def test_a_partner_that_stands_before_its_hit_keeps_its_place(told):
    """What was found better than its hit is not moved behind it."""
    call, between, result = told((DID, "a", {"call_id": "1"}), (SAID, "x"), (GOT, "b", {"call_id": "1"}))
    places = together([result, between, call], [], told.around)
    assert [one.position for one in places] == [result.position, call.position, between.position]
    asks, replies = told((SAID, "Which port is it?", {}, "ann"), (SAID, "8443", {}, "bob"), session="t")
    places = together([replies, asks], [], told.around)
    assert [(one.position, one.partner) for one in places] == [(replies.position, None), (asks.position, None)]


def test_partners_are_few(told):
    """At most so many partners come, and only with the first hits; 0 leaves the order as it is."""
    events = told(*[(kind, "x", {"call_id": str(n)}) for n in range(8) for kind in (DID, GOT)])
    calls = list(events[::2])
    places = together(calls, [], told.around)
    assert sum(one.partner is not None for one in places) == PARTNERS_MAX
    plain = [SAID] * HITS_MAX
    said = list(told(*[(kind, "y") for kind in plain], session="t"))
    places = together([*said, *calls], [], told.around)
    assert [one.partner for one in places] == [None] * len(places)
    assert [one.position for one in together(calls, [], told.around, 0)] == [one.position for one in calls]


@given(st.text(alphabet="ab./_-:AZ09 ", max_size=200))
def test_any_text_names_something_or_nothing(text):
    """Names are in small letters, of three signs and more, and stand in the text."""
    for one in names(text):
        assert len(one) >= 3
        assert one in text.casefold()


def test_names():
    """Paths, files, settings and identifiers are names, by their last part too; plain words and numbers are none."""
    assert names("see app/views.py:12 and POOL_SIZE of maxSize, 3.14 apples") == {
        "app/views.py:12", "app/views.py", "views.py", "pool_size", "maxsize",
    }  # fmt: skip


def test_no_event_has_two_parts(told):
    """What is the partner of one hit is neither another's partner nor brings one of its own."""
    asks, call, result = told(
        (SAID, "Which port is it?", {"message_id": "1"}, "ann"),
        (DID, "ss -l", {"call_id": "1", "in_reply_to": "1"}),
        (GOT, "8443", {"call_id": "1"}),
    )
    places = together([asks, result, call], [], told.around)
    partners = [(one.position, one.partner and one.partner.why) for one in places]
    assert partners == [(asks.position, None), (result.position, None), (call.position, CALL)]


def test_what_changed_and_failed_at_once_has_no_cause(told):
    """A message that tells of a change and of a failure explains itself; one that tells of neither has none."""
    _, both, _ = told(
        (REPLIED, "I changed pool_size in payments.yaml"),
        (REPLIED, "I changed payments.yaml and it failed"),
        (SAID, "payments.yaml: error"),
    )
    assert why(both, told.around) is None
