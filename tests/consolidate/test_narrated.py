"""What is told in passing: its key, its value, and whether the words say that it has changed."""

from __future__ import annotations

import pytest
from said import spoken

from firsthand.consolidate.keys import facts
from firsthand.consolidate.narrated import TOLD_MAX, narrated
from firsthand.consolidate.sweep import by_rule


def told(text):
    """Give key, value, sort and whether it changes, of the facts of a sentence."""
    return [(one.key, one.value, one.sort, one.changes) for one in facts(spoken(text))]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("I have now finished 42 chapters of the book.", ("book chapter finish", "number:42", "correction", True)),
        ("I've finished 30 chapters, can you help?", ("chapter finish", "number:30", "assignment", False)),
        ("I worry about the login latency, which is currently at 180 ms under load.",
         ("latency login", "duration:9/50", "correction", True)),
        ("I fear the new April 25 deadline, can you help?", ("deadline", "date:425 MM-DD", "correction", True)),
        ("I fear my April 20 deadline for the draft, can you help?",
         ("deadline draft", "date:420 MM-DD", "assignment", False)),
        ("I have a call with Bob on May 3 at 3 PM, what do I say?",
         ("bob call", "date:503 MM-DD at 900", "assignment", False)),
        ("I fear missing the call with Bob, so remind me that it's been moved to May 4.",
         ("bob call", "date:504 MM-DD", "correction", True)),
        ("I track my weekly word count, and I found out it was adjusted to 1,350 words, so what now?",
         ("count weekly word", "number:1350", "correction", True)),
        ("I've managed to reduce the login latency from 250ms to 210ms.",
         ("latency login", "duration:21/100", "correction", True)),
        ("I fear missing the call with Bob, so can you remind me that it's been moved to May 4?",
         ("bob call", "date:504 MM-DD", "correction", True)),
        ("I moved to Berlin last week.", ("live", "berlin", "correction", True)),
        ("I live in Berlin, by the way.", ("live", "berlin", "assignment", False)),
        ("I've just joined Bosch.", ("work", "bosch", "correction", True)),
        ("We upgraded to Postgres 16 today.", ("postgre version", "number:16", "correction", True)),
        ("84 it is for the port of staging.", ("port stag", "number:84", "correction", True)),
        ("staging runs with port 83 these days.", ("port stag", "number:83", "correction", True)),
    ],
)  # fmt: skip
def test_what_is_told_in_passing(text, want):
    """Counts, dates, rates, places and versions are read out of a story, each of its thing."""
    assert told(text) == [want]


@pytest.mark.parametrize(
    "text",
    [
        "If I have finished 42 chapters by then, tell me.", "I want to have finished 42 chapters.",
        "How have I finished 42 chapters now?", "Ann said I moved to Berlin.", "I would have moved to Berlin by now.",
        "I need to reduce the login latency to 120 ms.",
        "I want to have our login latency cut to 120 ms.",
        "My target is a login latency that is currently at 180 ms?", "I haven't upgraded to Postgres 16.",
        "The original login latency, which is currently at 180 ms, is old.",
    ],
)  # fmt: skip
def test_what_is_wished_asked_denied_or_of_others_is_not_told(text):
    """A story's wishes, questions, denials and other people's affairs give nothing."""
    assert told(text) == []


@pytest.mark.parametrize(
    ("first", "second", "rule"),
    [
        ("I have a call with Bob on May 3 at 3 PM.", "The call with Bob, I hear, has been moved to May 4 at 5 PM.", ""),
        ("I have a call with Bob on May 3 at 3 PM.", "The call with Bob has been moved to May 4 at 5 PM.",
         "rule:correction"),
        ("I've finished 30 chapters.", "I have now finished 42 chapters.", "rule:correction"),
        ("I've finished 30 chapters.", "I've finished 42 chapters.", ""),
        ("The port of staging is 80.", "staging: not 80 any more, 81.", "rule:from-to"),
        ("The port of staging is 80.", "You had 80 for staging, that is outdated, take 81.", "rule:from-to"),
        ("I live in Berlin.", "I moved to Hamburg.", "rule:correction"),
        ("I live in Berlin.", "I moved from Berlin to Hamburg.", "rule:from-to"),
        ("We use Postgres 15.", "We upgraded to Postgres 16.", "rule:correction"),
        ("I fear my April 20 deadline for the draft.", "I fear the new April 25 deadline.", "rule:correction"),
    ],
)  # fmt: skip
def test_what_takes_the_place_of_what_was_told(first, second, rule):
    """A word of change decides; the same words without one leave both standing."""
    made = by_rule(facts(spoken(first, second)), {})
    assert [one.by for one in made] == ([rule] if rule else [])


def test_so_much_is_told_in_one_sentence():
    """A sentence of many numbers gives no more than its limit."""
    text = ", ".join(f"I've finished {number} chapters" for number in range(TOLD_MAX + 9))
    assert len([*narrated(text)]) == TOLD_MAX
