"""What is on record of a session: what was asked and answered, changed, committed, what failed, what is still open.

    record = read(events)
    record.first, record.last, record.answer, record.changes, record.commits, record.failures, record.calls

The invariant: the same events in the same order give the same record; each part of it names the events that it stands
in; of a result only facts are taken (that its call failed, its exit code, the name of a commit), never a word; a file
counts as changed only when its call did not fail; what is kept is bounded, and what is not kept is counted.

Pure. It reads no sentence for what it means, and knows no session but the events it is given.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from firsthand.agents import command_lines
from firsthand.event import Event, Kind, Trust
from firsthand.fence import blanked
from firsthand.formats import commands
from firsthand.formats.tool_definitions import is_own
from firsthand.hosts import requests
from firsthand.moment import Moment
from firsthand.tokens import estimate
from firsthand.value import value

READ_CHARACTERS = 20_000
"""Of a message."""
TELLING_TOKENS_MIN = 5
"""A shorter message, such as "ok", is passed over where a longer one stands before it."""
LATE_MAX = 4
CALLS_MAX, COMMITS_MAX = 256, 50
LINES_MAX, FILES_MAX = 1_000, 1_000
LINE_CHARACTERS_MAX = 200
"""Of a command that may be told as one that failed."""


@value
class Passage:
    """Words of an event."""

    text: str
    pointer: str
    time: Moment
    position: int


@value
class Change:
    """A file that was changed, by the newest call that did."""

    path: str
    pointer: str
    times: int
    position: int


@value
class Commit:
    """A commit: its message as the call has it, its name as the result has it."""

    name: str
    message: str
    call: str
    result: str
    time: Moment
    position: int


@value
class Failure:
    """A command that failed, its last run."""

    line: str
    code: str
    times: int
    call: str
    result: str
    time: Moment
    position: int


@value
class Call:
    """A call, as its arguments tell of it."""

    tool: str
    action: str
    command: str
    files: tuple[str, ...]
    pointer: str
    time: Moment
    position: int


class SessionRecord:
    """The record of one session, in the making: `take` its events in order."""

    def __init__(self) -> None:
        self.requests = self.events = 0
        self.began: Moment | None = None
        self.ended: Moment | None = None
        self.first: Passage | None = None
        self.latest = 0
        """The position of the last request, whatever it says."""
        self.asked: deque[Passage] = deque(maxlen=LATE_MAX)
        self.answer: Passage | None = None
        self.changes: dict[str, Change] = {}
        self.commits: list[Commit] = []
        self.failed: dict[str, Failure] = {}
        self.runs: dict[str, int] = {}
        """Where a line last went well, by position."""
        self.calls: dict[str, Call] = {}
        """Those without a result."""
        self.folder = ""
        self.asks_memory = False
        """The agent has called a tool of ours, so its host has them."""

    @property
    def last(self) -> Passage | None:
        """The last request that says something and is not the first."""
        return self.asked[-1] if self.asked else None

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The commands that failed and did not go well since, the newest first."""
        return still_failing([self])

    def take(self, event: Event) -> None:
        """Take the next event."""
        self.events += 1
        folder = event.meta.get("cwd")
        self.folder = folder if isinstance(folder, str) and folder else self.folder
        if event.kind is Kind.TOOL_CALL:
            self._call(event)
        elif event.kind is Kind.TOOL_RESULT:
            self._result(event)
        elif requests.is_request(event):
            self._request(event)
        elif requests.is_answer(event):
            self._answer(event)
        else:
            return
        time = event.time or event.ingested
        self.began = time if self.began is None else min(self.began, time)
        self.ended = time if self.ended is None else max(self.ended, time)

    def begun_by(self, head: SessionRecord) -> SessionRecord:
        """Give the record of a session's end the beginning, which was read apart."""
        self.requests += head.requests
        self.began = head.began or self.began
        if head.first is not None:
            if self.first is not None and _is_telling(self.first):
                self.asked.appendleft(self.first) if not self.asked else None
            self.first = head.first
        return self

    def _request(self, event: Event) -> None:
        passage = _passage(event)
        if passage is None:
            return
        self.requests, self.latest = self.requests + 1, passage.position
        if self.first is None:
            self.first = passage
        elif _is_telling(passage) and not _is_telling(self.first) and not self.asked:
            self.first = passage  # "hi" began it
        elif _is_telling(passage):
            self.asked.append(passage)
        self.calls.clear()  # whoever asks on does not wait for them

    def _answer(self, event: Event) -> None:
        passage = _passage(event)
        if passage is not None and (self.answer is None or _is_telling(passage)):
            self.answer = passage

    def _call(self, event: Event) -> None:
        call_id, tool = _fact(event, "call_id"), _fact(event, "tool") or "tool"
        if event.trust is Trust.UNTRUSTED or event.erased or not call_id:
            return
        command = command_lines.command_of(event.text)
        action = command or commands.doing(event.text)
        self.asks_memory = self.asks_memory or is_own(tool)
        self.calls.pop(call_id, None)
        files = command_lines.files_of(tool, event.text)
        self.calls[call_id] = Call(tool, action, command, files, f"fh:{event.id}", event.time or event.ingested,
                                   event.position)  # fmt: skip
        if len(self.calls) > CALLS_MAX:
            del self.calls[next(iter(self.calls))]

    def _result(self, event: Event) -> None:
        call = self.calls.pop(_fact(event, "call_id"), None)
        if call is None or requests.is_refused(event):
            return
        failure = commands.failure(event.meta, event.text, call.command)
        line = command_lines.line(call.command)
        if failure is not None:
            self._fail(line, failure.code, call, event)
            return
        if line and (line in self.runs or len(self.runs) < LINES_MAX):
            self.runs[line] = event.position
        for path in call.files:
            times = self.changes.pop(path).times if path in self.changes else 0
            if len(self.changes) < FILES_MAX:
                self.changes[path] = Change(path, call.pointer, times + 1, event.position)
        made = commands.commit(commands.doing(call.command), event.text[: commands.HEAD_CHARACTERS])
        if made is not None and len(self.commits) < COMMITS_MAX:
            message = commands.doing(call.command).removeprefix(commands.COMMITTED)
            self.commits.append(Commit(made.name, message, call.pointer, f"fh:{event.id}", call.time, event.position))

    def _fail(self, line: str, code: str, call: Call, result: Event) -> None:
        if not line or len(line) > LINE_CHARACTERS_MAX or command_lines.is_script(call.command):
            return
        if command_lines.looks_only(line):
            return
        before = self.failed.pop(line, None)
        if len(self.failed) < LINES_MAX:
            times = before.times + 1 if before is not None else 1
            self.failed[line] = Failure(line, code, times, call.pointer, f"fh:{result.id}",
                                        result.time or result.ingested, result.position)  # fmt: skip


def read(events: Iterable[Event]) -> SessionRecord:
    """Read a session through; time is linear in its events, memory is bounded."""
    record = SessionRecord()
    for event in events:
        record.take(event)
    return record


def still_failing(records: Sequence[SessionRecord]) -> tuple[Failure, ...]:
    """Give the commands whose last run failed, in sessions of one agent, the newest first.

    One is over when the same line, or a longer one that ends in it, went well later in any of them.
    """
    newest: dict[str, Failure] = {}
    for failure in (failure for record in records for failure in record.failed.values()):
        before = newest.get(failure.line)
        newest[failure.line] = failure if before is None or before.position < failure.position else before
    runs = [run for record in records for run in record.runs.items()]
    open_ones = (
        failure for failure in newest.values()
        if not any(at > failure.position and command_lines.repeats(line, failure.line) for line, at in runs)
    )  # fmt: skip
    return tuple(sorted(open_ones, key=lambda failure: -failure.position))


def short_path(path: str, folder: str) -> str:
    """Write a path below a folder as the folder's own would."""
    below = folder.rstrip("/") + "/"
    return path.removeprefix(below) if folder and path.startswith(below) else path


def _passage(event: Event) -> Passage | None:
    text = blanked(event.text[:READ_CHARACTERS]).strip()
    return Passage(text, f"fh:{event.id}", event.time or event.ingested, event.position) if text else None


def _is_telling(passage: Passage) -> bool:
    return estimate(passage.text[:200]) >= TELLING_TOKENS_MIN


def _fact(event: Event, name: str) -> str:
    facts: Mapping[str, object] = event.meta
    fact = facts.get(name)
    return fact if isinstance(fact, str) else ""
