"""The memory tool of Anthropic's API: files that are a view of the log.

    tool = FirsthandMemoryTool("notes", agent="ada")
    client.beta.messages.tool_runner(model=..., tools=[tool], messages=...)

    /memories/preamble.md          what a session of the agent reads first      a view
    /memories/episodes/NAME.md     the record of each of its sessions           a view
    /memories/...                  what the model writes, such as notes/*.md    each version is an event

The invariant: what a write returned for is on disk; every version of a file stays in the log, and a change is made
to the version that it was made of. A view is refused by `ToolError`, and so is what the store refuses: no call ends
the run. A folder is there as long as something is in it.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Mapping
from typing import Any

from anthropic.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError

from firsthand import Draft, Event, Kind, Memory, Trust
from firsthand.adapters.loop import Loop
from firsthand.agent_space import AgentSpace
from firsthand.agents.agent_tools import AgentTools
from firsthand.errors import StaleExpectation
from firsthand.event import to_bytes
from firsthand.ledger.effect import Effect
from firsthand.moment import now
from firsthand.value import replace, value

HOST = "anthropic-memory"
ROOT, PREAMBLE, EPISODES = "/memories", "/memories/preamble.md", "/memories/episodes"
LINES_MAX, NUMBER_WIDTH, DEPTH, AROUND = 999_999, 6, 2, 2
TRIES_MAX = 8
WRITTEN, DELETED, RENAMED = "file", "file deleted", "file renamed"


class _Refused(Exception):
    """What a model is told of a command that was not done."""


@value
class _Files:
    """The files that stand after the events of their session up to a position."""

    through: int
    events: Mapping[str, Event]


class MemoryFiles:
    """The files of an agent, and what each command does to them."""

    def __init__(self, memory: Memory, agent: str, session: str) -> None:
        self._memory, self._session, self._agent = memory, session, AgentSpace(memory, agent)

    def do(self, command: Any) -> str:
        """Do a command, again where another writer was quicker.

        Raises:
            _Refused: it was not done.
        """
        _check_fields(command)
        for _ in range(TRIES_MAX):
            try:
                done: str = getattr(self, f"_{command.command}")(self._files(), command)
            except StaleExpectation:  # another writer was quicker: look again
                continue
            return done
        raise _Refused("Nothing was changed: other writers change these files all the time. Try again.")

    # commands ------------------------------------------------------------------------------------------

    def _view(self, files: _Files, command: Any) -> str:
        path = _checked(command.path)
        if path in files.events or path == PREAMBLE or path in (names := self._episodes()):
            return self._viewed(files, path, command)
        sizes = {name: len(to_bytes(self._text(event))) for name, event in files.events.items()}
        sizes |= dict.fromkeys([PREAMBLE, *names], 0)
        below = {name.removeprefix(f"{path}/"): size for name, size in sizes.items() if name.startswith(f"{path}/")}
        if not below and path != ROOT:
            raise _Refused(f"The path {command.path} does not exist. Please provide a valid path.")
        shown: dict[str, int] = {}
        for name, size in below.items():
            steps = name.split("/")
            for depth in range(1, min(len(steps), DEPTH) + 1):
                if not any(step.startswith(".") for step in steps[:depth]):
                    entry = "/".join(steps[:depth]) + ("/" if depth < len(steps) else "")
                    shown[entry] = shown.get(entry, 0) + size
        lines = [f"{_size(sum(below.values()))}\t{command.path}"]
        lines += [f"{_size(shown[entry])}\t{command.path.rstrip('/')}/{entry}" for entry in sorted(shown)]
        head = f"Here're the files and directories up to 2 levels deep in {command.path}, excluding hidden items:"
        return "\n".join([head, *lines])

    def _viewed(self, files: _Files, path: str, command: Any) -> str:
        is_view = path not in files.events
        text = self._view_of(path) if is_view else self._text(files.events[path])
        lines = text.split("\n")
        if len(lines) > LINES_MAX:
            raise _Refused(f"File {command.path} exceeds maximum line limit of 999,999 lines.")
        first, last = 1, len(lines)
        if command.view_range and len(command.view_range) == 2:
            first, end = max(1, command.view_range[0]), command.view_range[1]
            last = last if end == -1 else end
        numbered = _numbered(lines, first, last)
        answer = f"Here's the content of {command.path} with line numbers:\n{numbered}"
        return self._memory.fence(answer) if is_view else answer

    def _create(self, files: _Files, command: Any) -> str:
        path = self._writable(command.path)
        if self._is_there(files, path):
            raise _Refused(f"File {command.path} already exists")
        self._parents(files, path)
        self._write(files, path, command.file_text)
        return f"File created successfully at: {command.path}"

    def _str_replace(self, files: _Files, command: Any) -> str:
        path, text = self._read(files, command.path)
        count, starts = text.count(command.old_str), [text.find(command.old_str)]
        while starts[-1] >= 0:
            starts.append(text.find(command.old_str, starts[-1] + 1))
        lines = [text.count("\n", 0, start) + 1 for start in starts[:-1]]
        if not count:
            raise _Refused(
                f"No replacement was performed, old_str `{command.old_str}` did not appear verbatim in {command.path}."
            )
        if count > 1:
            raise _Refused(
                f"No replacement was performed. Multiple occurrences of old_str `{command.old_str}` in lines: "
                f"{', '.join(map(str, lines))}. Please ensure it is unique"
            )
        changed = text.replace(command.old_str, command.new_str or "", 1)
        self._write(files, path, changed)
        snippet = _numbered(changed.split("\n"), lines[0] - AROUND, lines[0] + AROUND)
        return (
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n" + snippet
        )

    def _insert(self, files: _Files, command: Any) -> str:
        path, text = self._read(files, command.path)
        lines = text.split("\n")
        lines = lines[:-1] if lines[-1] == "" else lines
        if not 0 <= command.insert_line <= len(lines):
            raise _Refused(
                f"Invalid `insert_line` parameter: {command.insert_line}. It should be within the range "
                f"[0, {len(lines)}]."
            )
        lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
        self._write(files, path, "\n".join(lines) + ("" if lines[-1].endswith("\n") else "\n"))
        return f"The file {command.path} has been edited."

    def _delete(self, files: _Files, command: Any) -> str:
        if _checked(command.path) == ROOT:
            raise _Refused("Cannot delete the /memories directory itself")
        path = self._writable(command.path)
        if not self._is_there(files, path):
            raise _Refused(f"The path {command.path} does not exist")
        self._mark(files, DELETED, {"path": path})
        return f"Successfully deleted {command.path}"

    def _rename(self, files: _Files, command: Any) -> str:
        if _checked(command.old_path) == ROOT:
            raise _Refused("Cannot rename the /memories directory itself")
        old, new = self._writable(command.old_path), self._writable(command.new_path)
        if self._is_there(files, new) or new == ROOT:
            raise _Refused(f"The destination {command.new_path} already exists")
        if not self._is_there(files, old):
            raise _Refused(f"The path {command.old_path} does not exist")
        if new.startswith(f"{old}/"):
            raise _Refused(f"The path {command.new_path} lies below {command.old_path}")
        self._parents(files, new)
        self._mark(files, RENAMED, {"path": old, "to": new})
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def _clear(self, files: _Files, _command: Any) -> str:
        self._mark(files, DELETED, {"path": ROOT})
        return "All memory cleared"

    # paths ---------------------------------------------------------------------------------------------

    def _writable(self, path: str) -> str:
        checked = _checked(path)
        if checked == PREAMBLE or f"{checked}/".startswith(f"{EPISODES}/"):
            raise _Refused(f"{path} is a view of the memory and cannot be changed; write below {ROOT}/notes")
        return checked

    def _read(self, files: _Files, path: str) -> tuple[str, str]:
        checked = self._writable(path)
        if checked in files.events:
            return checked, self._text(files.events[checked])
        is_folder = checked == ROOT or self._is_there(files, checked)
        raise _Refused(
            f"The path {path} is not a file."
            if is_folder
            else f"The path {path} does not exist. Please provide a valid path."
        )

    def _is_there(self, files: _Files, path: str) -> bool:
        return path in files.events or any(name.startswith(f"{path}/") for name in files.events) or path == ROOT

    def _parents(self, files: _Files, path: str) -> None:
        above = posixpath.dirname(path)
        while above != ROOT:
            if above in files.events:
                raise _Refused(f"The path {above} is not a directory")
            above = posixpath.dirname(above)

    # the log -------------------------------------------------------------------------------------------

    def _files(self) -> _Files:
        """Read what stands; a handle reads each event once, until one is erased: the version before it stands then."""
        key = HOST, self._session
        through, known = self._memory.read_once.get(key, (0, {}))
        if any(self._memory.event(event.pointer).erased for event in known.values()):
            through, known = 0, {}
        events: dict[str, Event] = dict(known)
        for event in self._memory.events(self._session, after=through):
            through, sort, path = event.position, event.meta.get("type"), str(event.meta.get("path", ""))
            moved = [name for name in events if f"{name}/".startswith(f"{path}/")]
            if sort == WRITTEN:
                events[path] = event
            elif sort == DELETED:
                for name in moved:
                    del events[name]
            elif sort == RENAMED:
                for name in moved:
                    events[str(event.meta.get("to")) + name.removeprefix(path)] = events.pop(name)
        self._memory.read_once[key] = (through, events)
        return _Files(through, events)

    def _text(self, event: Event) -> str:
        effect = Effect(self._memory)
        standing = effect.text(event)
        if standing is None:
            return f"[no longer holds: {effect.instead(event)}]"
        return standing.text if event.content is not None else self._memory.expand(event.pointer).decode()

    def _write(self, files: _Files, path: str, text: str) -> None:
        self._append(files, Draft(Kind.NOTE, to_bytes(text), meta={"type": WRITTEN, "path": path}))

    def _mark(self, files: _Files, sort: str, meta: Mapping[str, Any]) -> None:
        self._append(files, Draft(Kind.SESSION, b"", meta={"type": sort, **meta}))

    def _append(self, files: _Files, draft: Draft) -> None:
        self._agent.enrol(self._session, host=HOST)
        draft = replace(draft, agent=self._agent.name, origin="agent", trust=Trust.AGENT, time=now())
        self._memory.append([draft], session=self._session, expected_position=files.through)

    # views ---------------------------------------------------------------------------------------------

    def _episodes(self) -> list[str]:
        return [f"{EPISODES}/{name}.md" for name in AgentTools(self._agent).episodes()]

    def _view_of(self, path: str) -> str:
        tools = AgentTools(self._agent)
        text = tools.preamble() if path == PREAMBLE else tools.episode(posixpath.basename(path).removesuffix(".md"))
        return "\n".join(line for line in str(text).split("\n") if not line.startswith(("<<firsthand ", "<<end ")))


def _check_fields(command: Any) -> None:
    """Refuse a command that lacks a field, as one does that was cut short; ``new_str`` may be left out."""
    for name, field in getattr(type(command), "model_fields", {}).items():
        content, sort = getattr(command, name, None), field.annotation
        is_left_out = content is None and name == "new_str"
        if sort in {str, int} and not is_left_out and not isinstance(content, sort):
            raise _Refused(
                f"{command.command} needs the field {name} of type {sort.__name__}; got {content!r:.60}. "
                "Nothing was done: send the whole command again."
            )


def _checked(path: str) -> str:
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise _Refused(f"Path must start with /memories, got: {path}")
    normal = posixpath.normpath(path)
    if normal != ROOT and not normal.startswith(f"{ROOT}/"):
        raise _Refused(f"Path {path} would escape /memories directory")
    if not normal.isprintable():
        raise _Refused(f"Path {path!r} has signs that no file name has")
    return normal


def _numbered(lines: list[str], first: int, last: int) -> str:
    within = range(max(1, first), min(len(lines), last) + 1)
    return "\n".join(f"{str(number).rjust(NUMBER_WIDTH)}\t{lines[number - 1]}" for number in within)


def _size(size_bytes: int) -> str:
    size, unit = float(size_bytes), "B"
    for larger in "KMG":
        if size >= 1024:
            size, unit = size / 1024, larger
    return f"{int(size)}{unit}" if size == int(size) else f"{size:.1f}{unit}"


class _Tool:
    """What both tools have: a loop, below which nothing raises but what the model is told."""

    def __init__(
        self, store: Memory | str | os.PathLike[str] | None = None, *, agent: str, namespace: str | None = None,
        **options: Any,
    ) -> None:  # fmt: skip
        """Say whose files they are; the store is opened by the first command.

        Args:
            store: an open memory, or as for `Memory`.
            options: of the SDK's own class: ``cache_control``.
        """
        super().__init__(**options)
        self.loop = Loop(store, host=HOST, session=agent, agent=agent, namespace=namespace)

    def _done(self, loop: Loop, command: Any) -> tuple[str, bool]:
        def do(memory: Memory) -> tuple[str, bool]:
            try:
                return MemoryFiles(memory, loop.agent, loop.name).do(command), False
            except _Refused as refused:
                return str(refused), True

        return loop.ask(command.command, do, ("The memory cannot be reached now; go on without it.", True))


@value
class _Clear:
    command: str = "clear"


class FirsthandMemoryTool(_Tool, BetaAbstractMemoryTool):
    """The memory tool for `Anthropic`; what is refused is a `ToolError`."""

    def view(self, command: Any) -> str:
        """Do a command."""
        return _told(self._done(self.loop, command))

    create = str_replace = insert = delete = rename = view

    def clear_all_memory(self) -> str:
        """Take all files away; their versions stay in the log."""
        return self.view(_Clear())


class AsyncFirsthandMemoryTool(_Tool, BetaAsyncAbstractMemoryTool):
    """The memory tool for `AsyncAnthropic`; what is refused is a `ToolError`."""

    async def view(self, command: Any) -> str:
        """Do a command."""
        return _told(await self.loop.awaited.run(lambda loop: self._done(loop, command)))

    create = str_replace = insert = delete = rename = view

    async def clear_all_memory(self) -> str:
        """Take all files away; their versions stay in the log."""
        return await self.view(_Clear())


def _told(answer: tuple[str, bool]) -> str:
    text, is_error = answer
    if is_error:
        raise ToolError(text)
    return text
