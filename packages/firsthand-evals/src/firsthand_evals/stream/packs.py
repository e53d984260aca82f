"""The packs of the stream evaluation: what can be run under one command, by its name.

    ledger          made facts with rules and exceptions; readers and writers by rule, or a model
    own-sessions    lines of a store's own sessions with a gap

A pack is a module with ``run(options) -> Report``; it is imported when it is run. The
invariant: an option that a pack does not take is refused, so that nothing typed is
without effect; a report says what failed, and the command's exit code follows from that
alone. It knows no pack but by its row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path

from firsthand import InvalidArgument, Memory
from firsthand.value import fields, value

Progress = Callable[[int, int], None]
"""Is told how many are done of how many."""


@value
class Options:
    """What was typed for a run; what was not is None or empty, and the pack has its own default.

    Attributes:
        schedule, arm: names; streams, episodes, seed: numbers, see the pack.
        updates, questions, budget: numbers of own sessions; the budget is in characters.
        model: ``local``, ``local:FILE.gguf`` or ``URL#NAME``; the next eight are of a run with one.
        reply_tokens: of one reply of a writer, at the most.
        solver_model: who answers beside the readers by rule; named as ``model`` is.
        folder: where results are kept, and the replies of a model; None keeps nothing.
        key: of a model's server.
        store: opens the store that was named, to read; None when none was.
        tell: is told in a sentence what a model will take, and what it took.
        progress: gives, for what is done and its noun, what is told how far it is.
    """

    schedule: Sequence[str] = ()
    arm: Sequence[str] = ()
    streams: int | None = None
    episodes: int | None = None
    seed: int | None = None
    updates: int | None = None
    questions: int | None = None
    budget: int | None = None
    model: str | None = None
    solver_model: str | None = None
    reply_tokens: int | None = None
    temperature: float | None = None
    calls_max: int | None = None
    tokens_max: int | None = None
    price: tuple[float, float] | None = None
    cost_max: float | None = None
    replay: bool = False
    folder: Path | None = None
    key: str | None = None
    store: Callable[[], Memory] | None = None
    tell: Callable[[str], None] = lambda _told: None
    progress: Callable[[str, str], Progress] = lambda _about, _noun: lambda _done, _whole: None


ALWAYS = frozenset({"folder", "key", "store", "tell", "progress"})
"""Options that every pack is given, whether or not it needs them."""


@value
class Section:
    """A part of what is printed: a line of what it is, a table (its first row are heads), and lines after it."""

    told: str
    rows: Sequence[Sequence[str]] = ()
    lines: Sequence[str] = ()


@value(eq=False)
class Report:
    """What came of a run.

    Attributes:
        sections: as they are printed.
        records: what ``--json`` prints instead, one a line.
        headline: of the list of experiments.
        failed: checks that did not hold, as sentences; the exit code is 1 when there is one.
        kept: what is kept beside the headline.
        markdown, html: give the tables, and a page with the curves.
    """

    sections: Sequence[Section]
    records: Sequence[Mapping[str, object]]
    headline: str
    failed: Sequence[str]
    kept: Mapping[str, object]
    markdown: Callable[[], str]
    html: Callable[[], str]


MODEL = frozenset({"model", "temperature", "calls_max", "tokens_max", "price", "cost_max", "replay"})
PACKS = {
    "ledger": {"schedule", "arm", "streams", "episodes", "seed", "solver_model", "reply_tokens"} | MODEL,
    "own-sessions": {"arm", "seed", "updates", "questions", "budget"},
}
"""By name, the options that have an effect."""


def experiment(pack: str) -> str:
    """Give the name of a pack in the list of experiments."""
    return "stream" if pack == "ledger" else f"stream-{pack}"


def run(pack: str, options: Options) -> Report:
    """Run a pack, which is a module of its own: an option that it does not take is refused."""
    if pack not in PACKS:
        raise InvalidArgument(f"there is no pack {pack!r}; these are: {', '.join(PACKS)}")
    plain = Options()
    typed = {name for name in fields(Options) if getattr(options, name) != getattr(plain, name)}
    if other := sorted(typed - PACKS[pack] - ALWAYS):
        taken = ", ".join(f"--{name.replace('_', '-')}" for name in sorted(PACKS[pack]))
        raise InvalidArgument(f"the pack {pack} takes no --{other[0].replace('_', '-')}; it takes {taken}")
    report: Report = import_module(f"firsthand_evals.stream.{pack.partition('-')[0]}_pack").run(options)
    return report


def headline(checks_held: Sequence[bool], told: str) -> str:
    """Say how many checks held, and of what."""
    asked = f"{sum(checks_held)} of {len(checks_held)} checks held" if checks_held else "no check was asked"
    return f"{asked} ({told})"
