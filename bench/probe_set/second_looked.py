"""Kinds of the second set that are looked up: codes, keys, seats, versions, rooms, chosen places, moved days.

Who works on the probe does not read this file.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from random import Random

from .second_note import Given, Matter


def one(given: Given, claim: str, topic: str, turns: Sequence[tuple[str, str]], concluded: str, wrong: object,
        forms: str, extras: Sequence[Given], language: str = "en") -> Matter:  # fmt: skip
    """Make a matter of a single given."""
    return Matter(claim, topic, [given], given.key, lambda at: at[given.key], turns, concluded, wrong, forms, extras,
                  single=True, language=language)  # fmt: skip


def code(rng: Random) -> str:
    """Draw a code without letters that look like digits."""
    return f"{rng.choice('CFHKMR')}{rng.randint(210, 989)}-{rng.choice('AEUX')}{rng.randint(2100, 9899)}"


def gate(rng: Random) -> Matter:
    """A code that was changed, among another gate's."""
    old, new, other = (code(rng) for _ in range(3))
    slip = new[:-1] + str((int(new[-1]) + 4) % 10)
    return one(
        Given("rear", "rear gate", new, "the rear gate now opens with {v.n}", "{v.n}|code {v.n}",
              "the rear gate opens with {v.n}|{v.n} is the code of the rear gate", (old, slip)),
        "the code that opens the rear gate now", "The codes of the gates came up.",
        [("user", "Note the gates: {old}, and {front}."), ("user", "It was changed today: {rear}.")],
        "The rear gate opens with {v.n}.", slip, "log yaml prose sloppy markup dashes",
        [Given("front", "front gate", other, "the front gate with {v.n}", "{v.n}", "the front gate opens with {v.n}"),
         Given("old", "rear gate until yesterday", old, "the rear gate opens with {v.n}", "{v.n} (no longer valid)",
               "until yesterday the rear gate had {v.n}, which is no longer valid")],
    )  # fmt: skip


def keyholder(rng: Random) -> Matter:
    """Who has a key after it went from hand to hand."""
    first, second, third, fourth = rng.sample(("Marit", "Okko", "Priya", "Ruben", "Szilvia", "Tarek"), 4)
    return one(
        Given("now", "cellar key now", third, f"{second} handed the cellar key to " + "{v.n}",
              f"{{v.n}}|{{v.n}}, who got it from {second}",
              f"{{v.n}} has the cellar key now|{second} passed the cellar key on to {{v.n}}, who still has it",
              (fourth, second)),
        "who has the cellar key now", "The user keeps track of keys.",
        [("user", f"At noon {first} gave the cellar key to {second}, while {{roof}}."), ("user",
        "In the evening {now}.")],
        "{v.n} has the cellar key now.", second, "ticket outline minutes email columns",
        [Given("roof", "roof key", fourth, "{v.n} took the roof key", "{v.n}", "{v.n} has the roof key")],
    )  # fmt: skip


def seat(rng: Random) -> Matter:
    """A cell of a seating plan."""
    names = rng.sample(("Ayla", "Bent", "Chiara", "Dov", "Esra", "Finn", "Gala"), 4)
    row, column = rng.choice(("B", "C")), rng.randint(11, 19)
    here, right, behind = f"{row}{column}", f"{row}{column + 1}", f"D{column}"
    return one(
        Given("asked", f"seat {here}", names[0], f"{here}={{v.n}}", "{v.n}|booked by {v.n}",
              f"seat {here} belongs to {{v.n}}|{{v.n}} sits in {here}", (names[3], names[1])),
        f"who sits in seat {here}", "There was a seating plan.",
        [("tool", "plan of the small hall\n{right} | {asked} | {behind}")],
        f"Seat {here} is for {{v.n}}.", names[1], "pipes csv object turns docstring",
        [Given("right", f"seat {right}", names[1], f"{right}={{v.n}}", "{v.n}", f"seat {right} belongs to {{v.n}}"),
         Given("behind", f"seat {behind}", names[2], f"{behind}={{v.n}}", "{v.n}", f"{{v.n}} sits in {behind}")],
    )  # fmt: skip


def firmware(rng: Random) -> Matter:
    """The version of one device among several."""
    devices = rng.sample(("router", "doorbell", "thermostat", "camera", "scale"), 3)
    versions = [f"{rng.randint(2, 9)}.{rng.randint(11, 39)}.{rng.randint(2, 9)}" for _ in range(4)]
    a, b, c = devices
    slip = versions[0].rsplit(".", 1)[0] + f".{(int(versions[0][-1]) + 3) % 10}"
    return one(
        Given("asked", f"{a} firmware", versions[0], f"{a}: firmware {{v.n}}", "{v.n}|v{v.n}",
              f"the {a} runs firmware {{v.n}}|firmware {{v.n}} is installed on the {a}", (slip, versions[3])),
        f"the firmware of the {a}", "Somebody listed devices at home.",
        [("tool", "{first}\n{asked}\n{last}")],
        f"The {a} has firmware {{v.n}}.", versions[1], "ini records comment prose boxes",
        [Given("first", f"{b} firmware", versions[1], f"{b}: firmware {{v.n}}", "{v.n}",
        f"the {b} runs firmware {{v.n}}"),
         Given("last", f"{c} firmware", versions[2], f"{c}: firmware {{v.n}}", "{v.n}",
         f"the {c} runs firmware {{v.n}}")],
    )  # fmt: skip


def extension(rng: Random) -> Matter:
    """An extension of somebody whose name is in another script."""
    names = rng.sample(("Ελένη", "Юрий", "محمد", "नीला", "はると", "דנה", "서연", "ณัฐ"), 3)
    numbers = rng.sample(range(2100, 9900), 4)
    return one(
        Given("asked", names[0], numbers[0], f"{names[0]} " + "{v.n}", "{v.n}|ext. {v.n}",
              f"{names[0]} " + "has extension {v.n}|" + "dial {v.n} for " + names[0], (numbers[0] + 11, numbers[3])),
        f"the extension of {names[0]}", "Extensions of colleagues were collected.",
        [("user", "Extensions: {one}, {asked}, {two}.")], f"The extension of {names[0]} " + "is {v.n}.", numbers[2],
        "markup sloppy dashes quoted asked",
        [Given("one", names[1], numbers[1], f"{names[1]} " + "{v.n}", "{v.n}", f"{names[1]} " + "has extension {v.n}"),
         Given("two", names[2], numbers[2], f"{names[2]} " + "{v.n}", "{v.n}", f"{names[2]} " + "has extension {v.n}")],
    )  # fmt: skip


def venue(rng: Random) -> Matter:
    """Which place was chosen, among those that were thought of."""
    chosen, first, second, far = rng.sample(("Boathouse", "Granary", "Observatory", "Winter Garden", "Tram Depot",
                                             "Lighthouse"), 4)  # fmt: skip
    return one(
        Given("asked", "booked for the party", chosen, "so I signed for the {v.n}", "the {v.n}|{v.n} (signed)",
              "the {v.n} was signed for|they decided on the {v.n} for the party", (far, second)),
        "the place that was booked for the party", "The user was looking for a place for a party.",
        [("user", "We looked at {one}. We liked {two} at first."), ("user", "In the end both fell through, {asked}.")],
        "The {v.n} is booked for the party.", second, "minutes email tabular run_on yaml",
        [Given("one", "looked at, not booked", first, "the {v.n}", "the {v.n}",
        "the {v.n} was looked at and not booked"),
         Given("two", "favoured at first", second, "the {v.n}", "the {v.n}",
               "the {v.n} was favoured at first")],
    )  # fmt: skip


def moved(rng: Random) -> Matter:
    """A day that was moved, another appointment beside it."""
    old = date(2026, 3, 2) + timedelta(days=rng.randrange(180))
    new, other = old + timedelta(days=rng.randint(8, 20)), old + timedelta(days=rng.randint(30, 50))
    return one(
        Given("asked", "chimney sweep", new, "the chimney sweep will rather come on {v.long}", "{v.iso}|{v.short}",
              "the chimney sweep comes on {v.long}|{v.us} is the chimney sweep's day now",
              (old, new + timedelta(days=1))),
        "the day on which the chimney sweep comes", "There are appointments at the house.",
        [("user", f"The chimney sweep wants to come on {old:%A}, {old.day} {old:%B %Y}; {{other}}."),
         ("user", "He called: {asked}.")],
        "The chimney sweep comes on {v.long}.", old, "ticket log turns prose object",
        [Given("other", "piano tuner", other, "the piano tuner comes on {v.long}", "{v.iso}",
               "the piano tuner comes on {v.long}")],
    )  # fmt: skip


def badges(rng: Random) -> Matter:
    """Who may not enter the laboratory, where a negation decides."""
    barred, also, third, wrong = rng.sample(("Aino", "Birk", "Cosmo", "Delia", "Ezra", "Farida"), 4)
    return one(
        Given("asked", "not admitted to the lab", barred, "{v.n} must not enter the lab", "{v.n}|only {v.n}",
              "{v.n} must not enter the lab|of the three, {v.n} alone is kept out of the lab", (wrong, also)),
        "which of them is not admitted to the lab", "The rights of badges were discussed.",
        [("user", f"Three badges: {also} and {third} may go anywhere. {{asked}}, {{office}}.")],
        "{v.n} is not admitted to the lab.", also, "columns slashes csv outline dashes",
        [Given("office", "may open the safe", third, "and nobody but {v.n} may open the safe", "only {v.n}",
               "the safe is for {v.n} alone")],
    )  # fmt: skip


KINDS = {
    "gate": gate, "keyholder": keyholder, "seat": seat, "firmware": firmware, "extension": extension, "venue": venue,
    "moved": moved, "badges": badges,
}  # fmt: skip
