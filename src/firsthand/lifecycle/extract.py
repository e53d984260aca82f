"""What of a session goes into its episode, without a model: taken out of its events, word for word, with pointers.

What was asked, done, decided, tried in vain; the user's rules; what is pending; exact
strings; how it ended (recall-problem 3.2, phase 1). `Gathering` takes one event at a
time, so that a session of any length is read in bounded memory. The invariant: the same
events in the same order give the same extract; nothing is in it that no event says, but
for counts and the few words that join them; each line names its event.

Pure. It knows signs of decisions and failures, not what they mean: a decision that is
said in other words is missed.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping
from functools import cache, partial

from firsthand import secrets
from firsthand.anatomy import topic
from firsthand.compact import hints
from firsthand.errors import FormatError
from firsthand.event import INJECTED, Event, Kind, Trust
from firsthand.fence import blanked
from firsthand.lifecycle.episode import Line, Section, code, quoted, span
from firsthand.lifecycle.naming import Word, words_of
from firsthand.lifecycle.work import Changed, Failed, Made, Work
from firsthand.moment import Moment
from firsthand.task import sentences, signs
from firsthand.task.observe import observe
from firsthand.task.sentences import Sentence
from firsthand.task.state import Basis, TaskState
from firsthand.value import field, value

READ_CHARACTERS = 20_000  # of a message
EDGE_REQUESTS = 4  # first and last ones that are kept
SAID_MAX = 400  # decisions, and attempts in vain, each: the first and the last ones
PENDING_MESSAGES = 3  # of the agent's last ones, read for what is left to do
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

_compiled = cache(partial(re.compile, flags=re.IGNORECASE | re.MULTILINE))
_IN_VAIN = (
    r"\b(?:did(?:n't| not)|does(?:n't| not)|do(?:n't| not)) (?:work|help|fix|solve|compile)\b|\bwon't work\b"
    r"|\bstill (?:fail(?:s|ing)|broken|not working|crash\w*|the same)\b|\bno luck\b|\bgave up\b|\bdead end\b"
    r"|\b(?:reverted|rolled back|backed out)\b|\bturned out (?:to be |that )?(?:\w+ ){0,3}(?:wrong|not|false|useless)\b"
    r"|\b(?:that|this|it|which) (?:failed|broke|made it worse)\b|\bto no avail\b"
    r"|\b(?:hat|haben) nicht (?:funktioniert|geholfen)\b"
)
_PENDING = (
    r"\b(?:remaining (?:work|tasks?|items?|steps?|issues?|failures?|questions?)|remains to"
    r"|still (?:needs?|to be|have to|has to|open|missing|to do)|left to do|next steps?"
    r"|to-?do\b|not (?:yet )?(?:done|implemented|tested|finished|covered|fixed)|follow[- ]?up|next session"
    r"|for later|noch offen)\b"
)
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
class _Heard:
    """Sentences of one sort: the first and the last ones, each once, and how many there were."""

    early: dict[str, Line] = field(default_factory=dict)
    late: dict[str, Line] = field(default_factory=dict)
    total: int = 0

    def hear(self, line: Line) -> None:
        key = line.text.casefold()
        if key in self.early or key in self.late:
            return
        self.total += 1
        if len(self.early) < SAID_MAX // 2:
            self.early[key] = line
            return
        self.late[key] = line
        if len(self.late) > SAID_MAX // 2:
            del self.late[next(iter(self.late))]

    def lines(self) -> tuple[Line, ...]:
        """Give them newest first."""
        return tuple(reversed([*self.early.values(), *self.late.values()]))


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
        self._decided, self._in_vain = _Heard(), _Heard()
        self._closing: deque[Event] = deque(maxlen=PENDING_MESSAGES)
        self._status: Line | None = None
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
        if event.kind is Kind.SESSION:
            self._ended(event)
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
            self._note(event, event.text[:1_500], 0.4)
        else:
            self._message(event)

    def extract(self, session: str) -> Extract:
        """Give what was gathered so far."""
        words = self._words()
        terms = tuple(one.text for one in sorted(words, key=lambda word: (-word.weight, word.place, word.text)))
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

    def _ended(self, event: Event) -> None:
        told = event.meta.get("exit_status")
        if isinstance(told, str) and told:
            pointer = f"fh:{event.id}"
            self._status = Line(f"the host says: {code(told, 120, pointer)}", pointer, event.position, tool=True)

    def _message(self, event: Event) -> None:
        text = blanked(event.text[:READ_CHARACTERS])
        if not text.strip():
            return
        is_user = event.kind is Kind.USER_MESSAGE
        said = sentences.said(text)
        trusted = event.trust is not Trust.UNTRUSTED
        if is_user and not signs.is_greeting(text):
            self._request(event, text)
        if event.kind is Kind.AGENT_MESSAGE:
            self._closing.append(event)
        for one in signs.decisions(said, by_user=is_user) if trusted else ():
            self._decided.hear(_quote(event, one.text, 320, "decided by the user" if is_user else ""))
        for one in _like(said, _IN_VAIN) if trusted and event.kind is Kind.AGENT_MESSAGE else ():
            self._in_vain.hear(_quote(event, one.text, 320))
        self._note(event, text, 2.0 if is_user else 1.5)
        if not trusted:
            self._bring(text)
        elif is_user or text.strip() not in self._brought:  # an episode is not named by a page, whoever says it again
            self._about(text, 3.0 if is_user and self._requests <= 1 else 2.0 if is_user else 0.7)

    def _bring(self, text: str) -> None:
        said = text.strip()
        if len(said) <= BROUGHT_CHARACTERS and len(self._brought) < BROUGHT_MAX:
            self._brought.add(said)

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
        one = self._strings.get(string)
        if one is None:
            self._strings[string] = _String(worth, 1, f"fh:{event.id}", event.position)
            return
        one.times += 1
        if worth > one.worth:
            one.worth, one.pointer, one.order = worth, f"fh:{event.id}", event.position

    def _about(self, text: str, weight: float) -> None:
        """Weigh the words of a message, and remember where each first stood and what number followed it."""
        head = text[:4_000]
        pieces = words_of(_PATH_LIKE.sub(" ", head))
        for number, word in enumerate(pieces):
            if word not in self._places and len(self._places) < TERMS_MAX:
                follows = pieces[number + 1] if number + 1 < len(pieces) else ""
                tail = follows if follows.isnumeric() and len(follows) <= 6 else ""
                self._places[word] = (len(self._places), tail)
        terms = {piece for term in topic.terms_of(head) for piece in words_of(_PATH_LIKE.sub(" ", term))}
        if not head.isascii():
            terms |= {piece for term in hints.terms(head) for piece in words_of(term)}
        for term in sorted(terms):
            if term not in _GENERIC and not term.isnumeric() and not _is_opaque(term):
                self._terms[term] = self._terms.get(term, 0.0) + weight
        if len(self._terms) > TERMS_MAX:
            best = sorted(self._terms.items(), key=lambda item: (-item[1], item[0]))
            self._terms = dict(best[: TERMS_MAX * 3 // 4])

    # giving ----------------------------------------------------------------------------------------

    def _words(self) -> tuple[Word, ...]:
        weights = dict(self._terms)
        for path, one in self._work.files.items():
            for piece in words_of(re.split(r"[/\\]", path)[-1].partition(".")[0]):
                if piece not in _GENERIC and not piece.isnumeric() and not _is_opaque(piece):
                    weights[piece] = weights.get(piece, 0.0) + 1.0 + min(one.times, 4) * 0.5
        best = sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:200]
        far = len(self._places)
        return tuple(
            Word(text, weight, *self._places.get(text, (far + number, "")))
            for number, (text, weight) in enumerate(best)
        )

    def _telling(self) -> tuple[str, ...]:
        files = sorted(self._work.files.values(), key=lambda one: (-one.times, one.order))
        stems = [re.split(r"[/\\]", one.path)[-1].partition(".")[0] for one in files[:6]]
        outcome = [one.message for one in self._work.commits[-2:]]
        failed = [one.telling.partition(":")[0] for one in list(self._work.failures.values())[:3]]
        numbers = [number for _, number in list(self._places.values())[:400] if number]
        return tuple(text for text in (*stems, *outcome, *failed, *numbers) if text and not secrets.find(text))

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
        return (
            self._asked(), self._done(), Section("Decided", self._decided.lines(), self._decided.total), self._tried(),
            self._rules(), self._pending(), self._exact(), self._ended_with(),
        )  # fmt: skip

    def _asked(self) -> Section:
        lines = [*self._early[:1], *reversed(self._late), *self._early[1:]]
        goal = self._state.goal
        if goal is not None and goal.basis is not Basis.FIRST:
            lines.insert(0, Line(f"goal: {quoted(goal.text, 400, goal.pointer)}", goal.pointer, -1))
        return Section("Asked", tuple(lines), self._requests + len(lines) - len(self._early) - len(self._late))

    def _done(self) -> Section:
        work, lines = self._work, []
        if work.calls:
            used = ", ".join(f"{code(name, 40, '')} {times:,}" for name, times in work.tools.most_common(8))
            lines.append(Line(f"tools: {used}", order=0))
        programs = [one for one in work.programs.most_common(10) if one[0]]
        if programs:
            lines.append(Line("commands: " + ", ".join(f"{code(n, 40, '')} {t:,}" for n, t in programs), order=1))
        commits = [_commit_line(one) for one in reversed(work.commits)]
        files = sorted(work.files.values(), key=lambda one: (-one.times, one.order))
        changed = [_file_line(one) for one in files]
        for number in range(max(len(commits), len(changed))):  # both have their share
            lines += [*commits[number : number + 1], *changed[number : number + 1]]
        return Section("Done", tuple(lines), len(lines) + work.files_left_out + work.commits_left_out)

    def _tried(self) -> Section:
        held = sorted(self._work.failures.values(), key=lambda one: (bool(one.over), -one.times, -one.order))
        lines: list[Line] = [_failure_line(one) for one in held]
        spoken = self._in_vain.lines()
        merged = [line for pair in zip(spoken, lines, strict=False) for line in pair]
        merged += [*lines[len(spoken) :], *spoken[len(lines) :]]
        total = len(held) + self._work.failures_left_out + self._in_vain.total
        return Section("Tried and did not work", tuple(merged), total)

    def _rules(self) -> Section:
        held = self._state.constraints
        lines = [Line(quoted(one.text, 320, one.pointer), one.pointer, number) for number, one in enumerate(held)]
        return Section("Rules", tuple(reversed(lines)), len(held) + self._state.dropped.get("constraints", 0))

    def _pending(self) -> Section:
        words: Mapping[Basis, str] = {
            Basis.PLAN: "of the plan", Basis.BOX: "open box", Basis.QUESTION: "asked by the user, not answered",
            Basis.ASKED: "waits for the user", Basis.COMMITMENT: "promised",
        }  # fmt: skip
        loops = self._state.open_loops
        lines = [
            Line(
                f"{words[one.basis]}: {quoted(one.text, 240, one.pointer)}" if one.basis in words
                else quoted(one.text, 240, one.pointer),
                one.pointer, number,
            )
            for number, one in enumerate(loops)
        ]  # fmt: skip
        known = {one.text.casefold() for one in loops}
        for event in self._closing:
            text = blanked(event.text[:READ_CHARACTERS])
            found = [one for one in _like(sentences.said(text), _PENDING) if one.text.casefold() not in known]
            lines += [_quote(event, one.text, 240, order=len(lines) + number) for number, one in enumerate(found)]
            known |= {one.text.casefold() for one in found}
        for one in self._work.failures.values():
            if not one.over and one.order >= self._through - 40:
                line = _failure_line(one)
                lines.append(Line(f"failed last: {line.text}", line.pointer, len(lines), tool=True))
        return Section("Pending", tuple(reversed(lines)), len(lines) + self._state.dropped.get("open_loops", 0))

    def _exact(self) -> Section:
        best: list[tuple[str, _String]] = []
        ranked = sorted(self._strings.items(), key=lambda item: (-_worth(item[1]), item[1].order, item[0]))
        for string, one in ranked[:400]:
            if not any(string in other or other in string for other, _ in best):
                best.append((string, one))
        lines = [Line(code(string, 120, one.pointer), one.pointer, one.order, tool=True) for string, one in best]
        return Section("Exact strings", tuple(lines), len(self._strings))

    def _ended_with(self) -> Section:
        lines = [self._status] if self._status is not None else []
        if self._closing:
            # A last "done" tells nothing: then the message before it is told too.
            telling = [one for one in self._closing if len(one.text.strip()) >= TELLING_CHARACTERS][-1:]
            for event in [one for one in self._closing if one in telling or one is self._closing[-1]]:
                text = blanked(event.text[:READ_CHARACTERS]).strip()
                lines.insert(0, _quote(event, text, 360, "the agent's last words"))
        return Section("How it ended", tuple(lines), len(lines))


_PATH_LIKE = re.compile(r"https?://\S{1,300}|(?:[\w.@~+-]{0,64})(?:/[\w.@+-]{1,64}){2,16}/?|\bfh:\w{1,26}")


def _quote(event: Event, text: str, characters_max: int, what: str = "", order: int | None = None) -> Line:
    pointer = f"fh:{event.id}"
    said = quoted(text, characters_max, pointer)
    place = event.position if order is None else order
    return Line(f"{what}: {said}" if what else said, pointer, place, tool=event.trust is Trust.UNTRUSTED)


def _failure_line(one: Failed) -> Line:
    what = code(one.said, 160, one.first) if one.said else code(one.tool, 60, one.first)
    told = f" (exit code {one.code})" if one.code else ""
    times = f", {one.times:,} times" if one.times > 1 else ""
    why = f": {code(one.telling, 180, one.last)}" if one.telling else ""
    over = f"; the same went well later ({one.over})" if one.over else ""
    return Line(f"{what} failed{told}{times}{why}{over}", one.last, one.order, tool=True)


def _commit_line(one: Made) -> Line:
    told = f"commit {one.name[:12]} on {code(one.branch, 60, one.pointer)}"
    more = f": {code(one.message, 120, one.pointer)}" if one.message else ""
    return Line(told + more, one.pointer, 2 + one.order, tool=True)


def _file_line(one: Changed) -> Line:
    times = f", {one.times:,} times" if one.times > 1 else ""
    return Line(f"changed {code(one.path, 160, one.pointer)}{times}", one.pointer, 2 + one.order)


def _like(said: Iterable[Sentence], pattern: str) -> list[Sentence]:
    return [one for one in said if _compiled(pattern).search(one.said) and not one.said.endswith("?")][:8]


def _worth(one: _String) -> float:
    return one.worth * (1.0 + min(one.times - 1, 5) * 0.15)


def _is_opaque(word: str) -> bool:
    """Say whether a word is a hash, an id or the like, which nobody remembers by."""
    digits = sum(sign.isdigit() for sign in word)
    return digits >= 3 and digits < len(word) and len(word) >= 7


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
