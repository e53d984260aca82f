"""Looks at the files of an agent: edits that wait, and what cannot be followed.

| seen | said |
|---|---|
| an edit or a deletion that the log does not have an hour later | degraded |
| a Markdown file that cannot be followed: unreadable, binary, no UTF-8, too large | degraded |
| a link, a file of another kind | note |

The invariant: it changes neither the folder nor the log.
"""

from __future__ import annotations

from firsthand.agent_space import AgentSpace
from firsthand.agents import files
from firsthand.health.report import Finding, Severity, Stage
from firsthand.moment import Moment

EDIT_WAITS_S = 3_600
"""After so long an edit should have been followed: each session's start leaves the job to do it."""
_LINK = " is a link"


def of_files(agent: AgentSpace, now: Moment) -> list[Finding]:
    """Compare the files that people write with the log; nothing without a folder.

    Raises:
        StoreError: the folder or the log cannot be read.
    """
    if not agent.folder.is_dir():
        return []
    seen = files.follow(agent, record=False)
    findings = []
    waits = [change for change in seen.changes if now.microseconds / 1e6 - change.time_s > EDIT_WAITS_S]
    if waits:
        first = waits[0]
        what = (
            f"{len(waits):,} edits are not in the log, such as {first.file}, changed {Moment(int(first.time_s * 1e6))}"
        )
        mend = f"firsthand agent files --agent {agent.name}"
        findings.append(Finding(Stage.FILES, Severity.DEGRADED, what, mend, agent.name))
    lost = [file for file in seen.left_out if f"{files.SUFFIX} " in file and _LINK not in file]
    others = [file for file in seen.left_out if file not in lost]
    if lost:
        what = f"{len(lost):,} files cannot be followed into the log: {lost[0]}"
        mend = "save it as text in UTF-8, or take it away"
        findings.append(Finding(Stage.FILES, Severity.DEGRADED, what, mend, agent.name))
    if others:
        what = f"{len(others):,} files are not followed: {others[0]}"
        findings.append(Finding(Stage.FILES, Severity.NOTE, what, "", agent.name))
    return findings
