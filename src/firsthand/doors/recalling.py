"""The command recall: a query in, blocks for people or JSON out, and what to type next."""

from __future__ import annotations

import argparse
import shlex
import time

from firsthand import Answer, Hit, Outcome, Query, Scope
from firsthand.doors import json_forms
from firsthand.doors.display import Piece, clock, count, cut, marked, shown, size
from firsthand.doors.exits import DAMAGED, DONE, NOTHING_FOUND, USAGE
from firsthand.doors.output import Output
from firsthand.doors.stores import to_read

PREVIEW_LINES_MAX = 8  # on a terminal; a pipe gets the whole preview
_STYLES = {Outcome.FOUND: "good", Outcome.WEAK: "warn", Outcome.DEGRADED: "bad"}
_WHY = {
    Outcome.ABSENT: "nothing matches; everything in scope was searched",
    Outcome.FILTERED: "nothing in the scope asked for, but there are matches outside it; widen it",
}


def recall(chosen: argparse.Namespace, out: Output) -> int:
    """Find events."""
    if chosen.fenced and out.as_json:
        out.warn("firsthand: --fenced gives one text for a context; use it without --json")
        return USAGE
    scope = Scope(tuple(chosen.session), tuple(chosen.agent), tuple(chosen.kind), chosen.since, chosen.until)
    query = Query(
        " ".join(chosen.query), scope, hits_max=chosen.limit, budget_tokens_max=chosen.budget, skip=chosen.skip
    )
    with to_read(chosen) as memory:
        started = time.perf_counter()
        answer = memory.recall(query)
        milliseconds = (time.perf_counter() - started) * 1000
        fenced = memory.fenced(answer) if chosen.fenced else ""
    if out.as_json:
        out.json(json_forms.of_answer(answer))
    elif fenced:
        out.line(fenced)
    else:
        for number, hit in enumerate(answer.hits, chosen.skip + 1):
            _block(number, hit, answer, chosen.verbose, out)
        _close(answer, milliseconds, chosen, out)
    if answer:
        return DONE
    return DAMAGED if answer.outcome is Outcome.DEGRADED else NOTHING_FOUND


def _why(answer: Answer) -> tuple[str, str]:
    """Say what the outcome means, and whether the search was bounded."""
    why = _WHY.get(answer.outcome, count(len(answer.hits), "hit") + (", and there are more" if answer.more else ""))
    return why, "; truncated: the search was bounded before it had seen all matches" if answer.truncated else ""


def _block(number: int, hit: Hit, answer: Answer, verbose: bool, out: Output) -> None:
    who = hit.agent or hit.origin
    line = f"{hit.pointer}  {clock(hit.time)}  {hit.kind.word}{f' by {shown(who)}' if who else ''}"
    out.line(f"{out.style(str(number), 'strong')}  {out.style(line, 'name')}")
    place = f"   session {shown(hit.session)}  turn {hit.turn}  {size(hit.size_bytes)}  score {hit.score:.2f}"
    out.line(out.style(place, "faint"))
    if verbose:
        parts = "  ".join(f"{shown(name)} {value:.2f}" for name, value in hit.parts.items())
        exact = "; ".join(shown(string) for string in hit.exact)
        out.line(out.style(f"   score: {parts}{f'  exact: {exact}' if exact else ''}", "faint"))
    for pieces in _preview(hit, answer.query.text, out):
        out.line("   | " + "".join(out.style(one.text, "mark") if one.marked else one.text for one in pieces))
    out.line()


def _preview(hit: Hit, query: str, out: Output) -> list[list[Piece]]:
    """Give the lines of a hit's preview, ready to be shown; on a terminal those around the first match."""
    width = max(20, out.width - 5) if out.terminal else 0
    lines = [
        marked(cut(line, width), query, hit.exact)
        for line in shown(hit.preview, lines=True).split("\n")
        if line.strip()
    ]
    if out.terminal and len(lines) > PREVIEW_LINES_MAX:
        first = next((number for number, line in enumerate(lines) if any(one.marked for one in line)), 0)
        start = max(0, min(first - 2, len(lines) - PREVIEW_LINES_MAX))
        return lines[start : start + PREVIEW_LINES_MAX]
    return lines


def _close(answer: Answer, milliseconds: float, chosen: argparse.Namespace, out: Output) -> None:
    """Say how sure the answer is, what was bounded, and what to type next."""
    why, bounded = _why(answer)
    outcome = out.style(answer.outcome.value, _STYLES.get(answer.outcome, "warn"))
    out.line(f"{outcome}: {why}{bounded} ({milliseconds:.0f} ms, searched through position {answer.through:,})")
    for note in answer.notes:
        out.line(f"note: {shown(note)}")
    if answer.hits:
        out.remark(f"read one: firsthand show {answer.hits[0].pointer}")
    if answer.more:
        out.remark(f"more: {_next(chosen, len(answer.hits))}")


def _next(chosen: argparse.Namespace, hits: int) -> str:
    """Write the command that reads on."""
    words = ["firsthand", "recall"]
    for option in ("store", "namespace"):
        words += [f"--{option}", getattr(chosen, option)] if getattr(chosen, option) else []
    for option in ("session", "agent"):
        words += [word for value in getattr(chosen, option) for word in (f"--{option}", value)]
    words += [word for kind in chosen.kind for word in ("--kind", kind.word)]
    for option in ("since", "until"):
        words += [f"--{option}", str(getattr(chosen, option))] if getattr(chosen, option) else []
    words += [] if chosen.limit == 10 else ["--limit", str(chosen.limit)]
    words += ["--skip", str(chosen.skip + hits), "--", *chosen.query]
    return shown(shlex.join(words))
