"""The pack ``dc-replay``: what a model that writes its memory again and again lost of it, in public data.

    AIME_2020_2024 claude-3-5-sonnet: 133 updates
    D0 held: ...

No model is asked: answers and memories are those of the record. The checks hold this
scoring to figures that were taken of the same files by another program before; they say
nothing of other data. An old record, of questions that rarely need what came before: it
shows that detail is lost, and that an answer may be right all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from firsthand.errors import InvalidArgument
from firsthand.value import asdict, value
from firsthand_evals.reclaim import plots
from firsthand_evals.reclaim.figures import Figure
from firsthand_evals.reclaim.plots import PANEL_WIDTH, Series
from firsthand_evals.stats import rate
from firsthand_evals.stream import packs, page, replay
from firsthand_evals.stream.checks import Check
from firsthand_evals.stream.packs import Options, Report, Section
from firsthand_evals.stream.replay import CUMULATIVE, EMPTY, LATER, QUARTERS_FROM, VARIANTS, Detail, Stream
from firsthand_evals.stream.report import table

HEAD = """\
# A memory that was written again and again, in public data

Looked at while tuning: nothing is tuned here; answers and memories are those of the public record.
Written by `firsthand eval stream --pack dc-replay --data DIR --markdown FILE`, where DIR is a checkout of
suzgunmirac/dynamic-cheatsheet (MIT); its files are read and not copied. No model is asked: answers and memories are
those of the record. What it says and does not say: docs/stream.md."""
ANSWERS = """\
Questions answered right (the target, character for character), by memory. *Regressed*: of those that an empty memory \
answered right, the ones that are wrong with the rewritten memory, with Wilson's interval; *chance*: how often chance \
alone would part the two so far (McNemar, exact, two sides, not corrected for the number of streams)."""
SURVIVES = """\
Of the numbers of two digits or more, and of the lines of 25 characters or more, that stood in the memory after an \
update, the share that stands there word for word so many updates later; *at the end*: how many of all that were ever \
written. *Halved*: updates after which less than half of the memory was left."""
NOTED = {
    "AIME_2020_2024 claude-3-5-sonnet": (
        (40, 51, 5), (0.41, 0.16, 0.10, 0.08), (0.61, 0.25, 0.14, 0.07), (5, 163, 51, 3044),
    ),
    "AIME_2024 claude-3-5-sonnet": ((11, 15, 1), (0.54, 0.43, 0.41, 0.32), (0.72, 0.30, 0.19, 0.09), ()),
    "AIME_2024 gpt-4o": ((11, 11, 2), (0.70, 0.48, 0.31, 0.31), (0.76, 0.54, 0.39, 0.20), ()),
    "AIME_2025 claude-3-5-sonnet": ((7, 11, 0), (0.49, 0.26, 0.25, 0.26), (0.71, 0.33, 0.25, 0.13), ()),
    "AIME_2025 gpt-4o": ((3, 5, 2), (0.54, 0.18, 0.12, 0.10), (0.51, 0.10, 0.03, 0.03), ()),
}  # fmt: skip
"""What another program found in the same files: right with an empty and with a rewritten memory and regressed; the
survival of numbers and of lines; and, where it was noted, what is left of how many at the end."""
Told = tuple[tuple[int, ...], tuple[float, ...], tuple[float, ...], tuple[int, ...]]


@value
class Found:
    """A whole run."""

    streams: tuple[Stream, ...]
    checks: tuple[Check, ...]


def run(options: Options) -> Report:
    """Score the record in a folder.

    Raises:
        InvalidArgument: no folder was named.
    """
    if options.data is None:
        raise InvalidArgument(
            "dc-replay reads data that are not ours to hand on; name a checkout of suzgunmirac/dynamic-cheatsheet "
            "(--data DIR)"
        )
    streams = replay.streams(options.data)
    found = Found(streams, tuple(_checks(streams)))
    sections = [
        Section("answered right", _answers(found)), Section("what stands later", _survival(found)),
        Section("by quarter, and checks", (), [*_quarters(found), *map(str, found.checks)]),
    ]  # fmt: skip
    checks = [asdict(one) for one in found.checks]
    told = [asdict(one) for one in streams]
    return Report(
        sections, [*({"stream": one} for one in told), *({"check": one} for one in checks)],
        packs.headline([one.held for one in found.checks], f"{len(streams)} streams of public data"),
        [str(one) for one in found.checks if not one.held], {"checks": checks, "streams": told},
        lambda: _markdown(found), lambda: _html(found),
    )  # fmt: skip


def _checks(streams: Sequence[Stream]) -> Iterator[Check]:
    known = [one for one in streams if one.name in NOTED]
    if known:
        apart = [f"{one.name}: {told(one)} where {NOTED[one.name]} was noted" for one in known if differs(one)]
        yield Check("D0", "the figures of the public streams are those that another program found", not apart,
                    "; ".join(apart) or f"{len(known)} streams, all alike")  # fmt: skip
    rewritten = [one for one in streams if len(one.characters) > LATER[2]]
    if rewritten:
        lost = [one for one in rewritten if max(_share(one.numbers, 2), _share(one.lines, 2)) < 0.5]
        yield Check("D1", f"of exact numbers and lines less than half stands after {LATER[2]} updates, in every stream",
                    len(lost) == len(rewritten), f"{len(lost)} of {len(rewritten)} streams")  # fmt: skip


def told(one: Stream) -> Told:
    """Give of a stream what was noted of it."""
    regressed = one.regressed
    ends = one.numbers.left, one.numbers.ever, one.lines.left, one.lines.ever
    return (
        (sum(one.right[EMPTY]), sum(one.right[CUMULATIVE]), regressed.hits),
        tuple(round(it.share, 2) for it in one.numbers.survives),
        tuple(round(it.share, 2) for it in one.lines.survives), ends,
    )  # fmt: skip


def differs(one: Stream) -> bool:
    """Say whether a stream's figures are other than those noted; what was not noted is not compared."""
    return any(noted and found != noted for found, noted in zip(told(one), NOTED[one.name], strict=True))


def _share(detail: Detail, at: int) -> float:
    return detail.survives[at].share


def _answers(found: Found) -> list[tuple[str, ...]]:
    heads = (
        "stream",
        "updates",
        "empty",
        "raw retrieval",
        "retrieval and synthesis",
        "rewritten",
        "regressed",
        "chance",
    )
    rows = [
        (one.name, str(len(one.characters)), *(str(sum(one.right[it])) if it in one.right else "-" for it in VARIANTS),
         str(one.regressed), f"{one.by_chance:.3f}")
        for one in found.streams
    ]  # fmt: skip
    return [heads, *rows]


def _survival(found: Found) -> list[tuple[str, ...]]:
    heads = ("stream", *(f"numbers, {it} later" for it in LATER), "at the end", *(f"lines, {it} later" for it in LATER),
             "at the end", "halved")  # fmt: skip
    return [heads, *(
        (one.name, *_later(one.numbers), *_later(one.lines), ", ".join(map(str, one.halved)) or "-")
        for one in found.streams
    )]  # fmt: skip


def _later(one: Detail) -> Iterator[str]:
    yield from (f"{it.share:.2f}" if it.n else "-" for it in one.survives)
    yield f"{one.left:,} of {one.ever:,}"


def _quarters(found: Found) -> Iterator[str]:
    for one in found.streams:
        if len(one.characters) >= QUARTERS_FROM:
            with_it, without = (", ".join(map(str, one.quarters(it))) for it in (CUMULATIVE, EMPTY))
            yield f"{one.name}, right by quarter of the stream: {with_it} with the rewritten memory, {without} without"


def _markdown(found: Found) -> str:
    answers, survival = _answers(found), _survival(found)
    rows = [[one.name, one.says, "held" if one.held else "**FAILED**", one.found] for one in found.checks]
    parts = [
        HEAD, "## Answers", ANSWERS, table(answers[0], answers[1:]), *(f"{it}." for it in _quarters(found)),
        "## What stands later", SURVIVES, table(survival[0], survival[1:]), "## Checks",
        table(["check", "says", "", "found"], rows),
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _html(found: Found) -> str:
    parts = []
    shown = found.streams[: plots.SERIES_MAX]
    for name in ("numbers", "lines"):
        details = [one.numbers if name == "numbers" else one.lines for one in shown]
        series = [
            Series(one.name, tuple((str(it.updates), _figure(it)) for it in detail.survives))
            for one, detail in zip(shown, details, strict=True)
        ]
        drawn = plots.lines(
            f"exact {name} that stand later", "updates later", "share", series, most=1.0, width=PANEL_WIDTH
        )
        parts += [plots.legend([one.name for one in shown]), f"<figure>{drawn}</figure>"]
    for told_of, rows in ((ANSWERS, _answers(found)), (SURVIVES, _survival(found))):
        cells = "".join("<tr>" + "".join(f"<td>{escape(it)}</td>" for it in row) + "</tr>" for row in rows)
        parts += [f"<p>{escape(told_of.replace('*', ''))}</p>", f'<div class="wide"><table>{cells}</table></div>']
    return page.document("A memory that was written again and again", [*parts, *page.checked(found.checks)])


def _figure(one: replay.Survives) -> Figure:
    found = rate(one.stood, one.n)
    return Figure(one.share, found.low, found.high, share=True)
