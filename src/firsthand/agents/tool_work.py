"""What an agent's tools did in a session: files changed, commands run, what failed and whether it went well later.

Fold the events of tools in, in order: `Work.call`, `Work.result`. The invariant: a file
counts as changed only when the call that changes it did not fail; a failure is over
only when a later call like it went well; what is kept is bounded, and what is not kept
is counted.

Pure. It reads commands by their words: what a script does inside is not seen. A call
failed when the host says so, or an exit code does. Of a result no word is kept.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from functools import cache, partial
from typing import Any

from firsthand.event import Event
from firsthand.formats import commands
from firsthand.value import field, value

CALLS_MAX = 256  # without a result that are remembered
FAILURES_MAX = 1_000
FILES_MAX = 2_000
TOOLS_MAX = 500
COMMITS_MAX = 200
SAID_CHARACTERS = 300

_compiled = cache(partial(re.compile, flags=re.MULTILINE))
_WRITERS = frozenset(
    """
    write edit multiedit notebookedit create createfile writefile editfile writetofile strreplaceeditor
    strreplacebasededittool strreplace insert replace applydiff inserteditintofile replacestringinfile
    multireplacestringinfile searchreplace deletefile delete
    """.split()  # noqa: SIM905 - words, to be read as such
)
_VIEWS = frozenset({"view", "undo_edit"})
_PATCHED = r"^\*\*\* (?:Update|Add|Delete) File: (.{1,300})$"
_SHELL_WRITES = (
    r"(?:^|[^<>&0-9])>{1,2} ?(?!&)(?P<to>[\w./~+-]{2,200})"
    r"|\btee (?:-a )?(?P<tee>[\w./~+-]{2,200})"
    r"|\bsed (?:-\S+ )*-i\S* (?:-e )?(?:'[^']{0,300}'|\"[^\"]{0,300}\"|\S+) (?P<sed>[\w./~+-]{2,200})"
    r"|(?:^|[;&|] *)(?:touch|rm|git rm|git mv|mv|cp) (?:-\S+ )*(?P<file>[\w./~+-]{2,200})"
    r"|^create (?P<create>\S{2,200})"
)
_EDIT_OPEN = r"\Aedit \d+:\d+"  # of SWE-agent: it edits the file that is open
_OPENS = r"\A(?:open|create) [\"']?([^\s\"']{2,200})"
_NO_PATHS = frozenset({"/dev/null", "/dev/stderr", "/dev/stdout", "/dev/tty", "null"})
_SETTING = (
    r"\A(?:(?:cd|pushd) [^&;|\n]+(?:&&|;|\n)\s*|export \w+=\S+ *(?:&&|;) *|\w+=\S+ +|sudo +|timeout \S+ +|time +)+"
)


@value
class Called:
    """A call that waits for its result."""

    tool: str
    said: str
    pointer: str
    files: tuple[str, ...]


@value(frozen=False)
class Failed:
    """One thing that failed, however often.

    Attributes:
        said: the call, as the agent wrote it.
        first, last: pointers of the first and the last result that failed.
        code: the last exit code; empty when none was told.
        times: how often.
        order: position of the first failure.
        over: pointer of a later like result that went well; empty while there is none.
    """

    tool: str
    said: str
    first: str
    last: str
    code: str
    times: int
    order: int
    over: str = ""


@value(frozen=False)
class Changed:
    """A file, how often it was changed, and the last call that did; ``order`` is the position of the first."""

    path: str
    times: int
    pointer: str
    order: int


@value
class Made:
    """A commit that a result told of."""

    name: str
    message: str
    pointer: str
    order: int


@value(frozen=False)
class Work:
    """What tools did so far.

    Attributes:
        calls, results: how many.
        failed: results that failed, those that are not kept included.
    """

    calls: int = 0
    results: int = 0
    failed: int = 0
    tools: Counter[str] = field(default_factory=Counter)
    failures: dict[str, Failed] = field(default_factory=dict)
    files: dict[str, Changed] = field(default_factory=dict)
    commits: list[Made] = field(default_factory=list)
    failures_left_out: int = 0
    files_left_out: int = 0
    commits_left_out: int = 0
    _waiting: dict[str, Called] = field(default_factory=dict)
    _open: str = ""

    def call(self, event: Event) -> None:
        """Take a tool call."""
        self.calls += 1
        tool, call_id = _meta(event, "tool") or "tool", _meta(event, "call_id")
        if tool in self.tools or len(self.tools) < TOOLS_MAX:
            self.tools[tool] += 1
        arguments = event.text
        action = command_of(arguments) or commands.doing(arguments)
        opened = _compiled(_OPENS).match(action)
        self._open = opened[1] if opened is not None else self._open
        files = files_of(tool, arguments) or (
            (self._open,) if self._open and _compiled(_EDIT_OPEN).match(action) else ()
        )
        if call_id:
            self._waiting.pop(call_id, None)
            self._waiting[call_id] = Called(tool, action[:SAID_CHARACTERS], f"fh:{event.id}", files)
            if len(self._waiting) > CALLS_MAX:
                del self._waiting[next(iter(self._waiting))]

    def result(self, event: Event) -> None:
        """Take a tool's result."""
        self.results += 1
        known = self._waiting.pop(_meta(event, "call_id"), None)
        tool = _meta(event, "tool") or (known.tool if known else event.origin.removeprefix("tool:"))
        action = known.said if known else ""
        text = event.text
        code = failure_of(event.meta, action, text)
        key = f"{tool}: {likeness(action)}"
        if code is not None:
            self.failed += 1
            self._failure(key, tool, action, event, code)
            return
        if (failure := self.failures.get(key)) is not None:
            failure.over = failure.over or f"fh:{event.id}"
        for path in known.files if known else ():
            self._change(path, known.pointer if known else "", event.position)
        made = commands.commit(commands.doing(action), text[: commands.HEAD_CHARACTERS])
        if made is not None:
            message = commands.doing(action).removeprefix(commands.COMMITTED)
            self.commits.append(Made(made.name, message, f"fh:{event.id}", event.position))
            if len(self.commits) > COMMITS_MAX:
                del self.commits[0]
                self.commits_left_out += 1

    def _failure(self, key: str, tool: str, action: str, event: Event, code: str) -> None:
        pointer = f"fh:{event.id}"
        failure = self.failures.get(key)
        if failure is not None:
            failure.times, failure.last, failure.code, failure.over = failure.times + 1, pointer, code, ""
        elif len(self.failures) < FAILURES_MAX:
            self.failures[key] = Failed(tool, action, pointer, pointer, code, 1, event.position)
        else:
            self.failures_left_out += 1

    def _change(self, path: str, pointer: str, position: int) -> None:
        file = self.files.get(path)
        if file is not None:
            file.times, file.pointer = file.times + 1, pointer
        elif len(self.files) < FILES_MAX:
            self.files[path] = Changed(path, 1, pointer, position)
        else:
            self.files_left_out += 1


def failure_of(meta: Mapping[str, Any], action: str, text: str) -> str | None:
    """Give the exit code of a result that failed, empty when it told none; None when it did not fail."""
    failed = commands.failure(meta, text, action)
    return None if failed is None else failed.code


def likeness(action: str) -> str:
    """Give what like commands have in common: program, verb and what it works on, without options and pipes."""
    command = _compiled(_SETTING).sub("", action.strip())
    words = [word for word in re.split(r"[|;&<>\n]", command)[0].split() if not word.startswith("-")]
    return " ".join(words[:4]).casefold()[:SAID_CHARACTERS]


def files_of(tool: str, arguments: str) -> tuple[str, ...]:
    """Give the files that a call changes, as far as its arguments say so."""
    fields = _object(arguments)
    name = _name(tool)
    patched = _compiled(_PATCHED).findall(arguments.replace("\\n", "\n")) if "*** " in arguments else []
    if patched:
        return tuple(dict.fromkeys(path.strip() for path in patched))
    if name in _WRITERS and fields is not None:
        if fields.get("command") in _VIEWS:
            return ()
        path = next((fields[name] for name in commands.PATHS if isinstance(fields.get(name), str) and fields[name]), "")
        return (path,) if path else ()
    command = command_of(arguments)
    if not command:
        return ()
    files = []
    for match in _compiled(_SHELL_WRITES).finditer(command[:4_000]):
        path = match[match.lastgroup or 0]
        if path not in _NO_PATHS and re.search(r"[A-Za-z]", path) and ("." in path or "/" in path):
            files.append(path)
    return tuple(dict.fromkeys(files))


def command_of(arguments: str) -> str:
    """Give the shell command of a call, whole; empty when it is none."""
    fields = _object(arguments)
    if fields is None:
        return "" if arguments.lstrip().startswith(("{", "[")) else arguments.strip()
    command = fields.get("command", fields.get("cmd", fields.get("script")))
    if isinstance(command, list):
        command = command[-1] if command and isinstance(command[-1], str) else ""
    known = any(isinstance(fields.get(name), str) for name in commands.PATHS)  # an editor's, whose command is a verb
    return command.strip() if isinstance(command, str) and not known else ""


def _object(arguments: str) -> Mapping[str, Any] | None:
    """Read arguments as a JSON object; None when they are none, or cut off."""
    if not arguments.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _name(tool: str) -> str:
    return tool.rpartition("__")[2].rpartition(".")[2].replace("_", "").replace("-", "").casefold()


def _meta(event: Event, name: str) -> str:
    value = event.meta.get(name)
    return value if isinstance(value, str) else ""
