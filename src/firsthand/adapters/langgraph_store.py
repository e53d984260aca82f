"""LangGraph's store on the log: every put and every delete is an event, and search is recall.

    store = FirsthandStore(Memory("notes"))
    graph = builder.compile(store=store)

The invariant: a value that a put returned for is on disk; a batch is appended whole or not
at all, and its reads see what was there before it. What a later put or a delete takes away
stays in the log, in the session of its namespace (`FirsthandStore.history`).

While the log fails, puts wait and reads give what this process has (`adapters.standby`): no failure of the store's
ends a run, each is told, and a list that may lack something is `Incomplete`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any
from urllib.parse import quote, unquote

from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchItem,
    SearchOp,
    validate_op_namespace,
)

from firsthand import Draft, Event, Kind, Memory, Query, Scope, moment
from firsthand.adapters.standby import Standby
from firsthand.answer import HITS_MAX, Outcome
from firsthand.errors import InvalidArgument
from firsthand.event import NAME_BYTES_MAX, REPEATS, to_bytes, to_text
from firsthand.log.prepare import DraftGroup
from firsthand.value import value

PREFIX = "langgraph:"
RANKED_MAX = 1_000  # items that a search with a filter ranks; what lies behind them comes without a score
READ_AT_ONCE = 256
DEADLINE_MS = 30_000
TOKENS_MAX = 10_000_000  # of previews, which nobody sees

_OF_OTHERS = ("exchange", "neighbours")  # the parts of a hit's score that are not its own
Namespace = tuple[str, ...]
_log = logging.getLogger(__name__)
_SIGNS = re.compile(r"[%*/\x00-\x1f\x7f]")  # of a session's name they would mean something else, or are refused


@value
class _Stored:
    """A value that stands: where it is in the log."""

    namespace: Namespace
    key: str
    position: int
    created: moment.Moment
    updated: moment.Moment


class Incomplete(list[Any]):
    """Results that may lack something, since the log failed.

    Attributes:
        why: what failed.
    """

    def __init__(self, results: Iterable[Any], why: str) -> None:
        super().__init__(results)
        self.why = why


class FirsthandStore(Standby, BaseStore):
    """A LangGraph store in one namespace of a Firsthand store.

    A search with a query gives what recall finds, best first, with scores; then the other items without one, the
    newest first, as far as ``limit`` goes. A value that was put with ``index=False`` has no score ever. A list of
    fields to index, and a time to live, are not supported: the whole value is indexed, and nothing expires.
    """

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory, f"{PREFIX}*")
        self._reached = 0
        self._live: dict[Namespace, dict[str, _Stored]] = {}

    def batch(self, ops: Iterable[Any]) -> list[Any]:
        """Answer the reads of a batch as of before it, then append its puts, all or none.

        Raises:
            InvalidNamespaceError: a namespace holds an empty label, or one with a period.
            InvalidArgument: an operation is none of LangGraph's, or asks for a time to live.
            InvalidDraft: a namespace or a value is larger than the log takes.
        """
        listed = [*ops]
        drafts = [(op.namespace, _draft(op)) for op in listed if _checked(op)]
        with self._lock:
            self.failed = ""
            self._catch_up()
            is_read = self._safely("read", self._follow, False)
            results = [self._answer(op) for op in listed]
            if drafts := [*self._without_vain_deletes(drafts, is_read)]:
                groups = [DraftGroup(session_of(namespace), (draft,)) for namespace, draft in drafts]
                for position, (session, draft) in self._write(groups, is_read=is_read).items():
                    self._take(position, session, draft)
        return results

    async def abatch(self, ops: Iterable[Any]) -> list[Any]:
        """Do what `batch` does, in a thread."""
        return await asyncio.to_thread(self.batch, [*ops])

    def history(self, namespace: Namespace, key: str) -> list[Event]:
        """Give every put and delete of a key, in order; their pointers are what `Memory.erase` takes."""
        return [event for event in self._memory.events(session_of(namespace)) if event.origin == _origin(key)]

    # following ---------------------------------------------------------------------------------------

    def _follow(self) -> bool:
        """Take in what was appended since, by whichever process."""
        head = self._memory.position
        if head > self._reached:
            for event in self._memory.events(kind=Kind.DOCUMENT, after=self._reached, before=head + 1):
                if event.session.startswith(PREFIX):
                    self._take(event.position, event.session, event)
                    self._saw(event.session, event.position)
            self._reached = head
        return True

    def _renew(self) -> None:
        self._reached, self._live = 0, {}

    def _take(self, position: int, session: str, put: Event | Draft) -> None:
        namespace = _namespace_of(session)
        items = self._live.setdefault(namespace, {})
        before = items.pop(put.origin, None)  # a header outlives an erasure, so an older value does not come back
        is_erased = isinstance(put, Event) and put.erased
        if not is_erased and put.meta.get("deleted") is not True:
            assert put.time is not None, "a put has the time of its putting"
            created = before.created if before else put.time
            items[put.origin] = _Stored(namespace, str(put.meta["key"]), position, created, put.time)
        elif not items:
            del self._live[namespace]

    def _without_vain_deletes(
        self, drafts: list[tuple[Namespace, Draft]], is_read: bool
    ) -> Iterator[tuple[Namespace, Draft]]:
        """Leave out the deletes of what is not there, as far as that can be read."""
        changed: dict[tuple[Namespace, str], bool] = {}
        for namespace, draft in drafts:
            name = namespace, draft.origin
            if draft.content or not is_read or changed.get(name, draft.origin in self._live.get(namespace, {})):
                yield namespace, draft
            changed[name] = bool(draft.content)

    # reading -----------------------------------------------------------------------------------------

    def _answer(self, op: Any) -> Any:
        match op:
            case GetOp():
                stored = self._live.get(op.namespace, {}).get(_origin(op.key))
                return next((Item(**_fields(*pair)) for pair in self._values([stored] if stored else [])), None)
            case SearchOp() | ListNamespacesOp():
                found = self._search(op) if isinstance(op, SearchOp) else self._namespaces(op)
                return Incomplete(found, self.failed) if self.failed else found
        return None

    def _values(self, items: Sequence[_Stored]) -> Iterator[tuple[_Stored, dict[str, Any]]]:
        """Read values in the order asked for, a page at a time; what was erased, or cannot be read, is left out."""
        for start in range(0, len(items), READ_AT_ONCE):
            page = {item.position: item for item in items[start : start + READ_AT_ONCE]}
            for position, draft in self._read([*page], partly=True).items():
                assert isinstance(draft.content, bytes), "a value is no stream"
                yield page[position], json.loads(to_text(draft.content))

    def _search(self, op: SearchOp) -> list[SearchItem]:
        depth, wanted = len(op.namespace_prefix), max(op.offset, 0) + max(op.limit, 0)
        below = [items for namespace, items in self._live.items() if namespace[:depth] == op.namespace_prefix]
        items = sorted((item for each in below for item in each.values()), key=lambda item: -item.position)
        most = RANKED_MAX if op.filter else wanted
        found = self._safely("recall", lambda: self._scores(op, items, most), None) if op.query and items else None
        scores = found or {}
        items.sort(key=lambda item: -scores.get(item.position, 0.0))  # what has none stays in order, behind
        if not op.filter:
            items = items[:wanted]
        results: list[SearchItem] = []
        for item, content in self._values(items):
            if len(results) >= wanted:
                break
            if all(_matches(content.get(name), asked) for name, asked in (op.filter or {}).items()):
                results.append(SearchItem(**_fields(item, content), score=scores.get(item.position)))
        return results[max(op.offset, 0) :]

    def _scores(self, op: SearchOp, items: Sequence[_Stored], wanted: int) -> dict[int, float]:
        """Give the score of each item that recall finds by what it says itself, by position.

        Items that were put one after the other are no conversation: what a hit scores by its neighbours does not count.
        """
        standing = {item.position for item in items}
        root = session_of(op.namespace_prefix)
        sessions = (root, f"{root}.*") if op.namespace_prefix else (f"{PREFIX}*",)
        scope = Scope(sessions, kinds=(Kind.DOCUMENT,), after_position=max(min(standing), 1) - 1)
        scores: dict[int, float] = {}
        skip, more = 0, True
        while more and len(scores) < min(wanted, len(standing)) and skip < RANKED_MAX:
            answer = self._memory.recall(Query(
                str(op.query), scope, hits_max=min(2 * wanted + 10, HITS_MAX), budget_tokens_max=TOKENS_MAX, skip=skip,
                deadline_ms=DEADLINE_MS,
            ))  # fmt: skip
            if answer.outcome is Outcome.DEGRADED:
                _log.warning("a search of the store is not complete: %s", "; ".join(answer.notes))
            for hit in answer:
                score = hit.score - sum(hit.parts.get(name, 0.0) for name in _OF_OTHERS)
                if score > 0:  # equal values are copies of a hit; one that was replaced since is not standing
                    copies = [self._memory.event(pointer).position for pointer in hit.copies]
                    scores |= dict.fromkeys(standing.intersection([hit.position, *copies]), score)
            skip, more = skip + len(answer), answer.more
        return scores

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        names = [name for name in self._live if all(_is_below(name, condition) for condition in conditions)]
        return sorted({name[: op.max_depth] for name in names})[op.offset :][: op.limit]


def session_of(namespace: Namespace) -> str:
    """Name the session that holds a namespace's values and their history."""
    return PREFIX + ".".join(quoted(label) for label in namespace)


def quoted(label: str) -> str:
    """Write a label as it may stand in a session's name: signs with a meaning there are percent-encoded."""
    return _SIGNS.sub(lambda match: quote(match[0], safe=""), label)


def _namespace_of(session: str) -> Namespace:
    return tuple(unquote(label) for label in session.removeprefix(PREFIX).split("."))


def _origin(key: str) -> str:
    """Name a key in an event's header: as it is, or by its hash where it is too long or cannot be printed."""
    name = f"store:{key}"
    if len(to_bytes(name)) > NAME_BYTES_MAX or not key.isprintable():
        return f"store-sha256:{sha256(to_bytes(key)).hexdigest()}"
    return name


def _checked(op: Any) -> bool:
    """Check an operation; say whether it is a put."""
    if not isinstance(op, (GetOp, SearchOp, ListNamespacesOp, PutOp)):
        raise InvalidArgument(f"expected an operation of langgraph.store.base; got {type(op).__name__}")
    validate_op_namespace(op)
    if not isinstance(op, PutOp):
        return False
    if not op.namespace:
        raise InvalidNamespaceError("expected a namespace of at least one label; got an empty one")
    if op.ttl is not None:
        raise InvalidArgument(f"nothing in this store expires: put without ttl; got {op.ttl!r} minutes")
    return True


def _draft(op: PutOp) -> Draft:
    fields: dict[str, Any] = {"key": op.key}
    fields |= {"deleted": True} if op.value is None else {}
    fields |= {REPEATS: True} if op.index is False else {}  # what keeps an event out of recall
    content = b"" if op.value is None else to_bytes(json.dumps(dict(op.value), ensure_ascii=False))
    return Draft(Kind.DOCUMENT, content, "application/json", fields, origin=_origin(op.key), time=moment.now())


def _fields(item: _Stored, content: dict[str, Any]) -> dict[str, Any]:
    return {
        "namespace": item.namespace, "key": item.key, "value": content, "created_at": _datetime(item.created),
        "updated_at": _datetime(item.updated),
    }  # fmt: skip


def _datetime(time: moment.Moment) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time.microseconds)


_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt, "$gte": operator.ge, "$lt": operator.lt, "$lte": operator.le,
}  # fmt: skip


def _matches(content: Any, asked: Any) -> bool:
    """Compare as LangGraph's stores do: operators, objects by the names asked for, lists member by member."""
    if isinstance(asked, dict) and any(str(name).startswith("$") for name in asked):
        return all(_holds(content, name, limit) for name, limit in asked.items())
    if isinstance(asked, dict):
        return isinstance(content, dict) and all(_matches(content.get(name), part) for name, part in asked.items())
    if isinstance(asked, (list, tuple)):
        pairs = zip(content, asked, strict=False) if isinstance(content, list) and len(content) == len(asked) else None
        return pairs is not None and all(_matches(part, other) for part, other in pairs)
    return bool(content == asked)


def _holds(content: Any, name: str, limit: Any) -> bool:
    """Compare by an operator; numbers have an order, and texts, and no two of different types."""
    if name in {"$eq", "$ne"}:
        return (content == limit) is (name == "$eq")
    if name not in _ORDERS:
        raise InvalidArgument(f"expected one of the operators $eq, $ne, {', '.join(_ORDERS)}; got {name!r}")
    in_order = any(isinstance(content, kind) and isinstance(limit, kind) for kind in (int | float, str))
    return in_order and _ORDERS[name](content, limit)


def _is_below(namespace: Namespace, condition: MatchCondition) -> bool:
    path = condition.path
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[-len(path) :]
    return len(part) == len(path) and all(asked in {"*", label} for asked, label in zip(path, part, strict=True))
