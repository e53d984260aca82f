"""Fresh kinds that are worked out in numbers: invoices, shifts, doses, mixtures, meters, trips.

Who works on the probe does not read this file.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, timedelta
from fractions import Fraction
from random import Random

from .fresh_note import Told, Worked, lines, rows
from .gold import Slot


def clock(minutes: int) -> str:
    """Write a time of the day."""
    return f"{minutes // 60 % 24:02d}:{minutes % 60:02d}"


def dotted(minutes: int) -> str:
    """Write a time of the day as Finns and some Swiss do."""
    return f"{minutes // 60 % 24}.{minutes % 60:02d} h"


def vat(rng: Random) -> Told:
    """An invoice with several rates of VAT; the gross amount is asked."""
    facts = [
        Slot(name, (rng.randint(2, 9), rng.randint(11, 90), rng.choice((7, 19))))
        for name in rng.sample(("toner", "atlas", "webcam", "monitor arm", "city map", "headset"), 3)
    ]
    asked = Worked(facts, lambda at: sum(Fraction(n * p * (100 + r), 100) for n, p, r in at.values()))
    said = "\n".join(f"{n} pcs {f.name}, net {p}.00 each, VAT {r}%" for f in facts for n, p, r in [f.value])
    one, (n, p, r) = facts[1], facts[1].value
    return Told(
        "the gross amount of the invoice", asked, facts,
        [("user", f"Supplier's invoice:\n{said}\nWhat do we transfer, VAT included?", facts)],
        [lines(lambda f: f"{f.value[0]} {f.name} x {f.value[1]} net (+{f.value[2]} % VAT)"),
         lambda fs: "article;pcs;net_each;vat\n" + "\n".join(";".join(map(str, (f.name, *f.value))) for f in fs)],
        lambda v: f"To transfer: {float(v):.2f} EUR gross.", asked.answer(facts) - 19,
        (1, Slot(one.name, (n, p, 26 - r))),
    )  # fmt: skip


def roster(rng: Random) -> Told:
    """One nurse's hours of a week, out of a roster with the shifts of others too."""
    who, other = rng.sample(("Noor", "Ilse", "Tadeo", "Wen"), 2)
    days = sorted(rng.sample(range(7), 3))
    names = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

    def shift(person: str, day: int) -> Slot:
        begin = rng.choice((6, 7, 13, 14)) * 60 + rng.choice((0, 30))
        return Slot(f"{person} {names[day]}", (begin, begin + rng.choice((6, 7, 8, 9)) * 60 + rng.choice((0, 15, 30))))

    facts, others = [shift(who, day) for day in days], [shift(other, days[0])]
    asked = Worked(facts, lambda at: sum(at[f.name][1] - at[f.name][0] for f in facts))
    table = "\n".join(f"{f.name}  {clock(f.value[0])}-{clock(f.value[1])}" for f in (*facts, *others))
    begin, end = facts[0].value
    return Told(
        f"the hours that {who} works this week", asked, facts,
        [("tool", f"# roster, week 31\n{table}", (*facts, *others))],
        [lines(lambda f: f"{f.name} from {clock(f.value[0])} until {clock(f.value[1])}", "; "),
         rows("shift in out", lambda f: (f.name, clock(f.value[0]), clock(f.value[1])))],
        lambda v: f"{who} works {v // 60} h {v % 60:02d} min.", asked.answer(facts) + 45,
        (0, Slot(facts[0].name, (begin, end + 60))), others,
    )  # fmt: skip


def tablets(rng: Random) -> Told:
    """A course of tablets with two phases."""
    drug = rng.choice(("prednisolone", "amoxicillin", "doxycycline", "metformin"))
    facts = [
        Slot(name, (rng.randint(1, 3), rng.randint(2, 4), rng.randint(3, 12)))
        for name in ("first phase", "second phase")
    ]
    asked = Worked(facts, lambda at: sum(a * b * c for a, b, c in at.values()))
    a, b, c = facts[0].value
    d, e, f = facts[1].value
    return Told(
        f"how many tablets of {drug} to dispense", asked, facts,
        [("user", (f"{drug}: {a} tablets {b} times a day for {c} days, then {d} tablets {e} times a day for {f} days. "
                  "How many tablets do I dispense?"), facts)],
        [lines(lambda x: f"{x.name}: {x.value[0]} tab, {x.value[1]}x/day, {x.value[2]} d"),
         lines(lambda x: f"{x.name} lasts {x.value[2]} days with {x.value[1]} doses a day of {x.value[0]} tablets each",
               ". ", end=".")],
        lambda v: f"{v} tablets of {drug} are dispensed.", asked.answer(facts) + 4,
        (1, Slot("second phase", (d, e, f + 2))),
    )  # fmt: skip


def backup(rng: Random) -> Told:
    """How long a job ran, from two lines of a log with others between."""
    begin = rng.randint(0, 4 * 3600)
    end = begin + rng.randint(400, 9000)

    def stamp(seconds: int) -> str:
        return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"

    facts = [Slot("begin", begin), Slot("end", end)]
    asked = Worked(facts, lambda at: at["end"] - at["begin"])
    log = (f"{stamp(begin)} backupd: snapshot begin\n{stamp(begin + 7)} backupd: 3 volumes\n"
           f"{stamp(end)} backupd: snapshot end rc=0\n{stamp(end + 2)} backupd: idle")  # fmt: skip
    return Told(
        "how long the snapshot took", asked, facts, [("tool", log, facts)],
        [lines(lambda f: f"{stamp(f.value)} backupd: snapshot {f.name}"),
         lines(lambda f: f"snapshot {f.name} at {stamp(f.value)}", ", ")],
        lambda v: f"The snapshot took {v} seconds.", asked.answer(facts) + 60, (1, Slot("end", end + 30)),
    )  # fmt: skip


def freight(rng: Random) -> Told:
    """A parcel's fee: a base, a rate per kilogram, the weight, a surcharge."""
    facts = [Slot("base fee", rng.randint(4, 12)), Slot("rate per kg", rng.randint(2, 6)),
             Slot("weight", rng.randint(3, 28)), Slot("island surcharge", rng.randint(7, 15))]  # fmt: skip
    asked = Worked(facts, lambda at: at["base fee"] + at["rate per kg"] * at["weight"] + at["island surcharge"])
    a, b, c, d = (f.value for f in facts)
    unit = {"base fee": "CHF {}", "rate per kg": "CHF {}", "weight": "{} kg", "island surcharge": "CHF {}"}
    return Told(
        "the freight for the parcel to the island", asked, facts,
        [("user", f"The carrier takes CHF {a} per parcel plus CHF {b} per kilogram, and CHF {d} more for islands.",
          [facts[0], facts[1], facts[3]]),
         ("user", f"Mine weighs {c} kg and goes to an island. What do I pay?", [facts[2]])],
        [lines(lambda f: f"{f.name}: {unit[f.name].format(f.value)}"),
         lambda fs: json.dumps({f.name.replace(" ", "_"): f.value for f in fs}),
         lines(lambda f: f"{f.name} = {unit[f.name].format(f.value)}", " / ", "freight: ")],
        lambda v: f"The freight is CHF {v}.", asked.answer(facts) - 3, (2, Slot("weight", c + 1)),
    )  # fmt: skip


def dilution(rng: Random) -> Told:
    """How much of a stock solution goes into a buffer."""
    stock, target, volume = rng.choice((5, 10, 20)), rng.choice((50, 100, 250)), rng.choice((100, 200, 400, 500))
    facts = [Slot("stock", stock), Slot("target", target), Slot("volume", volume)]
    asked = Worked(facts, lambda at: Fraction(at["target"] * at["volume"], 1000 * at["stock"]))
    words = {"stock": "stock is {} M", "target": "wanted {} mM", "volume": "final volume {} mL"}
    return Told(
        "the volume of NaCl stock to pipette", asked, facts,
        [("user", f"I have a {stock} M NaCl stock and want {volume} mL at {target} mM. How much stock do I pipette?",
          facts)],
        [lines(lambda f: words[f.name].format(f.value), ", "),
         rows("quantity value", lambda f: (f.name, words[f.name].format(f.value).split(" ", 1)[1]))],
        lambda v: f"Pipette {float(v):g} mL of stock.", asked.answer(facts) * 2,
        (1, Slot("target", target * 2)),
    )  # fmt: skip


def sprint(rng: Random) -> Told:
    """What is open of a sprint."""
    facts = [Slot("committed", rng.randint(34, 60)), Slot("closed", rng.randint(8, 20)),
             Slot("moved out", rng.randint(2, 8)), Slot("pulled in", rng.randint(1, 9))]  # fmt: skip
    asked = Worked(facts, lambda at: at["committed"] - at["closed"] - at["moved out"] + at["pulled in"])
    a, b, c, d = (f.value for f in facts)
    return Told(
        "the story points that are still open in sprint 14", asked, facts,
        [("user", f"Sprint 14: we committed to {a} points and closed {b}.", facts[:2]),
         ("user", f"{c} points moved out to the next sprint, {d} were pulled in on Wednesday. How many are open?",
          facts[2:])],
        [lines(lambda f: f"- {f.name}: {f.value} pts", head="Sprint 14\n"),
         lines(lambda f: f"{f.value} points {f.name}", ", ", "sprint 14: ")],
        lambda v: f"{v} points are open.", asked.answer(facts) + 2, (1, Slot("closed", b + 3)),
    )  # fmt: skip


def fuel(rng: Random) -> Told:
    """What a drive costs in fuel."""
    facts = [Slot("consumption", rng.randint(5, 9)), Slot("way", rng.randint(3, 19) * 50),
             Slot("price", Fraction(rng.randint(155, 199), 100))]  # fmt: skip
    asked = Worked(facts, lambda at: at["consumption"] * at["way"] * at["price"] / 100)
    units = {"consumption": "{} l/100 km", "way": "{} km", "price": "{} €/l"}

    def amount(fact: Slot) -> str:
        return units[fact.name].format(f"{float(fact.value):.2f}" if fact.name == "price" else fact.value)

    a, b, c = (f.value for f in facts)
    return Told(
        "what the petrol for the drive costs", asked, facts,
        [("user", f"My van burns {a} litres per 100 km and it is {b} km to Trieste.", facts[:2]),
         ("tool", f"station=A4 fuel=E10 eur_per_litre={float(c):.2f}", facts[2:])],
        [lines(lambda f: f"{f.name} {amount(f)}", " · "), lines(lambda f: f"{f.name}: {amount(f)}", head="drive:\n")],
        lambda v: f"The petrol costs {float(v):.2f} euros.", asked.answer(facts) + 12, (1, Slot("way", b + 100)),
    )  # fmt: skip


def meter(rng: Random) -> Told:
    """An electricity bill from two readings, a price and a standing charge."""
    old = rng.randint(10_000, 60_000)
    facts = [Slot("old reading", old), Slot("new reading", old + rng.randint(900, 4000)),
             Slot("cents per kWh", rng.randint(24, 39)), Slot("standing charge", rng.randint(60, 140))]  # fmt: skip
    asked = Worked(facts, lambda at: Fraction((at["new reading"] - at["old reading"]) * at["cents per kWh"], 100)
                   + at["standing charge"])  # fmt: skip
    a, b, c, d = (f.value for f in facts)
    return Told(
        "the electricity bill of the year", asked, facts,
        [("user", (f"The meter stood at {a} and stands at {b} kWh now. We pay {c} cents per kWh and {d} euros standing "
                  "charge a year. How high is the bill?"), facts)],
        [lines(lambda f: f"{f.name}: {f.value}"),
         lambda fs: "[meter]\n" + "\n".join(f"{f.name.lower().replace(' ', '_')} = {f.value}" for f in fs)],
        lambda v: f"The bill is {float(v):.2f} euros.", asked.answer(facts) + 50, (0, Slot("old reading", a - 100)),
    )  # fmt: skip


def layover(rng: Random) -> Told:
    """The time between two flights."""
    land = rng.randrange(7 * 60, 14 * 60, 5)
    facts = [Slot("lands", land), Slot("leaves", land + rng.randrange(55, 400, 5))]
    asked = Worked(facts, lambda at: at["leaves"] - at["lands"])
    a, b = (f.value for f in facts)
    names = {"lands": ("TP 571", "lands in Lisbon"), "leaves": ("TP 203", "takes off from Lisbon")}
    return Told(
        "the length of the stopover in Lisbon", asked, facts,
        [("tool", f"PNR X4K9QZ\nTP 571 FRA {clock(a - 190)} LIS {clock(a)}\nTP 203 LIS {clock(b)} EWR {clock(b + 230)}",
          facts)],
        [lines(lambda f: f"{names[f.name][0]} {names[f.name][1]} at {clock(f.value)}", ", "),
         rows("flight what local", lambda f: (*names[f.name], dotted(f.value)))],
        lambda v: f"The stopover is {v // 60} h {v % 60} min.", asked.answer(facts) + 20,
        (1, Slot("leaves", b + 15)),
    )  # fmt: skip


def book(rng: Random) -> Told:
    """On which day somebody has read a book to its end."""
    begin = date(2026, 2, 1) + timedelta(days=rng.randrange(250))
    daily, days = rng.choice((12, 15, 20, 24, 30)), rng.randint(6, 24)
    facts = [Slot("pages", daily * days), Slot("a day", daily), Slot("first day", begin)]
    asked = Worked(facts, lambda at: at["first day"] + timedelta(days=-(-at["pages"] // at["a day"]) - 1))
    words: dict[str, Callable[[object], str]] = {
        "pages": lambda v: f"the novel has {v} pages", "a day": lambda v: f"{v} pages are read each day",
        "first day": lambda v: f"reading starts on {v:%Y-%m-%d}",
    }  # fmt: skip
    return Told(
        "the day on which the novel is finished", asked, facts,
        [("user", (f"My novel has {daily * days} pages. From {begin:%d %B %Y} on (that day counts) I read {daily} "
                  "pages a day. When am I through?"), facts)],
        [lines(lambda f: words[f.name](f.value), "; "), lines(lambda f: "* " + words[f.name](f.value))],
        lambda v: f"You finish on {v:%d %B %Y}.", asked.answer(facts) + timedelta(days=2),
        (0, Slot("pages", daily * days + 3 * daily)),
    )  # fmt: skip


def hotel(rng: Random) -> Told:
    """A stay with a tax for each guest and night."""
    facts = [Slot("nights", rng.randint(2, 9)), Slot("room", rng.randint(70, 160)), Slot("guests", rng.randint(2, 4)),
             Slot("city tax", rng.randint(2, 5))]  # fmt: skip
    asked = Worked(facts, lambda at: at["nights"] * (at["room"] + at["guests"] * at["city tax"]))
    a, b, c, d = (f.value for f in facts)
    words = {"nights": "{} nights", "room": "room {} € a night", "guests": "{} guests",
             "city tax": "city tax {} € per guest and night"}  # fmt: skip
    return Told(
        "the price of the whole stay in Ghent", asked, facts,
        [("user", f"We are {c} and stay {a} nights in Ghent.", [facts[0], facts[2]]),
         ("tool", f'{{"hotel": "Reep", "room_per_night": {b}, "city_tax": {{"per": "guest, night", "eur": {d}}}}}',
          [facts[1], facts[3]])],
        [lines(lambda f: words[f.name].format(f.value), ", ", "Ghent: "),
         lines(lambda f: "- " + words[f.name].format(f.value))],
        lambda v: f"The stay comes to {v} €.", asked.answer(facts) - 14, (2, Slot("guests", c + 1)),
    )  # fmt: skip


def roast(rng: Random) -> Told:
    """When a roast goes into the oven, counted back from the meal."""
    facts = [Slot("meal", rng.randrange(18 * 60, 20 * 60, 15)), Slot("oven", rng.randrange(60, 150, 5)),
             Slot("rest", rng.randrange(10, 30, 5))]  # fmt: skip
    asked = Worked(facts, lambda at: at["meal"] - at["oven"] - at["rest"])
    a, b, c = (f.value for f in facts)
    words: dict[str, Callable[[int], str]] = {
        "meal": lambda v: f"dinner is at {clock(v)}", "oven": lambda v: f"{v} minutes in the oven",
        "rest": lambda v: f"then it rests for {v} minutes",
    }  # fmt: skip
    return Told(
        "when the roast goes into the oven", asked, facts,
        [("user", (f"Dinner is at {clock(a)}. The roast needs {b} minutes and has to rest {c} minutes afterwards. "
                  "When does it go in?"), facts)],
        [lines(lambda f: words[f.name](f.value), "; ", "Roast: "), lines(lambda f: "> " + words[f.name](f.value))],
        lambda v: f"It goes in at {clock(v)}.", asked.answer(facts) - 20, (1, Slot("oven", b + 15)),
    )  # fmt: skip


def readings(rng: Random) -> Told:
    """The mean of several measurements."""
    numbers = [Fraction(rng.randint(120, 480), 10) for _ in range(4)]
    facts = [Slot(f"run {place}", number) for place, number in enumerate(numbers, 1)]
    asked = Worked(facts, lambda at: sum(at.values()) / len(at))
    said = "\n".join(f"{f.name}: {float(f.value):.1f} ms" for f in facts)
    return Told(
        "the mean latency of the four runs", asked, facts, [("tool", f"bench p99\n{said}", facts)],
        [lines(lambda f: f"{f.name} took {float(f.value):.1f} ms", ", "),
         lambda fs: json.dumps({"p99_ms": {f.name: float(f.value) for f in fs}}),
         rows("run p99/ms", lambda f: (f.name, float(f.value)))],
        lambda v: f"The mean is {float(v):.2f} ms.", asked.answer(facts) + 2,
        (2, Slot("run 3", numbers[2] + 9)),
    )  # fmt: skip


def rent(rng: Random) -> Told:
    """One room's part of a rent that is shared by area."""
    total = rng.randint(8, 19) * 120
    facts = [Slot("rent", total)] + [
        Slot(name, rng.randint(9, 25)) for name in rng.sample(("Bea", "Cas", "Dilan", "Enzo"), 3)
    ]
    who = facts[1].name
    asked = Worked(facts, lambda at: Fraction(at["rent"] * at[who], sum(at.values()) - at["rent"]))

    def words(fact: Slot) -> str:
        return f"whole rent {fact.value}" if fact.name == "rent" else f"{fact.name}'s room {fact.value} m²"

    return Told(
        f"the part of the rent that {who} pays", asked, facts,
        [("user", f"We split {total} euros of rent by the size of our rooms.", facts[:1]),
         ("user", "; ".join(f"{f.name} has {f.value} square metres" for f in facts[1:]) + f". What does {who} pay?",
          facts[1:])],
        [lines(words, ", "), lines(lambda f: "+ " + words(f))],
        lambda v: f"{who} pays {float(v):.2f} euros.", asked.answer(facts) + 25,
        (2, Slot(facts[2].name, facts[2].value + 4)),
    )  # fmt: skip


KINDS: dict[str, Callable[[Random], Told]] = {
    "vat": vat, "roster": roster, "tablets": tablets, "backup": backup, "freight": freight, "dilution": dilution,
    "sprint": sprint, "fuel": fuel, "meter": meter, "layover": layover, "book": book, "hotel": hotel, "roast": roast,
    "readings": readings, "rent": rent,
}  # fmt: skip
