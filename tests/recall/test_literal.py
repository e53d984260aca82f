"""Events by the words they hold, on a real store."""

from __future__ import annotations

import pytest

from firsthand.answer import Scope
from firsthand.event import Draft, Kind
from firsthand.index.text import VERSION, TextIndex
from firsthand.log import append
from firsthand.log.log import Log
from firsthand.recall import literal
from firsthand.recall.literal import Holding


@pytest.fixture
def log(tmp_path):
    """An empty store with a text index."""
    opened = Log(tmp_path / "store", indexes=(TextIndex(),))
    yield opened
    assert opened.verify().ok
    opened.close()


def put(log, *texts, session="s", kind=Kind.TOOL_CALL):
    drafts = [Draft(kind, text.encode()) for text in texts]
    return [one.position for one in log.append(drafts, namespace="default", session=session)]


def asking(log, scope=None, deadline_ms=60_000):
    return Holding(log.reader, "default", scope or Scope(), deadline_ms)


def newest(log, words, lacking_max=0, **fields):
    return [one.position for one in asking(log, **fields).newest(words.split(), lacking_max)]


def test_what_holds_all_words_but_so_many_is_given_newest_first(log):
    """Each event with enough of the words comes, whatever their order and number, and no other."""
    put(log, "make build api", "make api", "build the api, make!", "make build web", "makes builds apis")
    assert newest(log, "make build api") == [5, 3, 1]
    assert newest(log, "make build api", 1) == [5, 4, 3, 2, 1]
    assert newest(log, "make build unheard") == []
    assert newest(log, "make build unheard", 1) == [5, 4, 3, 1]


def test_a_word_of_several_tokens_is_found_by_its_rarest(log):
    """A path or a version is a word: an event that holds its rarest token may hold it."""
    put(log, *["src main py"] * 5, "run src/orders.py", "an order")
    assert newest(log, "src/orders.py") == [7, 6]


def test_only_what_is_in_the_scope_is_given(log):
    """Kinds, sessions and positions hold, however many newer events lie outside."""
    (wanted,) = put(log, "make build api", session="a")
    put(log, *["make build api"] * 300, session="b")
    put(log, *["make build api"] * 300, session="a", kind=Kind.TOOL_RESULT)
    scope = Scope(kinds=(Kind.TOOL_CALL,), without_sessions=("b",))
    assert newest(log, "make build api", scope=scope) == [wanted]
    assert newest(log, "make build api", scope=Scope(before_position=3)) == [2, 1]
    assert [one.position for one in asking(log, scope).best(["make", "api"], 4)] == [wanted]


def test_the_best_hold_the_rarest_words_and_are_short(log):
    """A rare word weighs more than a common one, and a line goes before a page with the same words."""
    page = "orders " + "and other things to look at " * 40
    put(log, *["make the list"] * 20, page, "orders only", "make orders", kind=Kind.USER_MESSAGE)
    assert [one.position for one in asking(log).best(["make", "orders"], 3)] == [23, 22, 21]


def test_what_the_index_does_not_reach_yet_is_given_too(log, monkeypatch):
    """The newest few events, which wait to be indexed, come first; the caller looks at their words."""
    put(log, "make build api")
    monkeypatch.setattr(append, "BACKLOG_EVENTS", 32)
    put(log, "make build api", "something else")
    assert newest(log, "make build api") == [3, 2, 1]
    assert [one.position for one in asking(log).best(["make"], 4)] == [3, 2, 1]


def test_without_an_index_the_fault_is_told(log):
    """A broken index is named, and what can be read without it is still given."""
    put(log, "make build api")
    log.exclusively(lambda db: db.execute("UPDATE text_index SET version = 'other'").fetchall())
    asked = asking(log)
    assert "is of version other" in asked.fault
    assert [one.position for one in asked.newest(["make"], 0)] == [1]
    assert [one.position for one in asked.best(["make"], 4)] == [1]
    log.exclusively(lambda db: db.execute("UPDATE text_index SET version = ?", (VERSION,)).fetchall())


def test_a_bound_is_said(log, monkeypatch):
    """Where more rows hold a word than are looked at, the newest are, and `whole` says that it was bounded."""
    put(log, *["make build"] * 30)
    asked = asking(log)
    assert (len(list(asked.newest(["make", "build"], 1))), asked.whole) == (30, True)
    monkeypatch.setattr(literal, "POSTINGS_MAX", 10)
    monkeypatch.setattr(literal, "LOOKED_MAX", 20)
    asked = asking(log)
    assert ([one.position for one in asked.newest(["make"], 1)], asked.whole) == ([*range(30, 20, -1)], False)
    asked = asking(log)
    assert ([one.position for one in asked.newest(["make"], 0)], asked.whole) == ([*range(30, 10, -1)], False)


def test_an_erased_event_is_not_given(log):
    """What was erased is gone from the look-up."""
    put(log, "make build api", "make build api")
    log.erase("default", [log.reader.event_at("default", 2).id])
    assert newest(log, "make build api") == [1]


def test_an_empty_store_gives_nothing(log):
    """Nothing was written: nothing is found, and nothing is wrong."""
    asked = asking(log)
    assert (list(asked.newest(["make"], 0)), asked.best(["make"], 3), asked.fault) == ([], [], "")
