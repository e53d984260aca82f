"""Asks the text index: what it reaches, how frequent terms are, which rows match.

Scope and time are part of the SQL, so a filter never starves an answer of
candidates. Every statement stops at the deadline. Rows come in an order that
does not depend on how many are asked for, so pages are stable.

It knows the tables of the index and of the log, and nothing of scores.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import apsw

from firsthand.answer import Scope
from firsthand.index.passages import ROW_STEP, TRIGGER_ROWS, position_of
from firsthand.index.text import IndexSize, counted_of, size_of, varints
from firsthand.log.index_files import schema_of
from firsthand.log.rows import key_of
from firsthand.value import value

from .plan import Question, Term

_COUNTS = "firsthand_counts"
_STEPS = 2_000  # of SQLite's machine between two looks at the clock: a tenth of a millisecond
STRETCHES_MAX = 16
"""Of session numbers in a row, that are compared with each row; more of them are looked up."""
_PAGE = 64
_UNCOUNTED_ROWS = 50_000
"""From here on, without counted terms, stop words are taken to stand in every third row instead of being counted."""


@value
class Counts:
    """How often terms stand in one row, and how long it is.

    Attributes:
        tokens: in its text; with ``whole`` also those of its other column.
        times: of each term, in the order asked for.
    """

    tokens: int
    whole: int
    times: tuple[int, ...]


@value
class Step:
    """An event beside another one in its session.

    Attributes:
        of: position of the other one.
        position: its own.
        step: how many events behind the other one; below 0 before it.
    """

    of: int
    position: int
    step: int


class Deadline:
    """The moment at which a search stops, and whether it came."""

    def __init__(self, milliseconds: float) -> None:
        self._at = time.monotonic() + milliseconds / 1000
        self.passed = False

    def __call__(self) -> bool:
        """Say whether it is time to stop."""
        self.passed = self.passed or time.monotonic() >= self._at
        return self.passed

    @contextmanager
    def over(self, db: apsw.Connection) -> Iterator[None]:
        """Let the deadline stop the statements of a block; what they had not found yet is left out."""
        db.set_progress_handler(self, _STEPS, id=self)
        try:
            yield
        except apsw.InterruptError:
            if not self.passed:
                raise
        finally:
            db.set_progress_handler(None, id=self)


def _all(db: apsw.Connection, sql: str, values: Sequence[Any]) -> list[Any]:
    """Run a statement to its end: one left open would hold its read transaction."""
    return db.execute(sql, tuple(values)).fetchall()


class Lexical:
    """The text index of one namespace, within one scope, up to one deadline.

    Args:
        holding: the rows that hold a term, as JSON, by what is asked for: filled here, and there for the next attempt.
    """

    def __init__(
        self, db: apsw.Connection, namespace: int, scope: Scope, deadline: Deadline,
        holding: dict[str, str] | None = None,
    ) -> None:  # fmt: skip
        self._db, self._namespace, self._deadline = db, namespace, deadline
        self._table = f"text_{namespace}"
        self.size: IndexSize = size_of(db, namespace)
        last = db.execute(f"SELECT max(id) FROM {self._table}_docsize WHERE id < {TRIGGER_ROWS}").get  # noqa: S608
        self._passages = last is not None and last >= ROW_STEP
        self._base = key_of(namespace, 0)
        self._where = where(db, namespace, scope)
        self._holding = {} if holding is None else holding

    def frequencies(self, question: Question) -> dict[str, int]:
        """Say in how many rows each term of a question stands.

        The commonest come from the counted table, scaled to the present size; the others are
        looked up. Reading a frequency costs its postings, so it must not be done for common words.
        """
        terms = {term.key: term for term in (*question.strings, *question.stop_words, *question.words)}
        found = self.common(terms)
        if not counted_of(self._db, self._namespace) and self.size.rows >= _UNCOUNTED_ROWS:
            found = {term.key: self.size.rows // 3 for term in question.stop_words}
        with self._deadline.over(self._db):
            for key, term in terms.items():
                if key not in found:  # to count its rows is to read them, and they are asked for next
                    held = self._held_by(term.match)
                    found[key] = held.count(",") + 1 if held != "[]" else 0
        return found

    def common(self, keys: Collection[str]) -> dict[str, int]:
        """Say in how many rows the commonest of some terms stand: those counted, scaled to the present size."""
        counted = counted_of(self._db, self._namespace)
        if not counted:
            return {}
        table = f"{schema_of(self._namespace)}.term_df"
        sql = f"SELECT term, df FROM {table} WHERE term IN ({_marks(list(keys))})"  # noqa: S608 - marks
        rows = _all(self._db, sql, tuple(keys))
        return {term: max(1, df * self.size.rows // counted) for term, df in rows}

    def ranked(self, match: str, limit: int) -> list[int]:
        """Give the rows that match, best first by FTS5's own BM25."""
        return self._rows(match, "f.rank", limit)

    def holders(self, match: str) -> list[int]:
        """Give all rows that match, of any scope, in their order; `inside` parts them."""
        found = "[]"
        with self._deadline.over(self._db):
            found = self._held_by(match)
        rows: list[int] = json.loads(found)
        rows.sort()  # as FTS5 gives them
        return rows if not rows or rows[-1] < TRIGGER_ROWS else [row for row in rows if row < TRIGGER_ROWS]

    def _held_by(self, match: str) -> str:
        """Give the rows that match, those of triggers too, as JSON: one value instead of so many rows."""
        if match not in self._holding:
            sql = f"SELECT json_group_array(rowid) FROM {self._table} WHERE {self._table} MATCH ?"  # noqa: S608 - a number
            self._holding[match] = str(self._db.execute(sql, (match,)).get)
        return self._holding[match]

    def newest_rows(self, match: str, limit: int) -> list[int]:
        """Give the newest rows that match between the scope's bounds, of any scope; of a large event its first row."""
        where = self._where
        sql = (
            f"SELECT json_group_array(rowid) FROM (SELECT rowid FROM {self._table} WHERE {self._table} MATCH ? "  # noqa: S608
            "AND rowid >= ? AND rowid < ? ORDER BY rowid DESC LIMIT ?)"
        )
        found = "[]"
        with self._deadline.over(self._db):
            found = str(self._db.execute(sql, (match, where.low, min(ROW_STEP, where.high), limit)).get)
        rows: list[int] = json.loads(found)
        return rows

    def lengths(self, rows: Collection[int]) -> dict[int, int]:
        """Say how many tokens the texts of rows have."""
        sql = f"SELECT id, sz FROM {self._table}_docsize WHERE id IN ({', '.join(map(str, rows))})"  # noqa: S608 - numbers
        return {row: next(varints(size), 0) for row, size in _all(self._db, sql, ())}

    @property
    def bounds(self) -> range:
        """The positions that the scope may hold."""
        return range(max(0, self._where.low), self._where.high)

    def inside(self, rows: Sequence[int]) -> list[int]:
        """Give those of some rows that are in the scope, in their order.

        To look some dozen rows up costs less than to have the index join thousands with their events.
        """
        if not self._where.sql or not rows:
            return list(rows)
        apart = self._where.apart
        held = _held(self._db, self._namespace, self._where, {at for at in map(position_of, rows) if at in apart})
        return [row for row in rows if (at := position_of(row)) in held or at not in apart]

    def newest(self, match: str, limit: int) -> list[int]:
        """Give the rows that match, newest first; costs no ranking."""
        return sorted(self._rows(match, "f.rowid DESC", limit), key=position_of, reverse=True)

    def newest_of(self, rows: Collection[int], limit: int) -> list[int]:
        """Give those of some rows, of any scope, that `newest` would give."""
        kept: list[int] = []
        whole = sorted((row for row in rows if row < ROW_STEP and row in self.bounds), reverse=True)
        for arm in (whole, sorted((row for row in rows if row >= ROW_STEP), reverse=True)):
            left = limit
            for at in range(0, len(arm), _PAGE):
                found = self.inside(arm[at : at + _PAGE])[:left]
                kept += found
                left -= len(found)
                if not left:
                    break
        return sorted(kept, key=position_of, reverse=True)

    def counts(self, terms: Sequence[Term], positions: Collection[int]) -> dict[int, Counts]:
        """Say how often terms stand in the first rows of events; those that hold none are left out.

        The index gives it without the text being read: it goes through the terms' postings, unranked,
        and calls back for the rows wanted.
        """
        if not terms or not positions:
            return {}
        sql = (
            f"SELECT rowid, {_COUNTS}({self._table}) FROM {self._table} "  # noqa: S608 - numbers
            f"WHERE {self._table} MATCH ? AND +rowid IN ({', '.join(map(str, sorted(positions)))})"
        )
        values = (" OR ".join(term.match for term in terms),)
        rows: list[Any] = []
        with self._deadline.over(self._db):
            try:
                rows = _all(self._db, sql, values)
            except apsw.SQLError as error:
                if _COUNTS not in str(error):
                    raise
                # SQLite keeps each function it is given for the life of a connection: only now it is known as new.
                self._db.register_fts5_function(_COUNTS, _count)
                rows = _all(self._db, sql, values)
        found: dict[int, Counts] = {}
        for row, counted in rows:
            tokens, whole, *times = map(int, counted.split())
            found[row] = Counts(tokens, whole, tuple(times))
        return found

    def _rows(self, match: str, order: str, limit: int) -> list[int]:
        # Whole events come first, further passages after: their row numbers do not follow the position.
        where, best = self._where, order == "f.rank"
        whole = max(0, where.low), min(ROW_STEP, where.high)
        if not self._passages:
            arms = [whole]
        elif best and not where.bounded:
            arms = [(0, TRIGGER_ROWS)]
        else:
            arms = [whole, (ROW_STEP, TRIGGER_ROWS)]
        join = f"CROSS JOIN event e ON e.key = {self._base} + (f.rowid & {ROW_STEP - 1}) " if where.sql else ""
        sql = (
            f"SELECT f.rowid, {'f.rank' if best else '0.0'} FROM {self._table} f {join}"  # noqa: S608 - marks
            f"WHERE {self._table} MATCH ? AND f.rowid >= ? AND f.rowid < ? {where.sql} ORDER BY {order} LIMIT ?"
        )
        found: list[tuple[int, float]] = []
        for low, high in arms:
            with self._deadline.over(self._db):
                found += _all(self._db, sql, (match, low, high, *where.values, limit))
        if len(arms) > 1 and best:
            found.sort(key=lambda row: row[1])
        return [row for row, _ in found[: limit * len(arms)]]


def _count(api: apsw.FTS5ExtensionApi, /, *_: object) -> str:
    """Write what the index knows of a row: its tokens, and how often each term asked for stands in it.

    In the second column, of exact strings and context, a term counts once, and only where the text lacks it.
    """
    tokens = api.column_size(0)
    numbers = [tokens, tokens + api.column_size(1)]
    for phrase in range(api.phrase_count):
        text, exact = api.phrase_locations(phrase)
        numbers.append(len(text) or min(1, len(exact)))
    return " ".join(map(str, numbers))


def steps(
    db: apsw.Connection, namespace: int, positions: Collection[int], before: int, behind: int, head: int
) -> list[Step]:
    """Find the events around others in their sessions, up to the head.

    Args:
        before, behind: how many events on either side.
    """
    if not positions:
        return []
    base = key_of(namespace, 0)
    rows: list[Any] = db.execute(
        f"SELECT e.key - {base}, n.key - {base}, n.sequence - e.sequence FROM event e CROSS JOIN event n "  # noqa: S608
        "ON n.session = e.session AND n.sequence BETWEEN e.sequence - ? AND e.sequence + ? "
        f"WHERE e.key IN ({_keys(namespace, positions)}) AND n.key <= ? AND n.key <> e.key",
        (before, behind, base + head),
    ).fetchall()
    return [Step(*row) for row in rows]


def agents_of(db: apsw.Connection, namespace: int, positions: Collection[int]) -> dict[int, str]:
    """Say who spoke or acted in events; nobody for those left out."""
    if not positions:
        return {}
    rows: list[Any] = db.execute(
        f"SELECT e.key - {key_of(namespace, 0)}, n.text FROM event e "  # noqa: S608 - numbers
        f"CROSS JOIN name n ON n.key = e.agent WHERE e.key IN ({_keys(namespace, positions)})"
    ).fetchall()
    return dict(rows)


def in_scope(db: apsw.Connection, namespace: int, scope: Scope, positions: Collection[int]) -> set[int]:
    """Give those of some events that are in a scope."""
    if scope.everything or not positions:
        return set(positions)
    return _held(db, namespace, where(db, namespace, scope), positions)


def _held(db: apsw.Connection, namespace: int, limits: Where, positions: Collection[int]) -> set[int]:
    inside = [position for position in positions if limits.low <= position < limits.high]
    if not inside:
        return set()
    base = key_of(namespace, 0)
    sql = f"SELECT e.key - {base} FROM event e WHERE e.key IN ({_keys(namespace, inside)}) {limits.sql}"  # noqa: S608
    return {position for (position,) in _all(db, sql, limits.values)}


def _keys(namespace: int, positions: Collection[int]) -> str:
    return ", ".join([str(key_of(namespace, position)) for position in sorted(positions)])


@value
class Where:
    """A scope as SQL over ``event e``; ``low`` (inclusive) and ``high`` bound the positions.

    Attributes:
        apart: only positions in it may be outside of the scope.
    """

    sql: str
    values: tuple[Any, ...]
    low: int
    high: int
    apart: range = range(ROW_STEP)

    @property
    def bounded(self) -> bool:
        return self.low > 0 or self.high < ROW_STEP


def where(db: apsw.Connection, namespace: int, scope: Scope) -> Where:
    """Write a scope as SQL. Names are values, never text of the statement."""
    parts: list[str] = []
    values: list[Any] = []
    without: list[_Session] = []
    low = 0 if scope.after_position is None else max(0, scope.after_position + 1)
    high = ROW_STEP if scope.before_position is None else max(0, min(ROW_STEP, scope.before_position))
    if scope.sessions or scope.without_sessions:
        without = _sessions(db, namespace, scope.without_sessions)
        left_out = {one.key for one in without}
        if scope.sessions:
            kept = [one for one in _sessions(db, namespace, scope.sessions) if one.key not in left_out]
            low = max(low, min((one.first for one in kept), default=0))
            high = min(high, max((one.last + 1 for one in kept), default=0))
            sql, keys = _among("+e.session", {one.key for one in kept})
        else:
            sql, keys = _among("+e.session", left_out)
            sql = f"NOT {sql}"
        if scope.sessions or left_out:
            parts.append(sql)
            values += keys
    if scope.agents:
        parts.append(f"e.agent IN (SELECT key FROM name WHERE text IN ({_marks(scope.agents)}))")  # noqa: S608
        values += scope.agents
    if scope.kinds:
        parts.append(f"e.kind IN ({_marks(scope.kinds)})")
        values += [kind.number for kind in scope.kinds]
    for sign, moment in ((">=", scope.since), ("<=", scope.until)):
        if moment is not None:
            parts.append(f"e.time {sign} ?")
            values.append(moment.microseconds)
    if scope.trust_max is not None:
        parts.append("e.trust <= ?")
        values.append(scope.trust_max.number)
    if scope.after_position is not None or scope.before_position is not None:
        parts.append("e.key >= ? AND e.key < ?")
        values += (key_of(namespace, low), key_of(namespace, high))
    apart = range(ROW_STEP)
    if len(parts) == 1 and without and not scope.sessions:  # nothing is asked for but to leave sessions out
        apart = range(min(one.first for one in without), max(one.last for one in without) + 1)
    return Where("".join(f"AND {part} " for part in parts), tuple(values), low, high, apart)


@value
class _Session:
    """A session's number, and between which positions its events lie."""

    key: int
    first: int
    last: int


def _sessions(db: apsw.Connection, namespace: int, names: Sequence[str]) -> list[_Session]:
    """Find the sessions of some names, each once; a name that ends in ``*`` stands for all that begin so."""
    sql = "SELECT key, first_position, last_position FROM session WHERE namespace = ? AND "
    whole = [name for name in names if not name.endswith("*")]
    rows: list[Any] = []
    if whole:  # one value, however many they are: a chain of OR nests, and SQLite bounds that
        rows += _all(db, f"{sql}name IN (SELECT value FROM json_each(?))", (namespace, json.dumps(whole)))  # noqa: S608
    for begun in (name[:-1] for name in names if name.endswith("*")):
        rows += _all(db, sql + "name >= ? AND substr(name, 1, ?) = ?", (namespace, begun, len(begun), begun))
    return [_Session(*row) for row in dict.fromkeys(rows)]


def _among(column: str, keys: Collection[int]) -> tuple[str, list[Any]]:
    """Write as SQL that a column holds one of some numbers: as few stretches where they lie together, else as a list.

    The numbers of the sessions of one user lie together mostly, and a comparison costs less than a look-up.
    """
    stretches: list[list[int]] = []
    for key in sorted(keys):
        if stretches and key == stretches[-1][1] + 1:
            stretches[-1][1] = key
        else:
            stretches.append([key, key])
    if len(stretches) > STRETCHES_MAX:
        return f"({column} IN (SELECT value FROM json_each(?)))", [json.dumps(list(keys))]  # noqa: S608 - our own name
    said = " OR ".join([f"{column} BETWEEN ? AND ?"] * len(stretches)) or "0"
    return f"({said})", [end for stretch in stretches for end in stretch]


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
