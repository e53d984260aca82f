"""The commands of the group store for its owner in PostgreSQL: make and migrate it, spread it over many machines."""

from __future__ import annotations

import argparse
from contextlib import closing
from pathlib import Path
from types import ModuleType

from firsthand import InvalidArgument
from firsthand.agents.pulse import CANARY
from firsthand.cli.arguments import Parser, number
from firsthand.cli.display import count, shown
from firsthand.cli.exits import DONE
from firsthand.cli.output import Output
from firsthand.environment import extra_command
from firsthand.value import asdict


def add(group: Parser) -> None:
    """Add the commands to the group store."""
    command = group.command(
        "migrate", _migrate, "Make a store in PostgreSQL, or bring it to this version.",
        """
        firsthand store migrate postgresql://owner@db.example/store      as the owner of the database
        firsthand store migrate postgresql://owner@db.example/store --retention-days 30
        """,
    )  # fmt: skip
    command.add_argument("dsn", metavar="DSN", help="address of the database, with the role that owns it")
    command.add_argument("--encrypt", action="store_true", help="encrypt all content, with keys outside the database")
    command.add_argument(
        "--retention-days",
        type=number(0, 36_500),
        metavar="N",
        help="how long backups are kept, as erase says",
    )
    command.add_argument("--beside", default="", metavar="DSN", help="a primary of the store that this one is of, too")
    command = group.command(
        "new-key", _new_key, "Begin a new key for what an encrypted namespace takes from now on.",
        """
        firsthand store new-key shop postgresql://application@db.example/store
        """,
    )  # fmt: skip
    command.add_argument("tenant", metavar="NAMESPACE", help="of the store at DSN; not the option --namespace")
    command.add_argument("dsn", metavar="DSN", help="address of the database, with the application's role")
    command = group.command(
        "distribute", _distribute, "Spread a store over the nodes of a Citus cluster.",
        """
        firsthand store distribute postgresql://owner@coordinator.example/store
        """,
    )  # fmt: skip
    command.add_argument("dsn", metavar="DSN", help="address of the coordinator, with the role that owns the store")
    command.add_argument("--shards", type=number(1, 4096), default=32, metavar="N", help="of a new one; default: 32")

    command = group.command(
        "move", _move, "Move a namespace to another primary while writers go on.",
        """
        firsthand store move acme --from postgresql://owner@a.example/store --to postgresql://owner@b.example/store
        firsthand store move acme --from DSN --to DSN --primaries /etc/firsthand/primaries.json
        """,
    )  # fmt: skip
    command.add_argument("name", metavar="NAMESPACE", help="the namespace; run again, a move goes on where it stopped")
    command.add_argument("--from", dest="source", required=True, metavar="DSN", help="the primary that has it")
    command.add_argument("--to", dest="target", required=True, metavar="DSN", help="the one that is to have it")
    command.add_argument("--primaries", metavar="FILE", help="the file of buckets, in which to write where it is")
    command.add_argument("--abandon", action="store_true", help="remove the copy that a move left unfinished")


def _migrate(chosen: argparse.Namespace, out: Output) -> int:
    """Run the migrations that are left."""
    steps = _postgres().make(chosen.dsn, chosen.beside, encrypted=chosen.encrypt, retention_days=chosen.retention_days)
    if out.as_json:
        out.json([{"number": step.number, "name": step.name} for step in steps])
        return DONE
    for step in steps:
        out.line(f"migrated to version {step.number}: {step.name}")
    if not steps:
        out.line("the store is of this version already")
    if chosen.encrypt:
        out.line("its content is encrypted, with keys in FIRSTHAND_KEYS")
    if chosen.retention_days is not None:
        out.line(f"backups are kept for {chosen.retention_days} days, as answers of erase say")
    return DONE


def _distribute(chosen: argparse.Namespace, out: Output) -> int:
    """Distribute what is not distributed yet."""
    names = _postgres().distribute(chosen.dsn, chosen.shards)
    if out.as_json:
        out.json(list(names))
        return DONE
    for name in names:
        out.line(f"distributed {name}")
    if not names:
        out.line("everything is distributed already")
    return DONE


def _move(chosen: argparse.Namespace, out: Output) -> int:
    """Move a namespace, or remove what a move has left."""
    _postgres()
    from firsthand.log.postgres import move, primaries, roles

    if chosen.abandon:
        events = move.abandon(chosen.name, chosen.source, chosen.target)
        out.json({"removed": events}) if out.as_json else out.line(f"removed a copy of {count(events, 'event')}")
        return DONE
    file, name = None, ""
    if chosen.primaries:  # before anything is copied
        file = primaries.Primaries(Path(chosen.primaries).expanduser())
        with roles.connecting(chosen.target):
            name = file.name_of(primaries.label_of(chosen.target))
    done = move.move(
        chosen.name, chosen.source, chosen.target,
        lambda stage, position: out.progress(lambda: f"{stage} through position {position:,}"),
    )  # fmt: skip
    if file is not None:
        file.assign(chosen.name, name)
    if out.as_json:
        out.json(asdict(done))
        return DONE
    out.line(
        f"moved {shown(done.namespace)} to {done.primary}: {count(done.events, 'event')}, {done.copied:,} copied now"
    )
    out.line(f"head  {done.head}")
    out.line(f"its writers waited for {done.held_ms} ms")
    return DONE


def _new_key(chosen: argparse.Namespace, out: Output) -> int:
    """Begin a new key."""
    with closing(_postgres().PostgresLog(chosen.dsn)) as log:
        log.renew_key(chosen.tenant, lost=chosen.tenant == CANARY)
    out.remark("what was written before keeps its key; back the keys up anew")
    return DONE


def _postgres() -> ModuleType:
    try:
        from firsthand.log.postgres import log
    except ImportError as error:
        raise InvalidArgument(f"a store in PostgreSQL needs the extra postgres: {extra_command('postgres')}") from error
    return log
