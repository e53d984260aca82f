"""The commands of the group store for its owner in PostgreSQL: tables made, migrated, and spread over nodes."""

from __future__ import annotations

import argparse
from types import ModuleType

from firsthand import InvalidArgument
from firsthand.cli.arguments import Parser, number
from firsthand.cli.exits import DONE
from firsthand.cli.output import Output
from firsthand.environment import extra_command


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
    command = group.command(
        "distribute", _distribute, "Spread a store over the nodes of a Citus cluster.",
        """
        firsthand store distribute postgresql://owner@coordinator.example/store
        """,
    )  # fmt: skip
    command.add_argument("dsn", metavar="DSN", help="address of the coordinator, with the role that owns the store")
    command.add_argument("--shards", type=number(1, 4096), default=32, metavar="N", help="of a new one; default: 32")


def _migrate(chosen: argparse.Namespace, out: Output) -> int:
    """Run the migrations that are left."""
    steps = _postgres().make(chosen.dsn, encrypted=chosen.encrypt, retention_days=chosen.retention_days)
    if out.as_json:
        out.json([{"number": step.number, "name": step.name} for step in steps])
        return DONE
    for step in steps:
        out.line(f"migrated to version {step.number}: {step.name}")
    if not steps:
        out.line("the store is of this version already")
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


def _postgres() -> ModuleType:
    try:
        from firsthand.log.postgres import log
    except ImportError as error:
        raise InvalidArgument(f"a store in PostgreSQL needs the extra postgres: {extra_command('postgres')}") from error
    return log
