"""What a caller's whole list of messages changes in a session: what is new in it, what was rewritten, what it left.

    grown                 what stands behind is new
    trimmed               what the list no longer has was left by the caller
    one for one rewritten the new message stands in the place of the old one, and names it
    a run by a summary    the run was left; the summary stands where it was, and names it

The invariant: a message that the session has is never appended again, and none of the caller's is passed
over. What cannot be told apart is refused.

A message that was erased, or that is damaged, cannot be compared: the caller's list may still hold it, or no
more. It does not know what messages say.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from firsthand import moment
from firsthand.context.alignment import INSTEAD, Pair, aligned
from firsthand.context.session_lists import stretches
from firsthand.context.session_log import SessionLog, append_drafts, drafts_of
from firsthand.errors import Erased, FormatError, StoreDamaged
from firsthand.event import BEHIND, PART, REPLACES, STANDS_FOR, Draft, Event, IdMaker, Kind, Trust
from firsthand.formats import canonical
from firsthand.log.engine import LogReader
from firsthand.pointer import Pointer
from firsthand.value import replace, value
from firsthand.window import HISTORY

_DIGEST_BYTES = 16
_SYSTEM = frozenset({"system", "developer"})


@value
class Known:
    """One message of the session.

    Attributes:
        digest: None when it cannot be compared: it was erased, or is damaged.
        role: or the type, of a message without one.
        first, last: ids of its events.
        first_position, last_position: of these.
    """

    digest: bytes | None
    role: str
    first: str
    last: str
    first_position: int
    last_position: int


@value
class Place:
    """Where a message stands that is new before the end of the list.

    Attributes:
        index: in the list.
        behind: the message before it; None at the beginning, and where that one is itself new.
        replaces: the message that it stands for, one for one.
        run: first and last of the messages that it stands for, where they are not as many as the new ones.
    """

    index: int
    behind: Known | None
    replaces: Known | None = None
    run: tuple[Known, Known] | None = None


@value
class Changes:
    """What a list changes.

    Attributes:
        new: index from which on all is new.
        places: of what is new before that, in order.
        left: messages that the list no longer has.
        pairs: what of it is known: indexes of the known message and of the list's.
    """

    new: int
    places: tuple[Place, ...] = ()
    left: tuple[Known, ...] = ()
    pairs: tuple[Pair, ...] | None = None


class CallerList:
    """A list of messages that a caller gives again and again, as it was last time.

    It is kept as a copy that shares the caller's texts: comparing it costs next to nothing however long
    they are, and a message that was changed in its place is still seen.

    Args:
        known: what the session has, which the first list is compared with.
    """

    def __init__(self, known: Sequence[Known]) -> None:
        self._known = [*known]
        self._copy: list[Any] | None = None
        self._objects: list[Any] = []  # the caller's own, so that one that moved is told from another that is equal

    def changes(
        self, messages: Sequence[Mapping[str, Any]], objects: Sequence[Any] | None = None, *, anew: bool = False
    ) -> Changes:
        """Say what a list changes.

        Args:
            objects: the messages as the caller holds them; the same object is the same message.
            anew: the list may have nothing in common with the session.

        Raises:
            FormatError: it cannot be told what of it is new.
        """
        objects = messages if objects is None else objects
        length = len(self._known)
        moved = self._moved(objects)
        if self._copy is not None and not moved and messages[:length] == self._copy:
            return Changes(length)
        digests = [digest(message) for message in messages]
        known = [each.digest for each in self._known] if self._copy is None else [digest(each) for each in self._copy]
        marked, members = [*known], [*digests]
        for old, at in moved.items():
            marked[old] = members[at] = b"%d" % old
        pairs = aligned(marked, members)
        if not anew:
            self._check_common(pairs, known)
        rewritten = {old for old, at in pairs if known[old] != digests[at]}  # the same object, changed
        pairs = [pair for pair in pairs if pair[0] not in rewritten]
        return self._read([_role(message) for message in messages], known, pairs)

    def took(self, messages: Sequence[Mapping[str, Any]], changes: Changes, appended: Sequence[Known],
             objects: Sequence[Any] | None = None) -> None:  # fmt: skip
        """Know a list, now that what is new of it was appended."""
        if changes.pairs is None and self._copy is not None:
            self._copy += copy.deepcopy([*messages[changes.new :]])
            self._known += appended
        else:
            new = iter(appended)
            paired = {at: self._known[old] for old, at in changes.pairs or ()}
            self._known = [paired[at] if at in paired else next(new) for at in range(len(messages))]
            self._copy = copy.deepcopy([*messages])
        self._objects = [*(messages if objects is None else objects)]

    def added(self, messages: Sequence[Mapping[str, Any]], appended: Sequence[Known], objects: Sequence[Any]) -> bool:
        """Know messages that were appended behind a list; False where no list was taken yet, to compare them with."""
        if self._copy is None:
            return False
        self._copy += copy.deepcopy([*messages])
        self._known += appended
        self._objects += objects
        return True

    def _moved(self, objects: Sequence[Any]) -> dict[int, int]:
        """Give where the caller's own objects stand now, if one of them stands elsewhere; those that occur once."""
        if all(old is each for old, each in zip(self._objects, objects, strict=False)):
            return {}
        here = {id(each): number for number, each in enumerate(self._objects)}
        if all(here.get(id(each), number) == number for number, each in enumerate(objects)):
            return {}
        often = Counter(map(id, [*self._objects, *objects]))
        return {here[id(each)]: at for at, each in enumerate(objects) if id(each) in here and often[id(each)] == 2}

    def _check_common(self, pairs: Sequence[Pair], known: Sequence[bytes | None]) -> None:
        """Refuse a list that has nothing of the session but its system prompt."""
        said = [n for n, each in enumerate(self._known) if known[n] is not None and each.role not in _SYSTEM]
        if said and not {old for old, _ in pairs} & {*said}:
            raise FormatError(
                f"expected a list that has some of the {len(self._known)} messages that the session has; it has none. "
                f"{INSTEAD}; say anew=True if all of them were replaced; or begin another session"
            )

    def _read(self, roles: Sequence[str], known: Sequence[bytes | None], pairs: Sequence[Pair]) -> Changes:
        """Read what happened between the messages that are the same."""
        places: list[Place] = []
        left: list[Known] = []
        all_pairs = [*pairs]
        old_start = start = 0
        for old_end, end in [*pairs, (len(known), len(roles))]:
            is_tail = (old_end, end) == (len(known), len(roles))
            gone, new = [*range(old_start, old_end)], [*range(start, end)]
            erased = [number for number in gone if known[number] is None]
            if erased and new:
                if is_tail or len(new) > len(erased) or len(erased) < len(gone):
                    raise FormatError(
                        f"{len(erased)} messages of the session were erased or are damaged, so it cannot be told "
                        f"whether the list still has them or what is new from message {start} on. {INSTEAD}"
                    )
                all_pairs += zip(erased, new, strict=False)
                gone, new = [], []
            alike = self._alike(gone, new, roles, is_tail=is_tail)
            places += [Place(at, self._known[old], replaces=self._known[old]) for old, at in alike]
            gone, new = gone[len(alike) :], new[len(alike) :]
            left += [self._known[number] for number in gone]
            if is_tail:
                return Changes(start + len(alike), tuple(places), tuple(left), tuple(sorted(all_pairs)))
            run = (self._known[gone[0]], self._known[gone[-1]]) if gone else None
            for at in new:
                behind = run[1] if run else self._known[old_start - 1] if old_start else None
                places.append(Place(at, behind if at == new[0] else None, run=run))
            old_start, start = old_end + 1, end + 1
        raise AssertionError("the end is always reached")

    def _alike(self, gone: Sequence[int], new: Sequence[int], roles: Sequence[str], *, is_tail: bool) -> list[Pair]:
        """Pair what was rewritten one for one; the list's newest message is rewritten in no place, it is new."""
        if is_tail:
            pairs = [*zip(gone, new[:-1], strict=False)]
            stop = (n for n, (old, at) in enumerate(pairs) if self._known[old].role != roles[at])
            return pairs[: next(stop, len(pairs))]
        pairs = [*zip(gone, new, strict=False)]
        same = len(gone) == len(new) and all(self._known[old].role == roles[at] for old, at in pairs)
        return pairs if same else []


def _role(message: Mapping[str, Any]) -> str:
    return str(message.get("role") or message.get("type") or "")


def digest(message: Mapping[str, Any]) -> bytes:
    """Give what two equal messages have in common."""
    return hashlib.sha256(canonical.dump(message)).digest()[:_DIGEST_BYTES]


def append(
    session: SessionLog, messages: Sequence[Mapping[str, Any]], format: str, changes: Changes | None = None,  # noqa: A002
    through: int | None = None,
) -> list[Known]:  # fmt: skip
    """Append what is new in a list, each message at its place; without changes, all of it behind what there is.

    Raises:
        StaleExpectation: the session does not end at ``through``.
    """
    places = changes.places if changes is not None else ()
    new = [*(messages[place.index] for place in places), *messages[changes.new if changes is not None else 0 :]]
    if not new:
        return []
    # what is handed over at first was said before: when, nobody knows
    before = len(new) - 1 if changes is not None and changes.new == 0 and not places else 0
    now = moment.now()
    drafts = [*drafts_of(session, new[:before], format), *drafts_of(session, new[before:], format, time=now)]
    drafts[: len(places)] = _placed(session, drafts, places)
    appended = append_drafts(session, drafts, through)
    ends = [(events[0], events[-1]) for events in appended]
    return [
        Known(None, _role(message), first.id, last.id, first.position, last.position)
        for message, (first, last) in zip(new, ends, strict=True)
    ]


def _placed(session: SessionLog, drafted: Sequence[Sequence[Draft]], places: Sequence[Place]) -> Iterator[list[Draft]]:
    """Note on drafts where in the list they stand, of which turn they are, and what they stand for."""
    ids, before, turn = IdMaker(), "", 0
    for drafts, place in zip(drafted, places, strict=False):
        behind = place.behind.last if place.behind is not None else before
        source = place.replaces or (place.run[0] if place.run else place.behind)
        turn = session.space.event(f"fh:{source.first}").turn if source is not None and source.first else turn
        meta: dict[str, Any] = {BEHIND: behind}
        if place.replaces is not None:
            meta[REPLACES] = place.replaces.first
        elif place.run is not None:
            meta[STANDS_FOR] = str(Pointer(place.run[0].first, place.run[1].last))
        noted = [_noted_on(draft, {**draft.meta, **meta}, turn, ids()) for draft in drafts]
        before = str(noted[-1].id)
        yield noted


def _noted_on(draft: Draft, meta: Mapping[str, Any], turn: int, name: str) -> Draft:
    noted = replace(draft, meta=meta, turn=turn, id=name)
    summarises = STANDS_FOR in meta and draft.kind in (Kind.USER_MESSAGE, Kind.AGENT_MESSAGE)
    return replace(noted, kind=Kind.SUMMARY, trust=Trust.AGENT) if summarises else noted


def known(session: SessionLog, format: str | None) -> list[Known]:  # noqa: A002
    """Give the messages of a session's list, in the order of the caller; None takes those of all formats."""
    order: list[Known | None] = []  # None where a message was replaced
    last_ids: dict[str, int] = {}
    for each, event in _messages(session, format):
        if event is None or BEHIND not in event.meta:
            last_ids[each.last] = len(order)
            order.append(each)
            continue
        replaced = event.meta.get(REPLACES)
        order = [None if old is not None and old.first == replaced else old for old in order]
        at = last_ids.get(str(event.meta[BEHIND]), -1) + 1
        order.insert(at, each)
        last_ids = {name: place + (place >= at) for name, place in last_ids.items()} | {each.last: at}
    return [each for each in order if each is not None]


def _messages(session: SessionLog, format: str | None) -> Iterator[tuple[Known, Event | None]]:  # noqa: A002
    """Yield messages with their first event, in order of the log; None for one that is damaged."""
    lost: list[int] = []
    reader, namespace = session.space.log.reader, session.space.namespace

    def damaged(position: int, _: StoreDamaged) -> None:
        if reader.begins_message(namespace, position):
            lost.append(position)

    begun: Event | None = None
    end: Event | None = None
    parts = [*stretches(reader, namespace, session.list_name)]
    for event in reader.events(namespace, session=session.name, damaged=damaged):
        if not any(part.has(event) for part in parts):
            continue
        belongs = begun is not None and event.part > 0 and event.position - event.part == begun.position
        if not belongs and begun is not None and end is not None:
            yield _noted(reader, begun, end), begun
            begun = None
        while lost:
            position = lost.pop(0)
            yield Known(None, "", "", "", position, position), None
        if belongs:
            end = event
        elif event.part == 0 and event.kind in HISTORY and not event.meta.get(PART):
            name = event.meta.get("format")
            if event.erased or (name and format in {None, name}):
                begun = end = event
    if begun is not None and end is not None:
        yield _noted(reader, begun, end), begun
    for position in lost:
        yield Known(None, "", "", "", position, position), None


def _noted(reader: LogReader, first: Event, last: Event) -> Known:
    message: dict[str, Any] = {}
    with contextlib.suppress(Erased, StoreDamaged):  # it, or a further part of it
        message = json.loads(reader.source_of(first).decode("utf-8", "surrogatepass"))
    noted = digest(message) if message else None
    return Known(noted, _role(message), first.id, last.id, first.position, last.position)
