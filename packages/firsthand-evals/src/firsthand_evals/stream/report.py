"""Runs of made facts, told: a table for the terminal, tables of Markdown, and a page with the curves.

What stands in them is put together here, their words are `templates/stream.md` and
`templates/stream.html`. The invariants: every arm that ran is in every table, no memory
and keep all are in every picture; every share stands with its interval, and the number of
streams is said; a band holds for all updates of its curve at once. A check that is
binding and did not hold is a failure; one that was not replicated is told and is none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any

from firsthand.value import asdict, value
from firsthand_evals import pages
from firsthand_evals.pages import PANEL_WIDTH, Figure, Picture, Series
from firsthand_evals.stats import Difference, Mean
from firsthand_evals.stream import checks, curves
from firsthand_evals.stream.arms import KEEP_ALL, NO_MEMORY
from firsthand_evals.stream.checks import Check
from firsthand_evals.stream.measure import MODEL, STRONG, WEAK
from firsthand_evals.stream.options import Report, Section, headline
from firsthand_evals.stream.run import SURVIVAL, Stream

SHARES = (
    f"seen {STRONG}", f"seen {WEAK}", f"exceptions {WEAK}", f"rule {STRONG}", f"rule {WEAK}", f"p0 {WEAK}",
    f"variant {WEAK}", f"regressed {WEAK}", "kept",
)  # fmt: skip
OF_MODEL = ("seen", "exceptions", "rule", "p0", "variant", "regressed")
SIZES = ("characters", "raw", "entries", "families covered", "of several families", "without sources", "said twice")
CHOSEN = ("rounds", "proposed consolidate", "accepted consolidate", "accepted retain", "accepted delete",
          "cases that fell out", "tokens read", "tokens written")  # fmt: skip
DRAWN = (f"seen {STRONG}", f"seen {WEAK}", f"rule {STRONG}", f"rule {WEAK}", f"p0 {WEAK}", f"variant {WEAK}",
         f"regressed {WEAK}", "characters")  # fmt: skip
PLACES_MAX = 11
"""Updates that are marked on a curve."""
OTHERS_MAX = pages.SERIES_MAX - 2
_REFUSED = ("form", "evidence", "trust", "exact tokens", "probe", "source replay", "scope replay", "no regression",
            "together")  # fmt: skip


@value
class Run:
    """All streams of one schedule."""

    schedule: str
    episodes: int
    streams: tuple[Stream, ...]

    @property
    def arms(self) -> tuple[str, ...]:
        """Give the arms that ran, in their order."""
        return tuple(dict.fromkeys(stream.arm for stream in self.streams))

    @property
    def shares(self) -> tuple[str, ...]:
        """Give the shares that are told: those of the readers by rule, and of a model where one answered."""
        asked = f"p0 {MODEL}" in self.streams[0].points[0]
        return (*SHARES, *(f"{figure} {MODEL}" for figure in OF_MODEL)) if asked else SHARES

    @property
    def number(self) -> int:
        """Count the worlds."""
        return len({stream.seed for stream in self.streams})

    def __str__(self) -> str:
        seeds, n = sorted({stream.seed for stream in self.streams}), len(self.streams[0].points)
        return (
            f"schedule {self.schedule}: {self.number} streams of {'1 update' if n == 1 else f'{n} updates'}, "
            f"{self.episodes} episodes each, seeds {seeds[0]} to {seeds[-1]}, {len(self.arms)} arms"
        )


Ran = Sequence[tuple[Run, Sequence[Check]]]
"""Each schedule with its checks."""


def report_of(ran: Ran, asked: str = "") -> Report:
    """Make a report; ``asked`` says of a run with a model who was asked."""
    every = [check for _, checked in ran for check in checked]
    streams = [{"stream": asdict(stream)} for run, _ in ran for stream in run.streams]
    return Report(
        sections=[_printed(run, checked) for run, checked in ran],
        records=[*streams, *({"check": asdict(check)} for check in every)],
        headline=headline(
            [check.held for check in every],
            f"{ran[0][0].number} streams; {', '.join(run.schedule for run, _ in ran)}",
        ),
        failed=[str(check) for check in every if not (check.held or check.few) and check.binding],
        kept={"checks": [asdict(check) for check in every], "streams": [record["stream"] for record in streams]},
        markdown=lambda: markdown(ran, asked),
        html=lambda: page(ran),
    )  # fmt: skip


def _printed(run: Run, checked: Sequence[Check]) -> Section:
    rows = [(arm, *(f"{curves.end(run.streams, arm, figure).mean:.3f}" for figure in run.shares), _length(run, arm))
            for arm in run.arms]  # fmt: skip
    return Section(str(run), [("arm", *run.shares, "characters"), *rows], [str(check) for check in checked])


def _length(run: Run, arm: str) -> str:
    return f"{curves.end(run.streams, arm, 'characters').mean:,.0f}"


def _ends(run: Run) -> list[tuple[str, ...]]:
    return [(arm, *(short(curves.end(run.streams, arm, figure)) for figure in run.shares)) for arm in run.arms]


def markdown(ran: Ran, asked: str = "") -> str:
    """Write the tables."""
    return pages.text("stream.md", asked=asked, runs=[_tables(run, checked) for run, checked in ran])


def _tables(run: Run, checked: Sequence[Check]) -> dict[str, Any]:
    chances = checks.by_chance(run.streams) if checked else {}
    return {
        "name": str(run), "shares": [*run.shares], "ends": _ends(run), "sizes_heads": [*SIZES],
        "sizes": [*_sizes(run)], "beside": [*_beside(run)], "gate": [*_gate(run)], "chosen_heads": [*CHOSEN],
        "choices": [*choices(run.streams, run.arms)], "survival": [*_survival(run)],
        "later": [f"{number} later" for number in _later(run)],
        "checks": [
            (check.name, check.says, check.verdict if check.held or not check.binding else f"**{check.verdict}**",
             check.found, f"{chances[check.name]:.4f}" if check.name in chances else "")
            for check in checked
        ],
    }  # fmt: skip


def _sizes(run: Run) -> Iterator[Sequence[str]]:
    for arm in run.arms:
        streams = curves.of(run.streams, arm)
        halved = fmean(sum(point["halved"] for point in stream.points) for stream in streams)
        sizes = [fmean(stream.end(figure) for stream in streams) for figure in SIZES]
        yield arm, *(f"{size:,.1f}".removesuffix(".0") for size in (*sizes, halved))


def _beside(run: Run) -> Iterator[Sequence[str]]:
    """Set each arm beside no memory and beside the raw episodes, and its end beside its best."""
    for arm in run.arms:
        fall = curves.fall(run.streams, arm, f"seen {WEAK}")
        apart_ = [apart(curves.difference(run.streams, arm, other, figure)) for other, figure in (
            (NO_MEMORY, f"p0 {WEAK}"), (NO_MEMORY, f"seen {WEAK}"), (KEEP_ALL, f"rule {WEAK}"),
            (KEEP_ALL, f"rule {STRONG}"))]  # fmt: skip
        yield arm, *apart_, f"{apart(fall.change)}, best after {fall.update}"


def _gate(run: Run) -> Iterator[Sequence[str]]:
    for arm in dict.fromkeys(stream.arm for stream in run.streams if stream.gated):
        streams = curves.of(run.streams, arm)
        good = sum(it.rates.good_taken for it in streams), sum(it.rates.good_refused for it in streams)
        bad = sum(it.rates.bad_taken for it in streams), sum(it.rates.bad_refused for it in streams)
        counts = actions(streams)
        yield (
            arm, str(checks.accepted(run.streams, arm)), f"{good[1]:,} of {sum(good):,}", f"{bad[0]:,} of {sum(bad):,}",
            ", ".join(f"{word} {counts[word]:,}" for word in counts if word in _REFUSED) or "-",
            f"{counts['quarantined']:,}", f"{sum(it.violations for it in streams):,}",
        )  # fmt: skip


def choices(streams: Sequence[Stream], names: Sequence[str]) -> Iterator[Sequence[str]]:
    """Tell what agents chose, and what of replies could not be read."""
    for name in names:
        counts = actions(curves.of(streams, name))
        why = ", ".join(f"{word} {counts[word]:,}" for word in sorted(counts) if word.startswith(("refused", "unread")))
        if "rounds" in counts or why:
            yield name, *(f"{counts[word]:,}" for word in CHOSEN), why or "-"


def actions(streams: Sequence[Stream]) -> Counter[str]:
    """Count what was proposed and what became of it, over streams."""
    counts: Counter[str] = Counter()
    for stream in streams:
        counts.update(stream.actions)
    return counts


def _later(run: Run) -> list[int]:
    return [number for number in SURVIVAL if number < len(run.streams[0].points)]


def _survival(run: Run) -> Iterator[Sequence[str]]:
    for arm in run.arms if _later(run) else ():
        stood, n = Counter[int](), Counter[int]()
        for survival in (it for stream in curves.of(run.streams, arm) for it in stream.survival):
            stood[survival.updates] += survival.stood
            n[survival.updates] += survival.n
        yield arm, *(f"{stood[later] / n[later]:.3f}" if n[later] else "-" for later in _later(run))


def short(mean: Mean) -> str:
    """Give a mean and its interval, without n."""
    return mean.interval() if mean.few or mean.low < mean.high else f"{mean.mean:.3f}"


def apart(change: Difference) -> str:
    """Give a difference and its interval, and say so where none can be seen."""
    signs = change.told() if change.few or change.low < change.high else f"{change.mean:+.3f}"
    return f"{signs}, {change.verdict}" if change.verdict.startswith("no ") else signs


def page(ran: Ran) -> str:
    """Write the page."""
    sections = [_section(run, checked) for run, checked in ran]
    return pages.render(
        "stream.html", title="Consolidation after every update", about="about_stream.txt", sections=sections
    )


def _section(run: Run, checked: Sequence[Check]) -> dict[str, Any]:
    asked = run.shares != SHARES  # a model answered: its figures stand in place of the strong reader's
    drawn = tuple(figure.replace(f" {STRONG}", f" {MODEL}") if asked else figure for figure in DRAWN)
    return {
        "heading": str(run), "pictures": [*_pictures(run.streams, run.arms, drawn)],
        "heads": ("after the last update", *run.shares, "characters"), "checks": checked,
        "rows": [(*row, _length(run, row[0])) for row in _ends(run)],
    }  # fmt: skip


def marked(updates: int) -> list[int]:
    """Choose the updates that are marked, from 1: the first, the last, and some between at equal distance."""
    if updates <= PLACES_MAX:
        return list(range(1, updates + 1))
    return sorted({1 + round(at * (updates - 1) / (PLACES_MAX - 1)) for at in range(PLACES_MAX)})


def _pictures(streams: Sequence[Stream], arms: Sequence[str], figures: Sequence[str]) -> Iterator[Picture]:
    """Draw the curves of figures, some arms in each picture."""
    base = [name for name in (NO_MEMORY, KEEP_ALL) if name in arms]
    others = [name for name in arms if name not in base]
    many = len({stream.seed for stream in streams}) > 1
    bands = "95 % bands, for a whole curve at once" if many else "one stream, so no bands"
    for at in range(0, len(others), OTHERS_MAX) or (0,):
        for figure in figures:
            series = [_series(streams, name, figure) for name in (*base, *others[at : at + OTHERS_MAX])]
            most = None if figure == "characters" else 1.0
            about = f"{figure} after each update"
            drawn = pages.lines(about, "update", figure, series, most=most, width=PANEL_WIDTH)
            yield Picture(drawn, f"{figure}; {bands}")


def _series(streams: Sequence[Stream], name: str, figure: str) -> Series:
    band = curves.band(streams, name, figure)
    top = float("inf") if figure == "characters" else 1.0
    points = ((str(at), band[at - 1]) for at in marked(len(band)))
    return Series(name, tuple(
        (at, Figure(it.mean, max(0.0, it.low), min(top, it.high), share=top == 1)) for at, it in points
    ))  # fmt: skip
