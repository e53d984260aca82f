r"""Compares a correction with what is stored: what was concluded, what the sources give, what stands against what.

    stored      "7 notebooks at $4 and 9 pens at $2" ... "The pens come to $22, the total is $50."
    correction  "the pens subtotal is wrong"
    -> sort directed; needs the two line items; worked out 18, not the 22 that was concluded

The invariants: what sort a correction is of follows from what is stored and what it says
itself, not from how often or how surely it is said; who is right is not decided, and
nothing is written: what stands against each other is given with both places.

It does not know where the statements come from, nor how much of them is shown.
Source: reclaim-evaluation 5.4, App. J.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from firsthand.notes import clues, facts, slots
from firsthand.notes.correction import Correction
from firsthand.notes.determine import AGENT_ROLES, Claim, Known, is_said
from firsthand.notes.solve import recompute
from firsthand.notes.statements import Statement, statements, subject_of
from firsthand.notes.values import Value, read
from firsthand.value import replace, value

CONCLUDED_MAX = 3
AGAINST_MAX = 4
LOOKED_UP_MAX = 8  # newest statements that are shown of a value that is looked up
_LOOKED_UP = frozenset({"assignment", "lookup"})  # in one statement, and not worked out of several
_OF_VALUES = subject_of(
    "time date day number value amount address version name code figure answer result wanted right subtotal"
)
_ALIKE = {"number": ("number", "money"), "money": ("money", "number")}

Sort = Literal[
    "generic", "directed", "sound part", "agreeing value", "contradicting value", "unchecked value", "sustained",
    "contradicting source",
]  # fmt: skip
"""Of a correction: it names nothing; it names a part; what it names is what its sources give (a false locus); the value
it gives is what the sources give (a handed value), is not (a confident wrong value), cannot be checked; the same value
again; evidence of its own that stands against a stored source (a fabricated one, or a new one)."""


@value
class Concluded:
    """What was concluded of something: the statement's place, and the value that it gives."""

    place: int
    text: str


@value
class Judged:
    """What a correction comes to beside what is stored.

    Attributes:
        part: the claim that it names; None when it names none, or what it names is the whole.
        whole: the claim that the session asked for or concluded; None when there is none.
        needs: places of the statements behind both, those of the part first.
        replaced: places of what was said of it before, and no longer holds.
        part_gives, whole_gives: worked out of the statements; None when they do not determine it.
        concluded: what stands as concluded, and of these `differing` those that the sources do not give.
        given: the value that the correction gives; None without one.
        given_agrees: whether the sources give it; None when that cannot be told.
        against: places of stored statements that the correction's own evidence contradicts, with its words.
        said_before: how often the same value was given before; it counts once.
    """

    sort: Sort
    part: Claim | None = None
    whole: Claim | None = None
    needs: tuple[int, ...] = ()
    replaced: tuple[int, ...] = ()
    part_gives: Value | None = None
    whole_gives: Value | None = None
    concluded: tuple[Concluded, ...] = ()
    differing: tuple[Concluded, ...] = ()
    given: Value | None = None
    given_agrees: bool | None = None
    against: tuple[tuple[str, int], ...] = ()
    said_before: int = 0


def judge(correction: Correction, stored: Sequence[Statement], before: Sequence[Correction] = ()) -> Judged:
    """Compare a correction with stored statements.

    Args:
        before: the corrections of the same session before it.
    """
    return _Comparison(correction, stored, before).judged()


def equal(one: Value, other: Value) -> bool:
    """Say whether two values are the same where one of them may be written without its unit: 46 and $46."""
    if one.amount is None or other.amount is None:
        return one.text.casefold() == other.text.casefold()
    kinds = {one.kind, other.kind}
    loose = len(kinds) == 1 or kinds <= {"number", "money"}
    return loose and one.amount == other.amount and (one.unit == other.unit or "" in {one.unit, other.unit})


class _Comparison:
    """One correction beside one list of statements."""

    def __init__(self, correction: Correction, stored: Sequence[Statement], before: Sequence[Correction]) -> None:
        self.correction, self.stored, self.before = correction, stored, before
        self.known = Known(stored)
        self.looked_up: dict[str, Value | None] = {}
        self.part = self._part()
        self.whole = self._whole()
        self.part_gives = None if self.part is None else self._worked_out(self.part)
        self.whole_gives = None if self.whole is None else self._worked_out(self.whole)

    def judged(self) -> Judged:
        """Give all that the comparison shows."""
        given = self._given()
        agrees = None if given is None else self._agrees(given)
        against = tuple(self._against() if agrees is not False else [*self._against(), *self._against_value()])
        against = against[:AGAINST_MAX]
        concluded = self._concluded()
        differing = tuple(one for one in concluded if self._differs(one))
        repeated = sum(set(self._texts(one.gives)) & set(self._texts(self.correction.gives)) != set() for one in
                       self.before) if given is not None else 0  # fmt: skip
        claims = [one for one in (self.part, self.whole) if one is not None]
        needs = tuple(dict.fromkeys(place for claim in claims for place in claim.needs))
        replaced = tuple(dict.fromkeys(place for claim in claims for place in claim.replaced if place not in needs))
        sort = self._sort(given, agrees, differing, against=bool(against), repeated=repeated > 0)
        return Judged(
            sort, self.part, self.whole, needs, replaced, self.part_gives, self.whole_gives, concluded, differing,
            given, agrees, against, repeated,
        )  # fmt: skip

    def _sort(
        self, given: Value | None, agrees: bool | None, differing: Sequence[Concluded], *, against: bool, repeated: bool
    ) -> Sort:
        if against:
            return "contradicting source"
        if given is not None:
            if repeated:
                return "sustained"
            return "unchecked value" if agrees is None else "agreeing value" if agrees else "contradicting value"
        if not self.correction.about:
            return "generic"
        if self.part is None:
            return "sound part" if self._is_sound_in_puzzle() else "directed"
        of_part = any(self._is_of_part(one) for one in differing)
        return "directed" if of_part or self.part_gives is None else "sound part"

    def _is_sound_in_puzzle(self) -> bool:
        """Say whether all that was said of the people named goes with the clues of a puzzle that they determine."""
        names = [name for name in self.known.puzzle.people if name in self.correction.about]
        if not names or self.whole is None or self.whole.how != "constraints" or self.whole_gives is None:
            return False
        told = [one for one in self.stored if any(name in one.text for name in names) and self._is_no_clue(one)]
        return not any(self._breaks_puzzle(one.text) for one in told)

    def _is_no_clue(self, one: Statement) -> bool:
        return one.form != "question" and (one.role in AGENT_ROLES or one.asserts != "")

    def _breaks_puzzle(self, text: str) -> bool:
        """Say whether something said in a text cannot be so beside all clues."""
        assert self.whole is not None, "asked for only where the clues determine an answer"
        for piece in re.split(r"[:,;] | that ", text):
            clue = clues.clue_of(piece, self.known.puzzle)
            held = [*self.known.clues.values()]
            if clue is not None and not clues.answers(self.known.puzzle, [*held, clue], self.whole.what):
                return True
        return False

    # what it is about --------------------------------------------------------------------------------

    def _part(self) -> Claim | None:
        """Give the claim that the correction names, when it is no more than a part: a line of a sum, a slot."""
        about = self.correction.about
        if not subject_of(about):
            return None
        line = self.known.line_of(about)
        if line is not None and line.count is not None and line.price is not None and self._is_meant(line):
            return self.known.asked(f"the subtotal of {about}")
        claim = self.known.asked(about)
        if claim.needs and claim.how in {"span", "subtotal"}:
            return claim
        if claim.needs and claim.how in {"sum of products", "average", "constraints"}:
            return None  # it is the whole
        return self._said_of(about) if self.correction.names_value or self.correction.gives else None

    def _whole(self) -> Claim | None:
        """Give the claim that all of it comes to: what is asked, what is named, or what was concluded with the part."""
        for what in (self.correction.asks, self.correction.about):
            claim = self.known.asked(what) if what else None
            if claim is not None and claim.needs and claim != self.part and claim.how not in {*_LOOKED_UP, "unknown"}:
                return claim
        asks = self.correction.asks
        looked_up = self._said_of(asks) if asks else None
        if looked_up is not None:
            return None if self.part is not None and looked_up.needs == self.part.needs else looked_up
        claims = [one for one in self.known.claims() if one.how != "unknown"]
        part = set(self.part.needs) if self.part is not None and self.part.how == "subtotal" else set()
        around = [one for one in claims if part and part < set(one.needs)]
        bare = not asks and not self.correction.about
        named = [one for one in claims if self.part is None and (bare or self._concludes(one))]
        return next(iter(around or named), None)

    def _said_of(self, what: str) -> Claim | None:
        """Give the statements in which others than the agent say the value of what is named; None without any.

        Those that share the most of its words; where none shares any (an answer: "Saturday at 15:15"), all that have
        a value of the kind, when the session as a whole speaks of it.
        """
        words = subject_of(what) - _OF_VALUES
        given = self._given()
        kinds = slots.kinds_of(what)[:2] if given is None else tuple(_ALIKE.get(given.kind, (given.kind,)))
        said = {place: _words_of(one) & words for place, one in enumerate(self.stored) if self._says(one, kinds)}
        most = max((len(shared) for shared in said.values()), default=0)
        told = [place for place, shared in said.items() if len(shared) == most]
        covered = frozenset[str]().union(*(_words_of(self.stored[place]) for place in told))
        if most == 0:
            covered = covered.union(*map(_words_of, self.stored))
        if not told or not words or 2 * len(words & covered) < len(words):
            return None
        values = [value for place in told for value in self.stored[place].values if value.kind in kinds]
        first = [value for value in values if value.kind == kinds[0]] or values
        alone = all(equal(first[0], one) for one in first)
        self.looked_up[what] = first[0] if alone else None
        return Claim(what, "lookup", needs=tuple(told[-LOOKED_UP_MAX:]))

    @staticmethod
    def _says(one: Statement, kinds: Sequence[str]) -> bool:
        sourced = is_said(one) and one.polarity and one.form not in {"header", "question"} and one.asserts != "claim"
        return sourced and any(value.kind in kinds for value in one.values)

    def _concludes(self, claim: Claim) -> bool:
        """Say whether a claim concluded a value that the correction names or denies."""
        named = [one for text in (self.correction.about, *self.correction.denies) for one in read(text)]
        return any(equal(one, other) for one in named for other in claim.concluded)

    def _worked_out(self, claim: Claim) -> Value | None:
        """Work a claim out of what holds; a value that is said in several ways is none."""
        return self.looked_up.get(claim.what) if claim.how == "lookup" else recompute(self.stored, claim)

    # what was concluded ------------------------------------------------------------------------------

    def _concluded(self) -> tuple[Concluded, ...]:
        """Give the last words in which the part and the whole were concluded, the newest first."""
        found: list[Concluded] = []
        for claim, gives in ((self.part, self.part_gives), (self.whole, self.whole_gives)):
            if claim is None:
                continue
            words = self._words(claim)
            told = [one for one in (self._conclusion(place, claim, gives, words) for place in self._backwards()) if one]
            told = told or self._of_nothing_else(claim, gives)
            found += told[:1]
            found += [one for one in told[1:] if self._differs(one) and not _same(one.text, told[0].text)][:1]
        return tuple(dict.fromkeys(found))[:CONCLUDED_MAX]

    def _of_nothing_else(self, claim: Claim, gives: Value | None) -> list[Concluded]:
        """Give what an agent said of the kind of a value that is looked up, and nobody else ever did."""
        if claim.how != "lookup" or gives is None:
            return []
        said = [value for one in self.stored if is_said(one) for value in one.values]
        found = []
        for place in self._backwards():
            one = self.stored[place]
            told = [value for value in one.values if value.kind == gives.kind and one.role in AGENT_ROLES]
            fresh = [value for value in told if equal(value, gives) or not any(equal(value, other) for other in said)]
            found += [Concluded(place, value.text) for value in fresh[-1:]]
        return found

    def _backwards(self) -> Iterator[int]:
        return iter(range(len(self.stored) - 1, -1, -1))

    def _words(self, claim: Claim) -> frozenset[str]:
        """Give the words that say which part it is; none for a whole."""
        if claim is not self.part:
            return subject_of(self.correction.asks or claim.what) if claim.how in _LOOKED_UP else frozenset()
        line = self.known.line_of(self.correction.about)
        return line.name if line is not None and claim.how == "subtotal" else subject_of(self.correction.about)

    def _is_meant(self, line: facts.Line) -> bool:
        """Say whether at least half of the words that name a thing are said of a line."""
        words = facts.named(self.correction.about) - _OF_VALUES
        told = line.name.union(*(_words_of(self.stored[place]) for place in line.places))
        return 2 * len(words & told) >= len(words)

    def _conclusion(self, place: int, claim: Claim, gives: Value | None, words: frozenset[str]) -> Concluded | None:
        """Read what a statement concludes of a claim; None when it is a source, or about something else."""
        one = self.stored[place]
        if place in claim.needs or one.form == "question" or (one.role not in AGENT_ROLES and not one.asserts):
            return None
        looked_up = claim.how in _LOOKED_UP
        shared = words & one.subject
        if words and not (2 * len(shared) >= len(words - _OF_VALUES) > 0 if looked_up else shared):
            return None
        puzzle = gives is not None and gives.kind == "word"
        others = [line.name for line in self.known.basket.lines if line.name and line.name != words and not puzzle]
        if not words and (one.role not in AGENT_ROLES or any(name & one.subject for name in others)):
            return None  # it is of a part
        if puzzle and claim.how == "constraints":
            names = [name for name in self.known.puzzle.people if name in one.text]
            return Concluded(place, names[-1]) if names else None
        meant = gives.kind if gives is not None else slots.kinds_of(claim.what)[0]
        kinds = {"number", "money"} if meant in {"number", "money"} else {meant}
        values = [found for found in one.values if found.kind in kinds]
        return Concluded(place, values[-1].text) if values else None

    def _is_of_part(self, one: Concluded) -> bool:
        if self.part is None or self.whole is None:
            return self.part is not None
        return bool(self._words(self.part) & self.stored[one.place].subject)

    def _differs(self, one: Concluded) -> bool:
        """Say whether a conclusion is not what the sources give."""
        gives = self.part_gives if self._is_of_part(one) else self.whole_gives
        if gives is None:
            return False
        told = _first(one.text)
        return told is not None and not equal(told, gives)

    # what it gives -----------------------------------------------------------------------------------

    def _given(self) -> Value | None:
        return next((found for text in self.correction.gives if (found := _first(text)) is not None), None)

    def _agrees(self, given: Value) -> bool | None:
        """Say whether the sources give a value: for what is named, and for the whole where nothing is."""
        asked = [self.part_gives] if self.part is not None and self.part_gives else [self.whole_gives]
        known = [one for one in asked if one is not None]
        if known:
            return any(equal(given, one) for one in known)
        looked_up = [one for one in (self.part, self.whole) if one is not None and one.how == "lookup"]
        said = [value for claim in looked_up for place in claim.needs for value in self.stored[place].values]
        return True if any(equal(given, one) for one in said) else None

    @staticmethod
    def _texts(gives: Sequence[str]) -> Iterator[str]:
        """Write values so that those that are equal are written alike."""
        for text in gives:
            one = _first(text)
            yield str(one.amount) if one is not None and one.amount is not None else text.casefold()

    def _against(self) -> Iterator[tuple[str, int]]:
        """Give stored statements that evidence in the correction contradicts, with the sentence that does."""
        if not self.correction.rests_on:
            return
        for one in statements([{"role": "user", "content": text} for text in self.correction.said]):
            yield from self._against_lines(one)
        if self.whole is None or self.whole.how != "constraints" or self.whole_gives is None:
            return
        for text in self.correction.said:
            if self._breaks_puzzle(text):
                names = [name for name in self.known.puzzle.people if name in text]
                yield from (
                    (text, place) for place in self.known.clues if any(one in self.stored[place].text for one in names)
                )

    def _against_value(self) -> Iterator[tuple[str, int]]:
        """Give the statements of a value that is looked up, where the message's evidence gives another one."""
        looked_up = [one for one in (self.part, self.whole) if one is not None and one.how == "lookup"]
        for text in self.correction.rests_on[:1]:
            yield from ((text, place) for one in looked_up for place in one.needs)

    def _against_lines(self, one: Statement) -> Iterator[tuple[str, int]]:
        for fact in facts.facts_of(replace(one, asserts=""), 0):
            shared = {at: len(line.name & fact.name) for at, line in enumerate(self.known.basket.lines)}
            most = max(shared.values(), default=0)
            best = [at for at, number in shared.items() if number == most > 0]
            line = self.known.basket.lines[best[0]] if len(best) == 1 else None
            if line is not None and line.comes_to is not None and _contradicts(fact, line):
                yield from ((one.text, place) for place in line.places)


def _contradicts(fact: facts.Fact, line: facts.Line) -> bool:
    """Say whether a fact says other than a line: of its count, its price, or what it comes to."""
    if fact.sort == "count":
        return line.count is not None and fact.count != line.count
    if fact.sort == "price":
        return line.price is not None and fact.amount != line.price
    told = fact.count * fact.amount if fact.count is not None and fact.amount is not None else fact.amount
    return fact.sort in {"line", "amount"} and told is not None and told != line.comes_to


def _words_of(one: Statement) -> frozenset[str]:
    """Give the words of a statement and of what stands above it."""
    return one.subject | subject_of(" ".join((*one.path, *(cell.name for cell in one.cells))).replace("_", " "))


def _same(one: str, other: str) -> bool:
    """Say whether two texts give the same value."""
    first, second = _first(one), _first(other)
    return first is not None and second is not None and equal(first, second)


def _first(text: str) -> Value | None:
    """Read the one value that a text gives: its first, or the text itself as a name."""
    found = read(text)
    if found:
        return found[0]
    return Value("word", None, "", text, 0, len(text)) if text.strip() else None
