"""The files of an agent: what waits, and what cannot be followed."""

from __future__ import annotations

import os

import pytest

from firsthand.health.doctor import Look, examine
from firsthand.health.report import Stage
from firsthand.health.stages import EDIT_WAITS_S, Inside, agents_files
from firsthand.moment import Moment, now


@pytest.fixture
def agent(memory):
    """An agent with one episode and one file of knowledge, both as they should be."""
    zoo = memory.agent("zoo")
    zoo.enrol("monday")
    memory.session("monday").user("Please plan the move of the zebras between the two enclosures.")
    zoo.close("monday")
    (zoo.folder / "knowledge").mkdir(parents=True)
    (zoo.folder / "knowledge" / "fence.md").write_text("The fence is closed at nine.\n")
    zoo.follow()
    return zoo


def found(agent, seconds: float = 0.0) -> list[tuple[str, str, str]]:
    """Give what is found so many seconds from now: severity, sentence, what to do."""
    at = Moment(now().microseconds + int(seconds * 1e6))
    every = [*agents_files(Inside(agent.space, at, Look(agent=agent.name)))]
    assert {(one.stage, one.agent) for one in every} <= {(Stage.FILES, "zoo")}
    return [(one.severity.value, one.what, one.mend) for one in every]


def test_a_folder_that_is_what_the_log_has_is_healthy(agent, memory):
    """Nothing is found, now or later, and nothing without a folder."""
    assert found(agent) == found(agent, 10 * EDIT_WAITS_S) == []
    assert [*agents_files(Inside(memory, now(), Look(agent="nobody")))] == []


def test_an_edit_and_a_deletion_that_wait_are_degraded(agent):
    """A minute after an edit all is well; later than an hour it is named until it was followed."""
    path = agent.folder / "knowledge" / "fence.md"
    path.write_text("The fence is closed at ten.\n")
    assert found(agent, 60) == []
    ((severity, what, mend),) = found(agent, EDIT_WAITS_S + 60)
    assert (severity, mend) == ("degraded", "firsthand agent files --agent zoo")
    assert what.startswith("1 edits are not in the log, such as knowledge/fence.md, changed 2")
    agent.follow()
    assert found(agent, EDIT_WAITS_S + 60) == []
    path.unlink()
    assert found(agent, 60) == []
    assert [one[0] for one in found(agent, EDIT_WAITS_S + 60)] == ["degraded"]
    agent.follow()
    assert found(agent, EDIT_WAITS_S + 60) == []


def test_a_file_that_was_only_touched_is_no_edit(agent):
    """The same bytes under a new time are in the log."""
    os.utime(agent.folder / "knowledge" / "fence.md", (1, 1))
    assert found(agent) == []


def test_what_cannot_be_followed_is_told_by_what_it_is(agent):
    """A Markdown file that is binary is believed to be remembered: degraded; a link or another kind is a note."""
    knowledge = agent.folder / "knowledge"
    (knowledge / "logo.md").write_bytes(b"\x89PNG\0\0")
    (knowledge / "photo.png").write_bytes(b"\x89PNG\0\0")
    (knowledge / "linked.md").symlink_to(knowledge / "fence.md")
    assert found(agent) == [
        ("degraded", "1 files cannot be followed into the log: knowledge/logo.md is binary",
         "save it as text in UTF-8, or take it away"),
        ("note", "2 files are not followed: knowledge/linked.md is a link; links are not followed", ""),
    ]  # fmt: skip


def test_the_doctor_looks_at_the_folders_of_all_agents(agent, memory):
    """A binary file is in the doctor's report with its agent, and the memory counts as degraded."""
    (agent.folder / "knowledge" / "logo.md").write_bytes(b"\0")
    report = examine(memory.path, look=Look(canary=False, keep=False, measures=False))
    assert [(one.stage, one.agent) for one in report.findings if one.severity != "note"] == [(Stage.FILES, "zoo")]
    assert report.line.startswith("memory is degraded: files of zoo: 1 files cannot be followed")
