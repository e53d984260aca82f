"""Amounts, numbers and lists of lines as people, programs and models write them.

Each writer of a list takes lines and gives text from which every line can be read
back by a person; what is left out is left out by the caller, not here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from fractions import Fraction
from random import Random

from .gold import Line

GOODS = (
    ("notebook", "notebooks"), ("pen", "pens"), ("folder", "folders"), ("lamp", "lamps"), ("mug", "mugs"),
    ("stapler", "staplers"), ("ruler", "rulers"), ("marker", "markers"), ("battery", "batteries"), ("cable", "cables"),
    ("candle", "candles"), ("basket", "baskets"), ("towel", "towels"), ("plate", "plates"), ("bowl", "bowls"),
    ("poster", "posters"), ("sticker", "stickers"), ("chair", "chairs"), ("cushion", "cushions"), ("vase", "vases"),
    ("bucket", "buckets"), ("brush", "brushes"), ("hinge", "hinges"), ("screwdriver", "screwdrivers"),
    ("flowerpot", "flowerpots"), ("envelope", "envelopes"), ("calendar", "calendars"), ("magnet", "magnets"),
)  # fmt: skip

ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen"
).split()
TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()
GERMAN = "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split()
FRENCH = "zéro un deux trois quatre cinq six sept huit neuf dix onze douze".split()
SPANISH = "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce".split()


def lines_of(rng: Random, n: int, *, cents: bool = False) -> list[Line]:
    """Draw lines of different goods."""
    goods = rng.sample(GOODS, n)
    return [Line(many, Fraction(rng.randint(2, 12)), price(rng, cents=cents)) for _, many in goods]


def price(rng: Random, *, cents: bool = False) -> Fraction:
    """Draw a price, whole or with cents."""
    return Fraction(rng.randint(2, 19)) + (Fraction(rng.choice((25, 40, 50, 75, 95)), 100) if cents else 0)


def total(lines: Sequence[Line]) -> Fraction:
    """Add up."""
    return sum((line.amount for line in lines), Fraction(0))


def plain(amount: Fraction) -> str:
    """Write a number with no more decimals than it has, two when it has cents."""
    return str(int(amount)) if amount.denominator == 1 else f"{float(amount):.2f}"


def money(amount: Fraction, sign: str = "$") -> str:
    """Write an amount with the sign before it."""
    return sign + plain(amount)


def words(number: int) -> str:
    """Write a number below a thousand in English."""
    if number < 20:
        return ONES[number]
    if number < 100:
        return TENS[number // 10] + ("-" + ONES[number % 10] if number % 10 else "")
    return ONES[number // 100] + " hundred" + (" and " + words(number % 100) if number % 100 else "")


def listed(parts: Sequence[str], link: str = " and ") -> str:
    """Join with commas, the last one by a word."""
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + link + parts[-1]


# one line -----------------------------------------------------------------------------------------------


def item(line: Line) -> str:
    """Write a line as in a sentence."""
    return f"{plain(line.count)} {line.name} at {money(line.price)}"


def item_each(line: Line) -> str:
    """Write a line in another usual way."""
    return f"{plain(line.count)} {line.name} for {money(line.price)} each"


# lists --------------------------------------------------------------------------------------------------


def prose(lines: Sequence[Line], rng: Random) -> str:
    """Write sentences."""
    wording = rng.randrange(4)
    if wording == 0:
        return f"They bought {listed([item(line) for line in lines])}."
    if wording == 1:
        return f"The order was {listed([item_each(line) for line in lines])}."
    if wording == 2:
        return " ".join(f"There were {plain(a.count)} {a.name}, and each cost {money(a.price)}." for a in lines)
    return " ".join(f"The {a.name} cost {money(a.price)} apiece and {plain(a.count)} were taken." for a in lines)


def bullets(lines: Sequence[Line], rng: Random) -> str:
    """Write a list with marks."""
    mark = rng.choice(("- ", "* ", "• ", "1. "))
    wording = rng.choice((item, item_each, lambda a: f"{a.name}: {plain(a.count)} × {money(a.price)}"))
    marks = [f"{place}. " if mark == "1. " else mark for place in range(1, len(lines) + 1)]
    return "\n".join(mark + wording(line) for mark, line in zip(marks, lines, strict=True))


def markdown(lines: Sequence[Line], rng: Random) -> str:
    """Write a Markdown table, its columns in some order."""
    columns: list[tuple[str, Callable[[Line], str]]] = [
        (rng.choice(("item", "article", "product")), lambda a: a.name),
        (rng.choice(("qty", "quantity", "count")), lambda a: plain(a.count)),
        (rng.choice(("unit price", "price each", "each")), lambda a: money(a.price)),
    ]
    rng.shuffle(columns)
    rows = [[title for title, _ in columns], ["---"] * 3, *([show(line) for _, show in columns] for line in lines)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def comma(lines: Sequence[Line], rng: Random) -> str:
    """Write CSV, or the same with another separator."""
    between = rng.choice((",", ";", "\t"))
    head = between.join(("item", "quantity", "unit_price"))
    return "\n".join([head, *(between.join((a.name, plain(a.count), plain(a.price))) for a in lines)])


def as_json(lines: Sequence[Line], rng: Random) -> str:
    """Write JSON, as a list of objects or an object of objects."""
    indent = rng.choice((None, 2))
    if rng.random() < 0.5:
        rows = [{"item": a.name, "qty": int(a.count), "unit_price": float(a.price)} for a in lines]
        return json.dumps({"items": rows}, indent=indent)
    return json.dumps({a.name: {"quantity": int(a.count), "price_each": float(a.price)} for a in lines}, indent=indent)


def yaml(lines: Sequence[Line], rng: Random) -> str:
    """Write YAML."""
    if rng.random() < 0.5:
        return "items:\n" + "\n".join(
            f"  - name: {a.name}\n    quantity: {plain(a.count)}\n    unit_price: {plain(a.price)}" for a in lines
        )
    return "\n".join(f"{a.name}:\n  count: {plain(a.count)}\n  price_each: {plain(a.price)}" for a in lines)


def inline(lines: Sequence[Line], rng: Random) -> str:
    """Write as briefly as people do in a margin."""
    wording = rng.randrange(4)
    if wording == 0:
        return "; ".join(f"{plain(a.count)}x{money(a.price)} {a.name}" for a in lines)
    if wording == 1:
        return ", ".join(f"{a.name} {plain(a.count)}@{money(a.price)}" for a in lines)
    if wording == 2:
        return " + ".join(f"{plain(a.count)}*{plain(a.price)} ({a.name})" for a in lines)
    return " / ".join(f"{a.name} {plain(a.count)} × {money(a.price)}" for a in lines)


WRITERS = {
    "prose": prose,
    "bullets": bullets,
    "markdown": markdown,
    "csv": comma,
    "json": as_json,
    "yaml": yaml,
    "inline": inline,
}
