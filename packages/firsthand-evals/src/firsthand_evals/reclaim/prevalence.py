"""How often a conversation carries something whose source is compact: by rule, over conversations given (11, App. H).

    compact   a value that small, named statements of the conversation determine
    diffuse   the agent states values that nothing in the conversation determines
    none      the agent states no value at all

The invariant: a label is a function of the text, the same on every run; the labeller must
get the gold conversations right, or it labels nothing.

A value is determined when somebody other than the agent had said it, or when it follows
from what was said by exact arithmetic (`probe.arithmetic`). What it cannot tell: a
judgment in words has no value, so what a person would call diffuse and without figures
is ``none`` here; values of general knowledge look like unsupported ones. It says which
share of the conversations has values that they determine, not how many memories in use
need them. The paper's corpora are not part of this project.
"""

from __future__ import annotations

import json
import random
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from firsthand import FormatError, InvalidArgument
from firsthand.value import value
from firsthand_evals import stats
from firsthand_evals.probe.statements import follows, statements
from firsthand_evals.reclaim.words import words
from firsthand_evals.stats import Rate

COMPACT, DIFFUSE, NONE = "compact", "diffuse", "none"
LABELS = (COMPACT, DIFFUSE, NONE)
CONVERSATIONS = 100
CONVERSATION_CHARACTERS_MIN, CONVERSATION_CHARACTERS_MAX = 80, 1_600
"""As in the paper: shorter ones are passed over, longer ones cut."""
NEEDS_MAX = 40
"""Statements that a compact source has at most."""
FILE_BYTES_MAX = 256 << 20
FILES_MAX = 10_000
NESTED_MAX = 100
_SUFFIXES = frozenset({".json", ".jsonl", ".traj", ".zip"})
GOLD_RIGHT_MIN = 5

Conversation = tuple[dict[str, str], ...]


@value
class Share:
    """One corpus, counted by label.

    Attributes:
        n: conversations labelled; ``found``: that there were to draw from.
    """

    corpus: str
    found: int
    n: int
    compact: Rate
    diffuse: Rate
    none: Rate


def _said(*turns: str) -> Conversation:
    return tuple({"role": ("user", "assistant")[place % 2], "content": text} for place, text in enumerate(turns))


GOLD: tuple[tuple[Conversation, str], ...] = tuple(
    (_said(*turns), label) for label, turns in words("prevalence")["gold"]
)
"""Plain conversations with their labels."""


def label(messages: Sequence[Mapping[str, str]]) -> str:
    """Label a conversation."""
    said = statements(messages)
    stated = False
    for place, conclusion in enumerate(said):
        if not conclusion.by_agent:
            continue
        source = [statement for statement in said[:place] if not statement.by_agent]
        for found in conclusion.values:
            stated = True
            if 0 < len(follows(found, source)) <= NEEDS_MAX:
                return COMPACT
    return DIFFUSE if stated else NONE


def prevalence(corpora: Mapping[str, Path], *, n: int = CONVERSATIONS, seed: int = 0) -> tuple[Share, ...]:
    """Label conversations drawn from corpora.

    Args:
        corpora: files or folders by name; JSON, JSON lines or a zip of them.
        n: conversations of each; all of a smaller one.
    """
    if n < 1:
        raise InvalidArgument(f"conversations are a whole number from 1; got {n!r}")
    right = sum(label(messages) == wanted for messages, wanted in GOLD)
    if right < GOLD_RIGHT_MIN:
        raise InvalidArgument(
            f"the labeller gets {right} of {len(GOLD)} plain conversations right, under {GOLD_RIGHT_MIN}"
        )
    return tuple(_share(name, path, n, seed) for name, path in corpora.items())


def _share(name: str, path: Path, n: int, seed: int) -> Share:
    found = list(conversations(path))
    if not found:
        raise FormatError(
            f"{path} holds no conversation; expected lists of messages with a role and a content, in files of the "
            f"names {', '.join(sorted(f'*{one}' for one in _SUFFIXES))}"
        )
    chance = random.Random(f"prevalence {seed} {name}")  # noqa: S311 - repeatable on purpose
    drawn = chance.sample(found, min(n, len(found)))
    counted = Counter(label(_cut(one)) for one in drawn)
    rates = [stats.rate(counted[one], len(drawn)) for one in LABELS]
    return Share(name, len(found), len(drawn), *rates)


def conversations(path: Path) -> Iterator[Conversation]:
    """Yield the conversations of a file or folder, in order of their files."""
    if not (path.is_file() or path.is_dir()):
        raise FormatError(f"{path} is no file or folder that is there; name one of conversations")
    files = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
    read = [file for file in files if file.suffix in _SUFFIXES]
    if len(read) > FILES_MAX:
        raise FormatError(f"{path} has {len(read):,} files; at most {FILES_MAX:,} are read: give a part of it")
    for file in read:
        for thing in _read(file):
            yield from _talks(thing)


def _talks(thing: Any, depth: int = 0) -> Iterator[Conversation]:
    """Find the conversations in a JSON value, whatever stands around them."""
    if depth > NESTED_MAX:
        raise FormatError(
            f"a corpus nests over {NESTED_MAX} levels; expected lists of messages at any but such a depth"
        )
    if isinstance(thing, list) and thing and all(isinstance(one, dict) for one in thing):
        found = _messages(thing)
        if found is not None:
            if sum(len(one["content"]) for one in found) > CONVERSATION_CHARACTERS_MIN:
                yield found
            return
    inner = thing.values() if isinstance(thing, dict) else thing if isinstance(thing, list) else ()
    for one in inner:
        yield from _talks(one, depth + 1)


def _messages(thing: list[dict[str, Any]]) -> Conversation | None:
    """Read a list as messages: with roles, or as turns of two speakers; None when it is neither."""
    if all(isinstance(one.get("role"), str) and "content" in one for one in thing):
        return tuple(
            {"role": one["role"], "content": one["content"]} for one in thing if isinstance(one["content"], str)
        )
    if all(isinstance(one.get("text"), str) for one in thing):
        return _said(*(one["text"] for one in thing))
    if all(isinstance(one.get("action"), str) and isinstance(one.get("observation"), str) for one in thing):
        return tuple(
            {"role": role, "content": one[name]}
            for one in thing
            for role, name in (("assistant", "action"), ("tool", "observation"))
        )
    return None


def _cut(messages: Conversation) -> Conversation:
    """Keep the beginning, as the paper does; instructions of a system are no part of the conversation."""
    left, kept = CONVERSATION_CHARACTERS_MAX, []
    for message in messages:
        if message["role"] != "system" and left > 0:
            kept.append({"role": message["role"], "content": message["content"][:left]})
            left -= len(message["content"])
    return tuple(kept)


def _read(file: Path) -> Iterator[Any]:
    try:
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as packed:
                for inner in packed.infolist():
                    name = Path(inner.filename)
                    if name.suffix in _SUFFIXES - {".zip"}:
                        _bounded(f"{file}, {name}", inner.file_size)
                        yield _parsed(packed.read(inner), name)
        else:
            _bounded(str(file), file.stat().st_size)
            yield _parsed(file.read_bytes(), file)
    except (OSError, ValueError, RecursionError, zipfile.BadZipFile) as error:
        raise FormatError(f"{file} cannot be read as JSON ({error})") from error


def _bounded(name: str, size: int) -> None:
    if size > FILE_BYTES_MAX:
        raise FormatError(f"{name} is over {FILE_BYTES_MAX >> 20} MiB; give a part of it")


def _parsed(data: bytes, name: Path) -> Any:
    text = data.decode("utf-8")
    if name.suffix == ".jsonl":
        return [json.loads(line) for line in text.split("\n") if line.strip()]  # U+2028 ends none
    return json.loads(text)
