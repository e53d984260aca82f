"""Kinds of the third set about days and hours: deadlines, embargoes, fees that wait, what comes due first.

Who works on the probe does not read this file.
"""

from __future__ import annotations

from datetime import date, timedelta
from random import Random

from .second_note import Matter
from .third_note import Given, given


def appeal(rng: Random) -> Matter:
    """A Polish session: the last day to pay, some days after delivery, with an extension."""
    start, days, more = (
        date(2026, 4, 1) + timedelta(days=rng.randrange(150)),
        rng.choice((14, 21)),
        rng.choice((5, 7, 10)),
    )
    return Matter(
        "ostatni dzień na zapłatę", "Chodziło o termin zapłaty.",
        [given("start", "doręczenie", start, "pismo doręczono {v.dotted}", "{v.dotted}|{v.iso}",
               "pismo doręczono {v.dotted}|dzień doręczenia to {v.iso}", start + timedelta(days=3),
               start - timedelta(days=1)),
         given("days", "termin", days, "termin to {v.n} dni od doręczenia", "{v.n} dni od doręczenia",
               "na zapłatę jest {v.n} dni od doręczenia|termin wynosi {v.n} dni od doręczenia", days + 7, days - 1),
         given("more", "przedłużenie", more, "przedłużono go o {v.n} dni", "{v.n} dni|o {v.n} dni",
               "termin przedłużono o {v.n} dni|dodano jeszcze {v.n} dni", more + 4, more - 2)],
        "after(start, days + more)", lambda at: at["start"] + timedelta(days=int(at["days"] + at["more"])),
        [("user", "{start}, a {days}."), ("user", "Potem {more}. Do kiedy trzeba zapłacić?")],
        "Zapłacić trzeba najpóźniej {v.dotted}.|termin zapłaty: {v.dotted}.|Ostatni dzień to {v.dotted}.",
        start + timedelta(days=days), "dotted bullets semicolons lines arrows tree", language="pl",
    )  # fmt: skip


def embargo(rng: Random) -> Matter:
    """The hour in UTC at which a mail goes out, before an embargo is lifted elsewhere."""
    city, offset = rng.choice((("Nairobi", 3), ("Karachi", 5), ("Dhaka", 6), ("Hanoi", 7)))
    lifted, lead = rng.randrange(14 * 60, 22 * 60, 5), rng.choice((25, 40, 50, 95))
    return Matter(
        "at what time in UTC the mail to the press goes out", "A mail to the press was scheduled.",
        [given("lifted", "embargo", lifted, f"the embargo is lifted at {{v.clock}} in {city}",
               f"{{v.clock}} {city} time|{{v.ampm}} in {city}",
               f"the embargo ends at {{v.clock}}, {city} time|at {{v.ampm}} in {city} the embargo is lifted",
               lifted + 60, lifted - 30),
         given("offset", f"{city} time", offset, f"{city} is {{v.n}} hours ahead of UTC",
         "UTC+{v.n}|{v.w} hours ahead of UTC",
               f"{city} is {{v.n}} hours ahead of UTC|{city} time is UTC+{{v.n}}", offset + 1, offset - 1),
         given("lead", "lead", lead, "the mail goes out {v.n} minutes before that",
         "{v.n} min before|{v.n} minutes before",
               "the mail leaves {v.n} minutes before the embargo ends|it is sent {v.n} min ahead of the embargo's end",
               lead + 15, lead - 10)],
        "lifted - 60 * offset - lead", lambda at: at["lifted"] - (at["lead"] + at["offset"] * 60),
        [("user", "{lifted}, and {lead}."), ("tool", "tz: {offset}, no daylight saving time")],
        "The mail goes out at {v.clock} UTC.|send at {v.clock} UTC|{v.clock} UTC is when the press gets it.",
        lifted - 60 * offset, "elements dotted handoff numbered stamped chained",
    )  # fmt: skip


def first_due(rng: Random) -> Matter:
    """Which of four things comes due first."""
    names = rng.sample(("the domain", "the certificate", "the office lease", "the licence", "the insurance"), 4)
    base = date(2026, 2, 10) + timedelta(days=rng.randrange(60))
    days = sorted(base + timedelta(days=each) for each in rng.sample(range(140), 4))
    rows = []
    for at, (name, day) in enumerate(zip(names, rng.sample(days, 4), strict=True)):
        other = days[-1] + timedelta(days=9) if day == days[0] else days[0] - timedelta(days=4 + at)
        rows.append(_due(at, name, day, other))
    return Matter(
        "what comes due first", "Some things have to be renewed.", rows, "min(rows)[1]",
        lambda at: min(at.values(), key=lambda row: row[0])[1],
        [("user", "Renewals: {row0}, {row1}."), ("tool", "calendar\n{row2}\n{row3}"),
         ("user", "Which one do I have to look after first?")],
        "{v.n} comes due first.|first: {v.n}|Look after {v.n} before the others.",
        next(row.value[1] for row in rows if row.value[0] != days[0]),
        "three arrows bullets checklist flat one_column", alike=True,
    )  # fmt: skip


def _due(at: int, name: str, day: date, other: date | None) -> Given:
    """Make a row; `other` is what a careless writer has, None in what he has."""
    long = f"{day.day} {day:%B %Y}"
    return Given(f"row{at}", name, (day, name), f"{name} on {long}",
    f"{day.isoformat()}|{day:%B} {day.day}, {day.year}",
                 f"{name} comes due on {long}|{day.isoformat()} is the day for {name}", ((other, name),
                 ) if other else (),
                 _due(at, name, other, None) if other else None)  # fmt: skip


def overdue(rng: Random) -> Matter:
    """A fee for days over a grace period."""
    grace, fee, cap = rng.randint(2, 4), rng.choice((7, 9, 12)), rng.randint(41, 70)
    days = cap // fee + grace + rng.randint(2, 6)  # over the cap, so that each of the four decides
    return Matter(
        "the fee for the van that came back late", "A rented van was brought back late.",
        [given("days", "days late", days, "{v.n} days late", "{v.n}|{v.w}",
               "the van was {v.n} days late|it came back {v.w} days too late", grace + 1, grace),
         given("grace", "grace days", grace, "the first {v.w} days are free", "{v.n}|the first {v.w}",
               "the first {v.w} days cost nothing|there are {v.n} days of grace", days - 1, days),
         given("fee", "fee a day", fee, "then £{v.n} a day", "£{v.n}|{v.n} pounds",
               "each day after that costs £{v.n}|the fee is £{v.n} for every further day", 1, 2),
         given("cap", "cap", cap, "never more than £{v.n}", "£{v.n}|at most {v.n} pounds",
               "the fee is capped at £{v.n}|it is never more than {v.n} pounds", 4, 5)],
        "min([cap, fee * (days - grace)])", lambda at: min((at["days"] - at["grace"]) * at["fee"], at["cap"]),
        [("user", "The van was {days}."), ("tool", "terms, late returns: {grace}, {fee}, {cap}")],
        "The fee is £{v.n}.|late fee: £{v.n}|They charge £{v.n}.", days * fee,
        "bold semicolons lines logfmt bullets headings",
    )  # fmt: skip


KINDS = {"appeal": appeal, "embargo": embargo, "first_due": first_due, "overdue": overdue}
