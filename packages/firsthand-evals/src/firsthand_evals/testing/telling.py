"""The messages of assertions that do not hold: counts, the first item that broke, whole, and what to do next.

The invariant: what a memory, a session or a reader wrote stands in a message without
control characters, cut at a named limit that is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from firsthand.printable import shown
from firsthand_evals.reclaim import drift, scoring
from firsthand_evals.reclaim.readers import RECALL, RECALLED
from firsthand_evals.reclaim.seam import RECALLED_CHARACTERS_MAX
from firsthand_evals.testing.reclaiming import CORRECTABLE, SILENT, WRONG, Asked, Reclaimed

if TYPE_CHECKING:
    from firsthand_evals.probe.probe import Verdict
    from firsthand_evals.reclaim.items import Item
    from firsthand_evals.testing.lossless import Line, Lossless, Lost

TEXT_CHARACTERS_MAX = 1_500
"""Of one text that is shown."""
MISSING_MAX = 12
ANSWERS_MAX = 3
LOST_MAX = 8
_NOTE_ADVICE = (
    "Keep what the conclusion is worked out from, word for word and before the conclusion.",
    "Where that does not fit, say how much of it was kept ('3 of 8 statements kept'), or keep a pointer to the rest.",
)


def of_reclaimed(result: Reclaimed) -> str:
    """Tell what did not hold of sessions that went wrong."""
    first = result.broken[0]
    wanted = "" if result.least == 1 else f", at least {result.least:g} of them were wanted"
    what = "is not correctable" if result.of == CORRECTABLE else "is partial and does not say so"
    lines = [f"{result.name} {what}: {result.figures}{wanted}", "", *_counts(result)]
    lines += ["", f"The first that broke: {_where(first)}", *_item(first, result.name)]
    lines += ["", "What to do", *(f"  {one}" for one in _advice(result)), *_again(result)]
    return "\n".join(lines)


def of_lost(result: Lossless) -> str:
    """Tell which messages did not come back."""
    lines = [shown(f"{result.name} is not lossless: {result.figures}")]
    if result.fault:
        return "\n".join(lines)
    sessions = Counter(one.session for one in result.lines)
    gone = Counter(one.line.session for one in result.lost)
    lines += ["", *(f"  session {one + 1}: {sessions[one] - gone[one]} of {sessions[one]}" for one in sorted(sessions))]
    first = result.lost[0]
    lines += ["", f"The first that is gone: said by {first.line.role} in session {first.line.session + 1}"]
    lines += _text(first.line.text)
    lines += [f"What {result.name} carries ({len(result.carried)} of {result.budget} characters)"]
    lines += _text(result.carried)
    for query, answer in first.answers[:ANSWERS_MAX]:
        lines += [f"What it answers to {shown(query)!r}", *_text(answer)]
    if len(first.answers) > ANSWERS_MAX:
        lines += [f"  and {len(first.answers) - ANSWERS_MAX} more answers, by pointers; it is in none of them"]
    others = [one.line for one in result.lost[1:]]
    lines += ["Gone as well"] * bool(others) + [f"  {_short(one)}" for one in others[:LOST_MAX]]
    lines += [f"  and {len(others) - LOST_MAX} more"] * (len(others) > LOST_MAX)
    return "\n".join([*lines, "", "What to do", *(f"  {one}" for one in _lost_advice(result, first))])


def of_note(note: str, verdict: Verdict) -> str:
    """Tell why a note cannot be corrected."""
    lines = [
        f"the note is {verdict.regime}: {verdict.detail}",
        "",
        "The note",
        *_text(note),
        "What is missing",
        *_missed(verdict),
    ]
    return "\n".join([*lines, "", "What to do", *(f"  {one}" for one in _NOTE_ADVICE)])


# the parts -----------------------------------------------------------------------------------------


def _counts(result: Reclaimed) -> Iterator[str]:
    """Write, for each sort of case, how many hold and what came of the others."""
    sorts: dict[str, list[Asked]] = {}
    for one in result.asked:
        sorts.setdefault(_sort(one), []).append(one)
    broken = {one.item.key for one in result.broken}
    wide = max(map(len, sorts))
    for name, asked in sorts.items():
        bad = Counter(_came(one.item, result.of) for one in asked if one.item.key in broken)
        told = "".join(f"; {count} {what}" for what, count in sorted(bad.items()))
        yield f"  {name:{wide}}  {len(asked) - sum(bad.values())} of {len(asked)} hold{told}"


def _sort(one: Asked) -> str:
    case = one.case
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


def _where(one: Asked) -> str:
    case = one.case
    return f"problem {case.problem.id} ({_sort(one)}), budget {case.budget} characters"


def _item(one: Asked, name: str) -> Iterator[str]:
    """Show an item whole: what was said, carried, missing, asked and answered."""
    case, item = one.case, one.item
    if item.fault:
        yield f"  {shown(item.fault)}"
        return
    yield from _said(one)
    cut = f"; it wrote {item.written:,} and was cut" if item.over else ""
    yield f"What {name} carried ({item.used:,} of {case.budget:,} characters{cut})"
    yield from _text(item.carried)
    for pull in item.pulls[:ANSWERS_MAX]:
        yield f"What it answered to {shown(pull['query'])!r}"
        yield from _text(pull["text"])
    if one.verdict is not None:
        yield f"What is missing (the probe: {one.verdict.regime}, {one.verdict.detail})"
        yield from _missed(one.verdict)
    yield "The correction"
    yield from _text("\n".join(item.turns))
    yield f"The reply ({item.parameters['reader']})"
    yield from _text("\n".join(item.replies))
    yield f"Right is {item.answer}" + (f"; the session had concluded {item.attractor}" if item.attractor else "")


def _said(one: Asked) -> Iterator[str]:
    """Show the session; of a chain, what each session added and came to."""
    case = one.case
    if case.hops:
        yield "What came of each session"
        for number, (line, hop) in enumerate(zip(case.problem.listed, one.item.hops, strict=True), 1):
            given = hop["given"] or "nothing"
            yield f"  {number}. {shown(line)}: right is {hop['truth']}, given was {given}"
        return
    yield "What was said (the user; what the answer is worked out from is marked)"
    session = drift.dialogue(
        case.problem, case.depth, filler=case.filler, source_at=case.source_at, premise=case.premise,
        wording=case.wording,
    )  # fmt: skip
    for message in session:
        if message["role"] == "user":
            marked = any(line in message["content"] for line in case.problem.source)
            yield f"  {'>' if marked else ' '} {shown(message['content'])}"


def _missed(verdict: Verdict) -> Iterator[str]:
    """Show what the probe misses."""
    for text in verdict.missing[:MISSING_MAX]:
        yield f"  {shown(text)}"
    if len(verdict.missing) > MISSING_MAX:
        yield f"  and {len(verdict.missing) - MISSING_MAX} more"
    if not verdict.missing:
        yield "  nothing that can be named" if not verdict.correctable else "  nothing"


def _text(text: str) -> Iterator[str]:
    kept = text[:TEXT_CHARACTERS_MAX]
    for line in kept.split("\n"):
        yield f"  | {shown(line)}".rstrip() if line.strip() else "  |"
    if len(text) > len(kept):
        yield f"  ... and {len(text) - len(kept):,} more characters"


def _short(line: Line) -> str:
    first, _, rest = line.text.partition("\n")
    return f"session {line.session + 1}: {shown(first)}{' ...' if rest else ''}"


# what to do ----------------------------------------------------------------------------------------


def _advice(result: Reclaimed) -> Iterator[str]:
    """Say what to do, for each way in which items broke, the first item's first."""
    items = [one.item for one in result.broken]
    if result.shared:
        yield "One object served for all problems, and may mix them: pass a class or a factory, made anew for each."
    if any(one.fault for one in items):
        yield "Mend what fails; it counts as not brought back."
    if any(one.over or one.used == result.budget for one in items):
        yield "Choose what to keep within the budget: what is cut at its end loses what came last, mid-statement."
    regimes = {one.regime for one in items}
    if regimes & {"correctable", "reachable"} and any(one.outcome not in WRONG for one in items):
        yield ("Where the probe finds what it takes and the reader does not: keep statements as they were said, "
               "one a line, or pass a reader of your own (reader=...).")  # fmt: skip
    if any(one.blast for one in items):
        yield ("What was carried into a session stands in its first message, of the role system: carry it on, or keep "
               "it in the memory, and say what was dropped.")  # fmt: skip
    if any(one.outcome in WRONG or one.blast for one in items):
        yield ("A wrong value came of a source that is not whole, or of what was only claimed: say how much was kept "
               "('3 of 8 statements kept'), and keep what the user said apart from what was concluded.")  # fmt: skip
    if SILENT in regimes:
        yield ("Keep the statements that the answer is worked out from, word for word and before the conclusion; "
               "where they do not fit, say so.")  # fmt: skip
    if result.of == CORRECTABLE and regimes - {"correctable", "reachable", ""}:
        yield "What does not fit within the budget can be found again: give the memory recall(query) -> str."
    pulls = [pull for one in items for pull in one.pulls]
    if any(f"\n{RECALLED}" in f"\n{pull['text']}" for pull in pulls):
        yield (f"What the memory was asked and answered stands in the session too ({RECALL} ..., {RECALLED} ...): do "
               "not store that again, or each answer holds the ones before it.")  # fmt: skip
    if any(pull["cut"] for pull in pulls):
        yield f"Answer with less: what recall gives is cut at {RECALLED_CHARACTERS_MAX:,} characters."


def _again(result: Reclaimed) -> Iterator[str]:
    """Give the command that asks the same sort of thing at full length."""
    if result.address:
        names = ("places",) if result.of == CORRECTABLE else ("size", "noise", "cascade")
        asked = "".join(f" --experiment {name}" for name in names)
        yield "All of it, with a report:"
        yield f"  firsthand eval reclaim --memory {result.address}{asked} --budget {result.budget} --html report.html"


def _lost_advice(result: Lossless, first: Lost) -> Iterator[str]:
    if first.altered:
        yield "It came back in other spaces, cases or characters: keep what was said as it is, and show it so."
    elif result.recalls:
        yield "Store every message as it was said, and let recall(query) give it back whole."
        yield f"It was asked for with {shown(first.line.asked)!r}, words of it; pointers (fh:...) are followed."
    else:
        yield (f"{result.said:,} characters were said and {result.budget:,} may be carried: what does not fit is only "
               "to be had from a memory that can be asked. Give it recall(query) -> str.")  # fmt: skip
