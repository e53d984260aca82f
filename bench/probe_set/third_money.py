"""Kinds of the third set about money and amounts: bookings, invoices, budgets, fares, quantities, in six languages.

Who works on the probe does not read this file.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random

from .second_note import Matter
from .third_note import given


def tickets(rng: Random) -> Matter:
    """Tickets of a train for adults and children, with seats."""
    adults, kids, fare, seat = rng.randint(2, 5), rng.randint(2, 6), rng.randint(19, 64) * 2, rng.choice((3, 4, 6))
    part = rng.choice((50, 75))
    return Matter(
        "what the train tickets cost in pounds", "A group wants to go by train.",
        [given("adults", "adults", adults, "{v.w} adults", "{v.n}|{v.w}", "{v.w} adults travel|there are {v.n} adults",
               adults + 1, adults + 3),
         given("kids", "children", kids, "{v.w} children", "{v.n}|{v.w}",
         "{v.w} children come along|there are {v.n} kids",
               kids - 1, kids + 2),
         given("fare", "adult fare", fare, "£{v.n} for an adult", "£{v.n}|{v.n} pounds",
               "an adult pays £{v.n}|the fare of an adult is {v.n} pounds", fare + 10, fare - 6),
         given("part", "child fare", part, "children pay {v.n} % of that", "{v.n} % of the adult fare",
               "a child pays {v.n} % of the adult fare|children travel at {v.n} per cent of the adult fare",
               125 - part, 60),
         given("seat", "seat", seat, "£{v.n} a seat for everybody", "£{v.n} a head|{v.n} pounds per person",
               "a seat is £{v.n} for each of them|everybody needs a seat at £{v.n}", seat + 2, seat + 5)],
        "adults * fare + kids * fare * part / 100 + (adults + kids) * seat",
        lambda at: at["adults"] * (at["fare"] + at["seat"])
        + at["kids"] * (Fraction(at["fare"] * at["part"], 100) + at["seat"]),
        [("user", "We are {adults} and {kids}."), ("tool", "fares: {fare}, {part}. reservation: {seat}")],
        "The tickets cost £{v.two}.|tickets in all: £{v.two}|You pay £{v.two} for everybody.",
        Fraction((adults + kids) * (fare + seat)), "headings elements handoff counted checklist turned",
    )  # fmt: skip


def lodging(rng: Random) -> Matter:
    """A German session: a flat for a holiday with cleaning and a tax a head and night."""
    nights, price, clean, heads = rng.randint(4, 13), rng.randint(61, 148), rng.choice((45, 60, 75)), rng.randint(2, 5)
    tax = rng.choice((2, 3, 4))
    return Matter(
        "was die Ferienwohnung insgesamt kostet", "Es ging um eine Ferienwohnung.",
        [given("nights", "Nächte", nights, "{v.n} Nächte", "{v.n}",
        "sie bleiben {v.n} Nächte|es sind {v.n} Übernachtungen",
               nights + 1, nights - 2),
         given("price", "Preis pro Nacht", price, "{v.n} € pro Nacht", "{v.n} €|{v.n} EUR",
               "die Nacht kostet {v.n} €|pro Nacht werden {v.n} Euro verlangt", price + 9, price - 12),
         given("clean", "Endreinigung", clean, "{v.n} € für die Endreinigung", "{v.n} €|einmalig {v.n} €",
               "die Endreinigung kostet einmalig {v.n} €|dazu kommen {v.n} Euro Endreinigung", clean + 15, clean - 20),
         given("heads", "Personen", heads, "{v.n} Personen", "{v.n}",
         "sie sind {v.n} Personen|es fahren {v.n} Leute mit",
               heads + 1, heads + 2),
         given("tax", "Kurtaxe", tax, "{v.n} € Kurtaxe pro Person und Nacht", "{v.n} € pro Person und Nacht",
               "die Kurtaxe ist {v.n} € pro Person und Nacht|pro Person und Nacht fallen {v.n} Euro Kurtaxe an",
               tax + 1,
               tax + 3)],
        "nights * price + clean + heads * nights * tax",
        lambda at: at["clean"] + at["nights"] * (at["price"] + at["tax"] * at["heads"]),
        [("user", "Wir sind {heads} und bleiben {nights}."), ("tool", "Angebot: {price}, {clean}, {tax}")],
        "Die Ferienwohnung kostet {v.n} €.|Gesamtpreis: {v.n} €|Alles zusammen macht {v.n} Euro.",
        nights * price + clean + heads * tax, "dotted semicolons bullets lines bold arrows", language="de",
    )  # fmt: skip


def nota(rng: Random) -> Matter:
    """A Portuguese session: an invoice with a line that was cancelled."""
    names = rng.sample(("cabos", "roteador", "instalação", "suporte", "licença"), 5)
    numbers = rng.sample(range(48, 690), 5)
    rows = [given(f"row{at}", name, number, f"{name} " + "R$ {v.n}", "R$ {v.n}|{v.n} reais",
                  f"{name}: " + "{v.n} reais|na nota há {v.n} reais " + f"de {name}", number + 30, number - 9)
            for at, (name, number) in enumerate(zip(names[:4], numbers, strict=False))]  # fmt: skip
    return Matter(
        "o total da nota fiscal", "Falou-se de uma nota fiscal.", rows, "sum(rows)",
        lambda at: sum(number for key, number in at.items() if key.startswith("row")),
        [("user", "A nota tem: {row0}, {row1} e " + f"{names[4]} R$ {numbers[4]}."),
         ("user", f"Mais {{row2}} e {{row3}}. Ah, {names[4]} foi cancelado, não entra. Qual é o total?")],
        "O total da nota é R$ {v.n}.|total: R$ {v.n}|Ao todo são {v.n} reais.", sum(numbers),
        "dotted flat lines bullets tree semicolons", alike=True, language="pt",
        unmarked=given("row9", names[4], numbers[4], names[4] + " R$ {v.n}", "R$ {v.n}|{v.n} reais",
                       f"{names[4]}: " + "{v.n} reais"),
    )  # fmt: skip


def grant(rng: Random) -> Matter:
    """What is left of a grant, with a quote that was not ordered."""
    whole, spent = rng.randint(90, 190) * 100, rng.sample(range(410, 2900, 10), 4)
    names = rng.sample(("microscope lease", "field trip", "open-access fee", "reagents", "student helper"), 4)
    rows = [given("row0", "grant", whole, "the grant is {v.k} kr", "{v.k} kr|{v.n} SEK",
                  "the grant comes to {v.k} kr|{v.n} kronor were granted", whole - 2000, whole + 500)]  # fmt: skip
    rows += [given(f"row{at}", name, -number, "{v.lost} kr for the " + name, "−{v.lost} kr|{v.lost} kr spent",
                   "{v.lost} kr were spent on the " + name + "|the " + name + " took {v.lost} kr of it", -number - 200,
                   -number + 40) for at, (name, number) in enumerate(zip(names[:3], spent, strict=False),
                   1)]  # fmt: skip
    return Matter(
        "what is left of the grant in kronor", "The spending of a grant was gone through.", rows, "sum(rows)",
        lambda at: sum(number for key, number in at.items() if "row" in key),
        [("user", "{row0}. So far {row1}, {row2}."),
         ("user", f"And {{row3}}. The {names[3]} for {spent[3]} kr was only a quote, we did not order it.")],
        "{v.n} kr of the grant are left.|remaining: {v.n} kr|There are {v.n} kronor left to spend.",
        whole - sum(spent), "three checklist bullets elements inline handoff", alike=True,
        unmarked=given("row9", names[3], -spent[3], "{v.lost} kr", "−{v.lost} kr|{v.lost} kr spent",
                       "{v.lost} kr were spent on the " + names[3]),
    )  # fmt: skip


def retainer(rng: Random) -> Matter:
    """What is still to be billed: days and hours, a rate, an advance."""
    days, hours, rate, paid = rng.randint(4, 11), rng.choice((6, 7, 8)), rng.randint(62, 118), rng.randint(9, 16) * 100
    return Matter(
        "what is still to be billed to the client", "A freelancer prepared an invoice.",
        [given("days", "days", days, "{v.w} days", "{v.n}|{v.w}", "it took {v.w} days|{v.n} days were worked", days - 1,
               days + 3),
         given("hours", "hours a day", hours, "of {v.n} hours", "{v.n}|{v.n} h",
               "a day had {v.n} hours|each day was {v.w} hours long", hours + 1, 10),
         given("rate", "hourly rate", rate, "my rate is {v.n} €/h", "{v.n} €|€{v.n} an hour",
               "an hour is billed at {v.n} €|the hourly rate is €{v.n}", rate - 10, rate + 6),
         given("paid", "advance", paid, "{v.k} € were paid in advance", "{v.k} €|€{v.n}",
               "an advance of {v.n} € was paid|{v.k} € have been paid already", paid + 250, paid - 300)],
        "days * hours * rate - paid", lambda at: at["rate"] * at["hours"] * at["days"] - at["paid"],
        [("user", "I worked {days} {hours}, {rate}."), ("user", "Oh, and {paid}. What do I still bill?")],
        "{v.n} € are still to be billed.|open amount: {v.n} €|Bill the client another {v.n} €.", days * hours * rate,
        "assigned trailers lines wrapped dotted arrows",
    )  # fmt: skip


def cable(rng: Random) -> Matter:
    """What is left on a drum of cable, metres and centimetres mixed."""
    drum, one, two, three = rng.choice((2500, 5000)), *(each * 5 for each in rng.sample(range(37, 95), 3))
    where = rng.sample(("hall", "attic", "garage", "pantry"), 3)

    def cut(at: int, name: str, number: int, in_cm: bool) -> object:
        """Make a cut; its slip has lost the unit, so that it reads as centimetres written like metres."""
        bad = given(f"row{at}", f"cut for the {name}", -number * (10 if not in_cm else 100), "{v.lost}",
                    f"{number * 10} cm" if not in_cm else f"{number} m",
                    f"{number * 10} cm were cut off for the {name}" if not in_cm else
                    (f"{number} m were cut off for the "
                     f"{name}"))  # fmt: skip
        metres = f"{number / 100:.2f}".rstrip("0").rstrip(".")
        return given(f"row{at}", f"cut for the {name}", -number, f"{number} cm for the {name}" if in_cm
                     else f"{metres} m for the {name}", f"{number} cm|{metres} m",
                     f"{number} cm were cut off for the {name}|the {name} took {metres} m", bad.value, -number - 60,
                     slip=bad)  # fmt: skip

    rows = [given("row0", "new drum", drum, "a new drum of {v.hundredth} m", "{v.hundredth} m|{v.n} cm",
                  "the drum had {v.hundredth} m|a new drum holds {v.hundredth} metres", drum + 2500, drum - 500),
            cut(1, where[0], one, True), cut(2, where[1], two, False), cut(3, where[2], three, True)]  # fmt: skip
    return Matter(
        "how many centimetres of cable are left on the drum", "Cable was cut off a drum.", rows, "sum(rows)",
        lambda at: sum(number for key, number in at.items() if key < "s"),
        [("user", "I opened {row0} and cut {row1}, then {row2}."), ("user", "Last one: {row3}. What is left in cm?")],
        "{v.n} cm are left.|left on the drum: {v.hundredth} m|The drum still has {v.n} cm.", drum - one - two,
        "semicolons numbered stars chained tree toml", alike=True,
    )  # fmt: skip


def glaze(rng: Random) -> Matter:
    """Grams of soda ash for several buckets of a glaze."""
    litres, grams, buckets = rng.randint(3, 9), rng.choice((14, 18, 22, 35)), rng.randint(3, 8)
    return Matter(
        "how many grams of soda ash the buckets need", "Buckets of a glaze were to be mixed.",
        [given("litres", "bucket", litres, "a bucket holds {v.n} litres", "{v.n} l|{v.thousandfold} ml",
               "each bucket takes {v.n} litres|a bucket holds {v.thousandfold} ml", litres + 2, litres - 1),
         given("grams", "soda ash", grams, "{v.n} g of soda ash per litre", "{v.n} g/l|{v.thousandth} kg per litre",
               "every litre needs {v.n} g of soda ash|{v.n} grams of soda ash go into a litre", grams - 4, grams + 10),
         given("buckets", "buckets", buckets, "{v.w} buckets", "{v.n}|{v.w}",
               "{v.w} buckets are mixed|they want {v.n} buckets", buckets + 1, buckets - 2)],
        "litres * grams * buckets", lambda at: at["buckets"] * at["grams"] * at["litres"],
        [("tool", "recipe card, page 2: {grams}"), ("user", "For the workshop I need {buckets}, {litres}.")],
        "They need {v.n} g of soda ash.|soda ash: {v.n} g|{v.thousandth} kg of soda ash will do.", grams * buckets,
        "defined flat mapping bullets counted added",
    )  # fmt: skip


def freight(rng: Random) -> Matter:
    """A Chinese session: the weight of a pallet."""
    boxes, each, pallet = rng.randint(14, 48), rng.randint(6, 19), rng.choice((21, 24, 27))
    return Matter(
        "这批货连托盘一共多少公斤", "谈到了一批货的重量。",
        [given("boxes", "箱数", boxes, "一共{v.n}箱", "{v.n}箱", "这批货有{v.n}箱|共{v.n}个箱子", boxes + 4, boxes - 3),
         given("each", "每箱重量", each, "每箱{v.n}公斤", "{v.n}公斤|{v.n} kg", "每箱重{v.n}公斤|一个箱子有{v.n}公斤",
               each + 5, each + 2),
         given("pallet", "托盘重量", pallet, "托盘重{v.n}公斤", "{v.n}公斤|{v.n} kg",
               "托盘本身重{v.n}公斤|托盘有{v.n}公斤", pallet + 6, pallet - 5)],
        "boxes * each + pallet", lambda at: at["pallet"] + at["each"] * at["boxes"],
        [("user", "这批货{boxes}，{each}。"), ("user", "{pallet}。总重是多少？")],
        "总重{v.n}公斤。|合计：{v.n}公斤。|连托盘是{v.n}公斤。", boxes * each,
        "dotted arrows bullets lines tree flat", language="zh",
    )  # fmt: skip


def taxi(rng: Random) -> Matter:
    """A Hindi session: a taxi fare with a night charge."""
    base, km, rate, night = (
        rng.choice((45, 60, 80)),
        rng.randint(12, 44),
        rng.randint(14, 27),
        rng.choice((70, 90, 120)),
    )
    return Matter(
        "टैक्सी का कुल किराया", "टैक्सी के किराए की बात हुई।",
        [given("base", "शुरुआती किराया", base, "शुरुआती किराया ₹{v.n}", "₹{v.n}|{v.n} रुपये",
               "शुरुआती किराया {v.n} रुपये है|शुरू में ₹{v.n} लगते हैं", base + 10, base - 15),
         given("km", "दूरी", km, "दूरी {v.n} किमी", "{v.n} किमी|{v.n} km",
         "दूरी {v.n} किलोमीटर है|रास्ता {v.n} किमी का है",
               km + 6, km - 3),
         given("rate", "प्रति किमी दर", rate, "हर किमी का ₹{v.n}", "₹{v.n}|{v.n} रुपये",
               "हर किलोमीटर के {v.n} रुपये लगते हैं|प्रति किमी दर ₹{v.n} है", rate - 2, rate + 5),
         given("night", "रात का शुल्क", night, "रात का शुल्क ₹{v.n}", "₹{v.n}|{v.n} रुपये",
               "रात का शुल्क {v.n} रुपये है|रात में ₹{v.n} और लगते हैं", night + 20, night - 25)],
        "base + km * rate + night", lambda at: at["night"] + at["base"] + at["rate"] * at["km"],
        [("user", "{base} और {rate}।"), ("user", "{km}, और {night}। कुल कितना होगा?")],
        "कुल किराया ₹{v.n} है।|कुल: {v.n} रुपये।|टैक्सी के {v.n} रुपये लगेंगे।", base + km * rate,
        "dotted arrows bullets lines bold semicolons", language="hi",
    )  # fmt: skip


def lunches(rng: Random) -> Matter:
    """A Korean session: packed lunches with a delivery and a voucher, a head count corrected."""
    heads, price, ride, off = rng.randint(14, 45), rng.choice((7500, 8200, 9400)), rng.choice((3000, 4500)), 5000
    off = rng.choice((2000, 6000, 10000))
    return Matter(
        "도시락 주문에 드는 돈", "도시락 주문 이야기가 나왔다.",
        [given("heads", "인원", heads, "{v.n}명", "{v.n}명", "인원은 {v.n}명이다|모두 {v.n}명이 먹는다",
               heads - 4, heads + 2),
         given("price", "도시락 값", price, "도시락 하나에 {v.n}원", "{v.k}원|{v.n}원",
               "도시락 하나는 {v.k}원이다|도시락 값은 하나에 {v.n}원이다", price + 500, price - 700),
         given("ride", "배달비", ride, "배달비 {v.n}원", "{v.k}원|{v.n}원",
         "배달비는 {v.k}원이다|배달비로 {v.n}원이 든다",
               ride + 1000, ride - 500),
         given("off", "할인 쿠폰", off, "할인 쿠폰 {v.n}원", "{v.k}원|{v.n}원",
         "쿠폰으로 {v.k}원을 뺀다|할인 쿠폰이 {v.n}원이다",
               off + 3000, off - 1000)],
        "heads * price + ride - off", lambda at: at["ride"] - at["off"] + at["price"] * at["heads"],
        [("user", f"회의 인원은 {heads - 4}명이고 {{price}}입니다. {{ride}}, {{off}}이 있어요."),
         ("user", "아, 인원이 틀렸네요. {heads}입니다. 모두 얼마죠?")],
        "모두 {v.n}원입니다.|합계: {v.k}원.|주문 금액은 {v.k}원입니다.", (heads - 4) * price + ride - off,
        "dotted arrows bullets lines tree flat", language="ko",
    )  # fmt: skip


KINDS = {
    "tickets": tickets, "lodging": lodging, "nota": nota, "grant": grant, "retainer": retainer, "cable": cable,
    "glaze": glaze, "freight_cn": freight, "taxi": taxi, "lunches": lunches,
}  # fmt: skip
