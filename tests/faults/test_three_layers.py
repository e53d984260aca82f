"""The failure of recall-problem 4, replayed: preamble, reminder and rule each broken alone, and all together.

In the morning an agent automates a bootstrap; later it is about to say that it is still manual. Each time a
layer is broken the agent, or its user, reads so in what the hooks inject; with all well it is reminded.
"""

from __future__ import annotations

import json

import apsw
import pytest

from firsthand import Draft, Kind, Memory
from firsthand.agents import health_line
from firsthand.agents.hook_answer import answer_hook
from firsthand.health import doctor
from firsthand.health.modes import Mode, name_failure
from firsthand.log.sqlite.index_files import path_of

DONE = (
    "The cold start bootstrap is automated: solar-boot.sh seeds the launch agent iserv.solar.boot.plist after a reboot."
)
ASKED = "Is the cold start bootstrap with solar-boot.sh and the launch agent still manual after a reboot?"
SECRET = "iserv.solar.boot.plist"


class Day:
    """One store, its morning session, and the hooks of the session that follows."""

    def __init__(self, root) -> None:
        self.root = root
        self.say("morning", "UserPromptSubmit", DONE)
        mail = (
            f"worker {number} of the mail queue moved {number * 7} parcels to shelf {number}" for number in range(40)
        )
        with Memory.open(root) as memory:  # a memory of one message is sure of nothing
            memory.append([Draft(Kind.USER_MESSAGE, one.encode()) for one in mail], session="claude-code:morning")
            memory.log.flush_indexes("default")

    def say(self, session: str, event: str, prompt: str = "", **told: str) -> str:
        payload = {"session_id": session, "hook_event_name": event, "cwd": str(self.root.parent), **told}
        if prompt:
            payload["prompt"] = prompt
        with Memory.open(self.root) as memory:
            output = answer_hook("claude-code", json.dumps(payload).encode(), memory, nonce=f"{session}{event}{prompt}")
        return output.output.decode()

    def start(self) -> str:
        return self.say("later", "SessionStart", source="startup")

    def ask(self) -> str:
        return self.say("later", "UserPromptSubmit", ASKED)

    def switch_off(self, *names: str) -> None:
        (self.root / "settings.json").write_text(json.dumps(dict.fromkeys(names, False)), encoding="utf-8")

    def stop_index(self) -> None:
        db = apsw.Connection(str(path_of(self.root, 1)))
        db.execute("UPDATE reach SET position = 1, fault = 'the indexer is not called' WHERE name = 'text'").fetchall()
        db.close()

    def look(self) -> None:
        doctor.examine(self.root, namespace="default", look=doctor.Look(canary=False))

    def failure(self) -> Mode:
        with Memory.open(self.root, read_only=True) as memory:
            (agent,) = [
                one.agent for one in doctor.examine(self.root, look=doctor.Look(canary=False, keep=False)).agents
            ]
            target = next(memory.events("claude-code:morning", kind=Kind.USER_MESSAGE))
            return name_failure(memory.agent(agent), "claude-code:later", f"fh:{target.id}").mode


@pytest.fixture
def day(tmp_path):
    return Day(tmp_path / "store")


def test_with_all_layers_the_agent_is_reminded(day):
    """The reminder brings what was done in the morning, word for word, and nothing says that memory is degraded."""
    day.start()
    answered = day.ask()
    assert SECRET in answered
    assert "degraded" not in answered
    assert (
        day.say("third", "UserPromptSubmit", "please write a haiku about autumn leaves in the park").count(SECRET) == 0
    )
    with Memory.open(day.root) as memory:
        assert memory.verify().ok


def test_without_the_preamble_the_reminder_still_comes(day):
    """Layer 1 gone (decayed, or switched off): the message itself brings it up."""
    day.switch_off("preamble")
    assert SECRET not in day.start()
    assert SECRET in day.ask()


def test_with_a_broken_pipeline_the_agent_is_told_at_once(day):
    """Layer 2 broken: the hook itself says that memory is degraded and what to type, and the next start says so too."""
    day.stop_index()
    answered = day.ask()
    assert "degraded" in answered
    assert "firsthand store rebuild" in answered
    day.look()
    started = day.start()
    assert "the text index stopped at position 1" in started
    assert "firsthand store rebuild" in json.loads(started)["systemMessage"]
    assert day.failure() is Mode.PIPELINE


def test_without_reminders_the_doctor_says_that_only_a_rule_is_left(day):
    """Layer 3 alone: nothing reminds the agent, the settings say so, and the failure is one of recognition."""
    day.switch_off("preamble", "cues", "recall")
    day.start()
    assert day.ask() == ""
    report = doctor.examine(day.root, namespace="default", look=doctor.Look(canary=False, keep=False))
    (note,) = [one for one in report.findings if one.stage == "settings"]
    assert "recognition failure" in note.what
    assert day.failure() is Mode.RECOGNITION


def test_all_layers_broken_is_still_told_at_the_start(day):
    """Preamble, cues and recall are off and the index has stopped: the session's first line names the stage."""
    day.stop_index()
    day.switch_off("preamble", "cues", "recall")
    day.look()
    started = day.start()
    assert "memory is broken: index" in started
    assert "firsthand store rebuild" in json.loads(started)["systemMessage"]
    assert day.ask() == ""
    assert day.failure() is Mode.PIPELINE


def test_once_mended_nothing_is_said(day):
    """After the command that was told, the next look is good and the agent is reminded again."""
    day.stop_index()
    day.look()
    assert health_line.line(day.root)
    with Memory.open(day.root) as memory:
        memory.rebuild()
        assert memory.verify().ok
    day.look()
    assert health_line.line(day.root) == ""
    assert SECRET in day.ask()
