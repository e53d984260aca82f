"""The command recall: a query in, blocks for people or JSON out, and what to type next."""

from __future__ import annotations

import argparse
import shlex
import time

from firsthand import Answer, Conditions, Hit, Memory, Outcome, Query, Scope
from firsthand.cli import explaining, json_forms
from firsthand.cli.display import Piece, clock, count, cut, marked, shown, size
from firsthand.cli.exits import DAMAGED, DONE, NOTHING_FOUND, USAGE
from firsthand.cli.output import Output
from firsthand.cli.stores import to_read

PREVIEW_LINES_MAX = 8  # on a terminal; a pipe gets the whole preview
TASK_BUDGET_TOKENS = 200_000  # of the window that a session's task is read from
_STYLES = {Outcome.FOUND: "good", Outcome.WEAK: "warn", Outcome.DEGRADED: "bad"}
_WHY = {
    Outcome.ABSENT: "nothing matches; everything in scope was searched",
    Outcome.FILTERED: "nothing in the scope asked for, but there are matches outside it; widen it",
    Outcome.WEAK: "none is sure enough to count as found; check the source before you rely on one",
    Outcome.DEGRADED: "a stage is behind or broken, so this may not be all there is",
}
_DEFAULTS = {"limit": 10, "attempts": 3, "cost": 3.0, "mmr_lambda": 0.8}


def recall(chosen: argparse.Namespace, out: Output) -> int:
    """Find events."""
    if chosen.fenced and out.as_json:
        out.warn("firsthand: --fenced gives one text for a context; use it without --json")
        return USAGE
    with to_read(chosen) as memory:
        if chosen.task is not None and all(one.name != chosen.task for one in memory.sessions()):
            out.warn(f"firsthand: no session {shown(chosen.task)!r} here; see them all: firsthand sessions")
            return NOTHING_FOUND
        query = _query(chosen, memory)
        started = time.perf_counter()
        answer = memory.recall(query)
        milliseconds = (time.perf_counter() - started) * 1000
        fenced = memory.fenced(answer) if chosen.fenced else ""
    if out.as_json:
        out.json(json_forms.of_answer(answer))
    elif fenced:
        out.line(fenced)
    else:
        _show(answer, milliseconds, chosen, out)
    if answer:
        return DONE
    return DAMAGED if answer.outcome is Outcome.DEGRADED else NOTHING_FOUND


def _scope(chosen: argparse.Namespace) -> Scope:
    return Scope(tuple(chosen.session), tuple(chosen.agent), tuple(chosen.kind), chosen.since, chosen.until)


def _query(chosen: argparse.Namespace, memory: Memory) -> Query:
    conditions: Conditions | None = None
    if chosen.task is not None:
        conditions = memory.session(chosen.task).window(TASK_BUDGET_TOKENS, pull=False).conditions
    return Query(
        " ".join(chosen.query), _scope(chosen), hits_max=chosen.limit, budget_tokens_max=chosen.budget,
        skip=chosen.skip, conditions=conditions, now=chosen.now, attempts_max=chosen.attempts, cost=chosen.cost,
        mmr_lambda=chosen.mmr_lambda,
    )  # fmt: skip


def _show(answer: Answer, milliseconds: float, chosen: argparse.Namespace, out: Output) -> None:
    if answer and answer.outcome is not Outcome.FOUND:  # said before the hits too, so that none is taken for more
        out.line(out.style(f"{answer.outcome.value}: {_WHY[answer.outcome]}", _STYLES[answer.outcome]))
        out.line()
    numbers = {hit.pointer: number for number, hit in enumerate(answer.hits, chosen.skip + 1)}
    for hit in answer.hits:
        _block(hit, numbers, answer, out)
    if chosen.explain:
        explaining.explain(answer, numbers, out)
    _close(answer, milliseconds, chosen, out)


def _why(answer: Answer) -> str:
    """Say how many hits there are and how sure they are, or why there are none, and what was bounded."""
    why = _WHY.get(answer.outcome, "")
    if answer:
        number = count(len(answer.hits), "hit") + (", and there are more" if answer.more else "")
        sure = f", confidence {answer.confidence:.2f}" if answer.gate else ""
        needed = f" of {answer.threshold:.2f} needed" if sure and answer.outcome is Outcome.WEAK else ""
        why = f"{number}{sure}{needed}" + (f"; {why}" if answer.outcome is Outcome.DEGRADED else "")
    return why + ("; truncated: the search was bounded before it had seen all matches" if answer.truncated else "")


def _block(hit: Hit, numbers: dict[str, int], answer: Answer, out: Output) -> None:
    who = hit.agent or hit.origin
    line = f"{hit.pointer}  {clock(hit.time)}  {hit.kind}{f' by {shown(who)}' if who else ''}"
    out.line(f"{out.style(str(numbers[hit.pointer]), 'strong')}  {out.style(line, 'name')}")
    place = f"   session {shown(hit.session)}  turn {hit.turn}  {size(hit.size_bytes)}  score {hit.score:.2f}"
    place += f"  belongs with {numbers.get(hit.companion_of, hit.companion_of)}" if hit.companion_of else ""
    place += (
        f"  replaced by {numbers.get(hit.replaced_by.partition('@')[0], hit.replaced_by)}" if hit.replaced_by else ""
    )
    out.line(out.style(place, "faint"))
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
    outcome = out.style(answer.outcome.value, _STYLES.get(answer.outcome, "warn"))
    out.line(f"{outcome}: {_why(answer)} ({milliseconds:.0f} ms, searched through position {answer.through:,})")
    for note in answer.notes:
        out.line(f"note: {shown(note)}")
    if answer.hits:
        out.remark(f"read one: firsthand show {answer.hits[0].pointer}")
    if answer.more:
        out.remark(f"more: {_next(chosen, len(answer.hits))}")


def _next(chosen: argparse.Namespace, hits: int) -> str:
    """Write the command that reads on."""
    words = ["firsthand", "recall"]
    for option in ("store", "namespace", "task"):
        words += [f"--{option}", getattr(chosen, option)] if getattr(chosen, option) else []
    for option in ("session", "agent"):
        words += [word for value in getattr(chosen, option) for word in (f"--{option}", value)]
    words += [word for kind in chosen.kind for word in ("--kind", kind)]
    for option in ("since", "until", "now"):
        words += [f"--{option}", str(getattr(chosen, option))] if getattr(chosen, option) else []
    for name, default in _DEFAULTS.items():
        given = getattr(chosen, name)
        words += [] if given == default else [f"--{name.removeprefix('mmr_')}", f"{given:g}"]
    words += ["--skip", str(chosen.skip + hits), "--", *chosen.query]
    return shown(shlex.join(words))
