"""Decisions on values of recall in the log: each is an event of the session ``tuning``, and can be undone.

The invariant: decisions are appended, never changed; what is in force at a position is the
same whenever it is read. A decision holds numbers, figures and pointers, and no words of
anybody; with an event that it rests on it is erased, as if it had not been made.

It decides nothing: that is the review, or a person who undoes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from firsthand import moment
from firsthand.errors import InvalidArgument, Unresolvable
from firsthand.event import Draft, IdMaker, Kind, Trust, to_bytes
from firsthand.recall.kept_tuning import MEDIA, SESSION, SOURCES, decisions_of, keep_tuned, to_json, tuned_of
from firsthand.recall.tuning import Tuned, TuningDecision, fold, parameter, stands_in_bounds, undone_by
from firsthand.value import replace

if TYPE_CHECKING:
    from firsthand.memory import Memory

SOURCES_MAX = 64
"""Recalls that a decision names: those that it changed most."""


class TuningLog:
    """The decisions of a namespace; make one with `tuning_of`."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def decisions(self, as_of: int | None = None) -> tuple[TuningDecision, ...]:
        """Give the decisions up to a position, in order, those that are undone among them."""
        before = None if as_of is None else as_of + 1
        return tuple(decisions_of(self.memory.events(SESSION, kind=Kind.TUNING, before=before)))

    def at(self, as_of: int | None = None) -> Tuned:
        """Give the values in force as of a position; None is now, as every recall uses them with the gate of now."""
        if as_of is None:
            memory = self.memory
            now = tuned_of(memory._log.reader, memory.namespace)  # noqa: SLF001 - Memory and what acts on it are one room
            return now.in_use(memory._gate())  # noqa: SLF001 - the same
        return fold(reversed(self.decisions(as_of)))

    def undone(self, as_of: int | None = None) -> dict[str, str]:
        """Give the ids of the decisions that are undone, each with the one that undid it."""
        return undone_by(self.decisions(as_of))

    def find(self, identity: str) -> TuningDecision:
        """Give the decision of an id, or of the only id that begins or ends so.

        Raises:
            Unresolvable: there is none, or several.
        """
        named = identity.removeprefix("fh:").upper()
        found = [one for one in self.decisions() if one.id.startswith(named) or one.id.endswith(named)] if named else []
        if len(found) != 1:
            raise Unresolvable(
                f"expected the id of one decision on a value of recall; {identity!r:.40} fits {len(found)}. "
                "`firsthand tuning` lists them."
            )
        return found[0]

    def keep(self, decisions: Sequence[TuningDecision]) -> tuple[TuningDecision, ...]:
        """Append decisions, all or none; give them with their positions.

        Raises:
            InvalidArgument: one of them names no parameter, or a value out of its bounds.
        """
        wrong = next((one for one in decisions if not stands_in_bounds(one)), None)
        if wrong is not None:
            raise InvalidArgument(f"expected a parameter of recall and a value within its bounds; got {wrong.name!r} = "
                                  f"{wrong.after!r}")  # fmt: skip
        if not decisions:
            return ()
        appended = self.memory.append([_draft(one) for one in decisions], session=SESSION)
        keep_tuned(self.memory._log, self.memory.namespace)  # noqa: SLF001 - Memory and what acts on it are one room
        return tuple(replace(one, position=at.position) for one, at in zip(decisions, appended, strict=True))

    def undo(self, identity: str, *, reason: str = "", by: str = "user") -> tuple[TuningDecision, ...]:
        """Make a decision as if it had never been, with the later ones on the same value, which began where it ended.

        Undoing an undoing makes the one decision stand again.

        Returns:
            The undoings, in order of what they undo; none for what is undone already.

        Raises:
            Unresolvable: there is no such decision.
        """
        target = self.find(identity)
        undone = self.undone()
        later = [one for one in self.decisions() if one.position > target.position and one.name == target.name]
        every = [target, *(one for one in later if not one.undoes and not target.undoes)]
        ids = IdMaker()
        return self.keep([
            TuningDecision(ids(), one.name, one.after, _nearest(one), reason, by, undoes=one.id, sources=one.sources)
            for one in every if one.id not in undone
        ])  # fmt: skip


def tuning_of(memory: Memory) -> TuningLog:
    """Give the decisions on the values of recall in a namespace: which are in force, and why."""
    return TuningLog(memory)


def _nearest(one: TuningDecision) -> float:
    """Give what stood before a decision, brought within the bounds: whoever made it may have named anything."""
    known = parameter(one.name)
    assert known is not None, "a decision that is read names a parameter"
    return min(known.high, max(known.low, one.before))


def _draft(one: TuningDecision) -> Draft:
    return Draft(
        Kind.TUNING, to_bytes(to_json(one)), MEDIA, {SOURCES: list(one.sources[:SOURCES_MAX])}, origin="firsthand",
        trust=Trust.TRUSTED, time=one.time or moment.now(), id=one.id,
    )  # fmt: skip
