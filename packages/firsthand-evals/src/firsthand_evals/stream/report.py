"""A run as tables of Markdown: what each memory is worth at the end, what the gate did, and the checks.

The invariant: every share stands with its interval, and the number of streams is said; no
memory and keep all are in every table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from firsthand.value import value
from firsthand_evals.stats import Difference, Mean
from firsthand_evals.stream import checks, curves
from firsthand_evals.stream.arms import KEEP_ALL, NO_MEMORY
from firsthand_evals.stream.checks import Check
from firsthand_evals.stream.measure import STRONG, WEAK
from firsthand_evals.stream.run import SURVIVAL, Stream

SHARES = (
    f"seen {STRONG}", f"seen {WEAK}", f"exceptions {WEAK}", f"rule {STRONG}", f"rule {WEAK}", f"p0 {WEAK}",
    f"variant {WEAK}", f"regressed {WEAK}", "kept",
)  # fmt: skip
MODEL = "model"
"""The reader that is one."""
OF_MODEL = ("seen", "exceptions", "rule", "p0", "variant", "regressed")
SIZES = ("characters", "raw", "entries", "families covered", "of several families", "without sources", "said twice")
HEAD = """\
# What consolidation does to a memory

Looked at while tuning: not on record; the predictions were written down before the run, the generators are ours.
Written by `firsthand eval stream --markdown FILE`; each schedule is a section. No model and no network: readers and
writers are rules, so nothing here is a measure of a model. How it is made, and what it does not say: docs/stream.md.
"""
_OF_MODEL = """\
# What a model makes of a memory

Written by `firsthand eval stream --model MODEL --markdown FILE`; each schedule is a section. {told} A small model, or \
few streams, show that the machinery works and what this model does; not what another would do. How it is made, and \
what it does not say: docs/stream.md.
"""
ABOUT = """\
seen: current facts answered right; exceptions: those of them that are off their family's rule; rule: questions that \
no episode answers; p0: of these, the ones that the reader answers without any memory (1 - p0 is the paper's failure \
rate); variant: current facts asked for in other words; regressed: of what was answered right once and is current \
still, the share that is answered wrong; kept: episodes that stand in the memory word for word. A strong reader makes \
a rule of three cases by itself, a weak one cannot. Means over streams with 95 % intervals of resampled streams. Under \
a gate *seen* is 1 by construction, since it shows again what is not answered: the evidence there is rule, p0, \
characters and what it accepts."""


@value
class Run:
    """All streams of one schedule."""

    schedule: str
    episodes: int
    streams: tuple[Stream, ...]

    @property
    def arms(self) -> tuple[str, ...]:
        """Give the arms that ran, in their order."""
        return tuple(dict.fromkeys(one.arm for one in self.streams))

    @property
    def gated(self) -> tuple[str, ...]:
        """Give those with a gate."""
        return tuple(dict.fromkeys(one.arm for one in self.streams if one.gated))

    @property
    def shares(self) -> tuple[str, ...]:
        """Give the shares that are told: those of the readers by rule, and of a model where one answered."""
        asked = f"p0 {MODEL}" in self.streams[0].points[0]
        return (*SHARES, *(f"{figure} {MODEL}" for figure in OF_MODEL)) if asked else SHARES

    @property
    def number(self) -> int:
        """Count the worlds."""
        return len({one.seed for one in self.streams})

    @property
    def updates(self) -> int:
        """Count the updates of a stream."""
        return len(self.streams[0].points)

    def __str__(self) -> str:
        seeds = sorted({one.seed for one in self.streams})
        updates = "1 update" if self.updates == 1 else f"{self.updates} updates"
        return (
            f"schedule {self.schedule}: {self.number} streams of {updates}, {self.episodes} episodes "
            f"each, seeds {seeds[0]} to {seeds[-1]}, {len(self.arms)} arms"
        )


def head_of(told: str) -> str:
    """Write the first lines of a run with a model.

    Args:
        told: who is asked, as a sentence.
    """
    return _OF_MODEL.format(told=told)


def markdown(run: Run, made: Sequence[Check]) -> str:
    """Write the tables of one run."""
    parts = [f"## {str(run)[0].upper()}{str(run)[1:]}", ABOUT, *_ends(run), *_sizes(run), *_beside(run)]
    parts += [*_gate(run), *choices(run.streams, run.arms), *_survival(run), *_checks(run, made)]
    return "\n\n".join(parts) + "\n"


def _ends(run: Run) -> Iterator[str]:
    rows = [
        [name, *(short(curves.end(run.streams, name, figure)) for figure in run.shares)] for name in run.arms
    ]  # fmt: skip
    yield table(["arm", *run.shares], rows)


def _sizes(run: Run) -> Iterator[str]:
    yield (
        "What the memory is at the end, means over streams; *of several families* are entries made of episodes of "
        "two or more families, by label; *halved* counts updates after which less than half was left."
    )
    rows = []
    for name in run.arms:
        own = curves.of(run.streams, name)
        halved = fmean(sum(point["halved"] for point in one.points) for one in own)
        told = [f"{fmean(one.end(figure) for one in own):,.1f}" for figure in SIZES]
        rows.append([name, *(it.removesuffix(".0") for it in (*told, f"{halved:,.1f}"))])
    yield table(["arm", *SIZES, "halved"], rows)


def _beside(run: Run) -> Iterator[str]:
    """Set each arm beside no memory and beside the raw episodes, and its end beside its best."""
    yield (
        "Differences after the last update, paired by world; *fall* is the end minus the best update of the mean "
        "curve, which is chosen by the same streams."
    )
    rows = []
    for name in run.arms:
        fall = curves.fall(run.streams, name, f"seen {WEAK}")
        rows.append([
            name,
            apart(curves.difference(run.streams, name, NO_MEMORY, f"p0 {WEAK}")),
            apart(curves.difference(run.streams, name, NO_MEMORY, f"seen {WEAK}")),
            apart(curves.difference(run.streams, name, KEEP_ALL, f"rule {WEAK}")),
            apart(curves.difference(run.streams, name, KEEP_ALL, f"rule {STRONG}")),
            f"{apart(fall.change)}, best after {fall.update}",
        ])  # fmt: skip
    heads = ["p0 beside no memory", "seen (weak) beside no memory", "rule (weak) beside keep all",
             "rule (strong) beside keep all", "fall of seen (weak)"]  # fmt: skip
    yield table(["arm", *heads], rows)


def _gate(run: Run) -> Iterator[str]:
    if not run.gated:
        return
    yield (
        "What the gate did, over all streams. An entry is good when it is the rule of a family, word for word: the "
        "truth is known here. *Left* are violations of its promise after an update."
    )
    rows = []
    for name in run.gated:
        own = curves.of(run.streams, name)
        good = sum(one.rates.good_taken for one in own), sum(one.rates.good_refused for one in own)
        bad = sum(one.rates.bad_taken for one in own), sum(one.rates.bad_refused for one in own)
        told = actions(own)
        why = ", ".join(f"{word} {told[word]:,}" for word in told if word in _REFUSED) or "-"
        rows.append([
            name, str(checks.accepted(run.streams, name)),
            f"{good[1]:,} of {sum(good):,}", f"{bad[0]:,} of {sum(bad):,}",
            why, f"{told.get('quarantined', 0):,}", f"{told.get('shown again', 0):,}",
            f"{sum(one.violations for one in own):,}",
        ])  # fmt: skip
    yield table(["arm", "accepted", "good refused", "bad accepted", "refused by", "quarantined", "episodes shown again",
                 "left"], rows)  # fmt: skip


_REFUSED = ("form", "evidence", "trust", "exact tokens", "probe", "source replay", "scope replay", "no regression",
            "together")  # fmt: skip


CHOSEN = ("rounds", "proposed consolidate", "accepted consolidate", "accepted retain", "accepted delete",
          "cases that fell out", "tokens read", "tokens written")  # fmt: skip


def choices(streams: Sequence[Stream], names: Sequence[str]) -> Iterator[str]:
    """Tell what agents chose, and what of replies could not be read."""
    rows = []
    for name in names:
        found = actions(curves.of(streams, name))
        why = ", ".join(f"{word} {found[word]:,}" for word in sorted(found) if word.startswith(("refused", "unread")))
        if "rounds" in found or why:
            rows.append([name, *(f"{found.get(word, 0):,}" for word in CHOSEN), why or "-"])
    if rows:
        yield (
            "What agents chose, over all streams: proposed, and done; what the regime or the form did not let through, "
            "by reason; *unread* are replies of a model that were not as asked, and counted as such. Tokens are "
            "estimated, of what an agent is shown and of its actions."
        )
        yield table(["arm", *CHOSEN, "not done"], rows)


def actions(streams: Sequence[Stream]) -> dict[str, int]:
    """Count what was proposed and what became of it, over streams."""
    found: dict[str, int] = {}
    for one in streams:
        for name, number in one.actions.items():
            found[name] = found.get(name, 0) + number
    return found


def _survival(run: Run) -> Iterator[str]:
    later = [number for number in SURVIVAL if number < run.updates]
    if not later:
        return
    yield "Of what stood in a memory word for word, the share that stands there so many updates later."
    rows = []
    for name in run.arms:
        shares: dict[int, tuple[int, int]] = {}
        for own in curves.of(run.streams, name):
            for one in own.survival:
                stood, n = shares.get(one.updates, (0, 0))
                shares[one.updates] = stood + one.stood, n + one.n
        rows.append([name, *(f"{shares[it][0] / shares[it][1]:.3f}" if shares[it][1] else "-" for it in later)])
    yield table(["arm", *(f"{number} later" for number in later)], rows)


def _checks(run: Run, made: Sequence[Check]) -> Iterator[str]:
    if not made:
        return
    yield "The checks, written down before the run:"
    chances = checks.by_chance(run.streams)
    rows = [
        [one.name, one.says, one.verdict if one.held or not one.binding else f"**{one.verdict}**", one.found,
         f"{chances[one.name]:.4f}" if one.name in chances else ""]
        for one in made
    ]  # fmt: skip
    yield table(["check", "says", "", "found", "by chance alone (Holm)"], rows)


def short(one: Mean) -> str:
    """Give a mean and its interval, without n."""
    return f"{one.mean:.3f}" if one.low == one.high else f"{one.mean:.3f} [{one.low:.3f}, {one.high:.3f}]"


def apart(one: Difference) -> str:
    """Give a difference and its interval, and say so where none can be seen."""
    told = f"{one.mean:+.3f}" if one.low == one.high else f"{one.mean:+.3f} [{one.low:+.3f}, {one.high:+.3f}]"
    return f"{told}, {one.verdict}" if one.verdict.startswith("no ") else told


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table."""
    lines = ["| " + " | ".join(it) + " |" for it in (heads, ["---"] * len(heads), *rows)]
    return "\n".join(lines)
