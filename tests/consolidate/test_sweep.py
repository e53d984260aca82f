"""The sweep by rule: what takes the place of what, who may say so, and that it does not matter when it runs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from said import said, spoken

from firsthand.consolidate.keys import IT_MESSAGES_MAX, facts
from firsthand.consolidate.ledger import Decision, fold, surviving
from firsthand.consolidate.sweep import by_rule, counts
from firsthand.event import Trust
from firsthand.value import replace


def moves(events, ledger=None):
    """Give rule, words of what left and words of what took its place, of what is decided on events."""
    told = facts(events)
    words = {one.pointer: one.text for one in told}
    return [(one.by, words[one.target], words.get(one.by_fact, "")) for one in by_rule(told, {}, ledger)]


@pytest.mark.parametrize(
    ("rule", "first", "second"),
    [
        ("rule:correction", "The staging port is 8080.", "The port of staging is now 8443."),
        ("rule:correction", "The staging port is 8080.", "Change it to 9000."),
        ("rule:correction", "The deadline for the report is April 1.", "The deadline has moved to April 5."),
        ("rule:from-to", "Our database is Postgres.", "We migrated from Postgres to MySQL."),
        ("rule:from-to", "The retry limit is 3.", "I changed the retry limit from 3 to 5."),
        ("rule:config", "LOG_LEVEL=debug", "LOG_LEVEL=info"),
        ("rule:slot", "I need a hotel for 3 nights.", "How about 2 nights?"),
        ("rule:assignment", "My favourite colour is teal.", "My favourite colour is green."),
        ("rule:correction", "I have 150 commits in the main branch.", "I've reached 165 commits."),
        ("rule:correction", "I've reached 150 commits.", "We're up to 165 commits already."),
        ("rule:from-to", "The staging port is 8080.", "The staging port is 8443, not 8080."),
        ("rule:from-to", "Our database is Postgres.", "We use MySQL instead of Postgres now."),
        ("rule:correction", "The staging port is 8080.", "The staging port was changed to 9000."),
        ("rule:slot", "I need a table for 4 people.", "Let's make it 5 people."),
        ("rule:slot", "I need a hotel for Friday.", "Actually, Thursday."),
        ("rule:slot", "Book a restaurant at 12:15.", "Let's make it 10:30 for the restaurant."),
        ("rule:slot", "A restaurant that serves Thai food, please.", "How about Indian?"),
        ("rule:slot", "I want to see a museum.", "How about a college instead?"),
        ("rule:slot", "Book a table at 18:15.", "Can you check for 17:15 on the same day?"),
        ("rule:from-to", "The team has 5 people.", "The team went up from 5 to 7 people."),
        ("rule:correction", "The team has 5 people.", "The team has grown to 7 people."),
        ("rule:correction", "My budget is $500.", "My budget is now $700."),
        ("rule:from-to", "The budget is $1,200.", "The budget is $1,500, not $1,200."),
        ("rule:correction", "We run Node 18.", "We've upgraded to Node 20."),
        ("rule:slot", "I need a restaurant with Thai food.", "Are there any Indian restaurants?"),
        (
            "rule:slot",
            "Thanks for the train, and I also need a cheap restaurant with Thai food.",
            "How about Indian food?",
        ),
    ],
)
def test_a_later_value_takes_the_place(rule, first, second):
    """Each rule takes the earlier fact out for the later one of its key, and names itself."""
    assert moves(spoken(first, second)) == [(rule, first, second)]


def test_what_is_taken_back_is_tombstoned():
    """A retraction takes the fact out and puts nothing in."""
    made = by_rule(facts(spoken("The staging port is 8080.", "Forget about the staging port.")), {})
    assert [(one.action, one.by, one.by_fact, one.through) for one in made] == [("tombstone", "rule:retraction", "", 2)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Our database is Postgres.", "We no longer use Postgres."),
        ("The staging port is 80.", "The staging port is no longer 80."),
        ("The staging port is 80.", "The staging port is not 80 any more."),
        ("I live in Berlin.", "I don't live in Berlin any more."),
        ("I work at Siemens.", "I no longer work at Siemens."),
    ],
)
def test_a_value_that_holds_no_more_is_taken_out(first, second):
    """What is said to hold no longer is tombstoned, whatever took its place."""
    assert moves(spoken(first, second)) == [("rule:retraction", first, "")]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The staging port is 80.", "The staging port is no longer 81."),  # not this value
        ("The staging port is 80.", "The production port is no longer 80."),  # nor this thing
        ("My sister's editor is Vim.", "I no longer use Vim."),  # another person's
        ("I live in Berlin.", "I don't live in Hamburg any more."),
        ("Our database is Postgres.", "I think we no longer use Postgres, or do we?"),
        ("Our database is Postgres.", "We no longer use it."),
        ("My flight to Rome is on May 3, 2024.", "The flight to Rome is now on May 3."),  # the same day
        ("Make it 81.", "The staging port is 8080."),
        ("The staging port is 8080.", "Make it 9000 for production."),  # of another thing
        ("I want to see a museum.", "Are there any colleges?"),  # people see several
        ("I need a train to Ely.", "Actually, I need a train to Cambridge."),  # another journey, perhaps
        ("I don't need a train.", "I need a table for 4 people."),
        ("I also need a hotel for 3 nights and a train for 2 people.", "Make it 4 people for the hotel."),
        ("The staging port is 8080.", "The staging port is 8080."),  # the same value
        ("The staging port is 8080.", "The production port is now 8443."),  # another key
        ("The staging port is 8080.", "The staging port is now private."),  # a value of another kind
        ("The staging port is 8080.", "Is the staging port now 8443?"),  # asked
        ("I need a hotel for 3 nights.", "I also need a hotel for 2 nights."),  # another one
        ("The retry limit is 4.", "I changed the retry limit from 3 to 5."),  # not from this value
        ("I need a flight leaving at 9:00.", "For the return take the flight leaving at 16:00."),  # the other way
        ("I need a train leaving at 9:00.", "Book the one that leaves at 9:15."),  # chosen from what there is
        ("I need a hotel for 3 nights.", "I need another hotel for 2 nights."),  # another one
        ("I need a hotel for 3 nights.", "My friend has a hotel for 2 nights."),  # another person's
        ("I need a cheap hotel.", "Is it expensive?"),  # what there is
        ("I need a guesthouse.", "Actually, I need a hotel for 2 nights."),  # any inn is called a hotel
        ("I need a table for 4 people.", "Train the model for 5 people."),  # no train
        ("My birthday is May 1.", "Her birthday is May 3."),  # another person's
        ("My birthday is May 1.", "My sister's birthday is now May 3."),
        ("Ann's port is 80.", "The port is now 81."),  # not Ann's
        ("I need a hotel for Friday.", "Make it 10:30 for the restaurant."),  # of another thing
        ("I've reached 150 commits.", "Ann has 165 commits."),
        ("My sister is now at 12 episodes.", "My sister is now at 33 sources."),  # of something else
        ("I've reached 150 commits.", "I have 12 commits to read."),
        ("I've reached 150 commits.", "If I've reached 165 commits, tell me."),
    ],
)
def test_what_no_rule_joins_stands(first, second):
    """Where the value is the same, the key another, or nothing says that it changes, both facts stand."""
    assert moves(spoken(first, second)) == []


@pytest.mark.parametrize(
    "second",
    [
        "The old staging port is 81.", "The other staging port is now 81.", "Don't change the staging port to 81.",
        "The staging port has not changed to 81.", "I plan to change the staging port to 81.",
        "Once we migrate, the staging port is 81.", "Ann said the staging port is now 81.",
        "The staging port was 81.", "The staging port used to be 81.", "Should I change the staging port to 81?",
        f"For instance, somebody asks us {'very ' * 12}late on a Monday in May, and the staging port is now 81.",
        "Imagine the staging port is now 81.", "It is not true that the staging port is now 81.",
        "I almost changed the staging port to 81.", "Its port is now 81.",
        "We considered moving the staging port to 81.",
        "Never set the staging port to 81.", "The staging port isn't 81.", "What if the staging port were 81 now?",
        "Nobody changed the staging port to 81.", "> The staging port is now 81.", 'Ann: "The staging port is now 81."',
        "In the story the staging port is now 81.", "My colleague's staging port is now 81.",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_change_changes_nothing(second):
    """What is old, denied, planned, supposed, asked, told, quoted or of another thing leaves the fact as it is."""
    assert moves(spoken("The staging port is 80.", second)) == []


def test_it_is_what_was_named_a_moment_ago():
    """What "it" is was named last, a few messages ago at most, and never by an untrusted text."""
    named, other = "The staging port is 80.", ["Hm."] * IT_MESSAGES_MAX
    assert len(moves(spoken(named, *other[1:], "Change it to 81."))) == 1
    assert moves(spoken(named, *other, "Change it to 81.")) == []
    events = [said(1, named), said(2, "The budget is 500.", trust=Trust.UNTRUSTED), said(3, "Change it to 81.")]
    assert [two for _, _, two in moves(events)] == ["Change it to 81."]
    assert facts(events)[-1].key == facts(events)[0].key


def test_a_count_is_known_in_its_own_session():
    """A count that names no place is of another thing in another session."""
    first = said(1, "I've reached 150 commits.")
    assert moves([first, said(2, "I've reached 165 commits.", session="two")]) == []
    assert len(moves([first, said(2, "I've reached 165 commits.")])) == 1


def test_what_is_said_of_a_thing_in_several_kinds_stands():
    """Where a make and a number were said under one name, a new number takes out neither: the make would go too."""
    said_ = ("My phone is a Nokia-3310.", "My phone is 5550100.", "My phone is now 5559999.")
    for texts in (said_, (said_[1], said_[0], said_[2])):
        assert moves(spoken(*texts)) == []
    assert len(moves(spoken(*said_[1:]))) == 1
    config = ("LOG=1", "LOG=debug", "LOG=2")
    assert [one[1:] for one in moves(spoken(*config))] == [config[:2], config[1:]]


def test_of_several_that_may_be_meant_none_is():
    """A correction in fewer words takes the place of the one fact that it can mean, and of none where there are two."""
    one, other = "The deadline for the report is April 1.", "The deadline for the talk is April 2."
    moved = "The deadline has moved to April 5."
    assert moves(spoken(one, moved)) == [("rule:correction", one, moved)]
    assert moves(spoken(one, other, moved)) == []


def test_another_session_needs_a_word_of_change():
    """The same attribute in another session, which may be another person's, needs a word of change."""
    first = said(1, "My user ID is ann_1.")
    other = [said(2, "My user ID is bea_2, and I have no time right now.", session="two")]
    assert moves([first, *other]) == []
    assert len(moves([first, said(2, "My user ID is now ann_2.", session="two")])) == 1


@pytest.mark.parametrize("trust", [Trust.UNTRUSTED, Trust.AGENT])
def test_only_what_a_user_said_decides(trust):
    """What a tool, a page or an agent says takes the place of nothing, and counts for no digest."""
    events = [said(1, "The port is 80."), said(2, "The port is now 666.", trust=trust), said(3, "Hm.")]
    assert moves(events) == []
    assert [one.value for one in facts(events) if counts(one)] == ["number:80"]


def test_what_was_undone_is_not_decided_again():
    """A move that was decided and undone is refused by the next sweep; the other ones are made."""
    told = facts(spoken("The port is 80.", "The port is now 81.", "The port is now 82."))
    first, second = (replace(one, position=10 + place) for place, one in enumerate(by_rule(told, {})))
    ledger = fold([first, second, Decision("u", "supersede", "port", "x", undoes=first.id, position=12)])
    assert [one.id for one in by_rule(told, {}, ledger)] == [second.id]


def test_a_chain_leaves_the_last_value():
    """Of many corrections the last one stands alone, whichever words they used."""
    told = facts(spoken("The port is 80.", "The port is now 81.", "Change it to 82.", "We moved from 82 to 83."))
    ledger = fold([replace(one, position=place) for place, one in enumerate(by_rule(told, {}), 10)])
    assert [one.value for one in surviving(told, ledger)] == ["number:83"]


TEXTS = (
    "The staging port is 80.", "The staging port is now 81.", "Change it to 82.", "LOG=1", "LOG=2", "Forget the port.",
    "We moved from 81 to 90.", "My name is Ann.", "My name is now Bea.", "I need a hotel for 3 nights.",
    "How about 2 nights?", "Forget about the staging port.",
)  # fmt: skip


@given(st.lists(st.sampled_from(TEXTS), max_size=14), st.integers(0, 14))
def test_it_does_not_matter_when_the_sweep_runs(texts, night):
    """Sweeping once or sweeping on the way gives the same decisions, and no later one takes back an earlier one."""
    told = facts(spoken(*texts))
    whole = by_rule(told, {})
    part = by_rule([one for one in told if one.position <= night], {})
    assert whole[: len(part)] == part
    assert len({one.id for one in whole}) == len(whole)
    assert all(one.through <= len(texts) for one in whole)


@given(st.lists(st.sampled_from(TEXTS), max_size=14))
def test_of_what_is_decided_on_nothing_stands_twice(texts):
    """Of each decision in force the fact that left does not stand, and the one that it put in stood before the next."""
    told = facts(spoken(*texts))
    ledger = fold([replace(one, position=100 + place) for place, one in enumerate(by_rule(told, {}))])
    names = {(one.key, one.pointer) for one in surviving(told, ledger)}
    for one in ledger.latest.values():
        assert (one.key, one.target) not in names
