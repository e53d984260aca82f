"""What is on record of a session: what was asked and answered, changed, committed, what failed, what is still open.

    record = read(events)
    record.pieces()    the same as pieces of text, which a preamble and an episode lay out

The invariant: the same events in the same order give the same record; each part of it names the events that it stands
in; of a result only facts are taken (that its call failed, its exit code, the name of a commit), never a word; a file
counts as changed only when its call did not fail; what is kept is bounded, and what is not kept is counted.

Pure. It reads no sentence for what it means, and knows no session but the events it is given.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping

from firsthand.agents import command_lines
from firsthand.event import INJECTED, Event, Kind, Trust
from firsthand.fence import blanked
from firsthand.formats import commands
from firsthand.hosts import requests
from firsthand.index.words import exact_strings
from firsthand.moment import Moment
from firsthand.recall.stop_words import STOP_WORDS
from firsthand.unasked import secrets
from firsthand.unasked.volunteer import Piece
from firsthand.value import value

READ_CHARACTERS = 20_000
"""Of a message."""
WORDS_MIN, REQUEST_WORDS_MIN, WORDS_WITH_STRING_MIN, WORD_CHARACTERS_MIN = 4, 5, 3, 3
"""A text says something by itself from so many words that are no stop words; with an exact string or a number fewer.

A request needs more of them than an answer: short ones lean on what was said before."""
TELLING_CHARACTERS = 600
"""Of it, that are looked at."""
TURNS_MAX = 16
"""The newest ones that are kept."""
LATER_MAX = 4
"""Requests between the first and the last one of which an episode tells: the newest whose turn changed something."""
CALLS_MAX, COMMITS_MAX = 256, 50
LINES_MAX, FILES_MAX = 1_000, 1_000
STRINGS_MAX = 200
STRING_CHARACTERS = range(5, 121)
LINE_CHARACTERS_MAX = 200
"""Of a command that may be told as one that failed."""
SAID, CHANGED, COMMITS, FAILED, OPEN, STRINGS = (
    "Said", "Changed", "Commits", "Failed", "Calls without a result", "Exact strings",
)  # fmt: skip
_WORD, _NUMBER = re.compile(r"[^\W\d]\w+"), re.compile(r"\d{4}")


@value
class Passage:
    """Words of an event."""

    text: str
    pointer: str
    time: Moment
    position: int

    @property
    def is_telling(self) -> bool:
        """True for words that say something by themselves."""
        return is_telling(self.text)

    @property
    def is_request(self) -> bool:
        """True for a request that says something by itself, to who does not know what was said before."""
        return is_telling(self.text, REQUEST_WORDS_MIN)


@value
class Change:
    """A file that was changed, by the newest call that did."""

    path: str
    pointer: str
    times: int
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


@value(frozen=False)
class Turn:
    """What the user asked, and what came of it.

    Attributes:
        answer: the agent's last message in it.
        is_over: nothing was called since that message.
        worked: something was called; ``changed``: a file was changed, or a commit made.
    """

    request: Passage
    answer: Passage | None = None
    is_over: bool = False
    worked: bool = False
    changed: bool = False


class SessionRecord:
    """The record of one session, in the making: `take` its events in order."""

    def __init__(self) -> None:
        self.requests = 0
        self.began: Moment | None = None
        self.ended: Moment | None = None
        self.turns: deque[Turn] = deque(maxlen=TURNS_MAX)
        self.opening: Passage | None = None
        """The first request that says something, of those on which something was called if there is such a one."""
        self._is_work = False
        self.changes: dict[str, Change] = {}
        self.commits: list[Piece] = []
        """Their messages as the calls have them, under their names as the results have them."""
        self.done = 0
        """The position of the last commit."""
        self.failed: dict[str, Failure] = {}
        self.runs: dict[str, int] = {}
        """Where a line last went well, by position."""
        self.calls: dict[str, Call] = {}
        """Those without a result."""
        self.typed: dict[str, str] = {}
        """Exact strings that the user typed, with the pointer of the request."""
        self.strings: dict[str, str] = {}
        """Those of them that stand in a later call."""
        self.folder = ""

    @property
    def answer(self) -> Passage | None:
        """The last message that ended a turn and says something; none while a later turn is at work."""
        if self.turns and self.turns[-1].worked and not self.turns[-1].is_over:
            return None
        answers = (turn.answer for turn in reversed(self.turns) if turn.is_over)
        return next((answer for answer in answers if answer is not None and answer.is_telling), None)

    @property
    def last(self) -> Turn | None:
        """The last turn whose request says something and that came to something; None where that is the opening.

        A turn came to something that changed a file, gave the last answer, or is the one at work.
        """
        answer, newest = self.answer, self.turns[-1] if self.turns else None
        for turn in reversed(self.turns):
            is_answered = answer is not None and turn.answer == answer
            if turn.request.is_request and (turn.changed or is_answered or turn is newest):
                return None if turn.request == self.opening else turn
        return None

    def take(self, event: Event) -> None:
        """Take the next event; what was erased, or is Firsthand's own, says nothing."""
        if event.meta.get(INJECTED) is True:
            return
        folder = event.meta.get("cwd")
        self.folder = folder if isinstance(folder, str) and folder else self.folder
        if event.kind is Kind.TOOL_CALL:
            self._call(event)
        elif event.kind is Kind.TOOL_RESULT:
            self._result(event)
        elif requests.is_request(event):
            self._request(event)
        elif requests.is_answer(event):
            passage = _passage(event)
            if passage is not None and self.turns:
                self.turns[-1].answer, self.turns[-1].is_over = passage, True
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
        if self.opening is None and passage.is_telling:
            self.opening = passage
        for string in exact_strings(secrets.mask(passage.text)):
            if is_exact(string) and len(self.typed) < STRINGS_MAX:
                self.typed.setdefault(string, passage.pointer)
        self.calls.clear()  # whoever asks on does not wait for them

    def _call(self, event: Event) -> None:
        call_id, tool = _fact(event, "call_id"), _fact(event, "tool") or "tool"
        if self.turns:
            turn = self.turns[-1]
            turn.worked, turn.is_over = True, False
            if not self._is_work and turn.request.is_telling:
                self._is_work, self.opening = True, turn.request
        if event.trust is Trust.UNTRUSTED or event.erased or not call_id:
            return
        used = event.text[:READ_CHARACTERS]
        self.strings |= {string: pointer for string, pointer in self.typed.items() if string in used}
        command = command_lines.command_of(event.text)
        self.calls.pop(call_id, None)
        self.calls[call_id] = Call(tool, command or commands.doing(event.text), command,
                                   command_lines.files_of(tool, event.text), event.pointer,
                                   event.time or event.ingested)  # fmt: skip
        if len(self.calls) > CALLS_MAX:
            del self.calls[next(iter(self.calls))]

    def _result(self, event: Event) -> None:
        call = self.calls.pop(_fact(event, "call_id"), None)
        if call is None or event.erased or requests.is_refused(event):
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
        if made is not None:
            self.done, message = event.position, commands.doing(call.command).removeprefix(commands.COMMITTED)
            self.commits.append(Piece(message, (call.pointer,), (event.pointer,), head=f"commit {made.name[:12]}",
                                      section=COMMITS, time=call.time))  # fmt: skip
            del self.commits[:-COMMITS_MAX]
        if self.turns and (call.files or made is not None):
            self.turns[-1].changed = True

    def _fail(self, line: str, code: str, call: Call, result: Event) -> None:
        if not line or len(line) > LINE_CHARACTERS_MAX or command_lines.is_script(call.command):
            return
        if command_lines.looks_only(line):
            return
        before = self.failed.pop(line, None)
        if len(self.failed) < LINES_MAX:
            times = before.times + 1 if before is not None else 1
            self.failed[line] = Failure(line, code, times, call.pointer, result.pointer,
                                        result.time or result.ingested, result.position)  # fmt: skip

    # what is told of it ----------------------------------------------------------------------------------

    def pieces(self, *, later: int = LATER_MAX) -> Iterator[Piece]:
        """Yield what is on record, section by section, the most telling of each first, what was said in its order.

        What a commit came after is done: the commit tells of the files, and of requests the first alone is kept, where
        more than where the work stands is told.

        Args:
            later: of how many requests between the first and the last one to tell; with 0 of none that is done.
        """
        yield from self._said(later)
        for change in sorted(self.changes.values(), key=lambda change: (-change.times, -change.position)):
            if change.position < self.done:
                continue
            below = self.folder.rstrip("/") + "/"
            path = change.path.removeprefix(below) if self.folder else change.path
            yield Piece(path, (change.pointer,), section=CHANGED)
        yield from reversed(self.commits)
        yield from self._failures()
        for call in self.calls.values():
            if command_lines.looks_only(call.command) if call.command else not call.files:
                continue  # what only looked left nothing open
            words = f"{call.tool}: {call.action}" if call.action else call.tool
            yield Piece(words, (call.pointer,), head="no result on record", section=OPEN, time=call.time)
        for string, pointer in self.strings.items():
            if not any(string in path for path in self.changes):
                yield Piece(string, (pointer,), section=STRINGS)

    def _said(self, later: int) -> Iterator[Piece]:
        last, opening, answer = self.last, self.opening, self.answer
        between = [turn for turn in self.turns if turn.changed and turn.request.is_request and turn is not last]
        spoken = {turn.request: "user" for turn in between[len(between) - min(later, len(between)) :]}
        if last is not None:
            spoken[last.request] = "user, last" if last is self.turns[-1] else "user"
        spoken = {passage: head for passage, head in spoken.items() if passage.position > self.done}
        if opening is not None and opening.is_request and (later or opening.position > self.done):
            spoken[opening] = "user"
        spoken |= {answer: "the agent said"} if answer is not None else {}
        for passage, head in sorted(spoken.items(), key=lambda item: item[0].position):
            yield Piece(passage.text, (passage.pointer,), head=head, section=SAID, time=passage.time)

    def _failures(self) -> Iterator[Piece]:
        """Yield the commands whose last run failed, the newest first.

        One is over when the same line, or a longer one that ends in it, went well later.
        """
        for failure in reversed(self.failed.values()):
            runs = (line for line, at in self.runs.items() if at > failure.position)
            if any(command_lines.repeats(line, failure.line) for line in runs):
                continue
            code = f", exit code {failure.code}" if failure.code else ""
            times = f", {failure.times:,} times" if failure.times > 1 else ""
            yield Piece(failure.line, (failure.call,), (failure.result,), section=FAILED, time=failure.time,
                        head=f"failed{code}{times}, not run with success since")  # fmt: skip


def read(events: Iterable[Event]) -> SessionRecord:
    """Read a session through; time is linear in its events, memory is bounded."""
    record = SessionRecord()
    for event in events:
        record.take(event)
    return record


def is_telling(text: str, words_min: int = WORDS_MIN) -> bool:
    """Say whether words say something by themselves, as far as their number and their form tell."""
    head = text[:TELLING_CHARACTERS]
    words = {word for word in _WORD.findall(head.casefold()) if len(word) >= WORD_CHARACTERS_MIN} - STOP_WORDS
    if len(words) < WORDS_WITH_STRING_MIN:
        return False
    return len(words) >= words_min or _NUMBER.search(head) is not None or any(exact_strings(head))


def is_exact(string: str) -> bool:
    """Say whether a string is nobody's to guess: a path, a version, an address, a name with digits in it."""
    if len(string) not in STRING_CHARACTERS or not string.isprintable():
        return False
    digits = sum(sign.isdigit() for sign in string)
    bare = string.replace(".", "").replace(":", "").replace(",", "")
    joined = string.count("/") > 1 or "://" in string
    return joined or 0 < digits < len(bare) or (string.count(".") > 1 and bare.isdecimal())


def _passage(event: Event) -> Passage | None:
    text = blanked(event.text[:READ_CHARACTERS]).strip()
    return Passage(text, event.pointer, event.time or event.ingested, event.position) if text else None


def _fact(event: Event, name: str) -> str:
    facts: Mapping[str, object] = event.meta
    fact = facts.get(name)
    return fact if isinstance(fact, str) else ""
