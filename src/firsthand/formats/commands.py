"""What a tool call does and what became of it, by the form of its arguments and its result.

    doing('{"command": "cd src && pytest -q"}')    "pytest -q"
    paths('{"file_path": "src/a.py"}')             ("src/a.py",)
    failure(meta, "exit code 2 ...", "make")       Failure("2")

The invariant: of a result only facts are taken (that it failed, its exit code, a
commit's name), never its words: a result must not be able to write into the task state.

It does not know the state, nor what a command means.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache, partial
from typing import Any

from firsthand.value import value

HEAD_CHARACTERS = 2_000  # of a result: its first lines say whether it failed
TAIL_CHARACTERS = 400
COMMITTED = "git commit: "  # before the message of a commit, in the words for its call
PATHS = ("file_path", "path", "filePath", "filename", "notebook_path", "target_file", "absolute_path")
"""Arguments that name a file."""
_compiled = cache(partial(re.compile, flags=re.IGNORECASE | re.MULTILINE))
_CODE = r"(-?[1-9]\d{0,4})\b"
_FAILED = (
    rf"\A\W{{0,3}}(?:<error>|exit ?code:? ?{_CODE}|command (?:failed|exited) with (?:exit )?(?:code|status) {_CODE}"
    rf"|process exited with code {_CODE})"
)
_FAILED_LATE = rf"(?:command exited with code|process exited with code|^exit code:?) {_CODE}\W*\Z"
_QUIET = (  # commands whose exit code 1 says that nothing was found, or that something differs
    r"\A\W*(?:sudo |env \S+ )*(?:[ef]?grep|rg|ag|git grep|git diff|diff|cmp|test|\[|which|type|pgrep)\b"
)
_COMMIT = r"^\[([\w./ #()-]{1,80}) ([0-9a-f]{7,40})\] \S"
_DETACHED = r" ?\((?:root-commit|detached head)\)| ?detached head"
_MESSAGE = r"""(?:-[a-z]*m|--message)[ =]?(?:"((?:[^"\\]|\\.){1,400})|'([^']{1,400}))"""
_MESSAGE_HERE = r"<<-?\s*['\"]?(\w+)['\"]?\n(.{1,400})"
_COMMITS = r"\bgit (?:-\S+ \S+ )*commit\b"
_WHAT = ("command", "cmd", "script", "file_path", "path", "filename", "pattern", "query", "url", "prompt", "name")
_SHELL = r"(?:\S*/)?(?:ba|z|da|)sh\Z"
_SETTING = r"\A(?:cd [^&;|\n]+(?:&&|;) *|export \w+=\S+ *(?:&&|;) *)+"


@value
class Failure:
    """A result that says its call failed.

    Attributes:
        code: its exit code as written; empty when it told none.
    """

    code: str = ""


@value
class Commit:
    """A commit that a result tells of."""

    name: str
    branch: str


def failure(meta: Mapping[str, Any], result: str, command: str) -> Failure | None:
    """Say whether a result tells of a failure; a search that found nothing is none.

    Args:
        command: what the agent asked for, as far as it is known.
    """
    code = meta.get("exitCode", meta.get("exit_code"))
    if isinstance(code, int) and not isinstance(code, bool):
        failed = Failure(str(code)) if code else None
    else:
        failed = _told(result)
    if failed is None:
        return Failure() if meta.get("is_error") is True else None
    quiet = failed.code == "1" and _compiled(_QUIET).search(command) is not None
    return None if quiet else failed


def _told(result: str) -> Failure | None:
    early = _compiled(_FAILED).search(result[:HEAD_CHARACTERS])
    late = early or _compiled(_FAILED_LATE).search(result[-TAIL_CHARACTERS:])
    if late is None:
        return None
    return Failure(next((code for code in late.groups() if code), ""))


def commit(command: str, result: str) -> Commit | None:
    """Give the commit that a result tells of, when the agent's command made one."""
    if not command.startswith("git commit"):
        return None
    match = _compiled(_COMMIT).search(result)
    if match is None:
        return None
    return Commit(match[2], _compiled(_DETACHED).sub("", match[1]).strip())


def doing(arguments: str) -> str:
    """Give the agent's own words for a call: its command, file, pattern or query; empty when it has none of them."""
    fields: Any = arguments
    if arguments.lstrip().startswith("{"):
        try:
            fields = json.loads(arguments)
        except (ValueError, RecursionError):
            return ""  # cut off
    if isinstance(fields, Mapping):
        value = next((fields[name] for name in _WHAT if isinstance(fields.get(name), (str, list)) and fields[name]), "")
        words = [word for word in value if isinstance(word, str)] if isinstance(value, list) else [value]
        fields = words[-1] if words and _compiled(_SHELL).match(words[0]) else " ".join(words)
    command = _compiled(_SETTING).sub("", str(fields).strip())
    if _compiled(_COMMITS).search(command) and (message := _message(command)):
        return COMMITTED + message
    return command.split("\n")[0].strip()


def _message(command: str) -> str:
    """Give the first line of the message that a commit command carries; empty when it has none."""
    here = _compiled(_MESSAGE_HERE).search(command)
    if here is not None:
        return here[2].strip()
    match = _compiled(_MESSAGE).search(command)
    return (match[1] or match[2] or "").split("\n")[0].strip() if match is not None else ""


def paths(arguments: str) -> tuple[str, ...]:
    """Give the files that a call names in its arguments; none where they are no JSON object."""
    if not arguments.lstrip().startswith("{"):
        return ()
    try:
        fields = json.loads(arguments)
    except (ValueError, RecursionError):
        return ()  # cut off
    if not isinstance(fields, Mapping):
        return ()
    return tuple(
        dict.fromkeys(fields[name] for name in PATHS if isinstance(fields.get(name), str) and fields[name].strip())
    )
