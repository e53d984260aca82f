"""What plan tools of agent hosts and check boxes say is left to do.

The invariant: an item is open until its list says that it is done, cancelled or
gone. Known are tools that hand over the whole list (TodoWrite of Claude Code,
update_plan of Codex, write_todos of Gemini CLI and deepagents, task_tracker of
OpenHands, manage_todo_list of VS Code), those that change some items by id
(todo_write of Cursor with ``merge``), and TaskCreate with TaskUpdate of Claude Code,
whose ids come in a result. Arguments of any other shape say nothing.

It does not know the state that the items go into.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache, partial
from typing import Any

from firsthand.task import sentences
from firsthand.value import value

ITEMS_MAX = 100  # of one list
_TOOLS = frozenset(
    {
        "todowrite", "updateplan", "writetodos", "todos", "todo", "updatetodos", "updatetodolist", "tasktracker",
        "managetodolist", "settodolist", "managetasks",
    }
)  # fmt: skip
_LISTS = ("todos", "plan", "task_list", "todoList", "taskList", "items")
_WORDS = ("content", "step", "description", "title", "task", "text", "subject")
_DONE = frozenset({"completed", "complete", "done", "cancelled", "canceled", "deleted", "skipped", "finished"})
_CREATE, _UPDATE = "taskcreate", "taskupdate"
_compiled = cache(partial(re.compile, flags=re.MULTILINE))
_BOX = r"^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+\[([ xX~/-])\][ \t]+(\S.*)$"
_NUMBER = r"\A[^\n]{0,40}?#(\d{1,9})\b"


@value
class Step:
    """One item of a plan.

    Attributes:
        key: its id in the plan; empty when it is known by its text.
        open: neither done nor cancelled.
        active: being worked on.
    """

    text: str
    key: str = ""
    open: bool = True
    active: bool = False


@value
class Plan:
    """What one call says of the plan.

    Attributes:
        whole: these are all the items; else only those that change.
    """

    steps: tuple[Step, ...]
    whole: bool = True


def of_call(tool: str, arguments: str) -> Plan | None:
    """Read a call of a plan tool; None when it is none, or says nothing of its items."""
    name = _plain(tool)
    if name not in _TOOLS and name not in {_CREATE, _UPDATE}:
        return None
    try:
        told = json.loads(arguments)
    except (ValueError, RecursionError):
        return None  # cut off, or no JSON: then it says nothing that can be relied on
    if not isinstance(told, dict):
        return None
    if name == _UPDATE:
        return _update(told)
    if name == _CREATE:
        return None  # its id comes with its result
    for field in _LISTS:
        listed = told.get(field)
        if isinstance(listed, list):
            steps = [step for step in map(_step, listed[:ITEMS_MAX]) if step is not None]
            return Plan(tuple(steps), whole=told.get("merge") is not True) if steps or not listed else None
    return None


def subject(tool: str, arguments: str) -> str:
    """Give what a TaskCreate call makes; empty for any other call."""
    if _plain(tool) != _CREATE:
        return ""
    try:
        told = json.loads(arguments)
    except (ValueError, RecursionError):
        return ""
    words = told.get("subject") if isinstance(told, dict) else None
    return words if isinstance(words, str) else ""


def creates(tool: str) -> bool:
    """Say whether a tool makes one item, and tells its number in the result."""
    return _plain(tool) == _CREATE


def number(result: str) -> str:
    """Give the number of the item that a TaskCreate result tells of; empty when it tells none."""
    match = _compiled(_NUMBER).search(result[:200])
    return match[1] if match is not None else ""


def boxes(message: str) -> tuple[Step, ...]:
    """Give the check boxes of a message, those in code left out."""
    if "[" not in message:
        return ()
    found = _compiled(_BOX).finditer(sentences.without_code(message[: sentences.CHARACTERS_MAX]))
    steps = (Step(match[2].strip(), open=match[1] in " ~/", active=match[1] in "~/") for match in found)
    return tuple(step for step, _ in zip(steps, range(ITEMS_MAX), strict=False))


def _plain(tool: str) -> str:
    """Give a tool's name without what hosts write before it and between its words."""
    return tool.rpartition("__")[2].rpartition(".")[2].replace("_", "").replace("-", "").casefold()


def _step(item: object) -> Step | None:
    if isinstance(item, str):
        return Step(item) if item.strip() else None
    if not isinstance(item, Mapping):
        return None
    words = next((item[name] for name in _WORDS if isinstance(item.get(name), str) and item[name].strip()), "")
    key = _key(item.get("id"))
    return Step(words, key, *_status(item.get("status"))) if words or key else None


def _update(told: Mapping[str, Any]) -> Plan | None:
    key, status = _key(told.get("taskId")), told.get("status")
    subject = told.get("subject")
    words = subject if isinstance(subject, str) else ""
    if not key or not (isinstance(status, str) or words):
        return None
    return Plan((Step(words, key, *_status(status)),), whole=False)


def _key(given: object) -> str:
    return " ".join(str(given)[:40].split()) if isinstance(given, (str, int)) and not isinstance(given, bool) else ""


def _status(status: object) -> tuple[bool, bool]:
    """Read a status as open, active."""
    word = status.casefold().replace("-", "_").replace(" ", "_") if isinstance(status, str) else ""
    return word not in _DONE, word in {"in_progress", "active", "doing", "started"}
