"""The messages of assertions that do not hold: counts, the first item that broke, whole, and what to do next.

What stands in them is put together here, their words are `templates/assertion.txt`. The
invariant: what a memory, a session or a reader wrote stands in a message without control
characters, cut at a named limit that is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from firsthand.printable import shown
from firsthand_evals import pages
from firsthand_evals.reclaim import scoring
from firsthand_evals.reclaim.readers import RECALLED
from firsthand_evals.reclaim.seam import RECALLED_CHARACTERS_MAX
from firsthand_evals.testing.reclaiming import CORRECTABLE, SILENT, WRONG, Asked, Reclaimed

if TYPE_CHECKING:
    from firsthand_evals.probe.probe import Verdict
    from firsthand_evals.reclaim.items import Item
    from firsthand_evals.testing.reclaiming import Lossless

TEXT_CHARACTERS_MAX = 1_500
"""Of one text that is shown."""
LIMITS = {"missing_max": 12, "answers_max": 3, "lost_max": 8, "recalled_max": RECALLED_CHARACTERS_MAX}
FOUND = frozenset({"correctable", "reachable"})


def of_reclaimed(result: Reclaimed) -> str:
    """Tell what did not hold of sessions that went wrong."""
    first = result.broken[0]
    messages = [
        (any(line in message["content"] for line in first.case.problem.source), message["content"])
        for message in (() if first.case.hops else first.case.session()) if message["role"] == "user"
    ]  # fmt: skip
    return _message(
        "reclaimed", result=result, counts=_counts(result), case=first.case, item=first.item, verdict=first.verdict,
        sort=_sort(first), messages=messages, broke=_broke(result),
    )  # fmt: skip


def of_lost(result: Lossless) -> str:
    """Tell which messages did not come back."""
    lines = Counter(line.session for line in result.lines)
    gone = Counter(lost.line.session for lost in result.lost)
    sessions = [(session, lines[session], gone[session]) for session in sorted(lines)]
    return _message("lost", result=result, sessions=sessions, first=result.lost[0] if result.lost else None)


def of_note(note: str, verdict: Verdict) -> str:
    """Tell why a note cannot be corrected."""
    return _message("note", note=note, verdict=verdict)


def _message(kind: str, **context: Any) -> str:
    filters: dict[str, Callable[..., str]] = {
        "shown": shown, "quotes": repr, "quoted": lambda text: "\n".join(_quoted(text)),
    }  # fmt: skip
    return pages.text("assertion.txt", filters, kind=kind, **context, **LIMITS).rstrip("\n")


def _quoted(text: str) -> Iterator[str]:
    for line in text[:TEXT_CHARACTERS_MAX].split("\n"):
        yield f"  | {shown(line)}".rstrip() if line.strip() else "  |"
    if len(text) > TEXT_CHARACTERS_MAX:
        yield f"  ... and {len(text) - TEXT_CHARACTERS_MAX:,} more characters"


def _counts(result: Reclaimed) -> Iterator[str]:
    """Say, for each sort of case, how many hold and what came of the others."""
    sorts: dict[str, list[Asked]] = {}
    for asked in result.asked:
        sorts.setdefault(_sort(asked), []).append(asked)
    broken = {asked.item.key for asked in result.broken}
    wide = max(map(len, sorts))
    for name, cases in sorts.items():
        bad = Counter(_came(asked.item, result.of) for asked in cases if asked.item.key in broken)
        outcomes = "".join(f"; {count} {what}" for what, count in sorted(bad.items()))
        yield f"{name:{wide}}  {len(cases) - sum(bad.values())} of {len(cases)} hold{outcomes}"


def _sort(asked: Asked) -> str:
    case = asked.case
    if case.hops:
        return f"chains of {case.hops} sessions"
    if case.extra:
        name, number = case.extra[0]
        return f"{number} items" if name == "items" else f"4 items among {number} that were only considered"
    return f"{case.problem.family}, source {case.source_at}"


def _came(item: Item, of: str) -> str:
    if item.blast:
        return "answered wrongly on the way"
    if of != CORRECTABLE and item.outcome not in {*WRONG, scoring.FAILED}:
        return "looked whole without their source"
    return {
        scoring.ATTRACTOR: "gave the old wrong value", scoring.WRONG: "gave a new wrong value",
        scoring.MALFORMED: "gave no answer line", scoring.FAILED: "failed", scoring.ABSTAINED: "could not say",
    }[item.outcome]  # fmt: skip


def _broke(result: Reclaimed) -> dict[str, bool]:
    """Say in which ways items broke, each of which has its own advice."""
    items = [asked.item for asked in result.broken]
    regimes = {item.regime for item in items}
    pulls = [pull for item in items for pull in item.pulls]
    chain = any(item.blast for item in items)
    return {
        "fault": any(item.fault for item in items),
        "full": any(item.over or item.used == result.budget for item in items),
        "unread": bool(regimes & FOUND) and any(item.outcome not in WRONG for item in items),
        "chain": chain, "wrong": chain or any(item.outcome in WRONG for item in items), "silent": SILENT in regimes,
        "lacking": result.of == CORRECTABLE and bool(regimes - FOUND - {""}),
        "stored": any(f"\n{RECALLED}" in f"\n{pull['text']}" for pull in pulls),
        "cut": any(pull["cut"] for pull in pulls),
    }  # fmt: skip
