"""Thousands of events, fifty compactions and more: nothing is lost, and the markers stay few."""

from __future__ import annotations

from math import log2

import pytest

from firsthand import Budget, InvalidArgument, Kind, Memory
from firsthand.formats import check
from firsthand.moment import parse
from firsthand.window import HINTS_MAX, MARKER_TOKENS_MAX


def messages_of(turn, words=24):
    """Make the four messages of a turn about a thing of its own."""
    return [
        {"role": "user", "content": f"Look at topic{turn // 25} /etc/app/file-{turn}.cfg"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": f"c{turn}", "type": "function", "function": {"name": "read", "arguments": f'{{"n": {turn}}}'}}
            ],
        },
        {"role": "tool", "tool_call_id": f"c{turn}", "content": f"key-{turn:05d} = " + f"v{turn} " * words},
        {"role": "assistant", "content": f"It sets key-{turn:05d}."},
    ]


@pytest.fixture(scope="module")
def long_session(tmp_path_factory):
    """Give a store whose session had 2,000 events under a window of 4,100 tokens, and the handle that saw it."""
    with Memory.open(tmp_path_factory.mktemp("long") / "store") as memory:
        window = memory.session("s").window(Budget(4_100, high=0.9, low=0.6, hot_turns=2), pull=False)
        for first in range(0, 500, 4):
            window.add([message for turn in range(first, first + 4) for message in messages_of(turn)])
            request = window.request()
            assert request.tokens <= 4_100
        yield memory, window
        assert memory.verify().ok


def test_every_evicted_byte_is_read_back(long_session):
    """After fifty compactions and more each event expands to its bytes, and is shown or lies in one marker."""
    memory, window = long_session
    state = window.state
    assert state.cycle >= 50
    shown = {item.id for item in state.items}
    count = 0
    for event in memory.session("s").events():
        if event.kind in {Kind.RECEIPT, Kind.TASK_STATE, Kind.ANATOMY}:
            continue
        count += 1
        covering = [m for m in state.markers if m.first_position <= event.position <= m.last_position]
        assert event.id in shown or len(covering) == 1
        assert memory.expand(f"fh:{event.id}") == event.content
    assert count == 2_000


def test_the_markers_of_many_compactions_are_few_and_hint_at_all_of_it(long_session):
    """There are O(log C) markers after C compactions, and each eighth of the oldest one's range has a hint."""
    _, window = long_session
    state = window.state
    assert len(state.markers) <= log2(state.cycle + 1) + 1
    assert state.markers_tokens <= len(state.markers) * MARKER_TOKENS_MAX
    oldest = max(state.markers, key=lambda marker: marker.events)
    width = (oldest.last_position - oldest.first_position + 1) / HINTS_MAX
    eighths = {int((hint.position - oldest.first_position) / width) for hint in oldest.hints}
    # Which terms the store is asked about has a deadline, so one or two eighths may share the hint of a neighbour here;
    # that each keeps its own when it has one is tested on values, in tests/compact.
    assert len(eighths) >= HINTS_MAX - 2


def test_another_handle_reads_little_and_knows_the_same(long_session):
    """A handle opened on the long session has the same window, task state and prompt."""
    memory, window = long_session
    again = memory.session("s").window(Budget(4_100, high=0.9, low=0.6, hot_turns=2), pull=False)
    assert again.state == window.state
    assert again.task == window.task
    assert again.request().body == window.request().body


def test_the_receipts_add_up_to_what_left(long_session):
    """The spans of all receipts are the events that left, each once; every reflection found its strings."""
    _, window = long_session
    receipts = [*window.receipts()]
    left = sum(one.events for receipt in receipts for one in receipt.left)
    assert left + len(window.state.items) == 2_000
    totals = receipts[-1].totals
    assert totals.drawn >= len(receipts)
    assert totals.recalled == totals.expanded == totals.drawn


def test_two_thousand_parallel_calls_leave_together_or_stay(tmp_path):
    """One message with two thousand calls and their results stays whole while it is new, and then leaves whole."""
    with Memory.open(tmp_path / "store") as memory:
        window = memory.session("s").window(Budget(12_000, hot_turns=1), pull=False)
        calls = [
            {"id": f"p{n}", "type": "function", "function": {"name": "ping", "arguments": "{}"}} for n in range(2_000)
        ]
        window.add(
            [{"role": "user", "content": "ping all"}, {"role": "assistant", "content": None, "tool_calls": calls}]
        )
        window.add([{"role": "tool", "tool_call_id": f"p{n}", "content": "ok"} for n in range(2_000)])
        crowded = window.request()
        assert crowded.tokens > 12_000
        assert len(crowded.excess) >= 4_000
        window.add([{"role": "assistant", "content": "all answered"}, {"role": "user", "content": "thanks"}])
        window.add([{"role": "assistant", "content": "welcome"}, {"role": "user", "content": "bye"}])
        request = window.request()
        assert request.tokens <= 12_000
        assert check.faults(request.body, "openai-chat") == ()
        assert not any(item.kind in {Kind.TOOL_CALL, Kind.TOOL_RESULT} for item in window.state.items)


def test_a_clock_that_runs_backwards_gives_a_marker_with_both_ends_in_order(tmp_path):
    """Whatever the clock said, a marker's times are the least and the greatest, and its span opens."""
    with Memory.open(tmp_path / "store") as memory:
        session = memory.session("s")
        window = session.window(Budget(700, hot_turns=1), pull=False)
        for turn in range(30):
            session.user(f"turn {turn} " + "word " * 20, time=parse(f"2026-01-{30 - turn:02d}T12:00:00Z"))
        window.request()
        for marker in window.state.markers:
            assert marker.start.microseconds <= marker.end.microseconds
            assert memory.expand(marker.pointer)


def test_hostile_topics_never_reach_a_marker(tmp_path):
    """Control characters and a word of a megabyte leave a marker short and printable."""
    with Memory.open(tmp_path / "store") as memory:
        session = memory.session("s")
        window = session.window(Budget(900, hot_turns=1), pull=False)
        session.user("\x1b[31mred\x07alert\x00 " * 30)
        session.user("z" * 1_000_000)
        session.user("\u202eevil\u2066 " * 30)
        for turn in range(20):
            session.user(f"turn {turn} " + "word " * 20)
        window.request()
        for marker in window.state.markers:
            assert marker.text.isprintable()
            assert marker.text_tokens <= MARKER_TOKENS_MAX


def test_a_pack_smaller_than_its_newest_turn_is_refused(tmp_path):
    """A push pack of too few tokens says how many the newest turn needs."""
    with Memory.open(tmp_path / "store") as memory:
        window = memory.session("s").window(5_000)
        window.add([{"role": "user", "content": "hello there " * 50}])
        assert window.pack(500).tokens <= 500
        with pytest.raises(InvalidArgument, match="tokens"):
            window.pack(0)
