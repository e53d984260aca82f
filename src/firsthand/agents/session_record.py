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
TELLING_TOKENS_MIN = 6
"""A shorter message, such as "ok", is passed over where a longer one stands before it."""
TURNS_MAX = 16
"""The newest ones that are kept."""
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

    @property
    def is_telling(self) -> bool:
        """True for words that say something by themselves, as far as their number tells."""
        return estimate(self.text[:400]) >= TELLING_TOKENS_MIN


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


@value(frozen=False)
class Turn:
    """What the user asked, and what came of it.

    Attributes:
        said: the agent's last message in it.
        is_over: nothing was called since.
        worked: something was called.
    """

    request: Passage
    said: Passage | None = None
    is_over: bool = False
    worked: bool = False

    @property
    def is_answered(self) -> bool:
        """True when the agent has ended it with a message."""
        return self.is_over and self.said is not None


class SessionRecord:
    """The record of one session, in the making: `take` its events in order."""

    def __init__(self) -> None:
        self.requests = self.events = 0
        self.began: Moment | None = None
        self.ended: Moment | None = None
        self.turns: deque[Turn] = deque(maxlen=TURNS_MAX)
        self.opening: Passage | None = None
        """The first request on which something was called; where none is, the first that says something."""
        self._is_work = False
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
    def answer(self) -> Passage | None:
        """The last message that ended a turn, and says something if any does; none while a later turn is at work."""
        if self.turns and self.turns[-1].worked and not self.turns[-1].is_answered:
            return None
        said = [(turn.request, turn.said) for turn in self.turns if turn.is_answered and turn.said is not None]
        telling = [answer for request, answer in said if request.is_telling or answer.is_telling]
        return telling[-1] if telling else said[-1][1] if said else None

    @property
    def last(self) -> Passage | None:
        """The request of the last answer, or a later one that waits for its own; None where that is the first."""
        telling = [turn for turn in self.turns if turn.request.is_telling]
        waits = bool(telling) and telling[-1] is self.turns[-1] and not telling[-1].is_answered
        answer = self.answer
        through = [turn.request for turn in telling if answer is None or turn.request.position < answer.position]
        last = telling[-1].request if waits else through[-1] if through else None
        return None if last is None or last == self.opening else last

    @property
    def is_last(self) -> bool:
        """True when `last` is the user's last word."""
        return bool(self.turns) and self.last == self.turns[-1].request

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
        self.began, self.opening = head.began or self.began, head.opening or self.opening
        return self

    def _request(self, event: Event) -> None:
        passage = _passage(event)
        if passage is None:
            return
        self.requests += 1
        self.turns.append(Turn(passage))
        if self.opening is None or (not self.opening.is_telling and passage.is_telling):
            self.opening = passage  # "hi" began it
        self.calls.clear()  # whoever asks on does not wait for them

    def _answer(self, event: Event) -> None:
        passage = _passage(event)
        if passage is not None and self.turns:
            self.turns[-1].said, self.turns[-1].is_over = passage, True

    def _call(self, event: Event) -> None:
        call_id, tool = _fact(event, "call_id"), _fact(event, "tool") or "tool"
        if self.turns:
            turn = self.turns[-1]
            turn.worked, turn.is_over = True, False
            if not self._is_work and turn.request.is_telling:
                self._is_work, self.opening = True, turn.request
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
        for gone in command_lines.gone_by(call.command):
            for path in [path for path in self.changes if path == gone or path.endswith(f"/{gone}")]:
                del self.changes[path]
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


def _fact(event: Event, name: str) -> str:
    facts: Mapping[str, object] = event.meta
    fact = facts.get(name)
    return fact if isinstance(fact, str) else ""
