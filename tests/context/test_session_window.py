"""The window of a live session: any loop, under a budget, over the log."""

from __future__ import annotations

import base64
import contextlib
import json
import threading

import pytest

from firsthand import InvalidArgument, Kind, tokens
from firsthand.context.task_state import from_json
from firsthand.errors import StaleExpectation
from firsthand.formats import check
from firsthand.value import asdict
from firsthand.window import Budget

NEEDLE = "commit 9f31c07be2d4 broke /srv/app/config/routes.yaml:118"


def talk(turns, *, words=60, start=0):
    """Make a conversation: each turn a question, a tool call, its result and an answer."""
    messages = []
    for number in range(start, start + turns):
        filler = " ".join(f"word{number}x{k}" for k in range(words))
        messages += [
            {"role": "user", "content": f"Question {number} about module{number}?"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": f"call_{number}",
                        "type": "function",
                        "function": {"name": "bash", "arguments": json.dumps({"command": f"cat module{number}.py"})},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": f"call_{number}", "content": f"module{number} says {filler}"},
            {"role": "assistant", "content": f"Answer {number}."},
        ]
    return messages


def test_below_the_high_mark_the_messages_go_out_as_they_came(memory):
    """While everything fits, the request holds the caller's messages unchanged, and nothing was compacted."""
    messages = talk(2)[:-1]
    window = memory.session("s").window(50_000, pull=False)
    request = window.request(messages)
    assert request.body == {"messages": messages}
    assert request.receipt is None
    assert window.state.cycle == 0


def test_a_long_session_stays_under_its_budget_and_every_byte_comes_back(memory):
    """Over many turns each request is within the budget and valid, and each evicted event expands to its bytes."""
    window = memory.session("s").window(2_000)
    messages, compactions = [], 0
    for number in range(40):
        new = talk(1, start=number)
        messages += new[:-1]
        request = window.request(messages)
        assert request.tokens <= 2_000 or request.excess
        assert check.faults(request.body, "openai-chat") == ()
        assert request.messages[-1]["role"] == "tool" or "Question" in str(request.messages[-1]["content"])
        compactions += request.receipt is not None
        messages.append(new[-1])
    assert compactions > 3
    state = window.state
    shown = {item.id for item in state.items}
    gone = [event for event in memory.session("s").events() if event.kind is Kind.TOOL_RESULT and event.id not in shown]
    assert gone
    for event in gone:
        assert memory.expand(f"fh:{event.id}") == event.content
        assert sum(m.first_position <= event.position <= m.last_position for m in state.markers) == 1


def test_a_model_recalls_what_was_evicted(memory):
    """The model's recall call is answered with the evicted event's exact string, fenced, and counted as an access."""
    window = memory.session("s").window(2_000)
    messages = talk(31)
    messages[2]["content"] += f" found: {NEEDLE}"
    request = window.request([*messages, {"role": "user", "content": "What broke the routes file?"}])
    assert NEEDLE not in json.dumps(request.body)
    messages.append({"role": "user", "content": "What broke the routes file?"})
    function = {"name": "recall", "arguments": '{"query": "routes.yaml broke"}'}
    call = {"id": "r1", "type": "function", "function": function}
    reply = {"role": "assistant", "content": None, "tool_calls": [call]}
    messages.append(reply)
    (result,) = window.answer(reply)
    assert result["role"] == "tool"
    assert result["tool_call_id"] == "r1"
    assert NEEDLE in result["content"]
    messages.append(result)
    assert check.faults(window.request(messages).body, "openai-chat") == ()
    assert [hit.turn for hit in memory.recall("routes.yaml broke", kinds=["tool_result"])] == [1]


def test_an_earlier_prompt_is_replayed_to_the_byte(memory):
    """Each call's prompt is made again from the log, and its hash is the one recorded before the call."""
    window = memory.session("s").window(2_000)
    messages, sent = [], []
    for number in range(12):
        messages += talk(1, start=number)
        request = window.request([*messages, *[]][:-1])
        sent.append(request.body)
    anatomies = [*memory.anatomies("s")]
    assert [one.call for one in anatomies] == list(range(1, 13))
    for body, anatomy in zip(sent, anatomies, strict=True):
        replayed = memory.replay(anatomy.pointer)
        assert replayed.same, replayed.note
        assert replayed.body == body


def test_system_tools_and_contributions_are_parts_of_the_anatomy(memory):
    """What is given for a part of the prompt is counted under its name, and its bytes sum to what is sent."""
    window = memory.session("s").window(20_000)
    tool = {"type": "function", "function": {"name": "bash", "description": "runs", "parameters": {"type": "object"}}}
    request = window.request(
        [{"role": "user", "content": "hello"}], tools=[tool], system="You are careful.",
        contributions={"skills": "You can sew.", "cues": "remember: sewing"},
    )  # fmt: skip
    shares = {share.name: share.bytes for share in request.anatomy.shares}
    assert {"system", "skills", "cues", "tool schemas", "user message"} <= set(shares)
    assert sum(shares.values()) == request.anatomy.bytes
    assert "You are careful." in request.messages[0]["content"]
    again = window.request(contributions={"skills": ""})
    assert "skills" not in {share.name for share in again.anatomy.shares}
    with pytest.raises(InvalidArgument, match="contributions are texts by the name of their part"):
        window.request(contributions={"weather": "fine"})


@pytest.mark.parametrize("budget", [0, -1, 1.5, True, "8000", None])
def test_a_budget_that_is_none_is_refused(memory, budget):
    """A budget of no tokens, of fewer, or of another type is refused, and says what a budget is."""
    with pytest.raises(InvalidArgument, match="tokens_max is a whole number from 1"):
        memory.session("s").window(budget)


def test_a_budget_below_what_must_stay_says_what_exceeds_it(memory):
    """Under a budget smaller than the protected items the request names them, and still holds the newest message."""
    window = memory.session("s").window(Budget(40, item_share=1.0), pull=False)
    request = window.request([{"role": "user", "content": "Never delete anything. " * 20}])
    assert [item.kind for item in request.excess] == [Kind.USER_MESSAGE]
    assert request.tokens > 40


def test_a_message_larger_than_the_window_is_shown_shortened_with_its_pointer(memory):
    """One tool result larger than the window is shown as its beginning and end, and its pointer gives the whole."""
    window = memory.session("s").window(2_000)
    messages = talk(1)[:3]
    messages[2]["content"] = "begin " + "x1 y2 z3 " * 60_000 + "the end"
    request = window.request(messages)
    assert request.tokens <= 2_000
    (item,) = [item for item in window.state.items if item.shortened]
    assert f"fh:{item.id}" in request.messages[-1]["content"]
    assert memory.expand(f"fh:{item.id}").decode() == messages[2]["content"]


@pytest.mark.parametrize("budget", [1, 2, 60, 1_000])
def test_system_prompt_and_persona_are_never_cut(memory, budget):
    """However small the budget is, they are sent whole, and named as what exceeds it; other items say what is cut."""
    rules, who = "\n".join(f"Rule {number}: never open door {number}." for number in range(200)), "You are Ada. " * 400
    given = [{"role": "system", "content": rules}, {"role": "user", "content": "hello " * 2_000}]
    for format_, messages, system in (("openai-chat", given, None), ("anthropic", given[1:], rules)):
        window = memory.session(format_).window(budget, format=format_)
        request = window.request(messages, system=system, contributions={"persona": who})
        sent = json.dumps(request.body)
        assert json.dumps(rules)[1:-1] in sent
        assert who in sent
        user = next(item for item in window.state.items if item.kind is Kind.USER_MESSAGE)
        assert f"fh:{user.id}" in sent
        assert f"1, first fh:{user.id}" in next(note for note in request.notes if "previews" in note)
        assert {item.kind for item in request.excess} == {Kind.SYSTEM, Kind.PERSONA, Kind.USER_MESSAGE}


def test_what_is_sent_beside_the_window_is_named_when_it_exceeds_the_budget(memory):
    """Cues larger than the budget are sent as they were given, and a note says that they are what exceeds it."""
    window = memory.session("s").window(2_000, pull=False)
    asked = [{"role": "user", "content": "hello"}]
    assert window.request(asked).notes == ()
    request = window.request(asked, contributions={"cues": "cue " * 4_000})
    inside = window.state.tokens
    assert request.tokens > 2_000
    [note] = request.notes
    assert note == (
        f"{request.tokens:,} tokens are sent of a budget of 2,000: {inside:,} in items and markers that must stay, "
        f"{request.tokens - inside:,} in tool schemas, task state, cues and recall"
    )


def test_pictures_give_a_marker_no_topics(memory):
    """The topics of what left are words that somebody said, and none that tell of bytes."""
    picture = "data:image/png;base64," + base64.b64encode(bytes(range(256)) * 1_000).decode()
    session = memory.session("s")
    session.append_messages(
        [
            {
                "role": "user",
                "content": [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": picture}}],
            },
            {"role": "assistant", "content": "A heron."},
            {"role": "user", "content": "thanks " * 200},
        ]
    )
    window = session.window(Budget(8_000, low=0.05, item_share=1.0, hot_turns=1))
    window.compact()
    (marker,) = window.state.markers
    assert marker.events == 3
    assert [hint.term for hint in marker.hints] == ["heron"]


def test_two_handles_follow_each_other(memory):
    """What one handle appends or compacts, the other one takes over."""
    one, other = (memory.session("s").window(2_000) for _ in range(2))
    messages = talk(30)
    one.add(messages[:60])
    other.request()
    assert one.state == other.state
    one.add(messages[60:])
    one.request()
    assert other.state == one.state


def test_what_was_erased_is_no_longer_shown(memory):
    """An erased event leaves the window, its words are in no later request."""
    window = memory.session("s").window(20_000, pull=False)
    window.add(talk(1))
    secret = memory.session("s").user("the password is hunter2hunter2")
    assert "hunter2" in json.dumps(window.request().body)
    memory.erase([secret])
    assert "hunter2" not in json.dumps(window.request().body)


def test_an_erasure_takes_what_firsthand_itself_repeated(memory):
    """After an erasure nothing that Firsthand wrote says the erased words, and the window goes on."""
    window = memory.session("s").window(1_500)
    secret = memory.session("s").user("The zanzibar account is hunter2zanzibar. " + "Details follow. " * 30)
    window.add(talk(1)[1:])
    for number in range(1, 20):
        window.add(talk(1, start=number))
        window.request()
    function = {"name": "recall", "arguments": '{"query": "zanzibar"}'}
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "z", "type": "function", "function": function}]}
    window.add([{"role": "user", "content": "look it up"}, call])
    answer = window.answer(call)
    assert "hunter2zanzibar" in answer[0]["content"]
    window.add(answer)
    erasure = memory.erase([secret])
    assert secret.id in erasure.erased
    again = memory.session("s").window(1_500)
    for one in (window, again):
        assert "hunter2zanzibar" not in json.dumps(one.request().body)
        assert "hunter2zanzibar" not in str(asdict(one.task))
    for event in memory.session("s").events():
        assert b"hunter2zanzibar" not in memory.expand(f"fh:{event.id}") if not event.erased else True
    assert again.state.items == window.state.items


def test_a_tool_of_the_callers_cannot_be_taken_for_one_of_the_windows(memory):
    """A caller's own tool named like one of the window's is refused, since its calls could not be told apart."""
    tool = {"type": "function", "function": {"name": "recall", "parameters": {"type": "object"}}}
    window = memory.session("s").window(20_000)
    with pytest.raises(InvalidArgument, match="rename it"):
        window.request([{"role": "user", "content": "hi"}], tools=[tool])
    alone = memory.session("other").window(20_000, pull=False)
    assert alone.request([{"role": "user", "content": "hi"}], tools=[tool]).body["tools"] == [tool]


@pytest.mark.parametrize("tokens_max", [300, 700, 2_000])
def test_a_pack_stays_within_its_tokens_as_text_and_as_messages(memory, tokens_max):
    """A push pack has at most the tokens asked for in either form, holds the newest turn and names what is missing."""
    window = memory.session("s").window(8_000)
    for number in range(60):
        window.add(talk(1, start=number))
        window.request()
    made = window.pack(tokens_max, preamble="Earlier: " + "things " * 40, cues="module3")
    assert made.tokens <= tokens_max
    assert sum(share.tokens for share in made.shares) <= tokens_max
    assert check.faults(made.body, "openai-chat") == ()
    # In 300 it may be cut by a word: what an id is estimated at differs from run to run.
    assert "user message, turn 60\n| Question" in made.text
    assert "agent message, turn 60\n| Answer" in made.text
    assert ("Question 59" if tokens_max > 300 else "Question") in json.dumps(made.body)
    assert made.missing


def test_the_agent_reads_what_left_and_why(memory):
    """The task tool names the last receipt, and expand tells it in sentences that name what left and where it is."""
    window = memory.session("s").window(2_000)
    for number in range(20):
        window.add(talk(1, start=number))
        window.request()
    window.add([{"role": "user", "content": "what did you forget?"}])

    def called(name, arguments):
        function = {"name": name, "arguments": json.dumps(arguments)}
        reply = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": name, "type": "function", "function": function}],
        }
        (answer,) = window.answer(reply)
        return answer["content"]

    told = called("task", {})
    pointer = told[told.index('expand("fh:') + 8 :].split('"')[0]
    assert memory.event(pointer).kind is Kind.RECEIPT
    read = called("expand", {"pointer": pointer})
    assert "Nothing is lost: every pointer opens to the exact bytes." in read
    assert [*window.receipts()][-1].left[0].pointer in read


def test_a_window_counts_as_its_format_does(memory):
    """Without a counter named, Anthropic's messages are counted by the estimate for its models, from the first on."""
    block = [{"type": "text", "text": "hello there", "cache_control": {"type": "ephemeral"}}]
    window = memory.session("claude").window(20_000)
    request = window.request([{"role": "user", "content": block}])
    assert window.format == "anthropic"
    assert request.anatomy.counter == tokens.CLAUDE.identity
    assert memory.session("claude").window(20_000).request().anatomy.counter == tokens.CLAUDE.identity
    assert memory.replay(request.anatomy.pointer).same
    other = memory.session("chat").window(20_000).request([{"role": "user", "content": "hello there"}])
    assert other.anatomy.counter == tokens.estimate.identity


def test_a_handle_that_saw_an_erasure_knows_what_a_new_one_knows(memory):
    """After an erasure accesses, task state and items of a live handle are those of one that opens then."""
    session = memory.session("s")
    window = session.window(20_000, pull=False)
    first = session.user("Goal: find the zephyr file")
    session.user("and the other one")
    citing = session.agent(f"It is in {first.pointer}")
    assert any(item.accesses for item in window.state.items)
    memory.erase([citing])
    again = session.window(20_000, pull=False)
    assert window.state == again.state
    assert not any(item.accesses for item in window.state.items)
    memory.erase([first])
    assert window.task == session.window(20_000, pull=False).task
    assert "zephyr" not in str(asdict(window.task))


def test_a_version_of_the_task_state_has_seen_all_before_it(memory):
    """While somebody else appends to the session, each version that is set knows of every event in front of it."""
    stop = threading.Event()

    def write():
        while not stop.wait(0.002):
            memory.session("s").user("Something else.")

    memory.session("s").user("Begin.")
    writer = threading.Thread(target=write)
    writer.start()
    try:
        window = memory.session("s").window(50_000)
        for number in range(30):
            with contextlib.suppress(StaleExpectation):
                window.set_task(goal=f"goal {number}")
    finally:
        stop.set()
        writer.join()
    versions = [*memory.events("s", kind=Kind.TASK_STATE)]
    assert versions
    assert [from_json(one.content).through for one in versions] == [one.position - 1 for one in versions]


def filled(memory, name, *, usage=0.0, budget=2_000):
    """Send 40 turns; give the real tokens of the fullest request, and how often it was compacted."""
    window, messages, most, compactions = memory.session(name).window(budget, pull=False), [], 0, 0
    for number in range(40):
        messages += talk(1, start=number, words=30)
        request = window.request(messages)
        real = int(request.anatomy.tokens * (usage or 1))
        most, compactions = max(most, real), compactions + (request.receipt is not None)
        assert real <= window.budget.tokens_max
        assert not request.notes
        if usage:
            window.usage(real)
    return most, compactions


def test_reported_usage_lets_the_budget_be_used_whole(memory):
    """Where the provider counts half of the estimate, twice as much stays, never over the budget; replays are exact."""
    estimated, often = filled(memory, "estimated")
    most, seldom = filled(memory, "reported", usage=0.5)
    assert most > 0.75 * 2_000 > estimated * 0.5
    assert seldom < often
    assert all(memory.replay(anatomy.pointer).same for anatomy in memory.anatomies("reported"))
    over, _ = filled(memory, "over", usage=1.05)
    assert over <= 2_000
    with pytest.raises(InvalidArgument, match="before any request"):
        memory.session("new").window(2_000).usage(5)


def test_a_price_of_cache_misses_compacts_seldom_and_more(memory):
    """With `cache` a compaction goes down further, so that there are fewer; its receipts are read as any."""
    _, often = filled(memory, "plain", budget=Budget(2_000, low=0.8))
    _, seldom = filled(memory, "priced", budget=Budget(2_000, low=0.8, cache=1.5))
    assert seldom < often
    last = [*memory.session("priced").window(Budget(2_000, low=0.8, cache=1.5)).receipts()][-1]
    assert last.budget == Budget(2_000, low=0.95 * (1 - 1 / 1.5))
    with pytest.raises(InvalidArgument, match="over 1, or None"):
        Budget(2_000, cache=1)
