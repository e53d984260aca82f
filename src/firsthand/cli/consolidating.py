"""The commands consolidate and quarantine: rules made of what users said, and taking one out."""

from __future__ import annotations

import argparse
from collections import Counter

from firsthand import (
    ByModel,
    Consolidated,
    Consolidator,
    Entry,
    GateSettings,
    InvalidArgument,
    Memory,
    ModelSolver,
    Unresolvable,
    consolidate_in,
    consolidated_view,
    entries_of,
    lineage_of,
)
from firsthand.cli.asking import Models, models
from firsthand.cli.display import count, shown
from firsthand.cli.exits import DONE, NOTHING_FOUND
from firsthand.cli.output import Output
from firsthand.cli.stores import position, to_read, to_write
from firsthand.cli.whose import agent_named
from firsthand.ledger.consolidators import rules_plus_exceptions
from firsthand.ledger.model_consolidator import SOLVER_TOKENS_MAX, WRITER_TOKENS_MAX
from firsthand.ledger.solver import Solver
from firsthand.value import asdict

SHORT = 10
"""Characters of an id that are shown: its end."""


def consolidate(chosen: argparse.Namespace, out: Output) -> int:
    """Show what stands, or propose and keep."""
    if (chosen.what == "show") != bool(chosen.entry):
        raise InvalidArgument("firsthand consolidate show takes the id of an entry, and nothing else does")
    if chosen.as_of is not None and chosen.what != "list":
        raise InvalidArgument("--as-of goes with firsthand consolidate list; what is proposed is made of what is now")
    if chosen.what in {"list", "show"} and (chosen.model or chosen.solver_model):
        raise InvalidArgument("a model writes, or answers what is tried: it goes with firsthand consolidate propose")
    with to_write(chosen, create=False) if chosen.what == "keep" else to_read(chosen) as memory:
        agent_named(memory, chosen.agent)
        if chosen.what == "list":
            return _list(memory, chosen, out)
        if chosen.what == "show":
            return _show(memory, entries_of(memory, chosen.agent).find(chosen.entry), out)
        with models(chosen, out, chosen.model, chosen.solver_model) as asked:
            done = consolidate_in(
                memory,
                chosen.agent,
                consolidator=_writer(chosen, asked),
                solver=_solver(chosen, asked),
                settings=GateSettings(theta=chosen.theta),
                approved=chosen.approve,
                keep=chosen.what == "keep",
            )
    _tell(done, out, kept=chosen.what == "keep")
    return DONE if done.report.judged or done.quarantined else NOTHING_FOUND


def _writer(chosen: argparse.Namespace, asked: Models | None) -> Consolidator:
    if asked is None or not chosen.model:
        return rules_plus_exceptions
    one = asked.named(chosen.model)
    return ByModel(
        lambda prompt: str(one.complete(prompt, tokens_max=WRITER_TOKENS_MAX)), one.name,
        before=lambda prompts: asked.tell(one, prompts, WRITER_TOKENS_MAX),
    )  # fmt: skip


def _solver(chosen: argparse.Namespace, asked: Models | None) -> Solver | None:
    if asked is None or not chosen.solver_model:
        return None
    one = asked.named(chosen.solver_model)
    return ModelSolver(lambda prompt: str(one.complete(prompt, tokens_max=SOLVER_TOKENS_MAX)), one.name)


def quarantine(chosen: argparse.Namespace, out: Output) -> int:
    """Take an entry out, or any event with what was made of it, or let it in again."""
    with to_write(chosen, create=False) as memory:
        log = lineage_of(memory)
        name = chosen.entry
        address = name if name.startswith("fh:") else f"fh:{entries_of(memory, chosen.agent).find(name).id}"
        made = (log.release if chosen.release else log.quarantine)(address, reason=chosen.reason)
    for one in made:
        if out.as_json:
            out.json({**asdict(one), "time": str(one.time or "")})
        else:
            out.line(f"{one.id}  {one.action}  {one.target}")
    if not made:
        out.remark(f"{address} is not taken out" if chosen.release else f"{address} is taken out already, with all "
                   "that was made of it")  # fmt: skip
    elif chosen.release:
        out.remark("what was made of it stays out; each is let in again by its own name, or by firsthand ledger undo")
    return DONE if made else NOTHING_FOUND


def _list(memory: Memory, chosen: argparse.Namespace, out: Output) -> int:
    view = consolidated_view(memory, chosen.agent, as_of=position(memory, chosen.as_of))
    if out.as_json:
        for one in view.entries:
            out.json(asdict(one))
        for case in view.raw:
            out.json(asdict(case))
    else:
        for one in view.entries:
            out.line(f"{one.id[-SHORT:]}  {shown(one.line)}  ({count(len(one.sources), 'source')})")
        for case in view.raw:
            out.line(f"{'':{SHORT}}  {shown(case.line)}  ({case.pointer})")
        out.remark(f"{count(len(view.entries), 'entry')}, {count(len(view.raw), 'raw statement')} shown, "
                   f"{len(view.demoted):,} covered")  # fmt: skip
    return DONE if view.entries or view.raw else NOTHING_FOUND


def _show(memory: Memory, one: Entry, out: Output) -> int:
    words = {name: _words(memory, name) for name in one.sources}
    if out.as_json:
        out.json({**asdict(one), "words": words})
        return DONE
    out.line(f"{one.id}  version {one.version}  {shown(one.line)}")
    out.line(f"by {shown(one.created_by)}, about {shown(one.scope) or 'nothing named'}, gate report {one.report[:16]}")
    for name, said in words.items():
        out.line(f"{name}  {shown(said)}")
    return DONE


def _tell(done: Consolidated, out: Output, *, kept: bool) -> None:
    report = done.report
    if out.as_json:
        for one in report.judged:
            out.json({**asdict(one), "reason": one.reason})
    else:
        for one in report.judged:
            last = one.checks[-1]
            said = ("kept" if kept else "would be kept") if one.accepted else f"refused: {one.reason}"
            out.line(f"{one.proposed[-SHORT:]}  {shown(one.entry.line)}  {said}")
            if not one.accepted and last.detail:
                out.line(f"{'':{SHORT}}  {shown(last.detail)}")
    for decision in done.quarantined:
        out.line(f"{decision.id}  {decision.action}  {decision.target}")
    for fault in report.faults:
        out.warn(f"firsthand: {shown(str(fault))}")
    if report.faults:
        kinds = ", ".join(f"{kind} {number}" for kind, number in Counter(it.kind for it in report.faults).items())
        out.warn(f"firsthand: {count(len(report.faults), 'reply')} could not be read ({kinds}); nothing came of that")
    out.remark(
        f"{count(len(report.judged), 'entry')} proposed, {len(report.accepted)} let in; "
        f"{report.canaries:,} questions asked again, {report.lost} lost"
    )


def _words(memory: Memory, address: str) -> str:
    try:
        return memory.expand(address).decode("utf-8", "replace")
    except Unresolvable as error:
        return f"not to be had: {error}"
