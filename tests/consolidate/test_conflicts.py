"""What is open: two things said of which both stand, and only one can hold."""

from __future__ import annotations

import pytest
from said import said, spoken

from firsthand.consolidate.conflicts import CONFLICTS_MAX, conflicts
from firsthand.consolidate.keys import Reading, facts
from firsthand.consolidate.ledger import Decision, fold
from firsthand.consolidate.sweep import by_rule
from firsthand.event import Trust
from firsthand.value import replace


def opened(events, *decisions):
    """Give why, and the words of both sides, of what is open after the sweep and some more decisions."""
    told = [*Reading().read(events)]
    made = [replace(one, position=1_000 + place) for place, one in enumerate((*by_rule(told, {}), *decisions))]
    return [(one.why, one.earlier.text, one.later.text) for one in conflicts(told, fold(made))]


VALUES, NEVER, AMOUNTS = "two values", "said to be never done", "two amounts"


@pytest.mark.parametrize(
    ("why", "first", "second"),
    [
        (VALUES, "I've added 45 sources to my Zotero library.", "I've added 52 sources to my Zotero library."),
        (VALUES, "I secured 3 interviews for producer roles.", "Good that I secured 5 interviews, right, Ann?"),
        (VALUES, "I need a taxi to the Cambridge Belfry.", "I need a taxi to the Gonville Hotel."),
        (
            AMOUNTS,
            "My dice accuracy is better after completing 8 problems on dice.",
            "I've increased my practice to 12 conditional problems on dice.",
        ),
        (
            AMOUNTS,
            "I've measured a socket latency of 120ms, can you help?",
            "Can you say why my socket latency has, after all that work, improved to 95ms?",
        ),
        (NEVER, "I just downloaded Zotero on March 2.", "I've never used Zotero or downloaded it, so how do I begin?"),
        (NEVER, "I've never used Zotero or downloaded it, so how do I begin?", "I just downloaded Zotero on March 2."),
        (NEVER, "We met Michael on May 3 at the media hub.", "I've never met Michael, why is that relevant?"),
        (NEVER, "I've enrolled in a course on academic writing.", "I have never taken any academic writing course."),
    ],
)
def test_what_only_one_can_hold_of_is_open(why, first, second):
    """Two values of one thing without a word of change, and a deed that is denied, are shown, decided by nobody."""
    assert opened(spoken(first, second)) == [(why, first, second)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The staging port is 80.", "The staging port is now 81."),  # decided
        ("The staging port is 80.", "The staging port is 80."),
        ("The staging port is 80.", "The staging port is private-7."),  # of another kind
        ("The staging port is 80.", "The production port is 81."),
        ("I have a meeting on May 3.", "I have a meeting on May 9."),  # another one
        ("My flight to Rome is on May 3, 2024.", "The flight to Rome is on May 3."),  # the same day
        ("I need a hotel for 3 nights.", "I also need a hotel for 2 nights."),
        ("I've finished 30 chapters.", "Ann has now finished 42 chapters."),
        ("I've completed 8 problems on dice.", "Ann has increased her practice to 12 problems on dice."),
        ("I've completed 8 problems on dice.", "I want to get to 12 problems on dice."),
        ("I've completed 8 problems on dice.", "I've increased my speed to 12 rolls on dice."),
        ("I've completed 8 problems on dice.", "I now have 12 problems with my landlord."),
        ("I just downloaded Zotero on March 2.", "I've never used or downloaded Endnote, so what now?"),
        ("I want to download Zotero.", "I've never used Zotero or downloaded it, so how do I begin?"),
        ("Can you download Zotero?", "I've never used Zotero or downloaded it, so how do I begin?"),
        ("I haven't downloaded Zotero.", "I've never used Zotero or downloaded it, so how do I begin?"),
        (
            "I just downloaded the manual on citation styles.",
            "I've never presented a paper on citation styles at a big conference in Rome.",
        ),
        ("I've completed 8 problems on dice.", "I should have increased my practice to 12 problems on dice."),
        ("I just downloaded the file.", "I've never been to Rome."),
    ],
)
def test_what_can_hold_together_is_not_open(first, second):
    """What was decided, is the same, of another kind or thing, or was not done, is no conflict."""
    assert opened(spoken(first, second)) == []


def test_only_what_a_user_said_is_open():
    """An untrusted message contradicts nobody."""
    events = [
        said(1, "I just downloaded Zotero on March 2."),
        said(2, "I've never downloaded Zotero.", trust=Trust.UNTRUSTED),
    ]
    assert opened(events) == []
    assert len(opened([events[0], said(2, "I've never downloaded Zotero.")])) == 1


def test_what_the_user_decided_is_open_no_more():
    """A fact that is taken out contradicts nothing; a decision that was undone is not asked about again."""
    one, other = "The staging port is 80.", "The staging port is 81."
    events = [said(1, one), said(2, other, session="two")]
    (old, new) = facts(events)
    assert opened(events) == [(VALUES, one, other)]
    restored = Decision("r", "restore", old.key, old.pointer, through=9)
    assert opened(events, restored) == []
    made = Decision("s", "supersede", old.key, old.pointer, new.pointer, through=2)
    assert opened(events, made, Decision("u", "supersede", old.key, old.pointer, undoes="s")) == []


def test_no_more_are_open_than_can_be_looked_at():
    """Of many the newest are given."""
    texts = [f"The port of box{number} is {number}." for number in range(CONFLICTS_MAX + 9)]
    events = [*spoken(*texts), *spoken(*(one.replace(".", "7.") for one in texts), session="two", first=500)]
    found = opened(events)
    assert len(found) == CONFLICTS_MAX
    assert found[-1] == (VALUES, texts[-1], texts[-1].replace(".", "7."))


def test_a_deed_is_no_fact():
    """What was done or never done is read, with its words, and stands in no list of facts."""
    events = spoken("I just downloaded Zotero on March 2.", "I've never used Zotero with Word before.")
    assert facts(events) == ()
    assert [(one.sort, one.value) for one in Reading().read(events)] == [
        ("deed", "2 download march zotero"), ("denial", "word zotero"),
    ]  # fmt: skip


def test_what_is_said_of_one_amount_says_nothing_of_another():
    """Of two amounts the one that is taken out alone holds no more, until it is let in again; others stand."""
    texts = ("I've solved 5 problems on algebra.", "I'm better after completing 8 problems on dice.",
             "I've increased my practice to 12 problems on dice.")  # fmt: skip
    algebra, dice, more = (one for one in Reading().read(spoken(*texts)) if one.sort == "mention")
    assert opened(spoken(*texts)) == [(AMOUNTS, texts[1], texts[2])]
    gone = Decision("t", "tombstone", dice.key, dice.pointer, position=9, through=8)
    back = Decision("r", "restore", dice.key, dice.pointer, position=10, through=9)
    assert [fold([gone]).standing(one) for one in (algebra, dice, more)] == [True, False, True]
    assert [fold([gone, back]).standing(one) for one in (algebra, dice, more)] == [True, True, True]


def test_a_longer_name_is_compared_with_the_newest_alone(monkeypatch):
    """What a session told before so many others with a word in common is not compared any more."""
    texts = ("I've added 45 sources to my Zotero library.", "I've added 7 tags to my Zotero library.",
             "I've added 52 sources to my old town Zotero library.")  # fmt: skip
    first, between, last = (replace(one, near=True) for one in facts(spoken(*texts)))
    longer = [replace(first, key="library source zotero"), replace(between, key="library tag"),
              replace(last, key="library source town zotero")]  # fmt: skip
    assert [one.why for one in conflicts(longer, fold([]))] == [VALUES]
    monkeypatch.setattr("firsthand.consolidate.conflicts.NAMED_MAX", 1)
    told = [longer[0], replace(longer[1], key="library source zotero tag pile", value="words"), longer[2]]
    assert conflicts(told, fold([])) == ()
