"""What is typed for a run of the stream evaluation, and what is made of it: tables, records, a headline.

The invariant: a report says what failed, and the command's exit code follows from that alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from firsthand.value import value
from firsthand_evals.pages import Page

Progress = Callable[[int, int], None]
"""Is told how many are done of how many."""


@value
class Options:
    """What was typed for a run; what was not is None or empty.

    Attributes:
        schedule, arm: names; streams, episodes, seed: numbers; memory: addresses of classes of memories.
        model: ``local``, ``local:FILE.gguf`` or ``URL#NAME``; the next nine are of a run with one.
        reply_tokens: of one reply of a writer, at the most.
        price: of a million tokens of prompts and of replies, by the model's name; an empty name is for all others.
        estimate: tell what a run will take, and ask nothing.
        solver_model: who answers beside the readers by rule; named as ``model`` is.
        folder: where results are kept, and the replies of a model; None keeps nothing.
        key: of a model's server.
        tell: is told in a sentence what a model will take, and what it took.
        progress: gives, for what is done and its noun, what is told how far it is.
    """

    schedule: Sequence[str] = ()
    arm: Sequence[str] = ()
    memory: Sequence[str] = ()
    streams: int | None = None
    episodes: int | None = None
    seed: int | None = None
    model: str | None = None
    solver_model: str | None = None
    reply_tokens: int | None = None
    temperature: float | None = None
    calls_max: int | None = None
    tokens_max: int | None = None
    price: Sequence[tuple[str, float, float]] = ()
    cost_max: float | None = None
    replay: bool = False
    estimate: bool = False
    folder: Path | None = None
    key: str | None = None
    tell: Callable[[str], None] = lambda _told: None
    progress: Callable[[str, str], Progress] = lambda _about, _noun: lambda _done, _whole: None


@value(eq=False)
class Report:
    """What came of a run.

    Attributes:
        page: printed, and written as HTML and Markdown.
        records: what ``--json`` prints instead, one a line.
        headline: of the list of experiments.
        failed: checks that did not hold, as sentences; the exit code is 1 when there is one.
        kept: what is kept beside the headline.
    """

    page: Page
    records: Sequence[Mapping[str, object]]
    headline: str
    failed: Sequence[str]
    kept: Mapping[str, object]


def headline(checks_held: Sequence[bool], told: str) -> str:
    """Say how many checks held, and of what."""
    asked = f"{sum(checks_held)} of {len(checks_held)} checks held" if checks_held else "no check was asked"
    return f"{asked} ({told})"
