"""Events by the words they hold, on a real store."""

from __future__ import annotations

import pytest

from firsthand import Draft
from firsthand.answer import Scope
from firsthand.event import Kind
from firsthand.recall import lookup
from firsthand.recall.lookup import Lookup


@pytest.fixture
def put(memory):
    """Append texts to a session; give their positions."""

    def append(*texts, session="s", kind=Kind.TOOL_CALL):
        return [
            event.position for event in memory.append([Draft(kind, text.encode()) for text in texts], session=session)
        ]

    return append


@pytest.fixture
def newest(memory):
    """Give the positions of the events that hold words."""

    def of(words, lacking_max=0, scope=None):
        found = Lookup(memory, scope or Scope(), 60_000).newest(words.split(), lacking_max)
        return [event.position for event in found]

    return of


def test_what_holds_all_words_but_so_many_is_given_newest_first(put, newest):
    """Each event with enough of the words comes, whatever their order and number, and no other."""
    put("make build api", "make api", "build the api, make!", "make build web", "makes builds apis")
    assert newest("make build api") == [5, 3, 1]
    assert newest("make build api", 1) == [5, 4, 3, 2, 1]
    assert newest("make build unheard") == []
    assert newest("make build unheard", 1) == [5, 4, 3, 1]


def test_a_word_of_several_tokens_is_found_by_its_rarest(put, newest):
    """A path or a version is a word: an event that holds its rarest token may hold it."""
    put(*["src main py"] * 5, "run src/orders.py", "an order")
    assert newest("src/orders.py") == [7, 6]


def test_only_what_is_in_the_scope_is_given(put, newest):
    """Kinds, sessions and positions hold, however many newer events lie outside."""
    (wanted,) = put("make build api", session="a")
    put(*["make build api"] * 300, session="b")
    put(*["make build api"] * 300, session="a", kind=Kind.TOOL_RESULT)
    assert newest("make build api", scope=Scope(kinds=(Kind.TOOL_CALL,), without_sessions=("b",))) == [wanted]
    assert newest("make build api", scope=Scope(before_position=3)) == [2, 1]


def test_a_bound_is_said(memory, put, monkeypatch):
    """Where more events hold the words than are read, the newest are, and `whole` says that it was bounded."""
    put(*["make build"] * 40)
    monkeypatch.setattr(lookup, "EVENTS_MAX", 16)
    asked = Lookup(memory, Scope(), 60_000)
    assert [event.position for event in asked.newest(["make"], 0)] == [*range(40, 24, -1)]
    assert not asked.whole


def test_an_erased_event_is_not_given(memory, put, newest):
    """What was erased is gone from the look-up."""
    put("make build api", "make build api")
    memory.log.erase("default", [memory.log.reader.event_at("default", 2).id])
    assert newest("make build api") == [1]


def test_an_empty_store_gives_nothing(memory, newest):
    """Nothing was written: nothing is found, and nothing is wrong."""
    assert newest("make") == []
    assert Lookup(memory, Scope(), 60_000).fault == ""
