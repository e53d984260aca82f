"""A caller's list against the session: grown, trimmed, rewritten, and what cannot be told apart."""

from __future__ import annotations

import copy
import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from firsthand import FormatError, Kind, Memory
from firsthand.context import caller_list
from firsthand.context.alignment import aligned
from firsthand.context.caller_list import CallerList, Changes, Known, digest, known
from firsthand.event import BEHIND, REPLACES, STANDS_FOR
from firsthand.formats import check

S, A, B, C, D, X, Y = (letter.encode() * 16 for letter in "sabcdxy")
SYSTEM = {"role": "system", "content": "Be brief."}


def user(text):
    return {"role": "user", "content": text}


def agent(text):
    return {"role": "assistant", "content": text}


def turns(first, last):
    return [each for n in range(first, last) for each in (user(f"question {n}"), agent(f"answer {n}"))]


def pair(name, result):
    function = {"name": "bash", "arguments": json.dumps({"command": f"cat {name}"})}
    call = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": name, "type": "function", "function": function}],
    }
    return [call, {"role": "tool", "tool_call_id": name, "content": result}]


@pytest.mark.parametrize(
    ("before", "now", "pairs"),
    [
        ([], [A, B], []),
        ([A, B], [A, B, C], [(0, 0), (1, 1)]),
        ([S, A, B, C], [S, C, D], [(0, 0), (3, 1)]),  # the head was trimmed
        ([S, A, B, C], [S, X, C, D], [(0, 0), (3, 2)]),  # and replaced by a summary
        ([A, B, C], [A, B], [(0, 0), (1, 1)]),  # cut at the end
        ([A, B, C], [A, X], [(0, 0)]),
        ([A, X, B, C], [A, Y, B, D], [(0, 0), (2, 2)]),
        ([X, B, X, C], [B, X, C, X], [(1, 0), (2, 1), (3, 2)]),  # the last one is new, although it was there before
        ([A, X, B, Y], [A, X, B, C], [(0, 0), (1, 1), (2, 2)]),
        ([A, Y, X, Y], [A, Y, X, C], [(0, 0), (1, 1), (2, 2)]),  # the newest was rewritten, and is there earlier too
        ([A, B, C, X], [A, Y, C, Y], [(0, 0), (2, 2)]),
        ([S, X, Y, X, Y], [S, X, Y, X], [(0, 0), (3, 1), (4, 2)]),
    ],
)
def test_members_are_paired_with_what_they_are(before, now, pairs):
    """Of each list those members are known that stand in it up to the newest known one."""
    if before == [S, X, Y, X, Y]:  # cut at the end, or trimmed and X said again: the one case that is refused
        with pytest.raises(FormatError, match=r"may be\. Give"):
            aligned(before, now)
    else:
        assert aligned(before, now) == pairs


@pytest.mark.parametrize(("before", "now"), [([X, X, X], [X, X]), ([S, X, X, X], [S, A, X, X])])
def test_what_can_be_read_in_two_ways_is_refused(before, now):
    """A list that repeats messages, so that it cannot be told how many are new, is refused with what to do."""
    with pytest.raises(FormatError, match=r"may be\. Give what is new to add\(\)"):
        aligned(before, now)


@given(st.lists(st.sampled_from([A, B, X]), max_size=8), st.integers(0, 8), st.lists(st.sampled_from([A, B, X, Y])))
def test_pairs_ascend_and_are_equal(before, start, new):
    """Whatever is repeated: what is paired is equal, in the same order, and a list that grew is paired whole."""
    now = [*before[start:], *new]
    try:
        pairs = aligned(before, now)
    except FormatError:
        assume(False)
    assert all(before[old] == now[at] for old, at in pairs)
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in itertools.pairwise(pairs))
    if now[: len(before)] == before:
        assert pairs == [(n, n) for n in range(len(before))]


def known_list(digests):
    return CallerList([Known(each, "user", f"{n}", f"{n}", n, n) for n, each in enumerate(digests)])


M, N, Q, P = (user(letter) for letter in "mnqp")
DM, DN, DQ = map(digest, (M, N, Q))


@pytest.mark.parametrize(
    ("held", "now", "new"),
    [
        ([DM, None, DQ], [M, N, Q, P], 3),
        ([DM, None, DQ], [M, Q, P], 2),
        ([None, None, DQ], [M, Q], 2),
        ([DM, None], [M], 1),
    ],
)
def test_what_was_erased_may_be_there_or_not(held, now, new):
    """A list goes on after the last message that both have, whether it still holds the erased ones or not."""
    changes = known_list(held).changes(now)
    assert (changes.new, changes.places) == (new, ())


@pytest.mark.parametrize(("held", "now"), [([DM, None], [M, N]), ([DM, None, DQ], [M, N, P, Q])])
def test_what_stands_beside_erased_messages_is_refused(held, now):
    """Beside erased messages a new one cannot be told from an old one."""
    with pytest.raises(FormatError, match="1 messages of the session were erased or are damaged"):
        known_list(held).changes(now)


def test_a_session_gives_its_messages_in_the_order_of_the_list(memory):
    """Messages of a format are known in the list's order, with a gap for each that was erased or is damaged."""
    session = memory.session("s")
    window = session.window(50_000, format="openai-chat", pull=False)
    messages = turns(0, 3)
    window.request(messages)
    window.request([user("Summary."), *messages[3:], user("more")])
    session.note("no message")
    session.append_messages([{"role": "user", "content": [{"type": "text", "text": "other"}]}], "anthropic")
    now = [*messages[:3], user("Summary."), *messages[3:], user("more")]
    assert [each.digest for each in known(session, "openai-chat")] == [*map(digest, now)]
    assert len(known(session, None)) == len(now) + 1
    memory.erase([next(event.pointer for event in session.events() if event.text == "question 1")])
    assert [each.digest is None for each in known(session, "openai-chat")][:4] == [
        False,
        False,
        True,
        False,
    ]


@pytest.mark.files_only("damages firsthand.db")
def test_a_damaged_message_is_a_gap(tmp_path):
    """A message that cannot be read is known to have been there."""
    with Memory.open(tmp_path / "store") as memory:
        appended = memory.session("s").append_messages([M, N, Q], "openai-chat")
        memory.log.exclusively(
            lambda db: db.execute("UPDATE event SET body = x'00' WHERE key = ?", (appended[1].position,)).fetchall()
        )
        digests = [each.digest for each in known(memory.session("s"), None)]
        assert digests == [DM, None, DQ]


def test_a_list_that_grows_is_compared_without_reading_its_texts(monkeypatch):
    """Of a list that only grows nothing is digested, however long it is, also when its objects are new each time."""
    digested = []
    monkeypatch.setattr("firsthand.context.caller_list.digest", lambda m: digested.append(m) or digest(m))
    messages = [user("x" * 1_000 + str(n)) for n in range(50)]
    taken = CallerList([])
    for size in (10, 20, 50, 50):
        now = copy.deepcopy(messages[:size])
        changes = taken.changes(now)
        taken.took(now, changes, [Known(None, "user", "", "", 0, 0)] * (size - changes.new))
    assert (changes, len(digested)) == (Changes(50), 10)  # the first list, whatever the session has


def list_of(messages):
    """A list that was given, of messages that stand somewhere in the log."""
    taken = CallerList([])
    taken.took(messages, Changes(0), [Known(None, "user", "", "", 0, 0)] * len(messages))
    return taken


def test_the_same_message_in_another_form_is_the_same():
    """A message whose parts come as a tuple, or whose keys in another order, is the one that was given."""
    taken = list_of([{"role": "user", "content": ["x"]}])
    assert taken.changes([{"role": "user", "content": ("x",)}, agent("y")]).new == 1
    assert taken.changes([{"content": ["x"], "role": "user"}, agent("y")]).new == 1


def test_the_callers_own_objects_tell_equal_messages_apart():
    """A list of equal messages that lost its first and got one more is seen to have, by its objects."""
    messages = [user("ok"), user("ok"), user("ok")]
    taken = list_of(messages)
    del messages[0]
    messages.append(user("ok"))
    changes = taken.changes(messages)
    assert (changes.new, len(changes.left)) == (2, 1)


# in a window -------------------------------------------------------------------------------------


def sent(request):
    return [str(message["content"]) for message in request.messages]


def test_what_the_list_no_longer_has_leaves_and_opens(memory):
    """A caller that keeps system and the last messages: the rest leaves to a marker, by a receipt, and expands."""
    window = memory.session("s").window(50_000, pull=False)
    messages = [SYSTEM, *turns(0, 6)]
    window.request(messages)
    trimmed = [SYSTEM, *messages[-4:], user("question 6")]
    request = window.request(trimmed)
    assert check.faults(request.body, "openai-chat") == ()
    assert [left.reason for left in request.receipt.left] == ["no longer in the caller's list"]
    assert "question 3" not in json.dumps(request.body)
    assert "question 4" in json.dumps(request.body)
    (marker,) = window.state.markers
    opened = memory.expand(marker.pointer).decode()
    assert [text in opened for text in ("question 0", "answer 3", "question 4")] == [True, True, False]
    assert memory.session("s").messages() == [*messages, user("question 6")]
    assert memory.replay(request.anatomy.pointer).same
    again = memory.session("s").window(50_000, pull=False)
    assert again.state == window.state
    assert again.request([*trimmed, agent("answer 6")]).receipt is None


def test_a_summary_stands_where_the_run_was(memory):
    """A framework's summary is one new event that names the run, stands before what stays, and is no user's turn."""
    window = memory.session("s").window(50_000, pull=False)
    messages = [SYSTEM, *turns(0, 4)]
    window.request(messages)
    summary = user("Summary of the conversation so far: questions.")
    request = window.request([SYSTEM, summary, *messages[-2:], user("question 4")])
    texts = "\n".join(sent(request))
    assert texts.index("evicted") < texts.index("Summary of") < texts.index("question 3") < texts.index("question 4")
    (event,) = memory.events("s", kind=Kind.SUMMARY)
    assert memory.expand(event.meta[STANDS_FOR]).decode().count("question") == 3
    assert (event.turn, window.task.request.text) == (1, "question 4")
    assert window.state.items[-1].turn == 5
    assert memory.replay(request.anatomy.pointer).same
    # the next summary takes the place of the first
    second = window.request([SYSTEM, user("A newer summary."), user("question 4"), agent("answer 4")])
    assert "Summary of" not in json.dumps(second.body)
    assert [each["content"] for each in memory.session("s").messages()].count(summary["content"]) == 1


def test_a_result_that_was_cleared_is_shown_cleared_and_its_bytes_stay(memory):
    """An edited tool result is a new event in the place of the old one, which the window no longer shows."""
    window = memory.session("s").window(50_000, pull=False)
    messages = [user("look"), *pair("a", "secret of a"), *pair("b", "words of b")]
    window.request(messages)
    messages[2]["content"] = "[cleared]"
    messages += pair("c", "words of c")
    request = window.request(messages)
    assert request.body["messages"] == messages
    event = next(event for event in memory.events("s") if event.text == "[cleared]")
    assert memory.expand(f"fh:{event.meta[REPLACES]}") == b"secret of a"
    assert not window.state.markers
    assert memory.session("s").window(50_000, pull=False).request(messages).body == request.body


def test_a_pair_that_was_dropped_leaves_whole(memory):
    """A tool pair that is gone from the middle leaves to a marker between what stays."""
    window = memory.session("s").window(50_000, pull=False)
    messages = [user("look"), *pair("a", "words of a"), *pair("b", "words of b")]
    window.request(messages)
    request = window.request([messages[0], *messages[3:], *pair("c", "words of c")])
    assert check.faults(request.body, "openai-chat") == ()
    assert "words of a" not in json.dumps(request.body)
    assert window.state.markers[0].events == 2


def test_a_list_that_was_cut_at_its_end_goes_on_from_there(memory):
    """A caller that takes back its newest messages and asks something else has them left, and the other one new."""
    window = memory.session("s").window(50_000, pull=False)
    messages = turns(0, 3)
    window.request(messages)
    request = window.request([*messages[:4], user("something else")])
    assert "question 2" not in json.dumps(request.body)
    assert window.task.request.text == "something else"


def test_a_prompt_that_was_rewritten_leaves_no_marker(memory):
    """A system prompt with another date in each request replaces the one before, and nothing else changes."""
    window = memory.session("s").window(50_000, pull=False)
    messages = turns(0, 2)
    for day in range(5):
        messages += turns(2 + day, 3 + day)
        request = window.request([{"role": "system", "content": f"It is day {day}."}, *messages])
        assert request.body["messages"] == [{"role": "system", "content": f"It is day {day}."}, *messages]
    assert len(memory.session("s").messages()) == 5 + len(messages)


def test_a_list_with_nothing_in_common_must_say_so(memory):
    """Another conversation is refused; with anew=True all that was there leaves, and the list is the session's."""
    window = memory.session("s").window(50_000, pull=False)
    window.request([SYSTEM, *turns(0, 2)])
    with pytest.raises(FormatError, match="say anew=True if all of them were replaced"):
        window.request([SYSTEM, user("other")])
    request = window.request([SYSTEM, user("other")], anew=True)
    assert "answer 1" not in json.dumps(request.body)
    assert sent(request)[0] == "Be brief."
    assert len(memory.session("s").messages()) == 6


def test_two_windows_of_two_sessions_never_mix(memory):
    """Lists that are equal but for their end, given to two sessions in turns, stand in each session once."""
    windows = {name: memory.session(name).window(50_000, pull=False) for name in "ab"}
    lists = {name: [SYSTEM, *turns(0, 2)] for name in "ab"}
    for number in range(3):
        for name, window in windows.items():
            lists[name] = [SYSTEM, *lists[name][-2:], user(f"{name}{number}")]
            window.request(lists[name])
    for name in "ab":
        assert [m["content"] for m in memory.session(name).messages()][-3:] == [f"{name}{n}" for n in range(3)]


def test_what_came_into_the_middle_is_behind_what_it_stood_behind(memory):
    """Messages put between known ones stand there, in the order of the list, also for a new handle."""
    window = memory.session("s").window(50_000, pull=False)
    messages = [user("one"), agent("two"), user("three")]
    window.request(messages)
    messages[1:1] = [agent("first"), user("second")]
    window.request(messages)
    messages[2:2] = [user("between")]
    body = window.request(messages).body
    order = ["one", "first", "between", "second", "two", "three"]
    assert [json.dumps(body).index(word) for word in order] == sorted(json.dumps(body).index(word) for word in order)
    assert memory.session("s").window(50_000, pull=False).request(messages).body == body
    assert len(memory.session("s").messages()) == 6
    assert BEHIND in next(event for event in memory.events("s") if event.text == "between").meta


def test_what_is_added_between_lists_is_known_without_reading_the_session_again(memory, monkeypatch):
    """A list that holds what was added in between brings nothing twice, and what it rewrote is still seen."""
    read = []
    monkeypatch.setattr(caller_list, "known", lambda *args: read.append(args) or known(*args))
    window = memory.session("s").window(8_000, format="openai-chat")
    messages = [SYSTEM, *turns(0, 3)]
    window.sync(messages)
    for number in range(3, 9):
        new = turns(number, number + 1)
        window.add(new[:1])
        window.add(new[1:])
        messages = [*messages, *copy.deepcopy(new)]
        window.sync(messages)
    assert len(read) == 1
    messages[3] = user("question 1, mended")
    window.sync(messages)
    events = [*memory.events("s")]
    assert [event.text for event in events].count("question 8") == 1
    assert [event.text for event in events if REPLACES in event.meta] == ["question 1, mended"]
    assert len([event for event in events if event.kind in (Kind.USER_MESSAGE, Kind.AGENT_MESSAGE)]) == 19


FORMATS = ["openai-chat", "openai-responses", "anthropic"]


@pytest.mark.parametrize("name", FORMATS)
def test_a_list_that_two_handles_give_in_turn_stands_in_the_log_once(tmp_path, name):
    """Two processes that go on with one session append each message once, also where the list was trimmed between."""
    with Memory.open(tmp_path / "store") as here, Memory.open(tmp_path / "store") as there:
        windows = [each.session("s").window(50_000, format=name, pull=False) for each in (here, there)]
        said, messages = [], []
        for number in range(8):
            said += turns(number, number + 1)
            messages = [*(messages[2:] if number % 3 == 2 else messages), *said[-2:]]
            windows[number % 2].sync(copy.deepcopy(messages[:-1]))
            windows[number // 2 % 2].sync(copy.deepcopy(messages))
        windows[0].add([user("added here")])
        windows[1].sync([*messages, user("added here"), agent("seen there")])
        assert here.session("s").messages() == [*said, user("added here"), agent("seen there")]
        shown = [window.request().body for window in windows]
        assert shown[0] == shown[1]
        assert here.verify().ok


@pytest.mark.parametrize("name", FORMATS)
def test_a_list_that_two_processes_give_at_once_stands_in_the_log_once(tmp_path, name):
    """Of two processes that are given the same new messages at the same moment, only one appends them."""
    with Memory.open(tmp_path / "store") as memory:
        arguments = [sys.executable, str(Path(__file__).with_name("list_process.py")), str(tmp_path / "store"), name]
        processes = [subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)]
        for size in range(2, 21, 2):
            for process in processes:
                process.stdin.write(json.dumps(turns(0, size)).encode() + b"\n")
                process.stdin.flush()
            assert [process.stdout.readline() for process in processes] == [b"ok\n"] * 2
        assert [process.communicate()[0] for process in processes] == [b""] * 2
        assert memory.session("s").messages() == turns(0, 20)
        assert memory.verify().ok
