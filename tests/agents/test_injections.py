"""What was shown unasked is kept, by one of two hooks, until the window is emptied."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from firsthand import Draft, Kind, Memory
from firsthand.agents.injections import SAME_S, keep, shown
from firsthand.hosts.hook import HookCall, HookEvent
from firsthand.moment import Moment

CALL = HookCall("claude-code", HookEvent.PROMPT, "UserPromptSubmit", "1", "k", prompt="words that must not be kept")


def at(seconds: float) -> Moment:
    return Moment(int((1_795_000_020 + seconds) * 1_000_000))


def test_one_of_two_hooks_shows_and_a_retry_shows_again(tmp_path):
    """The same call within the time is kept once, whoever asks; later it is another one."""
    with Memory.open(tmp_path) as memory:
        told = {"shown": ["fh:x"]}
        assert keep(memory, "s", CALL, told, nonce="a", now=at(0))
        assert not keep(memory, "s", CALL, told, nonce="b", now=at(1))
        assert not keep(memory, "s", CALL, told, nonce="", now=at(1))
        assert keep(memory, "s", CALL, told, nonce="a", now=at(2))
        assert keep(memory, "s", CALL, {"shown": ["fh:y"]}, nonce="c", now=at(2 * SAME_S + 2))
        assert shown(memory, "s") == {"fh:x", "fh:y"}
        events = list(memory.events("s", kind=Kind.INJECTION))
        assert [one.is_searchable for one in events] == [False, False]
        assert not any("words" in one.text or "words" in str(one.meta) for one in events)
        assert memory.verify().ok


def test_a_call_that_is_answered_twice_at_once_shows_both_times(tmp_path):
    """The server answers a call that was kept on disk while its hook asks; a hook of its own shows nothing then."""
    both = threading.Barrier(2)
    with Memory.open(tmp_path) as memory, ThreadPoolExecutor(2) as pool:
        memory.note("made before they meet")

        def answer(nonces: str) -> list[bool]:
            shows = []
            for number, nonce in enumerate(nonces):
                both.wait(20)
                call = replace(CALL, key=str(number))
                shows.append(keep(memory, "s", call, {"shown": [f"fh:{nonce}"]}, nonce=nonce, now=at(0)))
            return shows

        first, second = pool.map(answer, ["a" * 20 + "b" * 20, "a" * 20 + "c" * 20])
        assert first[:20] == second[:20] == [True] * 20
        assert [one + other for one, other in zip(first[20:], second[20:], strict=True)] == [1] * 20
        assert memory.verify().ok


def test_a_compaction_lets_things_be_shown_again(tmp_path):
    """What was shown before the window was emptied counts no more."""
    with Memory.open(tmp_path) as memory:
        keep(memory, "s", CALL, {"shown": ["fh:x"]}, nonce="a", now=at(0))
        start = HookCall("claude-code", HookEvent.SESSION_START, "SessionStart", "1", "k", source="compact")
        keep(memory, "s", start, {"shown": ["fh:r"]}, nonce="b", now=at(5))
        assert shown(memory, "s") == {"fh:r"}
        assert memory.verify().ok


@pytest.mark.files_only("a handle on PostgreSQL may lack what another wrote in the last 20 ms")
def test_a_handle_that_has_asked_before_sees_what_came_since(tmp_path):
    """Asked again, a handle adds what any handle showed meanwhile, and forgets it all at the next empty window."""
    start = HookCall("claude-code", HookEvent.SESSION_START, "SessionStart", "1", "k", source="clear")
    with Memory.open(tmp_path) as daemon, Memory.open(tmp_path) as other:
        keep(daemon, "s", CALL, {"shown": ["fh:x"]}, nonce="a", now=at(0))
        assert shown(daemon, "s") == {"fh:x"}
        keep(other, "s", CALL, {"shown": ["fh:y"]}, nonce="b", now=at(3 * SAME_S))
        assert (shown(daemon, "s"), shown(daemon, "s")) == ({"fh:x", "fh:y"}, {"fh:x", "fh:y"})
        keep(other, "s", start, {"shown": ["fh:r"]}, nonce="c", now=at(4 * SAME_S))
        keep(other, "s", CALL, {"shown": ["fh:z"]}, nonce="d", now=at(9 * SAME_S))
        assert shown(daemon, "s") == shown(other, "s") == {"fh:r", "fh:z"}
        assert shown(daemon, "t") == frozenset()
        assert daemon.verify().ok


def test_an_event_of_that_kind_that_is_none_of_ours_is_passed_over(tmp_path):
    """What somebody appended under the kind says nothing of what was shown, and breaks no hook."""
    with Memory.open(tmp_path) as memory:
        keep(memory, "s", CALL, {"shown": ["fh:x"]}, nonce="a", now=at(0))
        for text in (b"no JSON", b'["fh:y"]', b'{"shown": 7}', b'{"shown": ["fh:z", 8]}'):
            memory.append([Draft(Kind.INJECTION, text)], session="s")
        assert shown(memory, "s") == {"fh:x", "fh:z"}
        assert memory.verify().ok
