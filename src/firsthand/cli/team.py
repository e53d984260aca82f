"""Commands of the group store for the owner of a server for teams: keys, grants, limits; and that server itself."""

from __future__ import annotations

import argparse
import logging
from typing import TYPE_CHECKING

from firsthand import InvalidArgument, moment
from firsthand.cli.arguments import Parser, number
from firsthand.cli.display import shown
from firsthand.cli.exits import DONE
from firsthand.cli.output import Output
from firsthand.environment import extra_command

if TYPE_CHECKING:
    from firsthand.log.postgres.access import Row
    from firsthand.server.teams.administration import Administration

_LIMIT_MAX = 1 << 62
THIS_MACHINE = "127.0.0.1"


def add(group: Parser) -> None:
    """Add the commands to the group store."""
    command = group.command(
        "key", _key, "Make a key for a server for teams; without a principal, list them.",
        """
        firsthand store key alice --days 90 --postgres postgresql://owner@db.example/store      shown once
        firsthand store key --revoke fhk_0123456789ab --postgres postgresql://owner@db.example/store
        """,
    )  # fmt: skip
    command.add_argument("principal", nargs="?", metavar="PRINCIPAL", help="a person or program, by any name")
    command.add_argument("--days", type=number(1, 36_500), default=0, metavar="N", help="until it expires; else never")
    command.add_argument("--revoke", metavar="PREFIX", help="revoke the key that begins so")
    _owner(command)
    command = group.command(
        "grant", _grant, "Allow a principal something in a namespace; without one, list it.",
        """
        firsthand store grant alice shop read append --postgres postgresql://owner@db.example/store
        firsthand store grant alice shop --withdraw --postgres postgresql://owner@db.example/store
        """,
    )  # fmt: skip
    command.add_argument("principal", nargs="?", metavar="PRINCIPAL", help="whose key it is, or oidc:SUBJECT")
    command.add_argument("tenant", nargs="?", metavar="NAMESPACE", help="of the server; not the option --namespace")
    command.add_argument("rights", nargs="*", metavar="RIGHT", help="read, append, ledger, erase or admin")
    command.add_argument("--withdraw", action="store_true", help="take these rights back, or all")
    _owner(command)
    command = group.command(
        "limit", _limit, "Limit what a namespace takes; without one, list what they hold.",
        """
        firsthand store limit shop --day-events 100000 --postgres postgresql://owner@db.example/store
        """,
    )  # fmt: skip
    command.add_argument("tenant", nargs="?", metavar="NAMESPACE", help="of the server; not the option --namespace")
    for name, what in (("events", "events in all"), ("bytes", "bytes in all, as stored"),
                       ("day-events", "events a day (UTC)"), ("day-bytes", "bytes a day (UTC)")):  # fmt: skip
        command.add_argument(f"--{name}", type=number(0, _LIMIT_MAX), metavar="N", help=f"{what}; 0: no limit")
    _owner(command)


def _owner(command: Parser) -> None:
    command.add_argument("--postgres", required=True, metavar="DSN", help="the store, with the role that owns it")


def _opened(chosen: argparse.Namespace) -> Administration:
    if empty := [name for name in ("principal", "tenant", "revoke") if getattr(chosen, name, None) == ""]:
        raise InvalidArgument(f"expected a {empty[0]}, got an empty text; leave it out for a list")
    try:
        from firsthand.server.teams.administration import Administration
    except ImportError as error:
        raise InvalidArgument(f"a server for teams needs the extra teams: {extra_command('teams')}") from error
    return Administration(chosen.postgres)


def _key(chosen: argparse.Namespace, out: Output) -> int:
    with _opened(chosen) as owner:
        if chosen.revoke:
            owner.revoke_key(chosen.revoke)
            out.remark("revoked; servers stop taking it within seconds")
        elif not chosen.principal:
            return _listed(owner.keys(), out)
        else:
            text = owner.add_key(chosen.principal, chosen.days)
            out.json({"key": text}) if out.as_json else out.line(text)
            out.remark("keep it now: only its hash is stored")
    return DONE


def _grant(chosen: argparse.Namespace, out: Output) -> int:
    with _opened(chosen) as owner:
        if not chosen.principal:
            return _listed(owner.grants(), out)
        act = owner.withdraw if chosen.withdraw else owner.grant
        act(chosen.principal, chosen.tenant or "", chosen.rights)
    return DONE


def _limit(chosen: argparse.Namespace, out: Output) -> int:
    named = {name: getattr(chosen, name) for name in ("events", "bytes", "day_events", "day_bytes")}
    with _opened(chosen) as owner:
        if not chosen.tenant:
            return _listed(owner.usage(), out)
        owner.limit(chosen.tenant, {f"{name}_max": most or None for name, most in named.items() if most is not None})
    return DONE


def _listed(rows: list[Row], out: Output) -> int:
    """Say rows as a table of their columns, or as JSON."""
    texts = [{name: _text(cell) for name, cell in row.items()} for row in rows]
    if out.as_json:
        for text in texts:
            out.json(text)
    elif texts:
        out.table([[*texts[0]], *([shown(cell) for cell in text.values()] for text in texts)])
    return DONE


def _text(cell: object) -> str:
    match cell:
        case None:
            return ""
        case list():
            return " ".join(cell)
        case str() | int():
            return str(cell)
    return f"{cell:%Y-%m-%d %H:%M}"


def add_server(parser: Parser) -> None:
    """Add the arguments of the server for teams to those of the command serve."""
    team = parser.add_argument_group("a server for teams", "in this terminal, over one store for many machines")
    team.add_argument("--postgres", metavar="DSN", help="the store, with the application's role")
    team.add_argument("--host", default=THIS_MACHINE, metavar="H", help="to listen at; default: this machine alone")
    team.add_argument("--url", default="", metavar="URL", help="the address that clients know, as its proxy has it")
    team.add_argument("--oidc-issuer", default="", metavar="URL", help="whose tokens are taken beside keys")
    team.add_argument("--oidc-audience", default="", metavar="TEXT", help="of those tokens; else the server's address")
    team.add_argument("--requests", type=number(0, 1_000_000), default=50, metavar="N",
                      help="a second for a principal, by this process; 0: any")  # fmt: skip
    team.add_argument("--audit-reads", action="store_true", help="record in the audit log what is read, too")
    team.add_argument("--proxy-headers", default="", metavar="IP", help="believe X-Forwarded-For of this proxy")


def serve(chosen: argparse.Namespace, out: Output) -> int:
    """Be a server for teams, until interrupted."""
    try:
        from firsthand.server.teams.gateway import Terms
        from firsthand.server.teams.service import TeamServer
    except ImportError as error:
        raise InvalidArgument(f"a server for teams needs the extra teams: {extra_command('teams')}") from error
    server = TeamServer(
        chosen.postgres, host=chosen.host, port=8321 if chosen.port is None else chosen.port,
        terms=Terms(chosen.url.rstrip("/"), chosen.oidc_issuer, chosen.requests, chosen.audit_reads),
        audience=chosen.oidc_audience, proxy=chosen.proxy_headers,
        log=lambda line: out.warn(f"{moment.now()} {line}"),
    )  # fmt: skip
    logging.getLogger("mcp").addHandler(logging.NullHandler())  # it would log what clients sent
    out.remark(f"answering at {server.url}, without TLS: put a proxy before it that has it; interrupt to stop")
    out.flush()
    server.run()
    return DONE
