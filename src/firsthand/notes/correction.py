"""What a correction would change: the claims that it may concern, their evidence, and their work with its values.

    "the stapler cost $15, not $12.50"
    -> the total before tax is $58.50 (worked out), 7 * $4 + 9 * $2 + $12.50
       $12.50 -> $15: 61 USD

The invariant: it decides nothing and writes nothing. A value of the correction that stands
in the work is taken for what was wrong; where none does, each operand of the same unit is
tried, and all of them are given. Source: reclaim-evaluation 3.2, 5.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from firsthand.answer import Answer, Hit, Query, Scope
from firsthand.event import Event, Kind
from firsthand.notes.check import Checked, recheck
from firsthand.notes.claim import CLAIMS
from firsthand.notes.quantity import Literal, literals
from firsthand.notes.sources import resting_on
from firsthand.notes.work import WorkError, read, same, substituted
from firsthand.space import Address, Space
from firsthand.value import value

NOTES_MAX = 10
"""Notes whose claims are looked at: found by the correction, or resting on what it finds."""
SOURCES_MAX = 5
TRIED_MAX = 16


@value
class Substitution:
    """What the work of a claim gives with another value."""

    old: str
    new: str
    gives: str


@value
class Corrected:
    """A claim that a correction may concern.

    Attributes:
        note: pointer of the note that makes it.
        checked: the claim as the log stands now, with its evidence.
        gives: what its work gives as it is; empty for a claim without work.
        substitutions: what it gives with values of the correction.
    """

    note: str
    checked: Checked
    gives: str = ""
    substitutions: tuple[Substitution, ...] = ()


@value
class CorrectionCheck:
    """What there is on a correction.

    Attributes:
        claims: those of notes that it may concern; those whose work has its values first.
        sources: what a recall by its words finds.
    """

    claims: tuple[Corrected, ...]
    sources: tuple[Hit, ...]


def check_correction(
    space: Space, correction: str, find: Callable[[Query], Answer], note: Address | None = None
) -> CorrectionCheck:
    """Show what a correction would change; see `Memory.check_correction`.

    Args:
        find: recalls, after the decisions of the ledger.
    """
    sources = find(Query(correction)).hits
    if note is not None:
        notes = [space.event(note)]
    else:
        hits = find(Query(correction, Scope(kinds=(Kind.NOTE,)), hits_max=NOTES_MAX)).hits
        quoted = resting_on(space, [space.event(hit.pointer) for hit in sources[:SOURCES_MAX]], [Kind.NOTE])
        by_id = {event.id: event for event in [*(space.event(hit.pointer) for hit in hits), *reversed(quoted)]}
        notes = [event for event in by_id.values() if CLAIMS in event.meta][:NOTES_MAX]
    values = [*literals(correction)]
    claims = [claim for each in notes for claim in _of_note(space, each, values)]
    return CorrectionCheck(tuple(sorted(claims, key=lambda claim: not claim.substitutions)), sources)


def _of_note(space: Space, note: Event, values: Sequence[Literal]) -> Iterator[Corrected]:
    for checked in recheck(space, note):
        gives, tried = "", tuple[Substitution, ...]()
        if checked.claim.work.strip():
            try:
                gives, tried = str(read(checked.claim.work).result), tuple(_tried(checked.claim.work, values))
            except WorkError as error:
                gives = f"it cannot be worked out: {error}"
        yield Corrected(f"fh:{note.id}", checked, gives, tried[:TRIED_MAX])


def _tried(work: str, values: Sequence[Literal]) -> Iterator[Substitution]:
    """Yield the work with each value of a correction in the place of an operand that it may replace."""
    operands = {literal.text: literal.quantity for literal in read(work).operands}
    wrong = [text for text in operands if any(same(operands[text], literal.quantity) for literal in values)]
    for literal in values:
        for text in wrong or operands:
            old = operands[text]
            if old.dimension == literal.quantity.dimension and not same(old, literal.quantity):
                yield Substitution(text, literal.text, str(substituted(work, text, literal.text).result))
