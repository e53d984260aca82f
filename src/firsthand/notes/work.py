r"""Work: arithmetic over quoted values, and what it gives.

    work    = sum { ("=" | "\u2248" | "<" | "<=" | ">" | ">=" | "!=") sum }
    sum     = product { ("+" | "-") product }
    product = factor { ("*" | "/") factor }
    factor  = [ "-" ] ( literal | "(" sum ")" )

The invariants: results are exact rationals with their units; whatever the text, reading
and computing take milliseconds (no exponents, no functions, bounded digits, operands and
depth); an operand that changes nothing is refused, since it would lend a quote to a
result that does not rest on it.

It does not know where its literals come from: `firsthand.notes.check` looks them up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, pairwise

from firsthand.errors import FirsthandError
from firsthand.notes.quantity import Dimension, Literal, Quantity, literal_at
from firsthand.value import value

WORK_CHARACTERS_MAX = 2_000
OPERANDS_MAX = 64
DEPTH_MAX = 16
_SUBSET_TERMS_MAX = 8
"""Of a sum or product, up to which any group of its terms is looked at for one that changes nothing; else pairs."""

_SPELLED = str.maketrans({"\u00d7": "*", "\u00b7": "*", "\u00f7": "/", "\u2212": "-", "\u2013": "-"})
_TIMES = re.compile(r"(?<=[\w)%]) ?[x*] ?(?=[-(\d$\u20ac\u00a3\u00a5\u20b9])")
_RELATION = re.compile(r"<=|>=|!=|==?|<|>|\u2264|\u2265|\u2260|\u2248|~")
_ALIKE = {"==": "=", "\u2264": "<=", "\u2265": ">=", "\u2260": "!=", "~": "\u2248"}
_POINTS = ("date", "clock")
Join = Callable[[Sequence[Quantity]], Quantity]


class WorkError(FirsthandError):
    """The work cannot be read or computed; the message says where and what to write."""


@value
class Term:
    """A part of a sum or a product: its value, and the literals it is made of."""

    quantity: Quantity
    literals: tuple[Literal, ...]

    @property
    def is_literal(self) -> bool:
        """True when nothing was computed."""
        return len(self.literals) == 1


@value
class Work:
    """Work that was read and computed.

    Attributes:
        sides: what stands between the relations, computed.
        relations: between each side and the next: ``=``, ``\u2248``, ``<``, ``<=``, ``>``, ``>=``, ``!=``.
        idle: operands that change nothing, as spelled.
    """

    sides: tuple[Term, ...]
    relations: tuple[str, ...]
    idle: tuple[str, ...] = ()

    @property
    def operands(self) -> tuple[Literal, ...]:
        """The literals that the result rests on: all but a lone one behind the last ``=``, which states the result."""
        states = bool(self.relations) and self.relations[-1] in {"=", "\u2248"} and self.sides[-1].is_literal
        sides = self.sides[:-1] if states else self.sides
        return tuple(literal for side in sides for literal in side.literals)

    @property
    def result(self) -> Quantity:
        """What the first side gives."""
        return self.sides[0].quantity

    @property
    def computes(self) -> bool:
        """True when something is computed or compared, so that a result follows that no quote need spell."""
        units = {(literal.quantity.dimension, literal.text) for side in self.sides for literal in side.literals}
        return len(self.operands) > 1 or (len(self.sides) > 1 and len(units) > 1 and bool(self.result.dimension))


def read(text: str) -> Work:
    """Read and compute work.

    Raises:
        WorkError: it is none, is too long, divides by zero or adds what has no common unit.
    """
    if len(text) > WORK_CHARACTERS_MAX:
        raise WorkError(f"work has at most {WORK_CHARACTERS_MAX:,} characters; got {len(text):,}")
    return _Reader(_spelled(text)).work()


def substituted(text: str, old: str, new: str) -> Work:
    """Read and compute what stands before the first relation of work, with another value for an operand.

    Raises:
        WorkError: it cannot be computed so.
    """
    plain = _RELATION.split(_spelled(text), maxsplit=1)[0]
    places = [literal for literal in read(plain).operands if literal.text == old]
    for literal in reversed(places):
        plain = f"{plain[: literal.start]}{new}{plain[literal.end :]}"
    return read(plain)


def _spelled(text: str) -> str:
    return _TIMES.sub(" * ", text.translate(_SPELLED))


def same(computed: Quantity, stated: Quantity) -> bool:
    """Say whether two quantities are equal, in value and in unit; a label counts where both have one."""
    return computed.number == stated.number and _alike(computed, stated)


def holds(left: Quantity, relation: str, right: Literal | Quantity) -> bool | None:
    """Say whether a relation holds; None where the two have different units, or are rounded beyond what was computed.

    A stated result may be rounded to its own decimals: at least one, or with ``\u2248`` none.
    """
    stated = right.readings if isinstance(right, Literal) else (right,)
    equal = relation in {"=", "\u2248", "!="}
    known = [quantity for quantity in stated if _alike(left, quantity, labelled=equal)]
    if not known:
        return None
    if relation in {"=", "\u2248"}:
        exact = any(left.number == quantity.number for quantity in known)
        return exact or (isinstance(right, Literal) and _rounds(left, right, relation))
    if relation == "!=":
        return left.number != known[0].number
    number = known[0].number
    return {"<": left.number < number, "<=": left.number <= number, ">": left.number > number}.get(
        relation, left.number >= number
    )


def _rounds(left: Quantity, right: Literal, relation: str) -> bool:
    stated = right.quantity
    if not stated.number or not _alike(left, stated) or (relation == "=" and not right.decimals):
        return False
    number = Fraction(re.sub(r"[^\d.]", "", right.text.replace(",", "")).strip(".") or 1)
    step = abs(stated.number / number) / Fraction(10) ** right.decimals  # of the last decimal, in base units
    return abs(left.number - stated.number) <= step / 2


def _alike(left: Quantity, right: Quantity, *, labelled: bool = True) -> bool:
    labels = {left.label, right.label} - {""}
    return left.dimension == right.dimension and (len(labels) <= 1 or not labelled)


class _Reader:
    """Reads one text, from left to right."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._depth, self._operands = text, 0, 0, 0
        self._idle: list[str] = []

    def work(self) -> Work:
        sides, relations = [self._sum()], list[str]()
        while match := _RELATION.match(self._text, self._skip()):
            self._at = match.end()
            relations.append(_ALIKE.get(match[0], match[0]))
            sides.append(self._sum())
        if self._at < len(self._text):
            raise WorkError(f"expected +, -, *, /, = or the end of the work; got {self._text[self._at :][:20]!r}")
        return Work(tuple(sides), tuple(relations), tuple(dict.fromkeys(self._idle)))

    def _skip(self) -> int:
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1
        return self._at

    def _operator(self, signs: str) -> str:
        at = self._skip()
        if at < len(self._text) and self._text[at] in signs:
            self._at += 1
            return self._text[at]
        return ""

    def _sum(self) -> Term:
        return self._chain("+-", self._product, _negative, _total, lambda quantity: not quantity.number)

    def _product(self) -> Term:
        def is_one(quantity: Quantity) -> bool:
            return quantity.number == 1 and not quantity.dimension

        return self._chain("*/", self._factor, _inverse, _times, is_one)

    def _chain(
        self, signs: str, part: Callable[[], Term], turned: Callable[[Quantity], Quantity], join: Join,
        idle: Callable[[Quantity], bool],
    ) -> Term:  # fmt: skip
        """Read parts between signs, of which the second one turns what stands behind it, and join them."""
        terms = [part()]
        while sign := self._operator(signs):
            term = part()
            terms.append(Term(turned(term.quantity), term.literals) if sign == signs[1] else term)
        if len(terms) == 1:
            return terms[0]
        self._look_for_idle(terms, join, idle)
        if join is _times and any(not term.quantity.number for term in terms):
            self._idle += [literal.text for term in terms if term.quantity.number for literal in term.literals]
        literals = tuple(literal for term in terms for literal in term.literals)
        return Term(join([term.quantity for term in terms]), literals)

    def _factor(self) -> Term:
        if self._operator("-"):
            term = self._unsigned()
            return Term(_negative(term.quantity), term.literals)
        return self._unsigned()

    def _unsigned(self) -> Term:
        if self._operator("("):
            self._depth += 1
            if self._depth > DEPTH_MAX:
                raise WorkError(f"work has at most {DEPTH_MAX} brackets in one another")
            term = self._sum()
            if not self._operator(")"):
                raise WorkError(f"expected a closing bracket; got {self._text[self._at :][:20]!r}")
            self._depth -= 1
            return term
        literal = literal_at(self._text, self._skip())
        if literal is None:
            rest = self._text[self._at :][:20]
            raise WorkError(
                f"expected a number such as 7, $4, 1.5 h or 2026-01-31 with at most 30 digits; got {rest!r}"
            )
        self._operands += 1
        if self._operands > OPERANDS_MAX:
            raise WorkError(f"work has at most {OPERANDS_MAX} numbers; split it into claims")
        self._at = literal.end
        return Term(literal.quantity, (literal,))

    def _look_for_idle(self, terms: Sequence[Term], join: Join, idle: Callable[[Quantity], bool]) -> None:
        """Note the terms that change nothing, alone or together: + 0, * 1, + 3 - 3."""
        sizes = range(1, len(terms) if len(terms) <= _SUBSET_TERMS_MAX else 3)
        for size in sizes:
            for group in combinations(terms, size):
                try:
                    joined = join([term.quantity for term in group])
                except WorkError:  # a part alone may have no common unit where the whole has one
                    continue
                if idle(joined):
                    self._idle += [literal.text for term in group for literal in term.literals]
                    return


def _total(quantities: Sequence[Quantity]) -> Quantity:
    """Add; a date or a time of day takes durations, and the difference of two is one."""
    points = [quantity for quantity in quantities if any(base in _POINTS for base, _ in quantity.dimension)]
    if points:
        return _total_of_points(quantities, points)
    for one, other in pairwise(quantities):
        if one.dimension != other.dimension:
            raise WorkError(f"{one} and {other} have no common unit, so they cannot be added")
    labels = {quantity.label for quantity in quantities} - {""}
    number = sum((quantity.number for quantity in quantities), Fraction())
    return Quantity(number, quantities[0].dimension, labels.pop() if len(labels) == 1 else "")


def _total_of_points(quantities: Sequence[Quantity], points: Sequence[Quantity]) -> Quantity:
    base = points[0].dimension[0][0]
    signs = [power for quantity in points for name, power in quantity.dimension if name == base]
    rest = [quantity for quantity in quantities if quantity not in points]
    ours = len(signs) == len(points) and all(quantity.dimension == (("s", 1),) for quantity in rest)
    if not ours or sum(signs) not in {0, 1} or len(points) > 2:
        raise WorkError("a date or a time of day takes durations (2026-01-31 + 3 days), or one is taken from another")
    number = sum((quantity.number for quantity in quantities), Fraction())
    return Quantity(number, ((base, 1),) if sum(signs) else (("s", 1),))


def _negative(quantity: Quantity) -> Quantity:
    # A date that is taken away keeps its sign in the exponent: two of them cancel to a duration.
    dimension = tuple((base, -power if base in _POINTS else power) for base, power in quantity.dimension)
    return Quantity(-quantity.number, dimension, quantity.label)


def _inverse(quantity: Quantity) -> Quantity:
    if not quantity.number:
        raise WorkError("the work divides by zero")
    return Quantity(1 / quantity.number, tuple((base, -power) for base, power in quantity.dimension), quantity.label)


def _times(quantities: Sequence[Quantity]) -> Quantity:
    powers: dict[str, int] = {}
    number = Fraction(1)
    for quantity in quantities:
        number *= quantity.number
        for base, power in quantity.dimension:
            if base in _POINTS:
                raise WorkError(f"{quantity} is a point in time: it is added to and taken from, not multiplied")
            powers[base] = powers.get(base, 0) + power
    labels = {quantity.label for quantity in quantities} - {""}
    dimension: Dimension = tuple(sorted((base, power) for base, power in powers.items() if power))
    return Quantity(number, dimension, labels.pop() if len(labels) == 1 and not dimension else "")
