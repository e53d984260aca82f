"""Print the files of the package that an append, a recall and a hook pass, in order.

    python tools/walk.py        how many files, and which

A file is passed when one of its functions is called. The design has an append pass at most 11, a
recall 12 and a hook 25.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import firsthand
from firsthand import Memory
from firsthand.agents.hook_answer import answer_hook
from firsthand.event import Draft, Kind

SOURCE = Path(firsthand.__file__).parent
MOST = {"append": 11, "recall": 12, "hook": 25}


def passed(action: Callable[[], object]) -> list[str]:
    """Run an action, and give the files of the package whose functions it called, in order."""
    files: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(str(SOURCE)) and frame.f_code.co_name != "<module>":
            files[str(Path(name).relative_to(SOURCE))] = None

    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
    return list(files)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, Memory.open(Path(folder) / "store", embedder="none") as memory:
        draft = Draft(Kind.USER_MESSAGE, b"The staging port is 8443.")
        call = {"hook_event_name": "UserPromptSubmit", "session_id": "walk", "cwd": folder, "prompt": "staging port?"}
        actions: dict[str, Callable[[], object]] = {
            "append": lambda: memory.append([draft], session="walk"),
            "recall": lambda: memory.recall("staging port"),
            "hook": lambda: answer_hook("claude-code", json.dumps(call).encode(), memory),
        }
        for name, action in actions.items():
            action()  # what is done once a process is no part of the walk
            files = passed(action)
            print(f"{name}: {len(files)} files, at most {MOST[name]}\n    {' '.join(files)}")


if __name__ == "__main__":
    main()
