"""The gate of consolidation where the truth is known: how often it decides as it should, and whether each check bites.

A trial is a proposal that one check alone stands against: without that check the gate would
take it. The invariant: a trial is made of plain cases, so that what refuses it is the gate's
own code and nothing of a world or of a writer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import islice

from firsthand.ledger import entry_gate
from firsthand.ledger.entries import Entry, Episode, View, Written, current, entry
from firsthand.ledger.entry_gate import Judged, Task
from firsthand.ledger.solver import Solver, Weak
from firsthand.value import replace, value

KNOWN = "pine level 4", "8"
"""What the reader of the trials answers without any memory."""


@value
class GateRates:
    """Good and bad entries, by what became of them."""

    good_taken: int = 0
    good_refused: int = 0
    bad_taken: int = 0
    bad_refused: int = 0


def rates(judged: Iterable[Judged], is_good: Callable[[Entry], bool]) -> GateRates:
    """Count how often the gate was right.

    Args:
        is_good: says of an entry what is true of it.
    """
    decisions = [(judgement.accepted, is_good(judgement.entry)) for judgement in judged]
    return GateRates(*(decisions.count(each) for each in ((True, True), (False, True), (True, False), (False, False))))


@value
class Trial:
    """One proposal.

    Attributes:
        refused_by: the check that it is made for; empty for one that is to be taken.
        cases: the raw episodes; standing: entries that are there, and proposed: the entry that comes.
        barred: ids and texts that were taken out; tasks: what else is to be solved still.
        falls: entries that stood and must be out now.
    """

    refused_by: str
    cases: Sequence[Episode]
    proposed: Entry
    standing: Sequence[Entry] = ()
    barred: Sequence[str] = ()
    tasks: Sequence[Task] = ()
    falls: Sequence[Entry] = ()

    def came(self, solver: Solver) -> str:
        """Name the check that the gate refuses it by now; empty when it is taken and all cases are answered still.

        Args:
            solver: that the gate asks.
        """
        report = entry_gate.check([self.proposed], self.standing, self.cases, solver, tasks=self.tasks,
                                  barred=self.barred)  # fmt: skip
        if {*report.fallen} != {standing.id for standing in self.falls}:
            return f"{report.judged[0].reason or 'none'}, and {len(report.fallen)} of {len(self.falls)} fell,"
        if report.judged[0].reason and any(it.text == self.proposed.text for it in report.view.entries):
            return f"{report.judged[0].reason}, and nobody kept it out,"
        answers = ((case.answer, Weak().answer(case.case, report.view.text)) for case in current(self.cases).values())
        return report.judged[0].reason or ("" if all(right == given for right, given in answers) else "nobody")


def _made(text: str, cases: Mapping[str, Episode], parents: Sequence[Entry] = ()) -> Entry:
    return entry(Written(text, tuple(cases)), cases, by="trial", parents=parents)


def _cases(family: str, answers: Mapping[int, int | str], place: str = "level") -> dict[str, Episode]:
    return {
        f"fh:{family}{place}{level}": Episode(
            f"fh:{family}{place}{level}", family, f"{family} {place} {level}", f"{answer}", level
        )
        for level, answer in answers.items()
    }


@cache
def trials() -> tuple[Trial, ...]:
    """Give a proposal that is taken, and one for each check of the gate."""
    birch = _cases("birch", {level: 3 * level + 2 for level in (1, 2, 4, 7, 9)})
    cedar = _cases("cedar", {level: 5 * level for level in (3, 5, 8)})
    text, answers_all = "birch level N => 3 * N + 2", "birch * N => 3 * N + 2"
    rule = _made(text, birch)
    # Two lines that meet at level 4: each gives three of five cases, and the first hides what the second gets wrong,
    # behind the newest of each of many families.
    crossed = _cases("oak", {1: 5, 2: 8, 4: 14, 6: 24, 9: 39})
    first, second = ({f"fh:oaklevel{level}": crossed[f"fh:oaklevel{level}"] for level in levels} for levels in
                     ((1, 2, 4), (4, 6, 9)))  # fmt: skip
    crossed |= {name: case for at in range(6) for name, case in _cases(f"fir{at}", {1: at}).items()}
    wide = _made(answers_all, birch)
    # More cases than are asked again: a narrow rule gets four of the oldest wrong, which a wide one hides.
    old = _cases("ash", {level: 5 * level + 1 if level < 6 else 3 * level for level in range(10)})
    old = {name: replace(case, case=case.case.replace("level", "old level")) for name, case in old.items()}
    many = {**old, **_cases("ash", {level: 3 * level for level in range(10, 10 + entry_gate.CANARIES_MAX)})}
    narrow = _made("ash old level N => 5 * N + 1", dict(islice(old.items(), 6)))
    over = _made("ash * N => 3 * N", dict(islice(many.items(), 6, None)))
    everywhere = _made("* level N => 3 * N + 2", birch)
    pair = {name: birch[name] for name in ("fh:birchlevel1", "fh:birchlevel2")}
    own, foreign = [*birch.values()], [*birch.values(), *cedar.values()]
    # Of three sources the rule says nothing, so only the share of all sources stands against it.
    rooms = {**_cases("birch", {1: 5, 2: 8, 4: 14}), **_cases("birch", {3: 7, 5: 8, 6: 1}, "room")}
    # It speaks to the oldest cases of a family of 63 alone.
    far = [*_cases("elm", {1: 9, 2: 1, 3: 4}).values(), *_cases("elm", dict.fromkeys(range(4, 64), 1), "room").values()]
    # A reader that makes a rule of the three levels by itself has something to lose; the gate's reader makes none.
    mixed = {
        **_cases("yew", {1: 3, 2: 6, 3: 9}),
        **_cases("yew", {room: 5 * room + 1 for room in range(4, 10)}, "room"),
    }
    widened = _made("yew * N => 5 * N + 1", {name: case for name, case in mixed.items() if "room" in name})
    return (
        Trial("", own, rule), Trial("", [*many.values()], narrow, [over]),
        Trial("", [*mixed.values()], widened, tasks=(Task("yew level 50", "150"),)),
        Trial("form", foreign, _made(text, {**birch, "fh:cedarlevel3": cedar["fh:cedarlevel3"]})),
        Trial("evidence", own, _made(text, pair)), Trial("exact tokens", own, _made("birch level N of 99 => N", birch)),
        Trial("source replay", own, _made("birch level N => 4 * N + 1", birch)),
        Trial("source replay", [*rooms.values()], _made(text, rooms)),
        Trial("quarantine", own, rule, barred=(text,)), Trial("quarantine", own, rule, barred=(rule.id,)),
        Trial("scope replay", [*own, *far], everywhere), Trial("scope replay", foreign, everywhere),
        Trial("", foreign, rule, [everywhere], falls=[everywhere]),
        # What the reader knows by itself is wrong by what stands, as no case of that family shows.
        Trial("no regression", own, rule, [everywhere], tasks=(Task(*KNOWN),)),
        Trial("no regression", [*crossed.values()], _made("oak level N => 5 * N - 6", second),
              [_made("oak level N => 3 * N + 2", first)]),
        Trial("together", own, _made(text, birch, [wide]), [wide], tasks=(Task("birch room 50", "152"),)),
    )  # fmt: skip


def broken_promises() -> tuple[View, Sequence[Episode], int]:
    """Give a memory that no gate would leave, what happened, and how many promises it breaks.

    It has an entry that does not give its sources, and hides all of these.
    """
    birch = _cases("birch", {level: 3 * level + 2 for level in (1, 2, 4, 7, 9)})
    wrong = _made("birch level N => 4 * N + 5", birch)
    return View((wrong,), (), dict.fromkeys(birch, wrong.id)), [*birch.values()], 1 + len(birch)
