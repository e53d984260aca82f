"""The command tuning: what became of recalls, and which values of recall are in force and why."""

from __future__ import annotations

import argparse
import time

from firsthand import InvalidArgument, Memory, Reviewed, TuningDecision, TuningLog, review, tuning_of
from firsthand.doors.display import shown, table
from firsthand.doors.exits import DONE, NOTHING_FOUND
from firsthand.doors.output import Output
from firsthand.doors.stores import position, to_read, to_write
from firsthand.doors.whose import agent_named
from firsthand.value import asdict

_NAMES_ONE = {"show", "undo"}


def tuning(chosen: argparse.Namespace, out: Output) -> int:
    """List, show, undo or review."""
    if bool(chosen.decision) != (chosen.what in _NAMES_ONE):
        needs = "the id of a decision" if chosen.what in _NAMES_ONE else "nothing"
        raise InvalidArgument(
            f"firsthand tuning {chosen.what} takes {needs} behind it; got {chosen.decision!r:.40}. "
            "`firsthand tuning --help` has examples."
        )
    writes = chosen.what == "undo" or (chosen.what == "review" and chosen.keep)
    with to_write(chosen, create=False) if writes else to_read(chosen) as memory:
        log = tuning_of(memory)
        if chosen.what == "review":
            return _review(memory, chosen, out)
        if chosen.what == "list":
            return _list(log, chosen, out)
        if chosen.what == "show":
            return _show(log, log.find(chosen.decision), out)
        undone = log.undo(chosen.decision, reason=chosen.reason)
        for one in undone:
            _tell(one, out)
        if not undone:
            out.remark(f"{log.find(chosen.decision).id} is undone already")
        return DONE if undone else NOTHING_FOUND


def _list(log: TuningLog, chosen: argparse.Namespace, out: Output) -> int:
    as_of = position(log.memory, chosen.as_of)
    decisions, undone, now = log.decisions(as_of), log.undone(as_of), log.at(as_of)
    if out.as_json:
        out.json({
            "in_force": now.changed, "note": now.note,
            "decisions": [{**_plain(one), "undone_by": undone.get(one.id, "")} for one in decisions],
        })  # fmt: skip
        return DONE if decisions else NOTHING_FOUND
    rows = [
        (str(one.position), one.id[-10:], f"undo {one.undoes[-10:]}" if one.undoes else _change(one), one.by,
         "undone" if one.id in undone else "")
        for one in decisions
    ]  # fmt: skip
    for line in table(rows, right=frozenset({0})):
        out.line(line.rstrip())
    for sentence in now.sentences() or ("every value of recall is the default",):
        out.remark(sentence)
    if now.note:
        out.warn(f"firsthand: {shown(now.note)}")
    return DONE if decisions else NOTHING_FOUND


def _show(log: TuningLog, one: TuningDecision, out: Output) -> int:
    undone = log.undone().get(one.id, "")
    if out.as_json:
        out.json({**_plain(one), "undone_by": undone})
        return DONE
    out.line(f"{one.id}  {f'undoes {one.undoes}' if one.undoes else _change(one)}")
    out.line(f"by {shown(one.by)}: {shown(one.reason) or 'no reason given'}")
    for name, figure in one.figures.items():
        out.line(f"{shown(str(name))}: {shown(str(figure))}")
    for address in one.sources:
        out.line(f"rests on {shown(address)}")
    if undone:
        out.line(f"undone by {undone}")
    return DONE


def _review(memory: Memory, chosen: argparse.Namespace, out: Output) -> int:
    seen = review(
        memory,
        agent_named(memory, chosen.agent),
        since=chosen.since,
        until=chosen.until,
        deadline=time.monotonic() + chosen.seconds,
        keep=chosen.keep,
    )
    if out.as_json:
        out.json(_of_review(seen))
    else:
        for sentence in seen.sentences:
            out.line(shown(sentence))
        for one in seen.examples:
            out.line(f"{one.recalled.pointer}  {one.verdict}  {shown(one.recalled.asked)!r:.80}  {shown(one.sign)}")
        for decision in seen.decisions:
            _tell(decision, out)
        if seen.decisions and not chosen.keep:
            out.remark("nothing was kept; firsthand tuning review --keep does")
    return DONE if seen.counts.recalls else NOTHING_FOUND


def _of_review(seen: Reviewed) -> dict[str, object]:
    return {
        "recalls": seen.counts.recalls, "unasked": seen.counts.unasked, "corrected": seen.counts.corrected,
        "verdicts": dict(seen.counts.verdicts), "patterns": [asdict(one) for one in seen.patterns],
        "examples": [
            {"pointer": one.recalled.pointer, "asked": one.recalled.asked, "verdict": one.verdict.value,
             "right": list(one.right), "sign": one.sign, "corrected": one.corrected}
            for one in seen.examples
        ],
        "questions": seen.questions, "mined": seen.mined,
        "trials": [{**asdict(one.change), **one.figures(), "refused": one.refused} for one in seen.trials],
        "decisions": [_plain(one) for one in seen.decisions], "left_out": list(seen.left_out),
    }  # fmt: skip


def _tell(one: TuningDecision, out: Output) -> None:
    if out.as_json:
        out.json(_plain(one))
    else:
        out.line(f"{one.id}  {'undo ' + one.undoes if one.undoes else _change(one)}")


def _change(one: TuningDecision) -> str:
    return f"{one.name} {one.before:g} to {one.after:g}"


def _plain(one: TuningDecision) -> dict[str, object]:
    return {**asdict(one), "figures": dict(one.figures), "time": str(one.time or "")}
