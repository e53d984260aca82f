"""What the tests of encrypted stores write and look for."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

from log_suite import NAMESPACE

from firsthand.event import Draft, Kind
from firsthand.log.postgres.reader import number_of


def key_file(keys: Path, log: Any, namespace: str = NAMESPACE) -> Path:
    return keys / log.reader.uuid().hex() / f"{number_of(namespace):016x}.json"


def exported(log: Any, namespace: str = NAMESPACE) -> bytes:
    out = io.BytesIO()
    log.export(out, namespace=namespace)
    return out.getvalue()


def events_of(log: Any, namespace: str = NAMESPACE) -> list[bytes | None]:
    return [None if event.erased else b"".join(log.reader.pieces(event)) for event in log.reader.events(namespace)]


def canary() -> bytes:
    """Bytes that no compression changes."""
    return os.urandom(48)


def remember(log: Any, words: bytes, namespace: str = NAMESPACE) -> list[str]:
    """Append words as content, in meta, in an envelope, in a payload of its own and in that one's preview."""
    spelled = words.decode("latin-1")
    drafts = [
        Draft(Kind.USER_MESSAGE, words), Draft(Kind.TOOL_CALL, b"{}", meta={"words": spelled}),
        Draft(Kind.AGENT_MESSAGE, b"", envelope=words), Draft(Kind.TOOL_RESULT, words + os.urandom(20_000)),
    ]  # fmt: skip
    return [each.id for each in log.append(drafts, namespace=namespace, session="s")]


def files_with(folder: Path, words: bytes) -> list[str]:
    return [str(path) for path in sorted(folder.rglob("*")) if path.is_file() and words in path.read_bytes()]
