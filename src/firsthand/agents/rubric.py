"""The rubric of an agent: the lines that a person writes into ``rubric.md`` for it.

The first edition wrote a block of its own there, of what it took for corrections. The
invariant: of that block nothing is told any more, and an erasure takes out the lines of
it that quote what is erased, as long as no person edited it.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from firsthand import pointer
from firsthand.agents import files, small_files
from firsthand.hashing import blake2s
from firsthand.value import value

if TYPE_CHECKING:
    from firsthand.agents.agent import Agent

LINES_MAX = 20
_BLOCK = re.compile(
    r"<!-- firsthand: from corrections; [^\n]*\(([0-9a-f]{12}|)\) -->\n(.*?)<!-- firsthand: end -->\n?", re.DOTALL
)


@value
class Line:
    """One line of a rubric: its words, and the pointers that it names."""

    text: str
    pointers: tuple[str, ...] = ()


def cut(agent: Agent, gone: Collection[str]) -> bytes | None:
    """Take the lines out of our block of ``rubric.md`` that quote some events, as far as no person edited it.

    Args:
        gone: ids of the events.

    Returns:
        The file's new content; None when it stays as it is.
    """
    path = agent.folder / files.RUBRIC_FILE
    told = None if path.is_symlink() else small_files.read(path)
    text = "" if told is None else told.decode("utf-8", "surrogateescape")
    block = _BLOCK.search(text)
    if block is None or block[1] != _digest(block[2]):
        return None
    lines = block[2].splitlines(keepends=True)
    kept = "".join(line for line in lines if not any(pointer.parse(one).first in gone for one in pointer.find(line)))
    if kept == block[2]:
        return None
    made = block[0].replace(block[1], _digest(kept), 1).replace(block[2], kept, 1)
    content = (text[: block.start()] + made + text[block.end() :]).encode("utf-8", "surrogateescape")
    files.put(agent, files.RUBRIC_FILE, content)
    return content


def lines_of(text: str) -> tuple[Line, ...]:
    """Read the lines of a rubric file that a person wrote, in order."""
    lines = []
    for line in _BLOCK.sub(_edited, text).splitlines():
        plain = line.strip()
        if not plain or plain.startswith(("#", "<!--")):
            continue
        named = pointer.find(plain)
        bare = plain.removeprefix("- ").removeprefix("* ")
        words = re.sub(r"\s*\((?:fh:[^)]*)\)\s*\Z", "", bare) if named else bare
        lines.append(Line(words, tuple(named)))
    return tuple(lines[:LINES_MAX])


def _edited(block: re.Match[str]) -> str:
    """Give what stands in a block when a person edited it; nothing of it is a person's otherwise."""
    return block[2] if block[1] != _digest(block[2]) else ""


def _digest(lines: str) -> str:
    return blake2s(lines.encode("utf-8", "surrogateescape")).hex()[:12]
