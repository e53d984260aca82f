"""A correction finds its source: what was concluded, the statements behind it, and what they give worked out again.

    message -> is it a correction, of what -> what the log holds of that -> pointers, at most two hops
            -> the statements that determine it -> worked out again, beside what was concluded

The invariant: nothing is decided and nothing is written. What a message says and what a
stored source says stand side by side with origin, trust and time, verbatim; the same
value said again is counted once. What was bounded or could not be followed is said.

It does not know how a correction is read nor compared (`notes.correction`, `notes.correcting`).
Source: reclaim-evaluation 5.4, App. J.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from firsthand import pointer
from firsthand.answer import Scope
from firsthand.errors import Erased, MalformedPointer, PointerError, Unresolvable
from firsthand.event import INJECTED, REPEATS, Event, Kind, Trust, texts
from firsthand.lifecycle.agent import OWN
from firsthand.lifecycle.shown import left_window_before, told_of
from firsthand.notes.correction import Correction, correction_of
from firsthand.noting import NOTES
from firsthand.pointer import Pointer
from firsthand.value import replace, value

if TYPE_CHECKING:
    from firsthand.memory import Memory
    from firsthand.notes.correcting import Judged
    from firsthand.notes.statements import Statement

DEADLINE_MS = 200
HOPS_MAX = 2
FOUND_MAX = 12
"""Events that hold the words of what is named, the most of them first."""
PLACES_MAX = 3
"""Sessions whose statements are compared."""
POINTERS_MAX = 32  # that are followed for one claim
AROUND_MAX = 80  # events of a session that are read before and behind what was found
CHARACTERS_MAX = 24_000  # of all messages that are cut into statements: some 50 milliseconds
MESSAGE_CHARACTERS_MAX = 8_000
BEFORE_MAX = 16  # earlier messages of the session that may have said the same
LOOKED_BACK_MAX = 32  # events of the session, and of what was put before it
TALKS_MAX = 8  # newest sessions that are looked at for the last answer
_KINDS = (Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.TOOL_RESULT, Kind.NOTE, Kind.EPISODE, Kind.SUMMARY, Kind.DOCUMENT)
_DIALOGUE = frozenset({Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.TOOL_RESULT})
_DERIVED = frozenset({Kind.NOTE, Kind.EPISODE, Kind.SUMMARY})
_RECORDS = frozenset({Kind.EPISODE, Kind.SUMMARY})
_COMPUTED = frozenset({"sum of products", "subtotal", "average", "span", "constraints"})


@value
class Checked:
    """What memory holds against, or for, a correction.

    Attributes:
        correction: what the message says is wrong; None when it corrects nothing.
        judged: what it comes to beside what is stored; None when nothing stored is about it.
        text: for a model, not fenced yet; empty for nothing.
        pointers: of the events that the text shows.
        sort: of the correction, as `notes.correcting.Sort`; empty when nothing stored is about it.
        skipped: why there is no text.
        left_out: sentences on what was bounded or could not be followed.
    """

    correction: Correction | None = None
    judged: Judged | None = None
    text: str = ""
    pointers: tuple[str, ...] = ()
    skipped: str = ""
    left_out: tuple[str, ...] = ()

    @property
    def sort(self) -> str:
        """The sort of the correction."""
        return self.judged.sort if self.judged is not None else ""


@value
class Held:
    """What is compared: events and their statements.

    Attributes:
        session: where they were said.
        events: by pointer.
        names_all: True when one event holds all words of what is named.
        wider: what it comes to with the other turns of the session; None where that is the same.
    """

    session: str
    events: dict[str, Event]
    stored: tuple[Statement, ...]
    judged: Judged
    names_all: bool
    position: int
    wider: Judged | None = None


def check_correction(
    memory: Memory,
    text: str,
    scope: Scope | None = None,
    *,
    session: str = "",
    seen: Collection[str] = (),
    by: str = "user",
    deadline_ms: int = DEADLINE_MS,
) -> Checked:
    """Find the source behind what a message says is wrong, and compare.

    Args:
        scope: where to look; None is the whole namespace. What the session itself said is left out while its
            window holds it.
        session: in which the message is said; empty for none.
        seen: pointers that stand in the session's window; they are named and not repeated.
        by: who says it.

    Raises:
        StoreError: the log cannot be read.
    """
    correction = correction_of(text)
    if correction is None:
        return Checked(skipped="no correction")
    return _Check(memory, text, correction, scope or Scope(), session, deadline_ms).checked(frozenset(seen), by)


class _Check:
    """One correction, from its words to the statements behind what it names."""

    def __init__(
        self, memory: Memory, text: str, correction: Correction, scope: Scope, session: str, deadline_ms: int
    ) -> None:
        self.memory, self.text, self.correction, self.session = memory, text, correction, session
        self.until = time.monotonic() + deadline_ms / 1000
        mine = (session, f"{session}/agent-*") if session else ()
        self.scope = replace(scope, without_sessions=tuple(dict.fromkeys((*scope.without_sessions, *mine))))
        self.left_out: list[str] = []
        self.words = _words(correction)

    def checked(self, seen: frozenset[str], by: str) -> Checked:
        """Give what is shown, or why nothing is."""
        from firsthand.lifecycle import correcting_text

        before = self._before()
        held = [one for group in self._groups() if (one := self._held(group, before)) is not None]
        best = max(held, key=_worth, default=None)
        left_out = tuple(dict.fromkeys(self.left_out))
        if best is None:
            return Checked(self.correction, skipped="nothing stored is about it", left_out=left_out)
        others = [one for one in held if one is not best and one.session != best.session]
        written = correcting_text.written(self.correction, best, others, seen=seen, by=by, left_out=left_out)
        return Checked(self.correction, best.judged, written.text, written.pointers, left_out=left_out)

    def _before(self) -> list[Correction]:
        """Give the corrections that the session's user said before this one."""
        if not self.session:
            return []
        said = self.memory.events(self.session, kind=Kind.USER_MESSAGE, newest_first=True, limit=BEFORE_MAX)
        earlier = [one.text for one in said if not one.erased]
        if earlier and earlier[0].strip() == self.text.strip():
            earlier = earlier[1:]  # it is this message, which is recorded already
        return [one for text in earlier if (one := correction_of(text)) is not None]

    # what is stored about it -------------------------------------------------------------------------

    def _groups(self) -> Iterator[list[Event]]:
        """Yield events that are about what is named, those of one place together, the likeliest place first."""
        found = self._found()
        groups: dict[str, list[Event]] = {}
        for one in found:
            reached = list(self._reached(one))
            home = next((other.session for other in reached if other.kind in _DIALOGUE), one.session)
            groups.setdefault(home, []).extend(reached)
        yield from itertools.islice(groups.values(), PLACES_MAX)

    def _found(self) -> list[Event]:
        """Find events that hold the words of what is named; where nothing is named, what it can only be about."""
        if not self.words:
            return self._shown() or self._last()
        found = self._holding(self.scope)
        if not found and self.session:  # what has left the session's own window
            before = left_window_before(self.memory, self.session)
            found = self._holding(Scope((self.session,), before_position=before)) if before is not None else []
        return found

    def _holding(self, scope: Scope) -> list[Event]:
        from firsthand.recall.holding import Holding

        scope = replace(scope, kinds=scope.kinds or _KINDS)
        left_ms = max(1.0, (self.until - time.monotonic()) * 1000)
        holding = Holding(self.memory._log.reader, self.memory.namespace, scope, left_ms)  # noqa: SLF001 - one room
        found = [one for one in holding.best(sorted(self.words), FOUND_MAX) if _shared(one, self.words)]
        # One that corrects, too, holds the words best, and is no source of what it says is wrong.
        found = [one for one in found if one.kind is not Kind.USER_MESSAGE or correction_of(one.text) is None]
        if holding.fault:
            self.left_out.append(f"the index could not be asked: {holding.fault}")
        most = max((len(_shared(one, self.words)) for one in found), default=0)
        found = [one for one in found if len(_shared(one, self.words)) == most or one.kind in _DERIVED]
        return sorted(found, key=lambda one: (len(_shared(one, self.words)), one.position), reverse=True)[:FOUND_MAX]

    def _shown(self) -> list[Event]:
        """Give what memory put before this session, and its last answer repeats: there a bare "wrong" can be of it."""
        if not self.session:
            return []
        from firsthand.notes.values import read

        newest = [*self.memory.events(self.session, newest_first=True, limit=LOOKED_BACK_MAX)]
        last = next((one for one in newest if one.kind is Kind.AGENT_MESSAGE and not one.erased), None)
        if last is None:
            return []
        said = {one.text for one in read(last.text[:MESSAGE_CHARACTERS_MAX])}
        put = self.memory.events(self.session, kind=Kind.INJECTION, newest_first=True, limit=LOOKED_BACK_MAX)
        told = [told_of(one) for one in put]
        addresses = [address for one in told for key in ("shown", "preamble") for address in texts(one.get(key))]
        asked = [one for one in newest if one.kind is Kind.TOOL_CALL and not one.erased]
        addresses += [address for one in asked for address in pointer.find(one.text[:MESSAGE_CHARACTERS_MAX])]
        found = (self._event(one) for one in [*dict.fromkeys(addresses)][:POINTERS_MAX])
        return [one for one in found if one is not None and any(text in one.text for text in said)]

    def _last(self) -> list[Event]:
        """Give the last answers of the newest sessions in scope, when the message speaks of an earlier one."""
        if not self.correction.points_back:
            return []
        names = self.scope.sessions or tuple(one.name for one in self.memory.sessions())
        own = self.scope.without_sessions
        talks = [name for name in names if name not in own and name != NOTES and not name.startswith(OWN)]
        answers = (
            self.memory.events(name, kind=Kind.AGENT_MESSAGE, newest_first=True, limit=1)
            for name in talks[: -TALKS_MAX - 1 : -1]
        )
        return [one for found in answers for one in found if not one.erased]

    # hops --------------------------------------------------------------------------------------------

    def _reached(self, one: Event) -> Iterator[Event]:
        """Yield an event, what its pointers lead to, and what those lead to, each once."""
        seen = {one.id}
        layer = [one]
        yield one
        for _ in range(HOPS_MAX):
            following: list[Event] = []
            for event in layer:
                for other in itertools.islice(self._sources(event), POINTERS_MAX):
                    if other.id not in seen and other.session != self.session:
                        seen.add(other.id)
                        following.append(other)
            yield from following
            layer = following

    def _sources(self, event: Event) -> Iterator[Event]:
        """Yield the events that an event rests on: its sources, the pointers in its text, its session's last words."""
        addresses = [*texts(event.meta.get("sources"))]
        addresses += pointer.find(event.text[:MESSAGE_CHARACTERS_MAX]) if event.kind is not Kind.TOOL_RESULT else []
        if event.kind is Kind.EPISODE:
            addresses = self._of_episode(event, addresses)
        for address in dict.fromkeys(addresses):
            yield from self._events(address)

    def _of_episode(self, event: Event, addresses: Sequence[str]) -> list[str]:
        """Give the pointers of the lines of an episode that are about what is named, before the others."""
        lines = [line for line in event.text.splitlines() if _words_in(line) & self.words]
        near = [one for line in lines for one in pointer.find(line)]
        return [*near, *addresses]

    def _events(self, address: str) -> Iterator[Event]:
        try:
            at = pointer.parse(address)
            first = self.memory.event(Pointer(at.first))
            if at.last is None:
                events: list[Event] = [first]
            else:
                last = self.memory.event(Pointer(at.last))
                bounds: dict[str, Any] = {"after": first.position - 1, "before": last.position + 1}
                events = list(self.memory.events(first.session, limit=AROUND_MAX, **bounds))
        except (MalformedPointer, Unresolvable, PointerError) as error:
            gone = "was erased" if isinstance(error, Erased) else "leads to nothing in this store"
            self.left_out.append(f"{address} {gone}")
            return
        for one in events:
            if one.erased:
                self.left_out.append(f"fh:{one.id} was erased")
            elif one.kind in _KINDS:
                yield one

    def _event(self, address: str) -> Event | None:
        return next(self._events(address), None)

    # statements --------------------------------------------------------------------------------------

    def _held(self, found: Sequence[Event], before: Sequence[Correction]) -> Held | None:
        """Compare the correction with what was said in one place; None when that is not about a value.

        A turn that asks for a sum, lists what it is of and answers stands by itself: a session may hold several
        lists. What all that was looked at comes to is told beside it where it is another value.
        """
        events = self._messages(found)
        turn = next(((one.session, one.turn) for one in found if one.kind in _DIALOGUE), None)
        alone = [one for one in events if (one.session, one.turn) == turn or one.kind in _DERIVED]
        whole = self._compared(events, found, before)
        near = self._compared(alone, found, before) if len(alone) < len(events) else None
        if near is None or whole is None:
            return whole
        claim = near.judged.whole
        worked_out = claim is not None and claim.how in _COMPUTED and near.judged.whole_gives is not None
        if not (worked_out and near.judged.concluded) or whole.judged.whole_gives == near.judged.whole_gives:
            return whole
        return replace(near, wider=whole.judged)

    def _compared(self, events: Sequence[Event], found: Sequence[Event], before: Sequence[Correction]) -> Held | None:
        from firsthand.notes.correcting import judge
        from firsthand.notes.statements import statements

        if not events:
            return None
        contents = (_without_pointers(one.text[:MESSAGE_CHARACTERS_MAX]) for one in events)
        stored = statements(
            [
                {"role": _role(one), "content": content, "pointer": f"fh:{one.id}"}
                for one, content in zip(events, contents, strict=True)
            ]
        )
        judged = judge(self.correction, stored, before)
        if not _is_about_a_value(self.correction, judged):
            return None
        names_all = any(_shared(one, self.words) == self.words for one in found)
        home = next((one.session for one in events if one.kind in _DIALOGUE), events[0].session)
        by_pointer = {f"fh:{one.id}": one for one in events}
        return Held(home, by_pointer, stored, judged, names_all, max(one.position for one in found))

    def _messages(self, found: Sequence[Event]) -> list[Event]:
        """Give the events to compare, in order: those found and reached, then the nearest of their session."""
        anchor = next((one for one in found if one.kind in _DIALOGUE), None)
        if anchor is not None:  # an episode repeats what was said; it led there
            found = [one for one in found if one.kind not in _RECORDS]
        near = [] if anchor is None else self._around(anchor)
        chosen: dict[str, Event] = {}
        used = 0
        for one in (*found, *near):
            if one.id in chosen or one.meta.get(INJECTED) is True or one.meta.get(REPEATS):
                continue
            size = min(len(one.text), MESSAGE_CHARACTERS_MAX)
            if used + size > CHARACTERS_MAX or time.monotonic() > self.until:
                self.left_out.append("some of what was said around it was not looked at: the time or the room was over")
                break
            if len(one.text) > MESSAGE_CHARACTERS_MAX:
                self.left_out.append(f"of fh:{one.id} the first {MESSAGE_CHARACTERS_MAX:,} characters were read")
            used += size
            chosen[one.id] = one
        return sorted(chosen.values(), key=lambda one: one.position)

    def _around(self, anchor: Event) -> list[Event]:
        """Give what was said around an event of its session, the nearest first."""
        own = anchor.session == self.session
        last = left_window_before(self.memory, self.session) if own else None
        before = self.memory.events(anchor.session, before=anchor.position, newest_first=True, limit=AROUND_MAX)
        behind = self.memory.events(anchor.session, after=anchor.position, before=last, limit=AROUND_MAX)
        told = [one for one in (*before, *behind) if one.kind in _DIALOGUE and not one.erased]
        told = [one for one in told if one.kind is Kind.USER_MESSAGE or self._may_say(one)]
        return sorted(told, key=lambda one: abs(one.position - anchor.position))

    def _may_say(self, one: Event) -> bool:
        """Say whether what an agent or a tool said has a value in it, or a word of what is named."""
        return any(sign.isdigit() for sign in one.text[:MESSAGE_CHARACTERS_MAX]) or bool(_shared(one, self.words))


def _words(correction: Correction) -> frozenset[str]:
    """Give the words by which what is named can be found: of what is wrong, else of what is asked."""
    for text in (correction.about, correction.asks):
        found = _words_in(text)
        if found:
            return found
    return frozenset()


def _words_in(text: str) -> frozenset[str]:
    from firsthand.notes.statements import subject_of

    words = subject_of(text)
    return words or frozenset(word for word in text.lower().split() if word.isalpha() and len(word) > 3)


def _shared(one: Event, words: frozenset[str]) -> frozenset[str]:
    """Give those of some words that stand in an event."""
    from firsthand.notes.statements import SENTENCE_CHARACTERS_MAX, subject_of

    text = one.text[:MESSAGE_CHARACTERS_MAX].lower()
    may = frozenset(word for word in words if word in text)
    if not may:
        return may
    starts = range(0, len(text), SENTENCE_CHARACTERS_MAX)
    told = frozenset(re.findall(r"[^\W\d_]+", text)).union(
        *(subject_of(text[at : at + SENTENCE_CHARACTERS_MAX]) for at in starts)
    )
    return may & told


def _without_pointers(text: str) -> str:
    """Blank out pointers, each sign in its place: their digits are no values."""
    for one in pointer.find(text):
        text = text.replace(one, "_" * len(one))
    return text


def _role(one: Event) -> str:
    """Name who speaks: what is derived counts as concluded, unless a person wrote it."""
    if one.kind is Kind.USER_MESSAGE:
        return "user"
    if one.kind in {Kind.TOOL_RESULT, Kind.DOCUMENT}:
        return "tool"
    return "user" if one.kind is Kind.NOTE and one.trust is Trust.TRUSTED else "assistant"


def _is_about_a_value(correction: Correction, judged: Judged) -> bool:
    """Say whether what was found is a value with a source, and not a thing that shares a word with the message."""
    claims = [one for one in (judged.part, judged.whole) if one is not None]
    if not judged.needs:
        return False
    if any(one.how in _COMPUTED for one in claims):
        return True
    named = correction.names_value or correction.gives or correction.denies or correction.asks
    gives = judged.part_gives or judged.whole_gives
    return bool(named) and bool(judged.concluded or judged.given_agrees is not None or gives is not None)


def _worth(held: Held) -> tuple[bool, bool, bool, int]:
    """Say how likely a place is the one that is meant; of equals the newest."""
    judged = held.judged
    return (held.names_all, bool(judged.differing), bool(judged.concluded), held.position)
