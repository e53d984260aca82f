"""Kinds of the third set that are decided: options under constraints, rules with exceptions, allergies, orders.

Who works on the probe does not read this file.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from random import Random
from typing import Any

from firsthand.value import replace

from .second_logic import STEPS, Clue, givens, in_order, inferred, least
from .second_note import Matter
from .second_solver import Space
from .third_note import Given, given


def plans(rng: Random) -> Matter:
    """The one plan that has enough memory and is cheap enough."""
    names = rng.sample(("Alder", "Birch", "Cedar", "Dogwood", "Elder"), 3)
    ram, cap = rng.choice((16, 24, 32)), rng.randint(41, 90)
    offers = [(names[0], ram // 2, cap - 14), (names[1], ram, cap - 3), (names[2], 2 * ram, cap + 12)]
    better = {names[0]: (names[0], ram, cap - 14), names[1]: (names[1], ram // 2, cap - 3),
              names[2]: (names[2], 2 * ram, cap - 1)}  # fmt: skip
    rows = [_plan(at, offer, better[offer[0]]) for at, offer in enumerate(rng.sample(offers, 3))]

    def work(at: Mapping[str, Any]) -> Any:
        offered = [value for key, value in at.items() if key.startswith("row")]
        fitting = [name for name, gigabytes, price in offered if not (gigabytes < at["ram"] or price > at["cap"])]
        return fitting[0] if len(fitting) == 1 else None

    return Matter(
        "which server plan meets both conditions", "A server plan was chosen.",
        [*rows,
         given("ram", "memory needed", ram, "it needs at least {v.n} GB of RAM", "≥ {v.n} GB|at least {v.n} GB",
               "at least {v.n} GB of RAM are needed|less than {v.n} GB of RAM will not do", ram // 2, 2 * ram),
         given("cap", "budget a month", cap, "at most €{v.n} a month", "≤ €{v.n}|at most {v.n} €",
               "it may cost €{v.n} a month at most|more than {v.n} € a month is too much", cap + 20, cap - 8)],
        "once([[name for name, have, price in rows if have >= ram and price <= cap]])", work,
        [("tool", "plans\n{row0}\n{row1}\n{row2}"), ("user", "We need a box: {ram}, {cap}. Which one fits?")],
        "{v.n} meets both conditions.|plan: {v.n}|Take {v.n}.", names[0], "dotted bullets three array lines tree",
    )  # fmt: skip


def _plan(at: int, offer: tuple[str, int, int], other: tuple[str, int, int] | None) -> Given:
    """Make a row; `other` is what a careless writer has, None in what he has."""
    name, ram, price = offer
    return Given(f"row{at}", name, offer, f"{name}: {ram} GB, €{price}", f"{ram} GB, €{price}|€{price} for {ram} GB",
                 f"{name} has {ram} GB and costs €{price} a month|for €{price} a month {name} gives {ram} GB",
                 (other,) if other else (), _plan(at, other, None) if other else None)  # fmt: skip


def freeze(rng: Random) -> Matter:
    """Whether somebody may deploy during a freeze, by an exception to a ban."""
    who, other = rng.sample(("Ilan", "Jarmila", "Kofi", "Ligaya", "Matteo"), 2)
    roles, labels = rng.sample(("maintainer", "release manager", "site engineer"), 2), rng.sample(
        ("hotfix", "security", "customer-down"), 2)  # fmt: skip
    exception = (roles[0], labels[0])
    return Matter(
        f"whether {who} may deploy the patch during the freeze", f"{who} has a patch, and there is a freeze.",
        [Given("exception", "exception", exception, f"except a {roles[0]} with a change labelled {labels[0]}",
               f"{roles[0]} + label {labels[0]}|a {roles[0]}, if the label is {labels[0]}",
               (f"the one exception to the freeze is a {roles[0]} whose "
                f"change is labelled {labels[0]}|during the freeze a "
                f"{roles[0]} may still deploy what is labelled {labels[0]}"), ((roles[1], labels[0]), (roles[0],
               labels[1])),
               Given("exception", "exception", (roles[1], labels[0]), "", f"{roles[1]} + label {labels[0]}",
                     f"the one exception to the freeze is a {roles[1]} whose change is labelled {labels[0]}")),
         given("role", f"role of {who}", roles[0], f"{who} is a {{v.n}}", "{v.n}",
               f"{who} is a {{v.n}}|the role of {who} is {{v.n}}", roles[1], "visitor"),
         given("label", "label of the patch", labels[0], "the patch is labelled {v.n}", "{v.n}",
               "the patch carries the label {v.n}|the patch is labelled {v.n}", labels[1], "none")],
        "'may' if sorted([role, label]) == sorted(exception) else 'may not'",
        lambda at: "may" if (at["role"], at["label"]) == at["exception"] else "may not",
        [("user", "During the freeze nobody deploys, {exception}."), ("tool",
        f"directory: {{role}}, {other} is on leave"),
         ("user", "And {label}.")],
        who + " {v.n} deploy it.|deploy by " + who + ": {v.n}|The answer for " + who + " is '{v.n}'.", "may not",
        "checklist bullets toml handoff bold counted",
    )  # fmt: skip


def curry(rng: Random) -> Matter:
    """The one guest whose allergy is not in the dish."""
    guests = rng.sample(("Wanda", "Xenia", "Yusuf", "Zoe", "Umberto"), 3)
    foods = rng.sample(("cashews", "shrimp", "mustard", "celery", "lupin", "soy"), 5)
    dish = tuple(foods[:3])
    allergic = [(guests[0], foods[0]), (guests[1], foods[1]), (guests[2], foods[3])]
    other = {guests[0]: (guests[0], foods[4]), guests[1]: (guests[1], foods[4]), guests[2]: (guests[2], foods[2])}
    rows = [_guest(at, pair, other[pair[0]]) for at, pair in enumerate(rng.sample(allergic, 3))]

    def work(at: Mapping[str, Any]) -> Any:
        safe = [name for name, food in (value for key, value in at.items() if key != "dish") if food not in at["dish"]]
        return safe[0] if len(safe) == 1 else None

    return Matter(
        "which guest can eat the stew", "Guests with allergies were to be served a stew.",
        [*rows, given("dish", "in the stew", dish, "the stew has {v.all} in it", "{v.all}|{v.bar}",
                      "the stew contains {v.all}|in the stew there are {v.all}", (foods[1], foods[2], foods[3]),
                      (foods[0], foods[2], foods[3]))],
        "once([[name for name, food in rows if food not in dish]])", work,
        [("user", "Allergies: {row0}; {row1}."), ("user", "{row2}. And {dish}. Who can have it?")],
        "{v.n} can eat the stew.|stew: {v.n} only|It is safe for {v.n}.", guests[1],
        "bold bullets arrows mapping lines semicolons",
    )  # fmt: skip


def _guest(at: int, pair: tuple[str, str], other: tuple[str, str] | None) -> Given:
    """Make a row; `other` is what a careless writer has, None in what he has."""
    name, food = pair
    return Given(f"row{at}", name, pair, f"{name} is allergic to {food}", f"{food}|allergic to {food}",
                 f"{name} must not have {food}|{food} is what {name} is allergic to", (other,) if other else (),
                 _guest(at, other, None) if other else None)  # fmt: skip


def returned(rng: Random) -> Matter:
    """Whether a purchase may still be sent back, with more days for members."""
    limit, bonus = rng.choice((14, 20, 28)), rng.choice((10, 15, 30))
    days = limit + rng.randint(max(3, bonus + 4 - limit), bonus - 2)
    return Matter(
        "whether the lamp can still be sent back", "The user wanted to send a lamp back.",
        [given("limit", "days to return", limit, "{v.n} days to return", "{v.n}|{v.n} days",
               "there are {v.n} days to send things back|returns are taken for {v.n} days", days - bonus - 1,
               days - bonus - 2),
         given("bonus", "more for members", bonus, "{v.n} more for members", "{v.n} days|+{v.n} days",
               "members get {v.n} days more|for members {v.n} days are added", 1, 2),
         given("days", "bought", days, "I bought the lamp {v.n} days ago", "{v.n} days ago",
               "the lamp was bought {v.n} days ago|the purchase is {v.n} days old", limit + bonus + 6,
               limit + bonus + 1),
         given("member", "member", "yes", "member: {v.n}", "{v.n}", "is the buyer a member: {v.n}|membership: {v.n}",
               "no", "lapsed")],
        "'yes' if days <= limit + (bonus if member == 'yes' else 0) else 'no'",
        lambda at: "no" if at["days"] - at["limit"] > (at["bonus"] if at["member"] == "yes" else 0) else "yes",
        [("tool", "shop terms: {limit}, {bonus}"), ("user", "{days}. Can it still go back?"),
         ("tool", "account: {member}")],
        "Can the lamp be sent back: {v.n}.|return of the lamp possible: {v.n}|Sending it back: {v.n}.", "no",
        "trailers numbered bullets three lines assigned",
    )  # fmt: skip


def visit(rng: Random) -> Matter:
    """A French session: tickets of a museum, free below an age."""
    limit, price = rng.choice((10, 12, 14)), rng.choice((9, 11, 13, 16))
    ages = tuple(
        sorted((rng.randint(3, limit - 2), limit - 1, limit, limit + 2, rng.randint(31, 48), rng.randint(49, 71)))
    )
    younger = tuple(sorted((*ages[:2], limit - 3, *ages[3:])))
    return Matter(
        "le prix des billets du musée pour toute la famille", "Il était question d'une visite au musée.",
        [given("limit", "gratuité", limit, "gratuit pour les moins de {v.n} ans", "moins de {v.n} ans",
               "l'entrée est gratuite pour les moins de {v.n} ans|on ne paie pas avant {v.n} ans", limit - 1,
               limit + 1),
         given("price", "plein tarif", price, "{v.n} € l'entrée", "{v.n} €|{v.n} euros",
               "l'entrée coûte {v.n} €|le plein tarif est de {v.n} euros", price + 2, price - 3),
         given("ages", "âges", ages, "nos âges : {v.all}", "{v.all}|{v.bar}",
               "les âges de la famille sont {v.all}|ils ont {v.bar} ans", younger, ages[:2] + ages[3:])],
        "price * len([age for age in ages if age >= limit])",
        lambda at: at["price"] * sum(age >= at["limit"] for age in at["ages"]),
        [("tool", "tarifs : {price}, {limit}"), ("user", "On vient tous les six, {ages}. Ça fait combien ?")],
        "Les billets coûtent {v.n} €.|total des billets : {v.n} €|La famille paie {v.n} euros.", 6 * price,
        "dotted arrows bullets lines bold flat", language="fr",
    )  # fmt: skip


def migrations(rng: Random) -> Matter:
    """The migration that runs at some place, from what depends on what."""
    names = rng.sample(("split_names", "add_tenant", "drop_legacy", "backfill_slugs", "index_email"), 4)
    space = Space(tuple(names), STEPS, rng.choice(("step two", "step three")))
    hidden = dict(zip(names, rng.sample(STEPS, 4), strict=True))
    pool, clues = in_order(rng, space, hidden, range(3, 6))

    def words(clue: Clue) -> tuple[str, str]:
        _, a, b = clue
        return f"{b} depends on {a}", f"{b} requires {a}|{a} has to run earlier than {b}"

    which = "second" if space.asked == "step two" else "third"
    return _inferred(rng, space, clues, pool, words, f"which migration runs {which}",
                     f"Four migrations run one after the other: {', '.join(sorted(names))}.",
                     f"The {which} one is {{v.n}}.|{which}: {{v.n}}", "bullets one_column handoff stars")  # fmt: skip


def racks(rng: Random) -> Matter:
    """Which machine is in which rack."""
    hosts = rng.sample(("ada", "boole", "church", "dijkstra", "euler"), 4)
    places = ("rack K1", "rack K2", "rack K3", "rack K4")
    space = Space(tuple(hosts), places, rng.choice(hosts))
    hidden = dict(zip(hosts, rng.sample(places, 4), strict=True))
    pool: list[Clue] = [("not", who, rack) for who in hosts for rack in places]
    pool += [("either", who, a, b) for who in hosts for a, b in permutations(places, 2) if a < b]

    def words(clue: Clue) -> tuple[str, str]:
        sort, who, *some = clue
        if sort == "not":
            return f"{who} is not in {some[0]}", f"{some[0]} does not hold {who}|{who} sits elsewhere than in {some[0]}"
        return (
            f"{who} is in {some[0]} or {some[1]}",
            f"it is {some[1]} or {some[0]} for {who}|{some[0]} or {some[1]} holds {who}",
        )

    clues = least(rng, space, hidden, pool, range(3, 5))
    return _inferred(rng, space, clues, pool, words, f"the rack of {space.asked}",
                     f"{', '.join(sorted(hosts))} stand in the racks K1, K2, K3 and K4, one each.",
                     f"{space.asked} is in {{v.n}}.|{space.asked}: {{v.n}}",
                     "bullets one_column stars handoff")  # fmt: skip


def _inferred(rng: Random, space: Space, clues: Any, pool: Any, words: Any, claim: str, topic: str, concluded: str,
              forms: str) -> Matter:  # fmt: skip
    """Make a matter of clues, told by a user and found by a tool."""
    made = [_own(one) for one in givens(rng, space, clues, pool, words)]
    return inferred(rng, space, made, claim, topic, concluded, forms, lambda said: [
        ("user", f"{topic} From the docs: {said[0]}."), ("tool", f"checked: {said[1]}"), ("user", f"So, {claim}?"),
    ])  # fmt: skip


def _own(one: Any) -> Given:
    """Make a given of this set of one of the second."""
    slip = None if one.slip is None else _own(replace(one.slip, slip=None))
    return Given(one.key, one.label, one.value, one.spoken, one.shown, one.told, one.others, slip)


KINDS = {
    "plans": plans, "freeze": freeze, "curry": curry, "returned": returned, "visit": visit, "migrations": migrations,
    "racks": racks,
}  # fmt: skip
