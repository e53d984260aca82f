"""Writing hosts' settings for install and uninstall: asking first, copies, and a file that changes meanwhile.

A file is changed by writing another one beside it and putting that in its place, with its mode kept and links
followed; it is read again before, so that what somebody else wrote meanwhile is not lost, and a copy of it is kept.
The invariant: when one file of a plan cannot be changed, none is.
"""

from __future__ import annotations

import difflib
import os
import shlex
import stat
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from firsthand import FirsthandError, InvalidArgument
from firsthand.cli.display import shown
from firsthand.cli.output import Output
from firsthand.hosts.host_table import host_program
from firsthand.hosts.installer import Change, Plan, backups
from firsthand.server import launcher

ATTEMPTS_MAX = 3
COMMAND_S = 60


def plans_of(hosts: Iterable[str], make: Callable[[str], Plan], out: Output, *, named: str) -> tuple[list[Plan], int]:
    """Plan each host, and count those that are refused, which is said; one that was named alone is an error."""
    plans, refused = [], 0
    for host in hosts:
        try:
            plans.append(make(host))
        except FirsthandError as error:
            if named:
                raise
            out.warn(f"firsthand: {host}: {shown(str(error))}")
            refused += 1
    return plans, refused


def agrees(plans: Sequence[Plan], out: Output, *, yes: bool, typed: str) -> bool:
    """Say what would change, and ask whether it may; without a terminal only ``--yes`` agrees.

    Args:
        typed: what to type where there is nobody to ask.
    """
    if yes:
        return True
    for plan in plans:
        out.line(host_program(plan.host).title + (": nothing to change" if plan.is_none else ":"))
        for change in plan.changes:
            if not change.is_none:
                did = "removes" if change.after is None else "writes" if change.before is None else "changes"
                out.line(f"  {did} {shown(str(change.path))} ({change.what})")
        for command in plan.commands:
            out.line(f"  runs {shown(shlex.join(command))}")
    if not (out.terminal and sys.stdin.isatty()):
        out.warn(f"firsthand: nothing was changed: there is no terminal to ask on. To agree, type: {typed}")
        return False
    if ask("Go on? A copy of each file is kept beside it. [Y/n] ", default=True):
        return True
    out.warn("firsthand: nothing was changed")
    return False


def ask(question: str, *, default: bool) -> bool:
    """Ask on the terminal for yes or no."""
    sys.stdout.flush()
    sys.stderr.write(question)
    sys.stderr.flush()
    answer = sys.stdin.readline().strip().casefold()
    return answer in {"y", "yes"} if answer else default


def carry_out(plan: Plan, anew: Callable[[], Plan], out: Output, *, done: str, to_do: Sequence[str] = ()) -> bool:
    """Write a plan's files and run its commands, and say so; False where a command of the host's failed.

    Args:
        anew: makes the plan again where somebody else wrote one of the files meanwhile.
    """
    for _ in range(ATTEMPTS_MAX):
        notes = write(plan)
        if notes is not None:
            break
        plan = anew()
    else:
        raise InvalidArgument(f"{plan.changes[0].path} is being written by something else; close it and try again")
    faults = [fault for command in plan.commands if (fault := _run(command))]
    _report(plan, [*notes, *plan.notes, *faults], done, [*to_do], out)
    return not faults


def _run(command: Sequence[str]) -> str:
    """Run a command of a host's; a sentence where it fails."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=COMMAND_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"could not be run ({error}); run it by hand: {shlex.join(command)}"
    if done.returncode:
        return f"{shlex.join(command)} ended with {done.returncode}: {(done.stderr or done.stdout).strip()[:200]}"
    return ""


def write(plan: Plan) -> list[str] | None:
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


# saying what was done ------------------------------------------------------------------------------


def _report(plan: Plan, notes: Sequence[str], done: str, to_do: Sequence[str], out: Output) -> None:
    if out.as_json:
        changed = [str(change.path) for change in plan.changes if not change.is_none]
        commands = [[*command] for command in plan.commands]
        out.json({"host": plan.host, "done": done, "changed": changed, "commands": commands, "notes": [*notes],
                  "to_do": [*to_do]})  # fmt: skip
        return
    if plan.is_none:
        out.line(f"{plan.host}: " + ("installed already" if done == "installed" else "nothing of firsthand is there"))
    for change in plan.changes:
        if not change.is_none:
            did = "removed" if change.after is None else "written" if change.before is None else "changed"
            out.line(f"{plan.host}: {did} {shown(str(change.path))} ({change.what})")
    for command in plan.commands:
        out.line(f"{plan.host}: ran {shown(shlex.join(command))}")
    for note in notes:
        out.remark(f"  {shown(note)}")
    for line in to_do:
        out.line(f"  to do: {shown(line)}")


def show(plan: Plan, out: Output) -> None:
    """Show what would change, as a difference; write nothing."""
    if out.as_json:
        changes = [
            {"path": str(change.path), "what": change.what, "after": change.after and change.after.decode()}
            for change in plan.changes
            if not change.is_none
        ]
        commands = [[*command] for command in plan.commands]
        out.json({"host": plan.host, "changes": changes, "commands": commands, "to_do": [*plan.to_do]})
        return
    for change in plan.changes:
        before, after = ((side or b"").decode().splitlines() for side in (change.before, change.after))
        for line in difflib.unified_diff(before, after, str(change.path), str(change.path), lineterm=""):
            out.line(shown(line, lines=True))
    for command in plan.commands:
        out.line(f"  runs {shown(shlex.join(command))}")
    for step in plan.to_do:
        out.line(f"  to do: {shown(step)}")
    out.remark(f"{plan.host}: " + ("nothing would change" if plan.is_none else "nothing was written"))
