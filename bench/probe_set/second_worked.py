"""Kinds of the second set that are worked out of named values: paint, panels, interest, seeds, times, dates.

Who works on the probe does not read this file.
"""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction
from math import ceil
from random import Random

from .second_note import Given, Matter


def two(key: str, label: str, number: object, spoken: str, shown: str, told: str, *others: object) -> Given:
    """Make a given whose words are templates."""
    return Given(key, label, number, spoken, shown, told, others)


def walls(rng: Random) -> Matter:
    """Litres of paint for a wall with two coats."""
    area, coats, per = rng.randint(3, 12) * 6, rng.choice((2, 3)), rng.choice((6, 8, 9))
    return Matter(
        "how many litres of paint the walls take", "A room is going to be painted.",
        [two("area", "wall area", area, "{v.n} m² of wall", "{v.n} m²|{v.w} square metres",
             "the walls measure {v.n} m²|there are {v.w} square metres of wall", area + 12, area - 6),
         two("coats", "coats", coats, "{v.w} coats", "{v.n}|{v.w}", "{v.w} coats are wanted|they paint {v.w} coats",
             5 - coats, 4),
         two("per", "coverage", per, "a litre covers {v.n} m²", "{v.n} m² per litre|1 L for {v.n} m²",
             "one litre is enough for {v.n} m²|each litre of it covers {v.w} square metres", per + 4, per + 2)],
        "area * coats / per", lambda at: Fraction(at["area"] * at["coats"], at["per"]),
        [("user", "I want to paint {area} with {coats}."), ("tool", "product sheet: matt white; {per}")],
        "The walls take {v.n} litres of paint.", Fraction(area, per), "boxes ticket run_on email outline",
    )  # fmt: skip


def panels(rng: Random) -> Matter:
    """What some solar panels yield in a day."""
    n, watts, hours = rng.randint(6, 28), rng.choice((380, 410, 430, 455)), rng.choice((3, 4, 5, 6))
    return Matter(
        "the kilowatt-hours that the roof yields on such a day", "They talked about panels on a roof.",
        [two("n", "panels", n, "{v.n} panels", "{v.n}|{v.w}", "{v.w} panels fit on the roof|there will be {v.n} panels",
             n + 3, n - 2),
         two("watts", "power of each panel", watts, "{v.n} W each", "{v.n} W|{v.thousandth} kW",
             "each panel has {v.n} watts|every one of them delivers {v.thousandth} kW", watts + 50, watts - 30),
         two("hours", "full hours of sun", hours, "{v.w} full hours of sun", "{v.n} h|{v.w} hours",
             "the sun counts for {v.w} full hours|the day has {v.n} full hours of sun", hours + 2, hours + 1)],
        "n * watts * hours / 1000", lambda at: Fraction(at["n"] * at["watts"] * at["hours"], 1000),
        [("user", "Our roof takes {n} of {watts}, and a day in May has {hours}. What is the yield?")],
        "The yield is {v.n} kWh.", Fraction(n * watts * 8, 1000), "yaml records pipes minutes slashes",
    )  # fmt: skip


def interest(rng: Random) -> Matter:
    """Simple interest of some months."""
    principal, rate, months = rng.randint(14, 95) * 200, rng.choice((3, 4, 6, 8)), rng.choice((5, 7, 9, 10))
    return Matter(
        "the simple interest on the loan", "Somebody lent somebody money.",
        [two("principal", "sum lent", principal, "{v.k} francs", "{v.apostrophe} CHF|{v.n} francs",
             "the loan is {v.apostrophe} CHF|{v.k} francs were lent", principal + 1000, principal - 600),
         two("rate", "yearly rate", rate, "{v.n} percent a year", "{v.n} % p.a.|{v.w} per cent a year",
             "the rate is {v.n} % a year|it bears {v.w} per cent a year", rate + 1, rate + 3),
         two("months", "months", months, "{v.w} months", "{v.n}|{v.w}",
         "it runs for {v.w} months|the term is {v.n} months",
             months + 1, months + 2)],
        "principal * rate * months / 1200", lambda at: Fraction(at["principal"] * at["rate"] * at["months"], 1200),
        [("user", "I lend my cousin {principal} at {rate}."), ("user",
        ("She pays it back after {months}. How much simple "
                                                              "interest is that?"))],
        "The interest comes to {v.two} francs.", Fraction(principal * rate, 100), "columns ini asked docstring prose",
    )  # fmt: skip


def brochure(rng: Random) -> Matter:
    """Printing costs: pages, copies, a price a page, a price a binding."""
    pages, copies, cents, bind = (
        rng.randint(12, 60),
        rng.randint(21, 90),
        rng.choice((4, 6, 7)),
        rng.choice((80, 110, 150)),
    )
    return Matter(
        "what the brochures cost in all", "The user got a quote for brochures.",
        [two("pages", "pages", pages, "{v.n} pages", "{v.n}|{v.w}",
        "a brochure has {v.n} pages|each one has {v.w} pages",
             pages + 4, pages + 8),
         two("copies", "copies", copies, "{v.n} copies", "{v.n}|{v.w}",
         "{v.n} copies are wanted|they order {v.w} copies",
             copies + 10, copies - 5),
         two("cents", "price a page", cents, "{v.n} cents a page", "{v.n} ct|{v.w} cents",
         "a page costs {v.n} cents|every "
             "printed page is {v.w} cents", cents + 5, cents + 1),
         two("bind", "binding of one copy", bind, "{v.n} cents for the binding of a copy", "{v.n} ct|{v.w} cents",
             "binding is {v.n} cents a copy|{v.w} cents are added to each copy for binding", bind + 20, bind + 35)],
        "copies * (pages * cents + bind) / 100",
        lambda at: Fraction(at["copies"] * at["pages"] * at["cents"] + at["copies"] * at["bind"], 100),
        [("tool", "quote\n{cents}\n{bind}"), ("user", "We need {copies} of {pages} each. What is it in all?")],
        "The brochures cost {v.two} euros.", Fraction(copies * pages * cents, 100), "tabular csv ticket dashes email",
    )  # fmt: skip


def pool(rng: Random) -> Matter:
    """How long a basin takes to fill."""
    long, wide, deep, flow = (
        rng.choice((4, 5, 6)),
        rng.choice((2, 3)),
        rng.choice((110, 120, 150)),
        rng.choice((20, 25, 40)),
    )
    return Matter(
        "how many minutes the basin takes to fill", "A basin is to be filled.",
        [two("long", "length", long, "{v.n} m long", "{v.n} m|{v.hundredfold} cm", "the basin is {v.n} metres long|its "
             "length is {v.hundredfold} cm", long + 3, long + 1),
         two("wide", "width", wide, "{v.n} m wide", "{v.n} m|{v.hundredfold} cm", "the basin is {v.n} metres wide|its "
             "width is {v.hundredfold} cm", wide + 5, wide + 1),
         two("deep", "depth of water", deep, "{v.n} cm deep", "{v.n} cm", "the water stands {v.n} cm deep|it is filled "
             "to a depth of {v.n} centimetres", deep + 25, deep - 30),
         two("flow", "flow of the hose", flow, "{v.n} litres a minute", "{v.n} L/min|{v.w} litres a minute",
             "the hose gives {v.n} L a minute|{v.w} litres come out of the hose each minute", flow + 10, flow + 5)],
        "long * wide * deep * 10 / flow", lambda at: Fraction(at["long"] * at["wide"] * at["deep"] * 10, at["flow"]),
        [("user", ("The basin is {long}, {wide} and the water {deep}; the hose gives {flow}. How many minutes does "
        "it run?"))],
        "The basin is full after {v.n} minutes.", Fraction(long * wide * deep, flow),
        "object asked comment run_on turns",
    )  # fmt: skip


def seeds(rng: Random) -> Matter:
    """Bags of seed to buy, rounded up."""
    area, grams, bag = rng.randint(21, 95) * 10, rng.choice((25, 30, 35)), rng.choice((3, 4))
    return Matter(
        "how many bags of lawn seed to buy", "A lawn will be sown.",
        [two("area", "lawn", area, "{v.n} square metres of lawn", "{v.n} m²|{v.w} square metres",
             "the lawn has {v.n} m²|{v.w} square metres are to be sown", area + 640, area + 390),
         two("grams", "seed a square metre", grams, "{v.n} grams a square metre", "{v.n} g|{v.thousandth} kg",
             "each square metre takes {v.n} g of seed|{v.w} grams go on a square metre", grams + 25, grams + 15),
         two("bag", "content of a bag", bag, "bags of {v.n} kilos", "{v.n} kg|{v.thousandfold} g",
             "a bag holds {v.n} kg|it is sold by the bag of {v.w} kilos", 10, bag + 20)],
        "ceil(area * grams / (1000 * bag))", lambda at: ceil(Fraction(at["area"] * at["grams"], 1000 * at["bag"])),
        [("user", "I have {area} to sow."), ("tool", "lawn mix: {grams}; {bag}"), ("user", "How many bags do I buy?")],
        "{v.n} bags are to be bought.", ceil(Fraction(area * grams, 1000 * bag)) + 3,
        "markup quoted minutes sloppy prose",
    )  # fmt: skip


def footage(rng: Random) -> Matter:
    """Seconds of film from feet of it."""
    feet, frames, speed = rng.randint(4, 30) * 30, rng.choice((16, 40)), rng.choice((12, 15))
    return Matter(
        "how many seconds of film there are", "An old film was measured.",
        [two("feet", "length of the reel", feet, "a reel of {v.n} feet", "{v.n} ft|{v.w} feet",
             "the reel measures {v.n} ft|there are {v.w} feet of film", feet + 60, feet + 90),
         two("frames", "frames a foot", frames, "{v.n} frames a foot", "{v.n}|{v.w}",
         "a foot has {v.n} frames|one counts "
             "{v.w} frames to the foot", 72, 56),
         two("speed", "frames a second", speed, "{v.n} frames a second", "{v.n}|{v.w}", "it was shot at {v.n} frames a "
             "second|a second takes {v.w} frames", 24, 18)],
        "feet * frames / speed", lambda at: Fraction(at["feet"] * at["frames"], at["speed"]),
        [("user", "I found {feet}. It has {frames} and was shot at {speed}. How long does it run?")],
        "There are {v.n} seconds of film.", Fraction(feet * frames, 24), "log ini outline slashes email",
    )  # fmt: skip


def download(rng: Random) -> Matter:
    """Seconds that a transfer takes, bytes against bits."""
    size, rate = rng.choice((1200, 1800, 2400, 3000, 4500)), rng.choice((40, 50, 80, 100))
    return Matter(
        "how many seconds the transfer takes", "There is a file to be sent.",
        [two("size", "size of the file", size, "a file of {v.k} megabytes", "{v.n} MB|{v.thousandth} GB",
             "the file has {v.k} megabytes|{v.thousandth} GB have to be sent", size + 600, size + 300),
         two("rate", "speed of the line", rate, "{v.n} megabits per second", "{v.n} Mbit/s|{v.w} megabits a second",
             "the line does {v.n} Mbit/s|the line carries {v.w} megabits a second", rate + 20, rate + 60)],
        "size * 8 / rate", lambda at: Fraction(at["size"] * 8, at["rate"]),
        [("user", "We have {size}, a thousand of them to the gigabyte."), ("tool", "line test: {rate} upstream")],
        "The transfer takes {v.n} seconds.", Fraction(size, rate), "pipes asked turns docstring records",
    )  # fmt: skip


def overtime(rng: Random) -> Matter:
    """Pay with half as much again beyond a number of hours."""
    hours, limit, pay = rng.randint(43, 55), rng.choice((36, 38, 40)), rng.choice((14, 18, 22, 26))
    return Matter(
        "the pay of the week, overtime included", "A wage slip was checked.",
        [two("hours", "hours worked", hours, "{v.n} hours worked", "{v.n}|{v.w}",
        "the week had {v.n} hours of work|{v.w} "
             "hours were worked", hours + 6, hours + 2),
         two("limit", "hours before overtime", limit, "overtime begins after {v.n} hours", "{v.n}|{v.w}",
             "overtime starts after {v.n} hours|the first {v.w} hours are paid plainly",
             limit - 5, limit - 1),
         two("pay", "pay an hour", pay, "{v.n} dollars an hour", "${v.n}|{v.w} dollars",
         "an hour is paid ${v.n}|the plain "
             "hour earns {v.w} dollars", pay + 3, pay + 1),
         two("more", "supplement for overtime", 50, "{v.n} % on top for overtime", "+{v.n} %|plus {v.w} per cent",
             "overtime pays {v.n} % on top|an hour of overtime is {v.w} per cent dearer than a plain one", 25, 100)],
        "limit * pay + (hours - limit) * pay * (100 + more) / 100",
        lambda at: at["pay"] * (at["hours"] + Fraction(at["more"], 100) * (at["hours"] - at["limit"])),
        [("user", "It is {pay}, {limit}, with {more}."), ("user", "This week: {hours}. What is my pay?")],
        "The pay of the week is ${v.n}.", hours * pay, "columns ticket dashes yaml",
    )  # fmt: skip


def landing(rng: Random) -> Matter:
    """When a flight lands, by the clock of the place where it lands."""
    leave, fly, shift = rng.randrange(5 * 60, 9 * 60, 5), rng.randrange(125, 420, 5), rng.choice((2, 3, 4)) * 60
    return Matter(
        "the local time of landing", "A flight is coming up.",
        [two("leave", "departure, local", leave, "it leaves at {v.clock} local time", "{v.clock}|{v.ampm}",
             "the plane takes off at {v.ampm} local time|departure is at {v.clock}, local time", leave + 30,
             leave + 90),
         two("fly", "time in the air", fly, "{v.n} minutes in the air", "{v.hm}|{v.n} min",
             "it is {v.n} minutes in the air|the flight itself lasts {v.hm}", fly + 15, fly + 45),
         two("shift", "clocks there", shift // 60, "clocks there are {v.w} hours ahead",
         "+{v.n} h|{v.w} hours ahead of here",
             "over there it is {v.w} hours later than here|their clocks are {v.n} h ahead of ours", shift // 60 + 2,
             shift // 60 + 3)],
        "leave + fly + 60 * shift", lambda at: at["leave"] + at["fly"] + at["shift"] * 60,
        [("user", "About my flight: {leave}, {fly}, and {shift}. When do I land, local time?")],
        "You land at {v.clock} local time.", leave + fly, "boxes sloppy email outline",
    )  # fmt: skip


def warranty(rng: Random) -> Matter:
    """The last day of a warranty in months."""
    begin, term = date(2025, 1, 4) + timedelta(days=rng.randrange(300)), rng.choice((18, 30, 36))
    begin = begin.replace(day=min(begin.day, 27))

    def end(day: date, months: int) -> date:
        year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
        return date(year, month + 1, day.day)

    return Matter(
        "the date until which the warranty runs", "It was about the warranty of a boiler.",
        [two("begin", "bought", begin, "bought on {v.us}", "{v.iso}|{v.long}", "the boiler was bought on {v.long}|the "
             "receipt is dated {v.iso}", *(day.replace(day=min(day.day, 27)) for day in (begin + timedelta(days=31),
                                                                                       begin - timedelta(days=40)))),
         two("term", "warranty", term, "{v.n} months of warranty", "{v.n} months|{v.w} months",
             "the maker gives {v.n} months, counted from the purchase|it is covered for {v.w} months", term - 6,
             term + 24)],
        "months(begin, term)", lambda at: end(at["begin"], at["term"]),
        [("tool", "receipt: boiler K2, {begin}"), ("user",
        "There are {term}, from the day of purchase. Until which date?")],
        "The warranty runs until {v.long}.", end(begin, 24), "csv object prose asked tabular",
    )  # fmt: skip


def inspection(rng: Random) -> Matter:
    """The next inspection, some weeks after the last one, which was moved."""
    last, weeks = date(2026, 2, 2) + timedelta(days=rng.randrange(200)), rng.choice((6, 8, 10, 26))
    planned = last - timedelta(days=5)
    return Matter(
        "the date of the next inspection of the lift", "The lift is inspected now and then.",
        [two("last", "last inspection", last, "it really took place on {v.long}", "{v.short}|{v.iso}",
             "the last inspection took place on {v.long}|they inspected it on {v.iso} last", planned,
             last + timedelta(days=3)),
         two("weeks", "weeks between", weeks, "every {v.n} weeks", "{v.n}|{v.w}",
             "it is inspected every {v.n} weeks|{v.w} weeks lie between two inspections", weeks + 2, weeks + 4)],
        "after(last, 7 * weeks)", lambda at: at["last"] + timedelta(weeks=at["weeks"]),
        [("user", "The lift is inspected {weeks}. The last inspection was {extra}."),
         ("user", "I see that {last}. When is the next one?")],
        "The next inspection is on {v.long}.", planned + timedelta(weeks=weeks), "quoted run_on markup turns",
        [two("extra", "date first planned for the last one, then dropped", planned, "planned for {v.long}", "{v.iso}",
             "it had first been planned for {v.long}, which did not hold")],
    )  # fmt: skip


def alquiler(rng: Random) -> Matter:
    """A Spanish session: bicycles for hours, with a deposit that comes back."""
    bikes, hours, price, helmet = rng.randint(3, 9), rng.randint(4, 12), rng.choice((3, 4, 5)), rng.choice((11, 13, 17))
    return Matter(
        "lo que cuesta alquilar las bicicletas", "Se habló de alquilar bicicletas.",
        [two("bikes", "bicicletas", bikes, "{v.n} bicicletas", "{v.n}|{v.n} unidades",
        "alquilan {v.n} bicicletas|son {v.n} "
             "bicicletas", bikes + 6, bikes + 1),
         two("hours", "horas", hours, "{v.n} horas", "{v.n}|{v.n} h",
         "las tienen {v.n} horas|el alquiler dura {v.n} horas",
             hours + 10, hours + 2),
         two("price", "precio por bicicleta y hora", price, "{v.n} euros por bicicleta y hora", "{v.n} €|{v.n} euros",
             "cada bicicleta cuesta {v.n} euros la hora|piden {v.n} € por bicicleta y hora", price + 3, price + 5),
         two("helmet", "seguro, una vez por todas", helmet, "{v.n} euros de seguro en total", "{v.n} €|{v.n} euros",
             "el seguro son {v.n} euros en total|hay que sumar {v.n} € de seguro, una sola vez", helmet + 8,
             helmet + 2)],
        "bikes * hours * price + helmet", lambda at: at["helmet"] + at["price"] * at["hours"] * at["bikes"],
        [("user", "Queremos {bikes} durante {hours}. Son {price} y {helmet}. ¿Cuánto cuesta?")],
        "El alquiler cuesta {v.n} euros.", bikes * hours * price, "pipes dashes prose object turns", language="es",
    )  # fmt: skip


def gryadki(rng: Random) -> Matter:
    """A Russian session: fence around a garden, by the metre."""
    long, wide, price = rng.randint(21, 60), rng.randint(11, 20), rng.choice((350, 420, 480, 640))
    return Matter(
        "сколько стоит забор вокруг участка", "Речь шла о заборе.",
        [two("long", "длина", long, "длина участка {v.n} м", "{v.n} м", "участок имеет {v.n} м в длину|длина участка — "
             "{v.n} метров", long + 9, long + 4),
         two("wide", "ширина", wide, "ширина {v.n} м", "{v.n} м", "ширина участка {v.n} м|в ширину он {v.n} метров",
             wide + 50, wide + 60),
         two("price", "цена за метр", price, "метр забора стоит {v.n} рублей", "{v.n} руб.|{v.n} ₽",
             "метр забора стоит {v.n} рублей|за метр просят {v.n} ₽", price + 70, price - 110)],
        "2 * (long + wide) * price", lambda at: at["price"] * (2 * at["long"] + 2 * at["wide"]),
        [("user", "Нужен забор вокруг участка: {long}, {wide}."), ("user", "А {price}. Сколько стоит весь забор?")],
        "Забор стоит {v.n} рублей.", long * wide * price, "pipes columns dashes email prose", language="ru",
    )  # fmt: skip


KINDS = {
    "walls": walls, "panels": panels, "interest": interest, "brochure": brochure, "pool": pool, "seeds": seeds,
    "footage": footage, "download": download, "overtime": overtime, "landing": landing, "warranty": warranty,
    "inspection": inspection, "alquiler": alquiler, "gryadki": gryadki,
}  # fmt: skip
