"""What can be typed: every command, option and example of the command line.

Options that every command takes may stand before or after its name. Values are
checked here as far as that needs no store, so that a wrong one is a usage error.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from firsthand import Kind, __version__
from firsthand.cli import (
    agent_arguments,
    consolidating_arguments,
    evaluations,
    hook_arguments,
    ledger_arguments,
    remembering_arguments,
    sleeping_arguments,
    switching,
)
from firsthand.cli.argument_values import decimal, kind, number, pair, time

EXIT_CODES = """exit codes:
  0    done, or found; also what is only weakly found
  1    nothing found: no hit, no such event or session, its content erased
  2    the command was not understood
  3    damaged: bytes are not what was written (verify found problems)
  4    the store is busy, full, or failed
  5    refused: not a store, a newer one, read-only, no pointer, not importable
  130  interrupted;  141  whoever read the output went away"""

_DESCRIPTION = """Memory for LLM agents that keeps the source: record or import everything an agent did, lose nothing,
find it again, prove that nothing changed. The store is $FIRSTHAND_STORE, else ~/.firsthand, unless --store
names one."""

_EXAMPLES = """examples:
  firsthand demo                          see it work, on this machine, in under a minute
  firsthand import                        take in the sessions of the agents you use
  firsthand recall connection refused     find where it was said
  firsthand show POINTER | less           read it, byte for byte"""


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Help of one width, whatever the terminal, so that the command reference is the same everywhere."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=110, max_help_position=30)


def parser(words: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Make the parser of the whole command line.

    Args:
        words: what was typed; commands of another distribution are read only when they are among it.
    """
    top = argparse.ArgumentParser(
        prog="firsthand",
        description=_DESCRIPTION,
        epilog=f"{_EXAMPLES}\n\n{EXIT_CODES}",
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"firsthand {__version__}")
    _everywhere(top, first=True)
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in (
        _import, _append, _note, _recall, _show, _sessions, _timeline, _window, _anatomy, _stats, _verify, _store,
        _export, _restore, _backup, _erase, _rebuild, _follow, _doctor, _demo, _mcp, _install, _uninstall,
    ):  # fmt: skip
        add(commands)
    hook_arguments.add(commands, _command)
    agent_arguments.add(commands, _command)
    remembering_arguments.add(commands, _command)
    evaluations.add(commands, _command, words)
    ledger_arguments.add(commands, _command)
    consolidating_arguments.add(commands, _command)
    sleeping_arguments.add(commands, _command)
    switching.add(commands, _command)
    switching.add_pauses(commands, _command)
    return top


def _everywhere(one: argparse.ArgumentParser, *, first: bool) -> None:
    """Add the options that every command takes; those after its name do not undo those before it."""

    def default(value: object) -> Any:
        return value if first else argparse.SUPPRESS

    group = one.add_argument_group("options of every command")
    group.add_argument("--store", metavar="PATH", default=default(None), help="folder of the store")
    group.add_argument(
        "--namespace", metavar="NAME", default=default(None), help="the tenant; else $FIRSTHAND_NAMESPACE, or default"
    )
    group.add_argument("--json", action="store_true", default=default(False), help="answer in JSON; a line an item")
    group.add_argument("--quiet", action="store_true", default=default(False), help="no remarks and no progress")


def _command(commands: Any, name: str, at: str, sentence: str, examples: str) -> argparse.ArgumentParser:
    lines = "\n".join(f"  {line.strip()}" for line in examples.strip().splitlines())
    one: argparse.ArgumentParser = commands.add_parser(
        name,
        help=sentence[0].lower() + sentence[1:].rstrip("."),
        description=sentence,
        epilog=f"examples:\n{lines}",
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    one.set_defaults(command_at=at)
    _everywhere(one, first=False)
    return one


# commands ------------------------------------------------------------------------------------------


def _import(commands: Any) -> None:
    one = _command(
        commands, "import", "intake:import_",
        "Import transcripts, mails and message files; what is there already adds nothing.",
        """
        firsthand import                                    the usual places of the agents you use
        firsthand import ~/.claude/projects                 a folder, with all that is below it
        firsthand import session.jsonl mail.mbox --json     files; the report as JSON
        firsthand import --map content=text --map kind=from.role --map time=ts chat.jsonl
        """,
    )  # fmt: skip
    one.add_argument("paths", nargs="*", metavar="PATH", help="files and folders; none: the hosts' usual places")
    one.add_argument(
        "--map", action="append", default=[], type=pair, metavar="NAME=FIELD",
        help="read all as JSON lines: the field of a line that is its content, kind, time, session, agent or id",
    )  # fmt: skip


def _append(commands: Any) -> None:
    one = _command(
        commands, "append", "intake:append",
        "Append one event and print its pointer; on return it is on disk and can be found.",
        """
        firsthand append "never deploy on a friday" --session house-rules
        make test 2>&1 | firsthand append --session build --kind tool_result --tool make
        firsthand append - --session build --kind note --agent me < note.txt
        """,
    )  # fmt: skip
    one.add_argument("text", nargs="?", default="-", metavar="TEXT", help="the content; - or none: standard input")
    one.add_argument("--session", required=True, metavar="NAME", help="the session; a new name begins one")
    one.add_argument("--kind", type=kind, default=Kind.USER_MESSAGE, metavar="KIND", help="default user_message")
    one.add_argument("--agent", default="", metavar="NAME", help="who spoke or acted")
    one.add_argument("--tool", default="", metavar="NAME", help="the tool of a call or a result")
    one.add_argument("--call-id", default="", metavar="ID", help="what joins a tool call and its result")
    one.add_argument("--time", type=time, metavar="TIME", help="when it happened; default now, unknown with --id")
    one.add_argument("--id", metavar="ID", help="26 characters; the same id and bytes again change nothing")
    one.add_argument(
        "--expect", type=number(0), metavar="POSITION", help="refuse unless the session's last position is this one"
    )


def _note(commands: Any) -> None:
    one = _command(
        commands, "note", "noting:note",
        "Keep a note, rule or lesson with its sources; it is found by the situations it was learned in.",
        """
        firsthand note "check the lock table before a restart" --source fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY --rule
        firsthand note "aspirate first" --rule --situation "swollen knee and fever"
        firsthand note - --source fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY --lesson < lesson.md
        """,
    )  # fmt: skip
    one.add_argument("text", metavar="TEXT", help="what was learned; - for standard input")
    one.add_argument(
        "--source", action="append", default=[], metavar="POINTER",
        help="an event or span it rests on; erasing it erases the note too",
    )  # fmt: skip
    one.add_argument(
        "--situation", action="append", default=[], metavar="TEXT",
        help="find it by this; default: what the user said in the turns of its sources",
    )  # fmt: skip
    sort = one.add_mutually_exclusive_group()
    sort.add_argument("--rule", dest="sort", action="store_const", const="rule", default="note", help="it is a rule")
    sort.add_argument("--lesson", dest="sort", action="store_const", const="lesson", help="it is a lesson")
    one.add_argument("--session", default="notes", metavar="NAME", help="where it is kept, default notes")
    one.add_argument("--agent", default="", metavar="NAME", help="who learned it")


def _recall(commands: Any) -> None:
    one = _command(
        commands, "recall", "recalling:recall",
        "Find events by their words and exact strings; an empty answer says why it is empty.",
        """
        firsthand recall connection refused
        firsthand recall app/main.py:212 --kind tool_result --since 2026-01-01
        firsthand recall --session 'pi:*' --limit 3 -- --no-verify
        firsthand recall --explain why did the deploy fail      how each hit was found, and how sure the answer is
        firsthand recall --task deploy which port               for the task of that session
        firsthand recall --fenced deploy key | xclip            to paste into an agent's context
        """,
    )  # fmt: skip
    one.add_argument("query", nargs="+", metavar="QUERY", help="any text; after -- it may begin with a dash")
    one.add_argument("--session", action="append", default=[], metavar="NAME", help="only here; NAME* for a beginning")
    one.add_argument("--agent", action="append", default=[], metavar="NAME", help="only what this agent said or did")
    one.add_argument("--kind", action="append", default=[], type=kind, metavar="KIND", help="only events of this kind")
    one.add_argument("--since", type=time, metavar="TIME", help="only from this time on")
    one.add_argument("--until", type=time, metavar="TIME", help="only up to this time")
    one.add_argument("--limit", type=number(1, 1000), default=10, metavar="N", help="most hits, default 10")
    one.add_argument(
        "--budget", type=number(1, 10_000_000), default=4000, metavar="TOKENS", help="of all previews, default 4000"
    )
    one.add_argument("--skip", type=number(0, 100_000), default=0, metavar="N", help="pass over hits, to read on")
    one.add_argument("--task", metavar="SESSION", help="rank for the task that this session is at")
    one.add_argument("--now", type=time, metavar="TIME", help='what "yesterday" is counted from; default this moment')
    one.add_argument(
        "--attempts", type=number(1, 8), default=3, metavar="N", help="most attempts in other words too, default 3"
    )
    one.add_argument(
        "--cost", type=decimal(0.001, 1000), default=3.0, metavar="X",
        help="a false memory costs as much as X second looks, default 3: found is from X / (1 + X) confidence on",
    )  # fmt: skip
    one.add_argument(
        "--lambda", dest="mmr_lambda", type=decimal(0.5, 1), default=0.8, metavar="X",
        help="1 ranks by score alone, less puts repetitions further down; default 0.8",
    )  # fmt: skip
    how = one.add_mutually_exclusive_group()
    how.add_argument("-v", "--explain", action="store_true", help="show what each score is made of, and every attempt")
    how.add_argument(
        "--fenced", action="store_true", help="as one fenced text for an agent's context, which no import stores again"
    )


def _show(commands: Any) -> None:
    one = _command(
        commands, "show", "reading:show",
        "Show what a pointer addresses: exact bytes to a pipe or file, safely escaped on a terminal.",
        """
        firsthand show fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY
        firsthand show fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY@L100-120
        firsthand show fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY --around 3
        firsthand show fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY --source > record.json
        """,
    )  # fmt: skip
    one.add_argument("pointer", metavar="POINTER", help="fh:ID, fh:ID@0-100 (bytes), fh:ID@L1-9 (lines), fh:ID..ID")
    how = one.add_mutually_exclusive_group()
    how.add_argument("--raw", action="store_true", help="exact bytes to a terminal too")
    how.add_argument("--around", type=number(1, 1000), metavar="N", help="also N events before and after it")
    one.add_argument("--source", action="store_true", help="the source record that it was cut from")


def _sessions(commands: Any) -> None:
    _command(
        commands, "sessions", "reading:sessions",
        "List the sessions, in the order they began.",
        """
        firsthand sessions
        firsthand sessions --json | head -3
        """,
    )  # fmt: skip


def _timeline(commands: Any) -> None:
    one = _command(
        commands, "timeline", "reading:timeline",
        "List events in order of position, one line each.",
        """
        firsthand timeline --reverse --limit 20
        firsthand timeline --session house-rules --since 2026-01-01
        firsthand timeline --after 1200 --limit 0
        """,
    )  # fmt: skip
    one.add_argument("--session", metavar="NAME", help="only of this session")
    one.add_argument("--since", type=time, metavar="TIME", help="only from this time on")
    one.add_argument("--until", type=time, metavar="TIME", help="only up to this time")
    one.add_argument("--after", type=number(0), default=0, metavar="POSITION", help="only beyond this position")
    one.add_argument("--limit", type=number(0), default=100, metavar="N", help="most lines, default 100; 0 for all")
    one.add_argument("--reverse", action="store_true", help="newest first")


def _window(commands: Any) -> None:
    one = _command(
        commands, "window", "window:window",
        "Show a session's context window: task state, markers, receipts of compactions, and why each item is there.",
        """
        firsthand window deploy
        firsthand window deploy --budget 8000                       as it would be under another budget
        firsthand window deploy --receipt fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY    what one compaction took out, and why
        """,
    )  # fmt: skip
    one.add_argument("session", metavar="SESSION", help="the session")
    one.add_argument("--budget", type=number(1, 100_000_000), metavar="TOKENS", help="default: that of its newest call")
    how = one.add_mutually_exclusive_group()
    how.add_argument("--receipt", metavar="POINTER", help="only this receipt")
    how.add_argument("--all", action="store_true", help="every receipt and item; otherwise the newest")


def _anatomy(commands: Any) -> None:
    one = _command(
        commands, "anatomy", "anatomy:anatomy",
        "Show what models were sent, call by call: what it was made of, why it grew, exactly what was in it.",
        """
        firsthand anatomy                       the calls of the session that had the newest one
        firsthand anatomy deploy                those of this session
        firsthand anatomy show 12               one call as a bar; none given: the newest
        firsthand anatomy diff 11 12            why the prompt grew; none given: the newest two
        firsthand anatomy replay 12 | sha256sum     exactly what was sent
        firsthand anatomy export > calls.jsonl  every record of every session
        """,
    )  # fmt: skip
    one.add_argument(
        "words", nargs="*", metavar="WHAT",
        help="a session; or show, diff, replay with calls by number or pointer; or export with a session",
    )  # fmt: skip
    one.add_argument("--session", metavar="NAME", help="whose calls the numbers count; default that of the newest call")
    one.add_argument(
        "--limit", type=number(0), default=40, metavar="N", help="most lines of a list, default 40; 0 for all"
    )


def _stats(commands: Any) -> None:
    _command(
        commands, "stats", "reading:stats",
        "Count what the store holds, measure it, and print its head.",
        """
        firsthand stats
        firsthand stats --json
        """,
    )  # fmt: skip


def _verify(commands: Any) -> None:
    one = _command(
        commands, "verify", "proof:verify",
        "Derive every hash again, read every artifact, check the index; name whatever is wrong.",
        """
        firsthand verify
        firsthand verify --head head-of-last-week
        firsthand verify --deep --json
        """,
    )  # fmt: skip
    one.add_argument(
        "--head",
        action="append",
        default=[],
        metavar="H",
        help="a head kept elsewhere, or its file",
    )
    one.add_argument("--key", default="", metavar="K", help="the public key that must have signed the heads")
    one.add_argument("--deep", action="store_true", help="derive the text index again too, however large the store")


def _store(commands: Any) -> None:
    one = _command(
        commands, "store", "heads:store",
        "Print the head of a namespace to keep elsewhere, or accept a store that was put back on purpose.",
        """
        firsthand store head > head-of-today                          verify --head head-of-today, next week
        firsthand store head --sign key.pem > /media/stick/head       needs: pip install 'firsthand[sign]'
        firsthand store accept-head                                   after an older copy was restored
        """,
    )  # fmt: skip
    one.add_argument("what", choices=("head", "accept-head"), help="what to do")
    one.add_argument("--sign", metavar="KEY", help="with head: sign with this Ed25519 key, a PEM file")


def _export(commands: Any) -> None:
    one = _command(
        commands, "export", "copies:export",
        "Write events as JSON Lines, complete and open; restore takes them in again byte for byte.",
        """
        firsthand export everything.jsonl --all
        firsthand export --session house-rules | gzip > house-rules.jsonl.gz
        """,
    )  # fmt: skip
    one.add_argument("file", nargs="?", default="-", metavar="FILE", help="a new file; - or none: standard output")
    what = one.add_mutually_exclusive_group()
    what.add_argument("--session", metavar="NAME", help="only this session")
    what.add_argument("--all", action="store_true", help="every namespace of the store")
    one.add_argument(
        "--salvage", action="store_true", help="go on past damaged events; the file can be read, but not restored"
    )


def _restore(commands: Any) -> None:
    one = _command(
        commands, "restore", "copies:restore",
        "Take an export in; into an empty store it gives the same store, hash for hash.",
        """
        firsthand restore everything.jsonl --store ~/restored
        gunzip -c house-rules.jsonl.gz | firsthand restore - --store ~/restored
        """,
    )  # fmt: skip
    one.add_argument("file", metavar="FILE", help="an export; - for standard input")


def _backup(commands: Any) -> None:
    one = _command(
        commands, "backup", "copies:backup",
        "Copy the whole store into a new folder while writers go on.",
        """
        firsthand backup ~/firsthand-backup
        """,
    )  # fmt: skip
    one.add_argument("folder", metavar="DIR", help="a folder that is new or empty")


def _erase(commands: Any) -> None:
    one = _command(
        commands, "erase", "erasing:erase",
        "Destroy the content of events for good, and prove it; the log keeps that it was there, and still verifies.",
        """
        firsthand erase fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY --reason "asked by the person"
        firsthand erase --containing "jane@example.org" --yes
        """,
    )  # fmt: skip
    one.add_argument("pointers", nargs="*", metavar="POINTER", help="events, or spans fh:ID..ID; whole records go")
    one.add_argument("--containing", metavar="TEXT", help="every event that holds this text, found by a full scan")
    one.add_argument("--reason", default="", metavar="R", help="kept in the log; do not repeat what is erased")
    one.add_argument("--yes", action="store_true", help="do not ask")


def _rebuild(commands: Any) -> None:
    _command(
        commands, "rebuild", "proof:rebuild",
        "Throw the indexes away and build them again from the log.",
        """
        firsthand rebuild
        """,
    )  # fmt: skip


def _follow(commands: Any) -> None:
    _command(
        commands, "follow", "following:follow",
        "Bring up to date what follows the log: counts of terms, the accelerator, vectors by $FIRSTHAND_EMBEDDER.",
        """
        firsthand follow
        FIRSTHAND_EMBEDDER=minilm firsthand follow      find by meaning too: pip install 'firsthand[minilm]'
        """,
    )  # fmt: skip


def _doctor(commands: Any) -> None:
    one = _command(
        commands, "doctor", "doctor:doctor",
        "Look at every stage of the memory, send a canary through all of it, name what is broken and what to type.",
        """
        firsthand doctor                        exit code 3 when a stage is broken or degraded
        firsthand doctor --json --no-canary     for a script; nothing is written but what is kept of the look
        firsthand doctor --agent web-3f2a1c --deep
        firsthand doctor --history              how it went over time
        firsthand doctor --missed fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY --session claude-code:5b0a6c1e
        """,
    )  # fmt: skip
    one.add_argument("--agent", default="", metavar="NAME", help="measure this agent alone")
    one.add_argument("--deep", action="store_true", help="verify the whole log and index, test every episode")
    one.add_argument("--no-canary", action="store_true", help="send nothing through the hooks")
    one.add_argument("--history", action="store_true", help="show the looks that were kept instead")
    one.add_argument("--missed", metavar="POINTER", help="name why an agent did not use this event, with --session")
    one.add_argument("--session", default="", metavar="NAME", help="with --missed: where it should have")


def _demo(commands: Any) -> None:
    one = _command(
        commands, "demo", "demo:demo",
        "Show it at work in a new store: record real commands, find strings, break a copy. No key, no network.",
        """
        firsthand demo
        firsthand demo --into tryout
        """,
    )  # fmt: skip
    one.add_argument("--into", metavar="DIR", help="a new or empty folder; default firsthand-demo-TIME below this one")


def _install(commands: Any) -> None:
    one = _command(
        commands, "install", "install:install",
        "Let an agent's host run the hooks of Firsthand; without a host, tell where they are installed.",
        """
        firsthand install                               the hosts on this machine, and what is installed
        firsthand install claude-code                   for all projects of this user
        firsthand install codex --project .             for one project
        firsthand install gemini --dry-run              what would change
        firsthand install claude-code --redact          secrets become marks before they are written
        """,
    )  # fmt: skip
    one.add_argument("host", nargs="?", metavar="HOST", help="claude-code, codex, gemini, cursor, vscode or copilot")
    _for_whom(one)
    one.add_argument(
        "--tool-output", action="store_true",
        help="let Claude Code wait for each tool's hook, so that the setting tool_output can replace large results",
    )  # fmt: skip
    one.add_argument("--redact", action="store_true", help="replace secrets before anything is written")


def _uninstall(commands: Any) -> None:
    one = _command(
        commands, "uninstall", "install:uninstall",
        "Take the hooks of Firsthand out of a host's settings; all else in them stays as it is.",
        """
        firsthand uninstall claude-code
        firsthand uninstall codex --project . --dry-run
        """,
    )  # fmt: skip
    one.add_argument("host", metavar="HOST", help="claude-code, codex, gemini, cursor, vscode or copilot")
    _for_whom(one)


def _for_whom(one: argparse.ArgumentParser) -> None:
    whom = one.add_mutually_exclusive_group()
    whom.add_argument("--project", nargs="?", const=".", metavar="DIR", help="for this project only; default .")
    whom.add_argument("--user", action="store_true", help="for all projects of this user, which is the default")
    one.add_argument("--dry-run", action="store_true", help="show what would change and write nothing")


def _mcp(commands: Any) -> None:
    one = _command(
        commands, "mcp", "mcp_command:mcp",
        "Serve an agent's memory to any host that speaks MCP, over standard streams or on loopback.",
        """
        firsthand mcp                          what a host's settings name; it speaks the protocol on standard output
        firsthand mcp --http 8321              on 127.0.0.1, with a token that it prints
        firsthand mcp --describe               what a client is told of the tools, and how many tokens that takes
        """,
    )  # fmt: skip
    how = one.add_mutually_exclusive_group()
    how.add_argument("--http", type=number(0, 65_535), metavar="PORT", help="streamable HTTP on loopback; 0: any port")
    how.add_argument("--describe", action="store_true", help="print the tools and their tokens, and serve nothing")
    one.add_argument("--agent", default="", metavar="NAME", help="whose memory; default that of the folder")
    one.add_argument("--cwd", metavar="DIR", help="the folder that the agent works in; default this one")
    one.add_argument("--across", action="store_true", help="other agents' sessions too, whatever the settings say")
