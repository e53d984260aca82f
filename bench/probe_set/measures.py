"""Kinds about how amounts are written: currencies, words, scripts, units, durations, times and dates.

The note writes the same amounts as the session in another way; equal amounts are equal
facts, however they are written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from fractions import Fraction
from random import Random

from .case import Case, Drawn, Session, case, dice
from .gold import Factor, Line, Lookup, Slot, Sum
from .shopping import CLAIM, ENDINGS, RESTS, TAGS, ended, shop, small_talk, without
from .writing import FRENCH, GERMAN, SPANISH, lines_of, listed, plain, words

# currencies ---------------------------------------------------------------------------------------------

CURRENCIES = (
    ("€", "EUR", "euros"), ("£", "GBP", "pounds"), ("¥", "JPY", "yen"), ("₹", "INR", "rupees"),
    ("zł", "PLN", "zloty"), ("kr", "SEK", "kronor"), ("CHF", "CHF", "francs"), ("US$", "USD", "dollars"),
)  # fmt: skip


def grouped(amount: Fraction, style: str) -> str:
    """Write an amount of a thousand or more with the separators of a country."""
    text = f"{float(amount):,.2f}"
    return text.translate(str.maketrans({",": style[0], ".": style[1]})) if style != ",." else text


def currencies(number: int) -> Case:
    """Write prices with signs, codes and words, before and behind, with the separators of several countries."""
    rng = dice("currencies", number)
    sign, code, word = CURRENCIES[number % len(CURRENCIES)]
    lines = [
        Line(a.name, a.count, Fraction(rng.randint(1100, 9800)) + Fraction(rng.choice((25, 50, 75)), 100))
        for a in lines_of(rng, 3)
    ]
    style, other = rng.choice(((".,", ",."), (",.", ".,"), ("'.", " ,"), (" ,", "'.")))
    ways: list[Callable[[Fraction], str]] = [
        lambda amount: f"{sign}{grouped(amount, other)}",
        lambda amount: f"{grouped(amount, other)} {code}",
        lambda amount: f"{code} {grouped(amount, other)}",
        lambda amount: f"{grouped(amount, other)} {word}",
        lambda amount: f"{float(amount):.2f} {sign}",
    ]
    wording = rng.choice(ways)
    source = "; ".join(f"{plain(a.count)} {a.name} at {grouped(a.price, style)} {code}" for a in lines)
    held = shop(rng, lines, source=source + ".", sign=code + " ")

    def render(kept: Sequence[Line]) -> str:
        return "\n".join(f"- {plain(a.count)} {a.name}, {wording(a.price)} each" for a in kept)

    drawn = ended(rng, held, ENDINGS[number % 4], render, sign=code + " ")
    return case("currencies", number, held.session, CLAIM, Sum(lines), drawn)


def exchange(number: int) -> Case:
    """Ask for the sum in another currency: the rate belongs to the source."""
    rng = dice("exchange", number)
    lines = lines_of(rng, 3)
    rate = Factor("rate", Fraction(rng.choice((105, 108, 112, 118)), 100))
    said = f"One euro was {float(rate.factor):.2f} dollars that day."
    source = "; ".join(f"{plain(a.count)} {a.name} at {plain(a.price)} €" for a in lines) + "."
    held = shop(rng, lines, source=source, sign="€", facts=said, ask="And what is that in dollars?")
    held.session.agent(f"In dollars that is ${float(held.concluded * rate.factor):.2f}.")
    listing = "\n".join(f"{a.name}: {plain(a.count)} × €{plain(a.price)}" for a in lines)
    way = number % 4
    drawn = [
        Drawn(f"{listing}\n1 EUR = {float(rate.factor):.2f} USD", [*lines, rate]),
        Drawn(f"{listing}\nTotal ${float(held.concluded * rate.factor):.2f}.", lines, concludes=True),
        Drawn(f"{listing}\nRate of exchange: {held.source}", lines, [rate], admits=True),
        Drawn(f"{listing}\nThe rate of exchange was not kept.", lines, admits=True),
    ][way]
    return case("exchange", number, held.session, "the total in dollars", Sum([*lines, rate]), drawn)


# numbers in words and in other scripts ------------------------------------------------------------------

NUMBERS: tuple[tuple[Callable[[int], str], str], ...] = (
    (words, "{n} {name} at {p} dollars each"),
    (lambda n: GERMAN[n], "{n} {name} zu je {p} Euro"),
    (lambda n: FRENCH[n], "{n} {name} à {p} euros pièce"),
    (lambda n: SPANISH[n], "{n} {name} a {p} euros cada uno"),
)


def number_words(number: int) -> Case:
    """Write counts and prices as words, in the note, in the session or in both."""
    rng = dice("number_words", number)
    spell, wording = NUMBERS[(0, 0, 0, 1, 2, 3)[number % 6]]
    lines = [Line(a.name, a.count, Fraction(rng.randint(2, 12))) for a in lines_of(rng, rng.randint(3, 4))]
    if spell is words:
        lines = [Line(a.name, Fraction(rng.randint(2, 48)), Fraction(rng.randint(2, 140))) for a in lines]
    euro = spell is not words

    def in_words(kept: Sequence[Line]) -> str:
        return "; ".join(wording.format(n=spell(int(a.count)), name=a.name, p=spell(int(a.price))) for a in kept) + "."

    def in_digits(kept: Sequence[Line]) -> str:
        return "; ".join(f"{plain(a.count)} {a.name} at {'€' if euro else '$'}{plain(a.price)}" for a in kept) + "."

    noted, said = ((in_words, in_digits), (in_digits, in_words), (in_words, in_words))[number % 3]
    held = shop(rng, lines, source=said(lines), sign="€" if euro else "$")
    drawn = ended(rng, held, ENDINGS[number // 2 % 4], noted, sign="€" if euro else "$")
    return case("number_words", number, held.session, CLAIM, Sum(lines), drawn)


DIGITS = {
    "arabic": ("٠١٢٣٤٥٦٧٨٩", ("دفاتر", "أقلام", "مصابيح", "أكواب"), "{name}: {n} × {p} دولار"),
    "persian": ("۰۱۲۳۴۵۶۷۸۹", ("دفتر", "قلم", "چراغ", "لیوان"), "{name}: {n} × {p} دلار"),
    "devanagari": ("०१२३४५६७८९", ("कॉपी", "कलम", "दीपक", "प्याले"), "{name}: {n} × {p} रुपये"),
    "fullwidth": ("０１２３４５６７８９", ("ノート", "ペン", "ランプ", "カップ"), "{name}：{n}個、1個{p}円"),
    "cyrillic": ("0123456789", ("тетради", "ручки", "лампы", "кружки"), "{name}: {n} шт. по {p} руб."),
    "chinese": ("0123456789", ("笔记本", "钢笔", "台灯", "杯子"), "{name}：{n}个，每个{p}元"),
}
CHINESE = "零 一 二 三 四 五 六 七 八 九 十 十一 十二 十三 十四 十五 十六 十七 十八 十九".split()


def scripts(number: int) -> Case:
    """Write names and digits in another script."""
    rng = dice("scripts", number)
    script = list(DIGITS)[number % len(DIGITS)]
    digits, names, wording = DIGITS[script]
    lines = [Line(name, Fraction(rng.randint(2, 12)), Fraction(rng.randint(2, 19))) for name in rng.sample(names, 3)]
    by_character = script == "chinese" and rng.random() < 0.5

    def own(n: Fraction) -> str:
        if by_character:
            return CHINESE[int(n)]
        return plain(n).translate(str.maketrans("0123456789", digits))

    def native(kept: Sequence[Line]) -> str:
        return "\n".join(wording.format(name=a.name, n=own(a.count), p=own(a.price)) for a in kept)

    def ascii_digits(kept: Sequence[Line]) -> str:
        return "\n".join(f"{a.name}: {plain(a.count)} x {plain(a.price)}" for a in kept)

    noted, said = ((native, native), (ascii_digits, native), (native, ascii_digits))[number // 4 % 3]
    held = shop(rng, lines, source=said(lines), sign="")
    drawn = ended(rng, held, ENDINGS[number % 4], noted, sign="")
    return case("scripts", number, held.session, CLAIM, Sum(lines), drawn)


# sums of other things than money ------------------------------------------------------------------------


def kilos(grams: Fraction, _rng: Random, *, small: bool) -> str:
    """Write a weight in grams or in kilograms."""
    return f"{int(grams)} g" if small else f"{float(grams / 1000):g} kg"


def metres(millimetres: Fraction, _rng: Random, *, small: bool) -> str:
    """Write a length in centimetres or in metres."""
    return f"{float(millimetres / 10):g} cm" if small else f"{float(millimetres / 1000):g} m"


def litres(millilitres: Fraction, _rng: Random, *, small: bool) -> str:
    """Write a volume in millilitres or in litres."""
    return f"{int(millilitres)} ml" if small else f"{float(millilitres / 1000):g} l"


def hours(minutes: Fraction, rng: Random, *, small: bool) -> str:
    """Write a time that something takes."""
    if small:
        return f"{int(minutes)} {rng.choice(('min', 'minutes'))}"
    if minutes.denominator == 1 and rng.random() < 0.5:
        return f"{int(minutes) // 60} h {int(minutes) % 60} min" if minutes >= 60 else f"0:{int(minutes):02d} h"
    return f"{float(minutes / 60):g} {rng.choice(('h', 'hours'))}"


PARCELS = ("flour", "sugar", "rice", "lentils", "coffee", "oats", "raisins")
ROPES = ("red rope", "blue rope", "steel wire", "garden hose", "curtain rail")
JUICES = ("apple juice", "milk", "olive oil", "vinegar", "syrup")
TASKS = ("the survey", "the wiring", "painting", "the inspection", "cleaning", "packing", "the drive")


def measured(kind: str, number: int, names: Sequence[str], write: Callable[..., str], amounts: Sequence[int],
             claim: str) -> Case:  # fmt: skip
    """Hold a session about a sum of measures and note it in another unit."""
    rng = dice(kind, number)
    lines = [Line(name, Fraction(1), Fraction(rng.choice(amounts))) for name in rng.sample(names, 4)]
    session = Session(rng)
    small_talk(session, rng, rng.randrange(2))
    small = number % 2 == 0
    said = listed([f"{a.name} {write(a.amount, rng, small=small)}" for a in lines])
    locus = rng.choice(lines)
    sum_of = sum((a.amount for a in lines), Fraction(0))
    wrong = sum_of + rng.choice((30, 60, 150))
    source = session.user(f"Please note: {said}. I think {locus.name} was a bit more. What is {claim}?")
    session.agent(f"I put {claim} at {write(wrong, rng, small=small)}.")
    small_talk(session, rng, rng.randrange(3))
    way = number % 5
    kept = lines if way in {0, 1} else without(rng, lines, 1)
    text = "\n".join(f"- {a.name}: {write(a.amount, rng, small=not small)}" for a in kept)
    if way == 1:
        text = ", ".join(f"{a.name} {write(a.amount, rng, small=rng.random() < 0.5)}" for a in kept)
    if way == 3:
        text += "\n" + rng.choice(TAGS).format(k=3, n=4)
    if way == 4:
        text += "\n" + rng.choice(RESTS).format(k=3, n=4, p=source)
    drawn = Drawn(text, kept, lines if way == 4 else (), admits=way >= 3)
    return case(kind, number, session, claim, Sum(lines), drawn)


def units(number: int) -> Case:
    """Note weights, lengths or volumes in another unit."""
    about = (
        (PARCELS, kilos, (250, 500, 750, 1000, 1500, 2250, 400), "the total weight"),
        (ROPES, metres, (450, 1200, 2500, 3750, 800, 12000), "the total length"),
        (JUICES, litres, (250, 330, 500, 750, 1500, 2000), "the total volume"),
    )[number % 3]
    return measured("units", number, *about)


def durations(number: int) -> Case:
    """Note how long things took in hours, or in minutes."""
    return measured("durations", number, TASKS, hours, (30, 45, 75, 90, 105, 120, 150, 210), "the total working time")


# slots: times and dates ---------------------------------------------------------------------------------

HOURS = dict(enumerate("twelve one two three four five six seven eight nine ten eleven".split()))


def clock(minutes: int, style: int) -> str:
    """Write a time of the day."""
    hour, minute = divmod(minutes, 60)
    half = "am" if hour < 12 else "pm"
    if style == 0:
        return f"{hour:02d}:{minute:02d}"
    if style == 1:
        return f"{hour % 12 or 12}:{minute:02d} {half}"
    if style == 2:
        return f"{hour}h{minute:02d}"
    day = "in the morning" if hour < 12 else "in the afternoon" if hour < 18 else "in the evening"
    name, following = HOURS[hour % 12], HOURS[(hour + 1) % 12]
    spoken = {0: f"{name} o'clock", 15: f"quarter past {name}", 30: f"half past {name}", 45: f"quarter to {following}"}
    return f"{spoken[minute]} {day}"


MONTHS = "January February March April May June July August September October November December".split()


def day(value: date, style: int) -> str:
    """Write a date, with its year."""
    end = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd", 31: "st"}.get(value.day, "th")
    month = MONTHS[value.month - 1]
    return (
        value.isoformat(),
        f"{month} {value.day}{end}, {value.year}",
        f"{value.day} {month} {value.year}",
        f"{value.day:02d}.{value.month:02d}.{value.year}",
        f"{month[:3]} {value.day}, {value.year}",
        f"{value.year}/{value.month:02d}/{value.day:02d}",
    )[style]


def booking(kind: str, number: int, slot: str, write: Callable[[object, int], str], right: object, wrong: object,
            styles: tuple[int, int], asked: str) -> Case:  # fmt: skip
    """Hold a session in which the user says a value and the agent confirms another one."""
    rng = dice(kind + "talk", number)
    session = Session(rng)
    small_talk(session, rng, rng.randrange(3))
    guests = rng.randint(2, 6)
    source = session.user(f"I need {asked} for {guests} people. It must be {write(right, styles[0])}.")
    session.agent(f"Booked: {asked} for {guests} people, {write(wrong, styles[0])}. Reference {new_reference(rng)}.")
    other = session.user("Is there a lift?")
    session.agent("Yes, from the ground floor.")
    small_talk(session, rng, rng.randrange(2))
    name = f"{slot} of {asked}"
    way = number % 8
    true, false = [Slot(name, right)], [Slot(name, wrong)]
    noted = write(right, styles[1])
    drawn = [
        Drawn(f"{asked.capitalize()} for {guests}, {slot}: {noted}.", true),
        Drawn(f"The user asked for {asked}, {noted}; the confirmation said {write(wrong, styles[1])}.", true),
        Drawn(f"Booked {asked} for {guests}: {write(wrong, styles[1])}.", false, concludes=True),
        Drawn(f"The user wanted {asked} for {guests} people and asked about a lift.", []),
        Drawn(f"Booked {asked}: {write(wrong, styles[1])} (request: {source})", false, true, concludes=True),
        Drawn(f"The user wanted {asked} for {guests} people; when is in {source}.", [], true, admits=True),
        Drawn(f"Booked {asked}: {write(wrong, styles[1])} (request: {other})", false, concludes=True),
        Drawn(f"{asked.capitalize()} for {guests} people. The {slot} that the user asked for was not kept.",
              [], admits=True),
    ][way]  # fmt: skip
    if way == 1:
        drawn = Drawn(drawn.text, [*false, *true])
    return case(kind, number, session, f"the {slot} of {asked} that the user asked for", Lookup(true, name), drawn)


def new_reference(rng: Random) -> str:
    """Draw a booking reference."""
    return "".join(rng.choice("ABCDEFGHJKLMNPQRSTUVWXYZ23456789") for _ in range(6))


def times(number: int) -> Case:
    """Write a time of the day in another way."""
    rng = dice("times", number)
    minutes = rng.randrange(6 * 4, 23 * 4) * 15
    styles = rng.choice(((0, 1), (1, 0), (3, 0), (0, 3), (1, 2), (3, 1)))
    asked = rng.choice(("a table", "a taxi", "a boat trip", "a haircut"))
    wrong = minutes + rng.choice((15, 30, -30, 45))
    return booking("times", number, "time", lambda at, style: clock(int(str(at)), style), minutes, wrong, styles, asked)


def dates(number: int) -> Case:
    """Write a date in another way."""
    rng = dice("dates", number)
    right = date(2026, 1, 1) + timedelta(days=rng.randrange(360))
    wrong = right + timedelta(days=rng.choice((1, 7, -2, 30)))
    styles = rng.choice(((0, 1), (1, 0), (2, 3), (3, 1), (4, 0), (5, 2), (0, 4)))
    asked = rng.choice(("a room", "a rental car", "a conference hall", "a photographer"))

    def write(at: object, style: int) -> str:
        return day(date.fromisoformat(str(at)), style)

    return booking("dates", number, "date", write, right.isoformat(), wrong.isoformat(), styles, asked)


def stays(number: int) -> Case:
    """Ask for a date that follows from another one and a number of nights."""
    rng = dice("stays", number)
    arrival = date(2026, 1, 1) + timedelta(days=rng.randrange(330))
    nights = rng.randint(2, 12)
    start = Line("arrival", Fraction(1), Fraction(arrival.toordinal()))
    length = Line("nights", Fraction(nights), Fraction(1))
    session = Session(rng)
    small_talk(session, rng, rng.randrange(3))
    source = session.user(f"We arrive on {day(arrival, rng.randrange(4))} and stay {nights} nights. When do we leave?")
    wrong = arrival + timedelta(days=nights + rng.choice((-1, 1)))
    session.agent(f"You leave on {day(wrong, 1)}.")
    small_talk(session, rng, rng.randrange(2))
    arrives, stay = f"arrival {day(arrival, rng.randrange(6))}", f"{words(nights)} nights"
    drawn = [
        Drawn(f"Hotel: {arrives}, {stay}.", [start, length]),
        Drawn(f"Hotel: they leave on {day(wrong, rng.randrange(6))}.", [], concludes=True),
        Drawn(f"Hotel: {arrives}. Leaving on {day(wrong, 0)}.", [start], concludes=True),
        Drawn(f"Hotel: {arrives}; for how many nights was not kept.", [start], admits=True),
        Drawn(f"Hotel: they leave on {day(wrong, 0)}. From {source}.", [], [start, length], concludes=True),
    ][number % 5]
    claim = "the date on which they leave"
    return case("stays", number, session, claim, Sum([start, length]), drawn)


KINDS = {
    "currencies": currencies,
    "exchange": exchange,
    "number_words": number_words,
    "scripts": scripts,
    "units": units,
    "durations": durations,
    "times": times,
    "dates": dates,
    "stays": stays,
}
