"""What a model decides in a window: proven, a proposal of its turn, and in force everywhere after it."""

from __future__ import annotations

import json
import time

import pytest

from firsthand import Kind, PullLimits, fence, moment
from firsthand.agents.agent_digest import digest_of
from firsthand.agents.agent_tools import AgentTools
from firsthand.context.tools import TOOLS
from firsthand.formats import check
from firsthand.formats.tool_definitions import DECIDE
from firsthand.ledger.decision_log import ledger_of
from firsthand.ledger.decisions import Decision, State
from firsthand.ledger.effect import Effect
from firsthand.ledger.statements import retract

OLD = "Install with flamingonpm from quokka/mirror.toml."
MIRROR = "quokka/mirror.toml"
PNPM = "From now on it is pnpm, flamingonpm was a mistake."
FACT = {"action": "assert", "subject": "package manager", "text": "pnpm", "quote": "From now on it is pnpm"}
REPLACED = {"action": "supersede", "quote_old": "Install with flamingonpm", "quote": "From now on it is pnpm"}


def user(text, format_="openai-chat"):
    if format_ == "openai-responses":
        return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    return {"role": "user", "content": text}


def called(number, arguments, format_="openai-chat", name=DECIDE):
    """Give a model's reply that calls a tool."""
    identifier, written = f"call_{number}", json.dumps(arguments)
    match format_:
        case "anthropic":
            block = {"type": "tool_use", "id": identifier, "name": name, "input": arguments}
            return {"role": "assistant", "content": [block]}
        case "openai-responses":
            return {"type": "function_call", "call_id": identifier, "name": name, "arguments": written}
        case _:
            call = {"id": identifier, "type": "function", "function": {"name": name, "arguments": written}}
            return {"role": "assistant", "content": None, "tool_calls": [call]}


def answered(window, messages, arguments, format_="openai-chat", name=DECIDE):
    """Let a model call a tool, and give the words of the answer, which joins the list."""
    window.request(messages)
    reply = called(len(messages), arguments, format_, name)
    results = window.answer(reply)
    assert len(results) == 1
    messages += [reply, *results]
    return json.dumps(results, ensure_ascii=False).replace("\\n", "\n")


def replays(memory, session="s"):
    """Say of each call whether its prompt comes out of the log again."""
    return [memory.replay(anatomy.pointer).same for anatomy in memory.anatomies(session)]


def hints(window):
    return [hint.term for marker in window.state.markers for hint in marker.hints]


def busy(number):
    """Give a turn with much to evict and nothing to remember."""
    return [user("Go on then."), {"role": "assistant", "content": f"all is well {number} " * 60}]


@pytest.mark.parametrize("format_", ["openai-chat", "openai-responses", "anthropic"])
def test_a_decision_waits_for_the_turn_and_is_then_in_force(memory, format_):
    """A fact that a model asserts counts with the user's next message and not before; each prompt is valid."""
    session = memory.session("s", agent="bob")
    memory.agent("bob").enrol("s")
    window = session.window(20_000, format=format_)
    messages = [user(PNPM, format_)]
    said = answered(window, messages, FACT, format_)
    assert "takes effect when this turn is over" in said
    window.request(messages)
    assert [*memory.facts()] == []
    assert "known already: open" in answered(window, messages, FACT, format_)
    messages.append(user("Thanks. Now the tests.", format_))
    request = window.request(messages)
    assert check.faults(request.body, format_) == ()
    assert [(fact.text, fact.by, fact.volunteered) for fact in memory.facts()] == [("pnpm", "agent:bob", True)]
    assert f'"{PNPM}"' in digest_of(memory.agent("bob")).text
    assert replays(memory) == [True] * 4


def test_what_is_superseded_leaves_recall_and_markers_with_the_next_message(memory):
    """Markers and recall lose the old words once the turn is over, and each prompt comes out of the log again."""
    window = memory.session("s").window(2_600)
    messages = [user("Hello."), {"role": "assistant", "content": "Hello."}]
    messages += [user(OLD + "\n" + "that is how we do it here " * 60), {"role": "assistant", "content": "Done."}]
    messages += [message for number in range(12) for message in busy(number)]
    window.request([*messages, user("And now?")])
    messages.append(user("And now?"))
    assert MIRROR in hints(window)
    messages += [{"role": "assistant", "content": "Well."}, user(PNPM)]
    assert "takes effect when this turn is over" in answered(window, messages, REPLACED)
    during = window.request(messages)
    assert MIRROR in hints(window)
    assert memory.recall(MIRROR).hits[0].preview.startswith("Install with")
    messages.append({"role": "assistant", "content": "It is pnpm."})
    messages.append(user("Go on."))
    after = window.request(messages)
    assert MIRROR in json.dumps(during.body)
    assert MIRROR not in hints(window)
    assert MIRROR not in json.dumps(after.body)
    answer = memory.recall(MIRROR)
    assert not any(MIRROR in hit.preview for hit in answer.hits)
    ledger_of(memory).undo(next(iter(ledger_of(memory).decisions())).id)
    assert MIRROR in hints(window)
    window.request(messages)
    assert replays(memory) == [True] * 5


def test_a_turn_that_is_over_while_a_prompt_is_made_does_not_change_its_replay(memory):
    """A prompt is replayed with the decisions that counted when it was composed, not when it was recorded."""
    window = memory.session("s").window(20_000)
    window.request([user("Hello.")], contributions={"cues": f"seen before: {MIRROR}"})
    cue = next(event for event in memory.session("s").events() if event.meta.get("part") == "cues")
    soon = moment.Moment(moment.now().microseconds - 3_600_000_000 + 1_000_000, 0)  # over in a second
    out = Decision("0" * 26, "retract", f"event:{cue.id}", cue.pointer, session="s", state=State.OPEN, time=soon)
    ledger_of(memory).keep([out])
    time.sleep(1.1)
    before, after = window.request(), window.request()
    assert MIRROR in json.dumps(before.body)
    assert MIRROR not in json.dumps(after.body)
    assert replays(memory) == [True] * 3


@pytest.mark.parametrize(("arguments", "words"), [
    (FACT | {"quote": "From now on it is yarn, flamingonpm was a mistake"}, f"copy from: '{PNPM}'"),
    (REPLACED | {"quote_old": "install with flamingonpm"}, f"quote_old: not word for word; copy from: '{OLD}'"),
    ({"action": "retract", "quote": "From now on it is pnpm"}, "names the event that is taken back"),
    (FACT | {"action": "forget"}, "action is one of assert, supersede, retract; got 'forget'"),
    ({"action": "assert"}, "quote is missing or empty"),
    (FACT | {"colour": "red"}, "no argument 'colour'"),
])  # fmt: skip
def test_what_is_not_proven_is_refused_in_a_sentence(memory, arguments, words):
    """A forged quote or a faulty call is told to the model with what to copy, keeps nothing, and ends no loop."""
    window = memory.session("s").window(20_000)
    messages = [user(OLD), {"role": "assistant", "content": "Done."}, user(PNPM)]
    said = answered(window, messages, arguments)
    assert "decide was not done: " in said
    assert words in said
    assert ledger_of(memory).decisions() == ()
    messages.append(user("Go on."))
    window.request(messages)
    assert [*memory.facts()] == []
    assert replays(memory) == [True, True]


def test_a_tools_words_are_never_volunteered(memory):
    """A fact on what a tool said, or on the model's own words, is kept, and no digest or preamble has it."""
    memory.agent("bob").enrol("s")
    window = memory.session("s", agent="bob").window(20_000)
    page = {"role": "tool", "tool_call_id": "call_page", "content": "Ada always deploys to walrusland on Fridays."}
    call = called("page", {"url": "x"}, name="read_page")
    messages = [user("Read the page."), call, page, {"role": "assistant", "content": "So walrusville it shall be."}]
    messages.append(user("Well?"))
    for quote in ("deploys to walrusland", "walrusville it shall be"):
        answered(window, messages, FACT | {"text": f"{quote}, always", "quote": quote})
    messages.append(user("Go on."))
    window.request(messages)
    assert [fact.volunteered for fact in memory.facts()] == [False, False]
    agent = memory.agent("bob")
    assert "walrus" not in digest_of(agent).text
    assert "always" not in digest_of(agent).text


def test_what_a_user_said_is_not_taken_out_by_a_tools_words(memory):
    """A page that a tool read cannot supersede what the user said: the decision waits for the user."""
    window = memory.session("s").window(20_000)
    page = {"role": "tool", "tool_call_id": "call_page", "content": "Everybody uses walruspm now."}
    messages = [user(OLD), called("page", {"url": "x"}, name="read_page"), page]
    said = answered(window, messages, REPLACED | {"quote": "Everybody uses walruspm"})
    assert "waits for the user" in said
    messages.append(user("Go on."))
    window.request(messages)
    assert memory.recall(MIRROR).hits[0].preview.startswith("Install with")


def test_the_call_is_no_users_word_and_its_answer_no_memory(memory):
    """Words of a call or of its answer are not found again, and a fact that quotes them is the agent's own."""
    window = memory.session("s").window(20_000)
    messages = [user(PNPM)]
    answered(window, messages, FACT | {"text": "zebracorn is the manager"})
    answered(window, messages, FACT | {"quote": "zebracorn is the manager", "text": "zebracorn"})
    window.request(messages)
    result = next(event for event in memory.session("s").events() if event.kind is Kind.TOOL_RESULT)
    assert fence.unwrap(result.text, memory.log.reader.fence_key()).only
    assert result.meta["injected"] is True
    messages.append(user("Go on."))
    window.request(messages)
    volunteered = {fact.text: fact.volunteered for fact in memory.facts()}
    assert volunteered == {"zebracorn is the manager": True, "zebracorn": False}
    assert "\nabsent: " in answered(window, messages, {"query": "zebracorn"}, name="recall")


def test_a_hint_of_a_call_that_quotes_what_is_out_is_hidden(memory):
    """A term that stands in what is out is no hint, whichever event has it: the call that decided it quotes it."""
    session = memory.session("s")
    old = session.user(OLD)
    call = session.tool_call(DECIDE, {"quote_old": OLD, "quote": PNPM})
    assert not Effect(memory).hides(call.position, MIRROR)
    retract(memory, old.pointer)
    assert Effect(memory).hides(call.position, MIRROR)
    assert not Effect(memory).hides(call.position, "pnpm")


def test_a_digest_follows_when_the_turn_ends(memory):
    """What a model decided stands in the digest of the agent as soon as the turn is over, and not before."""
    agent = memory.agent("bob")
    agent.enrol("s")
    window = memory.session("s", agent="bob").window(20_000)
    messages = [user(PNPM)]
    answered(window, messages, FACT)
    window.request(messages)
    assert PNPM not in digest_of(agent).text
    messages.append(user("Go on."))
    window.request(messages)
    assert PNPM in digest_of(agent).text


def test_a_window_and_a_protocol_offer_the_same_tool():
    """What a protocol says of the tool is shorter, and every call by it is one by the window's words."""
    ours, theirs = (
        next(tool.parameters for tool in tools if tool.name == DECIDE) for tools in (TOOLS, AgentTools.definitions())
    )
    assert theirs["required"] == ours["required"]
    for name, field in theirs["properties"].items():
        assert {**field, "description": ""} == {**ours["properties"][name], "description": ""}


def test_the_tool_can_be_left_out(memory):
    """With no calls of it, it is not offered and a call is left to the caller; the limit of a turn is said."""
    messages = [user(PNPM)]
    window = memory.session("s").window(20_000, pull=PullLimits(decide=0))
    body = window.request(messages).body
    assert [tool["function"]["name"] for tool in body["tools"]] == ["recall", "expand", "task"]
    assert window.answer(called(1, FACT)) == []
    window = memory.session("s").window(20_000, pull=PullLimits(decide=1))
    answered(window, messages, FACT)
    assert "limit of this turn: 1 calls of decide are used" in answered(window, messages, FACT)
