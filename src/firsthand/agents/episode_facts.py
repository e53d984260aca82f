"""What of a session goes into its episode, without a model: its record, exact strings by use, and words for its name.

An exact string counts by what was done with it: the user typed it, or it stands in commands and edits; who writes the
episode leaves out what is common in the store. The invariant: the same events in the same order give the same extract,
in bounded memory; each line names its event; of what a tool, a page or somebody else said there is the pointer, and no
word; no id of a host is a string.

Pure. It reads no sentence for what it means.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from firsthand.agents import session_record
from firsthand.agents.episode import Line, Section, code, quoted
from firsthand.agents.episode_names import Word, words_of
from firsthand.agents.session_record import SessionRecord
from firsthand.context import topics
from firsthand.event import INJECTED, Event, Kind, Trust
from firsthand.fence import blanked
from firsthand.hosts import requests
from firsthand.index.words import exact_strings
from firsthand.moment import Moment, clock
from firsthand.unasked import secrets
from firsthand.value import value

READ_CHARACTERS = 20_000  # of a message or a call
STRINGS_MAX, TERMS_MAX, IDS_MAX, BROUGHT_MAX = 4_000, 4_000, 20_000, 1_000
BROUGHT_CHARACTERS = 400
"""Of texts that tools brought, the longest among which an agent's message is looked for."""
LATER_MAX = 4
STRINGS_GIVEN, TERMS_GIVEN = 12, 16
TYPED, PASTED, WORTH_MIN = 4, 1, 3
"""A string that the user typed counts as much as so many uses in commands and edits, in a long message less."""
PASTED_CHARACTERS_MIN = 600
COMMON_SHARE = 0.02
"""A string that stands in a larger share of the store tells nothing of this session."""
STRING_CHARACTERS = range(5, 121)
TELLING = frozenset(
    {Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT, Kind.SUMMARY, Kind.DOCUMENT}
)
"""Kinds that make a session one that has an episode."""
_FILE = re.compile(r"[\w/@~+-]{3,}\.[A-Za-z]\w{0,5}\Z")
_PATH_LIKE = re.compile(r"https?://\S{1,300}|(?:[\w.@~+-]{0,64})(?:/[\w.@+-]{1,64}){2,16}/?|\bfh:\w{1,26}")
_GENERIC = frozenset(
    """
    ok okay yes please thanks hello hi hey good great sure lets let try trying code file files line lines issue text
    following currently solving repository repo here there help want need work works working task tasks problem thing
    things way something anything everything session project folder directory change changes add run running test
    tests testing fix fixed check look see show tell give get got put set start begin end done next step steps first
    second last time today now think know like just really also still back able user agent assistant message function
    method class return value error errors fails failed would could should command commands output input see example
    http https www com org py js ts md txt json self none true false import def print int str
    """.split()  # noqa: SIM905 - stop words of names, to be read as such
)


@value
class Extract:
    """What a session's episode is made from.

    Attributes:
        source: the span of all its events, as a pointer; empty when it has none.
        through: position of its last telling event; 0 when it has none.
        moment: when the session ended, as events tell it, else when they came.
        head: the line at the top.
        sections: the most important line of each first.
        strings: lines of exact strings, by string, those of most use first.
        words: what the session is about, for its name.
        telling: what may tell its name from others: files, commits, numbers.
    """

    source: str
    through: int
    began: Moment | None
    moment: Moment | None
    head: str
    sections: tuple[Section, ...]
    strings: Mapping[str, Line]
    words: tuple[Word, ...]
    telling: tuple[str, ...]

    @property
    def terms(self) -> tuple[str, ...]:
        """The words as texts, the weightiest first."""
        ranked = sorted(self.words, key=lambda word: (-word.weight, word.place, word.text))
        return tuple(word.text for word in ranked[:TERMS_GIVEN])

    def all_sections(self, shares: Mapping[str, float]) -> tuple[Section, ...]:
        """Give the sections with the exact strings that are not common in the store."""
        rare = [line for string, line in self.strings.items() if shares.get(string, 0.0) <= COMMON_SHARE]
        line = ", ".join(f"{line.text} ({line.pointer})" for line in rare)
        return (*self.sections, Section("Exact strings", (Line(line),) if line else (), int(bool(line))))


@value(frozen=False)
class _Use:
    typed: int
    calls: int
    pointer: str
    order: int


class Gathering:
    """Takes a session in, event by event, in order."""

    def __init__(self) -> None:
        self.record = SessionRecord()
        self._ends = ("", "")
        self._through = 0
        self._ingested: Moment | None = None
        self._uses: dict[str, _Use] = {}
        self._ids: set[str] = set()
        self._terms: dict[str, float] = {}
        self._places: dict[str, tuple[int, str]] = {}
        self._brought: set[str] = set()

    def take(self, event: Event) -> None:
        """Take the next event; what was erased, or is Firsthand's own, says nothing."""
        self._ends = (self._ends[0] or event.id, event.id)
        if event.erased or event.meta.get(INJECTED) is True:
            return
        self.record.take(event)
        if len(self._ids) < IDS_MAX:
            self._ids.update(part for part in event.meta.values() if isinstance(part, str) and len(part) >= 6)
        if event.kind not in TELLING:
            return
        self._through, self._ingested = event.position, event.ingested
        if requests.is_request(event):
            text = blanked(event.text[:READ_CHARACTERS])
            self._use(event, text, PASTED if len(text) >= PASTED_CHARACTERS_MIN else TYPED)
            self._about(text, 3.0 if self.record.requests <= 1 else 2.0)
        elif event.kind is Kind.TOOL_CALL and event.trust is not Trust.UNTRUSTED:
            self._use(event, _arguments(event.text)[:READ_CHARACTERS], 0)
        elif event.kind is Kind.TOOL_RESULT or event.trust is Trust.UNTRUSTED:
            line = event.text[: BROUGHT_CHARACTERS + 1].strip()
            if len(line) <= BROUGHT_CHARACTERS and len(self._brought) < BROUGHT_MAX:
                self._brought.add(line)
        elif requests.is_answer(event) and (text := blanked(event.text[:READ_CHARACTERS])).strip() not in self._brought:
            self._about(text, 0.7)  # an episode is not named by a page, whoever says it again

    def _use(self, event: Event, text: str, typed: int) -> None:
        """Remember the exact strings of a text and how they are used; a secret is none."""
        hidden = [text[secret.start : secret.end] for secret in secrets.find(text)]
        for string in exact_strings(text):
            if not is_exact(string) or any(string in secret or secret in string for secret in hidden):
                continue
            use = self._uses.get(string)
            if use is None and len(self._uses) < STRINGS_MAX:
                self._uses[string] = _Use(typed, int(not typed), f"fh:{event.id}", event.position)
            elif use is not None:
                use.typed, use.calls = max(use.typed, typed), use.calls + (not typed)

    def _about(self, text: str, weight: float) -> None:
        """Weigh the words of a message, and remember where each first stood and what number followed it."""
        head = _PATH_LIKE.sub(" ", text[:4_000])
        words = words_of(head)
        for number, word in enumerate(words):
            if word not in self._places and len(self._places) < TERMS_MAX:
                follows = words[number + 1] if number + 1 < len(words) else ""
                tail = follows if follows.isnumeric() and len(follows) <= 6 else ""
                self._places[word] = (len(self._places), tail)
        distinct = {word for joined in topics.terms_of(head) for word in words_of(joined)}
        for term in sorted(distinct):
            if _names(term) and (term in self._terms or len(self._terms) < TERMS_MAX):
                self._terms[term] = self._terms.get(term, 0.0) + weight

    # giving ----------------------------------------------------------------------------------------

    def extract(self) -> Extract:
        """Give what was gathered so far."""
        record = self.record
        source = f"fh:{self._ends[0]}..{self._ends[1]}" if self._ends[0] else ""
        times = " to ".join(dict.fromkeys(clock(time) for time in (record.began, record.ended) if time is not None))
        requests_told = f"{record.requests:,} request{'' if record.requests == 1 else 's'}"
        head = f"{times}, {requests_told}; word for word, `firsthand show POINTER` gives the whole."
        return Extract(
            source, self._through, record.began, record.ended or self._ingested, head, _sections(record),
            self._strings(), self._words(), self._telling(),
        )  # fmt: skip

    def _strings(self) -> dict[str, Line]:
        """Give the strings that the user typed, or that stand in several calls, by use; none that is a host's id."""
        best: dict[str, Line] = {}
        for string, use in sorted(self._uses.items(), key=lambda item: (-_worth(item[1]), item[1].order, item[0])):
            is_id = not self._ids.isdisjoint({string, *re.split(r"[/\\]", string)}) and string != self.record.folder
            told = any(string in path for path in self.record.changes)
            if is_id or told or _worth(use) < WORTH_MIN or any(string in each or each in string for each in best):
                continue
            best[string] = Line(code(string, 120, use.pointer), use.pointer, use.order)
            if len(best) == STRINGS_GIVEN:
                break
        return best

    def _words(self) -> tuple[Word, ...]:
        weights, far = dict(self._terms), len(self._places)
        for change in self.record.changes.values():
            for word in words_of(re.split(r"[/\\]", change.path)[-1].partition(".")[0]):
                if _names(word):
                    weights[word] = weights.get(word, 0.0) + 1.0 + min(change.times, 4) * 0.5
        best = sorted(weights.items(), key=lambda item: (-item[1], item[0]))[:200]
        return tuple(
            Word(text, weight, *self._places.get(text, (far + number, "")))
            for number, (text, weight) in enumerate(best)
        )

    def _telling(self) -> tuple[str, ...]:
        changes = sorted(self.record.changes.values(), key=lambda change: (-change.times, change.position))
        stems = [re.split(r"[/\\]", change.path)[-1].partition(".")[0] for change in changes[:6]]
        messages = [commit.message for commit in self.record.commits[-2:]]
        numbers = [number for _, number in list(self._places.values())[:400] if number]
        return tuple(text for text in (*stems, *messages, *numbers) if text and not secrets.find(text))


def extract(events: Iterable[Event]) -> Extract:
    """Read a session through; time is linear in its events, memory is bounded."""
    gathering = Gathering()
    for event in events:
        gathering.take(event)
    return gathering.extract()


def _arguments(text: str) -> str:
    """Give the texts in a call's arguments as they are, not as JSON spells them."""
    try:
        fields = json.loads(text) if text.lstrip().startswith("{") else None
    except (ValueError, RecursionError):  # cut off
        return ""
    return "\n".join(part for part in fields.values() if isinstance(part, str)) if isinstance(fields, dict) else text


def is_exact(string: str) -> bool:
    """Say whether a string is nobody's to guess: a path, a file, a version, an address, a name with digits in it."""
    if len(string) not in STRING_CHARACTERS or not string.isprintable():
        return False
    joined = string.count("/") > 1 or "://" in string or _FILE.match(string) is not None
    digits = sum(sign.isdigit() for sign in string)
    bare = string.replace(".", "").replace(":", "").replace(",", "")
    return joined or 0 < digits < len(bare) or (string.count(".") > 1 and bare.isdecimal())


def _worth(use: _Use) -> int:
    return use.typed + min(use.calls, 5)


def _names(word: str) -> bool:
    """Say whether a word can name a session: no filler, no number, no hash or id."""
    digits = sum(sign.isdigit() for sign in word)
    opaque = digits >= 3 and digits < len(word) and len(word) >= 7
    return word not in _GENERIC and not word.isnumeric() and not opaque


def _sections(record: SessionRecord) -> tuple[Section, ...]:
    later = [turn.request for turn in reversed(record.turns) if turn.worked and turn.request.is_telling]
    requests_told = dict.fromkeys(filter(None, (record.opening, record.last, *later[:LATER_MAX])))
    spoken = [("user", passage, 500 if passage is record.opening else 280) for passage in requests_told]
    spoken += [("the agent said", record.answer, 500)] if record.answer is not None else []
    said = [
        Line(f"{who}: {quoted(passage.text, most, passage.pointer)}", passage.pointer, passage.position)
        for who, passage, most in spoken
    ]
    failures = record.failures
    changes = sorted(record.changes.values(), key=lambda change: (-change.times, change.position))
    return (
        Section("Said", tuple(said), record.requests + (record.answer is not None)),
        _section("Changed", [
            Line(code(session_record.short_path(change.path, record.folder), 160, change.pointer)
                 + _times(change.times), change.pointer, change.position)
            for change in changes
        ]),
        _section("Commits", [
            Line(f"{commit.name[:12]}: {code(commit.message, 120, commit.call)}", commit.call, commit.position)
            for commit in reversed(record.commits)
        ]),
        _section("Failed", [
            Line(code(failure.line, 160, failure.call) + (f", exit code {failure.code}" if failure.code else "")
                 + f"{_times(failure.times)}: {failure.result}", failure.call, failure.position)
            for failure in failures
        ]),
        _section("Calls without a result", [
            Line(code(f"{call.tool}: {call.action}", 160, call.pointer), call.pointer, call.position)
            for call in record.calls.values()
        ]),
    )  # fmt: skip


def _section(title: str, lines: Sequence[Line]) -> Section:
    return Section(title, tuple(lines), len(lines))


def _times(number: int) -> str:
    return f", {number:,} times" if number > 1 else ""
