"""The commands ledger and digest: which events are out, and what stands."""

from __future__ import annotations

import argparse
from pathlib import Path

from firsthand import (
    Agent,
    Decision,
    InvalidArgument,
    LedgerLog,
    Memory,
    Unresolvable,
    digest_of,
    ledger_difference,
    ledger_of,
    lineage_of,
    write_digest,
)
from firsthand.cli.display import count, shown, table
from firsthand.cli.exits import DONE, NOTHING_FOUND
from firsthand.cli.output import Output
from firsthand.cli.stores import position, to_read, to_write
from firsthand.cli.whose import agent_here
from firsthand.space import Space
from firsthand.value import asdict

LISTED_MAX = 1_000
WAITING_CHARACTERS = 160
_READS = {"list", "show", "diff", "waiting"}
_GIVEN = {"list": 0, "show": 1, "supersede": 2, "tombstone": 1, "restore": 1, "undo": 1, "waiting": 0, "approve": 1,
          "diff": 2}  # fmt: skip
"""How many words each needs behind it."""


def ledger(chosen: argparse.Namespace, out: Output) -> int:
    """Show, decide, undo or approve."""
    if len(chosen.at) != _GIVEN[chosen.what]:
        raise InvalidArgument(
            f"firsthand ledger {chosen.what} takes {count(_GIVEN[chosen.what], 'word')} behind it; got "
            f"{len(chosen.at)}. `firsthand ledger --help` has examples."
        )
    with to_read(chosen) if chosen.what in _READS else to_write(chosen, create=False) as memory:
        log = ledger_of(memory)
        if chosen.what == "list":
            return _list(log, chosen, out)
        if chosen.what == "show":
            return _show(log, log.find(chosen.at[0]), out)
        if chosen.what == "diff":
            return _diff(log, chosen, out)
        if chosen.what == "waiting":
            return _waiting(memory, out)
        if chosen.what == "undo":
            made = log.undo(chosen.at[0], following=chosen.following, reason=chosen.reason)
        elif chosen.what == "approve":
            made = lineage_of(memory).approve(chosen.at[0], reason=chosen.reason)
        else:
            made = log.decide(chosen.what, chosen.at[0], by_fact=(*chosen.at, "")[1], reason=chosen.reason)
        _tell(made, out)
        if not made:
            out.remark(_nothing_made(log, chosen))
        return DONE if made else NOTHING_FOUND


def _nothing_made(log: LedgerLog, chosen: argparse.Namespace) -> str:
    """Say why nothing was decided."""
    if chosen.what == "restore":
        return f"{shown(chosen.at[0])} is not out"
    if chosen.what in {"supersede", "tombstone"}:
        return f"the same is decided of {shown(chosen.at[0])} already"
    if chosen.what != "undo":
        return f"{shown(chosen.at[0])} is let in already"
    one = log.find(chosen.at[0])
    by = log.at().undone.get(one.id, "")
    return f"{one.id} is undone already; firsthand ledger undo {by[-10:]} makes it stand again"


def digest(chosen: argparse.Namespace, out: Output) -> int:
    """Show the digest, or write it."""
    if chosen.write and chosen.as_of is not None:
        raise InvalidArgument("what is written is the digest of now; expected --write or --as-of, got both")
    with to_write(chosen, create=False) if chosen.write else to_read(chosen) as memory:
        agent = _agent_here(memory, chosen)
        if chosen.write:
            written = write_digest(agent, lines_max=chosen.lines)
            if out.as_json:
                out.json(asdict(written))
                return DONE
            for file in written.files:
                out.line(shown(str(agent.folder / file)))
            for sentence in written.left_out:
                out.warn(f"firsthand: {shown(sentence)}")
            if written.difference:
                out.line(shown(written.difference, lines=True))
            return DONE
        made = digest_of(agent, as_of=position(memory, chosen.as_of), lines_max=chosen.lines)
    if out.as_json:
        out.json(asdict(made))
    else:
        out.line(shown(made.text, lines=True).rstrip("\n"))
    if not made.notes and not made.sessions:
        then = "" if chosen.as_of is None else f" as of position {chosen.as_of:,}"
        out.remark(f"no note stands and no session has an episode{then}")
    return DONE if made.notes or made.sessions else NOTHING_FOUND


def _list(log: LedgerLog, chosen: argparse.Namespace, out: Output) -> int:
    decisions = log.decisions(position(log.space, chosen.as_of))
    undone = log.at(chosen.as_of).undone
    newest = decisions[-LISTED_MAX:]
    if out.as_json:
        for one in newest:
            out.json({**_plain(one), "undone_by": undone.get(one.id, "")})
    else:
        rows = [
            (str(one.position), one.id[-10:], f"undo {one.undoes[-10:]}" if one.undoes else one.action,
             shown(one.target), one.by, "undone" if one.id in undone else "")
            for one in newest
        ]  # fmt: skip
        for line in table(rows, right=frozenset({0})):
            out.line(line.rstrip())
        if len(decisions) > len(newest):
            out.remark(f"{count(len(decisions) - len(newest), 'older decision')} not shown")
    if not decisions:
        then = "" if chosen.as_of is None else f" as of position {chosen.as_of:,}"
        out.remark(f"nothing is decided{then}; firsthand ledger supersede OLD NEW decides")
    return DONE if decisions else NOTHING_FOUND


def _show(log: LedgerLog, one: Decision, out: Output) -> int:
    undone = log.at().undone.get(one.id, "")
    words = {name: _words(log.space, name) for name in (one.target, one.by_fact) if name}
    if out.as_json:
        out.json({**_plain(one), "undone_by": undone, "words": words})
        return DONE
    out.line(f"{one.id}  {one.action}  {shown(one.target)}")
    out.line(f"by {shown(one.by)}: {shown(one.reason) or 'no reason given'}")
    for name, address in (("about", one.target), ("in its place", one.by_fact)):
        if address:
            out.line(f"{name}: {shown(words[address])} ({shown(address)})")
    if one.undoes:
        out.line(f"undoes {one.undoes}")
    if undone:
        out.line(f"undone by {undone}")
    return DONE


def _diff(log: LedgerLog, chosen: argparse.Namespace, out: Output) -> int:
    try:
        positions = [position(log.space, int(one)) for one in chosen.at]
    except ValueError as error:
        raise InvalidArgument(f"firsthand ledger diff takes two positions; got {' '.join(chosen.at):.60}") from error
    changes = ledger_difference(*(log.at(one) for one in positions))
    for one in changes:
        if out.as_json:
            out.json(asdict(one))
            continue
        was, now = (_in_words(each) for each in (one.before, one.after))
        out.line(f"{shown(one.pointer)}: {was} -> {now}")
    if not changes:
        out.remark(f"the same is decided at {positions[0]} and at {positions[1]}")
    return DONE if changes else NOTHING_FOUND


def _in_words(one: Decision | None) -> str:
    return "nothing decided" if one is None else f"{one.action} {shown(one.by_fact or one.target)}"


def _waiting(memory: Memory, out: Output) -> int:
    waiting = lineage_of(memory).waiting()
    for one in waiting:
        if out.as_json:
            out.json(asdict(one))
        else:
            out.line(f"{one.pointer}  {one.sort}  {shown(one.text)[:WAITING_CHARACTERS]}")
    out.remark(f"{count(len(waiting), 'rule')} of what a tool or the web said; approve lets one in")
    return DONE if waiting else NOTHING_FOUND


def _tell(made: tuple[Decision, ...], out: Output) -> None:
    for one in made:
        if out.as_json:
            out.json(_plain(one))
        else:
            out.line(f"{one.id}  {'undo ' + one.undoes if one.undoes else one.action}  {shown(one.target)}")


def _words(memory: Space, address: str) -> str:
    try:
        return memory.expand(address).decode("utf-8", "replace")
    except Unresolvable as error:
        return f"not to be had: {error}"


def _plain(one: Decision) -> dict[str, object]:
    return {**asdict(one), "time": str(one.time or "")}


def _agent_here(memory: Memory, chosen: argparse.Namespace) -> Agent:
    return agent_here(memory, chosen.agent, str(Path.cwd()))
