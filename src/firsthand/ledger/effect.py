r"""What the decisions of the ledger leave of an event's text, and of what was made of it, at the moment of showing.

    decided on              nothing of it, or all but the bytes that the decision names
    a note, an entry        nothing, where it rests on what is out, at any depth
    an episode, a page      all but the lines that name what is out, or name nothing and may repeat it
    the user's own words    what they are, though somebody said the same elsewhere

What is taken out is a mark of the same number of bytes, so that spans keep their places.
The invariant: it is a function of the log and the ledger, and nothing of it is kept, so
that an undoing gives back every byte. While nothing is decided, no event is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from firsthand import pointer
from firsthand.errors import MalformedPointer, PointerError, StoreDamaged
from firsthand.event import INJECTED, Event, Kind, texts
from firsthand.ledger.decision_log import LedgerLog
from firsthand.ledger.decisions import Decision, Ledger
from firsthand.notes.sources import ABOUT, FILE, PARENTS, SOURCES
from firsthand.pointer import Pointer
from firsthand.recall.contents import Out
from firsthand.space import Space
from firsthand.value import replace, value

RUN_WORDS = 4
"""So many words in a row that two texts have in common are the same statement."""
DEPTH_MAX = 16
_MARK = b"[taken out]"
_DERIVED = frozenset({Kind.NOTE, Kind.ENTRY})
_BY_LINES = frozenset({Kind.EPISODE, Kind.SESSION})
_RECORDS = frozenset({Kind.TASK_STATE, Kind.RECEIPT, Kind.ANATOMY})


@value
class Range:
    """Bytes of an event's content, from ``start`` to before ``end``."""

    start: int
    end: int


@value
class _Out:
    """What is out of one event: all of it by a decision, or parts of it."""

    event: Event
    whole: Decision | None
    parts: tuple[Range, ...] = ()

    @property
    def text(self) -> str:
        """The words that are out."""
        content = self.event.content or b""
        pieces = [content] if self.whole is not None else [content[part.start : part.end] for part in self.parts]
        return b"\n".join(pieces).decode("utf-8", "replace")


class Effect:
    """What stands of the events of a space by its ledger, as it is when this is made.

    Args:
        as_of: a position; what was decided behind it does not count. None is now.
    """

    def __init__(self, space: Space, as_of: int | None = None) -> None:
        self._space, self._as_of = space, as_of
        self.ledger: Ledger = LedgerLog(space).at(as_of)
        self._outs: dict[str, _Out] | None = None
        self._instead: dict[str, str] = {}

    # what others ask -------------------------------------------------------------------------------------

    @property
    def decided(self) -> bool:
        """True when anything is out."""
        return bool(self.ledger.out or self.ledger.quarantined)

    def instead(self, event: Event, depth: int = 0) -> str:
        """Give the pointer of what took an event's place, or of the decision that did; empty while it stands."""
        if not self.decided:
            return ""
        if event.id not in self._instead:
            self._instead[event.id] = ""  # what rests on itself does not take itself out
            self._instead[event.id] = self._taken(event, depth)
        return self._instead[event.id]

    def text(self, event: Event) -> Event | None:
        """Give an event as far as it stands, with marks where something is out; None for what is out."""
        if not self.decided or event.erased:
            return event
        if self.instead(event):
            return None
        ranges = self.ranges(event)
        if not ranges:
            return event
        if event.content is None:  # an artifact is read in pieces elsewhere
            return None
        inside = {at for part in ranges for at in range(part.start, part.end)}
        if not any(at not in inside and not chr(byte).isspace() for at, byte in enumerate(event.content)):
            return None
        return replace(event, content=masked(event.content, ranges))

    def ranges(self, event: Event) -> tuple[Range, ...]:
        """Give the bytes of an event's content that are out while the event stands."""
        if not self.decided:
            return ()
        out = self._known().get(event.id)
        parts = out.parts if out is not None and out.whole is None else ()
        if event.kind in _BY_LINES or event.meta.get(FILE) is not None:
            parts = (*parts, *self._lines(event))
        return tuple(sorted(parts, key=lambda part: part.start))

    def mark(self, event: Event) -> str:
        """Say what is out of an event, for whoever opens it all the same; empty while all of it stands."""
        if instead := self.instead(event):
            return f"  no longer holds: {instead}"
        parts = ", ".join(f"{part.start}-{part.end}" for part in self.ranges(event))
        return f"  of it no longer holds: bytes {parts}" if parts else ""

    def name(self, address: str, name: str) -> str:
        """Give the name of an episode; its date and the end of its id where something of its session is out."""
        event = self._event(pointer.parse(address).first) if self.decided else None
        return f"{name[:10]}-{address[-6:].lower()}" if event is not None and self._has_outs(event) else name

    def is_out(self, address: str, words: str = "") -> bool:
        """Say whether what a pointer names is out, or what is out of it says some words."""
        if not self.decided:
            return False
        try:
            place = pointer.parse(address)
        except MalformedPointer:
            return False
        if place.last is not None and any(share_words(out.text, words) for out in self._between(place)):
            return True
        return any(self._concerns(place, identity, words) for identity in (place.first, place.last) if identity)

    def hides(self, position: int, term: str) -> bool:
        """Say whether a term of the event at a position is out, or stands in what is: a later call may quote it."""
        for out in self._known().values() if self.decided else ():
            if (out.event.position == position and out.whole is not None) or term.casefold() in out.text.casefold():
                return True
        return False

    def out(self) -> Mapping[int, Out]:
        """Give the events that are out by a decision on all of them, by position, with what holds instead."""
        outs = (out for out in self._known().values() if out.whole is not None) if self.decided else ()
        return {out.event.position: Out(out.event.pointer, self._end(out)) for out in outs}

    def _end(self, out: _Out) -> int:
        """Give the position of the event at the end of a chain of replacements; 0 where none holds."""
        passed = {out.event.id}
        while out.whole is not None and (holder := _holder(out.whole)):
            identity = pointer.parse(holder).first
            if identity not in self._known():
                event = self._event(identity)
                return event.position if event is not None and not event.erased and not self.instead(event) else 0
            if identity in passed:
                return 0
            passed.add(identity)
            out = self._known()[identity]
        return out.event.position if out.whole is None else 0

    # the events ------------------------------------------------------------------------------------------

    def _known(self) -> dict[str, _Out]:
        """Give what is out, by the id of its event; a handle reads these events once for each state of the ledger."""
        if self._outs is None:
            key, read_once = ("ledger", "outs"), self._space.read_once
            ledger: Ledger
            outs: dict[str, _Out]
            _, (ledger, outs) = read_once.get(key, (0, (None, {})))
            if ledger is not self.ledger:
                outs = {out.event.id: out for out in self._read()}
            if self._as_of is None:
                read_once[key] = (self.ledger.through, (self.ledger, outs))
            self._outs = outs
        return self._outs

    def _read(self) -> Iterator[_Out]:
        for whole in dict.fromkeys(name.partition("@")[0] for name in (*self.ledger.out, *self.ledger.quarantined)):
            try:
                event = self._space.event(whole)
            except (PointerError, StoreDamaged):  # a ledger that was imported without what it is about
                continue
            parts = [part for part in self.ledger.parts.get(whole, ()) if not self.ledger.stands(part)]
            places = [pointer.parse(part) for part in parts]
            ranges = tuple(Range(place.start, place.end) for place in places if place.unit == "bytes")
            decision = self.ledger.taken_out_by(whole)
            if decision is None and len(ranges) < len(parts):  # lines, or something that is no part: all of it
                decision = next(self.ledger.taken_out_by(part) for part in parts)
            yield _Out(event, decision, ranges)

    def _event(self, identity: str) -> Event | None:
        """Read an event; None for one that is not there or not what was written."""
        out = self._known().get(identity)
        if out is not None:
            return out.event
        try:
            return self._space.event(Pointer(identity))
        except (PointerError, StoreDamaged):
            return None

    # what rests on what ----------------------------------------------------------------------------------

    def _taken(self, event: Event, depth: int) -> str:
        out = self._known().get(event.id)
        if out is not None and out.whole is not None:
            return _holder(out.whole) or f"fh:{out.whole.id}"
        if event.erased or depth > DEPTH_MAX:
            return ""
        if event.kind in _RECORDS or event.meta.get(INJECTED) is True:  # records of ours quote without a shape
            return next(filter(None, (self._of(name, "", depth) for name in pointer.find(event.text))), "")
        if event.kind not in _DERIVED or event.meta.get(FILE) is not None:
            return ""
        named = [*texts(event.meta.get(SOURCES)), *texts(event.meta.get(ABOUT))]
        named += [f"fh:{parent}" for parent in texts(event.meta.get(PARENTS))]
        return next(filter(None, (self._of(name, event.text, depth) for name in named)), "")

    def _of(self, address: str, words: str, depth: int) -> str:
        """Give what takes out that on which words rest; empty while it stands."""
        try:
            place = pointer.parse(address)
        except MalformedPointer:  # what another program wrote there
            return ""
        if place.last is not None:
            shared = (out for out in self._between(place) if share_words(out.text, words))
            return next((self._by(out) for out in shared), "")
        source = self._event(place.first)
        if source is None:
            return ""
        out = self._known().get(place.first)
        if out is not None and self._concerns(place, place.first, words):
            return self._by(out)
        return self.instead(source, depth + 1) and f"fh:{source.id}"

    def _by(self, out: _Out) -> str:
        decision = out.whole or next(
            decision for name in self.ledger.parts[f"fh:{out.event.id}"]
            if (decision := self.ledger.taken_out_by(name)) is not None
        )  # fmt: skip
        return f"fh:{decision.id}"

    def _between(self, span: Pointer) -> Iterator[_Out]:
        ends = [self._event(identity) for identity in (span.first, span.last) if identity]
        first, last = ends[0], ends[-1]
        if first is None or last is None:
            return
        for out in self._known().values():
            if out.event.session == first.session and first.position <= out.event.position <= last.position:
                yield out

    def _concerns(self, place: Pointer, identity: str, words: str) -> bool:
        """Say whether an event is out, or a part of it that a pointer names or that words repeat."""
        out = self._known().get(identity)
        if out is None:
            event = self._event(identity)
            return event is not None and bool(self.instead(event))
        if out.whole is not None:
            return True
        if place.unit == "bytes":
            return any(place.start < part.end and part.start < place.end for part in out.parts)
        return bool(place.unit) or share_words(out.text, words)

    # lines -----------------------------------------------------------------------------------------------

    def _lines(self, event: Event) -> Iterator[Range]:
        """Give the lines of an episode or a file that name what is out, or may have words from there alone."""
        may_repeat, at = self._has_outs(event), 0
        for line in (event.content or b"").splitlines(keepends=True):
            text = line.decode("utf-8", "replace")
            named = pointer.find(text)
            episodes = (self._event(pointer.parse(name).first) for name in named)
            repeats = any(each is not None and self._has_outs(each) for each in episodes) if named else may_repeat
            if repeats or any(self.is_out(name, text) for name in named):
                lead = len(line) - len(line.lstrip(b" \t-*>#"))
                yield Range(at + lead, at + len(line.rstrip(b"\r\n")))
            at += len(line)

    def _has_outs(self, event: Event) -> bool:
        """Say whether an event is the episode of a session of which something is out."""
        session = event.meta.get("session") if event.kind is Kind.EPISODE else None
        return session is not None and any(out.event.session == session for out in self._known().values())


def _holder(decision: Decision) -> str:
    """Give the pointer of what holds instead of what a decision takes out; empty where nothing does."""
    return decision.target if decision.action == "restore" else decision.by_fact


def masked(content: bytes, ranges: Iterable[Range], start: int = 0) -> bytes:
    """Put marks over ranges of a content, of which these are the bytes from ``start`` on."""
    data = bytearray(content)
    for part in ranges:
        low, high = max(0, part.start - start), min(len(data), part.end - start)
        if low < high:
            blank = bytes(byte if byte in b"\r\n" else 0x20 for byte in data[low:high])
            first = blank.partition(b"\n")[0]
            mark = _MARK.ljust(len(first)) if len(first) >= len(_MARK) else b"." * len(first)
            data[low:high] = mark + blank[len(first) :]
    return bytes(data)


def share_words(first: str, other: str) -> bool:
    """Say whether two texts have a run of `RUN_WORDS` words in common, or all of the shorter one."""
    ours, theirs = (re.findall(r"\w+", text.casefold()) for text in (first, other))
    size = min(RUN_WORDS, len(ours), len(theirs))
    runs = [{tuple(words[at : at + size]) for at in range(len(words) - size + 1)} for words in (ours, theirs)]
    return size > 0 and not runs[0].isdisjoint(runs[1])
