"""The commands ledger and digest: which fact takes the place of which, and what stands."""

from __future__ import annotations

import argparse
from pathlib import Path

from firsthand import (
    Agent,
    Conflict,
    Decision,
    Fact,
    InvalidArgument,
    LedgerLog,
    Memory,
    SweepByModel,
    Unresolvable,
    agent_in,
    conflicts_of,
    digest_of,
    ledger_difference,
    ledger_of,
    lineage_of,
    said_of,
    sweep,
    write_digest,
)
from firsthand.consolidate.sweep_by_model import TOKENS_MAX
from firsthand.doors.asking import Models, models
from firsthand.doors.display import clock, count, shown, table
from firsthand.doors.exits import DONE, NOTHING_FOUND
from firsthand.doors.output import Output
from firsthand.doors.stores import position, to_read, to_write
from firsthand.doors.whose import agent_here
from firsthand.value import asdict

LISTED_MAX = 1_000
WAITING_CHARACTERS = 160
_DEEDS = ("deed", "denial", "mention")
_READS = {"list", "show", "diff", "waiting", "conflicts"}
_GIVEN = {"list": 0, "show": 1, "sweep": 0, "undo": 1, "restore": 1, "tombstone": 1, "waiting": 0, "approve": 1,
          "diff": 2, "conflicts": 0}  # fmt: skip
"""How many words each needs behind it."""


def ledger(chosen: argparse.Namespace, out: Output) -> int:
    """Show, sweep, undo, decide or approve."""
    if len(chosen.at) != _GIVEN[chosen.what]:
        raise InvalidArgument(
            f"firsthand ledger {chosen.what} takes {count(_GIVEN[chosen.what], 'word')} behind it; got "
            f"{len(chosen.at)}. `firsthand ledger --help` has examples."
        )
    if chosen.model and chosen.what != "sweep":
        raise InvalidArgument(f"a model is asked in a sweep; expected firsthand ledger sweep, got {chosen.what}")
    with to_read(chosen) if chosen.what in _READS else to_write(chosen, create=False) as memory:
        log = ledger_of(memory)
        if chosen.what == "list":
            return _list(log, chosen, out)
        if chosen.what == "show":
            return _show(log, _agent(memory, chosen), log.find(chosen.at[0]), out)
        if chosen.what == "diff":
            return _diff(log, chosen, out)
        if chosen.what == "sweep":
            return _sweep(memory, chosen, out)
        if chosen.what == "conflicts":
            return _conflicts(memory, chosen, out)
        if chosen.what == "waiting":
            return _waiting(memory, out)
        if chosen.what == "undo":
            made = log.undo(chosen.at[0], following=chosen.following, reason=chosen.reason)
        elif chosen.what == "approve":
            made = lineage_of(memory).approve(chosen.at[0], reason=chosen.reason)
        else:
            facts = _facts(memory, chosen)
            made = tuple(log.decide(chosen.what, one, reason=chosen.reason) for one in facts)
        _tell(made, out)
        if not made:
            out.remark(_nothing_made(log, chosen))
        return DONE if made else NOTHING_FOUND


def _nothing_made(log: LedgerLog, chosen: argparse.Namespace) -> str:
    """Say why an undoing or an approval has decided nothing."""
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
    if not made.facts and not made.sessions:
        then = "" if chosen.as_of is None else f" as of position {chosen.as_of:,}"
        out.remark(f"no fact of the user's stands and no session has an episode{then}")
    return DONE if made.facts or made.sessions else NOTHING_FOUND


def _list(log: LedgerLog, chosen: argparse.Namespace, out: Output) -> int:
    decisions = log.decisions(position(log.memory, chosen.as_of))
    undone = log.at(chosen.as_of).undone
    newest = decisions[-LISTED_MAX:]
    if out.as_json:
        for one in newest:
            out.json({**_plain(one), "undone_by": undone.get(one.id, "")})
    else:
        rows = [
            (str(one.position), one.id[-10:], f"undo {one.undoes[-10:]}" if one.undoes else one.action, shown(one.key),
             one.by, "undone" if one.id in undone else "")
            for one in newest
        ]  # fmt: skip
        for line in table(rows, right=frozenset({0})):
            out.line(line.rstrip())
        if len(decisions) > len(newest):
            out.remark(f"{count(len(decisions) - len(newest), 'older decision')} not shown")
    if not decisions:
        then = "" if chosen.as_of is None else f" as of position {chosen.as_of:,}"
        out.remark(f"nothing is decided{then}; firsthand ledger sweep decides, and so does each sleep")
    return DONE if decisions else NOTHING_FOUND


def _show(log: LedgerLog, agent: Agent, one: Decision, out: Output) -> int:
    undone = log.at().undone.get(one.id, "")
    words = {name: _words(agent.memory, name) for name in (one.target, one.by_fact) if name}
    if out.as_json:
        out.json({**_plain(one), "undone_by": undone, "words": words})
        return DONE
    out.line(f"{one.id}  {one.action}  {shown(one.key)}")
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
        positions = [position(log.memory, int(one)) for one in chosen.at]
    except ValueError as error:
        raise InvalidArgument(f"firsthand ledger diff takes two positions; got {' '.join(chosen.at):.60}") from error
    changes = ledger_difference(*(log.at(one) for one in positions))
    for one in changes:
        if out.as_json:
            out.json(asdict(one))
            continue
        was, now = (_in_words(each) for each in (one.before, one.after))
        out.line(f"{shown(one.key)}: {was} -> {now}")
    if not changes:
        out.remark(f"the same is decided at {positions[0]} and at {positions[1]}")
    return DONE if changes else NOTHING_FOUND


def _in_words(one: Decision | None) -> str:
    return "nothing decided" if one is None else f"{one.action} {shown(one.by_fact or one.target)}"


def _sweep(memory: Memory, chosen: argparse.Namespace, out: Output) -> int:
    agent = _agent_here(memory, chosen).name
    with models(chosen, out, chosen.model) as asked:
        as_of = position(memory, chosen.as_of)
        swept = sweep(memory, agent, as_of=as_of)
        _tell(swept.decided, out)
        if asked is not None:  # what needs no model has not waited for it
            swept = sweep(memory, agent, reconciler=_by_model(memory, chosen, asked), as_of=as_of)
            _tell(swept.decided, out)
    for sentence in swept.left_out:
        out.warn(f"firsthand: {shown(sentence)}")
    out.remark(f"{count(swept.facts, 'fact')}, {count(len(swept.decided), 'new decision')}")
    return DONE


def _waiting(memory: Memory, out: Output) -> int:
    waiting = lineage_of(memory).waiting()
    for one in waiting:
        if out.as_json:
            out.json(asdict(one))
        else:
            out.line(f"{one.pointer}  {one.sort}  {shown(one.text)[:WAITING_CHARACTERS]}")
    out.remark(f"{count(len(waiting), 'rule')} of what a tool or the web said; approve lets one in")
    return DONE if waiting else NOTHING_FOUND


def _conflicts(memory: Memory, chosen: argparse.Namespace, out: Output) -> int:
    """Show what was said that contradicts each other, with the words, the session and the time of both."""
    found = conflicts_of(memory, _agent_here(memory, chosen).name, as_of=position(memory, chosen.as_of))
    for each in found:
        if out.as_json:
            out.json(
                {
                    "why": each.why,
                    "of_one_key": _is_of_one(each),
                    **{name: _side(memory, one) for name, one in _sides(each).items()},
                }
            )
            continue
        out.line(f"{each.why}: {shown(each.later.about)}" if each.later.sort not in _DEEDS else each.why)
        for name, one in _sides(each).items():
            side = _side(memory, one)
            words = shown(one.text)[:WAITING_CHARACTERS]
            out.line(f"  {name}: {words} ({one.pointer}, {side['who']}, session {side['session']}, {side['time']})")
        holds = "restore POINTER of what holds" if _is_of_one(each) else "tombstone POINTER of what does not hold"
        out.line(f"  decide: firsthand ledger {holds}")
    out.remark(count(len(found), "open conflict"))
    return DONE if found else NOTHING_FOUND


def _is_of_one(each: Conflict) -> bool:
    return each.earlier.key == each.later.key and each.later.sort not in _DEEDS


def _sides(each: Conflict) -> dict[str, Fact]:
    return {"earlier": each.earlier, "later": each.later}


def _side(memory: Memory, one: Fact) -> dict[str, object]:
    """Tell one side of a conflict with its origin."""
    time = memory.event(one.event).time
    return {"pointer": one.pointer, "text": one.text, "who": one.origin or "user", "trust": one.trust.word,
            "session": shown(one.session), "time": clock(time)}  # fmt: skip


def _by_model(memory: Memory, chosen: argparse.Namespace, asked: Models) -> SweepByModel:
    one = asked.named(chosen.model)
    return SweepByModel(
        lambda prompt: str(one.complete(prompt, tokens_max=TOKENS_MAX)), one.name, memory.expand,
        before=lambda prompts: asked.tell(one, prompts, TOKENS_MAX),
    )  # fmt: skip


def _tell(made: tuple[Decision, ...], out: Output) -> None:
    for one in made:
        if out.as_json:
            out.json(_plain(one))
        else:
            out.line(f"{one.id}  {'undo ' + one.undoes if one.undoes else one.action}  {shown(one.key)}")


def _facts(memory: Memory, chosen: argparse.Namespace) -> list[Fact]:
    """Give the fact of a pointer, and what else is said there that an open conflict is about."""
    agent = _agent_here(memory, chosen)
    found = [one for one in said_of(memory, agent.name) if chosen.at[0] in (one.pointer, one.event)]
    valued = list({one.key: one for one in found if one.sort not in _DEEDS}.values())
    sides = [one for each in conflicts_of(memory, agent.name) for one in (each.earlier, each.later)]
    asked = {one.key: one for one in sides if one in found and one not in valued}
    facts = [*valued, *asked.values()] or list({one.key: one for one in found}.values())
    if len(valued) > 1 or not facts or (len(facts) > 1 and not asked):
        raise Unresolvable(
            f"expected the pointer of one fact of agent {agent.name!r:.60}, as `firsthand digest` shows it; "
            f"{chosen.at[0]!r:.80} has {len(valued or facts)}"
        )
    return facts


def _words(memory: Memory, address: str) -> str:
    try:
        return memory.expand(address).decode("utf-8", "replace")
    except Unresolvable as error:
        return f"not to be had: {error}"


def _plain(one: Decision) -> dict[str, object]:
    return {**asdict(one), "time": str(one.time or "")}


def _agent_here(memory: Memory, chosen: argparse.Namespace) -> Agent:
    return agent_here(memory, chosen.agent, str(Path.cwd()))


def _agent(memory: Memory, chosen: argparse.Namespace) -> Agent:
    return memory.agent(chosen.agent) if chosen.agent else agent_in(memory, str(Path.cwd()))
