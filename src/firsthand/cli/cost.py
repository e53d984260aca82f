"""The command agent cost: how many tokens Firsthand put before agents, by session and message, as the log has it."""

from __future__ import annotations

import argparse
import json
from collections import Counter

from firsthand import Kind, Memory
from firsthand.agents.injections import fields_of
from firsthand.agents.tool_table import TOOLS
from firsthand.cli.arguments import Parser, number
from firsthand.cli.display import count, shown
from firsthand.cli.exits import DONE, NOTHING_FOUND
from firsthand.cli.output import Output
from firsthand.cli.stores import session_in, to_read
from firsthand.tokens import estimate
from firsthand.value import asdict

_WHEN = {"session start": "start", "prompt": "messages", "before tool": "commands"}
"""What a hook's event is called in the table."""


def add(group: Parser) -> None:
    """Add the command to the group agent."""
    command = group.command(
        "cost", _cost, "Count the tokens that were put before agents unasked.",
        """
        firsthand agent cost
        firsthand agent cost --session claude-code:5b0a6c1e-0000-4000-8000-000000000001 --json
        """,
    )  # fmt: skip
    command.add_argument("--session", metavar="NAME", help="of this session; default: the newest that were reminded")
    command.add_argument("--limit", type=number(1), default=20, metavar="N", help="most sessions, default 20")


def _cost(chosen: argparse.Namespace, out: Output) -> int:
    with to_read(chosen) as memory:
        named = [session_in(memory, chosen.session)] if chosen.session else None
        newest = sorted(memory.sessions(), key=lambda info: -info.last_position)
        sessions: list[dict[str, object]] = []
        for name in named or [info.name for info in newest]:
            if len(sessions) < chosen.limit and (spent := _spent(memory, name)):
                sessions.append(spent)
    tools = estimate(json.dumps([asdict(tool) for tool in TOOLS]))
    if out.as_json:
        out.json({"sessions": sessions, "tools": tools})
        return DONE if sessions else NOTHING_FOUND
    columns = ("start", "messages", "commands", "tokens", "prompts", "unmeasured")
    rows: list[tuple[str, ...]] = [(*columns, "session")]
    rows += [(*(f"{spent[column]:,}" for column in columns), shown(str(spent["session"]))) for spent in sessions]
    if sessions:
        out.table(rows, range(len(columns)), whole=True)
        total, prompts = (sum(int(str(spent[column])) for spent in sessions) for column in ("tokens", "prompts"))
        out.line(f"{total:,} tokens in {count(len(sessions), 'session')}: {total / len(sessions):,.0f} a session, "
                 f"{total / max(1, prompts):,.0f} a prompt")  # fmt: skip
    else:
        out.line("nothing was put before an agent yet")
    out.line(f"tools of the MCP server, where it is registered: about {tools:,} tokens of each request")
    out.remark("estimated; what is put before an agent stays in its window until the host compacts it")
    return DONE if sessions else NOTHING_FOUND


def _spent(memory: Memory, session: str) -> dict[str, object]:
    """Sum up what one session was reminded with; empty when it was not."""
    spent: Counter[str] = Counter()
    for event in memory.events(session, kind=Kind.INJECTION):
        tokens = fields_of(event).get("tokens")
        if isinstance(tokens, int):
            spent[_WHEN.get(str(event.meta.get("event")), "commands")] += tokens
        else:  # of an older version, which did not keep how much it was
            spent["unmeasured"] += 1
    if not spent:
        return {}
    prompts = sum(1 for _ in memory.events(session, kind=Kind.USER_MESSAGE))
    parts = {name: spent[name] for name in (*_WHEN.values(), "unmeasured")}
    total = sum(spent[name] for name in _WHEN.values())
    return {"session": session, **parts, "tokens": total, "prompts": prompts}
