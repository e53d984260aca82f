"""Kinds about a list of lines and their sum: formats, cuts, what was not bought, what was changed later.

Each kind is a function of a number: it draws a session and a note, and states which
facts it put into the note. Numbers go round the ways a note can end.
"""

from __future__ import annotations

from fractions import Fraction

from .case import Case, Drawn, case, dice
from .gold import Factor, Line, Part, Rejected, Subtotal, Sum
from .shopping import CLAIM, ENDINGS, TAGS, calculation, ended, shop, without
from .writing import WRITERS, bullets, item, lines_of, listed, money, plain, price, prose, total


def in_format(name: str, number: int) -> Case:
    """Write the lines in one format, whatever format the session had."""
    rng = dice(name, number)
    held = shop(rng, lines_of(rng, rng.randint(3, 6), cents=rng.random() < 0.3))
    drawn = ended(rng, held, ENDINGS[number % 4], lambda kept: WRITERS[name](kept, rng))
    return case(name, number, held.session, CLAIM, Sum(held.lines), drawn)


def truncation(number: int) -> Case:
    """Cut the note's end off: inside a number, inside a line, or behind all that counts."""
    rng = dice("truncation", number)
    lines = lines_of(rng, rng.randint(3, 5))
    last = Line(lines[-1].name, lines[-1].count, Fraction(rng.randint(11, 19)))
    lines = [*lines[:-1], last]
    held = shop(rng, lines)
    whole = "Bought: " + "; ".join(item(line) for line in lines)
    way = number % 5
    if way == 0:  # "at $1" of "$12": the number that stands there is another one
        text, stated = whole[:-1], [*lines[:-1], Line(last.name, last.count, Fraction(int(plain(last.price)[:-1])))]
    elif way == 1:  # in the middle of the last line, its price not reached
        text, stated = whole[: whole.rindex(" at ")], lines[:-1]
    elif way == 2:  # exactly behind the last number: nothing is lost
        text, stated = whole, lines
    elif way == 3:  # in the words that follow the list
        text, stated = whole + ". The shop is on the corner of the main str", lines
    else:
        text, stated = whole[: whole.rindex(" at ") - 3] + " [cut: the note was too long]", lines[:-1]
    return case("truncation", number, held.session, CLAIM, Sum(lines), Drawn(text, stated, admits=way == 4))


def negation(number: int) -> Case:
    """Say what was not bought, or of which count it was not."""
    rng = dice("negation", number)
    lines = lines_of(rng, 4)
    bought, not_bought = lines[:3], lines[3]
    locus = rng.choice(bought)
    other = locus.count + rng.randint(1, 3)
    way = number % 6
    if way < 3:
        said = rng.choice((
            f"No {not_bought.name} were bought, although they were offered at {money(not_bought.price)}.",
            f"The {not_bought.name} ({plain(not_bought.count)} at {money(not_bought.price)}) were not taken.",
            f"We did not buy the {plain(not_bought.count)} {not_bought.name} at {money(not_bought.price)}.",
        ))  # fmt: skip
    else:
        said = f"It was {plain(locus.count)} {locus.name}, not {plain(other)}."
    held = shop(rng, bought, source=prose(bought, rng) + " " + said)
    wrong_count = [Line(a.name, other, a.price) if a is locus else a for a in bought]
    text, stated = [
        (prose(bought, rng) + " " + said, bought),
        (bullets(bought, rng) + f"\nNot bought: {not_bought.name} ({money(not_bought.price)} each).", bought),
        (bullets([*bought, not_bought], rng), [*bought, not_bought]),
        (prose(bought, rng) + f" Not {plain(other)} {locus.name}: {plain(locus.count)}.", bought),
        (bullets(wrong_count, rng), wrong_count),
        (bullets(wrong_count, rng) + f"\nHow many {locus.name} it was: {held.source}", wrong_count),
    ][way]
    drawn = Drawn(text, stated, bought if way == 5 else ())
    return case("negation", number, held.session, CLAIM, Sum((*bought, Rejected(not_bought.name))), drawn)


def decoys(number: int) -> Case:
    """Mix things that were considered with those that were bought."""
    rng = dice("decoys", number)
    drawn_lines = lines_of(rng, 3 + rng.randint(2, 5))
    bought, considered = drawn_lines[:3], drawn_lines[3:]
    mixed = rng.sample(drawn_lines, len(drawn_lines))
    marked = "; ".join(
        f"{item(a)} ({'bought' if a in bought else rng.choice(('considered, not bought', 'only looked at'))})"
        for a in mixed
    )
    held = shop(rng, bought, source=f"In the shop: {marked}.")
    truth = Sum((*bought, *(Rejected(a.name) for a in considered)))
    some = without(rng, bought, 1)
    mixed_some = [a for a in mixed if a not in bought or a in some]
    way = number % 6
    drawn = [
        Drawn(bullets(bought, rng), bought),
        Drawn(marked, bought),
        Drawn(bullets(mixed, rng), mixed),
        Drawn("\n".join(f"- {item(a)}{'' if a in bought else ' (not bought)'}" for a in mixed_some), some),
        Drawn(bullets(mixed, rng) + f"\nWhich of them were bought is said in {held.source}.",
              mixed, truth.truth, admits=True),
        Drawn(bullets(some, rng) + "\n" + rng.choice(TAGS).format(k=2, n=3), some, admits=True),
    ][way]  # fmt: skip
    return case("decoys", number, held.session, CLAIM, truth, drawn)


def revised(number: int) -> Case:
    """Correct a line later in the session; the old one may be all that was kept."""
    rng = dice("revised", number)
    lines = lines_of(rng, 3)
    old = rng.choice(lines)
    new = Line(old.name, old.count + rng.randint(1, 4), old.price)
    held = shop(rng, lines)
    correction = held.session.user(rng.choice((
        f"Sorry, I was wrong about the {old.name}: it was {plain(new.count)} of them, not {plain(old.count)}.",
        f"Correction: {plain(new.count)} {old.name}, at the same price.",
    )))  # fmt: skip
    held.session.agent("Noted.")
    now = [new if a is old else a for a in lines]
    way = number % 5
    later = f"Later corrected: {plain(new.count)} {old.name} instead of {plain(old.count)}."
    drawn = [
        Drawn(bullets(lines, rng), lines),
        Drawn(bullets(lines, rng) + "\n" + later, now),
        Drawn(prose(now, rng), now),
        Drawn(bullets(lines, rng) + f"\nThe number of {old.name} was corrected afterwards: {correction}",
              lines, [new], admits=True),
        Drawn(bullets(lines, rng) + f"\nThe user changed the number of {old.name} later; the new one is not kept.",
              lines, admits=True),
    ][way]  # fmt: skip
    return case("revised", number, held.session, CLAIM, Sum(now), drawn)


def altered(number: int) -> Case:
    """Change one number, or swap two, on the way into the note."""
    rng = dice("altered", number)
    lines = lines_of(rng, 4)
    held = shop(rng, lines)
    place = rng.randrange(3)
    one, two = lines[place], lines[place + 1]
    way = number % 5
    changed = {
        0: {place: Line(one.name, one.count + 1, one.price)},
        1: {place: Line(one.name, one.count, one.price + rng.choice((1, 10)))},
        2: {place: Line(one.name, one.count, two.price), place + 1: Line(two.name, two.count, one.price)},
        3: {},
        4: {place: Line(one.name, one.count + 2, one.price)},
    }[way]
    stated = [changed.get(at, line) for at, line in enumerate(lines)]
    text = bullets(stated, rng)
    if way == 3:  # only the order is another one
        text = bullets(rng.sample(stated, 4), rng)
    if way == 4:
        text += f"\nSource: {held.source}"
    behind = lines if way == 4 else ()
    return case("altered", number, held.session, CLAIM, Sum(lines), Drawn(text, stated, behind))


def restatement(number: int) -> Case:
    """Keep what the agent said, which may or may not hold all of the source."""
    rng = dice("restatement", number)
    lines = lines_of(rng, 3)
    held = shop(rng, lines)
    way = number % 4
    rest = listed([f"{a.name} for {money(a.amount)}" for a in lines if a is not held.locus])
    wrong = Subtotal(held.locus.name, held.wrong)
    amounts = [Subtotal(a.name, a.amount) for a in lines]
    said, stated, concludes = [
        (f"To sum up: {listed([item(a) for a in lines])}.", lines, False),
        (f"So {rest}, and {held.locus.name} for {money(held.wrong)}.", [*amounts, wrong], False),
        (f"I have {calculation(lines)}, which I put down as {money(held.concluded)}.", lines, True),
        (f"You bought {listed([a.name for a in lines])}; together {money(held.concluded)}.", [], True),
    ][way]  # fmt: skip
    held.session.user("Sum it up for me.")
    held.session.agent(said)
    drawn = Drawn(f"The assistant said: “{said}”", stated, concludes=concludes)
    return case("restatement", number, held.session, CLAIM, Sum(lines), drawn)


def subtotals(number: int) -> Case:
    """Keep what each line comes to: enough for the total, not for correcting one of them."""
    rng = dice("subtotals", number)
    lines = lines_of(rng, 3)
    held = shop(rng, lines)
    way = number % 5
    right = [Subtotal(a.name, a.amount) for a in lines]
    stated = [Subtotal(held.locus.name, held.wrong) if a.name == held.locus.name else a for a in right]
    if way != 1:
        stated = right
    if way == 2:
        stated = [a for a in right if a.name != held.locus.name]
    text = rng.choice(("Subtotals: {}.", "What each line came to: {}.")).format(
        ", ".join(f"{a.name} {money(a.amount)}" for a in stated)
    )
    question, claim = Sum(lines), CLAIM
    if way >= 3:
        question, claim = Part(lines, held.locus.name), f"the subtotal of the {held.locus.name}"
    if way == 4:
        text += f" The {held.locus.name}: {plain(held.locus.count)} at {money(held.locus.price)}."
        stated = [a for a in stated if a.name != held.locus.name] + [held.locus]
    return case("subtotals", number, held.session, claim, question, Drawn(text, stated))


def rounding(number: int) -> Case:
    """Round the prices, openly or not."""
    rng = dice("rounding", number)
    lines = [Line(a.name, a.count, a.price + Fraction(95, 100)) for a in lines_of(rng, 3)]
    held = shop(rng, lines)
    rounded = [Line(a.name, a.count, Fraction(round(a.price))) for a in lines]
    way = number % 4
    text, stated, behind, admits = [
        (bullets(lines, rng), lines, [], False),
        (bullets(rounded, rng), rounded, [], False),
        (bullets(rounded, rng) + "\nPrices are rounded; the exact ones were not kept.", rounded, [], True),
        (f"Roughly: {bullets(rounded, rng)}\nExact prices: {held.source}", rounded, lines, True),
    ][way]
    return case("rounding", number, held.session, CLAIM, Sum(lines), Drawn(text, stated, behind, admits))


def discounts(number: int) -> Case:
    """Ask for what is paid in the end: the lines alone are not its whole source."""
    rng = dice("discounts", number)
    lines = lines_of(rng, 3)
    percent, fee = rng.choice((10, 20, 25)), price(rng)
    discount, shipping = Factor("discount", Fraction(100 - percent, 100)), Line("delivery", Fraction(1), fee)
    by_percent = number % 2 == 0
    extra = discount if by_percent else shipping
    said = (
        f"They gave {percent} % off the whole order." if by_percent else f"Delivery came to {money(fee)} on top of it."
    )
    ask = "Then tell me what was paid in the end, after the discount." if by_percent else \
        "Then tell me what was paid in the end, with delivery."  # fmt: skip
    held = shop(rng, lines, facts=said, ask=ask)
    paid = Sum([*held.lines, extra])
    wrong = held.concluded * discount.factor if by_percent else held.concluded + fee
    held.session.agent(f"In the end you paid {money(wrong)}.")
    way = number // 2 % 4
    text, stated, behind, admits = [
        (bullets(lines, rng) + "\n" + said, [*lines, extra], [], False),
        (bullets(lines, rng), lines, [], False),
        (bullets(lines, rng) + f"\nThe price was changed afterwards, see {held.source}.", lines, [extra], True),
        (f"{said} Of the lines only one is kept: {item(lines[0])}.", [lines[0], extra], [], True),
    ][way]
    concluded = rng.random() < 0.3
    if concluded:
        text += f"\nPaid: {money(wrong)}."
    claim = f"what was paid in the end, {'after the discount' if by_percent else 'with delivery'}"
    drawn = Drawn(text, stated, behind, admits, concluded)
    return case("discounts", number, held.session, claim, paid, drawn)


def spelling(number: int) -> Case:
    """Write the names in another spelling, number or case than the session did."""
    rng = dice("spelling", number)
    variants = [
        ("colour cartridges", "color cartridges"), ("grey envelopes", "gray envelopes"), ("notebooks", "note books"),
        ("paperclips", "paper clips"), ("tyres", "tires"), ("e-mail vouchers", "email vouchers"),
        ("catalogues", "catalogs"), ("litre bottles", "liter bottles"), ("doughnuts", "donuts"),
        ("aluminium hooks", "aluminum hooks"), ("knives", "knife"), ("shelves", "shelf"), ("batteries", "battery"),
        ("T-shirts", "tshirts"), ("café cups", "cafe cups"), ("USB-C cables", "usb c cable"),
    ]  # fmt: skip
    chosen = rng.sample(variants, 3)
    lines = [Line(one, Fraction(rng.randint(2, 12)), price(rng)) for one, _ in chosen]
    other = dict(chosen)

    def spelled(kept: list[Line]) -> str:
        rows = [Line(other[a.name], a.count, a.price) for a in kept]
        return "\n".join(f"{'' if rng.random() < 0.5 else '- '}{a.name.upper() if number % 3 == 0 else a.name}: "
                         f"{plain(a.count)} at {money(a.price)}" for a in rows)  # fmt: skip

    held = shop(rng, lines)
    drawn = ended(rng, held, ("whole", "short", "whole", "tagged", "pointed")[number % 5], spelled)
    return case("spelling", number, held.session, CLAIM, Sum(lines), drawn)


def scattered(number: int) -> Case:
    """Say the lines in several turns, each with a pointer of its own."""
    rng = dice("scattered", number)
    lines = lines_of(rng, 4)
    held = shop(rng, lines[:2], source=f"So far: {listed([item(a) for a in lines[:2]])}.")
    pointers = [held.source]
    for line in lines[2:]:
        pointers.append(held.session.user(f"Oh, and we also got {item(line)}."))
        held.session.agent(rng.choice(("Added.", "Thank you, that is on the list.", "I have that.")))
    held.session.agent(f"The total is now {money(held.concluded + total(lines[2:]))}.")
    way = number % 5
    one_is_there = [*lines[:2], lines[2]]
    drawn = [
        Drawn(prose(lines, rng), lines),
        Drawn(bullets(one_is_there, rng), one_is_there),
        Drawn(bullets(lines[:2], rng) + f"\n[kept 2 of 4; the rest: {pointers[1]} {pointers[2]}]",
              lines[:2], lines[2:], admits=True),
        Drawn(bullets(lines[:2], rng) + f"\n[kept 2 of 4; the rest: {pointers[1]}]",
              lines[:2], lines[2:3], admits=True),
        Drawn(f"The user bought several things in {len(pointers)} messages: {', '.join(pointers)}.", [], lines),
    ][way]  # fmt: skip
    return case("scattered", number, held.session, CLAIM, Sum(lines), drawn)


def rejoined(number: int) -> Case:
    """Say how many there were in one sentence and what they cost in another, as notes of notes do."""
    rng = dice("rejoined", number)
    lines = lines_of(rng, 3)
    held = shop(rng, lines)
    counts = "Counts: " + ", ".join(f"{a.name} {plain(a.count)}" for a in lines) + "."
    prices = "Unit prices: " + ", ".join(f"{a.name} {money(a.price)}" for a in lines) + "."
    way = number % 4
    drawn = [
        Drawn(counts + "\n" + prices, lines),
        Drawn(f"{counts} In all {money(held.concluded)}.", [], concludes=True),
        Drawn(f"{prices} Counts: {held.source}", [], lines),
        Drawn(f"{prices} How many of each is not kept.", [], admits=True),
    ][way]
    return case("rejoined", number, held.session, CLAIM, Sum(lines), drawn)


KINDS = {
    **{name: lambda number, name=name: in_format(name, number) for name in WRITERS},
    "truncation": truncation,
    "negation": negation,
    "decoys": decoys,
    "revised": revised,
    "altered": altered,
    "restatement": restatement,
    "subtotals": subtotals,
    "rounding": rounding,
    "discounts": discounts,
    "spelling": spelling,
    "scattered": scattered,
    "rejoined": rejoined,
}
