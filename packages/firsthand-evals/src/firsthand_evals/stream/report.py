"""Runs of made facts, told: a table for the terminal, and a page with the curves and every table.

The invariants: every arm that ran is in every table, no memory
and keep all are in every picture; every share stands with its interval, and the number of
streams is said; a band holds for all updates of its curve at once. A check that is
binding and did not hold is a failure; one that was not replicated is told and is none.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean

from firsthand.value import asdict, field, value
from firsthand_evals import pictures
from firsthand_evals.pages import Judged, Page, Section, Table
from firsthand_evals.pictures import Figure, Picture, Series
from firsthand_evals.stats import LEVEL, Difference, least_chance
from firsthand_evals.stream import checks, curves
from firsthand_evals.stream.arms import KEEP_ALL, NO_MEMORY, THROUGH_PORT
from firsthand_evals.stream.checks import Check
from firsthand_evals.stream.measure import MODEL, STRONG, WEAK
from firsthand_evals.stream.options import Report, headline
from firsthand_evals.stream.run import SURVIVAL, Stream

SHARES = (
    f"seen {STRONG}", f"seen {WEAK}", f"exceptions {WEAK}", f"rule {STRONG}", f"rule {WEAK}", f"p0 {WEAK}",
    f"variant {WEAK}", f"regressed {WEAK}", "kept",
)  # fmt: skip
OF_MODEL = ("seen", "exceptions", "rule", "p0", "variant", "regressed")
SIZES = ("whole", "raw", "entries", "families covered", "of several families", "without sources", "said twice")
CHOSEN = ("rounds", "proposed consolidate", "accepted consolidate", "accepted retain", "accepted delete",
          "cases that fell out", "tokens read", "tokens written")  # fmt: skip
DRAWN = (f"seen {STRONG}", f"seen {WEAK}", f"rule {STRONG}", f"rule {WEAK}", f"p0 {WEAK}", f"variant {WEAK}",
         f"regressed {WEAK}", "characters")  # fmt: skip
PLACES_MAX = 11
"""Updates that are marked on a curve."""
OTHERS_MAX = pictures.SERIES_MAX - 2
STREAMS_MIN = 2
"""Under so many the verdict is that they are too few."""
_WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_REFUSED = ("form", "evidence", "trust", "exact tokens", "probe", "source replay", "scope replay", "no regression",
            "together")  # fmt: skip


@value
class Run:
    """All streams of one schedule, of arms that came to the end; of others, what ended them and what they had done."""

    schedule: str
    episodes: int
    streams: tuple[Stream, ...]
    faults: Mapping[str, str] = field(default_factory=dict)
    ended: tuple[Stream, ...] = ()

    @property
    def tested(self) -> tuple[str, ...]:
        """Give the memories of somebody's own."""
        return self.arms[self.arms.index(THROUGH_PORT) + 1 :] if THROUGH_PORT in self.arms else ()

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
    streams = [{"stream": asdict(stream)} for run, _ in ran for stream in (*run.streams, *run.ended)]
    return Report(
        page=page(ran, asked),
        records=[*streams, *({"check": asdict(check)} for check in every)],
        headline=headline(
            [check.held for check in every],
            f"{ran[0][0].number} streams; {', '.join(run.schedule for run, _ in ran)}",
        ),
        failed=[
            *(told for run, _ in ran for told in run.faults.values()),
            *(str(check) for check in every if not (check.held or check.few) and check.binding),
        ],
        kept={"checks": [asdict(check) for check in every], "streams": [record["stream"] for record in streams]},
    )  # fmt: skip


def _length(run: Run, arm: str) -> str:
    return f"{curves.end(run.streams, arm, 'characters').mean:,.0f}"


def _ends(run: Run) -> list[tuple[str, ...]]:
    return [(arm, *(curves.end(run.streams, arm, figure).interval(2) for figure in run.shares)) for arm in run.arms]


def page(ran: Ran, asked: str = "") -> Page:
    """Make the page; ``asked`` says of a run with a model who was asked."""
    checked = [check for _, of_run in ran for check in of_run]
    about = [("asked", f"{asked} {_WORDS['by_model']}" if asked else _WORDS["by_rule"]),
             ("written by", f"firsthand eval stream{' --model MODEL' if asked else ''} --html FILE --markdown FILE"),
             ("how it is made, and what it does not say", "docs/stream.md")]  # fmt: skip
    return Page(
        "What a model makes of a memory" if asked else "What consolidation does to a memory", verdict(ran),
        _first_picture(ran[0][0]), [_section(*it) for it in ran],
        [Judged(str(check), check.held or (False if check.binding and not check.few else None)) for check in checked],
        [(word, meaning) for word, meaning in _WORDS["meanings"]], about,
    )  # fmt: skip


def verdict(ran: Ran) -> str:
    """Answer in a sentence which memories do harm, of the first schedule."""
    run, checked = ran[0][0], [check for _, of_run in ran for check in of_run]
    if run.number < STREAMS_MIN:
        told = "Too few to tell whether rewriting a memory does harm: one stream."
        return " ".join((told, *_ended(ran)))
    untold = [check for check in checked if check.name in checks.OF_HARNESS and not check.held]
    if untold:
        told = f"{len(untold)} of {len(checked)} checks, of the evaluation itself, do not hold"
        return " ".join((f"Nothing can be said of any memory: {told} ({untold[0].says}).", *_ended(ran)))
    broken = [check.name for check in checked if not (check.held or check.few)]
    few = [check.name for check in checked if check.few]
    sentences = [*(_tested(run, arm) for arm in run.tested)] or [_harm(run)]
    sentences += _ended(ran)
    if broken:
        sentences.append(f"Not held of {len(checked)} checks: {', '.join(broken)}.")
    if few:
        sentences.append(f"Too few streams or replies to tell of {', '.join(few)}.")
    if checked and not broken:
        sentences.append(f"All {len(checked) - len(few)} {'other ' if few else ''}checks held.")
    return " ".join(sentences)


def _harm(run: Run) -> str:
    """Count the memories that answer less than none of what needs none, corrected for how many are looked at."""
    figure, others = f"p0 {_reader(run)}", [arm for arm in run.arms if arm != NO_MEMORY]
    chances = curves.holm({arm: curves.chance_of(run.streams, arm, NO_MEMORY, figure) for arm in others})
    ends = {arm: curves.end(run.streams, arm, figure).mean for arm in (*others, NO_MEMORY)}
    worse = {arm: ends[arm] for arm in others if ends[arm] < ends[NO_MEMORY] and chances[arm] <= 1 - LEVEL}
    than = "less than no memory does of what needs none"
    if not worse and least_chance(run.number) * len(others) > 1 - LEVEL:
        return f"{run.number} streams are too few to tell which of {len(others)} memories answer {than}."
    told = f"After {len(run.streams[0].points)} updates {len(worse)} of {len(others)} memories answer {than}"
    if not worse:
        return f"{told}."
    least = min(worse.values())
    worst = [arm for arm, end in worse.items() if end <= least]
    return f"{told}; the worst {'is' if len(worst) == 1 else 'are'} {' and '.join(worst)} ({least:.2f})."


def _tested(run: Run, arm: str) -> str:
    """Say what a memory under test is worth beside no memory and beside keep all."""
    parts = []
    for words, name in (("what was seen", "seen"), ("what needs no memory (p0)", "p0")):
        figure = f"{name} {WEAK}"
        beside = (
            f"{other} {curves.end(run.streams, other, figure).mean:.2f}: "
            f"{curves.difference(run.streams, arm, other, figure).verdict}"
            for other in (NO_MEMORY, KEEP_ALL)
        )
        parts.append(f"{curves.end(run.streams, arm, figure).mean:.2f} of {words} ({'; '.join(beside)})")
    return f"After {len(run.streams[0].points)} updates {arm} answers {' and '.join(parts)}."


def _ended(ran: Ran) -> list[str]:
    """Name the memories that an error of their own ended."""
    return [f"{arm} was ended by an error of its own, and has no row." for run, _ in ran for arm in run.faults]


def _reader(run: Run) -> str:
    return WEAK if run.shares == SHARES else MODEL


def _first_picture(run: Run) -> Picture:
    """Draw what each memory left of what needs none, and of what was seen, beside the paper's figures."""
    reader = _reader(run)
    series = []
    for name, figure in (("needs no memory (p0)", f"p0 {reader}"), ("was seen", f"seen {reader}")):
        ends = ((arm, curves.end(run.streams, arm, figure)) for arm in run.arms)
        series.append(Series(name, tuple((arm, Figure.of(end)) for arm, end in ends)))
    paper = tuple((name, Figure(share)) for name, share in _WORDS["anchors"])
    about = f"answered right after the last update, by the {reader} reader"
    series.append(Series(_WORDS["paper"], paper, paper=True))
    drawn = partial(pictures.dots, about, "answered right", series)
    return Picture(drawn, f"{about}; {run.number} streams; the paper's are of what its model solved without memory")


def _section(run: Run, checked: Sequence[Check]) -> Section:
    """Give the curves and tables of a schedule."""
    chances = checks.by_chance(run.streams) if any(check.name[0] == "H" for check in checked) else {}
    drawn = tuple(figure.replace(f" {STRONG}", f" {MODEL}") if _reader(run) == MODEL else figure for figure in DRAWN)
    ends = [(*row, _length(run, row[0])) for row in _ends(run)]
    tables = [
        Table(("arm", *run.shares, "characters"), ends, "after the last update"),
        Table(("arm", *SIZES, "halved"), [*_sizes(run)], "what the memory is at the end, means over streams"),
        Table(_BESIDE, [*_beside(run)], "differences after the last update, paired by world"),
        Table(_GATE, [*_gate(run)], "what the gate did, over all streams"),
        Table(("arm", *CHOSEN, "not done"), [*choices(run.streams, run.arms)], "what agents chose, over all streams"),
        Table(("arm", *(f"{number} later" for number in _later(run))), [*_survival(run)],
              "of what stood in a memory word for word, the share that stands there so many updates later"),
        Table(("check", "by chance alone (Holm)"), [(name, f"{chance:.4f}") for name, chance in chances.items()]),
    ]  # fmt: skip
    about = str(run)
    return Section(
        f"Schedule {run.schedule}", about=about.partition(": ")[2], pictures=[*_pictures(run.streams, run.arms, drawn)],
        tables=[table for table in tables if table.rows], remarks=[*run.faults.values()],
    )  # fmt: skip


_BESIDE = ("arm", "p0 beside no memory", "seen (weak) beside no memory", "rule (weak) beside keep all",
           "rule (strong) beside keep all", "fall of seen (weak)")  # fmt: skip
_GATE = ("arm", "accepted", "good refused", "bad accepted", "refused by", "quarantined", "left")


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


def apart(change: Difference) -> str:
    """Give a difference and its interval, and say so where none can be seen."""
    signs = change.told() if change.few or change.low < change.high else f"{change.mean:+.3f}"
    return f"{signs}, {change.verdict}" if change.verdict.startswith("no ") else signs


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
            drawn = partial(pictures.lines, about, "update", figure, series, most=most)
            yield Picture(drawn, f"{figure}; {bands}")


def _series(streams: Sequence[Stream], name: str, figure: str) -> Series:
    band = curves.band(streams, name, figure)
    top = float("inf") if figure == "characters" else 1.0
    points = ((str(at), band[at - 1]) for at in marked(len(band)))
    return Series(name, tuple(
        (at, Figure(it.mean, max(0.0, it.low), min(top, it.high), share=top == 1)) for at, it in points
    ))  # fmt: skip
