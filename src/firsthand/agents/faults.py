"""Faults of hooks and jobs, kept for `doctor`: what went wrong, when, and in whose session.

The invariant: one line of JSON a fault; the file is bounded, and of more the older
half goes. A fault that cannot be kept (the disk is full) is raised, not dropped.
"""

from __future__ import annotations

import json
from pathlib import Path

from firsthand import moment
from firsthand.agents import small_files
from firsthand.moment import Moment
from firsthand.value import replace, value

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
    path = _path(store)
    small_files.add_line(path, _line(fault), bytes_max=FAULTS_BYTES_MAX, over=lambda: _halve(path))


def faults(store: Path, namespace: str | None = None) -> tuple[Fault, ...]:
    """Give the faults that are kept, oldest first; a line that is no fault is passed over.

    Args:
        namespace: without those of other namespaces.
    """
    recent = []
    for line in (small_files.read(_path(store)) or b"").splitlines():
        try:
            fields = json.loads(line)
            fault = Fault(fields["where"], fields["text"], fields["session"], moment.parse(fields["time"]),
                          fields.get("namespace", ""))  # fmt: skip
        except (ValueError, KeyError, TypeError):  # torn by a crash
            continue
        if namespace is None or fault.namespace in ("", namespace):
            recent.append(fault)
    return tuple(recent)


def forget_words(store: Path) -> None:
    """Forget what the faults said, which may quote what was erased; when and where they were, and how they ended, stay.

    Raises:
        StoreError: the file cannot be changed.
    """
    path = _path(store)
    texts = {True: f"{GIVEN_UP}; its words were erased", False: "its words were erased"}
    lines = [_line(replace(fault, text=texts[fault.text.startswith(GIVEN_UP)])) for fault in faults(store)]
    if lines:
        _overwrite(path, lines)


def clear(store: Path) -> None:
    """Forget the faults."""
    small_files.remove(_path(store))


def _path(store: Path) -> Path:
    return store / "hooks" / "faults.jsonl"


def _line(fault: Fault) -> bytes:
    fields = {
        "time": str(fault.time or moment.now()), "where": fault.where,
        "text": fault.text[:FAULT_CHARACTERS_MAX], "session": fault.session, "namespace": fault.namespace,
    }  # fmt: skip
    return json.dumps(fields, ensure_ascii=True).encode()


def _halve(path: Path) -> None:
    """Keep the newer half."""
    lines = (small_files.read(path) or b"").splitlines()
    _overwrite(path, lines[len(lines) // 2 :])


def _overwrite(path: Path, lines: list[bytes]) -> None:
    """Put other lines into the same file: whoever has it open goes on at its new end."""
    with small_files.ours(f"write {path}"), path.open("wb") as file:
        file.write(b"".join(line + b"\n" for line in lines))
