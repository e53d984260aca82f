"""Notes with their sources: what was learned, from which events, and in which situations (DESIGN 2.7, Triggers).

A rule is found by the situations it was learned in: by default what the user said in
the turns of its sources. They are kept in the note's meta, so that the index is a
function of the event alone; each names the event whose words it repeats, so that an
erasure finds the copy.

It decides what is kept of a situation; it does not know how notes are indexed or found.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from firsthand import moment, pointer
from firsthand.answer import Query, Scope
from firsthand.errors import Erased, InvalidArgument
from firsthand.event import Draft, Event, Kind, Trust, to_bytes, to_text
from firsthand.index.words import SITUATION_CHARACTERS_MAX, SITUATIONS, SITUATIONS_MAX
from firsthand.log.results import Appended
from firsthand.notes.check import Checked, check
from firsthand.notes.claim import CLAIMS, Claim, claims_of
from firsthand.notes.sources import REPEATS, SOURCES, events_named
from firsthand.pointer import Pointer
from firsthand.recall.search import recall
from firsthand.space import Space, pointer_of
from firsthand.value import value

OURS = "firsthand"
"""The origin of what Firsthand itself derives."""
SORTS = ("note", "rule", "lesson")
SOURCES_MAX = 64
SPAN_EVENTS_MAX = 200
"""Events of one source span whose turns are looked at for situations."""
SORT = "sort"
"""The fact in a note's meta that says which sort of note it is."""
READ_CHARACTERS_MAX = 200_000
"""Of an event that is compared with a rule."""
_BROUGHT = (Kind.TOOL_RESULT, Kind.DOCUMENT, Kind.ATTACHMENT, Kind.USER_MESSAGE, Kind.NOTE, Kind.OTHER)
_RUN, _SHARE = 4, 0.5
"""Words in a row that are compared; of a rule's, those that stand in one event from which it was taken."""
_SHORT_CHARACTERS = 12
"""Of a rule that has no such run, at the least; a shorter one, such as "use uv", stands in many a page by chance."""
_ECHO_HITS, _ECHO_CHARACTERS, _ECHO_MS = 5, 2_000, 500
_LOOKS_LIKE = {
    "a": "\u0251\u0391\u03b1\u0410\u0430", "b": "\u0392\u03b2\u0412\u0432", "c": "\u0421\u0441",
    "d": "\u0500\u0501", "e": "\u0395\u03b5\u0415\u0435", "g": "\u0261",
    "h": "\u0397\u041d\u043d\u04ba\u04bb\u0570", "i": "\u0131\u0399\u03b9\u0406\u0456\ua7ae", "j": "\u0408\u0458",
    "k": "\u039a\u03ba\u041a\u043a", "l": "\u2113", "m": "\u039c\u041c\u043c", "n": "\u039d\u0578",
    "o": "\u039f\u03bf\u041e\u043e\u0585", "p": "\u03a1\u03c1\u0420\u0440", "q": "\u051a\u051b", "r": "\u0491",
    "s": "\u0405\u0455", "t": "\u03a4\u03c4\u0422\u0442", "u": "\u03c5\u057d", "v": "\u03bd", "w": "\u051c\u051d",
    "x": "\u03a7\u03c7\u0425\u0445", "y": "\u03a5\u03b3\u0423\u0443", "z": "\u0396",
}  # fmt: skip
"""By Latin letter, the Cyrillic, Greek and Armenian ones that look like it to the eye, small and capital."""
_LOOKS = str.maketrans({sign: letter for letter, signs in _LOOKS_LIKE.items() for sign in signs})
_UNSEEN = frozenset({"Cf", "Mn", "Me", "Cc"})
_WAITS = (
    "it stands on what a tool or the web said, so it is no rule until the user lets it in: firsthand ledger approve"
)


@value
class Noted:
    """What `note` kept.

    Attributes:
        event: the note.
        sources: pointers it rests on.
        situations: the texts it is found by, as kept.
        left_out: sentences on what was cut or could not be had.
        checked: its claims, with what a check against the log says of each, and how to mend those it does not prove.
    """

    event: Appended
    sources: tuple[str, ...]
    situations: tuple[str, ...]
    left_out: tuple[str, ...]
    checked: tuple[Checked, ...] = ()

    @property
    def pointer(self) -> str:
        """The pointer of the note."""
        return self.event.pointer


def note(
    space: Space,
    text: str | bytes,
    *,
    session: str,
    sources: Iterable[str | Pointer | Appended],
    situations: Sequence[str] | None,
    sort: str,
    fields: dict[str, Any],
    claims: Iterable[Claim | Mapping[str, Any]] = (),
    within: Iterable[str] = (),
    open_turn: bool = False,
) -> Noted:
    """Append a note with its claims, sources and situations; see `Memory.note`.

    Args:
        within: sessions in which quotes without a pointer are looked for; empty for that of the note.
        open_turn: the log lacks what was said in this turn.
    """
    more = fields.pop("meta", {})
    _refuse(sort, sources, more)
    within = tuple(within) or (session,)
    checked = check(space, claims_of(claims), within=within, open_turn=open_turn)
    quoted = [piece.pointer for claim in checked for piece in claim.quoted if piece.pointer]
    pointers = list(dict.fromkeys(map(pointer_of, [*sources, *quoted])))
    if len(pointers) > SOURCES_MAX:
        raise InvalidArgument(f"a note has at most {SOURCES_MAX} sources; got {len(pointers):,}. Name spans instead.")
    events = [_whole(space, pointer) for pointer in pointers]
    words = to_text(content := to_bytes(text) if isinstance(text, str) else text)
    theirs = echoed(space, words) if sort != SORTS[0] else ()
    for event in theirs:
        if len(pointers) < SOURCES_MAX and Pointer(event.id) not in pointers:
            pointers.append(Pointer(event.id))
            events.append((event,))
    found, left_out = _situations(space, pointers, events, situations)
    meta: dict[str, Any] = {**more, SORT: sort}
    meta |= {SOURCES: [str(address) for address in pointers]} if pointers else {}
    meta |= {CLAIMS: [claim.as_fact(within) for claim in checked]} if checked else {}
    meta |= {SITUATIONS: [text for text, _ in found], REPEATS: [name for _, name in found]} if found else {}
    if "id" not in fields:
        fields.setdefault("time", moment.now())
    merged: dict[str, Any] = {"origin": "agent", "trust": Trust.AGENT} | fields
    brought = any(event.trust is Trust.UNTRUSTED for group in (theirs, *events) for event in group)
    if merged["trust"] == Trust.AGENT and brought:
        merged["trust"] = Trust.UNTRUSTED  # taint follows derivation
        left_out += [_WAITS] if sort != SORTS[0] else []
    if merged["origin"] == OURS and not pointers and not pointer.find(words):
        raise InvalidArgument("a derived note stands on its sources: name the events that it rests on")
    draft = Draft(Kind.NOTE, content, meta=meta, **merged)
    appended = space.append([draft], session=session)[0]
    texts = tuple(text for text, _ in found)
    return Noted(appended, tuple(map(str, pointers)), texts, tuple(left_out), checked)


def _refuse(sort: str, sources: object, more: object) -> None:
    """Raise `InvalidArgument` for what is no argument of a note."""
    if sort not in SORTS:
        raise InvalidArgument(f"the sort of a note is one of {', '.join(SORTS)}; got {sort!r}")
    if isinstance(sources, (str, bytes)) or not isinstance(sources, Iterable):
        raise InvalidArgument(f"sources is a list of pointers; got {sources!r:.60}")
    if not isinstance(more, Mapping) or {SOURCES, REPEATS, SORT, SITUATIONS, CLAIMS} & set(more):
        raise InvalidArgument(
            f"meta is a mapping without {SORT}, {SOURCES}, {SITUATIONS}, {CLAIMS} and {REPEATS}, which come from the "
            f"other arguments; got {more!r:.60}"
        )


def echoed(space: Space, text: str) -> tuple[Event, ...]:
    """Find what a tool or the web said in these very words: a rule of its words is its rule, whoever notes it."""
    share = _sharer(text)
    if share is None:
        return ()
    scope = Scope(kinds=_BROUGHT)
    query = Query(text[:_ECHO_CHARACTERS], scope, hits_max=_ECHO_HITS, deadline_ms=_ECHO_MS)
    hits = (space.event(hit.pointer) for hit in recall(space, query).hits)
    return tuple(
        event for event in hits
        if event.trust is Trust.UNTRUSTED
        and share(to_text(space.expand(f"fh:{event.id}"))[:READ_CHARACTERS_MAX]) >= _SHARE
    )  # fmt: skip


def _sharer(text: str) -> Callable[[str], float] | None:
    """Give what says how much of a text's runs of words stand in another one; None for a text without words.

    One of so few words that any page may hold them by chance stands in another only when that says nothing else.
    """

    def runs(of: str) -> set[tuple[str, ...]]:
        words = re.findall(r"\w+", folded(of))
        return {tuple(words[at : at + run]) for at in range(max(1, len(words) - run + 1))} if words else set()

    own_words = re.findall(r"\w+", folded(text))
    run = min(_RUN, len(own_words))  # "never run tests" has no four words in a row: it counts as a whole
    wanted = runs(text) if run == _RUN or len(" ".join(own_words)) >= _SHORT_CHARACTERS else set()
    if wanted:
        return lambda other: len(wanted & runs(other)) / len(wanted)
    return (lambda other: float(re.findall(r"\w+", folded(other)) == own_words)) if own_words else None


def folded(text: str) -> str:
    """Give a text in one spelling of all that look alike, to count and never to show: folding twice is folding once.

    Letters that look like Latin ones, signs that are not seen, marks, case and other scripts' digits are made alike.
    """
    if text.isascii():
        return text.casefold()
    plain = unicodedata.normalize("NFKD", text.translate(_LOOKS)).translate(_LOOKS).casefold()
    seen = (sign for sign in plain if unicodedata.category(sign) not in _UNSEEN or sign.isascii())
    return unicodedata.normalize("NFKD", "".join(_digit(sign) for sign in seen))


def _digit(sign: str) -> str:
    return str(unicodedata.digit(sign)) if unicodedata.category(sign) == "Nd" else sign


def _whole(space: Space, address: Pointer) -> tuple[Event, ...]:
    """Read the events of a source, up to a number; it must be there."""
    events = events_named(space, address, SPAN_EVENTS_MAX)
    if events[0].erased:
        raise Erased(f"fh:{events[0].id} was erased; a note cannot rest on it. Name a source that is there.")
    return tuple(event for event in events if not event.erased)


def _situations(
    space: Space, pointers: Sequence[Pointer], sources: Sequence[tuple[Event, ...]], given: Sequence[str] | None
) -> tuple[list[tuple[str, str]], list[str]]:
    """Give situations within their limits, each with the event that it repeats, and what was cut or could not be had.

    Where the caller names none they are what the user said in the turn of each source.
    """
    left_out: list[str] = []
    if given is None:
        by_text: dict[str, str] = {}
        for address, events in zip(pointers, sources, strict=True):
            asked = [message for event in events for message in _asked(space, event)]
            if not asked:
                left_out.append(f"nobody asked anything in the turn of {address}: it gives no situation")
            by_text |= {f"fh:{message.id}": message.text for message in asked}
        pairs = [(text, name) for name, text in by_text.items() if text.strip()]
    elif not isinstance(given, (list, tuple)) or not all(isinstance(situation, str) for situation in given):
        raise InvalidArgument(f"situations is a list of texts; got {given!r:.60}")
    else:
        pairs = [(situation, "") for situation in given if situation.strip()]
    if len(pairs) > SITUATIONS_MAX:
        left_out.append(f"{len(pairs):,} situations: the first {SITUATIONS_MAX} were kept")
    chosen = pairs[:SITUATIONS_MAX]
    long = sum(len(text) > SITUATION_CHARACTERS_MAX for text, _ in chosen)
    if long:
        left_out.append(f"{long} of the situations were cut to {SITUATION_CHARACTERS_MAX:,} characters")
    return [(text[:SITUATION_CHARACTERS_MAX], name) for text, name in chosen], left_out


def _asked(space: Space, event: Event) -> Iterator[Event]:
    """Yield the user message that began an event's turn, if one did."""
    before = event.position + 1
    for message in space.events(event.session, before=before, kind=Kind.USER_MESSAGE, limit=1, newest_first=True):
        if message.is_searchable and not message.erased:
            yield message
