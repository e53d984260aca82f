"""A run of tasks on grids as tables and as a page: what each memory is worth, and the paper's settings beside theirs.

The invariant: every share stands with its interval and the number of streams; no memory and
keep all are in every table and picture; what holds programs on this machine is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from statistics import fmean

from firsthand.value import value
from firsthand_evals.stream import arc_checks, checks, curves, page
from firsthand_evals.stream.arc_arms import ARMS, RETRIEVED
from firsthand_evals.stream.arc_paper import ABOUT, FIGURE_2, FIGURE_10, FIGURE_11, Setting
from firsthand_evals.stream.arc_run import SHARES
from firsthand_evals.stream.arc_solvers import FORCED, STRONG, WEAK
from firsthand_evals.stream.arc_tasks import FAMILIES
from firsthand_evals.stream.arms import KEEP_ALL, NO_MEMORY
from firsthand_evals.stream.checks import Check
from firsthand_evals.stream.report import actions, apart, short, table
from firsthand_evals.stream.run import SURVIVAL, Stream

SIZES = ("characters", "entries", "families covered", "of several families", "fit nothing", "kept")
DRAWN = (f"p0 {STRONG}", f"p0 {FORCED}", f"seen {STRONG}", f"seen {WEAK}", f"unseen {WEAK}", f"variant {WEAK}",
         "characters")  # fmt: skip
HEAD = """\
# What consolidation does to programs

Looked at while tuning: not on record; generators, solvers and scripted faults are ours, so no figure is held out.
Written by `firsthand eval stream --pack arcstream --markdown FILE`. No model and no network: tasks, solvers and writers
are by rule, and the losses of the harmful writers are scripted, so nothing here is a measure of a model. How it is
made, and what it does not say: docs/stream.md.
"""
TOLD = """\
p0: tasks of the pool that the strong solver solves without any memory; seen: tasks that came; unseen: a family and a \
skill that never came together; variant: tasks that came, with other parameters; regressed: of what was solved before, \
what is not any more. A task is solved when all of its held-out grids are exactly right. The strong solver tries what \
memory shows on the pairs and seeks by itself what none of it gives; the weak one seeks nothing; the forced one must \
follow a strategy of the memory as soon as there is one, as the paper's prompt has it. Means over streams with 95 % \
intervals of resampled streams. Under a gate *seen* is 1 by construction."""
_FIGURES = {FIGURE_2: (f"p0 {FORCED}", f"p0 {STRONG}", "entries"), FIGURE_11: (f"seen {WEAK}", f"variant {WEAK}"),
            FIGURE_10: (f"block {FORCED}", f"block {WEAK}", "fit nothing")}  # fmt: skip
_OTHERS = (f"seen {WEAK}", f"p0 {FORCED}")


@value
class Run:
    """All streams of one schedule."""

    schedule: str
    streams: tuple[Stream, ...]

    @property
    def arms(self) -> tuple[str, ...]:
        """Give the arms that ran, in their order."""
        ran = {one.arm for one in self.streams}
        return tuple(one.name for one in ARMS if one.name in ran)

    def __str__(self) -> str:
        seeds = sorted({one.seed for one in self.streams})
        updates = len(self.streams[0].points)
        return (
            f"schedule {self.schedule}: {len(seeds)} streams of {updates} update{'s' * (updates != 1)}, seeds "
            f"{seeds[0]} to {seeds[-1]}, {len(self.arms)} arms"
        )


@value(eq=False)
class Found:
    """A whole run.

    Attributes:
        beside: streams of the paper's settings, under the settings' names.
        layers: what holds programs on this machine; stopped: how many were, by what.
    """

    runs: Sequence[Run]
    settings: Sequence[Setting]
    beside: Sequence[Stream]
    checks: Sequence[Check]
    layers: Sequence[str]
    stopped: Mapping[str, int]

    @property
    def held(self) -> str:
        """Say how programs are held."""
        told = ", ".join(f"{number} by {end}" for end, number in self.stopped.items()) or "none"
        return f"programs are held by {', '.join(self.layers)}; stopped: {told}"

    def of_figure(self) -> Mapping[str, Sequence[Setting]]:
        """Give the settings by figure."""
        found: dict[str, list[Setting]] = {}
        for one in self.settings:
            found.setdefault(one.figure, []).append(one)
        return found


def row(streams: Sequence[Stream], name: str, figures: Sequence[str]) -> list[str]:
    """Give figures of an arm after the last update, with their intervals."""
    return [name, *(short(curves.end(streams, name, one)) for one in figures)]


def figures_of(figure: str) -> tuple[str, ...]:
    """Name what is asked of the settings of a figure."""
    return _FIGURES.get(figure, _OTHERS)


def markdown(found: Found) -> str:
    """Write all tables."""
    parts = [HEAD.rstrip(), f"Here, {found.held}."]
    for run in found.runs:
        parts += [f"## {str(run)[0].upper()}{str(run)[1:]}", TOLD, *_run(run)]
    for figure, settings in found.of_figure().items():
        parts += [f"## Beside the paper: {figure}", f"{ABOUT[figure]}.".capitalize()]
        rows = [[*row(found.beside, one.name, figures_of(figure)), one.theirs or "-"] for one in settings]
        parts.append(table(["setting", *figures_of(figure), "theirs"], rows))
    if found.checks:
        parts += ["## Checks", "Written down before the run:", _checks(found)]
    return "\n\n".join(parts) + "\n"


def _run(run: Run) -> Iterator[str]:
    yield table(["arm", *SHARES], [row(run.streams, name, SHARES) for name in run.arms])
    yield (
        "What the memory is at the end; *kept*: episodes that stand in it word for word; *fit nothing*: entries whose "
        f"program solves no task of the world. *{RETRIEVED}*: of raw episodes those most like the task, as many "
        "characters as the gated rules have. *Halved*: updates after which less than half was left. *Grouped after*: "
        "the first update with an entry for each family and none for several; in brackets in how many streams."
    )
    yield table(["arm", *SIZES, "halved", "grouped after"], [_sizes(run.streams, name) for name in run.arms])
    yield "Differences after the last update, paired by world."
    beside = [
        [name, apart(curves.difference(run.streams, name, NO_MEMORY, f"p0 {FORCED}")),
         apart(curves.difference(run.streams, name, NO_MEMORY, f"p0 {STRONG}")),
         apart(curves.difference(run.streams, name, KEEP_ALL, f"unseen {WEAK}")),
         apart(curves.difference(run.streams, name, KEEP_ALL, f"unseen {STRONG}"))]
        for name in run.arms
    ]  # fmt: skip
    yield table(["arm", "p0 (forced) beside no memory", "p0 (strong) beside no memory",
                 "unseen (weak) beside keep all", "unseen (strong) beside keep all"], beside)  # fmt: skip
    yield from _gate(run)
    yield from _survival(run)


def _sizes(streams: Sequence[Stream], name: str) -> list[str]:
    own = curves.of(streams, name)
    halved = fmean(sum(point["halved"] for point in one.points) for one in own)
    first = [at for one in own if (at := grouped_after(one)) is not None]
    told = f"{_number(fmean(first))} ({len(first)} of {len(own)})" if first else "never"
    return [name, *(_number(curves.end(streams, name, one).mean) for one in SIZES), _number(halved), told]


def grouped_after(one: Stream) -> int | None:
    """Give the first update, from 1, after which entries group the families rightly; None when there is none."""
    for at, point in enumerate(one.points, 1):
        if point["families covered"] == len(FAMILIES) <= point["entries"] and not point["of several families"]:
            return at
    return None


def _gate(run: Run) -> Iterator[str]:
    gated = [one.name for one in ARMS if one.gate is not None and one.name in run.arms]
    if not gated:
        return
    yield "What the gate did. An entry is good when it is the program of one family, word for word."
    rows = []
    for name in gated:
        own = curves.of(run.streams, name)
        good = sum(one.rates.good_taken for one in own), sum(one.rates.good_refused for one in own)
        bad = sum(one.rates.bad_taken for one in own), sum(one.rates.bad_refused for one in own)
        told = actions(own)
        why = ", ".join(f"{word} {told[word]:,}" for word in checks_of_gate(told)) or "-"
        rows.append([name, str(checks.accepted(run.streams, name)), f"{good[1]:,} of {sum(good):,}",
                     f"{bad[0]:,} of {sum(bad):,}", why, f"{sum(one.violations for one in own):,}"])  # fmt: skip
    yield table(["arm", "accepted", "good refused", "bad accepted", "refused by", "left"], rows)


def checks_of_gate(told: Mapping[str, int]) -> list[str]:
    """Name the checks among what was counted."""
    other = {"asked", "accepted", "shown again", "quarantined", "unreadable"}
    return [word for word in told if word not in other and not word.startswith("proposed ")]


def _survival(run: Run) -> Iterator[str]:
    later = [number for number in SURVIVAL if number < len(run.streams[0].points)]
    if not later:
        return
    yield "Of solved programs that stood in a memory word for word, the share that stands there so many updates later."
    rows = []
    for name in run.arms:
        own = [one for stream in curves.of(run.streams, name) for one in stream.survival]
        both = {it: (sum(one.stood for one in own if one.updates == it), sum(one.n for one in own if one.updates == it))
                for it in later}  # fmt: skip
        rows.append([name, *(f"{stood / n:.3f}" if n else "-" for stood, n in both.values())])
    yield table(["arm", *(f"{number} later" for number in later)], rows)


def _checks(found: Found) -> str:
    chances = arc_checks.by_chance([*found.runs[0].streams, *found.beside])
    return table(["check", "says", "", "found", "by chance alone (Holm)"], [
        [one.name, one.says, "held" if one.held else "**FAILED**", one.found,
         f"{chances[one.name]:.4f}" if one.name in chances else ""]
        for one in found.checks
    ])  # fmt: skip


def html(found: Found) -> str:
    """Write the page, with the curves after every update."""
    parts = [f"<p>{escape(TOLD.replace('*', ''))} Here, {escape(found.held)}.</p>"]
    for run in found.runs:
        parts += [f"<h2>{escape(str(run))}</h2>", *page.pictures(run.streams, run.arms, DRAWN)]
    for figure, settings in found.of_figure().items():
        parts += [f"<h2>Beside the paper: {escape(figure)}</h2>", f"<p>{escape(ABOUT[figure])}</p>"]
        for updates in sorted({_updates(found, one) for one in settings} - {1}):  # one picture has one axis
            names = [one.name for one in settings if _updates(found, one) == updates]
            parts += page.pictures(found.beside, names, figures_of(figure)[:2])
        parts.append(_table(found.beside, settings, figures_of(figure)))
    return page.document("Programs after every update", [*parts, *page.checked(found.checks)])


def _updates(found: Found, one: Setting) -> int:
    return len(curves.of(found.beside, one.name)[0].points)


def _table(streams: Sequence[Stream], settings: Sequence[Setting], figures: Sequence[str]) -> str:
    heads = "".join(f'<th class="number">{escape(it)}</th>' for it in (*figures, "theirs"))
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(it)}</td>" for it in (*row(streams, one.name, figures), one.theirs)) + "</tr>"
        for one in settings
    )
    head = f"<thead><tr><th>after the last update</th>{heads}</tr></thead>"
    return f'<div class="wide"><table>{head}<tbody>{rows}</tbody></table></div>'


def _number(mean: float) -> str:
    return f"{mean:,.2f}".rstrip("0").rstrip(".")
