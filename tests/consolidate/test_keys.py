"""The facts of what somebody says: keys, values, places, and what gives none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from said import said, spoken

from firsthand.consolidate.keys import FACTS_OF_EVENT_MAX, Reading, facts
from firsthand.consolidate.wording import canonical, key_of
from firsthand.event import Kind, Trust


def told(*texts: str):
    """Give key, value and sort of the facts of a session."""
    return [(one.key, one.value, one.sort) for one in facts(spoken(*texts))]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("The staging port is 8080.", ("port stag", "number:8080", "assignment")),
        ("The port of staging is now 8443.", ("port stag", "number:8443", "correction")),
        ("My favourite colour is teal.", ("color favorite", "teal", "assignment")),
        ("Our database is Postgres.", ("database", "postgres", "assignment")),
        ("DB_HOST=db2.internal", ("db_host", "db2.internal", "config")),
        ("export LOG_LEVEL=debug", ("log_level", "debug", "config")),
        ("max_retries: 5", ("max_retries", "number:5", "config")),
        ("I changed the retry limit from 3 to 5.", ("limit retry", "number:5", "correction")),
        ("Please set the timeout to 30 seconds.", ("timeout", "duration:30", "correction")),
        ("The first sprint deadline has shifted slightly to April 5.", ("deadline first sprint", "date:405 MM-DD",
                                                                        "correction")),
        ("my Zotero library has 45 sources", ("library sorce zotero", "number:45", "assignment")),
        ("I have a budget of $400 for the party.", ("budget party", "money:400 USD", "assignment")),
        ("The meeting is not on Monday but on Tuesday.", ("meet", "date:2 weekday", "correction")),
        ("Our budget is $1,200, as agreed.", ("budget", "money:1200 USD", "assignment")),
        ("We work with a budget of $10,000 for upgrades.", ("budget", "money:10000 USD", "assignment")),
        ("Forget about the newsletter.", ("newsletter", "", "retraction")),
        ("The staging server is no longer needed.", ("server stag", "", "retraction")),
    ],
)  # fmt: skip
def test_what_is_said_of_one_thing(text, want):
    """An assignment, a correction, a line of configuration and a retraction each give one fact."""
    assert told(text) == [want]


@pytest.mark.parametrize(
    "text",
    ["What is the port?", "If the port is 80, fail.", "Is the port 80?", "The problem is 42.", "The food is great.",
     "I want to make sure the limit is 5.", "I heard the price is $5.", "> The port is 8080.", "```\nPORT=80\n```",
     'He wrote "the staging port is 8080" there', "2024-01-01 10:00:00 the port is 80", "Maybe the price is $5.",
     "https://example.org", "Note: 5", "The app is running on port 3000."],
)  # fmt: skip
def test_what_is_asked_supposed_quoted_or_vague_gives_nothing(text):
    """A question, a condition, hearsay, a quotation, code and a judgement are no facts."""
    assert told(text) == []


def test_keys_do_not_depend_on_order_or_articles():
    """The same thing in other words has one key, another thing has another."""
    assert key_of("the port of staging") == key_of("staging's port") == key_of("our Staging ports")
    assert key_of("the port of production") != key_of("the port of staging")
    assert (key_of("the"), key_of("a1 b1 c1 d1 e1 f1 g1")) == ("", "")


def test_values_are_compared_in_one_spelling():
    """Amounts are equal whatever their spelling, names whatever their case."""
    assert canonical("1,000") == canonical("1000")
    assert canonical("half an hour") == canonical("30 minutes")
    assert canonical("`Teal`.") == canonical("teal")
    assert canonical("$5") != canonical("5")


def test_what_is_spoken_of_goes_on():
    """What "it" is changed to is of what the same session named last; another session says nothing of it."""
    found = facts([*spoken("The staging port is 8080.", "Change it to 9000."), said(3, "Make it 7.", session="two")])
    assert [(one.key, one.value, one.about) for one in found] == [
        ("port stag", "number:8080", "staging port"), ("port stag", "number:9000", "staging port"),
    ]  # fmt: skip


def test_slots_of_what_is_arranged():
    """What is arranged is known by the thing that was named before; another one has slots of its own."""
    found = told("I need a hotel in the north for 3 nights.", "How about 2 nights?", "And a train leaving at 9:15.")
    assert found == [
        ("hotel nights", "number:3", "slot"), ("hotel area", "north", "slot"), ("hotel sort", "hotel", "slot"),
        ("hotel nights", "number:2", "slot"),
        ("train departure", "time:555", "slot"),
    ]  # fmt: skip
    assert told("I need the hotel for Friday or Saturday.", "Is there one that is not cheap?") == []


def test_a_scope_keeps_keys_apart():
    """The same words in another scope are another key, and the fact's name is without it."""
    one, other = (facts(spoken("The port is 80."), scope=scope)[0] for scope in ("shop", "blog"))
    assert (one.key, other.key, one.name) == ("shop/port", "blog/port", "port")


def test_kinds_trust_and_limits():
    """Only what is said to the agent is read, with its trust, and so many facts of one event."""
    assert facts([said(1, "The port is 80.", kind=kind) for kind in (Kind.TOOL_RESULT, Kind.AGENT_MESSAGE)]) == ()
    assert [one.trust for one in facts([said(1, "The port is 80.", trust=Trust.UNTRUSTED)])] == [Trust.UNTRUSTED]
    many = "\n".join(f"The port of box{number} is {number}." for number in range(FACTS_OF_EVENT_MAX + 9))
    assert len(facts([said(1, many)])) == FACTS_OF_EVENT_MAX


SENTENCES = ("The port is 8080.", "Größe: 5", "max_size=5", "My colour is teal.", "日本語。", "Hm é.")


@given(st.lists(st.sampled_from(SENTENCES), max_size=6), st.sampled_from(["\n", " ", "\n\n"]))
def test_a_pointer_addresses_the_bytes_that_say_it(parts, between):
    """For all texts: the bytes between the places in a fact's pointer are the fact's text."""
    event = said(1, between.join(parts))
    for one in facts([event]):
        start, _, end = one.pointer.partition("@")[2].partition("-")
        assert event.content[int(start) : int(end)].decode() == one.text
        assert one.event == f"fh:{event.id}"


@given(st.text(max_size=200))
def test_any_text_is_read(text):
    """No text raises, and a fact has a key."""
    assert all(one.key for one in facts([said(1, text)]))


@pytest.mark.parametrize(
    "between", ["I deployed the server with docker today.", "I'm better after completing 8 problems on dice."]
)
def test_what_was_done_in_between_is_not_what_it_is_about(between):
    """Who says what they did, or an amount of a story, and then "change it", means what had a value."""
    found = told("The staging port is 8080.", between, "Change it to 9000.")
    assert found == [("port stag", "number:8080", "assignment"), ("port stag", "number:9000", "correction")]


def test_a_long_story_costs_no_fact_behind_it():
    """However much somebody did, what they say behind it has its value, and of deeds and amounts no more are given."""
    story = "I'm better after completing 8 problems on dice. " * FACTS_OF_EVENT_MAX
    assert told(story + "The staging port is 8080.") == [("port stag", "number:8080", "assignment")]
    assert len([*Reading().read(spoken(story))]) == FACTS_OF_EVENT_MAX
