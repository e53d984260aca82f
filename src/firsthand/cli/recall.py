"""The command recall: a query in, blocks for people or JSON out, and what to type next."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from time import perf_counter

from firsthand.answer import HITS_MAX, Answer, Band, Conditions, Hit, Outcome, Query, Scope
from firsthand.cli.arguments import Parser, kind, number, time
from firsthand.cli.display import clock, count, cut, matcher, shown, size
from firsthand.cli.exits import DAMAGED, DONE, NOTHING_FOUND, USAGE
from firsthand.cli.output import Output
from firsthand.cli.stores import session_in, to_read, to_read_as
from firsthand.environment import calculate_in_one_thread
from firsthand.errors import StoreBusy
from firsthand.json_codec import to_json
from firsthand.ledger.ledger_recall import recall
from firsthand.space import Space, outage

PREVIEW_LINES_MAX = 8  # on a terminal; a pipe gets the whole preview
TASK_BUDGET_TOKENS = 200_000  # of the window that a session's task is read from
_STYLES = {Outcome.FOUND: "good", Outcome.DEGRADED: "bad"}
_WHY = {
    Outcome.ABSENT: "nothing matches; everything in scope was searched",
    Outcome.FILTERED: "nothing in the scope asked for, but there are matches outside it; widen it",
    Outcome.DEGRADED: "not everything was looked at, so this may not be all there is",
}
_LIKELY = {
    Band.LIKELY: "likely to hold the answer",
    Band.POSSIBLE: "which may hold the answer",
    Band.UNLIKELY: "unlikely to hold the answer; other words may find it",
}
WORDS_COLUMNS_MAX = 100
LIMIT = 10


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.describe(
        _recall, "Find events by words and exact strings; empty answers say why.",
        """
        firsthand recall connection refused
        firsthand recall app/main.py:212 --kind tool_result --since 2026-01-01
        firsthand recall --session 'pi:*' --limit 3 -- --no-verify
        firsthand recall --explain why did the deploy fail      what the scores are made of, and how likely an answer is
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
    option("--limit", type=number(1, HITS_MAX), default=LIMIT, metavar="N", help="most hits, default 10")
    option("--budget", type=number(1, 10_000_000), default=4000, metavar="TOKENS", help="of all previews, default 4000")
    option("--skip", type=number(0, 100_000), default=0, metavar="N", help="pass over hits, to read on")
    option("--task", metavar="SESSION", help="rank for the task that this session is at")
    option("--now", type=time, metavar="TIME", help='what "yesterday" is counted from; default this moment')
    how = parser.add_mutually_exclusive_group()
    how.add_argument("-v", "--explain", action="store_true", help="show what each score and the likelihood are made of")
    how.add_argument("--fenced", action="store_true", help="as one fenced text for an agent's context")


def _recall(chosen: argparse.Namespace, out: Output) -> int:
    """Find events."""
    if chosen.fenced and out.as_json:
        out.warn("firsthand: --fenced gives one text for a context; use it without --json")
        return USAGE
    calculate_in_one_thread()
    conditions = _task_of(chosen) if chosen.task is not None else None
    with _opened(chosen) as space:
        query = _query(chosen, conditions)
        started = perf_counter()
        answer = recall(space, query, waiting=True)
        milliseconds = (perf_counter() - started) * 1000
        fenced = _fenced(space, answer) if chosen.fenced else ""
    if out.as_json:
        query = answer.query
        asked = {"query": query.text, "skip": query.skip, "task": query.conditions, "now": query.now}
        out.json(to_json(answer) | asked)
    elif fenced:
        out.line(fenced)
    else:
        _show(answer, milliseconds, chosen, out)
    if answer:
        return DONE
    return DAMAGED if answer.outcome is Outcome.DEGRADED else NOTHING_FOUND


def _opened(chosen: argparse.Namespace) -> Space:
    """Open the store; where its server cannot be reached, what this machine has of it, whose answers are degraded."""
    try:
        return to_read_as(Space, chosen)
    except StoreBusy as refusal:
        return Space(outage(chosen.store, refusal), namespace=chosen.namespace, read_only=True, create=False)


def _query(chosen: argparse.Namespace, conditions: Conditions | None) -> Query:
    scope = Scope(tuple(chosen.session), tuple(chosen.agent), tuple(chosen.kind), chosen.since, chosen.until)
    return Query(
        " ".join(chosen.query), scope, hits_max=chosen.limit, budget_tokens_max=chosen.budget, skip=chosen.skip,
        conditions=conditions, now=chosen.now,
    )  # fmt: skip


def _task_of(chosen: argparse.Namespace) -> Conditions:
    """Read the task that a session is at from its window."""
    with to_read(chosen) as memory:
        return memory.session(session_in(memory, chosen.task)).window(TASK_BUDGET_TOKENS, pull=False).conditions


def _fenced(space: Space, answer: Answer) -> str:
    from firsthand.context import answers

    return space.fence(answers.of_recall(answer).text)


def _show(answer: Answer, milliseconds: float, chosen: argparse.Namespace, out: Output) -> None:
    if answer and answer.outcome is not Outcome.FOUND:  # said before the hits too, so that none is taken for more
        out.line(out.style(f"{answer.outcome.value}: {_WHY[answer.outcome]}", _STYLES[answer.outcome]))
        out.line()
    numbers = {hit.pointer: number for number, hit in enumerate(answer.hits, chosen.skip + 1)}
    for hit in (*answer.hits, *answer.companions):
        _block(hit, numbers, answer, out)
    _said(answer, numbers, out)
    if chosen.explain:
        explain(answer, numbers, out)
    _close(answer, milliseconds, chosen, out)


def _why(answer: Answer) -> str:
    """Say how many hits there are and how likely they answer, or why there are none, and what was bounded."""
    why = _WHY.get(answer.outcome, "")
    if answer:
        number = count(len(answer.hits), "hit") + (" (there are more)" if answer.more else "")
        why = f"{number}, {_LIKELY[answer.band]}" + (f"; {why}" if answer.outcome is Outcome.DEGRADED else "")
    return why + ("; the search was bounded before it had seen all matches" if answer.truncated else "")


def _block(hit: Hit, numbers: Mapping[str, int], answer: Answer, out: Output) -> None:
    who = hit.agent or hit.origin
    line = f"{hit.pointer}  {clock(hit.time)}  {hit.kind}{f' by {shown(who)}' if who else ''}"
    out.line(f"{out.style(str(numbers.get(hit.pointer, '+')), 'strong')}  {out.style(line, 'name')}")
    place = f"   session {shown(hit.session)}  turn {hit.turn}  {size(hit.size_bytes)}"
    place += (
        f"  belongs with {numbers.get(hit.companion_of, hit.companion_of)}"
        if hit.companion_of
        else f"  score {hit.score:.2f}"
    )
    place += f"  the same text stands in {count(len(hit.copies), 'more event')}: {hit.copies[0]}" if hit.copies else ""
    place += f"  claims: {hit.claims}" if hit.claims else ""
    place += f"  in the place of {hit.replaces}" if hit.replaces else ""
    out.line(out.style(place, "faint"))
    _preview(hit, answer.query.text, out)
    out.line()


def _said(answer: Answer, numbers: Mapping[str, int], out: Output) -> None:
    """Print what the user said on the question, in order of date; of a hit above its number."""
    if {hit.pointer for hit in answer.said} <= {*numbers} and len(answer.said) < 2:
        return  # it says nothing that the hits do not
    out.line(out.style("what you said on it, in order of date; which of it holds is not decided here", "strong"))
    for hit in answer.said:
        where = f"see {numbers[hit.pointer]}" if hit.pointer in numbers else f"session {shown(hit.session)}"
        line = f"{hit.pointer}  {clock(hit.time)}  {where}"
        out.line(f"   {out.style(line, 'name')}")
        if hit.pointer not in numbers:
            _preview(hit, answer.query.text, out)
    out.line()


def _preview(hit: Hit, query: str, out: Output) -> None:
    """Print the lines of a hit's preview; on a terminal those around the first match."""
    width = max(20, out.width - 5) if out.terminal else 0
    wanted = matcher(query, hit.exact)
    lines = [cut(line, width) for line in shown(hit.preview, lines=True).split("\n") if line.strip()]
    if out.terminal and len(lines) > PREVIEW_LINES_MAX:
        first = next((number for number, line in enumerate(lines) if wanted.search(line)), 0)
        start = max(0, min(first - 2, len(lines) - PREVIEW_LINES_MAX))
        lines = lines[start : start + PREVIEW_LINES_MAX]
    for line in lines:
        out.line("   | " + wanted.sub(lambda match: out.style(match[0], "mark"), line))


def _close(answer: Answer, milliseconds: float, chosen: argparse.Namespace, out: Output) -> None:
    """Say how sure the answer is, what was bounded, and what to type next."""
    outcome = out.style(answer.outcome.value, _STYLES.get(answer.outcome, "warn"))
    out.line(f"{outcome}: {_why(answer)} ({milliseconds:.0f} ms, searched through position {answer.through:,})")
    for note in answer.notes:
        out.line(f"note: {shown(note)}")
    if answer.hits:
        out.remark(f"read one: firsthand show {answer.hits[0].pointer}")
    if answer.more:
        out.remark(f"more: the same with --skip {chosen.skip + len(answer.hits)}")


# --explain -------------------------------------------------------------------------------------------


def explain(answer: Answer, numbers: Mapping[str, int], out: Output) -> None:
    """Print what the scores of an answer are made of, and what its likelihood is computed from.

    Args:
        numbers: of the hits, by pointer, as they were printed.
    """
    names = list(dict.fromkeys(name for hit in answer.hits for name in hit.parts))
    if answer.hits:
        rows = [("#", "score", *names, "exact strings"), *(_score_row(hit, names, numbers) for hit in answer.hits)]
        out.table(rows, range(len(names) + 2))
        out.line()
    for text in answer.attempts[1:]:
        out.line(f"asked also: {shown(cut(' '.join(text.split()), WORDS_COLUMNS_MAX))}")
    if (task := answer.query.conditions) is not None:
        out.line(
            f"for the task: {shown(cut(f'goal {task.goal!r}' if task.goal else 'no goal known', WORDS_COLUMNS_MAX))}"
        )
    if answer.signals:
        signals = ", ".join(f"{shown(name)} {number:.2f}" for name, number in answer.signals.items())
        out.line(f"likelihood {answer.likelihood:.2f} ({answer.band}), from: {signals}")
        out.line()


def _score_row(hit: Hit, names: Sequence[str], numbers: Mapping[str, int]) -> tuple[str, ...]:
    parts = (f"{hit.parts[name]:.2f}" if name in hit.parts else "" for name in names)
    exact = "; ".join(shown(string) for string in hit.exact)
    return (str(numbers[hit.pointer]), f"{hit.score:.2f}", *parts, exact)
