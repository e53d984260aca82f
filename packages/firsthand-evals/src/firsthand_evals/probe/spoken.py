r"""Finds what users set, what they wish for, and what an agent told out of a tool's result or by itself.

    "Could you book it for 4 people at 12:45?"      set by the user
    "I am departing from Norwich."                  wished for, and acted upon
    "Your reference number is LZLUDTVI."            told by the agent, and by nobody else

The invariant: what an agent said is needed only when it names an exact string that
nobody else can give, and says nothing that a user said otherwise.

It does not know sums, nor puzzles.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from fractions import Fraction
from functools import cache

from firsthand_evals.probe.claim import AGENT_ROLES, TOOL_ROLES, Claim
from firsthand_evals.probe.statements import Statement
from firsthand_evals.probe.values import Value, in_base

SPOKEN_MAX = 400  # statements of users that are claims of one session, the newest ones
LOOKED_UP_MAX = 64  # statements of an agent that are looked up in tools' results, the newest ones
PLACES_MAX = 3  # places that one value is looked up in
TOLD_MAX = 16
PASTED_CHARACTERS_MIN = 4_000  # a message from here on was pasted: nobody set all that stands in it

_compiled = cache(re.compile)
_REQUESTS = (
    r"\b(?:(?:can|could|would|will) (?:you|i|we)|please|i need|i want|i'd like|i would like|help me"
    r"|(?:how|what) about)\b"
)
_WISHES = (
    r"\b(?:i|we)(?: am|'m| are|'re| will| 'll| 'd| would|'ll|'d)? ?(?:also |really |actually "
    r"|just )?(?:need|want|like|looking for"
    r"|prefer|require|be (?:going|leaving|departing|travel\w+)|(?:going|leaving|departing|coming"
    r"|travel\w+) (?:to|from))\b"
    r"|\b(?:it|that) (?:should|must|has to|needs to)\b|\bdon?'?t (?:want|care)|\bdo n't (?:want|care)"
)
_NAMES_A_CODE = (
    r"\b(?:reference|confirmation|booking|ticket|order|tracking|reservation|code|pnr|ids?|number|version"
    r"|commit|branch)\b"
)


def spoken(statements: Sequence[Statement], taken: Collection[int]) -> list[Claim]:
    """Give the claims of a dialogue: what was set and confirmed first, then what was set, looked up, told."""
    long = _pasted(statements)
    users = [
        place
        for place, one in enumerate(statements)
        if _is_user(one) and place not in taken and one.turn not in long and one.asserts != "claim"
    ][-SPOKEN_MAX:]
    set_ = _set(statements, users)
    wished = _wished(statements, [place for place in users if not statements[place].values])
    looked_up = _looked_up(statements, taken)
    return [*set_, *wished, *looked_up, *_told(statements)]


def _is_user(one: Statement) -> bool:
    return one.role not in AGENT_ROLES | TOOL_ROLES and one.role != "system" and one.form not in {"header", "heading"}


def _pasted(statements: Sequence[Statement]) -> set[int]:
    """Give the turns whose messages are too long to have been typed."""
    return {one.turn for one in statements if one.end > PASTED_CHARACTERS_MIN}


def _set(statements: Sequence[Statement], users: Sequence[int]) -> list[Claim]:
    """Give what users said with values, what an agent went on with first; the last word stands for earlier ones."""
    after = _values_behind(statements)
    found: list[Claim] = []
    for place in users:
        one = statements[place]
        told = [held for held in one.values if held.text.lower() not in {"one", "today", "now"}]
        if not told or (one.form == "question" and not _compiled(_REQUESTS).search(one.text.lower())):
            continue
        kinds = {(held.kind, held.unit) for held in one.values}
        concluded = tuple(held for turn, held in after if turn > one.turn and (held.kind, held.unit) in kinds)
        replaced = _set_before(statements, users, place) if one.corrects else ()
        found.append(Claim(one.text, "assignment", concluded[:4], _with_before(statements, place), replaced=replaced))
    return sorted(found, key=lambda claim: not claim.concluded)


def _values_behind(statements: Sequence[Statement]) -> list[tuple[int, Value]]:
    return [(one.turn, held) for one in statements if one.role in AGENT_ROLES for held in one.values]


def _with_before(statements: Sequence[Statement], place: int) -> tuple[int, ...]:
    """Give a statement with the one that it goes on from, when it names nothing itself: "It must be 13:00"."""
    one, before = statements[place], statements[place - 1] if place else None
    if before is None or before.turn != one.turn or one.subject or before.form in {"row", "question"}:
        return (place,)
    return (place - 1, place)


def _set_before(statements: Sequence[Statement], users: Sequence[int], place: int) -> tuple[int, ...]:
    """Give the earlier statement all of whose values a correction sets anew."""
    one = statements[place]
    new = {(held.kind, held.unit) for held in one.values}
    for earlier in reversed([at for at in users if statements[at].turn < one.turn]):
        other = statements[earlier]
        old = {(held.kind, held.unit) for held in other.values}
        if old and old <= new and (not one.subject or other.subject & one.subject):
            return (earlier,)
    return ()


def _wished(statements: Sequence[Statement], users: Sequence[int]) -> list[Claim]:
    """Give the wishes without a value that an agent acted upon: it spoke of the same thing when it told a value."""
    acted = [(one.turn, one.subject, one.values) for one in statements if one.role in AGENT_ROLES and one.values]
    found = []
    for place in users:
        one = statements[place]
        if one.form == "question" or not _compiled(_WISHES).search(one.text.lower()):
            continue
        values = [held for turn, words, all_ in acted if turn > one.turn and words & one.subject for held in all_]
        if values:
            found.append(Claim(one.text, "assignment", tuple(values[:4]), (place,)))
    return found


def _looked_up(statements: Sequence[Statement], taken: Collection[int]) -> list[Claim]:
    """Give what an agent told out of a tool's result, the newest first."""
    where = _where(statements)
    claims = []
    agents = [place for place, one in enumerate(statements) if one.role in AGENT_ROLES and one.values]
    for place in reversed(agents[-LOOKED_UP_MAX:]):
        one = statements[place]
        needs: set[int] = set()
        for held in one.values:
            places = [at for at in where.get(_key(held), []) if at < place and at not in taken]
            near = [at for at in places if _is_rare(held) and (len(places) < 3 or statements[at].subject & one.subject)]
            needs |= set(near[-PLACES_MAX:])
        tools = {at for at in needs if statements[at].role in TOOL_ROLES}
        if tools:
            claims.append(Claim(one.text, "lookup", one.values, tuple(sorted(tools)), restates=(place,)))
    return claims


def _where(statements: Sequence[Statement]) -> dict[tuple[str, object], list[int]]:
    """Give the places at which somebody other than an agent said each value."""
    where: dict[tuple[str, object], list[int]] = {}
    for place, one in enumerate(statements):
        if one.role not in AGENT_ROLES and one.role != "system" and not one.asserts:
            for held in one.values:
                where.setdefault(_key(held), []).append(place)
    return where


def _is_rare(held: Value) -> bool:
    """Say whether a value is found again because it is meant, not by chance as small numbers are."""
    if held.amount is None:
        return "/" not in held.text and "." not in held.text  # a path or a file is spoken of, not looked up
    if held.kind in {"time", "date"}:
        return True
    return held.amount >= 100 or held.amount.denominator != 1 or (held.kind == "money" and held.amount > Fraction(10))


def _told(statements: Sequence[Statement]) -> list[Claim]:
    """Give what only an agent said: codes and references."""
    where = _where(statements)
    found = []
    for place, one in enumerate(statements):
        if one.role not in AGENT_ROLES or not _compiled(_NAMES_A_CODE).search(one.text.lower()):
            continue
        new = [held for held in one.values if held.kind == "word" and not where.get(_key(held))]
        others = [held for held in one.values if held.kind != "word"]
        if new and all(where.get(_key(held)) for held in others):
            found.append(Claim(one.text, "told", tuple(new), (place,)))
    return found[-TOLD_MAX:]


def _key(one: Value) -> tuple[str, object]:
    return one.kind, in_base(one) if one.amount is not None else one.text.casefold()
