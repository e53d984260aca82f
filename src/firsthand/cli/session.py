"""The group session: list sessions, append to one, look at its window and its calls, pause recording."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from firsthand import Draft, Kind, Trust, environment
from firsthand.agents.pauses import pause, resume
from firsthand.cli import anatomy, transcript
from firsthand.cli.arguments import Parser, kind, number, time
from firsthand.cli.display import clock, count, shown
from firsthand.cli.exits import DONE
from firsthand.cli.output import Output
from firsthand.cli.stores import project_of, store_of, to_read, to_write
from firsthand.moment import now

_BY_AGENT = {Kind.AGENT_MESSAGE, Kind.REASONING, Kind.TOOL_CALL, Kind.NOTE}
_BY_OPERATOR = {Kind.USER_MESSAGE: "user", Kind.SYSTEM: "system", Kind.PERSONA: "system"}


def add(group: Parser) -> None:
    """Add the commands of the group."""
    group.command(
        "list", _list, "List the sessions, in the order they began.",
        """
        firsthand session list
        firsthand session list --json | head -3
        """,
    )  # fmt: skip
    _add_append(group)
    transcript.add(group)
    anatomy.add(group)
    pausing = group.command(
        "pause", _pause, "Record nothing of a project, a session or the next prompt.",
        """
        firsthand session pause                the project of this folder, until: firsthand session resume
        firsthand session pause --prompt       its next prompt, with the answer
        firsthand session pause --session claude-code:5b0a6c1e-0000-4000-8000-000000000001
        """,
    )  # fmt: skip
    resuming = group.command(
        "resume", _resume, "Record again what was paused.",
        """
        firsthand session resume
        firsthand session resume --session claude-code:5b0a6c1e-0000-4000-8000-000000000001
        """,
    )  # fmt: skip
    pausing.add_argument("--prompt", action="store_true", help="only the next prompt in the project")
    for command in (pausing, resuming):
        whom = command.add_mutually_exclusive_group()
        whom.add_argument("--project", metavar="DIR", help="the project that this folder belongs to")
        whom.add_argument("--session", metavar="NAME", help="one session, by its name in the log")


def _add_append(group: Parser) -> None:
    command = group.command(
        "append", _append, "Append one event and print its pointer.",
        """
        firsthand session append "never deploy on a friday" --session house-rules
        make test 2>&1 | firsthand session append --session build --kind tool_result --tool make
        firsthand session append - --session build --kind note --agent me < note.txt
        """,
    )  # fmt: skip
    option = command.add_argument
    option("text", nargs="?", default="-", metavar="TEXT", help="the content; - or none: standard input")
    option("--session", required=True, metavar="NAME", help="the session; a new name begins one")
    option("--kind", type=kind, default=Kind.USER_MESSAGE, metavar="KIND", help="default user_message")
    option("--agent", default="", metavar="NAME", help="who spoke or acted")
    option("--tool", default="", metavar="NAME", help="the tool of a call or a result")
    option("--call-id", default="", metavar="ID", help="what joins a tool call and its result")
    option("--time", type=time, metavar="TIME", help="when it happened; default now, unknown with --id")
    option("--id", metavar="ID", help="26 characters; the same id and bytes again change nothing")
    option("--expect", type=number(0), metavar="POSITION", help="refuse unless the session's last position is this")


def _list(chosen: argparse.Namespace, out: Output) -> int:
    with to_read(chosen) as memory:
        sessions, where = memory.sessions(), f"namespace {memory.namespace!r} of {environment.store_name(memory.path)}"
    if out.as_json:
        for session in sessions:
            out.json(session)
    elif not sessions:
        out.remark(f"no sessions in {shown(where)}")
    else:
        rows = [("events", "turns", "first", "last", "session")]
        rows += [
            (f"{session.events:,}", f"{session.turns:,}", clock(session.first), clock(session.last),
             shown(session.name))
            for session in sessions
        ]  # fmt: skip
        out.table(rows, {0, 1}, whole=True)
        out.remark(f"{count(len(sessions), 'session')}; read one: firsthand timeline --session NAME")
    return DONE


# append ----------------------------------------------------------------------------------------------


def _append(chosen: argparse.Namespace, out: Output) -> int:
    """Append one event and print its pointer."""
    with to_write(chosen, create=True) as memory:
        appended = memory.append([_draft(chosen)], session=chosen.session, expected_position=chosen.expect)[0]
        store = environment.store_name(memory.path)
    if not appended.indexed:
        out.warn(f"firsthand: kept, but the text index of {shown(store)} is behind; run 'firsthand store rebuild'")
    if out.as_json:
        out.json({
            "pointer": appended.pointer, "position": appended.position, "session": chosen.session,
            "new": appended.new, "indexed": appended.indexed,
        })  # fmt: skip
    else:
        out.line(appended.pointer)
        if not appended.new:
            out.remark("it was there already; nothing was added")
    return DONE


def _draft(chosen: argparse.Namespace) -> Draft:
    """Make the event: whose words it holds follows from its kind."""
    if chosen.text == "-" and sys.stdin.isatty():
        sys.stderr.write("reading from the terminal; end with Ctrl-D\n")
    content = sys.stdin.buffer if chosen.text == "-" else chosen.text.encode("utf-8", "surrogateescape")
    if chosen.kind in _BY_OPERATOR:
        origin, trust = _BY_OPERATOR[chosen.kind], Trust.TRUSTED
    elif chosen.kind in _BY_AGENT:
        origin, trust = "agent", Trust.AGENT
    else:
        origin, trust = f"tool:{chosen.tool}" if chosen.tool else "", Trust.UNTRUSTED
    meta = {"tool": chosen.tool, "call_id": chosen.call_id}
    return Draft(
        chosen.kind, content, meta={key: value for key, value in meta.items() if value}, agent=chosen.agent,
        origin=origin, trust=trust, time=chosen.time or (None if chosen.id else now()), id=chosen.id,
    )  # fmt: skip


# pause -----------------------------------------------------------------------------------------------


def _pause(chosen: argparse.Namespace, out: Output) -> int:
    store, session, project = _whose(chosen)
    pause(store, session=session, project=project, prompt=chosen.prompt)
    what = f"session {session}" if session else f"{'the next prompt in ' if chosen.prompt else ''}{project}"
    return _say_recorded(out, what, on=False)


def _resume(chosen: argparse.Namespace, out: Output) -> int:
    store, session, project = _whose(chosen)
    resume(store, session=session, project=project)
    return _say_recorded(out, f"session {session}" if session else str(project), on=True)


def _whose(chosen: argparse.Namespace) -> tuple[Path, str, Path | None]:
    if chosen.session:
        return store_of(chosen), chosen.session, None
    return store_of(chosen), "", project_of(chosen) or Path.cwd()


def _say_recorded(out: Output, what: str, *, on: bool) -> int:
    if out.as_json:
        out.json({"what": what, "recorded": on})
    else:
        out.line(f"{'on' if on else 'off'} the record: {shown(what)}")
    return DONE
