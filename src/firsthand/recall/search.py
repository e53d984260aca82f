"""Recall: from a question to an answer that says how likely it is, and what was not looked at.

    index moment -> ranking -> places -> a page: hits, companions, what the user said

The invariant: an answer depends on the log, the question and the ledger; pages of one
question join to the whole. Nothing is called absent that was not looked for to the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from firsthand.answer import Answer, Band, Hit, Outcome, Query, Scope, When, moment_of
from firsthand.errors import FirsthandError, ModelError
from firsthand.event import Event, Kind, to_bytes
from firsthand.index.words import exact_strings
from firsthand.space import Space
from firsthand.value import replace, value

from . import beside, page
from .bands import band_of
from .beside import Entry
from .contents import Contents, Ruling, WordFinder, quotations
from .hits import Item, Layout, hits_of
from .page import Asked, Place, is_spoken
from .query import Deadline
from .snippets import Range
from .stop_words import STOP_WORDS

if TYPE_CHECKING:
    from firsthand.index.postings import IndexMoment

    from .ranking import Ranking

Rewrite = Callable[[str], Sequence[str]]
"""Gives a question in other words."""

REWRITES_MAX = 3
REWRITE_CHARACTERS_MAX = 2_000
ROWS_SHOWN_MAX = 12
"""Passages of one event that a preview is cut from, the best first."""
SIGNS_EVENTS_MAX = 5_000
"""Events that a question without words is looked for in, the newest."""
NAMED_MAX = 5
"""Events that are out by the ledger which a note names."""
LOADED_EVENTS = 16
"""Events that are read at a time."""

_WORD = re.compile(r"\w+")


def query_of(
    query: str | Query,
    *,
    sessions: Collection[str] = (),
    agents: Collection[str] = (),
    kinds: Collection[Kind | str] = (),
    since: When = None,
    until: When = None,
    hits_max: int = 10,
    budget_tokens_max: int = 4_000,
    skip: int = 0,
) -> Query:
    """Make a query of a text and the arguments of `firsthand.Memory.recall`; a whole `Query` is given back.

    Raises:
        QueryError: a number is out of range, a time cannot be read, or a name is no name.
    """
    if isinstance(query, Query):
        return query
    # The scope makes tuples of what it is given, and members of words, or says what it cannot use.
    names: list[Any] = [sessions, agents, kinds]
    scope = Scope(names[0], names[1], names[2], moment_of(since), moment_of(until))
    return Query(query, scope, hits_max=hits_max, budget_tokens_max=budget_tokens_max, skip=skip)


def recall(
    space: Space,
    query: Query,
    *,
    rewrite: Rewrite | None = None,
    ruling: Ruling | None = None,
    layout: Layout | None = None,
    doubt: str = "",
) -> Answer:
    """Answer a query from a space.

    Args:
        doubt: what the asker knows is not in the log yet; the answer says it, and is degraded.
        rewrite: gives the question in other words; asked where it is not likely that the first answer answers.
        ruling: what the ledger says of the events: what is out is left out, what replaced it stands in its place.
        layout: how the answer will be written, so that its previews fill the budget with what stands around them.

    Raises:
        StoreError: the log itself cannot be read.
    """
    with space.log.answering() as behind:
        reader, namespace = space.log.reader, space.namespace
        key = reader.namespace_key(namespace)
        head = reader.head(namespace)[0]
        if not key:
            doubts = tuple(filter(None, (behind, doubt)))
            notes = doubts or (f"nothing was ever written to namespace {namespace!r}",)
            return Answer(query, Outcome.DEGRADED if doubts else Outcome.ABSENT, (), notes=notes)
        if not query.text.strip():
            return Answer(query, Outcome.DEGRADED, (), notes=("an empty query: nothing was looked for",), through=head)
        with space.index_moment() as moment:
            moment.doubt(doubt)
            return _Recall(space, moment, query, ruling or Ruling(), layout or Layout()).answer(rewrite)


@value
class _Page:
    """What an answer shows: see `Answer`.

    Attributes:
        left_out: how many events matched that the reader does not want as hits.
    """

    hits: tuple[Hit, ...]
    companions: tuple[Hit, ...]
    said: tuple[Hit, ...]
    more: bool
    left_out: int


class _Recall:
    """One question, from its ranking to its answer."""

    def __init__(
        self, space: Space, moment: IndexMoment, query: Query, ruling: Ruling, layout: Layout
    ) -> None:  # fmt: skip
        self._space, self._moment, self._query = space, moment, query
        self._ruling, self._layout = ruling, layout
        self._deadline = Deadline(query.deadline_ms)
        self._contents = Contents(space.log.reader, space.namespace, ruling)
        self._notes: list[str] = []
        self._out: dict[str, str] = {}  # pointers of what is left out by the ledger, with that of what holds instead

    def answer(self, rewrite: Rewrite | None) -> Answer:
        query = self._query
        # 1) the question, and in other words where a function gives them and it is not likely to be answered
        ranking = self._rank(query)
        attempts = [query.text]
        if rewrite is not None and band_of(ranking.likelihood) is not Band.LIKELY:
            for text in self._rewritten(rewrite):
                ranking = _joined(ranking, self._rank(replace(query, text=text)))
                attempts.append(text)
        if not ranking.words:
            ranking = self._by_signs(ranking)
        # 2) the order of all places
        whole = query.text.strip()
        asked = Asked(
            ranking.words, self._stems, quotations(whole) or _string_alone(whole, ranking),
            whole if " " in whole else "",
            complete=not ranking.bounded and len(attempts) == 1,
        )  # fmt: skip
        known = {event.position for event in ranking.ranked}
        # What users said stands among the places however many of a tool's are ranked before it.
        ranked = (*ranking.ranked, *(event for event in ranking.users if event.position not in known))
        passages = [*dict.fromkeys(int(self._moment.columns.position[row]) for row in ranking.passages)]
        places = page.ordered(self._standing(ranked), ranking.situations, passages, asked, self._contents)
        # 3) a page of them, what belongs with it, and what the user said
        visible = self._page(places, self._standing(ranking.users), asked)
        # 4) what this is
        outcome = self._outcome(ranking, visible, len(places))
        likelihood = ranking.likelihood if visible.hits else 0.0
        return Answer(
            query, outcome, visible.hits, visible.companions, visible.said, band_of(likelihood), likelihood,
            dict(ranking.signals), tuple(attempts), more=visible.more, truncated=bool(ranking.bounded),
            notes=tuple(dict.fromkeys(self._notes)), through=self._moment.through,
        )  # fmt: skip

    # ranking ---------------------------------------------------------------------------------------

    def _rank(self, query: Query) -> Ranking:
        from .ranking import rank  # noqa: PLC0415 - numpy comes with it: a process that only appends does without

        return rank(self._moment, query, near=self._space.near, texts=self._texts, deadline=self._deadline)

    def _by_signs(self, ranking: Ranking) -> Ranking:
        """Look for a question without words in the newest events themselves, as it stands."""
        from .ranking import places_of  # noqa: PLC0415 - as in `_rank`

        wanted, scope, head = to_bytes(self._query.text.strip()), self._query.scope, self._moment.through
        positions: list[int] = []
        looked_at, unread = 0, 0
        for event in self._space.log.reader.events(
            self._space.namespace, newest_first=True, before=head + 1, limit=SIGNS_EVENTS_MAX,
            damaged=lambda _, error: self._contents.damaged.append(str(error)),
        ):  # fmt: skip
            if self._deadline():
                break
            looked_at += 1
            unread += event.artifact is not None
            if event.is_searchable and wanted in (event.content or b"") and beside.within(event, scope):
                positions.append(event.position)
        scores = [1 / (2 + number) for number in range(len(positions))]
        rows, shares = [()] * len(positions), [(score,) for score in scores]
        ranked = places_of(self._moment.columns, positions, rows, scores, ("signs",), shares, scores)
        note = f"the question holds no word; the newest {looked_at:,} events were searched sign by sign"
        if looked_at == head and not unread:
            self._notes.append(note)
            return replace(ranking, ranked=ranked)
        left = f"; {unread:,} large contents among them were not" if unread else ""
        return replace(ranking, ranked=ranked, bounded=(*ranking.bounded, note + left))

    def _texts(self, positions: Sequence[int]) -> list[str]:
        """Give the texts of events, of those that can be read."""
        self._contents.load(positions)
        events = (self._contents.event(position) for position in positions)
        return [event.text for event in events if event is not None]

    def _rewritten(self, rewrite: Rewrite) -> list[str]:
        try:
            texts = _called(rewrite, self._query.text)
        except FirsthandError as error:
            self._notes.append(f"the question was not rewritten: {error}")
            return []
        return [text[:REWRITE_CHARACTERS_MAX] for text in texts[:REWRITES_MAX] if text.strip()]

    def _stems(self, text: str) -> Collection[str]:
        """Cut a text into the stems of its words, without stop words."""
        words = (word for word in _WORD.findall(text) if word.casefold() not in STOP_WORDS)
        return set(self._moment.stems(" ".join(words)))

    # what the ledger decided -----------------------------------------------------------------------

    def _standing(self, places: Sequence[Place]) -> list[Place]:
        """Give places without events that are out; what took the place of one by the ledger has its place here too."""
        out = self._ruling.out
        if not out:
            return [*places]
        own = {place.position: place for place in places if place.position not in out}
        standing: dict[int, Place] = {}
        for number, place in enumerate(places):
            if place.position not in out:
                standing.setdefault(place.position, place)
                continue
            instead = self._instead(place, own)
            if number < self._query.skip + self._query.hits_max:
                holds = None if instead is None else self._contents.event(instead.position)
                self._out[out[place.position].pointer] = "" if holds is None else holds.pointer
            if instead is not None and not (instead.position in standing and standing[instead.position].replaces):
                standing[instead.position] = instead
        return [*standing.values()]

    def _instead(self, place: Place, own: Mapping[int, Place]) -> Place | None:
        """Give the place of what holds instead of an event; None where nothing does, or it is out of scope."""
        from .ranking import places_of  # noqa: PLC0415 - as in `_rank`

        was = self._ruling.out[place.position]
        event = self._contents.event(was.instead) if was.instead else None
        if event is None or not beside.within(event, self._query.scope):
            return None
        known = own.get(was.instead)
        if known is not None:
            better = known.moved("instead", place.score - known.score) if known.score < place.score else known
            return replace(better, replaces=was.pointer)
        shares = [place.shares]
        columns = self._moment.columns
        (new,) = places_of(columns, [was.instead], [()], [place.score], place.names, shares, [place.held])
        return replace(new, replaces=was.pointer)

    # the page --------------------------------------------------------------------------------------

    def _page(self, places: Sequence[Place], messages: Sequence[Place], asked: Asked) -> _Page:
        """Choose the page's hits, and cut their previews and those of what stands beside them."""
        query, layout, contents = self._query, self._layout, self._contents
        on_page, in_view, left_out, more = self._chosen(places)
        of_page = [entry.event for entry in on_page]
        known = {event.position for event in of_page}
        beside_page = beside.said(messages, asked, contents)
        if layout.leaves_out is not None:
            beside_page = [entry for entry in beside_page if not layout.leaves_out(entry.event)]
        partners = beside.companions(of_page, known.union(entry.event.position for entry in beside_page), query.scope,
                                     self._near)  # fmt: skip
        find = WordFinder(query.text, asked.words, self._space.tokenizer())
        items = [self._item(entry, find) for entry in on_page]
        items += [self._item(entry, find, short=True) for entry in beside_page if entry.event.position not in known]
        items += [self._item(entry, find, short=True) for entry in partners]
        items += [self._item(entry, find, shown=False) for entry in in_view]
        made = {hit.position: hit for hit in hits_of(items, find.marks, query.budget_tokens_max, layout)}

        def those(entries: Iterable[Entry]) -> tuple[Hit, ...]:
            return tuple(made[entry.event.position] for entry in entries if entry.event.position in made)

        hits = those(on_page)
        more = more or len(hits) < len(on_page)
        return _Page((*hits, *those(in_view)), those(partners), those(beside_page), more, len(left_out))

    def _near(self, session: str, **bounds: Any) -> Iterator[Event]:
        """Yield events of a session as far as they stand."""
        standing = map(self._ruling.text, self._space.events(session, **bounds))
        return (event for event in standing if event is not None)

    def _chosen(self, places: Sequence[Place]) -> tuple[list[Entry], list[Entry], Collection[int], bool]:
        """Read places in their order until the page is full."""
        query, layout = self._query, self._layout
        on_page: list[Entry] = []
        in_view: list[Entry] = []
        left_out: set[int] = set()
        passed, first = 0, query.skip + query.hits_max + 1
        ahead = self._read(places[: first + LOADED_EVENTS] if layout.leaves_out is not None else ())
        for entry in chain(self._read(places[:first]), self._read(places[first:])):
            if layout.leaves_out is not None and entry.place is not None and not is_spoken(entry.place.parts):
                # It may be there only for one that comes later, and is left out.
                left_out.update(at for other in ahead if layout.leaves_out(other.event) for at in _positions(other))
            if entry.event.position in left_out or (left_out and self._leans_on(entry.place, left_out)):
                continue
            if layout.leaves_out is not None and layout.leaves_out(entry.event):
                left_out.update(_positions(entry))
            elif passed < query.skip:
                passed += 1
            elif entry.event.id in layout.in_view:
                in_view.append(entry)
            elif len(on_page) == query.hits_max:
                return on_page, in_view, left_out, True
            else:
                on_page.append(entry)
        return on_page, in_view, left_out, False

    def _read(self, places: Sequence[Place]) -> Iterator[Entry]:
        """Read the events of places, those that can be read and that say something."""
        for at, place in enumerate(places):
            if at % LOADED_EVENTS == 0:
                self._contents.load(place.position for place in places[at : at + LOADED_EVENTS])
            event = self._contents.event(place.position)
            if event is not None and event.size_bytes:
                yield Entry(event, place)
            elif place.position in self._contents.out:
                self._out.setdefault(self._contents.out[place.position], "")

    def _leans_on(self, place: Place | None, left_out: Collection[int]) -> bool:
        """Say whether an event is there only for one beside it that is left out: it says nothing of the question."""
        if place is None or is_spoken(place.parts):
            return False
        columns = self._moment.columns
        row = columns.rows_of(place.position)[0]
        beside_it = {int(way[int(way[row])]) for way in (columns.before, columns.after)}
        beside_it |= {int(way[row]) for way in (columns.before, columns.after, columns.previous, columns.following)}
        return any(int(columns.position[other]) in left_out for other in beside_it if other)

    def _item(self, entry: Entry, find: WordFinder, *, short: bool = False, shown: bool = True) -> Item:
        event, place, columns = entry.event, entry.place, self._moment.columns
        rows = place.rows[:ROWS_SHOWN_MAX] if place is not None else ()
        matched = [Range(int(columns.start[row]), int(columns.start[row]) + int(columns.size[row])) for row in rows]
        readings = self._contents.readings(event, [part for part in matched if part.end > part.start]) if shown else ()
        label = "" if readings or not shown else f"[{event.media or 'binary'}, {event.size_bytes:,} bytes]"
        copies = (self._contents.event(position) for position in (place.copies if place is not None else ()))
        hit = Hit(
            event.pointer, place.score if place is not None else 0.0, dict(place.parts) if place is not None else {},
            "", (), find.exact(readings), event.position, event.kind, event.session, event.turn, event.agent,
            event.origin, event.trust, event.time, event.size_bytes,
            tuple(copy.pointer for copy in copies if copy is not None),
            entry.of.pointer if entry.of is not None else "", place.replaces if place is not None else "",
        )  # fmt: skip
        return Item(hit, readings, label, short=short, shown=shown)

    # what it is ------------------------------------------------------------------------------------

    def _outcome(self, ranking: Ranking, page: _Page, places: int) -> Outcome:
        """Say of which type the answer is: absent only where everything was looked at."""
        faults = (*self._moment.faults, *ranking.faults, *self._contents.damaged)
        self._notes += (*ranking.bounded, *faults, *self._said_out())
        if page.hits:
            return Outcome.DEGRADED if faults or self._deadline.passed else Outcome.FOUND
        if page.left_out:
            self._notes.append("only the question itself, or earlier calls of Firsthand's own tools, match")
        elif places:
            self._notes.append(f"there are {places:,} hits; none after the {self._query.skip:,} that were skipped")
        if faults or ranking.bounded or self._deadline.passed:
            return Outcome.DEGRADED
        if self._out or (not places and self._is_outside()):
            return Outcome.FILTERED
        unread = self._space.log.unread(self._space.namespace)
        if unread:
            self._notes.append(unread)
        return Outcome.DEGRADED if unread else Outcome.ABSENT

    def _said_out(self) -> Iterator[str]:
        """Say what matches and is left out, since it no longer holds by the ledger."""
        named = [pointer + (f" ({instead} holds instead)" if instead else "") for pointer, instead in self._out.items()]
        more = f" and {len(named) - NAMED_MAX:,} more" if len(named) > NAMED_MAX else ""
        if named:
            yield f"left out, since it no longer holds: {', '.join(named[:NAMED_MAX])}{more}; expand opens it"

    def _is_outside(self) -> bool:
        """Look outside the scope for what is not in it, and name the best."""
        if self._query.scope.everything:
            return False
        ranked = self._rank(replace(self._query, scope=Scope())).ranked
        events = (self._contents.event(each.position) for each in ranked)
        best = next((event for event in events if event is not None), None)
        if best is None:
            return False
        at_least = "" if len(ranked) == 1 else f"{len(ranked):,} events match, the best is "
        when = f" at {best.time}" if best.time else ""
        self._notes.append(
            f"nothing in the scope asked for; outside it {at_least}{best.pointer} in session {best.session!r}{when}"
        )
        return True


def _positions(entry: Entry) -> tuple[int, ...]:
    """Give the positions of all events that a place stands for."""
    return (entry.event.position, *(entry.place.copies if entry.place is not None else ()))


def _joined(first: Ranking, second: Ranking) -> Ranking:
    """Join two rankings: the likelier one leads, and what only the other has follows."""
    best, other = (second, first) if second.likelihood > first.likelihood else (first, second)

    def both(mine: Sequence[Place], theirs: Sequence[Place]) -> tuple[Place, ...]:
        known = {each.position for each in mine}
        least = min((each.score for each in mine), default=1.0)
        rest = (each for each in theirs if each.position not in known)
        return (*mine, *(replace(each, score=min(each.score, least)) for each in rest))

    return replace(
        best, ranked=both(best.ranked, other.ranked), users=both(best.users, other.users),
        words={**other.words, **best.words}, bounded=(*first.bounded, *second.bounded),
        faults=tuple(dict.fromkeys((*first.faults, *second.faults))),
        situations=tuple(dict.fromkeys((*best.situations, *other.situations))),
    )  # fmt: skip


def _called(function: Rewrite, text: str) -> list[str]:
    """Call a function that may do anything.

    Raises:
        ModelError: it failed, or gave something else than texts.
    """
    try:
        result = function(text)
    except FirsthandError:
        raise
    except Exception as error:
        raise ModelError(f"the function given as rewrite failed: {type(error).__name__}: {error}") from error
    if isinstance(result, str) or not isinstance(result, Sequence) or not all(isinstance(text, str) for text in result):
        raise ModelError(f"the function given as rewrite gives a list of texts; got {str(result)[:80]!r}")
    return list(result)


def _string_alone(question: str, ranking: Ranking) -> Sequence[str]:
    """Give the exact string that a question consists of where no event has it as a string of its own."""
    if any("exact" in place.names and place.parts["exact"] > 0 for place in ranking.ranked[:1]):
        return ()
    return exact_strings(question) if len(question.split()) == 1 else ()
