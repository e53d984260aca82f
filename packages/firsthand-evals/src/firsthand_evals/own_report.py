"""The report of a user's own store: what recall would have brought, what was volunteered, what a summary lost.

The invariant: every share stands with its n, beside a baseline of the same tokens; what rests
on fewer than two messages or cuts says that they are too few.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from firsthand import Moment
from firsthand.moment import clock
from firsthand_evals import stats
from firsthand_evals.own_store import Cut, Findings, Passage
from firsthand_evals.pages import Fold, Page, Section, Table
from firsthand_evals.pictures import Figure, Picture, Series, dots
from firsthand_evals.stats import Mean

LISTED_MAX, WORDS_CHARACTERS = 40, 160
WAYS = {
    "summary": "the summary keeps", "words": "BM25, same tokens", "ours": "one recall, same tokens",
    "contents": "a marker's contents, same tokens", "opened": "opened by pointer",
}  # fmt: skip
NAMED = tuple(WAYS)[:-1]
_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def page(findings: Findings, about: Sequence[tuple[str, str]]) -> Page:
    """Make the report; ``about`` is what was run."""
    shares = {**_use(findings), **_kept(findings.cuts)}
    series = [Series("your store", tuple((row, Figure.of(mean)) for row, mean in shares.items()))]
    series += [Series(name, tuple((row, Figure(share)) for row, share in points if row in shares), paper=True)
               for name, points in _DATA["paper"] if findings.cuts]  # fmt: skip
    drawn = partial(dots, "what was of use, and what was kept", "share", series)
    run = (("events", f"{findings.events:,}"), ("sessions", f"{findings.sessions:,}"),
           ("your messages", f"{len(findings.moments):,} of {findings.messages:,}"))  # fmt: skip
    caption = (
        "used later: of passages; kept and given back: of the names that were needed again; the paper's are needles"
    )
    return Page(
        "Your own store", verdict(findings), Picture(drawn, caption) if shares else None,
        [_would(findings), _volunteered(findings), _lost(findings.cuts)], (), _DATA["meanings"], (*run, *about),
    )  # fmt: skip


def verdict(findings: Findings) -> str:
    """Answer in a sentence or two what the store would have been good for."""
    use, kept = _use(findings), _kept(findings.cuts)
    shown = sum(bool(moment.ours) for moment in findings.moments)
    ours, words = use.get("recall: used later"), use.get("BM25: used later")
    told = f"Before {shown} of {len(findings.moments)} messages recall would have brought something"
    if ours is None or ours.few:
        told += ", too few to tell whether it was of use"
    else:
        beside = f", of BM25's in the same tokens {words.mean:.2f}" if words else ""
        told += f"; {ours.mean:.2f} of its {ours.n} passages were used later{beside}"
    if "the summary keeps" not in kept or kept["the summary keeps"].few:
        return f"{told}. Too few cuts to tell what a summary loses."
    summary, among, recalled, contents = (kept[WAYS[way]] for way in NAMED)
    lost = f"{told}. A summary lost {1 - summary.mean:.2f} of the {summary.n} names that were needed again"
    gives = f"one recall with your next message gives {recalled.mean:.2f} of them, a marker's contents "
    return f"{lost}; {gives}{contents.mean:.2f}, BM25 {among.mean:.2f}."


def _means(clusters: Mapping[str, Mapping[Any, Sequence[float]]]) -> dict[str, Mean]:
    """Give the mean of each row that has anything to count."""
    filled = {row: {name: it for name, it in of_row.items() if it} for row, of_row in clusters.items()}
    return {row: stats.mean(of_row) for row, of_row in filled.items() if of_row}


def _use(findings: Findings) -> dict[str, Mean]:
    moments = {moment.pointer: moment for moment in findings.moments}
    volunteered = {str(at): [float(passage.used)] for at, (_, passage) in enumerate(findings.volunteered)}
    return _means({
        "recall: used later": {at: [float(it.used) for it in moment.ours] for at, moment in moments.items()},
        "recall: elsewhere": {at: [float(it.elsewhere) for it in moment.ours if it.elsewhere is not None]
                              for at, moment in moments.items()},
        "BM25: used later": {at: [float(it.used) for it in moment.words] for at, moment in moments.items()},
        "volunteered: used later": volunteered,
    })  # fmt: skip


def _kept(cuts: Sequence[Cut]) -> dict[str, Mean]:
    shares: dict[str, dict[str, list[float]]] = {
        WAYS[way]: {cut.pointer: [float(name in getattr(cut, way)) for name in cut.needed] for cut in cuts}
        for way in NAMED
    }
    shares[WAYS["opened"]] = {cut.pointer: [1.0] * cut.opened + [0.0] * (len(cut.needed) - cut.opened) for cut in cuts}
    return _means(shares)


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= WORDS_CHARACTERS else f"{plain[:WORDS_CHARACTERS]}…"


def _date(time: Moment | None) -> str:
    return clock(time)[:16] if time is not None else "no date"


def _rows(passages: Sequence[Passage]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (
            f"{_date(it.time)}, {it.pointer}: {'used later' if it.used else 'not used'}",
            it.text,
        )
        for it in passages
    )


def _would(findings: Findings) -> Section:
    use = _use(findings)
    rows = [
        (row, f"{mean.n:,}", str(Figure.of(mean))) for row, mean in use.items() if not row.startswith("volunteered")
    ]
    shown = [moment for moment in reversed(findings.moments) if moment.ours][:LISTED_MAX]
    folds = [
        Fold(f"{_date(moment.time)}: {_short(moment.text)} ({sum(it.used for it in moment.ours)} of {len(moment.ours)} "
             "used later)", _rows(moment.ours))
        for moment in shown
    ]  # fmt: skip
    about = "" if folds else "Nothing was likely enough to be shown at any message."
    return Section("What recall would have brought", about=about, folds=folds,
                   tables=[Table(("", "passages", "share"), rows)] if rows else ())  # fmt: skip


def _volunteered(findings: Findings) -> Section:
    surfaces = dict.fromkeys(surface for surface, _ in findings.volunteered)
    rows = []
    for surface in surfaces:
        own = [passage for name, passage in findings.volunteered if name == surface]
        rows.append((surface or "not said", f"{len(own):,}", str(stats.rate(sum(it.used for it in own), len(own)))))
    newest = [passage for _, passage in reversed(findings.volunteered)][:LISTED_MAX]
    about = "" if rows else "The log has no record of anything that was put before an agent unasked."
    tables = [Table(("when", "pieces", "used later"), rows)] if rows else ()
    return Section("What was volunteered", about=about, tables=tables,
                   folds=[Fold(_short(it.text), _rows([it])) for it in newest])  # fmt: skip


def _lost(cuts: Sequence[Cut]) -> Section:
    rows = []
    for cut in cuts[:LISTED_MAX]:
        lost = [name for name in cut.needed if name not in cut.summary][:5]
        counts = [f"{len(getattr(cut, way)):,}" for way in NAMED]
        rows.append((cut.session, "host" if cut.host else "lines", f"{cut.tokens:,}", f"{len(cut.needed):,}", *counts,
                     f"{cut.opened:,}", _short(", ".join(lost))))  # fmt: skip
    heads = ("session", "summary by", "tokens", "needed again", *WAYS.values(), "lost, for example")
    kept = [(row, f"{mean.n:,}", str(Figure.of(mean))) for row, mean in _kept(cuts).items()]
    about = "" if rows else "No session was compacted or long enough to be cut, or nothing of it was needed again."
    tables = [Table(("", "names", "share"), kept), Table(heads, rows)] if rows else ()
    return Section("What a summary lost", about=about, tables=tables)
