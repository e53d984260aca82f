"""The command recall: a query in, blocks for people or JSON out, and what to type next."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping
from time import perf_counter

from firsthand import Answer, Conditions, Hit, Memory, Outcome, Query, Scope
from firsthand.answer import Hop
from firsthand.cli import json_forms
from firsthand.cli.argument_values import decimal, kind, number, time
from firsthand.cli.arguments import Parser
from firsthand.cli.display import Piece, clock, count, cut, marked, shown, size
from firsthand.cli.exits import DAMAGED, DONE, NOTHING_FOUND, USAGE
from firsthand.cli.output import Output
from firsthand.cli.stores import session_in, to_read

PREVIEW_LINES_MAX = 8  # on a terminal; a pipe gets the whole preview
TASK_BUDGET_TOKENS = 200_000  # of the window that a session's task is read from
_STYLES = {Outcome.FOUND: "good", Outcome.WEAK: "warn", Outcome.DEGRADED: "bad"}
_WHY = {
    Outcome.ABSENT: "nothing matches; everything in scope was searched",
    Outcome.FILTERED: "nothing in the scope asked for, but there are matches outside it; widen it",
    Outcome.WEAK: "none is sure enough to count as found; check the source before you rely on one",
    Outcome.DEGRADED: "a stage is behind or broken, so this may not be all there is",
}
WORDS_COLUMNS_MAX = 100
_HEADINGS = ("#", "score", "= base", "x premise", "x phase", "x (1 - superseded)", "x task relevance", "found by")
_DEFAULTS = {"limit": 10, "attempts": 3, "cost": 3.0, "mmr_lambda": 0.8}


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.describe(
        _recall, "Find events by their words and exact strings; an empty answer says why it is empty.",
        """
        firsthand recall connection refused
        firsthand recall app/main.py:212 --kind tool_result --since 2026-01-01
        firsthand recall --session 'pi:*' --limit 3 -- --no-verify
        firsthand recall --explain why did the deploy fail      how each hit was found, and how sure the answer is
        firsthand recall --task deploy which port               for the task of that session
        firsthand recall --fenced deploy key | xclip            to paste into an agent's context
        """,
    )  # fmt: skip
    option = parser.add_argument
    option("query", nargs="+", metavar="QUERY", help="any text; after -- it may begin with a dash")
    option("--session", action="append", default=[], metavar="NAME", help="only here; NAME* for a beginning")
    option("--agent", action="append", default=[], metavar="NAME", help="only what this agent said or did")
    option("--kind", action="append", default=[], type=kind, metavar="KIND", help="only events of this kind")
    option("--since", type=time, metavar="TIME", help="only from this time on")
    option("--until", type=time, metavar="TIME", help="only up to this time")
    option("--limit", type=number(1, 1000), default=10, metavar="N", help="most hits, default 10")
    option("--budget", type=number(1, 10_000_000), default=4000, metavar="TOKENS", help="of all previews, default 4000")
    option("--skip", type=number(0, 100_000), default=0, metavar="N", help="pass over hits, to read on")
    option("--task", metavar="SESSION", help="rank for the task that this session is at")
    option("--now", type=time, metavar="TIME", help='what "yesterday" is counted from; default this moment')
    option("--attempts", type=number(1, 8), default=3, metavar="N", help="most attempts in other words, default 3")
    option(
        "--cost", type=decimal(0.001, 1000), default=3.0, metavar="X",
        help="a false memory costs as much as X second looks; default 3",
    )  # fmt: skip
    option(
        "--lambda", dest="mmr_lambda", type=decimal(0.5, 1), default=0.8, metavar="X",
        help="1 ranks by score alone; less puts repetitions further down; default 0.8",
    )  # fmt: skip
    how = parser.add_mutually_exclusive_group()
    how.add_argument("-v", "--explain", action="store_true", help="show what each score is made of, and every attempt")
    how.add_argument("--fenced", action="store_true", help="as one fenced text for an agent's context")


def _recall(chosen: argparse.Namespace, out: Output) -> int:
    """Find events."""
    if chosen.fenced and out.as_json:
        out.warn("firsthand: --fenced gives one text for a context; use it without --json")
        return USAGE
    with to_read(chosen) as memory:
        query = _query(chosen, memory)
        started = perf_counter()
        answer = memory.recall(query)
        milliseconds = (perf_counter() - started) * 1000
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
        conditions = memory.session(session_in(memory, chosen.task)).window(TASK_BUDGET_TOKENS, pull=False).conditions
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
        explain(answer, numbers, out)
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
    words += [word for chosen_kind in chosen.kind for word in ("--kind", chosen_kind)]
    for option in ("since", "until", "now"):
        words += [f"--{option}", str(getattr(chosen, option))] if getattr(chosen, option) else []
    for name, default in _DEFAULTS.items():
        given = getattr(chosen, name)
        words += [] if given == default else [f"--{name.removeprefix('mmr_')}", f"{given:g}"]
    words += ["--skip", str(chosen.skip + hits), "--", *chosen.query]
    return shown(shlex.join(words))


# --explain -------------------------------------------------------------------------------------------


def explain(answer: Answer, numbers: Mapping[str, int], out: Output) -> None:
    """Print how an answer came about.

    Args:
        numbers: of the hits, by pointer, as they were printed.
    """
    if answer.hits:
        rows = [_HEADINGS, *(_score_row(hit, numbers) for hit in answer.hits)]
        out.table(rows, range(len(_HEADINGS) - 1))
        out.line()
        out.line(f"in order of score, but for this: {_order(answer)}")
        out.line()
    if answer.hops:
        hops = [("attempt", "confidence", "hits", "words"), *(_attempt(hop) for hop in answer.hops)]
        out.table(hops, {2})
        out.line()
    if answer.query.conditions is not None:
        out.line(f"for the task: {_task(answer.query.conditions)}")
    if answer.gate:
        cost = f"one false memory costs as much as {answer.query.cost:g} second looks"
        out.line(f"confidence {answer.confidence:.2f}; found is from {answer.threshold:.2f} on, as {cost}")
        out.line(f"what the confidence rests on: {shown(answer.gate)}")
    if answer.query.conditions is not None or answer.gate:
        out.line()


def _order(answer: Answer) -> str:
    """Say what moves a hit from its place."""
    moved = ["what belongs with a hit comes behind it", "a rule that fits has a place kept"]
    if len(answer.hops) > 1:
        moved.insert(0, "the surest attempt comes first")
    if answer.query.mmr_lambda < 1.0:
        moved.insert(0, f"what repeats a better hit goes down (lambda {answer.query.mmr_lambda:g})")
    return "; ".join(moved)


def _score_row(hit: Hit, numbers: Mapping[str, int]) -> tuple[str, ...]:
    shares = (1.0 - part if name == "superseded" else part for name, part in hit.parts.items())
    return (str(numbers[hit.pointer]), f"{hit.score:.2f}", *(f"{one:.2f}" for one in shares), _found_by(hit, numbers))


def _found_by(hit: Hit, numbers: Mapping[str, int]) -> str:
    said = ", ".join(f"{shown(name)} {value:.2f}" for name, value in hit.found_by.items())
    if hit.companion_of:
        said += f"{', ' if said else ''}belongs with {numbers.get(hit.companion_of, hit.companion_of)}"
    if hit.replaced_by:
        by = numbers.get(hit.replaced_by.partition("@")[0], hit.replaced_by)
        said += f"{', ' if said else ''}replaced by {by}"
    exact = "; ".join(shown(string) for string in hit.exact)
    return f"{said}{'; ' if said and exact else ''}{f'exact: {exact}' if exact else ''}"


def _attempt(hop: Hop) -> tuple[str, ...]:
    words = cut(shown(" ".join(hop.query.split())), WORDS_COLUMNS_MAX)
    return hop.how, f"{hop.confidence:.2f}{' passed' if hop.passed else ''}", f"{len(hop.hits):,}", words


def _task(task: Conditions) -> str:
    """Say a task in one line."""
    said = [f"goal {shown(cut(task.goal, WORDS_COLUMNS_MAX))!r}" if task.goal else "no goal known"]
    said += [f"phase {shown(cut(task.phase, WORDS_COLUMNS_MAX))!r}"] if task.phase else []
    for noun, lines in (("open loop", task.open_loops), ("premise", task.premises), ("key event", task.key_events)):
        said += [count(len(lines), noun)] if lines else []
    return ", ".join(said) + (f" (session {shown(task.session)})" if task.session else "")
