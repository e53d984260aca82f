"""Faults of hooks and jobs, kept for `doctor`: what went wrong, when, and in whose session.

The invariant: one line of JSON a fault; the file is bounded, and of more the older
half goes. A fault that cannot be kept (the disk is full) is raised, not dropped.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from firsthand import moment
from firsthand.agents import small_files
from firsthand.moment import Moment
from firsthand.value import asdict, value

FAULTS_BYTES_MAX = 262_144
FAULT_CHARACTERS_MAX = 500
GIVEN_UP = "given up"
"""How the text of a fault begins whose job is not tried again."""


@value
class Fault:
    """One thing that went wrong.

    Attributes:
        where: the step: ``recall``, ``record``, ``job follow`` ...
        text: what was expected and what came.
        session: whose it was; empty for none.
        time: when; None if the line did not say.
        namespace: whose it was; empty for what is no tenant's.
    """

    where: str
    text: str
    session: str = ""
    time: Moment | None = None
    namespace: str = ""


def keep_fault(store: Path, fault: Fault) -> None:
    """Append a fault to the list.

    Raises:
        StoreError: it cannot be written.
    """
    row = asdict(fault) | {"time": str(fault.time or moment.now()), "text": fault.text[:FAULT_CHARACTERS_MAX]}
    small_files.add_row(_path(store), row, bytes_max=FAULTS_BYTES_MAX)


def faults(store: Path, namespace: str | None = None) -> tuple[Fault, ...]:
    """Give the faults that are kept, oldest first; a line that is no fault is passed over.

    Args:
        namespace: without those of other namespaces.
    """
    recent = []
    for row in small_files.rows(_path(store)):
        with suppress(KeyError, TypeError):  # of another version
            recent.append(Fault(**(row | {"time": moment.parse(row["time"])})))
    return tuple(fault for fault in recent if namespace is None or fault.namespace in ("", namespace))


def forget_words(store: Path) -> None:
    """Forget what the faults said, which may quote what was erased; when and where they were, and how they ended, stay.

    Raises:
        StoreError: the file cannot be changed.
    """
    said = {True: f"{GIVEN_UP}; its words were erased", False: "its words were erased"}
    lines = [row | {"text": said[str(row.get("text")).startswith(GIVEN_UP)]} for row in small_files.rows(_path(store))]
    if lines:
        small_files.put_rows(_path(store), lines)


def _path(store: Path) -> Path:
    return store / "hooks" / "faults.jsonl"
