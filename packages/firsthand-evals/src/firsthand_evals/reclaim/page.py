"""A run as one page of HTML: the paper's tables and figures for one's own memory, and the items that failed.

The invariant: the page is one file that runs nothing and fetches nothing (its own policy
forbids both); whatever a memory or a reader wrote stands in it escaped; every figure
stands with its interval and its n.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from firsthand.printable import shown
from firsthand.value import value
from firsthand_evals.reclaim import drift, pictures, scoring
from firsthand_evals.reclaim.figures import ABOUT, HEADS, figure, pair_line, scores
from firsthand_evals.reclaim.items import Case, Item, sha256
from firsthand_evals.reclaim.junit import cut
from firsthand_evals.reclaim.page_style import OUTCOMES, SERIES, STYLE
from firsthand_evals.reclaim.requirements import Requirement
from firsthand_evals.reclaim.tables import Cell, Table
from firsthand_evals.reclaim.validators import Check

ITEMS_MAX, ITEMS_OF_A_CELL_MAX = 60, 3
TEXT_CHARACTERS_MAX = 6_000
ROWS_OPEN_MAX, PAIRS_OPEN_MAX = 24, 6
"""Of a table; a longer one is folded under its picture."""
_WHAT = (
    "<p>A session went wrong, what the memory carried of it went into a fresh session, and there a correction asked "
    "again. Was the truth brought back?</p>"
)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


@value
class Report:
    """All that the page shows.

    Attributes:
        names: the memories under test; other memories of the items are there to be compared with.
        cases: by the key of their items; of the failing ones the session is shown.
        about: parameters of the run, as pairs of words.
    """

    items: tuple[Item, ...]
    tables: tuple[Table, ...]
    requirements: tuple[Requirement, ...]
    checks: tuple[Check, ...]
    names: tuple[str, ...]
    cases: Mapping[str, Case]
    about: tuple[tuple[str, str], ...]


def page(report: Report) -> str:
    """Write the page."""
    title = f"Reclaim evaluation of {', '.join(report.names)}" if report.names else "Reclaim evaluation"
    parts = [
        f"<h1>{_plain(title)}</h1>",
        _WHAT, *_cards(report), _contents(report), _key(), *(_table(one, report.names) for one in report.tables),
        *_requirements(report.requirements), *_checks(report.checks), *_failing(report), _foot(report),
    ]  # fmt: skip
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_plain(title)}</title><style>{STYLE}{SERIES}{OUTCOMES}</style></head><body>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def _cards(report: Report) -> Iterator[str]:
    """Write one card for each memory under test: all of its items together."""
    yield '<div class="cards">'
    for name, cell in scores(report.items, report.names).items():
        own = [requirement for requirement in report.requirements if requirement.memory == name]
        broken = sum(not requirement.held for requirement in own)
        verdict = f'<span class="bad">{broken} of {len(own)} requirements are not met</span>' if broken else (
            f'<span class="good">all {len(own)} requirements are met</span>')  # fmt: skip
        told = [
            f"new wrong values: {cell.silent}", f"stale values: {cell.attractor}", f"abstained: {cell.abstained}",
            f"cut to the budget: {cell.over} of {cell.n:,} items",
            *((f"failed: {cell.failed}",) if cell.failed.hits else ()),
            *(f"the probe says {regime.replace('_', ', ')}: {count:,}" for regime, count in cell.regimes),
        ]  # fmt: skip
        yield (
            f'<div class="card"><h3>{_plain(name)}</h3><b>{figure(cell, "reclaim").value:.2f}</b>'
            f"<small>of all items brought back: {_plain(str(figure(cell, 'reclaim')))}, n = {cell.n:,} items of "
            f"{cell.problems:,} problems</small><p>{verdict}</p><small>{'<br>'.join(map(_plain, told))}</small></div>"
        )
    yield "</div>"


def _contents(report: Report) -> str:
    links = [f'<a href="#{_plain(one.name)}">{_plain(one.name.replace("_", " "))}</a>' for one in report.tables]
    links += ['<a href="#requirements">requirements</a>'] if report.requirements else []
    links += ['<a href="#failing">items that failed</a>'] if report.names else []
    return f"<nav>{' '.join(links)}</nav>"


def _key() -> str:
    told = "".join(f"<li><b>{name}</b>: {about}</li>" for name, about in ABOUT)
    swatches = " ".join(
        f'<span><span class="swatch o-{outcome}"></span>{told}</span>' for outcome, told in pictures.SAID.items()
    )
    return (
        f"<details><summary>How to read this</summary><ul>{told}</ul><p>In brackets: 95 % intervals. Those of "
        "<i>brought back</i> resample whole problems (5,000 times, fixed seed); where all or none were, they are by "
        "the rule of three over problems. Those of the other shares are Wilson's. Each interval stands for itself: "
        "none is widened for the number of comparisons.</p></details>"
        f'<p class="legend">Bars: {swatches}</p>'
    )


# one table -----------------------------------------------------------------------------------------


def _table(table: Table, names: Sequence[str]) -> str:
    ordered = sorted(table.cells, key=lambda cell: cell.label("memory") not in names)  # one's own first
    rows = "".join(_row(cell, table, names) for cell in ordered)
    heads = [f"<th>{_plain(name.replace('_', ' '))}</th>" for name in table.by]
    heads += [f'<th class="number">{told}</th>' for told in ("n", *(HEADS[column] for column in table.columns))]
    body = f'<div class="wide"><table><thead><tr>{"".join(heads)}</tr></thead><tbody>{rows}</tbody></table></div>'
    if len(table.cells) > ROWS_OPEN_MAX:
        body = f"<details><summary>The table: {len(table.cells)} rows</summary>{body}</details>"
    remarks = "".join(f'<p class="faint">{_plain(one)}</p>' for one in table.remarks)
    return (
        f'<h2 id="{_plain(table.name)}">{_plain(table.name.replace("_", " "))} '
        f"<small>reclaim-evaluation {_plain(table.where)}</small></h2>"
        f"{pictures.pictures(table, names)}{body if table.cells else '<p>No item counts here.</p>'}"
        f"{_pairs(table, names)}{remarks}"
    )


def _pairs(table: Table, names: Sequence[str]) -> str:
    """Write the differences, those of one's own memory first; many are folded."""
    if not table.pairs:
        return ""
    mine = [one for one in table.pairs if any(f": {name} minus" in one.about for name in names)]
    lines = "".join(f"<li>{_plain(pair_line(one))}</li>" for one in (*mine, *(o for o in table.pairs if o not in mine)))
    if len(table.pairs) <= PAIRS_OPEN_MAX:
        return f"<ul>{lines}</ul>"
    return f"<details><summary>{len(table.pairs)} differences, paired by problem</summary><ul>{lines}</ul></details>"


def _row(cell: Cell, table: Table, names: Sequence[str]) -> str:
    own = ' class="own"' if cell.label("memory") in names else ""
    told = []
    for name, it in cell.labels:
        mark = ' class="name"' if name == "memory" else ""
        told.append(f"<td{mark}>{_plain('' if it is None else str(it))}</td>")
    told.append(f'<td class="number">{cell.n:,}</td>')
    for column in table.columns:
        number, _, interval = str(figure(cell, column)).partition(" ")
        told.append(f'<td class="number">{number} <small>{interval}</small></td>')
    return f"<tr{own}>{''.join(told)}</tr>"


# requirements, checks, items -----------------------------------------------------------------------------


def _requirements(requirements: Sequence[Requirement]) -> Iterator[str]:
    if not requirements:
        return
    broken = [requirement for requirement in requirements if not requirement.held]
    met = len(requirements) - len(broken)
    yield f'<h2 id="requirements">Requirements</h2><p>{met:,} of {len(requirements):,} are met.</p>'
    if broken:
        rows = "".join(
            f"<tr><td>{_plain(one.memory)}</td><td>{_plain(one.experiment)}</td><td>{_plain(one.name)}</td>"
            f'<td class="bad">{_plain(one.found)}</td><td class="number">{one.n:,}</td></tr>'
            for one in broken
        )
        heads = "".join(f"<th>{one}</th>" for one in ("memory", "experiment", "not met", "found"))
        head = f'<tr>{heads}<th class="number">n</th></tr>'
        body = f'<div class="wide"><table><thead>{head}</thead><tbody>{rows}</tbody></table></div>'
        folded = len(broken) > ROWS_OPEN_MAX
        yield f"<details><summary>{len(broken):,} that are not met</summary>{body}</details>" if folded else body


def _checks(checks: Sequence[Check]) -> Iterator[str]:
    if not checks:
        return
    broken = sum(not check.held for check in checks)
    rows = "".join(f'<li class="{"good" if one.held else "bad"}">{_plain(str(one))}</li>' for one in checks)
    yield (
        f"<h2>Checks of the evaluation itself</h2><p>{len(checks) - broken} of {len(checks)} hold. They are of the "
        f"paper's notes under this reader, not of a memory.</p><ul>{rows}</ul>"
    )


def _failing(report: Report) -> Iterator[str]:
    if not report.names:
        return
    failing = [item for item in report.items if item.parameters["memory"] in report.names and _fails(item)]
    whose = _plain(", ".join(report.names))
    yield f'<h2 id="failing">Items that failed</h2><p>{len(failing):,} of the items of {whose}.'
    seen: Counter[tuple[str, str, str]] = Counter()
    chosen: list[Item] = []
    for item in failing:
        place = item.parameters["memory"], item.parameters["experiment"], item.outcome
        seen[place] += 1
        if seen[place] <= ITEMS_OF_A_CELL_MAX and len(chosen) < ITEMS_MAX:
            chosen.append(item)
    if chosen:
        yield (
            f" {len(chosen)} are shown, at most {ITEMS_OF_A_CELL_MAX} of each experiment and outcome; all are in "
            "<code>items.jsonl</code>."
        )
    yield "</p>"
    for item in chosen:
        yield _item(item, report.cases.get(item.key))


def _fails(item: Item) -> bool:
    return item.outcome != scoring.RECOVERED or (item.parameters.get("premise") is False and item.blast > 0)


def _item(item: Item, case: Case | None) -> str:
    told = item.parameters
    where = ", ".join(
        f"{name.replace('_', ' ')} {it}" for name, it in told.items()
        if name not in {"version", "experiment", "memory", "reader", "temperature"}
        and (it is False or it not in ("", None, 0))
    )  # fmt: skip
    came = f"{pictures.SAID[item.outcome]}, gave {item.given or 'nothing'}; right is {item.answer}"
    head = f"<b>{_plain(str(told['experiment']))}</b> {_plain(str(told['memory']))}: {_plain(came)}"
    parts = [f'<details class="item"><summary>{head}</summary><p><small>{_plain(where)}</small></p>']
    if item.fault:
        parts.append(f'<p class="bad">{_plain(item.fault)}</p>')
    if case is not None:
        parts += _session(item, case)
    if item.outcome == scoring.FAILED:
        return "".join(parts) + "</details>"
    cut_to = f", of {item.written:,} that it wrote: cut" if item.over else ""
    regime = f"; the probe says {item.regime.replace('_', ', ')}" if item.regime else ""
    parts.append(f'<p class="role">carried: {item.used:,} characters{cut_to}{_plain(regime)}</p>{_pre(item.carried)}')
    for hop in item.hops:
        parts.append(
            f'<p class="role">a session: truth {_plain(str(hop["truth"]))}, given {_plain(str(hop["given"]))} '
            f"({_plain(str(hop['outcome']))}); carried</p>{_pre(str(hop['carried']))}"
        )
    for pull in item.pulls:
        parts.append(f'<p class="role">asked the memory: {_plain(str(pull["query"]))}</p>{_pre(str(pull["text"]))}')
    for turn, reply in zip(item.turns, item.replies, strict=False):
        parts.append(f'<p class="role">correction</p>{_pre(turn)}<p class="role">reply</p>{_pre(reply)}')
    return "".join(parts) + "</details>"


def _session(item: Item, case: Case) -> Iterator[str]:
    """Write what the memory was given, and what of it determines the answer."""
    problem = case.problem
    rows = "".join(f"<li>{_plain(line)}</li>" for line in problem.source)
    yield f"<p>What determines {_plain(problem.ask)}:</p><ul>{rows}</ul>"
    if case.hops:
        return
    session = drift.dialogue(
        problem, case.depth, filler=case.filler, source_at=case.source_at, premise=case.premise, wording=case.wording,
        say=case.say,
    )  # fmt: skip
    if item.session_sha256 not in ("", sha256(session)):  # it is empty where the memory failed
        yield '<p class="faint">The session was said in other words then; it is not shown.</p>'
        return
    told = "".join(f'<p class="role">{_plain(one["role"])}</p>{_pre(one["content"])}' for one in session)
    yield f"<details><summary>The session, {len(session)} messages</summary>{told}</details>"


def _foot(report: Report) -> str:
    rows = "".join(f"<tr><td>{_plain(name)}</td><td>{_plain(it)}</td></tr>" for name, it in report.about)
    return f"<h2>The run</h2><table>{rows}</table>"


def _pre(text: str) -> str:
    return f"<pre>{escape(shown(cut(text, TEXT_CHARACTERS_MAX), lines=True)) or '&nbsp;'}</pre>"


def _plain(text: str) -> str:
    return escape(shown(text))
