"""The group ledger: which statements are out and what took their place; decide, and undo it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from firsthand.cli import entries, sweep
from firsthand.cli.arguments import Parser, number
from firsthand.cli.display import count, shown, table
from firsthand.cli.exits import DONE, NOTHING_FOUND
from firsthand.cli.output import Output
from firsthand.cli.stores import position, to_read, to_write, words_of
from firsthand.ledger import statements
from firsthand.ledger.decision_log import LedgerLog, ledger_of
from firsthand.ledger.decisions import Decision, State
from firsthand.ledger.facts import facts_standing
from firsthand.ledger.lineage import lineage_of
from firsthand.moment import clock
from firsthand.value import asdict

LISTED_MAX = 1_000
WAITING_CHARACTERS = 160


def add(group: Parser) -> None:
    """Add the commands of the group."""
    command = group.command(
        "list", _list, "List the decisions, the newest last.",
        """
        firsthand ledger list
        firsthand ledger list --as-of 1200
        """,
    )  # fmt: skip
    command.add_argument("--as-of", type=number(0), metavar="POSITION", help="as it was then")
    command = group.command(
        "show", _show, "Show one decision, with the words of both events.", "firsthand ledger show 5GZ8K2N7"
    )
    command.add_argument("decision", metavar="ID", help="its id, or the end of it")
    _add_statements(group)
    command = group.command(
        "facts", _facts, "List the facts that were asserted and stand.",
        """
        firsthand ledger facts
        firsthand ledger facts --as-of 1200
        """,
    )  # fmt: skip
    command.add_argument("--as-of", type=number(0), metavar="POSITION", help="as it was then")
    command = group.command(
        "undo", _undo, "Undo a decision, as if it had never been.",
        "firsthand ledger undo 5GZ8K2N7 --following          and all that followed from it",
    )  # fmt: skip
    command.add_argument("decision", metavar="ID", help="its id, or the end of it")
    command.add_argument("--following", action="store_true", help="also what followed from it")
    _add_reason(command)
    group.command("waiting", _waiting, "List rules that rest on a tool's or page's words.", "firsthand ledger waiting")
    command = group.command(
        "approve", _approve, "Let one of the rules that wait in.",
        "firsthand ledger approve fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY           undo takes it back",
    )  # fmt: skip
    command.add_argument("target", metavar="POINTER", help="the rule")
    _add_reason(command)
    entries.add(group)
    sweep.add(group)


def _add_statements(group: Parser) -> None:
    """Add the commands by which the user states a decision."""
    command = group.command(
        "supersede", _decide, "Decide that one event holds in the place of another.",
        """
        firsthand ledger supersede fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY fh:01J9AA4T9M6V3K2N7P5R8S1WXY    the second holds
        firsthand ledger supersede fh:01J8... fh:01J9... --quote-old "use npm" --quote-new "use pnpm"
        """,
    )  # fmt: skip
    command.add_argument("target", metavar="OLD", help="the event that holds no longer")
    command.add_argument("by", metavar="NEW", help="the event that holds now")
    command.add_argument("--quote-old", default="", metavar="TEXT", help="words of the old one, checked")
    command.add_argument("--quote-new", default="", metavar="TEXT", help="words of the new one, checked")
    command.set_defaults(action="supersede")
    _add_reason(command)
    for name, sentence in (
        ("retract", "Decide that an event or a fact holds no longer."),
        ("restore", "Decide that an event holds again, and not what replaced it."),
    ):
        command = group.command(name, _decide, sentence, f"firsthand ledger {name} fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY")
        command.add_argument("target", metavar="POINTER", help="the event")
        command.set_defaults(action=name)
        if name == "retract":
            command.add_argument("--quote", default="", metavar="TEXT", help="words that take it back, checked")
        _add_reason(command)
    command = group.command(
        "assert", _decide, "Assert a fact on words of the log.",
        "firsthand ledger assert 'package manager' 'pnpm, not npm' --quote 'pnpm from now on'",
    )  # fmt: skip
    command.add_argument("subject", metavar="SUBJECT", help="what it is about, in a few words")
    command.add_argument("text", metavar="TEXT", help="the fact, in one sentence")
    command.add_argument("--quote", required=True, metavar="TEXT", help="the words that it rests on, checked")
    command.add_argument("--at", default="", metavar="POINTER", help="the event that they stand in")
    command.set_defaults(action="assert")
    _add_reason(command)


def _add_reason(command: Parser) -> None:
    command.add_argument("--reason", default="", metavar="TEXT", help="why; it is kept")


def _list(chosen: argparse.Namespace, out: Output) -> int:
    with to_read(chosen) as memory:
        log = ledger_of(memory)
        decisions = log.decisions(position(memory, chosen.as_of))
        undone = log.at(chosen.as_of).undone
    newest = decisions[-LISTED_MAX:]
    if out.as_json:
        for decision in newest:
            out.json({**_form(decision), "undone_by": undone.get(decision.id, "")})
    else:
        rows = [
            (str(decision.position), decision.id[-10:],
             f"undo {decision.undoes[-10:]}" if decision.undoes else decision.action,
             shown(decision.target), decision.by, _state(decision, undone))
            for decision in newest
        ]  # fmt: skip
        for line in table(rows, right=frozenset({0})):
            out.line(line)
        if len(decisions) > len(newest):
            out.remark(f"{count(len(decisions) - len(newest), 'older decision')} not shown")
    if not decisions:
        then = "" if chosen.as_of is None else f" as of position {chosen.as_of:,}"
        out.remark(f"nothing is decided{then}; firsthand ledger supersede OLD NEW decides")
    return DONE if decisions else NOTHING_FOUND


def _state(decision: Decision, undone: Mapping[str, str]) -> str:
    return "undone" if decision.id in undone else "" if decision.state is State.IN_FORCE else str(decision.state)


def _show(chosen: argparse.Namespace, out: Output) -> int:
    with to_read(chosen) as memory:
        log = ledger_of(memory)
        decision = log.find(chosen.decision)
        undone = log.at().undone.get(decision.id, "")
        words = {name: words_of(memory, name) for name in (decision.target, decision.by_fact) if name}
    if out.as_json:
        out.json({**_form(decision), "undone_by": undone, "words": words})
        return DONE
    out.line(f"{decision.id}  {decision.action}  {shown(decision.target)}")
    out.line(f"by {shown(decision.by)}: {shown(decision.reason) or 'no reason given'}")
    if decision.text:
        out.line(f"{shown(decision.key)}: {shown(decision.text)}")
    for quote in decision.quotes:
        out.line(f"quoted: {shown(quote)}")
    if decision.state is not State.IN_FORCE:
        out.line(f"{decision.state}: {shown(decision.why) or 'until its turn is over'}")
    for name, address in (("about", decision.target), ("in its place", decision.by_fact)):
        if address:
            out.line(f"{name}: {shown(words[address])} ({shown(address)})")
    if decision.undoes:
        out.line(f"undoes {decision.undoes}")
    if undone:
        out.line(f"undone by {undone}")
    return DONE


def _decide(chosen: argparse.Namespace, out: Output) -> int:
    """Supersede, retract or restore an event, or assert a fact: the user says so."""
    with to_write(chosen, create=False) as memory:
        match chosen.action:
            case "supersede":
                quotes = chosen.quote_old, chosen.quote_new
                stated = statements.supersede(memory, chosen.target, chosen.by, *quotes, reason=chosen.reason)
            case "retract":
                stated = statements.retract(memory, chosen.target, chosen.quote, reason=chosen.reason)
            case "assert":
                fact = chosen.subject, chosen.text, chosen.quote
                stated = statements.assert_fact(memory, *fact, at=chosen.at, reason=chosen.reason)
            case _:
                restored = ledger_of(memory).restore(chosen.target, reason=chosen.reason)
                return _say(restored, out, f"{shown(chosen.target)} is not out")
    code = _say((stated.decision,) if stated.is_new else (), out, "the same is decided already")
    for quoted in stated.quoted:
        out.remark(f"{count(quoted.events, 'event')} looked at hold {shown(quoted.quote)!r}; taken: {quoted.pointer}")
    return code


def _facts(chosen: argparse.Namespace, out: Output) -> int:
    with to_read(chosen) as memory:
        facts = [*facts_standing(memory, as_of=position(memory, chosen.as_of))]
    for fact in facts:
        if out.as_json:
            out.json({**asdict(fact), "time": str(fact.time or "")})
        else:
            waits = "" if fact.volunteered else "  (no user said it: recalled, never volunteered)"
            out.line(f"{fact.decision[-10:]}  {shown(fact.subject)}: {shown(fact.text)}{waits}")
            out.line(f"{'':10}  {clock(fact.time)}  {shown(fact.line)!r}  {fact.pointer}")
    out.remark(f"{count(len(facts), 'fact')} asserted; firsthand ledger retract takes one back by its quote or pointer")
    return DONE if facts else NOTHING_FOUND


def _undo(chosen: argparse.Namespace, out: Output) -> int:
    with to_write(chosen, create=False) as memory:
        log = ledger_of(memory)
        made = log.undo(chosen.decision, following=chosen.following, reason=chosen.reason)
        return _say(made, out, "" if made else _already_undone(log, chosen.decision))


def _already_undone(log: LedgerLog, name: str) -> str:
    decision = log.find(name)
    by = log.at().undone.get(decision.id, "")
    return f"{decision.id} is undone already; firsthand ledger undo {by[-10:]} makes it stand again"


def _approve(chosen: argparse.Namespace, out: Output) -> int:
    with to_write(chosen, create=False) as memory:
        made = lineage_of(memory).approve(chosen.target, reason=chosen.reason)
    return _say(made, out, f"{shown(chosen.target)} is let in already")


def _waiting(chosen: argparse.Namespace, out: Output) -> int:
    with to_read(chosen) as memory:
        rules = lineage_of(memory).waiting()
    for rule in rules:
        if out.as_json:
            out.json(rule)
        else:
            out.line(f"{rule.pointer}  {rule.sort}  {shown(rule.text)[:WAITING_CHARACTERS]}")
    out.remark(f"{count(len(rules), 'rule')} of what a tool or the web said; approve lets one in")
    return DONE if rules else NOTHING_FOUND


def _say(made: tuple[Decision, ...], out: Output, nothing: str) -> int:
    for decision in made:
        if out.as_json:
            out.json(_form(decision))
        else:
            action = f"undo {decision.undoes}" if decision.undoes else decision.action
            out.line(f"{decision.id}  {action}  {shown(decision.target)}")
    if not made:
        out.remark(nothing)
    return DONE if made else NOTHING_FOUND


def _form(decision: Decision) -> dict[str, object]:
    return {**asdict(decision), "time": str(decision.time or "")}
