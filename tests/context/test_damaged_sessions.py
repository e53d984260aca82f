"""A window over a session that is damaged: it opens, goes on, and names what it goes on without."""

from __future__ import annotations

import pytest

from firsthand import InvalidArgument, Kind, Memory
from firsthand.event import Trust
from firsthand.formats import check
from firsthand.window import Budget

BUDGET_TOKENS = 2_500


def talk(turns, start=0):
    """Make plain turns of about 100 tokens."""
    messages = []
    for number in range(start, start + turns):
        messages.append({"role": "user", "content": f"question {number} about /srv/app/file_{number}.py"})
        messages.append({"role": "assistant", "content": f"answer {number}:" + " word" * 60})
    return messages


@pytest.fixture
def memory(tmp_path):
    with Memory.open(tmp_path / "store") as opened:
        yield opened


@pytest.fixture
def messages(memory):
    """A session that was compacted several times."""
    window, given = memory.session("s").window(BUDGET_TOKENS), []
    for _ in range(4):
        given += talk(12, start=len(given) // 2)
        window.request(given)
    assert window.state.cycle > 2
    return given


def newest(memory, kind):
    """The newest event of a kind."""
    return next(memory.events("s", kind=kind, newest_first=True, limit=1))


def damage(memory, event):
    """Change what is stored of an event."""
    sql = "UPDATE event SET body = x'0041' WHERE key = ?"
    memory.log.exclusively(lambda db: db.execute(sql, (event.position,)).fetchall())


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Kind.RECEIPT, "its body is not the one that was written"),
        (Kind.TASK_STATE, "so the window goes on from the one before it"),
        (Kind.ANATOMY, "its body is not the one that was written"),
        (Kind.USER_MESSAGE, "its body is not the one that was written"),
    ],
)
def test_a_damaged_event_stops_no_session(memory, messages, kind, said):
    """With any event damaged the list goes on, the request is valid, and its notes name the event."""
    event = newest(memory, kind)
    calls = next(memory.anatomies("s", newest_first=True)).call
    damage(memory, event)
    window = memory.session("s").window(BUDGET_TOKENS)
    request = window.request([*messages, {"role": "user", "content": "and now?"}])
    assert check.faults(request.body, "openai-chat") == ()
    assert request.messages[-1]["content"].endswith("and now?")
    assert request.tokens <= BUDGET_TOKENS
    assert any(said in note for note in request.notes)
    assert set(window.faults) <= set(request.notes)
    assert request.anatomy.call == calls + (0 if kind is Kind.ANATOMY else 1)


def test_what_the_log_does_not_prove_does_not_leave(memory):
    """An event that cannot be read back as it was written stays in the window, and the receipt names it."""
    window = memory.session("s").window(Budget(BUDGET_TOKENS, low=0.6))
    for turns in (18, 24, 27):
        window.request(talk(turns))
    oldest = window.state.items[1]
    damage(memory, memory.event(f"fh:{oldest.id}"))
    receipt = window.compact()
    assert receipt.left
    assert oldest.id in receipt.unproven
    assert oldest.id in {item.id for item in window.state.items}


def test_the_window_goes_on_from_the_receipt_before_a_damaged_one(memory, messages):
    """What the damaged receipt let leave is there again, and the markers of the one before it stand."""
    receipts = [*memory.session("s").window(BUDGET_TOKENS).receipts()]
    event = newest(memory, Kind.RECEIPT)
    damage(memory, event)
    window = memory.session("s").window(BUDGET_TOKENS)
    assert window.state.cycle == receipts[-2].cycle
    assert window.state.markers == receipts[-2].markers
    assert window.state.tokens > receipts[-1].tokens_after - receipts[-1].overhead_tokens
    [fault] = window.faults
    assert fault.startswith(f"event fh:{event.id} at position {event.position}: its body is not the one that was")


@pytest.mark.parametrize("kind", [Kind.RECEIPT, Kind.ANATOMY])
@pytest.mark.parametrize("content", ["no JSON", '{"receipt":2}', "[]", '{"anatomy":99}'])
def test_one_that_cannot_be_read_is_passed_over(memory, messages, kind, content):
    """A receipt or anatomy of another program, or of a newer version, is named and stops nothing."""
    before = memory.session("s").window(BUDGET_TOKENS).state
    appended = memory.session("s").append(kind, content, origin="firsthand", trust=Trust.TRUSTED)
    for window in (memory.session("s").window(BUDGET_TOKENS), memory.session("s").window(BUDGET_TOKENS)):
        assert window.state.items == before.items
        assert window.state.markers == before.markers
        assert any(appended.id in fault for fault in window.faults)
    assert memory.session("s").window(BUDGET_TOKENS).request(messages).tokens <= BUDGET_TOKENS


def test_a_live_window_passes_over_what_it_cannot_read(memory, messages):
    """A window that is open when such an event comes goes on too."""
    window = memory.session("s").window(BUDGET_TOKENS)
    before = window.state
    appended = memory.session("s").append(Kind.RECEIPT, "no JSON")
    assert window.state.items == before.items
    assert any(appended.id in fault for fault in window.faults)
    assert window.request(messages).tokens <= BUDGET_TOKENS


def test_a_damaged_artifact_is_shown_by_its_preview(memory):
    """An event whose large payload is gone stands in the window with the preview that the log holds."""
    text = "first line\n" + "x" * 300_000
    appended = memory.session("s").user(text)
    assert memory.position == appended.position
    for path in (memory.log.root / "artifacts").rglob("*"):
        if path.is_file():
            path.write_bytes(b"damaged")
    window = memory.session("s").window(200_000)
    request = window.request()
    assert "first line" in request.messages[0]["content"]
    assert f"fh:{appended.id}" in request.messages[0]["content"]
    assert len(window.faults) == 1


def test_calls_are_numbered_over_all_handles(memory):
    """Two windows of one session give their calls one row of numbers."""
    windows = [memory.session("s").window(BUDGET_TOKENS) for _ in range(2)]
    windows[0].add({"role": "user", "content": "hello"})
    for window in (*windows, *windows):
        window.request()
    assert [one.call for one in memory.anatomies("s")] == [1, 2, 3, 4]


def test_an_erased_message_may_stay_in_the_callers_list(memory, messages):
    """After an erasure a new handle takes the same list, with the message or without it, and appends what is new."""
    event = [*memory.events("s", kind=Kind.USER_MESSAGE)][3]
    memory.erase([f"fh:{event.id}"])
    without = [one for one in messages if one["content"] != "question 3 about /srv/app/file_3.py"]
    assert len(without) == len(messages) - 1
    for given in (messages, [*without, {"role": "user", "content": "new"}]):
        memory.session("s").window(BUDGET_TOKENS).request(given)
    texts = [one.text for one in memory.events("s", kind=Kind.USER_MESSAGE) if not one.erased]
    assert texts == [one["content"] for one in without if one["role"] == "user"] + ["new"]


@pytest.mark.parametrize("tools", ["x", [object()], ["x"], [{"name": object()}], [{"name": float("nan")}], 5])
def test_tools_that_are_none_are_refused_and_not_appended(memory, tools):
    """What is no schema is refused before it is in the log, where it would spoil every later call."""
    window = memory.session("s").window(BUDGET_TOKENS)
    with pytest.raises(InvalidArgument, match="schema"):
        window.request([{"role": "user", "content": "hello"}], tools=tools)
    assert window.request().body["messages"] == [{"role": "user", "content": "hello"}]
