"""The command uninstall: take what is ours out of agents' hosts, or remove Firsthand with all that it keeps.

The invariants: a file that is as the install left it comes back byte for byte, and where one cannot, that is said;
a memory goes only when its folder's path was typed, and nothing goes that Firsthand did not make.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from firsthand import environment
from firsthand.agents.settings import set_tools, user_file
from firsthand.cli.arguments import Parser
from firsthand.cli.display import shown
from firsthand.cli.exits import DONE, REFUSED
from firsthand.cli.output import Output
from firsthand.cli.serve import end_server
from firsthand.cli.settings_files import agrees, carry_out, plans_of, show
from firsthand.cli.stores import project_of, store_of
from firsthand.hosts.host_table import HOSTS, host_program
from firsthand.hosts.installer import Plan, plan_uninstall
from firsthand.server import launcher

_OF_A_STORE = (
    "firsthand.db*", "artifacts", "index", "cache", "lock", "queue", "mark", "damaged", "sleep", "hooks", "agents",
    "health", "settings.json", "redaction.key", "secret-rules", "run", ".settings.json.*",
)  # fmt: skip
"""What Firsthand makes in a store's folder."""


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.describe(
        _uninstall, "Take Firsthand out of agents' hosts; with --everything all that it keeps, too.",
        """
        firsthand uninstall                     out of every host; what was recorded stays
        firsthand uninstall codex --project .   out of one host, in one project
        firsthand uninstall --everything        hosts, server and spool; asks for the store's path to delete that
        """,
    )  # fmt: skip
    parser.add_argument("host", nargs="?", metavar="HOST", help=f"{', '.join(HOSTS)}; default: all")
    parser.add_argument("--project", nargs="?", const=".", metavar="DIR", help="in this project only; default .")
    parser.add_argument("--dry-run", action="store_true", help="show what would change and write nothing")
    parser.add_argument("--yes", action="store_true", help="do not ask before files are changed")
    parser.add_argument("--everything", action="store_true", help="the server, the spool and the store as well")


def _uninstall(chosen: argparse.Namespace, out: Output) -> int:
    # 1) What would change.
    hosts = [chosen.host] if chosen.host else HOSTS
    plans, refused = plans_of(hosts, lambda host: _plan(chosen, host), out, named=chosen.host)
    there = [plan for plan in plans if not plan.is_none]
    if chosen.dry_run:
        for plan in there:
            show(plan, out)
        return REFUSED if refused else DONE
    # 2) Agreement, and the files of the hosts.
    words = "".join((f" {chosen.host}" if chosen.host else "", " --everything" if chosen.everything else ""))
    if there and not agrees(there, out, yes=chosen.yes, typed=f"firsthand uninstall{words} --yes"):
        return REFUSED
    store = store_of(chosen)
    for plan in there or (plans if chosen.host else ()):
        _carry_out(plan, chosen, store, out)
    if not there and not chosen.host and not out.as_json:
        out.line("nothing of firsthand is in the settings of a host")
    # 3) All else.
    if chosen.everything and not refused:
        _remove_all(store.absolute(), out)
    return REFUSED if refused else DONE


def _plan(chosen: argparse.Namespace, host: str) -> Plan:
    return plan_uninstall(host, home=environment.home(), project=project_of(chosen), folders=environment.host_folders())


def _carry_out(plan: Plan, chosen: argparse.Namespace, store: Path, out: Output) -> None:
    carry_out(plan, lambda: _plan(chosen, plan.host), out, done="uninstalled")
    project, folders = project_of(chosen), environment.host_folders()
    hooks = host_program(plan.host).hooks_file(environment.home(), project, folders)
    if hooks is not None:
        launcher.remove(hooks)
    if project is None and user_file(store).exists():
        set_tools(user_file(store), plan.host, on=False)


# everything ----------------------------------------------------------------------------------------


def _remove_all(store: Path, out: Output) -> None:
    """Remove the server, the spool and the programs, and the store where its path is typed."""
    end_server()
    state, run = environment.state_folder(), Path(environment.runtime_folder() or "/nonexistent")
    late = [path for name in ("late", "set-aside") for path in (store / "hooks" / name).glob("*.call")]
    for path in late:
        path.unlink(missing_ok=True)
    out.line(f"removed the server, and the spool with {len(late)} calls that were not recorded")
    _remove(run, out)
    goes = _agrees_to_loss(store, out)
    if goes:
        others = _without_ours(store)
        out.line(f"removed the store {shown(str(store))}")
        if others:
            out.warn(f"firsthand: {store} stays: it has {len(others)} files of others, such as {shown(others[0])}")
    elif store.is_dir():
        out.line(f"the store stays: {shown(str(store))}; to delete it: rm -r {shown(str(store))}")
    if state is not None and goes:
        _remove(state, out)
    out.line(f"and the package itself: {environment.removal_command()}")


def _agrees_to_loss(store: Path, out: Output) -> bool:
    """Ask for the store's path; only that agrees to its removal."""
    if not (store / "firsthand.db").is_file() or not (out.terminal and sys.stdin.isatty()):
        return False
    sys.stderr.write(f"All that was recorded goes for good with the store. Type {store} to delete it: ")
    sys.stderr.flush()
    return sys.stdin.readline().strip() == str(store)


def _without_ours(store: Path) -> list[str]:
    """Remove from a store's folder what Firsthand made, and the folder where nothing else is in it; name the rest."""
    for pattern in _OF_A_STORE:
        for path in store.glob(pattern):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
    others = sorted(path.name for path in store.iterdir())
    if not others:
        store.rmdir()
    return others


def _remove(folder: Path, out: Output) -> None:
    """Remove a folder that is Firsthand's alone, but for a link."""
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder)
        out.line(f"removed {shown(str(folder))}")
