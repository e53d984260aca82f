"""Pairs in the same words of another thing: nothing of them takes the place of anything."""

from __future__ import annotations

import pytest
from said import said

from firsthand.consolidate.keys import facts
from firsthand.consolidate.sweep import by_rule

OWNED = (
    ("The port of staging is 8080.", "The port of production is now 8443."),
    ("The {0} port is 8080.", "The {1} port is now 8443."),
    ("The timeout of {0} is 30 seconds.", "The timeout of {1} was changed to 90 seconds."),
    ("{0}'s deadline is May 3.", "{1}'s deadline has moved to May 9."),
    ("The budget for {0} is $500.", "I raised the budget for {1} to $900."),
    ("The latency of {0} is currently at 180 ms.", "The latency of {1} has dropped to 120 ms."),
    ("The owner of {0} is Annko.", "The owner of {1} is now Beari."),
    ("The {0} limit is 5.", "Set the {1} limit to 9."),
)
THINGS = (
    ("staging", "production"), ("web-1", "web-2"), ("billing", "search"), ("checkout", "the crawler"),
    ("Berlin", "Paris"), ("the mail gateway", "the web gateway"), ("report", "talk"), ("north", "south"),
    ("Postgres", "MySQL"), ("spring", "autumn"), ("upload", "download"), ("read", "write"), ("alpha", "beta"),
)  # fmt: skip
PEOPLE = (
    ("My {0} is 41 years old.", "My {1} is now 43 years old."),
    ("My {0}'s birthday is May 3.", "My {1}'s birthday is now May 9."),
    ("The rent of my {0} is $900.", "The rent of my {1} has gone up to $1,100."),
    ("I have a call with my {0} on May 3 at 3 PM.", "The call with my {1} has been moved to May 4 at 5 PM."),
    ("My {0}'s score is 41.", "My {1}'s score has improved to 55."),
)
PERSONS = (("son", "daughter"), ("brother", "sister"), ("mother", "father"), ("boss", "colleague"), ("uncle", "aunt"),
           ("tenant", "landlord"), ("dentist", "doctor"), ("cat", "dog"), ("husband", "neighbour"))  # fmt: skip
COUNTS = (
    ("I've finished 30 {0}.", "I have now finished 42 {1}."),
    ("I've added 45 {0} to my library.", "I've added 52 {1} to my library."),
    ("We've closed 12 {0} so far.", "We have closed 19 {1} by now."),
    ("I've reached 150 {0}.", "I'm now at 165 {1}."),
)
COUNTED = (("chapters", "pages"), ("commits", "branches"), ("sources", "quotes"), ("tickets", "deals"),
           ("interviews", "offers"), ("tests", "bugs"), ("models", "plates"), ("recipes", "menus"))  # fmt: skip
TOLD = (
    ("I have a Zoom meeting with Danielle on March 22 at 3 PM.",
     "The Zoom meeting with Robert is rescheduled to May 2."),
    ("I have a meeting with Bob on May 3.", "I also have a meeting with Bob on May 9."),
    ("I have a dentist appointment on May 3.", "My eye appointment has been moved to May 9."),
    ("My trip to Rome is on May 3.", "My trip to Oslo has been moved to May 9."),
    ("I worry about my April 20 deadline for the draft.", "I got the new April 25 deadline for the visa."),
    ("My April 20 deadline for the draft is near.", "My April 25 deadline for the visa is near."),
    ("I live in Berlin.", "My sister moved to Hamburg."),
    ("I live in Berlin.", "If I moved to Hamburg, what would it cost?"),
    ("I live in Berlin.", "I moved to Tuesday's class."),
    ("I live in Berlin.", "Should I say that I moved to Hamburg?"),
    ("I live in Berlin.", "I want to have moved to Hamburg by May."),
    ("I live in Berlin.", "Ann wrote that I moved to Hamburg once."),
    ("I work at Siemens.", "My brother has just joined Bosch."),
    ("I work at Siemens.", "I joined the call at 9."),
    ("I work at Siemens.", "Would you say I've joined Bosch?"),
    ("We use Postgres 15.", "We upgraded to Ubuntu 24."),
    ("We use Postgres 15.", "They upgraded to Postgres 16."),
    ("We use Postgres 15.", "We have not upgraded to Postgres 16."),
    ("I'm on Python 3.11.", "I'm going to be on Python 3.13 next year."),
    ("I've finished 30 chapters of the novel.", "I have now finished 42 chapters of the thesis."),
    ("I've finished 30 chapters.", "Ann has now finished 42 chapters."),
    ("I've finished 30 chapters.", "I have to finish 42 chapters now."),
    ("I've finished 30 chapters.", "I would have finished 42 chapters by now."),
    ("I've read 3 of the 12 papers.", "I have now read 5 of the 9 books."),
    ("I've secured 3 interviews.", "I secured 5 interviews."),
    ("I've added 45 sources to my Zotero library.", "I've added 3 sources to my Zotero library."),
    ("The login latency, which is currently at 180 ms, worries me.",
     "The upload latency, which has decreased to 120 ms, is fine."),
    ("The login latency, which is currently at 180 ms, worries me.",
     "I want the login latency, which is too high, to be cut to 120 ms."),
    ("The login latency is 180 ms.", "The target is a login latency of 120 ms."),
    ("My weekly word count is 1,200.", "My daily word count was adjusted to 400 words."),
    ("My final draft reached 4,700 words.", "My first draft reached 4,100 words."),
    ("The port of staging is 80.", "production: not 80 any more, 81."),
    ("The port of staging is 80.", "You had 80 for production, that is outdated, take 81."),
    ("The port of staging is 80.", "You had 79 for staging, that is outdated, take 81."),
    ("The port of staging is 80.", "81 it is for the port of production."),
    ("The port of staging is 80.", "production runs with port 81 these days."),
    ("The port of staging is 80.", "staging runs with timeout 81 these days."),
    ("The port of staging is 80.", "Make it 81 for production."),
    ("The team has 5 people.", "Make it 6 people for the dinner."),
    ("I need a table for 5 people.", "The train is for 6 people, make that two tickets."),
    ("I need a cheap restaurant.", "Are there any expensive hotels?"),
    ("I need a restaurant with Thai food.", "Is there also any Indian food nearby?"),
    ("I want to see a museum.", "Are there any colleges?"),
    ("I need a taxi to the Cambridge Belfry.", "Then I need a taxi to the Gonville Hotel."),
    ("I need a train to Ely on Friday.", "I need a train to Cambridge on Friday."),
    ("Install Numpy 1.24.1 and book a table at 11:10.", "Scipy 1.10.0"),
    ("I switched from Vim to Emacs.", "I switched from Slack to Zulip."),
    ("My editor is Vim.", "My shell is now Fish."),
    ("My salary is $90,000.", "The $120,000 salary of the other offer is higher."),
    ("The rent is $1,200.", "I changed the budget from $1,200 to $2,500."),
    ("The rent is $1,200.", "The fee went up from $1,200 to $2,500."),
    ("The retry limit is 3.", "The team went up from 3 to 5 people."),
    ("My salary is $90,000.", "I got a promotion with a 10% salary increase."),
    ("My rent is $900.", "My first rent was $700."),
    ("The API key of staging is AB-12.", "The API key of production is now CD-34."),
    ("My phone number is 5550100.", "My office phone number is now 5559999."),
    ("My flight is at 9:15.", "My return flight is at 16:45 now."),
    ("The standup is at 9:15.", "The retro is now at 16:45."),
    ("The red lamp costs $40.", "The blue lamp costs $60 now."),
    ("The gym fee is $40.", "The pool fee has gone up to $60."),
    ("My morning run is 5 km.", "My evening run is now 8 km."),
)  # fmt: skip


def _pairs():
    for forms, things in ((OWNED[1:], THINGS), (PEOPLE, PERSONS), (COUNTS, COUNTED)):
        for first, second in forms:
            for one in things:
                yield first.format(*one), second.format(*one)
                yield first.format(*one[::-1]), second.format(*one[::-1])
    yield OWNED[0]
    yield from TOLD


PAIRS = [*dict.fromkeys(_pairs())]


def test_there_are_many_hostile_pairs():
    """At least 200 pairs are tried, and most of them are read at all: on both sides stands a fact."""
    assert len(PAIRS) >= 200
    read = [all(facts([said(1, text)]) for text in pair) for pair in PAIRS]
    assert sum(read) >= 0.6 * len(PAIRS)


@pytest.mark.parametrize("session", ["one", "two"])
def test_what_is_said_of_another_thing_takes_the_place_of_nothing(session):
    """In the same words of another thing, person, count or journey nothing is decided, whatever session it is in."""
    wrong = []
    for first, second in PAIRS:
        made = by_rule(facts([said(1, first), said(2, second, session=session)]), {})
        wrong += [(first, second, one.by) for one in made]
    assert wrong == []
