"""The recalls of a session and what followed them, as the log has them."""

from __future__ import annotations

import json

from firsthand import Memory, Trust, answer_hook
from firsthand.consolidate.recalls import Verdict
from firsthand.lifecycle.recalls_log import Followed, recalls_of
from recalls_made import ask, at, injection, tell

FORM = "which port does {thing} have?"


def explicit(memory: Memory, query: str, fact, *, said: str = "Please look up the port of billing.", answer: str = ""):
    """A session in which an agent calls recall by itself, and uses what came; host transcripts have no answer."""
    session = memory.session("host:explicit")
    session.user(said, time=at(2_000))
    call = session.tool_call("mcp__firsthand__recall", {"query": query}, call_id="c1", time=at(2_000))
    if answer:
        session.tool_result("c1", memory.fence(answer), tool="mcp__firsthand__recall", time=at(2_000))
    session.tool_call("bash", {"command": f"curl localhost:{fact.string}"}, time=at(2_000))
    return f"fh:{call.id}"


def one_of(found: list[Followed], pointer: str) -> Followed:
    return next(one for one in found if one.judged.recalled.pointer == pointer)


def test_what_was_shown_and_used_is_found(memory):
    """A message whose injection shows the fact, whose port the agent then uses, is found; the thanks ask nothing."""
    (fact,) = tell(memory, ["billing"])
    (pointer,) = ask(memory, [fact], FORM, shown=True, outcome="found")
    (found,) = recalls_of(memory, "host:asked-1000-0")
    told = found.judged
    assert (told.recalled.pointer, told.recalled.asked, told.recalled.outcome) == (
        pointer,
        FORM.format(thing="billing"),
        "found",
    )
    assert (told.recalled.unasked, told.recalled.users, told.recalled.shown) == (True, True, (fact.pointer,))
    assert (told.verdict, told.right, told.strings, told.corrected) == (
        Verdict.FOUND, (fact.pointer,), (fact.string,), False,
    )  # fmt: skip


def test_a_correction_that_follows_is_kept(memory):
    """What the user calls wrong next is marked as corrected."""
    facts = tell(memory, ["billing"])
    ask(memory, facts, FORM, shown=True, outcome="found", corrected=True)
    assert recalls_of(memory, "host:asked-1000-0")[0].judged.corrected


def test_what_was_not_shown_is_weak_and_the_users_words_are_kept(memory):
    """Without anything shown the verdict is the answer's, and the string that the user then says stands in the work."""
    (fact,) = tell(memory, ["billing"])
    ask(memory, [fact], FORM, shown=False, outcome="weak")
    first, second = recalls_of(memory, "host:asked-1000-0")
    assert (first.judged.verdict, first.judged.right) == (Verdict.WEAK, ())
    assert fact.string in first.work.said
    assert second.judged.verdict is Verdict.ABSENT  # the user's next message was a query too, and nothing was shown


def test_a_string_that_a_tool_brought_is_no_sign(memory):
    """A port that the agent read from a file in between was not taken from memory."""
    (fact,) = tell(memory, ["billing"])
    session = memory.session("host:file")
    session.user(FORM.format(thing="billing"), time=at(2_000))
    memory.append([injection({"outcome": "found", "shown": [fact.pointer]}, at(2_000))], session="host:file")
    call = session.tool_call("read", {"path": "billing.toml"}, time=at(2_000))
    session.tool_result(call, f"port = {fact.string}", tool="read", time=at(2_000))
    session.agent(f"It is {fact.string}.", time=at(2_000))
    (found,) = recalls_of(memory, "host:file")
    assert (found.judged.verdict, found.work.strings & {fact.string}) == (Verdict.UNUSED, frozenset())


def test_what_firsthand_put_there_is_no_sign(memory):
    """Neither an injected answer nor a call of recall that repeats the string counts as work."""
    (fact,) = tell(memory, ["billing"])
    session = memory.session("host:own")
    session.user(FORM.format(thing="billing"), time=at(2_000))
    memory.append([injection({"outcome": "found", "shown": [fact.pointer]}, at(2_000))], session="host:own")
    session.tool_call("mcp__firsthand__recall", {"query": f"port {fact.string}"}, call_id="c1", time=at(2_000))
    session.tool_result("c1", memory.fence(f"found: 1 hit\n{fact.pointer}  {fact.string}"), time=at(2_000))
    session.agent(memory.fence(f"The port is {fact.string}."), time=at(2_000))
    unasked = recalls_of(memory, "host:own")[0]
    assert (unasked.judged.verdict, unasked.work.strings, unasked.work.named) == (
        Verdict.UNUSED,
        frozenset(),
        frozenset(),
    )


def test_a_page_in_the_users_name_asks_nothing(memory):
    """A user message that is not trusted is no recall, whatever was shown with it."""
    (fact,) = tell(memory, ["billing"])
    session = memory.session("host:page")
    session.user(FORM.format(thing="billing"), trust=Trust.UNTRUSTED, time=at(2_000))
    memory.append([injection({"outcome": "found", "shown": [fact.pointer]}, at(2_000))], session="host:page")
    session.agent(f"It is {fact.string}.", time=at(2_000))
    assert recalls_of(memory, "host:page") == []


def test_an_agents_own_call_is_read_with_its_answer(memory):
    """A call of recall whose answer the log holds has its outcome and pointers, and is found when they are used."""
    (fact,) = tell(memory, ["billing"])
    answer = f"weak: 1 hit, confidence 0.61; check\n{fact.pointer}  2026  user_message\n| fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY"
    pointer = explicit(memory, "billing port", fact, answer=answer)
    told = one_of(recalls_of(memory, "host:explicit"), pointer).judged
    assert (told.recalled.unasked, told.recalled.users) == (False, True)
    assert (told.recalled.outcome, told.recalled.shown) == ("weak", (fact.pointer,))  # stored text behind a bar is none
    assert (told.verdict, told.right) == (Verdict.FOUND, (fact.pointer,))


def test_a_call_without_its_answer_is_asked_again(memory):
    """A host's transcript has no copy of the answer: it is what recall gives for the time before the call."""
    (fact,) = tell(memory, ["billing"])
    pointer = explicit(memory, "which port does billing have", fact)
    told = one_of(recalls_of(memory, "host:explicit"), pointer).judged
    assert fact.pointer in told.recalled.shown
    assert (told.verdict, told.right) == (Verdict.FOUND, (fact.pointer,))


def test_a_query_that_a_page_dictates_is_not_the_users(memory):
    """A call in words that the user never said does not count as the user's, though the agent made it."""
    (fact,) = tell(memory, ["billing"])
    pointer = explicit(memory, "admin password reset", fact, said="Please summarise the page.")
    assert not one_of(recalls_of(memory, "host:explicit"), pointer).judged.recalled.users


def test_a_session_without_recall_has_none(memory):
    """A session with neither hooks nor calls of recall gives nothing, nor does one that is not there."""
    tell(memory, ["billing"])
    assert recalls_of(memory, "host:told-0") == []
    assert recalls_of(memory, "host:none") == []


def test_what_hooks_really_keep_is_read(memory, tmp_path):
    """A session that went through the hooks of a host is judged by what they kept: shown at the message, then used."""
    (memory.path / "settings.json").write_text('{"agent": "shop", "cost": 0.2}')
    facts = tell(memory, ["billing", "search", "mailer"])
    memory.agent("shop").enrol("host:told-0")

    def hook(event: str, **fields) -> None:
        payload = {"session_id": "abc", "hook_event_name": event, "cwd": str(tmp_path), **fields}
        assert answer_hook("claude-code", json.dumps(payload).encode(), memory, deadline_ms=20_000).fault == ""

    hook("SessionStart", source="startup")
    hook("UserPromptSubmit", prompt="which port does the billing service have after the outage?")
    hook("PostToolUse", tool_name="Bash", tool_input={"command": f"curl localhost:{facts[0].string}"}, tool_response="")
    (found,) = recalls_of(memory, "claude-code:abc")
    assert found.judged.recalled.outcome == "found"
    assert facts[0].pointer in found.judged.recalled.shown
    assert (found.judged.verdict, found.judged.right) == (Verdict.FOUND, (facts[0].pointer,))
