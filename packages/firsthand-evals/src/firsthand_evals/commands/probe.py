"""The command probe: whether notes can still be corrected, from their text or through their pointers.

    summary.md: uncorrectable_silent: what it takes is not there, and the note looks as if it were whole
      missing: 9 pens at $2
    of 4 notes 2 correctable, 1 reachable, 0 uncorrectable_loud, 1 uncorrectable_silent (0.250 [0.046, 0.699])

The invariant: one line a note, and of several notes every regime is counted; nothing
is averaged away. What cannot be read is said, costs no other note, and makes the exit
code 5. No model is asked.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from firsthand import InvalidArgument, Memory
from firsthand.cli.display import count, shown
from firsthand.cli.exits import DONE, NOTHING_FOUND, REFUSED
from firsthand.cli.output import Output
from firsthand.cli.stores import to_read
from firsthand.value import asdict, value
from firsthand_evals.probe.probe import REGIMES, Verdict, probe_in
from firsthand_evals.probe.probe import probe as judge
from firsthand_evals.stats import rate

BYTES_MAX = 64 * 1024 * 1024
"""Of one file."""
ITEMS_MAX = 100_000
STDIN = "-"
_KEYS = {"note", "messages", "claim", "expand", "id"}


@value
class Item:
    """One note to judge.

    Attributes:
        name: of its file, with its number when the file has several.
        expand: what pointers of the note lead to; None leaves it to the messages.
    """

    name: str
    note: str
    messages: tuple[dict[str, Any], ...] = ()
    claim: str | None = None
    expand: dict[str, str] | None = None


def probe(chosen: argparse.Namespace, out: Output) -> int:
    """Judge each note as it is read, and count the regimes; a file that cannot be read stops no other one."""
    if chosen.file.count(STDIN) > 1:
        raise InvalidArgument(f"standard input is read once; got {STDIN} {chosen.file.count(STDIN)} times")
    verdicts: list[Verdict] = []
    wrong = 0
    with _judge(chosen) as judged:
        for file in chosen.file:
            try:
                for item in _items(file):
                    verdict = judged(item)
                    _print(item, verdict, out)
                    verdicts.append(verdict)
            except InvalidArgument as error:
                out.warn(f"firsthand eval probe: {shown(str(error))}")
                wrong += 1
            except OSError as error:
                out.warn(f"firsthand eval probe: {shown(file)}: {error.strerror}; expected a file with a note, or JSON")
                wrong += 1
    _sum_up(verdicts, out)
    if wrong:
        if len(chosen.file) > 1:
            out.warn(f"firsthand eval probe: {wrong} of {count(len(chosen.file), 'file')} not judged to the end")
        return REFUSED
    return DONE if all(verdict.correctable for verdict in verdicts) else NOTHING_FOUND


@contextmanager
def _judge(chosen: argparse.Namespace) -> Iterator[Callable[[Item], Verdict]]:
    """Give what judges a note: by the store when it is said to stand on something there."""
    if not (chosen.session or chosen.source):
        yield lambda item: _judged(item, chosen.claim)
        return
    with to_read(chosen) as memory:
        yield lambda item: _stored(memory, item, chosen)


def _judged(item: Item, claim: str | None) -> Verdict:
    expand = None if item.expand is None else item.expand.get
    try:
        return judge(item.note, item.messages, claim=claim or item.claim, expand=expand)
    except InvalidArgument as error:
        raise InvalidArgument(f"{item.name}: {error}") from error


def _stored(memory: Memory, item: Item, chosen: argparse.Namespace) -> Verdict:
    if item.messages:
        raise InvalidArgument(f"{item.name}: a note stands on its messages or on --session and --source; got both")
    claim = chosen.claim or item.claim
    return probe_in(memory, item.note, session=chosen.session, sources=chosen.source, claim=claim)


def _items(file: str) -> list[Item]:
    """Read the notes of a file: JSON when it is objects with a note, in a list or one a line, else one note."""
    text = _text(file)
    found = _json(text) if text.lstrip()[:1] in {"{", "["} else None
    if isinstance(found, dict) and "note" in found:
        return [_item(file, found)]
    if isinstance(found, list):
        rows = list(enumerate(found, 1))
    else:
        lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        as_json = found is None and len(lines) > 1 and all(line.lstrip()[:1] == "{" for _, line in lines)
        rows = [(number, _json(line)) for number, line in lines] if as_json else []
    if not any(isinstance(one, dict) and "note" in one for _, one in rows):
        return [Item(file, text)]
    if len(rows) > ITEMS_MAX:
        raise InvalidArgument(f"{file}: at most {ITEMS_MAX:,} notes were expected; got {len(rows):,}; split it")
    return [_item(f"{file} {number}", one) for number, one in rows]


def _text(file: str) -> str:
    if file == STDIN:
        data = sys.stdin.buffer.read(BYTES_MAX + 1)
    else:
        with Path(file).open("rb") as opened:
            data = opened.read(BYTES_MAX + 1)
    if len(data) > BYTES_MAX:
        raise InvalidArgument(f"{file}: a file of at most {BYTES_MAX:,} bytes was expected; split it")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidArgument(
            f"{file}: expected text in UTF-8; got another byte at {error.start:,}; if it is text, convert it (iconv)"
        ) from error


def _json(text: str) -> Any:
    """Read JSON; None for a text that is none: a note may begin like JSON, and is judged as the text that it is."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # it is no JSON: that is what None says
        return None


def _item(name: str, found: Any) -> Item:
    if not isinstance(found, dict) or "note" not in found:
        raise InvalidArgument(f"{name}: expected an object with a note, as elsewhere in this file; got none")
    if unknown := set(found) - _KEYS:
        raise InvalidArgument(f"{name}: expected {', '.join(sorted(_KEYS))}; got {', '.join(sorted(unknown))}")
    messages, expand, claim = found.get("messages", []), found.get("expand"), found.get("claim")
    wrong = not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages)
    if not isinstance(found["note"], str) or wrong or not (claim is None or isinstance(claim, str)):
        raise InvalidArgument(f"{name}: note and claim are texts, messages a list of objects with role and content")
    if expand is not None and not (isinstance(expand, dict) and all(isinstance(one, str) for one in expand.values())):
        raise InvalidArgument(f"{name}: expand is an object: what stands at each pointer, as text")
    said = tuple(part for message in messages for part in _parts(message))
    return Item(str(found.get("id", name)), found["note"], said, claim, expand)


def _parts(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Give a message, or one for each text that it is made of; a picture and the like say nothing here."""
    content = message.get("content")
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        return [message]
    return [{**message, "content": text} for part in content for text in _texts(part)]


def _texts(part: dict[str, Any]) -> Iterator[str]:
    """Give the texts of a part of a message: its own, and those of what a tool gave, which has parts in it again."""
    if isinstance(part.get("text"), str):
        yield part["text"]
    inner = part.get("content")
    if isinstance(inner, str):
        yield inner
    elif isinstance(inner, list):
        yield from (text for one in inner if isinstance(one, dict) for text in _texts(one))


def _print(item: Item, verdict: Verdict, out: Output) -> None:
    if out.as_json:
        out.json({"id": item.name, **asdict(verdict)})
        return
    style = "good" if verdict.correctable else "bad" if verdict.regime.endswith("silent") else "warn"
    out.line(f"{shown(item.name)}: {out.style(verdict.regime, style)}: {verdict.detail}")
    for text in verdict.missing:
        out.line(f"  missing: {shown(text)}")


def _sum_up(verdicts: list[Verdict], out: Output) -> None:
    """Count the regimes of several notes; the last is given with its interval."""
    if len(verdicts) < 2:
        return
    seen = Counter(verdict.regime for verdict in verdicts)  # never a mode, which would hide a minority
    counts, n = {regime: seen[regime] for regime in REGIMES}, len(verdicts)
    if out.as_json:
        out.json({"n": n, **counts})
        return
    counted = ", ".join(f"{number} {regime}" for regime, number in counts.items())
    out.line(f"of {count(n, 'note')} {counted}; silent {rate(counts['uncorrectable_silent'], n)}")
