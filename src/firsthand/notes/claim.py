"""Claims: what a note says, one thing each, with the words of the log that it rests on.

    {"says": "the total before tax is $58.50",
     "quotes": ["7 notebooks at $4 each, 9 pens at $2 each, one stapler at $12.50"],
     "work": "7 * $4 + 9 * $2 + $12.50 = $58.50"}

It carries and reads them; `firsthand.notes.check` says what is proven.
Source: reclaim-evaluation 3, 7.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from firsthand import pointer
from firsthand.errors import FirsthandError, InvalidArgument
from firsthand.value import value

CLAIMS_MAX, QUOTES_MAX, POINTERS_MAX = 64, 16, 16
CHARACTERS_MAX = 4_000
"""Of what a claim says, and of each quote."""
CLAIMS = "claims"
"""The fact in a note's meta that holds its claims, with what a check said of each when the note was written."""
FIELDS = ("says", "quotes", "work", "at", "by")


class Proof(StrEnum):
    """What a check says of a claim; each word promises no more than was checked."""

    WORKED_OUT = "worked out"  # this arithmetic on these quoted values gives it
    CITED = "cited"  # these words stand there; whether the claim follows from them, nobody checked
    CONTRADICTED = "contradicted"  # its own work gives another value
    PENDING = "pending"  # a quote may be of this turn, which is not in the log yet
    UNPROVEN = "unproven"  # none of these


@value
class Claim:
    """One thing that a note says.

    Attributes:
        says: the claim, in any words.
        quotes: verbatim, from events of the log.
        work: arithmetic over values that stand in the quotes; empty for none.
        at: pointers of the events that are quoted; without them the quotes are looked for in the session.
        by: who must have said the quotes: ``user``, ``tool``, or an agent's name; empty for anybody.
    """

    says: str
    quotes: tuple[str, ...] = ()
    work: str = ""
    at: tuple[str, ...] = ()
    by: str = ""

    def as_json(self) -> dict[str, Any]:
        """Give the claim as `claims_of` reads it, without the fields that are empty."""
        fields = {"says": self.says, "quotes": list(self.quotes), "work": self.work, "at": list(self.at), "by": self.by}
        return {name: field for name, field in fields.items() if field}


def proofs_of(meta: Mapping[str, Any]) -> str:
    """Say what a check said of a note's claims when it was written; empty for a note without claims."""
    members = meta.get(CLAIMS)
    return (
        counted(member.get("proof") for member in members if isinstance(member, dict))
        if isinstance(members, list)
        else ""
    )


def counted(proofs: Iterable[Any]) -> str:
    """Count proofs in words, such as ``1 worked out, 2 unproven``."""
    words = [*proofs]
    return ", ".join(f"{number} {proof}" for proof in Proof if (number := words.count(proof)))


def claims_of(raw: Iterable[Claim | Mapping[str, Any]]) -> tuple[Claim, ...]:
    """Read claims as a caller gives them.

    Raises:
        InvalidArgument: one is none; the message names it and says what is expected.
    """
    if isinstance(raw, (str, bytes, Mapping)) or not isinstance(raw, Iterable):
        raise InvalidArgument(f'claims are a list such as [{{"says": "...", "quotes": ["..."]}}]; got {raw!r:.60}')
    claims = tuple(claim if isinstance(claim, Claim) else _claim(claim, place) for place, claim in enumerate(raw, 1))
    if len(claims) > CLAIMS_MAX:
        raise InvalidArgument(f"a note has at most {CLAIMS_MAX} claims; got {len(claims)}. Write a second note.")
    return claims


def _claim(raw: object, place: int) -> Claim:
    if not isinstance(raw, Mapping) or not raw.keys() <= set(FIELDS):
        fields = f"the fields {', '.join(map(repr, raw))}" if isinstance(raw, Mapping) else f"{raw!r:.60}"
        raise InvalidArgument(f"claim {place} has fields among {', '.join(FIELDS)}; got {fields}")
    says, work, by = (_text(raw.get(name, ""), f"{name} of claim {place}") for name in ("says", "work", "by"))
    if not says.strip():
        raise InvalidArgument(f"claim {place} says nothing; write under 'says' what is claimed")
    quotes = _texts(raw.get("quotes", ()), f"quotes of claim {place}", QUOTES_MAX)
    at = _texts(raw.get("at", ()), f"at of claim {place}", POINTERS_MAX)
    for address in at:
        try:
            pointer.parse(address)
        except FirsthandError as error:
            raise InvalidArgument(f"at of claim {place}: {error}") from error
    return Claim(says, tuple(quote.strip() for quote in quotes if quote.strip()), work, at, by)


def _texts(raw: object, name: str, most: int) -> tuple[str, ...]:
    members = (raw,) if isinstance(raw, str) else raw
    if not isinstance(members, (list, tuple)) or len(members) > most:
        raise InvalidArgument(f"{name}: expected a list of at most {most} texts; got {raw!r:.60}")
    return tuple(_text(member, name) for member in members)


def _text(raw: object, name: str) -> str:
    if not isinstance(raw, str) or len(raw) > CHARACTERS_MAX:
        size = f" of {len(raw):,} characters" if isinstance(raw, str) else ""
        raise InvalidArgument(f"{name}: expected text of at most {CHARACTERS_MAX:,} characters; got {raw!r:.40}{size}")
    return raw
