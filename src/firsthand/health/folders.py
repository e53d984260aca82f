"""Looks at the files of an agent: edits that wait, what cannot be followed, files of ours that are old or gone.

| seen | said |
|---|---|
| an edit or a deletion that the log does not have an hour later | degraded |
| a Markdown file that cannot be followed: unreadable, binary, no UTF-8, too large | degraded |
| an episode's file of ours that is not what its event says | degraded |
| an episode's file that is gone; a file of ours that a person changed; a link, a file of another kind | note |

The invariant: it changes neither the folder nor the log; of one agent at most `files.FILES_MAX` names and the
newest `EPISODES_MAX` episodes are looked at.
"""

from __future__ import annotations

from pathlib import Path

from firsthand.agent_space import AgentSpace
from firsthand.agents import files, small_files
from firsthand.agents.episode_list import episodes, file_of
from firsthand.health.report import Finding, Severity, Stage
from firsthand.moment import Moment

EDIT_WAITS_S = 3_600
"""After so long an edit should have been followed: each session's start leaves the job to do it."""
EPISODES_MAX = 50
_LINK = " is a link"


def of_files(agent: AgentSpace, now: Moment) -> list[Finding]:
    """Look at an agent's folder; nothing without one.

    Raises:
        StoreError: the folder or the log cannot be read.
    """
    if not agent.folder.is_dir():
        return []
    return [*_of_edits(agent, now.microseconds / 1e6), *_of_ours(agent)]


def _of_edits(agent: AgentSpace, now_s: float) -> list[Finding]:
    """Compare the files that people write with the log."""
    seen = files.unfollowed(agent)
    findings = []
    gone = [(file, _changed_s(agent.folder / file)) for file in seen.deleted]
    waits = [(file, at) for file, at in (*seen.edited, *gone) if now_s - at > EDIT_WAITS_S]
    if waits:
        file, at = waits[0]
        what = f"{len(waits):,} edits are not in the log, such as {file}, changed {Moment(int(at * 1e6))}"
        mend = f"firsthand agent files --agent {agent.name}"
        findings.append(Finding(Stage.FILES, Severity.DEGRADED, what, mend, agent.name))
    lost = [file for file in seen.left_out if f"{files.SUFFIX} " in file and _LINK not in file]
    others = [file for file in seen.left_out if file not in lost]
    mend = "save it as text in UTF-8, or take it away"
    if lost:
        what = f"{len(lost):,} files cannot be followed into the log: {lost[0]}"
        findings.append(Finding(Stage.FILES, Severity.DEGRADED, what, mend, agent.name))
    if others:
        what = f"{len(others):,} files are not followed: {others[0]}"
        findings.append(Finding(Stage.FILES, Severity.NOTE, what, "", agent.name))
    return findings


def _changed_s(path: Path) -> float:
    """Say when a file was deleted at the earliest: when its folder, or what is left above it, was changed last."""
    there = next(parent for parent in path.parents if parent.is_dir())
    return there.stat().st_mtime


def _of_ours(agent: AgentSpace) -> list[Finding]:
    """Compare the files that Firsthand writes with their events."""
    theirs, old, gone = [], [], []
    for episode in episodes(agent)[-EPISODES_MAX:]:
        file = file_of(episode.name)
        ours = files.written_by_us(agent, file)
        if ours is None:
            gone.append((file, episode.session))
        elif not ours:
            theirs.append(file)
        elif small_files.read(agent.folder / file) != agent.space.expand(episode.pointer):
            old.append((file, episode.session))
    theirs += [files.PREAMBLE_FILE] if files.written_by_us(agent, files.PREAMBLE_FILE) is False else []
    findings = []
    if old:
        what = f"{len(old):,} files are not what their events say, such as {old[0][0]}"
        mend = f"delete it, then: firsthand agent close {old[0][1]}"
        findings.append(Finding(Stage.FILES, Severity.DEGRADED, what, mend, agent.name))
    if gone:
        what = f"{len(gone):,} episodes have no file, such as {gone[0][0]}; the log has them"
        mend = f"firsthand agent close {gone[0][1]} writes it again"
        findings.append(Finding(Stage.FILES, Severity.NOTE, what, mend, agent.name))
    if theirs:
        what = f"{len(theirs):,} files of ours were changed by hand and stay so, such as {theirs[0]}"
        findings.append(Finding(Stage.FILES, Severity.NOTE, what, "delete one to have it written again", agent.name))
    return findings
