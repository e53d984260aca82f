"""What of a session goes into its episode, without a model: taken out of its events, word for word, with pointers.

What was asked first and last, done, what failed, which calls have no result, exact
strings, the agent's last words (recall-problem 3.2, phase 1). `Gathering` takes one event at a
time, so that a session of any length is read in bounded memory. The invariant: the same
events in the same order give the same extract; nothing is in it that no event says, but
for counts and the few words that join them; each line names its event. Of what a tool, a
page or somebody else said there is the pointer, and no word.

Pure. It reads no sentence for what it means.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable

from firsthand.agents.episode import Line, Section, code, quoted, span
from firsthand.agents.episode_names import Word, words_of
from firsthand.agents.tool_work import Changed, Failed, Made, Work
from firsthand.context import marker_hints, topics
from firsthand.context.task_observer import observe
from firsthand.context.task_state import TaskState
from firsthand.errors import FormatError
from firsthand.event import INJECTED, Event, Kind, Trust
from firsthand.fence import blanked
from firsthand.moment import Moment
from firsthand.unasked import secrets
from firsthand.value import value

READ_CHARACTERS = 20_000  # of a message
EDGE_REQUESTS = 4  # first and last ones that are kept
ENDING_MESSAGES = 3  # of the agent's last ones
STRINGS_MAX = 4_000
TERMS_MAX = 4_000
BROUGHT_MAX, BROUGHT_CHARACTERS = 1_000, 400
"""Texts that tools brought, and the longest of them, that an agent's message is looked for among."""
TERMS_SHOWN = 16
TELLING_CHARACTERS = 60  # of a last message that says how it ended
STRING_CHARACTERS = range(5, 121)
TELLING = frozenset(
    {Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT, Kind.SUMMARY, Kind.DOCUMENT}
)
"""Kinds that make a session one that has an episode."""

_STRINGS = tuple(
    (worth, sign, re.compile(pattern))
    for worth, sign, pattern in (
        (4.0, "://", r"\bhttps?://[^\s\"'<>`)\]}]{4,110}"),
        (3.5, "-", r"(?<![\w-])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\w-])"),
        (3.0, "", r"(?<![\w./-])(?=[a-f]{0,39}\d)(?=\d{0,39}[a-f])[0-9a-f]{7,64}(?![\w-])"),
        (3.0, "", r"\b(?:[A-Z]{2,12}-\d{1,8}|[A-Z]{1,4}\d{3,8}|[A-Z][A-Za-z]{2,40}(?:Error|Exception))\b"),
        (2.6, "/", r"(?<![\w/.~-])(?:[\w@~+-][\w.@~+-]{0,63})?(?:/[\w.@+-]{1,64}){2,12}"),
        (2.6, "", r"\b(?:localhost|\d{1,3}(?:\.\d{1,3}){3})(?::\d{2,5})?\b"),
        (2.4, ".", r"\bv?\d{1,4}\.\d{1,4}\.\d{1,6}(?:[-.]?(?:rc|a|b|alpha|beta|dev|post)\.?\d{0,4})?\b"),
        (
            2.2,
            "",
            r"\b\d[\d.,]{0,20}\d? ?(?:ms|s|min|h|[KMGT]i?B|%|px|USD|EUR|\u20ac|Hz|kHz|MHz|GHz|rpm|tokens|events)\b",
        ),
        (1.2, "--", r"(?<![\w-])--[a-z][\w-]{2,40}(?:=[\w./-]{1,40})?"),
        (1.8, "_", r"\b[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30}){1,6}\b"),
        (1.4, ".", r"\b[\w-]{1,40}\.(?:py|ts|tsx|js|rs|go|java|c|h|cpp|md|json|ya?ml|toml|sql|sh|txt|csv|html|css)\b"),
    )
)
_MATCHES_MAX = 40  # of one pattern in one text
_GENERIC = frozenset(
    """
    ok okay yes please thanks hello hi hey good great sure lets let try trying code file files line lines issue text
    following currently solving repository repo here there help want need work works working task tasks problem thing
    things way something anything everything session project folder directory change changes add run running test
    tests testing fix fixed check look see show tell give get got put set start begin end done next step steps first
    second last time today now think know like just really also still back able user agent assistant message function
    method class return value error errors fails failed would could should command commands output input see example
    und der die das ist nicht ein eine mit von auf den dem les des une est que pour dans avec los las del con por para
    http https www com org py js ts md txt json self none true false import def print int str
    """.split()  # noqa: SIM905 - words, to be read as such
)


@value
class Extract:
    """What a session's episode is made from.

    Attributes:
        source: the span of all its events, as a pointer; empty when it has none.
        through: position of its last telling event; 0 when it has none.
        first, last: least and greatest time that an event told.
        ingested: when the last telling event came.
        facts: lines for the head of the episode.
        sections: the most important line of each first.
        words: what the session is about, for its name.
        telling: what may tell its name from others: files, commits, exact strings.
        terms: the same as `words`, as texts, the weightiest first.
    """

    source: str
    through: int
    first: Moment | None
    last: Moment | None
    ingested: Moment | None
    facts: tuple[str, ...]
    sections: tuple[Section, ...]
    words: tuple[Word, ...]
    telling: tuple[str, ...]
    terms: tuple[str, ...]

    @property
    def moment(self) -> Moment | None:
        """When the session ended: as events tell it, else when they came."""
        return self.last or self.ingested


def extract(events: Iterable[Event], session: str) -> Extract:
    """Read a session through; time is linear in its events, memory is bounded."""
    gathering = Gathering()
    for event in events:
        gathering.take(event)
    return gathering.extract(session)


@value(frozen=False)
class _String:
    worth: float
    times: int
    pointer: str
    order: int


class Gathering:
    """Takes a session in, event by event, in order."""

    def __init__(self) -> None:
        self._state, self._work = TaskState(), Work()
        self._ends = ("", "")
        self._events = self._turns = self._requests = self._through = self._unread = 0
        self._first: Moment | None = None
        self._last: Moment | None = None
        self._ingested: Moment | None = None
        self._early: list[Line] = []
        self._late: deque[Line] = deque(maxlen=EDGE_REQUESTS)
        self._closing: deque[Event] = deque(maxlen=ENDING_MESSAGES)
        self._strings: dict[str, _String] = {}
        self._terms: dict[str, float] = {}
        self._places: dict[str, tuple[int, str]] = {}
        self._brought: set[str] = set()

    def take(self, event: Event) -> None:
        """Take the next event; what was erased, or is Firsthand's own, says nothing."""
        self._events += 1
        self._ends = (self._ends[0] or event.id, event.id)
        self._fold(event)
        if event.erased or event.meta.get(INJECTED) is True:
            return
        if event.kind not in TELLING:
            return
        self._through, self._ingested = event.position, event.ingested
        self._turns = max(self._turns, event.turn)
        if event.time is not None:
            self._first = event.time if self._first is None else min(self._first, event.time)
            self._last = event.time if self._last is None else max(self._last, event.time)
        if event.kind is Kind.TOOL_CALL:
            self._work.call(event)
            self._note(event, event.text[:3_000], 1.0)
        elif event.kind is Kind.TOOL_RESULT:
            self._work.result(event)
            self._bring(event.text)
        else:
            self._message(event)

    def extract(self, session: str) -> Extract:
        """Give what was gathered so far."""
        words = self._words()
        terms = tuple(word.text for word in sorted(words, key=lambda word: (-word.weight, word.place, word.text)))
        source = f"fh:{self._ends[0]}..{self._ends[1]}" if self._events else ""
        facts, sections = self._facts(session, terms), self._sections()
        return Extract(
            source, self._through, self._first, self._last, self._ingested, facts, sections, words,
            self._telling(), terms[:TERMS_SHOWN],
        )  # fmt: skip

    # taking ----------------------------------------------------------------------------------------

    def _fold(self, event: Event) -> None:
        try:
            self._state = observe(self._state, event)
        except FormatError:  # a task state that cannot be read: the events say it all again; it is counted
            self._unread += 1

    def _message(self, event: Event) -> None:
        text = blanked(event.text[:READ_CHARACTERS])
        if not text.strip():
            return
        if event.trust is Trust.UNTRUSTED:
            self._bring(text)
            return
        is_user = event.kind is Kind.USER_MESSAGE
        if is_user and event.trust is Trust.TRUSTED:
            self._request(event, text)
        if event.kind is Kind.AGENT_MESSAGE:
            self._closing.append(event)
        self._note(event, text, 2.0 if is_user else 1.5)
        if is_user or text.strip() not in self._brought:  # an episode is not named by a page, whoever says it again
            self._about(text, 3.0 if is_user and self._requests <= 1 else 2.0 if is_user else 0.7)

    def _bring(self, text: str) -> None:
        line = text.strip()
        if len(line) <= BROUGHT_CHARACTERS and len(self._brought) < BROUGHT_MAX:
            self._brought.add(line)

    def _request(self, event: Event, text: str) -> None:
        self._requests += 1
        line = _quote(event, text, 500 if self._requests == 1 else 260)
        if len(self._early) < EDGE_REQUESTS:
            self._early.append(line)
        else:
            self._late.append(line)

    def _note(self, event: Event, text: str, weight: float) -> None:
        """Remember the exact strings of a text; a secret is none."""
        hidden = secrets.find(text)
        for worth, sign, pattern in _STRINGS:
            if sign and sign not in text:
                continue
            for number, match in enumerate(pattern.finditer(text)):
                if number == _MATCHES_MAX:
                    break
                if not any(secret.start < match.end() and match.start() < secret.end for secret in hidden):
                    self._string(event, match[0].rstrip(".,:;/"), worth * weight)
        if len(self._strings) > STRINGS_MAX:
            best = sorted(self._strings.items(), key=lambda item: (-_worth(item[1]), item[1].order, item[0]))
            self._strings = dict(best[: STRINGS_MAX * 3 // 4])

    def _string(self, event: Event, string: str, worth: float) -> None:
        if len(string) not in STRING_CHARACTERS or not string.isprintable():
            return
        fact = self._strings.get(string)
        if fact is None:
            self._strings[string] = _String(worth, 1, f"fh:{event.id}", event.position)
            return
        fact.times += 1
        if worth > fact.worth:
            fact.worth, fact.pointer, fact.order = worth, f"fh:{event.id}", event.position

    def _about(self, text: str, weight: float) -> None:
        """Weigh the words of a message, and remember where each first stood and what number followed it."""
        head = text[:4_000]
        pieces = words_of(_PATH_LIKE.sub(" ", head))
        for number, word in enumerate(pieces):
            if word not in self._places and len(self._places) < TERMS_MAX:
                follows = pieces[number + 1] if number + 1 < len(pieces) else ""
                tail = follows if follows.isnumeric() and len(follows) <= 6 else ""
                self._places[word] = (len(self._places), tail)
        terms = {piece for term in topics.terms_of(head) for piece in words_of(_PATH_LIKE.sub(" ", term))}
        if not head.isascii():
            terms |= {piece for term in marker_hints.terms(head) for piece in words_of(term)}
        for term in sorted(terms):
            if term not in _GENERIC and not term.isnumeric() and not _is_opaque(term):
                self._terms[term] = self._terms.get(term, 0.0) + weight
        if len(self._terms) > TERMS_MAX:
            best = sorted(self._terms.items(), key=lambda item: (-item[1], item[0]))
            self._terms = dict(best[: TERMS_MAX * 3 // 4])

    # giving ----------------------------------------------------------------------------------------

    def _words(self) -> tuple[Word, ...]:
        weights = dict(self._terms)
        for path, file in self._work.files.items():
            for piece in words_of(re.split(r"[/\\]", path)[-1].partition(".")[0]):
                if piece not in _GENERIC and not piece.isnumeric() and not _is_opaque(piece):
                    weights[piece] = weights.get(piece, 0.0) + 1.0 + min(file.times, 4) * 0.5
        best = sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:200]
        far = len(self._places)
        return tuple(
            Word(text, weight, *self._places.get(text, (far + number, "")))
            for number, (text, weight) in enumerate(best)
        )

    def _telling(self) -> tuple[str, ...]:
        files = sorted(self._work.files.values(), key=lambda file: (-file.times, file.order))
        stems = [re.split(r"[/\\]", file.path)[-1].partition(".")[0] for file in files[:6]]
        outcome = [commit.message for commit in self._work.commits[-2:]]
        numbers = [number for _, number in list(self._places.values())[:400] if number]
        return tuple(text for text in (*stems, *outcome, *numbers) if text and not secrets.find(text))

    def _facts(self, session: str, terms: tuple[str, ...]) -> tuple[str, ...]:
        work = self._work
        counted = [_counted(max(self._requests, 0), "request"), _counted(self._events, "event")]
        counted += [_counted(work.calls, "tool call")] if work.calls else []
        counted += [f"{work.failed:,} of {work.results:,} results failed"] if work.failed else []
        counted += [f"{_counted(self._unread, 'task state')} not readable"] if self._unread else []
        return (
            f"Session: {code(session, 160, '')}, {span(self._first, self._last)}, {', '.join(counted)}",
            f"About: {', '.join(terms[:12])}" if terms else "About: no words",
            "Taken from the log, word for word; `firsthand show POINTER` gives the whole.",
        )

    def _sections(self) -> tuple[Section, ...]:
        return self._asked(), self._done(), self._failed(), self._open(), self._exact(), self._ended_with()

    def _asked(self) -> Section:
        return Section("Asked", (*self._early[:1], *reversed(self._late), *self._early[1:]), self._requests)

    def _done(self) -> Section:
        work, lines = self._work, []
        if work.calls:
            used = ", ".join(f"{code(name, 40, '')} {times:,}" for name, times in work.tools.most_common(8))
            lines.append(Line(f"tools: {used}", order=0))
        commits = [_commit_line(commit) for commit in reversed(work.commits)]
        files = sorted(work.files.values(), key=lambda file: (-file.times, file.order))
        changed = [_file_line(file) for file in files]
        for number in range(max(len(commits), len(changed))):  # both have their share
            lines += [*commits[number : number + 1], *changed[number : number + 1]]
        return Section("Done", tuple(lines), len(lines) + work.files_left_out + work.commits_left_out)

    def _failed(self) -> Section:
        failures = sorted(
            self._work.failures.values(), key=lambda failure: (bool(failure.over), -failure.times, -failure.order)
        )
        return Section("Failed", tuple(map(_failure_line, failures)), len(failures) + self._work.failures_left_out)

    def _open(self) -> Section:
        lines = tuple(
            Line(code(f"{call.tool}: {call.said}" if call.said else call.tool, 160, call.pointer), call.pointer, number)
            for number, call in enumerate(self._state.calls)
        )
        return Section("Calls without a result", lines, len(lines))

    def _exact(self) -> Section:
        best: list[tuple[str, _String]] = []
        ranked = sorted(self._strings.items(), key=lambda item: (-_worth(item[1]), item[1].order, item[0]))
        for string, fact in ranked[:400]:
            if not any(string in other or other in string for other, _ in best):
                best.append((string, fact))
        lines = [Line(code(string, 120, fact.pointer), fact.pointer, fact.order) for string, fact in best]
        return Section("Exact strings", tuple(lines), len(self._strings))

    def _ended_with(self) -> Section:
        lines: list[Line] = []
        if self._closing:
            # A last "done" tells nothing: then the message before it is told too.
            telling = [message for message in self._closing if len(message.text.strip()) >= TELLING_CHARACTERS][-1:]
            for event in [message for message in self._closing if message in telling or message is self._closing[-1]]:
                text = blanked(event.text[:READ_CHARACTERS]).strip()
                lines.insert(0, _quote(event, text, 360, "the agent's last words"))
        return Section("How it ended", tuple(lines), len(lines))


_PATH_LIKE = re.compile(r"https?://\S{1,300}|(?:[\w.@~+-]{0,64})(?:/[\w.@+-]{1,64}){2,16}/?|\bfh:\w{1,26}")


def _quote(event: Event, text: str, characters_max: int, what: str = "", order: int | None = None) -> Line:
    pointer = f"fh:{event.id}"
    quote = quoted(text, characters_max, pointer)
    place = event.position if order is None else order
    return Line(f"{what}: {quote}" if what else quote, pointer, place)


def _failure_line(failure: Failed) -> Line:
    what = code(failure.said, 160, failure.first) if failure.said else code(failure.tool, 60, failure.first)
    exit_code = f" (exit code {failure.code})" if failure.code else ""
    times = f", {failure.times:,} times" if failure.times > 1 else ""
    over = f"; the same went well later ({failure.over})" if failure.over else ""
    return Line(f"{what} failed{exit_code}{times}{over}", failure.last, failure.order)


def _commit_line(commit: Made) -> Line:
    label = f"commit {code(commit.name[:12], 12, commit.pointer)}"
    more = f": {code(commit.message, 120, commit.pointer)}" if commit.message else ""
    return Line(label + more, commit.pointer, 2 + commit.order)


def _file_line(file: Changed) -> Line:
    times = f", {file.times:,} times" if file.times > 1 else ""
    return Line(f"changed {code(file.path, 160, file.pointer)}{times}", file.pointer, 2 + file.order)


def _worth(string: _String) -> float:
    return string.worth * (1.0 + min(string.times - 1, 5) * 0.15)


def _is_opaque(word: str) -> bool:
    """Say whether a word is a hash, an id or the like, which nobody remembers by."""
    digits = sum(sign.isdigit() for sign in word)
    return digits >= 3 and digits < len(word) and len(word) >= 7


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
