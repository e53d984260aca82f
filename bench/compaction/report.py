"""The report as Markdown, made of the JSON report and of nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .values import CYCLES, Ask

OURS = "Firsthand"
_LAST = CYCLES[-1]
_OTHERS = (Ask.PARAPHRASED, Ask.TWO_STEP)


Row = Mapping[str, Any]


def markdown(report: Mapping[str, Any]) -> str:
    """Write the whole report."""
    parts = [HEAD]
    for part in report["parts"]:
        parts += [f"## {part['title']}", "", part["measured"], ""]
        parts += _part(part)
    parts += ["## What is not shown here", "", *(f"- {one}" for one in report["limits"]), ""]
    return "\n".join(parts)


def as_json(report: Mapping[str, Any]) -> str:
    """Write the report as JSON, one line for each part, row and class of strings."""
    text = json.dumps(report, ensure_ascii=False)
    for begin in ('{"title"', '{"method"', '{"kind"', '"limits"'):  # inside a string its quotes would be escaped
        text = text.replace(begin, f"\n{begin}")
    return text


HEAD = """# Needles over compactions

Looked at while tuning: not on record; no session here is known to have been kept away from whoever set a constant.

Written by `python bench/compaction_bench.py`, each part by the command that stands in it; the numbers are in \
compaction.json beside it. Times are those of a shared machine: read them beside each other.

A *cycle* is one window's worth of session: the questions are asked when the session is 1.25, 3.25 and 5.25 windows \
long, of every method at the same point. How often each one compacted by then stands beside it. *Available*: the exact \
string stands in what the method puts before the model, in its context or in what its own search finds with the \
question as the query; no model is in this, it is a bound from above. *Read by rule*: one deterministic reader, the \
same for all, gives the sentence nearest to the question or says that it knows none. \
Scoring is by the exact string; nobody judges. Shares have 95 % intervals (Wilson; questions of one session are not \
wholly independent, so the true ones are somewhat wider). Tokens are counted for all methods at four characters each. \
The room that a search may fill is taken off the window of the methods that search.

- *truncation*: the newest messages that fit. *sliding window*: the last 20 messages.
- *running summary*: what leaves is summed up together with the summary before.
- *(extract)*: a rule keeps the sentences that tell most; *(oracle)*: it is told what will be asked, and bounds every \
summariser of the same room from above.
- *self-paging*: a core memory in the window and a searched archive of what was written down when messages left.
- *truncation + BM25 over all messages*: every message in SQLite's FTS5, searched with the question.
- *Firsthand*: `Session.window` with markers, and its `recall` with its limits (8 hits, at most 4,000 tokens).
"""


def _part(part: Row) -> list[str]:
    rows, fed = part["rows"], part["fed"]
    methods = list(dict.fromkeys(row["method"] for row in rows))
    lines = [part["about"], "", *_exact(rows, methods), ""]
    lines += [*_last(rows, methods), "", *_cost(rows, fed, methods), ""]
    lines += ["Where another method has the better number:", ""]
    return [*lines, *(_better(rows, fed, methods) or ["- nowhere in these tables"]), ""]


def _exact(rows: Sequence[Row], methods: Sequence[str]) -> list[str]:
    heads = [f"after {cycle}" for cycle in CYCLES]
    body = []
    for method in methods:
        for hops in _hops(rows, method):
            cells = [_row(rows, method, cycle, hops, Ask.EXACT) for cycle in CYCLES]
            over = cells[-1]["available over traces"]
            spread = f"{over['mean']:.0%} ± {over['deviation']:.0%}"
            body.append([_name(rows, method, hops), *(_share(cell["available"]) for cell in cells), spread])
    title = f"Exact questions, available (last column: mean and deviation over sessions after {_LAST}):"
    return [title, "", *_table(["method", *heads, f"after {_LAST}, over sessions"], body)]


def _last(rows: Sequence[Row], methods: Sequence[str]) -> list[str]:
    heads = ["method", "paraphrased, available", "two-step, available", "exact, read by rule",
             "never happened: the rule reads an answer", "never happened: the search finds nothing"]  # fmt: skip
    body = []
    for method in methods:
        for hops in _hops(rows, method):
            never = _row(rows, method, _LAST, hops, Ask.NEVER)
            searches = len(_hops(rows, method)) > 1
            body.append([
                _name(rows, method, hops),
                *(_share(_row(rows, method, _LAST, hops, ask)["available"]) for ask in _OTHERS),
                _share(_row(rows, method, _LAST, hops, Ask.EXACT)["read"]),
                _share(_turned(never["read"])),
                _share(never["absent"]) if searches else "no search",
            ])  # fmt: skip
    return [f"After {_LAST} cycles:", "", *_table(heads, body)]


def _cost(rows: Sequence[Row], fed: Sequence[Row], methods: Sequence[str]) -> list[str]:
    heads = ["method", "tokens carried, mean", "max", "tokens pulled a question", "compactions by 1 / 3 / 5",
             "ms a step", "ms a question"]  # fmt: skip
    body = []
    for method in methods:
        own = [one for one in fed if one["method"] == method]
        steps = sum(one["steps"] for one in own)
        made = [_mean(one["compactions"][str(cycle)] for one in own) for cycle in CYCLES]
        for hops in _hops(rows, method):
            exact = _row(rows, method, _LAST, hops, Ask.EXACT)
            body.append([
                _name(rows, method, hops),
                f"{_mean(one['tokens_mean'] for one in own):,.0f}",
                f"{max(one['tokens_max'] for one in own):,}",
                f"{exact['pulled tokens']:,}",
                " / ".join(f"{one:.0f}" for one in made),
                f"{1_000 * sum(one['seconds'] for one in own) / steps:.1f}",
                f"{exact['milliseconds']:.1f}",
            ])  # fmt: skip
    return ["What it takes:", "", *_table(heads, body)]


def _better(rows: Sequence[Row], fed: Sequence[Row], methods: Sequence[str]) -> list[str]:
    """Name every measure in which a method beats ours, at our better number of hops."""
    lines = []
    ours = max(_hops(rows, OURS)) if OURS in methods else 0
    if not ours:
        return []
    for cycle in CYCLES:
        for ask in (Ask.EXACT, Ask.PARAPHRASED, Ask.TWO_STEP):
            for level in ("available", "read"):
                mine = _rate(_row(rows, OURS, cycle, ours, ask)[level])
                found = _beating(rows, methods, lambda row, level=level: _rate(row[level]), mine, cycle, ask)
                if found:
                    word = "available" if level == "available" else "read by rule"
                    lines.append(f"- {ask.value}, {word}, after {cycle}: {mine:.0%} here; {found}")
    mine = _rate(_row(rows, OURS, _LAST, ours, Ask.NEVER)["read"])
    found = _beating(rows, methods, lambda row: _rate(row["read"]), mine, _LAST, Ask.NEVER)
    if found:
        lines.append(f"- no answer read to what never happened, after {_LAST}: {mine:.0%} here; {found}")
    carried = {method: _mean(one["tokens_mean"] for one in fed if one["method"] == method) for method in methods}
    lines += _less("fewer tokens carried", carried, "{:,.0f}")
    feeding = {
        method: 1_000 * sum(one["seconds"] for one in fed if one["method"] == method)
        / sum(one["steps"] for one in fed if one["method"] == method)
        for method in methods
    }  # fmt: skip
    lines += _less("fewer milliseconds a step (only this one writes to disk)", feeding, "{:.1f}")
    asking = {
        method: _row(rows, method, _LAST, max(_hops(rows, method)), Ask.EXACT)["milliseconds"]
        for method in methods if len(_hops(rows, method)) > 1
    }  # fmt: skip
    return lines + _less("fewer milliseconds a question, of those that search", asking, "{:.1f}")


def _less(what: str, costs: Mapping[str, float], form: str) -> list[str]:
    """Name the methods that take less than ours."""
    found = [f"{method} {form.format(cost)}" for method, cost in costs.items() if cost < costs.get(OURS, 0.0)]
    return [f"- {what}: {form.format(costs[OURS])} here; {', '.join(found)}"] if found else []


def _beating(rows: Sequence[Row], methods: Sequence[str], rate: Any, mine: float, cycle: int, ask: Ask) -> str:
    found = []
    for method in methods:
        best = max(rate(_row(rows, method, cycle, hops, ask)) for hops in _hops(rows, method))
        if method != OURS and best > mine:
            found.append(f"{method} {best:.0%}")
    return ", ".join(found)


# cells -----------------------------------------------------------------------------------------------


def _row(rows: Sequence[Row], method: str, cycle: int, hops: int, ask: Ask) -> Row:
    return next(
        (
            row for row in rows
            if (row["method"], row["cycle"], row["hops"], row["ask"]) == (method, cycle, hops, ask.value)
        ),
        _NONE,
    )  # fmt: skip


_ZERO: Row = {"count": 0, "of": 0, "interval": [0.0, 1.0]}
_NONE: Row = {
    "available": _ZERO, "read": _ZERO, "absent": _ZERO, "pulled tokens": 0, "milliseconds": 0.0,
    "available over traces": {"mean": 0.0, "deviation": 0.0},
}  # fmt: skip


def _hops(rows: Sequence[Row], method: str) -> list[int]:
    """Give the numbers of hops that a method was asked with: without a search it is one."""
    return sorted({row["hops"] for row in rows if row["method"] == method})


def _name(rows: Sequence[Row], method: str, hops: int) -> str:
    several = len(_hops(rows, method)) > 1
    return f"{method}, {hops} hop{'s' if hops > 1 else ''}" if several else method


def _rate(counted: Row) -> float:
    return counted["count"] / counted["of"] if counted["of"] else 0.0


def _turned(counted: Row) -> Row:
    low, high = counted["interval"]
    return {"count": counted["of"] - counted["count"], "of": counted["of"], "interval": [1 - high, 1 - low]}


def _share(counted: Row) -> str:
    if not counted["of"]:
        return "none asked"
    low, high = counted["interval"]
    return f"{_rate(counted):.0%} [{low:.0%}, {high:.0%}]"


def _mean(numbers: Iterable[float]) -> float:
    listed = list(numbers)
    return sum(listed) / len(listed) if listed else 0.0


def _table(heads: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    return [*lines, *(f"| {' | '.join(row)} |" for row in body)]
