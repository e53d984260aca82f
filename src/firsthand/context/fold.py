"""Folds a session's events into its window: what is shown, what was given for the call, the task state.

The invariant: the window is a function of the log, the budget and the token
counter. A receipt in the log carries the window as it was at its position, so a
fold begins at the last one and reads on from there; how long the session is does
not matter. Whoever appended an event, this process or another, it is followed.

It decides nothing: what leaves is decided in `compact`, done in `live.compaction`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from firsthand import pointer
from firsthand.context import short_text, task_observer, task_state
from firsthand.context.receipt import Receipt, from_json
from firsthand.context.session_lists import name_of, stretches
from firsthand.errors import FormatError, PointerError, StoreDamaged
from firsthand.event import BEHIND, INJECTED, PART, REPLACES, Event, Kind, to_text
from firsthand.log.engine import LogReader
from firsthand.tokens import TokenCounter
from firsthand.value import replace, value
from firsthand.window import ACCESSES_KEPT, HISTORY, SYSTEM, Budget, Item, Marker, Window

MESSAGE_TOKENS = 4  # what a message costs around its text: role, separators
CALL_TOKENS = 8  # what a tool call costs around its arguments: id, type, keys
IMAGE_TOKENS = 1_600  # the most that providers count for one image at usual sizes
FILE_BYTES_PER_TOKEN = 16  # of attached files that are no image: an estimate
BYTES_PER_TOKEN_MAX = 12  # a payload larger than this for each token allowed is not read to be counted
FAR_EVENTS = 512  # events taken before a long session is shed in between

FAULTS_MAX = 20  # events that cannot be used which are named
COUNTED_MAX = 64  # texts whose tokens are remembered: tool schemas, the task state


@value
class Shown:
    """An event as the model sees it.

    Attributes:
        text: whole, or shortened to what one item may have.
        data: the payload's bytes, when they are shown whole; None when they are not.
        place: where it stands, by which a window is in order: its position; of what came into the middle of the
            caller's list that of what it stands behind, then its own with a minus: what comes later stands nearer.
    """

    event: Event
    text: str
    data: bytes | None
    tokens: int
    shortened: bool
    place: tuple[int, ...] = ()


class Fold:
    """One session's window, kept up with the log.

    Args:
        shed: called when a long session is read for the first time and has outgrown the window.
        list_name: of the list that the window is of.
    """

    def __init__(
        self,
        reader: LogReader,
        namespace: str,
        session: str,
        budget: Budget,
        counter: TokenCounter,
        shed: Callable[[Fold], None],
        list_name: str = "",
    ) -> None:
        self.reader, self.namespace, self.session = reader, namespace, session
        self._name = self._reads = list_name  # of the list; of the one whose events are read now
        self.budget, self.counter, self._shed = budget, counter, shed
        self.faults: dict[int, str] = {}
        self.own: set[str] = set()  # first events of messages that this handle appended and has not read yet
        self.others = False  # another handle appended messages
        self._clear()

    def _clear(self) -> None:
        """Know nothing of the session."""
        self._items: dict[str, Item] = {}
        self.markers: tuple[Marker, ...] = ()
        self._markers_tokens = 0
        self.cycle, self.through = 0, 0
        self._counted: dict[str, int] = {}
        self.shown: dict[str, Shown] = {}
        # providers' own messages, as `marshal` writes them: who is handed one may change it, the next one is new
        self.messages: dict[str, bytes | None] = {}
        self.given: dict[str, Event] = {}
        self.task = task_state.TaskState()
        # The task state as it was when something left or was set last: what came since stands in the window below it,
        # so that requests share all that is in front of the newest message.
        self.noted, self.noted_at = self.task, 0
        self.receipt: Receipt | None = None
        self.receipt_event = ""
        self._is_open = self._is_stale = False

    @property
    def window(self) -> Window:
        """The window as a value."""
        return Window(tuple(self._items.values()), self.markers, self.cycle, self.through, self._markers_tokens)

    @property
    def tokens(self) -> int:
        """Tokens of the items and markers."""
        return sum(item.tokens for item in self._items.values()) + self._markers_tokens

    def counted(self, text: str) -> int:
        """Count the tokens of a text that most requests have again."""
        if text not in self._counted:
            if len(self._counted) >= COUNTED_MAX:
                self._counted.clear()
            self._counted[text] = self.counter(text)
        return self._counted[text]

    def open(self, *, at: int | None = None) -> None:
        """Begin at the session's last receipt, and read on to its end, or to a position."""
        parts: list[tuple[str, int | None]] = []
        for part in stretches(self.reader, self.namespace, self._name):
            before = at + 1 if at is not None and not parts else part.before
            parts.append((part.name, before))
            last = self._receipt_before(part.name, before)
            while last is not None and not self._begin_at(last):
                last = self._receipt_before(part.name, last.position)  # what that one knew of is compacted again
            if last is not None:
                break
        for self._reads, before in reversed(parts):
            self.follow(before=before)
        self._is_open = True

    def open_anew(self) -> None:
        """Begin at the last receipt again: another counter is used, or events that were read have been erased."""
        self._clear()
        self.open()

    def _receipt_before(self, name: str, before: int | None) -> Event | None:
        while True:
            event = self.reader.latest(self.namespace, self.session, Kind.RECEIPT, before=before, damaged=self.tell)
            if event is None or name_of(event) == name:
                return event
            before = event.position

    def follow(self, *, before: int | None = None) -> list[Event]:
        """Take in what was appended since."""
        new: list[Event] = []

        def left_out(position: int, error: Exception) -> None:
            self.tell(position, error)
            self.through = position

        events = self.reader.events(
            self.namespace, session=self.session, after=self.through, before=before, damaged=left_out
        )
        for number, event in enumerate(events, 1):
            self._take(event)
            if number <= FAR_EVENTS and name_of(event) == self._reads:
                new.append(event)
            elif number % FAR_EVENTS == 0:
                self._shed(self)
        if self._is_stale and self._is_open:  # one that opens now has never read what was erased
            self.open_anew()
        return new

    def passed(self, position: int) -> None:
        """Know that up to a position there is nothing but what this process wrote about the window itself."""
        self.through = position

    def tell(self, position: int, error: Exception) -> None:
        """Note what of the session cannot be used, so that whoever asks for the window is told."""
        if position in self.faults or len(self.faults) < FAULTS_MAX:
            self.faults[position] = str(error)

    def saved(self) -> Callable[[], None]:
        """Keep what the window is now; what is returned brings it back."""
        before = (dict(self._items), self.markers, self._markers_tokens, self.cycle, dict(self.shown))
        noted = self.noted, self.noted_at

        def back() -> None:
            self._items, self.markers, self._markers_tokens, self.cycle, self.shown = before
            self.noted, self.noted_at = noted

        return back

    def adopt(self, window: Window, receipt: Receipt | None = None, event: str = "") -> None:
        """Let the window be what a compaction has made of it."""
        self._items = {item.id: item for item in window.items}
        self.shown = {name: self.shown[name] for name in self._items}
        self.messages = {name: message for name, message in self.messages.items() if name in self._items}
        self.markers, self._markers_tokens = window.markers, window.markers_tokens
        if window.cycle > self.cycle:
            self._note()
        self.cycle = window.cycle
        if receipt is not None:
            self.receipt, self.receipt_event = receipt, event

    # one event -------------------------------------------------------------------------------------

    def _take(self, event: Event) -> None:
        self.through = event.position
        if event.kind is Kind.ERASURE:
            self._is_stale = True
            self.task, self.noted = (task_observer.observe(state, event) for state in (self.task, self.noted))
            return
        if event.kind is Kind.ANATOMY or event.erased or name_of(event) != self._reads:
            return
        if event.kind is Kind.RECEIPT:
            if event.id != self.receipt_event:  # another process compacted this session
                self._begin_at(event)
            return
        if event.kind is Kind.TASK_STATE and event.meta.get(INJECTED) is True:  # the version that a receipt begins at
            return
        if event.kind is Kind.SESSION and event.meta.get(PART):
            self.given[str(event.meta[PART])] = event
            return
        if event.kind in HISTORY:
            self._enter(event)
            self._note_writer(event)
        self._note_accesses(event)
        try:
            self.task = task_observer.observe(self.task, event)
        except FormatError as error:  # a version of the task state that cannot be read: the one before it goes on
            self.tell(event.position, FormatError(f"task state fh:{event.id} cannot be used: {error}"))
        if event.kind is Kind.TASK_STATE and any(
            getattr(self.task, name) != getattr(self.noted, name) for name in task_state.FIELDS
        ):
            self._note()

    def _note(self) -> None:
        """Let the task state stand as it is now, behind all but a user message that waits for an answer."""
        self.noted, self.noted_at = self.task, self.through
        parts = (entry.event for entry in reversed(self.shown.values()) if not entry.event.meta.get(PART))
        newest = next((event for event in parts if not event.part), None)
        if newest is not None and newest.kind is Kind.USER_MESSAGE:
            self.noted_at = newest.position - 1

    def _enter(self, event: Event) -> None:
        """Put an event into the window; what is given anew for a part of the prompt replaces what was."""
        if REPLACES in event.meta and not self._is_shown(event):
            return  # what it was rewritten from has left: it is in the log, and stands nowhere
        for other in _replaced(event, self.shown):
            del self._items[other], self.shown[other]
        entry = self._show(event)
        self.shown[event.id] = entry
        self._items[event.id] = item_of(entry)
        if BEHIND in event.meta:
            self._put_in_order()

    def _note_writer(self, event: Event) -> None:
        self.others |= self._is_open and event.id not in self.own and bool(event.meta.get("format"))
        self.own.discard(event.id)

    def _is_shown(self, event: Event) -> bool:
        """Say whether what a message replaces stands in the window, or of its further parts the first."""
        if event.part:
            return any(entry.event.position == event.position - event.part for entry in self.shown.values())
        return event.meta[REPLACES] in self.shown

    def _put_in_order(self) -> None:
        self.shown = dict(sorted(self.shown.items(), key=lambda named: named[1].place))
        self._items = {name: self._items[name] for name in self.shown}

    def _place(self, event: Event) -> tuple[int, ...]:
        if BEHIND not in event.meta:
            return (event.position,)
        before: tuple[int, ...] = (0,)
        name = str(event.meta[BEHIND])
        if name in self.shown:
            before = self.shown[name].place
        elif name:
            try:
                before = self._place(self._named(name))
            except (PointerError, StoreDamaged) as error:  # it stands where the log has it
                self.tell(event.position, error)
                return (event.position,)
        return (*before, event.part - event.position, event.part)

    def _show(self, event: Event) -> Shown:
        return replace(self._as_shown(event), place=self._place(event))

    def _as_shown(self, event: Event) -> Shown:
        try:
            return self._shown(event)
        except StoreDamaged as error:  # an artifact of it: the event holds a preview
            self.tell(event.position, error)
        address = f"fh:{event.id}"
        limit = self.budget.item_tokens_max
        text = short_text.shorten(event.text, limit, self.counter, address, size_bytes=event.size_bytes)
        return Shown(event, text, None, self.counter(text) + _around(event, self.counter), shortened=True)

    def _shown(self, event: Event) -> Shown:
        limit = self.budget.item_tokens_max
        # Who the model is and what it must do is never cut: a rule that it cannot read it will not miss.
        whole = event.kind is Kind.PERSONA or (event.kind is Kind.SYSTEM and event.meta.get(PART, SYSTEM) == SYSTEM)
        address = f"fh:{event.id}"
        around = _around(event, self.counter)
        if event.kind is Kind.ATTACHMENT and not event.media.startswith("text/"):
            image = event.media.startswith("image/")
            tokens = IMAGE_TOKENS if image else event.size_bytes // FILE_BYTES_PER_TOKEN
            shortened = tokens + around > limit
            name = f"[{event.media}, {event.size_bytes:,} bytes: {address}]"
            data = None if shortened else self.reader.content(event)
            return Shown(event, name, data, (self.counter(name) if shortened else tokens) + around, shortened)
        if not whole and event.size_bytes > limit * BYTES_PER_TOKEN_MAX:
            text = short_text.shorten(event.text, limit, self.counter, address, size_bytes=event.size_bytes)
            return Shown(event, text, None, self.counter(text) + around, shortened=True)
        data = self.reader.content(event)
        text = to_text(data)
        tokens = self.counter(text)
        if not whole and tokens > limit:
            text = short_text.shorten(text, limit, self.counter, address, size_bytes=event.size_bytes)
            return Shown(event, text, None, self.counter(text) + around, shortened=True)
        return Shown(event, text, data, tokens + around, shortened=False)

    def _note_accesses(self, event: Event) -> None:
        """See which events of the window were recalled, expanded or cited by this one."""
        cites = event.kind is Kind.AGENT_MESSAGE or event.meta.get(INJECTED) is True or _expands(event)
        for address in pointer.find(event.text) if cites else ():
            span = pointer.parse(address)
            for name in self._between(span.first, span.last):
                item = self._items[name]
                if name != event.id and item.accesses[:1] != (event.position,):
                    self._items[name] = replace(item, accesses=(event.position, *item.accesses)[:ACCESSES_KEPT])

    def _between(self, first: str, last: str | None) -> Iterable[str]:
        if last is None:
            return (first,) if first in self._items else ()
        ends = [self._items[name].position for name in (first, last) if name in self._items]
        if not ends:
            return ()
        low, high = ends[0], ends[-1]
        return [name for name, item in self._items.items() if low <= item.position <= high]

    # from a receipt --------------------------------------------------------------------------------

    def _begin_at(self, event: Event) -> bool:
        """Take the window over as a receipt says it was at its position; False, and told, when it cannot be read."""
        try:
            receipt = from_json(self.reader.content(event))
            parts, task = self._given_before(event)
        except (FormatError, PointerError, StoreDamaged) as error:
            self.tell(event.position, _unusable(event, error))
            return False
        items: dict[str, Item] = {}
        entries: dict[str, Shown] = {}
        for survivor in self._kept(receipt):
            if survivor.erased:
                continue
            here = self.shown.get(survivor.id) or self._show(survivor)
            for other in _replaced(survivor, entries):
                del entries[other], items[other]
            entries[survivor.id] = here
            items[survivor.id] = replace(item_of(here), accesses=receipt.accesses.get(survivor.position, ()))
        self._items, self.shown = items, entries
        if any(len(entry.place) > 1 for entry in entries.values()):
            self._put_in_order()
        self.markers, self.cycle = receipt.markers, receipt.cycle
        self._markers_tokens = sum(marker.text_tokens for marker in receipt.markers)
        self.receipt, self.receipt_event = receipt, event.id
        self.given, self.task, self.through = parts, task, event.position
        self._note()
        return True

    def _kept(self, receipt: Receipt) -> Iterator[Event]:
        """Read the events that a receipt says stayed."""
        known = {entry.event.position: entry.event for entry in self.shown.values()}
        for first, last in receipt.kept:
            here = [position for position in known if first <= position <= last]
            if here and receipt.cycle == self.cycle + 1:  # this window is the one that was compacted: all are here
                yield from (known[position] for position in sorted(here))
                continue
            events = self.reader.events(
                self.namespace, session=self.session, after=first - 1, before=last + 1, damaged=self.tell
            )
            yield from (event for event in events if event.kind in HISTORY)

    def _given_before(self, event: Event) -> tuple[dict[str, Event], task_state.TaskState]:
        """Find what the receipt was written with: the parts that were given for calls, and the task state."""
        names: Mapping[str, str] = event.meta.get("given", {}) if isinstance(event.meta.get("given"), Mapping) else {}
        parts = {part: self._named(name) for part, name in names.items()}
        return parts, task_state.from_json(self.reader.content(self._named(event.meta.get("task"))))

    def _named(self, name: object) -> Event:
        return self.reader.event(self.namespace, pointer.parse(f"fh:{name}").first)


def _unusable(receipt: Event, error: Exception) -> FormatError:
    return FormatError(
        f"receipt fh:{receipt.id} at position {receipt.position} cannot be used, so the window goes on from the one "
        f"before it: {error}"
    )


def _replaced(event: Event, entries: Mapping[str, Shown]) -> list[str]:
    """Name what an event takes the place of: a part of the prompt as it was before, a message that it rewrites."""
    if part := event.meta.get(PART):
        return [name for name, entry in entries.items() if entry.event.meta.get(PART) == part]
    source = entries.get(str(event.meta.get(REPLACES, "")))
    if source is None or event.part:
        return []
    begin = source.event.position
    return [name for name, entry in entries.items() if entry.event.position - entry.event.part == begin]


def item_of(entry: Shown) -> Item:
    """Make the item of an event as it is shown; its terms are found when it leaves."""
    event = entry.event
    return Item(
        event.id, event.position, event.turn, event.kind, entry.tokens, event.time, event.part,
        call_id=str(event.meta.get("call_id", "")) if event.kind in (Kind.TOOL_CALL, Kind.TOOL_RESULT) else "",
        shortened=entry.shortened,
    )  # fmt: skip


def _around(event: Event, counter: TokenCounter) -> int:
    """Count what an event's place in a message costs beside its text."""
    tokens = MESSAGE_TOKENS if event.part == 0 else 1
    if event.kind is Kind.TOOL_CALL:
        tokens += CALL_TOKENS + counter(str(event.meta.get("tool", "")))
    return tokens


def _expands(event: Event) -> bool:
    return event.kind is Kind.TOOL_CALL and event.meta.get("tool") == "expand"
