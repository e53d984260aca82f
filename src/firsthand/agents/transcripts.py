"""Transcripts into the log, under the user's settings, with what follows the log brought up to date."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping

from firsthand import environment
from firsthand.agents import settings
from firsthand.agents.recording_rules import rules_of
from firsthand.hosts import importer
from firsthand.hosts.import_report import ImportReport, Progress
from firsthand.hosts.jsonl import Fields, Jsonl
from firsthand.hosts.log_keeper import LogKeeper
from firsthand.space import Space


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
