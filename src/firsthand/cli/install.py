"""The command install: put hooks of ours into the settings of agents' hosts, or take them out.

A file is changed by writing another one beside it and putting that in its place,
with its mode kept and links followed; it is read again before, so that what
somebody else wrote meanwhile is not lost, and a copy of it is kept. The invariant:
when one file of a plan cannot be changed, none is.
"""

from __future__ import annotations

import argparse
import difflib
import os
import stat
import sys
from importlib.util import find_spec
from pathlib import Path

from firsthand import InvalidArgument
from firsthand.agents.installation import installed
from firsthand.agents.installer import Change, Plan, backups, plan_install, plan_uninstall
from firsthand.agents.recording_rules import learn_secrets
from firsthand.agents.settings import switch, user_file
from firsthand.cli.arguments import Parser
from firsthand.cli.display import shown
from firsthand.cli.exits import DONE, NOTHING_FOUND
from firsthand.cli.output import Output
from firsthand.environment import default_store, home, host_folders
from firsthand.server import launcher
from firsthand.value import asdict

ATTEMPTS_MAX = 3


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.describe(
        _install, "Let an agent's host run the hooks of Firsthand; without a host, list where they are.",
        """
        firsthand install                               the hosts on this machine, and what is installed
        firsthand install claude-code                   for all projects of this user
        firsthand install codex --project .             for one project
        firsthand install gemini --dry-run              what would change
        firsthand install claude-code --redact          secrets become marks before they are written
        firsthand install claude-code --remove          take the hooks out again; all else stays as it is
        """,
    )  # fmt: skip
    parser.add_argument("host", nargs="?", metavar="HOST", help="claude-code, codex, gemini, cursor, vscode or copilot")
    whom = parser.add_mutually_exclusive_group()
    whom.add_argument("--project", nargs="?", const=".", metavar="DIR", help="for this project only; default .")
    whom.add_argument("--user", action="store_true", help="for all projects of this user, which is the default")
    parser.add_argument("--dry-run", action="store_true", help="show what would change and write nothing")
    parser.add_argument("--tool-output", action="store_true", help="let hooks replace large results of Claude's tools")
    parser.add_argument("--redact", action="store_true", help="replace secrets before anything is written")
    parser.add_argument("--remove", action="store_true", help="take the hooks out of the host's settings")


def _install(chosen: argparse.Namespace, out: Output) -> int:
    if chosen.host is not None:
        return _carry_out(chosen, out)
    if chosen.remove:
        raise InvalidArgument("name the host whose hooks to remove, such as: firsthand install claude-code --remove")
    return _tell(chosen, out)


def hook_command(host: str, store: str | None, namespace: str | None) -> list[str]:
    """Give the command that a host runs: the launcher in the user's state folder."""
    return [str(launcher.path()), host, *_named(store, namespace)]


def _named(store: str | None, namespace: str | None) -> list[str]:
    where = ["--store", str(Path(store).expanduser().absolute())] if store else []
    return where + (["--namespace", namespace] if namespace else [])


# carrying out --------------------------------------------------------------------------------------


def _carry_out(chosen: argparse.Namespace, out: Output) -> int:
    done = "uninstalled" if chosen.remove else "installed"
    for _ in range(ATTEMPTS_MAX):
        plan = _plan(chosen)
        if chosen.dry_run:
            return _show(plan, out)
        settings = plan.changes[0].path
        if not chosen.remove:
            launcher.write(settings)
        notes = _write(plan)
        if notes is not None:
            if chosen.remove:
                launcher.remove(settings)
            notes += [] if chosen.remove else _offer_redaction(chosen, out)
            return _report(plan, notes, done, out)
    raise InvalidArgument(f"{plan.changes[0].path} is being written by something else; close it and run this again")


def _offer_redaction(chosen: argparse.Namespace, out: Output) -> list[str]:
    """Switch on that secrets are replaced before they are written: by the option, or asked for on a terminal."""
    store = Path(chosen.store).expanduser() if chosen.store else default_store()
    wanted = chosen.redact
    if not wanted and not out.as_json and sys.stdin.isatty() and sys.stdout.isatty():
        out.line("Replace passwords and keys by marks before anything is written? What is replaced cannot be had back.")
        wanted = input("[y/N] ").strip().casefold() in {"y", "yes"}
    learned = learn_secrets(store)
    notes = [] if learned else ["secrets are known by shape alone; more of them: pip install 'firsthand[secrets]'"]
    if wanted:
        switch(user_file(store), "redact", on=True)
        notes.append("secrets are replaced before they are written; undo: firsthand agent switch redact off")
    return notes


def _plan(chosen: argparse.Namespace) -> Plan:
    project = None if chosen.project is None else Path(chosen.project).expanduser().absolute()
    if project is not None and not project.is_dir():
        raise InvalidArgument(f"expected the folder of a project after --project; there is no folder {project}")
    if chosen.remove:
        return plan_uninstall(chosen.host, home=home(), project=project, folders=host_folders())
    server: list[str] = []
    if find_spec("mcp") is not None:
        server = [sys.executable, "-P", "-m", "firsthand", "mcp", *_named(chosen.store, chosen.namespace)]
    return plan_install(
        chosen.host,
        hook_command(chosen.host, chosen.store, chosen.namespace),
        home=home(),
        project=project,
        folders=host_folders(),
        server=server,
        waits=chosen.tool_output,
        switches=user_file(Path(chosen.store).expanduser() if chosen.store else default_store())
        if chosen.tool_output
        else None,
    )


def _write(plan: Plan) -> list[str] | None:
    """Write what changes, with a copy of what was there; give a note for each copy.

    Returns:
        None when somebody else wrote one of the files meanwhile; a new plan knows what they wrote.
    """
    wanted = [change for change in plan.changes if not change.is_none]
    for change in wanted:
        _check_writable(change.path)
    notes = []
    for change in wanted:
        target = Path(os.path.realpath(change.path))
        if _now(target) != change.before:
            return None
        if change.after is None:
            target.unlink()
        else:
            copy = _keep_copy(change)
            notes += [f"what was there is kept in {copy}"] if copy else []
            launcher.put(target, change.after, target.stat().st_mode & 0o777 if target.exists() else 0o644)
        if change.backup is not None:
            change.backup.unlink()
    return notes


def _check_writable(path: Path) -> None:
    """Refuse a file that its owner made read-only: replacing it would go round that.

    Raises:
        InvalidArgument: it is read-only, or no file.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:  # it will be made
        return
    if not stat.S_ISREG(mode):
        raise InvalidArgument(f"expected a file at {path}; something else is there. Nothing was changed")
    if not mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
        raise InvalidArgument(f"{path} is read-only. Make it writable (chmod u+w) and run this again")


def _now(path: Path) -> bytes | None:
    """Read a file as it is now; None when there is none."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _keep_copy(change: Change) -> Path | None:
    """Keep a copy of a file beside it, unless one that is the same is there; None when there is nothing to keep.

    Raises:
        InvalidArgument: there are too many copies already.
    """
    if change.before is None or change.backup is not None:
        return None
    for copy in backups(change.path):
        try:
            descriptor = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            if copy.read_bytes() == change.before:
                return copy
            continue
        with os.fdopen(descriptor, "wb") as file:
            file.write(change.before)
        return copy
    raise InvalidArgument(f"{change.path} has too many copies beside it already; remove some of them")


# telling -------------------------------------------------------------------------------------------


def _report(plan: Plan, notes: list[str], done: str, out: Output) -> int:
    to_do = list(plan.to_do)
    if out.as_json:
        changed = [str(change.path) for change in plan.changes if not change.is_none]
        out.json({"host": plan.host, "done": done, "changed": changed, "notes": notes, "to_do": to_do})
        return DONE
    if plan.is_none:
        already = "already installed" if done == "installed" else "nothing of firsthand is there"
        out.line(f"{plan.host}: {already}; {shown(str(plan.changes[0].path))} stays as it is")
    for change in plan.changes:
        if not change.is_none:
            did = "removed" if change.after is None else "written" if change.before is None else "changed"
            out.line(f"{plan.host}: {did} {shown(str(change.path))} ({change.what})")
    for note in notes:
        out.remark(f"  {shown(note)}")
    for line in to_do:
        out.line(f"  to do: {shown(line)}")
    return DONE


def _show(plan: Plan, out: Output) -> int:
    """Show what would change, as a difference; write nothing."""
    if out.as_json:
        changes = [
            {
                "path": str(change.path),
                "what": change.what,
                "after": None if change.after is None else change.after.decode(),
            }
            for change in plan.changes
            if not change.is_none
        ]
        out.json({"host": plan.host, "changes": changes, "to_do": list(plan.to_do)})
        return DONE
    for change in plan.changes:
        before, after = ((side or b"").decode().splitlines() for side in (change.before, change.after))
        for line in difflib.unified_diff(before, after, str(change.path), str(change.path), lineterm=""):
            out.line(shown(line, lines=True))
    for step in plan.to_do:
        out.line(f"  to do: {shown(step)}")
    out.remark("nothing was written" if not plan.is_none else "nothing would change")
    return DONE


def _tell(chosen: argparse.Namespace, out: Output) -> int:
    """List the hosts' settings that are there, and what of ours is in them."""
    project = Path(chosen.project).expanduser().absolute() if chosen.project is not None else Path.cwd()
    hosts = installed(home(), project, host_folders())
    for host in hosts:
        if out.as_json:
            out.json(asdict(host) | {"where": str(host.where), "waits": host.waits})
            continue
        state = host.fault or (
            "not installed" if not host.events
            else f"installed, {len(host.events)} events"
            + (f"; held back by the host: {host.waits}" if host.waits else "")
            if host.current
            else f"out of date: run {host.mend}"
        )  # fmt: skip
        out.line(f"{host.host:<12} {host.scope:<8} {shown(str(host.where))}: {shown(state)}")
    if not hosts:
        out.warn("firsthand: no settings of a known host are here; install one with: firsthand install HOST")
        return NOTHING_FOUND
    return DONE
