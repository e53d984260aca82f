"""The commands on a store's heads: store head, store accept-head; and heads that verify is given."""

from __future__ import annotations

import argparse
from pathlib import Path

from firsthand import InvalidArgument, KeptHead, Memory, accept_head, kept_head, read_head
from firsthand.cli.display import shown
from firsthand.cli.exits import DONE
from firsthand.cli.output import Output
from firsthand.cli.stores import to_read


def store(chosen: argparse.Namespace, out: Output) -> int:
    """Print a head to keep elsewhere, or accept the log as it is."""
    if chosen.what == "accept-head":
        return _accept(chosen, out)
    with to_read(chosen) as memory:
        head = KeptHead(memory.head(), memory.namespace, memory.identity)
    if out.as_json or chosen.sign:
        out.line(kept_head(head, Path(chosen.sign).expanduser() if chosen.sign else None))
    else:
        out.line(head.head)
    return DONE


def _accept(chosen: argparse.Namespace, out: Output) -> int:
    """Take the log as it is for what was acknowledged last."""
    lacks = accept_head(chosen.store)
    if out.as_json:
        out.json([{"namespace": lack.namespace, "position": lack.position, "lacks": str(lack)} for lack in lacks])
        return DONE
    for lack in lacks:
        out.line(f"accepted  {shown(str(lack))}; the next event takes position {lack.position + 1}")
    if not lacks:
        out.line("nothing is missing of what this store acknowledged, or it is recorded as lost")
    return DONE


def read_kept(text: str, memory: Memory, key: str) -> KeptHead:
    """Read a head as it was typed: the head itself, or a file that holds it.

    Args:
        key: the public key that must have signed it; empty for any, or none.

    Raises:
        InvalidArgument: it was taken of another namespace or store, or is not signed with that key.
    """
    file = Path(text).expanduser()
    kept = read_head(file.read_text(encoding="utf-8") if file.is_file() else text)
    if kept.namespace not in {"", memory.namespace}:
        raise InvalidArgument(f"the head is of namespace {kept.namespace!r}; verify it with --namespace")
    if kept.store not in {"", memory.identity}:
        raise InvalidArgument(f"the head is of store {kept.store}, this one is {memory.identity}; name it with --store")
    if key and kept.key != key:
        raise InvalidArgument(f"expected a head signed with the key {key}; {kept.key or 'nobody'} signed this one")
    return kept
