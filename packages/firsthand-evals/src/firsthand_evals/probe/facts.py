r"""Reads what statements say of things that are counted, priced, summed: line items, amounts, discounts, fees.

    "7 notebooks at $4"                      a line: 7 of notebooks, $4 each
    "Counts: pens 9" and "Unit prices: ..."  a count, a price: two halves of a line
    "Delivery came to $10 on top of it"      a fee
    "20 % off the whole order"               a factor

The invariant: a fact is read from one statement alone, and names it; what is read
together with what stands elsewhere is joined in `basket`, where what is said later
of the same thing stands for what was said before.

It does not know what is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Literal

from firsthand.value import replace, value
from firsthand_evals.probe.statements import Named, Statement, stem, subject_of
from firsthand_evals.probe.values import Value

Sort = Literal["line", "count", "price", "amount", "factor", "fee", "rate"]

NEAR_MAX = 16  # lines with a word in common that one fact is compared with, the latest ones

_compiled = cache(re.compile)
_EACH = (
    r"\b(?:each|apiece|a piece|per|unit price|je|pro|chacun\w*|pi\u00e8ce|cada|c/u|ea|zu je"
    r"|st\u00fcckpreis)\b|@|\u6bcf|\u5404|"
    r"\u5355\u4ef7|\u55ae\u50f9|/ ?(?:kg|unit|piece|pc|h|hour|night|day)\b"
)
_TIMES = r"\s*(?:x|\*|@|\u00b7|times|mal|fois|por)\s*(?:[\"'(]\s*)?\Z"
_AT = (
    r"(?:\b(?:at|@|zu|\u00e0|a|for|f\u00fcr|pour|cost|costs|costing|priced|of|\u0628\u0633\u0639\u0631)|x"
    r"|\*)\s*(?:just |only |about )?\Z"
)
_FOR = r"\b(?:for|f\u00fcr|pour|por)\s*\Z"
_COUNT_NAMES = (
    r"\b(?:counts?|qty|quantit\w*|numbers?|pcs|pieces|units?|how many|anzahl|menge|cantidad|n|nights|hours"
    r"|stk)\b|\u6570\u91cf|\u6578\u91cf"
)
_PRICE_NAMES = (
    r"\b(?:(?:unit|single|item) (?:price|cost)s?|prices?|each|cost|rate|preis|prix|precio|apiece)\b"
    r"|\u5355\u4ef7|\u55ae\u50f9|\u4fa1\u683c"
)
_TOTAL_NAMES = r"\b(?:line total|subtotal|totals?|amounts?|sum|betrag|came to|comes to)\b"
_DISCOUNT = (
    r"\b(?:off|discount\w*|rabatt|nachlass|reduc\w+|rebate|coupon|voucher|remise|descuento|credit|minus"
    r"|less|deducted|knocked)\b"
)
_TAX = r"\b(?:tax|vat|mwst|gst|sales tax|steuer|tva|iva|tip|gratuity|service charge|surcharge|markup|on top|interest)\b"
_FEE = (
    r"\b(?:delivery|shipping|postage|fee|fees|handling|deposit|surcharge|tip|freight|versand|porto"
    r"|livraison|env\u00edo|on top|packing)\b"
)
_RATE = (
    r"\b(?:exchange|rate|one euro|one dollar|1 euro|1 dollar|one pound|1 pound)\b"
    r"|(?:\b(?:is|was|were|buys|equals)|=) [\d.,]+ \w+\b"
)
_MORE = r"\b(?:also|another|more|additional|extra|plus|as well|too|further|on top of that)\b"
_A_THING = (
    r"\A\W*(?:and |und |also |we |they |i |he |she |bought |got |took |had |ordered |for |, )*(?:an?|one"
    r"|the|eine?n?|une?|una|uno?) "
)
_GENERIC = frozenset(
    stem(word)
    for word in """
    item items product products article articles quantity qty count counts number price prices unit units each
    order orders list line lines far correction same actually also instead there were thing things piece pieces
    we they he she i it in shop and note notes kept euro euros dollar dollars usd eur gbp pound pounds session
    office offered although cost costs costing only looked bought considered chosen somebody someone colleague
    said told says
    """.split()  # noqa: SIM905 - quoted words are harder to read
)


@value
class Fact:
    """What one statement says of one thing.

    Attributes:
        name: the words for the thing, in one spelling.
        place: of its statement.
        count, amount: of a line, how many and what each costs; of an amount, fee or factor, what it is.
        unit: of the amount: a currency, ``seconds``, a unit; empty when it has none.
        holds: False for what was considered and not chosen.
        adds: it comes to what was there before of the same name, instead of standing for it.
    """

    sort: Sort
    name: frozenset[str]
    place: int
    count: Fraction | None = None
    amount: Fraction | None = None
    unit: str = ""
    holds: bool = True
    adds: bool = False


def facts(statements: Sequence[Statement]) -> tuple[Fact, ...]:
    """Give the facts of all statements that say something of their own, in order."""
    return tuple(fact for place, one in enumerate(statements) for fact in facts_of(one, place))


def facts_of(statement: Statement, place: int) -> Iterator[Fact]:
    """Give the facts of one statement; what it concludes or repeats from hearsay is none."""
    if not statement.values or statement.form in {"header", "heading"}:
        return
    found = _of_cells(statement, place) if statement.form == "row" else _of_text(statement, place)
    for fact in found:
        if statement.asserts and not _says_itself(statement, fact):
            continue
        adds = _compiled(_MORE).search(statement.text.lower()) is not None and not statement.corrects
        yield replace(fact, holds=fact.holds and statement.polarity, adds=adds)


def _says_itself(statement: Statement, fact: Fact) -> bool:
    """Say whether a statement that sums up, concludes or cites says something of its own all the same.

    A whole line does ("to sum up: 11 pens at $2", "somebody said: 4 pads at $3"), and so does a fee ("delivery came
    to $10"); an amount is what it concludes.
    """
    if fact.sort == "line":
        return statement.asserts in {"conclusion", "claim"}
    return fact.sort in {"fee", "rate"} and statement.asserts in {"total", "conclusion"}


# rows ----------------------------------------------------------------------------------------------


def _of_cells(statement: Statement, place: int) -> Iterator[Fact]:
    count, price, amount = _columns(statement.cells)
    words = " ".join(cell.text for cell in statement.cells if not cell.values)
    name = named(words) or named(" ".join(statement.path[-1:]))
    name = name or named(" ".join(cell.text for cell in statement.cells[:1]))
    if count is not None and price is not None and price.amount is not None:
        yield Fact("line", name, place, count.amount, price.amount, price.unit)
    elif price is not None:
        yield Fact("price", name, place, None, price.amount, price.unit)
    elif count is not None and amount is None:
        yield Fact("count", name, place, count.amount)
    elif amount is not None:
        unit = "seconds" if amount.kind == "duration" else amount.unit
        yield Fact("amount", name, place, None, amount.amount, unit)


def _columns(cells: Sequence[Named]) -> tuple[Value | None, Value | None, Value | None]:
    """Find count, price and amount among the cells of a row: by the names of their columns, else by their order."""
    count = price = amount = None
    rest: list[Value] = []
    for cell in cells:
        one = next((value for value in cell.values if value.amount is not None), None)
        name = cell.name.lower().replace("_", " ")
        if one is None or len(cell.values) > 2:
            continue
        if _compiled(_PRICE_NAMES).search(name) and price is None:
            price = one
        elif _compiled(_COUNT_NAMES).search(name) and count is None:
            count = one
        elif _compiled(_TOTAL_NAMES).search(name):
            amount = one
        elif one.kind in {"number", "money", "duration"}:
            rest.append(one)
    for one in rest:
        if one.kind == "number" and not one.unit and count is None and (len(rest) > 1 or price is not None):
            count = one
        elif price is None and count is not None and one.kind in {"money", "number"}:
            price = one
        elif amount is None:
            amount = one
    return count, price, amount


# sentences -----------------------------------------------------------------------------------------


def _of_text(statement: Statement, place: int) -> Iterator[Fact]:
    values = [one for one in statement.values if one.kind in {"number", "money", "duration", "percent"}]
    percent = next((one for one in values if one.kind == "percent"), None)
    low = statement.text.lower()
    name = named(_without(statement, values)) or named(" ".join(statement.path[-1:]))
    if percent is not None and percent.amount is not None:
        if _compiled(_DISCOUNT).search(low):
            yield Fact("factor", name | {"discount"}, place, None, 1 - percent.amount / 100)
        elif _compiled(_TAX).search(low):
            yield Fact("factor", name | {"tax"}, place, None, 1 + percent.amount / 100)
        return
    products = list(_products(statement, values, place))
    if products:
        yield from products
        return
    money = [one for one in values if one.kind == "money"]
    numbers = [one for one in values if one.kind == "number"]
    durations = [one for one in values if one.kind == "duration"]
    if len(money) == 1 and not numbers and not durations:
        yield from _of_money(statement, money[0], name, place)
    elif money and numbers:
        yield from _of_both(statement, numbers, money, name, place)
    elif len(money) == 2 and _compiled(_RATE).search(low):
        yield Fact("rate", name, place, None, money[1].amount, money[1].unit)
    elif len(durations) == 1 and not numbers and not money:
        yield Fact("amount", name, place, None, durations[0].amount, "seconds")
    elif len(numbers) == 2 and not money:
        yield from _of_numbers(statement, numbers, name, place)
    elif len(numbers) == 1 and not money and not durations:
        yield from _of_number(statement, numbers[0], name, place)


def _of_money(statement: Statement, money: Value, name: frozenset[str], place: int) -> Iterator[Fact]:
    low = statement.text.lower()
    above = f"{' '.join(statement.path)} {' '.join(cell.name for cell in statement.cells)}".lower()
    if _compiled(_FEE).search(low) or (_compiled(_DISCOUNT).search(low) and not _compiled(_EACH).search(low)):
        sign = -1 if _compiled(_DISCOUNT).search(low) else 1
        yield Fact("fee", name, place, None, sign * (money.amount or Fraction(0)), money.unit)
    elif _compiled(_TOTAL_NAMES).search(above):
        yield Fact("amount", name, place, None, money.amount, money.unit)
    elif _compiled(_EACH).search(low) or _compiled(_PRICE_NAMES).search(above):
        yield Fact("price", name, place, None, money.amount, money.unit)
    elif _compiled(_A_THING).match(low) and _compiled(_AT).search(_before(statement, money)):
        yield Fact("line", name, place, Fraction(1), money.amount, money.unit)
    elif _compiled(r"\b(?:at|now|costs?)\W*\Z").search(_before(statement, money)):
        yield Fact("price", name, place, None, money.amount, money.unit)
    else:
        yield Fact("amount", name, place, None, money.amount, money.unit)


def _of_both(
    statement: Statement, numbers: Sequence[Value], money: Sequence[Value], name: frozenset[str], place: int
) -> Iterator[Fact]:
    """Read a line with its count and its price; "3 for $6" names the price of all."""
    low = statement.text.lower()
    if _compiled(_RATE).search(low) and len(numbers) == 1 and numbers[0].amount == 1:
        yield Fact("rate", name, place, None, money[0].amount, money[0].unit)
        return
    count, price = numbers[0].amount or Fraction(0), money[0].amount or Fraction(0)
    for_all = _compiled(_FOR).search(_before(statement, money[0])) and not _compiled(_EACH).search(low)
    if count and (for_all or _compiled(r"\b(?:in all|in total|altogether|together)\b").search(low)):
        price /= count
    yield Fact("line", name, place, count, price, money[0].unit)


def _of_numbers(statement: Statement, numbers: Sequence[Value], name: frozenset[str], place: int) -> Iterator[Fact]:
    """Read a line whose price has no currency: "6 mugs at 14", "14 each, 6 of them"."""
    before = _before(statement, numbers[1])
    behind = statement.text[numbers[0].end - statement.start : numbers[0].end - statement.start + 16].lower()
    if _compiled(_AT).search(before) or _compiled(rf"(?:{_EACH})\W*(?:cost\w*)?\W*\Z").search(before):
        yield Fact("line", name, place, numbers[0].amount, numbers[1].amount)
    elif _compiled(rf"\A\W*(?:{_EACH})").search(behind):
        yield Fact("line", name, place, numbers[1].amount, numbers[0].amount)


def _of_number(statement: Statement, number: Value, name: frozenset[str], place: int) -> Iterator[Fact]:
    above = f"{' '.join(statement.path)} {' '.join(cell.name for cell in statement.cells)}".lower()
    if number.unit and number.unit != "th":
        yield Fact("amount", name, place, None, number.amount, number.unit)
    elif _compiled(_PRICE_NAMES).search(above) and not _compiled(_COUNT_NAMES).search(above):
        yield Fact("price", name, place, None, number.amount)
    elif name and number.unit != "th":
        yield Fact("count", name, place, number.amount)


def _products(statement: Statement, values: Sequence[Value], place: int) -> Iterator[Fact]:
    """Read "7x$4", "7 x 4 EUR", "notebooks 7@4": two values with a sign of multiplication between them."""
    at = statement.start
    for one, other in pairwise(values):
        between = statement.text[one.end - statement.start : other.start - statement.start]
        if one.start < at or not _compiled(_TIMES).match(between.lower()) or one.kind == other.kind == "money":
            continue
        count, price = (other, one) if one.kind == "money" else (one, other)
        words = statement.text[at - statement.start : one.start - statement.start]
        name = named(words.rpartition(":")[2]) or named(words) or named(_tail(statement, values, other))
        yield Fact("line", name, place, count.amount, price.amount, price.unit if price.kind == "money" else "")
        at = other.end


def _tail(statement: Statement, values: Sequence[Value], last: Value) -> str:
    """Give the words between a value and the one that follows it."""
    end = next((one.start for one in values if one.start >= last.end), statement.end)
    return statement.text[last.end - statement.start : end - statement.start]


def _before(statement: Statement, one: Value) -> str:
    return statement.text[max(0, one.start - statement.start - 24) : one.start - statement.start].lower()


def _without(statement: Statement, values: Sequence[Value]) -> str:
    """Give a statement's words without its values and without what stands in brackets."""
    said = statement.text
    for one in sorted((*values, *statement.denied), key=lambda one: -one.start):
        said = f"{said[: one.start - statement.start]} {said[one.end - statement.start :]}"
    return _compiled(r"\([^()]{0,200}\)").sub(" ", said)


def named(words: str) -> frozenset[str]:
    """Give the words of a thing's name in one spelling."""
    return frozenset(subject_of(words) - _GENERIC)


# together ------------------------------------------------------------------------------------------


@value
class Line:
    """One thing of a basket, with the places of the statements that it was read from."""

    name: frozenset[str]
    count: Fraction | None
    price: Fraction | None
    amount: Fraction | None
    unit: str
    places: tuple[int, ...]

    @property
    def comes_to(self) -> Fraction | None:
        """What it comes to; None when its count or its price is not known."""
        if self.count is not None and self.price is not None:
            return self.count * self.price
        return self.amount


@value
class Basket:
    """What facts say together.

    Attributes:
        lines: things that count, in order.
        modifiers: discounts, taxes, fees, rates.
        replaced: places of what no longer holds, since something later stands for it.
        rejected: places of what was considered and not chosen.
    """

    lines: tuple[Line, ...]
    modifiers: tuple[Fact, ...]
    replaced: tuple[int, ...]
    rejected: tuple[int, ...]

    @property
    def counted(self) -> tuple[Line, ...]:
        """The lines that a sum adds up: those with count and price, and amounts of money or measure beside them."""
        known = [line for line in self.lines if line.comes_to is not None]
        products = any(line.price is not None and line.count is not None for line in known)
        if not products:
            return tuple(known)
        return tuple(
            line
            for line in known
            if (line.price is not None and line.count is not None) or (line.unit and line.unit != "seconds")
        )


def basket(found: Sequence[Fact], statements: Sequence[Statement]) -> Basket:
    """Join facts of the same thing: the later word stands for the earlier one, halves of a line become one."""
    joining = _Joining(statements)
    hearsay = []
    for fact in found:
        if statements[fact.place].asserts == "claim":
            hearsay.append(fact)
        else:
            joining.take(fact)
    for fact in hearsay:  # what somebody is said to have said is heard where nobody says it himself
        if joining.known(fact) is None:
            joining.take(fact)
    return joining.basket()


class _Joining:
    """Lines in the making, found again by the words of their names."""

    def __init__(self, statements: Sequence[Statement]) -> None:
        self.statements = statements
        self.lines: list[Line | None] = []
        self.places_of: dict[str, list[int]] = {}
        self.modifiers: list[Fact] = []
        self.replaced: list[int] = []
        self.rejected: list[int] = []

    def basket(self) -> Basket:
        """Give what was joined."""
        lines = tuple(line for line in self.lines if line is not None)
        replaced, rejected = tuple(dict.fromkeys(self.replaced)), tuple(dict.fromkeys(self.rejected))
        return Basket(lines, tuple(self.modifiers), replaced, rejected)

    def take(self, fact: Fact) -> None:
        """Take one more fact."""
        if not fact.holds:
            self.rejected.append(fact.place)
            at = self.known(fact) if self.statements[fact.place].corrects else None
            line = None if at is None else self.lines[at]
            if at is not None and line is not None:
                self.replaced += line.places
                self.lines[at] = None
            return
        if fact.sort in {"factor", "fee", "rate"}:
            self.modifiers.append(fact)
            return
        at = self.known(fact)
        line = None if at is None else self.lines[at]
        if at is not None and line is not None:
            self.lines[at] = self._joined(line, fact)
            return
        price = fact.amount if fact.sort in {"line", "price"} else None
        amount = fact.amount if fact.sort == "amount" else None
        for word in fact.name:
            self.places_of.setdefault(word, []).append(len(self.lines))
        self.lines.append(Line(fact.name, fact.count, price, amount, fact.unit, (fact.place,)))

    def known(self, fact: Fact) -> int | None:
        """Find the line that a fact is about, the latest one; None when it is about a new thing."""
        near = {at for word in fact.name for at in self.places_of.get(word, ())[-NEAR_MAX:]}
        for at in sorted(near, reverse=True):
            line = self.lines[at]
            if line is None or not (line.name <= fact.name or fact.name <= line.name):
                continue
            halves = fact.sort in {"count", "price"} or line.count is None or line.price is None
            same_list = self.statements[line.places[-1]].turn == self.statements[fact.place].turn
            if halves or not same_list or self.statements[fact.place].corrects:
                return at
        return None

    def _joined(self, line: Line, fact: Fact) -> Line:
        price = fact.amount if fact.sort in {"line", "price"} else None
        if fact.sort == "amount":
            if line.price is not None and line.count is not None:
                return line  # what a line comes to is said again
            return replace(line, amount=fact.amount, unit=fact.unit or line.unit, places=(*line.places, fact.place))
        whole = line.count is not None and line.price is not None
        if whole and fact.adds and fact.sort == "line" and line.price == price:
            count = (line.count or Fraction(0)) + (fact.count or Fraction(0))
            return replace(line, count=count, places=(*line.places, fact.place))
        same = (fact.count is None or line.count in {None, fact.count}) and (
            price is None or line.price in {None, price}
        )
        if same and whole:
            return line  # said again
        corrects = self.statements[fact.place].corrects
        if not same and fact.sort == "count" and not corrects:
            return line  # some other number beside the same words
        anew = fact.sort == "line" and not same
        self.replaced += line.places if anew else ()
        return replace(
            line,
            count=line.count if fact.count is None else fact.count,
            price=line.price if price is None else price,
            unit=fact.unit or line.unit,
            places=(*(() if anew else line.places), fact.place),
        )
