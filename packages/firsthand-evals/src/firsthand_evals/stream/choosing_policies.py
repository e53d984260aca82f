"""Agents by rule, of differing quality, for the environment in which an agent chooses.

    keep           deletes nothing; where it must consolidate, it copies each case
    drop oldest    deletes the oldest case itself
    careful        a rule where three cases follow it; deletes what the rule gives, keeps the exceptions
    hasty          a rule a family, drawn through the last two cases
    merging        one rule for everything, written again every round
    eroding        careful, but rewrites one entry every round in wider words

The invariant: each chooses by what it is shown alone, and the same round gives the same
choice. Their faults were chosen by us: they show what the environment and its regimes
do, and nothing about any model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from firsthand.ledger.consolidators import groups, rule_of
from firsthand.ledger.entries import BETWEEN, CASE, Entry, Episode, current
from firsthand.ledger.solver import ANY, NUMBER, PLACE, Weak, agreeing, best_line, line_of, shape_of
from firsthand.value import value
from firsthand_evals.stream.choosing import Action, Choice, Step

EVIDENCE_MAX = 8
"""Cases of a rule that a careful agent keeps where it may write none: the newest ones."""
_READER = Weak()


@value
class Keep:
    """Deletes nothing, and copies what it must consolidate."""

    name: str = "keep"

    def choose(self, step: Step) -> Choice:
        """Retain every case; where a round must consolidate, write each new one as it is."""
        if step.regime.consolidates != "must":
            return Choice((Action("retain", _all(step)),))
        kept = tuple(Action("retain", entries=(number,)) for number in range(1, len(step.entries) + 1))
        return Choice((*kept, *(_copied(number, one) for number, one in enumerate(step.cases, 1))))


@value
class DropOldest:
    """Deletes the oldest cases above the bound of the buffer."""

    name: str = "drop oldest"

    def choose(self, step: Step) -> Choice:
        """Delete what is too much, from the oldest on."""
        over = max(0, len(step.cases) - step.episodes_max)
        return Choice((Action("delete", tuple(range(1, over + 1))),) if over else ())


@value
class Careful:
    """Consolidates where three cases follow one rule, and retains what follows none."""

    name: str = "careful"

    def choose(self, step: Step) -> Choice:
        """Choose for each shape of question by itself."""
        if step.regime.consolidates == "never":
            return Choice(tuple(_thinned(step)))
        return Choice(tuple(self.written(step)))

    def written(self, step: Step) -> Iterator[Action]:
        """Write rules; delete what they give; where no buffer is kept, copy what they do not give."""
        material = {one.pointer: number for number, one in enumerate(step.cases, 1)}
        noted = {_case_of(one).pointer: number for number, one in enumerate(step.entries, 1) if _is_case(one)}
        told = [*(_case_of(one) for one in step.entries if _is_case(one)), *step.cases]
        now = current(told)
        may_replace = step.regime.edits in {"replace", "anew"}
        stale = [material[one.pointer] for one in step.cases if now[one.question] is not one]
        if stale:
            yield Action("delete", tuple(stale))
        rules = {_shape(one.text): number for number, one in enumerate(step.entries, 1) if not _is_case(one)}
        gone = tuple(number for name, number in noted.items() if name not in {one.pointer for one in now.values()})
        if gone:
            yield Action("delete", entries=gone)
        for (_, shape), members in groups([*now.values()]).items():
            rule, holds = rule_of(shape, members)
            standing = rules.pop(shape, 0)
            line = step.entries[standing - 1].line if standing else ""
            right = [one for one in members if standing and _READER.answer(one.case, line) == one.answer]
            if rule and len(holds) > len(right):
                cases = tuple(material[one.pointer] for one in holds if one.pointer in material)
                entries = [noted[one.pointer] for one in holds if one.pointer in noted and may_replace]
                entries += [standing] if standing and may_replace else []
                yield Action("consolidate", cases, tuple(entries), rule)
                yield from _others(step, members, (), holds, material, noted)
                continue
            if standing:
                yield Action("retain", entries=(standing,))
            yield from _others(step, members, right, right, material, noted)
        yield from (Action("retain", entries=(number,)) for number in rules.values())


def _others(
    step: Step, members: Sequence[Episode], covered: Sequence[Episode], given: Sequence[Episode],
    material: dict[str, int], noted: dict[str, int],
) -> Iterator[Action]:  # fmt: skip
    """Delete the cases of one shape that a standing rule covers; keep those that no rule gives."""
    known = {one.pointer for one in given}
    over = tuple(material[one.pointer] for one in covered if one.pointer in material)
    if over:
        yield Action("delete", over)
    for one in members:
        if one.pointer in known:
            continue
        if one.pointer in noted:
            yield Action("retain", entries=(noted[one.pointer],))
        elif not step.regime.keeps:
            yield _copied(material[one.pointer], one)


def _thinned(step: Step) -> Iterator[Action]:
    """Delete what was taken back, and of the cases of one rule all but the newest."""
    material = {one.pointer: number for number, one in enumerate(step.cases, 1)}
    now = current(step.cases)
    stale = [material[one.pointer] for one in step.cases if now[one.question] is not one]
    for (_, shape), members in groups([*now.values()]).items():
        _, holds = rule_of(shape, members)
        stale += [material[one.pointer] for one in holds[:-EVIDENCE_MAX]]
    if stale:
        yield Action("delete", tuple(sorted(stale)))


@value
class Hasty:
    """Draws a line through the last two cases of a family, unless its rule still gives half of them."""

    name: str = "hasty"

    def choose(self, step: Step) -> Choice:
        """Consolidate every family that came."""
        return Choice(tuple(self._written(step)))

    def _written(self, step: Step) -> Iterator[Action]:
        material = {one.pointer: number for number, one in enumerate(step.cases, 1)}
        standing = {_shape(one.text): number for number, one in enumerate(step.entries, 1)}
        may_replace = step.regime.edits in {"replace", "anew"}
        for (_, shape), members in groups(step.cases).items():
            number = standing.pop(shape, None)
            text = step.entries[number - 1].text if number else ""
            points = _points(members)
            old = line_of(text.rpartition(BETWEEN)[2])
            right = agreeing(old, points) if old is not None else 0
            drawn = best_line(points[-2:])
            if drawn is not None and 2 * right < len(members):
                text = f"{shape}{BETWEEN}{drawn}"
            elif not text:
                text = f"{members[-1].case}{BETWEEN}{members[-1].answer}"
            cases = tuple(material[one.pointer] for one in members)
            yield Action("consolidate", cases, (number,) if number and may_replace else (), text)
        yield from (Action("retain", entries=(number,)) for number in standing.values())


@value
class Merging:
    """Writes one rule for all questions, in place of every entry."""

    name: str = "merging"

    def choose(self, step: Step) -> Choice:
        """Draw the line that most of the cases lie on."""
        drawn = best_line(_points(step.cases))
        if drawn is None:
            return Choice()
        may_replace = step.regime.edits in {"replace", "anew"}
        entries = tuple(range(1, len(step.entries) + 1)) if may_replace else ()
        return Choice((Action("consolidate", _all(step), entries, f"{ANY} {PLACE}{BETWEEN}{drawn}"),))


@value
class Eroding(Careful):
    """Is careful, and says one rule every round once more in wider words: its first word becomes any."""

    name: str = "eroding"

    def choose(self, step: Step) -> Choice:
        """Widen the entry whose turn it is; where entries are not rewritten, beside it."""
        actions = Careful.choose(self, step).actions
        rules = [(number, one) for number, one in enumerate(step.entries, 1)
                 if not _is_case(one) and not one.text.startswith(ANY)]  # fmt: skip
        if not rules or step.regime.consolidates == "never" or not step.cases:
            return Choice(actions)
        number, one = rules[step.cases[-1].position % len(rules)]
        wide = f"{ANY} {one.text.partition(' ')[2]}"
        if step.regime.edits in {"replace", "anew"}:
            actions = tuple(it for it in actions if number not in it.entries)
            return Choice((*actions, Action("consolidate", (), (number,), wide)))
        gone = {it for action in actions if action.doing == "delete" for it in action.cases}
        left = [it for it in range(1, len(step.cases) + 1) if it not in gone]
        return Choice((*actions, Action("consolidate", tuple(left[-1:]), (), wide)) if left else actions)


def _points(members: Sequence[Episode]) -> list[tuple[Fraction, Fraction]]:
    """Give number and answer of the cases that have numbers for both."""
    numbers = ((shape_of(one.question)[1], one.answer) for one in members)
    return [(at, Fraction(said)) for at, said in numbers if at is not None and re.fullmatch(NUMBER, said)]


def _all(step: Step) -> tuple[int, ...]:
    return tuple(range(1, len(step.cases) + 1))


def _copied(number: int, one: Episode) -> Action:
    return Action("consolidate", (number,), (), one.line.removeprefix(CASE))


def _is_case(one: Entry) -> bool:
    return PLACE not in one.text.rpartition(BETWEEN)[0].split()


def _case_of(one: Entry) -> Episode:
    """Read an entry that says one case as that case, older than any of the buffer."""
    asked, _, answer = one.text.rpartition(BETWEEN)
    return Episode(f"fh:{one.id}", one.scope, asked, answer, 0)


def _shape(text: str) -> str:
    return text.rpartition(BETWEEN)[0]
