"""What an event is called by."""

from __future__ import annotations

import pytest

from firsthand.index.names import asked_tokens, name_tokens


def named(question, session="", meta=None, text=""):
    return bool(set(asked_tokens(question)) & set(name_tokens(session, meta, text)))


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("what came of medqa 31?", {"session": "proving-medqa-031"}),
        ("proving-medqa-031", {"session": "work/proving-medqa-031"}),
        ("open reading 13", {"meta": {"file": "episodes/reading-013.md"}}),
        ("pull request 4001", {"text": "Pull request 4001: mend the gate"}),
        ("worker on port 8001", {"text": "The worker on port 8001: it stopped."}),
        ("10.0.0.7", {"text": "Host 10.0.0.7 is down"}),
    ],
)
def test_a_name_is_found_as_people_say_it(question, name):
    """A session's number, a file's, and those of a first clause are names, with and without zeros."""
    assert named(question, **name)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("medqa 32", {"session": "proving-medqa-031"}),
        ("medqa 32", {"session": "proving-medqa-031", "text": "As in medqa 32 it failed."}),
        ("case 7", {"text": "It went well. As in case 7 it was fast."}),
        ("case 3", {"text": "case 1 case 2 case 3 case 4"}),
        ("days 8", {"session": "2026-03-08-standup"}),
    ],
)
def test_a_mention_is_no_name(question, name):
    """Another number of the same series, a later clause, a list and a date are no names."""
    assert not named(question, **name)
