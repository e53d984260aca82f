"""Transcripts into the log, under the user's settings, and their sessions to the agents of the folders they were in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path

from firsthand import environment
from firsthand.agent_space import AgentSpace
from firsthand.agents import settings
from firsthand.agents.recording_rules import rules_of
from firsthand.hosts import importer
from firsthand.hosts.import_report import ImportReport, Progress
from firsthand.hosts.intake import LogKeeper
from firsthand.hosts.jsonl import Fields, Jsonl
from firsthand.hosts.places import usual_places
from firsthand.space import Space

HEAD_EVENTS = 40
"""First events of a session, in which its folder stands."""


def import_paths(
    space: Space,
    paths: Iterable[str | os.PathLike[str]] | None = None,
    *,
    mapping: Mapping[str, str] | None = None,
    progress: Callable[[Progress], None] | None = None,
    folder: str = "",
) -> ImportReport:
    """Import transcripts, mails and message files into a space; see `Memory.import_paths`."""
    report = importer.import_paths(
        LogKeeper(space.log, space.namespace, rules_of(space.path, settings.load(space.path, folder))),
        paths,
        home=environment.home(),
        folders=environment.host_folders(),
        host=None if mapping is None else Jsonl(Fields.of(mapping)),
        progress=progress,
    )
    space.wake()
    return report


def enrol_imported(space: Space, report: ImportReport, named: Iterable[str | os.PathLike[str]] = ()) -> int:
    """Make imported sessions those of the agents of their folders, so that the next session there is told of them.

    It does so for what hosts on this machine keep in their usual places, and for folders that are still there. A file
    that was named itself leaves the project to its first session, which takes in all of it (`capture.take_project`).

    Args:
        named: the paths that were asked for.

    Returns:
        how many sessions have become an agent's.
    """
    folders = [Path(os.path.realpath(place.folder)) for place in usual_places()]
    files = {os.path.realpath(path) for path in named}
    chosen = cache(lambda cwd: settings.load(space.path, cwd))
    enrolled = 0
    for source in report.sources:
        if source.path in files or not any(Path(source.path).is_relative_to(folder) for folder in folders):
            continue
        for session in source.sessions:
            cwd = _folder_of(space, session.partition("/agent-")[0])
            if cwd and chosen(cwd).record:
                agent = AgentSpace(space, chosen(cwd).agent or settings.agent_of(cwd))
                enrolled += agent.enrol(session, host=source.host, cwd=cwd)
    return enrolled


def _folder_of(space: Space, session: str) -> str:
    """Give the folder in which a session began; empty where its transcript does not say, or it is gone."""
    events = space.events(session, limit=HEAD_EVENTS)
    cwd = next((event.meta["cwd"] for event in events if isinstance(event.meta.get("cwd"), str)), "")
    is_there = os.path.isabs(cwd) and os.path.isdir(cwd)  # noqa: PTH112, PTH117 - a path raises for what is too long
    return cwd if is_there else ""
