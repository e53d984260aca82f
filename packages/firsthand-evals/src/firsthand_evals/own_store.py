"""A user's own store: what recall would have brought at each message, what was volunteered, what a summary lost.

It replays what the log has: at a user's message the log before it is asked, and what came
after it says what was of use. Nothing is understood: a passage counts as used when an exact
string, a number or six words in a row of it, which the window did not have, stand in what
the user, the agent or its calls said later in the session. The invariants: nothing is
written, no model is asked; what is compared had the same tokens; a sample has a fixed seed;
secrets are masked before anything is read.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from math import log

import apsw

from firsthand import Band, Event, Kind, Memory, Moment, Outcome, PullLimits, Query, Scope
from firsthand.agents.reminders import HELD_MIN, LIKELIHOOD_MIN, TOKENS_MAX
from firsthand.agents.validity import funnel
from firsthand.context.tools import ANSWER_TOKENS_MIN, Pull
from firsthand.event import texts
from firsthand.formats.tool_definitions import EXPAND, Call
from firsthand.hosts.requests import is_asked
from firsthand.index.tokenizer import stems
from firsthand.index.words import exact_strings, of_text, spaceless_pairs, without_spaceless
from firsthand.recall.query import Question, ask
from firsthand.tokens import estimate
from firsthand.unasked.secrets import mask
from firsthand.unasked.volunteer import Piece
from firsthand.value import value

MOMENTS, CUTS_MAX = 100, 40
TEXT_CHARACTERS_MAX = 4_000
"""Of an event, that are read; the rest of a longer one is not looked at."""
PASSAGE_CHARACTERS, PASSAGES_MAX, LATER_EVENTS, WINDOW_EVENTS = 480, 3, 200, 1_000
QUOTE_WORDS, QUOTE_SIGNS = 6, 12
"""In a row that make a quote: words, and signs of writing without spaces."""
CUT_EVENTS_MIN, SUMMARY_TOKENS = 30, 500
_SAID = (Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.NOTE)
_DONE = (Kind.AGENT_MESSAGE, Kind.TOOL_CALL)
_READ = (*_SAID, Kind.TOOL_CALL, Kind.TOOL_RESULT, Kind.SUMMARY)
_NUMBER, _WORD = re.compile(r"(?<![\w.])\d[\d.,]*\d\d(?!\w)"), re.compile(r"\w+")

_ESCAPE, _LETTER = re.compile(r"\\(?:[abfnrtv0]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})"), re.compile(r"[^\W\d_]")


class Entry:
    """An event as it is read here, with the strings in it; its runs of words are found when they are asked for."""

    def __init__(self, event: Event) -> None:
        self.position, self.session, self.kind, self.time = event.position, event.session, event.kind, event.time
        self.pointer, self.text = event.pointer, mask(_plain(event)[: 2 * TEXT_CHARACTERS_MAX])[:TEXT_CHARACTERS_MAX]
        self.strings = strings_of(self.text)
        self._runs: frozenset[str] | None = None

    @property
    def marks(self) -> frozenset[str]:
        """Give its exact strings and runs of words."""
        if self._runs is None:
            self._runs = runs_of(self.text)
        return self.strings | self._runs


def _plain(event: Event) -> str:
    """Give the text of an event; of a call what it was called with, without the escapes of JSON."""
    if event.kind is not Kind.TOOL_CALL or event.text[:1] != "{":
        return event.text
    try:
        return "\n".join(_leaves(json.loads(event.text)))
    except (ValueError, RecursionError):  # no JSON after all: the text is what it was called with
        return event.text


def _shown(event: Event) -> list[str]:
    """Give the pointers that a record of what was volunteered names; none of one that was erased or is no JSON."""
    try:
        content = {} if event.erased else json.loads(event.text)
    except (ValueError, RecursionError):  # anybody may append any text of this kind
        return []
    return texts(content.get("shown")) if isinstance(content, dict) else []


def _leaves(data: object) -> Iterator[str]:
    if isinstance(data, dict | list):
        for part in data.values() if isinstance(data, dict) else data:
            yield from _leaves(part)
    elif data is not None:
        yield str(data)


def strings_of(text: str) -> frozenset[str]:
    """Give the exact strings of a text (identifiers, files, versions), and its numbers of three digits and more."""
    return frozenset((*exact_strings(text), *_NUMBER.findall(without_spaceless(text))))


def is_name(string: str) -> bool:
    """Say whether an exact string names something: it has two letters that are not of an escape such as a line end."""
    return len(_LETTER.findall(_ESCAPE.sub("", string))) > 1


def runs_of(text: str) -> frozenset[str]:
    """Give every run of six words of a text, of writing without spaces every twelve signs in a row."""
    words = _WORD.findall(without_spaceless(text.casefold()))
    signs = "" if text.isascii() else "".join(word for word in _WORD.findall(text) if spaceless_pairs(word))
    runs = {" ".join(words[at : at + QUOTE_WORDS]) for at in range(len(words) - QUOTE_WORDS + 1)}
    return frozenset(runs | {signs[at : at + QUOTE_SIGNS] for at in range(len(signs) - QUOTE_SIGNS + 1)})


@value
class Passage:
    """What was, or would have been, put before an agent.

    Attributes:
        used: later in the session; ``elsewhere``: the same count held against another session, None without one.
    """

    pointer: str
    time: Moment | None
    text: str
    used: bool
    elsewhere: bool | None = None


@value
class Asked:
    """One message of the user, with what would have come with it."""

    pointer: str
    session: str
    time: Moment | None
    text: str
    ours: tuple[Passage, ...]
    words: tuple[Passage, ...]


@value
class Cut:
    """One place where history leaves a window, and what of the strings that were used again each way has left.

    Attributes:
        host: whether the summary is the host's own, else it is made of lines of the messages.
        needed: strings that the agent used later before anybody said them again.
        summary, words, ours, contents: which of them stand in the summary, and in as many tokens in BM25's passages,
            in a recall's, in what the pointer of a marker over all before the cut opens to.
        opened: how many stand in an event that its pointer gives.
    """

    session: str
    pointer: str
    host: bool
    tokens: int
    needed: tuple[str, ...]
    summary: frozenset[str]
    words: frozenset[str]
    ours: frozenset[str]
    contents: frozenset[str]
    opened: int


@value
class Findings:
    """What came of a store; ``messages`` are all that could be replayed, ``moments`` those that were."""

    events: int
    sessions: int
    messages: int
    moments: tuple[Asked, ...]
    volunteered: tuple[tuple[str, Passage], ...]
    cuts: tuple[Cut, ...]


class Words:
    """BM25 over passages of events, cut into words as the index and recall cut them: the baseline."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.passages = [
            (entry, entry.text[at : at + PASSAGE_CHARACTERS])
            for entry in entries for at in range(0, len(entry.text), PASSAGE_CHARACTERS)
        ]  # fmt: skip
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._sizes = [0] * len(self.passages)
        for number, (_, text) in enumerate(self.passages):
            words = of_text(text)
            counts = Counter((*_stems()(words.text), *words.exact))
            self._sizes[number] = sum(counts.values())
            for word, count in counts.items():
                self._postings[word].append((number, count))
        self._mean = sum(self._sizes) / max(1, len(self._sizes))

    def best(self, text: str, tokens: int, may: Callable[[Entry], bool]) -> list[tuple[Entry, str]]:
        """Give the passages that answer best, of entries that may be shown, within so many tokens."""
        scores: dict[int, float] = defaultdict(float)
        question = question_of(text)
        for word in {term.key for term in (*question.words, *question.parts, *question.strings)}:
            postings = self._postings.get(word, ())
            weight = log(1 + (len(self.passages) - len(postings) + 0.5) / (len(postings) + 0.5))
            for number, count in postings:
                if may(self.passages[number][0]):
                    scores[number] += weight * count * 2.2 / (count + 0.3 + 0.9 * self._sizes[number] / self._mean)
        chosen, left = [], tokens
        for number in sorted(scores, key=lambda number: (-scores[number], number)):
            entry, passage = self.passages[number]
            if (cost := estimate(passage)) <= left:
                chosen.append((entry, passage))
                left -= cost
            if left < tokens // 10:
                break
        return chosen


@cache
def _stems() -> Callable[[str], list[str]]:
    return stems(apsw.Connection(":memory:"))


def question_of(text: str) -> Question:
    """Give the terms that recall asks the index for: no stop words."""
    return ask(text, _stems())


class Replay:
    """One store, read once, and asked as of each of its moments."""

    def __init__(self, memory: Memory, *, moments: int = MOMENTS, seed: int = 0) -> None:
        self.funnel = funnel(memory)
        self.memory, self.limit, self.chance = memory, moments, random.Random(seed)  # noqa: S311 - repeatable
        self.sessions: dict[str, list[Entry]] = defaultdict(list)
        self.shown: list[Event] = []
        self.events = 0
        for event in memory.events():
            self.events += 1
            if event.kind is Kind.INJECTION:
                self.shown.append(event)
            elif event.kind in _READ and not event.erased:
                self.sessions[event.session].append(Entry(event))
        self.by_pointer = {entry.pointer: entry for own in self.sessions.values() for entry in own}
        self.words = Words(self.by_pointer.values())

    def findings(self, progress: Callable[[int, int], None] = lambda _done, _whole: None) -> Findings:
        """Replay messages, count what was volunteered, and cut windows."""
        first = min((entry.position for own in self.sessions.values() for entry in own), default=0)
        asked = [
            entry for own in self.sessions.values() for entry in own
            if entry.kind is Kind.USER_MESSAGE and entry.position > first and is_asked(entry.text)
            and len(question_of(entry.text).words) > 1
        ]  # fmt: skip
        chosen = sorted(self.chance.sample(asked, min(self.limit, len(asked))), key=lambda entry: entry.position)
        moments = []
        for number, entry in enumerate(chosen, 1):
            others = [other for other in chosen if other.session != entry.session]
            moments.append(self._moment(entry, self.chance.choice(others) if others else None))
            progress(number, len(chosen))
        return Findings(self.events, len(self.sessions), len(asked), tuple(moments), tuple(self._volunteered()),
                        tuple(self._cuts()))  # fmt: skip

    def _moment(self, entry: Entry, other: Entry | None) -> Asked:
        left = max((it.position for it in self._before(entry) if it.kind is Kind.SUMMARY), default=0)
        scopes = [Scope(kinds=_SAID, before_position=entry.position, without_sessions=(entry.session,))]
        if left:
            scopes.append(Scope((entry.session,), kinds=_SAID, before_position=left))
        ours = next((hits for scope in scopes if (hits := self._hits(entry.text, scope))), [])
        tokens = sum(estimate(text) for _, text in ours)
        words = self.words.best(entry.text, tokens, lambda it: it.kind in _SAID and it.position < entry.position and (
            it.session != entry.session or it.position < left)) if tokens else []  # fmt: skip
        known = self._window(entry)
        later = self._later(entry.session, entry.position)
        elsewhere = self._later(other.session, other.position) if other else None

        def passages(found: Sequence[tuple[str, str]]) -> tuple[Passage, ...]:
            return tuple(
                Passage(pointer, self.by_pointer[pointer].time if pointer in self.by_pointer else None, text,
                        bool(new & later), None if elsewhere is None else bool(new & elsewhere))
                for pointer, text in found
                for new in ((strings_of(text) | runs_of(text)) - known,)
            )  # fmt: skip

        return Asked(entry.pointer, entry.session, entry.time, entry.text, passages(ours),
                       passages([(it.pointer, text) for it, text in words]))  # fmt: skip

    def _hits(self, text: str, scope: Scope) -> list[tuple[str, str]]:
        """Recall as implicit recall does: its kinds, its limits of likelihood, its size, its funnel."""
        answer = self.memory.recall(
            Query(text[:TEXT_CHARACTERS_MAX], scope, hits_max=PASSAGES_MAX, budget_tokens_max=TOKENS_MAX)
        )
        likely = answer.likelihood >= LIKELIHOOD_MIN[Band.LIKELY] and answer.signals.get("held", 0.0) >= HELD_MIN
        if answer.outcome is not Outcome.FOUND or not likely:
            return []
        pieces = self.funnel.passed(Piece(hit.preview, (hit.pointer,)) for hit in answer.hits if hit.preview)
        return [(piece.pointers[0], piece.words) for piece in pieces if not piece.withheld]

    def _before(self, entry: Entry) -> Iterator[Entry]:
        return (it for it in self.sessions[entry.session] if it.position < entry.position)

    def _window(self, entry: Entry) -> frozenset[str]:
        """Give what the window had: of the session, from its last summary up to the message, at most so many events."""
        marks = set(entry.marks)
        for it in reversed([*self._before(entry)][-WINDOW_EVENTS:]):
            marks |= it.marks
            if it.kind is Kind.SUMMARY:
                break
        return frozenset(marks)

    def _later(self, session: str, position: int) -> frozenset[str]:
        after = [it for it in self.sessions.get(session, ()) if it.position > position][:LATER_EVENTS]
        return frozenset().union(*(it.marks for it in after if it.kind in (*_DONE, Kind.USER_MESSAGE)))

    def _volunteered(self) -> Iterator[tuple[str, Passage]]:
        """Give what the log says was put before an agent unasked, and whether it was used."""
        for event in self.shown:
            later = self._later(event.session, event.position)
            before = [it for it in self.sessions.get(event.session, ()) if it.position < event.position]
            known = self._window(before[-1]) if before else frozenset[str]()
            for entry in filter(None, map(self.by_pointer.get, _shown(event))):
                used = bool((entry.marks - known) & later)
                yield str(event.meta.get("event", "")), Passage(entry.pointer, event.time, entry.text, used)

    def _cuts(self) -> Iterator[Cut]:
        """Cut sessions where their host did, or in the middle, and see what is left of what was used again."""
        places = []
        for own in self.sessions.values():
            hosts = [at for at, entry in enumerate(own) if entry.kind is Kind.SUMMARY and at >= CUT_EVENTS_MIN]
            places += [(own, at) for at in hosts or ([len(own) // 2] if len(own) >= 2 * CUT_EVENTS_MIN else [])]
        for own, at in sorted(self.chance.sample(places, min(CUTS_MAX, len(places))), key=lambda it: it[0][0].position):
            cut = self._cut(own, at)
            if cut.needed:
                yield cut

    def _cut(self, own: Sequence[Entry], at: int) -> Cut:
        entry, before = own[at], own[:at]
        host = entry.kind is Kind.SUMMARY
        summary = entry.text if host else extract(before, SUMMARY_TOKENS)
        tokens = max(1, estimate(summary))
        known = {name for it in before for name in it.strings if is_name(name)}
        needed: dict[str, None] = {}
        seen: set[str] = set()
        for it in own[at + host : at + host + LATER_EVENTS]:
            if it.kind in _DONE:
                needed |= dict.fromkeys(sorted((it.strings & known) - seen))
            seen |= it.strings
        question = next((it.text for it in own[at:] if it.kind is Kind.USER_MESSAGE), "") or next(
            (it.text for it in reversed(before) if it.kind in _SAID), "")  # fmt: skip
        scope = Scope((entry.session,), before_position=entry.position)
        found = self.memory.recall(Query(question or " ", scope, hits_max=100, budget_tokens_max=tokens))
        words = self.words.best(
            question, tokens, lambda it: it.session == entry.session and it.position < entry.position
        )
        lines = {"summary": summary, "words": " ".join(text for _, text in words),
                 "ours": " ".join(hit.preview for hit in found.hits),
                 "contents": self._contents(before, max(tokens, ANSWER_TOKENS_MIN))}  # fmt: skip
        holders = {name: it for it in before for name in it.strings}
        return Cut(
            entry.session, entry.pointer, host, tokens, tuple(needed),
            opened=sum(name in _plain(self.memory.event(holders[name].pointer)) for name in needed),
            **{way: frozenset(name for name in needed if name in text) for way, text in lines.items()},
        )  # fmt: skip

    def _contents(self, before: Sequence[Entry], tokens: int) -> str:
        """Open what a marker over some events points to, as a model does."""
        pointer = f"{before[0].pointer}..{before[-1].pointer.removeprefix('fh:')}"
        pull = Pull(self.memory, before[0].session, PullLimits(tokens=tokens, answer_tokens=tokens))
        return pull.read(Call("own", EXPAND, {"pointer": pointer})).text


def extract(entries: Sequence[Entry], tokens: int) -> str:
    """Summarize as a running summary does, by lines: of the summary so far and what is new, the commonest words win."""
    summary: list[str] = []
    step = max(1, len(entries) // 4)
    for start in range(0, len(entries), step):
        new = [line for entry in entries[start : start + step] for line in entry.text.splitlines() if len(line) > 20]
        lines = dict.fromkeys(line[:PASSAGE_CHARACTERS] for line in (*summary, *new))
        words = {line: {term.key for term in question_of(line).words} for line in lines}
        counts = Counter(word for own in words.values() for word in own)
        scores = {line: sum(counts[word] for word in own) / len(own) for line, own in words.items() if own}
        summary, left = [], tokens
        for line in sorted(scores, key=lambda line: -scores[line]):
            if (cost := estimate(line)) <= left:
                summary.append(line)
                left -= cost
            if left < tokens // 20:
                break
    return "\n".join(summary)
