"""Executors have windows of their own over one log, and one item in their parent's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from firsthand import Memory
from firsthand.answer import Outcome
from firsthand.context import executors
from firsthand.context.executors import TOOL, begin, open_span, unfinished
from firsthand.errors import InvalidArgument, MalformedPointer, PointerError, Unresolvable
from firsthand.event import Kind, Trust

KILLED = """
import os, signal, sys
from firsthand import Memory
from firsthand.context import executors
memory = Memory.open(sys.argv[1])
executor = executors.begin(memory.session("plan"), "lost", task="Find the key")
executor.session.agent("the key is 7f3a")
os.kill(os.getpid(), signal.SIGKILL)
"""


def told(memory: Memory, session: str) -> list[tuple[str, str]]:
    return [(event.kind, event.text) for event in memory.events(session)]


def test_an_executor_is_one_call_and_one_result(memory):
    """The parent holds the call that began it and the result with the pointer of all below; the rest is its own."""
    plan = memory.session("plan", agent="planner")
    plan.user("Ship it")
    with begin(plan, "tests", agent="runner", task="Run the tests") as executor:
        executor.session.user("Run them")
        executor.session.agent("All 12 pass in tests/unit/test_parser.py")
        finished = executor.finish("12 pass.")
    first, *_, last = memory.events("plan/tests")
    assert finished.pointer == f"fh:{first.id}..{last.id}" == executor.pointer
    assert finished.text == (
        "12 pass.\n[Executor plan/tests: 1 turn, 3 events, topics: unit/test_parser.py. "
        f'To read all of it: expand("{finished.pointer}").]'
    )
    assert told(memory, "plan") == [
        ("user_message", "Ship it"),
        ("tool_call", '{"name": "tests", "task": "Run the tests"}'),
        ("tool_result", finished.text),
    ]
    _, call, result = memory.events("plan")
    assert call.meta == {"tool": TOOL, "call_id": executor.call_id}
    assert result.meta == {"tool": TOOL, "call_id": executor.call_id, "scope": "plan/tests", "span": finished.pointer}
    assert (call.agent, call.trust, result.trust) == ("planner", Trust.AGENT, Trust.UNTRUSTED)
    assert (executor.name, executor.parent, executor.task) == ("plan/tests", "plan", "Run the tests")
    assert executor.is_finished
    assert next(memory.events("plan/tests", newest_first=True)).agent == "runner"


def test_the_span_opens_to_its_bytes(memory):
    """Every event below opens in order with its exact bytes, large and binary ones too."""
    executor = begin(memory.session("plan"), "one")
    payloads = [b"\x00\xff" * 40_000, "gr\u00fcn".encode(), b""]
    for payload in payloads:
        executor.session.tool_result("c", payload)
    finished = executor.finish()
    below = list(open_span(memory, finished))
    assert [memory.expand(f"fh:{one.event.id}") for one in below] == [b"", *payloads]
    assert [one.depth for one in below] == [0] * 4
    one = below[1].event
    assert list(open_span(memory, f"fh:{one.id}")) == [executors.Below(0, one)]


def test_executors_nest(memory):
    """Three deep, a span opens to everything below it, each executor right before the result that it gave."""
    plan = memory.session("plan")
    plan.user("start")
    one = begin(plan, "a")
    one.session.agent("in a")
    two = one.executor("b")
    two.session.agent("in b")
    three = two.executor("c")
    three.session.agent("in c")
    three.finish("c done")
    two.finish("b done")
    finished = one.finish("a done")
    assert three.name == "plan/a/b/c"
    shown = [(one.depth, one.event.session, one.event.kind) for one in open_span(memory, finished.pointer)]
    assert shown == [
        (0, "plan/a", "session"), (0, "plan/a", "agent_message"), (0, "plan/a", "tool_call"),
        (1, "plan/a/b", "session"), (1, "plan/a/b", "agent_message"), (1, "plan/a/b", "tool_call"),
        (2, "plan/a/b/c", "session"), (2, "plan/a/b/c", "agent_message"),
        (1, "plan/a/b", "tool_result"), (0, "plan/a", "tool_result"),
    ]  # fmt: skip


def test_part_of_a_parent_opens_to_what_is_below_that_part(memory):
    """A span of the parent has the executors whose results stand in it, also when it begins at their call."""
    plan = memory.session("plan")
    plan.user("first")
    begin(plan, "a").finish("a")
    plan.user("second")
    begin(plan, "b").finish("b")
    left = begin(plan, "c")
    events = [one for one in memory.events("plan") if one.kind is not Kind.USER_MESSAGE]
    call_a, result_a, call_b, result_b, call_c = events

    def sessions(first, last):
        return [one.event.session for one in open_span(memory, f"fh:{first.id}..{last.id}")]

    assert sessions(call_a, result_a) == ["plan", "plan/a", "plan"]
    assert sessions(call_b, result_b) == ["plan", "plan/b", "plan"]
    assert sessions(result_b, call_c) == ["plan/b", "plan", "plan", "plan/c"]
    assert left.name == "plan/c"


def test_executors_run_in_parallel(memory):
    """Two executors in two threads keep apart, and both results reach the parent."""
    plan = memory.session("plan")
    executors = [begin(plan, name) for name in ("left", "right")]

    def work(executor):
        for number in range(20):
            executor.session.agent(f"{executor.name} {number}")
        executor.finish(f"{executor.name} done")

    threads = [threading.Thread(target=work, args=(executor,)) for executor in executors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for executor in executors:
        below = [one.event.text for one in open_span(memory, executor.pointer)]
        assert below == ["", *(f"{executor.name} {number}" for number in range(20))]
    results = {one.meta["scope"]: one.meta["call_id"] for one in memory.events("plan") if one.kind is Kind.TOOL_RESULT}
    assert results == {executor.name: executor.call_id for executor in executors}


def test_a_killed_executor_is_found_again(tmp_path):
    """What a killed process left is there, is named unfinished, and can be finished by another one."""
    path = tmp_path / "s"
    source = Path(executors.__file__).parent.parent
    environment = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    with Memory.open(path) as memory:
        (executor,) = unfinished(memory, "plan")
        assert (executor.name, executor.task, executor.is_finished) == ("plan/lost", "Find the key", False)
        assert [one.event.text for one in open_span(memory, executor.pointer)] == ["Find the key", "the key is 7f3a"]
        executor.finish("found")
        assert unfinished(memory, "plan") == ()
        assert [one.kind for one in memory.events("plan")] == ["tool_call", "tool_result"]
        assert memory.verify().ok


def test_a_call_that_was_not_written_is_written_with_the_result(memory, monkeypatch):
    """A process that ended between the executor's first event and its parent's call leaves no result without a call."""
    plan = memory.session("plan")
    append = memory.append

    def dies(drafts, *, session, **options):
        if session == "plan":
            raise KeyboardInterrupt
        return append(drafts, session=session, **options)

    monkeypatch.setattr(memory, "append", dies)
    with pytest.raises(KeyboardInterrupt):
        begin(plan, "a", task="t\u00fc")
    monkeypatch.undo()
    assert told(memory, "plan") == []
    (executor,) = unfinished(memory, "plan")
    executor.finish("late")
    call, result = memory.events("plan")
    assert (call.kind, call.text) == (Kind.TOOL_CALL, '{"name": "a", "task": "t\u00fc"}')
    assert call.meta["call_id"] == result.meta["call_id"] == executor.call_id


def test_unfinished_ones_are_found_at_any_depth(memory):
    """Executors below executors are found, those of other parents and finished ones are not."""
    plan = memory.session("plan")
    one = begin(plan, "a")
    one.executor("b")
    begin(plan, "c").finish()
    begin(memory.session("planner"), "d")
    memory.session("plan/diary").user("no executor")
    assert [executor.name for executor in unfinished(memory, "plan")] == ["plan/a", "plan/a/b"]


def test_an_error_finishes_an_executor(memory):
    """An exception in the block is the result, marked as an error, and goes on; so does the end without a result."""
    plan = memory.session("plan")
    with pytest.raises(ValueError, match="no route"), begin(plan, "a"):
        raise ValueError("no route")
    with begin(plan, "b"):
        pass
    failed, ended = [one for one in memory.events("plan") if one.kind is Kind.TOOL_RESULT]
    assert failed.text.startswith("failed: ValueError: no route\n[Executor plan/a: ")
    assert failed.meta["is_error"] is True
    assert ended.text.startswith("(ended without a result)\n[Executor plan/b: ")
    assert "is_error" not in ended.meta


def test_recall_stays_within_a_scope(memory):
    """An executor's recall finds its own words and those below it; not its parent's, nor its siblings'."""
    plan = memory.session("plan")
    plan.user("heron of the parent")
    one, two = begin(plan, "a"), begin(plan, "b")
    two.session.agent("heron of b")
    assert one.recall("heron").outcome is Outcome.FILTERED
    one.session.agent("heron of a")
    one.executor("deep").session.agent("heron of deep")
    found = {memory.expand(hit.pointer) for hit in one.recall("heron", hits_max=5).hits}
    assert {text for text in found if b"heron" in text} == {b"heron of a", b"heron of deep"}


def test_the_parents_window_does_not_grow_with_the_child(memory):
    """Whatever happens in an executor, its parent's window has one call and one short result more."""
    sizes = []
    for number, length in enumerate((2, 400)):
        plan = memory.session(f"plan{number}")
        plan.user("go")
        with begin(plan, "child", task="work") as executor:
            executor.session.user("work")
            drafts = [executor.session.agent(f"step {step} " + "word " * 50) for step in range(length)]
            executor.finish("done")
        assert len(drafts) == length
        state = plan.window(100_000).state
        assert [item.kind for item in state.items] == [Kind.USER_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT]
        sizes.append(state.tokens)
    assert abs(sizes[0] - sizes[1]) < 60  # larger numbers and other topics in one line, beside 24,000 tokens more
    assert sizes[1] < 300


def test_an_executor_has_a_window_of_its_own(memory):
    """The executor's window shows its own session, not its parent's."""
    plan = memory.session("plan")
    plan.user("secret plan")
    executor = begin(plan, "a")
    executor.session.user("do this")
    window = executor.window(8_000)
    assert [memory.expand(f"fh:{item.id}") for item in window.state.items] == [b"do this"]


def test_a_call_of_the_parent_is_answered(memory):
    """With a call given, none is made: the result answers it, by its event or its id."""
    plan = memory.session("plan")
    plan.user("go")
    call = plan.tool_call("task", {"prompt": "x"}, call_id="c1")
    begin(plan, "a", call=call).finish("one")
    begin(plan, "b", call="c2").finish("two")
    results = [
        (one.meta["call_id"], one.meta.get("tool"), one.origin) for one in memory.events("plan", after=call.position)
    ]
    assert results == [("c1", "task", "tool:task"), ("c2", None, "tool")]


def test_a_result_can_be_handed_over(memory):
    """A loop with its own list of messages takes the text; the executor is finished, and its parent unchanged."""
    plan = memory.session("plan")
    plan.user("go")
    executor = begin(plan, "a", call="c1")
    executor.session.agent("work")
    finished = executor.finish("one", append=False)
    assert told(memory, "plan") == [("user_message", "go")]
    assert executor.is_finished
    assert unfinished(memory, "plan") == ()
    window = plan.window(8_000, format="openai-chat")
    call = {"id": "c1", "type": "function", "function": {"name": "task", "arguments": "{}"}}
    window.add([{"role": "assistant", "content": None, "tool_calls": [call]}])
    window.add([{"role": "tool", "tool_call_id": "c1", "content": finished.text}])
    first, *_, last = memory.events("plan")
    below = [(one.depth, one.event.session) for one in open_span(memory, f"fh:{first.id}..{last.id}")]
    assert below == [(0, "plan"), (0, "plan"), *[(1, "plan/a")] * 3, (0, "plan")]


def test_an_executor_is_finished_once(memory):
    """A second result is refused, also by another process that took the executor up before."""
    plan = memory.session("plan")
    executor = begin(plan, "a")
    (other,) = unfinished(memory, "plan")
    executor.finish("one")
    for late in (executor, other):
        with pytest.raises(InvalidArgument, match="finished already"):
            late.finish("two")


def test_names_are_made_and_checked(memory):
    """Without a name one is made; a name that is taken, empty or holds a separator is refused, as is a foreign call."""
    plan = memory.session("plan")
    assert begin(plan).name.startswith("plan/0")
    begin(plan, "a")
    with pytest.raises(InvalidArgument, match="there already"):
        begin(plan, "a")
    for name in ("", "a/b", 7):
        with pytest.raises(InvalidArgument, match="text without '/'"):
            begin(plan, name)
    said = plan.user("no call")
    elsewhere = memory.session("other").tool_call("task", {})
    for call in (said, elsewhere):
        with pytest.raises(InvalidArgument, match="expected a tool call of session 'plan'"):
            begin(plan, "b", call=call)
    with pytest.raises(InvalidArgument, match="empty text"):
        begin(plan, "b", call="")


def test_depth_is_limited(memory):
    """Executors nest to a depth that has a name."""
    deep = memory.session("/".join("p" * (executors.DEPTH_MAX + 1)))
    with pytest.raises(InvalidArgument, match="at most 16 deep"):
        begin(deep, "a")


def test_what_cannot_be_opened(memory):
    """No pointer, an unknown event, ends in two sessions or in the wrong order are errors, each its own."""
    one = memory.session("a").user("x")
    two = memory.session("b").user("y")
    three = memory.session("a").user("z")
    with pytest.raises(MalformedPointer):
        list(open_span(memory, "a"))
    with pytest.raises(Unresolvable):
        list(open_span(memory, "fh:01M7Y31GAPDH57D2W0FWX2D8WA"))
    for first, last in ((one, two), (three, one)):
        with pytest.raises(PointerError, match="runs forward within one session"):
            list(open_span(memory, f"fh:{first.id}..{last.id}"))


def test_subagents_of_an_imported_host_are_below_their_session(memory):
    """A session that names its parent as hosts do is opened with it, at the end, since no call leads to it."""
    memory.session("claude-code:main").user("go")
    memory.session("claude-code:main/agent-7").user("sub", meta={"parent_session": "main"})
    memory.session("claude-code:main/notes").user("not a subagent")
    last = memory.session("claude-code:main").agent("done")
    first = next(memory.events("claude-code:main"))
    below = [(one.depth, one.event.text) for one in open_span(memory, f"fh:{first.id}..{last.id}")]
    assert below == [(0, "go"), (0, "done"), (1, "sub")]
    assert unfinished(memory, "claude-code:main") == ()


def test_an_erased_beginning_hides_nothing_below(memory):
    """Where an executor's first event was erased, its other events still open with its parent."""
    plan = memory.session("plan")
    first = plan.user("go")
    executor = begin(plan, "a", task="secret")
    executor.session.agent("work")
    last = executor.finish("done").event
    memory.erase([executor.pointer.partition("..")[0]])
    below = [(one.depth, one.event.text) for one in open_span(memory, f"fh:{first.id}..{last.id}")]
    assert [text for depth, text in below if depth == 1] == [
        "",
        "work",
        '{"erased": ["' + executor.pointer[3:29] + '"], "reason": ""}',
    ]
