"""Kinds of the second set that are added up or counted: harvests, passengers, set lists, luggage, birds and so on.

Who works on the probe does not read this file.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from random import Random
from typing import Any

from .second_note import Given, Matter


def total(at: Mapping[str, Any]) -> Any:
    """Add up all rows."""
    return sum(number for key, number in at.items() if key.startswith("row"))


def harvest(rng: Random) -> Matter:
    """Kilograms of plums from several plots, some in words."""
    plots = rng.sample(("north terrace", "old orchard", "river plot", "school garden", "chapel slope"), 4)
    weights = rng.sample(range(31, 190), 5)
    givens = [
        Given(f"row{at}", f"the {name}", number, "{v.n} kg from " + f"the {name}",
        "{v.n} kg|{v.w} kilos|{v.thousandth} t",
              "the plums of " + f"the {name} " + "weigh {v.n} kg|" + f"the {name} yielded " + "{v.w} kilograms of "
              "plums",
              (number + 9, number + 14))
        for at, (name, number) in enumerate(zip(plots, weights, strict=False))
    ]  # fmt: skip
    return Matter(
        "how many kilos of plums were picked", "Somebody asked about the weight of the plum harvest.", givens,
        "sum(rows)", total,
        [("user", "The plums are in: {row0}, {row1}."), ("user", "Later on {row2} and {row3}. How much did we pick?")],
        "{v.n} kg of plums were picked.", sum(weights[:4]) - 27, "boxes sloppy outline prose email yaml", alike=True,
    )  # fmt: skip


def ferry(rng: Random) -> Matter:
    """People on board after people went on and off."""
    start, on, off, more = rng.randint(140, 310), rng.randint(22, 70), rng.randint(31, 90), rng.randint(12, 19)
    ports = rng.sample(("Visby", "Nynäshamn", "Ventspils", "Gdynia"), 2)
    givens = [
        Given("row0", "on board at departure", start, "{v.n} people on board at departure",
        "{v.n} people|{v.w} persons",
              "the ship left with {v.n} passengers|{v.w} people were on board at departure", (start + 10, start - 5)),
        Given("row1", f"boarded in {ports[0]}", on, "{v.n} boarded in " + ports[0], "{v.n} people|{v.w} persons",
              "{v.n} passengers boarded in " + f"{ports[0]}|in {ports[0]} " + "{v.w} people got on", (on + 4, on + 6)),
        Given("row2", f"left in {ports[0]}", -off, "{v.lost} left in " + ports[0], "{v.lost} people|{v.lost} persons",
              "{v.lost} passengers left in " + f"{ports[0]}|in {ports[0]} " + "{v.lost} people got off", (-off - 3,
              -off + 2)),
        Given("row3", f"boarded in {ports[1]}", more, "{v.n} boarded in " + ports[1], "{v.n} people|{v.w} persons",
              "{v.n} passengers boarded in " + f"{ports[1]}|in {ports[1]} " + "{v.w} people got on", (more + 40,
              more + 7)),
    ]  # fmt: skip
    return Matter(
        "how many people are on board now", "The purser wanted a head count.", givens, "sum(rows)", total,
        [("user", "Head count, please: {row0}, then {row2} and {row1}."), ("user", "And {row3}. How many are we now?")],
        "There are {v.n} people on board.", start + on - off, "log csv minutes turns ticket run_on", alike=False,
    )  # fmt: skip


def setlist(rng: Random) -> Matter:
    """The length of a concert, with a piece that was rehearsed and not played."""
    pieces = rng.sample(("Kestrel Waltz", "Low Tide", "Amber Road", "Nine Lanterns", "Salt Hymn", "Postcard"), 5)
    lengths = rng.sample(range(131, 500), 5)
    made = [
        Given(f"row{at}", name, seconds, f"{name} " + "({v.ms})", "{v.ms}|{v.minsec}|{v.n} s",
              f"they played {name}, " + "which lasts {v.minsec}|" + f"{name} was played and takes " + "{v.n} seconds",
              (seconds + 20, seconds - 30))
        for at, (name, seconds) in enumerate(zip(pieces, lengths, strict=True))
    ]  # fmt: skip
    out = made[4]
    marked = Given("extra", f"{out.label} (dropped from the set)", out.value, f"{out.label} " + "({v.ms})",
    "{v.ms}|{v.minsec}",
                   f"{out.label} " + "({v.minsec}) was taken off the set list and not played")  # fmt: skip
    return Matter(
        "the playing time of the concert", "The user wanted to know how long the music lasted.", made[:4],
        "sum(rows)", total,
        [("user", ("We played {row0}, {row1}, {row2} and {row3}. We had rehearsed {extra} too but dropped it. "
                  "How long was the music in all?"))],
        "The music lasted {v.minsec}.", sum(lengths[:3]), "tabular quoted dashes docstring markup records",
        extras=[marked], unmarked=out, alike=True,
    )  # fmt: skip


def luggage(rng: Random) -> Matter:
    """Bags of which some are in grams and one was left at home."""
    owners = rng.sample(("Ilka", "Tomo", "Sanna", "Reza", "Bea"), 4)
    grams = [rng.randint(42, 230) * 100 for _ in owners]
    made = [
        Given(f"row{at}", f"{name}'s bag", weight, f"{name}'s bag " + ("{v.thousandth} kg" if at % 2 else "{v.n} g"),
              "{v.thousandth} kg|{v.n} g", f"{name}'s bag " + "weighs {v.thousandth} kg|" + "at {v.n} grams "
              + f"{name}'s bag was checked in", (weight + 1100, weight - 900))
        for at, (name, weight) in enumerate(zip(owners, grams, strict=True))
    ]  # fmt: skip
    home = Given("row9", "the skis", rng.randint(51, 99) * 100, "the skis ({v.thousandth} kg)",
    "{v.thousandth} kg|{v.n} g",
                 "the skis weigh {v.n} g")  # fmt: skip
    marked = Given("extra", "the skis (stayed at home)", home.value, home.spoken, home.shown,
                   "the skis of {v.thousandth} kg stayed at home")  # fmt: skip
    return Matter(
        "the weight of everything that was checked in", "It was about luggage.", made, "sum(rows)", total,
        [("tool", "scale: {row0}; {row1}; {row2}; {row3}"),
         ("user", "We left {extra} at home. What is the weight of all that we check in?")],
        "{v.thousandth} kg were checked in.", sum(grams) + 2000, "columns object comment email asked run_on",
        extras=[marked], unmarked=home, alike=True,
    )  # fmt: skip


def herons(rng: Random) -> Matter:
    """Sightings of one bird among those of another."""
    hours = ("6 o'clock", "7 o'clock", "8 o'clock", "9 o'clock")
    counts = rng.sample(range(11, 48), 4)
    givens = [
        Given(f"row{at}", f"herons at {hour}", number, f"{hour}: " + "{v.n} herons", "{v.n}|{v.w}",
              f"{hour} " + "brought {v.w} herons|" + "{v.n} herons were seen at " + hour, (number + 3, number + 11))
        for at, (hour, number) in enumerate(zip(hours, counts, strict=True))
    ]  # fmt: skip
    egrets = [
        Given(f"extra{at}", f"egrets at {hours[at]}", number, "{v.n} egrets", "{v.n}|{v.w}",
              "{v.n} egrets stood there at " + hours[at])
        for at, number in enumerate(rng.sample(range(50, 90), 2))
    ]  # fmt: skip
    return Matter(
        "how many herons were counted that morning", "There was a bird count at the lake.", givens, "sum(rows)", total,
        [("tool", "{row0}, {extra0}\n{row1}, {extra1}\n{row2}\n{row3}")],
        "{v.n} herons were counted.", sum(counts) + 12, "pipes ini log slashes minutes csv", extras=egrets, alike=True,
    )  # fmt: skip


def climb(rng: Random) -> Matter:
    """Metres of ascent of a hike, while descents are not asked."""
    legs = rng.sample(("the gorge", "the saddle", "the hut", "the ridge", "the summit"), 4)
    metres = rng.sample(range(110, 640), 5)
    givens = [
        Given(f"row{at}", f"up to {leg}", number, "{v.n} m up to " + leg, "{v.n} m|{v.thousandth} km",
              f"the climb to {leg} " + "is {v.n} m|" + "{v.w} metres go up to " + leg, (number + 60, number - 50))
        for at, (leg, number) in enumerate(zip(legs, metres, strict=False))
    ]  # fmt: skip
    down = [Given("extra", "down to the car", metres[4], "{v.n} m down to the car", "{v.n} m",
                  "in the end {v.n} m go down to the car")]  # fmt: skip
    return Matter(
        "the metres of ascent of the hike", "Somebody planned a hike.", givens, "sum(rows)", total,
        [("user", "First {row0}, then {row1}. After lunch {row2} and {row3}, at last {extra}. How much ascent is it?")],
        "The hike has {v.n} m of ascent.", sum(metres), "yaml tabular turns dashes sloppy boxes", extras=down,
        alike=True,
    )  # fmt: skip


def marche(rng: Random) -> Matter:
    """A French session: pieces at a price each."""
    goods = rng.sample(("melons", "fromages", "poulets", "bouquets", "pains"), 3)
    counts, halves = rng.sample(range(2, 10), 3), rng.sample(range(11, 60), 3)
    givens = [
        Given(f"row{at}", name, Fraction(half, 2), f"{count} {name} " + "à {v.price} € pièce",
              f"{count} × " + "{v.price} €|" + f"{count} à " + "{v.price} € pièce",
              f"il a pris {count} {name} " + "à {v.price} € pièce|" + f"{count} {name} ont coûté " + "{v.price} € "
              "chacun",
              (Fraction(half + 4, 2), Fraction(half + 3, 2)))
        for at, (name, count, half) in enumerate(zip(goods, counts, halves, strict=True))
    ]  # fmt: skip
    right = sum(Fraction(count * half, 2) for count, half in zip(counts, halves, strict=True))
    return Matter(
        "la somme dépensée au marché", "On a parlé d'achats au marché.", givens,
        " + ".join(f"{count} * row{at}" for at, count in enumerate(counts)),
        lambda at: sum(count * at[f"row{place}"] for place, count in enumerate(counts)),
        [("user", "J'ai pris {row0}, {row1} et {row2}. Combien ai-je dépensé ?")],
        "La dépense est de {v.comma} €.", right + 4, "pipes prose dashes object columns turns", alike=True,
        language="fr",
    )  # fmt: skip


def nimotsu(rng: Random) -> Matter:
    """A Japanese session: boxes of a move, some in kanji digits or full width."""
    rooms = rng.sample(("台所", "書斎", "寝室", "居間", "倉庫"), 4)
    counts = rng.sample(range(11, 60), 4)
    givens = [
        Given(f"row{at}", room, number, f"{room}は" + "{v.n}箱", "{v.n}箱|{v.full}箱",
              f"{room}の荷物は" + "{v.n}箱|" + f"{room}からは" + "{v.full}箱出た", (number + 8, number + 3))
        for at, (room, number) in enumerate(zip(rooms, counts, strict=True))
    ]  # fmt: skip
    return Matter(
        "引っ越しの箱は全部で何箱か", "引っ越しの荷物の話。", givens, "sum(rows)", total,
        [("user", "荷物を数えました。{row0}、{row1}です。"), ("user", "それから{row2}、{row3}。全部で何箱ですか。")],
        "箱は全部で{v.n}箱です。", sum(counts) - 6, "pipes dashes turns object columns yaml", alike=True, language="ja",
    )  # fmt: skip


def copies(rng: Random) -> Matter:
    """Copies of a leaflet by district, the note in digits of other scripts."""
    districts = rng.sample(("Harbourside", "Uphill", "Eastgate", "Millfield", "Parkway"), 3)
    numbers = rng.sample(range(1100, 9400, 25), 3)
    script = rng.choice(("arab", "deva", "thai", "bengali", "full"))
    givens = [
        Given(f"row{at}", f"district {name}", number, f"{name} " + "gets {v.k}",
        "{v." + script + "}|{v." + script + "}",
              f"{name} " + "receives {v." + script + "} leaflets|" + "{v." + script + "} leaflets go to " + name,
              (number + 150, number + 275))
        for at, (name, number) in enumerate(zip(districts, numbers, strict=True))
    ]  # fmt: skip
    return Matter(
        "how many leaflets are to be printed", "The print run of a leaflet was discussed.", givens, "sum(rows)", total,
        [("user", "Leaflets: {row0}, {row1}, {row2}. How many do we print?")],
        "{v.k} leaflets are to be printed.", sum(numbers) + 1000, "markup csv email outline prose quoted", alike=True,
    )  # fmt: skip


KINDS = {
    "harvest": harvest, "ferry": ferry, "setlist": setlist, "luggage": luggage, "herons": herons, "climb": climb,
    "marche": marche, "nimotsu": nimotsu, "copies": copies,
}  # fmt: skip
