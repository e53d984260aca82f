"""The command session window: what a next prompt would hold, what stands for the rest, what compactions did.

It reads only: nothing is compacted, and nothing recorded.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from firsthand import Budget, Kind, Memory, Receipt, SessionWindow, TaskState
from firsthand.cli import json_forms
from firsthand.cli.argument_values import number
from firsthand.cli.arguments import Parser
from firsthand.cli.display import clock, count, shown
from firsthand.cli.exits import DONE
from firsthand.cli.output import Output
from firsthand.cli.stores import session_in, to_read
from firsthand.context import task_text
from firsthand.context.must_stay import Stay
from firsthand.tokens import estimate
from firsthand.value import value

BUDGET_TOKENS = 200_000  # of a session that no window was kept for
TASK_TOKENS_MAX = 4_000
RECEIPTS_SHOWN = 10
ITEMS_SHOWN = 40


@value
class Written:
    """A receipt and where it stands."""

    pointer: str
    time: str
    receipt: Receipt


def add(group: Parser) -> None:
    """Add the command to the group session."""
    command = group.command(
        "window", _window, "Show a session's context window, and why each item is in it.",
        """
        firsthand session window deploy
        firsthand session window deploy --budget 8000               as it would be under another budget
        firsthand session window deploy --receipt fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY    what one compaction took out, and why
        """,
    )  # fmt: skip
    command.add_argument("session", metavar="SESSION", help="the session")
    command.add_argument(
        "--budget", type=number(1, 100_000_000), metavar="TOKENS", help="default: that of its newest call"
    )
    how = command.add_mutually_exclusive_group()
    how.add_argument("--receipt", metavar="POINTER", help="only this receipt")
    how.add_argument("--all", action="store_true", help="every receipt and item; otherwise the newest")


def _window(chosen: argparse.Namespace, out: Output) -> int:
    """Show a session's window."""
    with to_read(chosen) as memory:
        session = memory.session(session_in(memory, chosen.session))
        if chosen.receipt is not None:
            return _one_receipt(session.window(BUDGET_TOKENS, pull=False), memory, chosen.receipt, out)
        budget = _budget(memory, chosen.session, chosen.budget)
        live = session.window(budget or BUDGET_TOKENS, pull=False)
        receipts = _receipts(memory, live, chosen.session)
        stays, task = live.stays(), live.task
        if out.as_json:
            out.json(_form(chosen.session, live, receipts, stays, task))
            return DONE
        if budget is None:
            out.remark(
                f"no window was kept for this session; shown under {BUDGET_TOKENS:,} tokens, --budget takes others"
            )
        _head(chosen.session, live, out)
        _task(task, out)
        _markers(live, out)
        _receipt_lines(chosen.session, receipts, chosen.all, out)
        _items(stays, chosen.all, out)
    return DONE


def _budget(memory: Memory, session: str, asked: int | None) -> Budget | int | None:
    """Give the budget that was asked for, else that of the newest call; None when there is neither."""
    if asked is not None:
        return asked
    newest = next(memory.anatomies(session, newest_first=True), None)
    return newest.budget_tokens if newest is not None else None


def _receipts(memory: Memory, live: SessionWindow, session: str) -> list[Written]:
    return [
        Written(f"fh:{event.id}", clock(event.time or event.ingested), live.receipt(f"fh:{event.id}"))
        for event in memory.events(session, kind=Kind.RECEIPT)
        if not event.erased
    ]


def _one_receipt(live: SessionWindow, memory: Memory, address: str, out: Output) -> int:
    receipt = live.receipt(address)
    if out.as_json:
        out.json(json_forms.of_receipt(address, receipt))
        return DONE
    event = memory.event(address)
    out.line(
        out.style(f"fh:{event.id}  {clock(event.time or event.ingested)}  session {shown(event.session)}", "faint")
    )
    out.line(shown(receipt.text, lines=True))
    totals = receipt.totals
    out.line(
        f"In all compactions of the session: {count(totals.drawn, 'exact string')} asked for, {totals.recalled:,} "
        f"recalled, {totals.expanded:,} expanded."
    )
    return DONE


# parts of the answer -------------------------------------------------------------------------------


def _head(session: str, live: SessionWindow, out: Output) -> None:
    state, budget = live.state, live.budget
    out.line(out.style(f"session {shown(session)}", "strong"))
    out.line(
        f"{state.tokens:,} of {budget.tokens_max:,} tokens in {count(len(state.items), 'event')} and "
        f"{count(len(state.markers), 'marker')}; {count(state.cycle, 'compaction')}; the next one above "
        f"{budget.high_tokens:,}, down to {budget.low_tokens:,}"
    )
    if state.tokens > budget.high_tokens:
        out.remark("the next request compacts it first")


def _task(task: TaskState, out: Output) -> None:
    out.line()
    text = task_text.text(task, tokens_max=TASK_TOKENS_MAX, count=estimate)
    out.line(shown(text, lines=True) if text else "task state: nothing yet")


def _markers(live: SessionWindow, out: Output) -> None:
    out.line()
    markers = live.state.markers
    out.line(out.style("markers", "faint") if markers else "no markers: nothing has left")
    for marker in markers:
        out.line(shown(marker.text))


def _receipt_lines(session: str, receipts: Sequence[Written], everything: bool, out: Output) -> None:
    if not receipts:
        return
    out.line()
    shown_now = receipts if everything else receipts[-RECEIPTS_SHOWN:]
    rows: list[tuple[str, ...]] = [("cycle", "before", "after", "events", "asked", "back", "time", "receipt")]
    rows += [_receipt_row(receipt) for receipt in shown_now]
    out.table(rows, range(6), whole=True)
    if len(shown_now) < len(receipts):
        out.remark(f"{len(receipts) - len(shown_now):,} earlier receipts: --all")
    out.remark("asked, back: exact strings of what left that were asked for, and that came back")
    out.remark(f"what left, and why: firsthand session window {shown(session)} --receipt {receipts[-1].pointer}")


def _receipt_row(written: Written) -> tuple[str, ...]:
    receipt = written.receipt
    events = sum(left.events for left in receipt.left) + receipt.left_rest.events
    asked = receipt.reflection
    back = "-" if asked is None else f"{asked.drawn - len(asked.missed):,}"
    return (
        f"{receipt.cycle}", f"{receipt.tokens_before:,}", f"{receipt.tokens_after:,}", f"{events:,}",
        "-" if asked is None else f"{asked.drawn:,}", back, written.time, written.pointer,
    )  # fmt: skip


def _items(stays: Sequence[Stay], everything: bool, out: Output) -> None:
    if not stays:
        return
    out.line()
    first = 0 if everything else max(0, len(stays) - ITEMS_SHOWN)
    rows: list[tuple[str, ...]] = [("turn", "tokens", "kind", "event", "why it is there")]
    rows += [_item_row(stay) for stay in stays[first:]]
    out.table(rows, {0, 1})
    if first:
        out.remark(f"{first:,} earlier items: --all")


def _item_row(stay: Stay) -> tuple[str, ...]:
    item = stay.item
    short = ", shortened" if item.shortened else ""
    return f"{item.turn}", f"{item.tokens:,}", item.kind, f"fh:{item.id}", f"{stay.reason}{short}"


def _form(
    session: str, live: SessionWindow, receipts: Sequence[Written], stays: Sequence[Stay], task: TaskState
) -> dict[str, object]:
    state, budget = live.state, live.budget
    return {
        "session": session,
        "tokens": state.tokens,
        "budget": json_forms.of_budget(budget),
        "cycle": state.cycle,
        "through": state.through,
        "task": json_forms.of_task(task),
        "markers": [json_forms.of_marker(marker) for marker in state.markers],
        "items": [json_forms.of_stay(stay) for stay in stays],
        "receipts": [json_forms.of_receipt(receipt.pointer, receipt.receipt) for receipt in receipts],
    }
