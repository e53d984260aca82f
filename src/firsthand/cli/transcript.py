"""The command session export: a session as a page in Markdown that a person reads.

The invariant: what somebody said is quoted, what was run and what came of it is fenced, so none of it can pass for a
heading, a link or HTML of the page. What is cut says how the rest is read; `store export` is the copy to restore from.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator

from firsthand import Event, Kind, Memory
from firsthand.cli.arguments import Parser, number
from firsthand.cli.display import clock, count, first_line, shown
from firsthand.cli.exits import DAMAGED, DONE
from firsthand.cli.output import Output
from firsthand.cli.stores import Damaged, new_file, session_in, to_read, walk
from firsthand.errors import StoreDamaged
from firsthand.ledger.effect import Effect
from firsthand.recall.snippets import read

_QUOTED = {
    Kind.USER_MESSAGE: "User", Kind.AGENT_MESSAGE: "Agent", Kind.NOTE: "Note", Kind.SUMMARY: "Summary by the host",
    Kind.DOCUMENT: "Document",
}  # fmt: skip
_FENCED = {Kind.TOOL_CALL: "Ran", Kind.TOOL_RESULT: "Result", Kind.ATTACHMENT: "Attachment"}
_DAMAGED = "**Damaged**: "
_BACKTICKS = re.compile(r"`{3,}")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")


def add(group: Parser) -> None:
    """Add the command to the group session."""
    command = group.command(
        "export", _export, "Write a session as Markdown that a person reads.",
        """
        firsthand session export claude-code:5b0a6c1e-0000-4000-8000-000000000001 session.md
        firsthand session export deploy-42 --lines 0 | less
        """,
    )  # fmt: skip
    command.add_argument("session", metavar="SESSION", help="its name; firsthand session list")
    command.add_argument("file", nargs="?", default="-", metavar="FILE", help="a new file; - or none: standard output")
    command.add_argument("--lines", type=number(0), default=30, metavar="N", help="of each output, default 30; 0: all")


def _export(chosen: argparse.Namespace, out: Output) -> int:
    damaged = False
    with to_read(chosen) as memory, new_file(chosen.file, out) as file:
        name = session_in(memory, chosen.session)
        for line in _page(memory, name, chosen.lines):
            file.write(f"{line}\n".encode("utf-8", "backslashreplace"))
            damaged = damaged or line.startswith(_DAMAGED)
    return DAMAGED if damaged else DONE


def _page(memory: Memory, session: str, lines_max: int) -> Iterator[str]:
    """Yield the lines of the page."""
    (info,) = (info for info in memory.sessions() if info.name == session)
    yield f"# Session `{_plain(session)}`"
    yield ""
    yield f"{clock(info.first)} to {clock(info.last)}, {count(info.events, 'event')}."
    yield "Written by `firsthand session export`; `firsthand show POINTER` gives the exact bytes of any part."
    effect, turn = Effect(memory), 0
    for event in walk(memory, session):
        if isinstance(event, Damaged):
            yield from ("", f"{_DAMAGED}{_plain(event.sentence)}")
            continue
        if event.kind is Kind.USER_MESSAGE and event.turn != turn:
            turn = event.turn
            yield from ("", f"## Turn {turn}, {clock(event.time)}")
        if event.kind in _QUOTED or event.kind in _FENCED:
            yield from _part(memory, event, effect.mark(event).strip(), lines_max)
        elif event.kind is Kind.INJECTION:
            yield from ("", f"*Firsthand reminded the agent here* (`fh:{event.id}`).")


def _part(memory: Memory, event: Event, mark: str, lines_max: int) -> Iterator[str]:
    """Yield one event: who and where, what was decided on it, and its text."""
    who = _QUOTED.get(event.kind) or _FENCED[event.kind]
    about = " ".join(_plain(str(event.meta[key])) for key in ("tool", "exit_code") if key in event.meta)
    decided = f" — {_plain(mark)}" if mark else ""
    yield from ("", f"**{who}**{f' ({about})' if about else ''} `fh:{event.id}`{decided}", "")
    if event.erased:
        yield "*[erased]*"
        return
    preview = event.artifact and lines_max  # a large output is not read whole for its first lines
    try:
        content = event.text.encode("utf-8", "surrogatepass") if preview else memory.expand(f"fh:{event.id}")
    except StoreDamaged as error:
        yield f"{_DAMAGED}{_plain(str(error))}"
        return
    lines = shown(read(content, event.kind).data.decode("utf-8", "backslashreplace"), lines=True).splitlines()
    if event.kind in _QUOTED:
        yield from (f"> {line}" for line in _without_tags(lines))
        return
    fence = "`" * max([3, *(len(run) + 1 for run in _BACKTICKS.findall("\n".join(lines)))])
    cut = lines[:lines_max] if lines_max else lines
    yield from (fence, *cut, fence)
    if len(cut) < len(lines) or preview:
        yield f"*Cut here: `firsthand show fh:{event.id}` has all of it.*"


def _without_tags(lines: list[str]) -> Iterator[str]:
    """Yield lines in which nothing begins a tag of HTML, but for fenced code, which shows it as it is."""
    fenced = False
    for line in lines:
        is_fence = line.lstrip().startswith(("```", "~~~"))
        yield line if fenced or is_fence else _TAG.sub("\\<", line)
        fenced ^= is_fence


def _plain(text: str) -> str:
    """Give a text that stays on its line and within its mark."""
    return first_line(text).replace("`", "'").replace("<", "\\<").replace("*", "\\*")
