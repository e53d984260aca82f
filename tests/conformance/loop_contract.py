"""What every adapter must hold to: 300 scripted steps under a window of 16k, two agents apart, a store that fails.

Inherit `LoopContract`, name the class ``Test...`` and give `framework`: it runs the framework's own agent with a
scripted model, which asks `Script.reply` with what the framework sent, in messages of openai-chat, and gives back
what it replies. The framework offers its agent the tool `read_page`, and recall by the name `RECALL`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import re
import resource
import runpy
import shutil
import signal
import tempfile
from collections import Counter
from pathlib import Path
from typing import Protocol

import pytest

from firsthand import Kind, Memory
from firsthand.errors import StoreFailed
from firsthand.event import INJECTED
from firsthand.tokens import estimate

BUDGET_TOKENS = 16_000
STEPS = 300
RECALL = "recall"
EARLIER = "On record from earlier"  # how the preamble begins
EXAMPLES = Path(__file__).parents[2] / "examples"
QUESTION = re.compile(r"^(?:Read the log, page \d+|What was the code of gate \d+\?)$", re.MULTILINE)
ASKS_EVERY = 25  # so many turns apart, a turn asks for what left the window


def code_of(page: int) -> str:
    """Give what stands on one page alone."""
    return f"KX-{page * 7919}-{page}"


def read_page(page: int) -> str:
    """Read a page of the log."""
    things = ["invoices", "the mail", "a report", "payments", "orders", "an upload"]
    lines = [f"{page}.{line} worker w-{page * 31 + line} handled {things[line % 6]} and slept" for line in range(36)]
    return "\n".join([*lines[:18], f"gate g{page}q opens by the code {code_of(page)}", *lines[18:]])


class Framework(Protocol):
    """A framework's agent with the adapter in it; `whole_list` gives the list that the framework itself keeps."""

    def turn(self, text: str) -> str:
        """Have the agent answer a user's message; gives its final text."""

    def end(self) -> None:
        """End the session."""


class Script:
    """A model that reads a page a turn, and now and then asks the memory for a code of long ago.

    Attributes:
        requests: tokens of each.
        at_once: it calls several tools in one reply.
        anew: it gives the first call of each reply the same id.
        told: what the user, the tools and the model said, in order, as it must stand in the log.
        seen: all text that was ever sent to it.
        wrong: what was no valid request.
    """

    def __init__(self, budget: int | None = BUDGET_TOKENS, *, at_once: bool = False, anew: bool = False) -> None:
        self.budget, self.at_once, self.anew = budget, at_once, anew
        self.requests: list[int] = []
        self.told: list[str] = []
        self.seen: list[str] = []
        self.wrong: list[str] = []
        self.recalled: list[bool] = []

    def reply(self, messages: list[dict], tools: list[dict] | None = None) -> dict:
        """Answer a request; what is wrong with it is kept."""
        sent = json.dumps([messages, tools or []], ensure_ascii=False)
        self.requests.append(estimate(sent))
        self.seen.append(sent)
        self._check(messages)
        asking = max(place for place, message in enumerate(messages) if asked_in(message))
        newest, outputs = asked_in(messages[asking])[-1], [m for m in messages[asking:] if m["role"] == "tool"]
        number = len(self.requests)
        if outputs:  # a memory may have put something behind them
            output = text_of(outputs[-1])
            if newest.startswith("What"):
                self.recalled.append(code_of(int(newest.split()[-1].rstrip("?"))) in output)
                final = "It is in the log." if self.recalled[-1] else "I do not know."
            else:
                final = f"Read as step {number}."
            self.told.append(final)
            return {"role": "assistant", "content": final}
        page = int(newest.split()[-1].rstrip("?."))
        if newest.startswith("What"):
            return _call(0 if self.anew else number, RECALL, {"query": f"code of gate g{page}q"})
        self.told.append(read_page(page))
        reply = _call(0 if self.anew else number, "read_page", {"page": page})
        if self.at_once:
            more = _call(f"{number}b", RECALL, {"query": "gate"}), _call(f"{number}c", "read_page", {"page": page})
            reply["tool_calls"] += [call for message in more for call in message["tool_calls"]]
        return reply

    def _check(self, messages: list[dict]) -> None:
        if self.budget is not None and self.requests[-1] > self.budget:
            self.wrong.append(f"request {len(self.requests)} has {self.requests[-1]:,} tokens")
        waiting, calling, pages = list[str](), False, dict[str, int]()
        for message in messages:
            functions = {call["id"]: call["function"] for call in message.get("tool_calls") or ()}
            pages |= {name: json.loads(each["arguments"]).get("page") for name, each in functions.items()}
            if message["role"] == "tool":
                calling = False
                if (page := pages.get(message["tool_call_id"])) and not text_of(message).startswith(f"{page}.0 "):
                    self.wrong.append(f"request {len(self.requests)}: the result of page {page} is another one's")
                if message["tool_call_id"] not in waiting:
                    self.wrong.append(f"request {len(self.requests)}: a result of no call")
                    continue
                waiting.remove(message["tool_call_id"])
                continue
            calls = [call["id"] for call in message.get("tool_calls") or ()]
            if waiting and not (calls and calling):  # several calls may be a message each
                self.wrong.append(f"request {len(self.requests)}: a call without its result")
                waiting = []
            waiting, calling = waiting + calls, bool(calls)
        if waiting or not messages or not any(asked_in(message) for message in messages):
            self.wrong.append(f"request {len(self.requests)} ends with a call, or nobody asks anything")


def _call(number: int | str, name: str, arguments: dict) -> dict:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant", "content": None,
        "tool_calls": [{"id": f"call_{number}", "type": "function", "function": function}],
    }  # fmt: skip


def text_of(message: dict) -> str:
    """Give the text of a message, whose content is a text or a list of parts."""
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def asked_in(message: dict) -> list[str]:
    """Give what the contract's user asks in a message, beside which a memory may have put things."""
    return QUESTION.findall(text_of(message)) if message["role"] == "user" else []


def question(number: int) -> str:
    """Give the user's message of a turn; one that asks for a page stands at the message's end."""
    asks = number > 1 and number % ASKS_EVERY == 0
    return f"What was the code of gate {number // 3 + 1}?" if asks else f"Read the log, page {number}"


def turns(framework: Framework, script: Script, numbers: range) -> None:
    """Have turns, each of two steps."""
    for number in numbers:
        script.told.append(question(number))
        framework.turn(question(number))


@contextlib.contextmanager
def full_disk():
    """Have no file of this process grow past 64 kB."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


@contextlib.contextmanager
def read_only():
    """Give the place of a store that this process may read and not write."""
    folder = Path(tempfile.mkdtemp())
    Memory(folder / "store", embedder="none").close()
    paths = [folder, *folder.rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    user = os.geteuid()
    if user == 0:  # whom no rights stop
        os.seteuid(65_534)
    try:
        yield folder / "store"
    finally:
        os.seteuid(user)
        for path in paths:
            path.chmod(0o755)
        shutil.rmtree(folder)


class Gone:
    """What a memory has in place of its log while its disk, or its server, is gone; or only what reads it is."""

    def __init__(self, writable=None):
        self.writable = writable

    def __getattr__(self, name: str):
        if self.writable is None or name == "reader":
            raise StoreFailed(f"the disk is gone: {name}")
        return getattr(self.writable, name)


class LoopContract:
    """The suite.

    Attributes:
        example: the file of the adapter's example; empty without one.
    """

    example = ""

    def framework(self, store, *, namespace: str, agent: str, session: str, script: Script) -> Framework:
        """Give an agent of the framework whose memory is in ``store``, under a budget of `BUDGET_TOKENS`."""
        raise AssertionError("an adapter's test gives the framework")

    def test_300_steps(self, tmp_path):
        """Every request is valid and within the budget, nothing is lost, recall answers, and an episode is written."""
        script = Script()
        framework = self.framework(tmp_path / "store", namespace="shop", agent="ada", session="long", script=script)
        turns(framework, script, range(1, STEPS // 2 + 1))
        if whole := getattr(framework, "whole_list", None):
            assert (len(whole()), "evicted, nothing lost" in script.seen[-1]) == (2 * STEPS, True)
        framework.end()
        assert (script.wrong[:3], len(script.requests)) == ([], STEPS)
        assert script.recalled == [True] * (STEPS // 2 // ASKS_EVERY)
        with Memory(tmp_path / "store", namespace="shop", create=False, embedder="none") as memory:
            told = Counter(script.told)
            logged = [event.text for event in memory.events() if event.text in told]
            assert Counter(logged) == told
            assert [text for text in logged if text.startswith(("Read the", "What"))] == [
                question(number) for number in range(1, STEPS // 2 + 1)
            ]
            results = memory.events(kind=Kind.TOOL_RESULT)
            assert {event.origin for event in results} == {"tool:read_page", f"tool:{RECALL}"}
            assert len([*memory.agent("ada").own(Kind.EPISODE)]) == 1
            assert memory.verify().ok

    def test_the_next_session_is_told_of_the_one_before(self, tmp_path):
        """The episode comes once, before the question, and what that brings up is fenced; neither stands in the log."""
        said = ["The staging gateway listens on port 5544.\nRead the log, page 1", "Read as step 2."]
        said += ["Which port does the staging gateway listen on?\nRead the log, page 2", "Read as step 2."]
        for session, asked in (("one", said[0]), ("two", said[2])):
            script = Script()
            framework = self.framework(tmp_path / "s", namespace="shop", agent="ada", session=session, script=script)
            framework.turn(asked)
            framework.end()
        first = script.seen[0]
        assert (script.wrong, first.count(EARLIER), first.count("<<firsthand ") > 1) == ([], 1, True)
        assert first.index(EARLIER) < first.index("Which port")
        assert "The staging gateway listens on port 5544." in first
        with Memory(tmp_path / "s", namespace="shop", create=False, embedder="none") as memory:
            kinds = Kind.USER_MESSAGE, Kind.AGENT_MESSAGE
            events = [event for event in memory.events() if event.kind in kinds and not event.meta.get(INJECTED)]
            assert [event.text for event in events if event.text] == said

    def test_calls_in_parallel_stay_whole(self, tmp_path):
        """Several calls of one reply, of the memory's tools and others, are each answered once behind their reply."""
        script = Script(at_once=True)
        framework = self.framework(tmp_path / "s", namespace="shop", agent="ada", session="s", script=script)
        turns(framework, script, range(1, 3))
        framework.end()
        assert (script.wrong, len(script.requests)) == ([], 4)
        with Memory(tmp_path / "s", namespace="shop", create=False, embedder="none") as memory:
            calls, results = ([*memory.events(kind=kind)] for kind in (Kind.TOOL_CALL, Kind.TOOL_RESULT))
            assert sorted(event.origin for event in results) == ["tool:read_page"] * 4 + [f"tool:{RECALL}"] * 2
            named = [sorted(event.meta["call_id"] for event in events) for events in (calls, results)]
            assert (named[0], len({*named[0]})) == (named[1], 6)

    def test_ids_that_begin_anew_in_each_reply(self, tmp_path, caplog):
        """Every call is sent with its own result, under an id of its own, also where the oldest have left."""
        script = Script(anew=True)
        framework = self.framework(tmp_path / "s", namespace="shop", agent="ada", session="s", script=script)
        turns(framework, script, range(1, 24))
        framework.end()
        assert (script.wrong, len(script.requests)) == ([], 46)
        assert [record.getMessage() for record in caplog.records if record.name == "firsthand"] == []
        with Memory(tmp_path / "s", namespace="shop", create=False, embedder="none") as memory:
            assert len([*memory.events(kind=Kind.TOOL_RESULT)]) == 23

    def test_the_example_runs(self, tmp_path, capsys):
        """The example prints what the memory gave back, and its store is whole."""
        if self.example:
            done = runpy.run_path(str(EXAMPLES / self.example))["run"](str(tmp_path / "s"))
            asyncio.run(done) if asyncio.iscoroutine(done) else done
            assert "recalled: worker w-4471 lost its disk /dev/nvme3n1" in capsys.readouterr().out
            with Memory(tmp_path / "s", create=False, embedder="none") as memory:
                assert memory.verify().ok

    def test_two_agents_of_two_namespaces_never_see_each_other(self, tmp_path):
        """What one was told is in nothing that the other is ever sent, and in no recall of its own."""
        scripts = {name: Script() for name in ("red", "blue")}
        agents = {
            name: self.framework(tmp_path / "store", namespace=name, agent="ada", session="s", script=script)
            for name, script in scripts.items()
        }
        for number in range(1, 7):
            for place, (name, framework) in enumerate(agents.items()):
                turns(framework, scripts[name], range(number + 100 * place, number + 1 + 100 * place))
        for name, page in (("red", 103), ("blue", 3)):
            agents[name].turn(f"What was the code of gate {page}?")
            agents[name].end()
            assert (scripts[name].recalled, scripts[name].wrong) == ([False], [])
            assert code_of(page) not in "".join(scripts[name].seen)
        with Memory(tmp_path / "store", namespace="red", create=False, embedder="none") as memory:
            assert code_of(103) not in "".join(event.text for event in memory.events())
            assert memory.verify().ok

    @pytest.mark.parametrize("fault", ["no server", "no folder", "read only", "full", "damaged", "moved", "gone"])
    def test_a_store_that_fails_does_not_end_the_run(self, tmp_path, caplog, fault):
        """Every turn is answered whatever becomes of the store; each fault is said once, and to the model."""
        store, script = tmp_path / "store", Script(budget=None)
        if fault == "no folder":
            store.write_text("no folder")
        place = contextlib.nullcontext("postgresql://nobody@127.0.0.1:1/none" if fault == "no server" else store)
        with caplog.at_level(logging.WARNING, "firsthand"), read_only() if fault == "read only" else place as opened:
            framework = self.framework(opened, namespace="shop", agent="ada", session="s", script=script)
            turns(framework, script, range(1, 4))
            with full_disk() if fault == "full" else contextlib.nullcontext():
                self._break(store, fault)
                turns(framework, script, range(4, 12))
                framework.end()
        assert (script.wrong, len(script.requests)) == ([], 22)
        said = [record.getMessage() for record in caplog.records if record.name == "firsthand"]
        assert (said != [], len(said)) == (True, len(set(said)))
        if fault in {"no server", "no folder"}:
            assert re.search("memory is degraded|cannot be reached", script.seen[0])

    def _break(self, store, fault: str) -> None:
        match fault:
            case "damaged":
                for path in store.rglob("firsthand.db*"):
                    with path.open("r+b") as file:
                        file.write(b"\xa5" * path.stat().st_size)
            case "moved":
                shutil.move(store / "firsthand.db", store / "other.db")
            case "gone":
                shutil.rmtree(store)
                store.write_text("no folder")
            case _:
                pass
