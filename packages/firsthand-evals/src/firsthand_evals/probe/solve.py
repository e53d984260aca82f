r"""Works a claim out of statements again: adds up line items, tries the arrangements of a puzzle, looks a slot up.

The invariant: an answer is given only when the statements determine one; it is exact;
the same statements in another order of messages give the same sum.

It does not know whether the statements are all that there were: that is for the probe.
Source: reclaim-evaluation 3.1 (recomputation is what a correction needs).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from datetime import date, timedelta
from fractions import Fraction
from functools import cache

from firsthand_evals.probe import lexicon, slots
from firsthand_evals.probe.claim import Claim, How
from firsthand_evals.probe.clues import answers
from firsthand_evals.probe.determine import Known
from firsthand_evals.probe.facts import Line
from firsthand_evals.probe.statements import Statement
from firsthand_evals.probe.values import Kind, Value

_compiled = cache(re.compile)
_WITHOUT_TAX = r"\b(?:before|without|excluding|excl\.?|ex|net of|pre-?)[ -]*(?:any )?(?:the )?(?:tax|vat|mwst|gst)\b"
_WITH_TAX = (
    r"\b(?:after|with|including|incl\.?|plus|gross)[ -]*(?:the )?(?:[\d.,]+ ?% )?(?:sales )?(?:tax|vat|mwst|gst)\b"
)
_IN_THE_END = (
    r"\b(?:paid|in the end|final\w*|after (?:the |all )?(?:discount|reduction|coupon|rebate)"
    r"|with (?:the )?(?:delivery|shipping|postage|fees?)|discounted|to pay|charged|grand)\b"
)
_IN_CURRENCY = {"dollar": "USD", "euro": "EUR", "pound": "GBP", "yen": "JPY", "franc": "CHF", "rupee": "INR"}


def recompute(statements: Sequence[Statement], claim: Claim) -> Value | None:
    """Work out what a claim asks for, out of these statements alone; None when they do not determine it."""
    known = Known(statements)
    how: How = claim.how
    if how == "unknown":
        how = known.asked(claim.what).how
    if how in {"sum of products", "average"}:
        return _sum(known, claim.what, average=how == "average")
    if how == "subtotal":
        line = known.line_of(claim.what)
        return None if line is None or line.count is None or line.price is None else _of_line(line)
    if how == "constraints":
        found = answers(known.puzzle, list(known.clues.values()), claim.what)
        return Value("word", None, "", next(iter(found)), 0, 0) if len(found) == 1 else None
    if how == "span":
        return _span(known)
    slot = slots.find(statements, claim.what)
    return None if slot is None else slot.value


def _sum(known: Known, what: str, *, average: bool) -> Value | None:
    counted = known.basket.counted
    units = {line.unit for line in counted}
    amounts = [_in_base(line, units) for line in counted]
    if not amounts:
        counts = [line.count for line in known.basket.lines if line.count is not None]
        if not average or not counts:
            return None
        return _made(sum(counts, Fraction(0)) / len(counts), "")
    whole = sum(amounts, Fraction(0))
    unit = next((line.unit for line in counted if line.unit), "")
    unit = lexicon.BASE[unit][0] if len(units) > 1 and unit in lexicon.BASE else unit
    if average:
        return _made(whole / len(amounts), unit)
    low = what.lower()
    for fact in known.basket.modifiers:
        asked = known.statements[fact.place].form != "question"
        amount = fact.amount or Fraction(0)
        taxed = "tax" in fact.name
        if (
            fact.sort == "factor"
            and taxed
            and _compiled(_WITH_TAX).search(low)
            and not _compiled(_WITHOUT_TAX).search(low)
        ) or (fact.sort == "factor" and not taxed and asked and _compiled(_IN_THE_END).search(low)):
            whole *= amount
        elif fact.sort == "fee" and asked and _compiled(_IN_THE_END).search(low):
            whole += amount
        elif fact.sort == "rate":
            wanted = next((code for word, code in _IN_CURRENCY.items() if f"in {word}" in low), "")
            if wanted and wanted == fact.unit and unit != wanted:
                whole, unit = whole * amount, wanted
    return _made(whole, unit)


def _in_base(line: Line, units: Collection[str]) -> Fraction:
    """Give what a line comes to, in the unit of its family when others of the sum stand in other units."""
    amount = line.comes_to or Fraction(0)
    return amount * lexicon.BASE[line.unit][1] if len(units) > 1 and line.unit in lexicon.BASE else amount


def _of_line(line: Line) -> Value | None:
    amount = line.comes_to
    return None if amount is None else _made(amount, line.unit)


def _made(amount: Fraction, unit: str) -> Value:
    """Give a computed value; its text is the number."""
    kind: Kind = "duration" if unit == "seconds" else "money" if len(unit) == 3 and unit.isupper() else "number"
    told = str(amount.numerator) if amount.denominator == 1 else str(float(amount))
    return Value(kind, amount, "" if unit == "seconds" else unit, told, 0, 0)


def _span(known: Known) -> Value | None:
    places = known.span()
    if places is None:
        return None
    values = [value for place in places for value in known.statements[place].values]
    day = next(one for one in reversed(values) if one.kind == "date" and not one.unit)
    length = next(one for one in reversed(values) if one.kind == "duration" and not one.unit)
    if day.amount is None or length.amount is None:
        return None
    try:
        end = date.fromordinal(int(day.amount)) + timedelta(seconds=float(length.amount))
    except OverflowError:  # a span that leads beyond the years that dates have: None, there is no such day
        return None
    return Value("date", Fraction(end.toordinal()), "", end.isoformat(), 0, 0)
