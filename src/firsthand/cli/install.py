"""The command install: connect agents' hosts, with hooks, the MCP server, and leave for its tools.

What will change is shown and asked for first. The invariant: nothing is changed that was not agreed to, on a terminal
or by ``--yes``; one host that is refused does not hold up another.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from firsthand import InvalidArgument, environment
from firsthand.agents.recording_rules import learn_secrets
from firsthand.agents.settings import set_tools, switch, user_file
from firsthand.cli import imports, inspect
from firsthand.cli.arguments import Parser
from firsthand.cli.exits import DONE, NOTHING_FOUND, REFUSED
from firsthand.cli.output import Output
from firsthand.cli.settings_files import agrees, ask, carry_out, plans_of, show
from firsthand.cli.stores import project_of, store_of
from firsthand.hosts.host_table import HOSTS, host_program
from firsthand.hosts.installation import installed
from firsthand.hosts.installer import Plan, hosts_here, plan_install
from firsthand.hosts.places import usual_places
from firsthand.hosts.registration import READ_TOOLS
from firsthand.server import launcher


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.describe(
        _install, "Connect the agents on this machine: hooks, MCP server, and leave for its tools that only read.",
        """
        firsthand install                               every host that is on this machine; asks first
        firsthand install --yes --allow-tools           the same in a script
        firsthand install codex --project .             one host, for one project
        firsthand install gemini --dry-run              what would change
        firsthand install claude-code --redact          secrets become marks before they are written
        """,
    )  # fmt: skip
    parser.add_argument("host", nargs="?", metavar="HOST", help=f"{', '.join(HOSTS)}; default: all that are here")
    parser.add_argument("--project", nargs="?", const=".", metavar="DIR", help="for this project only; default .")
    parser.add_argument("--dry-run", action="store_true", help="show what would change and write nothing")
    parser.add_argument("--yes", action="store_true", help="do not ask before files are changed")
    parser.add_argument("--allow-tools", action="store_true", help="let the tools that only read run unasked")
    parser.add_argument("--tool-output", action="store_true", help="let hooks replace large results of Claude's tools")
    parser.add_argument("--redact", action="store_true", help="replace secrets before anything is written")
    parser.add_argument("--import", action="store_true", dest="past", help="take in past sessions of your agents")


def _install(chosen: argparse.Namespace, out: Output) -> int:
    # 1) What is here, and what would change.
    plan = partial(_plan, chosen)
    if kind := environment.passing_python():
        raise InvalidArgument(
            f"expected a Firsthand that stays; {sys.prefix} is {kind}, which is emptied, and hooks would name it. "
            "Run: uv tool install 'firsthand[agents]', then: firsthand install"
        )
    hosts = [chosen.host] if chosen.host else hosts_here(environment.home(), environment.host_folders())
    if not hosts:
        out.warn(f"firsthand: no known host is on this machine; name one to be installed to: {', '.join(HOSTS)}")
        return NOTHING_FOUND
    plans, refused = plans_of(hosts, plan, out, named=chosen.host)
    if chosen.dry_run:
        for each in plans:
            show(each, out)
        return REFUSED if refused else DONE
    # 2) Agreement.
    if any(not each.is_none for each in plans):
        if not agrees(plans, out, yes=chosen.yes, typed=f"firsthand install{_words(chosen)} --yes"):
            return REFUSED
        if not chosen.allow_tools and not chosen.yes and server_command(chosen) and out.terminal:
            question = f"May agents use {', '.join(READ_TOOLS)}, which only read, without asking each time? [Y/n] "
            chosen.allow_tools = ask(question, default=True)
            plans, _ = plans_of([each.host for each in plans], plan, out, named=chosen.host)
    # 3) The files, and what the agents are told.
    for each in plans:
        _carry_out(each, chosen, out)
    return _offer(chosen, out) or (REFUSED if refused else DONE)


def _words(chosen: argparse.Namespace) -> str:
    return (f" {chosen.host}" if chosen.host else "") + (f" --project {chosen.project}" if chosen.project else "")


def _plan(chosen: argparse.Namespace, host: str) -> Plan:
    return plan_install(
        host,
        [str(launcher.path()), host, *_named(chosen)],
        home=environment.home(),
        project=project_of(chosen),
        folders=environment.host_folders(),
        server=server_command(chosen),
        allow=chosen.allow_tools,
        waits=chosen.tool_output,
    )


def server_command(chosen: argparse.Namespace) -> list[str]:
    """Give the command of the MCP server; empty where the packages for it are missing."""
    if find_spec("mcp") is None:
        return []
    return [sys.executable, "-P", "-m", "firsthand", "mcp", *_named(chosen)]


def _named(chosen: argparse.Namespace) -> list[str]:
    where = ["--store", str(Path(chosen.store).expanduser().absolute())] if chosen.store else []
    return where + (["--namespace", chosen.namespace] if chosen.namespace else [])


def _carry_out(plan: Plan, chosen: argparse.Namespace, out: Output) -> None:
    """Write one host's files, then what its agents are told of the tools."""
    home, folders, project = environment.home(), environment.host_folders(), project_of(chosen)
    hooks = host_program(plan.host).hooks_file(home, project, folders)
    to_do = [*plan.to_do]
    if not chosen.tool_output and not server_command(chosen):
        command = environment.extra_command("agents")
        to_do.append(f"MCP server and inspector need more packages: {command}, then: firsthand install")

    def anew() -> Plan:
        return _plan(chosen, plan.host)

    if hooks is not None:
        launcher.write(hooks)
    ran = carry_out(plan, anew, out, done="installed", to_do=to_do)
    place = user_file(store_of(chosen))
    if ran and server_command(chosen):
        set_tools(place, plan.host, on=True)
    if chosen.tool_output:
        switch(place, "tool_output", on=True, project=project)
    for hooks_of in installed(home, project, folders):
        if hooks_of.host == plan.host and hooks_of.waits and not out.as_json:
            out.line(f"  held back by {plan.host}: {hooks_of.waits}")


# what else is offered ------------------------------------------------------------------------------


def _offer(chosen: argparse.Namespace, out: Output) -> int:
    """Offer redaction, the import of past sessions, and a look at the memory."""
    asks = out.terminal and sys.stdin.isatty() and not chosen.yes and not out.as_json
    store = store_of(chosen)
    if not learn_secrets(store):
        out.remark(f"  secrets are known by shape alone; more of them: {environment.extra_command('secrets')}")
    question = "Replace passwords and keys by marks before anything is written? What is replaced is gone. [y/N] "
    if chosen.redact or (asks and ask(question, default=False)):
        switch(user_file(store), "redact", on=True)
        out.remark("  secrets are replaced before they are written; undo: firsthand agent switch redact off")
    past = sorted({place.host for place in usual_places() if place.exists})
    code = DONE
    if past and (
        chosen.past or (asks and ask(f"Take in the past sessions of {', '.join(past)}? [Y/n] ", default=True))
    ):
        code = imports.take_in(argparse.Namespace(**vars(chosen), paths=[], map=[]), out)
    elif past and not out.as_json:
        out.line("past sessions: firsthand import")
    if out.as_json:
        return code
    if asks and server_command(chosen):
        out.line("look at the memory, once, within ten minutes; later: firsthand inspect")
        out.line(inspect.link(store, chosen.namespace or environment.default_namespace(), "sessions", out))
        return code
    out.line("now start your agent; look at its memory: firsthand inspect")
    return code
