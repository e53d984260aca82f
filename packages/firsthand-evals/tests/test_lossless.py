"""testing/lossless.py: what is said can be had back word for word, or is found to be gone or altered."""

from __future__ import annotations

import json
import unicodedata

import pytest

from firsthand import Memory, pointer
from firsthand_evals.reclaim import ours
from firsthand_evals.testing.reclaiming import SESSIONS_MAX, lossless


class Kept:
    """Keeps all messages; how they are shown is for a subclass to say."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def write(self, messages, budget):
        self.said += [one["content"] for one in messages if one["role"] != "system"]
        return "ask"

    def recall(self, query):
        return self.shown("\n".join(self.said))

    def shown(self, text):
        return text


class Composed(Kept):
    """Shows letters of two characters as one."""

    def shown(self, text):
        return unicodedata.normalize("NFC", text)


class Squeezed(Kept):
    """Shows one space for many."""

    def shown(self, text):
        return " ".join(text.split())


class AsJson(Kept):
    """Shows messages as JSON, escapes and all."""

    def shown(self, text):
        return json.dumps({"said": self.said})


class Recent(Kept):
    """Answers with the last messages."""

    def shown(self, text):
        return "\n".join(self.said[-12:])


class Pointing:
    """Answers with pointers, and with a message to each."""

    def __init__(self) -> None:
        self.said: dict[str, str] = {}

    def write(self, messages, budget):
        for one in messages:
            self.said[f"fh:{len(self.said):026}"] = one["content"]
        return "ask"

    def recall(self, query):
        words = query.split()
        found = [at for at, text in self.said.items() if all(word in text for word in words[:2])]
        return self.said.get(query) or " ".join(found)


def whole(messages, budget):
    """Carry everything."""
    return "\n".join(one["content"] for one in messages)


@pytest.mark.parametrize("memory", [Kept, AsJson, Pointing, ours.pointers()])
def test_what_is_kept_comes_back(memory):
    """Verbatim, as JSON, behind pointers and out of a store of ours, every message of each session comes back."""
    result = lossless(memory, sessions=3, seed=4)
    assert (result.held, len(result.lines), result.lost) == (True, 21, ())


def test_what_is_carried_counts_without_a_recall():
    """A function that carries everything is lossless while the budget holds it, and not below."""
    result = lossless(whole, budget=20_000)
    assert (result.held, result.recalls) == (True, False)
    short = lossless(whole, budget=result.said)
    assert (short.held, {one.answers for one in short.lost}) == (False, {()})


@pytest.mark.parametrize(("memory", "wanted"), [(Composed, "cafe\u0301"), (Squeezed, "  ")])
def test_what_comes_back_otherwise_is_lost_and_altered(memory, wanted):
    """Messages whose characters or spaces are changed on the way are lost, and said to be altered."""
    lost = lossless(memory, sessions=1).lost
    assert len(lost) > 0
    assert [one for one in lost if not one.altered or wanted not in one.line.text] == []


def test_what_was_said_long_ago_is_asked_for():
    """A memory that answers with the last messages has lost the first sessions, unaltered and whole."""
    result = lossless(Recent, sessions=3)
    assert {one.line.session for one in result.lost} == {0, 1}
    assert [one for one in result.lost if one.altered] == []
    assert result.figures == f"{21 - len(result.lost)} of 21 messages came back word for word"


def test_a_question_does_not_hold_what_is_wanted():
    """No message is asked for with its exact string, and its words name it alone among all messages."""
    lines = lossless(whole, sessions=SESSIONS_MAX).lines
    assert len({one.asked for one in lines}) == len(lines) == 7 * SESSIONS_MAX
    assert [one for one in lines if one.text in one.asked or any(char.isdigit() for char in one.asked)] == []
    assert lines == lossless(whole, sessions=SESSIONS_MAX).lines
    assert {one.text for one in lines}.isdisjoint(one.text for one in lossless(whole, seed=1).lines)


def test_a_memory_that_fails_is_no_error():
    """A memory that raises is told with the line of its code, and does not hold."""

    class Raises(Kept):
        def recall(self, query):
            return self.said[query]

    result = lossless(Raises, sessions=1)
    assert not result.held
    assert result.figures.startswith("it failed: Raises raised in recall(): TypeError: list indices must be")
    assert "(test_lossless.py:" in result.fault


def test_a_store_of_ours_stays_whole(tmp_path):
    """A store that a memory under test keeps is whole afterwards, and holds what was said once."""

    class Stored:
        def __init__(self) -> None:
            self.store = Memory.open(tmp_path / "store")
            self.session = self.store.session("said")

        def write(self, messages, budget):
            self.session.append_messages([one for one in messages if one["role"] != "system"], "openai-chat")
            return " ".join(f"fh:{event.id}" for event in self.session.events())[:budget]

        def recall(self, query):
            return self.store.expand(pointer.parse(query)).decode() if query.startswith("fh:") else ""

        def close(self):
            assert self.store.verify().ok
            self.store.close()

    result = lossless(Stored, sessions=2, budget=5_000)
    assert (result.held, result.fault) == (True, "")
    with Memory.open(tmp_path / "store") as store:
        events = [event.text for event in store.session("said").events()]
        assert [text for text in (one.text for one in result.lines) if events.count(text) != 1] == []
        assert store.verify().ok
