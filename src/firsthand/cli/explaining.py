"""How recall --explain shows an answer: what each score is made of, every attempt, what the confidence rests on.

    #  score  = base  x premise  x phase  x (1 - superseded)  x task relevance  found by
    1   0.62    0.62       1.00     1.00                1.00              1.00  words 7.21, exact 3.10
    2   0.14    0.14       1.00     1.00                1.00              1.00  words 0.71, belongs with 1

    in order of score, but for this: what repeats a better hit goes down (lambda 0.8); ...

    attempt    confidence   hits  words
    as asked   0.31            4  why did the deploy fail
    key terms  0.81 passed     6  deploy fail

The invariant: a row multiplies out to its score. Plain text, the same on a terminal
and in a pipe.
"""

from __future__ import annotations

from collections.abc import Mapping

from firsthand import Answer, Conditions, Hit, Hop
from firsthand.cli.display import count, cut, shown, table
from firsthand.cli.output import Output

WORDS_COLUMNS_MAX = 100
_HEADINGS = ("#", "score", "= base", "x premise", "x phase", "x (1 - superseded)", "x task relevance", "found by")


def explain(answer: Answer, numbers: Mapping[str, int], out: Output) -> None:
    """Print how an answer came about.

    Args:
        numbers: of the hits, by pointer, as they were printed.
    """
    if answer.hits:
        rows = [_HEADINGS, *(_row(hit, numbers) for hit in answer.hits)]
        _print(rows, frozenset(range(len(_HEADINGS) - 1)), out)
        out.line(f"in order of score, but for this: {_order(answer)}")
        out.line()
    if answer.hops:
        hops = [("attempt", "confidence", "hits", "words"), *(_hop(hop) for hop in answer.hops)]
        _print(hops, frozenset({2}), out)
    if answer.query.conditions is not None:
        out.line(f"for the task: {_task(answer.query.conditions)}")
    if answer.gate:
        cost = f"one false memory costs as much as {answer.query.cost:g} second looks"
        out.line(f"confidence {answer.confidence:.2f}; found is from {answer.threshold:.2f} on, as {cost}")
        out.line(f"what the confidence rests on: {shown(answer.gate)}")
    if answer.query.conditions is not None or answer.gate:
        out.line()


def _print(rows: list[tuple[str, ...]], right: frozenset[int], out: Output) -> None:
    for number, line in enumerate(table(rows, right=right)):
        out.line(out.style(line, "faint") if number == 0 else line)
    out.line()


def _order(answer: Answer) -> str:
    """Say what moves a hit from its place."""
    moved = ["what belongs with a hit comes behind it", "a rule that fits has a place kept"]
    if len(answer.hops) > 1:
        moved.insert(0, "the surest attempt comes first")
    if answer.query.mmr_lambda < 1.0:
        moved.insert(0, f"what repeats a better hit goes down (lambda {answer.query.mmr_lambda:g})")
    return "; ".join(moved)


def _row(hit: Hit, numbers: Mapping[str, int]) -> tuple[str, ...]:
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


def _hop(hop: Hop) -> tuple[str, ...]:
    words = cut(shown(" ".join(hop.query.split())), WORDS_COLUMNS_MAX)
    return hop.how, f"{hop.confidence:.2f}{' passed' if hop.passed else ''}", f"{len(hop.hits):,}", words


def _task(task: Conditions) -> str:
    """Say a task in one line."""
    said = [f"goal {shown(cut(task.goal, WORDS_COLUMNS_MAX))!r}" if task.goal else "no goal known"]
    said += [f"phase {shown(cut(task.phase, WORDS_COLUMNS_MAX))!r}"] if task.phase else []
    for noun, lines in (("open loop", task.open_loops), ("premise", task.premises), ("key event", task.key_events)):
        said += [count(len(lines), noun)] if lines else []
    return ", ".join(said) + (f" (session {shown(task.session)})" if task.session else "")
