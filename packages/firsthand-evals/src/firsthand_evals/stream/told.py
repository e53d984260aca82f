"""Runs of made facts as the report of a pack.

The invariant: every arm that ran is in every table; a check that is binding and did not
hold is a failure, one that was not replicated is told and is none.
"""

from __future__ import annotations

from collections.abc import Sequence

from firsthand.value import asdict
from firsthand_evals.stream import curves, packs, page, report
from firsthand_evals.stream.checks import Check
from firsthand_evals.stream.packs import Report, Section
from firsthand_evals.stream.report import Run

Ran = Sequence[tuple[Run, Sequence[Check]]]


def report_of(ran: Ran, head: str) -> Report:
    """Make a report.

    Args:
        ran: each schedule with its checks.
        head: the first lines of its Markdown.
    """
    found = [check for _, checked in ran for check in checked]
    records: list[dict[str, object]] = []
    for one, checked in ran:
        records += [{"stream": asdict(stream)} for stream in one.streams]
        records += [{"check": asdict(check)} for check in checked]
    schedules = ", ".join(one.schedule for one, _ in ran)
    return Report(
        sections=[_section(*one) for one in ran],
        records=records,
        headline=packs.headline([one.held for one in found], f"{ran[0][0].number} streams; {schedules}"),
        failed=[str(one) for one in found if not one.held and one.binding],
        kept={
            "checks": [asdict(one) for one in found],
            "streams": [asdict(stream) for one, _ in ran for stream in one.streams],
        },
        markdown=lambda: "\n".join([head, *(report.markdown(*one) for one in ran)]),
        html=lambda: page.page(ran),
    )


def _section(one: Run, made: Sequence[Check]) -> Section:
    rows = [
        (name, *(f"{curves.end(one.streams, name, figure).mean:.3f}" for figure in one.shares),
         f"{curves.end(one.streams, name, 'characters').mean:,.0f}")
        for name in one.arms
    ]  # fmt: skip
    return Section(str(one), [("arm", *one.shares, "characters"), *rows], [str(check) for check in made])
