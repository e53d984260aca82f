"""Carries one compaction out: plan, proof, reflection, receipt (total-recall 5, 9.1, A.2).

    plan -> does the log prove that it has what leaves? -> plan again without what it does not prove
         -> the window that results -> exact strings of what left, recalled and expanded -> receipt

The invariant: nothing here changes the log or the live window. What comes of it is a
draft of one event and the window that holds once that event is in the log.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Sequence

from firsthand.answer import Query, Scope
from firsthand.context import task_state as tasks
from firsthand.context.marker_hints import terms
from firsthand.context.markers import apply
from firsthand.context.plan import LEFT, plan
from firsthand.context.receipt import Left, Receipt, Reflection, make, spans, to_json
from firsthand.context.receipt_topics import Question, questions
from firsthand.errors import PointerError, StoreDamaged
from firsthand.event import INJECTED, Draft, Event, IdMaker, Kind, Trust, to_bytes
from firsthand.index.frequency import shares
from firsthand.log.engine import LogReader
from firsthand.recall.query import Deadline
from firsthand.space import Space
from firsthand.value import replace, value
from firsthand.window import Budget, Departure, Item, Plan, Window

from .fold import Fold

TERMS_OF_MAX = 64  # events of one run whose terms are looked at for hints
QUESTIONS = 3  # exact strings that each compaction asks for
QUESTION_DEADLINE_MS = 500
SHED_SHARE = 8  # a session that is read for the first time may grow to so many windows before it is shed
RECEIPT_MEDIA = "application/json"
_TEXTS = ("text/", "application/json")  # media whose words say what they are about


@value
class Compacted:
    """A compaction that is worked out: it is real as soon as its draft is in the log."""

    window: Window
    receipt: Receipt
    draft: Draft
    task: Draft


def compact(
    fold: Fold, space: Space, budget: Budget, overhead_tokens: int, *, earlier: Sequence[Left], forced: bool,
    gone: Collection[str] = (),
) -> Compacted | None:  # fmt: skip
    """Work a compaction out; None when the window is within its high-water mark, or nothing can leave.

    Args:
        budget: by which it begins and ends, in tokens as they are counted here.
        overhead_tokens: of what is sent beside items and markers.
        earlier: what already left while a long session was read for the first time; told in the same receipt.
        gone: ids of what the caller's list no longer has.
    """
    window = fold.window
    planned, unproven = _provable(fold, window, budget, overhead_tokens, forced=forced, gone=gone)
    if not planned.leaves and not earlier:
        return None
    after = _applied(fold, space, window, planned)
    after = replace(after, cycle=max(after.cycle, window.cycle + 1))
    reflection = _reflect(fold, space, [leaves for leaves in planned.leaves if leaves.reason != LEFT])
    totals = fold.receipt.totals if fold.receipt is not None else Reflection()
    made = make(
        planned, after, fold.budget, overhead_tokens=overhead_tokens, unproven=unproven, reflection=reflection,
        earlier=earlier, totals=totals,
    )  # fmt: skip
    return _drafted(fold, after, made)


def shed(fold: Fold, space: Space) -> tuple[Left, ...]:
    """Let what has no room leave a window that only grows since its session is read for the first time."""
    if fold.tokens <= SHED_SHARE * fold.budget.tokens_max:
        return ()
    window = fold.window
    planned, _ = _provable(fold, window, fold.budget, 0, forced=False, just_read=True)
    fold.adopt(replace(_applied(fold, space, window, planned), cycle=window.cycle))
    return spans(planned)


def _applied(fold: Fold, space: Space, window: Window, planned: Plan) -> Window:
    """Carry a plan out, with the terms of what leaves: of a long run, those of events from all along it."""

    def frequency(words: Collection[str]) -> dict[str, float]:
        return shares(space.log.reader, fold.namespace, words)

    leaves = tuple(replace(departure, items=tuple(_with_terms(fold, departure.items))) for departure in planned.leaves)
    return apply(window, replace(planned, leaves=leaves), frequency, count=fold.counter)


def _with_terms(fold: Fold, items: Sequence[Item]) -> Iterator[Item]:
    every = -(-len(items) // TERMS_OF_MAX)
    for number, item in enumerate(items):
        event = fold.shown[item.id].event
        read = number % every == 0 and event.is_searchable and event.media.startswith(_TEXTS)
        yield replace(item, terms=terms(event.text)) if read else item


def proven(reader: LogReader, namespace: str, items: Sequence[Item]) -> frozenset[str]:
    """Give the ids of those items that the log proves to have: read back whole, and what was written.

    An event proves itself by its commitment, an artifact by its address.
    """
    proven_ids: set[str] = set()
    for event in _read_back(reader, namespace, [item.position for item in items]):
        try:
            for _ in reader.pieces(event) if event.artifact is not None else ():
                pass
        except StoreDamaged:  # told in the receipt: what is not proven stays
            continue
        if not event.erased:
            proven_ids.add(event.id)
    return frozenset(proven_ids & {item.id for item in items})


def _read_back(reader: LogReader, namespace: str, positions: Sequence[int]) -> Iterable[Event]:
    try:
        return reader.events_at(namespace, positions)
    except StoreDamaged:
        pass  # one of them is damaged: the others are read one by one
    events = []
    for position in positions:
        try:
            event = reader.event_at(namespace, position)
        except StoreDamaged:  # told in the receipt: what is not proven stays
            continue
        if event is not None:
            events.append(event)
    return events


def _provable(
    fold: Fold, window: Window, budget: Budget, overhead_tokens: int, *, forced: bool, gone: Collection[str] = (),
    just_read: bool = False,
) -> tuple[Plan, frozenset[str]]:  # fmt: skip
    """Plan, and plan again without what the log does not prove to have.

    Args:
        just_read: every event was read from the log, and proven by it, a moment ago: only payloads are read again.
    """
    unproven: frozenset[str] = frozenset()
    while True:
        planned = plan(window, budget, overhead_tokens=overhead_tokens, forced=forced, gone=gone, unproven=unproven)
        leaving = [item for departure in planned.leaves for item in departure.items if item.id not in unproven]
        if just_read:
            leaving = [item for item in leaving if fold.shown[item.id].event.artifact is not None]
        missing = {item.id for item in leaving} - proven(fold.reader, fold.namespace, leaving)
        if not missing:
            return planned, unproven
        unproven |= missing


def _reflect(fold: Fold, space: Space, leaves: Sequence[Departure]) -> Reflection | None:
    """Ask for exact strings of what leaves, and look whether recall ranks them and expand gives them back."""
    started = time.perf_counter()
    texts = [
        (item.id, fold.shown[item.id].text)
        for departure in leaves
        for item in departure.items
        if fold.shown[item.id].event.is_searchable and not item.shortened
    ]
    asked = questions(texts, QUESTIONS)
    if not asked:
        return None
    positions = {item.id: item.position for departure in leaves for item in departure.items}
    ranked = _ranked(space, fold.session, asked)
    recalled = [positions[question.id] in ranked for question in asked]
    expanded = [_is_expanded(space, question) for question in asked]
    missed = tuple(
        question
        for question, was_recalled, opened in zip(asked, recalled, expanded, strict=True)
        if not (was_recalled and opened)
    )
    seconds = round(time.perf_counter() - started, 4)
    return Reflection(len(asked), sum(recalled), sum(expanded), missed, seconds)


def _ranked(space: Space, session: str, asked: Sequence[Question]) -> frozenset[int]:
    """Give the positions that one recall of all strings ranks: its page would be read by nobody."""
    from firsthand.recall.ranking import rank  # noqa: PLC0415 - numpy comes with it: a small window does without

    query = Query("\n".join(question.string for question in asked), Scope(sessions=(session,)))
    with space.index_moment() as moment:
        places = rank(moment, query, deadline=Deadline(QUESTION_DEADLINE_MS)).ranked
    return frozenset(place.position for place in places)


def _is_expanded(space: Space, question: Question) -> bool:
    try:
        return to_bytes(question.string) in space.expand(f"fh:{question.id}")
    except (PointerError, StoreDamaged):  # counted as missed, and named in the receipt
        return False


def _drafted(fold: Fold, after: Window, made: Receipt) -> Compacted:
    """Draft the receipt, with the names of what it needs to be begun at, and the task state that was in force."""
    ids = IdMaker()
    task = Draft(
        Kind.TASK_STATE, tasks.to_json(fold.task), tasks.MEDIA, {INJECTED: True}, origin="firsthand",
        trust=Trust.TRUSTED, id=ids(),
    )  # fmt: skip
    meta = {"task": task.id, "given": {part: event.id for part, event in fold.given.items()}}
    draft = Draft(Kind.RECEIPT, to_json(made), RECEIPT_MEDIA, meta, origin="firsthand", trust=Trust.TRUSTED, id=ids())
    return Compacted(after, made, draft, task)
