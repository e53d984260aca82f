"""Finds notes by the situations they were learned in, as a list of its own (recall-problem 7.5, 8.8, 11.7).

A case and the rule for it share few words, and other cases share many: among all
events a rule never comes first. So notes are asked apart: each is one document, made
of its situations, and only notes compete with it. The words of the events that answer
the question best are asked with it: they tell the same kind of case in other words.

The invariant: what is found depends on the log, the question and the frequencies, and
not on whether a note is in the index yet or still waits to be.

It does not know the hits of other kinds, except the words it is given of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from math import log
from typing import Any

import apsw

from firsthand.answer import Scope
from firsthand.event import Kind
from firsthand.index import words
from firsthand.index.passages import ROW_STEP, TRIGGER_ROWS, position_of
from firsthand.log.rows import key_of
from firsthand.value import value

from .evidence import Evidence
from .lexical import Deadline, Lexical, in_scope
from .plan import Question, Term
from .rank import Frequencies

NOTES_MAX = 16
"""Notes that are read and scored, of those that share the heaviest words."""
WAITING_MAX = 2_000
"""Notes that are read because the index does not reach them, the newest first."""
TERMS_MAX = 32
ROWS_MAX = 20_000
"""Situations looked at for one term."""
FEEDBACK_ROWS = 10
FEEDBACK_CHARACTERS_MAX = 2_000
FEEDBACK_LOOKUPS_MAX = 40
FEEDBACK_TERMS = 20
FEEDBACK_SHARE = 0.5
STRENGTH_MIN = 0.05
"""The least strength of a trigger that a place is kept for; see docs/decisions/0017-triggers.md."""
SHARED_MIN = 3
"""Words of the question it must tell, or two that are half of them, or all: one word of many is no situation."""
PLACES = (1, 2, 5)
"""Where the k-th good trigger stands at the latest, counted from 0: the best other hit stays first."""

K1, B = 1.2, 0.75
Stems = Callable[[str], list[str]]


@value
class Trigger:
    """A note that was found by its situations.

    Attributes:
        position: of the note.
        score: BM25 of its situations, by the question's words and those of the best events; of no common scale.
        strength: how much of what was asked its situations tell, from 0 to 1, by the question's words alone.
        shared: the words of the question among them, the most telling first.
        asked: how many words the question has.
    """

    position: int
    score: float
    strength: float
    shared: tuple[str, ...]
    asked: int

    @property
    def is_good(self) -> bool:
        """True when a place among the hits is kept for it."""
        told = len(self.shared)
        return self.strength >= STRENGTH_MIN and (
            told >= SHARED_MIN or told == self.asked or (told == 2 and self.asked <= 4)
        )


@value
class _Asked:
    """What situations are compared with: how much each term was asked for, and the words it was spelled with."""

    weights: Mapping[str, float]
    spelled: Mapping[str, str]


class Triggers:
    """The notes of one namespace that have situations, asked by one question after another.

    Args:
        through: the position that the text index reaches; 0 for none.
        head: the last position that is looked at.
    """

    def __init__(self, db: apsw.Connection, namespace: int, evidence: Evidence, through: int, head: int) -> None:
        self._db, self._namespace, self._evidence, self._stems = db, namespace, evidence, evidence.stems
        self.through, self._head = through, head
        self._waiting = self._read_waiting()
        mask = ROW_STEP - 1
        self._indexed = (
            int(
                db.execute(
                    f"SELECT count(DISTINCT id & {mask}) FROM text_{namespace}_docsize WHERE id >= {TRIGGER_ROWS}"  # noqa: S608
                ).get
            )
            if through
            else 0
        )

    @property
    def any(self) -> bool:
        """True when a note has situations: asking costs nothing where none has."""
        return bool(self._indexed or self._waiting)

    def find(
        self,
        question: Question,
        frequencies: Frequencies,
        scope: Scope,
        deadline: Deadline,
        *,
        best: Sequence[str] = (),
        without: Collection[int] = (),
    ) -> tuple[Trigger, ...]:
        """Give the notes whose situations tell what is asked, best first.

        Args:
            best: texts of the events that answer the question best otherwise, best first.
            without: positions left out.

        Raises:
            apsw.Error: the index cannot be read.
        """
        if not self.any:
            return ()
        asked, df = self._ask(question, frequencies, best, deadline)
        holding = {key: self._notes_with(key, deadline) for key in asked.weights}
        notes = self._indexed + len(self._waiting)
        weight = {
            key: asked.weights[key] * _rarity(notes, len(held)) * _share(frequencies, df.get(key, 0))
            for key, held in holding.items()
        }
        sums: dict[int, float] = {}
        for key, held in holding.items():
            for position in held - set(without):
                sums[position] = sums.get(position, 0.0) + weight[key]
        chosen = sorted(sums, key=lambda position: (-sums[position], -position))
        allowed = in_scope(self._db, self._namespace, scope, chosen)
        chosen = [position for position in chosen if position in allowed][:NOTES_MAX]
        tokens = self._tokens(chosen)
        mean = sum(map(len, tokens.values())) / max(1, len(tokens))
        found = [_judge(position, told, mean, asked, weight) for position, told in tokens.items()]
        return tuple(sorted(found, key=lambda one: (-one.score, -one.position)))

    # what is asked ---------------------------------------------------------------------------------

    def _ask(
        self, question: Question, frequencies: Frequencies, best: Sequence[str], deadline: Deadline
    ) -> tuple[_Asked, dict[str, int]]:
        """Weigh the question's own terms, and those that the best events add to them."""
        terms = sorted((*question.words, *question.strings), key=lambda term: frequencies.df.get(term.key, 0))
        terms = [term for term in terms if frequencies.df.get(term.key, 0) or self._waiting][:TERMS_MAX]
        # What no event holds is asked all the same: a question of unknown words is told by no situation.
        absent = [term for term in (*question.words, *question.strings) if term not in terms]
        spelled = {term.key: term.word for term in (*terms, *absent[:TERMS_MAX])}
        df = dict(frequencies.df)
        weights = dict.fromkeys(spelled, 1.0)
        if best and self.through:
            told, counts = self._feedback(best, deadline)
            df |= counts
            most = max(told.values(), default=1.0)
            weights = dict.fromkeys(weights, 1 - FEEDBACK_SHARE)
            for key, heavy in told.items():
                weights[key] = weights.get(key, 0.0) + FEEDBACK_SHARE * heavy / most
        return _Asked(weights, spelled), df

    def _feedback(self, best: Sequence[str], deadline: Deadline) -> tuple[dict[str, float], dict[str, int]]:
        """Give the telling terms of the best events, weighed by how often and how high up they stand."""
        told: dict[str, float] = {}
        for place, text in enumerate(best[:FEEDBACK_ROWS]):
            stems = self._stems(text[:FEEDBACK_CHARACTERS_MAX])
            for key, times in Counter(stems).items():
                told[key] = told.get(key, 0.0) + times / len(stems) / (1 + place / FEEDBACK_ROWS)
        common = sorted(told, key=lambda key: (-told[key], key))[:FEEDBACK_LOOKUPS_MAX]
        index = Lexical(self._db, self._namespace, Scope(), deadline)
        terms = tuple(Term(key, key, f'"{key}"') for key in common)
        counts = index.frequencies(Question("", terms, (), (), (), 0))
        rare = {
            key: told[key] * _share(Frequencies(index.size.rows, 1.0, counts), counts.get(key, 0)) for key in common
        }
        kept = sorted(rare, key=lambda key: (-rare[key], key))[:FEEDBACK_TERMS]
        return {key: told[key] for key in kept}, counts

    # notes -----------------------------------------------------------------------------------------

    def _notes_with(self, key: str, deadline: Deadline) -> set[int]:
        """Give the notes with a term in one of their situations."""
        held = {position for position, tokens in self._waiting.items() if key in tokens}
        if self._indexed:
            table = f"text_{self._namespace}"
            with deadline.over(self._db):
                rows: list[Any] = self._db.execute(
                    f"SELECT rowid FROM {table} WHERE {table} MATCH ? AND rowid >= {TRIGGER_ROWS} LIMIT ?",  # noqa: S608
                    (f'"{key}"', ROWS_MAX),
                ).fetchall()
                held |= {position_of(row) for (row,) in rows}
        return {position for position in held if position <= self._head}

    def _tokens(self, positions: Sequence[int]) -> dict[int, list[str]]:
        self._evidence.load(positions)
        found: dict[int, list[str]] = {}
        for position in positions:
            if position in self._waiting:
                found[position] = self._waiting[position]
                continue
            event = self._evidence.event(position)
            if event is not None and not event.erased:
                found[position] = _told(words.situations(event), self._stems)
        return found

    def _read_waiting(self) -> dict[int, list[str]]:
        """Read the notes that the index does not reach, with the tokens of their situations."""
        base = key_of(self._namespace, 0)
        rows: list[Any] = self._db.execute(
            f"SELECT key - {base} FROM event WHERE key > ? AND key <= ? AND kind = ? "  # noqa: S608 - a number
            "AND salt IS NOT NULL ORDER BY key DESC LIMIT ?",
            (base + self.through, base + self._head, Kind.NOTE.number, WAITING_MAX),
        ).fetchall()
        positions = [position for (position,) in rows]
        self._evidence.load(positions)
        found = {}
        for position in positions:
            event = self._evidence.event(position)
            situations = words.situations(event) if event is not None and event.is_searchable else ()
            if situations:
                found[position] = _told(situations, self._stems)
        return found


def good(triggers: Sequence[Trigger]) -> tuple[Trigger, ...]:
    """Give the triggers that a place is kept for."""
    return tuple(one for one in triggers if one.is_good)[: len(PLACES)]


def reserve(order: Sequence[int], kept: Sequence[int]) -> list[int]:
    """Move the positions of `kept` up to their places at the latest; the others keep their order.

    Args:
        order: positions, best first; it holds all of `kept`.
        kept: positions of good triggers, best first.
    """
    moved = list(order)
    for position, place in zip(kept, PLACES, strict=False):
        at = moved.index(position)
        if at > place:
            moved.insert(place, moved.pop(at))
    return moved


def _told(situations: Sequence[str], stems: Stems) -> list[str]:
    """Cut a note's situations into the tokens that the index has of them."""
    tokens: list[str] = []
    for situation in situations:
        found = words.of_text(situation)
        tokens += [*stems(found.text), *found.exact.split()]
    return tokens


def _judge(position: int, told: Sequence[str], mean: float, asked: _Asked, weight: Mapping[str, float]) -> Trigger:
    """Say how much of what was asked a note's situations tell: BM25 of one document over the most it could be."""
    counts = Counter(told)
    length = K1 * (1 - B + B * len(told) / mean)
    got = {key: each * counts[key] / (counts[key] + length) for key, each in weight.items() if counts[key]}
    most = sum(weight[key] for key in asked.spelled)
    own = sum(got.get(key, 0.0) for key in asked.spelled)
    shared = sorted((key for key in asked.spelled if key in got), key=lambda key: -weight[key])
    words_shared = tuple(asked.spelled[key] for key in shared)
    return Trigger(position, sum(got.values()), own / most if most else 0.0, words_shared, len(asked.spelled))


def _rarity(notes: int, holding: int) -> float:
    return log(1 + (notes - holding + 0.5) / (holding + 0.5))


def _share(frequencies: Frequencies, df: int) -> float:
    """Say how telling a term is in the whole store, from 0 (in every row) to 1 (in one)."""
    rows = max(2, frequencies.rows)
    return max(0.0, min(1.0, log(rows / max(1, df)) / log(rows)))
