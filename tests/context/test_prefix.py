"""What successive requests of a window have in common, which is what a provider's cache need not read again."""

from __future__ import annotations

import json

import pytest

from firsthand.formats import ANTHROPIC, OPENAI_CHAT, OPENAI_RESPONSES, canonical
from firsthand.window import Budget

WORDS = " ".join(f"word{number}" for number in range(60))


def step(number, format_):
    """What a loop adds to its list: a call and its result, and a question now and then."""
    asked = [{"role": "user", "content": f"Question {number} about module{number}?"}] if number % 5 == 0 else []
    text, name, call = f"module{number} says {WORDS}", "bash", f"call_{number}"
    if format_ == ANTHROPIC:
        use = {"type": "tool_use", "id": call, "name": name, "input": {"command": f"cat src/m{number}.py"}}
        answer = {"type": "tool_result", "tool_use_id": call, "content": text}
        return [*asked, {"role": "assistant", "content": [use]}, {"role": "user", "content": [answer]}]
    function = {"name": name, "arguments": json.dumps({"command": f"cat src/m{number}.py"})}
    if format_ == OPENAI_RESPONSES:
        use = {"type": "function_call", "call_id": call, **function}
        return [*asked, use, {"type": "function_call_output", "call_id": call, "output": text}]
    use = {"role": "assistant", "tool_calls": [{"id": call, "type": "function", "function": function}]}
    return [*asked, use, {"role": "tool", "tool_call_id": call, "content": text}]


def flat(body):
    """Give the bytes of a request up to the end of its last text, without marks of where a cache may end."""
    sent = canonical.dump(body)
    return sent.replace(b',"cache_control":{"type":"ephemeral"}', b"").rstrip(b'"]}')


@pytest.mark.parametrize("format_", [OPENAI_CHAT, OPENAI_RESPONSES, ANTHROPIC])
def test_between_compactions_a_request_begins_with_all_of_the_one_before(memory, format_):
    """Task state and markers stand still while nothing leaves; a compaction brings the task state up to date."""
    window, messages, before, compactions = memory.session("s").window(3_000, format=format_), [], b"", 0
    for number in range(40):
        messages += step(number, format_)
        if number == 12:
            window.set_task(goal="Ship version 2.", phase="testing")
        request = window.request(messages)
        sent, text = flat(request.body), json.dumps(request.messages)
        assert text.count("cache_control") <= 4
        if request.receipt is None:
            assert number == 12 or sent.startswith(before)
        else:
            compactions += 1
            assert f"m{number}.py" in text.split("[Task state")[1].split("not shown")[0]  # the newest call's file
        assert text.count("[Task state") == (compactions > 0 or number >= 12)
        assert ("Ship version 2." in text) == (number >= 12)
        before = sent
    assert compactions >= 3
    assert all(memory.replay(anatomy.pointer).same for anatomy in memory.anatomies("s"))
    again = memory.session("s").window(3_000, format=format_)
    assert canonical.dump(again.request().body) == canonical.dump(request.body)


def test_the_newest_user_message_stays_behind_the_task_state(memory):
    """Who asks last is answered: what is noted when the user waits stands in front of the message, there and then."""
    window = memory.session("s").window(3_000)
    window.request([{"role": "user", "content": "Begin."}])
    window.set_task(goal="Ship version 2.")
    asked = window.request()
    window.add([{"role": "assistant", "content": "Done."}, {"role": "user", "content": "More?"}])
    for request, words in ((asked, ["Begin."]), (window.request(), ["Begin.", "Done.", "More?"])):
        text = json.dumps(request.messages)
        places = [text.index(word) for word in ("[Task state", *words)]
        assert places == sorted(places)
        assert text.count("[Task state") == 1


@pytest.mark.parametrize(("budget", "most"), [(Budget(6_000), 1.5), (Budget(6_000, cache=1.3), 1.3)])
def test_bytes_that_a_cache_cannot_reuse(memory, budget, most):
    """Over a long session no more bytes are new to a cache than so many times those of a list that only grows."""
    window, messages, before, new, grown = memory.session("s").window(budget), [], b"", 0, 0
    for number in range(150):
        added = step(number, OPENAI_CHAT)
        messages += added
        sent = flat(window.request(messages).body)
        same = next((at for at, (a, b) in enumerate(zip(before, sent, strict=False)) if a != b), len(before))
        new, grown, before = new + len(sent) - same, grown + len(json.dumps(added)), sent
    assert new <= most * grown
