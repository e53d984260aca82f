"""Prompts composed of windows: what each provider gets."""

from __future__ import annotations

import base64
import json

import pytest
from entries import (
    BEGINNING,
    CUE,
    ID,
    TASK_STATE,
    agent,
    chat_call,
    chat_result,
    entry,
    marker,
    note,
    said,
    thought,
    use,
    used,
    user,
    window,
)

from firsthand import formats
from firsthand.errors import FormatError, InvalidArgument
from firsthand.event import Kind
from firsthand.formats import canonical
from firsthand.formats.check import faults
from firsthand.formats.compose import Entry, Piece, compose
from firsthand.window import FRAMING, MARKERS, PERSONA, SYSTEM, TASK, Share

CHAT, ANTHROPIC, RESPONSES = formats.OPENAI_CHAT, formats.ANTHROPIC, formats.OPENAI_RESPONSES
ALL = sorted(formats.FORMATS)
EPHEMERAL = {"type": "ephemeral"}
PNG = b"\x89PNG\r\n\x1a\n"
PNG64 = base64.b64encode(PNG).decode()
PDF64 = base64.b64encode(b"%PDF-1.7").decode()
PDF_URI = f"data:application/pdf;base64,{PDF64}"
NO_RESULT = "[no result of this call was recorded]"


def messages(entries, name, **others):
    """Compose, check that no provider refuses it, and give the messages."""
    made = compose(entries, name, **{"breakpoints": False, **others})
    assert faults(made.body, name) == ()
    assert sum(share.bytes for share in made.shares) == len(canonical.dump(made.body))
    return made.body["input" if name == RESPONSES else "messages"]


def notes(entries, name, **others):
    return compose(entries, name, **others).notes


# as they came ------------------------------------------------------------------------------------

WHOLE = {
    CHAT: [
        {"role": "developer", "content": "be good"},
        {"role": "user", "name": "ann", "content": [said("look"), {"type": "image_url", "image_url": {"url": "https://a.b/c"}}]},
        chat_call("c1", "c2", words="so") | {"reasoning_content": "hm", "refusal": None, "annotations": []},
        chat_result("c1"),
        chat_result("c2", [said("ok")]) | {"name": "bash"},
        agent("done"),
        user("thanks"),
    ],
    ANTHROPIC: [
        user([said("look"), {"type": "document", "title": "t", "source": {"type": "url", "url": "https://a.b/c"}}]),
        agent([thought("hm"), {"type": "redacted_thinking", "data": "x"}, said("so"), use("c1"), use("c2")]),
        user([used("c1"), used("c2", [said("ok")]) | {"is_error": False}, said("and?")]),
        agent([{"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
               {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}, said("done")]),
        user("thanks"),
    ],
    RESPONSES: [
        {"role": "developer", "content": "be good"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "look"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "bash", "arguments": "{}"},
        {"type": "custom_tool_call", "call_id": "c2", "name": "sh", "input": "ls"},
        {"type": "computer_call", "call_id": "c3", "action": {"type": "screenshot"}},
        {"type": "function_call_output", "call_id": "c1", "output": "ok"},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "ok"},
        {"type": "computer_call_output", "call_id": "c3", "output": {"type": "computer_screenshot", "image_url": "https://a"}},
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
        {"role": "user", "content": "thanks"},
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", ALL)
def test_messages_of_the_format_go_out_as_they_came(name):
    """A conversation in the provider's own messages is sent with the same JSON, byte for byte, and without a note."""
    made = compose(window(name, *WHOLE[name]), name, breakpoints=False)
    assert json.dumps(next(iter(made.body.values()))) == json.dumps(WHOLE[name])
    assert made.notes == ()


@pytest.mark.parametrize("name", ALL)
def test_pieces_make_a_conversation_that_says_the_same(name):
    """Messages of another format, and shortened ones, are built anew: texts, calls, results and their ids stay."""
    told = [
        user("look"),
        chat_call("c1", "c2", words="so"),
        chat_result("c1", "one"),
        chat_result("c2", "two"),
        agent("done"),
    ]
    built = messages(window(CHAT, *told, whole=False), name)
    if name == CHAT:
        assert built == told
    elif name == ANTHROPIC:
        assert built == [
            user([said("look")]), agent([said("so"), use("c1"), use("c2")]),
            user([used("c1", "one"), used("c2", "two")]), agent([said("done")]),
        ]  # fmt: skip
    else:
        call = {"type": "function_call", "name": "bash", "arguments": "{}"}
        assert built == [
            user("look"), agent("so"), {**call, "call_id": "c1"}, {**call, "call_id": "c2"},
            {"type": "function_call_output", "call_id": "c1", "output": "one"},
            {"type": "function_call_output", "call_id": "c2", "output": "two"}, agent("done"),
        ]  # fmt: skip


# roles -------------------------------------------------------------------------------------------


def test_neighbours_of_one_role_are_merged():
    """Texts are joined by a blank line, parts are put behind each other, and nothing of them is lost."""
    picture = {"type": "image_url", "image_url": {"url": "https://a.b/c"}}
    told = [
        marker("[gone]"),
        *window(CHAT, user("a"), user([said("b"), picture]), agent("x"), agent("y"), chat_call("c")),
    ]
    assert messages(told, CHAT) == [
        user([said("[gone]"), said("a"), said("b"), picture]),
        chat_call("c", words="x\n\ny"), chat_result("c", NO_RESULT),
    ]  # fmt: skip
    assert messages([marker("[gone]"), *window(ANTHROPIC, user("a"))], ANTHROPIC) == [user([said("[gone]"), said("a")])]


def test_the_fields_beside_the_content_survive_a_merge():
    """Reasoning texts are joined, other fields stay, and speakers are named before their words."""
    told = [
        {"role": "user", "name": "ann", "content": "a"}, {"role": "user", "name": "bob", "content": [said("b")]},
        agent("x") | {"reasoning_content": "r1", "audio": {"id": "au"}},
        agent("y") | {"reasoning_content": "r2", "audio": None},
    ]  # fmt: skip
    assert messages(window(CHAT, *told), CHAT) == [
        user([said("ann: a"), said("bob: b")]),
        agent("x\n\ny") | {"reasoning_content": "r1\n\nr2", "audio": {"id": "au"}},
    ]


@pytest.mark.parametrize("name", [CHAT, ANTHROPIC])
def test_a_conversation_that_the_agent_begins_gets_a_user_before_it(name):
    """Where the first message must be the user's, a line says that the agent begins; it belongs to the framing."""
    made = compose(window(name, agent("hello")), name, breakpoints=False)
    assert faults(made.body, name) == ()
    assert "begins with the agent" in json.dumps(made.body["messages"][0])
    assert {share.name: share.tokens for share in made.shares} == {"history: agent message": 5, FRAMING: 0}


def test_system_texts_come_first_and_later_ones_keep_their_place():
    """Texts of ours, then the session's first ones, are one system message; one in the middle becomes labelled text."""
    told = window(CHAT, {"role": "system", "content": "s1"}, user("a"), {"role": "system", "content": "s2"})
    assert messages(told, CHAT, system=[BEGINNING]) == [
        {"role": "system", "content": "Last time: ...\n\ns1"}, user("a\n\n[system message]\ns2"),
    ]  # fmt: skip
    body = compose(told, ANTHROPIC, system=[BEGINNING], breakpoints=False).body
    assert body["system"] == [said("Last time: ..."), said("s1")]
    assert messages(told, RESPONSES)[2] == {"role": "system", "content": "s2"}


def test_a_developer_message_stays_one_when_ours_is_joined_to_it():
    """A system message that is merged keeps the role that the caller chose, whichever stands first."""
    told = window(CHAT, {"role": "developer", "content": "s1"}, {"role": "system", "content": "s2"}, user("a"))
    assert messages(told, CHAT)[0] == {"role": "developer", "content": "s1\n\ns2"}
    assert messages(told, CHAT, system=[BEGINNING])[0]["role"] == "developer"


@pytest.mark.parametrize("name", ALL)
def test_nothing_empty_is_sent(name):
    """Empty texts leave no message, and empty results say that there was no output."""
    told = [user("a"), user(" \n"), chat_call("c", words=""), chat_result("c", ""), agent("")]
    for whole in (True, False):
        made = messages(window(CHAT, *told, whole=whole and name == CHAT), name)
        assert len(made) == 3
        assert "[no output]" in json.dumps(made[-1])


@pytest.mark.parametrize("name", ALL)
def test_a_window_that_says_nothing_is_refused(name):
    """No message that says something, or system texts only, is an error that tells what to do."""
    for entries in ([], window(name, user(" ")), [Entry(None, (Piece(Kind.SYSTEM, "s"),))] * (name != RESPONSES)):
        with pytest.raises(FormatError, match="append the user's message first"):
            compose(entries, name, system=[BEGINNING])


@pytest.mark.parametrize("name", ALL)
def test_a_speaker_is_named_in_other_formats(name):
    """The name of who spoke stands before the words where a message is built anew."""
    told = window(CHAT, {"role": "user", "name": "ann", "content": "a"}, whole=False)
    assert "ann: a" in json.dumps(messages(told, name))


# calls and results -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_a_call_without_a_result_is_answered(name):
    """A call whose result is not in the window gets one that says that none was recorded."""
    made = messages(window(CHAT, user("a"), chat_call("c"), user("b"), whole=name == CHAT), name)
    assert NO_RESULT in json.dumps(made[2])
    assert notes(window(CHAT, user("a"), chat_call("c"), whole=False), name) == (
        f"calls without a recorded result are told so: 1, first fh:{ID}0",
    )


@pytest.mark.parametrize("name", ALL)
def test_a_result_without_its_call_is_text(name):
    """A result whose call is gone is shown with a label that names tool and pointer; its pictures stay pictures."""
    told = window(ANTHROPIC, user("a"), agent([use("c")]), user([used("c", [said("found"), picture_of(PNG64)])]))
    made = messages([told[0], entry(ANTHROPIC, user([used("c", "found")]), whole=name == ANTHROPIC)], name)
    assert f"[result of a tool, whose call is not shown; fh:{ID}0]\\nfound" in json.dumps(made)
    assert PNG64 in json.dumps(messages([told[0], told[2]], ANTHROPIC))
    assert notes([told[0], told[2]], name) == (
        f"results whose call is not in the window are shown as text: 1, first fh:{ID}0",
    )


def picture_of(data):
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


@pytest.mark.parametrize("name", ALL)
def test_results_stand_behind_their_calls_in_order(name):
    """Results that came in another order, late, or behind other messages, are put where the provider wants them."""
    told = [
        user("a"),
        chat_call("c1", "c2"),
        user("meanwhile"),
        chat_result("c2", "two"),
        agent("x"),
        chat_result("c1", "one"),
    ]
    made = json.dumps(messages(window(CHAT, *told, whole=name == CHAT), name))
    places = [made.index(f'"{words}"') for words in ("one", "two")] + [made.index("meanwhile")]
    assert places == sorted(places)


@pytest.mark.parametrize("name", ALL)
def test_calls_with_one_id_are_told_apart(name):
    """A server that counts its calls anew each turn: each call keeps its own result, under an id of its own."""
    told = [user("a"), chat_call("c"), chat_result("c", "one"), user("b"), chat_call("c"), chat_result("c", "two")]
    made = messages(window(CHAT, *told, whole=name == CHAT), name)
    again = messages(window(CHAT, *told, user("d"), whole=name == CHAT), name)
    assert again[: len(made) - (name == ANTHROPIC)] == made[: len(made) - (name == ANTHROPIC)]
    ids = list(_strings(made, ("id", "tool_call_id", "call_id", "tool_use_id")))
    assert ids == [ids[0], ids[0], ids[2], ids[2]]
    assert ids[0] == "c" != ids[2]


def _strings(value, keys):
    if isinstance(value, dict):
        for key, held in value.items():
            if key in keys:
                yield held
            else:
                yield from _strings(held, keys)
    elif isinstance(value, list):
        for held in value:
            yield from _strings(held, keys)


def test_parallel_calls_with_one_id_get_their_results_in_order():
    """Two calls with one id in one message are answered first come, first served."""
    told = window(CHAT, user("a"), chat_call("c", "c"), chat_result("c", "one"), chat_result("c", "two"))
    assert [message["content"] for message in messages(told, CHAT)[2:]] == ["one", "two"]


def test_a_result_goes_to_the_newest_call_of_its_id():
    """When an older call with the same id was never answered, the result is not given to it."""
    told = window(CHAT, user("a"), chat_call("c"), user("b"), chat_call("c"), chat_result("c", "two"))
    assert [message.get("content") for message in messages(told, CHAT)] == ["a", None, NO_RESULT, "b", None, "two"]


@pytest.mark.parametrize("name", ALL)
def test_ten_thousand_parallel_calls_are_answered_one_by_one(name):
    """Very many calls in one message, a third of them with the same id and a third never answered, stay valid."""
    ids = [f"c{number}" if number % 3 else "same" for number in range(10_000)]
    answered = [chat_result(each) for number, each in enumerate(ids) if number % 3 != 1]
    made = messages(window(CHAT, user("a"), chat_call(*ids), *answered, whole=name == CHAT), name)
    assert json.dumps(made).count(NO_RESULT) == 3_333
    assert len(set(_strings(made, ("id", "tool_call_id", "call_id", "tool_use_id")))) == 10_000


@pytest.mark.parametrize("arguments", ["{broken", "[1]", "", '{"n": NaN}', '{"n": 1e999}', "null"])
@pytest.mark.parametrize("name", ALL)
def test_arguments_that_are_no_object_become_one(name, arguments):
    """What a model wrote for arguments, or what is left of them, is sent as a member of an object."""
    call = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": arguments}}
    told = window(CHAT, user("a"), {"role": "assistant", "content": None, "tool_calls": [call]}, whole=name == CHAT)
    made = messages(told, name)[1]
    sent = {
        CHAT: lambda: json.loads(made["tool_calls"][0]["function"]["arguments"]),
        ANTHROPIC: lambda: made["content"][0]["input"],
        RESPONSES: lambda: json.loads(made["arguments"]),
    }[name]()
    assert sent == ({"arguments": arguments} if arguments else {})


def test_the_older_function_call_is_sent_as_a_tool_call():
    """A message with ``function_call`` and its answer become a call and a result, which all servers take."""
    told = [user("a"), {"role": "assistant", "content": "so", "function_call": {"name": "f", "arguments": "{}"}},
            {"role": "function", "name": "f", "content": "ok"}]  # fmt: skip
    assert messages(window(CHAT, *told), CHAT) == [user("a"), chat_call("f", words="so", name="f"), chat_result("f")]


def test_an_empty_list_of_calls_is_not_sent():
    """An agent's message with ``tool_calls: []``, which OpenAI refuses, goes out without it."""
    assert messages(window(CHAT, user("a"), agent("x") | {"tool_calls": []}), CHAT) == [user("a"), agent("x")]


@pytest.mark.parametrize("name", ALL)
def test_a_result_in_blocks_is_shown_as_its_texts(name):
    """A result of several texts is not shown as the JSON that the log keeps; any other JSON is."""
    told = [
        user("a"),
        agent([use("c1"), use("c2")]),
        user([used("c1", [said("one"), said("two")]), used("c2", '["x"]')]),
    ]
    made = json.dumps(messages(window(ANTHROPIC, *told, whole=False), name))
    assert '"one\\ntwo"' in made
    assert json.dumps('["x"]') in made


def test_a_failed_result_says_so_in_every_format():
    """Anthropic has a field for a failure; the others get it in the text."""
    told = window(ANTHROPIC, user("a"), agent([use("c")]), user([used("c", "boom") | {"is_error": True}]), whole=False)
    assert messages(told, ANTHROPIC)[2] == user([used("c", "boom") | {"is_error": True}])
    assert messages(told, CHAT)[2] == chat_result("c", "[error]\nboom")
    assert messages(told, RESPONSES)[2]["output"] == "[error]\nboom"


def test_calls_of_other_types_keep_their_outputs_or_become_plain():
    """A computer call goes out with its own output; without it both become a plain function's."""
    call = {"type": "computer_call", "call_id": "c", "action": {"type": "screenshot"}}
    made = messages(window(RESPONSES, user("a"), call), RESPONSES)
    assert made[1:] == [
        {"type": "function_call", "call_id": "c", "name": "computer", "arguments": '{"type":"screenshot"}'},
        {"type": "function_call_output", "call_id": "c", "output": NO_RESULT},
    ]
    other = {"type": "function_call_output", "call_id": "c", "output": "text"}
    assert [item["type"] for item in messages(window(RESPONSES, user("a"), call, other), RESPONSES)[1:]] == [
        "function_call", "function_call_output",
    ]  # fmt: skip


# thoughts ----------------------------------------------------------------------------------------


def test_signed_thoughts_stay_in_front_of_their_calls():
    """Lines that a host split from one message are one again, with the thought first and unchanged."""
    told = [user("a"), agent([thought("hm")]), agent([said("so")]), agent([use("c1")]), agent([use("c2")]),
            user([used("c1")]), user([used("c2")])]  # fmt: skip
    assert messages(window(ANTHROPIC, *told), ANTHROPIC) == [
        user("a"), agent([thought("hm"), said("so"), use("c1"), use("c2")]), user([used("c1"), used("c2")]),
    ]  # fmt: skip
    assert notes(window(ANTHROPIC, *told), ANTHROPIC) == ()


@pytest.mark.parametrize(
    ("told", "left", "said_so"),
    [
        ([agent([thought("hm", ""), said("x")])], [said("x")], "without a signature"),
        ([agent([said("x"), thought("hm")])], [said("x")], "what they led to does not follow"),
        (
            [agent([said("x")]), agent([thought("hm"), said("y")])],
            [said("x"), said("y")],
            "another message of the agent",
        ),
        ([agent([thought("a\0"), said("x")])], [said("x")], "could not be sent as it came"),
    ],
)
def test_a_thought_that_cannot_be_valid_is_left_out_and_noted(told, left, said_so):
    """Unsigned, trailing, altered thoughts, and those behind another message's words, are dropped; a note says why."""
    made = compose(window(ANTHROPIC, user("a"), *told), ANTHROPIC, breakpoints=False)
    assert made.body["messages"] == [user("a"), agent(left)]
    assert faults(made.body, ANTHROPIC) == ()
    assert len(made.notes) == 1
    assert said_so in made.notes[0]
    assert "history: reasoning" not in {share.name for share in made.shares}


def test_a_new_thought_behind_calls_begins_a_new_message():
    """When the agent thinks anew, the calls before get their results first, so that the thought stays valid."""
    told = [user("a"), agent([use("c1")]), agent([thought("hm"), use("c2")]), user([used("c1"), used("c2")])]
    assert messages(window(ANTHROPIC, *told), ANTHROPIC) == [
        user("a"), agent([use("c1")]), user([used("c1")]), agent([thought("hm"), use("c2")]), user([used("c2")]),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ALL)
def test_thoughts_of_another_provider_are_left_out(name):
    """No provider takes the thoughts of another one: they are not sent, not counted, and noted."""
    told = window(ANTHROPIC, user("a"), agent([thought("secret"), said("x")]), whole=False)
    made = compose(told, name, breakpoints=False)
    assert "secret" not in json.dumps(made.body)
    assert sum(share.tokens for share in made.shares) == 10
    assert made.notes == (
        f"thoughts are left out, since a provider takes back only its own as they came: 1, first fh:{ID}0",
    )


def test_a_reasoning_item_goes_with_the_item_that_it_led_to():
    """When that item left the window, or was built anew, the reasoning item is left out."""
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": []}
    call = {"type": "function_call", "call_id": "c", "name": "bash", "arguments": "{}"}
    assert reasoning in messages(window(RESPONSES, user("a"), reasoning, call), RESPONSES)
    assert reasoning not in messages(window(RESPONSES, user("a"), reasoning, user("b")), RESPONSES)
    shortened = [*window(RESPONSES, user("a"), reasoning), entry(RESPONSES, call, whole=False)]
    assert reasoning not in messages(shortened, RESPONSES)


def test_the_agents_last_words_do_not_end_with_space():
    """A last message of the agent loses the space at its end, which the provider refuses; earlier ones keep it."""
    told = window(ANTHROPIC, user("a"), agent("x "), user("b"), agent([said("y \n")]))
    assert messages(told, ANTHROPIC) == [user("a"), agent("x "), user("b"), agent([said("y")])]


# the tail, and caches ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_the_tail_stands_in_front_of_the_newest_user_message(name):
    """When the user spoke last, what changes from call to call stands right before the words."""
    made = json.dumps(
        messages([*window(name, agent("x")), marker(), *window(name, user("now"))], name, tail=[TASK_STATE, CUE])
    )
    places = [made.index(words) for words in ("evicted", "Goal: ship", "Perhaps: deploy", "now")]
    assert places == sorted(places)


def test_the_tail_stands_behind_the_newest_results():
    """In the middle of the agent's work the tail follows the results, where each provider takes it."""
    told = [user("a"), chat_call("c"), chat_result("c")]
    assert messages(window(CHAT, *told), CHAT, tail=[TASK_STATE])[-1] == chat_result("c", "ok\n\nGoal: ship")
    listed = window(CHAT, *told[:2], chat_result("c", [said("ok")]))
    assert messages(listed, CHAT, tail=[TASK_STATE])[-1] == chat_result("c", [said("ok"), said("Goal: ship")])
    pieces = window(CHAT, *told, whole=False)
    assert messages(pieces, ANTHROPIC, tail=[TASK_STATE])[-1] == user([used("c"), said("Goal: ship")])
    assert messages(pieces, RESPONSES, tail=[TASK_STATE])[-1] == user("Goal: ship")


@pytest.mark.parametrize("name", ALL)
def test_the_tail_never_stands_behind_the_agents_last_words(name):
    """A list that ends with the agent's words still does, so that they can be continued."""
    made = messages(window(name, user("a"), agent("x")), name, tail=[TASK_STATE])
    assert made[-1] == agent("x")
    assert "Goal: ship" in json.dumps(made[:-1])


@pytest.mark.parametrize("name", ALL)
def test_successive_prompts_share_their_beginning(name):
    """Whatever the tail says, all messages before the newest turn are the same JSON in the next prompt."""
    told = window(name, user("a"), agent("x"), user("b"))
    later = [*told, *window(name, agent("y"), user("c"))]
    first = compose(told, name, system=[BEGINNING], tail=[note("Goal: one", TASK)], breakpoints=False).body
    second = compose(later, name, system=[BEGINNING], tail=[note("Goal: two", TASK)], breakpoints=False).body
    common = canonical.dump(first).split(b"Goal: one")[0]
    stable = common[: common.rindex(b'{"role":"user"')]
    assert canonical.dump(second).startswith(stable)
    assert b'"x"' in stable


def test_breakpoints_stand_behind_tools_system_and_all_that_stays():
    """The cache may end behind the last tool, the last system text and the last block before the tail."""
    told = window(ANTHROPIC, user("a"), agent([use("c")]), user([used("c")]))
    made = compose(told, ANTHROPIC, system=[BEGINNING], tail=[TASK_STATE], tools=[{"name": "a"}, {"name": "b"}])
    assert made.body == {
        "tools": [{"name": "a"}, {"name": "b", "cache_control": EPHEMERAL}],
        "system": [said("Last time: ...") | {"cache_control": EPHEMERAL}],
        "messages": [
            user("a"), agent([use("c")]), user([used("c") | {"cache_control": EPHEMERAL}, said("Goal: ship")]),
        ],
    }  # fmt: skip
    assert sum(share.bytes for share in made.shares) == len(canonical.dump(made.body))


def test_a_breakpoint_never_stands_on_a_thought():
    """When the last block cannot carry a breakpoint, the one before it does."""
    told = window(ANTHROPIC, user("a"), agent([said("x"), {"type": "compaction", "content": "c"}]))
    made = compose(told, ANTHROPIC).body["messages"]
    assert made[1]["content"] == [said("x") | {"cache_control": EPHEMERAL}, {"type": "compaction", "content": "c"}]


def test_at_most_four_breakpoints_are_sent():
    """The caller's stale breakpoints give way, the oldest first, to ours behind all that stays and to newer ones."""
    mine = [user([said(f"u{number}") | {"cache_control": EPHEMERAL}]) for number in range(6)]
    told = [each for number, message in enumerate(mine) for each in (message, agent(f"x{number}"))][:-1]
    tools = [{"name": "a", "cache_control": EPHEMERAL}]
    made = compose(window(ANTHROPIC, *told), ANTHROPIC, system=[BEGINNING], tail=[TASK_STATE], tools=tools)
    assert faults(made.body, ANTHROPIC) == ()
    marked = [number for number, message in enumerate(made.body["messages"]) if "cache_control" in json.dumps(message)]
    assert (made.body["tools"], marked) == (tools, [8, 9, 10])
    assert made.notes == (f"cache breakpoints over the four that are allowed are left out: 4, first fh:{ID}0",)
    assert told[0] == user([said("u0") | {"cache_control": EPHEMERAL}])


def test_breakpoints_in_tools_and_in_results_count():
    """The caller's breakpoints on tools are kept, the last ones of too many; those inside a result count as well."""
    told = window(ANTHROPIC, user("a"))
    tools = [{"name": "a", "cache_control": EPHEMERAL}, {"name": "b"}]
    assert compose(told, ANTHROPIC, tools=tools).body["tools"] == tools
    many = [{"name": f"t{number}", "cache_control": EPHEMERAL} for number in range(6)]
    made = compose(told, ANTHROPIC, system=[BEGINNING], tools=many).body
    assert [("cache_control" in tool) for tool in made["tools"]] == [False] * 3 + [True] * 3
    assert faults(made, ANTHROPIC) == ()
    inside = user([used("c", [said(words) | {"cache_control": EPHEMERAL} for words in "xyzvw"])])
    cached = compose(window(ANTHROPIC, user("a"), agent([use("c")]), inside, agent("b")), ANTHROPIC).body
    assert faults(cached, ANTHROPIC) == ()
    assert "cache_control" not in json.dumps(cached["messages"][2])


# files -------------------------------------------------------------------------------------------


def attached(content, media, **meta):
    pieces = (Piece(Kind.USER_MESSAGE, "see", id=f"{ID}0"), Piece(Kind.ATTACHMENT, "", media, meta, content, f"{ID}1"))
    return [Entry(None, pieces)]


CASES = [
    ((PNG, "image/png"), {
        CHAT: {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG64}"}},
        ANTHROPIC: picture_of(PNG64),
        RESPONSES: {"type": "input_image", "image_url": f"data:image/png;base64,{PNG64}", "detail": "auto"},
    }),
    ((b"%PDF-1.7", "application/pdf"), {
        CHAT: {"type": "file", "file": {"filename": "document.pdf", "file_data": PDF_URI}},
        ANTHROPIC: {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PDF64}},
        RESPONSES: {"type": "input_file", "filename": "document.pdf", "file_data": PDF_URI},
    }),
    ((b"RIFF", "audio/wav"), {
        CHAT: {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
        ANTHROPIC: f"[file audio/wav, 4 bytes; fh:{ID}1]",
        RESPONSES: f"[file audio/wav, 4 bytes; fh:{ID}1]",
    }),
    ((b"a\x00b", "text/markdown"), {
        CHAT: f"[file text/markdown, 3 bytes; fh:{ID}1]",
        ANTHROPIC: {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a\u2400b"}},
        RESPONSES: f"[file text/markdown, 3 bytes; fh:{ID}1]",
    }),
    ((None, "image/png"), dict.fromkeys(ALL, f"[file image/png; fh:{ID}1]")),
]  # fmt: skip


@pytest.mark.parametrize(("file", "shapes"), CASES, ids=[case[0][1] for case in CASES])
@pytest.mark.parametrize("name", ALL)
def test_a_file_has_the_shape_of_its_provider_or_is_named(file, shapes, name):
    """A file goes out in the block that the provider has for it; else a line names media, size and pointer."""
    made = messages(attached(*file), name)[0]["content"]
    shape = shapes[name]
    if not isinstance(shape, str):
        assert made[-1] == shape
    elif name == RESPONSES:
        assert made == [{"type": "input_text", "text": "see"}, {"type": "input_text", "text": shape}]
    else:
        assert made == (f"see\n\n{shape}" if name == CHAT else [said("see"), said(shape)])


@pytest.mark.parametrize("name", ALL)
def test_an_address_of_a_file_is_sent_as_one_or_named(name):
    """A picture's address is the provider's block of it; another file's address is, where there is no block, a line."""
    address = b"https://a.b/c"
    picture = messages(attached(address, "text/uri-list", url="https://a.b/c", block="image"), name)
    assert json.dumps(picture).count("https://a.b/c") == 1
    assert "[file" not in json.dumps(picture)
    document = json.dumps(messages(attached(address, "text/uri-list", url="https://a.b/c", block="document"), name))
    assert ("[file https://a.b/c, text/uri-list; fh:" in document) == (name == CHAT)


def test_a_picture_in_a_result_stands_with_it():
    """A picture stands in its result; in OpenAI chat, which has no place for it there, the user brings it behind."""
    told = window(
        ANTHROPIC, user("a"), agent([use("c")]), user([used("c", [said("seen"), picture_of(PNG64)])]), whole=False
    )
    assert messages(told, ANTHROPIC)[2] == user([used("c", [said("seen"), picture_of(PNG64)])])
    url = f"data:image/png;base64,{PNG64}"
    assert messages(told, RESPONSES)[2]["output"] == [
        {"type": "input_text", "text": "seen"}, {"type": "input_image", "image_url": url, "detail": "auto"},
    ]  # fmt: skip
    assert messages(told, CHAT)[2:] == [
        chat_result("c", f"seen\n[file image/png, 8 bytes; fh:{ID}1] follows"),
        user([{"type": "image_url", "image_url": {"url": url}}]),
    ]


def test_files_that_follow_a_result_but_are_not_of_it_stand_apart():
    """A result has as many files as it says; the next one is the user's."""
    files = [Piece(Kind.ATTACHMENT, "", "image/png", {}, PNG, f"{ID}{number}") for number in (1, 2)]
    meta = {"call_id": "c", "tool": "bash", "attachments": 1}
    told = [
        *window(ANTHROPIC, user("a"), agent([use("c")])),
        Entry(None, (Piece(Kind.TOOL_RESULT, "seen", meta=meta), *files)),
    ]
    assert messages(told, ANTHROPIC)[2] == user([used("c", [said("seen"), picture_of(PNG64)]), picture_of(PNG64)])


@pytest.mark.parametrize("name", ALL)
def test_a_file_of_the_agent_is_named(name):
    """No provider takes a picture from the agent's side: a line in the agent's words names it."""
    pieces = (Piece(Kind.AGENT_MESSAGE, "drawn"), Piece(Kind.ATTACHMENT, "", "image/png", {}, PNG, f"{ID}1"))
    made = messages([*window(name, user("a")), Entry(None, pieces)], name)
    assert made[-1]["role"] == "assistant"
    assert f"[file image/png, 8 bytes; fh:{ID}1]" in json.dumps(made[-1])


# what cannot be sent -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_surrogates_and_nul_are_replaced(name):
    """Lone surrogates become U+FFFD, pairs their character, NUL U+2400: in texts, calls, ids and tools."""
    odd = {"role": "user", "content": "a\ud800b\0c\ud83d\ude00"}
    for whole in (True, False):
        made = compose([entry(name, odd, whole=whole)], name, tools=[{"name": "x\0"}], breakpoints=False)
        assert faults(made.body, name) == ()
        assert "a\ufffdb\u2400c\U0001f600" in json.dumps(made.body, ensure_ascii=False)
        assert made.body["tools"] == [{"name": "x\u2400"}]


def test_what_the_provider_would_refuse_in_its_own_messages_is_mended():
    """Unknown fields and blocks, empty texts, input that is no object, server calls without results: built anew."""
    reply = agent([said("x"), said(" "), use("c") | {"input": None, "name": "a b"}]) | {"id": "msg_1", "model": "m"}
    told = [user("a"), reply, user([used("c", [said(" "), said("ok")])])]
    assert messages(window(ANTHROPIC, *told), ANTHROPIC) == [
        user("a"), agent([said("x"), use("c", "a_b") | {"input": {"arguments": None}}]),
        user([used("c", [said("ok")])]),
    ]  # fmt: skip
    assert messages(window(ANTHROPIC, user("a"), agent("x") | {"id": "msg_1"}), ANTHROPIC)[1] == agent([said("x")])
    searched = agent([{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": 1}}])
    assert messages(window(ANTHROPIC, user("a"), searched), ANTHROPIC)[1:] == [
        agent([use("s", "web_search") | {"input": {"q": 1}}]), user([used("s", NO_RESULT)]),
    ]  # fmt: skip


def test_what_openai_would_refuse_in_its_own_items_is_mended():
    """Empty parts leave a message, which keeps its role, and an empty output says that it is."""
    blank, words = {"type": "input_text", "text": " "}, {"type": "input_text", "text": "s"}
    call = {"type": "function_call", "call_id": "c", "name": "bash", "arguments": "{}"}
    for output, sent in ((" ", "[no output]"), ([blank], "[no output]"), ([blank, words], [words])):
        result = {"type": "function_call_output", "call_id": "c", "output": output}
        told = window(RESPONSES, {"type": "message", "role": "developer", "content": [blank, words]}, call, result)
        made = messages([*told, *window(RESPONSES, user("a"))], RESPONSES)
        assert made == [{"role": "developer", "content": [words]}, call, result | {"output": sent}, user("a")]


def test_an_escaped_nul_in_arguments_is_replaced_where_they_are_an_object():
    """Arguments that were JSON text become an object for Anthropic, with texts that can be sent."""
    call = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": '{"q":"\\u0000\\ud800"}'}}
    told = window(CHAT, user("a"), {"role": "assistant", "content": None, "tool_calls": [call]}, whole=False)
    assert messages(told, ANTHROPIC)[1]["content"][0]["input"] == {"q": "\u2400\ufffd"}


def test_names_that_providers_refuse_are_made_fit():
    """A tool's name with other signs than letters, digits, _ and -, or a long one, is mended in call and result."""
    told = window(CHAT, user("a"), chat_call("c", name="read file " + "x" * 90), chat_result("c"))
    assert messages(told, CHAT)[1]["tool_calls"][0]["function"]["name"] == "read_file_" + "x" * 54
    call = {"type": "function_call", "call_id": "c", "name": "read file", "arguments": "{}"}
    assert messages(window(RESPONSES, user("a"), call), RESPONSES)[1]["name"] == "read_file"


def test_texts_that_are_no_dialogue_are_labelled():
    """A host's summary and what was not understood are shown as the user's text, with what they are."""
    told = [
        Entry(None, (Piece(Kind.SUMMARY, "all", id=f"{ID}0"),)),
        Entry(None, (Piece(Kind.OTHER, "{}", meta={"block": "odd"}),)),
    ]
    assert messages(told, CHAT) == [user(f"[summary by the host; fh:{ID}0]\nall\n\n[odd]\n{{}}")]


def test_a_bad_argument_is_refused():
    """An unknown format, a value that is no JSON, and a piece of no part are errors that say what was expected."""
    with pytest.raises(FormatError, match="a format is one of"):
        compose([marker()], "x")
    with pytest.raises(FormatError, match="made of JSON values only"):
        compose([Entry({"role": "user", "content": {1, 2}}, (Piece(Kind.USER_MESSAGE, "a"),))], CHAT)
    for name in ("", "nonsense"):
        with pytest.raises(InvalidArgument, match="one of system, persona"):
            compose([Entry(None, (note("a", name),))], CHAT)


# shares ------------------------------------------------------------------------------------------


def test_every_contributor_has_its_share():
    """Bytes and tokens by part: a message's wrapper is its first contributor's, what stands between is framing."""
    told = [
        Entry(None, (Piece(Kind.SYSTEM, "sys", tokens=2, name="history: system"),)),
        Entry(None, (Piece(Kind.PERSONA, "per", tokens=3),)),
        entry(CHAT, user("old")), entry(CHAT, chat_call("c", words="so")), entry(CHAT, chat_result("c")),
        entry(CHAT, agent("x")), marker(), entry(CHAT, user("new")),
    ]  # fmt: skip
    made = compose(told, CHAT, tail=[TASK_STATE], tools=[{"name": "a"}], tools_tokens=7)
    calling = {**chat_call(words="so"), "tool_calls": []}
    assert made.shares == (
        Share(SYSTEM, len(canonical.dump({"role": "system", "content": "sys"})), 2),
        Share(PERSONA, len("per"), 3),
        Share("tool schemas", 12, 7),
        Share("history: user message", len(canonical.dump(user("old"))), 5),
        Share("history: agent message", len(canonical.dump(agent("x"))) + len(canonical.dump(calling)), 10, 2),
        Share("history: tool call", len(canonical.dump(chat_call("c")["tool_calls"][0])), 5),
        Share("history: tool result", len(canonical.dump(chat_result("c"))), 5),
        Share(MARKERS, len(canonical.dump(user("[Turns 1-3 evicted]"))), 3),
        Share(TASK, len("Goal: ship"), 3),
        Share("user message", len("new"), 5),
        Share(FRAMING, len('{"tools":[],"messages":[]}') + 5 + 3 * len(r"\n\n"), 0),
    )  # fmt: skip
    assert made.size_bytes == len(canonical.dump(made.body))


def test_a_picture_in_a_message_is_its_own_share():
    """The bytes of a file belong to the attachment, in a user's message and in a result."""
    pictured = user([used("c", [said("seen"), picture_of(PNG64)])])
    told = window(ANTHROPIC, user([said("a"), picture_of(PNG64)]), agent([use("c")]), pictured)
    shares = {share.name: share for share in compose(told, ANTHROPIC, breakpoints=False).shares}
    size = len(canonical.dump(picture_of(PNG64)))
    assert shares["history: attachment"].bytes == size
    assert shares["history: tool result"].bytes == len(canonical.dump(pictured)) - size
    assert shares["user message"].bytes == len(canonical.dump(told[0].message))


def test_a_result_behind_words_has_its_own_share_without_its_picture():
    """In a message of words, a result and its picture each of the three has what it takes."""
    result = used("c", [said("seen"), picture_of(PNG64)])
    told = window(ANTHROPIC, user("a"), agent([use("c")]), user([said("and"), result]))
    made = compose(told, ANTHROPIC, breakpoints=False)
    shares = {share.name: share.bytes for share in made.shares}
    whole, size = len(canonical.dump(user([result, said("and")]))), len(canonical.dump(picture_of(PNG64)))
    assert shares["history: tool result"] == len(canonical.dump(result)) - size
    assert shares["user message"] == whole - len(canonical.dump(result))
