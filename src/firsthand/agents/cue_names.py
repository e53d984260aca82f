"""The names that can be cues, kept beside the log so that a prompt does not wait for all of them to be read.

``.names.json`` in the agent's folder holds the names of episodes, knowledge and entities
with what each is about, up to a position of the log; what came after is read and added.
Disposable: it is made anew when it is lost, torn, of another log, or when something of
the agent's was erased. The invariant: what it gives is what reading the agent's whole
session gives.

It does not know what is shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from firsthand.agent_space import AgentSpace
from firsthand.agents import files, small_files
from firsthand.agents.episode_names import topic_of
from firsthand.errors import StoreReadOnly, Unresolvable
from firsthand.event import Event, Kind
from firsthand.notes.sources import FILE
from firsthand.value import value

ABOUT_CHARACTERS_MAX = 300
NAMES_MAX = 5_000
"""The newest ones are kept; older ones are found by recall."""
BYTES_MAX = 16 << 20
"""Of the file; a larger one is none of ours, and all is read again."""
VERSION = 1
EPISODES = "Episodes"
GROUPS = {files.KNOWLEDGE: "Knowledge", files.ENTITIES: "Entities"}


@value
class Kept:
    """One name.

    Attributes:
        position: of the event that gave it.
        group: what it names: `EPISODES`, or one of `GROUPS`.
        about: further words of it.
    """

    position: int
    name: str
    group: str
    about: str
    pointer: str


def names(agent: AgentSpace) -> tuple[Kept, ...]:
    """Give the names of an agent's episodes, knowledge and entities, the newest first."""
    path = agent.folder / files.NAMES_FILE
    through, last, kept = _read(path)
    new = [*agent.space.events(agent.session, after=through)]
    if (through and not _is_there(agent, last, through)) or any(one.kind is Kind.ERASURE for one in new):
        kept, new = {}, [*agent.space.events(agent.session)]
    _add(kept, new)
    if new and not agent.space.read_only:
        _write(path, new[-1], kept)
    return tuple(sorted(kept.values(), key=lambda one: -one.position))[:NAMES_MAX]


def _add(kept: dict[str, Kept], events: Iterable[Event]) -> None:
    """Take events in: the newest version of a session's episode and of a file is the one that counts."""
    for one in events:
        meta, pointer = one.meta, f"fh:{one.id}"
        name, session, file = meta.get("name"), meta.get("session"), meta.get(FILE)
        if one.kind is Kind.EPISODE and isinstance(name, str) and isinstance(session, str):
            terms = meta.get("terms")
            words = [topic_of(name), *(str(term) for term in terms)] if isinstance(terms, list) else [topic_of(name)]
            about = " ".join(words)[:ABOUT_CHARACTERS_MAX]
            kept[f"session {session}"] = Kept(one.position, name, EPISODES, about, pointer)
        elif one.kind is Kind.NOTE and isinstance(file, str) and files.is_followed(file):
            group = GROUPS.get(file.partition("/")[0], "")
            kept.pop(f"file {file}", None)
            if group and not one.erased and meta.get(files.DELETED) is not True:
                about = one.text[:ABOUT_CHARACTERS_MAX]
                kept[f"file {file}"] = Kept(one.position, files.stem_of(file), group, about, pointer)


def _is_there(agent: AgentSpace, last: str, position: int) -> bool:
    """Say whether the log has the event that the names were kept up to; False for another log."""
    try:
        return agent.space.event(last).position == position
    except Unresolvable:
        return False


def _read(path: Path) -> tuple[int, str, dict[str, Kept]]:
    """Read what is kept; nothing, from position 0 on, when it is lost, torn or of another version."""
    try:
        told: Any = json.loads(small_files.beginning(path, BYTES_MAX) or b"{}")
        if told["version"] == VERSION:
            return int(told["through"]), str(told["last"]), {key: Kept(*one) for key, one in told["names"].items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return 0, "", {}  # it only saves reading: all is read again
    return 0, "", {}


def _write(path: Path, last: Event, kept: dict[str, Kept]) -> None:
    newest = sorted(kept.items(), key=lambda pair: -pair[1].position)[:NAMES_MAX]
    rows = {key: [one.position, one.name, one.group, one.about, one.pointer] for key, one in newest}
    told = {"version": VERSION, "through": last.position, "last": f"fh:{last.id}", "names": rows}
    try:
        small_files.write(path, json.dumps(told).encode())
    except StoreReadOnly:  # the log can be read all the same, only not as quickly
        return
