"""The distinct words of a text index, to find those that hold a part of a word.

Each word stands once in ``word``, which says whether it is new, and once in the lists of
``vocabulary``, which are read whole and searched as one string: a million words are nine
megabytes, and are gone through in milliseconds. The invariant: every term of the index of
at least `WORD_CHARACTERS_MIN` characters is in both, or stands for an exact string.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from heapq import nsmallest
from itertools import islice
from typing import Any

import apsw

from firsthand.log.sqlite.index_files import schema_of

WORD_CHARACTERS_MIN = 4
"""A shorter word holds no part of three characters but itself."""
SEEN_MAX = 50_000
TABLES = """
-- The distinct words: those of the next events are looked up here.
CREATE TABLE {schema}.word (
  term TEXT PRIMARY KEY
) WITHOUT ROWID;
-- The same words in the order they came, some at a time, a line each.
CREATE TABLE {schema}.vocabulary (
  number INTEGER PRIMARY KEY,
  words  TEXT NOT NULL
);
"""


def add(db: apsw.Connection, schema: str, terms: AbstractSet[str], seen: set[str]) -> None:
    """Add the terms of rows; inside a transaction.

    Args:
        seen: words that are in as far as the caller knows; it grows.
    """
    fresh = sorted(term for term in terms - seen if is_listed(term))
    if not fresh:
        return
    sql = f"INSERT OR IGNORE INTO {schema}.word SELECT value FROM carray(?) RETURNING term"  # noqa: S608 - a number
    new: list[Any] = [term for (term,) in db.execute(sql, (apsw.carray(tuple(fresh)),)).fetchall()]
    if new:
        db.execute(f"INSERT INTO {schema}.vocabulary (words) VALUES (?)", ("\n".join(new),))  # noqa: S608 - a number
    if len(seen) > SEEN_MAX:
        seen.clear()
    seen.update(fresh)


def is_listed(term: str) -> bool:
    """Say whether a term is looked into for parts of words."""
    return len(term) >= WORD_CHARACTERS_MIN and not is_exact(term)


def is_exact(term: str) -> bool:
    """Say whether a term stands for an exact string (`words.token`)."""
    return term[0] == "q" and term[1:].isdecimal()


def renew(db: apsw.Connection, schema: str, terms: str) -> None:
    """Make the words anew of all terms of the index; inside a transaction.

    Args:
        terms: the table that lists them.
    """
    db.execute(f"DELETE FROM {schema}.word; DELETE FROM {schema}.vocabulary").fetchall()  # noqa: S608 - a number
    listed = (term for (term,) in db.execute(f"SELECT term FROM {terms} WHERE term NOT GLOB '*+'"))  # noqa: S608
    seen: set[str] = set()
    while batch := set(islice(listed, SEEN_MAX)):
        add(db, schema, batch, seen)
        seen.clear()


def words_of(db: apsw.Connection, namespace: int) -> set[str]:
    """Give the words of a namespace."""
    listed = db.execute(f"SELECT words FROM {schema_of(namespace)}.vocabulary").fetchall()  # noqa: S608 - a number
    return {word for (words,) in listed for word in str(words).split("\n")}


class Vocabulary:
    """The words of one namespace in memory, as far as they were read."""

    def __init__(self) -> None:
        self._words, self._number = "\n", 0

    def read(self, db: apsw.Connection, schema: str) -> None:
        """Read the words that came since."""
        sql = f"SELECT group_concat(words, char(10)), max(number) FROM {schema}.vocabulary WHERE number > ?"  # noqa: S608
        words, number = db.execute(sql, (self._number,)).fetchall()[0]
        if number is not None:
            self._words, self._number = f"{self._words}{words}\n", int(number)

    def holding(self, part: str, limit: int) -> list[str]:
        """Give the shortest words that hold a part."""
        return shortest(_holding(self._words, part), limit)


def shortest(words: Iterable[str], limit: int) -> list[str]:
    """Give the shortest of some words: the order does not tell when a word came, which a rebuild forgets."""
    return nsmallest(limit, words, key=lambda word: (len(word), word))


def _holding(lines: str, part: str) -> Iterator[str]:
    """Yield the lines that hold a part; there is an end of a line at both ends of them."""
    at = lines.find(part)
    while at >= 0:
        end = lines.index("\n", at)
        yield lines[lines.rindex("\n", 0, at) + 1 : end]
        at = lines.find(part, end)
