"""A store with one sentence that nobody else says, what Firsthand derives from it, and every place that shows text."""

from __future__ import annotations

import contextlib
import io
import json
import re

from firsthand import AgentTools, Memory
from firsthand.agents import compaction_notice, validity
from firsthand.agents.agent_digest import digest_of
from firsthand.agents.hook_answer import answer_hook
from firsthand.agents.hosted_session import HostedSession
from firsthand.agents.sleep import sleep
from firsthand.cli.cli import main
from firsthand.health.doctor import examine
from firsthand.ledger.consolidation import consolidated_view
from firsthand.moment import Moment

NOW = Moment(1_795_000_000_000_000)
SENTENCE = "Always ship zorblatt-gateway with /opt/vellichor/grommet-77.toml to quixotine port 48213."
WORDS = ("zorblatt", "vellichor", "grommet", "quixotine", "48213")
AROUND = "Please look at the invoices of October first. {} Then tell me what the taxes come to."
OTHER = "The invoices of October come to 412 euros; nothing else is open."
USER = {"trust": "trusted", "origin": "user", "time": NOW}
BUDGET = 1_200
"""Tokens of the window of the session in which the sentence was said."""
NEW = "The report for November is due on Friday."
QUESTIONS = ("which zorblatt gateway do I ship", "quixotine 48213", "the vellichor grommet file", "invoices of October")


class World:
    """A memory in which a user said the sentence, alone or within a message, and much rests on it.

    Attributes:
        target: pointer of what is to be decided on: the event, or the span of the sentence in it.
        new: pointer of a later message, which can take its place.
    """

    def __init__(self, memory: Memory, *, within: bool = False) -> None:
        self.memory, self.agent, self.hooks = memory, memory.agent("shop"), 0
        settings = {"inbox": True, "agent": "shop", "band": "unlikely", "preamble_tokens_max": 6_000}
        (memory.path / "settings.json").write_text(json.dumps(settings))
        self.agent.enrol("one")
        self.agent.enrol("two")
        session = memory.session("one", agent="shop")
        text = AROUND.format(SENTENCE) if within else SENTENCE
        self.event = session.user(text, time=NOW).pointer
        start = text.encode().index(SENTENCE.encode())
        self.target = f"{self.event}@{start}-{start + len(SENTENCE.encode())}" if within else self.event
        call = session.tool_call("Bash", {"command": "pytest -q"}, time=NOW)
        session.tool_result(call, OTHER, tool="Bash", time=NOW)
        session.agent("I looked at the invoices: 412 euros.", time=NOW)
        session.user("Thanks. And what about the invoices of September?", time=NOW)
        session.agent("They come to 380 euros.", time=NOW)
        for _ in range(12):  # so much that the first turn leaves a small window
            session.user("go on", time=NOW)
            session.agent("and so on, " * 120, time=NOW)
        session.window(BUDGET).compact()
        self.new = memory.session("two", agent="shop").user(NEW, time=NOW).pointer
        for sort in ("note", "rule", "lesson"):
            memory.note(f"{sort}: {SENTENCE}", sort=sort, sources=[self.event], **USER)
        claim = {"says": SENTENCE, "quotes": [SENTENCE], "at": [self.event]}
        memory.note(f"claimed: {SENTENCE}", claims=[claim], **USER)
        memory.assert_fact("gateway", "how it is shipped", SENTENCE, at=self.event, by="user")
        AgentTools(self.agent).remember(f"remembered: {SENTENCE}", sort="lesson", sources=(self.event,))
        self.agent.learn("shipping", f"# Shipping\nWhat the user wants.\n\n- {SENTENCE} ({self.event})\n- Ask first.\n")
        self.agent.learn("rubric.md", f"- {SENTENCE} ({self.event})\n")
        self.agent.tell(SENTENCE, sender="api", about=[self.event])
        self.agent.close("one")
        sleep(memory, "shop", now=NOW)
        examine(memory.path)

    def places(self) -> dict[str, str]:
        """Give the text of every place that shows text which nobody asked for by its pointer."""
        memory, agent, tools = self.memory, self.agent, AgentTools(self.agent)
        places = self.files()  # as a decision leaves them, before anything else is asked for
        for question in QUESTIONS:
            answer = memory.recall(question)
            shown = [*answer.hits, *answer.companions, *answer.said]
            places[f"recall: {question}"] = "\n".join(f"{hit.pointer} {hit.preview}" for hit in shown)
            places[f"fenced: {question}"] = memory.fenced(answer)
            places[f"tool recall: {question}"] = tools.recall(question).text
            places[f"firsthand recall: {question}"] = self.command("recall", question)
            places[f"window recall: {question}"] = self.window_recall(question)
            places[f"cues: {question}"] = agent.cues(question).text
            places[f"hook: {question}"] = self.hook("UserPromptSubmit", prompt=question)
            hosted = HostedSession(tools, "hermes", "h", records=False)
            places[f"hosted: {question}"] = hosted.prompt(question).text
        digest = digest_of(agent)
        notice = compaction_notice.left(memory, "one")
        places |= {
            "preamble": agent.preamble(tokens_max=6_000).text,
            "start": self.hook("SessionStart", source="startup"),
            "compacted": self.hook("SessionStart", source="compact", session_id="one"),
            "warning": self.hook("PreToolUse", tool_name="Bash", tool_use_id="u",
                                 tool_input={"command": "ship zorblatt-gateway"}),
            "compaction": validity.funnel(memory).written(notice, compaction_notice.lines),
            "digest": digest.text,
            "episodes": "\n".join(tools.episode(name) for name in tools.episodes()),
            "names": tools.listing(),
            "health": tools.health().text,
            "timeline": tools.timeline("one", limit=60).text,
            "view": repr(consolidated_view(memory)),
            "firsthand timeline": self.command("timeline"),
            "firsthand session list": self.command("session", "list"),
            "firsthand agent episodes": self.command("agent", "episodes"),
            "firsthand agent sleep": self.command("agent", "sleep", "--show", "--agent", "shop"),
            "firsthand agent digest": self.command("agent", "digest", "--agent", "shop"),
            "firsthand agent preamble": self.command("agent", "preamble", "--agent", "shop"),
            "firsthand doctor": self.command("doctor"),
            "pack": json.dumps(self.memory.session("one").window(BUDGET).pack(2_000).body),
        }  # fmt: skip
        return {place: _plain(text) for place, text in (places | self.window_places()).items()}

    def window_recall(self, question: str) -> str:
        """Give what the tools of a window answer a model."""
        asked = {"name": "recall", "arguments": json.dumps({"query": question})}
        call = {"id": "c", "type": "function", "function": asked}
        window = self.memory.session("three").window(8_000)
        return json.dumps(window.answer({"role": "assistant", "content": None, "tool_calls": [call]}))

    def window_places(self) -> dict[str, str]:
        """Give what stands for the turns that left a window: its markers, with hints, and the task state."""
        window = self.memory.session("one", agent="shop").window(BUDGET)
        texts = [marker.text for marker in window.state.markers]
        entries = [window.task.request, window.task.goal, *window.task.constraints, *window.task.open_loops]
        return {"markers": "\n".join(texts), "task": "\n".join(entry.text for entry in entries if entry is not None)}

    def files(self) -> dict[str, str]:
        """Give the files that Firsthand wrote for people and hosts, with their names."""
        written = [path for path in sorted(self.agent.folder.rglob("*")) if path.is_file()]
        return {f"file {path.relative_to(self.agent.folder)}": f"{path}\n{path.read_text()}" for path in written}

    def hook(self, event: str, **fields: object) -> str:
        self.hooks += 1  # what was shown in a session is not shown there again
        payload = {"session_id": f"s-{self.hooks}", "cwd": str(self.memory.path), "hook_event_name": event, **fields}
        settings = json.loads((self.memory.path / "settings.json").read_text())
        (self.memory.path / "settings.json").write_text(json.dumps(settings | {"record": False}))
        answered = answer_hook("claude-code", json.dumps(payload).encode(), self.memory, now=NOW, deadline_ms=20_000)
        (self.memory.path / "settings.json").write_text(json.dumps(settings))
        output = json.loads(answered.output) if answered.output else {}
        return str(output.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def command(self, *arguments: str) -> str:
        """Give what a command says on its standard output."""
        stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(io.StringIO()):
            main([*arguments, "--store", str(self.memory.path)])
        stream.flush()
        buffer = stream.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode()


def _plain(text: str) -> str:
    """Give a text without what differs from one reading to the next: keys of fences, how long ago something was."""
    return re.sub(r"\b[0-9a-f]{32}\b", "KEY", text)


def exact(places: dict[str, str]) -> dict[str, str]:
    """Give the places whose text is the same whenever it is made of the same."""
    same = ("recall: ", "cues: ", "file ", "preamble", "digest", "episodes", "names", "markers", "task", "view",
            "timeline", "firsthand agent")  # fmt: skip
    return {place: text for place, text in places.items() if place.startswith(same) and "file ." not in place}


def leaks(places: dict[str, str]) -> dict[str, list[str]]:
    """Give the words of the sentence that each place shows, but for those that it was asked with."""
    asked = {place: set(re.findall(r"[\w-]+", place)) for place in places}
    found = {}
    for place, text in places.items():
        question = place.partition(": ")[2]
        plain = text.replace(question, "") if question else text
        if words := [word for word in WORDS if word in plain and not any(word in each for each in asked[place])]:
            found[place] = words
    return found
