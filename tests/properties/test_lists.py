"""What must hold for a caller's list, whatever the caller does with it between requests."""

from __future__ import annotations

import copy
import itertools
import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firsthand import FormatError, Memory
from firsthand.formats.check import faults
from firsthand.window import HISTORY, Budget
from stores import SOAK, quick_folder

SETTINGS = settings(
    max_examples=400 if SOAK else 25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
ACTIONS = st.one_of(
    st.tuples(st.just("grow"), st.integers(1, 4)),
    st.tuples(st.just("grow"), st.integers(1, 4)),
    st.tuples(st.just("trim"), st.integers(1, 6)),
    st.tuples(st.just("summarise"), st.integers(1, 6)),
    st.tuples(st.just("rewrite"), st.integers(0, 30)),
    st.tuples(st.just("drop"), st.integers(0, 30)),
    st.tuples(st.just("insert"), st.integers(0, 30)),
    st.tuples(st.just("rebuild"), st.just(0)),
    st.tuples(st.just("resume"), st.just(0)),
    st.tuples(st.just("say"), st.integers(0, 3)),
)


class Caller:
    """A program that keeps a list of messages in one format, and does with it what programs do.

    Attributes:
        messages: the list as it is.
        ever: every message that a request was given, in order.
    """

    def __init__(self, memory: Memory, name: str, budget: Budget) -> None:
        self.memory, self.format, self.budget = memory, name, budget
        self.session = memory.session("s")
        self.window = self.opened()
        self.numbers = itertools.count(100)
        self.messages = [] if name == "anthropic" else [self.said("system")]
        self.ever: list = []
        self.grow(1)

    def opened(self):
        return self.session.window(self.budget, format=self.format, pull=False)

    def said(self, role, text=None):
        return {"role": role, "content": text or f"m{next(self.numbers)} words"}

    def pair(self):
        name = f"c{next(self.numbers)}"
        if self.format == "anthropic":
            use = {"type": "tool_use", "id": name, "name": "look", "input": {"at": name}}
            result = {"type": "tool_result", "tool_use_id": name, "content": f"m{next(self.numbers)} result"}
            return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
        if self.format == "openai-responses":
            call = {"type": "function_call", "call_id": name, "name": "look", "arguments": "{}"}
            return [call, {"type": "function_call_output", "call_id": name, "output": f"m{next(self.numbers)} result"}]
        call = {"id": name, "type": "function", "function": {"name": "look", "arguments": "{}"}}
        result = {"role": "tool", "tool_call_id": name, "content": f"m{next(self.numbers)} result"}
        return [{"role": "assistant", "content": None, "tool_calls": [call]}, result]

    def grow(self, turns):
        for number in range(turns):
            self.messages += [self.said("user"), *(self.pair() if number % 2 else []), self.said("assistant")]

    def say(self, which):
        """Say something that was said before, in the same words."""
        self.messages += [self.said("user", "ok"), self.said("assistant", ("done", "yes")[which % 2])]

    def trim(self, keep):
        self.messages = [*self.messages[: self.head()], *self.messages[self.head() :][-keep:]]

    def summarise(self, keep):
        rest = self.messages[self.head() :]
        if len(rest) > keep:
            self.messages = [*self.messages[: self.head()], self.said("user"), *rest[-keep:]]

    def rewrite(self, number):
        message = self.messages[number % len(self.messages)]
        key = "output" if message.get("type") == "function_call_output" else "content"
        if isinstance(message.get(key), str):
            changed = {**message, key: f"m{next(self.numbers)} rewritten"}
            self.messages[number % len(self.messages)] = changed

    def drop(self, number):
        inside = len(self.messages) - self.head()
        if inside > 1:
            del self.messages[self.head() + number % inside]

    def insert(self, number):
        at = self.head() + number % (len(self.messages) - self.head() + 1)
        answers = at < len(self.messages) and _is_result(self.messages[at])
        self.messages.insert(at + answers, self.said("user"))  # a result stays right behind its call

    def rebuild(self, _):
        self.messages = copy.deepcopy(self.messages)

    def resume(self, _):
        """A new process: it has the list, and nothing else."""
        self.rebuild(_)
        self.window = self.opened()

    def head(self):
        return 0 if self.format == "anthropic" else 1

    def request(self):
        """Give the list; what is new in it is what this caller has never given, but for the words that repeat."""
        before = len(self.session.messages())
        request = self.window.request(self.messages)
        assert faults(request.body, self.format) == ()
        assert self.memory.replay(request.anatomy.pointer).same
        return request, self.session.messages()[before:]


@pytest.mark.parametrize("name", ["openai-chat", "openai-responses", "anthropic"])
@SETTINGS
@given(actions=st.lists(ACTIONS, min_size=1, max_size=14), small=st.booleans())
def test_every_message_is_in_the_log_once_and_in_order(name, actions, small):
    """However a list grows and shrinks: what was given is in the log once, requests are valid, and what left opens."""
    budget = Budget(400) if small else Budget(100_000)
    with quick_folder() as folder, Memory.open(Path(folder) / "store") as memory:
        caller = Caller(memory, name, budget)
        caller.request()
        given = [json.dumps(message) for message in caller.messages]
        for verb, number in actions:
            getattr(caller, verb)(number)
            new = [message for message in caller.messages if json.dumps(message) not in given]
            try:
                request, appended = caller.request()
            except FormatError as error:
                if "messages repeat each other" not in str(error) and "it has none" not in str(error):
                    raise
                return
            repeated = [message for message in appended if _is_repeated(message)]
            assert [message for message in appended if not _is_repeated(message)] == [
                message for message in new if not _is_repeated(message)
            ]
            assert len(repeated) == (2 if verb == "say" else 0)
            given += [json.dumps(message) for message in new]
            if not small:
                check_order(caller.messages, request.body)
        check_log(memory, caller)
        assert memory.verify(deep=True).ok


def check_order(messages, body):
    """What a window with room for all sends has the words of the list in its order, and no others of the caller's."""
    words = [word for message in messages for word in _words(json.dumps(message))]
    assert _words(json.dumps(body.get("messages") or body["input"])) == words


def check_log(memory, caller):
    """What is not shown expands, and lies in one marker or was rewritten; a new handle has the same window."""
    state = caller.window.state
    shown = {item.id for item in state.items}
    for event in caller.session.events():
        if event.kind not in HISTORY or event.id in shown:
            continue
        assert memory.expand(event.pointer) == event.content
    assert caller.opened().state == state
    for before, after in itertools.pairwise(state.markers):
        assert before.last_position < after.first_position


def _is_result(message):
    return any(f'"{sign}"' in json.dumps(message) for sign in ("tool_call_id", "tool_result", "output"))


def _is_repeated(message):
    return message.get("content") in ("ok", "done", "yes")


def _words(text):
    return re.findall(r"\bm\d+\b", text.replace("\\n", " "))
