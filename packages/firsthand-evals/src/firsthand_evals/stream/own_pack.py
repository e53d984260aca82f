"""The pack ``own-sessions``: lines of your own store with a gap, asked of every memory after every update.

    own sessions: 37 sessions, 2,217 events in 10 updates, 126 questions, 4,000 characters a memory
    memory     seen                  wrong                 abstained  regressed  kept   characters
    no memory  0.000 [0.000, 0.029]  ...
    recalled   0.921 [0.871, 1.000]  ...
    S1 held: ...

The store is opened to read and nothing of it is written anywhere: what is kept of a
question is the pointer of its answer. The checks were written down before the first run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firsthand import InvalidArgument
from firsthand.value import asdict, value
from firsthand_evals import pages, plots, stats
from firsthand_evals.pages import Picture
from firsthand_evals.plots import Series
from firsthand_evals.reclaim.figures import Figure
from firsthand_evals.stats import Mean
from firsthand_evals.stream import own_run, packs
from firsthand_evals.stream.own_memories import BUDGET_CHARACTERS, KEEP_ALL, NO_MEMORY, RECALLED, REWRITTEN
from firsthand_evals.stream.own_questions import EVENTS_MAX
from firsthand_evals.stream.own_run import ABSTAINED, QUESTIONS, RIGHT, UPDATES, WRONG, OwnRun
from firsthand_evals.stream.packs import Options, Report, Section
from firsthand_evals.stream.report import table

READ_MIN = 0.95
"""Of all questions, what the reader must answer from all lines; below, the questions or the reader are at fault."""
LUCK_MAX = 0.05
HEADS = ("memory", "seen", "wrong", "abstained", "regressed", "kept", "characters")
HEAD = """\
# What becomes of the exact strings of own sessions

Looked at while tuning: not on record for these sessions.
Written by `firsthand eval stream --pack own-sessions --markdown FILE`. No model and no network: questions, memories and
reader are made by rule, and every answer is compared with bytes of the log.
"""
ABOUT = """\
A question is a line of a message or a tool result with a path, flag, id or number left out that stands nowhere else. \
seen: questions of all updates so far that are answered right; wrong: with another string; regressed: of what was \
answered right after an earlier update, the share that is no more; kept: answers that stand in what the memory holds \
or gives. 95 % intervals resample sessions; where all or none count, the rule of three over sessions. The question has \
the words of the line, so what is recalled is found more easily than by a person's question: its figure is an upper \
bound. How lines are chosen for a summary is scripted: a model would choose others, and have no more room."""
_DRAWN = ("seen", "wrong", "regressed")


@value
class Check:
    """A statement that was written down before the run, and what was found."""

    name: str
    says: str
    held: bool
    found: str

    def __str__(self) -> str:
        return f"{self.name} {'held' if self.held else 'FAILED'}: {self.says} ({self.found})"


def run(options: Options) -> Report:
    """Ask every memory of the store that was named.

    Raises:
        InvalidArgument: there is no store, or too little in it.
    """
    if options.store is None:
        raise InvalidArgument("the pack own-sessions reads a store; name one with --store")
    with options.store() as memory:
        made = own_run.run(
            memory, own_run.chosen(options.arm), updates=options.updates or UPDATES,
            questions=options.questions or QUESTIONS, budget=options.budget or BUDGET_CHARACTERS,
            seed=options.seed or 0, progress=options.progress("own sessions:", "memories"),
        )  # fmt: skip
    found = checks(made)
    return Report(
        sections=[Section(told(made), [HEADS, *rows(made)], [str(one) for one in found])],
        records=[
            *({"stream": asdict(one)} for one in made.streams), *({"check": asdict(one)} for one in found),
        ],
        headline=packs.headline([one.held for one in found], _best(made)),
        failed=[str(one) for one in found if not one.held],
        kept={
            "checks": [asdict(one) for one in found],
            "questions": [{"pointer": one.pointer, "sort": one.sort} for one in made.questions],
            "streams": [asdict(one) for one in made.streams],
        },
        markdown=lambda: markdown(made, found),
        html=lambda: page(made, found),
    )  # fmt: skip


def checks(made: OwnRun) -> tuple[Check, ...]:
    """Ask the checks; those whose memories did not run are left out."""
    every, none = made.after(KEEP_ALL).mean, made.after(NO_MEMORY).mean
    found = [
        Check("S1", f"the reader answers at least {READ_MIN:g} from all lines", every >= READ_MIN, f"{every:.3f}"),
        Check("S2", "without memory nothing is answered", none == 0, f"{none:.3f}"),
        Check("S3", f"by luck at most {LUCK_MAX:g}", made.shuffled <= LUCK_MAX, f"{made.shuffled:.3f}"),
    ]
    ran = {one.arm for one in made.streams}
    if {RECALLED, REWRITTEN} <= ran:
        apart = made.difference(RECALLED, REWRITTEN)
        found.append(Check("S4", "what is recalled answers more than what is rewritten", apart.low > 0, str(apart)))
    return tuple(found)


def told(made: OwnRun) -> str:
    """Say what was asked."""
    sessions = len({one.session for one in made.questions})
    older = f"; events before the newest {EVENTS_MAX:,} were not read" if made.left else ""
    return (
        f"own sessions: {sessions:,} sessions, {made.events:,} events in {made.updates} updates, "
        f"{len(made.questions):,} questions, {made.budget:,} characters a memory{older}"
    )


def rows(made: OwnRun) -> list[tuple[str, ...]]:
    """Give a row of figures after the last update for each memory."""
    found = []
    for one in made.streams:
        last = one.points[-1]
        shares = (str(_figure(made.after(one.arm, outcome=it))) for it in (RIGHT, WRONG, ABSTAINED))
        found.append((one.arm, *shares, f"{last.regressed:.3f}", f"{last.kept:.3f}", f"{last.characters:,.0f}"))
    return found


def markdown(made: OwnRun, found: Sequence[Check]) -> str:
    """Write the tables."""
    about = told(made)
    asked = [[one.name, one.says, "held" if one.held else "**FAILED**", one.found] for one in found]
    parts = [
        HEAD, f"## {about[0].upper()}{about[1:]}", ABOUT, table(HEADS, rows(made)),
        "The checks, written down before the first run:", table(["check", "says", "", "found"], asked),
    ]  # fmt: skip
    return "\n\n".join(one.strip() for one in parts) + "\n"


def page(made: OwnRun, found: Sequence[Check]) -> str:
    """Write the curves as a page; no memory and keep all are in every picture."""
    section = {
        "heading": told(made), "pictures": [*_pictures(made)], "heads": HEADS, "rows": rows(made), "checks": found,
    }  # fmt: skip
    return pages.render("stream.html", title="Own sessions after every update", about=[ABOUT], sections=[section])


def _pictures(made: OwnRun) -> Iterator[Picture]:
    for drawn in _DRAWN:
        series = [Series(one.arm, tuple(_points(made, one.arm, drawn))) for one in made.streams]
        picture = plots.lines(f"{drawn} after each update", "update", drawn, series, width=plots.PANEL_WIDTH)
        yield Picture(picture, drawn if drawn == "regressed" else f"{drawn}; 95 % intervals, each for itself")


def _points(made: OwnRun, arm: str, drawn: str) -> Iterator[tuple[str, Figure]]:
    for number, point in enumerate(made.stream(arm).points, 1):
        if drawn == "regressed":
            yield str(number), Figure(point.regressed)
        elif point.outcomes:
            yield str(number), _figure(made.after(arm, number, RIGHT if drawn == "seen" else WRONG))


def _figure(one: Mean) -> Figure:
    if one.low == one.high and one.mean in (0.0, 1.0):
        bound = stats.none_seen(one.clusters)
        return Figure(one.mean, 1 - bound if one.mean else 0.0, 1.0 if one.mean else bound)
    return Figure(one.mean, one.low, one.high)


def _best(made: OwnRun) -> str:
    shares = ", ".join(f"{one.arm} {made.after(one.arm).mean:.3f}" for one in made.streams)
    return f"{len(made.questions)} questions: {shares}"
